//! The thread that writes a log: whole batches, in order, and no word about what is not on
//! the disk.

use std::{
    collections::VecDeque,
    io,
    path::PathBuf,
    sync::{Arc, atomic::Ordering},
    thread,
    time::{Duration, Instant},
};

use tokio::sync::oneshot;

use super::{
    blobs,
    check::Check,
    copy,
    disk::{Disk, DiskFile},
    log::{Copied, LogState, Sync},
    queue::{Outcome, Queue, Taken, Waiting, Work},
};
use crate::perf;

/// A full disk is tried again this often.
const RETRY: Duration = Duration::from_secs(1);
/// What was written is on the disk after this time, asked for or not.
const UNSYNCED_MAX: Duration = Duration::from_secs(5);
/// And when it is this much, in bytes.
const UNSYNCED_BYTES_MAX: usize = 4 << 20;
/// More than this is not kept in memory when the disk takes nothing, in bytes.
const KEPT_MAX: usize = 64 << 20;

/// Writes a log until it is closed.
#[derive(Debug)]
pub(super) struct Writer {
    pub disk: Arc<dyn Disk>,
    /// The session's.
    pub folder: PathBuf,
    pub file: Box<dyn DiskFile>,
    /// Held as long as this lives.
    pub lock: Box<dyn DiskFile>,
    pub queue: Arc<Queue>,
    pub pages: Pages,
    /// The log is yet to be read from end to end.
    pub is_unchecked: bool,
}

/// What is not on the disk yet.
#[derive(Debug, Default)]
pub(super) struct Pages {
    /// How much of the log is on the disk.
    pub synced: u64,
    /// What follows that.
    pub tail: Vec<u8>,
    /// How much of the tail is in the file.
    pub written: usize,
    /// Since when something is in the file that may not be on the disk.
    pub unsynced: Option<Instant>,
    /// Blobs that are not there yet.
    pub blobs: VecDeque<(String, Arc<[u8]>)>,
    /// Their bytes.
    pub blob_bytes: usize,
    /// Those who want to know.
    pub waiters: VecDeque<Waiter>,
    /// Those who can be told, once all others can see how it stands.
    pub told: Vec<(Waiter, Outcome)>,
    pub trouble: Option<Trouble>,
}

#[derive(Debug)]
pub(super) struct Waiter {
    end: u64,
    sync: Sync,
    since: Instant,
    done: oneshot::Sender<Outcome>,
}

/// Why something is not on the disk.
#[derive(Clone, Debug)]
pub(super) enum Trouble {
    /// There was no space; it is tried again.
    Space(Arc<str>),
    /// It is not tried again.
    Failed(Arc<str>),
}

impl Trouble {
    fn of(error: &io::Error, what: &str) -> Self {
        use io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        let is_space = matches!(error.kind(), StorageFull | QuotaExceeded | FileTooLarge);
        match is_space {
            true => Self::Space("The disk is full.".into()),
            false => Self::Failed(format!("{what}: {error}.").into()),
        }
    }
}

/// Starts the thread. What it gives back tells how much is on the disk when it has ended.
///
/// # Errors
/// When there is no thread to be had.
pub(super) fn start(writer: Writer) -> io::Result<oneshot::Receiver<Outcome>> {
    let (ended, end) = oneshot::channel();
    let queue = Arc::clone(&writer.queue);
    thread::Builder::new().name("session-log".to_owned()).spawn(move || {
        let last = End(queue);
        let outcome = writer.run();
        drop(last);
        // Nobody may want to know.
        ended.send(outcome).ok();
    })?;
    Ok(end)
}

/// Lets nobody wait for a writer that is gone, whatever became of it.
struct End(Arc<Queue>);

impl Drop for End {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl Writer {
    fn run(mut self) -> Outcome {
        self.check();
        loop {
            let Taken { work, is_last } = self.queue.take(self.pages.patience());
            let mut copies = Vec::new();
            for work in work {
                match work {
                    Work::Blob { sha, bytes } => self.keep_blob(sha, bytes),
                    Work::Record(waiting) => self.keep(waiting),
                    Work::Copy { to, done } => copies.push((to, done)),
                }
            }
            self.put_down(is_last);
            for (to, done) in copies {
                // Who asked may have gone.
                done.send(self.copy(&to)).ok();
            }
            if is_last {
                let outcome = self.outcome();
                // Whoever hears that this has ended can have the lock.
                drop(self.lock);
                return outcome;
            }
        }
    }

    fn check(&mut self) {
        if !self.is_unchecked {
            return;
        }
        let end = self.pages.synced;
        match Check::of(&*self.file, 0, end) {
            Ok(check) => self.queue.set_checked(check),
            Err(error) => {
                self.queue.set_checked(Check::default());
                self.fail(Trouble::of(&error, "The session could not be read"));
            }
        }
    }

    fn is_full(&self, more: usize) -> bool {
        self.pages.trouble.is_some()
            && self.pages.tail.len() + self.pages.blob_bytes + more > KEPT_MAX
    }

    fn keep_blob(&mut self, sha: String, bytes: Arc<[u8]>) {
        if self.is_full(bytes.len()) {
            self.overflow();
            return;
        }
        self.pages.blob_bytes += bytes.len();
        self.pages.blobs.push_back((sha, bytes));
    }

    fn keep(&mut self, waiting: Waiting) {
        if self.is_full(waiting.line.len()) {
            self.queue.dropped.fetch_add(1, Ordering::Relaxed);
            self.overflow();
        } else {
            self.pages.tail.extend_from_slice(&waiting.line);
        }
        let Waiting { end, sync, since, done, .. } = waiting;
        self.pages.waiters.push_back(Waiter { end, sync, since, done });
    }

    /// There is no more memory for what the disk does not take. What follows has no place in
    /// the log any more, so none of it is written.
    fn overflow(&mut self) {
        if !matches!(self.pages.trouble, Some(Trouble::Failed(_))) {
            let why = "The disk is full, and there is more than memory should hold.";
            self.fail(Trouble::Failed(why.into()));
        }
    }

    fn fail(&mut self, trouble: Trouble) {
        if !matches!(self.pages.trouble, Some(Trouble::Failed(_))) {
            self.pages.trouble = Some(trouble);
        }
    }

    /// Writes what can be written, and says how it stands.
    fn put_down(&mut self, is_last: bool) {
        if !matches!(self.pages.trouble, Some(Trouble::Failed(_))) {
            match self.try_to_put_down(is_last) {
                Ok(()) => self.pages.trouble = None,
                Err(trouble) => self.fail(trouble),
            }
        }
        if let Some(Trouble::Failed(why)) = &self.pages.trouble {
            let failed = self.pages.waiters.drain(..).map(|it| (it, Err(Arc::clone(why))));
            self.pages.told.extend(failed);
        }
        self.publish();
        for (waiter, outcome) in self.pages.told.drain(..) {
            // Who asked may have gone.
            waiter.done.send(outcome).ok();
        }
    }

    fn try_to_put_down(&mut self, is_last: bool) -> Result<(), Trouble> {
        self.write_blobs()?;
        let pages = &mut self.pages;
        let file = &mut *self.file;
        pages.write(file).map_err(|error| Trouble::of(&error, "The session was not saved"))?;
        if pages.wants_sync(is_last) {
            // What was not on the disk then may never be, whatever is said the next time.
            pages.sync(file).map_err(|error| {
                Trouble::Failed(format!("The session was not saved: {error}.").into())
            })?;
        }
        Ok(())
    }

    /// Blobs are there before the records that name them.
    fn write_blobs(&mut self) -> Result<(), Trouble> {
        while let Some((sha, bytes)) = self.pages.blobs.front() {
            blobs::keep(&*self.disk, &self.folder, sha, bytes)
                .map_err(|error| Trouble::of(&error, "Something long was not saved"))?;
            self.pages.blob_bytes -= bytes.len();
            self.pages.blobs.pop_front();
        }
        Ok(())
    }

    fn publish(&self) {
        let pages = &self.pages;
        let state = match &pages.trouble {
            None => LogState::Saved { len: pages.synced },
            Some(Trouble::Space(why)) => LogState::NoSpace(Arc::clone(why)),
            Some(Trouble::Failed(why)) => LogState::Unsaved(Arc::clone(why)),
        };
        let saving = pages.waiters.iter().find(|it| it.sync == Sync::Now).map(|it| it.since);
        self.queue.publish(state, saving);
    }

    fn copy(&self, to: &std::path::Path) -> io::Result<Copied> {
        let len = copy::save(&*self.disk, &self.folder, &*self.file, &self.pages, to)?;
        Ok(Copied { len, dropped: self.queue.dropped() })
    }

    fn outcome(&self) -> Outcome {
        match &self.pages.trouble {
            None => Ok(self.pages.synced),
            Some(Trouble::Space(why) | Trouble::Failed(why)) => Err(Arc::clone(why)),
        }
    }
}

impl Pages {
    /// How long there is nothing to do unless something comes.
    fn patience(&self) -> Option<Duration> {
        match (&self.trouble, self.unsynced) {
            (Some(Trouble::Failed(_)), _) | (None, None) => None,
            (Some(Trouble::Space(_)), _) => Some(RETRY),
            (None, Some(since)) => {
                Some(UNSYNCED_MAX.saturating_sub(perf::now().duration_since(since)))
            }
        }
    }

    /// Writes the tail, in one call unless the disk takes less.
    fn write(&mut self, file: &mut dyn DiskFile) -> io::Result<()> {
        while let Some(rest) = self.tail.get(self.written..).filter(|rest| !rest.is_empty()) {
            match file.write(rest) {
                Ok(0) => return Err(io::ErrorKind::StorageFull.into()),
                Ok(taken) => {
                    self.written += taken;
                    self.unsynced.get_or_insert_with(perf::now);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn wants_sync(&self, is_last: bool) -> bool {
        let Some(since) = self.unsynced else { return false };
        is_last
            || self.waiters.iter().any(|waiter| waiter.sync == Sync::Now)
            || self.written > UNSYNCED_BYTES_MAX
            || perf::now().duration_since(since) >= UNSYNCED_MAX
    }

    fn sync(&mut self, file: &mut dyn DiskFile) -> io::Result<()> {
        file.sync()?;
        self.synced += self.written as u64;
        self.tail.drain(..self.written);
        self.written = 0;
        self.unsynced = None;
        while self.waiters.front().is_some_and(|waiter| waiter.end <= self.synced) {
            let waiter = self.waiters.pop_front();
            self.told.extend(waiter.map(|waiter| (waiter, Ok(self.synced))));
        }
        Ok(())
    }
}
