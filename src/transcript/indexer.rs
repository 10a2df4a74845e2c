//! From the bytes of a file to records, a step at a time and at constant memory.

use std::{ops::Range, sync::Arc};

use crate::model::Progress;

use super::{
    Format, Index, Transcript, assemble, claude,
    file::PositionedFile,
    glance::Glance,
    json::{Cursor, Fault, Walk},
    pi,
    record::RecordKind,
    scan::{Scan, Span},
    squeeze::Squeezer,
};

/// A longer line is never held: it goes through the squeezer.
pub(super) const LINE_MAX: usize = 16 * 1024 * 1024;
/// Read at once.
const READ_BYTES: usize = 1 << 20;
/// Kept between steps.
const BUFFER_KEPT: usize = 4 * 1024 * 1024;
/// How often a torn line is searched for a whole record behind the torn one.
const RESCUES_MAX: usize = 8;

/// Builds the index of a transcript from its start, in steps of bounded work.
#[derive(Debug)]
pub struct Indexer {
    file: Arc<PositionedFile>,
    range: Range<u64>,
    agent_file: bool,
    scan: Scan,
    glance: Glance,
    buffer: Vec<u8>,
    /// Bytes of the buffer that hold the file.
    filled: usize,
    /// Bytes of it already searched for a line end.
    searched: usize,
    /// File offset of the buffer's first byte.
    offset: u64,
    /// Line ends met since the last record.
    gap: u64,
    long_line: Option<LongLine>,
    /// The file ended before its length at opening.
    is_cut: bool,
}

#[derive(Debug)]
struct LongLine {
    squeezer: Box<Squeezer>,
    offset: u64,
    len: u64,
}

impl Indexer {
    pub(super) fn new(transcript: &Transcript, range: Range<u64>) -> Self {
        Self {
            file: Arc::clone(&transcript.file),
            agent_file: transcript.agent_file,
            scan: Scan::new(transcript.format()),
            glance: Glance::default(),
            buffer: Vec::new(),
            filled: 0,
            searched: 0,
            offset: range.start,
            range,
            gap: 1,
            long_line: None,
            is_cut: false,
        }
    }

    /// Indexes about `max_bytes` more of `transcript`, the one it was made for. A read
    /// that fails ends the index where it stood, with a warning.
    pub fn step(&mut self, transcript: &Transcript, max_bytes: usize) -> Progress {
        debug_assert!(Arc::ptr_eq(&self.file, &transcript.file), "one transcript, one indexer");
        let mut budget = max_bytes.max(4096);
        while budget > 0 && self.read_to() < self.range.end {
            let left = usize::try_from(self.range.end - self.read_to()).unwrap_or(usize::MAX);
            let wanted = left.min(budget).min(READ_BYTES);
            self.fill(wanted);
            self.lines();
            budget -= wanted;
        }
        if self.read_to() >= self.range.end {
            self.last_line();
            return Progress::Complete;
        }
        Progress::Indexing {
            done: self.read_to() - self.range.start,
            total: self.range.end - self.range.start,
        }
    }

    /// The index of what was met so far.
    #[must_use]
    pub fn finish(mut self) -> Index {
        let at_end = self.read_to() >= self.range.end;
        let is_whole = at_end && !self.is_cut;
        if at_end {
            self.last_line();
        }
        let scope = if self.range.start == 0 {
            assemble::Scope::FromStart { is_whole }
        } else {
            assemble::Scope::Tail
        };
        assemble::assemble(self.scan, scope, self.file)
    }

    /// Runs to the end in one go.
    pub(super) fn run(mut self, transcript: &Transcript) -> Index {
        while self.step(transcript, 1 << 20) != Progress::Complete {}
        self.finish()
    }

    /// File offset behind the last byte read.
    fn read_to(&self) -> u64 {
        self.offset + self.filled as u64
    }

    fn fill(&mut self, wanted: usize) {
        let end = self.filled + wanted;
        if self.buffer.len() < end {
            self.buffer.resize(end, 0);
        }
        let at = self.read_to();
        let space = self.buffer.get_mut(self.filled..end).unwrap_or(&mut []);
        let got = self.file.read_full(space, at).unwrap_or(0);
        self.filled += got;
        if got < wanted {
            self.range.end = self.read_to();
            self.is_cut = true;
            let number = self.scan.records.len().saturating_sub(1) as u32;
            self.scan.warn(number, "the file ends here although it was longer when opened".into());
        }
    }

    /// Takes all whole lines of the buffer and keeps the rest.
    fn lines(&mut self) {
        let buffer = std::mem::take(&mut self.buffer);
        let held = buffer.get(..self.filled).unwrap_or(&[]);
        let mut start = 0;
        let mut from = self.searched;
        while let Some(found) = held.get(from..).and_then(|rest| memchr::memchr(b'\n', rest)) {
            let end = from + found;
            self.line(held.get(start..end).unwrap_or(&[]), self.offset + start as u64);
            self.gap += 1;
            start = end + 1;
            from = start;
        }
        let rest = held.get(start..).unwrap_or(&[]);
        if self.long_line.is_some() || rest.len() > LINE_MAX || self.scan.is_full() {
            self.long_piece(rest, self.offset + start as u64);
            start = self.filled;
        }
        self.buffer = buffer;
        self.buffer.copy_within(start..self.filled, 0);
        self.offset += start as u64;
        self.filled -= start;
        self.searched = self.filled;
        if self.buffer.len() > BUFFER_KEPT && self.filled < BUFFER_KEPT / 2 {
            self.buffer.truncate(BUFFER_KEPT);
            self.buffer.shrink_to_fit();
        }
    }

    fn last_line(&mut self) {
        let buffer = std::mem::take(&mut self.buffer);
        let rest = buffer.get(..self.filled).unwrap_or(&[]);
        self.line(rest, self.offset);
        self.offset += self.filled as u64;
        self.filled = 0;
        self.searched = 0;
    }

    /// Takes a part of a line that is too long to hold.
    fn long_piece(&mut self, piece: &[u8], offset: u64) {
        if self.scan.is_full() {
            return self.surplus(piece, offset);
        }
        let long = self.long_line.get_or_insert_with(|| LongLine {
            squeezer: Box::new(Squeezer::new()),
            offset,
            len: 0,
        });
        long.squeezer.feed(piece);
        long.len += piece.len() as u64;
    }

    fn end_long_line(&mut self, long: LongLine) {
        let gap = std::mem::take(&mut self.gap);
        let span = Span { offset: long.offset, len: long.len, gap };
        // A length the index cannot hold could not be read again.
        let fits = u32::try_from(long.len).is_ok_and(|len| len < u32::MAX);
        let outcome = long.squeezer.finish().and_then(|squeezed| {
            let mut cursor = Cursor::new(&squeezed.json);
            let walked = glance(&mut cursor, &mut self.glance, self.scan.format, self.agent_file);
            walked.map_err(Fault::words)?;
            if cursor.peek().is_some() { Err("holds several values") } else { Ok(()) }
        });
        match outcome {
            Ok(()) if fits => drop(self.scan.record(&mut self.glance, span)),
            Ok(()) => self.scan.damaged(span, "is too long to show"),
            Err(reason) => self.scan.damaged(span, reason),
        }
    }

    /// Takes what lies beyond the most records an index holds, as one record.
    fn surplus(&mut self, piece: &[u8], offset: u64) {
        let len = piece.len() as u64;
        match self.scan.records.last_mut() {
            Some(last) if last.kind == RecordKind::Damaged && self.scan.surplus => {
                last.len = last.len.saturating_add(u32::try_from(len).unwrap_or(u32::MAX));
            }
            _ => {
                self.scan.surplus = true;
                let gap = std::mem::take(&mut self.gap);
                self.scan
                    .damaged(Span { offset, len, gap }, "and all behind it are too many to show");
            }
        }
    }

    /// Takes a line without its end.
    fn line(&mut self, bytes: &[u8], offset: u64) {
        if let Some(mut long) = self.long_line.take() {
            long.squeezer.feed(bytes);
            long.len += bytes.len() as u64;
            return self.end_long_line(long);
        }
        let (bytes, offset) = trimmed(bytes, offset);
        if bytes.is_empty() {
            return;
        }
        if self.scan.is_full() {
            return self.surplus(bytes, offset);
        }
        match std::str::from_utf8(bytes) {
            Ok(_) => self.values(bytes, offset),
            Err(_not_utf8) => self.lossy_line(bytes, offset),
        }
    }

    /// Takes the values of a line; there is one, unless a line end was lost.
    fn values(&mut self, bytes: &[u8], offset: u64) {
        let mut at = 0;
        let mut rescues = RESCUES_MAX;
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let mut cursor = Cursor::new(rest);
            if let Err(fault) = self.glance(&mut cursor) {
                let bad = self.rescue(rest, &mut rescues).unwrap_or(rest.len());
                let span = self.span(offset + at as u64, bad);
                self.scan.damaged(span, fault.words());
                at += bad;
                continue;
            }
            let len = cursor.position();
            let span = self.span(offset + at as u64, len);
            self.scan.record(&mut self.glance, span);
            cursor.peek();
            at += cursor.position();
        }
    }

    /// Looks for a whole record behind a torn one: a program that is killed while it
    /// writes leaves no line end before what its next run appends.
    fn rescue(&mut self, torn: &[u8], attempts: &mut usize) -> Option<usize> {
        let starts = memchr::memmem::find_iter(torn, b"{\"").filter(|at| *at > 0);
        let is_record = |at: &usize| {
            let rest = torn.get(*at..).unwrap_or(&[]);
            [&b"{\"type\":\""[..], b"{\"parentUuid\":", b"{\"uuid\":"]
                .iter()
                .any(|s| rest.starts_with(s))
        };
        let candidates: Vec<usize> = starts.filter(is_record).take(*attempts).collect();
        candidates.into_iter().find(|at| {
            *attempts -= 1;
            let mut cursor = Cursor::new(torn.get(*at..).unwrap_or(&[]));
            let is_known = self.glance(&mut cursor).is_ok()
                && self.glance.kind.is_some_and(|kind| kind != RecordKind::Raw);
            is_known && matches!(cursor.peek(), None | Some(b'{'))
        })
    }

    fn lossy_line(&mut self, bytes: &[u8], offset: u64) {
        let text = String::from_utf8_lossy(bytes);
        let mut cursor = Cursor::new(text.as_bytes());
        let walked = self.glance(&mut cursor);
        let span = self.span(offset, bytes.len());
        match walked {
            Ok(()) if cursor.peek().is_none() => {
                let number = self.scan.record(&mut self.glance, span);
                self.scan.warn(
                    number,
                    "record is not valid UTF-8; \u{fffd} stands for what is not".into(),
                );
            }
            Ok(()) => self.scan.damaged(span, "is not valid UTF-8"),
            Err(fault) => self.scan.damaged(span, fault.words()),
        }
    }

    fn span(&mut self, offset: u64, len: usize) -> Span {
        Span { offset, len: len as u64, gap: std::mem::take(&mut self.gap) }
    }

    fn glance(&mut self, cursor: &mut Cursor<'_>) -> Walk<()> {
        glance(cursor, &mut self.glance, self.scan.format, self.agent_file)
    }
}

fn glance(
    cursor: &mut Cursor<'_>,
    glance: &mut Glance,
    format: Format,
    agent_file: bool,
) -> Walk<()> {
    if cursor.peek().is_some_and(|byte| byte != b'{') {
        return Err(Fault::Syntax);
    }
    match format {
        Format::Pi => pi::glance::entry(cursor, glance),
        Format::ClaudeCode => claude::glance::record(cursor, glance, agent_file),
    }
}

/// A line without blanks at its ends, and without the mark that some editors put first.
fn trimmed(bytes: &[u8], offset: u64) -> (&[u8], u64) {
    let marked = if offset == 0 { bytes.strip_prefix(b"\xef\xbb\xbf") } else { None };
    let body = marked.unwrap_or(bytes).trim_ascii_start();
    let skipped = bytes.len() - body.len();
    (body.trim_ascii_end(), offset + skipped as u64)
}
