//! Secrets that are known by their name: `API_TOKEN=…`, `"password": "…"`.

use std::ops::Range;

use super::run;

/// Longest name that is looked at.
const NAME_MAX: usize = 64;
/// Longest value that is looked at.
const VALUE_MAX: usize = 4096;

/// Endings of names whose values are secret.
const NAMES: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "pwd",
    "secret",
    "token",
    "apikey",
    "api_key",
    "access_key",
    "secret_key",
    "private_key",
    "signing_key",
    "encryption_key",
    "auth_key",
    "account_key",
];

/// Values that say something about a secret and are none.
const WORDS: &[&str] = &[
    "string",
    "password",
    "passwd",
    "secret",
    "token",
    "required",
    "optional",
    "redacted",
    "hidden",
    "invalid",
    "missing",
    "expired",
    "example",
    "changeme",
    "undefined",
    "default",
    "unknown",
    "disabled",
    "enabled",
    "placeholder",
    "masked",
    "private",
    "public",
    "bearer",
];

/// What stands between a name and its value.
#[derive(Clone, Copy, PartialEq)]
enum Sign {
    Equals,
    Colon,
}

/// Finds the values of secret names.
pub(super) fn values(text: &str, found: &mut Vec<Range<usize>>) {
    let bytes = text.as_bytes();
    for at in memchr::memchr2_iter(b'=', b':', bytes) {
        let sign = if bytes[at] == b'=' { Sign::Equals } else { Sign::Colon };
        let Some(name) = name_before(bytes, at) else { continue };
        let Some(kind) = kind(name) else { continue };
        found.extend(value_after(text, at + 1, sign, kind));
    }
}

/// The name that ends before a sign, through a closing quote and blanks.
fn name_before(bytes: &[u8], sign: usize) -> Option<&[u8]> {
    let from = sign.saturating_sub(NAME_MAX + 4);
    let before = bytes.get(from..sign)?;
    let blank = |byte: &&u8| matches!(**byte, b' ' | b'"' | b'\'' | b'`' | b'\\');
    let end = before.len() - before.iter().rev().take(4).take_while(blank).count();
    let is_name = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(**byte, b'_' | b'-' | b'.');
    let length = before.get(..end)?.iter().rev().take_while(is_name).count();
    (1..=NAME_MAX).contains(&length).then(|| before.get(end - length..end)).flatten()
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    /// A password, which people choose: any word can be one.
    Chosen,
    /// A key or token, which machines make.
    Made,
}

fn kind(name: &[u8]) -> Option<Kind> {
    let name: String = name
        .iter()
        .map(|byte| if *byte == b'-' { '_' } else { char::from(byte.to_ascii_lowercase()) })
        .collect();
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let ending = NAMES.iter().find(|ending| name.ends_with(**ending))?;
    let chosen = matches!(*ending, "password" | "passwd" | "passphrase" | "pwd");
    Some(if chosen { Kind::Chosen } else { Kind::Made })
}

fn value_after(text: &str, after: usize, sign: Sign, kind: Kind) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let start = after + run(bytes, after, |byte| byte == b' ').min(4);
    // JSON inside a string of JSON has its quotes escaped.
    let escape = run(bytes, start, |byte| byte == b'\\').min(3);
    match bytes.get(start + escape) {
        Some(quote @ (b'"' | b'\'' | b'`')) => quoted(text, start + escape + 1, *quote, kind),
        _ if start > after && sign == Sign::Equals => bare(text, start, Sign::Colon, kind),
        _ => bare(text, start, sign, kind),
    }
}

/// A value up to its closing quote, on the same line.
fn quoted(text: &str, start: usize, quote: u8, kind: Kind) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let rest = bytes.get(start..bytes.len().min(start + VALUE_MAX))?;
    let stops = |byte: &u8| *byte == quote || matches!(*byte, b'\n' | b'\\');
    let length = rest.iter().position(stops)?;
    if rest.get(length) == Some(&b'\n') {
        return None;
    }
    let value = text.get(start..start + length)?;
    let secret = match kind {
        Kind::Chosen => value.len() >= 6 && !is_about(value),
        Kind::Made => value.len() >= 8 && !is_about(value) && looks_made(value),
    };
    secret.then_some(start..start + length)
}

/// A value without quotes.
fn bare(text: &str, start: usize, sign: Sign, kind: Kind) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let is_value = |byte: u8| byte.is_ascii_alphanumeric() || b"_-+/=~!@#$%^&*".contains(&byte);
    // Each name looks so far and no further, or many would look at the same text.
    let near = bytes.get(..bytes.len().min(start + VALUE_MAX))?;
    let length = run(near, start, is_value);
    // What goes on as an expression, a path or a word is no value.
    let ends = bytes.get(start + length).is_none_or(|byte| {
        byte.is_ascii_whitespace()
            || matches!(byte, b'"' | b'\'' | b'`' | b',' | b';' | b'&' | b'|' | b'\\')
    });
    let value = text.get(start..start + length)?;
    let value = value.split('&').next().unwrap_or_default();
    let least = match (kind, sign) {
        (Kind::Chosen, _) => 6,
        (Kind::Made, Sign::Equals) => 8,
        (Kind::Made, Sign::Colon) => 16,
    };
    let digits = value.bytes().filter(u8::is_ascii_digit).count();
    let letters = value.bytes().filter(u8::is_ascii_alphabetic).count();
    let secret = value.len() >= least && digits > 0 && letters > 0 && !is_about(value);
    (ends && secret && !value.starts_with('/')).then(|| start..start + value.len())
}

/// A word about a secret, a place where one is kept, or a gap to fill in.
fn is_about(value: &str) -> bool {
    let plain = value.to_ascii_lowercase();
    let is_gap = value.starts_with(['<', '{', '$', '%', '(', '['])
        || ["${", "$(", "{{", "..."].iter().any(|sign| value.contains(sign))
        || value.contains('…')
        || value.bytes().all(|byte| matches!(byte, b'*' | b'x' | b'X' | b'-' | b'_'));
    let is_variable = value
        .bytes()
        .all(|byte| byte.is_ascii_uppercase() || byte == b'_' || byte.is_ascii_digit())
        && value.contains('_');
    is_gap || is_variable || value.contains(' ') || WORDS.contains(&plain.as_str())
}

/// Not a name made of words: it has digits, or capitals in its middle.
fn looks_made(value: &str) -> bool {
    let has_digit = value.bytes().any(|byte| byte.is_ascii_digit());
    let upper = value.bytes().filter(u8::is_ascii_uppercase).count();
    let lower = value.bytes().filter(u8::is_ascii_lowercase).count();
    let is_path = value.contains('/') && value.contains('.');
    (has_digit || (upper >= 4 && lower >= 4)) && !is_path
}
