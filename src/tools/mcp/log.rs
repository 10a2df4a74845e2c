//! What a server says beside the protocol, kept for whoever looks into a failure.

use std::{collections::VecDeque, sync::Arc};

use parking_lot::Mutex;

/// Bytes kept for one server.
const MAX_BYTES: usize = 256 * 1024;
/// Lines kept for one server.
const MAX_LINES: usize = 2_000;
/// Bytes kept of one line.
pub(super) const MAX_LINE: usize = 4 * 1024;

/// One line of a server's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// Where it came from.
    pub source: LogSource,
    /// The line, without its end, shortened when it is long. Not cleaned: it may hold escape
    /// sequences.
    pub text: Arc<str>,
}

/// Where a line of a log came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LogSource {
    /// The program's standard error.
    Stderr,
    /// Its standard output, where only the protocol should be.
    Stdout,
    /// A log message of the protocol.
    Message,
    /// This program, about the server.
    Note,
}

/// The newest lines of one server, over all its starts.
#[derive(Debug, Default)]
pub(super) struct Log {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    lines: VecDeque<LogLine>,
    bytes: usize,
    dropped: u64,
}

impl Log {
    pub(super) fn push(&self, source: LogSource, text: &str) {
        let text: Arc<str> = clip(text.trim_end(), MAX_LINE).into();
        let mut kept = self.kept.lock();
        kept.bytes += text.len();
        kept.lines.push_back(LogLine { source, text });
        while kept.bytes > MAX_BYTES || kept.lines.len() > MAX_LINES {
            let Some(gone) = kept.lines.pop_front() else { break };
            kept.bytes -= gone.text.len();
            kept.dropped += 1;
        }
    }

    /// The lines, oldest first, and how many older ones were dropped.
    pub(super) fn lines(&self) -> (Vec<LogLine>, u64) {
        let kept = self.kept.lock();
        (kept.lines.iter().cloned().collect(), kept.dropped)
    }

    /// The last word on standard error, which usually says why a program ended.
    pub(super) fn last_error(&self) -> Option<Arc<str>> {
        let kept = self.kept.lock();
        let said =
            |line: &&LogLine| line.source == LogSource::Stderr && !line.text.trim().is_empty();
        kept.lines.iter().rev().take(20).find(said).map(|line| Arc::clone(&line.text))
    }
}

/// At most so many bytes of a text, cut between characters.
pub(super) fn clip(text: &str, max: usize) -> String {
    if text.len() <= max {
        return text.to_owned();
    }
    let cut = text.floor_char_boundary(max);
    format!("{}…", text.get(..cut).unwrap_or_default())
}
