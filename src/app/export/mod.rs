//! Transcripts in other formats, written message by message: the memory it takes does not
//! know how long the conversation is.

mod fence;
mod heading;
mod html;
mod json;
mod markdown;
mod output;
mod progress;
mod text;
pub(super) mod visible;
pub(super) mod wire;

use std::{
    collections::BTreeSet,
    io::{self, Write},
    path::{Path, PathBuf},
};

use clap::ValueEnum;

use self::{output::Output, progress::Line};
use super::error::{Error, Result};
use crate::{
    engine,
    model::{Message, Progress, SourceLine, Warning},
    transcript::{self, Index, Transcript},
};

/// What to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// The transcript.
    pub file: PathBuf,
    /// The format.
    pub format: Format,
    /// Where it goes, whole or not at all; stdout when there is none.
    pub output: Option<PathBuf>,
    /// The id of the leaf whose branch is written instead of the active one.
    pub branch: Option<String>,
}

/// The formats that can be written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum)]
pub enum Format {
    /// Markdown.
    Md,
    /// One page without scripts.
    Html,
    /// One object.
    Json,
    /// One message a line.
    Jsonl,
    /// Plain text.
    Txt,
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Messages.
    pub messages: u64,
    /// Things that were met and survived.
    pub warnings: u64,
}

impl Format {
    /// The format that a file's ending names.
    #[must_use]
    pub fn of_path(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        match &*ending {
            "md" | "markdown" => Some(Self::Md),
            "html" | "htm" => Some(Self::Html),
            "json" => Some(Self::Json),
            "jsonl" | "ndjson" => Some(Self::Jsonl),
            "txt" => Some(Self::Txt),
            _ => None,
        }
    }

    fn sheet(self) -> Box<dyn Sheet> {
        match self {
            Self::Md => Box::new(markdown::Markdown),
            Self::Html => Box::new(html::Html),
            Self::Json => Box::<json::Json>::default(),
            Self::Jsonl => Box::new(json::JsonLines),
            Self::Txt => Box::new(text::PlainText),
        }
    }

    /// What is done to a message before it is written: only a page needs its blocks.
    fn finish(self) -> fn(Message) -> Message {
        match self {
            Self::Html => engine::prepare,
            Self::Md | Self::Json | Self::Jsonl | Self::Txt => |message| message,
        }
    }
}

/// A format being written.
trait Sheet {
    fn begin(&mut self, head: &Head<'_>, out: &mut dyn Write) -> io::Result<()>;
    fn message(&mut self, message: &Message, out: &mut dyn Write) -> io::Result<()>;
    fn end(&mut self, warnings: &[Warning], out: &mut dyn Write) -> io::Result<()>;
}

/// What stands above the messages.
struct Head<'a> {
    format: &'a str,
    path: &'a str,
    title: Option<&'a str>,
    branches: &'a [&'a str],
}

/// Carries out `letterpress export`.
///
/// A reader that closes stdout early has had enough, which is no failure.
///
/// # Errors
/// When the transcript cannot be read, has no such branch, or the output cannot be written.
pub fn run(request: &Request) -> Result<Summary> {
    let transcript = open(&request.file)?;
    let mut line = Line::new();
    let index = index(&transcript, &mut line);
    let index = branch(&transcript, index, request)?;
    let mut out = Output::create(request)?;
    let written = write(&transcript, &index, request.format, out.writer(), &mut line);
    line.clear();
    match written {
        Ok(summary) => out.finish().map(|()| summary),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Summary::default()),
        Err(error) => Err(out.failed(&error)),
    }
}

fn open(path: &Path) -> Result<Transcript> {
    // The reader's error already names the path.
    transcript::open(path).map_err(|error| Error::failed(error.to_string(), ""))
}

fn index(transcript: &Transcript, line: &mut Line) -> Index {
    let mut indexer = transcript.indexer();
    while let Progress::Indexing { done, total } = indexer.step(transcript, INDEX_STEP_BYTES) {
        line.show("reading", done, total);
    }
    indexer.finish()
}

const INDEX_STEP_BYTES: usize = 8 * 1024 * 1024;

fn branch(transcript: &Transcript, index: Index, request: &Request) -> Result<Index> {
    let Some(leaf) = &request.branch else { return Ok(index) };
    match index.on_branch(leaf) {
        Some(other) => Ok(other),
        None if ends_in(transcript, &index, leaf) => Ok(index),
        None => {
            let place = format!("{leaf} in {}", request.file.display());
            Err(Error::failed("there is no branch that ends in this message", place))
        }
    }
}

/// True when the active path ends in this message, which is no other branch then.
fn ends_in(transcript: &Transcript, index: &Index, leaf: &str) -> bool {
    let last = index.len().checked_sub(1);
    last.is_some_and(|row| *engine::read_message(transcript, index, row, |m| m).0.key == *leaf)
}

/// Writes all messages of an index in order.
fn write(
    transcript: &Transcript,
    index: &Index,
    format: Format,
    out: &mut dyn Write,
    line: &mut Line,
) -> io::Result<Summary> {
    let mut sheet = format.sheet();
    let (path, title) = (transcript.path().to_string_lossy(), index.title());
    let branches: Vec<&str> = index.branches().iter().map(|branch| &*branch.id).collect();
    let head = Head {
        format: transcript.format().name(),
        path: &path,
        title: title.as_deref(),
        branches: &branches,
    };
    sheet.begin(&head, out)?;
    let mut warnings = Warnings::of(index);
    let rows = index.len();
    for row in 0..rows {
        let (message, met) = engine::read_message(transcript, index, row, format.finish());
        warnings.extend(met);
        sheet.message(&message, out)?;
        line.show("writing", row as u64 + 1, rows as u64);
    }
    let warnings = warnings.into_list();
    sheet.end(&warnings, out)?;
    out.flush()?;
    Ok(Summary { messages: rows as u64, warnings: warnings.len() as u64 })
}

/// What was met, by line, each once. The index and the reader of a message may both meet
/// the same thing.
struct Warnings {
    met: BTreeSet<(u64, String)>,
    left_out: u64,
}

const WARNINGS_MAX: usize = 10_000;

impl Warnings {
    fn of(index: &Index) -> Self {
        let mut warnings = Self { met: BTreeSet::new(), left_out: 0 };
        warnings.extend(index.warnings().iter().cloned());
        warnings
    }

    fn extend(&mut self, more: impl IntoIterator<Item = Warning>) {
        for Warning { line, message } in more {
            let warning = (line.0, message);
            if self.met.len() < WARNINGS_MAX || self.met.contains(&warning) {
                self.met.insert(warning);
            } else {
                self.left_out += 1;
            }
        }
    }

    fn into_list(self) -> Vec<Warning> {
        let note = (self.left_out > 0).then(|| Warning {
            line: SourceLine(0),
            message: format!("{} further warnings are left out", self.left_out),
        });
        let met = self.met.into_iter();
        met.map(|(line, message)| Warning { line: SourceLine(line), message }).chain(note).collect()
    }
}
