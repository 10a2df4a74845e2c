//! What can be read of a message: the very words that its slugs are set from.
//!
//! Searching counts in these words and highlights in them, so what is counted is what is
//! shown. A unit is what words may be searched in without a break: a paragraph, a block of
//! code, an output, a cell, a line of a difference. A slug shows a stretch of a unit.

use std::{borrow::Cow, ops::Range};

use crate::{
    layout::{
        compose::{self, Surroundings},
        diff::DiffKind,
        label::one_line,
        matter::diff_words,
        registry::{Change, Registry},
        spec::{BlockRef, Content, Face, Fold, FoldKind, Label, Spec, Strand},
    },
    model::{BlockKind, Message, RichText},
};

/// Words that cards and blocks add to what they show: these stand in no record. Needed by
/// who wants to rule a record out without reading it.
pub const OWN_WORDS: &[&str] = &[
    "written",
    "in",
    "patterns",
    "Agent",
    "Plan",
    "Fetch",
    "Search the web",
    "Details",
    "image",
    "tool",
    "bytes not shown",
    "LRE RLE PDF LRO RLO LRI RLI FSI PDI LRM RLM ALM U",
];

/// A unit within its message, ordered as it is read. It does not depend on what is folded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnitKey {
    /// Index of the part.
    pub part: u16,
    /// Leaf of the part.
    pub leaf: u32,
    /// Number of the unit in the leaf: of a cell, of a line of a difference.
    pub seat: u32,
}

/// What one slug shows of one unit.
#[derive(Clone, Debug)]
pub struct Stretch<'s> {
    /// Which unit.
    pub unit: UnitKey,
    /// What its words are.
    pub strand: Strand,
    /// All words of the unit.
    pub text: Cow<'s, str>,
    /// The bytes of them that the slug shows.
    pub shown: Range<usize>,
    /// The line of the slug they stand on, among its reading lines.
    pub line: usize,
    /// Characters before them on that line.
    pub lead: usize,
}

/// Nothing is folded; how code wraps is no fold.
#[must_use]
pub fn all_open(fold: Fold, usual: bool) -> bool {
    !matches!(fold.kind, FoldKind::Wrap(_)) || usual
}

/// The specs of a message with everything unfolded.
#[must_use]
pub fn unfolded(message: &Message, around: &Surroundings, registry: &Registry) -> Vec<Spec> {
    compose::compose(message, around, registry, &all_open).specs
}

/// What a slug of this spec shows, in reading order.
#[must_use]
pub fn stretches(spec: &Spec) -> Vec<Stretch<'_>> {
    if spec.strand == Strand::Interface {
        return Vec::new();
    }
    match &spec.content {
        Content::Prose(at, range) => rich_of(at).map_or_else(Vec::new, |text| {
            vec![whole(spec, Cow::Borrowed(text.text.as_str()), range)]
        }),
        Content::Verbatim(at, range) | Content::Code(at, range) => written_in(at)
            .map_or_else(Vec::new, |text| vec![whole(spec, Cow::Borrowed(text), range)]),
        Content::Output(result, range) => {
            vec![whole(spec, Cow::Borrowed(&*result.output.text), range)]
        }
        Content::Plain(text, range, _) => vec![whole(spec, Cow::Borrowed(&**text), range)],
        Content::Table(at, rows) => table(spec, at, rows),
        Content::Diff(change, lines) => difference(spec, change, lines),
        Content::Summary(at, ..) => summary(spec, at),
        Content::Label(label) | Content::Divider(label) => segments(spec, label),
        Content::CodeHeader(_)
        | Content::Rule
        | Content::AlertTitle(_)
        | Content::Picture(..)
        | Content::Pending => Vec::new(),
    }
}

fn whole<'s>(spec: &Spec, text: Cow<'s, str>, range: &Range<u32>) -> Stretch<'s> {
    let shown = range.start as usize..range.end as usize;
    Stretch { unit: unit(spec, 0), strand: spec.strand, text, shown, line: 0, lead: 0 }
}

fn unit(spec: &Spec, seat: u32) -> UnitKey {
    UnitKey { part: spec.key.part, leaf: spec.key.leaf, seat }
}

fn rich_of(at: &BlockRef) -> Option<&RichText> {
    match &at.block().kind {
        BlockKind::Paragraph(text) | BlockKind::Heading { text, .. } => Some(text),
        _ => None,
    }
}

fn written_in(at: &BlockRef) -> Option<&str> {
    match &at.block().kind {
        BlockKind::Code { text, .. } | BlockKind::Verbatim(text) => Some(text),
        BlockKind::Math { source, .. } => Some(source),
        _ => None,
    }
}

/// Each cell is a unit; empty ones have no line in the slug.
fn table<'s>(spec: &'s Spec, at: &'s BlockRef, rows: &Range<u32>) -> Vec<Stretch<'s>> {
    let BlockKind::Table { align, header, rows: all } = &at.block().kind else {
        return Vec::new();
    };
    let columns = align.len() as u32;
    let head = header.iter().filter(|_| rows.start == 0).zip(0..);
    let shown = all.get(rows.start as usize..rows.end as usize).unwrap_or_default();
    let body = (rows.start..)
        .zip(shown)
        .flat_map(|(row, cells)| cells.iter().zip((row + 1).saturating_mul(columns)..));
    let filled = head.chain(body).filter(|(cell, _)| !cell.is_empty());
    filled
        .enumerate()
        .map(|(line, (cell, seat))| Stretch {
            unit: unit(spec, seat),
            line,
            ..whole(spec, Cow::Borrowed(cell.text.as_str()), &(0..cell.text.len() as u32))
        })
        .collect()
}

/// Each line is a unit, without its mark.
fn difference<'s>(spec: &Spec, change: &'s Change, lines: &Range<u32>) -> Vec<Stretch<'s>> {
    let shown = change.lines.get(lines.start as usize..lines.end as usize).unwrap_or_default();
    let (mut stretches, mut lead) = (Vec::new(), 0);
    for (seat, line) in (lines.start..).zip(shown) {
        let words = match line.kind {
            DiffKind::Skipped(0) => {
                lead += 2;
                continue;
            }
            DiffKind::Skipped(count) => {
                lead += format!("⋯ {count} unchanged lines\n").chars().count();
                continue;
            }
            DiffKind::Omitted(count) => {
                lead += format!("⋯ {count} more lines\n").chars().count();
                continue;
            }
            DiffKind::Kept | DiffKind::Added | DiffKind::Removed | DiffKind::Heading => {
                diff_words(line, change)
            }
        };
        let text = Cow::Borrowed(words);
        let range = 0..words.len() as u32;
        // A mark and a space stand before the words, a line end behind them.
        stretches.push(Stretch {
            unit: unit(spec, seat),
            lead: lead + 2,
            ..whole(spec, text, &range)
        });
        lead += 2 + words.chars().count() + 1;
    }
    stretches
}

fn summary<'s>(spec: &Spec, at: &'s BlockRef) -> Vec<Stretch<'s>> {
    let BlockKind::Details { summary, .. } = &at.block().kind else { return Vec::new() };
    let words = if summary.is_empty() { "Details" } else { summary.text.as_str() };
    vec![whole(spec, Cow::Borrowed(words), &(0..words.len() as u32))]
}

/// The words on the left of a line; what stands on the right is about them.
fn segments<'s>(spec: &Spec, label: &'s Label) -> Vec<Stretch<'s>> {
    let (mut stretches, mut lead) = (Vec::new(), 0);
    for (segment, seat) in label.left.iter().zip(0..) {
        let text = one_line(&segment.text);
        let length = text.chars().count();
        if segment.face != Face::Icon {
            let range = 0..text.len() as u32;
            let unit = unit(spec, seat);
            stretches.push(Stretch { unit, lead, ..whole(spec, text, &range) });
        }
        lead += length;
    }
    stretches
}
