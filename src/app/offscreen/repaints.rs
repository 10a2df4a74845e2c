//! When the context wants its next frame, as an event loop would hear it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    thread::Thread,
    time::{Duration, Instant},
};

use crate::perf;

/// Requests heard from a context. The thread that made it is the one that waits.
#[derive(Debug)]
pub(super) struct Repaints {
    began: Instant,
    waiter: Thread,
    /// Nanoseconds from `began` to the earliest frame that was asked for.
    due_ns: AtomicU64,
    count: AtomicU64,
}

/// Nothing was asked for.
const NEVER: u64 = u64::MAX;

/// A request further off than this is a clock's, not an animation's.
const SOON: Duration = Duration::from_secs(10);

impl Repaints {
    /// Listens to a context.
    pub(super) fn watch(context: &egui::Context) -> Arc<Self> {
        let repaints = Arc::new(Self {
            began: perf::now(),
            waiter: std::thread::current(),
            due_ns: AtomicU64::new(NEVER),
            count: AtomicU64::new(0),
        });
        let heard = Arc::clone(&repaints);
        context.set_request_repaint_callback(move |request| heard.request(request.delay));
        repaints
    }

    fn request(&self, delay: Duration) {
        if delay < SOON {
            self.count.fetch_add(1, Ordering::Relaxed);
        }
        let due = self.elapsed().saturating_add(delay);
        let due_ns = u64::try_from(due.as_nanos()).unwrap_or(NEVER);
        self.due_ns.fetch_min(due_ns, Ordering::Release);
        self.waiter.unpark();
    }

    /// Requests that ask for a frame soon.
    pub(super) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }

    /// A frame answers everything asked before it.
    pub(super) fn frame_begins(&self) {
        self.due_ns.store(NEVER, Ordering::Release);
    }

    /// Sleeps until a frame is due, at most `timeout`. False when the time ran out.
    pub(super) fn wait(&self, timeout: Duration) -> bool {
        let end = self.elapsed().saturating_add(timeout);
        loop {
            let now = self.elapsed();
            let due = Duration::from_nanos(self.due_ns.load(Ordering::Acquire));
            if due <= now {
                return true;
            }
            if end <= now {
                return false;
            }
            std::thread::park_timeout(due.min(end) - now);
        }
    }

    /// Sleeps, whatever is asked for meanwhile.
    pub(super) fn rest(&self, duration: Duration) {
        let end = self.elapsed().saturating_add(duration);
        while let Some(left) = end.checked_sub(self.elapsed()).filter(|left| !left.is_zero()) {
            std::thread::park_timeout(left);
        }
    }

    fn elapsed(&self) -> Duration {
        perf::now().saturating_duration_since(self.began)
    }
}
