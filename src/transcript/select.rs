//! Which records are shown: the path of a leaf, and what else is no other branch.

use super::{
    Format,
    record::{Flags, NONE, Record, RecordKind},
};

/// More branches than this are counted, not listed.
pub(super) const BRANCHES_MAX: usize = 1000;

/// What was chosen.
#[derive(Debug)]
pub(super) struct Selection {
    /// The last record of each other path, and the rows that only it has.
    pub(super) branches: Vec<(u32, u32)>,
    pub(super) branches_left_out: usize,
    /// Every message is on the path or hidden, so that a further message on the path
    /// changes what is shown of no other.
    pub(super) tidy: bool,
}

impl Default for Selection {
    fn default() -> Self {
        Self { branches: Vec::new(), branches_left_out: 0, tidy: true }
    }
}

/// Where the records begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reach {
    /// At the start of the file: a parent that is missing is missing.
    Whole,
    /// Inside it: a parent that is missing stands before.
    Tail,
}

/// Marks every record that is not shown when the path of `leaf`, or of the newest leaf,
/// is chosen.
pub(super) fn select(
    records: &mut [Record],
    format: Format,
    leaf: Option<u32>,
    reach: Reach,
) -> Selection {
    for record in records.iter_mut() {
        record.flags.clear(Flags::HIDDEN);
        set_forks(record, false);
    }
    let mut tree = Tree::new(records, format, reach);
    let newest = (0..records.len() as u32).rev().find(|number| tree.can_lead(*number));
    let Some(leaf) = leaf.or(newest) else { return Selection::default() };
    tree.walk_path(leaf);
    if tree.is_all_on_path() {
        return Selection::default();
    }
    tree.settle_all();
    let (branches, branches_left_out) = tree.branches();
    let forks = tree.forks();
    let tidy = !(0..tree.records.len() as u32)
        .any(|number| tree.fate_of(number) == SHOWN && tree.is_message(number));
    let hidden = std::mem::take(&mut tree.fate);
    for (record, fate) in records.iter_mut().zip(hidden) {
        if fate == HIDDEN {
            record.flags.set(Flags::HIDDEN);
        }
    }
    if format == Format::Letterpress {
        hide_beside(records);
    }
    mark_forks(records, &forks);
    Selection { branches, branches_left_out, tidy }
}

/// What has no place in the tree stands with the record before it.
fn hide_beside(records: &mut [Record]) {
    let mut is_hidden = false;
    for record in records {
        if record.has(Flags::LINKED) {
            is_hidden = record.has(Flags::HIDDEN);
        } else if is_hidden {
            record.flags.set(Flags::HIDDEN);
        }
    }
}

fn set_forks(record: &mut Record, forks: bool) {
    let mut traces = record.traces();
    traces.set_forks(forks);
    record.set_traces(traces);
}

/// Marks the records behind which a hidden branch begins, and the first of each row that
/// one of them belongs to.
fn mark_forks(records: &mut [Record], forks: &[u32]) {
    for number in forks {
        if let Some(record) = records.get_mut(*number as usize) {
            set_forks(record, true);
        }
    }
    for number in 0..records.len() {
        let Some(head) = records.get(number).filter(|head| !head.has(Flags::CHILD)) else {
            continue;
        };
        let mut next = head.next;
        while let Some(record) = records.get(next as usize) {
            next = record.next;
            if record.traces().forks() {
                records.get_mut(number).into_iter().for_each(|head| set_forks(head, true));
                break;
            }
        }
    }
}

/// Not decided yet.
const OPEN: u32 = NONE;
/// On another branch.
const HIDDEN: u32 = NONE - 1;
/// Off the path, but shown in file order.
const SHOWN: u32 = NONE - 2;
/// Being decided.
const BUSY: u32 = NONE - 3;
/// On the path or beside it, with no message above.
const ROOT: u32 = NONE - 4;

struct Tree<'a> {
    records: &'a [Record],
    format: Format,
    reach: Reach,
    /// The first record of each record's message.
    head: Vec<u32>,
    /// One of the marks above, or: the nearest message on the path at or above the record.
    fate: Vec<u32>,
    /// For a message on the path, by its head: what follows it on the path.
    followed_by: Vec<Option<RecordKind>>,
    first_on_path: Option<RecordKind>,
    /// For a hidden record: the nearest hidden message at or above it.
    above: Vec<u32>,
    /// For a hidden message: rows from where its branch begins.
    rows: Vec<u32>,
}

impl<'a> Tree<'a> {
    fn new(records: &'a [Record], format: Format, reach: Reach) -> Self {
        Self {
            records,
            format,
            reach,
            head: heads(records),
            fate: vec![OPEN; records.len()],
            followed_by: vec![None; records.len()],
            first_on_path: None,
            above: Vec::new(),
            rows: Vec::new(),
        }
    }

    fn record(&self, number: u32) -> Option<&'a Record> {
        self.records.get(number as usize)
    }

    /// True for records that make a conversation. The others (settings, progress, notices,
    /// Claude Code's results) hang beside it and share the fate of the message above.
    fn is_message(&self, number: u32) -> bool {
        self.record(number).is_some_and(|record| is_message(record, self.format))
    }

    /// True for records that may end the path that is shown. pi goes on from its last
    /// entry, whatever it is, and so do logs of this program.
    fn can_lead(&self, number: u32) -> bool {
        self.record(number).is_some_and(|record| can_lead(record, self.format))
    }

    fn head_of(&self, number: u32) -> u32 {
        self.head.get(number as usize).copied().unwrap_or(number)
    }

    fn fate_of(&self, number: u32) -> u32 {
        self.fate.get(number as usize).copied().unwrap_or(SHOWN)
    }

    fn set_fate(&mut self, number: u32, fate: u32) {
        if let Some(slot) = self.fate.get_mut(number as usize) {
            *slot = fate;
        }
    }

    /// The record above, in file order where the one that is named is missing.
    fn parent(&self, number: u32) -> Option<u32> {
        let record = self.record(number)?;
        if record.parent != NONE {
            return Some(record.parent);
        }
        if !record.has(Flags::DETACHED) || self.reach == Reach::Tail {
            return None;
        }
        (0..number).rev().find(|before| {
            // Superseded records count here: passing over them could take long.
            self.record(*before).is_some_and(|record| record.has(Flags::LINKED))
        })
    }

    fn walk_path(&mut self, leaf: u32) {
        let mut path = Vec::new();
        let mut at = Some(leaf);
        while let Some(number) = at.filter(|number| self.fate_of(*number) == OPEN) {
            self.set_fate(number, BUSY);
            path.push(number);
            at = self.parent(number);
        }
        let mut message = ROOT;
        for number in path.into_iter().rev() {
            if self.is_message(number) {
                let head = self.head_of(number);
                let kind = self.record(number).map(|record| record.kind);
                if head != message {
                    match self.followed_by.get_mut(message as usize) {
                        Some(slot) => *slot = kind,
                        None => self.first_on_path = kind,
                    }
                }
                message = head;
                self.set_fate(head, head);
            }
            self.set_fate(number, message);
        }
    }

    fn is_all_on_path(&self) -> bool {
        let is_off = |(record, fate): (&Record, &u32)| record.has(Flags::LINKED) && *fate == OPEN;
        !self.records.iter().zip(&self.fate).any(is_off)
    }

    fn settle_all(&mut self) {
        self.above = vec![NONE; self.records.len()];
        self.rows = vec![0; self.records.len()];
        for number in 0..self.records.len() as u32 {
            if self.record(number).is_some_and(|record| record.has(Flags::LINKED)) {
                self.settle(number);
            }
        }
    }

    /// Decides a record and all above it that are not decided.
    fn settle(&mut self, number: u32) {
        let mut chain = Vec::new();
        let mut at = Some(number);
        while let Some(open) = at.filter(|open| self.fate_of(*open) == OPEN) {
            self.set_fate(open, BUSY);
            chain.push(open);
            at = self.parent(open);
        }
        let root = chain.last().copied().filter(|_| at.is_none());
        let mut fate = match (at.map(|above| self.fate_of(above)), root) {
            (Some(BUSY), _) => SHOWN,
            (Some(fate), _) => fate,
            (None, Some(root)) if self.record(root).is_some_and(|r| r.has(Flags::DETACHED)) => {
                if self.reach == Reach::Tail {
                    HIDDEN
                } else {
                    SHOWN
                }
            }
            (None, _) => ROOT,
        };
        let mut above =
            at.filter(|_| fate == HIDDEN).and_then(|at| self.above.get(at as usize).copied());
        for number in chain.into_iter().rev() {
            fate = self.fate_below(number, fate);
            self.set_fate(number, fate);
            if fate == HIDDEN {
                above = Some(self.note_hidden(number, above.unwrap_or(NONE)));
            }
        }
    }

    /// What becomes of a record below one with this fate.
    fn fate_below(&self, number: u32, fate: u32) -> u32 {
        if matches!(fate, HIDDEN | SHOWN) || !self.is_message(number) {
            return fate;
        }
        let head = self.head_of(number);
        // A line of a message that is on the path by another of its lines.
        if head != number && !matches!(self.fate_of(head), OPEN | BUSY) {
            return self.fate_of(head);
        }
        let sibling = match self.followed_by.get(fate as usize) {
            Some(kind) => *kind,
            None => self.first_on_path,
        };
        let kind = self.record(number).map(|record| record.kind);
        match self.format {
            Format::Pi | Format::Letterpress => HIDDEN,
            Format::ClaudeCode if sibling == kind => HIDDEN,
            Format::ClaudeCode => SHOWN,
        }
    }

    /// Counts a hidden record and gives the hidden message at or above it.
    fn note_hidden(&mut self, number: u32, above: u32) -> u32 {
        let own = self.record(number).map_or(0, |record| u32::from(is_row(record)));
        let mut nearest = above;
        if self.is_message(number) {
            nearest = self.head_of(number);
        }
        let below = self.rows.get(above as usize).copied().unwrap_or(0);
        if let Some(rows) = self.rows.get_mut(nearest as usize) {
            // A further line of a message that was counted adds no row.
            match (nearest == number, nearest == above) {
                (true, _) => *rows = below + own,
                (false, true) if !is_further_line(self.records, number) => *rows += own,
                (false, _) => {}
            }
        }
        if let Some(slot) = self.above.get_mut(number as usize) {
            *slot = nearest;
        }
        nearest
    }

    /// The messages on the path that a hidden message answers. A branch that begins with
    /// the conversation leaves at the first message.
    fn forks(&self) -> Vec<u32> {
        let mut forks = Vec::new();
        let first = self.first_shown();
        for number in 0..self.records.len() as u32 {
            if self.fate_of(number) != HIDDEN || !self.is_message(number) {
                continue;
            }
            match self.parent(number).map(|parent| self.fate_of(parent)) {
                Some(HIDDEN | SHOWN | OPEN | BUSY) => {}
                Some(ROOT) | None => forks.extend(first),
                Some(message) => forks.push(message),
            }
        }
        forks.sort_unstable();
        forks.dedup();
        forks
    }

    fn first_shown(&self) -> Option<u32> {
        let is_on_path =
            |number: &u32| self.is_message(*number) && self.fate_of(*number) == *number;
        (0..self.records.len() as u32).find(is_on_path)
    }

    /// Hidden messages that no hidden message follows, by the last record below each.
    fn branches(&self) -> (Vec<(u32, u32)>, usize) {
        let mut last = vec![NONE; self.records.len()];
        let mut is_followed = vec![false; self.records.len()];
        for number in 0..self.records.len() as u32 {
            if self.fate_of(number) != HIDDEN {
                continue;
            }
            let message = self.above.get(number as usize).copied().unwrap_or(NONE);
            if let Some(slot) = last.get_mut(message as usize) {
                *slot = number;
            }
            let parent = self.parent(number).filter(|parent| self.fate_of(*parent) == HIDDEN);
            let above = parent.and_then(|parent| self.above.get(parent as usize).copied());
            let above = above.filter(|above| *above != message);
            if let Some(slot) = above.and_then(|above| is_followed.get_mut(above as usize)) {
                *slot = true;
            }
        }
        let leaves = last.iter().zip(&is_followed).enumerate();
        let mut found = leaves
            .filter(|(_, (last, followed))| **last != NONE && !**followed)
            .map(|(head, (last, _))| (*last, self.rows.get(head).copied().unwrap_or(0)));
        let listed = found.by_ref().take(BRANCHES_MAX).collect();
        (listed, found.count())
    }
}

/// True for records that make a conversation.
pub(super) fn is_message(record: &Record, format: Format) -> bool {
    let counts = record.has(Flags::LINKED) && !record.has(Flags::SUPERSEDED);
    counts
        && match record.kind {
            RecordKind::User | RecordKind::Assistant => true,
            RecordKind::Result | RecordKind::Custom => format != Format::ClaudeCode,
            // All that has a place in the tree of a log is said there and nowhere else.
            RecordKind::Notice | RecordKind::Raw | RecordKind::Housekeeping => {
                format == Format::Letterpress
            }
            RecordKind::Header
            | RecordKind::Damaged
            | RecordKind::Sidechain
            | RecordKind::Silent => false,
        }
}

/// True for records that may end the path that is shown.
pub(super) fn can_lead(record: &Record, format: Format) -> bool {
    let counts = record.has(Flags::LINKED) && !record.has(Flags::SUPERSEDED);
    counts && (format != Format::ClaudeCode || is_message(record, format))
}

fn is_further_line(records: &[Record], number: u32) -> bool {
    records
        .get(number as usize)
        .is_some_and(|record| record.kind == RecordKind::Assistant && record.has(Flags::CHILD))
}

/// The first record of each record's message.
pub(super) fn heads(records: &[Record]) -> Vec<u32> {
    let mut head: Vec<u32> = (0..records.len() as u32).collect();
    for (number, record) in records.iter().enumerate() {
        if record.kind != RecordKind::Assistant || record.has(Flags::CHILD) {
            continue;
        }
        let mut next = record.next;
        while let Some(child) = records.get(next as usize) {
            if let Some(slot) =
                head.get_mut(next as usize).filter(|_| child.kind == RecordKind::Assistant)
            {
                *slot = number as u32;
            }
            next = child.next;
        }
    }
    head
}

/// True when a record makes a row of its own on its branch.
fn is_row(record: &Record) -> bool {
    match record.kind {
        RecordKind::Header
        | RecordKind::Result
        | RecordKind::Housekeeping
        | RecordKind::Sidechain
        | RecordKind::Silent => false,
        RecordKind::User
        | RecordKind::Assistant
        | RecordKind::Custom
        | RecordKind::Notice
        | RecordKind::Raw
        | RecordKind::Damaged => true,
    }
}
