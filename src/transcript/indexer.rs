//! From the bytes of a file to records, a step at a time and at constant memory.

use std::{ops::Range, sync::Arc};

use crate::model::Progress;

use super::{
    Format, Growth, Index, Transcript,
    assemble::{self, Assembled, Leaf, Scope},
    claude,
    file::PositionedFile,
    glance::{self, Glance},
    json::{Cursor, Fault, Walk},
    letterpress, pi,
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
/// A longer line without an end is not tried for being whole.
const WHOLE_LINE_MAX: usize = 256 * 1024;
/// How often a torn line is searched for a whole record behind the torn one.
const RESCUES_MAX: usize = 8;

/// Builds the index of a transcript from its start, in steps of bounded work.
#[derive(Debug)]
pub struct Indexer {
    lines: Lines<Scan>,
    last_line: LastLine,
    /// Where the file ends; an index that ends before it is not whole.
    file_end: u64,
}

/// What becomes of a last line that has no end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastLine {
    /// It is a record, damaged or not: nothing more will come.
    Taken,
    /// It is waited for, unless it is a whole record already: the file is being written.
    Awaited,
}

impl Indexer {
    pub(super) fn new(transcript: &Transcript, range: Range<u64>, last_line: LastLine) -> Self {
        let is_whole = range.start == 0;
        let scan = Scan::new(transcript.format(), is_whole);
        let lines = Lines::new(transcript, range, scan);
        Self { lines, last_line, file_end: transcript.len_bytes() }
    }

    /// Indexes about `max_bytes` more of `transcript`, the one it was made for. A read
    /// that fails ends the index where it stood, with a warning.
    pub fn step(&mut self, transcript: &Transcript, max_bytes: usize) -> Progress {
        let progress = self.lines.step(transcript, max_bytes);
        if progress == Progress::Complete {
            self.end();
        }
        progress
    }

    /// The index of what was met so far.
    #[must_use]
    pub fn finish(self) -> Index {
        self.assembled(Leaf::Newest).0.chosen.index
    }

    /// The same on the path that the message of a source's id ends; on the newest, with a
    /// warning, when there is no such message.
    #[must_use]
    pub fn finish_at(self, leaf: &str) -> Index {
        let id = glance::hash(leaf.as_bytes());
        let (assembled, _) = self.assembled(Leaf::Named(id));
        let mut index = assembled.chosen.index;
        if assembled.known.find(id).is_none() {
            index.warn("the branch that was asked for is not there; the newest is shown");
        }
        index
    }

    /// The index of what was met so far, which goes on growing from there.
    #[must_use]
    pub fn finish_growing(self) -> Growth {
        let (assembled, lines) = self.assembled(Leaf::Newest);
        Growth::new(assembled, lines)
    }

    /// Runs to the end in one go.
    pub(super) fn run(mut self, transcript: &Transcript, leaf: Leaf) -> (Assembled, Lines<()>) {
        while self.step(transcript, 1 << 20) != Progress::Complete {}
        self.assembled(leaf)
    }

    fn assembled(mut self, leaf: Leaf) -> (Assembled, Lines<()>) {
        let at_end = self.lines.is_at_end();
        let is_whole = at_end && !self.lines.is_cut && self.lines.range.end >= self.file_end;
        if at_end {
            self.end();
            if self.last_line == LastLine::Taken {
                self.lines.sink.give_up_answer();
            }
        }
        let scope =
            if self.lines.range.start == 0 { Scope::FromStart { is_whole } } else { Scope::Tail };
        let (scan, lines) = self.lines.replace_sink(());
        let file = Arc::clone(&lines.file);
        let mut assembled = assemble::assemble(scan, scope, file, leaf);
        assembled.chosen.index.from = lines.range.start;
        (assembled, lines)
    }

    fn end(&mut self) {
        match self.last_line {
            LastLine::Taken => self.lines.last_line(),
            LastLine::Awaited => self.lines.take_whole_last_line(),
        }
    }
}

/// Takes the records that lines turn out to be.
pub(super) trait Sink {
    fn format(&self) -> Format;
    /// True when no further record can be held.
    fn is_full(&self) -> bool;
    /// Takes a record and gives its number.
    fn record(&mut self, glance: &mut Glance, span: Span) -> u32;
    /// Takes a record that could not be understood.
    fn damaged(&mut self, span: Span, reason: &str);
    /// Takes a piece of what lies behind the most records that can be held.
    fn surplus(&mut self, offset: u64, len: u64, gap: &mut u64);
    /// Says something about a record.
    fn warn(&mut self, number: u32, message: String);
    /// Says something about the newest record.
    fn warn_newest(&mut self, message: String);
}

/// Cuts a file into lines and lines into records.
#[derive(Debug)]
pub(super) struct Lines<S> {
    file: Arc<PositionedFile>,
    range: Range<u64>,
    agent_file: bool,
    pub(super) sink: S,
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
    /// Line ends met in all.
    ends: u64,
    long_line: Option<LongLine>,
    /// The file ended before its length at opening.
    pub(super) is_cut: bool,
}

#[derive(Debug)]
struct LongLine {
    squeezer: Box<Squeezer>,
    offset: u64,
    len: u64,
}

impl<S> Lines<S> {
    fn new(transcript: &Transcript, range: Range<u64>, sink: S) -> Self {
        Self {
            file: Arc::clone(&transcript.file),
            agent_file: transcript.agent_file,
            sink,
            glance: Glance::default(),
            buffer: Vec::new(),
            filled: 0,
            searched: 0,
            offset: range.start,
            range,
            gap: 1,
            ends: 0,
            long_line: None,
            is_cut: false,
        }
    }

    /// The same place in the file with another sink.
    pub(super) fn replace_sink<T>(self, sink: T) -> (S, Lines<T>) {
        let Self { file, range, agent_file, sink: old, glance, buffer, .. } = self;
        let Self { filled, searched, offset, gap, ends, long_line, is_cut, .. } = self;
        let lines = Lines {
            file,
            range,
            agent_file,
            sink,
            glance,
            buffer,
            filled,
            searched,
            offset,
            gap,
            ends,
            long_line,
            is_cut,
        };
        (old, lines)
    }

    /// File offset behind the last byte read.
    pub(super) fn read_to(&self) -> u64 {
        self.offset + self.filled as u64
    }

    /// Where reading began.
    pub(super) fn start(&self) -> u64 {
        self.range.start
    }

    /// Line ends met so far.
    pub(super) fn line_ends(&self) -> u64 {
        self.ends
    }

    /// True when a line has begun that has no end yet.
    pub(super) fn is_inside_line(&self) -> bool {
        self.filled > 0 || self.long_line.is_some()
    }

    fn is_at_end(&self) -> bool {
        self.read_to() >= self.range.end
    }
}

impl<S: Sink> Lines<S> {
    /// Reads about `max_bytes` more of the file, up to the end of the range.
    fn step(&mut self, transcript: &Transcript, max_bytes: usize) -> Progress {
        debug_assert!(Arc::ptr_eq(&self.file, &transcript.file), "one transcript, one indexer");
        let mut budget = max_bytes.max(4096);
        while budget > 0 && !self.is_at_end() {
            let left = usize::try_from(self.range.end - self.read_to()).unwrap_or(usize::MAX);
            let wanted = left.min(budget).min(READ_BYTES);
            self.fill(wanted);
            self.lines();
            budget -= wanted;
        }
        if self.is_at_end() {
            return Progress::Complete;
        }
        Progress::Indexing {
            done: self.read_to() - self.range.start,
            total: self.range.end - self.range.start,
        }
    }

    /// Moves the end of the range and reads about `max_bytes` towards it.
    pub(super) fn go_on(
        &mut self,
        transcript: &Transcript,
        end: u64,
        max_bytes: usize,
    ) -> Progress {
        self.range.end = end.max(self.read_to());
        self.step(transcript, max_bytes)
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
            self.sink.warn_newest("the file ends here although it was longer when opened".into());
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
            self.ends += 1;
            start = end + 1;
            from = start;
        }
        let rest = held.get(start..).unwrap_or(&[]);
        if self.long_line.is_some() || rest.len() > LINE_MAX || self.sink.is_full() {
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

    /// Takes the last line when it is a whole record, so that a file without a last line
    /// end is complete.
    pub(super) fn take_whole_last_line(&mut self) {
        let rest = self.buffer.get(..self.filled).unwrap_or(&[]);
        let may_be_whole = rest.len() <= WHOLE_LINE_MAX && rest.trim_ascii_end().ends_with(b"}");
        if self.long_line.is_none() && may_be_whole {
            let (bytes, _) = trimmed(rest, self.offset);
            let mut cursor = Cursor::new(bytes);
            let (format, agent_file) = (self.sink.format(), self.agent_file);
            let walked = look_at(&mut cursor, &mut self.glance, format, agent_file);
            if walked.is_ok() && cursor.peek().is_none() && std::str::from_utf8(bytes).is_ok() {
                self.last_line();
            }
        }
    }

    /// Takes the last line as it is.
    pub(super) fn last_line(&mut self) {
        let buffer = std::mem::take(&mut self.buffer);
        let rest = buffer.get(..self.filled).unwrap_or(&[]);
        self.line(rest, self.offset);
        self.offset += self.filled as u64;
        self.filled = 0;
        self.searched = 0;
    }

    /// Takes a part of a line that is too long to hold.
    fn long_piece(&mut self, piece: &[u8], offset: u64) {
        if self.sink.is_full() {
            return self.sink.surplus(offset, piece.len() as u64, &mut self.gap);
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
            let walked =
                look_at(&mut cursor, &mut self.glance, self.sink.format(), self.agent_file);
            walked.map_err(Fault::words)?;
            if cursor.peek().is_some() { Err("holds several values") } else { Ok(()) }
        });
        match outcome {
            Ok(()) if fits => drop(self.sink.record(&mut self.glance, span)),
            Ok(()) => self.sink.damaged(span, "is too long to show"),
            Err(reason) => self.sink.damaged(span, reason),
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
        if self.sink.is_full() {
            return self.sink.surplus(offset, bytes.len() as u64, &mut self.gap);
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
                self.sink.damaged(span, fault.words());
                at += bad;
                continue;
            }
            let len = cursor.position();
            let span = self.span(offset + at as u64, len);
            self.sink.record(&mut self.glance, span);
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
            [&b"{\"type\":\""[..], b"{\"parentUuid\":", b"{\"uuid\":", b"{\"v\":"]
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
                let number = self.sink.record(&mut self.glance, span);
                self.sink.warn(
                    number,
                    "record is not valid UTF-8; \u{fffd} stands for what is not".into(),
                );
            }
            Ok(()) => self.sink.damaged(span, "is not valid UTF-8"),
            Err(fault) => self.sink.damaged(span, fault.words()),
        }
    }

    fn span(&mut self, offset: u64, len: usize) -> Span {
        Span { offset, len: len as u64, gap: std::mem::take(&mut self.gap) }
    }

    fn glance(&mut self, cursor: &mut Cursor<'_>) -> Walk<()> {
        look_at(cursor, &mut self.glance, self.sink.format(), self.agent_file)
    }
}

fn look_at(
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
        Format::Letterpress => letterpress::glance::record(cursor, glance),
    }
}

/// A line without blanks at its ends, and without the mark that some editors put first.
fn trimmed(bytes: &[u8], offset: u64) -> (&[u8], u64) {
    let marked = if offset == 0 { bytes.strip_prefix(b"\xef\xbb\xbf") } else { None };
    let body = marked.unwrap_or(bytes).trim_ascii_start();
    let skipped = bytes.len() - body.len();
    (body.trim_ascii_end(), offset + skipped as u64)
}
