//! Reads a log in blocks, and finds the records in it, whatever else is there.

use std::io;

use memchr::{memchr, memmem};
use serde::de::IgnoredAny;

use super::disk::{self, DiskFile};
use crate::model::record::line::{Flaw, Line, parse};

/// How much is read at once.
pub(super) const BLOCK: usize = 1 << 20;
/// What has no end for longer than this is looked at in pieces of this size.
pub(super) const PIECE_MAX: usize = 8 << 20;
/// Records have lower numbers than this.
const NUMBER_MAX: u64 = 1 << 53;
/// How every record begins.
const BEGIN: &[u8] = br#"{"v":"#;

/// Something in a log.
#[derive(Clone, Copy, Debug)]
pub(super) enum Piece<'a> {
    /// A record, as it was written.
    Record(Line<'a>),
    /// What is none: why, in a few words.
    Damaged(&'static str),
}

/// Where a piece stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Its first byte.
    pub offset: u64,
    /// Its bytes, without the end of its line.
    pub len: u64,
    /// Behind it and the end of its line.
    pub end: u64,
    /// Is there the end of a line behind it?
    pub is_ended: bool,
}

/// Goes through the lines of a file.
#[derive(Debug, Default)]
pub(super) struct Lines {
    buffer: Vec<u8>,
    /// Where in the file the buffer begins.
    start: u64,
    /// What of the buffer was given out.
    at: usize,
    /// What of the buffer, from `at`, is known to have no end of a line.
    searched: usize,
    end: u64,
}

impl Lines {
    /// The lines from `start`, the first byte of one, to `end`.
    pub(super) fn new(start: u64, end: u64) -> Self {
        Self { buffer: Vec::new(), start, at: 0, searched: 0, end }
    }

    /// The next line without its end: where it begins, what it is, whether it has an end.
    pub(super) fn next_line(
        &mut self,
        file: &dyn DiskFile,
    ) -> io::Result<Option<(u64, &[u8], bool)>> {
        loop {
            let rest = self.buffer.get(self.at..).unwrap_or_default();
            let unsearched = rest.get(self.searched..).unwrap_or_default();
            if let Some(found) = memchr(b'\n', unsearched) {
                let len = self.searched + found;
                return Ok(Some(self.give(len, true)));
            }
            self.searched = rest.len();
            if rest.len() >= PIECE_MAX {
                return Ok(Some(self.give(PIECE_MAX, false)));
            }
            if !self.read_on(file)? {
                let len = self.searched;
                return Ok((len > 0).then(|| self.give(len, false)));
            }
        }
    }

    fn give(&mut self, len: usize, is_ended: bool) -> (u64, &[u8], bool) {
        let from = self.at;
        self.at = from + len + usize::from(is_ended);
        self.searched = 0;
        let line = self.buffer.get(from..from + len).unwrap_or_default();
        (self.start + from as u64, line, is_ended)
    }

    /// Reads a block more; false at the end.
    fn read_on(&mut self, file: &dyn DiskFile) -> io::Result<bool> {
        self.buffer.drain(..self.at);
        self.start += self.at as u64;
        self.at = 0;
        let kept = self.buffer.len();
        let left = self.end.saturating_sub(self.start + kept as u64);
        let wanted = usize::try_from(left).unwrap_or(BLOCK).min(BLOCK);
        match kept {
            // The system has zeros at hand.
            0 => self.buffer = vec![0; wanted],
            kept => self.buffer.resize(kept + wanted, 0),
        }
        let into = self.buffer.get_mut(kept..).unwrap_or_default();
        let read = disk::read_full(file, self.start + kept as u64, into)?;
        self.buffer.truncate(kept + read);
        Ok(read > 0)
    }

    /// Shows all pieces, in the order of the file.
    pub(super) fn visit(
        &mut self,
        file: &dyn DiskFile,
        see: &mut dyn FnMut(Place, Piece<'_>),
    ) -> io::Result<()> {
        while let Some((offset, line, is_ended)) = self.next_line(file)? {
            sort_out(offset, line, is_ended, see);
        }
        Ok(())
    }
}

/// Shows what is in a line: a record as a rule. Where the end of a line was lost, records
/// stand one behind the other, and each of them can still be told by its sum.
pub(super) fn sort_out(
    offset: u64,
    line: &[u8],
    is_ended: bool,
    see: &mut dyn FnMut(Place, Piece<'_>),
) {
    let end = offset + line.len() as u64 + u64::from(is_ended);
    let (skipped, text) = bare(offset, line);
    if text.is_empty() {
        return;
    }
    let offset = offset + skipped as u64;
    let whole = Place { offset, len: text.len() as u64, end, is_ended };
    match read(text) {
        Ok(record) => see(whole, Piece::Record(record)),
        Err(why) => salvage(whole, text, why, see),
    }
}

/// A line without what editors put around it; how many bytes before it were left out.
fn bare(offset: u64, line: &[u8]) -> (usize, &[u8]) {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    match line.strip_prefix(b"\xef\xbb\xbf") {
        Some(rest) if offset == 0 => (3, rest),
        Some(_) | None => (0, line),
    }
}

/// Shows the records that are hidden in a bad line, and what lies between them.
fn salvage(whole: Place, line: &[u8], why: &'static str, see: &mut dyn FnMut(Place, Piece<'_>)) {
    let place = |from: usize, to: usize| {
        let (offset, len) = (whole.offset + from as u64, (to - from) as u64);
        match to == line.len() {
            true => Place { offset, len, ..whole },
            false => Place { offset, len, end: offset + len, is_ended: false },
        }
    };
    let mut bad: Option<usize> = None;
    for (from, to) in parts(line) {
        let part = line.get(from..to).unwrap_or_default();
        let len = json_len(part);
        let Ok(record) = read(part.get(..len).unwrap_or_default()) else {
            bad.get_or_insert(from);
            continue;
        };
        if let Some(bad) = bad.take() {
            see(place(bad, from), Piece::Damaged(why));
        }
        see(place(from, from + len), Piece::Record(record));
        // One byte is what became of the end of the line.
        if len + 1 < part.len() {
            bad = Some(from + len);
        }
    }
    if let Some(bad) = bad {
        see(place(bad, line.len()), Piece::Damaged(why));
    }
}

/// Reads a record. No number comes near to what a number can be.
fn read(line: &[u8]) -> Result<Line<'_>, &'static str> {
    let record = parse(line).map_err(Flaw::words)?;
    if record.n < NUMBER_MAX { Ok(record) } else { Err("has a number that nobody gave it") }
}

/// How long the JSON is that a text begins with.
fn json_len(text: &[u8]) -> usize {
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<IgnoredAny>();
    match values.next() {
        Some(Ok(IgnoredAny)) => values.byte_offset(),
        Some(Err(_)) | None => 0,
    }
}

/// Cuts a line before all that looks like the beginning of a record.
fn parts(line: &[u8]) -> impl Iterator<Item = (usize, usize)> {
    let mut starts: Vec<usize> = memmem::find_iter(line, BEGIN).collect();
    if starts.first() != Some(&0) {
        starts.insert(0, 0);
    }
    let ends: Vec<usize> = starts.iter().skip(1).copied().chain([line.len()]).collect();
    starts.into_iter().zip(ends)
}
