//! The index of a transcript: every row, without its words.

use std::sync::Arc;

use crate::model::{List, MessageId, RowInfo, RowKind, SourceLine, ToolTally, Warning};

use super::{
    Format,
    assemble::Scope,
    file::PositionedFile,
    json::{self, Cursor, Fault},
    letterpress,
    lines::LineTable,
    record::{Flags, NONE, Record, RecordKind},
    rows::{self, Builder, Rows},
    select::{self, Reach, Selection},
};

pub(super) const PROMPT_STRIDE: usize = 512;
/// Bytes of a record in which its id is looked for.
const ID_WITHIN: usize = 256 * 1024;

/// The rows of a transcript, or of its newest part. Costs 38 bytes a record; clones share
/// nearly all of them.
#[derive(Clone, Debug)]
pub struct Index {
    pub(super) format: Format,
    pub(super) scope: Scope,
    /// Where it begins in the file.
    pub(super) from: u64,
    pub(super) records: List<Record>,
    pub(super) rows: Rows,
    /// Before each so many rows: the row of the newest prompt plus one, or 0.
    pub(super) prompts: Vec<u32>,
    pub(super) lines: LineTable,
    pub(super) tree: Tree,
    branches: Arc<[Branch]>,
    pub(super) title: Option<Arc<str>>,
    pub(super) warnings: Arc<Vec<Warning>>,
    /// The latest time of a record, in seconds since 1970, or 0.
    pub(super) latest_secs: u32,
    /// The first record of an answer that is still being written.
    pub(super) open: Option<u32>,
    /// The first record of an answer that ends the file and has no end itself.
    pub(super) unfinished: Option<u32>,
    file: Arc<PositionedFile>,
}

/// What building an index leaves for one that goes on growing.
#[derive(Debug)]
pub(super) struct Chosen {
    pub(super) index: Index,
    pub(super) builder: Builder,
    /// See [`Selection::tidy`].
    pub(super) tidy: bool,
}

/// Another path through the conversation than the one shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// The source's id of its last record.
    pub id: Arc<str>,
    /// Rows that only this branch has.
    pub rows: usize,
    leaf: u32,
}

/// Whether parents can be trusted to say what follows what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tree {
    Linked,
    /// File order is all there is.
    Unlinked,
}

impl Index {
    /// An index without rows of these records, which [`Index::choose`] takes.
    pub(super) fn new(
        format: Format,
        lines: LineTable,
        tree: Tree,
        scope: Scope,
        file: Arc<PositionedFile>,
    ) -> Self {
        Self {
            format,
            scope,
            from: 0,
            records: List::default(),
            rows: Rows::default(),
            prompts: Vec::new(),
            lines,
            tree,
            branches: Arc::new([]),
            title: None,
            warnings: Arc::default(),
            latest_secs: 0,
            open: None,
            unfinished: None,
            file,
        }
    }

    pub(super) fn with_words(mut self, title: Option<Arc<str>>, warnings: Vec<Warning>) -> Self {
        self.title = title;
        self.warnings = Arc::new(warnings);
        self
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows.rows.len()
    }

    /// True when there is no row.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What is known of a row without reading it.
    ///
    /// # Panics
    /// When `i` is not below [`Index::len`].
    #[must_use]
    pub fn row(&self, i: usize) -> RowInfo {
        let head = self.head_of(i).and_then(|number| self.records.get(number as usize));
        let head = head.expect("a row is below the length");
        let has_tally = matches!(head.kind, RecordKind::User | RecordKind::Assistant);
        let traces = head.traces();
        RowInfo {
            id: MessageId(head.offset),
            kind: row_kind(head.kind),
            lines: head.lines,
            group: head.group(),
            tally: if has_tally { head.marks().tally() } else { ToolTally::default() },
            calls: traces.calls(),
            thinks: traces.thinks(),
            forks: traces.forks(),
            failed: head.has(Flags::FAILED) && head.kind != RecordKind::Result,
            time_secs: head.time_secs,
        }
    }

    /// Where a message stands, if it has a row here.
    #[must_use]
    pub fn index_of(&self, id: MessageId) -> Option<usize> {
        let first = self.records.partition_point(|record| record.offset < id.0);
        let record = self.records.get(first).filter(|record| record.offset == id.0)?;
        let number = first as u32;
        let rows = &self.rows.rows;
        if !self.rows.rising {
            return rows.iter().position(|row| *row == number);
        }
        let at = partition(rows.len(), |i| self.rising_key(i) < number);
        if record.kind != RecordKind::Housekeeping {
            // A housekeeping row that was held back has the key of the row before it.
            return (at..rows.len().min(at + 2)).find(|i| rows.get(*i) == Some(&number));
        }
        (at..rows.len()).find(|i| rows.get(*i) == Some(&number))
    }

    /// The nearest row of the user's words at or before a row.
    #[must_use]
    pub fn prompt_before(&self, i: usize) -> Option<usize> {
        let i = i.min(self.len().checked_sub(1)?);
        let stride = i / PROMPT_STRIDE;
        let near = (stride * PROMPT_STRIDE..=i).rev().find(|row| self.is_prompt(*row));
        near.or_else(|| (*self.prompts.get(stride)? as usize).checked_sub(1))
    }

    /// True when this covers all that can be read, up to the length at opening.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        match self.scope {
            Scope::FromStart { is_whole } => is_whole,
            Scope::Tail => self.from <= self.file.first(),
        }
    }

    /// The title that the source gives the conversation.
    #[must_use]
    pub fn title(&self) -> Option<Arc<str>> {
        self.title.as_ref().map(Arc::clone)
    }

    /// The other paths through the conversation; at most 1000 are listed.
    #[must_use]
    pub fn branches(&self) -> &[Branch] {
        &self.branches
    }

    /// The index of the path to another leaf, by a [`Branch::id`] of this index.
    #[must_use]
    pub fn on_branch(&self, leaf: &str) -> Option<Self> {
        let leaf = self.branches.iter().find(|branch| &*branch.id == leaf)?.leaf;
        let records = self.records.iter().copied().collect();
        Some(self.clone().choose(records, Some(leaf)).index)
    }

    /// The answer at the end of a log that was not written to its end: all other messages
    /// stay what they are when the log grows.
    #[must_use]
    pub fn unfinished(&self) -> Option<MessageId> {
        let number = self.unfinished.or(self.open)?;
        self.records.get(number as usize).map(|record| MessageId(record.offset))
    }

    /// Bytes on the heap.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let words = self.warnings.iter().map(|w| w.message.len() + size_of::<Warning>());
        let ids = self.branches.iter().map(|b| b.id.len() + size_of::<Branch>());
        self.records.heap_bytes()
            + self.rows.rows.heap_bytes()
            + self.prompts.capacity() * size_of::<u32>()
            + self.lines.heap_bytes()
            + words.chain(ids).sum::<usize>()
    }

    /// What was met and survived while indexing.
    #[must_use]
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }

    /// The latest time of any record, in milliseconds since 1970; none without times.
    #[must_use]
    pub fn latest_ms(&self) -> Option<i64> {
        (self.latest_secs > 0).then(|| i64::from(self.latest_secs) * 1000)
    }

    pub(super) fn warn(&mut self, message: &str) {
        let message = message.to_owned();
        Arc::make_mut(&mut self.warnings).push(Warning { line: SourceLine(0), message });
    }

    pub(super) fn records(&self) -> &List<Record> {
        &self.records
    }

    /// The number of a row's first record.
    pub(super) fn head_of(&self, row: usize) -> Option<u32> {
        self.rows.rows.get(row).copied()
    }

    /// The line of a record; not known in a window.
    pub(super) fn line_of(&self, number: u32) -> SourceLine {
        match self.scope {
            Scope::Tail => SourceLine(0),
            Scope::FromStart { .. } => {
                let gap_of = |number| self.records.get(number).map_or(0, Record::gap);
                SourceLine(self.lines.line_of(gap_of, number as usize))
            }
        }
    }

    /// Chooses the path of a leaf, or of the newest, and builds its rows.
    pub(super) fn choose(mut self, mut records: Vec<Record>, leaf: Option<u32>) -> Chosen {
        let reach = if self.scope == Scope::Tail { Reach::Tail } else { Reach::Whole };
        let selection = match self.tree {
            Tree::Linked => select::select(&mut records, self.format, leaf, reach),
            Tree::Unlinked => Selection::default(),
        };
        let (rows, builder) = rows::build(&mut records, self.format);
        let latest = records.iter().map(|record| record.time_secs).max().unwrap_or(0);
        self.latest_secs = self.latest_secs.max(latest);
        self.records = records.into();
        self.rows = rows;
        self.branches = selection.branches.iter().map(|b| self.branch(*b)).collect();
        if selection.branches_left_out > 0 {
            let message = format!("{} more branches are not listed", selection.branches_left_out);
            Arc::make_mut(&mut self.warnings).push(Warning { line: SourceLine(0), message });
        }
        self.prompts.clear();
        let mut newest = 0;
        for row in 0..self.len() {
            self.note_prompt(row, &mut newest);
        }
        self.prompts.shrink_to_fit();
        Chosen { index: self, builder, tidy: selection.tidy }
    }

    /// Takes a row into the table of prompts; `newest` is the row of the newest before it
    /// plus one.
    pub(super) fn note_prompt(&mut self, row: usize, newest: &mut u32) {
        if row.is_multiple_of(PROMPT_STRIDE) && self.prompts.len() == row / PROMPT_STRIDE {
            self.prompts.push(*newest);
        }
        if self.is_prompt(row) {
            *newest = row as u32 + 1;
        }
    }

    /// Reads the id of a branch, which the records do not keep.
    fn branch(&self, (leaf, rows): (u32, u32)) -> Branch {
        let record = self.records.get(leaf as usize);
        let id = record.and_then(|record| {
            // The id stands near the start; a branch may hang on a very long record.
            let bytes = self.file.read_vec(record.start(), ID_WITHIN.min(record.len as usize));
            match self.format {
                Format::Pi => id_in(&bytes, b"id"),
                Format::ClaudeCode => id_in(&bytes, b"uuid"),
                Format::Letterpress => letterpress::glance::id_in(&bytes),
            }
        });
        let id = id.unwrap_or_else(|| format!("@{}", record.map_or(0, |record| record.offset)));
        Branch { id: id.into(), rows: rows as usize, leaf }
    }

    fn is_prompt(&self, row: usize) -> bool {
        let record = self.head_of(row).and_then(|number| self.records.get(number as usize));
        record.is_some_and(|record| record.kind == RecordKind::User)
    }

    fn rising_key(&self, row: usize) -> u32 {
        let own = self.head_of(row).unwrap_or(NONE);
        let is_held_back = self
            .records
            .get(own as usize)
            .is_some_and(|record| record.kind == RecordKind::Housekeeping);
        match row.checked_sub(1).and_then(|before| self.rows.rows.get(before)) {
            Some(before) if is_held_back => own.max(*before),
            _ => own,
        }
    }
}

fn row_kind(kind: RecordKind) -> RowKind {
    match kind {
        RecordKind::User => RowKind::User,
        RecordKind::Assistant => RowKind::Assistant,
        RecordKind::Result => RowKind::Orphan,
        RecordKind::Custom => RowKind::Custom,
        RecordKind::Notice
        | RecordKind::Housekeeping
        | RecordKind::Sidechain
        | RecordKind::Silent => RowKind::Notice,
        RecordKind::Header | RecordKind::Raw | RecordKind::Damaged => RowKind::Raw,
    }
}

/// The id of a record, which may be cut off behind it.
fn id_in(bytes: &[u8], name: &[u8]) -> Option<String> {
    let mut id = None;
    let walked = Cursor::new(bytes).members(|cursor, key| {
        if key == name {
            id = cursor.string_or_skip()?.map(json::unescaped);
        } else {
            cursor.skip()?;
        }
        Ok(())
    });
    id.filter(|_| matches!(walked, Ok(()) | Err(Fault::End)))
}

/// The first index below `len` for which `is_before` is false; it must hold for a prefix.
fn partition(len: usize, is_before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, len);
    while low < high {
        let middle = low.midpoint(high);
        if is_before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}
