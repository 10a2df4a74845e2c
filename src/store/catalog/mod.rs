//! The catalog: which sessions there are, and where words stand in them.
//!
//! It is an index that can be built from the logs at any time, so nothing about it is an
//! error for the user: one that is missing, damaged, of another version or in the way of
//! another window is built anew, in memory where there is no other place. A thread of its
//! own has it; nobody waits for it. Lists are published whole, answers come when they come.

mod clerk;
mod digest;
mod folder;
mod index;
mod lines;
mod reading;
mod search;
mod words;

use std::{
    fmt, io,
    ops::Range,
    path::PathBuf,
    sync::{
        Arc,
        mpsc::{SyncSender, sync_channel},
    },
};

use tokio::sync::{oneshot, watch};

use crate::{
    model::{MessageId, Role},
    store::SessionId,
};
use clerk::{Clerk, Request};

/// Questions and notes that may wait.
const REQUESTS_MAX: usize = 64;

/// The catalog of all sessions in a folder.
#[derive(Clone, Debug)]
pub struct Catalog {
    requests: SyncSender<Request>,
    listing: watch::Receiver<Listing>,
}

/// Where a catalog is kept, and whom it tells.
#[derive(Clone)]
pub struct Config {
    /// The folder that all sessions are kept in, as [`Store::root`](super::Store::root) says.
    pub data: PathBuf,
    /// The file of the index; its folder must be there.
    pub index: PathBuf,
    /// Called when there is a new list or an answer, on the catalog's thread.
    pub waker: Arc<dyn Fn() + Send + Sync>,
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config").field("index", &self.index).finish_non_exhaustive()
    }
}

/// All sessions, as far as they are known.
#[derive(Clone, Debug, PartialEq)]
pub struct Listing {
    /// The sessions, those that were used last first. Put away and deleted ones are among
    /// them.
    pub sessions: Arc<[Listed]>,
    /// Is that all there is, as it was when the folder was looked at last?
    pub is_complete: bool,
    /// How much of the logs has been read, while they are being read.
    pub progress: Option<Progress>,
    /// Why the index is gone with the program; none when it is kept.
    pub unkept: Option<Arc<str>>,
}

/// How much of the logs has been read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Bytes that were read.
    pub done: u64,
    /// Bytes that there are to be read.
    pub total: u64,
}

/// A session as lists show it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "each is a mark of its own")]
pub struct Listed {
    /// Its name.
    pub id: SessionId,
    /// What it is called: the title it was given, else the beginning of its first message,
    /// else nothing.
    pub title: Arc<str>,
    /// When it began, in milliseconds since 1970.
    pub created_ms: i64,
    /// When something was last said in it.
    pub updated_ms: i64,
    /// How many messages the branch has that is shown.
    pub messages: u32,
    /// The model that answered last, by its provider's name for it.
    pub model: Arc<str>,
    /// It stays on top.
    pub pinned: bool,
    /// It is put away.
    pub archived: bool,
    /// It is in the trash.
    pub deleted: bool,
    /// The beginning of what was said last.
    pub preview: Arc<str>,
    /// Something was written in it and not sent.
    pub has_draft: bool,
}

/// A message in which words were found, or a session by its title.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The session.
    pub session: SessionId,
    /// What that is called.
    pub title: Arc<str>,
    /// The message; none when the title was found.
    pub message: Option<MessageId>,
    /// Whose message it is.
    pub role: Option<Role>,
    /// When that was, in milliseconds since 1970.
    pub time_ms: i64,
    /// In what the words were found.
    pub place: Place,
    /// The text around them, on one line.
    pub snippet: Arc<str>,
    /// Where they stand in it: ranges of its bytes, in order.
    pub ranges: Vec<Range<usize>>,
}

/// In what words were found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// The title of a session.
    Title,
    /// What somebody said.
    Text,
    /// What a tool was told, or said.
    Calls,
}

/// What came of a question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// Titles first, then what was said, then what tools said; each by session, those that
    /// were used last first, and there newest first.
    pub found: Vec<Found>,
    /// Are all logs in the index? Otherwise there may be more, later.
    pub is_complete: bool,
    /// Was looking given up before all was looked into? A thorough question finds the rest.
    pub is_cut: bool,
}

/// What is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// Words that must all be there, and phrases in double quotes. Case does not matter, and
    /// nothing else in it has a meaning.
    pub words: String,
    /// Hits that are wanted at most.
    pub limit: usize,
    /// Are sessions searched that are put away?
    pub with_archived: bool,
    /// Are sessions searched that are in the trash?
    pub with_deleted: bool,
    /// Is all looked into, however long it takes? Otherwise looking for words that stand
    /// nearly everywhere, and for single characters, ends in time for the next key.
    pub is_thorough: bool,
}

impl Question {
    /// Looks in what is neither put away nor in the trash.
    pub fn new(words: impl Into<String>, limit: usize) -> Self {
        Self {
            words: words.into(),
            limit,
            with_archived: false,
            with_deleted: false,
            is_thorough: false,
        }
    }

    /// Also looks in what is put away and in the trash.
    #[must_use]
    pub fn everywhere(self) -> Self {
        Self { with_archived: true, with_deleted: true, ..self }
    }
}

impl Catalog {
    /// Opens it. What is known is listed first, then the folder is looked at.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn open(config: Config) -> io::Result<Self> {
        let (requests, asked) = sync_channel(REQUESTS_MAX);
        let (publish, listing) = watch::channel(Listing::default());
        std::thread::Builder::new()
            .name("catalog".into())
            .spawn(move || Clerk::new(config, publish).serve(&asked))?;
        Ok(Self { requests, listing })
    }

    /// The list, and each that follows it.
    #[must_use]
    pub fn listing(&self) -> watch::Receiver<Listing> {
        self.listing.clone()
    }

    /// The sessions as they are known now.
    #[must_use]
    pub fn sessions(&self) -> Arc<[Listed]> {
        Arc::clone(&self.listing.borrow().sessions)
    }

    /// Looks for words. The answer comes on the receiver, and the waker is called; there is
    /// none when too much is being asked at once.
    #[must_use]
    pub fn search(&self, question: Question) -> oneshot::Receiver<Findings> {
        let (reply, answer) = oneshot::channel();
        self.request(Request::Search { question, reply });
        answer
    }

    /// Has what is new in a session read: it was written to, or its draft came or went.
    /// Without room for the note the next look at the folder finds it.
    pub fn note(&self, session: &SessionId) {
        self.request(Request::Note(session.clone()));
    }

    /// Has the whole folder looked at: other windows may have written.
    pub fn refresh(&self) {
        self.request(Request::Refresh);
    }

    fn request(&self, request: Request) {
        if self.requests.try_send(request).is_err() {
            tracing::debug!("the catalog has too much to do");
        }
    }
}

impl Default for Listing {
    fn default() -> Self {
        Self { sessions: Arc::new([]), is_complete: false, progress: None, unkept: None }
    }
}
