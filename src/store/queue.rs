//! What waits for the writer of a log. Numbers and places are given out here, so that they
//! are in the order of the queue.

use std::{
    collections::VecDeque,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use parking_lot::{Condvar, Mutex};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot, watch};

use super::{
    check::Check,
    log::{Copied, LogState, Sync},
};
use crate::{
    model::record::{Kind, line},
    perf,
};

/// How much may wait, in pages: 32 MiB.
const ROOM_PAGES: usize = 8192;
const PAGE: usize = 4096;
/// What a record takes at least, so that at most 256 of them wait.
const RECORD_PAGES: usize = ROOM_PAGES / 256;

/// How the wait for a record ends: how much of the log is on the disk, or why it is not.
pub(super) type Outcome = Result<u64, Arc<str>>;

/// Something for the writer to do.
#[derive(Debug)]
pub(super) enum Work {
    /// Keep bytes under a name.
    Blob { sha: String, bytes: Arc<[u8]> },
    /// Write a line.
    Record(Waiting),
    /// Copy everything to a new file.
    Copy { to: PathBuf, done: oneshot::Sender<std::io::Result<Copied>> },
}

/// A line that waits to be written.
#[derive(Debug)]
pub(super) struct Waiting {
    pub line: Vec<u8>,
    /// How long the log is with it.
    pub end: u64,
    pub sync: Sync,
    pub since: Instant,
    pub done: oneshot::Sender<Outcome>,
    /// Given back when the writer takes it.
    pub room: Option<OwnedSemaphorePermit>,
}

/// What the writer of a log and those who write to it share.
#[derive(Debug)]
pub(super) struct Queue {
    held: Mutex<Held>,
    /// Something was put in, or it is closing.
    wake: Condvar,
    room: Arc<Semaphore>,
    state: watch::Sender<LogState>,
    /// None until the log was read from end to end.
    checked: watch::Sender<Option<Arc<Check>>>,
    /// How many records found no place in memory after the disk failed.
    pub dropped: AtomicU64,
}

#[derive(Debug)]
struct Held {
    work: VecDeque<Work>,
    /// The number of the next record.
    next: u64,
    /// Where the next record will stand.
    end: u64,
    /// Since when the oldest record waits that is to be on the disk at once.
    saving: Option<Instant>,
    /// Blobs that no record has taken room for yet, in bytes.
    debt: usize,
    is_closing: bool,
}

impl Queue {
    pub(super) fn new(next: u64, end: u64, durable: u64, check: Option<Arc<Check>>) -> Self {
        let work = VecDeque::new();
        let held = Held { work, next, end, saving: None, debt: 0, is_closing: false };
        Self {
            held: Mutex::new(held),
            wake: Condvar::new(),
            room: Arc::new(Semaphore::new(ROOM_PAGES)),
            state: watch::Sender::new(LogState::Saved { len: durable }),
            checked: watch::Sender::new(check),
            dropped: AtomicU64::new(0),
        }
    }

    /// Waits until a record of so many bytes has room, and the number of the next one is
    /// known. None when nobody writes any more.
    pub(super) async fn room(&self, bytes: usize) -> Option<OwnedSemaphorePermit> {
        self.checked().await?;
        let debt = std::mem::take(&mut self.held.lock().debt);
        let pages = ((bytes + debt) / PAGE).clamp(RECORD_PAGES, ROOM_PAGES);
        let pages = u32::try_from(pages).unwrap_or(u32::MAX);
        Arc::clone(&self.room).acquire_many_owned(pages).await.ok()
    }

    pub(super) fn push_blob(&self, sha: String, bytes: Arc<[u8]>) {
        let mut held = self.held.lock();
        held.debt = held.debt.saturating_add(bytes.len());
        held.work.push_back(Work::Blob { sha, bytes });
    }

    /// Puts a record in; its number and its place.
    pub(super) fn push(
        &self,
        (kind, t, body): (Kind, i64, &str),
        sync: Sync,
        room: Option<OwnedSemaphorePermit>,
        done: oneshot::Sender<Outcome>,
    ) -> (u64, u64) {
        let since = perf::now();
        let mut held = self.held.lock();
        let (n, offset) = (held.next, held.end);
        let line = line::write(n, kind, t, body).into_bytes();
        held.next += 1;
        held.end += line.len() as u64;
        let end = held.end;
        if room.is_some() {
            held.work.push_back(Work::Record(Waiting { line, end, sync, since, done, room }));
            if sync == Sync::Now && held.saving.is_none() {
                held.saving = Some(since);
                self.state.send_if_modified(|state| state.begin_saving(since));
            }
        }
        drop(held);
        self.wake.notify_one();
        (n, offset)
    }

    pub(super) fn push_copy(&self, to: PathBuf, done: oneshot::Sender<std::io::Result<Copied>>) {
        self.held.lock().work.push_back(Work::Copy { to, done });
        self.wake.notify_one();
    }

    /// All that waits. Waits itself for something to come, for `patience` at most.
    pub(super) fn take(&self, patience: Option<Duration>) -> Taken {
        let mut held = self.held.lock();
        let until = patience.map(|patience| perf::now() + patience);
        while held.work.is_empty() && !held.is_closing {
            match until {
                None => self.wake.wait(&mut held),
                Some(until) => {
                    if self.wake.wait_until(&mut held, until).timed_out() {
                        break;
                    }
                }
            }
        }
        let mut work = std::mem::take(&mut held.work);
        for one in &mut work {
            if let Work::Record(waiting) = one {
                waiting.room = None;
            }
        }
        Taken { is_last: held.is_closing, work }
    }

    /// Says how it stands. `saving` is since when the oldest of the writer's records waits.
    pub(super) fn publish(&self, state: LogState, saving: Option<Instant>) {
        let mut held = self.held.lock();
        let queued = held.work.iter().find_map(|work| match work {
            Work::Record(waiting) if waiting.sync == Sync::Now => Some(waiting.since),
            Work::Record(_) | Work::Blob { .. } | Work::Copy { .. } => None,
        });
        held.saving = saving.or(queued);
        let state = match (state, held.saving) {
            (LogState::Saved { .. }, Some(since)) => LogState::Saving { since },
            (state, _) => state,
        };
        self.state.send_if_modified(|now| {
            let is_new = *now != state;
            *now = state;
            is_new
        });
    }

    /// Nobody will ever write it.
    pub(super) fn fail(&self, why: Arc<str>) {
        self.state.send_replace(LogState::Unsaved(why));
        self.end();
    }

    pub(super) fn close(&self) {
        self.held.lock().is_closing = true;
        self.wake.notify_one();
    }

    /// Nobody writes any more: nobody waits any more either.
    pub(super) fn end(&self) {
        self.room.close();
        self.checked.send_if_modified(|check| {
            let was_open = check.is_none();
            check.get_or_insert_default();
            was_open
        });
        self.held.lock().work.clear();
    }

    /// The log was read from end to end, and no number is higher than `check` says.
    pub(super) fn set_checked(&self, check: Check) {
        let mut held = self.held.lock();
        held.next = held.next.max(check.highest.map_or(0, |n| n + 1));
        drop(held);
        self.checked.send_replace(Some(Arc::new(check)));
    }

    /// What the log says about itself, once that is known.
    pub(super) async fn checked(&self) -> Option<Arc<Check>> {
        let mut checked = self.checked.subscribe();
        let check = checked.wait_for(Option::is_some).await.ok()?;
        Option::clone(&check)
    }

    pub(super) fn state(&self) -> watch::Receiver<LogState> {
        self.state.subscribe()
    }

    pub(super) fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

/// What was taken out of a [`Queue`].
#[derive(Debug)]
pub(super) struct Taken {
    pub work: VecDeque<Work>,
    /// Nothing will come any more.
    pub is_last: bool,
}
