//! An index that grows with its file: what is appended costs what it is long.
//!
//! Nearly all that is appended to a transcript continues it. That is added to the index as
//! it is; all else (another branch, a repeated id, a result that replaces one) is told as
//! [`Grown::Unusual`], and the index has to be built anew.

mod links;
mod pairs;

use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::model::{MessageId, Progress, SourceLine, Warning};

use self::{links::Path, pairs::Pairs};
use super::{
    Format, Index, Transcript,
    assemble::{self, Assembled, Scope},
    glance::{Glance, Title},
    index::Tree,
    indexer::{Lines, Sink},
    letterpress::log::{self, Log, Step},
    record::{Flags, NONE, Record, RecordKind},
    rows::{self, Builder, Records as _},
    scan::{self, RECORDS_MAX, Span, WARNINGS_MAX},
};

/// Ends of chains that are remembered; others are walked to.
const TAILS_MAX: usize = 4096;

/// An index and what is needed to go on from where it ends.
#[derive(Debug)]
pub struct Growth {
    lines: Lines<Extension>,
}

/// What became of an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Grown {
    /// Nothing was added.
    Not,
    /// It has other rows.
    Rows(Changes),
    /// What was appended does not simply continue it; it has to be built anew.
    Unusual,
    /// The file is shorter than was said.
    Cut,
}

/// What an extension changed of the rows that were there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Messages that have new parts or results.
    pub messages: Vec<MessageId>,
    /// All rows before this one are as they were, but for failures.
    pub from_row: usize,
}

impl Growth {
    pub(super) fn new(assembled: Assembled, lines: Lines<()>) -> Self {
        Self { lines: lines.replace_sink(Extension::new(assembled)).1 }
    }

    /// The index as it is now.
    #[must_use]
    pub fn index(&self) -> Index {
        let extension = &self.lines.sink;
        let mut index = extension.index.clone();
        let is_known = |leaf| extension.path.find(leaf).is_some();
        index.title = assemble::title(&extension.titles, is_known);
        index
    }

    /// File offset behind the last byte that was read.
    #[must_use]
    pub fn read_to(&self) -> u64 {
        self.lines.read_to()
    }

    /// Where the index begins in the file.
    #[must_use]
    pub fn start(&self) -> u64 {
        self.lines.start()
    }

    /// Lines that were read to their end.
    #[must_use]
    pub fn lines_read(&self) -> u64 {
        self.lines.line_ends()
    }

    /// True while the last line has no end.
    #[must_use]
    pub fn is_inside_line(&self) -> bool {
        self.lines.is_inside_line()
    }

    /// Reads on up to `end`, about `max_bytes` at a time, and adds what has become whole.
    /// The progress is that of reading. After [`Grown::Unusual`] or [`Grown::Cut`] this
    /// index goes no further.
    pub fn extend(
        &mut self,
        transcript: &Transcript,
        end: u64,
        max_bytes: usize,
    ) -> (Grown, Progress) {
        self.lines.sink.begin();
        let progress = self.lines.go_on(transcript, end, max_bytes);
        if progress == Progress::Complete {
            self.lines.take_whole_last_line();
        }
        let grown = if self.lines.is_cut { Grown::Cut } else { self.lines.sink.end() };
        (grown, progress)
    }

    /// Takes the last line as it is, because nothing more of it seems to come.
    pub fn give_up_last_line(&mut self) -> Grown {
        self.lines.sink.begin();
        self.lines.last_line();
        self.lines.sink.end()
    }

    /// Bytes on the heap beside those of the index.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let Extension { path, pairs, tails, .. } = &self.lines.sink;
        path.heap_bytes() + pairs.heap_bytes() + tails.capacity() * 2 * size_of::<u64>()
    }
}

/// Adds records to a finished index.
#[derive(Debug)]
struct Extension {
    index: Index,
    builder: Builder,
    path: Path,
    pairs: Pairs,
    titles: Vec<Title>,
    /// A record that is not damaged was met.
    began: bool,
    /// The message whose lines are being met, and its first record.
    open_message: Option<(u64, u32)>,
    /// What is known of a log of this program.
    log: Option<Box<Log>>,
    /// The last record of a row's chain, by its first.
    tails: FxHashMap<u32, u32>,
    /// The row of the newest prompt plus one, or 0.
    prompt: u32,
    batch: Batch,
}

/// What is added between two looks at the rows.
#[derive(Debug, Default)]
struct Batch {
    rows: Vec<u32>,
    /// First records of rows that changed.
    changed: Vec<u32>,
    /// The first of those whose height or group may have changed.
    reshaped: Option<u32>,
    unusual: bool,
    /// Records before.
    records: usize,
}

impl Extension {
    fn new(assembled: Assembled) -> Self {
        let Assembled { chosen, known, scan } = assembled;
        let index = chosen.index;
        let len = index.len();
        let prompt = len.checked_sub(1).and_then(|last| index.prompt_before(last));
        Self {
            path: Path::new(&index, known, chosen.tidy),
            pairs: Pairs::new(&scan.pairing, index.scope),
            builder: chosen.builder,
            titles: scan.titles,
            began: scan.began,
            open_message: scan.open_message,
            log: scan.log,
            tails: FxHashMap::default(),
            prompt: prompt.map_or(0, |row| row as u32 + 1),
            batch: Batch::default(),
            index,
        }
    }

    fn begin(&mut self) {
        let unusual = self.batch.unusual;
        self.batch = Batch { unusual, records: self.index.records.len(), ..Batch::default() };
        if self.builder.held_back().is_some() {
            // It comes back at the end, here or further on.
            let rows = &mut self.index.rows.rows;
            rows.truncate(rows.len().saturating_sub(1));
        }
    }

    fn end(&mut self) -> Grown {
        let Batch { rows, mut changed, reshaped, unusual, records } =
            std::mem::take(&mut self.batch);
        self.batch.unusual = unusual;
        let old_len = self.index.len();
        self.index.rows.rows.extend(rows);
        self.index.rows.rows.extend(self.builder.held_back());
        if unusual {
            return Grown::Unusual;
        }
        if records == self.index.records.len() && changed.is_empty() {
            return Grown::Not;
        }
        let reshaped = reshaped.and_then(|head| self.row_of(head)).unwrap_or(old_len);
        let from_row = reshaped.min(old_len);
        self.regroup(from_row);
        for row in old_len..self.index.len() {
            self.index.note_prompt(row, &mut self.prompt);
        }
        changed.sort_unstable();
        changed.dedup();
        let id = |number: &u32| self.index.records.at(*number).map(|r| MessageId(r.offset));
        Grown::Rows(Changes { messages: changed.iter().filter_map(id).collect(), from_row })
    }

    fn row_of(&self, head: u32) -> Option<usize> {
        self.index.index_of(MessageId(self.index.records.at(head)?.offset))
    }

    fn regroup(&mut self, from_row: usize) {
        let before = from_row.checked_sub(1).and_then(|row| self.index.head_of(row));
        let before = before.and_then(|head| self.index.records.at(head));
        let mut grouping = rows::grouping_after(before.as_ref());
        for row in from_row..self.index.len() {
            if let Some(head) = self.index.head_of(row) {
                rows::group(&mut self.index.records, head, &mut grouping);
            }
        }
    }

    fn push(&mut self, mut record: Record, gap: u64) -> u32 {
        let number = self.index.records.len();
        let gap = gap + self.log.as_mut().map_or(0, |log| log.take_gap());
        self.index.lines.push(number, &mut record, gap);
        self.index.latest_secs = self.index.latest_secs.max(record.time_secs);
        self.index.records.push(record);
        number as u32
    }

    /// A session header that is not the first record is no header.
    fn kind(&mut self, glance: &mut Glance) -> RecordKind {
        let began = std::mem::replace(&mut self.began, true);
        match glance.kind.unwrap_or(RecordKind::Raw) {
            RecordKind::Header if began => {
                glance.housekeeping = super::housekeeping::SESSION_HEADER;
                RecordKind::Housekeeping
            }
            RecordKind::Header => {
                self.batch.unusual = true;
                RecordKind::Header
            }
            kind => kind,
        }
    }

    /// The record whose row takes this one; the record itself unless it continues one.
    fn owner(&mut self, glance: &Glance, kind: RecordKind, number: u32) -> u32 {
        match (kind, glance.message_id, self.open_message) {
            (RecordKind::Assistant, Some(id), Some((open, head))) if id == open => {
                self.adopt(number, head);
                head
            }
            (RecordKind::Assistant, id, _) => {
                self.open_message = id.map(|id| (id, number));
                number
            }
            (RecordKind::User, ..) => {
                self.open_message = None;
                number
            }
            _ => number,
        }
    }

    /// Hangs a record behind all others of a row.
    fn adopt(&mut self, child: u32, owner: u32) {
        let tail = self.tail_of(owner);
        let records = &mut self.index.records;
        let Some(record) = records.at_mut(child) else { return };
        record.flags.set(Flags::CHILD);
        let added = *record;
        if let Some(tail) = records.at_mut(tail) {
            tail.next = child;
        }
        self.tails.insert(owner, child);
        let Some(head) = records.at_mut(owner) else { return };
        if added.kind == RecordKind::Assistant {
            let mut marks = head.marks();
            marks.append(added.marks());
            head.extra = marks.0;
            let mut traces = head.traces();
            traces.append(added.traces());
            head.set_traces(traces);
            head.lines = head.lines.saturating_add(added.lines);
            self.batch.reshaped = Some(self.batch.reshaped.map_or(owner, |r| r.min(owner)));
        }
        if added.has(Flags::FAILED) {
            head.flags.set(Flags::FAILED);
        }
        self.builder.look_again(&self.index.records, owner);
        self.batch.changed.push(owner);
    }

    /// Takes a record of a log, if it is no record of its own, and says what is odd about it.
    fn logged(&mut self, glance: &mut Glance, span: Span) -> (Option<u32>, Option<String>) {
        let Some(mut log) = self.log.take() else { return (None, None) };
        let mut odd = None;
        let newest = self.index.records.len() as u32;
        let found = match log.meet(glance, span.gap, &mut odd) {
            Step::Repeated => Some(newest.saturating_sub(1)),
            Step::Adds(head) => {
                self.change(head, |head| log.add(head, glance, span));
                Some(head)
            }
            Step::Ends(head, before) => {
                let record = scan::first_record(glance, RecordKind::Assistant, span);
                let number = self.push(record, span.gap + log.take_gap());
                self.say_again(head, before, number);
                self.change(head, |head| log::set_time(head, glance));
                log.ended(number);
                Some(number)
            }
            Step::Own(unfinished) => {
                if let Some(head) = unfinished {
                    self.change(head, log::interrupt);
                }
                None
            }
        };
        self.index.open = log.open_head();
        self.index.latest_secs = self.index.latest_secs.max(log.latest_secs());
        self.log = Some(log);
        (found, odd)
    }

    /// Changes the first record of a row that stands.
    fn change(&mut self, head: u32, change: impl FnOnce(&mut Record)) {
        if let Some(record) = self.index.records.at_mut(head) {
            change(record);
        }
        self.batch.reshaped = Some(self.batch.reshaped.map_or(head, |r| r.min(head)));
        self.builder.look_again(&self.index.records, head);
        self.batch.changed.push(head);
    }

    /// The record `end` says all that the row of `head` says.
    fn say_again(&mut self, head: u32, before: Option<u32>, end: u32) {
        let tail = self.tail_of(head);
        let records = &mut self.index.records;
        let Some(record) = records.at_mut(end) else { return };
        record.flags.set(Flags::CHILD);
        let whole = *record;
        if let Some(tail) = records.at_mut(tail) {
            tail.next = end;
        }
        self.tails.insert(head, end);
        if let Some(before) = before.and_then(|before| self.index.records.at_mut(before)) {
            before.flags.set(Flags::REPLACED);
        }
        self.change(head, |head| {
            head.flags.set(Flags::REPLACED);
            let mut traces = whole.traces();
            traces.set_forks(head.traces().forks());
            (head.extra, head.lines) = (whole.extra, whole.lines);
            head.set_traces(traces);
            head.flags.clear(Flags::FAILED);
            if whole.has(Flags::FAILED) {
                head.flags.set(Flags::FAILED);
            }
        });
    }

    fn tail_of(&mut self, owner: u32) -> u32 {
        if let Some(tail) = self.tails.get(&owner) {
            return *tail;
        }
        if self.tails.len() >= TAILS_MAX {
            self.tails.clear();
        }
        let mut tail = owner;
        while let Some(record) = self.index.records.at(tail).filter(|r| r.next != NONE) {
            tail = record.next;
        }
        tail
    }

    fn results(&mut self, glance: &Glance, kind: RecordKind, number: u32, span: Span) {
        for (ordinal, (key, is_error)) in (0..scan::RESULTS_MAX).zip(&glance.content.results) {
            let is_own = ordinal == 0 && kind == RecordKind::Result;
            let place = if is_own {
                number
            } else {
                self.push(scan::further_result(glance, span, ordinal), 0)
            };
            if let Some(record) = self.index.records.at_mut(place).filter(|_| *is_error) {
                record.flags.set(Flags::FAILED);
            }
            match self.pairs.result(*key) {
                pairs::Owner::Call(owner) => self.adopt(place, owner),
                pairs::Owner::BeforeTheWindow => {
                    if let Some(record) = self.index.records.at_mut(place) {
                        record.flags.set(Flags::CHILD);
                    }
                }
                pairs::Owner::Unclear => self.batch.unusual = true,
            }
        }
    }

    /// Gives records that are not part of another row their rows.
    fn place(&mut self, numbers: std::ops::Range<u32>) {
        for number in numbers {
            self.builder.take(&mut self.index.records, &mut self.batch.rows, number);
            let Some(record) = self.index.records.at(number) else { return };
            let grown = match record.kind {
                RecordKind::Housekeeping => self.builder.held_back(),
                RecordKind::Sidechain => self.builder.sidechain_of(number),
                RecordKind::Header
                | RecordKind::User
                | RecordKind::Assistant
                | RecordKind::Result
                | RecordKind::Custom
                | RecordKind::Notice
                | RecordKind::Raw
                | RecordKind::Damaged
                | RecordKind::Silent => None,
            };
            self.batch.changed.extend(grown.filter(|head| *head != number));
        }
    }
}

impl Sink for Extension {
    fn format(&self) -> Format {
        self.index.format
    }

    fn is_full(&self) -> bool {
        self.index.records.len() >= RECORDS_MAX
    }

    fn record(&mut self, glance: &mut Glance, span: Span) -> u32 {
        let number = self.index.records.len() as u32;
        if self.batch.unusual {
            return number;
        }
        let (known, odd) = self.logged(glance, span);
        let kind = self.kind(glance);
        if known.is_none() {
            self.push(scan::first_record(glance, kind, span), span.gap);
        }
        if let Some(odd) = odd {
            self.warn(known.unwrap_or(number), odd);
        }
        if let Some(number) = known {
            return number;
        }
        let is_usual = self.path.link(&mut self.index, glance, number);
        self.batch.unusual |= !is_usual;
        if kind != RecordKind::Sidechain {
            let owner = self.owner(glance, kind, number);
            if let Some(log) = &mut self.log {
                log.began(glance, number);
                self.index.open = log.open_head();
            }
            if self.index.tree == Tree::Linked {
                self.path.go_to(&self.index, number, owner);
            }
            for call in &glance.content.calls {
                self.batch.unusual |= !self.pairs.call(*call, owner);
            }
            self.results(glance, kind, number, span);
            if let Some(title) = glance.title.take() {
                scan::note_title(&mut self.titles, title);
            }
        }
        self.place(number..self.index.records.len() as u32);
        number
    }

    fn damaged(&mut self, span: Span, reason: &str) {
        if self.batch.unusual {
            return;
        }
        let record = Record::new(RecordKind::Damaged, span.offset, span.len);
        let number = self.push(record, span.gap);
        if let Some(log) = &mut self.log {
            log.damaged();
        }
        self.warn(number, scan::damage(reason));
        self.place(number..number + 1);
    }

    /// The index is full: what comes is not shown.
    fn surplus(&mut self, _offset: u64, _len: u64, _gap: &mut u64) {}

    fn warn(&mut self, number: u32, message: String) {
        if self.batch.unusual || self.index.warnings.len() >= WARNINGS_MAX {
            return;
        }
        let line = match self.index.scope {
            Scope::Tail => SourceLine(0),
            Scope::FromStart { .. } => self.index.line_of(number),
        };
        Arc::make_mut(&mut self.index.warnings).push(Warning { line, message });
    }

    /// Only said of a file that was cut, which ends this index.
    fn warn_newest(&mut self, _message: String) {}
}
