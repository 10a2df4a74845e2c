//! The open tail: how a growing block is shown without reading all of it each time.
//!
//! A long block is taken up at a seam. A fence grows by lines, without the parser. Of a list only
//! the last item is read again, of a table the last row, of a paragraph what stands behind the
//! last word before which no inline construct was open. What a seam cannot express (and it
//! notices: the piece then is not what it was) falls back to reading the whole tail. A tail
//! without a seam, once it is longer than [`EAGER`], is read again only when it has grown by an
//! eighth, and what came since is shown as plain text until then.
//!
//! None of this reaches a sealed block: sealing reads the block whole, once.

use std::sync::Arc;

use super::{
    Options,
    build::{self, Seam},
    hygiene,
    parse::Outcome,
    partial::{self, Prepared},
    spans::Fence,
    stream::{Piece, SMALL_WINDOW, Settled, State, rules},
};
use crate::model::{Align, Block, BlockKind, Hygiene, ListItem, RichText};

/// A tail up to this length is always read again.
const EAGER: usize = 32 * 1024;

/// Finished items, rows and lines of the open block are set apart in parts of about this size,
/// so that a snapshot does not copy all of a long block.
const PART: usize = 32 * 1024;

/// A paragraph keeps at least this much text together.
const PARAGRAPH_STEP: usize = 96;

/// How the tail can be taken up again.
#[derive(Default)]
pub(super) enum OpenTail {
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
        let resumed = match std::mem::take(&mut self.open) {
            OpenTail::None => None,
            OpenTail::Fence(open) => open.resume(self, text),
            OpenTail::List(open) => open.resume(self, text, options),
            OpenTail::Table(open) => open.resume(self, text, options),
            OpenTail::Paragraph(open) => open.resume(self, text, options),
        };
        match resumed {
            Some(open) => {
                self.read_to = text.len();
                self.open = open;
            }
            None if self.may_wait(text) => self.append_plain(text),
            None => self.read_whole(text, options),
        }
    }

    /// True when the tail is long and has grown little since it was read.
    fn may_wait(&self, text: &str) -> bool {
        let Some(len) = self.read_to.checked_sub(self.frontier) else { return false };
        len > EAGER && text.len() - self.read_to < len / 8
    }

    fn append_plain(&mut self, text: &str) {
        self.tail.truncate(self.read_blocks);
        let fresh = text.get(self.read_to..).unwrap_or_default();
        let mut found = Hygiene::default();
        let shown = hygiene::for_prose(fresh.trim_end(), &mut found);
        if !shown.trim().is_empty() {
            let kind = BlockKind::Paragraph(RichText::plain(shown));
            let source = self.read_to..text.len();
            self.tail.push(Arc::new(Block { kind, source, hygiene: found }));
        }
    }

    fn read_whole(&mut self, text: &str, options: Options) {
        let (blocks, seam, prepared) = loop {
            self.skip_blank_lines(text);
            let rest = text.get(self.frontier..).unwrap_or_default();
            let prepared = partial::open(rest, rules(options));
            let outcome = self.parse(Piece::new(rest, self.frontier), &prepared, options);
            let begun = |pair: &[build::Region]| pair[1].start < prepared.settled;
            let count = outcome.regions.windows(2).take_while(|pair| begun(pair)).count();
            // Offsets of a seam count from where this parse began.
            let seam = if count == 0 { outcome.seam } else { Seam::None };
            match self.settle(text, outcome, &prepared.found, count, options) {
                Settled::Rest(open, definitions) => {
                    let seam = Some(seam).filter(|_| open.len() == 1 && definitions.is_empty());
                    let blocks = open.into_iter().flat_map(|region| region.blocks);
                    break (blocks.collect::<Vec<Block>>(), seam, prepared);
                }
                Settled::Again => self.read_windows(text, SMALL_WINDOW, options),
            }
        };
        self.open = seam.map_or(OpenTail::None, |seam| {
            OpenTail::at(seam, &blocks, text, self.frontier, &prepared)
        });
        self.tail = blocks.into_iter().map(Arc::new).collect();
        self.read_to = text.len();
        self.read_blocks = self.tail.len();
    }

    /// Moves the frontier over blank lines, which belong to no block.
    fn skip_blank_lines(&mut self, text: &str) {
        let rest = text.get(self.frontier..).unwrap_or_default();
        let blank = rest.len() - rest.trim_start().len();
        let blank = rest.get(..blank).unwrap_or_default();
        self.frontier += blank.rfind('\n').map_or(0, |at| at + 1);
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
                let open = OpenParagraph {
                    before: before.iter().cloned().map(Arc::new).collect(),
                    text: RichText::default(),
                    hygiene: Hygiene::default(),
                    start: last.source.start,
                    from: last.source.start,
                };
                Self::Paragraph(open.kept(last, shown, start + safe))
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

/// A fence at the top level.
pub(super) struct OpenFence {
    fence: Fence,
    indent: usize,
    language: Arc<str>,
    parts: Vec<Arc<Block>>,
    /// Code behind the parts: whole lines.
    code: String,
    hygiene: Hygiene,
    /// Where `code` begins, and where the lines end that are in it.
    from: usize,
    to: usize,
    closed: bool,
}

impl OpenFence {
    fn at(block: &Block, text: &str) -> Option<Self> {
        let BlockKind::Code { language, .. } = &block.kind else { return None };
        let source = text.get(block.source.start..)?;
        let first = source.lines().next()?;
        let line_start = partial::last_line(text.get(..block.source.start)?);
        let fence = Fence::opens(first.as_bytes())?;
        let to = block.source.start + source.find('\n')? + 1;
        Some(Self {
            fence,
            indent: block.source.start - line_start,
            language: Arc::clone(language),
            parts: Vec::new(),
            code: String::new(),
            hygiene: Hygiene::default(),
            from: block.source.start,
            to,
            closed: false,
        })
    }

    fn resume(mut self, state: &mut State, text: &str) -> Option<OpenTail> {
        let rest = text.get(self.to..)?;
        let whole = rest.rfind('\n').map_or(0, |at| at + 1);
        let (lines, open) = rest.split_at(whole);
        for line in lines.split_inclusive('\n') {
            self.line(line)?;
        }
        self.to += whole;
        if self.closed && !open.trim().is_empty() {
            return None;
        }
        let mut tail = self.parts.clone();
        tail.push(Arc::new(self.block(open, text.len())));
        state.tail = tail;
        Some(OpenTail::Fence(self))
    }

    /// Takes a whole line; none when something other than code begins.
    fn line(&mut self, line: &str) -> Option<()> {
        if self.closed {
            return line.trim().is_empty().then_some(());
        }
        let code = self.unindent(line);
        if self.ends(code) {
            self.closed = true;
            return Some(());
        }
        self.code.push_str(&hygiene::for_code(code, &mut self.hygiene));
        if self.code.len() > PART {
            let end = self.to;
            let part = self.block("", end);
            self.parts.push(Arc::new(part));
            self.code.clear();
            self.hygiene = Hygiene::default();
            self.from = end;
        }
        Some(())
    }

    fn ends(&self, code: &str) -> bool {
        let indent = code.bytes().take_while(|b| *b == b' ').count();
        indent < 4 && !code.trim_start().starts_with('>') && self.fence.closes(code.as_bytes())
    }

    fn unindent<'t>(&self, line: &'t str) -> &'t str {
        let spaces = line.bytes().take(self.indent).take_while(|b| *b == b' ').count();
        line.get(spaces..).unwrap_or_default()
    }

    /// The code behind the parts, with the line that is still arriving.
    fn block(&self, open: &str, end: usize) -> Block {
        let mut hygiene = self.hygiene;
        let open = self.unindent(open);
        let marks = open.trim();
        let may_end = !marks.is_empty() && marks.bytes().all(|b| b == self.fence.mark);
        let mut code = self.code.clone();
        if !may_end {
            code.push_str(&hygiene::for_code(open, &mut hygiene));
        }
        let text = code.strip_suffix('\n').unwrap_or(&code).into();
        let language = Arc::clone(&self.language);
        let kind = BlockKind::Code { language, text, closed: self.closed };
        Block { kind, source: self.from..end, hygiene }
    }
}

/// A list at the top level: its finished items, and where the last one begins.
pub(super) struct OpenList {
    parts: Vec<Arc<Block>>,
    first: Option<u64>,
    tight: bool,
    items: Vec<ListItem>,
    hygiene: Hygiene,
    from: usize,
    item: usize,
}

impl OpenList {
    fn at(block: &Block, item: usize) -> Option<Self> {
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
            build::add(&mut self.hygiene, build::sum(&item.blocks));
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

    fn resume(mut self, state: &mut State, text: &str, options: Options) -> Option<OpenTail> {
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
            build::add(&mut hygiene, build::sum(&item.blocks));
            shown.push(item);
        }
        let kind = BlockKind::List { start: self.first, tight: self.tight, items: shown };
        let mut tail = self.parts.clone();
        tail.push(Arc::new(Block { kind, source: self.from..block.source.end, hygiene }));
        state.tail = tail;
        Some(OpenTail::List(self))
    }
}

/// A table at the top level: its finished rows, and where the last one begins.
pub(super) struct OpenTable {
    parts: Vec<Arc<Block>>,
    /// A short header and delimiter row that make a table of the same columns.
    head: String,
    align: Vec<Align>,
    header: Vec<RichText>,
    rows: Vec<Vec<RichText>>,
    hygiene: Hygiene,
    from: usize,
    row: usize,
    cells: usize,
}

impl OpenTable {
    fn at(block: &Block, row: usize) -> Option<Self> {
        let BlockKind::Table { align, header, rows } = &block.kind else { return None };
        if rows.is_empty() {
            return None;
        }
        let mut open = Self {
            parts: Vec::new(),
            head: head_like(align),
            align: align.clone(),
            header: header.clone(),
            rows: Vec::new(),
            hygiene: block.hygiene,
            from: block.source.start,
            row,
            cells: header.len(),
        };
        open.keep(rows.iter().take(rows.len() - 1).cloned(), row);
        Some(open)
    }

    fn keep(&mut self, rows: impl Iterator<Item = Vec<RichText>>, row: usize) {
        let before = self.rows.len();
        self.rows.extend(rows);
        self.cells += (self.rows.len() - before) * self.align.len();
        self.row = row;
        if self.row - self.from > PART && !self.rows.is_empty() {
            let rows = std::mem::take(&mut self.rows);
            let part = self.block(rows, self.row);
            self.parts.push(Arc::new(part));
            self.from = self.row;
        }
    }

    fn block(&self, rows: Vec<Vec<RichText>>, end: usize) -> Block {
        let (align, header) = (self.align.clone(), self.header.clone());
        let kind = BlockKind::Table { align, header, rows };
        Block { kind, source: self.from..end, hygiene: self.hygiene }
    }

    fn resume(mut self, state: &mut State, text: &str, options: Options) -> Option<OpenTail> {
        // Rows stand in the text where the short head does not: offsets count from the row.
        let head = self.head.len();
        let piece = format!("{}{}", self.head, text.get(self.row..)?);
        let prepared = partial::open(&piece, rules(options));
        let outcome = state.parse(Piece::new(&piece, 0), &prepared, options);
        let (block, Seam::Row(row)) = single(outcome)? else { return None };
        let BlockKind::Table { align, rows, .. } = block.kind else { return None };
        let grown = self.cells + rows.len() * align.len();
        if align != self.align || rows.is_empty() || grown > super::table::CELL_CAP {
            return None;
        }
        build::add(&mut self.hygiene, block.hygiene);
        let mut rows = rows.into_iter();
        let count = rows.len() - 1;
        let row = self.row + row.checked_sub(head)?;
        self.keep(rows.by_ref().take(count), row);
        let shown = self.rows.iter().cloned().chain(rows).collect();
        let mut tail = self.parts.clone();
        tail.push(Arc::new(self.block(shown, text.len())));
        state.tail = tail;
        Some(OpenTail::Table(self))
    }
}

/// The shortest head of a table with these columns.
fn head_like(align: &[Align]) -> String {
    let delimiters = align.iter().map(|align| match align {
        Align::None => "|-",
        Align::Left => "|:-",
        Align::Center => "|:-:",
        Align::Right => "|-:",
    });
    format!("{}|\n{}|\n", "|a".repeat(align.len()), delimiters.collect::<String>())
}

/// A paragraph at the top level: the text before which nothing is open, and where it ends.
pub(super) struct OpenParagraph {
    before: Vec<Arc<Block>>,
    text: RichText,
    hygiene: Hygiene,
    start: usize,
    from: usize,
}

impl OpenParagraph {
    /// Keeps the first `shown` bytes of what `block` shows, which end at `safe` in the text.
    fn kept(mut self, block: &Block, shown: usize, safe: usize) -> Self {
        if let BlockKind::Paragraph(rich) = &block.kind
            && safe >= self.from + PARAGRAPH_STEP
        {
            append(&mut self.text, rich, shown);
            // Counted with the words behind the seam too: a tail's badge may come early.
            self.hygiene = block.hygiene;
            self.from = safe;
        }
        self
    }

    fn resume(self, state: &mut State, text: &str, options: Options) -> Option<OpenTail> {
        let piece = text.get(self.from..)?;
        let prepared = partial::open(piece, rules(options));
        let outcome = state.parse(Piece::new(piece, self.from), &prepared, options);
        let (block, seam) = single(outcome)?;
        let BlockKind::Paragraph(rich) = &block.kind else { return None };
        let mut shown = self.text.clone();
        append(&mut shown, rich, rich.text.len());
        let mut hygiene = self.hygiene;
        build::add(&mut hygiene, block.hygiene);
        let mut tail = self.before.clone();
        let kind = BlockKind::Paragraph(shown);
        tail.push(Arc::new(Block { kind, source: self.start..block.source.end, hygiene }));
        state.tail = tail;
        let from = self.from;
        Some(OpenTail::Paragraph(match (seam, prepared.safe) {
            (Seam::Text(shown), Some(safe)) => self.kept(&block, shown, from + safe),
            _ => self,
        }))
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
