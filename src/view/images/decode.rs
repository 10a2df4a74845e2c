//! Decodes one picture within limits.

use std::{
    io::{self, BufReader, Cursor, Read, Seek, SeekFrom},
    time::{Duration, Instant},
};

use image::{
    DynamicImage, ImageDecoder, ImageError, ImageFormat, ImageReader, ImageResult,
    codecs::png::PngDecoder, metadata::Orientation,
};

use crate::perf;

/// What a picture may cost.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of the file.
    pub encoded_bytes: usize,
    /// Pixels on either side.
    pub side: u32,
    /// Bytes of the decoded picture before it is scaled down.
    pub decoded_bytes: u64,
    /// Bytes a decoder may take beside the picture.
    pub aside_bytes: u64,
    /// Time for reading the file.
    pub time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            encoded_bytes: 20_000_000,
            side: 8192,
            decoded_bytes: 128 << 20,
            aside_bytes: 32 << 20,
            time: Duration::from_secs(2),
        }
    }
}

/// Scans of a progressive JPEG, times its pixels. Each scan goes over the whole picture
/// and may be a few bytes of the file, so a small file could keep a worker for minutes.
const SCANNED_PIXELS: u64 = 1 << 30;

/// A picture, ready to be uploaded.
pub(super) struct Decoded {
    /// RGBA, not premultiplied.
    pub(super) pixels: Vec<u8>,
    /// Width and height of `pixels`.
    pub(super) scaled: [usize; 2],
    /// Width and height before it was scaled.
    pub(super) size: [u32; 2],
}

/// Decodes a file and scales it down so that no side is longer than `max_side`. Of an
/// animation it is the first frame. The error is one line for the reader.
pub(super) fn decode(bytes: &[u8], max_side: u32, limits: Limits) -> Result<Decoded, String> {
    perf::scope!("decode_picture");
    if bytes.len() > limits.encoded_bytes {
        let megabytes = bytes.len().div_ceil(1_000_000);
        return Err(format!("too large a file: {megabytes} MB"));
    }
    let format = image::guess_format(bytes).ok().filter(is_read);
    let format = format.ok_or("not a PNG, JPEG, WebP or GIF file")?;
    let until = perf::now() + limits.time;
    let source = BufReader::with_capacity(64 << 10, Timed { inner: Cursor::new(bytes), until });
    let mut decoder = decoder(source, format, limits).map_err(|error| line(&error))?;
    let (width, height) = decoder.dimensions();
    if width == 0 || height == 0 {
        return Err("it has no pixels".to_owned());
    }
    if decoder.total_bytes() > limits.decoded_bytes {
        return Err(too_many_pixels(width, height));
    }
    if format == ImageFormat::Jpeg
        && scans(bytes) * u64::from(width) * u64::from(height) > SCANNED_PIXELS
    {
        return Err("too many scans in a JPEG file".to_owned());
    }
    // A broken orientation is no reason not to show the picture.
    let orientation = decoder.orientation().unwrap_or(Orientation::NoTransforms);
    let whole = DynamicImage::from_decoder(decoder).map_err(|error| line(&error))?;
    let mut scaled = scale(whole, max_side);
    scaled.apply_orientation(orientation);
    let size = if is_sideways(orientation) { [height, width] } else { [width, height] };
    let pixels = scaled.into_rgba8();
    let scaled = [pixels.width() as usize, pixels.height() as usize];
    Ok(Decoded { pixels: pixels.into_raw(), scaled, size })
}

fn decoder<'a>(
    source: BufReader<Timed<'a>>,
    format: ImageFormat,
    limits: Limits,
) -> ImageResult<Box<dyn ImageDecoder + 'a>> {
    if format == ImageFormat::Png {
        // This decoder counts what it unpacks beside the pixels, and only that.
        let limits = limits.of_image(limits.aside_bytes);
        return Ok(Box::new(PngDecoder::with_limits(source, limits)?));
    }
    let mut reader = ImageReader::with_format(source, format);
    reader.limits(limits.of_image(limits.decoded_bytes + limits.aside_bytes));
    Ok(Box::new(reader.into_decoder()?))
}

fn is_read(format: &ImageFormat) -> bool {
    matches!(format, ImageFormat::Png | ImageFormat::Jpeg | ImageFormat::WebP | ImageFormat::Gif)
}

fn is_sideways(orientation: Orientation) -> bool {
    match orientation {
        Orientation::Rotate90
        | Orientation::Rotate270
        | Orientation::Rotate90FlipH
        | Orientation::Rotate270FlipH => true,
        Orientation::NoTransforms
        | Orientation::Rotate180
        | Orientation::FlipHorizontal
        | Orientation::FlipVertical => false,
    }
}

/// Scales before the picture becomes RGBA, so that there is never a second large copy.
fn scale(whole: DynamicImage, max_side: u32) -> DynamicImage {
    let longest = whole.width().max(whole.height());
    if longest <= max_side {
        return whole;
    }
    let scaled = |n: u32| {
        let pixels = u64::from(n) * u64::from(max_side) / u64::from(longest);
        u32::try_from(pixels).unwrap_or(max_side).max(1)
    };
    whole.thumbnail_exact(scaled(whole.width()), scaled(whole.height()))
}

/// How often a JPEG file goes over its picture: its "start of scan" marks.
fn scans(bytes: &[u8]) -> u64 {
    bytes.windows(2).filter(|pair| *pair == [0xff, 0xda]).count() as u64
}

impl Limits {
    fn of_image(self, bytes: u64) -> image::Limits {
        let mut limits = image::Limits::default();
        limits.max_image_width = Some(self.side);
        limits.max_image_height = Some(self.side);
        limits.max_alloc = Some(bytes);
        limits
    }
}

fn too_many_pixels(width: u32, height: u32) -> String {
    format!("too large: {width} × {height} pixels")
}

/// One line for the reader. Decoders put words of the file into theirs.
fn line(error: &ImageError) -> String {
    match error {
        ImageError::Limits(_) => "too large a picture".to_owned(),
        ImageError::IoError(error) if error.kind() == io::ErrorKind::TimedOut => {
            "it takes too long to decode".to_owned()
        }
        ImageError::IoError(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            "the file ends too early".to_owned()
        }
        ImageError::Unsupported(_) => "a kind of picture that is not read".to_owned(),
        ImageError::Decoding(_)
        | ImageError::Encoding(_)
        | ImageError::Parameter(_)
        | ImageError::IoError(_) => "the file is damaged".to_owned(),
    }
}

/// Bytes that can be read until a point in time.
struct Timed<'a> {
    inner: Cursor<&'a [u8]>,
    until: Instant,
}

impl Read for Timed<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if perf::now() >= self.until {
            return Err(io::ErrorKind::TimedOut.into());
        }
        self.inner.read(buffer)
    }
}

impl Seek for Timed<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.inner.seek(to)
    }
}
