//! JSON as servers really send it.

use serde_json::Value;

/// What parsing met besides the value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Repair {
    None,
    /// Escapes for half a surrogate pair became U+FFFD.
    Surrogates,
}

/// Parses a value; where half a surrogate pair is the only fault, it is replaced.
pub(super) fn parse(text: &str) -> Result<(Value, Repair), serde_json::Error> {
    match serde_json::from_str(text) {
        Ok(value) => Ok((value, Repair::None)),
        Err(first) => match replace_lone_surrogates(text) {
            Some(repaired) => match serde_json::from_str(&repaired) {
                Ok(value) => Ok((value, Repair::Surrogates)),
                // The first error has the position in what the server sent.
                Err(_) => Err(first),
            },
            None => Err(first),
        },
    }
}

/// Byte offset of a parse error.
pub(super) fn error_byte(text: &str, error: &serde_json::Error) -> usize {
    if error.is_eof() {
        return text.len();
    }
    let line_start: usize =
        text.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    (line_start + error.column().saturating_sub(1)).min(text.len())
}

/// The text with every `\uD8xx` or `\uDCxx` that has no partner written as `\uFFFD`;
/// none when there is no such escape.
fn replace_lone_surrogates(text: &str) -> Option<String> {
    let mut repaired = String::new();
    let mut copied = 0;
    let mut at = 0;
    while let Some(found) = memchr::memchr(b'\\', text.as_bytes().get(at..)?) {
        let escape = at + found;
        at = escape + 2;
        let Some(unit) = unicode_escape(text, escape) else { continue };
        at = escape + 6;
        match unit {
            0xD800..0xDC00 if unicode_escape(text, at).is_some_and(is_low) => at += 6,
            0xD800..0xE000 => {
                repaired.push_str(text.get(copied..escape)?);
                repaired.push_str("\\uFFFD");
                copied = at;
            }
            _ => {}
        }
        if at >= text.len() {
            break;
        }
    }
    (copied > 0).then(|| repaired + text.get(copied..).unwrap_or_default())
}

fn is_low(unit: u16) -> bool {
    (0xDC00..0xE000).contains(&unit)
}

/// The code unit of a `\uXXXX` that begins at this byte.
fn unicode_escape(text: &str, at: usize) -> Option<u16> {
    let digits = text.get(at..at + 6)?.strip_prefix("\\u")?;
    u16::from_str_radix(digits, 16).ok()
}

/// Reads that treat a value of another type as absent.
pub(super) trait Lenient {
    /// The string of a field; empty strings count as absent.
    fn text(&self, field: &str) -> Option<&str>;
    /// The whole number of a field.
    fn number(&self, field: &str) -> Option<u64>;
    /// The elements of a field that is an array.
    fn list(&self, field: &str) -> &[Value];
}

impl Lenient for Value {
    fn text(&self, field: &str) -> Option<&str> {
        self.get(field)?.as_str().filter(|text| !text.is_empty())
    }

    fn number(&self, field: &str) -> Option<u64> {
        let value = self.get(field)?;
        value.as_u64().or_else(|| value.as_f64().filter(|n| *n >= 0.0).map(|n| n as u64))
    }

    fn list(&self, field: &str) -> &[Value] {
        self.get(field).and_then(Self::as_array).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lone_surrogates_are_replaced_and_pairs_kept() {
        let cases = [
            (r#""\ud83d""#, "\u{fffd}"),
            (r#""\udc00x""#, "\u{fffd}x"),
            (r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀"),
            (r#""\\ud83d\ud83d""#, "\\ud83d\u{fffd}"),
            (r#""é\ud83dé""#, "é\u{fffd}é"),
        ];
        for (text, expected) in cases {
            let (value, repair) = parse(text).unwrap();
            assert_eq!(value, expected, "{text}");
            assert_eq!(repair, Repair::Surrogates, "{text}");
        }
        assert_eq!(parse(r#""\ud83d\ude00""#).unwrap().1, Repair::None);
        assert!(parse("{\"a\":").is_err());
        assert!(parse("\"\\ud83").is_err());
    }

    #[test]
    fn errors_point_at_their_byte() {
        for (text, byte) in [("{\n\"q\": tru", 10), ("{\"q\":1}{", 7), ("", 0), ("{\n\"q\": x}", 7)]
        {
            assert_eq!(error_byte(text, &parse(text).unwrap_err()), byte, "{text}");
        }
    }
}
