//! One line on a terminal that says how much of the sessions has been read.

use std::io::{IsTerminal as _, Stderr, Write as _};

use crate::store::catalog::Progress;

/// The line. Nothing is printed when stderr is no terminal.
pub(super) struct Line {
    terminal: Option<Stderr>,
    shown: Option<u64>,
}

impl Line {
    pub(super) fn new() -> Self {
        let stderr = std::io::stderr();
        Self { terminal: stderr.is_terminal().then_some(stderr), shown: None }
    }

    /// Prints when the percentage changed.
    pub(super) fn show(&mut self, Progress { done, total }: Progress) {
        let percent = (done as f64 * 100.0 / total.max(1) as f64).min(100.0) as u64;
        if self.shown != Some(percent) {
            self.shown = Some(percent);
            self.write(&format!("\rletterpress: reading sessions {percent} % "));
        }
    }

    /// Wipes the line.
    pub(super) fn clear(&mut self) {
        if self.shown.take().is_some() {
            self.write("\r\u{1b}[K");
        }
    }

    fn write(&mut self, text: &str) {
        let written = self.terminal.as_mut().map(|terminal| terminal.write_all(text.as_bytes()));
        // A terminal that went away must not stop the work.
        if matches!(written, Some(Err(_))) {
            self.terminal = None;
        }
    }
}
