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

mod address;
mod agents;
mod finder;
mod roots;
mod stdin;
mod wanted;

use std::{
    fmt,
    io::{self, Read},
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
};

use tokio::runtime::Runtime;

pub use self::{
    agents::agent_folders,
    wanted::{FollowError, Wanted},
};
use self::{
    finder::{Finder, Finds, News, Touched},
    roots::Root,
};
pub use super::watch::Notice;
use super::{
    FileSource, Waker,
    reader::{self, Growing},
};
use crate::{
    model::{
        Source, Warning,
        activity::{Link, Outline},
    },
    transcript::Spool,
    wire::{FeedLimits, Http, HttpConfig},
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
    /// How long to wait for addresses.
    pub feed: FeedLimits,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            most: 64,
            notice: Notice::Both,
            cache_bytes: 2 * 1024 * 1024,
            window_bytes: 1024 * 1024,
            spool_bytes: 16 * 1024 * 1024,
            feed: FeedLimits::default(),
        }
    }
}

impl Config {
    fn reader(&self) -> reader::Config {
        reader::Config { cache_bytes: self.cache_bytes }
    }

    fn growing(&self) -> Growing {
        Growing {
            path: None,
            notice: self.notice,
            window_bytes: Some(self.window_bytes),
            outline: true,
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
}

/// Conversations that are followed.
pub struct Following {
    followed: Vec<Followed>,
    news: Receiver<News>,
    finder: Option<Arc<Touched>>,
    /// Listens to addresses; none without any.
    runtime: Option<Runtime>,
    watched: Vec<String>,
    warnings: Vec<String>,
    version: u64,
}

/// Warnings that are kept.
const WARNINGS_MAX: usize = 100;
/// News that wait to be taken; the finder waits when there are more.
const NEWS_MAX: usize = 256;
/// News that one poll takes in.
const NEWS_AT_ONCE: usize = 64;

impl Following {
    /// Begins to follow. Returns at once; conversations join as they are found. `waker` is
    /// called from the following threads when something has arrived, at most about every
    /// 8 ms for each conversation.
    ///
    /// # Errors
    /// When nothing is wanted, or the system gives no thread.
    pub fn start(wanted: Vec<Wanted>, waker: Waker, config: Config) -> Result<Self, FollowError> {
        Self::start_with(wanted, || Box::new(io::stdin()), waker, config)
    }

    /// The same, with something else in the place of standard input.
    ///
    /// # Errors
    /// When nothing is wanted, or the system gives no thread.
    pub fn start_with(
        wanted: Vec<Wanted>,
        input: impl FnOnce() -> Box<dyn Read + Send>,
        waker: Waker,
        config: Config,
    ) -> Result<Self, FollowError> {
        if wanted.is_empty() {
            return Err(FollowError::Nothing);
        }
        let (tell, news) = sync_channel(NEWS_MAX);
        let mut following = Self {
            followed: Vec::new(),
            news,
            finder: None,
            runtime: None,
            watched: Vec::new(),
            warnings: Vec::new(),
            version: 0,
        };
        let mut plan = Plan::default();
        wanted.into_iter().try_for_each(|wanted| plan.take(wanted))?;
        following.watched = std::mem::take(&mut plan.watched);
        following.join_files(&plan.files, &waker, config)?;
        if plan.stdin {
            following.join_input(input(), &waker, config)?;
        }
        following.join_addresses(plan.urls, &waker, config)?;
        if !plan.roots.is_empty() {
            following.find(plan.roots, plan.files, tell, waker, config)?;
        }
        Ok(following)
    }

    /// Takes in what arrived since the last call, for all conversations. The number changes
    /// when anything did: a row, a state, a conversation that came or went.
    pub fn poll(&mut self) -> u64 {
        for news in self.news.try_iter().take(NEWS_AT_ONCE) {
            self.version += 1;
            match news {
                News::Join(followed) => self.followed.push(*followed),
                News::Leave(id) => self.followed.retain(|followed| followed.id != id),
                News::Warn(words) if self.warnings.len() < WARNINGS_MAX => {
                    self.warnings.push(words);
                }
                News::Warn(_) => {}
            }
        }
        for followed in &mut self.followed {
            let version = followed.source.poll();
            self.version += u64::from(version != followed.version);
            followed.version = version;
        }
        self.version
    }

    /// The conversations, in the order in which they joined; those whose source is lost
    /// stay among them, until there is no room.
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
    pub fn watched(&self) -> impl Iterator<Item = &str> {
        self.watched.iter().map(String::as_str)
    }

    /// What was met that belongs to no conversation: files that are no transcripts, folders
    /// that cannot be read, conversations beyond the limit. At most a hundred.
    #[must_use]
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    fn next_id(&self) -> FollowId {
        FollowId(self.followed.len() as u64)
    }

    fn join_files(
        &mut self,
        files: &[PathBuf],
        waker: &Waker,
        config: Config,
    ) -> Result<(), FollowError> {
        for path in files {
            let followed = Followed::file(self.next_id(), path.clone(), waker, config);
            self.followed.push(followed.map_err(FollowError::Thread)?);
        }
        Ok(())
    }

    fn join_input(
        &mut self,
        input: Box<dyn Read + Send>,
        waker: &Waker,
        config: Config,
    ) -> Result<(), FollowError> {
        let origin = Origin::new("standard input", "standard input");
        let spool = Spool::new(config.spool_bytes);
        let (followed, arrivals) = Followed::spooled(self.next_id(), origin, &spool, waker, config)
            .map_err(FollowError::Thread)?;
        stdin::start(input, spool, arrivals).map_err(FollowError::Thread)?;
        self.followed.push(followed);
        Ok(())
    }

    fn join_addresses(
        &mut self,
        urls: Vec<url::Url>,
        waker: &Waker,
        config: Config,
    ) -> Result<(), FollowError> {
        if urls.is_empty() {
            return Ok(());
        }
        let mut runtime = tokio::runtime::Builder::new_multi_thread();
        let runtime = runtime.worker_threads(1).thread_name("letterpress-feeds").enable_all();
        let runtime = runtime.build().map_err(FollowError::Thread)?;
        for url in urls {
            let place = wanted::shown_address(&url);
            let origin = Origin::new(url.host_str().unwrap_or("address"), &place);
            let spool = Spool::new(config.spool_bytes);
            let (followed, arrivals) =
                Followed::spooled(self.next_id(), origin, &spool, waker, config)
                    .map_err(FollowError::Thread)?;
            self.followed.push(followed);
            // Certificates are read there, too.
            runtime.spawn(async move {
                match Http::new(&HttpConfig::default()) {
                    Ok(http) => address::follow(http, url, config.feed, spool, arrivals).await,
                    Err(error) => address::lose(&arrivals, &error.message),
                }
            });
        }
        self.runtime = Some(runtime);
        Ok(())
    }

    fn find(
        &mut self,
        roots: Vec<Root>,
        named: Vec<PathBuf>,
        news: SyncSender<News>,
        waker: Waker,
        config: Config,
    ) -> Result<(), FollowError> {
        let touched = Arc::new(Touched::default());
        let finder = Finder {
            roots,
            config,
            waker,
            news,
            touched: Arc::clone(&touched),
            room: config.most.saturating_sub(self.followed.len()),
            next_id: self.next_id().0,
            named,
            found: Finds::default(),
        };
        self.finder = Some(touched);
        finder.start().map_err(FollowError::Thread)
    }
}

impl Drop for Following {
    fn drop(&mut self) {
        if let Some(finder) = &self.finder {
            finder.close();
        }
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// What is wanted, sorted.
#[derive(Default)]
struct Plan {
    files: Vec<PathBuf>,
    roots: Vec<Root>,
    urls: Vec<url::Url>,
    stdin: bool,
    watched: Vec<String>,
}

impl Plan {
    fn take(&mut self, wanted: Wanted) -> Result<(), FollowError> {
        match &wanted {
            Wanted::Agents => {}
            other => self.watched.push(other.to_string()),
        }
        match wanted {
            Wanted::File(path) => self.files.push(path),
            Wanted::Folder(path) => self.roots.push(Root::folder(&path, false)),
            Wanted::Glob(pattern) => {
                let (pattern, matcher) = wanted::matcher(&pattern)?;
                self.roots.push(Root::glob(&pattern, matcher));
            }
            Wanted::Agents => {
                for path in agents::own_agent_folders() {
                    self.watched.push(path.display().to_string());
                    self.roots.push(Root::folder(&path, true));
                }
            }
            Wanted::Stdin if self.stdin => return Err(FollowError::StdinTwice),
            Wanted::Stdin => self.stdin = true,
            Wanted::Url(url) => self.urls.push(url),
        }
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

impl Origin {
    fn new(name: &str, place: &str) -> Self {
        Self { name: name.into(), place: place.into() }
    }

    fn of_file(path: &Path) -> Self {
        let place = path.display().to_string();
        match path.file_name() {
            Some(name) => Self::new(&name.to_string_lossy(), &place),
            None => Self::new(&place, &place),
        }
    }
}

/// One conversation that is followed.
#[derive(Debug)]
pub struct Followed {
    id: FollowId,
    origin: Origin,
    source: FileSource,
    version: u64,
}

impl Followed {
    fn file(id: FollowId, path: PathBuf, waker: &Waker, config: Config) -> io::Result<Self> {
        let origin = Origin::of_file(&path);
        let growing = Growing { path: Some(path.clone()), ..config.growing() };
        let source = FileSource::follow_file(path, Arc::clone(waker), config.reader(), growing)?;
        Ok(Self { id, origin, source, version: 0 })
    }

    fn spooled(
        id: FollowId,
        origin: Origin,
        spool: &Spool,
        waker: &Waker,
        config: Config,
    ) -> io::Result<(Self, reader::Arrivals)> {
        let (source, arrivals) = FileSource::follow_spool(
            &origin.name,
            spool.clone(),
            Arc::clone(waker),
            config.reader(),
            config.growing(),
        )?;
        Ok((Self { id, origin, source, version: 0 }, arrivals))
    }

    /// Its name as long as it is followed.
    #[must_use]
    pub fn id(&self) -> FollowId {
        self.id
    }

    /// Its own title, else the beginning of its newest prompt, else the file's name or the
    /// host.
    #[must_use]
    pub fn title(&self) -> Arc<str> {
        let own = self.source.title().or_else(|| self.outline().prompt.clone());
        own.unwrap_or_else(|| Arc::clone(&self.origin.name))
    }

    /// Where it comes from.
    #[must_use]
    pub fn origin(&self) -> &Origin {
        &self.origin
    }

    /// The last part of the folder that the agent works in, when its records say.
    #[must_use]
    pub fn project(&self) -> Option<&str> {
        self.source.project().map(|project| &**project)
    }

    /// The model that spoke last.
    #[must_use]
    pub fn model(&self) -> Option<&str> {
        self.outline().model.as_deref()
    }

    /// When the newest thing happened, in milliseconds since 1970: by the newest record that
    /// has a time, else by the file's.
    #[must_use]
    pub fn last_event_ms(&self) -> Option<i64> {
        self.outline().last_event_ms
    }

    /// What [`state`](crate::model::activity::state) judges.
    #[must_use]
    pub fn outline(&self) -> &Outline {
        self.source.outline()
    }

    /// Whether its source is there.
    #[must_use]
    pub fn link(&self) -> &Link {
        self.source.link()
    }

    /// Its messages. Rows keep their ids while the source only grows.
    pub fn source(&mut self) -> &mut dyn Source {
        &mut self.source
    }

    /// Lines that were read since it is followed, of all files that stood in its place, each
    /// counted when it was complete.
    #[must_use]
    pub fn lines_read(&self) -> u64 {
        self.source.lines_read()
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
