//! The two sides of a search: who asks and takes, and the thread that reads.

use std::{
    fmt, io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use parking_lot::{Condvar, Mutex};

use super::{Found, Query, Request, work::Worker};
use crate::engine::Waker;

/// Rows that may wait to be taken.
const PILE_MAX: usize = 16 * 1024;

/// Finds words in conversations, on a thread of its own that ends with it.
pub struct Finder {
    desk: Arc<Desk>,
    asked: u64,
}

/// What was found since the last look.
#[derive(Debug, Default)]
pub struct News {
    /// What the needle became, once for each request.
    pub query: Option<Result<Arc<Query>, String>>,
    /// Rows with hits: first those from where the search began, in order, then those before
    /// it, in order.
    pub found: Vec<Found>,
    /// Everything was looked at.
    pub done: bool,
}

/// Between the two sides. Locks are held only while pointers move.
#[derive(Default)]
pub(super) struct Desk {
    state: Mutex<State>,
    /// Something was asked, taken or closed.
    moved: Condvar,
    /// The number of the newest request; every request before it is given up.
    newest: AtomicU64,
    rows_read: AtomicU64,
}

#[derive(Default)]
struct State {
    request: Option<Request>,
    closed: bool,
    news: News,
}

impl Finder {
    /// Starts the thread. `waker` is called on it when something was found.
    ///
    /// # Errors
    /// When the system gives no further thread.
    pub fn start(waker: Waker) -> io::Result<Self> {
        let desk = Arc::new(Desk::default());
        let worker = Worker::new(Arc::clone(&desk), waker);
        let name = "letterpress-find".to_owned();
        std::thread::Builder::new().name(name).spawn(move || worker.run())?;
        Ok(Self { desk, asked: 0 })
    }

    /// Looks for something else from now on; what was found before is forgotten.
    pub fn ask(&mut self, request: Request) {
        self.replace(Some(request));
    }

    /// Stops looking.
    pub fn cancel(&mut self) {
        self.replace(None);
    }

    fn replace(&mut self, request: Option<Request>) {
        self.asked += 1;
        let mut state = self.desk.state.lock();
        self.desk.newest.store(self.asked, Ordering::Release);
        state.request = request;
        state.news = News::default();
        drop(state);
        self.desk.moved.notify_all();
    }

    /// Takes what was found since the last call. Never waits.
    #[must_use]
    pub fn poll(&self) -> News {
        let mut state = self.desk.state.lock();
        let done = state.news.done;
        let news = std::mem::take(&mut state.news);
        state.news.done = done;
        drop(state);
        self.desk.moved.notify_all();
        news
    }

    /// Rows that were read and searched, of all requests together; those ruled out by
    /// their bytes, and those that had not changed, are not among them.
    #[must_use]
    pub fn rows_read(&self) -> u64 {
        self.desk.rows_read.load(Ordering::Relaxed)
    }
}

impl Drop for Finder {
    fn drop(&mut self) {
        self.desk.state.lock().closed = true;
        self.desk.newest.fetch_add(1, Ordering::Release);
        self.desk.moved.notify_all();
    }
}

impl fmt::Debug for Finder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Finder").field("asked", &self.asked).finish_non_exhaustive()
    }
}

/// The side of the one who reads.
impl Desk {
    /// Waits for a request and gives its number; none when the other side is gone.
    pub(super) fn next(&self) -> Option<(u64, Request)> {
        let mut state = self.state.lock();
        loop {
            if state.closed {
                return None;
            }
            if let Some(request) = state.request.take() {
                return Some((self.newest.load(Ordering::Acquire), request));
            }
            self.moved.wait(&mut state);
        }
    }

    /// True when nobody wants the rest of this request any more.
    pub(super) fn is_stale(&self, number: u64) -> bool {
        self.newest.load(Ordering::Acquire) != number
    }

    pub(super) fn read_one(&self) {
        self.rows_read.fetch_add(1, Ordering::Relaxed);
    }

    /// Tells what the needle became.
    pub(super) fn tell(&self, number: u64, query: Result<Arc<Query>, String>) {
        let mut state = self.state.lock();
        if !self.is_stale(number) {
            state.news.query = Some(query);
        }
    }

    /// Lays down what was found; waits while too much lies there untaken. False when nobody
    /// wants it any more.
    pub(super) fn deliver(&self, number: u64, found: &mut Vec<Found>) -> bool {
        let mut state = self.state.lock();
        while !self.is_stale(number) && state.news.found.len() + found.len() > PILE_MAX {
            self.moved.wait(&mut state);
        }
        let wanted = !self.is_stale(number);
        if wanted {
            state.news.found.append(found);
        }
        wanted
    }

    pub(super) fn done(&self, number: u64) {
        let mut state = self.state.lock();
        if !self.is_stale(number) {
            state.news.done = true;
        }
    }
}
