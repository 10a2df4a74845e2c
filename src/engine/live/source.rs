//! A live conversation as the view asks for it.

use std::{ops::Range, sync::Arc, time::Instant};

use tokio::sync::watch;

use crate::model::{Message, MessageId, Progress, RowInfo, RowKind, Snapshot, Source};

/// A live conversation. All of it is in memory, so nothing is ever missing; taking in what
/// happened costs a pointer.
#[derive(Debug)]
pub struct LiveSource {
    snapshots: watch::Receiver<Arc<Snapshot>>,
    shown: Arc<Snapshot>,
}

impl LiveSource {
    pub(super) fn new(snapshots: watch::Receiver<Arc<Snapshot>>) -> Self {
        let shown = Arc::clone(&snapshots.borrow());
        Self { snapshots, shown }
    }

    /// What the last [`Source::poll`] took in. The rows are those of this snapshot.
    #[must_use]
    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.shown
    }

    fn is_prompt(&self, index: usize) -> bool {
        self.shown.entry(index).is_some_and(|entry| entry.row.kind == RowKind::User)
    }
}

impl Source for LiveSource {
    fn poll(&mut self) -> u64 {
        self.shown = Arc::clone(&self.snapshots.borrow_and_update());
        self.shown.version
    }

    fn len(&self) -> usize {
        self.shown.len()
    }

    fn row(&self, index: usize) -> RowInfo {
        self.shown.entry(index).expect("a row is below the length").row
    }

    fn index_of(&self, id: MessageId) -> Option<usize> {
        self.shown.index_of(id)
    }

    fn prompt_before(&self, index: usize) -> Option<usize> {
        (0..=index).rev().find(|index| self.is_prompt(*index))
    }

    fn message(&mut self, index: usize) -> Option<Arc<Message>> {
        self.shown.entry(index).map(|entry| Arc::clone(&entry.message))
    }

    fn want(&mut self, _rows: Range<usize>) {}

    fn running_since(&self) -> Option<Instant> {
        self.shown.running_since
    }

    fn progress(&self) -> Progress {
        Progress::Complete
    }
}
