//! The colours and sizes that type is set with; `view::theme` fills them in.

use egui::Color32;

use crate::{layout::highlight::Class, model::SgrColor};

/// Every colour a slug can be set in.
#[derive(Clone, Debug, PartialEq)]
#[expect(missing_docs, reason = "the tokens' uses are listed where their values are")]
pub struct Palette {
    /// Distinguishes palettes in a layout epoch.
    pub id: u32,
    pub dark: bool,
    pub bg: Color32,
    pub panel: Color32,
    pub raised: Color32,
    pub line: Color32,
    pub text: Color32,
    pub dim: Color32,
    pub faint: Color32,
    pub accent: Color32,
    pub ok: Color32,
    pub warn: Color32,
    pub err: Color32,
    pub code: Color32,
    pub user: Color32,
    pub selection: Color32,
    /// Ground of what was searched for and found.
    pub found: Color32,
    /// Ground of the find that the reader is at.
    pub found_here: Color32,
    pub added: Color32,
    pub removed: Color32,
    pub syntax: Syntax,
    /// The 16 terminal colours.
    pub ansi: [Color32; 16],
}

/// Colours of code.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names are the documentation")]
pub struct Syntax {
    pub keyword: Color32,
    pub function: Color32,
    pub kind: Color32,
    pub string: Color32,
    pub number: Color32,
    pub comment: Color32,
    pub attribute: Color32,
    pub operator: Color32,
}

impl Palette {
    /// The colour of a class of code.
    #[must_use]
    pub fn class(&self, class: Class) -> Color32 {
        match class {
            Class::Keyword => self.syntax.keyword,
            Class::Function | Class::Heading => self.syntax.function,
            Class::Type | Class::Tag => self.syntax.kind,
            Class::String => self.syntax.string,
            Class::Number | Class::Constant => self.syntax.number,
            Class::Comment => self.syntax.comment,
            Class::Attribute => self.syntax.attribute,
            Class::Operator | Class::Punctuation => self.syntax.operator,
            Class::Inserted => self.ok,
            Class::Deleted => self.err,
            Class::Plain => self.text,
        }
    }

    /// A terminal colour in this theme.
    #[must_use]
    pub fn sgr(&self, color: SgrColor) -> Color32 {
        match color {
            SgrColor::Default => self.text,
            SgrColor::Indexed(index) => self.ansi[usize::from(index) % 16],
            SgrColor::Rgb(r, g, b) => self.legible([r, g, b]),
        }
    }

    /// Moves a colour chosen for another ground toward the text colour until it can be
    /// read on ours.
    fn legible(&self, [r, g, b]: [u8; 3]) -> Color32 {
        let luma = |c: Color32| {
            0.299 * f32::from(c.r()) + 0.587 * f32::from(c.g()) + 0.114 * f32::from(c.b())
        };
        let mut color = self.code;
        color[0] = r;
        color[1] = g;
        color[2] = b;
        let near = (luma(color) - luma(self.code)).abs();
        if near < 90.0 { color.lerp_to_gamma(self.text, 1.0 - near / 110.0) } else { color }
    }
}
