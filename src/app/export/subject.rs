//! What is exported: a transcript, or a conversation as it stands in memory. Either is read
//! one message at a time.

use std::{collections::BTreeSet, fmt, path::PathBuf, sync::Arc};

use crate::{
    app::{
        error::{Error, Result},
        work::{Stage, Watch, cancelled},
    },
    engine,
    model::{Message, MessageId, Progress, Reading, Warning},
    transcript::{self, Index, Transcript},
};

/// What is exported.
#[derive(Clone, Debug)]
pub enum Subject {
    /// A transcript, which may be a session's log.
    File(PathBuf),
    /// A conversation as it stands at one moment.
    Held(Held),
}

/// A conversation as it stands at one moment.
#[derive(Clone)]
pub struct Held {
    /// Its messages.
    pub reading: Arc<dyn Reading>,
    /// The format that its source has.
    pub format: &'static str,
    /// Where it is, for people; may be empty.
    pub place: String,
    /// What it is called.
    pub title: Option<String>,
}

impl fmt::Debug for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { reading, format, place, title } = self;
        f.debug_struct("Held")
            .field("messages", &reading.len())
            .field("format", format)
            .field("place", place)
            .field("title", title)
            .finish()
    }
}

/// A subject that is open.
pub(in crate::app) enum Matter {
    File(Box<(Transcript, Index)>),
    Held(Held),
}

/// Bytes that are indexed between two looks at whether somebody still wants it.
const INDEX_STEP_BYTES: usize = 8 * 1024 * 1024;

impl Matter {
    /// Opens a subject, on the branch that ends in a message if one is named.
    pub(in crate::app) fn open(
        subject: Subject,
        branch: Option<&str>,
        watch: &mut dyn Watch,
    ) -> Result<Self> {
        let path = match subject {
            Subject::File(path) => path,
            Subject::Held(held) => return Ok(Self::Held(held)),
        };
        // The reader's error already names the path.
        let transcript =
            transcript::open(&path).map_err(|error| Error::failed(error.to_string(), ""))?;
        let index = index(&transcript, watch)?;
        let index = match branch {
            Some(leaf) => on_branch(&transcript, index, leaf)?,
            None => index,
        };
        Ok(Self::File(Box::new((transcript, index))))
    }

    pub(in crate::app) fn format(&self) -> &'static str {
        match self {
            Self::File(file) => file.0.format().name(),
            Self::Held(held) => held.format,
        }
    }

    pub(in crate::app) fn place(&self) -> String {
        match self {
            Self::File(file) => file.0.path().to_string_lossy().into_owned(),
            Self::Held(held) => held.place.clone(),
        }
    }

    pub(in crate::app) fn title(&self) -> Option<String> {
        match self {
            Self::File(file) => file.1.title().map(|title| title.to_string()),
            Self::Held(held) => held.title.clone(),
        }
    }

    /// The ids of the leaves that are not shown.
    pub(super) fn branches(&self) -> Vec<&str> {
        match self {
            Self::File(file) => file.1.branches().iter().map(|branch| &*branch.id).collect(),
            Self::Held(_) => Vec::new(),
        }
    }

    /// What was met while it was opened.
    pub(super) fn warnings(&self) -> &[Warning] {
        match self {
            Self::File(file) => file.1.warnings(),
            Self::Held(_) => &[],
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::File(file) => file.1.len(),
            Self::Held(held) => held.reading.len(),
        }
    }

    pub(in crate::app) fn id(&self, row: usize) -> MessageId {
        match self {
            Self::File(file) => file.1.row(row).id,
            Self::Held(held) => held.reading.id(row),
        }
    }

    /// The rows that are wanted: all, or those of some messages.
    pub(in crate::app) fn rows(&self, only: Option<&BTreeSet<MessageId>>) -> Vec<u32> {
        let wanted = |row: &u32| only.is_none_or(|only| only.contains(&self.id(*row as usize)));
        (0..u32::try_from(self.len()).unwrap_or(u32::MAX)).filter(wanted).collect()
    }

    /// Reads a message; `finish` changes it, and may panic without harm.
    pub(in crate::app) fn message(
        &self,
        row: usize,
        finish: impl FnOnce(Message) -> Message,
    ) -> (Message, Vec<Warning>) {
        match self {
            Self::File(file) => engine::read_message(&file.0, &file.1, row, finish),
            Self::Held(held) => {
                let message = Arc::unwrap_or_clone(held.reading.message(row));
                (finish(message), Vec::new())
            }
        }
    }
}

fn index(transcript: &Transcript, watch: &mut dyn Watch) -> Result<Index> {
    let mut indexer = transcript.indexer();
    while let Progress::Indexing { done, total } = indexer.step(transcript, INDEX_STEP_BYTES) {
        if watch.saw(Stage::Reading, done, total).is_break() {
            return Err(cancelled());
        }
    }
    Ok(indexer.finish())
}

fn on_branch(transcript: &Transcript, index: Index, leaf: &str) -> Result<Index> {
    match index.on_branch(leaf) {
        Some(other) => Ok(other),
        None if ends_in(transcript, &index, leaf) => Ok(index),
        None => {
            let place = format!("{leaf} in {}", transcript.path().display());
            Err(Error::failed("there is no branch that ends in this message", place))
        }
    }
}

/// True when the active path ends in this message, which is no other branch then.
fn ends_in(transcript: &Transcript, index: &Index, leaf: &str) -> bool {
    let last = index.len().checked_sub(1);
    last.is_some_and(|row| *engine::read_message(transcript, index, row, |m| m).0.key == *leaf)
}
