//! From all records of a scan to an index.

use std::sync::Arc;

use crate::model::{SourceLine, Warning};

use super::{
    Format,
    file::PositionedFile,
    glance::Title,
    index::{Chosen, Index, Tree},
    links::Known,
    record::{Flags, Marks, NONE, Record, RecordKind, Traces},
    scan::Scan,
    select,
};

/// Which part of the file was scanned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// From the start, to the end or not yet.
    FromStart {
        /// To the end.
        is_whole: bool,
    },
    /// The newest part.
    Tail,
}

/// Which path is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Leaf {
    /// That of the newest record.
    Newest,
    /// That of the record whose id has this hash; of the newest when there is none.
    Named(u64),
    /// The newest that goes through the record at this place in the file.
    Through(u64),
}

impl Leaf {
    fn among(self, records: &[Record], known: &Known, format: Format) -> Option<u32> {
        match self {
            Self::Newest => None,
            Self::Named(id) => known.find(id),
            Self::Through(offset) => newest_through(records, offset, format),
        }
    }
}

/// The newest leaf below the record at a place, or that record.
fn newest_through(records: &[Record], offset: u64, format: Format) -> Option<u32> {
    let first = records.partition_point(|record| record.offset < offset);
    records.get(first).filter(|record| record.offset == offset)?;
    let mut is_below = vec![false; records.len()];
    *is_below.get_mut(first)? = true;
    let mut newest = first;
    for (number, record) in records.iter().enumerate().skip(first + 1) {
        let is_child = is_below.get(record.parent as usize).copied().unwrap_or(false);
        if is_child && select::can_lead(record, format) {
            newest = number;
        }
        if let Some(slot) = is_below.get_mut(number) {
            *slot = is_child;
        }
    }
    Some(newest as u32)
}

/// An index, and what is left of its scan: its records are in the index.
#[derive(Debug)]
pub(super) struct Assembled {
    pub(super) chosen: Chosen,
    pub(super) known: Known,
    pub(super) scan: Scan,
}

/// Settles links and pairs and builds the rows.
pub(super) fn assemble(
    mut scan: Scan,
    scope: Scope,
    file: Arc<PositionedFile>,
    leaf: Leaf,
) -> Assembled {
    let known = std::mem::take(&mut scan.links).into_known();
    let title = title(&scan.titles, |leaf| known.find(leaf).is_some());
    let first_linked = scan.records.iter().position(|record| record.has(Flags::LINKED));
    let flaws = known.settle(&mut scan.records);
    if scope != Scope::Tail {
        for number in &flaws.missing {
            if Some(*number as usize) != first_linked {
                scan.warn(
                    *number,
                    "names a parent that is not in the file; shown in file order".into(),
                );
            }
        }
        for number in &flaws.circular {
            scan.warn(*number, "its parents lead back to it; shown in file order".into());
        }
    }
    for number in &flaws.repeated {
        scan.warn(*number, "a later record has the same id and is shown instead".into());
    }
    chain(&mut scan);
    sum_up(&mut scan.records);
    if scope == Scope::Tail {
        leave_out_torn(&mut scan.records, scan.format);
    }
    scan.lines.shrink();
    let warnings = warnings(&mut scan, scope);
    let tree = if scan.unlinked { Tree::Unlinked } else { Tree::Linked };
    let lines = std::mem::take(&mut scan.lines);
    let mut index = Index::new(scan.format, lines, tree, scope, file).with_words(title, warnings);
    if let Some(log) = &scan.log {
        (index.latest_secs, index.open) = (log.latest_secs(), log.open_head());
        index.unfinished = log.unfinished();
    }
    let records = std::mem::take(&mut scan.records);
    let leaf = leaf.among(&records, &known, scan.format);
    Assembled { chosen: index.choose(records, leaf), known, scan }
}

/// The title that counts: the newest of those with the highest rank.
pub(super) fn title(titles: &[Title], is_known: impl Fn(u64) -> bool) -> Option<Arc<str>> {
    let titles = titles.iter().filter(|title| title.leaf.is_none_or(&is_known));
    let title = titles.max_by_key(|title| title.rank)?;
    (!title.text.is_empty()).then(|| title.text.as_str().into())
}

/// Strings results and continuing lines behind the record whose row they belong to.
fn chain(scan: &mut Scan) {
    let late = scan.pairing.finish();
    let is_sorted = late.is_empty();
    for (result, owner) in late {
        if let Some(record) = scan.records.get_mut(result as usize) {
            record.flags.set(Flags::CHILD);
        }
        scan.owners.push((result, owner));
    }
    let mut owners = std::mem::take(&mut scan.owners);
    if !is_sorted {
        owners.sort_unstable();
    }
    // From the end, so that each chain comes out in file order.
    for (child, owner) in owners.into_iter().rev() {
        let first = scan.records.get(owner as usize).map_or(NONE, |record| record.next);
        if let Some(record) = scan.records.get_mut(child as usize) {
            record.next = first;
        }
        if let Some(record) = scan.records.get_mut(owner as usize) {
            record.next = child;
        }
    }
}

/// Writes what the lines and results of a message come to into its first record, so that
/// a row costs one look.
fn sum_up(records: &mut [Record]) {
    for number in 0..records.len() {
        let Some(mut head) = records.get(number).copied() else { return };
        if head.next == NONE || head.has(Flags::CHILD) {
            continue;
        }
        let (mut marks, mut traces) = (head.marks(), head.traces());
        if head.is_replaced() {
            (marks, traces, head.lines) = (Marks::default(), Traces::default(), 0);
            head.flags.clear(Flags::FAILED);
        }
        let mut next = head.next;
        while let Some(record) = records.get(next as usize) {
            next = record.next;
            if record.is_replaced() {
                continue;
            }
            if record.kind == RecordKind::Assistant {
                marks.append(record.marks());
                traces.append(record.traces());
                head.lines = head.lines.saturating_add(record.lines);
            }
            if record.has(Flags::FAILED) && !record.has(Flags::REPLACED) {
                head.flags.set(Flags::FAILED);
            }
        }
        head.extra = marks.0;
        head.set_traces(traces);
        if let Some(slot) = records.get_mut(number) {
            *slot = head;
        }
    }
}

/// Takes out what a window tears from its beginning: it comes back, whole, with the
/// full index. [`Flags::CHILD`] without an owner never makes a row.
fn leave_out_torn(records: &mut [Record], format: Format) {
    // A run of housekeeping is held back while the model speaks: the first may have begun
    // before the window.
    let ends_run = |kind: RecordKind| match kind {
        RecordKind::Housekeeping
        | RecordKind::Assistant
        | RecordKind::Result
        | RecordKind::Sidechain
        | RecordKind::Silent => false,
        RecordKind::Header
        | RecordKind::User
        | RecordKind::Custom
        | RecordKind::Notice
        | RecordKind::Raw
        | RecordKind::Damaged => true,
    };
    for record in records.iter_mut().take_while(|record| !ends_run(record.kind)) {
        if record.kind == RecordKind::Housekeeping {
            record.flags.set(Flags::CHILD);
        }
    }
    if format == Format::Letterpress {
        // Results stand in their calls, and the scan told what began before.
        return;
    }
    for record in records.iter_mut() {
        let is_orphan = record.kind == RecordKind::Result;
        let is_torn_sidechain = record.kind == RecordKind::Sidechain && record.has(Flags::DETACHED);
        if is_orphan || is_torn_sidechain {
            record.flags.set(Flags::CHILD);
        }
    }
    // The first reply may continue a message that began before the window.
    let mut messages = records
        .iter_mut()
        .filter(|record| matches!(record.kind, RecordKind::Assistant | RecordKind::User));
    if let Some(first) = messages.next().filter(|_| format == Format::ClaudeCode)
        && first.kind == RecordKind::Assistant
    {
        first.flags.set(Flags::CHILD);
    }
}

fn warnings(scan: &mut Scan, scope: Scope) -> Vec<Warning> {
    let found = std::mem::take(&mut scan.warnings);
    let line = |number: u32| match scope {
        Scope::Tail => SourceLine(0),
        Scope::FromStart { .. } => {
            let gap_of = |number: usize| scan.records.get(number).map_or(0, Record::gap);
            SourceLine(scan.lines.line_of(gap_of, number as usize))
        }
    };
    let mut warnings: Vec<Warning> = found
        .into_iter()
        .map(|(number, message)| Warning { line: line(number), message })
        .collect();
    warnings.sort_by_key(|warning| warning.line);
    if scan.warnings_left_out > 0 {
        let message = format!("{} more warnings are not listed", scan.warnings_left_out);
        warnings.push(Warning { line: SourceLine(0), message });
    }
    warnings
}
