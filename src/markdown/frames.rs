//! Containers, and the regions they end in.

use std::{ops::Range, sync::Arc};

use super::build::{Builder, DEPTH_CAP, Region, Seam};
use crate::model::{Alert, Block, BlockKind, Hygiene, ListItem, RichText};

/// An open container.
pub(super) struct Frame {
    pub(super) kind: FrameKind,
    pub(super) start: usize,
    /// Where its last child ends. The parser's own end depends on what it looked at next.
    pub(super) end: usize,
    pub(super) blocks: Vec<Block>,
}

/// What a container is.
pub(super) enum FrameKind {
    Root,
    List { start: Option<u64>, loose: bool, items: Vec<ListItem> },
    Item { task: Option<bool> },
    Quote(Option<Alert>),
    Footnote(Arc<str>),
    Details(RichText, Hygiene),
}

/// A container past the cap: its events are counted, its source is shown.
pub(super) struct Skip {
    pub(super) range: Range<usize>,
    pub(super) nested: usize,
}

impl Builder<'_> {
    pub(super) fn top(&mut self) -> &mut Frame {
        // The root is never popped.
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    pub(super) fn depth(&self) -> usize {
        let is_container =
            |frame: &&Frame| !matches!(frame.kind, FrameKind::Root | FrameKind::Item { .. });
        self.frames.iter().filter(is_container).count()
    }

    /// True inside a quote, whose marks stand at the front of every line.
    pub(super) fn in_quote(&self) -> bool {
        self.frames.iter().any(|frame| matches!(frame.kind, FrameKind::Quote(_)))
    }

    pub(super) fn open(&mut self, kind: FrameKind, range: &Range<usize>) {
        self.close_leaf(range.start);
        if self.depth() >= DEPTH_CAP {
            self.begin_region(range.start);
            self.skip = Some(Skip { range: range.clone(), nested: 0 });
        } else {
            self.push_frame(kind, range.start);
        }
    }

    pub(super) fn end_skip(&mut self) {
        if let Some(skip) = self.skip.take() {
            self.push_source(skip.range, true);
        }
    }

    pub(super) fn push_frame(&mut self, kind: FrameKind, start: usize) {
        self.begin_region(start);
        let rest = self.input.original.as_bytes().get(start..).unwrap_or_default();
        let line = memchr::memchr2(b'\n', b'\r', rest).map_or(rest.len(), |at| at + 1);
        self.frames.push(Frame { kind, start, end: start + line, blocks: Vec::new() });
    }

    pub(super) fn mark_loose(&mut self) {
        if let [.., Frame { kind: FrameKind::List { loose, .. }, .. }, item] = &mut *self.frames
            && matches!(item.kind, FrameKind::Item { .. })
        {
            *loose = true;
        }
    }

    pub(super) fn end_frame(&mut self) {
        if self.frames.len() < 2 {
            return;
        }
        let Some(Frame { kind, start, end, mut blocks }) = self.frames.pop() else { return };
        blocks.shrink_to_fit();
        let found = sum(&blocks);
        let kind = match kind {
            FrameKind::Item { task } => {
                let list = self.top();
                list.end = list.end.max(end);
                if let FrameKind::List { items, .. } = &mut list.kind {
                    items.push(ListItem { task, blocks });
                }
                return;
            }
            FrameKind::List { start: first, loose, mut items } => {
                items.shrink_to_fit();
                let mut found = found;
                items.iter().for_each(|item| add(&mut found, sum(&item.blocks)));
                let kind = BlockKind::List { start: first, tight: !loose, items };
                self.push_block(kind, start..end, found);
                return;
            }
            FrameKind::Root => return,
            FrameKind::Quote(alert) => BlockKind::Quote { alert, blocks },
            FrameKind::Footnote(label) => BlockKind::Footnote { label, blocks },
            FrameKind::Details(summary, in_summary) => {
                let mut found = found;
                add(&mut found, in_summary);
                self.push_block(BlockKind::Details { summary, blocks }, start..end, found);
                return;
            }
        };
        self.push_block(kind, start..end, found);
    }

    pub(super) fn push_block(&mut self, kind: BlockKind, range: Range<usize>, hygiene: Hygiene) {
        let start = range.start.min(self.input.visible);
        self.begin_region(start);
        let offset = self.input.offset;
        // Where the parser ends a block depends on what it looked at next; its last visible byte
        // does not.
        let written = self.input.original.get(start..range.end.min(self.input.visible));
        let end = start + written.unwrap_or_default().trim_end().len();
        let source = offset + start..offset + end;
        let top = self.top();
        top.end = top.end.max(end);
        top.blocks.push(Block { kind, source, hygiene });
    }

    fn begin_region(&mut self, start: usize) {
        if self.region_start.is_none() {
            self.region_start = Some(start);
            self.seam = Seam::None;
        }
    }

    /// Ends the region when nothing is open.
    pub(super) fn close_region(&mut self, end: usize) {
        let idle = self.leaf.is_none()
            && self.table.is_none()
            && self.code.is_none()
            && self.html.is_none()
            && self.skip.is_none();
        if !idle || self.frames.len() > 1 || self.top().blocks.is_empty() {
            return;
        }
        let mut blocks = std::mem::take(&mut self.top().blocks);
        blocks.shrink_to_fit();
        let start = self.region_start.take().unwrap_or(end);
        let unresolved = std::mem::take(&mut self.unresolved);
        self.regions.push(Region { start, end, read_end: end, blocks, unresolved });
    }
}

pub(super) fn add(total: &mut Hygiene, other: Hygiene) {
    total.hidden = total.hidden.saturating_add(other.hidden);
    total.bidi |= other.bidi;
    total.capped |= other.capped;
}

pub(super) fn sum(blocks: &[Block]) -> Hygiene {
    let mut total = Hygiene::default();
    blocks.iter().for_each(|block| add(&mut total, block.hygiene));
    total
}
