//! Parser events to blocks: the block level.
//!
//! An explicit stack stands for the containers, so that no input nests the program's own stack;
//! past [`DEPTH_CAP`] a container is shown as the text it is made of.

use std::{ops::Range, sync::Arc};

use pulldown_cmark::{BlockQuoteKind, CodeBlockKind, Event, HeadingLevel, Tag, TagEnd};

use super::{
    html::{self, HtmlPart},
    hygiene,
    inline::Leaf,
    partial,
    spans::{Fence, Span},
    table::Table,
};
use crate::model::{Alert, Block, BlockKind, Hygiene, ListItem, RichText};

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
    table: Option<Table>,
    code: Option<Code>,
    html: Option<(usize, String)>,
    skip: Option<Skip>,
    heading: bool,
    region_start: Option<usize>,
    unresolved: bool,
    regions: Vec<Region>,
    seam: Seam,
}

/// An open container.
pub(super) struct Frame {
    kind: FrameKind,
    start: usize,
    /// Where its last child ends. The parser's own end depends on what it looked at next.
    end: usize,
    blocks: Vec<Block>,
}

enum FrameKind {
    Root,
    List { start: Option<u64>, loose: bool, items: Vec<ListItem> },
    Item { task: Option<bool> },
    Quote(Option<Alert>),
    Footnote(Arc<str>),
    Details(RichText, Hygiene),
}

struct Code {
    start: usize,
    info: String,
    fenced: bool,
    text: String,
}

/// A container past the cap: its events are counted, its source is shown.
struct Skip {
    range: Range<usize>,
    nested: usize,
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

    // Leaves.

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

    // Code and HTML.

    fn start_code(&mut self, kind: CodeBlockKind<'_>, start: usize) {
        self.close_leaf(start);
        let (info, fenced) = match kind {
            CodeBlockKind::Fenced(info) => (info.into_string(), true),
            CodeBlockKind::Indented => (String::new(), false),
        };
        self.code = Some(Code { start, info, fenced, text: String::new() });
    }

    fn code_text(&mut self, text: &str, range: &Range<usize>) {
        let text = self.as_written(text, range);
        if let Some(code) = &mut self.code {
            code.text.push_str(text);
        }
    }

    fn end_code(&mut self, range: &Range<usize>) {
        let Some(code) = self.code.take() else { return };
        let closed = !code.fenced || !self.is_open_fence(range);
        let mut found = Hygiene::default();
        let text = hygiene::for_code(&code.text, &mut found);
        let text = text.strip_suffix('\n').unwrap_or(&text);
        let word = code.info.split_whitespace().next().unwrap_or_default();
        let kind = if code.fenced && word == "math" {
            BlockKind::Math { source: text.into(), display: true, closed }
        } else {
            let language = hygiene::visible(word).into();
            BlockKind::Code { language, text: text.into(), closed }
        };
        self.push_block(kind, code.start..range.end, found);
    }

    /// True for a fence that has not been closed and may still be.
    fn is_open_fence(&self, range: &Range<usize>) -> bool {
        if !self.input.streaming || range.end < self.input.visible {
            return false;
        }
        let (before, source) =
            self.input.original.split_at_checked(range.start).unwrap_or_default();
        let column = before.len() - partial::last_line(before);
        let source = source.get(..self.input.visible - range.start).unwrap_or_default();
        let mut lines = source.lines();
        let first = lines.next().unwrap_or_default().as_bytes();
        let Some(fence) = Fence::opens(first) else { return false };
        let last = lines.next_back().unwrap_or_default();
        let indent = last.len() - last.trim_start_matches(' ').len();
        indent > column + 3 || !fence.closes(last.as_bytes())
    }

    fn html_text(&mut self, text: &str, range: &Range<usize>) {
        let text = self.as_written(text, range);
        if let Some((_, html)) = &mut self.html {
            html.push_str(text);
        }
    }

    fn end_html(&mut self, end: usize) {
        let Some((start, text)) = self.html.take() else { return };
        for part in html::parts(&text) {
            match part {
                HtmlPart::Open => {
                    let kind = FrameKind::Details(RichText::default(), Hygiene::default());
                    if self.depth() < DEPTH_CAP {
                        self.push_frame(kind, start);
                    } else {
                        self.push_verbatim("<details>", start..end);
                    }
                }
                HtmlPart::Summary(text) => self.summary(text, start..end),
                HtmlPart::Close if matches!(self.top().kind, FrameKind::Details(..)) => {
                    self.top().end = end;
                    self.end_frame();
                }
                HtmlPart::Close => self.push_verbatim("</details>", start..end),
                HtmlPart::Raw(text) => self.push_verbatim(text, start..end),
            }
        }
    }

    /// Sets the summary of the details that just opened; elsewhere it is text.
    fn summary(&mut self, text: &str, range: Range<usize>) {
        let frame = self.top();
        match &mut frame.kind {
            FrameKind::Details(summary, found) if summary.is_empty() && frame.blocks.is_empty() => {
                *summary = RichText::plain(hygiene::for_prose(text, found));
            }
            _ => self.push_verbatim(&format!("<summary>{text}</summary>"), range),
        }
    }

    fn push_verbatim(&mut self, text: &str, range: Range<usize>) {
        let mut found = Hygiene::default();
        let text = hygiene::for_code(text, &mut found);
        self.push_block(BlockKind::Verbatim(text.into()), range, found);
    }

    /// Shows a stretch of source as it was written.
    fn push_source(&mut self, range: Range<usize>, capped: bool) {
        let text = self.input.original.get(clip(&range, self.input.visible)).unwrap_or_default();
        let mut found = Hygiene { capped, ..Hygiene::default() };
        let text = hygiene::for_code(text.trim_end(), &mut found);
        if !text.is_empty() {
            self.push_block(BlockKind::Verbatim(text.into()), range, found);
        }
    }

    /// The text of a verbatim event: the original where a formula was masked, and nothing of the
    /// virtual closers.
    pub(super) fn as_written<'t>(&self, text: &'t str, range: &Range<usize>) -> &'t str
    where
        'a: 't,
    {
        let shown = clip(range, self.input.visible);
        if self.spans_in(&shown).is_empty() {
            let virtual_bytes = if text.len() == range.len() { range.end - shown.end } else { 0 };
            return text.get(..text.len() - virtual_bytes).unwrap_or(text);
        }
        self.input.original.get(shown).unwrap_or_default()
    }

    /// The spans that overlap a range.
    pub(super) fn spans_in(&self, range: &Range<usize>) -> &'a [Span] {
        let spans = self.input.spans;
        let from = spans.partition_point(|span| span.range.end <= range.start);
        let rest = spans.get(from..).unwrap_or_default();
        let count = rest.partition_point(|span| span.range.start < range.end);
        rest.get(..count).unwrap_or_default()
    }

    // Containers.

    fn top(&mut self) -> &mut Frame {
        // The root is never popped.
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    fn depth(&self) -> usize {
        let is_container =
            |frame: &&Frame| !matches!(frame.kind, FrameKind::Root | FrameKind::Item { .. });
        self.frames.iter().filter(is_container).count()
    }

    /// True inside a quote, whose marks stand at the front of every line.
    pub(super) fn in_quote(&self) -> bool {
        self.frames.iter().any(|frame| matches!(frame.kind, FrameKind::Quote(_)))
    }

    fn open(&mut self, kind: FrameKind, range: &Range<usize>) {
        self.close_leaf(range.start);
        if self.depth() >= DEPTH_CAP {
            self.begin_region(range.start);
            self.skip = Some(Skip { range: range.clone(), nested: 0 });
        } else {
            self.push_frame(kind, range.start);
        }
    }

    fn end_skip(&mut self) {
        if let Some(skip) = self.skip.take() {
            self.push_source(skip.range, true);
        }
    }

    fn push_frame(&mut self, kind: FrameKind, start: usize) {
        self.begin_region(start);
        let rest = self.input.original.as_bytes().get(start..).unwrap_or_default();
        let line = memchr::memchr2(b'\n', b'\r', rest).map_or(rest.len(), |at| at + 1);
        self.frames.push(Frame { kind, start, end: start + line, blocks: Vec::new() });
    }

    fn mark_loose(&mut self) {
        if let [.., Frame { kind: FrameKind::List { loose, .. }, .. }, item] = &mut *self.frames
            && matches!(item.kind, FrameKind::Item { .. })
        {
            *loose = true;
        }
    }

    fn end_frame(&mut self) {
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

    fn push_block(&mut self, kind: BlockKind, range: Range<usize>, hygiene: Hygiene) {
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
    fn close_region(&mut self, end: usize) {
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

pub(super) fn clip(range: &Range<usize>, end: usize) -> Range<usize> {
    range.start.min(end)..range.end.min(end)
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

fn alert(kind: BlockQuoteKind) -> Alert {
    match kind {
        BlockQuoteKind::Note => Alert::Note,
        BlockQuoteKind::Tip => Alert::Tip,
        BlockQuoteKind::Important => Alert::Important,
        BlockQuoteKind::Warning => Alert::Warning,
        BlockQuoteKind::Caution => Alert::Caution,
    }
}
