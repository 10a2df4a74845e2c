//! Text that is safe to print: no control character reaches a terminal or a page.

use std::borrow::Cow;

use crate::{markup::ansi, model::Output};

/// The text with line ends as `\n` and every other control character but tab as its
/// picture: escape becomes `␛`.
pub(in crate::app) fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\r' if chars.peek() == Some(&'\n') => {}
            c if is_hidden(c) => shown.push(picture(c)),
            c => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// The same on one line.
pub(super) fn one_line(text: &str) -> String {
    visible(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A tool's text as a terminal would leave it, without colours.
pub(super) fn output_text(output: &Output) -> String {
    let text = ansi::parse(&output.source).text;
    visible(text.strip_suffix('\n').unwrap_or(&text)).into_owned()
}

fn is_hidden(c: char) -> bool {
    c.is_control() && c != '\n' && c != '\t'
}

fn picture(c: char) -> char {
    match u32::from(c) {
        code @ 0..=0x1f => char::from_u32(0x2400 + code).unwrap_or('\u{fffd}'),
        0x7f => '\u{2421}',
        _ => '\u{fffd}',
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_become_pictures() {
        let cases = [
            ("plain\ttext\n", "plain\ttext\n"),
            ("a\r\nb", "a\nb"),
            ("a\rb", "a\u{240d}b"),
            ("\u{1b}]0;title\u{7}", "\u{241b}]0;title\u{2407}"),
            ("\u{7f}\u{9b}31m", "\u{2421}\u{fffd}31m"),
        ];
        for (text, expected) in cases {
            assert_eq!(visible(text), expected);
        }
        assert_eq!(one_line(" a\n\tb  c "), "a b c");
    }
}
