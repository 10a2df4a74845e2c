//! Blocks: what markdown becomes before it is typeset.

use std::{ops::Range, sync::Arc};

/// One top-level or nested piece of a text.
///
/// Invariant: a sealed block never changes; it is shared by pointer from then on.
#[derive(Clone, Debug, PartialEq)]
pub struct Block {
    /// What it is.
    pub kind: BlockKind,
    /// Bytes of the message's source that it came from.
    pub source: Range<usize>,
    /// What hygiene found in it.
    pub hygiene: Hygiene,
}

/// The kinds of block.
#[derive(Clone, Debug, PartialEq)]
pub enum BlockKind {
    /// Running text.
    Paragraph(RichText),
    /// A heading of level 1 to 6.
    Heading {
        /// 1 to 6.
        level: u8,
        /// Its words.
        text: RichText,
    },
    /// A fenced or indented code block. The text has no trailing newline.
    Code {
        /// First word of the info string, as written; empty when there is none.
        language: Arc<str>,
        /// The code after hygiene.
        text: Arc<str>,
        /// False while the fence is still open at the end of a streaming text.
        closed: bool,
    },
    /// An ordered or unordered list.
    List {
        /// Number of the first item, or none for bullets.
        start: Option<u64>,
        /// Tight lists set their items without paragraph gaps.
        tight: bool,
        /// The items, in order.
        items: Vec<ListItem>,
    },
    /// A quote, or an alert when `alert` is set.
    Quote {
        /// The GitHub alert kind.
        alert: Option<Alert>,
        /// What is quoted.
        blocks: Vec<Block>,
    },
    /// A table. Every row has exactly `align.len()` cells.
    Table {
        /// Column alignment.
        align: Vec<Align>,
        /// Header cells.
        header: Vec<RichText>,
        /// Body rows.
        rows: Vec<Vec<RichText>>,
    },
    /// A thematic break.
    Rule,
    /// A formula, shown as dim source until it is set.
    Math {
        /// TeX source without its delimiters.
        source: Arc<str>,
        /// On lines of its own.
        display: bool,
        /// False while its closing delimiter has not arrived.
        closed: bool,
    },
    /// `<details>`: a summary line that opens to more blocks.
    Details {
        /// The summary line.
        summary: RichText,
        /// The folded content.
        blocks: Vec<Block>,
    },
    /// The definition of a footnote.
    Footnote {
        /// Its label as written.
        label: Arc<str>,
        /// Its text.
        blocks: Vec<Block>,
    },
    /// Raw HTML or anything else that is shown as it was written.
    Verbatim(Arc<str>),
}

/// One item of a list.
#[derive(Clone, Debug, PartialEq)]
pub struct ListItem {
    /// `Some(done)` for a task list item.
    pub task: Option<bool>,
    /// Its content.
    pub blocks: Vec<Block>,
}

/// GitHub's five alerts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the documentation")]
pub enum Alert {
    Note,
    Tip,
    Important,
    Warning,
    Caution,
}

/// Column alignment of a table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the documentation")]
pub enum Align {
    #[default]
    None,
    Left,
    Center,
    Right,
}

/// Counts of what was found and made visible or neutralised.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hygiene {
    /// Invisible characters (tags, zero-width) that are not drawn.
    pub hidden: u32,
    /// Direction overrides were found.
    pub bidi: bool,
    /// Part of the block was shown as plain text because a cap was reached.
    pub capped: bool,
}

/// Text with styles: one string and runs that cover it in order.
///
/// Invariant: runs are non-empty, ordered, adjacent, end on char boundaries, and the
/// last one ends at `text.len()`. Empty text has no runs. See [`RichText::debug_check`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RichText {
    /// What is shown, after hygiene. `\n` is a hard line break.
    pub text: String,
    /// Styles over `text`.
    pub runs: Vec<Run>,
    /// Link targets, by the index that runs carry.
    pub links: Vec<Arc<str>>,
}

/// A stretch of equally styled text; it begins where the run before it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// Byte offset in the text where the run ends.
    pub end: u32,
    /// How it is set.
    pub style: Style,
    /// Index into [`RichText::links`].
    pub link: Option<u16>,
}

/// A set of inline styles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Style(pub u16);

#[expect(missing_docs, reason = "the names are the documentation")]
impl Style {
    pub const PLAIN: Self = Self(0);
    pub const BOLD: Self = Self(1);
    pub const ITALIC: Self = Self(1 << 1);
    pub const STRIKE: Self = Self(1 << 2);
    pub const CODE: Self = Self(1 << 3);
    pub const KBD: Self = Self(1 << 4);
    pub const SUB: Self = Self(1 << 5);
    pub const SUP: Self = Self(1 << 6);
    /// Inline math source.
    pub const MATH: Self = Self(1 << 7);
    /// A footnote reference.
    pub const FOOTNOTE: Self = Self(1 << 8);
    /// Placeholder text for an image (its alternative text).
    pub const IMAGE: Self = Self(1 << 9);
    /// Second voice: markers such as a cap's note.
    pub const DIM: Self = Self(1 << 10);

    /// Both sets together.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// True when every style of `other` is in this set.
    #[must_use]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl RichText {
    /// Text in one style.
    #[must_use]
    pub fn plain(text: impl Into<String>) -> Self {
        let mut rich = Self::default();
        rich.push(&text.into(), Style::PLAIN, None);
        rich
    }

    /// Appends text, merging it into the last run when the style is the same.
    pub fn push(&mut self, text: &str, style: Style, link: Option<u16>) {
        if text.is_empty() {
            return;
        }
        self.text.push_str(text);
        let end = self.text.len() as u32;
        match self.runs.last_mut() {
            Some(run) if run.style == style && run.link == link => run.end = end,
            _ => self.runs.push(Run { end, style, link }),
        }
    }

    /// The runs with the byte range each covers.
    pub fn ranges(&self) -> impl Iterator<Item = (Range<usize>, Run)> + '_ {
        let mut start = 0;
        self.runs.iter().map(move |run| {
            let range = start..run.end as usize;
            start = range.end;
            (range, *run)
        })
    }

    /// True when there is nothing to show.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Bytes on the heap.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.text.capacity()
            + self.runs.capacity() * size_of::<Run>()
            + self.links.iter().map(|l| l.len() + size_of::<Arc<str>>()).sum::<usize>()
    }

    /// Checks the invariant of the runs.
    #[must_use]
    pub fn debug_check(&self) -> bool {
        let mut at = 0;
        let ordered = self.runs.iter().all(|run| {
            let end = run.end as usize;
            let ok = end > at
                && self.text.is_char_boundary(end)
                && run.link.is_none_or(|l| usize::from(l) < self.links.len());
            at = end;
            ok
        });
        ordered && at == self.text.len()
    }
}

impl Block {
    /// Bytes of text and structure on the heap, for caches that count.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let blocks = |list: &[Self]| list.iter().map(Self::total_bytes).sum::<usize>();
        match &self.kind {
            BlockKind::Paragraph(text) | BlockKind::Heading { text, .. } => text.heap_bytes(),
            BlockKind::Code { language, text, .. } => language.len() + text.len(),
            BlockKind::List { items, .. } => {
                items.iter().map(|item| size_of::<ListItem>() + blocks(&item.blocks)).sum()
            }
            BlockKind::Quote { blocks: list, .. } | BlockKind::Footnote { blocks: list, .. } => {
                blocks(list)
            }
            BlockKind::Details { summary, blocks: list } => summary.heap_bytes() + blocks(list),
            BlockKind::Table { header, rows, .. } => rows
                .iter()
                .flatten()
                .chain(header)
                .map(|cell| size_of::<RichText>() + cell.heap_bytes())
                .sum(),
            BlockKind::Math { source, .. } => source.len(),
            BlockKind::Verbatim(text) => text.len(),
            BlockKind::Rule => 0,
        }
    }

    /// Heap bytes and the block itself.
    #[must_use]
    pub fn total_bytes(&self) -> usize {
        size_of::<Self>() + self.heap_bytes()
    }
}
