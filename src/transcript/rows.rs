//! The rows of an index: which records make one, in which order, and their groups.

use crate::model::{GroupTraits, Grouping};

use super::{
    Format,
    record::{Flags, NONE, Record, RecordKind},
};

/// The rows in order, by the number of their first record.
#[derive(Debug, Default)]
pub(super) struct Rows {
    pub(super) rows: Vec<u32>,
    /// Record numbers rise with the rows, but for housekeeping rows that stand behind
    /// the calls they would interrupt.
    pub(super) rising: bool,
}

/// Builds the rows and writes chains and groups into the records.
pub(super) fn build(records: &mut Vec<Record>, format: Format) -> Rows {
    let order = path_order(records, format);
    let rising = order.is_none();
    let mut builder = Builder { records, rows: Vec::new(), open: None, newest: Newest::Other };
    let mut sidechains = Sidechains::default();
    match order {
        None => (0..builder.records.len() as u32)
            .for_each(|number| builder.take(number, &mut sidechains)),
        Some(order) => order.into_iter().for_each(|number| builder.take(number, &mut sidechains)),
    }
    builder.flush();
    let mut rows = builder.rows;
    rows.shrink_to_fit();
    group(records, &rows);
    Rows { rows, rising }
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

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Newest {
    /// The model's words, with a low-stakes call at their end.
    EndsLow,
    /// The model's words.
    Reply,
    Other,
}

struct Builder<'a> {
    records: &'a mut Vec<Record>,
    rows: Vec<u32>,
    open: Option<Run>,
    /// The newest row, housekeeping aside.
    newest: Newest,
}

impl Builder<'_> {
    fn take(&mut self, number: u32, sidechains: &mut Sidechains) {
        let Some(record) = self.records.get(number as usize).copied() else { return };
        if record.has(Flags::HIDDEN) || record.has(Flags::CHILD) {
            return;
        }
        match record.kind {
            RecordKind::Header => {}
            RecordKind::Housekeeping => self.housekeep(number),
            RecordKind::Sidechain => {
                if sidechains.join(self.records, number) {
                    self.push(number);
                }
            }
            _ if record.has(Flags::SUPERSEDED) && !self.has_live_lines(record) => {}
            _ => self.push(number),
        }
    }

    /// A superseded record still leads its row when other lines of the message count.
    fn has_live_lines(&self, record: Record) -> bool {
        let mut next = record.next;
        while let Some(child) = self.records.get(next as usize) {
            if child.kind == RecordKind::Assistant && !child.has(Flags::SUPERSEDED) {
                return true;
            }
            next = child.next;
        }
        false
    }

    fn housekeep(&mut self, number: u32) {
        if let Some(record) = self.records.get_mut(number as usize) {
            record.next = NONE;
        }
        match &mut self.open {
            None => self.open = Some(Run { head: number, tail: number, len: 1 }),
            Some(run) => {
                if let Some(tail) = self.records.get_mut(run.tail as usize) {
                    tail.next = number;
                }
                run.tail = number;
                run.len += 1;
            }
        }
    }

    fn push(&mut self, number: u32) {
        let Some(record) = self.records.get(number as usize).copied() else { return };
        let traits = traits(&record);
        let is_reply = record.kind == RecordKind::Assistant;
        let is_short = self.open.is_some_and(|run| run.len < RUN_HELD_MAX);
        // What is said in one go stays together; the housekeeping comes behind it.
        let goes_on = match self.newest {
            Newest::EndsLow => traits.only_low || is_reply && is_short,
            Newest::Reply => is_reply && is_short,
            Newest::Other => false,
        };
        if !goes_on {
            self.flush();
        }
        self.newest = match (is_reply, traits.ends_low) {
            (_, true) => Newest::EndsLow,
            (true, false) => Newest::Reply,
            (false, false) => Newest::Other,
        };
        self.rows.push(number);
    }

    fn flush(&mut self) {
        if let Some(run) = self.open.take() {
            self.rows.push(run.head);
        }
    }
}

fn group(records: &mut [Record], rows: &[u32]) {
    let mut grouping = Grouping::default();
    for number in rows {
        if let Some(record) = records.get_mut(*number as usize) {
            record.set_group(grouping.place(traits(record)));
        }
    }
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
    /// The first record of each record's chain, and the last of the chain of each first.
    ends: Vec<(u32, u32)>,
}

impl Sidechains {
    /// Adds a record to the chain of its parent. True when it begins a chain.
    fn join(&mut self, records: &mut [Record], number: u32) -> bool {
        if self.ends.is_empty() {
            self.ends = vec![(NONE, NONE); records.len()];
        }
        let parent = records.get(number as usize).map_or(NONE, |record| record.parent);
        let above = self.ends.get(parent as usize).map_or(NONE, |(head, _)| *head);
        let head = if above == NONE { number } else { above };
        let tail = self.ends.get(head as usize).map_or(NONE, |(_, tail)| *tail);
        if let Some(record) = records.get_mut(tail as usize) {
            record.next = number;
        }
        if let Some(record) = records.get_mut(number as usize) {
            record.next = NONE;
        }
        if let Some(own) = self.ends.get_mut(number as usize) {
            own.0 = head;
        }
        if let Some(first) = self.ends.get_mut(head as usize) {
            first.1 = number;
        }
        head == number
    }
}

/// File order, unless a parent that is shown stands behind its child: then the child
/// comes directly behind the parent.
fn path_order(records: &[Record], format: Format) -> Option<Vec<u32>> {
    let is_shown = |record: &Record| match format {
        Format::Pi => !record.has(Flags::HIDDEN),
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
