//! Flow: blocks of a text become specs, with the frames that nesting gives them.

use std::{hash::Hasher as _, ops::Range, sync::Arc};

use smallvec::SmallVec;

use crate::{
    layout::{
        Voice,
        spec::{
            Action, Bar, BlockRef, Card, Content, ESTIMATE_WIDTH, Face, Fold, FoldKind, Frame,
            Ground, Label, Marker, Segment, SlugKey, Spec, Strand, Tone,
        },
    },
    model::{Alert, Block, BlockKind, ListItem, MessageId},
};

/// Text in one slug, at most about this many bytes.
pub const SLUG_BYTES: usize = 4096;
/// Code or output lines in one slug.
pub const SLUG_LINES: usize = 32;
/// Code lines in one slug of an open tail.
const OPEN_SLUG_LINES: usize = 8;
/// Rows of a table in one slug of an open tail.
const OPEN_SLUG_ROWS: usize = 2;
/// Rows of a table in one slug.
pub const SLUG_ROWS: usize = 24;

/// Which edges of a card a message holds.
#[derive(Clone, Copy, Debug)]
pub struct Edges {
    /// It begins here.
    pub first: bool,
    /// It ends here.
    pub last: bool,
}

const PARAGRAPH_GAP: f32 = 12.0;
const TIGHT_GAP: f32 = 4.0;
const BLOCK_GAP: f32 = 14.0;
const ITEM_INDENT: f32 = 26.0;
const QUOTE_INDENT: f32 = 18.0;
/// Average advance of a character relative to the font size.
const ADVANCE: f32 = 0.49;

/// Where laying down can go on when more of a streaming text has been sealed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resume {
    /// The part whose text is open.
    pub part: usize,
    /// Sealed blocks of it that are laid down.
    pub sealed: usize,
    /// Specs up to there.
    pub specs: usize,
    gap: f32,
    key: SlugKey,
}

/// Collects the specs of one message while blocks, labels and cards are laid down.
pub struct Flow<'a> {
    specs: Vec<Spec>,
    frame: Frame,
    key: SlugKey,
    gap: f32,
    marker: Option<Marker>,
    /// What is laid down belongs to an open tail.
    open: bool,
    is_open: &'a dyn Fn(Fold, bool) -> bool,
    message: MessageId,
    resume: Option<Resume>,
    strand: Strand,
    within: SmallVec<[Fold; 2]>,
}

impl<'a> Flow<'a> {
    /// An empty flow for a message; `is_open` says whether a fold is open, given its default.
    pub fn new(message: MessageId, is_open: &'a dyn Fn(Fold, bool) -> bool) -> Self {
        Self {
            specs: Vec::new(),
            frame: Frame::default(),
            key: SlugKey::default(),
            gap: 0.0,
            marker: None,
            open: false,
            is_open,
            message,
            resume: None,
            strand: Strand::Message,
            within: SmallVec::new(),
        }
    }

    /// A flow that goes on where an earlier one of the same message sealed its last block.
    pub fn resumed(
        message: MessageId,
        is_open: &'a dyn Fn(Fold, bool) -> bool,
        mut specs: Vec<Spec>,
        resume: Resume,
    ) -> Self {
        specs.truncate(resume.specs);
        Self { specs, gap: resume.gap, key: resume.key, ..Self::new(message, is_open) }
    }

    /// Remembers that laying down can go on here once further blocks are sealed. Inside
    /// cards and quotes it cannot: their edges depend on what follows.
    pub fn mark(&mut self, sealed: usize) {
        let plain = self.frame == Frame::default() && self.marker.is_none();
        self.resume = plain.then(|| Resume {
            part: usize::from(self.key.part),
            sealed,
            specs: self.specs.len(),
            gap: self.gap,
            key: self.key,
        });
    }

    /// The specs in reading order, and where laying down could go on.
    #[must_use]
    pub fn finish(self) -> (Vec<Spec>, Option<Resume>) {
        (self.specs, self.resume)
    }

    /// True when nothing was laid down yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.specs.is_empty()
    }

    /// Begins a part of the message.
    pub fn part(&mut self, index: usize) {
        let part = u16::try_from(index).unwrap_or(u16::MAX);
        if part == self.key.part {
            // The header of a group stands in the part of its first call.
            return self.next_leaf();
        }
        self.key = SlugKey { part, leaf: 0, chunk: 0 };
    }

    /// A fold of the current part.
    #[must_use]
    pub fn fold(&self, kind: FoldKind) -> Fold {
        Fold { message: self.message, part: self.key.part, kind }
    }

    /// The fold of the message's group of calls; a message has at most one.
    #[must_use]
    pub fn group_fold(&self) -> Fold {
        Fold { message: self.message, part: 0, kind: FoldKind::Group }
    }

    /// True when a fold is open.
    #[must_use]
    pub fn is_open(&self, fold: Fold, default: bool) -> bool {
        (self.is_open)(fold, default)
    }

    /// Asks for room before what comes next; the largest wish wins.
    pub fn gap(&mut self, points: f32) {
        self.gap = self.gap.max(points);
    }

    /// Sets what follows in the second voice, or stops doing so.
    pub fn dim(&mut self, dim: bool) {
        self.frame.dim = dim;
    }

    /// Marks what follows as part of an open tail.
    pub fn open_tail(&mut self, open: bool) {
        self.open = open;
    }

    /// Lays `body` on a ground with this padding in x and y. The ground spans everything
    /// that `body` lays down.
    pub fn card(&mut self, ground: Ground, pads: [f32; 2], body: impl FnOnce(&mut Self)) {
        self.card_part(ground, pads, Edges { first: true, last: true }, body);
    }

    /// Like [`Self::card`] for a ground that other messages began or go on with.
    pub fn card_part(
        &mut self,
        ground: Ground,
        [pad_x, pad_y]: [f32; 2],
        edges: Edges,
        body: impl FnOnce(&mut Self),
    ) {
        let card = Card {
            ground,
            left: self.frame.left,
            right: self.frame.right,
            pad_top: pad_y,
            pad_bottom: pad_y,
            first: edges.first,
            last: false,
        };
        self.on_card(card, pad_x, edges.last, body);
    }

    /// Lays `body` on a ground as wide as the card it is in: the output under a header.
    pub fn inset(&mut self, ground: Ground, pad_y: f32, body: impl FnOnce(&mut Self)) {
        let Some(outer) = self.frame.cards.last().copied() else { return body(self) };
        let card =
            Card { ground, pad_top: pad_y, pad_bottom: pad_y, first: true, last: false, ..outer };
        self.on_card(card, 0.0, true, body);
    }

    fn on_card(&mut self, card: Card, pad_x: f32, ends: bool, body: impl FnOnce(&mut Self)) {
        let (depth, from) = (self.frame.cards.len(), self.specs.len());
        self.frame.cards.push(card);
        self.frame.left += pad_x;
        self.frame.right += pad_x;
        body(self);
        self.frame.left -= pad_x;
        self.frame.right -= pad_x;
        self.frame.cards.truncate(depth);
        let last = self.specs.get_mut(from..).and_then(<[Spec]>::last_mut);
        if let Some(card) = last.and_then(|spec| spec.frame.cards.get_mut(depth)) {
            card.last = ends;
        }
    }

    fn pad_bottom(&mut self, points: f32) {
        if let Some(card) = self.frame.cards.last_mut() {
            card.pad_bottom = points;
        }
    }

    /// Moves `body` to the right.
    pub fn indented(&mut self, points: f32, body: impl FnOnce(&mut Self)) {
        self.frame.left += points;
        body(self);
        self.frame.left -= points;
    }

    fn barred(&mut self, tone: Tone, body: impl FnOnce(&mut Self)) {
        let depth = self.frame.bars.len();
        self.frame.bars.push(Bar { x: self.frame.left, tone, first: true });
        self.indented(QUOTE_INDENT, body);
        self.frame.bars.truncate(depth);
    }

    /// Lays down `body` as words of this kind.
    pub fn strand(&mut self, strand: Strand, body: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.strand, strand);
        body(self);
        self.strand = outer;
    }

    /// Lays down `body`, which is only there while `fold` is open.
    pub fn within(&mut self, fold: Fold, body: impl FnOnce(&mut Self)) {
        let depth = self.within.len();
        self.within.push(fold);
        body(self);
        self.within.truncate(depth);
    }

    /// Lays down one slug.
    pub fn push(&mut self, content: Content, height: f32) {
        let mut frame = self.frame.clone();
        frame.gap = std::mem::take(&mut self.gap);
        frame.marker = self.marker.take();
        let pads: f32 = frame.cards.iter().map(|c| if c.first { c.pad_top } else { 0.0 }).sum();
        self.specs.push(Spec {
            key: self.key,
            content,
            estimate: frame.gap + pads + height,
            frame,
            look: 0,
            open: self.open,
            strand: self.strand,
            within: self.within.clone(),
        });
        self.key.chunk += 1;
        // Only the first slug of a card or bar begins it.
        self.frame.cards.iter_mut().for_each(|card| card.first = false);
        self.frame.bars.iter_mut().for_each(|bar| bar.first = false);
    }

    /// Lays down a line of interface.
    pub fn label(&mut self, label: Label) {
        self.strand(Strand::Interface, |flow| flow.title(label));
    }

    /// Lays down a line whose words belong to what is shown, as a call's command does.
    pub fn title(&mut self, label: Label) {
        self.push(Content::Label(Arc::new(label)), Voice::Interface.line());
    }

    /// Lays down blocks one after the other.
    pub fn blocks<'b>(&mut self, blocks: impl IntoIterator<Item = &'b Arc<Block>>) {
        for root in blocks {
            self.block(&BlockRef { root: Arc::clone(root), path: SmallVec::new() }, 0);
        }
    }

    /// Lays down plain text in chunks of a slug each.
    pub fn plain(&mut self, text: &Arc<str>, voice: Voice) {
        self.next_leaf();
        for range in chunks(text, 0..text.len(), voice) {
            let height = estimate(slice(text, &range), voice, self.width());
            self.push(Content::Plain(Arc::clone(text), range, voice), height);
        }
    }

    /// Lays down lines in chunks of a slug each.
    pub fn lines(
        &mut self,
        text: &str,
        ranges: Range<usize>,
        content: impl Fn(Range<u32>) -> Content,
    ) {
        self.next_leaf();
        for (range, lines) in line_chunks(text, ranges, self.slug_lines()) {
            self.push(content(range), lines as f32 * Voice::Code.line());
        }
    }

    /// Begins the next leaf of the part.
    pub fn next_leaf(&mut self) {
        self.key.leaf += 1;
        self.key.chunk = 0;
    }

    /// Lines of code in one slug: few while they arrive, since the last slug is set anew
    /// with each of them.
    fn slug_lines(&self) -> usize {
        if self.open { OPEN_SLUG_LINES } else { SLUG_LINES }
    }

    fn slug_rows(&self) -> usize {
        if self.open { OPEN_SLUG_ROWS } else { SLUG_ROWS }
    }

    fn width(&self) -> f32 {
        (ESTIMATE_WIDTH - self.frame.left - self.frame.right).max(80.0)
    }

    fn block(&mut self, at: &BlockRef, depth: u8) {
        self.next_leaf();
        let block = at.block();
        match &block.kind {
            BlockKind::Paragraph(text) => {
                self.gap(PARAGRAPH_GAP);
                self.prose(at, &text.text, Voice::Body);
            }
            BlockKind::Heading { level, text } => {
                self.gap(if *level <= 2 { 24.0 } else { 20.0 });
                self.prose(at, &text.text, Voice::Heading(*level));
                self.gap(8.0);
            }
            BlockKind::Code { text, .. } => self.code(at, text),
            BlockKind::List { start, tight, items } => self.list(at, *start, *tight, items, depth),
            BlockKind::Quote { alert: None, blocks } => {
                self.gap(BLOCK_GAP);
                let dim = std::mem::replace(&mut self.frame.dim, true);
                self.barred(Tone::Line, |flow| flow.children(at, blocks.len(), depth));
                self.frame.dim = dim;
            }
            BlockKind::Quote { alert: Some(alert), blocks } => {
                self.gap(BLOCK_GAP);
                self.barred(alert_tone(*alert), |flow| {
                    flow.push(Content::AlertTitle(*alert), Voice::Body.line());
                    flow.gap(TIGHT_GAP);
                    flow.children(at, blocks.len(), depth);
                });
            }
            BlockKind::Table { rows, .. } => self.table(at, rows.len()),
            BlockKind::Rule => {
                self.gap(BLOCK_GAP);
                self.push(Content::Rule, 9.0);
                self.gap(BLOCK_GAP);
            }
            BlockKind::Math { source, .. } => {
                self.gap(BLOCK_GAP);
                self.verbatim(at, source);
            }
            BlockKind::Verbatim(text) => {
                self.gap(PARAGRAPH_GAP);
                self.verbatim(at, text);
            }
            BlockKind::Details { blocks, .. } => self.details(at, blocks.len(), depth),
            BlockKind::Footnote { label, blocks } => {
                self.gap(PARAGRAPH_GAP);
                self.marker = Some(Marker::Footnote(Arc::clone(label)));
                let dim = std::mem::replace(&mut self.frame.dim, true);
                self.indented(ITEM_INDENT, |flow| flow.children(at, blocks.len(), depth));
                self.frame.dim = dim;
            }
        }
        self.badge(block);
    }

    /// Blocks inside a container; the first keeps to the container's own gap.
    fn children(&mut self, at: &BlockRef, count: usize, depth: u8) {
        for i in 0..count {
            let mut path = at.path.clone();
            path.push(i as u32);
            self.child(&BlockRef { root: Arc::clone(&at.root), path }, i == 0, depth);
        }
    }

    fn child(&mut self, at: &BlockRef, is_first: bool, depth: u8) {
        let (gap, from) = (self.gap, self.specs.len());
        self.block(at, depth);
        // Inside a container the first block does not add its own gap to the container's.
        if is_first && let Some(first) = self.specs.get_mut(from) {
            first.estimate -= first.frame.gap - gap;
            first.frame.gap = gap;
        }
    }

    fn list(
        &mut self,
        at: &BlockRef,
        start: Option<u64>,
        tight: bool,
        items: &[ListItem],
        depth: u8,
    ) {
        let between = if tight { TIGHT_GAP } else { PARAGRAPH_GAP };
        self.gap(if depth == 0 { PARAGRAPH_GAP } else { between });
        let indent = start.map_or(ITEM_INDENT, |first| number_indent(first, items.len()));
        for (i, item) in items.iter().enumerate() {
            if i > 0 {
                self.gap(between);
            }
            self.marker = Some(match (item.task, start) {
                (Some(done), _) => Marker::Task(done),
                (None, Some(first)) => Marker::Number(first.saturating_add(i as u64)),
                (None, None) => Marker::Bullet(depth),
            });
            self.indented(indent, |flow| flow.item(at, i, item, depth + 1));
        }
    }

    fn item(&mut self, at: &BlockRef, index: usize, item: &ListItem, depth: u8) {
        for i in 0..item.blocks.len() {
            let mut path = at.path.clone();
            path.extend([index as u32, i as u32]);
            self.child(&BlockRef { root: Arc::clone(&at.root), path }, i == 0, depth);
        }
        if self.marker.is_some() {
            // An empty item, or one that begins with a container: the marker has its own line.
            self.push(Content::Plain(Arc::from(""), 0..0, Voice::Body), Voice::Body.line());
        }
    }

    fn prose(&mut self, at: &BlockRef, text: &str, voice: Voice) {
        for range in chunks(text, 0..text.len(), voice) {
            let height = estimate(slice(text, &range), voice, self.width());
            self.push(Content::Prose(at.clone(), range), height);
        }
    }

    fn verbatim(&mut self, at: &BlockRef, text: &str) {
        for range in chunks(text, 0..text.len(), Voice::Code) {
            let height = estimate(slice(text, &range), Voice::Code, self.width());
            self.push(Content::Verbatim(at.clone(), range), height);
        }
    }

    fn code(&mut self, at: &BlockRef, text: &str) {
        self.gap(BLOCK_GAP);
        self.card(Ground::Code, [14.0, 0.0], |flow| {
            flow.push(Content::CodeHeader(at.clone()), 30.0);
            let chunks = line_chunks(text, 0..text.len(), flow.slug_lines());
            let count = chunks.len();
            for (i, (range, lines)) in chunks.into_iter().enumerate() {
                if i + 1 == count {
                    flow.pad_bottom(12.0);
                }
                flow.gap(if i == 0 { 10.0 } else { 0.0 });
                let height = lines as f32 * Voice::Code.line();
                flow.push(Content::Code(at.clone(), range), height);
            }
        });
        self.gap(BLOCK_GAP);
    }

    fn table(&mut self, at: &BlockRef, rows: usize) {
        self.gap(BLOCK_GAP);
        let mut first = 0;
        loop {
            let last = (first + self.slug_rows()).min(rows);
            let shown = last - first + usize::from(first == 0);
            let range = first as u32..last as u32;
            self.push(Content::Table(at.clone(), range), shown as f32 * 34.0);
            first = last;
            if first >= rows {
                break;
            }
        }
        self.gap(BLOCK_GAP);
    }

    fn details(&mut self, at: &BlockRef, count: usize, depth: u8) {
        self.gap(PARAGRAPH_GAP);
        let fold = self.fold(FoldKind::Details(self.key.leaf));
        let open = self.is_open(fold, false);
        self.push(Content::Summary(at.clone(), fold, open), Voice::Body.line());
        let (gap, marker, from) = (self.gap, self.marker.take(), self.specs.len());
        self.gap(8.0);
        let indent = ITEM_INDENT - 6.0;
        self.within(fold, |flow| flow.indented(indent, |flow| flow.children(at, count, depth)));
        if !open {
            // What is folded away keeps its leaves, so that those behind it keep theirs.
            self.specs.truncate(from);
            (self.gap, self.marker) = (gap, marker);
        }
    }

    /// A warning under a block in which hygiene found something.
    fn badge(&mut self, block: &Block) {
        let mut words = Vec::new();
        if block.hygiene.hidden > 0 {
            words.push(format!("{} hidden characters", block.hygiene.hidden));
        }
        if block.hygiene.bidi {
            words.push("direction overrides".to_owned());
        }
        if block.hygiene.capped {
            words.push("nested or sized beyond what is typeset; shown as text".to_owned());
        }
        if words.is_empty() {
            return;
        }
        self.gap(TIGHT_GAP);
        self.label(Label {
            left: vec![Segment::new(words.join(" · "), Face::Caption, Tone::Warn)],
            spoken: words.join(", "),
            ..Label::default()
        });
    }
}

/// Gives specs their look, from an index on. Done last, when edges of cards are known.
pub fn fingerprint(specs: &mut [Spec], from: usize) {
    debug_assert!(
        specs.is_sorted_by(|a, b| a.key < b.key),
        "a slug's key is its identity and its place in the order"
    );
    for spec in specs.iter_mut().skip(from) {
        let mut hasher = std::hash::DefaultHasher::new();
        spec.frame.hash_look(&mut hasher);
        spec.content.hash_look(&mut hasher);
        if spec.open {
            // The text of an open tail changes under the same place.
            spec.content.hash_text(&mut hasher);
        }
        spec.look = hasher.finish();
    }
}

/// The colour of an alert.
#[must_use]
pub fn alert_tone(alert: Alert) -> Tone {
    match alert {
        Alert::Note | Alert::Important => Tone::Accent,
        Alert::Tip => Tone::Ok,
        Alert::Warning => Tone::Warn,
        Alert::Caution => Tone::Err,
    }
}

/// A copy button for a card's header.
#[must_use]
pub fn copy_segment(text: &Arc<str>) -> Segment {
    Segment {
        action: Some(Action::Copy(Arc::clone(text))),
        ..Segment::new("copy", Face::Caption, Tone::Faint)
    }
}

fn number_indent(first: u64, count: usize) -> f32 {
    let last = first.saturating_add(count as u64);
    let digits = last.checked_ilog10().unwrap_or(0) + 1;
    (10.0 + 9.0 * digits as f32).max(ITEM_INDENT)
}

fn slice<'t>(text: &'t str, range: &Range<u32>) -> &'t str {
    text.get(range.start as usize..range.end as usize).unwrap_or_default()
}

fn estimate(text: &str, voice: Voice, width: f32) -> f32 {
    let per_line = (width / (voice.size() * ADVANCE)).max(8.0) as usize;
    let lines: usize = text.split('\n').map(|line| line.len().div_ceil(per_line).max(1)).sum();
    lines as f32 * voice.line()
}

/// Cuts text into ranges of at most a slug each, at line ends, else at spaces, else at
/// character boundaries.
fn chunks(text: &str, within: Range<usize>, voice: Voice) -> Vec<Range<u32>> {
    let mut ranges = Vec::new();
    let mut start = within.start;
    // A line of code is much taller for its bytes than a line of prose.
    let limit = if voice == Voice::Code { SLUG_BYTES / 2 } else { SLUG_BYTES };
    while within.end - start > limit + limit / 4 {
        let end = cut(text, start, limit);
        ranges.push(start as u32..end as u32);
        start = end;
    }
    if start < within.end || ranges.is_empty() {
        ranges.push(start as u32..within.end as u32);
    }
    ranges
}

fn cut(text: &str, start: usize, limit: usize) -> usize {
    let mut end = start + limit;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let window = text.get(start..end).unwrap_or_default();
    let tail = window.len() - window.len() / 4;
    let boundary = |found: Option<usize>| found.filter(|i| *i >= tail).map(|i| start + i + 1);
    boundary(window.rfind('\n')).or_else(|| boundary(window.rfind(' '))).unwrap_or(end)
}

/// Cuts text into ranges of whole lines: at most `max_lines` of them and, unless a single
/// line is longer, about [`SLUG_BYTES`] each. A line that is longer than that is cut too.
pub fn line_chunks(text: &str, within: Range<usize>, max_lines: usize) -> Vec<(Range<u32>, usize)> {
    let mut chunks = Vec::new();
    let (mut start, mut at, mut lines) = (within.start, within.start, 0);
    let body = text.get(within).unwrap_or_default();
    for line in body.split_inclusive('\n') {
        if lines > 0 && (lines == max_lines || at + line.len() - start > 2 * SLUG_BYTES) {
            chunks.push((start as u32..at as u32, lines));
            (start, lines) = (at, 0);
        }
        at += line.len();
        lines += 1;
        while at - start > 2 * SLUG_BYTES {
            let end = cut(text, start, SLUG_BYTES);
            chunks.push((start as u32..end as u32, 1));
            start = end;
        }
    }
    if lines > 0 || chunks.is_empty() {
        chunks.push((start as u32..at as u32, lines.max(1)));
    }
    chunks
}
