//! Parser events to blocks: the block level.
//!
//! An explicit stack stands for the containers, so that no input nests the program's own stack;
//! past [`DEPTH_CAP`] a container is shown as the text it is made of.

use std::{ops::Range, sync::Arc};

use pulldown_cmark::{BlockQuoteKind, Event, HeadingLevel, Tag, TagEnd};

use super::{
    frames::{Frame, FrameKind, Skip, add},
    hygiene,
    inline::Leaf,
    raw::Code,
    spans::Span,
    table::Table,
};
use crate::model::{Alert, Block, BlockKind, Hygiene, RichText};

/// Containers inside one another before the rest is shown as text.
pub(super) const DEPTH_CAP: usize = 32;

/// What the builder needs to know about the text beside its events.
#[derive(Clone, Copy)]
pub(super) struct Input<'a> {
    /// The text as written.
    pub(super) original: &'a str,
    /// Formulas and the like, which the parser saw masked.
    pub(super) spans: &'a [Span],
    /// Bytes of the parser's input that are shown; behind them stand virtual closers.
    pub(super) visible: usize,
    /// Where `original` begins in the message.
    pub(super) offset: usize,
    /// Whether the text may go on.
    pub(super) streaming: bool,
    /// Soft breaks become line breaks.
    pub(super) hard_breaks: bool,
    /// A byte whose place in the shown text is asked for.
    pub(super) mark: Option<usize>,
}

/// What stands between two boundaries of the top level: usually one block.
#[derive(Debug)]
pub(super) struct Region {
    /// First byte of its first block, in the input.
    pub(super) start: usize,
    /// Byte behind it, in the input: what follows is read from here.
    pub(super) end: usize,
    /// Byte behind what the parser read for it; definitions between the two belong to both.
    pub(super) read_end: usize,
    /// Its blocks.
    pub(super) blocks: Vec<Block>,
    /// A reference in it found no definition.
    pub(super) unresolved: bool,
}

/// Where the last region can be taken up again without reading all of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Seam {
    /// Nowhere.
    #[default]
    None,
    /// At its last item, which begins here.
    Item(usize),
    /// At its last row, which begins here.
    Row(usize),
    /// At the asked byte, which stands here in the shown text.
    Text(usize),
}

/// Builds blocks from events.
pub(super) struct Builder<'a> {
    pub(super) input: Input<'a>,
    pub(super) frames: Vec<Frame>,
    pub(super) leaf: Option<Leaf>,
    pub(super) table: Option<Table>,
    pub(super) code: Option<Code>,
    pub(super) html: Option<(usize, String)>,
    pub(super) skip: Option<Skip>,
    pub(super) heading: bool,
    pub(super) region_start: Option<usize>,
    pub(super) unresolved: bool,
    pub(super) regions: Vec<Region>,
    pub(super) seam: Seam,
}

impl<'a> Builder<'a> {
    pub(super) fn new(input: Input<'a>) -> Self {
        Self {
            input,
            frames: vec![Frame { kind: FrameKind::Root, start: 0, end: 0, blocks: Vec::new() }],
            leaf: None,
            table: None,
            code: None,
            html: None,
            skip: None,
            heading: false,
            region_start: None,
            unresolved: false,
            regions: Vec::new(),
            seam: Seam::None,
        }
    }

    /// Takes the next event. `unresolved` says that a reference in it found no definition.
    pub(super) fn event(&mut self, event: Event<'_>, range: Range<usize>, unresolved: bool) {
        self.unresolved |= unresolved;
        if let Some(skip) = &mut self.skip {
            match event {
                Event::Start(_) => skip.nested += 1,
                Event::End(_) if skip.nested > 0 => skip.nested -= 1,
                Event::End(_) => self.end_skip(),
                _ => {}
            }
        } else {
            match event {
                Event::Start(tag) => self.start(tag, &range),
                Event::End(tag) => self.end(tag, &range),
                Event::Rule => {
                    self.close_leaf(range.start);
                    self.push_block(BlockKind::Rule, range.clone(), Hygiene::default());
                }
                Event::Html(text) => self.html_text(&text, &range),
                Event::Text(text) if self.html.is_some() => self.html_text(&text, &range),
                Event::Text(text) if self.code.is_some() => self.code_text(&text, &range),
                inline => self.inline(inline, &range),
            }
        }
        self.close_region(range.end);
    }

    /// The regions, and where the last one can be taken up.
    pub(super) fn finish(mut self, end: usize) -> (Vec<Region>, Seam) {
        self.close_leaf(end);
        while self.frames.len() > 1 {
            self.end_frame();
        }
        self.close_region(end);
        (self.regions, self.seam)
    }

    fn start(&mut self, tag: Tag<'_>, range: &Range<usize>) {
        match tag {
            Tag::Paragraph => {
                self.close_leaf(range.start);
                self.mark_loose();
                self.open_leaf(range.start);
            }
            Tag::Heading { .. } => {
                self.close_leaf(range.start);
                self.open_leaf(range.start);
                self.heading = true;
            }
            Tag::BlockQuote(kind) => self.open(FrameKind::Quote(kind.map(alert)), range),
            Tag::List(start) => {
                let items = Vec::new();
                self.open(FrameKind::List { start, loose: false, items }, range);
            }
            Tag::Item => {
                self.push_frame(FrameKind::Item { task: None }, range.start);
                if self.frames.len() == 3 {
                    self.seam = Seam::Item(range.start);
                }
            }
            Tag::FootnoteDefinition(label) => {
                self.open(FrameKind::Footnote(Arc::from(&*label)), range);
            }
            Tag::CodeBlock(kind) => self.start_code(kind, range.start),
            Tag::HtmlBlock => {
                self.close_leaf(range.start);
                self.html = Some((range.start, String::new()));
            }
            Tag::Table(alignments) => {
                self.close_leaf(range.start);
                self.table = Some(Table::new(range.clone(), &alignments));
            }
            Tag::TableHead | Tag::TableRow => {
                if let Some(table) = &mut self.table {
                    table.begin_row(range.start);
                }
            }
            Tag::TableCell => self.leaf = Some(Leaf::new(range.start)),
            inline => self.start_inline(inline, range),
        }
    }

    fn end(&mut self, tag: TagEnd, range: &Range<usize>) {
        match tag {
            TagEnd::Paragraph => self.end_paragraph(range.end),
            TagEnd::Heading(level) => self.end_heading(level, range),
            TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::Item | TagEnd::FootnoteDefinition => {
                self.close_leaf(range.end);
                while matches!(self.top().kind, FrameKind::Details(..)) {
                    self.end_frame();
                }
                self.end_frame();
            }
            TagEnd::CodeBlock => self.end_code(range),
            TagEnd::HtmlBlock => self.end_html(range.end),
            TagEnd::Table => self.end_table(),
            TagEnd::TableHead => {
                if let Some(table) = &mut self.table {
                    table.end_header();
                }
            }
            TagEnd::TableRow => {
                if let Some(table) = &mut self.table {
                    table.end_row();
                }
            }
            TagEnd::TableCell => self.end_cell(),
            inline => self.end_inline(inline, range),
        }
    }

    /// Sets the task mark of the innermost item.
    pub(super) fn set_task(&mut self, done: bool) {
        if let FrameKind::Item { task } = &mut self.top().kind {
            *task = Some(done);
        }
    }

    /// True while the leaf may be split into several blocks.
    pub(super) fn in_paragraph(&self) -> bool {
        let whole = self.leaf.as_ref().is_some_and(|leaf| !leaf.in_link());
        whole && self.table.is_none() && !self.heading
    }

    pub(super) fn open_leaf(&mut self, start: usize) {
        self.leaf = Some(Leaf::new(start));
    }

    /// Ends the leaf that a tight item has open, if any.
    pub(super) fn close_leaf(&mut self, end: usize) {
        if self.leaf.is_some() {
            self.end_paragraph(end);
        }
    }

    fn end_paragraph(&mut self, end: usize) {
        let Some(leaf) = self.leaf.take() else { return };
        if leaf.is_blank() {
            return;
        }
        let mark = self.input.mark.and_then(|mark| leaf.shown_offset(mark));
        let start = leaf.start;
        let (text, hygiene) = leaf.finish();
        self.push_block(BlockKind::Paragraph(text), start..end, hygiene);
        if self.frames.len() == 1 {
            self.seam = mark.map_or(Seam::None, Seam::Text);
        }
    }

    fn end_heading(&mut self, level: HeadingLevel, range: &Range<usize>) {
        let leaf = self.leaf.take().unwrap_or_else(|| Leaf::new(range.start));
        self.heading = false;
        let (text, hygiene) = leaf.finish();
        self.push_block(BlockKind::Heading { level: level as u8, text }, range.clone(), hygiene);
    }

    fn end_cell(&mut self) {
        let (Some(table), Some(leaf)) = (&mut self.table, self.leaf.take()) else { return };
        if !table.keeps_cell() {
            table.end_cell(RichText::default());
            return;
        }
        let (text, hygiene) = leaf.finish();
        add(&mut table.hygiene, hygiene);
        table.end_cell(text);
    }

    fn end_table(&mut self) {
        let Some(table) = self.table.take() else { return };
        let last_row = table.last_row;
        let (kind, range, rest, hygiene) = table.finish();
        self.push_block(kind, range, hygiene);
        if let Some(rest) = rest {
            self.push_source(rest, true);
        } else if self.frames.len() == 1 {
            self.seam = Seam::Row(last_row);
        }
    }

    /// Ends the text before a formula on its own lines, pushes the formula, and goes on.
    pub(super) fn push_math(&mut self, source: &str, range: Range<usize>, closed: bool) {
        if let Some(mut leaf) = self.leaf.take() {
            let next = leaf.continued(range.end);
            self.leaf = Some(leaf);
            self.end_paragraph(range.start);
            self.leaf = Some(next);
        }
        let mut found = Hygiene::default();
        let source = hygiene::for_code(source, &mut found).into();
        let kind = BlockKind::Math { source, display: true, closed };
        self.push_block(kind, range, found);
        self.seam = Seam::None;
    }
}

pub(super) fn clip(range: &Range<usize>, end: usize) -> Range<usize> {
    range.start.min(end)..range.end.min(end)
}

fn alert(kind: BlockQuoteKind) -> Alert {
    match kind {
        BlockQuoteKind::Note => Alert::Note,
        BlockQuoteKind::Tip => Alert::Tip,
        BlockQuoteKind::Important => Alert::Important,
        BlockQuoteKind::Warning => Alert::Warning,
        BlockQuoteKind::Caution => Alert::Caution,
    }
}
