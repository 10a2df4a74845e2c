//! Which messages that were read still say what the newest index knows.

use std::collections::HashMap;

use super::mailbox::{Changed, Edition};
use crate::model::MessageId;

/// Which messages that are kept say what the newest index knows.
#[derive(Default)]
pub(super) struct Fresh {
    /// Those read with this edition or a later one, as far as only some changed since.
    since: u32,
    /// The editions in which messages changed.
    changed: HashMap<MessageId, u32>,
}

/// More changed messages than this are not told apart.
const CHANGED_MAX: usize = 4096;

impl Fresh {
    pub(super) fn note(&mut self, edition: &Edition) {
        match &edition.changed {
            Changed::Only(ids) if self.changed.len() + ids.len() <= CHANGED_MAX => {
                self.changed.extend(ids.iter().map(|id| (*id, edition.number)));
            }
            Changed::Only(_) | Changed::All => {
                self.since = edition.number;
                self.changed.clear();
            }
        }
    }

    /// The oldest edition whose reading of a message still holds.
    pub(super) fn needed(&self, id: MessageId) -> u32 {
        self.changed.get(&id).copied().unwrap_or(self.since)
    }
}
