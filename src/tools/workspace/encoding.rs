//! Bytes of a file as text, and back.

/// How a file's text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    Utf8WithMark,
    Utf16Le,
    Utf16Be,
}

/// A file's text, if it is text.
pub(super) fn decode(bytes: &[u8]) -> Option<(String, Encoding)> {
    let (text, encoding) = match bytes {
        [0xEF, 0xBB, 0xBF, rest @ ..] => (utf8(rest), Encoding::Utf8WithMark),
        [0xFF, 0xFE, rest @ ..] => (utf16(rest, u16::from_le_bytes), Encoding::Utf16Le),
        [0xFE, 0xFF, rest @ ..] => (utf16(rest, u16::from_be_bytes), Encoding::Utf16Be),
        _ => (utf8(bytes), Encoding::Utf8),
    };
    Some((text?, encoding))
}

/// The bytes of a text.
pub(super) fn encode(text: &str, encoding: Encoding) -> Vec<u8> {
    match encoding {
        Encoding::Utf8 => text.as_bytes().to_vec(),
        Encoding::Utf8WithMark => [b"\xEF\xBB\xBF", text.as_bytes()].concat(),
        Encoding::Utf16Le => utf16_bytes(text, u16::to_le_bytes),
        Encoding::Utf16Be => utf16_bytes(text, u16::to_be_bytes),
    }
}

/// A NUL is what tells a binary file from text.
fn utf8(bytes: &[u8]) -> Option<String> {
    if memchr::memchr(0, bytes).is_some() {
        return None;
    }
    // The caller knows only whether it is text, and says so.
    String::from_utf8(bytes.to_vec()).ok()
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<String> {
    let (pairs, []) = bytes.as_chunks::<2>() else { return None };
    let units: Vec<u16> = pairs.iter().map(|pair| unit(*pair)).collect();
    String::from_utf16(&units).ok()
}

fn utf16_bytes(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    std::iter::once(0xFEFF).chain(text.encode_utf16()).flat_map(bytes).collect()
}
