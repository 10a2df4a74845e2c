//! Pictures between base64 and bytes.

use base64::{Engine as _, engine::general_purpose::STANDARD};

use crate::model::{Image, ImageData};

/// Bytes a picture may have to be kept or sent.
const IMAGE_LIMIT: usize = 32 << 20;

/// The picture behind a base64 text.
pub(super) fn decode(text: &str) -> ImageData {
    if text.len() / 4 * 3 > IMAGE_LIMIT {
        return ImageData::Unusable("the picture is too large".into());
    }
    match STANDARD.decode(text.trim()) {
        Ok(bytes) => ImageData::Bytes(bytes.into()),
        // Where exactly it breaks helps nobody.
        Err(_) => ImageData::Unusable("the picture is not valid base64".into()),
    }
}

/// Media type and base64 of a picture that can be sent; none for one that is not here.
pub(super) fn encode(image: &Image) -> Option<(&str, String)> {
    match &image.data {
        ImageData::Bytes(bytes) if bytes.len() <= IMAGE_LIMIT => {
            Some((sniff(bytes).unwrap_or(&image.media_type), STANDARD.encode(bytes)))
        }
        ImageData::Bytes(_) | ImageData::Address(_) | ImageData::Unusable(_) => None,
    }
}

/// The media type that the bytes show; providers refuse a picture that is declared wrongly.
fn sniff(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xFF, 0xD8, 0xFF, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}
