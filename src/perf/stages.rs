//! Time by named stage, summed on the thread that spends it.

use std::{
    cell::{Cell, RefCell},
    time::{Duration, Instant},
};

use super::{now, spans};

/// Time that one thread spent in one named stage since it was last asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stage {
    /// The name given to [`scope!`](super::scope).
    pub name: &'static str,
    /// How often it was entered.
    pub calls: u32,
    /// Time inside, stages within it included.
    pub total: Duration,
    /// Time inside, without the stages within it.
    pub own: Duration,
}

/// Names are literals in the source, so this is only reached by generated code.
const STAGES_MAX: usize = 256;

thread_local! {
    /// By thread, as what it measures is: who looks at one thread is in nobody's way.
    static ENABLED: Cell<bool> = const { Cell::new(false) };
    static THREAD: RefCell<Thread> = const { RefCell::new(Thread::new()) };
}

struct Thread {
    stages: Vec<Stage>,
    /// Time of the finished scopes inside the scope that is open now.
    inner: Duration,
}

impl Thread {
    const fn new() -> Self {
        Self { stages: Vec::new(), inner: Duration::ZERO }
    }

    fn add(&mut self, name: &'static str, total: Duration, own: Duration) {
        let known = self.stages.iter_mut().find(|stage| stage.name == name);
        if let Some(stage) = known {
            stage.calls += 1;
            stage.total += total;
            stage.own += own;
        } else if self.stages.len() < STAGES_MAX {
            self.stages.push(Stage { name, calls: 1, total, own });
        }
    }
}

/// Switches measuring on or off for this thread.
pub fn enable(on: bool) {
    ENABLED.set(on);
}

/// True while this thread's scopes are measured.
#[must_use]
pub fn is_enabled() -> bool {
    ENABLED.get()
}

/// This thread's stages since the last call, in the order they first ended.
#[must_use]
pub fn take_stages() -> Vec<Stage> {
    THREAD.with_borrow_mut(|thread| std::mem::take(&mut thread.stages))
}

/// Measures until it is dropped; made by [`scope!`](super::scope).
#[derive(Debug)]
pub struct Scope(Option<Open>);

#[derive(Debug)]
struct Open {
    name: &'static str,
    start: Instant,
    /// What the enclosing scope had collected when this one began.
    outer: Duration,
}

impl Scope {
    /// Begins a stage. Costs a look at two switches while measuring is off.
    #[inline]
    #[must_use]
    pub fn enter(name: &'static str) -> Self {
        if !is_enabled() && !spans::is_recording() {
            return Self(None);
        }
        let outer = THREAD.with_borrow_mut(|thread| std::mem::take(&mut thread.inner));
        Self(Some(Open { name, start: now(), outer }))
    }
}

impl Drop for Scope {
    #[inline]
    fn drop(&mut self) {
        let Some(Open { name, start, outer }) = self.0.take() else { return };
        let end = now();
        spans::span(name, start, end);
        if !is_enabled() {
            return;
        }
        let total = end.saturating_duration_since(start);
        THREAD.with_borrow_mut(|thread| {
            thread.add(name, total, total.saturating_sub(thread.inner));
            thread.inner = outer + total;
        });
    }
}
