//! Secrets inside text that is itself written as JSON or as part of an address: there a
//! word begins behind `\n` and `%3D`, which are letters to whoever looks for words.

use std::ops::Range;

use crate::markup::secrets::{COVER, Ending, find};

/// The text with such secrets covered; none when there are none.
pub(super) fn cover(text: &str) -> Option<String> {
    let found = find(&unwrapped(text)?, Ending::Final);
    (!found.is_empty()).then(|| cover_ranges(text, &found))
}

/// Covers ranges that are in order and do not overlap.
pub(super) fn cover_ranges(text: &str, ranges: &[Range<usize>]) -> String {
    let mut covered = String::with_capacity(text.len());
    let mut at = 0;
    for range in ranges {
        covered.push_str(text.get(at..range.start).unwrap_or_default());
        covered.extend(std::iter::repeat_n(COVER, SIGNS));
        at = range.end;
    }
    covered.push_str(text.get(at..).unwrap_or_default());
    covered
}

/// How long a secret is stays unsaid.
const SIGNS: usize = 16;

/// The text with each escape as blanks and the sign it stands for, of the same length, so
/// that what is found in one stands in the other. None when it has no escapes.
fn unwrapped(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    memchr::memchr2(b'\\', b'%', bytes)?;
    let mut plain = bytes.to_vec();
    let mut at = 0;
    while let Some(next) = bytes.get(at..).and_then(|rest| memchr::memchr2(b'\\', b'%', rest)) {
        at += next;
        let Some((length, sign)) = escape(bytes.get(at..).unwrap_or_default()) else {
            at += 1;
            continue;
        };
        if let Some(place) = plain.get_mut(at..at + length) {
            place.fill(b' ');
            if let Some(last) = place.last_mut() {
                *last = sign;
            }
        }
        at += length;
    }
    String::from_utf8(plain).ok()
}

/// Length of the escape that a text begins with, and its sign where that is ASCII. What was
/// escaped several times is one escape.
fn escape(bytes: &[u8]) -> Option<(usize, u8)> {
    let (mark, rest) = bytes.split_first()?;
    let again: &[u8] = if *mark == b'%' { b"25" } else { b"\\" };
    let mut length = 1;
    let mut rest = rest;
    while let Some(inner) = rest.strip_prefix(again) {
        length += again.len();
        rest = inner;
    }
    match (*mark, rest) {
        (b'%', [high, low, ..]) if hex(*high).is_some() && hex(*low).is_some() => {
            Some((length + 2, sign(hex(*high)? << 4 | hex(*low)?)))
        }
        (b'%', _) => None,
        (_, [b'u', a, b, c, d, ..]) => {
            let (upper, lower) = (hex(*a)? << 4 | hex(*b)?, hex(*c)? << 4 | hex(*d)?);
            Some((length + 5, if upper == 0 { sign(lower) } else { b' ' }))
        }
        (_, [quote @ (b'"' | b'/'), ..]) => Some((length + 1, *quote)),
        (_, [b'n' | b'r' | b't' | b'b' | b'f', ..]) => Some((length + 1, b' ')),
        _ => (length > 1).then_some((length, b' ')),
    }
}

/// A sign that ends words as it is, anything else as a blank.
fn sign(byte: u8) -> u8 {
    if byte.is_ascii_graphic() { byte } else { b' ' }
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_begin_behind_escapes() {
        let key = "sk-CANARY0a1b2c3d4e5f6a7b";
        for (before, after) in [
            ("first line\\n", "\\nlast"),
            ("{\\\"key\\\":\\\"", "\\\"}"),
            ("https://example.org/?next=a%3D", "%26b"),
            ("\\u0022", "\\u0022"),
            ("\\\\\\\\n", "\\\\\\\\n"),
            ("?next=a%25253D", "%252526b"),
        ] {
            let covered = cover(&format!("{before}{key}{after}")).expect(before);
            assert!(!covered.contains("CANARY"), "{covered}");
            assert!(covered.starts_with(before) && covered.ends_with(after), "{covered}");
        }
        for text in ["plain", "100 % of \\n it", "a%zz", "\\u12", "\\"] {
            assert_eq!(cover(text), None, "{text}");
        }
    }
}
