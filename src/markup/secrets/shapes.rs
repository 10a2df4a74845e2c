//! Secrets that are known by their own shape: vendors' tokens, key blocks, addresses with
//! a password in them.

use std::ops::Range;

use memchr::memmem;

use super::{Ending, run};

/// A vendor's token: how it begins, and what follows.
struct Shape {
    prefix: &'static str,
    /// Fewest characters behind the prefix.
    least: usize,
    body: Body,
}

#[derive(Clone, Copy, PartialEq)]
enum Body {
    /// Letters and digits.
    Alnum,
    /// Also `_` and `-`.
    Dashed,
    /// Capital letters and digits, exactly as many as said.
    Capitals,
    /// Also `_`, `-` and `.`.
    Dotted,
}

const fn shape(prefix: &'static str, least: usize, body: Body) -> Shape {
    Shape { prefix, least, body }
}

const SHAPES: &[Shape] = &[
    shape("sk-", 16, Body::Dashed),
    shape("sk_live_", 10, Body::Alnum),
    shape("sk_test_", 10, Body::Alnum),
    shape("rk_live_", 10, Body::Alnum),
    shape("pk_live_", 10, Body::Alnum),
    shape("whsec_", 16, Body::Alnum),
    shape("AIza", 30, Body::Dashed),
    shape("AKIA", 16, Body::Capitals),
    shape("ASIA", 16, Body::Capitals),
    shape("ya29.", 20, Body::Dashed),
    shape("xoxa-", 10, Body::Dashed),
    shape("xoxb-", 10, Body::Dashed),
    shape("xoxe-", 10, Body::Dashed),
    shape("xoxp-", 10, Body::Dashed),
    shape("xoxr-", 10, Body::Dashed),
    shape("xoxs-", 10, Body::Dashed),
    shape("xapp-", 10, Body::Dashed),
    shape("ghp_", 20, Body::Alnum),
    shape("gho_", 20, Body::Alnum),
    shape("ghu_", 20, Body::Alnum),
    shape("ghs_", 20, Body::Alnum),
    shape("ghr_", 20, Body::Alnum),
    shape("github_pat_", 20, Body::Dashed),
    shape("glpat-", 16, Body::Dashed),
    shape("gsk_", 20, Body::Alnum),
    shape("hf_", 20, Body::Alnum),
    shape("npm_", 30, Body::Alnum),
    shape("pypi-", 32, Body::Dashed),
    shape("xai-", 20, Body::Alnum),
    shape("r8_", 30, Body::Alnum),
    shape("dop_v1_", 32, Body::Alnum),
    shape("SG.", 30, Body::Dotted),
];

/// Fewest characters behind a prefix at the end of a text that is still arriving.
const ARRIVING: usize = 4;

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

impl Body {
    fn has(self, byte: u8) -> bool {
        match self {
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Dashed => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Capitals => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Dotted => is_word(byte),
        }
    }
}

/// Finds vendors' tokens, JSON web tokens and what follows the word `Bearer`.
pub(super) fn tokens(text: &str, ending: Ending, found: &mut Vec<Range<usize>>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !is_word(bytes[at]) {
            at += 1;
            continue;
        }
        let end = at + run(bytes, at, is_word);
        let word = &bytes[at..end];
        if let Some(range) = token(word, ending, end == bytes.len()) {
            found.push(at + range.start..at + range.end);
        } else if word.eq_ignore_ascii_case(b"bearer") || word.eq_ignore_ascii_case(b"basic") {
            found.extend(credentials(bytes, end));
        }
        at = end;
    }
}

fn token(word: &[u8], ending: Ending, at_end: bool) -> Option<Range<usize>> {
    if word.starts_with(b"eyJ") {
        return web_token(word, ending, at_end);
    }
    let shape = SHAPES.iter().find(|shape| word.starts_with(shape.prefix.as_bytes()))?;
    let start = shape.prefix.len();
    let length = run(word, start, |byte| shape.body.has(byte));
    // A full stop may end the sentence that the token stands in.
    let ends = word.get(start + length..).is_some_and(|rest| rest.iter().all(|b| *b == b'.'));
    let body = word.get(start..start + length)?;
    let arriving = ending == Ending::Open && at_end && length >= ARRIVING;
    let exact = shape.body != Body::Capitals || length == shape.least;
    let whole = length >= shape.least && exact && ends && is_random(body);
    (whole || arriving && ends).then_some(start..start + length)
}

/// Words joined by dashes are names; a key has a long piece with digits in it.
fn is_random(body: &[u8]) -> bool {
    let pieces = || body.split(|byte| !byte.is_ascii_alphanumeric());
    let has_digit = body.iter().any(u8::is_ascii_digit);
    let mixed = body.iter().any(u8::is_ascii_uppercase) && body.iter().any(u8::is_ascii_lowercase);
    (has_digit || mixed) && pieces().any(|piece| piece.len() >= 8)
}

/// `header.payload.signature`, of which the first begins with `{"` in base64.
fn web_token(word: &[u8], ending: Ending, at_end: bool) -> Option<Range<usize>> {
    let mut parts = word.split(|byte| *byte == b'.');
    let header = parts.next()?.len();
    let payload = parts.next().unwrap_or_default();
    let arriving = ending == Ending::Open && at_end && word.len() >= 3 + ARRIVING;
    let whole = header >= 10 && payload.len() >= 8 && payload.starts_with(b"ey");
    let length = word.len() - word.iter().rev().take_while(|byte| **byte == b'.').count();
    (whole || arriving).then_some(3..length)
}

/// What follows `Bearer` or `Basic`.
fn credentials(bytes: &[u8], after: usize) -> Option<Range<usize>> {
    let blanks = run(bytes, after, |byte| byte == b' ');
    let start = after + blanks;
    let is_body = |byte: u8| is_word(byte) || matches!(byte, b'+' | b'/' | b'=' | b'~');
    let length = run(bytes, start, is_body);
    let body = bytes.get(start..start + length)?;
    let enough = (1..=2).contains(&blanks) && length >= 12;
    // A word after the word is a word: its capital, if it has one, is its first letter.
    let inner = body.get(1..).unwrap_or_default();
    let is_word = !body.iter().any(u8::is_ascii_digit) && !inner.iter().any(u8::is_ascii_uppercase);
    (enough && !is_word).then_some(start..start + length)
}

const BEGIN: &[u8] = b"-----BEGIN ";
const END: &[u8] = b"-----END ";

/// Finds private keys between their armour.
pub(super) fn blocks(text: &str, found: &mut Vec<Range<usize>>) {
    let bytes = text.as_bytes();
    let (begin, end) = (memmem::Finder::new(BEGIN), memmem::Finder::new(END));
    let mut at = 0;
    while let Some(start) = bytes.get(at..).and_then(|rest| begin.find(rest)) {
        let label = at + start + BEGIN.len();
        let length =
            run(bytes, label, |b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b' ');
        let body = label + length;
        at = body;
        let is_private = bytes[label..body].windows(11).any(|word| word == b"PRIVATE KEY");
        if !is_private || !bytes[body..].starts_with(b"-----") {
            continue;
        }
        let body = body + 5;
        let stop = end.find(&bytes[body..]).map_or(bytes.len(), |length| body + length);
        at = stop;
        found.extend(trimmed(text, body..stop));
    }
}

/// The range without blanks around it. Written as `\n`, an end of line is a blank too.
fn trimmed(text: &str, range: Range<usize>) -> Option<Range<usize>> {
    let inside = text.get(range.clone())?;
    let blank = |c: char| c.is_whitespace();
    let mut start = range.start + (inside.len() - inside.trim_start_matches(blank).len());
    let mut end = range.end - (inside.len() - inside.trim_end_matches(blank).len());
    while text.get(start..end).is_some_and(|rest| rest.starts_with("\\n")) {
        start += 2;
    }
    while text.get(start..end).is_some_and(|rest| rest.ends_with("\\n")) {
        end -= 2;
    }
    (start < end).then_some(start..end)
}

/// Longest user name and password that an address is looked at for.
const USER_MAX: usize = 256;

/// Finds the password in `scheme://user:password@host`.
pub(super) fn passwords_of_addresses(text: &str, found: &mut Vec<Range<usize>>) {
    let bytes = text.as_bytes();
    for at in memmem::find_iter(bytes, b"://") {
        let start = at + 3;
        let end = bytes.len().min(start + USER_MAX);
        let part = bytes.get(start..end).unwrap_or_default();
        let inside = |byte: u8| !byte.is_ascii_whitespace() && !matches!(byte, b'/' | b'?' | b'#');
        let length = run(part, 0, |byte| inside(byte) && byte != b'@' && byte < 0x80);
        if part.get(length) != Some(&b'@') {
            continue;
        }
        let Some(colon) = part.iter().take(length).position(|byte| *byte == b':') else { continue };
        let password = part.get(colon + 1..length).unwrap_or_default();
        // `${PASSWORD}` and `<password>` are words about a password.
        if password.len() >= 3 && !password.iter().any(|byte| b"<>{}$%*".contains(byte)) {
            found.push(start + colon + 1..start + length);
        }
    }
}
