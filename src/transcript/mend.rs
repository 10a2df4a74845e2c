//! Parsing of records that are almost JSON.

use serde_json::Value;

/// Parses a record. What its writer got slightly wrong is mended: bytes that are not
/// UTF-8 and halves of surrogate pairs become U+FFFD, raw control characters and
/// backslashes that escape nothing stand for themselves.
pub(super) fn parse(bytes: &[u8]) -> serde_json::Result<Value> {
    let text = String::from_utf8_lossy(bytes);
    serde_json::from_str(&text).or_else(|_first| serde_json::from_slice(&mended(text.as_bytes())))
}

fn mended(json: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(json.len() + 64);
    let (mut inside, mut at) = (false, 0);
    while let Some(&byte) = json.get(at) {
        let rest = json.get(at..).unwrap_or(&[]);
        let used = match byte {
            b'\\' if inside => mend_escape(rest, &mut out),
            0..=0x1f if inside => {
                out.extend(format!("\\u{byte:04x}").bytes());
                1
            }
            _ => {
                inside ^= byte == b'"';
                out.push(byte);
                1
            }
        };
        at += used;
    }
    out
}

/// Writes one escape and says how many bytes of the source it took.
fn mend_escape(rest: &[u8], out: &mut Vec<u8>) -> usize {
    match (rest.get(1), code_unit(rest)) {
        (Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't'), _) => {
            out.extend(rest.iter().take(2));
            2
        }
        (_, Some(0xd800..=0xdbff)) => {
            let low = rest.get(6..).and_then(code_unit);
            if matches!(low, Some(0xdc00..=0xdfff)) {
                out.extend(rest.iter().take(12));
                12
            } else {
                out.extend(b"\\ufffd");
                6
            }
        }
        (_, Some(0xdc00..=0xdfff)) => {
            out.extend(b"\\ufffd");
            6
        }
        (_, Some(_)) => {
            out.extend(rest.iter().take(6));
            6
        }
        _ => {
            out.extend(b"\\\\");
            1
        }
    }
}

/// The value of a `\uXXXX` escape at the start of `rest`.
pub(super) fn code_unit(rest: &[u8]) -> Option<u16> {
    let digits = rest.strip_prefix(b"\\u")?.get(..4)?;
    digits
        .iter()
        .try_fold(0_u16, |value, digit| Some(value << 4 | (*digit as char).to_digit(16)? as u16))
}
