//! The queue in front of the worker, and its thread.

use std::{
    collections::{HashSet, VecDeque},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc,
        mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel},
    },
    thread,
    time::Duration,
};

use super::{Limits, Token, parse::Parser};
use crate::perf;

/// Code to be looked at.
pub(super) struct Job {
    pub(super) key: u64,
    pub(super) language: Arc<str>,
    pub(super) code: Arc<str>,
}

/// Code that was looked at.
pub(super) struct Done {
    pub(super) key: u64,
    /// None when the language is unknown.
    pub(super) tokens: Option<Arc<[Token]>>,
}

/// Jobs that the worker holds at a time. A few, so that it has something to do between
/// two frames; no more, because it takes these in the order they came.
const IN_HAND: usize = 8;
/// Grammars take 10 MB and up to 20 more for each language in use. They are let go after
/// a while without code, and loaded again in some 20 ms.
const GRAMMARS_KEPT: Duration = Duration::from_secs(5);

/// Requests in front of the worker.
pub(super) struct Queue {
    waker: Arc<dyn Fn() + Send + Sync>,
    limits: Limits,
    worker: Worker,
    waiting: VecDeque<Job>,
    /// Keys that wait or are in the worker's hands.
    asked: HashSet<u64>,
}

enum Worker {
    NotStarted,
    Running {
        jobs: SyncSender<Job>,
        done: Receiver<Done>,
    },
    /// The thread could not be started, or ended. Code stays plain.
    Gone,
}

impl Queue {
    pub(super) fn new(waker: Arc<dyn Fn() + Send + Sync>, limits: Limits) -> Self {
        Self {
            waker,
            limits,
            worker: Worker::NotStarted,
            waiting: VecDeque::new(),
            asked: HashSet::new(),
        }
    }

    /// Puts a job behind the others, which makes it the next to be handed on. True when
    /// it will be looked at.
    pub(super) fn push(&mut self, job: Job) -> bool {
        if matches!(self.worker, Worker::NotStarted) {
            self.worker = start(&self.waker, self.limits);
        }
        let key = job.key;
        if !matches!(self.worker, Worker::Gone) && self.asked.insert(key) {
            self.waiting.push_back(job);
            self.hand_on();
            self.drop_oldest();
        }
        self.has(key)
    }

    /// True when a job with this key waits or is in the worker's hands.
    pub(super) fn has(&self, key: u64) -> bool {
        self.asked.contains(&key)
    }

    fn drop_oldest(&mut self) {
        while self.waiting.len() > self.limits.waiting {
            if let Some(dropped) = self.waiting.pop_front() {
                self.asked.remove(&dropped.key);
            }
        }
    }

    /// The next result, if one is ready.
    pub(super) fn next_done(&mut self) -> Option<Done> {
        let Worker::Running { done, .. } = &self.worker else { return None };
        let result = done.try_recv().ok(); // Empty and ended are both "nothing now".
        if let Some(Done { key, .. }) = &result {
            self.asked.remove(key);
            self.hand_on();
        }
        result
    }

    /// Forgets what waits and lets the worker go, with its grammars and what it has in
    /// its hands. The next request starts another.
    pub(super) fn clear(&mut self) {
        let Self { waker: _, limits: _, worker, waiting, asked } = self;
        *worker = Worker::NotStarted;
        *waiting = VecDeque::new();
        *asked = HashSet::new();
    }

    fn hand_on(&mut self) {
        let Worker::Running { jobs, .. } = &self.worker else { return };
        while let Some(job) = self.waiting.pop_back() {
            match jobs.try_send(job) {
                Ok(()) => {}
                Err(TrySendError::Full(job)) => {
                    self.waiting.push_back(job);
                    return;
                }
                Err(TrySendError::Disconnected(_)) => {
                    self.waiting.clear();
                    self.asked.clear();
                    self.worker = Worker::Gone;
                    return;
                }
            }
        }
    }
}

fn start(waker: &Arc<dyn Fn() + Send + Sync>, limits: Limits) -> Worker {
    let (jobs, to_do) = sync_channel(IN_HAND);
    // One place for each job that can be in hand: the worker never waits for a frame.
    let (results, done) = sync_channel(IN_HAND + 1);
    let waker = Arc::clone(waker);
    let thread = thread::Builder::new()
        .name("highlight".to_owned())
        .spawn(move || work(&to_do, &results, &*waker, limits));
    match thread {
        Ok(_) => Worker::Running { jobs, done },
        Err(error) => {
            tracing::warn!("code stays plain, its thread could not be started: {error}");
            Worker::Gone
        }
    }
}

/// Serves jobs until the highlighter is gone.
fn work(jobs: &Receiver<Job>, done: &SyncSender<Done>, waker: &dyn Fn(), limits: Limits) {
    let mut parser: Option<Parser> = None;
    loop {
        let job = match &parser {
            Some(_) => jobs.recv_timeout(GRAMMARS_KEPT),
            None => jobs.recv().map_err(RecvTimeoutError::from),
        };
        let Job { key, language, code } = match job {
            Ok(job) => job,
            Err(RecvTimeoutError::Timeout) => {
                parser = None;
                continue;
            }
            Err(RecvTimeoutError::Disconnected) => return,
        };
        parser = parser.filter(|parser| !parser.is_full_for(&language));
        let tokens = catch_unwind(AssertUnwindSafe(|| {
            perf::scope!("highlight");
            let parser = parser.get_or_insert_with(Parser::new);
            parser.tokens(&language, &code, limits.budget)
        }));
        // A grammar that panics on some code costs that code its colours.
        let tokens = tokens.unwrap_or_else(|_panic| {
            parser = None;
            None
        });
        if done.send(Done { key, tokens }).is_err() {
            return;
        }
        waker();
    }
}
