//! One line on a terminal that says how far long work is.

use std::io::{IsTerminal as _, StderrLock, Write as _};

/// The line. Nothing is printed when stderr is no terminal.
pub(super) struct Line {
    terminal: Option<StderrLock<'static>>,
    shown: Option<(&'static str, u64)>,
}

impl Line {
    pub(super) fn new() -> Self {
        let stderr = std::io::stderr();
        Self { terminal: stderr.is_terminal().then(|| stderr.lock()), shown: None }
    }

    /// Says that `done` of `total` is done; prints when the percentage changed.
    pub(super) fn show(&mut self, doing: &'static str, done: u64, total: u64) {
        let Some(terminal) = &mut self.terminal else { return };
        let percent = (done as f64 * 100.0 / total.max(1) as f64) as u64;
        if self.shown == Some((doing, percent)) {
            return;
        }
        self.shown = Some((doing, percent));
        // A terminal that went away must not stop the work.
        if write!(terminal, "\rletterpress: {doing} {percent} % ").is_err() {
            self.terminal = None;
        }
    }

    /// Wipes the line.
    pub(super) fn clear(&mut self) {
        if self.shown.take().is_some()
            && let Some(terminal) = &mut self.terminal
            && write!(terminal, "\r\u{1b}[K").is_err()
        {
            self.terminal = None;
        }
    }
}
