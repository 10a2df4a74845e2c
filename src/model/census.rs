//! What many rows come to: how much of what, for a picture of a whole conversation.

use std::ops::Range;

use super::source::{GroupPlace, RowInfo, RowKind};

/// What a line of a conversation is, in the order in which a message shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Matter {
    /// The person's words.
    Prompt,
    /// Reasoning.
    Thinking,
    /// The model's words.
    Reply,
    /// Calls and their results.
    Tools,
    /// Calls that failed, and errors of messages.
    Failed,
    /// Everything else: compaction, branches, what could not be read.
    Notice,
}

/// Lines by what they are, in the order of [`Matter::ALL`].
pub type Matters = [u32; Matter::ALL.len()];

impl Matter {
    /// All of them, each at its own number.
    pub const ALL: [Self; 6] =
        [Self::Prompt, Self::Thinking, Self::Reply, Self::Tools, Self::Failed, Self::Notice];
}

/// What a range of rows comes to. Every count saturates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Rows that are shown while groups are folded.
    pub shown: u32,
    /// Their estimated lines.
    pub lines: Matters,
    /// Rows that failed, also those inside of groups.
    pub failed: u32,
    /// Rows behind which another path leaves the one that is shown.
    pub forks: u32,
}

impl Census {
    /// What one row comes to. A row that is folded into a group takes no place.
    #[must_use]
    pub fn of(row: &RowInfo) -> Self {
        let folded = matches!(row.group, GroupPlace::Follows { .. });
        Self {
            shown: u32::from(!folded),
            lines: if folded { Matters::default() } else { row.matters() },
            failed: u32::from(row.failed),
            forks: u32::from(row.forks),
        }
    }

    /// Counts further rows.
    pub fn add(&mut self, more: &Self) {
        let Self { shown, lines, failed, forks } = self;
        *shown = shown.saturating_add(more.shown);
        *failed = failed.saturating_add(more.failed);
        *forks = forks.saturating_add(more.forks);
        for (sum, further) in lines.iter_mut().zip(more.lines) {
            *sum = sum.saturating_add(further);
        }
    }

    /// All lines together.
    #[must_use]
    pub fn all_lines(&self) -> u64 {
        self.lines.iter().map(|lines| u64::from(*lines)).sum()
    }
}

/// Lines that reasoning takes while it is folded.
const THINKING_LINES: u32 = 2;
/// Lines that a call takes while it is folded, and an error.
const CARD_LINES: u32 = 3;

impl RowInfo {
    /// The row's estimated lines by what they are.
    #[must_use]
    pub fn matters(&self) -> Matters {
        let mut matters = Matters::default();
        let mut rest = u32::from(self.lines);
        let mut take = |matter: Matter, wanted: u32| {
            let taken = wanted.min(rest);
            matters[matter as usize] += taken;
            rest -= taken;
        };
        let calls = CARD_LINES * (self.tally.total() + u32::from(self.calls));
        take(Matter::Thinking, if self.thinks { THINKING_LINES } else { 0 });
        take(if self.failed { Matter::Failed } else { Matter::Tools }, calls);
        take(Matter::Failed, if self.failed && calls == 0 { CARD_LINES } else { 0 });
        let main = match self.kind {
            RowKind::User => Matter::Prompt,
            RowKind::Assistant => Matter::Reply,
            RowKind::Orphan => Matter::Tools,
            RowKind::Custom | RowKind::Notice | RowKind::Raw => Matter::Notice,
        };
        take(main, u32::MAX);
        matters
    }
}

/// Counts over rows that only grow at their end, kept by the stride: what a range comes
/// to is known without visiting its rows. Costs about a byte a row.
#[derive(Clone, Debug, Default)]
pub struct Censuses {
    strides: Vec<Census>,
    rows: usize,
}

impl Censuses {
    /// Rows that are counted together.
    pub const STRIDE: usize = 32;

    /// Counts the next row.
    pub fn push(&mut self, row: &RowInfo) {
        if self.rows.is_multiple_of(Self::STRIDE) {
            self.strides.push(Census::default());
        }
        self.rows += 1;
        if let Some(last) = self.strides.last_mut() {
            last.add(&Census::of(row));
        }
    }

    /// What was counted of the rows before `rows`, a whole number of strides.
    #[must_use]
    pub fn before(&self, rows: usize) -> Self {
        let rows = rows.min(self.rows) / Self::STRIDE * Self::STRIDE;
        Self { strides: self.strides.iter().take(rows / Self::STRIDE).copied().collect(), rows }
    }

    /// What a range of rows comes to; `row` is asked about those at its edges.
    #[must_use]
    pub fn of(&self, range: Range<usize>, row: impl Fn(usize) -> RowInfo) -> Census {
        let range = range.start..range.end.min(self.rows);
        let mut census = Census::default();
        let mut at = range.start;
        while at < range.end {
            let is_last = at + Self::STRIDE >= self.rows && range.end == self.rows;
            let is_whole =
                at.is_multiple_of(Self::STRIDE) && (at + Self::STRIDE <= range.end || is_last);
            match self.strides.get(at / Self::STRIDE).filter(|_| is_whole) {
                Some(stride) => {
                    census.add(stride);
                    at += Self::STRIDE;
                }
                None => {
                    census.add(&Census::of(&row(at)));
                    at += 1;
                }
            }
        }
        census
    }

    /// Forgets what was counted beyond its use.
    pub fn shrink_to_fit(&mut self) {
        self.strides.shrink_to_fit();
    }

    /// Bytes on the heap.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.strides.capacity() * size_of::<Census>()
    }
}
