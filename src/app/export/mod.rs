//! Conversations in other formats, written message by message: the memory it takes does not
//! know how long the conversation is.
//!
//! Secrets, homes, headers and pictures stay out unless they are asked for.

mod fence;
mod heading;
mod html;
mod job;
mod json;
mod markdown;
mod output;
pub mod redact;
mod sheet;
pub(super) mod subject;
mod text;
pub(super) mod visible;
mod warnings;
pub(super) mod wire;

use std::{
    collections::BTreeSet,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use clap::ValueEnum;

pub use self::{
    job::{Destination, Done, Job, start},
    subject::{Held, Subject},
};
use self::{output::Output, redact::Redaction, subject::Matter};
use super::{error::Result, progress::Line};
use crate::model::MessageId;

/// What `letterpress export` is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// A transcript, or else a session: its id, a beginning of it that no other has, or its
    /// title.
    pub subject: PathBuf,
    /// The format.
    pub format: Format,
    /// Where it goes, whole or not at all; stdout when there is none.
    pub output: Option<PathBuf>,
    /// The id of the leaf whose branch is written instead of the active one.
    pub branch: Option<String>,
    /// Whether pictures go along.
    pub images: Images,
    /// Whether secrets and homes are written as they are.
    pub unredacted: bool,
}

/// How a conversation is written.
#[derive(Clone, Debug)]
pub struct Order {
    /// The format.
    pub format: Format,
    /// The only messages that are written; all when there is none.
    pub only: Option<BTreeSet<MessageId>>,
    /// Whether pictures go along.
    pub images: Images,
    /// What is covered; none writes everything as it is.
    pub redaction: Option<Arc<Redaction>>,
}

/// The formats that can be written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, ValueEnum)]
pub enum Format {
    /// Markdown.
    #[default]
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

/// Whether pictures go along.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Images {
    /// They are named.
    #[default]
    Named,
    /// They are inside, in the formats that can hold them.
    Inside,
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
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Md, Self::Html, Self::Json, Self::Jsonl, Self::Txt];

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

    /// The usual ending of its files.
    #[must_use]
    pub fn ending(self) -> &'static str {
        match self {
            Self::Md => "md",
            Self::Html => "html",
            Self::Json => "json",
            Self::Jsonl => "jsonl",
            Self::Txt => "txt",
        }
    }

    /// What people call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Md => "Markdown",
            Self::Html => "HTML page",
            Self::Json => "JSON",
            Self::Jsonl => "JSON Lines",
            Self::Txt => "Plain text",
        }
    }
}

/// Finds the log of a session by what the user calls it; none when no session is called so.
///
/// # Errors
/// When several are, or the sessions cannot be read.
pub type FindSession<'a> = &'a dyn Fn(&str) -> Result<Option<PathBuf>>;

/// Carries out `letterpress export`. What is covered is up to `redaction`, unless the
/// request wants nothing covered.
///
/// A reader that closes stdout early has had enough, which is no failure.
///
/// # Errors
/// When there is no such transcript or session, it cannot be read, has no such branch, or
/// the output cannot be written.
pub fn run(request: &Request, redaction: Redaction, find: FindSession<'_>) -> Result<Summary> {
    let file = resolve(&request.subject, find)?;
    let redaction = (!request.unredacted).then(|| Arc::new(redaction));
    let order = Order { format: request.format, only: None, images: request.images, redaction };
    let mut line = Line::new();
    let subject = Subject::File(file.clone());
    let matter = Matter::open(subject, request.branch.as_deref(), &mut line)?;
    let mut out = Output::create(request.output.as_deref(), Some(&file))?;
    let written = sheet::write(&matter, &order, out.writer(), &mut line);
    line.clear();
    match written {
        Ok(summary) => out.finish().map(|()| summary),
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(Summary::default()),
        Err(error) => Err(out.failed(&error)),
    }
}

/// A path comes first, then a session. What is neither is missing as a path.
fn resolve(subject: &Path, find: FindSession<'_>) -> Result<PathBuf> {
    let named = subject.to_str().filter(|_| !subject.exists());
    match named.map(find).transpose()?.flatten() {
        Some(log) => Ok(log),
        None => Ok(subject.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::app::error::Error;

    #[test]
    fn a_path_comes_before_a_session() {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let log = || Ok(Some(PathBuf::from("log.jsonl")));
        assert_eq!(resolve(here, &|_| log()).expect("a path"), here);
        assert_eq!(
            resolve(Path::new("beds"), &|_| log()).expect("a session"),
            Path::new("log.jsonl")
        );
        assert_eq!(resolve(Path::new("beds"), &|_| Ok(None)).expect("itself"), Path::new("beds"));
        let several = |_: &str| Err(Error::failed("several sessions are called so", "beds"));
        assert!(resolve(Path::new("beds"), &several).is_err());
    }
}
