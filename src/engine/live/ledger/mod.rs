//! What is written of a conversation while it goes on, and what is known to be on the disk.
//!
//! Nothing here waits: records go into the log in the order in which they are written here,
//! and [`Ledger::step`] tells when something became of them.

pub(super) mod base;
pub(super) mod partials;

use std::{
    collections::VecDeque,
    fmt,
    pin::Pin,
    sync::{Arc, Weak},
    task::{Context, Poll, Waker},
    time::Instant,
};

use serde_json::Value;
use tokio::sync::watch;

use super::talk::Spot;
use crate::{
    model::{Keeping, MessageId, record::Kind},
    perf,
    store::{Appended, Log, LogState, Saved, Sync},
};

/// The log of a conversation that goes on.
pub(super) struct Ledger {
    log: Arc<Log>,
    /// What the log has no room for yet, in order.
    outbox: VecDeque<Record>,
    appending: Option<Appending>,
    /// Where records came to stand that begin a message, until somebody asks.
    spots: VecDeque<(Slip, Spot)>,
    /// What is to be on the disk and is not known to be there, in order.
    unsaved: VecDeque<Unsaved>,
    written: u64,
    placed: u64,
    /// All records before this one are on the disk, or will never be.
    saved: u64,
    failure: Option<Arc<str>>,
    state: watch::Receiver<LogState>,
    /// Nobody writes the log any more.
    is_over: bool,
}

/// Names a record that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Slip(u64);

struct Record {
    kind: Kind,
    body: Value,
    sync: Sync,
    since: Instant,
    /// It is the first record of a message.
    begins: bool,
}

struct Appending {
    future: Pin<Box<dyn Future<Output = Appended> + Send>>,
    sync: Sync,
    since: Instant,
    begins: bool,
}

struct Unsaved {
    slip: Slip,
    since: Instant,
    saved: Saved,
}

impl Ledger {
    pub(super) fn new(log: Log) -> Self {
        let state = log.state();
        Self {
            log: Arc::new(log),
            outbox: VecDeque::new(),
            appending: None,
            spots: VecDeque::new(),
            unsaved: VecDeque::new(),
            written: 0,
            placed: 0,
            saved: 0,
            failure: None,
            state,
            is_over: false,
        }
    }

    /// The log, as long as it is written.
    pub(super) fn log(&self) -> Weak<Log> {
        Arc::downgrade(&self.log)
    }

    /// Writes a record that begins a message; [`Self::spot`] says where.
    pub(super) fn begin(&mut self, kind: Kind, body: Value, sync: Sync) -> Slip {
        self.put(kind, body, sync, true)
    }

    /// Writes a record.
    pub(super) fn write(&mut self, kind: Kind, body: Value, sync: Sync) -> Slip {
        self.put(kind, body, sync, false)
    }

    fn put(&mut self, kind: Kind, body: Value, sync: Sync, begins: bool) -> Slip {
        let slip = Slip(self.written);
        self.written += 1;
        self.outbox.push_back(Record { kind, body, sync, since: perf::now(), begins });
        self.hand_over();
        slip
    }

    /// Keeps bytes beside the log; gives their name.
    pub(super) fn blob(&self) -> impl FnMut(&[u8]) -> String + 'static {
        let log = Arc::clone(&self.log);
        move |bytes| log.blob(bytes)
    }

    /// Where a record came to stand that begins a message; none while there is no room for
    /// it in the log.
    pub(super) fn spot(&mut self, slip: Slip) -> Option<Spot> {
        let at = self.spots.iter().position(|(of, _)| *of == slip)?;
        self.spots.remove(at).map(|(_, spot)| spot)
    }

    /// Takes back the record that was written last, unless it has its place. True when it
    /// was.
    pub(super) fn withdraw(&mut self, slip: Slip) -> bool {
        if slip.0 < self.placed || slip.0 + 1 != self.written {
            return false;
        }
        if self.outbox.pop_back().is_none() {
            self.appending = None;
        }
        self.written -= 1;
        true
    }

    /// Nobody has to wait for a record any more: it is on the disk, or what follows goes on
    /// in memory, and [`Self::keeping`] says so.
    pub(super) fn is_settled(&self, slip: Slip) -> bool {
        let is_stuck = self.failure.is_some() || self.no_space().is_some();
        slip.0 < self.saved || (is_stuck && slip.0 < self.placed)
    }

    /// Something waits for room in the log.
    pub(super) fn is_crowded(&self) -> bool {
        self.written > self.placed
    }

    pub(super) fn keeping(&self) -> Keeping {
        if let Some(why) = &self.failure {
            return Keeping::Unsaved(Arc::clone(why));
        }
        if let Some(why) = self.no_space() {
            return Keeping::Unsaved(why);
        }
        let oldest = self.unsaved.front().map(|unsaved| unsaved.since);
        let waits = self.appending.as_ref().map(|appending| appending.since);
        match oldest.or(waits) {
            Some(since) => Keeping::Saving { since },
            None => Keeping::Kept,
        }
    }

    fn no_space(&self) -> Option<Arc<str>> {
        match &*self.state.borrow() {
            LogState::NoSpace(why) => Some(Arc::clone(why)),
            LogState::Saved { .. } | LogState::Saving { .. } | LogState::Unsaved(_) => None,
        }
    }

    /// Waits until something became of a record, or the log stands otherwise. May be dropped
    /// at any time.
    pub(super) async fn step(&mut self) {
        let Self { appending, unsaved, state, is_over, .. } = self;
        let news = tokio::select! {
            biased;
            appended = next_appended(appending) => News::Appended(appended),
            saved = next_saved(unsaved) => News::Saved(saved),
            changed = state.changed(), if !*is_over => News::Changed(changed.is_ok()),
        };
        match news {
            News::Appended(appended) => {
                self.place(appended);
                self.hand_over();
            }
            News::Saved(outcome) => self.settle(outcome),
            News::Changed(is_alive) => self.is_over = !is_alive,
        }
    }

    /// Hands over what there is room for.
    fn hand_over(&mut self) {
        let mut context = Context::from_waker(Waker::noop());
        loop {
            if self.appending.is_none() && !self.append_next() {
                return;
            }
            let Some(appending) = &mut self.appending else { return };
            match appending.future.as_mut().poll(&mut context) {
                Poll::Ready(appended) => self.place(appended),
                // Whoever waits in `step` asks again.
                Poll::Pending => return,
            }
        }
    }

    fn append_next(&mut self) -> bool {
        let Some(Record { kind, body, sync, since, begins }) = self.outbox.pop_front() else {
            return false;
        };
        let log = Arc::clone(&self.log);
        let future = Box::pin(async move { log.append(kind, body, sync).await });
        self.appending = Some(Appending { future, sync, since, begins });
        true
    }

    fn place(&mut self, appended: Appended) {
        let Some(Appending { sync, since, begins, .. }) = self.appending.take() else { return };
        let slip = Slip(self.placed);
        self.placed += 1;
        let Appended { n, offset, saved, .. } = appended;
        if begins {
            self.spots.push_back((slip, Spot { id: MessageId(offset), n, is_logged: true }));
        }
        if sync == Sync::Now {
            self.unsaved.push_back(Unsaved { slip, since, saved });
        }
    }

    fn settle(&mut self, outcome: Result<u64, Arc<str>>) {
        let Some(Unsaved { slip, .. }) = self.unsaved.pop_front() else { return };
        match outcome {
            Ok(_) => self.saved = slip.0 + 1,
            Err(why) => self.failure = Some(why),
        }
    }

    /// Writes what waits, and lets the log go.
    pub(super) async fn close(mut self) {
        while self.appending.is_some() && !self.is_over {
            self.step().await;
        }
        self.appending = None;
        // What could not be written was said when that became known.
        if let Some(log) = Arc::into_inner(self.log) {
            drop(log.close().await);
        }
    }
}

enum News {
    Appended(Appended),
    Saved(Result<u64, Arc<str>>),
    Changed(bool),
}

async fn next_appended(appending: &mut Option<Appending>) -> Appended {
    match appending {
        Some(appending) => appending.future.as_mut().await,
        None => std::future::pending().await,
    }
}

async fn next_saved(unsaved: &mut VecDeque<Unsaved>) -> Result<u64, Arc<str>> {
    match unsaved.front_mut() {
        Some(unsaved) => (&mut unsaved.saved).await,
        None => std::future::pending().await,
    }
}

/// Waits for news of a ledger; for ever where there is none.
pub(super) async fn step(ledger: &mut Option<Ledger>) {
    match ledger {
        Some(ledger) => ledger.step().await,
        None => std::future::pending().await,
    }
}

impl fmt::Debug for Ledger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ledger")
            .field("written", &self.written)
            .field("placed", &self.placed)
            .field("saved", &self.saved)
            .field("failure", &self.failure)
            .finish_non_exhaustive()
    }
}
