//! Specs: what each slug of a message will show, before any of it is set.
//!
//! A spec points into shared message data and owns no text of its own, so a message of
//! ten megabytes can be cut into specs in a blink and set piece by piece.

use std::{
    fmt::{self, Write as _},
    hash::{Hash, Hasher},
    ops::Range,
    sync::Arc,
};

use smallvec::SmallVec;

use crate::{
    layout::{Voice, registry::Change, table},
    model::{Alert, Block, BlockKind, Image, MessageId, ToolResult},
};

/// Where a slug stands in its message. Ordered as it is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SlugKey {
    /// Index of the part.
    pub part: u16,
    /// Leaf of the part in reading order.
    pub leaf: u32,
    /// Chunk of the leaf.
    pub chunk: u32,
}

/// One slug to be.
#[derive(Clone, Debug)]
pub struct Spec {
    /// Its place.
    pub key: SlugKey,
    /// What it shows.
    pub content: Content,
    /// What surrounds it.
    pub frame: Frame,
    /// Height in points at a column width of [`ESTIMATE_WIDTH`], until it is set.
    pub estimate: f32,
    /// Tells two looks of the same place apart: folded and open, first and last of a card.
    pub look: u64,
    /// Belongs to the open tail of a streaming text: it is set anew each frame.
    pub open: bool,
    /// What its words are to someone who searches.
    pub strand: Strand,
    /// The folds that have to be open for it to be there, outermost first.
    pub within: SmallVec<[Fold; 2]>,
}

/// What words are to someone who searches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Strand {
    /// Words of the program: they are not searched.
    #[default]
    Interface,
    /// What was said.
    Message,
    /// Reasoning.
    Thinking,
    /// What tools were called with.
    Arguments,
    /// What tools gave back.
    Result,
    /// Records that are shown as they were found.
    Record,
}

/// The column width that estimates are made for, in points.
pub const ESTIMATE_WIDTH: f32 = 760.0;

/// What a slug shows.
#[derive(Clone, Debug)]
pub enum Content {
    /// A byte range of the text of a paragraph or heading.
    Prose(BlockRef, Range<u32>),
    /// A byte range of text shown as it was written.
    Verbatim(BlockRef, Range<u32>),
    /// The header of a code block.
    CodeHeader(BlockRef),
    /// A byte range of a code block.
    Code(BlockRef, Range<u32>),
    /// Rows of a table; the first slug holds its header.
    Table(BlockRef, Range<u32>),
    /// A thematic break.
    Rule,
    /// The title of an alert.
    AlertTitle(Alert),
    /// The summary line of a details block.
    Summary(BlockRef, Fold, bool),
    /// One line of interface: headers, notices, usage.
    Label(Arc<Label>),
    /// A divider across the column with words in it.
    Divider(Arc<Label>),
    /// A byte range of a tool's output.
    Output(Arc<ToolResult>, Range<u32>),
    /// Lines of a difference.
    Diff(Arc<Change>, Range<u32>),
    /// A byte range of plain text in a voice.
    Plain(Arc<str>, Range<u32>, Voice),
    /// A picture, by its index among the pictures of its part.
    Picture(Arc<Image>, u16),
    /// Nothing but room: the message has not arrived.
    Pending,
}

/// A block inside a top-level block: the root and the way down.
#[derive(Clone, Debug)]
pub struct BlockRef {
    /// The top-level block.
    pub root: Arc<Block>,
    /// Item and block indices in turn for lists, block indices for other containers.
    pub path: SmallVec<[u32; 4]>,
}

impl BlockRef {
    /// The block itself. A path that leads nowhere gives the root.
    #[must_use]
    pub fn block(&self) -> &Block {
        let mut block = &*self.root;
        let mut path = self.path.iter().map(|i| *i as usize);
        while let Some(first) = path.next() {
            let children = match &block.kind {
                BlockKind::List { items, .. } => {
                    let Some(item) = items.get(first) else { return &self.root };
                    path.next().and_then(|i| item.blocks.get(i))
                }
                BlockKind::Quote { blocks, .. }
                | BlockKind::Details { blocks, .. }
                | BlockKind::Footnote { blocks, .. } => blocks.get(first),
                _ => None,
            };
            let Some(child) = children else { return &self.root };
            block = child;
        }
        block
    }
}

/// What surrounds the content of a slug, from the outside in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// Room above, in points.
    pub gap: f32,
    /// Distance of the content from the left edge of the column, in points.
    pub left: f32,
    /// Distance of the content from the right edge of the column, in points.
    pub right: f32,
    /// Bars of quotes and alerts.
    pub bars: SmallVec<[Bar; 2]>,
    /// Grounds, outermost first.
    pub cards: SmallVec<[Card; 2]>,
    /// What stands before the first line.
    pub marker: Option<Marker>,
    /// Second voice.
    pub dim: bool,
}

/// A vertical bar along a quote.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bar {
    /// Distance from the left edge of the column, in points.
    pub x: f32,
    /// Its colour.
    pub tone: Tone,
    /// It begins with this slug.
    pub first: bool,
}

/// A filled ground that may go on over several slugs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Card {
    /// What it is filled with.
    pub ground: Ground,
    /// Distance of its left edge from the column's, in points.
    pub left: f32,
    /// Distance of its right edge from the column's, in points.
    pub right: f32,
    /// Room between its top edge and the content.
    pub pad_top: f32,
    /// Room between the content and its bottom edge.
    pub pad_bottom: f32,
    /// It begins with this slug.
    pub first: bool,
    /// It ends with this slug.
    pub last: bool,
}

/// Fill and corner of a card.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ground {
    /// A message of the user.
    User,
    /// A tool card.
    Panel,
    /// Code and terminal output.
    Code,
    /// An error.
    Alarm,
}

/// What stands before the first line of a list item or footnote.
#[derive(Clone, Debug, PartialEq)]
pub enum Marker {
    /// A bullet; the number is the nesting depth.
    Bullet(u8),
    /// A number and its dot.
    Number(u64),
    /// A checkbox.
    Task(bool),
    /// The label of a footnote.
    Footnote(Arc<str>),
}

/// A meaning that has a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are the documentation")]
pub enum Tone {
    Text,
    Dim,
    Faint,
    Accent,
    Ok,
    Warn,
    Err,
    Line,
}

/// One line of interface.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Label {
    /// From the left; shortened when there is no room.
    pub left: Vec<Segment>,
    /// From the right; always whole.
    pub right: Vec<Segment>,
    /// What a click anywhere on the line does.
    pub action: Option<Action>,
    /// A hairline above it, inside its card.
    pub ruled: bool,
    /// What a screen reader says.
    pub spoken: String,
}

/// A piece of a label.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Segment {
    /// Its text; a single icon for [`Face::Icon`].
    pub text: String,
    /// How it is set.
    pub face: Face,
    /// Its colour.
    pub tone: Tone,
    /// What a click on it does, when that differs from the line.
    pub action: Option<Action>,
}

/// Face of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are the documentation")]
pub enum Face {
    Icon,
    Text,
    Strong,
    Mono,
    Caption,
    /// Room for a clock that the view paints: what it shows changes without a new layout.
    Clock,
}

/// What a click does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Opens or closes a fold.
    Toggle(Fold),
    /// Follows a link: the target, and the words it was shown under.
    Link(Arc<str>, Arc<str>),
    /// Copies a text.
    Copy(Arc<str>),
    /// Turns the wrapping of a block on or off.
    Wrap(Fold),
    /// Stops the running call of this id.
    Stop(Arc<str>),
    /// Takes the files back to the checkpoint of this name.
    Restore(Arc<str>),
    /// Goes to the branch that this message stands on.
    Choose {
        /// The message.
        message: MessageId,
        /// It stands behind the one that is shown, not before it.
        is_next: bool,
    },
}

/// Something that opens and closes. Stable for as long as the message lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Fold {
    /// The message.
    pub message: MessageId,
    /// Index of the part; `u16::MAX` for the message as a whole.
    pub part: u16,
    /// What of it.
    pub kind: FoldKind,
}

/// What a fold holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FoldKind {
    /// Reasoning.
    Thinking,
    /// The output of a call.
    Call,
    /// The lines of an output that are not shown at first.
    Rest,
    /// A group of calls.
    Group,
    /// A details block, by its leaf.
    Details(u32),
    /// A notice or raw record.
    Notice,
    /// Wrapping of a code block, by its leaf.
    Wrap(u32),
    /// The difference of one of several files, by its index.
    File(u16),
    /// The lines of it that are not shown at first.
    FileRest(u16),
}

impl Segment {
    /// A segment without an action of its own.
    #[must_use]
    pub fn new(text: impl Into<String>, face: Face, tone: Tone) -> Self {
        Self { text: text.into(), face, tone, action: None }
    }
}

impl Frame {
    /// Hashes what changes the look of a slug.
    pub fn hash_look(&self, hasher: &mut impl Hasher) {
        for number in [self.gap, self.left, self.right] {
            number.to_bits().hash(hasher);
        }
        for bar in &self.bars {
            (bar.x.to_bits(), bar.tone, bar.first).hash(hasher);
        }
        for card in &self.cards {
            (card.ground, card.left.to_bits(), card.first, card.last).hash(hasher);
        }
        self.dim.hash(hasher);
        match &self.marker {
            None => 0_u64.hash(hasher),
            Some(Marker::Bullet(depth)) => (1_u8, *depth).hash(hasher),
            Some(Marker::Number(number)) => (2_u8, *number).hash(hasher),
            Some(Marker::Task(done)) => (3_u8, *done).hash(hasher),
            Some(Marker::Footnote(label)) => (4_u8, label).hash(hasher),
        }
    }
}

/// Lets a hasher take what `Debug` writes, so that text is hashed without a copy of it.
struct Written<'h, H>(&'h mut H);

impl<H: Hasher> fmt::Write for Written<'_, H> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}

impl Content {
    /// Hashes the text of a block that may still change.
    pub fn hash_text(&self, hasher: &mut impl Hasher) {
        if let Self::Prose(at, _)
        | Self::Verbatim(at, _)
        | Self::CodeHeader(at)
        | Self::Summary(at, ..) = self
        {
            // Writing into a hasher cannot fail.
            let _infallible = write!(Written(hasher), "{:?}", at.block());
        }
        if let Self::Table(at, rows) = self {
            table::hash_text(at, rows, hasher);
        }
        if let Self::Code(at, range) = self
            && let BlockKind::Code { text, closed, .. } = &at.block().kind
        {
            (text.get(range.start as usize..range.end as usize), closed).hash(hasher);
        }
        if let Self::Output(result, range) = self {
            let output = &result.output;
            let text = output.text.get(range.start as usize..range.end as usize);
            (text, output.runs.len()).hash(hasher);
        }
        if let Self::Diff(change, range) = self {
            let lines = change.lines.get(range.start as usize..range.end as usize);
            for line in lines.unwrap_or_default() {
                line.text(&change.old, &change.new).hash(hasher);
            }
        }
        if let Self::Plain(text, range, _) = self {
            text.get(range.start as usize..range.end as usize).hash(hasher);
        }
    }

    /// Hashes what changes the look of a slug, by place and not by text: the text of a
    /// message with a given id does not change.
    pub fn hash_look(&self, hasher: &mut impl Hasher) {
        std::mem::discriminant(self).hash(hasher);
        match self {
            Self::Prose(block, range)
            | Self::Verbatim(block, range)
            | Self::Code(block, range)
            | Self::Table(block, range) => {
                (block.root.source.start, &block.path, range).hash(hasher);
            }
            Self::CodeHeader(block) => (block.root.source.start, &block.path).hash(hasher),
            Self::Summary(block, _, open) => {
                (block.root.source.start, &block.path, open).hash(hasher);
            }
            Self::AlertTitle(alert) => (*alert as u8).hash(hasher),
            Self::Label(label) | Self::Divider(label) => label.hash(hasher),
            Self::Output(_, range) | Self::Diff(_, range) => range.hash(hasher),
            Self::Plain(text, range, voice) => (text.len(), range, voice).hash(hasher),
            Self::Picture(image, index) => (image.size, index).hash(hasher),
            Self::Rule | Self::Pending => {}
        }
    }
}
