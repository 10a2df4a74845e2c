//! Whether a further record continues the path that is shown.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::transcript::{
    Format, Index,
    assemble::Scope,
    glance::{Glance, Link},
    index::Tree,
    links::Known,
    record::{Flags, NONE, Record, RecordKind},
    rows::Records as _,
    select::{self, can_lead, is_message},
};

/// Steps up a chain of parents; longer ones are not followed.
const STEPS_MAX: usize = 65_536;

/// The end of the path, and which ids there are.
#[derive(Debug)]
pub(super) struct Path {
    known: Known,
    /// Ids that records name as their parents and that are not there.
    missing: FxHashSet<u64>,
    newer: FxHashMap<u64, u32>,
    /// The last record that has an id.
    last_linked: Option<u32>,
    /// The record that ends the path.
    leaf: Option<u32>,
    /// The lines of the message that ends it.
    leaf_lines: FxHashSet<u32>,
    /// See [`crate::transcript::select::Selection::tidy`].
    tidy: bool,
}

impl Path {
    pub(super) fn new(index: &Index, mut known: Known, tidy: bool) -> Self {
        let missing = known.settled();
        let numbers = || (0..index.records.len() as u32).rev();
        let find = |is: &dyn Fn(&Record) -> bool| {
            numbers().find(|number| index.records.at(*number).is_some_and(|record| is(&record)))
        };
        let leaf = find(&|record| can_lead(record, index.format));
        Self {
            known,
            missing,
            newer: FxHashMap::default(),
            last_linked: find(&|record| record.has(Flags::LINKED)),
            leaf,
            leaf_lines: leaf.map(|leaf| lines_of(index, leaf)).unwrap_or_default(),
            tidy,
        }
    }

    /// The record with an id.
    pub(super) fn find(&self, id: u64) -> Option<u32> {
        self.newer.get(&id).copied().or_else(|| self.known.find(id))
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let entry = size_of::<(u64, u32)>() + 1;
        self.known.heap_bytes() + self.newer.capacity() * entry
    }

    /// Hangs the newest record below its parent. False when that is not simply behind all
    /// others.
    pub(super) fn link(&mut self, index: &mut Index, glance: &Glance, number: u32) -> bool {
        let Some(mut record) = index.records.at(number) else { return false };
        let Some(id) = glance.id.filter(|_| record.kind != RecordKind::Header) else {
            return record.kind != RecordKind::Header;
        };
        if self.find(id).is_some() || self.missing.contains(&id) {
            return false;
        }
        let is_usual = self.hang(&mut record, glance.parent, id, index.format);
        record.flags.set(Flags::LINKED);
        if let Some(slot) = index.records.at_mut(number) {
            *slot = record;
        }
        self.newer.insert(id, number);
        let above = self.above(&record, index.scope);
        self.last_linked = Some(number);
        is_usual && (index.tree == Tree::Unlinked || self.continues(index, &record, above))
    }

    /// Moves the end of the path to the newest record, part of the row of `owner`.
    pub(super) fn go_to(&mut self, index: &Index, number: u32, owner: u32) {
        let Some(record) = index.records.at(number) else { return };
        if !can_lead(&record, index.format) {
            return;
        }
        self.leaf = Some(number);
        if owner == number {
            self.leaf_lines.clear();
        }
        self.leaf_lines.insert(number);
    }

    fn hang(&self, record: &mut Record, parent: Link, id: u64, format: Format) -> bool {
        let is_reply = matches!(record.kind, RecordKind::Assistant | RecordKind::Result);
        match parent {
            Link::Below(parent) if parent == id => return false,
            Link::Below(parent) if self.known.is_header(parent) => {}
            Link::Below(parent) => match self.find(parent) {
                Some(above) => record.parent = above,
                None => return false,
            },
            Link::Absent => record.flags.set(Flags::DETACHED),
            Link::Root if format != Format::ClaudeCode => {}
            Link::Root if !matches!(record.kind, RecordKind::User | RecordKind::Sidechain) => {
                record.flags.set(Flags::DETACHED);
                return !(is_reply && self.last_linked.is_some());
            }
            Link::Root => {}
        }
        true
    }

    fn above(&self, record: &Record, scope: Scope) -> Option<u32> {
        if record.parent != NONE {
            return Some(record.parent);
        }
        self.last_linked.filter(|_| record.has(Flags::DETACHED) && scope != Scope::Tail)
    }

    fn continues(&self, index: &Index, record: &Record, above: Option<u32>) -> bool {
        if index.format != Format::ClaudeCode {
            return above == self.leaf;
        }
        if !is_message(record, index.format) {
            let above = above.and_then(|above| index.records.at(above));
            return !above.is_some_and(|above| above.has(Flags::HIDDEN));
        }
        match above {
            None => self.leaf.is_none(),
            Some(above) => {
                self.tidy
                    && self
                        .message_at(index, above)
                        .is_some_and(|message| self.leaf_lines.contains(&message))
            }
        }
    }

    /// The nearest message at or above a record.
    fn message_at(&self, index: &Index, from: u32) -> Option<u32> {
        let mut at = from;
        for _ in 0..STEPS_MAX {
            let record = index.records.at(at)?;
            if is_message(&record, index.format) {
                return Some(at);
            }
            at = match record.parent {
                NONE if record.has(Flags::DETACHED) && index.scope != Scope::Tail => {
                    at.checked_sub(1)?
                }
                NONE => return None,
                parent => parent,
            };
            // Records without an id are passed over, as they have no place in the tree.
            while !index.records.at(at)?.has(Flags::LINKED) {
                at = at.checked_sub(1)?;
            }
        }
        None
    }
}

/// The lines of the message that a record belongs to.
fn lines_of(index: &Index, number: u32) -> FxHashSet<u32> {
    let records: Vec<Record> = index.records.iter().copied().collect();
    let heads = select::heads(&records);
    let head = heads.get(number as usize).copied().unwrap_or(number);
    let is_line = |(_, of): &(u32, &u32)| **of == head;
    (0..).zip(&heads).filter(is_line).map(|(line, _)| line).collect()
}
