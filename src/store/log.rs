//! The log of an open session: what is appended, and when it is on the disk.

use std::{
    io, mem,
    path::Path,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Instant,
};

use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::{oneshot, watch};

use super::{
    blobs,
    check::Check,
    clock::Clock,
    fit::fit,
    queue::{Outcome, Queue},
    writer::{self, Writer},
};
use crate::model::record::Kind;

/// The one writer of a session.
///
/// What is appended is written by a thread of its own, in the order of the calls. Dropping it waits for nothing: what was appended is still written, and
/// the session is locked until then.
#[derive(Debug)]
pub struct Log {
    queue: Arc<Queue>,
    clock: Clock,
    thread: Mutex<Thread>,
}

/// The thread that writes. It is there once there is something to do.
#[derive(Debug)]
enum Thread {
    Waiting(Box<Writer>),
    /// What it gives back tells how it ended.
    Started(oneshot::Receiver<Outcome>),
    Gone,
}

/// When a record is to be on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sync {
    /// At once.
    Now,
    /// With the next that is to be there at once; soon in any case.
    Later,
}

/// How a log stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogState {
    /// All that was to be on the disk is there.
    Saved {
        /// How much of the log is there, in bytes.
        len: u64,
    },
    /// Something is on its way.
    Saving {
        /// Since when.
        since: Instant,
    },
    /// The disk failed: what is new is in memory alone, and is not tried again. Why, in one
    /// sentence.
    Unsaved(Arc<str>),
    /// The disk is full: what is new is in memory, and is written when there is space. Why,
    /// in one sentence.
    NoSpace(Arc<str>),
}

impl LogState {
    /// From all being saved; true when that was so.
    pub(super) fn begin_saving(&mut self, since: Instant) -> bool {
        let was_saved = matches!(self, Self::Saved { .. });
        if was_saved {
            *self = Self::Saving { since };
        }
        was_saved
    }
}

/// A record that was appended.
#[derive(Debug)]
pub struct Appended {
    /// Its number.
    pub n: u64,
    /// Its first byte in the log.
    pub offset: u64,
    /// The id of a message whose first record it is.
    pub id: Arc<str>,
    /// Tells when it is on the disk.
    pub saved: Saved,
}

/// Waits until a record is on the disk: how much of the log is there then, or why not.
#[derive(Debug)]
pub struct Saved(oneshot::Receiver<Outcome>);

impl Future for Saved {
    type Output = Result<u64, Arc<str>>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let gone = || Err("Nobody writes this session any more.".into());
        Pin::new(&mut self.0).poll(context).map(|outcome| outcome.unwrap_or_else(|_| gone()))
    }
}

/// What [`Log::save_copy`] wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Copied {
    /// Bytes of the new log.
    pub len: u64,
    /// Records that were dropped for want of memory.
    pub dropped: u64,
}

impl Log {
    pub(super) fn new(writer: Writer, clock: Clock) -> Self {
        let queue = Arc::clone(&writer.queue);
        Self { queue, clock, thread: Mutex::new(Thread::Waiting(Box::new(writer))) }
    }

    fn start(&self) {
        let mut thread = self.thread.lock();
        *thread = match mem::replace(&mut *thread, Thread::Gone) {
            Thread::Waiting(writer) => match writer::start(*writer) {
                Ok(end) => Thread::Started(end),
                Err(error) => {
                    self.queue.fail(format!("The session cannot be written: {error}.").into());
                    Thread::Gone
                }
            },
            thread @ (Thread::Started(_) | Thread::Gone) => thread,
        };
    }

    /// Appends a record. Waits only for room in the queue, and for the end of the log's check
    /// after opening a long one. Long strings in the body go into blobs.
    pub async fn append(&self, kind: Kind, body: Value, sync: Sync) -> Appended {
        self.start();
        let body = fit(body, &mut |bytes| self.blob(bytes));
        let room = self.queue.room(body.len()).await;
        let (done, saved) = oneshot::channel();
        let (n, offset) = self.queue.push((kind, (self.clock)(), &body), sync, room, done);
        Appended { n, offset, id: format!("m{n}").into(), saved: Saved(saved) }
    }

    /// Keeps bytes in the session's folder; gives the name that [`blobs::blob_of`] knows them
    /// by. They are on the disk before any record that is appended later.
    #[must_use]
    pub fn blob(&self, bytes: &[u8]) -> String {
        let sha = blobs::name(bytes);
        self.queue.push_blob(sha.clone(), bytes.into());
        sha
    }

    /// How it stands, now and later.
    #[must_use]
    pub fn state(&self) -> watch::Receiver<LogState> {
        self.queue.state()
    }

    /// How many records were dropped because the disk failed and memory is bounded.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.queue.dropped()
    }

    /// Writes all of it, what is in memory alone too, to a new file elsewhere, with the blobs
    /// in a folder `blobs` beside it.
    ///
    /// # Errors
    /// When there is a file of this name, or it cannot be written.
    pub async fn save_copy(&self, to: &Path) -> io::Result<Copied> {
        self.start();
        let (done, copied) = oneshot::channel();
        self.queue.push_copy(to.to_owned(), done);
        copied.await.unwrap_or_else(|_| Err(io::ErrorKind::BrokenPipe.into()))
    }

    /// Writes what waits, and lets the session go: how much of the log is on the disk.
    ///
    /// # Errors
    /// When some of it is not, and will not be: why, in one sentence.
    pub async fn close(self) -> Result<u64, Arc<str>> {
        self.queue.close();
        let thread = mem::replace(&mut *self.thread.lock(), Thread::Gone);
        let gone = || Err("The writer of this session came to a bad end.".into());
        match thread {
            // What was there is there; only blobs can have come, and nothing names them.
            Thread::Waiting(writer) => Ok(writer.pages.synced),
            Thread::Started(end) => end.await.unwrap_or_else(|_| gone()),
            Thread::Gone => gone(),
        }
    }

    /// What the log says about itself; waits until it has been read.
    pub(super) async fn checked(&self) -> Arc<Check> {
        self.start();
        self.queue.checked().await.unwrap_or_default()
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        self.queue.close();
    }
}
