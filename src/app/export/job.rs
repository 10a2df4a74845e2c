//! An export beside the UI: a thread of its own, with progress, and an end at any time.

use std::{
    io,
    ops::ControlFlow,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
        mpsc::{Receiver, SyncSender, TryRecvError, sync_channel},
    },
    thread,
};

use super::{
    Order, Subject, Summary,
    output::Output,
    sheet,
    subject::Matter,
    watch::{Stage, Watch},
};
use crate::{
    app::error::{Error, Result},
    engine::reader::Waker,
};

/// An export to be carried out.
#[derive(Clone, Debug)]
pub struct Job {
    /// What is exported.
    pub subject: Subject,
    /// The id of the leaf whose branch is written instead of the active one.
    pub branch: Option<String>,
    /// How.
    pub order: Order,
    /// Where it goes.
    pub destination: Destination,
}

/// Where an export goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// A file, which appears whole or not at all.
    File(PathBuf),
    /// Back to whoever asked, as text.
    Text,
}

/// How an export ended.
pub type Outcome = Result<Done>;

/// What came of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Done {
    /// What was written.
    pub summary: Summary,
    /// The text, where it was wanted as such.
    pub text: Option<String>,
}

/// An export that is going on. Dropping it stops it; then nothing is left behind.
#[derive(Debug)]
pub struct Handle {
    shared: Arc<Shared>,
    outcome: Receiver<Outcome>,
}

#[derive(Debug, Default)]
struct Shared {
    is_cancelled: AtomicBool,
    is_writing: AtomicBool,
    done: AtomicU64,
    total: AtomicU64,
}

/// Texts of more bytes do not go to the clipboard.
const TEXT_MAX: usize = 64 * 1024 * 1024;
/// Messages between two wakes of whoever looks on.
const WAKE_EVERY: u64 = 256;

/// Starts an export. `waker` is called from time to time, and at its end.
///
/// # Errors
/// When the system gives no further thread.
pub fn start(job: Job, waker: Waker) -> io::Result<Handle> {
    let shared = Arc::new(Shared::default());
    let (sender, outcome) = sync_channel(1);
    let look = Look { shared: Arc::clone(&shared), waker };
    let work = move || carry_out(job, look, &sender);
    thread::Builder::new().name("letterpress-export".to_owned()).spawn(work)?;
    Ok(Handle { shared, outcome })
}

fn carry_out(job: Job, mut look: Look, sender: &SyncSender<Outcome>) {
    let outcome = write(job, &mut look);
    // Whoever let go of the handle wants no answer.
    let _gone = sender.try_send(outcome);
    (look.waker)();
}

fn write(job: Job, look: &mut Look) -> Outcome {
    let Job { subject, branch, order, destination } = job;
    let file = match &subject {
        Subject::File(path) => Some(path.clone()),
        Subject::Held(_) => None,
    };
    let matter = Matter::open(subject, branch.as_deref(), look)?;
    match destination {
        Destination::File(target) => {
            let mut out = Output::create(Some(&target), file.as_deref())?;
            let written = sheet::write(&matter, &order, out.writer(), look);
            let summary = written.map_err(|error| look.failed(&error, |e| out.failed(e)))?;
            out.finish().map(|()| Done { summary, text: None })
        }
        Destination::Text => {
            let mut bounded = Bounded::default();
            let written = sheet::write(&matter, &order, &mut bounded, look);
            let unsaid = |_: &io::Error| Error::failed("it is too long for the clipboard", "");
            let summary = written.map_err(|error| look.failed(&error, unsaid))?;
            let text = String::from_utf8_lossy(&bounded.0).into_owned();
            Ok(Done { summary, text: Some(text) })
        }
    }
}

/// A text of bounded length.
#[derive(Default)]
struct Bounded(Vec<u8>);

impl io::Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > TEXT_MAX {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The thread's side.
struct Look {
    shared: Arc<Shared>,
    waker: Waker,
}

impl Look {
    fn failed(&self, error: &io::Error, otherwise: impl FnOnce(&io::Error) -> Error) -> Error {
        if self.shared.is_cancelled.load(Ordering::Relaxed) {
            return Error::failed("it was cancelled", "");
        }
        otherwise(error)
    }
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

impl Handle {
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
    pub fn poll(&self) -> Option<Outcome> {
        match self.outcome.try_recv() {
            Ok(outcome) => Some(outcome),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => {
                Some(Err(Error::failed("the export stopped without a word", "")))
            }
        }
    }

    /// Waits for its end.
    ///
    /// # Errors
    /// As [`super::run`] has them; also when it was cancelled.
    pub fn wait(self) -> Outcome {
        let stopped = || Error::failed("the export stopped without a word", "");
        self.outcome.recv().map_err(|_gone| stopped())?
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.cancel();
    }
}
