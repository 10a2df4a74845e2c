//! A conversation of any size, as the view asks for it: rows now, messages when they come.

use std::{ops::Range, sync::Arc, time::Instant};

use super::{
    census::{Census, Censuses},
    id::MessageId,
    message::{Message, Part, Role},
    reading::Reading,
    snapshot::Fork,
    tool::{LowStakes, ToolState},
};

/// What the list must know of a row before its message is loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowInfo {
    /// The message.
    pub id: MessageId,
    /// What it is.
    pub kind: RowKind,
    /// Estimated height in lines of running text at 90 characters a line.
    pub lines: u16,
    /// Its place in a group of low-stakes tool calls.
    pub group: GroupPlace,
    /// Its low-stakes calls, counted.
    pub tally: ToolTally,
    /// Its other calls, counted; saturates, in a file's index at 3.
    pub calls: u8,
    /// It holds reasoning.
    pub thinks: bool,
    /// Another path through the conversation leaves behind this row.
    pub forks: bool,
    /// One of its calls failed, or the message itself did.
    pub failed: bool,
    /// Seconds since 1970; 0 when the source has no times.
    pub time_secs: u32,
}

/// What a row holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum RowKind {
    /// The person's words.
    User,
    /// The model's.
    Assistant,
    /// A tool result without a call.
    Orphan,
    /// A message of another role.
    Custom,
    /// Compaction, branch, model change and the like.
    Notice,
    /// A record that could not be read or is not known.
    Raw,
}

/// Place of a row in a group of low-stakes tool calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GroupPlace {
    /// In no group with other rows.
    #[default]
    Alone,
    /// The group begins with this row's trailing calls.
    Leads,
    /// All this row shows belongs to the group that began `back` rows before it.
    Follows {
        /// Distance to the leading row, at least 1.
        back: u8,
    },
}

/// Low-stakes calls of a row by kind. Each count saturates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolTally {
    /// Files read.
    pub reads: u8,
    /// Folders listed.
    pub lists: u8,
    /// Searches made.
    pub searches: u8,
}

impl ToolTally {
    /// All calls together.
    #[must_use]
    pub fn total(self) -> u32 {
        u32::from(self.reads) + u32::from(self.lists) + u32::from(self.searches)
    }
}

/// How much of a source has been indexed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// Only the newest part is known; `done` of `total` bytes are indexed.
    Indexing {
        /// Bytes indexed.
        done: u64,
        /// Bytes in all.
        total: u64,
    },
    /// Everything is known.
    Complete,
}

/// A conversation the view can show.
///
/// No call waits: what is not there yet is asked for and arrives with a later
/// [`Source::poll`].
pub trait Source {
    /// Takes in what arrived since the last call. The number changes when any row did.
    fn poll(&mut self) -> u64;
    /// Number of rows.
    fn len(&self) -> usize;
    /// True when there is nothing to show.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// The row at an index below [`Source::len`].
    fn row(&self, index: usize) -> RowInfo;
    /// Where a message stands now.
    fn index_of(&self, id: MessageId) -> Option<usize>;
    /// The nearest row of kind [`RowKind::User`] at or before `index`.
    fn prompt_before(&self, index: usize) -> Option<usize>;
    /// The nearest row of kind [`RowKind::User`] at or after `index`.
    fn prompt_after(&self, index: usize) -> Option<usize> {
        (index..self.len()).find(|row| self.row(*row).kind == RowKind::User)
    }
    /// The message of a row, if it is loaded.
    fn message(&mut self, index: usize) -> Option<Arc<Message>>;
    /// Says which rows will be shown next, nearest first; replaces what was asked before.
    fn want(&mut self, rows: Range<usize>);
    /// Of a range of rows, how many are shown while groups are folded, and the sum of
    /// their estimated lines. Sources of many rows keep these sums by the thousand.
    fn estimate(&self, rows: Range<usize>) -> (u64, u64) {
        rows.map(|row| self.row(row))
            .filter(|row| !matches!(row.group, GroupPlace::Follows { .. }))
            .fold((0, 0), |(shown, lines), row| (shown + 1, lines + u64::from(row.lines)))
    }
    /// When the call that runs now was started.
    fn running_since(&self) -> Option<Instant> {
        None
    }
    /// What a range of rows comes to. Sources of many rows keep these counts, see
    /// [`Censuses`].
    fn census(&self, rows: Range<usize>) -> Census {
        let mut census = Census::default();
        rows.for_each(|row| census.add(&Census::of(&self.row(row))));
        census
    }
    /// Where the rows part from other branches that can be gone to, by rising ids; none
    /// where nobody can. They are those of the rows that the last [`Source::poll`] took in.
    fn forks(&self) -> Option<&Arc<[Fork]>> {
        None
    }
    /// How far indexing is.
    fn progress(&self) -> Progress;
    /// All of it as it stands now, for another thread to read; none when it cannot be.
    fn reading(&self) -> Option<Arc<dyn Reading>> {
        None
    }
}

/// What decides a row's place in a group.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct GroupTraits {
    /// The last visible part is a low-stakes call.
    pub ends_low: bool,
    /// There is at least one low-stakes call and nothing else to see but reasoning.
    pub only_low: bool,
}

/// Finds groups while rows are met in order. At most 200 rows make one group, so that
/// work in a frame stays bounded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grouping {
    /// Rows since the group began; none when no group is open.
    open: Option<u8>,
}

const GROUP_ROWS_MAX: u8 = 200;

impl Grouping {
    /// The state behind a row that got this place.
    #[must_use]
    pub fn after(place: GroupPlace) -> Self {
        let open = match place {
            GroupPlace::Alone => None,
            GroupPlace::Leads => Some(1),
            GroupPlace::Follows { back } => Some(back.saturating_add(1)),
        };
        Self { open }
    }

    /// The place of the next row. A row that leads is only known to lead a group of
    /// several rows when its follower comes: a leader whose follower never comes simply
    /// groups its own calls.
    pub fn place(&mut self, traits: GroupTraits) -> GroupPlace {
        match self.open {
            Some(back) if traits.only_low && back < GROUP_ROWS_MAX => {
                self.open = Some(back + 1);
                GroupPlace::Follows { back }
            }
            _ if traits.ends_low => {
                self.open = Some(1);
                GroupPlace::Leads
            }
            _ => {
                self.open = None;
                GroupPlace::Alone
            }
        }
    }
}

impl GroupTraits {
    /// The traits of a message.
    #[must_use]
    pub fn of(message: &Message) -> Self {
        if message.role != Role::Assistant || message.error.is_some() {
            return Self::default();
        }
        let is_low = |part: &Part| match part {
            Part::ToolCall(call) => LowStakes::of(&call.name).is_some(),
            _ => false,
        };
        let visible = || message.parts.iter().filter(|part| part.is_visible());
        Self {
            ends_low: visible().next_back().is_some_and(is_low),
            only_low: visible().any(is_low)
                && visible().all(|part| is_low(part) || matches!(part, Part::Thinking(_))),
        }
    }
}

/// A conversation that is wholly in memory.
#[derive(Debug, Default)]
pub struct MemorySource {
    rows: Vec<RowInfo>,
    messages: Arc<Vec<Arc<Message>>>,
    censuses: Censuses,
    grouping: Grouping,
    version: u64,
}

impl MemorySource {
    /// A conversation of these messages, whose calls already hold their results.
    #[must_use]
    pub fn new(messages: impl IntoIterator<Item = Message>) -> Self {
        let mut source = Self::default();
        for message in messages {
            source.push(message);
        }
        source
    }

    /// Appends a message.
    pub fn push(&mut self, message: Message) {
        let group = self.grouping.place(GroupTraits::of(&message));
        let row = RowInfo { group, ..RowInfo::of(&message) };
        self.censuses.push(&row);
        self.rows.push(row);
        Arc::make_mut(&mut self.messages).push(Arc::new(message));
        self.version += 1;
    }
}

impl RowInfo {
    /// The row of a message that stands alone.
    #[must_use]
    pub fn of(message: &Message) -> Self {
        Self::of_lines(message, message.parts.iter().map(Part::estimated_lines).sum())
    }

    /// The row of a message that stands alone and takes about so many lines.
    #[must_use]
    pub fn of_lines(message: &Message, lines: usize) -> Self {
        let mut tally = ToolTally::default();
        let mut failed = message.error.is_some();
        let mut calls = 0_u8;
        for part in &message.parts {
            if let Part::ToolCall(call) = part {
                tally.add(&call.name);
                calls = calls.saturating_add(u8::from(LowStakes::of(&call.name).is_none()));
                failed |= call.state == ToolState::Error;
            }
        }
        let is_thinking = |part: &Part| matches!(part, Part::Thinking(_)) && part.is_visible();
        Self {
            id: message.id,
            kind: RowKind::of(message),
            lines: u16::try_from(lines).unwrap_or(u16::MAX),
            group: GroupPlace::Alone,
            tally,
            calls,
            thinks: message.parts.iter().any(is_thinking),
            forks: false,
            failed,
            time_secs: message.timestamp_ms.map_or(0, |ms| u32::try_from(ms / 1000).unwrap_or(0)),
        }
    }
}

impl RowKind {
    /// The kind of a message.
    #[must_use]
    pub fn of(message: &Message) -> Self {
        match (&message.role, message.parts.first()) {
            (Role::User, _) => Self::User,
            (Role::Assistant, _) => Self::Assistant,
            (Role::Tool, _) => Self::Orphan,
            (_, Some(Part::Raw(_))) => Self::Raw,
            (_, Some(Part::Notice(_))) => Self::Notice,
            _ => Self::Custom,
        }
    }
}

impl ToolTally {
    /// Counts a call if it is a low-stakes one.
    pub fn add(&mut self, tool_name: &str) {
        let Some(kind) = LowStakes::of(tool_name) else { return };
        let count = match kind {
            LowStakes::Read => &mut self.reads,
            LowStakes::List => &mut self.lists,
            LowStakes::Search => &mut self.searches,
        };
        *count = count.saturating_add(1);
    }
}

impl Part {
    /// False for parts that take no place: blank text, and nothing else.
    #[must_use]
    pub fn is_visible(&self) -> bool {
        match self {
            Self::Text(text) => !text.source.trim().is_empty(),
            Self::Thinking(thinking) => {
                thinking.redacted || !thinking.text.source.trim().is_empty()
            }
            _ => true,
        }
    }

    /// Lines of running text at 90 characters a line that the part will take.
    #[must_use]
    pub fn estimated_lines(&self) -> usize {
        match self {
            Self::Text(text) => estimated_lines(&text.source),
            Self::Image(_) => 16,
            Self::ToolResult(result) => 3 + result.output.lines.len().min(14),
            Self::Notice(_) | Self::Raw(_) | Self::ToolCall(_) => 3,
            Self::Thinking(_) => 2,
        }
    }
}

/// Lines of running text at 90 characters a line that a text will take.
#[must_use]
pub fn estimated_lines(text: &str) -> usize {
    text.lines().map(|line| line.len().div_ceil(90).max(1)).sum()
}

impl Source for MemorySource {
    fn poll(&mut self) -> u64 {
        self.version
    }

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn row(&self, index: usize) -> RowInfo {
        self.rows[index]
    }

    fn index_of(&self, id: MessageId) -> Option<usize> {
        // Ids usually grow; where they do not, looking through all of them still finds it.
        let found = self.rows.binary_search_by_key(&id, |row| row.id).ok();
        found.or_else(|| self.rows.iter().position(|row| row.id == id))
    }

    fn prompt_before(&self, index: usize) -> Option<usize> {
        (0..=index).rev().find(|i| self.rows.get(*i).is_some_and(|row| row.kind == RowKind::User))
    }

    fn message(&mut self, index: usize) -> Option<Arc<Message>> {
        self.messages.get(index).map(Arc::clone)
    }

    fn want(&mut self, _rows: Range<usize>) {}

    fn estimate(&self, rows: Range<usize>) -> (u64, u64) {
        let census = self.census(rows);
        (u64::from(census.shown), census.all_lines())
    }

    fn census(&self, rows: Range<usize>) -> Census {
        self.censuses.of(rows, |row| self.rows[row])
    }

    fn progress(&self) -> Progress {
        Progress::Complete
    }

    fn reading(&self) -> Option<Arc<dyn Reading>> {
        let messages = Arc::clone(&self.messages);
        Some(Arc::new(MemoryReading { messages, version: self.version }))
    }
}

/// The messages of a [`MemorySource`] at one moment.
struct MemoryReading {
    messages: Arc<Vec<Arc<Message>>>,
    version: u64,
}

impl Reading for MemoryReading {
    fn len(&self) -> usize {
        self.messages.len()
    }

    fn stamp(&self) -> u64 {
        self.version
    }

    fn id(&self, row: usize) -> MessageId {
        self.messages[row].id
    }

    fn message(&self, row: usize) -> Arc<Message> {
        Arc::clone(&self.messages[row])
    }

    fn is_resident(&self) -> bool {
        true
    }
}
