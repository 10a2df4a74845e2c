//! From records seen in passing to the records of an index.

use crate::model::pairing::{Owner, Pairing};

use super::{
    Format,
    glance::{Glance, Link, Title},
    indexer::Sink,
    letterpress::log::{self, Log, Step},
    lines::LineTable,
    links::Links,
    record::{Flags, Marks, Record, RecordKind},
};

/// Beyond this many records a file is no conversation; the rest is one raw row.
pub(super) const RECORDS_MAX: usize = 16 << 20;
/// Results of one record that are told apart.
pub(super) const RESULTS_MAX: u16 = 50_000;
pub(super) const WARNINGS_MAX: usize = 1000;
const TITLES_MAX: usize = 64;
const TITLE_CHARS_MAX: usize = 200;

/// Where a record stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    pub(super) offset: u64,
    pub(super) len: u64,
    /// Line ends between the record before and this one.
    pub(super) gap: u64,
}

/// What is known while records come in.
#[derive(Debug)]
pub(super) struct Scan {
    pub(super) format: Format,
    pub(super) records: Vec<Record>,
    pub(super) lines: LineTable,
    pub(super) links: Links,
    /// Child and owner: which records belong to the row of another.
    pub(super) owners: Vec<(u32, u32)>,
    pub(super) pairing: Pairing,
    pub(super) titles: Vec<Title>,
    /// Record and message.
    pub(super) warnings: Vec<(u32, String)>,
    pub(super) warnings_left_out: usize,
    /// Replies hang on nothing: the file's links cannot be trusted.
    pub(super) unlinked: bool,
    /// The last record stands for all that are too many.
    pub(super) surplus: bool,
    /// A record that is not damaged was met.
    pub(super) began: bool,
    /// The message whose lines are being met, and its first record.
    pub(super) open_message: Option<(u64, u32)>,
    /// What is known of a log of this program.
    pub(super) log: Option<Box<Log>>,
}

impl Scan {
    pub(super) fn new(format: Format, is_whole: bool) -> Self {
        Self {
            format,
            records: Vec::new(),
            lines: LineTable::default(),
            links: Links::default(),
            owners: Vec::new(),
            pairing: Pairing::default(),
            titles: Vec::new(),
            warnings: Vec::new(),
            warnings_left_out: 0,
            unlinked: false,
            surplus: false,
            began: false,
            open_message: None,
            log: (format == Format::Letterpress).then(|| Box::new(Log::new(is_whole))),
        }
    }

    pub(super) fn warn(&mut self, number: u32, message: String) {
        if self.warnings.len() < WARNINGS_MAX {
            self.warnings.push((number, message));
        } else {
            self.warnings_left_out += 1;
        }
    }

    /// A session header that is not the first record is no header.
    fn kind(&mut self, glance: &mut Glance) -> RecordKind {
        let began = std::mem::replace(&mut self.began, true);
        match glance.kind.unwrap_or(RecordKind::Raw) {
            RecordKind::Header if began => {
                glance.housekeeping = super::housekeeping::SESSION_HEADER;
                RecordKind::Housekeeping
            }
            kind => kind,
        }
    }

    fn push(&mut self, mut record: Record, gap: u64) -> u32 {
        let number = self.records.len();
        let gap = gap + self.log.as_mut().map_or(0, |log| log.take_gap());
        self.lines.push(number, &mut record, gap);
        if self.records.len() == self.records.capacity() {
            // Doubling would hold twice the budget for the largest files.
            self.records.reserve_exact((number / 4).max(1024));
        }
        self.records.push(record);
        number as u32
    }

    fn link(&mut self, glance: &Glance, kind: RecordKind, number: u32) {
        let is_reply = matches!(kind, RecordKind::Assistant | RecordKind::Result);
        let is_first = self.links.is_empty();
        let Some(record) = self.records.get_mut(number as usize) else { return };
        let Some(id) = glance.id.filter(|_| kind != RecordKind::Header) else {
            if kind == RecordKind::Header {
                self.links.header(glance.id);
            }
            return;
        };
        record.flags.set(Flags::LINKED);
        match glance.parent {
            Link::Below(parent) => self.links.below(record, number, id, parent),
            Link::Absent => record.flags.set(Flags::DETACHED),
            Link::Root if self.format != Format::ClaudeCode => {}
            // Only the user's words begin a conversation.
            Link::Root if kind != RecordKind::User && kind != RecordKind::Sidechain => {
                record.flags.set(Flags::DETACHED);
                self.unlinked |= is_reply && !is_first;
            }
            Link::Root => {}
        }
        self.links.add(id, number);
    }

    /// Takes a record of a log, if it is no record of its own, and says what is odd about it.
    fn logged(&mut self, glance: &mut Glance, span: Span) -> (Option<u32>, Option<String>) {
        let Some(mut log) = self.log.take() else { return (None, None) };
        let mut odd = None;
        let newest = self.records.len() as u32;
        let found = match log.meet(glance, span.gap, &mut odd) {
            Step::Repeated => Some(newest.saturating_sub(1)),
            Step::Adds(head) => {
                if let Some(head) = self.records.get_mut(head as usize) {
                    log.add(head, glance, span);
                }
                Some(head)
            }
            Step::Ends(head, before) => {
                let record = first_record(glance, RecordKind::Assistant, span);
                let number = self.push(record, span.gap + log.take_gap());
                for replaced in [Some(head), before].into_iter().flatten() {
                    if let Some(record) = self.records.get_mut(replaced as usize) {
                        record.flags.set(Flags::REPLACED);
                    }
                }
                if let Some(head) = self.records.get_mut(head as usize) {
                    log::set_time(head, glance);
                }
                self.adopt(number, head);
                log.ended(number);
                Some(number)
            }
            Step::Own(unfinished) => {
                self.interrupt(unfinished);
                None
            }
        };
        self.log = Some(log);
        (found, odd)
    }

    fn interrupt(&mut self, unfinished: Option<u32>) {
        let head = unfinished.and_then(|head| self.records.get_mut(head as usize));
        head.into_iter().for_each(log::interrupt);
    }

    /// Nothing more will come: an answer without an end was interrupted.
    pub(super) fn give_up_answer(&mut self) {
        let unfinished = self.log.as_mut().and_then(|log| log.end());
        self.interrupt(unfinished);
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

    fn adopt(&mut self, child: u32, owner: u32) {
        if let Some(record) = self.records.get_mut(child as usize) {
            record.flags.set(Flags::CHILD);
        }
        self.owners.push((child, owner));
    }

    fn results(&mut self, glance: &Glance, kind: RecordKind, number: u32, span: Span) {
        for (ordinal, (key, is_error)) in (0..RESULTS_MAX).zip(&glance.content.results) {
            let is_own = ordinal == 0 && kind == RecordKind::Result;
            let place =
                if is_own { number } else { self.push(further_result(glance, span, ordinal), 0) };
            if let Some(record) = self.records.get_mut(place as usize).filter(|_| *is_error) {
                record.flags.set(Flags::FAILED);
            }
            self.pair(*key, place);
        }
    }

    fn pair(&mut self, key: u64, place: u32) {
        match self.pairing.result(key, place) {
            Owner::First(owner) => self.adopt(place, owner),
            Owner::Replaces(owner, replaced) => {
                if let Some(earlier) = self.records.get_mut(replaced as usize) {
                    earlier.flags.set(Flags::REPLACED);
                }
                self.adopt(place, owner);
            }
            Owner::Unknown => {}
        }
    }
}

impl Sink for Scan {
    fn format(&self) -> Format {
        self.format
    }

    fn is_full(&self) -> bool {
        self.records.len() >= RECORDS_MAX
    }

    fn record(&mut self, glance: &mut Glance, span: Span) -> u32 {
        let (known, odd) = self.logged(glance, span);
        if let Some(odd) = odd {
            Self::warn(self, known.unwrap_or(self.records.len() as u32), odd);
        }
        if let Some(number) = known {
            return number;
        }
        let kind = self.kind(glance);
        let number = self.push(first_record(glance, kind, span), span.gap);
        self.link(glance, kind, number);
        if kind == RecordKind::Sidechain {
            return number;
        }
        let owner = self.owner(glance, kind, number);
        if let Some(log) = &mut self.log {
            log.began(glance, number);
        }
        for call in &glance.content.calls {
            self.pairing.call(*call, owner);
        }
        self.results(glance, kind, number, span);
        if let Some(title) = glance.title.take() {
            note_title(&mut self.titles, title);
        }
        number
    }

    fn damaged(&mut self, span: Span, reason: &str) {
        let number = self.push(Record::new(RecordKind::Damaged, span.offset, span.len), span.gap);
        if let Some(log) = &mut self.log {
            log.damaged();
        }
        self.warn(number, damage(reason));
    }

    /// All of it is one record.
    fn surplus(&mut self, offset: u64, len: u64, gap: &mut u64) {
        match self.records.last_mut() {
            Some(last) if last.kind == RecordKind::Damaged && self.surplus => {
                last.len = last.len.saturating_add(u32::try_from(len).unwrap_or(u32::MAX));
            }
            _ => {
                self.surplus = true;
                let span = Span { offset, len, gap: std::mem::take(gap) };
                self.damaged(span, "and all behind it are too many to show");
            }
        }
    }

    fn warn(&mut self, number: u32, message: String) {
        Self::warn(self, number, message);
    }

    fn warn_newest(&mut self, message: String) {
        let number = self.records.len().saturating_sub(1) as u32;
        Self::warn(self, number, message);
    }
}

/// What is said about a record that could not be understood.
pub(super) fn damage(reason: &str) -> String {
    format!("record {reason}; it is shown as found")
}

/// Keeps a title; of very many the newest.
pub(super) fn note_title(titles: &mut Vec<Title>, mut title: Title) {
    if titles.len() == TITLES_MAX {
        titles.remove(0);
    }
    if let Some((end, _)) = title.text.char_indices().nth(TITLE_CHARS_MAX) {
        title.text.truncate(end);
    }
    titles.push(title);
}

/// The record of a glance, as it is before any other comes.
pub(super) fn first_record(glance: &Glance, kind: RecordKind, span: Span) -> Record {
    let mut record = Record::new(kind, span.offset, span.len);
    record.time_secs = super::time::secs(glance.time_ms);
    record.extra = match kind {
        RecordKind::User | RecordKind::Assistant => marks(glance, kind).0,
        RecordKind::Housekeeping => glance.housekeeping,
        _ => 0,
    };
    record.lines = match kind {
        RecordKind::User | RecordKind::Assistant | RecordKind::Custom => {
            u16::try_from(glance.content.lines).unwrap_or(u16::MAX)
        }
        _ => 3,
    };
    record.set_traces(glance.content.traces);
    if glance.failed || glance.call_failed {
        record.flags.set(Flags::FAILED);
    }
    record
}

/// A result inside a record, beside the record itself.
pub(super) fn further_result(glance: &Glance, span: Span, ordinal: u16) -> Record {
    let offset = span.offset + u64::from(ordinal) + 1;
    let mut record = Record::new(RecordKind::Result, offset, span.len);
    record.flags.set(Flags::FURTHER);
    record.extra = ordinal;
    record.time_secs = super::time::secs(glance.time_ms);
    record
}

/// An error is something else to see, so the message leads and follows no group.
fn marks(glance: &Glance, kind: RecordKind) -> Marks {
    let mut marks = glance.content.marks;
    if glance.failed || kind == RecordKind::User {
        marks.other();
    }
    marks
}
