//! What the two threads hand each other: one wish, which the newest replaces, and a
//! bounded pile of messages. Locks are held only while pointers move.

use std::{sync::Arc, time::Instant};

use parking_lot::{Condvar, Mutex};

use super::sums::Sums;
use crate::{
    model::{Message, MessageId, Progress, Warning},
    transcript::{Index, OpenError, Transcript},
};

/// Between the thread that reads a file and the one that shows it.
#[derive(Default)]
pub(super) struct Mailbox {
    state: Mutex<State>,
    asked: Condvar,
    arrived: Condvar,
}

/// An index and its number; a later one replaces it.
#[derive(Clone)]
pub(super) struct Edition {
    pub(super) index: Arc<Index>,
    pub(super) sums: Arc<Sums>,
    pub(super) number: u32,
}

/// What should be read next.
#[derive(Clone)]
pub(super) struct Wish {
    pub(super) ticket: u64,
    pub(super) edition: Edition,
    /// Rows of that index, most urgent first.
    pub(super) rows: Vec<usize>,
    /// The reader is near the top of what is known.
    pub(super) earlier: bool,
}

/// A message that was read.
pub(super) struct Page {
    pub(super) id: MessageId,
    pub(super) message: Arc<Message>,
    pub(super) warnings: Vec<Warning>,
    pub(super) edition: u32,
    bytes: usize,
}

impl Page {
    pub(super) fn new(message: Message, warnings: Vec<Warning>, edition: u32) -> Self {
        let bytes = message.heap_bytes() + size_of::<Message>();
        Self { id: message.id, message: Arc::new(message), warnings, edition, bytes }
    }
}

/// What arrived.
#[derive(Default)]
pub(super) struct News {
    pub(super) transcript: Option<Arc<Transcript>>,
    pub(super) edition: Option<Edition>,
    pub(super) progress: Option<Progress>,
    pub(super) failure: Option<Arc<OpenError>>,
    pub(super) pages: Vec<Page>,
    /// The last wish that was worked off, or given up because the pile was full.
    pub(super) served: u64,
    /// There is more, which the next call will take.
    pub(super) more: bool,
}

#[derive(Default)]
struct State {
    wish: Option<Wish>,
    newest_ticket: u64,
    closed: bool,
    fresh: bool,
    transcript: Option<Arc<Transcript>>,
    edition: Option<Edition>,
    progress: Option<Progress>,
    failure: Option<Arc<OpenError>>,
    pages: std::collections::VecDeque<Page>,
    page_bytes: usize,
    served: u64,
}

/// The pile of messages that were read but not taken.
const PILE_BYTES_MAX: usize = 6 * 1024 * 1024;
const PILE_PAGES_MAX: usize = 512;
/// What one frame takes in.
const TAKE_BYTES_MAX: usize = 4 * 1024 * 1024;
const TAKE_PAGES_MAX: usize = 64;

/// The side of the one who shows.
impl Mailbox {
    /// Replaces the wish.
    pub(super) fn ask(&self, wish: Wish) {
        let mut state = self.state.lock();
        state.newest_ticket = wish.ticket;
        state.wish = Some(wish);
        drop(state);
        self.asked.notify_one();
    }

    /// Takes in what arrived, as much as fits in a frame.
    pub(super) fn take(&self) -> News {
        let mut state = self.state.lock();
        let mut news = News {
            transcript: state.transcript.take(),
            edition: state.edition.take(),
            progress: state.progress.take(),
            failure: state.failure.take(),
            served: state.served,
            ..News::default()
        };
        let mut bytes = 0;
        while news.pages.len() < TAKE_PAGES_MAX && bytes < TAKE_BYTES_MAX {
            let Some(page) = state.pages.pop_front() else { break };
            bytes += page.bytes;
            state.page_bytes -= page.bytes;
            news.pages.push(page);
        }
        news.more = !state.pages.is_empty();
        state.fresh = news.more;
        news
    }

    /// Waits until something arrives that was not taken. False when `deadline` passes
    /// first. Never called on the UI thread.
    pub(super) fn wait(&self, deadline: Instant) -> bool {
        let mut state = self.state.lock();
        while !state.fresh {
            if self.arrived.wait_until(&mut state, deadline).timed_out() {
                return state.fresh;
            }
        }
        true
    }

    /// Ends the thread that reads.
    pub(super) fn close(&self) {
        self.state.lock().closed = true;
        self.asked.notify_one();
    }
}

/// The side of the one who reads.
impl Mailbox {
    /// The wish, if there is a new one.
    pub(super) fn wish(&self) -> Option<Wish> {
        self.state.lock().wish.take()
    }

    /// Waits for a wish; none when the other side is gone.
    pub(super) fn wait_for_wish(&self) -> Option<Wish> {
        let mut state = self.state.lock();
        loop {
            if state.closed {
                return None;
            }
            if let Some(wish) = state.wish.take() {
                return Some(wish);
            }
            self.asked.wait(&mut state);
        }
    }

    /// True when nobody wants the rest of this wish any more.
    pub(super) fn is_stale(&self, ticket: u64) -> bool {
        let state = self.state.lock();
        state.closed || state.newest_ticket > ticket
    }

    /// True when the other side is gone.
    pub(super) fn is_closed(&self) -> bool {
        self.state.lock().closed
    }

    pub(super) fn opened(&self, transcript: Arc<Transcript>) {
        self.post(|state| state.transcript = Some(transcript));
    }

    pub(super) fn failed(&self, error: OpenError) {
        self.post(|state| state.failure = Some(Arc::new(error)));
    }

    pub(super) fn publish(&self, edition: Edition) {
        self.post(|state| state.edition = Some(edition));
    }

    pub(super) fn progress(&self, progress: Progress) {
        self.post(|state| state.progress = Some(progress));
    }

    /// Lays a message on the pile. False when the pile was full, and nothing was laid.
    pub(super) fn deliver(&self, page: Page) -> bool {
        let mut state = self.state.lock();
        let full = state.pages.len() >= PILE_PAGES_MAX || state.page_bytes >= PILE_BYTES_MAX;
        if !full {
            state.page_bytes += page.bytes;
            state.pages.push_back(page);
            state.fresh = true;
            drop(state);
            self.arrived.notify_all();
        }
        !full
    }

    /// Says that a wish was worked off, or given up.
    pub(super) fn served(&self, ticket: u64) {
        self.post(|state| state.served = ticket);
    }

    fn post(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state.lock();
        change(&mut state);
        state.fresh = true;
        drop(state);
        self.arrived.notify_all();
    }
}
