//! Text of an approval: what does not show is made to.

use std::fmt::Write as _;

use crate::model::character::{bidi_name, control_picture, is_invisible, is_mark};

/// Marks on one letter that may be read; more of them hide what is around.
const MAX_MARKS: usize = 4;

/// A text that shows all that is in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Visible {
    /// The text. Line breaks stand; everything else that would not show is spelt out.
    pub text: String,
    /// How many characters had to be spelt out.
    pub hidden: usize,
}

/// True for characters that do not show, or look like another blank, or move others about.
#[must_use]
pub(super) fn is_hidden(c: char) -> bool {
    (c.is_control() && c != '\n' && c != '\t')
        || bidi_name(c).is_some()
        || is_invisible(c)
        || matches!(c,
            '\u{A0}' | '\u{34F}' | '\u{115F}' | '\u{1160}' | '\u{1680}' | '\u{17B4}' | '\u{17B5}'
            | '\u{180B}'..='\u{180F}' | '\u{2000}'..='\u{200F}' | '\u{2028}'..='\u{202F}'
            | '\u{205F}'..='\u{206F}' | '\u{2800}' | '\u{3000}' | '\u{3164}'
            | '\u{FE00}'..='\u{FE0F}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFFC}'
            | '\u{E000}'..='\u{F8FF}' | '\u{1BCA0}'..='\u{1BCA3}' | '\u{1D173}'..='\u{1D17A}'
            | '\u{E0000}'..='\u{E0FFF}' | '\u{F0000}'..='\u{10FFFF}')
}

/// How many characters of a text do not show.
#[must_use]
pub fn hidden_in(text: &str) -> usize {
    let mut marks = 0;
    let hides = |c: char| {
        marks = if is_mark(c) { marks + 1 } else { 0 };
        is_hidden(c) || marks > MAX_MARKS
    };
    text.chars().map(hides).filter(|hides| *hides).count()
}

/// How many characters of a file's text turn its order round or hide words in it. Joiners and
/// variation selectors are part of many scripts and pictures, and are no reason to ask.
pub(super) fn deceptive_in(text: &str) -> usize {
    let deceives = |c: &char| matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{E0000}'..='\u{E007F}');
    text.chars().filter(deceives).count()
}

/// A text with all that does not show spelt out: `⟨RLO⟩`, `⟨U+200B⟩`, `␛`.
///
/// No two texts look the same: the marks that this writes are spelt out themselves.
#[must_use]
pub fn visible(text: &str) -> Visible {
    let mut shown = Visible { text: String::with_capacity(text.len()), hidden: hidden_in(text) };
    let mut marks = 0;
    for c in text.chars() {
        marks = if is_mark(c) { marks + 1 } else { 0 };
        if let Some(name) = bidi_name(c) {
            shown.text.extend(["⟨", name, "⟩"]);
        } else if let Some(picture) = control_picture(c).filter(|_| c.is_ascii()) {
            shown.text.push(picture);
        } else if is_hidden(c) || marks > MAX_MARKS || writes_marks(c) || c == '\r' {
            let _infallible = write!(shown.text, "⟨U+{:04X}⟩", u32::from(c));
        } else {
            shown.text.push(c);
        }
    }
    shown
}

/// Characters that stand for others in what [`visible`] writes.
fn writes_marks(c: char) -> bool {
    matches!(c, '⟨' | '⟩' | '\u{2400}'..='\u{2426}')
}

/// A command as a line in the language of bash, which reads it back as exactly these
/// arguments. What does not show is spelt out by number.
#[must_use]
pub fn command_line(argv: &[String]) -> Visible {
    let mut line = Visible::default();
    for argument in argv {
        if !line.text.is_empty() {
            line.text.push(' ');
        }
        push_argument(argument, &mut line.text);
        line.hidden += hidden_in(argument) + argument.matches(['\n', '\t']).count();
    }
    line
}

fn push_argument(argument: &str, line: &mut String) {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    let needs_numbers =
        hidden_in(argument) > 0 || argument.contains(|c: char| c.is_control() || writes_marks(c));
    if needs_numbers {
        push_numbered(argument, line);
    } else if !argument.is_empty() && argument.chars().all(is_plain) {
        line.push_str(argument);
    } else {
        line.extend(["'", &argument.replace('\'', "'\\''"), "'"]);
    }
}

fn push_numbered(argument: &str, line: &mut String) {
    line.push_str("$'");
    let mut marks = 0;
    for c in argument.chars() {
        marks = if is_mark(c) { marks + 1 } else { 0 };
        let code = u32::from(c);
        let _infallible = match c {
            '\n' => line.write_str("\\n"),
            '\t' => line.write_str("\\t"),
            '\r' => line.write_str("\\r"),
            '\x1B' => line.write_str("\\e"),
            '\\' | '\'' => write!(line, "\\{c}"),
            // Three digits, so that a digit behind them stays a digit.
            _ if c.is_ascii_control() => write!(line, "\\{code:03o}"),
            _ if !(is_hidden(c) || marks > MAX_MARKS || writes_marks(c)) => line.write_char(c),
            _ if code > 0xFFFF => write!(line, "\\U{code:08X}"),
            _ => write!(line, "\\u{code:04X}"),
        };
    }
    line.push('\'');
}
