//! What is known of a log while its records come in: their numbers, and the answer that is
//! being written.

use rustc_hash::FxHashSet;

use crate::transcript::{
    glance::{Glance, Logged, Piece},
    record::{Flags, Record, RecordKind},
    scan::Span,
    time,
};

/// Records among which one that was written twice is known again.
const RECENT: usize = 4096;
/// Calls of one answer that are told apart.
const CALLS_MAX: usize = 65_536;

/// What is known of a log while its records come in.
#[derive(Debug)]
pub(crate) struct Log {
    /// It was met from its start.
    is_whole: bool,
    last: Option<u64>,
    /// Damaged records since the last.
    damaged: u64,
    /// Numbers and sums, by the number modulo [`RECENT`].
    recent: Vec<(u64, u32)>,
    newer_told: bool,
    answer: Option<Answer>,
    /// The first record of an answer that was given up at the end.
    given_up: Option<u32>,
    latest_secs: u32,
    /// Line ends before records that became no record of the index.
    gap: u64,
}

/// The answer that was met last.
#[derive(Debug)]
struct Answer {
    /// Hash of its id.
    id: u64,
    /// Its first record.
    head: u32,
    /// The record that says all of it.
    end: Option<u32>,
    calls: FxHashSet<u64>,
}

/// What a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// One that was there before.
    Repeated,
    /// A further piece of the answer that begins with this record.
    Adds(u32),
    /// The whole of the answer that begins with the first record, in the place of the second.
    Ends(u32, Option<u32>),
    /// A record of its own; the answer that begins with this record will never end.
    Own(Option<u32>),
}

impl Log {
    pub(crate) fn new(is_whole: bool) -> Self {
        Self {
            is_whole,
            last: None,
            damaged: 0,
            recent: Vec::new(),
            newer_told: false,
            answer: None,
            given_up: None,
            latest_secs: 0,
            gap: 0,
        }
    }

    /// Meets the next record, and says what is odd about its place.
    pub(crate) fn meet(&mut self, glance: &mut Glance, gap: u64, odd: &mut Option<String>) -> Step {
        let Some(logged) = glance.logged.filter(|logged| logged.n != super::OUTSIDE) else {
            return Step::Own(None);
        };
        if self.is_repeated(logged) {
            self.gap += gap;
            return Step::Repeated;
        }
        *odd = self.number(logged.n).or_else(|| self.version(logged.version));
        self.latest_secs = self.latest_secs.max(time::secs(Some(logged.written_ms)));
        let step = self.step(glance, logged);
        if matches!(step, Step::Adds(_)) {
            self.gap += gap;
        }
        step
    }

    fn step(&mut self, glance: &mut Glance, logged: Logged) -> Step {
        let is_answer = glance.kind == Some(RecordKind::Assistant);
        if let (Some(id), Some(answer)) = (glance.message_id, &mut self.answer)
            && id == answer.id
        {
            match logged.piece {
                Piece::Adds => return Step::Adds(answer.head),
                Piece::Ends => return Step::Ends(answer.head, answer.end),
                Piece::Begins | Piece::Whole => {}
            }
        }
        if is_answer && !logged.is_first && !self.is_whole {
            // It began before the window, and comes back with the full index.
            glance.kind = Some(RecordKind::Silent);
            glance.message_id = None;
            glance.id = glance.id.filter(|_| logged.piece == Piece::Ends);
            return Step::Own(None);
        }
        let ends_answer = is_answer || glance.kind == Some(RecordKind::User);
        Step::Own(if ends_answer { self.give_up() } else { None })
    }

    /// Nothing more will come at all.
    pub(crate) fn end(&mut self) -> Option<u32> {
        self.given_up = self.give_up();
        self.given_up
    }

    /// The first record of an answer that ends the log without an end.
    pub(crate) fn unfinished(&self) -> Option<u32> {
        self.given_up
    }

    /// No more of the answer will come: its first record, unless it is whole.
    pub(crate) fn give_up(&mut self) -> Option<u32> {
        let answer = self.answer.take()?;
        answer.end.is_none().then_some(answer.head)
    }

    /// The first record of an answer that is not whole.
    pub(crate) fn open_head(&self) -> Option<u32> {
        self.answer.as_ref().filter(|answer| answer.end.is_none()).map(|answer| answer.head)
    }

    /// The record of its own got this number.
    pub(crate) fn began(&mut self, glance: &Glance, number: u32) {
        let (Some(id), Some(logged)) = (glance.message_id, glance.logged) else { return };
        let end = (logged.piece == Piece::Ends).then_some(number);
        self.answer = Some(Answer { id, head: number, end, calls: FxHashSet::default() });
    }

    /// The record that says all of the answer got this number.
    pub(crate) fn ended(&mut self, number: u32) {
        if let Some(answer) = &mut self.answer {
            answer.end = Some(number);
        }
    }

    /// Writes a piece of the answer into its first record.
    pub(crate) fn add(&mut self, head: &mut Record, glance: &Glance, span: Span) {
        let Some(answer) = self.answer.as_mut().filter(|answer| answer.end.is_none()) else {
            return;
        };
        let end = span.offset.saturating_add(span.len);
        head.len = u32::try_from(end.saturating_sub(head.offset)).unwrap_or(u32::MAX);
        let mut content = crate::transcript::glance::Content {
            marks: glance.content.marks,
            traces: glance.content.traces,
            lines: glance.content.lines,
            ..Default::default()
        };
        for (call, kind) in &glance.met {
            if answer.calls.len() < CALLS_MAX && answer.calls.insert(*call) {
                content.call_of(*kind);
            }
        }
        if !head.traces().thinks() && content.traces.thinks() {
            content.lines = content.lines.saturating_add(2);
        }
        let mut marks = head.marks();
        marks.append(content.marks);
        head.extra = marks.0;
        let mut traces = head.traces();
        traces.append(content.traces);
        head.set_traces(traces);
        head.lines = head.lines.saturating_add(u16::try_from(content.lines).unwrap_or(u16::MAX));
        if glance.call_failed {
            head.flags.set(Flags::FAILED);
        }
    }

    /// Counts a record that could not be understood.
    pub(crate) fn damaged(&mut self) {
        self.damaged += 1;
    }

    /// Line ends that belong before the next record of the index.
    pub(crate) fn take_gap(&mut self) -> u64 {
        std::mem::take(&mut self.gap)
    }

    pub(crate) fn latest_secs(&self) -> u32 {
        self.latest_secs
    }

    fn is_repeated(&mut self, logged: Logged) -> bool {
        if self.recent.is_empty() {
            self.recent = vec![(u64::MAX, 0); RECENT];
        }
        let place = (logged.n % RECENT as u64) as usize;
        let Some(slot) = self.recent.get_mut(place) else { return false };
        if *slot == (logged.n, logged.sum) {
            return true;
        }
        *slot = (logged.n, logged.sum);
        false
    }

    fn number(&mut self, n: u64) -> Option<String> {
        let damaged = std::mem::take(&mut self.damaged);
        let last = self.last.replace(n);
        match last {
            None if n > 0 && self.is_whole && n > damaged => Some(missing(n - damaged)),
            Some(last) if n <= last => {
                Some(format!("the record numbered {n} comes after the one numbered {last}"))
            }
            Some(last) => {
                let count = (n - last - 1).saturating_sub(damaged);
                (count > 0).then(|| missing(count))
            }
            None => None,
        }
    }

    fn version(&mut self, version: u64) -> Option<String> {
        let is_newer = version > crate::model::record::line::VERSION;
        let is_news = is_newer && !std::mem::replace(&mut self.newer_told, true);
        is_news.then(|| {
            "written by a newer version of this program; what is new in it is not shown".to_owned()
        })
    }
}

fn missing(count: u64) -> String {
    match count {
        1 => "1 record is missing before this one".to_owned(),
        count => format!("{count} records are missing before this one"),
    }
}

/// The time of a whole answer is that of its beginning, unless it says so itself.
pub(crate) fn set_time(head: &mut Record, glance: &Glance) {
    if glance.logged.is_some_and(|logged| logged.has_own_time) {
        head.time_secs = time::secs(glance.time_ms);
    }
}

/// Marks the first record of an answer that will never end.
pub(crate) fn interrupt(head: &mut Record) {
    head.flags.set(Flags::FAILED);
    let mut marks = head.marks();
    marks.other();
    head.extra = marks.0;
}
