//! Compressed bodies: asked for by nobody, sent anyway by some gateways.

use std::io::Write;

use flate2::write::{GzDecoder, ZlibDecoder};

/// Undoes a body's `Content-Encoding`.
pub(super) enum Decoder {
    /// Not compressed.
    Identity,
    /// `gzip`.
    Gzip(GzDecoder<Vec<u8>>),
    /// `deflate`.
    Deflate(ZlibDecoder<Vec<u8>>),
}

/// Compressed bytes are decoded in pieces of this size, so that a bomb of 1:1000 never
/// takes more than a few megabytes at once.
const PIECE: usize = 4 << 10;

impl Decoder {
    /// The decoder for a header's value; none when the encoding is not known here.
    pub(super) fn of(content_encoding: Option<&str>) -> Option<Self> {
        match content_encoding.map(|name| name.trim().to_ascii_lowercase()).as_deref() {
            None | Some("" | "identity") => Some(Self::Identity),
            Some("gzip" | "x-gzip") => Some(Self::Gzip(GzDecoder::new(Vec::new()))),
            Some("deflate") => Some(Self::Deflate(ZlibDecoder::new(Vec::new()))),
            Some(_) => None,
        }
    }

    /// Hands on the decoded bytes, piece by piece, until `each` wants no more.
    ///
    /// # Errors
    /// When the bytes are not what the header says.
    pub(super) fn feed(
        &mut self,
        bytes: &[u8],
        mut each: impl FnMut(&[u8]) -> More,
    ) -> std::io::Result<()> {
        if matches!(self, Self::Identity) {
            each(bytes);
            return Ok(());
        }
        for piece in bytes.chunks(PIECE) {
            let decoded = self.decode(piece)?;
            if !decoded.is_empty() && each(&decoded) == More::Enough {
                break;
            }
        }
        Ok(())
    }

    fn decode(&mut self, piece: &[u8]) -> std::io::Result<Vec<u8>> {
        match self {
            Self::Identity => Ok(piece.to_vec()),
            Self::Gzip(decoder) => {
                write(decoder, piece)?;
                Ok(std::mem::take(decoder.get_mut()))
            }
            Self::Deflate(decoder) => {
                write(decoder, piece)?;
                Ok(std::mem::take(decoder.get_mut()))
            }
        }
    }
}

/// Feeds a decoder. It takes nothing more behind its own end, and what stands there is not
/// ours to judge.
fn write(decoder: &mut impl Write, piece: &[u8]) -> std::io::Result<()> {
    match decoder.write_all(piece).and_then(|()| decoder.flush()) {
        Err(error) if error.kind() == std::io::ErrorKind::WriteZero => Ok(()),
        other => other,
    }
}

/// Whether the taker of bytes wants more of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum More {
    Please,
    Enough,
}
