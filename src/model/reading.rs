//! A conversation as it stands at one moment, for another thread to read from end to end.

use std::sync::Arc;

use super::{id::MessageId, message::Message};

/// The messages of a [`crate::model::Source`] as they stand at one moment.
///
/// Reading one costs what its source costs (a file is read) and disturbs nothing that the
/// source keeps ready for the screen, so it never happens on the UI thread.
pub trait Reading: Send + Sync {
    /// Number of rows.
    fn len(&self) -> usize;
    /// True when there is nothing to read.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
    /// Differs between two moments of a source at which any row differed.
    fn stamp(&self) -> u64;
    /// The message of a row below [`Reading::len`], without reading it.
    fn id(&self, row: usize) -> MessageId;
    /// Reads a row below [`Reading::len`].
    fn message(&self, row: usize) -> Arc<Message>;
    /// True when all messages are in memory: then rows that did not change between two
    /// moments give the same pointer.
    fn is_resident(&self) -> bool;
    /// False when the row as it is stored has no bytes that the sieve lets through, so that
    /// it need not be read. Rows are cheapest to ask for in order.
    fn passes(&self, _row: usize, _ahead: &mut ReadAhead, _sieve: &dyn Fn(&[u8]) -> bool) -> bool {
        true
    }
}

/// Bytes that were read beyond what was asked for, because they will be asked for next.
#[derive(Debug, Default)]
pub struct ReadAhead {
    /// The bytes.
    pub bytes: Vec<u8>,
    /// Where in the source they begin.
    pub start: u64,
}

impl ReadAhead {
    /// The `len` bytes from `offset`, if all of them were read.
    #[must_use]
    pub fn get(&self, offset: u64, len: usize) -> Option<&[u8]> {
        let from = usize::try_from(offset.checked_sub(self.start)?).ok()?;
        self.bytes.get(from..from.checked_add(len)?)
    }
}
