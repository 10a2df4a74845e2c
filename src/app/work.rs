//! Long work: who looks on, and doing it beside the UI with progress and an end at any time.

use std::{
    io,
    ops::ControlFlow,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{Receiver, TryRecvError, sync_channel},
    },
    thread,
};

use super::error::{Error, Result};
use crate::engine::reader::Waker;

/// What is being done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// The conversation is looked through; counted in bytes.
    #[default]
    Reading,
    /// Messages are written.
    Writing,
    /// The index of sessions is brought up to date; counted in bytes.
    Listing,
}

impl Stage {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Reading => "reading",
            Self::Writing => "writing",
            Self::Listing => "reading sessions",
        }
    }
}

/// Is told how far long work is.
pub(super) trait Watch {
    /// So much of `total` is done. Breaks when it is no longer wanted.
    fn saw(&mut self, stage: Stage, done: u64, total: u64) -> ControlFlow<()>;
}

/// Work that is going on. Dropping it stops it; then nothing is left behind.
#[derive(Debug)]
pub struct Handle<T> {
    shared: Arc<Shared>,
    outcome: Receiver<Result<T>>,
}

#[derive(Debug, Default)]
struct Shared {
    is_cancelled: AtomicBool,
    is_writing: AtomicBool,
    done: AtomicU64,
    total: AtomicU64,
}

/// Messages between two wakes of whoever looks on.
const WAKE_EVERY: u64 = 256;

/// Starts work on a thread of its own. `waker` is called from time to time, and at its end.
///
/// # Errors
/// When the system gives no further thread.
pub(super) fn start<T: Send + 'static>(
    name: &str,
    waker: Waker,
    work: impl FnOnce(&mut Look) -> Result<T> + Send + 'static,
) -> io::Result<Handle<T>> {
    let shared = Arc::new(Shared::default());
    let (sender, outcome) = sync_channel(1);
    let mut look = Look { shared: Arc::clone(&shared), waker };
    let run = move || {
        let outcome = work(&mut look);
        // Whoever let go of the handle wants no answer.
        let _gone = sender.try_send(outcome);
        (look.waker)();
    };
    thread::Builder::new().name(name.to_owned()).spawn(run)?;
    Ok(Handle { shared, outcome })
}

/// The working thread's side.
pub(super) struct Look {
    shared: Arc<Shared>,
    waker: Waker,
}

impl Look {
    /// The error of work that was stopped, or else this one.
    pub(super) fn failed(&self, otherwise: impl FnOnce() -> Error) -> Error {
        match self.shared.is_cancelled.load(Ordering::Relaxed) {
            true => cancelled(),
            false => otherwise(),
        }
    }
}

/// The error of work that was stopped.
pub(super) fn cancelled() -> Error {
    Error::failed("it was cancelled", "")
}

impl Watch for Look {
    fn saw(&mut self, stage: Stage, done: u64, total: u64) -> ControlFlow<()> {
        let Shared { is_cancelled, is_writing, .. } = &*self.shared;
        is_writing.store(stage == Stage::Writing, Ordering::Relaxed);
        self.shared.done.store(done, Ordering::Relaxed);
        self.shared.total.store(total, Ordering::Relaxed);
        if stage == Stage::Reading || done.is_multiple_of(WAKE_EVERY) {
            (self.waker)();
        }
        if is_cancelled.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    }
}

impl<T> Handle<T> {
    /// What is being done, and how much of it in parts of one.
    #[must_use]
    pub fn progress(&self) -> (Stage, f32) {
        let Shared { is_writing, done, total, .. } = &*self.shared;
        let stage =
            if is_writing.load(Ordering::Relaxed) { Stage::Writing } else { Stage::Reading };
        let total = total.load(Ordering::Relaxed).max(1);
        (stage, (done.load(Ordering::Relaxed) as f32 / total as f32).min(1.0))
    }

    /// Stops it.
    pub fn cancel(&self) {
        self.shared.is_cancelled.store(true, Ordering::Relaxed);
    }

    /// How it ended, once it has; said once.
    pub fn poll(&self) -> Option<Result<T>> {
        match self.outcome.try_recv() {
            Ok(outcome) => Some(outcome),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => Some(Err(gone())),
        }
    }

    /// Waits for its end; not for the UI thread.
    ///
    /// # Errors
    /// As the work has them; also when it was cancelled.
    pub fn wait(self) -> Result<T> {
        self.outcome.recv().map_err(|_gone| gone())?
    }
}

fn gone() -> Error {
    Error::failed("it stopped without a word", "")
}

impl<T> Drop for Handle<T> {
    fn drop(&mut self) {
        self.cancel();
    }
}
