//! A list that is still growing.

use std::sync::Arc;

use super::{OpenTail, PART, Tail, single};
use crate::{
    markdown::{
        Options,
        build::Seam,
        frames, partial,
        seal::{Piece, State, rules},
    },
    model::{Block, BlockKind, Hygiene, ListItem},
};

/// A list at the top level: its finished items, and where the last one begins.
pub(super) struct OpenList {
    parts: Vec<Arc<Block>>,
    first: Option<u64>,
    tight: bool,
    items: Vec<ListItem>,
    hygiene: Hygiene,
    from: usize,
    pub(super) item: usize,
}

impl OpenList {
    pub(super) fn at(block: &Block, item: usize) -> Option<Self> {
        let BlockKind::List { start, tight, items } = &block.kind else { return None };
        let mut open = Self {
            parts: Vec::new(),
            first: *start,
            tight: *tight,
            items: Vec::new(),
            hygiene: Hygiene::default(),
            from: block.source.start,
            item: block.source.start,
        };
        open.keep(items.iter().take(items.len() - 1).cloned(), item);
        Some(open)
    }

    /// Sets finished items apart; the next one begins at `item`.
    fn keep(&mut self, items: impl Iterator<Item = ListItem>, item: usize) {
        for item in items {
            frames::add(&mut self.hygiene, frames::sum(&item.blocks));
            self.items.push(item);
        }
        self.item = item;
        if self.item - self.from > PART && !self.items.is_empty() {
            let items = std::mem::take(&mut self.items);
            let next = self.first.map(|first| first.saturating_add(items.len() as u64));
            let hygiene = std::mem::take(&mut self.hygiene);
            let kind = BlockKind::List { start: self.first, tight: self.tight, items };
            self.parts.push(Arc::new(Block { kind, source: self.from..self.item, hygiene }));
            self.first = next;
            self.from = self.item;
        }
    }

    pub(super) fn resume(
        mut self,
        state: &mut State,
        text: &str,
        options: Options,
    ) -> Option<Tail> {
        let piece_start = self.item;
        let piece = text.get(self.item..)?;
        let prepared = partial::open(piece, rules(options));
        let outcome = state.parse(Piece::new(piece, self.item), &prepared, options);
        let (block, Seam::Item(item)) = single(outcome)? else { return None };
        let BlockKind::List { start, tight, items } = block.kind else { return None };
        if start.is_some() != self.first.is_some() {
            return None;
        }
        self.tight &= tight;
        let (item, mut items) = (self.item + item, items.into_iter());
        let count = items.len().saturating_sub(1);
        self.keep(items.by_ref().take(count), item);
        let mut hygiene = self.hygiene;
        let mut shown = self.items.clone();
        for item in items {
            frames::add(&mut hygiene, frames::sum(&item.blocks));
            shown.push(item);
        }
        let kind = BlockKind::List { start: self.first, tight: self.tight, items: shown };
        let mut blocks = self.parts.clone();
        blocks.push(Arc::new(Block { kind, source: self.from..block.source.end, hygiene }));
        Some(Tail::new(blocks, OpenTail::List(self), piece_start, &prepared))
    }
}
