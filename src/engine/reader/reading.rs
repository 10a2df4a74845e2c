//! A file as it stands at one moment, for another thread to read from end to end.

use std::sync::Arc;

use super::{loader::read_message, mailbox::Edition};
use crate::{
    engine::prepare,
    model::{Message, MessageId, ReadAhead, Reading},
    transcript::Transcript,
};

/// The rows of one edition. Reads past the pages that are kept for the screen.
pub(super) struct FileReading {
    pub(super) transcript: Arc<Transcript>,
    pub(super) edition: Edition,
}

impl Reading for FileReading {
    fn len(&self) -> usize {
        self.edition.index.len()
    }

    fn stamp(&self) -> u64 {
        u64::from(self.edition.number)
    }

    fn id(&self, row: usize) -> MessageId {
        self.edition.index.row(row).id
    }

    fn message(&self, row: usize) -> Arc<Message> {
        Arc::new(read_message(&self.transcript, &self.edition.index, row, prepare).0)
    }

    fn is_resident(&self) -> bool {
        false
    }

    fn passes(&self, row: usize, ahead: &mut ReadAhead, sieve: &dyn Fn(&[u8]) -> bool) -> bool {
        self.transcript.passes(&self.edition.index, row, ahead, sieve)
    }
}
