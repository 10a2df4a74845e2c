//! Faces and sizes: which font, weight and line height every voice is set in.

use egui::{
    Align, FontFamily, FontId, Stroke,
    epaint::text::{TextFormat, VariationCoords},
};

use crate::{layout::Palette, model::Style};

/// Size of running text in points.
pub const TEXT_SIZE: f32 = 15.0;
/// Line height of running text in points.
pub const TEXT_LINE: f32 = 23.0;
/// Size of code in points.
pub const CODE_SIZE: f32 = 13.0;
/// Line height of code in points.
pub const CODE_LINE: f32 = 20.0;
/// Size of captions in points.
pub const CAPTION_SIZE: f32 = 12.0;
/// Size of interface text in points.
pub const INTERFACE_SIZE: f32 = 13.0;
/// Line height of interface text in points.
pub const INTERFACE_LINE: f32 = 20.0;

/// Family of the upright text face; bold and semibold are weights of it.
pub const TEXT: FontFamily = FontFamily::Proportional;
/// Family of the upright code face.
pub const MONO: FontFamily = FontFamily::Monospace;

/// Name of the family with the true italic of the text face.
pub const ITALIC_NAME: &str = "text-italic";
/// Name of the family with the true italic of the code face.
pub const MONO_ITALIC_NAME: &str = "code-italic";
/// Name of the family whose figures are all of one width.
pub const FIGURES_NAME: &str = "figures";
/// Name of the family with the icons.
pub const ICON_NAME: &str = "icons";

/// Who speaks, which decides size and colour of running text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Voice {
    /// Messages.
    Body,
    /// Reasoning, quotes inside notices and other second voices.
    Dim,
    /// A heading of level 1 to 6.
    Heading(u8),
    /// Header cells of tables.
    TableHead,
    /// Body cells of tables.
    TableCell,
    /// Code and terminal output.
    Code,
    /// Cards, group headers, buttons.
    Interface,
    /// The strong part of a card's header.
    InterfaceStrong,
    /// Times, counts, small notes.
    Caption,
}

impl Voice {
    /// Font size in points.
    #[must_use]
    pub fn size(self) -> f32 {
        match self {
            Self::Body | Self::Dim => TEXT_SIZE,
            Self::Heading(1) => 22.0,
            Self::Heading(2) => 19.0,
            Self::Heading(3) => 17.0,
            Self::Heading(_) => 15.0,
            Self::TableHead | Self::TableCell => 14.0,
            Self::Code | Self::Interface | Self::InterfaceStrong => INTERFACE_SIZE,
            Self::Caption => CAPTION_SIZE,
        }
    }

    /// Line height in points.
    #[must_use]
    pub fn line(self) -> f32 {
        match self {
            Self::Body | Self::Dim => TEXT_LINE,
            Self::Heading(1) => 30.0,
            Self::Heading(2) => 27.0,
            Self::Heading(3) => 25.0,
            Self::Heading(_) => TEXT_LINE,
            Self::TableHead | Self::TableCell => 21.0,
            Self::Code | Self::Interface | Self::InterfaceStrong => CODE_LINE,
            Self::Caption => 18.0,
        }
    }

    /// Weight of plain text in this voice.
    fn weight(self) -> f32 {
        match self {
            Self::Heading(_) | Self::TableHead | Self::InterfaceStrong => 600.0,
            _ => 400.0,
        }
    }

    /// Columns of numbers and counters line up.
    fn family(self, mono: bool, slant: Slant) -> FontFamily {
        let counts = matches!(self, Self::TableHead | Self::TableCell | Self::Caption);
        if counts && !mono && slant == Slant::Upright {
            FontFamily::Name(FIGURES_NAME.into())
        } else {
            family(mono, slant)
        }
    }

    fn is_dim(self) -> bool {
        matches!(self, Self::Dim | Self::Caption)
    }
}

/// Whether letters lean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the documentation")]
pub enum Slant {
    Upright,
    Italic,
}

impl Slant {
    fn of(style: Style) -> Self {
        if style.has(Style::ITALIC) { Self::Italic } else { Self::Upright }
    }
}

/// The format of text in a voice and a style.
#[must_use]
pub fn format(voice: Voice, style: Style, is_link: bool, palette: &Palette) -> TextFormat {
    let mono = voice == Voice::Code
        || style.has(Style::CODE)
        || style.has(Style::KBD)
        || style.has(Style::MATH);
    let small = style.has(Style::SUB) || style.has(Style::SUP) || style.has(Style::FOOTNOTE);
    let color = color(voice, style, is_link, palette);
    let weight = if style.has(Style::BOLD) { voice.weight().max(650.0) } else { voice.weight() };
    let mut size = if mono { voice.size() * (CODE_SIZE / TEXT_SIZE) } else { voice.size() };
    if voice == Voice::Code {
        size = CODE_SIZE;
    }
    if small {
        size *= 0.72;
    }
    // A small section in a line of its own height rises or sinks by its alignment.
    let line = if small { size * 1.25 } else { voice.line() };
    let valign = if style.has(Style::SUB) || !small { Align::BOTTOM } else { Align::TOP };
    TextFormat {
        font_id: FontId::new(size, voice.family(mono, Slant::of(style))),
        line_height: Some(line),
        color,
        coords: coords(weight),
        strikethrough: line_if(style.has(Style::STRIKE), color),
        valign,
        ..TextFormat::default()
    }
}

fn color(voice: Voice, style: Style, is_link: bool, palette: &Palette) -> egui::Color32 {
    if is_link && !style.has(Style::IMAGE) {
        palette.accent
    } else if voice.is_dim() || style.has(Style::DIM) || style.has(Style::IMAGE) {
        if voice == Voice::Caption { palette.faint } else { palette.dim }
    } else if style.has(Style::MATH) {
        palette.dim
    } else {
        palette.text
    }
}

fn line_if(on: bool, color: egui::Color32) -> Stroke {
    if on { Stroke::new(1.0, color) } else { Stroke::NONE }
}

/// The family for a combination of mono and italic.
#[must_use]
pub fn family(mono: bool, slant: Slant) -> FontFamily {
    match (mono, slant) {
        (false, Slant::Upright) => TEXT,
        (true, Slant::Upright) => MONO,
        (false, Slant::Italic) => FontFamily::Name(ITALIC_NAME.into()),
        (true, Slant::Italic) => FontFamily::Name(MONO_ITALIC_NAME.into()),
    }
}

/// Variation coordinates of a weight. The regular weight carries none, so that text set
/// by egui itself shares its glyphs.
#[must_use]
pub fn coords(weight: f32) -> VariationCoords {
    if (weight - 400.0).abs() < 1.0 {
        VariationCoords::default()
    } else {
        VariationCoords::new([(b"wght", weight)])
    }
}

/// The format of an icon at a size.
#[must_use]
pub fn icon(size: f32, line: f32, color: egui::Color32) -> TextFormat {
    TextFormat {
        font_id: FontId::new(size, FontFamily::Name(ICON_NAME.into())),
        line_height: Some(line),
        color,
        ..TextFormat::default()
    }
}
