//! What a tool gives back: text for the model, parts for the view, and how to undo it.

use std::{sync::Arc, time::Duration};

use serde_json::{Map, Value, json};

use super::workspace::Undo;

/// Bytes of text that a model gets from one call.
pub const MODEL_TEXT: usize = 50 * 1024;

/// What came of a call. Every call that was approved ends with one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolOutput {
    /// What the model reads: at most [`MODEL_TEXT`] bytes and a note, without escape
    /// sequences, never empty.
    pub text: Arc<str>,
    /// What the view shows, in order.
    pub parts: Vec<OutputPart>,
    /// The tool failed.
    pub is_error: bool,
    /// How a command ended.
    pub exit: Option<Exit>,
    /// From the start of the run to its end.
    pub duration: Duration,
    /// Bytes of output that are in no part.
    pub omitted: u64,
    /// Where the whole output lies, when it was too large to keep.
    pub spill: Option<Spilled>,
    /// Files as they were before, in the order in which they were changed.
    pub undo: Vec<Undo>,
}

/// A piece of output.
#[derive(Clone, Debug, PartialEq)]
pub enum OutputPart {
    /// Text, with escape sequences where a program wrote some.
    Text {
        /// Where it was written to.
        stream: Stream,
        /// The text; bytes that are no UTF-8 are U+FFFD.
        text: Arc<str>,
    },
    /// Bytes of the middle that were not kept.
    Gap(u64),
    /// A picture.
    Image {
        /// Such as `image/png`.
        media_type: Arc<str>,
        /// The file.
        bytes: Arc<[u8]>,
    },
    /// A file that was changed: for the view to compare.
    Change(FileChange),
}

/// A change of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    /// The file, relative to the workspace where it is inside.
    pub path: Arc<str>,
    /// Where it goes, if it is moved.
    pub moved_to: Option<Arc<str>>,
    /// What it holds before; none if it is not there.
    pub before: Option<Arc<str>>,
    /// What it holds after; none if it is deleted.
    pub after: Option<Arc<str>>,
}

/// Where a program wrote to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stream {
    /// The standard output, and all that is no program's.
    Out,
    /// The standard error output.
    Err,
}

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// With this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
    /// Its time was up.
    TimedOut,
    /// The user stopped it.
    Stopped,
}

/// Output that lies in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spilled {
    /// Where, in the words of whoever gave the file.
    pub place: Arc<str>,
    /// How many bytes of it.
    pub bytes: u64,
    /// Nothing is missing at its end.
    pub is_whole: bool,
}

/// What a run tells while it goes on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// A program wrote this, in this order.
    Output {
        /// Where to.
        stream: Stream,
        /// What; it may stop in the middle of a character or of an escape sequence.
        bytes: Vec<u8>,
    },
    /// A remark, such as how far a server got.
    Note(Arc<str>),
}

impl ToolOutput {
    /// Text alone.
    #[must_use]
    pub fn text(text: &str) -> Self {
        let shown = if text.is_empty() { "(no output)" } else { text };
        let part = OutputPart::Text { stream: Stream::Out, text: shown.into() };
        Self { text: clipped(shown).into(), parts: vec![part], ..Self::default() }
    }

    /// A failure.
    #[must_use]
    pub fn error(why: &str) -> Self {
        Self { is_error: true, ..Self::text(why) }
    }

    /// The text of all parts, for a view that shows one text.
    #[must_use]
    pub fn shown_text(&self) -> String {
        let mut shown = String::new();
        for part in &self.parts {
            match part {
                OutputPart::Text { text, .. } => shown.push_str(text),
                OutputPart::Gap(bytes) => {
                    shown.push_str(&format!("\n[… {bytes} bytes left out …]\n"));
                }
                OutputPart::Image { .. } | OutputPart::Change(_) => {}
            }
        }
        shown
    }

    /// What a card shows beside the text: exit code, signal, spill.
    #[must_use]
    pub fn details(&self) -> Value {
        let mut details = Map::new();
        match self.exit {
            Some(Exit::Code(code)) => drop(details.insert("exitCode".into(), code.into())),
            Some(Exit::Signal(signal)) => drop(details.insert("signal".into(), signal.into())),
            Some(Exit::TimedOut) => drop(details.insert("timedOut".into(), true.into())),
            Some(Exit::Stopped) => drop(details.insert("stopped".into(), true.into())),
            None => {}
        }
        if self.omitted > 0 {
            details.insert("omittedBytes".into(), self.omitted.into());
        }
        if let Some(spill) = &self.spill {
            let spill = json!({
                "place": spill.place, "bytes": spill.bytes, "isWhole": spill.is_whole,
            });
            details.insert("spill".into(), spill);
        }
        if details.is_empty() { Value::Null } else { details.into() }
    }
}

/// A text as a model gets it: its head and its tail, with a note between them.
#[must_use]
pub fn clipped(text: &str) -> String {
    if text.len() <= MODEL_TEXT {
        return text.to_owned();
    }
    let head = line_end_before(text, MODEL_TEXT / 2);
    let tail = line_start_after(text, text.len() - MODEL_TEXT / 2);
    let (head_text, tail_text) =
        (text.get(..head).unwrap_or_default(), text.get(tail..).unwrap_or_default());
    let omitted = tail - head;
    format!("{head_text}\n[… {omitted} bytes left out of the middle …]\n{tail_text}")
}

/// The end of a line in the last part before `at`, or else `at` itself.
fn line_end_before(text: &str, at: usize) -> usize {
    let at = text.floor_char_boundary(at);
    let head = text.get(..at).unwrap_or_default();
    head.rfind('\n').filter(|end| at - end < 1024).unwrap_or(at)
}

fn line_start_after(text: &str, at: usize) -> usize {
    let at = text.ceil_char_boundary(at);
    let tail = text.get(at..).unwrap_or_default();
    tail.find('\n').filter(|end| *end < 1024).map_or(at, |end| at + end + 1)
}
