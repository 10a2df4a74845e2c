//! One line on a terminal that says how far long work is.

use std::{
    io::{IsTerminal as _, StderrLock, Write as _},
    ops::ControlFlow,
};

use super::work::{Stage, Watch};

/// The line. Nothing is printed when stderr is no terminal.
pub(super) struct Line {
    terminal: Option<StderrLock<'static>>,
    shown: Option<(Stage, u64)>,
}

impl Line {
    pub(super) fn new() -> Self {
        let stderr = std::io::stderr();
        Self { terminal: stderr.is_terminal().then(|| stderr.lock()), shown: None }
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

impl Watch for Line {
    /// Prints when the percentage changed.
    fn saw(&mut self, stage: Stage, done: u64, total: u64) -> ControlFlow<()> {
        let Some(terminal) = &mut self.terminal else { return ControlFlow::Continue(()) };
        let percent = (done as f64 * 100.0 / total.max(1) as f64) as u64;
        if self.shown != Some((stage, percent)) {
            self.shown = Some((stage, percent));
            // A terminal that went away must not stop the work.
            if write!(terminal, "\rletterpress: {} {percent} % ", stage.word()).is_err() {
                self.terminal = None;
            }
        }
        ControlFlow::Continue(())
    }
}
