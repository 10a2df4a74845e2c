//! A live conversation as the view asks for it.

use std::{ops::Range, sync::Arc, time::Instant};

use tokio::sync::watch;

use crate::model::{
    Entry, Fork, Message, MessageId, Progress, Reading, RowInfo, RowKind, Snapshot, Source,
};

/// A live conversation. All of it is in memory, so nothing is ever missing; taking in what
/// happened costs a pointer.
#[derive(Debug)]
pub struct LiveSource {
    snapshots: watch::Receiver<Arc<Snapshot>>,
    shown: Arc<Snapshot>,
}

impl LiveSource {
    /// What is published there.
    #[must_use]
    pub fn new(snapshots: watch::Receiver<Arc<Snapshot>>) -> Self {
        let shown = Arc::clone(&snapshots.borrow());
        Self { snapshots, shown }
    }

    /// What the last [`Source::poll`] took in. The rows are those of this snapshot.
    #[must_use]
    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.shown
    }

    /// Do other messages stand where this one does?
    fn is_fork(&self, index: usize) -> bool {
        let entry = self.shown.entry(index);
        let place = |entry: &Entry| {
            self.shown.forks.binary_search_by_key(&entry.message.id, |fork| fork.message)
        };
        entry.is_some_and(|entry| place(entry).is_ok())
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
        let row = self.shown.entry(index).expect("a row is below the length").row;
        // What leaves at the very beginning leaves at the first message.
        let forks = self.is_fork(index + 1) || (index == 0 && self.is_fork(0));
        RowInfo { forks, ..row }
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

    fn forks(&self) -> Option<&Arc<[Fork]>> {
        Some(&self.shown.forks)
    }

    fn progress(&self) -> Progress {
        Progress::Complete
    }

    fn reading(&self) -> Option<Arc<dyn Reading>> {
        Some(Arc::new(SnapshotReading(Arc::clone(&self.shown))))
    }
}

/// The rows of one snapshot.
struct SnapshotReading(Arc<Snapshot>);

impl Reading for SnapshotReading {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn stamp(&self) -> u64 {
        self.0.version
    }

    fn id(&self, row: usize) -> MessageId {
        self.0.entry(row).map_or_else(MessageId::default, |entry| entry.message.id)
    }

    fn message(&self, row: usize) -> Arc<Message> {
        let entry = self.0.entry(row).expect("a row is below the length");
        Arc::clone(&entry.message)
    }

    fn is_resident(&self) -> bool {
        true
    }
}
