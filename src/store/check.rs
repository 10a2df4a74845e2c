//! What a log says about itself when it is read from end to end.

use std::{io, sync::Arc};

use rustc_hash::FxHashMap;

use super::{
    disk::DiskFile,
    scan::{Lines, Piece, Place},
};
use crate::model::record::{
    Kind,
    line::{Line, VERSION},
};

/// More than this many oddities are only counted.
const ODDITIES_MAX: usize = 256;

/// What a log says about itself when it is read from end to end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Check {
    /// How many records there are, repeats left out.
    pub records: u64,
    /// The highest number of a record.
    pub highest: Option<u64>,
    /// What is not as it should be, in the order of the file.
    pub oddities: Vec<Oddity>,
    /// How many further oddities there are.
    pub more: u64,
    /// Was the end written by a later version of the program?
    pub is_newer: bool,
    /// Does a reply have no end?
    pub is_interrupted: bool,
    /// Behind the last record and the end of its line.
    pub end: u64,
    /// Has the last record no end of a line?
    pub is_unended: bool,
}

/// Something in a log that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Oddity {
    /// No record, or not as it was written.
    Damaged(Damaged),
    /// Numbers are missing, or not in order.
    Gap {
        /// The record behind it.
        offset: u64,
        /// Its number.
        n: u64,
        /// The number that was to come.
        wanted: u64,
    },
    /// A number that was there before.
    Repeat {
        /// The record.
        offset: u64,
        /// Its number.
        n: u64,
        /// Is it the same record? Then it is passed over.
        is_same: bool,
    },
}

/// A part of a log that is no record, or not as it was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged {
    /// Its first byte in the file.
    pub offset: u64,
    /// Its bytes.
    pub len: u64,
    /// Why, in a few words that follow "it".
    pub why: Arc<str>,
}

impl Check {
    /// Reads a part of a log that begins with a line.
    pub(super) fn of(file: &dyn DiskFile, start: u64, end: u64) -> io::Result<Self> {
        let mut check = Self { end: start, ..Self::default() };
        let mut sequence = Sequence::starting(start);
        Lines::new(start, end).visit(file, &mut |place, piece| match piece {
            Piece::Record(record) => check.record(place, &record, &mut sequence),
            Piece::Damaged(why) => {
                let why = why.into();
                check.note(Oddity::Damaged(Damaged { offset: place.offset, len: place.len, why }));
            }
        })?;
        Ok(check)
    }

    fn record(&mut self, place: Place, record: &Line<'_>, sequence: &mut Sequence) {
        self.is_newer = record.version > VERSION;
        self.end = place.end;
        self.is_unended = !place.is_ended;
        self.highest = self.highest.max(Some(record.n));
        let (offset, n) = (place.offset, record.n);
        match sequence.follow(n, record.sum) {
            Step::Next => {}
            Step::Gap { wanted } => self.note(Oddity::Gap { offset, n, wanted }),
            Step::Repeat { is_same } => {
                self.note(Oddity::Repeat { offset, n, is_same });
                if is_same {
                    return;
                }
            }
        }
        self.records += 1;
        match record.kind {
            Kind::AssistantStart
            | Kind::Partial
            | Kind::ToolCall
            | Kind::Approval
            | Kind::ToolResult => self.is_interrupted = true,
            Kind::AssistantFinal | Kind::User | Kind::Edit | Kind::Error | Kind::Branch => {
                self.is_interrupted = false;
            }
            Kind::Meta | Kind::Usage | Kind::Other => {}
        }
    }

    fn note(&mut self, oddity: Oddity) {
        match self.oddities.len() < ODDITIES_MAX {
            true => self.oddities.push(oddity),
            false => self.more += 1,
        }
    }
}

/// The numbers that have been seen.
#[derive(Debug, Default)]
pub(super) struct Sequence {
    /// What comes next; none before the first when any may come.
    wanted: Option<u64>,
    /// One more than the sum under each number; 0 for a number that was not seen.
    low: Vec<u64>,
    /// Those of numbers that are far ahead of the count of records.
    far: FxHashMap<u64, u32>,
    count: u64,
}

/// How a number follows those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    Next,
    Gap { wanted: u64 },
    Repeat { is_same: bool },
}

impl Sequence {
    /// Before a record at this place: at the beginning of a log the first has the number 0.
    pub(super) fn starting(offset: u64) -> Self {
        Self { wanted: (offset == 0).then_some(0), ..Self::default() }
    }

    pub(super) fn follow(&mut self, n: u64, crc: u32) -> Step {
        if let Some(before) = self.seen(n) {
            return Step::Repeat { is_same: before == crc };
        }
        self.keep(n, crc);
        let wanted = self.wanted.unwrap_or(n);
        self.wanted = Some(wanted.max(n + 1));
        if n == wanted { Step::Next } else { Step::Gap { wanted } }
    }

    fn seen(&self, n: u64) -> Option<u32> {
        let low = usize::try_from(n).ok().and_then(|n| self.low.get(n));
        match low.copied().and_then(|kept| kept.checked_sub(1)) {
            Some(crc) => u32::try_from(crc).ok(),
            None => self.far.get(&n).copied(),
        }
    }

    fn keep(&mut self, n: u64, crc: u32) {
        self.count += 1;
        match usize::try_from(n) {
            Ok(at) if n < 2 * self.count + 1024 => {
                if self.low.len() <= at {
                    self.low.resize(at + 1, 0);
                }
                if let Some(kept) = self.low.get_mut(at) {
                    *kept = u64::from(crc) + 1;
                }
            }
            Ok(_) | Err(_) => {
                self.far.insert(n, crc);
            }
        }
    }
}
