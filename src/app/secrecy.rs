//! What keeps secrets in: every key that is read is learned here, and nothing leaves for a
//! log, the terminal, a file or the clipboard without passing [`redact`].
//!
//! ```text
//! keys that are read ─▶ learn ─▶ one register ─▶ redact ─▶ log, errors, panics, exports, copies
//! ```

use std::{
    borrow::Cow,
    io,
    panic::{self, PanicHookInfo},
};

use parking_lot::RwLock;
use tracing_subscriber::fmt::MakeWriter;

use crate::{
    markup::secrets::{self, Ending},
    model::Redactor,
};

/// Every secret that this process has read.
static KNOWN: RwLock<Redactor> = RwLock::new(Redactor::new());

/// Notes a secret, so that it is in no text that passes [`redact`] from now on. What is
/// shorter than eight bytes is none.
pub fn learn(secret: &str) {
    KNOWN.write().learn(secret);
}

/// The text without secrets: those that are known, in whichever spelling, and what has the
/// shape of one.
#[must_use]
pub fn redact(text: &str) -> Cow<'_, str> {
    let known = KNOWN.read().redact(text);
    match secrets::cover(&known, Ending::Final) {
        Some(covered) => Cow::Owned(covered),
        None => known,
    }
}

/// The text without the secrets that are known; what merely looks like one stays. For texts
/// that are the user's own, and have to stay as they are.
#[must_use]
pub fn redact_known(text: &str) -> Cow<'_, str> {
    KNOWN.read().redact(text)
}

/// Where log lines go: to stderr, without secrets.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sink;

impl<'a> MakeWriter<'a> for Sink {
    type Writer = Redacting<io::Stderr>;

    fn make_writer(&'a self) -> Self::Writer {
        Redacting(io::stderr())
    }
}

/// Writes texts without secrets. A text that is written in pieces may hold half a secret in
/// each, so a line is written at once; that is how log lines come.
#[derive(Clone, Copy, Debug)]
pub struct Redacting<W>(pub W);

impl<W: io::Write> io::Write for Redacting<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        self.0.write_all(redact(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Says panics in one line without secrets, and nothing of what was in memory.
pub fn guard_panics() {
    panic::set_hook(Box::new(|panic| say(&panic_words(panic))));
}

/// What is said of a panic: its words, where it was, and the way there where
/// `RUST_BACKTRACE` asks for it.
fn panic_words(panic: &PanicHookInfo<'_>) -> String {
    let words = panic.payload_as_str().unwrap_or("something went wrong");
    let place = panic.location().map_or_else(String::new, |place| format!(": {place}"));
    let name = std::thread::current().name().unwrap_or("unnamed").to_owned();
    let mut text = format!("letterpress: panicked on thread {name}: {words}{place}");
    let trace = std::backtrace::Backtrace::capture();
    if trace.status() == std::backtrace::BacktraceStatus::Captured {
        text.push('\n');
        text.push_str(&trace.to_string());
    }
    redact(&text).into_owned()
}

/// How far the memory of this process is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// No image of it is written when it crashes.
    NoImage,
    /// That, and no other program of this user may look into it. The file dialogs of desktop
    /// portals refuse such programs, so it is for commands without a window.
    Closed,
}

/// Closes the memory of this process, which holds keys. A system that cannot is no failure.
pub fn close_memory(memory: Memory) {
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        // Programs that are started may want images of theirs: the upper limit stays.
        let Rlimit { maximum, .. } = getrlimit(Resource::Core);
        let limited = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum });
        if let Err(error) = limited {
            tracing::debug!(%error, "images of crashes cannot be turned off");
        }
    }
    #[cfg(target_os = "linux")]
    if memory == Memory::Closed {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        if let Err(error) = set_dumpable_behavior(DumpableBehavior::NotDumpable) {
            tracing::debug!(%error, "the memory cannot be closed");
        }
    }
    #[cfg(not(target_os = "linux"))]
    tracing::trace!(?memory, "nothing more can be closed here");
}

#[expect(clippy::print_stderr, reason = "this is where a panic meets the user")]
fn say(words: &str) {
    eprintln!("{words}");
}
