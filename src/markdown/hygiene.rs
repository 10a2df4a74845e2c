//! What is done to characters that cannot be seen, or that lie about the order of the others.
//!
//! Stored text is never changed; only what is shown passes through here.

use std::borrow::Cow;

use crate::model::{
    Hygiene,
    character::{bidi_name, control_picture, is_invisible, is_mark},
};

/// Marks drawn on one base character before the rest become an ellipsis.
const MARKS_DRAWN: usize = 8;

/// The deepest embedding that the bidirectional algorithm knows.
const BIDI_DEPTH: usize = 125;

/// Text for running prose: controls become pictures, invisible characters are counted and left
/// out, piles of combining marks are cut. Direction controls stay and are flagged.
#[must_use]
pub fn for_prose<'a>(text: &'a str, found: &mut Hygiene) -> Cow<'a, str> {
    clean(text, Place::Prose, found)
}

/// Text for code, where a direction control could make the eye read other code than the
/// compiler does: it becomes a visible tag.
#[must_use]
pub fn for_code<'a>(text: &'a str, found: &mut Hygiene) -> Cow<'a, str> {
    clean(text, Place::Code, found)
}

/// Text for file names, addresses and tool arguments: everything invisible becomes a tag such as
/// `⟨RLO⟩` or `⟨U+200B⟩`. Tabs and newlines stay.
#[must_use]
pub fn visible(text: &str) -> Cow<'_, str> {
    clean(text, Place::Argument, &mut Hygiene::default())
}

/// What closes the direction controls that `text` leaves open, so that they end with its block.
#[must_use]
pub fn bidi_closers(text: &str) -> String {
    let mut open = Vec::new();
    for c in text.chars() {
        match c {
            '\u{202A}' | '\u{202B}' | '\u{202D}' | '\u{202E}' => open.push('\u{202C}'),
            '\u{2066}'..='\u{2068}' => open.push('\u{2069}'),
            // A pop that does not belong to the innermost opener has no effect on the screen
            // worth modelling: the closers below end everything anyway.
            '\u{202C}' | '\u{2069}' if open.last() == Some(&c) => {
                open.pop();
            }
            _ => {}
        }
    }
    open.into_iter().rev().take(BIDI_DEPTH).collect()
}

/// Where a text is going to stand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Prose,
    Code,
    Argument,
}

fn clean<'a>(text: &'a str, place: Place, found: &mut Hygiene) -> Cow<'a, str> {
    let Some(first) = first_suspect(text) else { return Cow::Borrowed(text) };
    let (good, rest) = text.split_at(first);
    let mut out = String::with_capacity(text.len());
    out.push_str(good);
    let mut marks = 0;
    let mut chars = rest.chars().peekable();
    while let Some(c) = chars.next() {
        if is_mark(c) {
            marks += 1;
            match marks.cmp(&(MARKS_DRAWN + 1)) {
                std::cmp::Ordering::Less => out.push(c),
                std::cmp::Ordering::Equal => out.push('…'),
                std::cmp::Ordering::Greater => {}
            }
            continue;
        }
        if is_invisible(c) {
            // It does not end a pile of marks: dropped characters must not lengthen the pile.
            found.hidden = found.hidden.saturating_add(1);
            if place == Place::Argument {
                push_tag(&mut out, &format!("U+{:04X}", c as u32));
            }
            continue;
        }
        marks = 0;
        match (c, control_picture(c), bidi_name(c)) {
            ('\r', ..) => {
                if chars.peek() != Some(&'\n') {
                    out.push('\n');
                }
            }
            ('\u{2028}' | '\u{2029}', ..) => out.push('\n'),
            (_, Some(picture), _) => out.push(picture),
            (_, _, Some(name)) => {
                found.bidi |= !matches!(c, '\u{200E}' | '\u{200F}' | '\u{061C}');
                match place {
                    Place::Prose => out.push(c),
                    Place::Code | Place::Argument => push_tag(&mut out, name),
                }
            }
            _ => out.push(c),
        }
    }
    Cow::Owned(out)
}

fn push_tag(out: &mut String, name: &str) {
    out.push('⟨');
    out.push_str(name);
    out.push('⟩');
}

/// Byte offset of the base of the first character that may need work; none for clean text.
fn first_suspect(text: &str) -> Option<usize> {
    let plain = |b: &u8| matches!(b, b'\t' | b'\n' | b' '..=b'~');
    let ascii = text.as_bytes().iter().position(|b| !plain(b))?;
    let rest = text.get(ascii..)?;
    let mut marks = 0;
    for (at, c) in rest.char_indices() {
        if c == '\r'
            || matches!(c, '\u{2028}' | '\u{2029}')
            || control_picture(c).is_some()
            || bidi_name(c).is_some()
            || is_invisible(c)
        {
            return Some(ascii + at.saturating_sub(marks_before(rest, at)));
        }
        marks = if is_mark(c) { marks + 1 } else { 0 };
        if marks > MARKS_DRAWN {
            let from = ascii + at + c.len_utf8();
            return Some(from - marks_before(text, from));
        }
    }
    None
}

/// Bytes of combining marks that end at `at`.
fn marks_before(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    before.chars().rev().take_while(|c| is_mark(*c)).map(char::len_utf8).sum()
}
