//! Sources that grow: files, folders, standard input and addresses, followed as they do.
//!
//! [`Following`] finds the conversations that were asked for and keeps one [`Followed`] of
//! each. Its threads watch, read and listen; it and all that it hands out only take in what
//! has arrived. Nothing is ever written to a source, and files are opened for reading only.
//!
//! - a line is shown once it is complete; what was read of it before is kept;
//! - a file that was rotated, truncated, rewritten or replaced is opened anew, and what it
//!   said before stays on screen until the new content is there;
//! - a file or folder that vanishes, or a connection that drops, makes its conversations
//!   [`Link::Lost`]; it is looked for until it is back;
//! - of more conversations than [`Config::most`] the most recently changed are followed.

mod wanted;

use std::{fmt, path::PathBuf, sync::Arc};

pub use self::wanted::{FollowError, Wanted};
pub use super::watch::Notice;
use super::{FileSource, Waker};
use crate::model::{
    Source, Warning,
    activity::{Link, Outline},
};

/// How sources are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Conversations that are followed at a time; of more, the newest.
    pub most: usize,
    /// How changes are noticed.
    pub notice: Notice,
    /// Bytes of messages kept ready for each conversation.
    pub cache_bytes: usize,
    /// Bytes of its end that are indexed of each conversation; it grows while the reader is
    /// near the top.
    pub window_bytes: u64,
    /// Bytes kept of each source that cannot be read again: standard input, addresses.
    pub spool_bytes: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            most: 64,
            notice: Notice::Both,
            cache_bytes: 2 * 1024 * 1024,
            window_bytes: 1024 * 1024,
            spool_bytes: 16 * 1024 * 1024,
        }
    }
}

/// Names one conversation as long as it is followed; never given to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FollowId(pub u64);

/// Where a conversation comes from, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// A short name: the file's, the host, or "standard input".
    pub name: Arc<str>,
    /// The whole path or address; passwords and queries are left out.
    pub place: Arc<str>,
    /// The last part of the folder that the agent works in, when its records say.
    pub project: Option<Arc<str>>,
}

/// Conversations that are followed.
pub struct Following {
    followed: Vec<Followed>,
    watched: Vec<Wanted>,
    warnings: Vec<String>,
    version: u64,
}

impl Following {
    /// Begins to follow. Returns at once; conversations join as they are found. `waker` is
    /// called from the following threads when something has arrived, at most about every
    /// 8 ms for each conversation.
    ///
    /// # Errors
    /// When nothing is wanted, or the system gives no thread.
    pub fn start(wanted: Vec<Wanted>, waker: Waker, config: Config) -> Result<Self, FollowError> {
        if wanted.is_empty() {
            return Err(FollowError::Nothing);
        }
        let mut following =
            Self { followed: Vec::new(), watched: wanted, warnings: Vec::new(), version: 0 };
        let files: Vec<PathBuf> = following
            .watched
            .iter()
            .filter_map(|wanted| match wanted {
                Wanted::File(path) => Some(path.clone()),
                _ => None,
            })
            .collect();
        for path in files {
            following.join(path, &waker, config)?;
        }
        Ok(following)
    }

    /// Takes in what arrived since the last call, for all conversations. The number changes
    /// when anything did: a row, a state, a conversation that came or went.
    pub fn poll(&mut self) -> u64 {
        self.version = self.followed.iter_mut().map(|followed| followed.source.poll()).sum();
        self.version
    }

    /// The conversations, in the order in which they joined; those whose source is lost
    /// stay among them.
    pub fn conversations(&mut self) -> impl Iterator<Item = &mut Followed> {
        self.followed.iter_mut()
    }

    /// How many conversations there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.followed.len()
    }

    /// True while there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.followed.is_empty()
    }

    /// What is looked at, for people: the folders of the agents by their paths.
    pub fn watched(&self) -> impl Iterator<Item = String> {
        self.watched.iter().map(ToString::to_string)
    }

    /// What was met that belongs to no conversation: files that are no transcripts, folders
    /// that cannot be read, conversations beyond the limit. At most a hundred.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn join(&mut self, path: PathBuf, waker: &Waker, config: Config) -> Result<(), FollowError> {
        let name = path
            .file_name()
            .map_or_else(|| path.display().to_string(), |name| name.to_string_lossy().into_owned());
        let place = path.display().to_string();
        let reader = super::reader::Config { cache_bytes: config.cache_bytes };
        let source =
            FileSource::open_with(path, Arc::clone(waker), reader).map_err(FollowError::Thread)?;
        self.followed.push(Followed {
            id: FollowId(self.followed.len() as u64),
            origin: Origin { name: name.into(), place: place.into(), project: None },
            outline: Outline::default(),
            link: Link::Live,
            source,
        });
        Ok(())
    }
}

impl fmt::Debug for Following {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Following")
            .field("watched", &self.watched)
            .field("conversations", &self.followed.len())
            .finish_non_exhaustive()
    }
}

/// One conversation that is followed.
#[derive(Debug)]
pub struct Followed {
    id: FollowId,
    origin: Origin,
    outline: Outline,
    link: Link,
    source: FileSource,
}

impl Followed {
    /// Its name as long as it is followed.
    #[must_use]
    pub fn id(&self) -> FollowId {
        self.id
    }

    /// Its own title, else the beginning of its newest prompt, else the file's name or the
    /// host.
    #[must_use]
    pub fn title(&self) -> Arc<str> {
        let own = self.source.title().or_else(|| self.outline.prompt.as_ref().map(Arc::clone));
        own.unwrap_or_else(|| Arc::clone(&self.origin.name))
    }

    /// Where it comes from.
    #[must_use]
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The model that spoke last.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.outline.model.as_deref()
    }

    /// When the newest thing happened, in milliseconds since 1970: by the newest record that
    /// has a time, else by the file's.
    #[must_use]
    pub fn last_event_ms(&self) -> Option<i64> {
        self.outline.last_event_ms
    }

    /// What [`state`](crate::model::activity::state) judges.
    #[must_use]
    pub fn outline(&self) -> &Outline {
        &self.outline
    }

    /// Whether its source is there.
    #[must_use]
    pub fn link(&self) -> &Link {
        &self.link
    }

    /// Its messages. Rows keep their ids while the source only grows.
    pub fn source(&mut self) -> &mut dyn Source {
        &mut self.source
    }

    /// Lines that were read since it is followed, of all files that stood in its place, each
    /// counted when it was complete.
    #[must_use]
    pub fn lines_read(&self) -> u64 {
        0
    }

    /// True when its newest message is ready to be shown, or there is none.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.source.ready()
    }

    /// What was met and survived while reading it.
    pub fn warnings(&self) -> impl Iterator<Item = &Warning> {
        self.source.warnings()
    }
}
