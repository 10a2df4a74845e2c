//! When each stage began and ended, on every thread, while somebody records.

use std::{
    cell::Cell,
    sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed},
    time::{Duration, Instant},
};

use parking_lot::Mutex;

/// One stretch of work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// What was done: the name given to [`scope!`](super::scope).
    pub name: &'static str,
    /// The thread that did it, counted from 1 in the order they were first heard of.
    pub thread: u32,
    /// When it began.
    pub start: Instant,
    /// How long it took.
    pub duration: Duration,
}

/// What was recorded.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    /// Stretches of work, in the order they ended.
    pub spans: Vec<Span>,
    /// Stretches there was no room for.
    pub dropped: u64,
    /// Names of all threads that were ever heard of: the first is thread 1.
    pub threads: Vec<String>,
}

/// Spans that are kept: an hour of frames, or 12 MB.
pub const SPANS_MAX: usize = 300_000;
/// More threads than this share the last name.
const THREADS_MAX: usize = 1024;

static RECORDS: AtomicBool = AtomicBool::new(false);
static SPANS: Mutex<Vec<Span>> = Mutex::new(Vec::new());
static DROPPED: AtomicU64 = AtomicU64::new(0);
static THREADS: Mutex<Vec<String>> = Mutex::new(Vec::new());

thread_local! {
    /// 0 until the thread is heard of.
    static THREAD: Cell<u32> = const { Cell::new(0) };
}

/// Begins or ends recording on all threads. One at a time can record.
pub fn record(on: bool) {
    RECORDS.store(on, Relaxed);
}

/// True while spans are recorded.
#[inline]
#[must_use]
pub fn is_recording() -> bool {
    RECORDS.load(Relaxed)
}

/// Records a stretch of this thread's work that was timed by other means than
/// [`scope!`](super::scope). Does nothing while nobody records.
pub fn span(name: &'static str, start: Instant, end: Instant) {
    if !is_recording() {
        return;
    }
    let duration = end.saturating_duration_since(start);
    let span = Span { name, thread: thread(), start, duration };
    let mut spans = SPANS.lock();
    if spans.len() < SPANS_MAX {
        spans.push(span);
    } else {
        DROPPED.fetch_add(1, Relaxed);
    }
}

/// Takes what was recorded since the last call.
#[must_use]
pub fn take_recording() -> Recording {
    Recording {
        spans: std::mem::take(&mut *SPANS.lock()),
        dropped: DROPPED.swap(0, Relaxed),
        threads: THREADS.lock().clone(),
    }
}

fn thread() -> u32 {
    THREAD.with(|number| {
        if number.get() == 0 {
            number.set(enrol());
        }
        number.get()
    })
}

fn enrol() -> u32 {
    let mut threads = THREADS.lock();
    if threads.len() < THREADS_MAX {
        threads.push(std::thread::current().name().unwrap_or("unnamed").to_owned());
    }
    threads.len() as u32
}
