//! The rows of an index: which records make one, in which order, and their groups.

use rustc_hash::FxHashMap;

use crate::model::{GroupPlace, GroupTraits, Grouping, List};

use super::{
    Format,
    record::{Flags, NONE, Record, RecordKind},
};

/// The rows in order, by the number of their first record.
#[derive(Clone, Debug, Default)]
pub(super) struct Rows {
    pub(super) rows: List<u32>,
    /// Record numbers rise with the rows, but for housekeeping rows that stand behind
    /// the calls they would interrupt.
    pub(super) rising: bool,
}

/// Records that can be read and changed by their number.
pub(super) trait Records {
    fn at(&self, number: u32) -> Option<Record>;
    fn at_mut(&mut self, number: u32) -> Option<&mut Record>;
}

impl Records for Vec<Record> {
    fn at(&self, number: u32) -> Option<Record> {
        self.get(number as usize).copied()
    }

    fn at_mut(&mut self, number: u32) -> Option<&mut Record> {
        self.get_mut(number as usize)
    }
}

impl Records for List<Record> {
    fn at(&self, number: u32) -> Option<Record> {
        self.get(number as usize).copied()
    }

    fn at_mut(&mut self, number: u32) -> Option<&mut Record> {
        self.get_mut(number as usize)
    }
}

/// Builds the rows and writes chains and groups into the records. Gives the builder too,
/// which can go on from there.
pub(super) fn build(records: &mut Vec<Record>, format: Format) -> (Rows, Builder) {
    let order = path_order(records, format);
    let rising = order.is_none();
    let mut builder = Builder::default();
    let mut rows = Vec::new();
    match order {
        None => {
            (0..records.len() as u32).for_each(|number| builder.take(records, &mut rows, number));
        }
        Some(order) => {
            order.into_iter().for_each(|number| builder.take(records, &mut rows, number));
        }
    }
    rows.extend(builder.held_back());
    let mut grouping = Grouping::default();
    for number in &rows {
        group(records, *number, &mut grouping);
    }
    (Rows { rows: rows.into(), rising }, builder)
}

/// Gives a row its place in a group.
pub(super) fn group(records: &mut impl Records, number: u32, grouping: &mut Grouping) {
    let Some(record) = records.at(number) else { return };
    let place = grouping.place(traits(&record));
    if place != record.group()
        && let Some(record) = records.at_mut(number)
    {
        record.set_group(place);
    }
}

/// The state of a grouping behind a row.
pub(super) fn grouping_after(row: Option<&Record>) -> Grouping {
    Grouping::after(row.map_or(GroupPlace::Alone, Record::group))
}

/// A run of housekeeping records that has no row yet.
#[derive(Clone, Copy, Debug)]
struct Run {
    head: u32,
    tail: u32,
    len: usize,
}

/// A run that has so many records stands where it is, unless it would split a group.
const RUN_HELD_MAX: usize = 200;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Newest {
    /// The model's words, with a low-stakes call at their end.
    EndsLow,
    /// The model's words.
    Reply,
    #[default]
    Other,
}

/// What decides which row comes next.
#[derive(Debug, Default)]
pub(super) struct Builder {
    open: Option<Run>,
    /// The newest row, housekeeping aside, and what it is.
    newest: (Option<u32>, Newest),
    sidechains: Sidechains,
}

impl Builder {
    /// Takes the next record, and appends the rows that are certain now.
    pub(super) fn take(&mut self, records: &mut impl Records, rows: &mut Vec<u32>, number: u32) {
        let Some(record) = records.at(number) else { return };
        if record.has(Flags::HIDDEN) || record.has(Flags::CHILD) {
            return;
        }
        match record.kind {
            RecordKind::Header | RecordKind::Silent => {}
            RecordKind::Housekeeping => self.housekeep(records, number),
            RecordKind::Sidechain => {
                if self.sidechains.join(records, number) == number {
                    self.push(records, rows, number);
                }
            }
            _ if record.has(Flags::SUPERSEDED) && !has_live_lines(records, record) => {}
            _ => self.push(records, rows, number),
        }
    }

    /// The row of a run of housekeeping that was not placed yet: it stands last until it is.
    pub(super) fn held_back(&self) -> Option<u32> {
        self.open.map(|run| run.head)
    }

    /// The first record of the chain of a sub-agent that a record belongs to.
    pub(super) fn sidechain_of(&self, number: u32) -> Option<u32> {
        self.sidechains.heads.get(&number).copied()
    }

    /// Looks again at the newest row, whose message has grown.
    pub(super) fn look_again(&mut self, records: &impl Records, number: u32) {
        if self.newest.0 == Some(number)
            && let Some(record) = records.at(number)
        {
            self.newest.1 = newest(&record);
        }
    }

    fn housekeep(&mut self, records: &mut impl Records, number: u32) {
        if let Some(record) = records.at_mut(number) {
            record.next = NONE;
        }
        match &mut self.open {
            None => self.open = Some(Run { head: number, tail: number, len: 1 }),
            Some(run) => {
                if let Some(tail) = records.at_mut(run.tail) {
                    tail.next = number;
                }
                run.tail = number;
                run.len += 1;
            }
        }
    }

    fn push(&mut self, records: &impl Records, rows: &mut Vec<u32>, number: u32) {
        let Some(record) = records.at(number) else { return };
        let is_reply = record.kind == RecordKind::Assistant;
        let is_short = self.open.is_some_and(|run| run.len < RUN_HELD_MAX);
        // What is said in one go stays together; the housekeeping comes behind it.
        let goes_on = match self.newest.1 {
            Newest::EndsLow => traits(&record).only_low || is_reply && is_short,
            Newest::Reply => is_reply && is_short,
            Newest::Other => false,
        };
        if !goes_on {
            rows.extend(self.open.take().map(|run| run.head));
        }
        self.newest = (Some(number), newest(&record));
        rows.push(number);
    }
}

fn newest(record: &Record) -> Newest {
    match (record.kind == RecordKind::Assistant, traits(record).ends_low) {
        (_, true) => Newest::EndsLow,
        (true, false) => Newest::Reply,
        (false, false) => Newest::Other,
    }
}

/// A superseded record still leads its row when other lines of the message count.
fn has_live_lines(records: &impl Records, record: Record) -> bool {
    let mut next = record.next;
    while let Some(child) = records.at(next) {
        if child.kind == RecordKind::Assistant && !child.has(Flags::SUPERSEDED) {
            return true;
        }
        next = child.next;
    }
    false
}

/// Only what the model says can be part of a group.
fn traits(record: &Record) -> GroupTraits {
    if record.kind == RecordKind::Assistant {
        record.marks().traits()
    } else {
        GroupTraits::default()
    }
}

/// Chains the records of each sub-agent in the file.
#[derive(Debug, Default)]
struct Sidechains {
    /// The first record of the chain of each record.
    heads: FxHashMap<u32, u32>,
    /// The last record of the chain of each first.
    tails: FxHashMap<u32, u32>,
}

impl Sidechains {
    /// Adds a record to the chain of its parent, and gives the chain's first record.
    fn join(&mut self, records: &mut impl Records, number: u32) -> u32 {
        let parent = records.at(number).map_or(NONE, |record| record.parent);
        let head = self.heads.get(&parent).copied().unwrap_or(number);
        let tail = self.tails.insert(head, number);
        if let Some(record) = tail.and_then(|tail| records.at_mut(tail)) {
            record.next = number;
        }
        if let Some(record) = records.at_mut(number) {
            record.next = NONE;
        }
        self.heads.insert(number, head);
        head
    }
}

/// File order, unless a parent that is shown stands behind its child: then the child
/// comes directly behind the parent.
fn path_order(records: &[Record], format: Format) -> Option<Vec<u32>> {
    let is_shown = |record: &Record| match format {
        Format::Pi | Format::Letterpress => !record.has(Flags::HIDDEN),
        Format::ClaudeCode => !record.has(Flags::HIDDEN) && record.kind != RecordKind::Sidechain,
    };
    let is_inverted = |(number, record): (usize, &Record)| {
        record.parent != NONE && record.parent as usize > number && is_shown(record)
    };
    if !records.iter().enumerate().any(is_inverted) {
        return None;
    }
    let keys = order_keys(records);
    let mut order: Vec<u32> = (0..records.len() as u32).collect();
    order.sort_by_key(|number| keys.get(*number as usize).copied().unwrap_or((*number, 0)));
    Some(order)
}

/// For each record the latest record on its way up, and its distance from that one.
fn order_keys(records: &[Record]) -> Vec<(u32, u32)> {
    const OPEN: (u32, u32) = (NONE, NONE);
    let mut keys = vec![OPEN; records.len()];
    let key = |keys: &[(u32, u32)], number: u32| keys.get(number as usize).copied();
    for start in 0..records.len() as u32 {
        let mut chain = Vec::new();
        let mut at = start;
        while key(&keys, at) == Some(OPEN) {
            chain.push(at);
            at = records.get(at as usize).map_or(NONE, |record| record.parent);
        }
        let mut above = key(&keys, at);
        for number in chain.into_iter().rev() {
            let own = match above {
                Some((latest, distance)) if latest > number => (latest, distance + 1),
                _ => (number, 0),
            };
            if let Some(slot) = keys.get_mut(number as usize) {
                *slot = own;
            }
            above = Some(own);
        }
    }
    keys
}
