//! What the two threads hand each other: one wish, which the newest replaces, and a
//! bounded pile of messages. Locks are held only while pointers move.

use std::{sync::Arc, time::Instant};

use parking_lot::{Condvar, Mutex};

use super::sums::Sums;
use crate::{
    model::{
        Base, Message, MessageId, Progress, RowInfo, Warning,
        activity::{Link, Outline},
    },
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
    /// How many files stood in this place before. Ids of different ones differ.
    pub(super) generation: u16,
    pub(super) changed: Changed,
    /// What of a log it shows.
    pub(super) base: Option<Arc<Base>>,
}

/// Which messages may be other than in the edition before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Changed {
    All,
    Only(Vec<MessageId>),
}

/// More changed messages than this are not told apart.
const CHANGED_MAX: usize = 4096;

impl Changed {
    /// What has changed when both have.
    fn and(self, later: Self) -> Self {
        match (self, later) {
            (Self::Only(mut ids), Self::Only(more)) if ids.len() + more.len() <= CHANGED_MAX => {
                ids.extend(more);
                ids.sort_unstable();
                ids.dedup();
                Self::Only(ids)
            }
            _ => Self::All,
        }
    }
}

const GENERATION_SHIFT: u32 = 48;
const OFFSET_MASK: u64 = (1 << GENERATION_SHIFT) - 1;

impl Edition {
    /// The id outside of a message of the index.
    pub(super) fn outer(&self, id: MessageId) -> MessageId {
        MessageId(id.0 & OFFSET_MASK | u64::from(self.generation) << GENERATION_SHIFT)
    }

    /// The id in the index, unless it is of another file.
    pub(super) fn inner(&self, id: MessageId) -> Option<MessageId> {
        let is_ours = id.0 >> GENERATION_SHIFT == u64::from(self.generation);
        is_ours.then_some(MessageId(id.0 & OFFSET_MASK))
    }

    /// A row under its id outside.
    pub(super) fn row(&self, row: usize) -> RowInfo {
        let info = self.index.row(row);
        RowInfo { id: self.outer(info.id), ..info }
    }

    /// Where a message stands, by its id outside.
    pub(super) fn index_of(&self, id: MessageId) -> Option<usize> {
        self.index.index_of(self.inner(id)?)
    }
}

/// What is known of a source that is followed, beside its rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Pulse {
    pub(super) outline: Outline,
    pub(super) lines_read: u64,
    pub(super) project: Option<Arc<str>>,
}

/// What the thread that reads should do next.
pub(super) enum Work {
    /// Read what is wished for.
    Serve(Wish),
    /// Look whether the file has changed.
    Look,
    /// Show another part of the log.
    Rebase(Arc<Base>),
    /// The time is up.
    Time,
    /// End: the other side is gone.
    End,
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
    pub(super) fn new(message: Arc<Message>, warnings: Vec<Warning>, edition: u32) -> Self {
        let bytes = message.heap_bytes() + size_of::<Message>();
        Self { id: message.id, message, warnings, edition, bytes }
    }
}

/// What arrived.
#[derive(Default)]
pub(super) struct News {
    pub(super) transcript: Option<Arc<Transcript>>,
    pub(super) edition: Option<Edition>,
    pub(super) progress: Option<Progress>,
    pub(super) failure: Option<Arc<OpenError>>,
    pub(super) pulse: Option<Box<Pulse>>,
    pub(super) link: Option<Link>,
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
    look: bool,
    rebase: Option<Arc<Base>>,
    /// Where the first message that is shown begins, unless the end is shown.
    shown_from: Option<u64>,
    fresh: bool,
    transcript: Option<Arc<Transcript>>,
    edition: Option<Edition>,
    progress: Option<Progress>,
    failure: Option<Arc<OpenError>>,
    pulse: Option<Box<Pulse>>,
    link: Option<Link>,
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
            pulse: state.pulse.take(),
            link: state.link.take(),
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

    /// Says what is shown first; none when the end is.
    pub(super) fn shows_from(&self, id: Option<MessageId>) {
        self.state.lock().shown_from = id.map(|id| id.0 & OFFSET_MASK);
    }

    /// Asks to look whether the file has changed.
    pub(super) fn look(&self) {
        self.state.lock().look = true;
        self.asked.notify_one();
    }

    /// Asks to show another part of the log; a later one replaces it.
    pub(super) fn rebase(&self, base: Arc<Base>) {
        let mut state = self.state.lock();
        state.rebase = Some(base);
        // Of what was to be shown before nothing is said any more.
        state.failure = None;
        drop(state);
        self.asked.notify_one();
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

    /// Waits for something to do. Looking comes before serving, so that a reader who
    /// scrolls does not hold up what is new.
    pub(super) fn wait_for_work(&self, deadline: Option<Instant>) -> Work {
        let mut state = self.state.lock();
        loop {
            if state.closed {
                return Work::End;
            }
            if std::mem::take(&mut state.look) {
                return Work::Look;
            }
            if let Some(base) = state.rebase.take() {
                return Work::Rebase(base);
            }
            if let Some(wish) = state.wish.take() {
                return Work::Serve(wish);
            }
            match deadline {
                None => self.asked.wait(&mut state),
                Some(deadline) => {
                    if self.asked.wait_until(&mut state, deadline).timed_out() {
                        return if state.closed { Work::End } else { Work::Time };
                    }
                }
            }
        }
    }

    /// True when nobody wants the rest of this wish any more.
    pub(super) fn is_stale(&self, ticket: u64) -> bool {
        let state = self.state.lock();
        state.closed || state.newest_ticket > ticket
    }

    /// Where the first message that is shown begins in the file, unless the end is shown.
    pub(super) fn shown_from(&self) -> Option<u64> {
        self.state.lock().shown_from
    }

    pub(super) fn link(&self, link: Link) {
        self.post(|state| state.link = Some(link));
    }

    /// True when the file may have changed.
    pub(super) fn is_look_wanted(&self) -> bool {
        self.state.lock().look
    }

    /// True when another part of the log is to be shown.
    pub(super) fn is_rebase_wanted(&self) -> bool {
        self.state.lock().rebase.is_some()
    }

    /// True when the other side is gone.
    pub(super) fn is_closed(&self) -> bool {
        self.state.lock().closed
    }

    /// The file is open. What is handed over reads the same file, through the same handle.
    pub(super) fn opened(&self, transcript: &Transcript) {
        let transcript = Arc::new(transcript.at_len(transcript.len_bytes()));
        self.post(|state| state.transcript = Some(transcript));
    }

    pub(super) fn failed(&self, error: OpenError) {
        self.post(|state| state.failure = Some(Arc::new(error)));
    }

    /// Hands over an edition. One that was not taken yet is replaced, and what it changed
    /// counts with what this one changes.
    pub(super) fn publish(&self, mut edition: Edition) {
        self.post(|state| {
            if let Some(before) = state.edition.take() {
                edition.changed = before.changed.and(edition.changed);
            }
            state.edition = Some(edition);
        });
    }

    pub(super) fn pulse(&self, pulse: Pulse) {
        self.post(|state| state.pulse = Some(Box::new(pulse)));
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
