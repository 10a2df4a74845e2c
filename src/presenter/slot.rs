//! The one place where a message that is still arriving is shown.
//!
//! Changes are collected until the next frame, and the frame takes one snapshot of them;
//! what is shown is never the same memory as what is being written.

use std::sync::Arc;

/// What a frame shows of something that changes faster than frames come.
#[derive(Debug)]
pub struct Slot<T> {
    shown: Option<Arc<T>>,
    is_stale: bool,
}

impl<T> Default for Slot<T> {
    /// Nothing is shown.
    fn default() -> Self {
        Self { shown: None, is_stale: false }
    }
}

impl<T> Slot<T> {
    /// What is shown.
    #[must_use]
    pub fn shown(&self) -> Option<&Arc<T>> {
        self.shown.as_ref()
    }

    /// There is something newer: the next frame shows it.
    pub fn mark(&mut self) {
        self.is_stale = true;
    }

    /// Shows this now; what was marked before is no longer newer.
    pub fn show(&mut self, snapshot: Arc<T>) {
        self.shown = Some(snapshot);
        self.is_stale = false;
    }

    /// Shows nothing from now on.
    pub fn clear(&mut self) {
        self.shown = None;
        self.is_stale = false;
    }

    /// A frame begins: takes a snapshot if there is something newer, and says so.
    pub fn frame(&mut self, snapshot: impl FnOnce() -> Option<Arc<T>>) -> bool {
        let is_stale = std::mem::take(&mut self.is_stale);
        if is_stale {
            self.shown = snapshot();
        }
        is_stale
    }
}
