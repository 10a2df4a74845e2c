//! What the index keeps of a record: 32 bytes.

use crate::model::{GroupPlace, ToolTally};

/// No record.
pub(super) const NONE: u32 = u32::MAX;

/// One record of the file, or one further result inside a record.
///
/// Records are kept in file order. The fields that only some kinds need share their
/// place: `extra` holds the tally and traits of a message, the ordinal of a result
/// inside its record, or the code of a housekeeping record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    /// First byte in the file.
    pub(super) offset: u64,
    /// Bytes; saturates.
    pub(super) len: u32,
    /// Seconds since 1970, or 0.
    pub(super) time_secs: u32,
    /// The next record of the same row, or [`NONE`].
    pub(super) next: u32,
    /// The record this one answers in the conversation tree, or [`NONE`].
    pub(super) parent: u32,
    /// Estimated height in lines.
    pub(super) lines: u16,
    pub(super) extra: u16,
    pub(super) kind: RecordKind,
    pub(super) flags: Flags,
    /// Place in a group, see [`Record::group`].
    group: u8,
    /// Half of it counts line ends before the record, half of it is [`Traces`].
    gap_and_traces: u8,
}

const _: () = assert!(size_of::<Record>() == 32, "the budget of the index");

/// What a record is to the list of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum RecordKind {
    /// The first record of a pi session; takes no row.
    Header,
    /// The person's words.
    User,
    /// The model's.
    Assistant,
    /// A tool result: a row only when it found no call.
    Result,
    /// A message of another role.
    Custom,
    /// A word of the host program.
    Notice,
    /// Valid, but not known.
    Raw,
    /// Could not be understood.
    Damaged,
    /// What only the host program needs; neighbours fold into one row.
    Housekeeping,
    /// A record of a sub-agent inside the same file; they fold into one row.
    Sidechain,
    /// Known, and never shown; others may follow it in the tree.
    Silent,
}

/// A set of marks on a record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Flags(u8);

impl Flags {
    /// An error message, or a result that says it failed.
    pub(super) const FAILED: Self = Self(1);
    /// A result that a later result for the same call replaced, or a record of the model
    /// whose words a later record of its row says again, whole.
    pub(super) const REPLACED: Self = Self(1 << 1);
    /// Belongs to the row of another record.
    pub(super) const CHILD: Self = Self(1 << 2);
    /// A later record has the same id.
    pub(super) const SUPERSEDED: Self = Self(1 << 3);
    /// Names a parent that is not there; stands where the file has it.
    pub(super) const DETACHED: Self = Self(1 << 4);
    /// Has an id and so a place in the tree.
    pub(super) const LINKED: Self = Self(1 << 5);
    /// Not shown in this index.
    pub(super) const HIDDEN: Self = Self(1 << 6);
    /// A further result inside a record; see [`Record::start`].
    pub(super) const FURTHER: Self = Self(1 << 7);

    pub(super) fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) fn set(&mut self, other: Self) {
        self.0 |= other.0;
    }

    pub(super) fn clear(&mut self, other: Self) {
        self.0 &= !other.0;
    }
}

const LEADS: u8 = u8::MAX;

impl Record {
    pub(super) fn new(kind: RecordKind, offset: u64, len: u64) -> Self {
        Self {
            offset,
            len: u32::try_from(len).unwrap_or(u32::MAX),
            time_secs: 0,
            next: NONE,
            parent: NONE,
            lines: 3,
            extra: 0,
            kind,
            flags: Flags::default(),
            group: 0,
            gap_and_traces: 0,
        }
    }

    /// Where the record begins in the file. A further result inside it has an offset of its
    /// own, because offsets are identities.
    pub(super) fn start(&self) -> u64 {
        let inside = if self.has(Flags::FURTHER) { u64::from(self.extra) + 1 } else { 0 };
        self.offset.saturating_sub(inside)
    }

    pub(super) fn has(&self, flag: Flags) -> bool {
        self.flags.has(flag)
    }

    /// True when other records say what it says, and it does not count.
    pub(super) fn is_replaced(&self) -> bool {
        self.has(Flags::SUPERSEDED)
            || self.kind == RecordKind::Assistant && self.has(Flags::REPLACED)
    }

    pub(super) fn group(&self) -> GroupPlace {
        match self.group {
            0 => GroupPlace::Alone,
            LEADS => GroupPlace::Leads,
            back => GroupPlace::Follows { back },
        }
    }

    pub(super) fn set_group(&mut self, place: GroupPlace) {
        self.group = match place {
            GroupPlace::Alone => 0,
            GroupPlace::Leads => LEADS,
            GroupPlace::Follows { back } => back.clamp(1, LEADS - 1),
        };
    }

    /// Line ends between the record before and this one, at most [`GAP_MAX`]; see
    /// `lines.rs`.
    pub(super) fn gap(&self) -> u8 {
        self.gap_and_traces & GAP_MAX
    }

    pub(super) fn set_gap(&mut self, gap: u8) {
        self.gap_and_traces = self.gap_and_traces & !GAP_MAX | gap.min(GAP_MAX);
    }

    /// What is in it beside words and low-stakes calls.
    pub(super) fn traces(&self) -> Traces {
        Traces(self.gap_and_traces & !GAP_MAX)
    }

    pub(super) fn set_traces(&mut self, traces: Traces) {
        self.gap_and_traces = self.gap() | traces.0;
    }

    /// Tally and traits of a message record.
    pub(super) fn marks(&self) -> Marks {
        Marks(self.extra)
    }
}

/// The most line ends before a record that it counts itself.
pub(super) const GAP_MAX: u8 = 15;

/// What an overview shows of a message, in the upper half of a byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Traces(u8);

impl Traces {
    const THINKS: u8 = 1 << 4;
    const FORKS: u8 = 1 << 5;
    /// Two bits that count calls.
    const CALL: u8 = 1 << 6;
    const CALLS: u8 = 3 << 6;

    /// Notes reasoning that can be seen.
    pub(super) fn think(&mut self) {
        self.0 |= Self::THINKS;
    }

    /// Notes a call that is no low-stakes one.
    pub(super) fn call(&mut self) {
        if self.0 & Self::CALLS != Self::CALLS {
            self.0 += Self::CALL;
        }
    }

    /// Appends the traces of the next record of the same message.
    pub(super) fn append(&mut self, later: Self) {
        self.0 |= later.0 & (Self::THINKS | Self::FORKS);
        (0..later.calls()).for_each(|_| self.call());
    }

    pub(super) fn set_forks(&mut self, forks: bool) {
        self.0 = self.0 & !Self::FORKS | if forks { Self::FORKS } else { 0 };
    }

    pub(super) fn thinks(self) -> bool {
        self.0 & Self::THINKS != 0
    }

    pub(super) fn forks(self) -> bool {
        self.0 & Self::FORKS != 0
    }

    /// At most 3.
    pub(super) fn calls(self) -> u8 {
        self.0 >> 6
    }
}

/// Low-stakes calls (three counts of four bits) and what decides grouping, of one record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks(pub(super) u16);

impl Marks {
    const VISIBLE: u16 = 1 << 12;
    const ENDS_LOW: u16 = 1 << 13;
    const ANY_LOW: u16 = 1 << 14;
    const OTHER: u16 = 1 << 15;

    /// Notes a visible part that is a low-stakes call.
    pub(super) fn low(&mut self, tally: ToolTally) {
        self.0 |= Self::VISIBLE | Self::ENDS_LOW | Self::ANY_LOW;
        self.add(tally);
    }

    /// Notes reasoning that can be seen.
    pub(super) fn thinking(&mut self) {
        self.0 = self.0 & !Self::ENDS_LOW | Self::VISIBLE;
    }

    /// Notes any other visible part.
    pub(super) fn other(&mut self) {
        self.0 = self.0 & !Self::ENDS_LOW | Self::VISIBLE | Self::OTHER;
    }

    /// Appends the marks of the next record of the same message.
    pub(super) fn append(&mut self, later: Self) {
        let ends = if later.0 & Self::VISIBLE == 0 { self.0 } else { later.0 } & Self::ENDS_LOW;
        let sticky = (self.0 | later.0) & (Self::VISIBLE | Self::ANY_LOW | Self::OTHER);
        self.0 = self.0 & 0x0fff | ends | sticky;
        self.add(later.tally());
    }

    pub(super) fn tally(self) -> ToolTally {
        let count = |shift: u32| (self.0 >> shift & 15) as u8;
        ToolTally { reads: count(0), lists: count(4), searches: count(8) }
    }

    pub(super) fn traits(self) -> crate::model::GroupTraits {
        crate::model::GroupTraits {
            ends_low: self.0 & Self::ENDS_LOW != 0,
            only_low: self.0 & Self::ANY_LOW != 0 && self.0 & Self::OTHER == 0,
        }
    }

    fn add(&mut self, more: ToolTally) {
        let now = self.tally();
        let sum = |a: u8, b: u8| u16::from(a.saturating_add(b).min(15));
        let tally = sum(now.reads, more.reads)
            | sum(now.lists, more.lists) << 4
            | sum(now.searches, more.searches) << 8;
        self.0 = self.0 & 0xf000 | tally;
    }
}
