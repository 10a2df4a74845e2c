//! One line of a log: `{"v":1,"n":SEQ,"k":"KIND","t":MS,"c":CRC,"b":BODY}`.
//!
//! The members stand in exactly this order and without blanks; the sum is the CRC-32C of the
//! exact bytes of the body.

use std::fmt::Write as _;

use super::Kind;

/// The version that is written.
pub const VERSION: u64 = 1;
/// Bytes of a line, its end included.
pub const LINE_MAX: usize = 1024 * 1024;
/// Bytes that a body may have, so that its line is short enough.
pub const BODY_MAX: usize = LINE_MAX - HEAD_MAX;
/// Room for all that stands around a body.
const HEAD_MAX: usize = 256;

/// A line that was taken apart. Its body is checked to be what was written, and nothing else
/// about it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line<'a> {
    /// The version of its writer.
    pub version: u64,
    /// Its number: one more than that of the line before.
    pub n: u64,
    /// Its kind.
    pub kind: Kind,
    /// The kind as it is written.
    pub kind_name: &'a str,
    /// When it was written, in milliseconds since 1970.
    pub at_ms: i64,
    /// The sum of its body.
    pub sum: u32,
    /// Its body, as written.
    pub body: &'a str,
}

/// Why bytes are no line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flaw {
    /// They do not have the shape of a line.
    Shape,
    /// They end too early.
    End,
    /// The body is not what was written.
    Sum,
}

impl Flaw {
    /// What is wrong with the record, as the end of a sentence.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Shape => "is not a record of a session",
            Self::End => "is not complete",
            Self::Sum => "is not what was written",
        }
    }
}

/// Writes a line with its end. The body must be JSON without raw line ends, as serde writes
/// it.
#[must_use]
pub fn write(n: u64, kind: Kind, at_ms: i64, body: &str) -> String {
    let sum = crc32c::crc32c(body.as_bytes());
    let mut line = String::with_capacity(body.len() + HEAD_MAX);
    let kind = kind.name();
    // Writing to a string cannot fail.
    write!(line, "{{\"v\":{VERSION},\"n\":{n},\"k\":\"{kind}\",\"t\":{at_ms},\"c\":{sum},\"b\":")
        .unwrap_or_default();
    line.push_str(body);
    line.push_str("}\n");
    line
}

/// Takes a line apart, with or without its end.
///
/// # Errors
/// When it has another shape, or its body another sum.
pub fn parse(bytes: &[u8]) -> Result<Line<'_>, Flaw> {
    let bytes = bytes.trim_ascii();
    let head = head(bytes)?;
    let Head { version, n, kind_name, at_ms, sum, body_at } = head;
    let body = bytes.get(body_at..).and_then(|rest| rest.strip_suffix(b"}")).ok_or(Flaw::End)?;
    if crc32c::crc32c(body) != sum {
        return Err(Flaw::Sum);
    }
    let body = std::str::from_utf8(body).map_err(|_not_text| Flaw::Sum)?;
    let kind = Kind::of_name(kind_name);
    Ok(Line { version, n, kind, kind_name, at_ms, sum, body })
}

/// What stands before the body of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head<'a> {
    /// The version of its writer.
    pub version: u64,
    /// Its number.
    pub n: u64,
    /// Its kind as it is written.
    pub kind_name: &'a str,
    /// When it was written, in milliseconds since 1970.
    pub at_ms: i64,
    /// The sum of its body.
    pub sum: u32,
    /// Where the body begins.
    pub body_at: usize,
}

/// Reads what stands before the body, which may be cut off or damaged.
///
/// # Errors
/// When there is something else.
pub fn head(bytes: &[u8]) -> Result<Head<'_>, Flaw> {
    let mut at = Walk { bytes, at: 0 };
    at.literal(b"{\"v\":")?;
    let version = at.number()?;
    at.literal(b",\"n\":")?;
    let n = at.number()?;
    at.literal(b",\"k\":\"")?;
    let kind_name = at.name()?;
    at.literal(b"\",\"t\":")?;
    let is_before = at.literal(b"-").is_ok();
    let ms = i64::try_from(at.number()?).map_err(|_too_large| Flaw::Shape)?;
    at.literal(b",\"c\":")?;
    let sum = u32::try_from(at.number()?).map_err(|_too_large| Flaw::Shape)?;
    at.literal(b",\"b\":")?;
    let at_ms = if is_before { -ms } else { ms };
    Ok(Head { version, n, kind_name, at_ms, sum, body_at: at.at })
}

/// A place in the head of a line.
struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Walk<'a> {
    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or(&[])
    }

    fn literal(&mut self, expected: &[u8]) -> Result<(), Flaw> {
        let rest = self.rest();
        if rest.starts_with(expected) {
            self.at += expected.len();
            return Ok(());
        }
        Err(if expected.starts_with(rest) { Flaw::End } else { Flaw::Shape })
    }

    fn number(&mut self) -> Result<u64, Flaw> {
        let rest = self.rest();
        let len = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let digits = rest.get(..len).and_then(|digits| std::str::from_utf8(digits).ok());
        self.at += len;
        let number = digits.and_then(|digits| digits.parse().ok());
        number.ok_or(if len == rest.len() { Flaw::End } else { Flaw::Shape })
    }

    fn name(&mut self) -> Result<&'a str, Flaw> {
        let rest = self.rest();
        let is_plain = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let len = rest.iter().take_while(is_plain).count();
        self.at += len;
        let name = rest.get(..len).and_then(|name| std::str::from_utf8(name).ok());
        let flaw = if rest.is_empty() { Flaw::End } else { Flaw::Shape };
        name.filter(|name| !name.is_empty()).ok_or(flaw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_round_trip_and_every_change_of_the_body_is_seen() {
        let line = write(7, Kind::User, -3, "{\"parts\":[]}");
        let read = parse(line.as_bytes()).expect("a line");
        assert_eq!((read.version, read.n, read.kind, read.at_ms), (1, 7, Kind::User, -3));
        assert_eq!(read.body, "{\"parts\":[]}");
        let at = line.find("parts").expect("the body");
        for place in at..line.len() - 2 {
            let mut bytes = line.clone().into_bytes();
            bytes[place] ^= 4;
            assert!(parse(&bytes).is_err(), "{place}");
        }
    }

    #[test]
    fn every_prefix_is_told_from_a_line() {
        let line = write(u64::MAX, Kind::AssistantFinal, i64::MAX, "{\"a\":\"é\"}");
        for end in 0..line.len() - 1 {
            assert!(parse(&line.as_bytes()[..end]).is_err(), "{end}");
        }
        assert!(parse(line.trim_end().as_bytes()).is_ok());
        assert_eq!(parse(b"{\"type\":\"session\"}"), Err(Flaw::Shape));
    }
}
