//! A file of any size as a source: a thread reads, the UI takes what has arrived.

mod cache;
mod follower;
mod fresh;
mod growing;
mod loader;
mod mailbox;
mod reading;
mod recent;
mod stored;
mod sums;

use std::{
    fmt, io,
    ops::Range,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

pub(super) use self::growing::{Arrivals, Growing};
pub use self::loader::read_message;
use self::{
    cache::{Cache, Need},
    fresh::Fresh,
    loader::Open,
    mailbox::{Edition, Mailbox, News, Page, Pulse, Wish},
    reading::FileReading,
};
use super::watch::Notice;
use crate::{
    model::{
        Base, Census, Message, MessageId, Progress, Reading, RowInfo, Source, Warning,
        activity::{Link, Outline},
    },
    perf,
    transcript::{self, Branch, Format, Index, OpenError, Spool, Transcript},
};

/// Called by the reading thread when something has arrived, to ask for a frame.
pub type Waker = Arc<dyn Fn() + Send + Sync>;

/// A conversation in a file.
///
/// Opening returns at once. A thread then reads the newest messages, and indexes the rest
/// behind them; it ends when the source is dropped. No method but those that say so waits,
/// and none reads the file.
///
/// One that was opened to be followed grows with its file: its rows keep their ids while
/// only lines are added. When another content comes to stand there, the old rows stay until
/// the new are known, and no id of one is an id of the other.
pub struct FileSource {
    path: PathBuf,
    mailbox: Arc<Mailbox>,
    edition: Option<Edition>,
    cache: Cache,
    asked: Asked,
    version: u64,
    progress: Progress,
    transcript: Option<Arc<Transcript>>,
    failure: Option<Arc<OpenError>>,
    warnings: Vec<Warning>,
    fresh: Fresh,
    pulse: Box<Pulse>,
    link: Link,
    /// What was to be shown first.
    near: Option<MessageId>,
}

/// How a source is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Bytes of messages that are kept ready.
    pub cache_bytes: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self { cache_bytes: 8 * 1024 * 1024 }
    }
}

/// Rows that are being read, of the edition they were asked in.
#[derive(Default)]
struct Asked {
    ticket: u64,
    /// Most urgent first.
    rows: Vec<usize>,
    /// How many of them are on screen in this frame.
    urgent: usize,
    /// What was said to be shown next.
    near: Range<usize>,
    earlier: bool,
    /// Messages that came and found no room; not asked for again while `near` stays.
    refused: Vec<MessageId>,
}

/// Rows asked for at a time.
const ASKED_MAX: usize = 512;
/// The reader is near the top of what is known when it wants one of these rows.
const NEAR_TOP_ROWS: usize = 32;
const WARNINGS_MAX: usize = 1_000;

impl FileSource {
    /// Opens a file. Whether it can be read shows later, in [`FileSource::failure`].
    ///
    /// # Errors
    /// When the system gives no further thread.
    pub fn open(path: impl Into<PathBuf>, waker: Waker) -> io::Result<Self> {
        Self::open_with(path, waker, Config::default())
    }

    /// The same with other limits.
    ///
    /// # Errors
    /// When the system gives no further thread.
    pub fn open_with(path: impl Into<PathBuf>, waker: Waker, config: Config) -> io::Result<Self> {
        let path = path.into();
        let file = path.clone();
        Self::start(path, waker, config, Box::new(move || transcript::open(&file)), None)
    }

    /// Opens a file that may be written while it is shown: what is appended to it appears,
    /// and so does another file that comes to stand in its place. It need not be there yet.
    ///
    /// # Errors
    /// When the system gives no further thread.
    pub fn follow(path: impl Into<PathBuf>, waker: Waker, config: Config) -> io::Result<Self> {
        let path = path.into();
        let growing = Growing {
            path: Some(path.clone()),
            notice: Notice::Both,
            window_bytes: None,
            outline: false,
        };
        Self::follow_file(path, waker, config, growing)
    }

    pub(super) fn follow_file(
        path: PathBuf,
        waker: Waker,
        config: Config,
        growing: Growing,
    ) -> io::Result<Self> {
        let file = path.clone();
        let open: Open = Box::new(move || transcript::open(&file));
        Self::start(path, waker, config, open, Some(growing))
    }

    /// Follows what arrives in a spool. Gives what to tell of each arrival, too.
    pub(super) fn follow_spool(
        name: &str,
        spool: Spool,
        waker: Waker,
        config: Config,
        growing: Growing,
    ) -> io::Result<(Self, Arrivals)> {
        let path = PathBuf::from(name);
        let file = path.clone();
        let open: Open = Box::new(move || spool.open(&file));
        let source = Self::start(path, Arc::clone(&waker), config, open, Some(growing))?;
        let mailbox = Arc::downgrade(&source.mailbox);
        Ok((source, Arrivals::new(mailbox, waker)))
    }

    /// Opens the part of a log that belongs to a conversation. Its rows are the path to the
    /// leaf that the base names, and the ids of its messages are where their first records
    /// begin in the log.
    ///
    /// With a message to be `near`, what stands around that is there first, and the rest
    /// behind it under the same ids.
    ///
    /// # Errors
    /// When the system gives no further thread.
    pub fn stored(
        base: &Arc<Base>,
        near: Option<MessageId>,
        waker: Waker,
        config: Config,
    ) -> io::Result<Self> {
        let mailbox = Arc::new(Mailbox::default());
        stored::start(Arc::clone(base), near, Arc::clone(&mailbox), waker)?;
        let mut source = Self::new(base.path.clone(), mailbox, config);
        source.near = near;
        Ok(source)
    }

    /// Shows another part of the log: more of it, or another path. The rows stay until the
    /// new ones are known, see [`FileSource::base`]; messages that both have keep their ids
    /// and are not read again.
    pub fn rebase(&mut self, base: &Arc<Base>) {
        self.path.clone_from(&base.path);
        self.failure = None;
        self.mailbox.rebase(Arc::clone(base));
    }

    /// The part of a log that the rows are of; none before the first, and for other files.
    #[must_use]
    pub fn base(&self) -> Option<&Arc<Base>> {
        self.edition.as_ref()?.base.as_ref()
    }

    /// Opens a transcript that is part of the program, under a name of its own.
    ///
    /// # Errors
    /// When the system gives no further thread.
    pub fn of_bytes(name: &'static str, bytes: &'static [u8], waker: Waker) -> io::Result<Self> {
        let open: Open = Box::new(move || transcript::open_bytes(Path::new(name), bytes));
        Self::start(PathBuf::from(name), waker, Config::default(), open, None)
    }

    fn start(
        path: PathBuf,
        waker: Waker,
        config: Config,
        open: Open,
        growing: Option<Growing>,
    ) -> io::Result<Self> {
        let mailbox = Arc::new(Mailbox::default());
        loader::start(open, growing, Arc::clone(&mailbox), waker)?;
        Ok(Self::new(path, mailbox, config))
    }

    fn new(path: PathBuf, mailbox: Arc<Mailbox>, config: Config) -> Self {
        Self {
            path,
            mailbox,
            edition: None,
            cache: Cache::new(config.cache_bytes),
            asked: Asked::default(),
            version: 0,
            progress: Progress::Indexing { done: 0, total: 0 },
            transcript: None,
            failure: None,
            warnings: Vec::new(),
            fresh: Fresh::default(),
            pulse: Box::default(),
            link: Link::Live,
            near: None,
        }
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Whose format it is, once it is open.
    #[must_use]
    pub fn format(&self) -> Option<Format> {
        self.transcript.as_ref().map(|transcript| transcript.format())
    }

    /// Why it could not be opened.
    #[must_use]
    pub fn failure(&self) -> Option<&OpenError> {
        self.failure.as_deref()
    }

    /// The conversation's title, when the source gives one.
    #[must_use]
    pub fn title(&self) -> Option<Arc<str>> {
        self.index()?.title()
    }

    /// The leaves of the branches that are not shown.
    #[must_use]
    pub fn branches(&self) -> &[Branch] {
        self.index().map_or(&[], Index::branches)
    }

    /// What was met and survived, so far: the index's findings and then those of the
    /// messages that were read, at most a thousand of these.
    pub fn warnings(&self) -> impl Iterator<Item = &Warning> {
        let indexed = self.index().map_or(&[][..], Index::warnings);
        indexed.iter().chain(self.warnings.iter().filter(|w| !indexed.contains(w)))
    }

    /// Whether the file is there, of a source that is followed.
    #[must_use]
    pub fn link(&self) -> &Link {
        &self.link
    }

    /// What the agent is doing, of a source that is followed for that.
    pub(super) fn outline(&self) -> &Outline {
        &self.pulse.outline
    }

    /// Lines that were read to their end, of a source that is followed.
    pub(super) fn lines_read(&self) -> u64 {
        self.pulse.lines_read
    }

    /// The last part of the folder that the agent works in.
    pub(super) fn project(&self) -> Option<&Arc<str>> {
        self.pulse.project.as_ref()
    }

    /// Bytes of the messages that are kept ready.
    #[must_use]
    pub fn cache_bytes(&self) -> usize {
        self.cache.bytes()
    }

    /// Bytes of the index.
    #[must_use]
    pub fn index_bytes(&self) -> usize {
        let bytes = |edition: &Edition| edition.index.heap_bytes() + edition.sums.heap_bytes();
        self.edition.as_ref().map_or(0, bytes)
    }

    /// True when the file was opened and its newest message is ready, or when there is
    /// none, or when it could not be opened.
    #[must_use]
    pub fn ready(&self) -> bool {
        if self.failure.is_some() {
            return true;
        }
        let Some(edition) = &self.edition else { return false };
        if let Some(near) = self.near.filter(|near| edition.index_of(*near).is_some()) {
            return self.cache.has(near);
        }
        match edition.index.len().checked_sub(1) {
            Some(last) => self.cache.has(edition.row(last).id),
            None => edition.index.is_complete(),
        }
    }

    /// Waits until [`FileSource::ready`]. False when the time is up first. For commands
    /// without a window; the UI thread never waits.
    pub fn wait_first(&mut self, timeout: Duration) -> bool {
        self.wait_until(timeout, |source| {
            let near = source.near.and_then(|near| source.index_of(near));
            let newest = near.or_else(|| source.len().checked_sub(1));
            newest.is_some_and(|row| source.message(row).is_some()) || source.ready()
        })
    }

    /// Waits until everything is indexed, or the file could not be opened. False when the
    /// time is up first. For commands without a window.
    pub fn wait_complete(&mut self, timeout: Duration) -> bool {
        self.wait_until(timeout, |source| {
            source.progress == Progress::Complete || source.failure.is_some()
        })
    }

    /// Waits until the rows are those of a part of the log, all of them, or it could not be
    /// opened. False when the time is up first. For commands without a window.
    pub fn wait_base(&mut self, base: &Arc<Base>, timeout: Duration) -> bool {
        self.wait_until(timeout, |source| {
            let is_shown = source.base() == Some(base) && source.progress == Progress::Complete;
            is_shown || source.failure.is_some()
        })
    }

    /// Waits until the messages of these rows are ready, as the newest index knows them.
    /// False when the time is up first. For commands without a window.
    pub fn wait_rows(&mut self, rows: Range<usize>, timeout: Duration) -> bool {
        self.wait_until(timeout, |source| {
            let end = rows.end.min(source.len());
            // Each of them is asked for, not only the first that is missing.
            (rows.start..end).filter(|row| !source.holds_newest(*row)).count() == 0
        })
    }

    fn holds_newest(&mut self, row: usize) -> bool {
        self.message(row)
            .is_some_and(|message| self.cache.holds(message.id, self.fresh.needed(message.id)))
    }

    fn wait_until(&mut self, timeout: Duration, done: impl Fn(&mut Self) -> bool) -> bool {
        let deadline = perf::now() + timeout;
        loop {
            self.poll();
            if done(self) {
                return true;
            }
            if !self.mailbox.wait(deadline) {
                return false;
            }
        }
    }

    fn index(&self) -> Option<&Index> {
        self.edition.as_ref().map(|edition| &*edition.index)
    }

    fn take_edition(&mut self, edition: Edition) {
        self.fresh.note(&edition);
        self.edition = Some(edition);
        // Rows are meant as the edition before had them.
        let ticket = self.asked.ticket;
        self.asked = Asked { ticket, ..Asked::default() };
        self.failure = None;
        self.version += 1;
    }

    fn take_page(&mut self, page: Page) {
        let row = self.index_of(page.id);
        let urgent = self.asked.rows.iter().take(self.asked.urgent).any(|r| Some(*r) == row);
        self.asked.rows.retain(|asked| Some(*asked) != row);
        for warning in page.warnings {
            if self.warnings.len() < WARNINGS_MAX && !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
        // The first screen arrives before anybody could have asked for it.
        let is_first = self.asked.ticket == 0;
        let need = if urgent || is_first { Need::Now } else { Need::Soon };
        if self.cache.keep(page.id, page.message, page.edition, need) {
            self.version += 1;
        } else {
            self.asked.refused.push(page.id);
        }
    }

    /// Asks for a row that is on screen, before all that is only near it.
    fn ask_now(&mut self, row: usize) {
        let place = self.asked.rows.iter().position(|asked| *asked == row);
        let is_asked = place.is_some_and(|place| place < self.asked.urgent);
        if is_asked || self.asked.urgent >= ASKED_MAX {
            return;
        }
        if let Some(place) = place {
            self.asked.rows.remove(place);
        }
        let was_next = place == Some(self.asked.urgent);
        self.asked.rows.insert(self.asked.urgent, row);
        self.asked.urgent += 1;
        self.asked.rows.truncate(ASKED_MAX);
        if !was_next {
            self.post();
        }
    }

    fn post(&mut self) {
        let Some(edition) = &self.edition else { return };
        self.asked.ticket += 1;
        self.mailbox.ask(Wish {
            ticket: self.asked.ticket,
            edition: edition.clone(),
            rows: self.asked.rows.clone(),
            earlier: self.asked.earlier,
        });
    }

    /// Rows near the screen that are neither ready nor asked for nor refused.
    fn missing(&self, rows: Range<usize>) -> Vec<usize> {
        let Some(edition) = &self.edition else { return Vec::new() };
        let room = ASKED_MAX.saturating_sub(self.asked.rows.len());
        rows.take(ASKED_MAX)
            .filter(|row| {
                let id = edition.row(*row).id;
                !self.cache.holds(id, self.fresh.needed(id))
                    && !self.asked.rows.contains(row)
                    && !self.asked.refused.contains(&id)
            })
            .take(room)
            .collect()
    }
}

impl Source for FileSource {
    fn poll(&mut self) -> u64 {
        self.cache.begin_frame();
        let News { transcript, edition, progress, failure, pulse, link, pages, served, more } =
            self.mailbox.take();
        self.transcript = transcript.or_else(|| self.transcript.take());
        self.progress = progress.unwrap_or(self.progress);
        if failure.is_some() {
            self.failure = failure;
            self.version += 1;
        }
        if let Some(edition) = edition {
            self.take_edition(edition);
        }
        if let Some(pulse) = pulse.filter(|pulse| *pulse != self.pulse) {
            self.pulse = pulse;
            self.version += 1;
        }
        if let Some(link) = link {
            self.link = link;
            self.version += 1;
        }
        for page in pages {
            self.take_page(page);
        }
        self.asked.urgent = 0;
        if served >= self.asked.ticket && !more {
            // What the wish did not bring is asked for again when it is still wanted.
            self.asked.rows.clear();
        }
        self.version
    }

    fn len(&self) -> usize {
        self.index().map_or(0, Index::len)
    }

    fn row(&self, index: usize) -> RowInfo {
        let edition = self.edition.as_ref();
        edition.expect("a row is below the length, which is 0 without an index").row(index)
    }

    fn index_of(&self, id: MessageId) -> Option<usize> {
        self.edition.as_ref()?.index_of(id)
    }

    fn prompt_before(&self, index: usize) -> Option<usize> {
        self.index()?.prompt_before(index)
    }

    fn prompt_after(&self, index: usize) -> Option<usize> {
        self.edition.as_ref()?.sums.prompt_after(index)
    }

    fn estimate(&self, rows: Range<usize>) -> (u64, u64) {
        let Some(Edition { index, sums, .. }) = &self.edition else { return (0, 0) };
        let len = index.len();
        sums.estimate(rows.start.min(len)..rows.end.min(len), |row| index.row(row))
    }

    fn census(&self, rows: Range<usize>) -> Census {
        let Some(Edition { index, sums, .. }) = &self.edition else { return Census::default() };
        let len = index.len();
        sums.census(rows.start.min(len)..rows.end.min(len), |row| index.row(row))
    }

    fn message(&mut self, index: usize) -> Option<Arc<Message>> {
        let edition = self.edition.as_ref()?;
        if index >= edition.index.len() {
            return None;
        }
        let id = edition.row(index).id;
        match self.cache.show(id) {
            Some(found) if found.edition >= self.fresh.needed(id) => Some(found.message),
            Some(found) => {
                // An older index may have known less of it; it is read again meanwhile.
                self.ask_now(index);
                Some(found.message)
            }
            None => {
                self.ask_now(index);
                None
            }
        }
    }

    fn want(&mut self, rows: Range<usize>) {
        let Some(edition) = &self.edition else { return };
        let rows = rows.start..rows.end.min(edition.index.len());
        let earlier = !edition.index.is_complete() && rows.start < NEAR_TOP_ROWS;
        let asks_earlier = earlier && !self.asked.earlier;
        self.asked.earlier = earlier;
        let moved = rows != self.asked.near;
        if moved {
            self.asked.near = rows.clone();
            let at_end = rows.end >= edition.index.len();
            self.mailbox.shows_from((!at_end).then(|| edition.row(rows.start).id));
            self.asked.refused.clear();
            self.asked.rows.truncate(self.asked.urgent);
        }
        let missing = self.missing(rows);
        let asks_more = !missing.is_empty();
        self.asked.rows.extend(missing);
        if asks_more || asks_earlier {
            self.post();
        }
    }

    fn progress(&self) -> Progress {
        self.progress
    }

    fn reading(&self) -> Option<Arc<dyn Reading>> {
        let transcript = Arc::clone(self.transcript.as_ref()?);
        let edition = self.edition.clone()?;
        Some(Arc::new(FileReading { transcript, edition }))
    }
}

impl Drop for FileSource {
    fn drop(&mut self) {
        self.mailbox.close();
    }
}

impl fmt::Debug for FileSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileSource")
            .field("path", &self.path)
            .field("rows", &self.len())
            .field("progress", &self.progress)
            .finish_non_exhaustive()
    }
}
