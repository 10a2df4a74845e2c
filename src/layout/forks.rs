//! Forks: which messages of the page have others beside them.

use std::sync::Arc;

use crate::model::{Fork, MessageId};

/// The forks of the path that is shown.
#[derive(Clone, Debug, Default)]
pub struct Forks {
    list: Arc<[Fork]>,
    version: u64,
}

/// A message among those that stand in the same place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForkPlace {
    /// Which of them it is, counted from 1.
    pub number: usize,
    /// How many there are.
    pub of: usize,
    /// The one before it.
    pub previous: Option<MessageId>,
    /// The one behind it.
    pub next: Option<MessageId>,
}

impl Forks {
    /// Takes the forks as they are now, by rising ids.
    pub fn set(&mut self, list: Option<&Arc<[Fork]>>) {
        let is_same = list.map_or(self.list.is_empty(), |list| {
            Arc::ptr_eq(&self.list, list) || self.list == *list
        });
        if !is_same {
            self.version += 1;
            self.list = list.map(Arc::clone).unwrap_or_default();
        }
    }

    /// Grows with every change.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Where a message stands among its siblings; none when it has none.
    #[must_use]
    pub fn of(&self, message: MessageId) -> Option<ForkPlace> {
        let found = self.list.binary_search_by_key(&message, |fork| fork.message).ok()?;
        let Fork { siblings, at, .. } = self.list.get(found)?;
        let sibling = |index: Option<usize>| siblings.get(index?).copied();
        (siblings.len() > 1 && *at < siblings.len()).then(|| ForkPlace {
            number: at + 1,
            of: siblings.len(),
            previous: sibling(at.checked_sub(1)),
            next: sibling(at.checked_add(1)),
        })
    }
}
