//! The look: colour tokens, fonts, and egui's own style made to match. The only file with
//! colours in it.

use std::sync::Arc;

use egui::{
    Color32, Context, CornerRadius, FontData, FontDefinitions, FontFamily, FontId, Stroke,
    TextStyle, Theme, Visuals, epaint::text::FontTweak,
};

use crate::layout::{Palette, Syntax, face};

#[expect(clippy::disallowed_methods, reason = "the one place that makes colours")]
const fn hex(rgb: u32) -> Color32 {
    Color32::from_rgb((rgb >> 16) as u8, (rgb >> 8) as u8, rgb as u8)
}

/// The palette of a theme.
#[must_use]
pub fn palette(theme: Theme) -> Palette {
    match theme {
        Theme::Dark => dark(),
        Theme::Light => light(),
    }
}

fn dark() -> Palette {
    Palette {
        id: 1,
        dark: true,
        bg: hex(0x16_181d),
        panel: hex(0x1b_1e24),
        raised: hex(0x27_2c35),
        line: hex(0x2c_313a),
        text: hex(0xdf_e3ea),
        dim: hex(0x98_a1b0),
        faint: hex(0x8b_94a5),
        accent: hex(0x7a_a2f7),
        ok: hex(0x7b_c88f),
        warn: hex(0xe0_af68),
        err: hex(0xf0_787d),
        code: hex(0x12_141a),
        user: hex(0x23_2833),
        selection: hex(0x7a_a2f7).gamma_multiply(0.30),
        found: hex(0x34_2c10),
        found_here: hex(0x3e_3411),
        added: hex(0x17_2a20),
        removed: hex(0x33_1c20),
        syntax: Syntax {
            keyword: hex(0xc0_99f0),
            function: hex(0x82_aaff),
            kind: hex(0x7f_c8d8),
            string: hex(0x9e_ce8a),
            number: hex(0xf0_a878),
            comment: hex(0x85_8ea0),
            attribute: hex(0xe0_af68),
            operator: hex(0xa9_b4c8),
        },
        ansi: [
            hex(0x6b_7384),
            hex(0xf0_787d),
            hex(0x7b_c88f),
            hex(0xe0_af68),
            hex(0x7a_a2f7),
            hex(0xc0_99f0),
            hex(0x6f_c6d6),
            hex(0xc8_cfda),
            hex(0x98_a1b0),
            hex(0xff_9599),
            hex(0x9a_e0ab),
            hex(0xf2_ca8d),
            hex(0x9d_bdff),
            hex(0xd6_b8ff),
            hex(0x93_dde8),
            hex(0xf2_f4f8),
        ],
    }
}

fn light() -> Palette {
    Palette {
        id: 2,
        dark: false,
        bg: hex(0xfb_fbfc),
        panel: hex(0xf3_f4f6),
        raised: hex(0xec_eef2),
        line: hex(0xdf_e2e7),
        text: hex(0x1d_2129),
        dim: hex(0x5a_6372),
        faint: hex(0x64_6c79),
        accent: hex(0x2f_5fd0),
        ok: hex(0x16_7340),
        warn: hex(0x8f_5b00),
        err: hex(0xc4_323a),
        code: hex(0xf5_f6f8),
        user: hex(0xee_f1f6),
        selection: hex(0x2f_5fd0).gamma_multiply(0.22),
        found: hex(0xff_f2b8),
        found_here: hex(0xff_eda0),
        added: hex(0xdf_f3e4),
        removed: hex(0xfb_e3e4),
        syntax: Syntax {
            keyword: hex(0x79_36b8),
            function: hex(0x24_56c4),
            kind: hex(0x0b_6a7c),
            string: hex(0x1f_6e34),
            number: hex(0xa8_4a0a),
            comment: hex(0x64_6c79),
            attribute: hex(0x8f_5b00),
            operator: hex(0x45_4d5c),
        },
        ansi: [
            hex(0x3a_404b),
            hex(0xc4_323a),
            hex(0x16_7340),
            hex(0x8f_5b00),
            hex(0x2f_5fd0),
            hex(0x79_36b8),
            hex(0x0b_6a7c),
            hex(0x5a_6372),
            hex(0x64_6c79),
            hex(0xb0_2029),
            hex(0x0f_6636),
            hex(0x7d_4f00),
            hex(0x24_52bb),
            hex(0x6a_2aa6),
            hex(0x08_5c6c),
            hex(0x1d_2129),
        ],
    }
}

/// Fonts, styles and both themes. Call it once per context.
pub fn install(ctx: &Context) {
    ctx.set_fonts(fonts());
    for theme in [Theme::Dark, Theme::Light] {
        let palette = palette(theme);
        ctx.style_mut_of(theme, |style| {
            style.visuals = visuals(&palette);
            style.text_styles = text_styles();
            style.interaction.selectable_labels = false;
            style.spacing.item_spacing = egui::vec2(8.0, 8.0);
            style.spacing.button_padding = egui::vec2(10.0, 5.0);
            style.animation_time = 0.12;
            style.url_in_tooltip = true;
        });
    }
}

fn text_styles() -> std::collections::BTreeMap<TextStyle, FontId> {
    [
        (TextStyle::Small, FontId::new(face::CAPTION_SIZE, FontFamily::Proportional)),
        (TextStyle::Body, FontId::new(face::INTERFACE_SIZE, FontFamily::Proportional)),
        (TextStyle::Button, FontId::new(face::INTERFACE_SIZE, FontFamily::Proportional)),
        (TextStyle::Heading, FontId::new(17.0, FontFamily::Proportional)),
        (TextStyle::Monospace, FontId::new(face::CODE_SIZE, FontFamily::Monospace)),
    ]
    .into()
}

fn visuals(palette: &Palette) -> Visuals {
    let mut visuals = if palette.dark { Visuals::dark() } else { Visuals::light() };
    visuals.panel_fill = palette.bg;
    visuals.window_fill = palette.panel;
    visuals.extreme_bg_color = palette.code;
    visuals.faint_bg_color = palette.panel;
    visuals.code_bg_color = palette.code;
    visuals.window_stroke = Stroke::new(1.0, palette.line);
    visuals.window_corner_radius = CornerRadius::same(10);
    visuals.menu_corner_radius = CornerRadius::same(8);
    visuals.hyperlink_color = palette.accent;
    visuals.warn_fg_color = palette.warn;
    visuals.error_fg_color = palette.err;
    visuals.selection.bg_fill = palette.selection;
    visuals.selection.stroke = Stroke::new(1.0, palette.accent);
    visuals.weak_text_color = Some(palette.dim);
    let widgets = &mut visuals.widgets;
    for (state, fill, text) in [
        (&mut widgets.noninteractive, palette.bg, palette.text),
        (&mut widgets.inactive, palette.panel, palette.text),
        (&mut widgets.hovered, palette.raised, palette.text),
        (&mut widgets.active, palette.raised, palette.text),
        (&mut widgets.open, palette.raised, palette.text),
    ] {
        state.bg_fill = fill;
        state.weak_bg_fill = fill;
        state.bg_stroke = Stroke::new(1.0, palette.line);
        state.fg_stroke = Stroke::new(1.0, text);
        state.corner_radius = CornerRadius::same(8);
        state.expansion = 0.0;
    }
    visuals
}

macro_rules! font {
    ($file:literal) => {
        FontData::from_static(include_bytes!(concat!("../../assets/", $file)))
    };
}

/// The bundled faces, with colour emoji before the system's other fonts: a system font
/// chosen per character would mix drawn and coloured ones in one line.
#[must_use]
pub fn fonts() -> FontDefinitions {
    let mut fonts = FontDefinitions::empty();
    let lowered = FontTweak { y_offset_factor: 0.05, ..FontTweak::default() };
    let data = [
        ("inter", font!("fonts/InterVariable.ttf")),
        ("inter-italic", font!("fonts/InterVariable-Italic.ttf")),
        ("figures", font!("fonts/InterFigures.ttf")),
        // Sits a little high beside the text face when a line mixes both.
        ("mono", font!("fonts/JetBrainsMono.ttf").tweak(lowered.clone())),
        ("mono-italic", font!("fonts/JetBrainsMono-Italic.ttf").tweak(lowered)),
        ("symbols", font!("fonts/Symbols.ttf")),
        ("icons", font!("icons/phosphor.ttf")),
    ];
    for (name, font) in data {
        fonts.font_data.insert(name.to_owned(), Arc::new(font));
    }
    let emoji = system_emoji();
    let behind: &[&str] = if emoji.is_some() { &["emoji", "symbols"] } else { &["symbols"] };
    if let Some(emoji) = emoji {
        fonts.font_data.insert("emoji".to_owned(), Arc::new(emoji));
    }
    let name = |name: &'static str| FontFamily::Name(name.into());
    let families = [
        (face::TEXT, ["inter"].as_slice(), "mono"),
        (face::MONO, &["mono"], "inter"),
        (name(face::ITALIC_NAME), &["inter-italic"], "inter"),
        (name(face::MONO_ITALIC_NAME), &["mono-italic"], "mono"),
        // Has figures only: everything else must come from the face they belong to.
        (name(face::FIGURES_NAME), &["figures", "inter"], "mono"),
        (name(face::ICON_NAME), &["icons"], "inter"),
    ];
    for (family, own, last) in families {
        let chain = own.iter().chain(behind).copied().chain([last]);
        fonts.families.insert(family, chain.map(str::to_owned).collect());
    }
    fonts
}

/// The system's colour emoji font, where systems keep it.
fn system_emoji() -> Option<FontData> {
    const PLACES: &[&str] = &[
        "/usr/share/fonts/truetype/noto/NotoColorEmoji.ttf",
        "/usr/share/fonts/noto/NotoColorEmoji.ttf",
        "/usr/share/fonts/google-noto-color-emoji-fonts/NotoColorEmoji.ttf",
        "/usr/share/fonts/noto-emoji/NotoColorEmoji.ttf",
        "/System/Library/Fonts/Apple Color Emoji.ttc",
        "C:\\Windows\\Fonts\\seguiemj.ttf",
    ];
    PLACES.iter().find_map(|place| std::fs::read(place).ok()).map(FontData::from_owned)
}
