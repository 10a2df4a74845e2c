//! The open tail: how a growing block is shown without reading all of it each time.
//!
//! A long block is taken up at a seam. A fence grows by lines, without the parser. Of a list only
//! the last item is read again, of a table the last row, of a paragraph what stands behind the
//! last word before which no inline construct was open. What a seam cannot express (and it
//! notices: the piece then is not what it was) falls back to reading the whole tail. Words that
//! cannot mean anything to the parser are appended without it. What has to be read again and is
//! longer than [`EAGER`] is read only when it has grown by an eighth; what came since is shown as
//! plain text until then.
//!
//! None of this reaches a sealed block: sealing reads the block whole, once.

mod fence;
mod fluent;
mod list;
mod paragraph;
mod table;

pub(super) use fluent::is_wordly;

use std::sync::Arc;

use self::{fence::OpenFence, list::OpenList, paragraph::OpenParagraph, table::OpenTable};
use super::{
    Options,
    build::{Region, Seam},
    parse::Outcome,
    partial::{self, Prepared},
    seal::{Piece, SMALL_WINDOW, Settled, State, rules},
};
use crate::model::{Block, BlockKind};

/// A piece up to this length is always read again.
const EAGER: usize = 8 * 1024;

/// Finished items, rows and lines of the open block are set apart in parts of about this size,
/// so that a snapshot does not copy all of a long block.
const PART: usize = 32 * 1024;

/// The open tail as it was last read.
#[derive(Default)]
pub(super) struct Tail {
    /// Its blocks.
    blocks: Vec<Arc<Block>>,
    /// How it can be taken up again.
    seam: OpenTail,
    /// Length of the text that was read, and where the last word shown of it ends when more
    /// words can be appended to it.
    read_to: usize,
    fluent: Option<usize>,
}

/// How the tail can be taken up again.
#[derive(Default)]
enum OpenTail {
    /// By reading all of it.
    #[default]
    None,
    Fence(OpenFence),
    List(OpenList),
    Table(OpenTable),
    Paragraph(OpenParagraph),
}

impl State {
    /// Brings the tail up to the text.
    pub(super) fn read_tail(&mut self, text: &str, options: Options) {
        let fresh = text.get(self.open.read_to..).unwrap_or_default();
        if let Some(blocks) = self.open.with_words(text, fresh) {
            self.tail = blocks;
            return;
        }
        if self.may_wait(fresh) {
            self.tail = self.open.with_plain(fresh);
            return;
        }
        let open = std::mem::take(&mut self.open);
        self.open = match open.seam {
            OpenTail::None => None,
            OpenTail::Fence(open) => open.resume(text),
            OpenTail::List(open) => open.resume(self, text, options),
            OpenTail::Table(open) => open.resume(self, text, options),
            OpenTail::Paragraph(open) => open.resume(self, text, options),
        }
        .unwrap_or_else(|| self.read_whole(text, options));
        self.open.read_to = text.len();
        self.tail.clone_from(&self.open.blocks);
    }

    /// True when what would have to be read again is long and has grown little.
    fn may_wait(&self, fresh: &str) -> bool {
        let from = match &self.open.seam {
            OpenTail::Fence(_) => return false,
            OpenTail::None => self.frontier,
            OpenTail::List(open) => open.item,
            OpenTail::Table(open) => open.row,
            OpenTail::Paragraph(open) => open.from,
        };
        let len = self.open.read_to.saturating_sub(from);
        len > EAGER && fresh.len() < len / 8
    }

    fn read_whole(&mut self, text: &str, options: Options) -> Tail {
        loop {
            self.skip_blank_lines(text);
            let start = self.frontier;
            let rest = text.get(start..).unwrap_or_default();
            let prepared = partial::open(rest, rules(options));
            let outcome = self.parse(Piece::new(rest, start), &prepared, options);
            let begun = |pair: &[Region]| pair[1].start < prepared.settled;
            let count = outcome.regions.windows(2).take_while(|pair| begun(pair)).count();
            let seam = outcome.seam;
            match self.settle(text, outcome, &prepared.found, count, options) {
                Settled::Rest(open, definitions) => {
                    let whole = open.len() == 1 && definitions.is_empty();
                    let blocks = open.into_iter().flat_map(|region| region.blocks);
                    let blocks: Vec<Block> = blocks.collect();
                    let seam = if whole {
                        OpenTail::at(seam, &blocks, text, start, &prepared)
                    } else {
                        OpenTail::None
                    };
                    let blocks = blocks.into_iter().map(Arc::new).collect();
                    let mut tail = Tail::new(blocks, seam, start, &prepared);
                    tail.fluent = tail.fluent.filter(|_| whole);
                    return tail;
                }
                Settled::Again => self.read_windows(text, SMALL_WINDOW, options),
            }
        }
    }

    /// Moves the frontier over blank lines, which belong to no block.
    fn skip_blank_lines(&mut self, text: &str) {
        let rest = text.get(self.frontier..).unwrap_or_default();
        let blank = rest.len() - rest.trim_start().len();
        let blank = rest.get(..blank).unwrap_or_default();
        self.frontier += blank.rfind('\n').map_or(0, |at| at + 1);
    }
}

impl Tail {
    /// A tail that was just read from `start` of the text on.
    fn new(blocks: Vec<Arc<Block>>, seam: OpenTail, start: usize, prepared: &Prepared) -> Self {
        let fluent = prepared.fluent.map(|end| start + end);
        Self { blocks, seam, read_to: 0, fluent }
    }
}

impl OpenTail {
    /// The way to take up a tail that was just read, from `start` of the text on.
    fn at(seam: Seam, blocks: &[Block], text: &str, start: usize, prepared: &Prepared) -> Self {
        let Some((last, before)) = blocks.split_last() else { return Self::None };
        match (&last.kind, seam) {
            (BlockKind::Code { closed: false, .. }, _) if before.is_empty() => {
                OpenFence::at(last, text).map_or(Self::None, Self::Fence)
            }
            (BlockKind::List { .. }, Seam::Item(at)) if before.is_empty() => {
                OpenList::at(last, start + at).map_or(Self::None, Self::List)
            }
            (BlockKind::Table { .. }, Seam::Row(at)) if before.is_empty() => {
                OpenTable::at(last, start + at).map_or(Self::None, Self::Table)
            }
            (BlockKind::Paragraph(_), Seam::Text(shown)) => {
                let Some(safe) = prepared.safe else { return Self::None };
                let open = OpenParagraph::at(blocks, last.source.start);
                let kept = start + safe <= paragraph::settled(text);
                Self::Paragraph(if kept { open.kept(last, shown, start + safe) } else { open })
            }
            _ => Self::None,
        }
    }
}

/// The only block of the only region, when the piece is still one block.
fn single(outcome: Outcome) -> Option<(Block, Seam)> {
    let Outcome { regions, seam, definitions, .. } = outcome;
    let [region] = <[_; 1]>::try_from(regions).ok()?;
    let [block] = <[_; 1]>::try_from(region.blocks).ok()?;
    definitions.is_empty().then_some((block, seam))
}
