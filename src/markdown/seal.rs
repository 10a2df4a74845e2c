//! What is known about a text, and how its regions are sealed.
//!
//! The text falls into regions: what lies between two boundaries of the top level. A region is
//! sealed once the next one has begun for good; a sealed region was parsed whole, in its final
//! form, so that its blocks are those of the finished text. Behind the sealed regions stands the
//! open tail, of which only the end is read again (see [`super::tail`]).

use std::sync::Arc;

use super::{
    Options,
    build::{Input, Region},
    inline::LINK_CAP,
    links,
    parse::{self, Definitions, FoundDefinition, Outcome},
    partial::{self, Prepared},
    spans::{Found, Rules},
    tail::Tail,
};
use crate::model::Block;

/// A finished text is read in steps of this many bytes, to bound the parser's memory.
const WINDOW: usize = 256 * 1024;

/// The first step behind a place where the scan for formulas had to begin anew.
pub(super) const SMALL_WINDOW: usize = 1024;

/// What is known about a text.
#[derive(Default)]
pub(super) struct State {
    /// The open tail begins here.
    pub(super) frontier: usize,
    pub(super) sealed: Vec<Arc<Block>>,
    pub(super) shared: Option<Arc<[Arc<Block>]>>,
    seals: Vec<Seal>,
    /// Links in the sealed blocks, uncapped.
    links: usize,
    definitions: Definitions,
    /// The blocks behind the sealed ones.
    pub(super) tail: Vec<Arc<Block>>,
    /// What is needed to take the tail up again.
    pub(super) open: Tail,
    /// Length of the text that the tail shows.
    seen: usize,
    /// Bytes handed to the parser.
    pub(super) parsed: u64,
}

/// What is left when regions have been sealed.
pub(super) enum Settled {
    /// These regions, and the definitions among and behind them.
    Rest(Vec<Region>, Vec<FoundDefinition>),
    /// The text behind the frontier has to be read again.
    Again,
}

/// A sealed region.
struct Seal {
    end: usize,
    read_end: usize,
    blocks: usize,
    /// Definitions known when it was parsed.
    definitions: usize,
    /// A reference in it found none.
    unresolved: bool,
    /// The parser may have stopped resolving references.
    heavy: bool,
}

impl State {
    pub(super) fn advance(&mut self, text: &str, options: Options) {
        if text.len() == self.seen {
            return;
        }
        self.read_bulk(text, options);
        self.read_tail(text, options);
        self.seen = text.len();
    }

    pub(super) fn finish(mut self, text: &str, options: Options) -> Arc<[Arc<Block>]> {
        self.read_bulk(text, options);
        loop {
            let rest = text.get(self.frontier..).unwrap_or_default();
            let prepared = partial::finished(rest, rules(options));
            let outcome = self.parse(Piece::new(rest, self.frontier), &prepared, options);
            let count = outcome.regions.len();
            if let Settled::Rest(_, definitions) =
                self.settle(text, outcome, &prepared.found, count, options)
            {
                self.definitions.add(definitions, usize::MAX);
                break;
            }
            self.read_windows(text, SMALL_WINDOW, options);
        }
        self.resolve_late(text, options);
        self.sealed.into()
    }

    /// Seals what has arrived in bulk, without a thought for how its end looks.
    fn read_bulk(&mut self, text: &str, options: Options) {
        let known = self.seen.max(self.frontier);
        if text.len() - known > WINDOW {
            self.open = Tail::default();
            self.read_windows(text, known - self.frontier + WINDOW, options);
        }
    }

    /// Seals window by window, until what is left fits into one.
    pub(super) fn read_windows(&mut self, text: &str, first: usize, options: Options) {
        let mut window = first;
        loop {
            let rest = text.get(self.frontier..).unwrap_or_default();
            let Some(front) = rest.as_bytes().get(..window).filter(|_| rest.len() > window) else {
                return;
            };
            let end = memchr::memrchr(b'\n', front).map_or(0, |at| at + 1);
            let part = rest.get(..end).unwrap_or_default();
            let prepared = partial::cut_short(part, rules(options));
            let outcome = self.parse(Piece::new(part, self.frontier), &prepared, options);
            let count = outcome.regions.len().saturating_sub(1);
            window = match self.settle(text, outcome, &prepared.found, count, options) {
                Settled::Again => SMALL_WINDOW,
                Settled::Rest(..) if count == 0 || window < WINDOW => window * 2,
                Settled::Rest(..) => WINDOW,
            };
        }
    }

    /// Seals the first `count` regions of a parse that began at the frontier.
    ///
    /// Where the scan for formulas took bytes on both sides of a boundary for one thing, it was
    /// wrong: the region in front of it is read by itself, and the text behind it again.
    pub(super) fn settle(
        &mut self,
        text: &str,
        outcome: Outcome,
        found: &Found,
        count: usize,
        options: Options,
    ) -> Settled {
        let settled = outcome.regions.iter().take(count);
        let Some(crossed) = settled.map(|region| region.end).position(|end| found.crosses(end))
        else {
            return self.seal(outcome, count);
        };
        let region = outcome.regions.get(crossed);
        let ends = region.map_or([0, 0], |region| [region.end, region.read_end]);
        let [end, read_end] = ends.map(|end| end + self.frontier);
        self.seal(outcome, crossed);
        let region = text.get(self.frontier..read_end).unwrap_or_default();
        let prepared = partial::finished(region, rules(options));
        let alone = self.parse(Piece::new(region, self.frontier), &prepared, options);
        let count = alone.regions.len();
        if let Settled::Rest(_, definitions) = self.seal(alone, count) {
            self.definitions.add(definitions, usize::MAX);
        }
        self.frontier = end;
        Settled::Again
    }

    /// Parses a piece of the text.
    pub(super) fn parse(
        &mut self,
        piece: Piece<'_>,
        prepared: &Prepared,
        options: Options,
    ) -> Outcome {
        let input = Input {
            original: piece.text,
            spans: &prepared.found.spans,
            visible: prepared.visible,
            offset: piece.offset,
            streaming: prepared.streaming,
            hard_breaks: options.hard_breaks,
            mark: prepared.safe,
        };
        let text = prepared.text.as_deref().unwrap_or(piece.text);
        self.parsed += text.len() as u64;
        parse::parse(text, input, &self.definitions)
    }

    /// Seals the first `count` regions of a parse that began at the frontier.
    fn seal(&mut self, outcome: Outcome, count: usize) -> Settled {
        let Outcome { mut regions, mut definitions, heavy, .. } = outcome;
        let rest = regions.split_off(count);
        let end = regions.last().map_or(0, |region| region.end);
        // A definition behind the frontier may itself still be arriving.
        let open = definitions.split_off(definitions.partition_point(|found| found.start < end));
        self.definitions.add(definitions, end);
        let offset = self.frontier;
        for Region { end, read_end, mut blocks, unresolved, .. } in regions {
            self.cap_links(&mut blocks);
            self.seals.push(Seal {
                end: offset + end,
                read_end: offset + read_end,
                blocks: blocks.len(),
                definitions: self.definitions.len(),
                unresolved,
                heavy,
            });
            self.sealed.extend(blocks.into_iter().map(Arc::new));
            self.frontier = offset + end;
        }
        Settled::Rest(rest, open)
    }

    /// Links past the cap become plain text.
    fn cap_links(&mut self, blocks: &mut [Block]) {
        for block in blocks {
            let found = links::count(block);
            let mut keep = LINK_CAP.saturating_sub(self.links);
            if found > keep {
                links::keep_first(block, &mut keep);
                block.hygiene.capped = true;
            }
            self.links += found;
        }
    }

    /// Reads those regions again that refer to a definition which came after them.
    fn resolve_late(&mut self, text: &str, options: Options) {
        let known = self.definitions.len();
        let late = |seal: &Seal| seal.heavy || (seal.unresolved && seal.definitions < known);
        if known == 0 || !self.seals.iter().any(late) {
            return;
        }
        let mut old = std::mem::take(&mut self.sealed).into_iter();
        self.links = 0;
        let mut start = 0;
        for seal in std::mem::take(&mut self.seals) {
            let region = text.get(start..seal.read_end).unwrap_or_default();
            let mut kept: Vec<_> = old.by_ref().take(seal.blocks).collect();
            if late(&seal) {
                let prepared = partial::finished(region, rules(options));
                let outcome = self.parse(Piece::new(region, start), &prepared, options);
                let mut blocks: Vec<_> =
                    outcome.regions.into_iter().flat_map(|region| region.blocks).collect();
                self.cap_links(&mut blocks);
                let same = kept.len() == blocks.len()
                    && kept.iter().zip(&blocks).all(|(old, new)| **old == *new);
                if !same {
                    kept = blocks.into_iter().map(Arc::new).collect();
                }
            } else {
                kept.iter_mut().for_each(|block| self.cap_sealed(block));
            }
            self.sealed.extend(kept);
            start = seal.end;
        }
    }

    /// The cap again, for a block that stands behind newly resolved links.
    fn cap_sealed(&mut self, block: &mut Arc<Block>) {
        let found = links::count(block);
        let mut keep = LINK_CAP.saturating_sub(self.links);
        if found > keep {
            let block = Arc::make_mut(block);
            links::keep_first(block, &mut keep);
            block.hygiene.capped = true;
        }
        self.links += found;
    }
}

/// A stretch of the message.
#[derive(Clone, Copy)]
pub(super) struct Piece<'a> {
    text: &'a str,
    offset: usize,
}

impl<'a> Piece<'a> {
    pub(super) fn new(text: &'a str, offset: usize) -> Self {
        Self { text, offset }
    }
}

pub(super) fn rules(options: Options) -> Rules {
    Rules { dollar_math: options.dollar_math, streaming: false }
}
