//! One record as one line of the log.

use std::io::Write as _;

use super::kind::Kind;

/// The version of the format that this program writes.
pub const VERSION: u64 = 1;
/// The most bytes of a line, with its end.
pub const LINE_MAX: usize = 1 << 20;
/// The most bytes that a head takes: all that stands before the body.
pub(super) const HEAD_MAX: usize = 160;
/// Higher numbers are damage: JSON has no exact ones beyond.
const NUMBER_MAX: u64 = 1 << 53;

/// A record as it stands in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record<'a> {
    /// The version of the format.
    pub version: u64,
    /// Its number.
    pub n: u64,
    /// The name of its kind.
    pub kind: &'a str,
    /// When it was written, in milliseconds since 1970.
    pub t: i64,
    /// The check sum of the body.
    pub crc: u32,
    /// The body, as JSON.
    pub body: &'a [u8],
}

/// Writes a line, with its end.
pub(super) fn encode(n: u64, kind: Kind, t: i64, crc: u32, body: &[u8]) -> Vec<u8> {
    let mut line = Vec::with_capacity(body.len() + HEAD_MAX);
    let kind = kind.name();
    write!(line, r#"{{"v":{VERSION},"n":{n},"k":"{kind}","t":{t},"c":{crc},"b":"#)
        .expect("memory takes all");
    line.extend_from_slice(body);
    line.extend_from_slice(b"}\n");
    line
}

/// Reads a line without its end, and checks its body against its sum.
///
/// # Errors
/// When it is no record, or not as it was written: why, in a few words.
pub fn parse(line: &[u8]) -> Result<Record<'_>, &'static str> {
    let record = shape(line).ok_or("is no record")?;
    if crc32c::crc32c(record.body) != record.crc {
        return Err("is not as it was written");
    }
    Ok(record)
}

/// Reads a line without checking its body.
fn shape(line: &[u8]) -> Option<Record<'_>> {
    let (version, rest) = number(line.strip_prefix(br#"{"v":"#)?)?;
    let (n, rest) = number(rest.strip_prefix(br#","n":"#)?)?;
    let rest = rest.strip_prefix(br#","k":""#)?;
    let end = rest.iter().take(64).position(|&byte| byte == b'"')?;
    let (kind, rest) = rest.split_at_checked(end)?;
    if !kind.iter().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_')) {
        return None;
    }
    let rest = rest.strip_prefix(br#"","t":"#)?;
    let (is_before, rest) = match rest.strip_prefix(b"-") {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    let (t, rest) = number(rest)?;
    let t = i64::try_from(t).ok()?;
    let (crc, rest) = number(rest.strip_prefix(br#","c":"#)?)?;
    let body = rest.strip_prefix(br#","b":"#)?.strip_suffix(b"}")?;
    Some(Record {
        version,
        n,
        kind: str::from_utf8(kind).ok()?,
        t: if is_before { -t } else { t },
        crc: u32::try_from(crc).ok()?,
        body,
    })
}

/// The number that a text begins with, and what follows it.
fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    let end = text.iter().take(20).take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at_checked(end)?;
    let number = str::from_utf8(digits).ok()?.parse().ok()?;
    (number <= NUMBER_MAX).then_some((number, rest))
}
