//! Identities that stay true while a conversation grows at either end.

use std::fmt;

/// Names one message for as long as its source lives.
///
/// For a file it is the byte offset of the message's first record, which neither
/// appending nor indexing from the tail can change. For a live conversation it is a
/// counter. It is never an index into a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MessageId(pub u64);

impl fmt::Display for MessageId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "@{}", self.0)
    }
}

/// A line number in a source file, counted from 1; 0 means "not known yet".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SourceLine(pub u64);

/// Something a reader met and survived. It is shown, never swallowed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The line it was met on.
    pub line: SourceLine,
    /// One sentence for the reader.
    pub message: String,
}
