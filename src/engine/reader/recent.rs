//! The newest messages, as far as they say what the agent is doing.

use std::{collections::VecDeque, sync::Arc};

use super::{
    loader::{Loader, read_message},
    mailbox::Edition,
};
use crate::{
    engine::prepare,
    model::{Message, MessageId, activity::Outline},
    transcript::Transcript,
};

/// Rows of the end that are judged by.
const ROWS: usize = 8;
/// Messages larger than this are read again rather than kept.
const KEPT_BYTES_MAX: usize = 1 << 20;

/// Messages of the end that were read, by their ids in the file.
#[derive(Default)]
pub(super) struct Recent {
    messages: VecDeque<(MessageId, Arc<Message>)>,
}

impl Recent {
    /// Forgets messages that changed.
    pub(super) fn forget(&mut self, changed: &[MessageId]) {
        self.messages.retain(|(id, _)| !changed.contains(id));
    }

    /// What the newest messages come to. Those that were not read yet are, and are handed
    /// over, since they will be shown.
    pub(super) fn outline(
        &mut self,
        loader: &Loader,
        transcript: &Transcript,
        edition: &Edition,
    ) -> Outline {
        let len = edition.index.len();
        let first = len.saturating_sub(ROWS);
        let prompt = len.checked_sub(1).and_then(|last| edition.index.prompt_before(last));
        let rows = prompt.filter(|prompt| *prompt < first).into_iter().chain(first..len);
        let found: Vec<_> =
            rows.map(|row| self.message(loader, transcript, edition, row)).collect();
        self.messages =
            found.iter().filter(|message| is_kept(message)).cloned().map(with_id).collect();
        Outline::of(found.iter().map(|message| &**message))
    }

    fn message(
        &self,
        loader: &Loader,
        transcript: &Transcript,
        edition: &Edition,
        row: usize,
    ) -> Arc<Message> {
        let id = edition.index.row(row).id;
        if let Some((_, message)) = self.messages.iter().find(|(kept, _)| *kept == id) {
            return Arc::clone(message);
        }
        let (message, warnings) = read_message(transcript, &edition.index, row, prepare);
        let message = Arc::new(message);
        // Without room it is asked for when it is shown.
        loader.deliver(edition, Arc::clone(&message), warnings);
        message
    }
}

fn is_kept(message: &Message) -> bool {
    message.heap_bytes() <= KEPT_BYTES_MAX
}

fn with_id(message: Arc<Message>) -> (MessageId, Arc<Message>) {
    (message.id, message)
}
