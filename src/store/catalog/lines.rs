//! Records of a log, from any of their offsets on.
//!
//! The index reads what was appended and nothing else, so it does not care for what stands
//! before. A line that is no record is passed over; what comes behind it is read.

use std::{
    fs::File,
    io::{self, BufRead as _, BufReader, Seek as _, SeekFrom},
};

use serde_json::Value;

/// Bytes of a line that may be a record; records are shorter.
const LINE_MAX: usize = 4 << 20;
const BUFFER: usize = 256 << 10;

/// One record that stands whole and unharmed in a log.
#[derive(Debug)]
pub(super) struct Record {
    /// Its number.
    pub(super) n: u64,
    /// Where its line begins.
    pub(super) offset: u64,
    /// Where the line after it begins.
    pub(super) end: u64,
    pub(super) kind: String,
    /// Milliseconds since 1970.
    pub(super) time_ms: i64,
    pub(super) checksum: u32,
    pub(super) body: Value,
}

/// Reads records.
pub(super) struct Lines {
    reader: BufReader<File>,
    offset: u64,
    line: Vec<u8>,
}

impl Lines {
    pub(super) fn new(mut file: File, offset: u64) -> io::Result<Self> {
        file.seek(SeekFrom::Start(offset))?;
        let reader = BufReader::with_capacity(BUFFER, file);
        Ok(Self { reader, offset, line: Vec::new() })
    }

    /// Where the next line begins.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// The next record; none when no whole line is left. Lines that are no records are
    /// passed over.
    pub(super) fn next(&mut self) -> io::Result<Option<Record>> {
        loop {
            let start = self.offset;
            if !self.read_line()? {
                return Ok(None);
            }
            if let Some(record) = record_of(&self.line, start, self.offset) {
                return Ok(Some(record));
            }
        }
    }

    /// Is there a whole line? What of it is over the limit is not kept.
    fn read_line(&mut self) -> io::Result<bool> {
        self.line.clear();
        let mut length = 0;
        loop {
            let buffer = self.reader.fill_buf()?;
            if buffer.is_empty() {
                return Ok(false);
            }
            let end = memchr::memchr(b'\n', buffer);
            let piece = buffer.get(..end.unwrap_or(buffer.len())).unwrap_or_default();
            let used = piece.len() + usize::from(end.is_some());
            if self.line.len() + piece.len() <= LINE_MAX {
                self.line.extend_from_slice(piece);
            }
            self.reader.consume(used);
            length += used as u64;
            if end.is_some() {
                self.offset += length;
                return Ok(true);
            }
        }
    }
}

/// Reads `{"v":1,"n":N,"k":"KIND","t":MS,"c":CRC,"b":BODY}`, exactly as it is written. Of a
/// later version what is known is taken.
fn record_of(line: &[u8], offset: u64, end: u64) -> Option<Record> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
    let (_version, rest) = number(line.strip_prefix(b"{\"v\":")?)?;
    let (n, rest) = number(rest.strip_prefix(b",\"n\":")?)?;
    let rest = rest.strip_prefix(b",\"k\":\"")?;
    let quote = memchr::memchr(b'"', rest)?;
    let kind = std::str::from_utf8(rest.get(..quote)?).ok()?;
    let rest = rest.get(quote..)?.strip_prefix(b"\",\"t\":")?;
    let (sign, rest) = rest.strip_prefix(b"-").map_or((1, rest), |rest| (-1, rest));
    let (time, rest) = number(rest)?;
    let (checksum, rest) = number(rest.strip_prefix(b",\"c\":")?)?;
    let body = rest.strip_prefix(b",\"b\":")?.strip_suffix(b"}")?;
    let checksum = u32::try_from(checksum).ok().filter(|sum| *sum == crc32c::crc32c(body))?;
    let body = serde_json::from_slice(body).ok()?;
    let time_ms = i64::try_from(time).ok()? * sign;
    Some(Record { n, offset, end, kind: kind.to_owned(), time_ms, checksum, body })
}

/// Digits at the start, and what follows them.
fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    let end = text.iter().position(|c| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at_checked(end)?;
    Some((std::str::from_utf8(digits).ok()?.parse().ok()?, rest))
}
