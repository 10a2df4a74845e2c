//! A conversation as it stands at one moment, its log and what is in memory, for another
//! thread to read from end to end.

use std::sync::Arc;

use crate::model::{Message, MessageId, ReadAhead, Reading, Snapshot};

/// First the messages of the log, then those in memory.
pub(super) struct Joined {
    stored: Option<Arc<dyn Reading>>,
    live: Arc<Snapshot>,
    stamp: u64,
}

impl Joined {
    pub(super) fn new(stored: Option<Arc<dyn Reading>>, live: Arc<Snapshot>, stamp: u64) -> Self {
        Self { stored, live, stamp }
    }

    fn before(&self) -> usize {
        self.stored.as_ref().map_or(0, |stored| stored.len())
    }

    fn stored(&self, row: usize) -> Option<&dyn Reading> {
        self.stored.as_deref().filter(|stored| row < stored.len())
    }
}

impl Reading for Joined {
    fn len(&self) -> usize {
        self.before() + self.live.len()
    }

    fn stamp(&self) -> u64 {
        self.stamp
    }

    fn id(&self, row: usize) -> MessageId {
        match self.stored(row) {
            Some(stored) => stored.id(row),
            None => {
                let entry = self.live.entry(row - self.before());
                entry.map_or_else(MessageId::default, |entry| entry.message.id)
            }
        }
    }

    fn message(&self, row: usize) -> Arc<Message> {
        match self.stored(row) {
            Some(stored) => stored.message(row),
            None => {
                let entry = self.live.entry(row - self.before());
                Arc::clone(&entry.expect("a row is below the length").message)
            }
        }
    }

    fn is_resident(&self) -> bool {
        self.stored.is_none()
    }

    fn passes(&self, row: usize, ahead: &mut ReadAhead, sieve: &dyn Fn(&[u8]) -> bool) -> bool {
        self.stored(row).is_none_or(|stored| stored.passes(row, ahead, sieve))
    }
}
