//! A paragraph that is still growing.

use std::sync::Arc;

use super::{OpenTail, Tail, single};
use crate::{
    markdown::{
        Options,
        build::Seam,
        frames, partial,
        seal::{Piece, State, rules},
    },
    model::{Block, BlockKind, Hygiene, RichText},
};

/// Text is kept in steps of at least this many bytes.
const STEP: usize = 32;

/// A paragraph at the top level: the text before which nothing is open, and where it ends.
pub(super) struct OpenParagraph {
    before: Vec<Arc<Block>>,
    text: RichText,
    hygiene: Hygiene,
    start: usize,
    pub(super) from: usize,
}

impl OpenParagraph {
    /// The paragraph that ends `blocks` and begins at `start`.
    pub(super) fn at(blocks: &[Block], start: usize) -> Self {
        let before = blocks.split_last().map_or(&[] as &[_], |(_, before)| before);
        Self {
            before: before.iter().cloned().map(Arc::new).collect(),
            text: RichText::default(),
            hygiene: Hygiene::default(),
            start,
            from: start,
        }
    }

    /// Keeps the first `shown` bytes of what `block` shows, which end at `safe` in the text.
    pub(super) fn kept(mut self, block: &Block, shown: usize, safe: usize) -> Self {
        if let BlockKind::Paragraph(rich) = &block.kind
            && safe >= self.from + STEP
        {
            append(&mut self.text, rich, shown);
            // Counted with the words behind the seam too: a tail's badge may come early.
            self.hygiene = block.hygiene;
            self.from = safe;
        }
        self
    }

    pub(super) fn resume(self, state: &mut State, text: &str, options: Options) -> Option<Tail> {
        let piece = text.get(self.from..)?;
        let prepared = partial::open(piece, rules(options));
        let outcome = state.parse(Piece::new(piece, self.from), &prepared, options);
        let (block, seam) = single(outcome)?;
        let BlockKind::Paragraph(rich) = &block.kind else { return None };
        let mut shown = self.text.clone();
        append(&mut shown, rich, rich.text.len());
        let mut hygiene = self.hygiene;
        frames::add(&mut hygiene, block.hygiene);
        let mut blocks = self.before.clone();
        let kind = BlockKind::Paragraph(shown);
        blocks.push(Arc::new(Block { kind, source: self.start..block.source.end, hygiene }));
        let from = self.from;
        let open = match (seam, prepared.safe) {
            (Seam::Text(shown), Some(safe)) if from + safe <= settled(text) => {
                self.kept(&block, shown, from + safe)
            }
            _ => self,
        };
        Some(Tail::new(blocks, OpenTail::Paragraph(open), from, &prepared))
    }
}

/// Where the lines end that can no longer become the head of a table: a line with bars does
/// when the next one turns out to be its rule.
pub(super) fn settled(text: &str) -> usize {
    let line_at =
        |end: usize| text.get(..end).and_then(|text| text.rfind('\n')).map_or(0, |at| at + 1);
    let last = line_at(text.len());
    let line = text.get(last..).unwrap_or_default();
    if line.chars().all(|c| matches!(c, '|' | ':' | '-' | ' ' | '\t' | '\r')) {
        // The rule, as far as it has come, and the head before it.
        line_at(last.saturating_sub(1))
    } else if line.contains('|') {
        last
    } else {
        text.len()
    }
}

/// Appends the first `len` bytes of `more`.
fn append(rich: &mut RichText, more: &RichText, len: usize) {
    let links = rich.links.len();
    for (range, run) in more.ranges() {
        let text = more.text.get(range.start..range.end.min(len)).unwrap_or_default();
        let link = run.link.map(|link| link.saturating_add(links as u16));
        rich.push(text, run.style, link.filter(|link| *link < u16::MAX));
    }
    rich.links.extend(more.links.iter().map(Arc::clone));
}
