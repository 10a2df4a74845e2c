//! Snapshots for whoever looks: the newest replaces the one before.

use std::{fmt, sync::Arc};

use tokio::sync::watch;

use crate::{
    engine::Waker,
    model::{
        Keeping, Phase, Snapshot,
        stream::{EndState, Interruption, Retry},
    },
};

/// Publishes the snapshots of one conversation. When it goes away in the middle of a turn,
/// for whatever reason, the last snapshot says that nothing goes on any more.
pub(super) struct Publisher {
    snapshots: watch::Sender<Arc<Snapshot>>,
    waker: Waker,
}

impl Publisher {
    pub(super) fn new(waker: Waker) -> (Self, watch::Receiver<Arc<Snapshot>>) {
        let (snapshots, receiver) = watch::channel(Arc::default());
        (Self { snapshots, waker }, receiver)
    }

    /// What was said last about what is kept.
    pub(super) fn keeping(&self) -> Keeping {
        self.snapshots.borrow().keeping.clone()
    }

    pub(super) fn publish(&self, mut snapshot: Snapshot) {
        snapshot.version = self.snapshots.borrow().version + 1;
        self.snapshots.send_replace(Arc::new(snapshot));
        (self.waker)();
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        let last = Arc::clone(&self.snapshots.borrow());
        if last.phase.is_busy() {
            let cause = Interruption::Io("the conversation was closed".into());
            let end = EndState::Interrupted { cause, retry: Retry::Never };
            let end = Some(Arc::new(end));
            self.publish(Snapshot { phase: Phase::Idle, end, ..Snapshot::clone(&last) });
        }
    }
}

impl fmt::Debug for Publisher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Publisher").finish_non_exhaustive()
    }
}
