//! The tree that ids and parent ids make, without keeping the ids.

use rustc_hash::FxHashSet;

use super::record::{Flags, NONE, Record};

const RECENT: usize = 64;

/// Ids and parents while records come in. Nearly every parent stands just before its
/// child, so only the others are looked up at the end.
#[derive(Debug, Default)]
pub(super) struct Links {
    ids: Vec<(u64, u32)>,
    /// Record and parent id, where the parent is not among the records just before.
    open: Vec<(u32, u64)>,
    header: Option<u64>,
}

/// What was wrong with the links of a file.
#[derive(Debug, Default)]
pub(super) struct Flaws {
    /// Records that name a parent that is not there, or themselves.
    pub(super) missing: Vec<u32>,
    /// Records whose id a later record has too.
    pub(super) repeated: Vec<u32>,
    /// Records whose parents lead back to them.
    pub(super) circular: Vec<u32>,
}

impl Links {
    pub(super) fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Notes the id of the session itself, which stands for "nothing above".
    pub(super) fn header(&mut self, id: Option<u64>) {
        self.header = id;
    }

    pub(super) fn add(&mut self, id: u64, number: u32) {
        self.ids.push((id, number));
    }

    /// Hangs a record below the record with the id `parent`.
    pub(super) fn below(&mut self, record: &mut Record, number: u32, id: u64, parent: u64) {
        if id == parent {
            return record.flags.set(Flags::DETACHED);
        }
        if self.header == Some(parent) {
            return;
        }
        match self.ids.iter().rev().take(RECENT).find(|(id, _)| *id == parent) {
            Some((_, above)) => record.parent = *above,
            None => self.open.push((number, parent)),
        }
    }

    /// True when a record has this id.
    pub(super) fn into_known(mut self) -> Known {
        self.ids.sort_unstable();
        Known { ids: self.ids, open: self.open, header: self.header }
    }
}

/// All ids of a file, sorted.
#[derive(Debug)]
pub(super) struct Known {
    ids: Vec<(u64, u32)>,
    open: Vec<(u32, u64)>,
    header: Option<u64>,
}

impl Known {
    /// True for the id of the session itself.
    pub(super) fn is_header(&self, id: u64) -> bool {
        self.header == Some(id)
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.ids.capacity() * size_of::<(u64, u32)>()
    }

    /// Lets go of what only [`Known::settle`] needs, and gives the ids that were looked for
    /// in vain.
    pub(super) fn settled(&mut self) -> FxHashSet<u64> {
        let open = std::mem::take(&mut self.open);
        self.ids.shrink_to_fit();
        open.into_iter().map(|(_, parent)| parent).filter(|id| self.find(*id).is_none()).collect()
    }

    /// The last record with an id.
    pub(super) fn find(&self, id: u64) -> Option<u32> {
        let end = self.ids.partition_point(|(known, _)| *known <= id);
        let (known, number) = self.ids.get(end.checked_sub(1)?)?;
        (*known == id).then_some(*number)
    }

    /// Writes the links into the records: afterwards every chain of parents ends.
    pub(super) fn settle(&self, records: &mut [Record]) -> Flaws {
        let mut flaws = Flaws::default();
        for (number, parent) in &self.open {
            let above = self.find(*parent).filter(|above| above != number);
            let Some(record) = records.get_mut(*number as usize) else { continue };
            record.parent = above.unwrap_or(NONE);
            if above.is_none() {
                record.flags.set(Flags::DETACHED);
                flaws.missing.push(*number);
            }
        }
        self.repeated(records, &mut flaws);
        break_cycles(records, &mut flaws);
        flaws
    }

    /// Of records with one id the last counts.
    fn repeated(&self, records: &mut [Record], flaws: &mut Flaws) {
        let mut earlier_to_last = std::collections::HashMap::new();
        for run in self.ids.chunk_by(|a, b| a.0 == b.0).filter(|run| run.len() > 1) {
            let Some(((_, last), earlier)) = run.split_last() else { continue };
            for (_, number) in earlier {
                earlier_to_last.insert(*number, *last);
                flaws.repeated.push(*number);
            }
        }
        if earlier_to_last.is_empty() {
            return;
        }
        flaws.repeated.sort_unstable();
        for (number, record) in records.iter_mut().enumerate() {
            if earlier_to_last.contains_key(&(number as u32)) {
                record.flags.set(Flags::SUPERSEDED);
            }
            if let Some(last) = earlier_to_last.get(&record.parent) {
                record.parent = *last;
            }
        }
    }
}

/// Cuts each circle of parents at the record that stands first in the file.
fn break_cycles(records: &mut [Record], flaws: &mut Flaws) {
    let leads_forward = |(number, record): (usize, &Record)| {
        record.parent != NONE && record.parent as usize >= number
    };
    if !records.iter().enumerate().any(leads_forward) {
        return;
    }
    // The walk that visited a record, by the number of the record it began at plus one.
    let mut visited_by = vec![0_u32; records.len()];
    for start in 0..records.len() {
        let walk = start as u32 + 1;
        let mut at = start;
        while let (Some(record), Some(mark)) = (records.get(at), visited_by.get_mut(at)) {
            if *mark == walk {
                cut_cycle(records, at, flaws);
                break;
            }
            if *mark != 0 {
                break;
            }
            *mark = walk;
            at = record.parent as usize;
        }
    }
}

fn cut_cycle(records: &mut [Record], inside: usize, flaws: &mut Flaws) {
    let mut first = inside;
    let mut at = records.get(inside).map_or(inside, |record| record.parent as usize);
    while at != inside {
        first = first.min(at);
        at = records.get(at).map_or(inside, |record| record.parent as usize);
    }
    if let Some(record) = records.get_mut(first) {
        record.parent = NONE;
        record.flags.set(Flags::DETACHED);
        flaws.circular.push(first as u32);
    }
}
