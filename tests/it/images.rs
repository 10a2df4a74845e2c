//! Pictures: what is decoded, what is refused, and what is kept.

use std::{
    io::Cursor,
    sync::{
        Arc,
        mpsc::{Receiver, sync_channel},
    },
    time::Duration,
};

use image::{DynamicImage, ImageFormat, Rgba, RgbaImage};
use letterpress::{
    model::{Image, ImageData, MessageId},
    view::images::{ImageKey, ImageState, Images, Limits},
};

struct Bench {
    images: Images,
    ctx: egui::Context,
    bell: Receiver<()>,
}

/// What a state says, without its borrow.
#[derive(Debug, PartialEq)]
enum Seen {
    Loading,
    /// Size of the texture, and of the whole picture.
    Ready([usize; 2], [u32; 2]),
    Failed(String),
}

impl Bench {
    fn new(limits: Limits, texture_bytes: usize) -> Self {
        let (ring, bell) = sync_channel(1000);
        let waker = Arc::new(move || ring.try_send(()).expect("room for a ring"));
        let images = Images::with_limits(waker, limits, texture_bytes);
        Self { images, ctx: egui::Context::default(), bell }
    }

    fn get(&mut self, n: u64, image: &Image, max_px: u32) -> Seen {
        match self.images.get(&self.ctx, key(n), image, max_px) {
            ImageState::Loading => Seen::Loading,
            ImageState::Ready { texture, size } => Seen::Ready(texture.size(), size),
            ImageState::Failed(line) => {
                assert!(!line.is_empty() && !line.contains('\n') && line.len() < 100, "{line:?}");
                Seen::Failed(line.to_owned())
            }
        }
    }

    fn wait(&mut self) {
        self.bell.recv_timeout(Duration::from_secs(60)).expect("a ring");
        assert!(self.images.begin_frame(&self.ctx));
    }

    fn textures(&self) -> usize {
        let textures = self.ctx.tex_manager();
        let textures = textures.read();
        textures.allocated().filter(|(_, meta)| meta.name.starts_with("picture ")).count()
    }

    /// What there is to see in the end.
    fn settle(&mut self, n: u64, image: &Image, max_px: u32) -> Seen {
        if self.get(n, image, max_px) == Seen::Loading {
            self.wait();
        }
        self.get(n, image, max_px)
    }
}

fn key(n: u64) -> ImageKey {
    ImageKey { message: MessageId(n), part: 0, index: 0 }
}

fn picture(bytes: impl Into<Arc<[u8]>>) -> Image {
    // What the source declares does not count.
    let media_type = Arc::from("image/x-anything");
    Image { media_type, data: ImageData::Bytes(bytes.into()), size: None }
}

fn encoded(width: u32, height: u32, format: ImageFormat) -> Vec<u8> {
    let pixel = |x: u32, y: u32| Rgba([x as u8, y as u8, (x ^ y) as u8, 255]);
    let image = DynamicImage::from(RgbaImage::from_fn(width, height, pixel));
    let image = match format {
        ImageFormat::Jpeg => DynamicImage::from(image.into_rgb8()),
        _ => image,
    };
    let mut bytes = Cursor::new(Vec::new());
    image.write_to(&mut bytes, format).expect("an encoder");
    bytes.into_inner()
}

/// What a decoder does with one file.
fn decode(bytes: Vec<u8>) -> Seen {
    Bench::new(Limits::default(), 64 << 20).settle(1, &picture(bytes), 512)
}

fn check_fails(bytes: Vec<u8>, line: &str) {
    assert_eq!(decode(bytes), Seen::Failed(line.to_owned()));
}

#[test]
fn four_formats_are_decoded_whatever_the_source_calls_them() {
    for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::WebP, ImageFormat::Gif] {
        let bytes = encoded(60, 40, format);
        assert_eq!(decode(bytes), Seen::Ready([60, 40], [60, 40]), "{format:?}");
    }
}

#[test]
fn a_large_picture_is_scaled_down_before_it_is_uploaded() {
    assert_eq!(decode(encoded(1500, 600, ImageFormat::Png)), Seen::Ready([512, 204], [1500, 600]));
    assert_eq!(decode(encoded(3, 2000, ImageFormat::Png)), Seen::Ready([1, 512], [3, 2000]));
}

#[test]
fn a_turned_photo_stands_upright() {
    let jpeg = encoded(60, 40, ImageFormat::Jpeg);
    // An orientation of 6 (a quarter turn) in the smallest EXIF block there is.
    let exif = b"Exif\0\0MM\0*\0\0\0\x08\0\x01\x01\x12\0\x03\0\0\0\x01\0\x06\0\0\0\0\0\0";
    let length = (exif.len() as u16 + 2).to_be_bytes();
    let turned = [&jpeg[..2], &[0xff, 0xe1], &length, exif, &jpeg[2..]].concat();
    assert_eq!(decode(turned), Seen::Ready([40, 60], [40, 60]));
}

#[test]
fn what_is_not_a_picture_says_so() {
    let not = "not a PNG, JPEG, WebP or GIF file";
    check_fails(Vec::new(), not);
    check_fails(b"hello".to_vec(), not);
    check_fails(b"BM\x1e\0\0\0".to_vec(), not);
    check_fails(b"<svg xmlns='http://www.w3.org/2000/svg'/>".to_vec(), not);
    check_fails(b"RIFF\x04\0\0\0WAVE".to_vec(), not);
}

#[test]
fn addresses_are_never_fetched() {
    let mut bench = Bench::new(Limits::default(), 64 << 20);
    let mut image = picture([]);
    image.data = ImageData::Address("https://example.com/a.png".into());
    assert!(matches!(bench.get(1, &image, 512), Seen::Failed(_)));
    image.data = ImageData::Unusable("not valid base64".into());
    assert_eq!(bench.get(2, &image, 512), Seen::Failed("not valid base64".to_owned()));
    assert_eq!(bench.images.bytes(), 0);
}

#[test]
fn a_broken_file_fails_in_one_line_at_every_length() {
    for format in [ImageFormat::Png, ImageFormat::Jpeg, ImageFormat::WebP, ImageFormat::Gif] {
        let bytes = encoded(16, 16, format);
        let mut bench = Bench::new(Limits::default(), 64 << 20);
        for length in (0..bytes.len()).step_by(bytes.len() / 24 + 1) {
            let image = picture(&bytes[..length]);
            assert_ne!(bench.settle(length as u64, &image, 512), Seen::Loading);
        }
        for at in (0..bytes.len()).step_by(bytes.len() / 48 + 1) {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x5a;
            let image = picture(damaged);
            assert_ne!(bench.settle(10_000 + at as u64, &image, 512), Seen::Loading);
        }
    }
}

#[test]
fn a_huge_picture_in_a_small_file_is_refused() {
    let header = png_header(16_384, 16_384);
    assert!(header.len() < 70);
    check_fails(header, "too large a picture");
    check_fails(png_header(1_000_000, 1), "too large a picture");
    check_fails(png_header(8192, 8192), "too large: 8192 × 8192 pixels");
    check_fails(png_header(0x7fff_ffff, 0x7fff_ffff), "too large a picture");
    check_fails(gif(8193, 10, 1), "too large a picture");
    check_fails(gif(8000, 8000, 1), "too large: 8000 × 8000 pixels");
    check_fails(jpeg_header(9000, 9000), "too large a picture");
}

#[test]
fn a_large_file_is_refused_unread() {
    let mut bytes = encoded(8, 8, ImageFormat::Png);
    bytes.resize(20_000_001, 0);
    check_fails(bytes, "too large a file: 21 MB");
}

#[test]
fn compressed_text_in_a_picture_is_not_unpacked() {
    // 1 GiB of text in a few megabytes, before the pixels.
    let bomb = deflated_zeros(1 << 30);
    assert!(bomb.len() < 10_000_000);
    for (kind, head) in
        [(b"zTXt", &b"bomb\0\0"[..]), (b"iTXt", b"bomb\0\x01\0\0\0"), (b"iCCP", b"bomb\0\0")]
    {
        let bytes = with_chunk(&encoded(8, 8, ImageFormat::Png), *kind, &[head, &bomb].concat());
        let seen = decode(bytes);
        assert!(matches!(seen, Seen::Ready([8, 8], _) | Seen::Failed(_)), "{seen:?}");
    }
}

#[test]
fn pixels_that_unpack_to_more_than_the_picture_are_refused_or_cut() {
    let mut bytes = png_header(8, 8);
    bytes.truncate(33);
    bytes.extend(chunk(*b"IDAT", &deflated_zeros(1 << 30)));
    bytes.extend(chunk(*b"IEND", &[]));
    let seen = decode(bytes);
    assert!(matches!(seen, Seen::Ready([8, 8], _) | Seen::Failed(_)), "{seen:?}");
}

#[test]
fn of_ten_thousand_frames_the_first_is_decoded() {
    assert_eq!(decode(gif(64, 64, 10_000)), Seen::Ready([64, 64], [64, 64]));
}

#[test]
fn a_jpeg_that_scans_its_picture_again_and_again_is_refused() {
    let mut bytes = jpeg_header(8000, 4000);
    for _ in 0..1000 {
        bytes.extend([0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0, 0]);
    }
    check_fails(bytes, "too many scans in a JPEG file");
}

#[test]
fn out_of_time_a_picture_fails() {
    let mut bench = Bench::new(Limits { time: Duration::ZERO, ..Limits::default() }, 64 << 20);
    let seen = bench.settle(1, &picture(encoded(8, 8, ImageFormat::Png)), 512);
    assert_eq!(seen, Seen::Failed("it takes too long to decode".to_owned()));
}

#[test]
fn a_failure_is_kept_and_not_tried_again() {
    let mut bench = Bench::new(Limits::default(), 64 << 20);
    let image = picture(&b"nothing"[..]);
    let first = bench.settle(1, &image, 512);
    for _ in 0..10 {
        bench.images.begin_frame(&bench.ctx);
        assert_eq!(bench.get(1, &image, 4096), first);
    }
    assert!(bench.bell.try_recv().is_err());
}

#[test]
fn a_picture_that_is_needed_larger_is_shown_small_until_it_is() {
    let mut bench = Bench::new(Limits::default(), 64 << 20);
    let image = picture(encoded(900, 900, ImageFormat::Png));
    assert_eq!(bench.settle(1, &image, 200), Seen::Ready([256, 256], [900, 900]));
    assert_eq!(bench.get(1, &image, 800), Seen::Ready([256, 256], [900, 900]));
    bench.wait();
    assert_eq!(bench.get(1, &image, 800), Seen::Ready([900, 900], [900, 900]));
    assert_eq!(bench.get(1, &image, 2000), Seen::Ready([900, 900], [900, 900]));
    bench.images.begin_frame(&bench.ctx);
    assert!(bench.bell.recv_timeout(Duration::from_millis(50)).is_err(), "it has no more pixels");
}

#[test]
fn a_picture_that_changed_is_decoded_anew() {
    let mut bench = Bench::new(Limits::default(), 64 << 20);
    assert_eq!(
        bench.settle(1, &picture(encoded(8, 8, ImageFormat::Png)), 64),
        Seen::Ready([8, 8], [8, 8])
    );
    let other = picture(encoded(9, 9, ImageFormat::Png));
    assert_eq!(bench.settle(1, &other, 64), Seen::Ready([9, 9], [9, 9]));
    // The same bytes at another address are the same picture.
    let again = picture(encoded(9, 9, ImageFormat::Png));
    assert_eq!(bench.get(1, &again, 64), Seen::Ready([9, 9], [9, 9]));
}

#[test]
fn textures_stay_within_their_bytes_and_those_on_screen_stay() {
    let one = 64 * 64 * 4;
    let mut bench = Bench::new(Limits::default(), 4 * one);
    let image = picture(encoded(64, 64, ImageFormat::Png));
    for n in 0..20 {
        bench.settle(n, &image, 64);
        assert_eq!(bench.get(0, &image, 64), Seen::Ready([64, 64], [64, 64]), "on screen");
        bench.images.begin_frame(&bench.ctx);
        // At most what fits, and what was on screen a moment ago.
        assert!(bench.images.bytes() <= 6 * one, "{} bytes", bench.images.bytes());
    }
    assert!(bench.textures() <= 6, "{} textures", bench.textures());
    bench.images.purge();
    assert_eq!(bench.images.bytes(), 0);
    assert_eq!(bench.textures(), 0);
    assert_eq!(bench.settle(3, &image, 64), Seen::Ready([64, 64], [64, 64]));
}

#[test]
fn what_left_the_screen_before_its_turn_is_not_decoded() {
    let mut bench = Bench::new(Limits::default(), 64 << 20);
    let image = picture(encoded(64, 64, ImageFormat::Png));
    for n in 0..100 {
        assert_eq!(bench.get(n, &image, 64), Seen::Loading);
    }
    for _ in 0..4 {
        bench.images.begin_frame(&bench.ctx);
    }
    let mut rings = 0;
    while bench.bell.recv_timeout(Duration::from_secs(1)).is_ok() {
        bench.images.begin_frame(&bench.ctx);
        rings += 1;
    }
    assert!(rings < 20, "{rings} of 100 were decoded");
}

#[test]
fn every_picture_on_screen_comes_in_time() {
    let mut bench = Bench::new(Limits::default(), 64 << 20);
    let image = picture(encoded(64, 64, ImageFormat::Png));
    let mut missing = 50;
    while missing > 0 {
        let seen: Vec<Seen> = (0..50).map(|n| bench.get(n, &image, 64)).collect();
        missing = seen.iter().filter(|seen| **seen == Seen::Loading).count();
        if missing > 0 {
            bench.bell.recv_timeout(Duration::from_secs(10)).expect("a ring");
            bench.images.begin_frame(&bench.ctx);
        }
    }
}

// Files that no encoder writes.

fn png_header(width: u32, height: u32) -> Vec<u8> {
    let mut ihdr = [width.to_be_bytes(), height.to_be_bytes()].concat();
    ihdr.extend([8, 6, 0, 0, 0]);
    let mut png = b"\x89PNG\r\n\x1a\n".to_vec();
    png.extend(chunk(*b"IHDR", &ihdr));
    png.extend(chunk(*b"IDAT", &[]));
    png.extend(chunk(*b"IEND", &[]));
    png
}

fn chunk(kind: [u8; 4], data: &[u8]) -> Vec<u8> {
    let body = [&kind, data].concat();
    [&(data.len() as u32).to_be_bytes()[..], &body, &crc(&body).to_be_bytes()].concat()
}

/// A PNG file with a chunk more, behind its header.
fn with_chunk(png: &[u8], kind: [u8; 4], data: &[u8]) -> Vec<u8> {
    [&png[..33], &chunk(kind, data), &png[33..]].concat()
}

fn crc(bytes: &[u8]) -> u32 {
    let bit = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), bit))
}

/// A zlib stream of zeros: one literal, then copies of the longest length.
fn deflated_zeros(length: usize) -> Vec<u8> {
    let mut bits = Bits::default();
    bits.push(0b1, 1); // last block
    bits.push(0b01, 2); // fixed codes
    bits.push_code(0b0011_0000, 8); // the literal 0
    for _ in 0..length / 258 {
        bits.push_code(0b1100_0101, 8); // length 258
        bits.push_code(0, 5); // distance 1
    }
    bits.push_code(0, 7); // end
    let mut out = vec![0x78, 0x01];
    out.extend(bits.finish());
    out.extend([0; 4]);
    out
}

#[derive(Default)]
struct Bits {
    bytes: Vec<u8>,
    last: u32,
    used: u32,
}

impl Bits {
    fn push(&mut self, value: u32, count: u32) {
        self.last |= value << self.used;
        self.used += count;
        while self.used >= 8 {
            self.bytes.push(self.last as u8);
            self.last >>= 8;
            self.used -= 8;
        }
    }

    /// Codes stand with their first bit first.
    fn push_code(&mut self, code: u32, count: u32) {
        self.push(code.reverse_bits() >> (32 - count), count);
    }

    fn finish(mut self) -> Vec<u8> {
        self.bytes.push(self.last as u8);
        self.bytes
    }
}

fn gif(width: u16, height: u16, frames: usize) -> Vec<u8> {
    let size = [width.to_le_bytes(), height.to_le_bytes()].concat();
    // A palette of black and white.
    let head = [b"GIF89a", &size[..], &[0x80, 0, 0, 0, 0, 0, 255, 255, 255]].concat();
    [head, GIF_FRAME.repeat(frames), vec![0x3b]].concat()
}

/// A frame of one pixel.
const GIF_FRAME: [u8; 15] = [0x2c, 0, 0, 0, 0, 1, 0, 1, 0, 0, 2, 2, 0x44, 1, 0];

fn jpeg_header(width: u16, height: u16) -> Vec<u8> {
    let mut jpeg = vec![0xff, 0xd8, 0xff, 0xc2, 0, 11, 8];
    jpeg.extend(height.to_be_bytes());
    jpeg.extend(width.to_be_bytes());
    jpeg.extend([1, 1, 0x11, 0]);
    jpeg.extend([0xff, 0xda, 0, 8, 1, 1, 0, 0, 63, 0, 0xff, 0xd9]);
    jpeg
}
