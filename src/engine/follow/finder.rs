//! The thread that finds conversations in folders, and sees new ones join.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
    sync::{Arc, mpsc::SyncSender},
    time::{Duration, Instant, SystemTime},
};

use parking_lot::{Condvar, Mutex};

use super::{
    Config, FollowId, Followed,
    roots::{Found, Root, Walk},
};
use crate::{
    engine::{
        Waker,
        watch::{Changed, Notice, Watch, Watched},
    },
    perf,
    transcript::{self, OpenError},
};

/// What the finder tells.
pub(super) enum News {
    Join(Box<Followed>),
    Leave(FollowId),
    Warn(String),
}

/// Between two looks at what changed.
const REST: Duration = Duration::from_millis(100);
/// Between two looks at everything: without notices, and beside them.
const POLLED: Duration = Duration::from_secs(1);
const CHECKED: Duration = Duration::from_secs(15);
/// Folders that are watched; in others new files are found by looking at everything.
const FOLDERS_MAX: usize = 512;
/// Changed paths that are told apart.
const TOUCHED_MAX: usize = 4096;
/// One that is followed gives way to another when it has been quiet for so long.
const QUIET: Duration = Duration::from_secs(60);

/// What changed in the folders, as far as it is known.
#[derive(Default)]
pub(super) struct Touched {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    paths: BTreeSet<PathBuf>,
    everything: bool,
    closed: bool,
}

/// What to do next.
enum Work {
    Look(BTreeSet<PathBuf>),
    LookAtEverything,
    End,
}

impl Touched {
    fn note(&self, path: Option<&Path>) {
        let mut state = self.state.lock();
        match path {
            Some(path) if state.paths.len() < TOUCHED_MAX => {
                state.paths.insert(path.to_owned());
            }
            _ => state.everything = true,
        }
        drop(state);
        self.changed.notify_one();
    }

    pub(super) fn close(&self) {
        self.state.lock().closed = true;
        self.changed.notify_one();
    }

    /// Waits for changes, and then until `rest_until` for more of them.
    fn wait(&self, rest_until: Instant, everything_at: Option<Instant>) -> Work {
        let mut state = self.state.lock();
        loop {
            let now = perf::now();
            if state.closed {
                return Work::End;
            }
            let is_due = everything_at.is_some_and(|at| at <= now);
            let has_changed = state.everything || !state.paths.is_empty();
            if now >= rest_until && (is_due || has_changed) {
                let paths = std::mem::take(&mut state.paths);
                let everything = std::mem::take(&mut state.everything) || is_due;
                return if everything { Work::LookAtEverything } else { Work::Look(paths) };
            }
            let until = if has_changed { Some(rest_until) } else { everything_at };
            match until {
                Some(until) => {
                    self.changed.wait_until(&mut state, until.max(rest_until.min(until)));
                }
                None => self.changed.wait(&mut state),
            }
        }
    }
}

/// Finds conversations below some roots.
pub(super) struct Finder {
    pub(super) roots: Vec<Root>,
    pub(super) config: Config,
    pub(super) waker: Waker,
    pub(super) news: SyncSender<News>,
    pub(super) touched: Arc<Touched>,
    /// Conversations that may be found.
    pub(super) room: usize,
    pub(super) next_id: u64,
    /// Files that are followed anyway.
    pub(super) named: Vec<PathBuf>,
    pub(super) found: Finds,
}

/// What was found so far.
#[derive(Default)]
pub(super) struct Finds {
    files: BTreeMap<PathBuf, File>,
    folders: BTreeMap<PathBuf, Watched>,
    warned: BTreeSet<String>,
    followed: usize,
}

struct File {
    len: u64,
    written: SystemTime,
    kind: Kind,
    followed: Option<FollowId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Not looked at, or there was too little to tell.
    Unknown,
    Transcript,
    /// It was this long when it was looked at.
    Other(u64),
}

/// Nobody listens any more.
struct Gone;

impl Finder {
    /// Starts the thread. It ends when [`Touched::close`] is called.
    ///
    /// # Errors
    /// When the system gives no further thread.
    pub(super) fn start(self) -> std::io::Result<()> {
        let thread = std::thread::Builder::new().name("letterpress-finder".to_owned());
        thread.spawn(move || self.run())?;
        Ok(())
    }

    fn run(mut self) {
        let watch = Watch::shared(self.config.notice);
        self.named.iter_mut().for_each(|path| *path = canonical(path));
        let mut work = Work::LookAtEverything;
        loop {
            let looked = match work {
                Work::End => return,
                Work::LookAtEverything => self.look_at_everything(&watch),
                Work::Look(paths) => self.look_at(&watch, paths),
            };
            if looked.and_then(|()| self.choose()).is_err() {
                return;
            }
            let now = perf::now();
            let everything_at = match self.config.notice {
                Notice::Both => Some(now + CHECKED),
                Notice::Polling => Some(now + POLLED),
                Notice::System => None,
            };
            work = self.touched.wait(now + REST, everything_at);
        }
    }

    fn look_at_everything(&mut self, watch: &Arc<Watch>) -> Result<(), Gone> {
        let mut walks = Vec::new();
        for root in &self.roots {
            // Watched before it is looked at, so that nothing falls between.
            Self::watch(&mut self.found, watch, &self.touched, root.path());
            let mut walk = Walk::default();
            root.walk(root.path(), &mut walk);
            walks.push(walk);
        }
        walks.into_iter().try_for_each(|walk| self.take(watch, walk))
    }

    fn look_at(&mut self, watch: &Arc<Watch>, paths: BTreeSet<PathBuf>) -> Result<(), Gone> {
        for path in paths {
            let Ok(metadata) = std::fs::metadata(&path) else { continue };
            for number in 0..self.roots.len() {
                let Some(root) = self.roots.get(number) else { continue };
                if metadata.is_dir() {
                    let mut walk = Walk::default();
                    if path.starts_with(root.path()) {
                        root.walk(&path, &mut walk);
                    }
                    self.take(watch, walk)?;
                } else if metadata.is_file() && root.means(&path) {
                    self.meet(Found::of(path.clone(), &metadata));
                }
            }
        }
        Ok(())
    }

    fn take(&mut self, watch: &Arc<Watch>, walk: Walk) -> Result<(), Gone> {
        for folder in &walk.folders {
            let is_new = !self.found.folders.contains_key(folder);
            Self::watch(&mut self.found, watch, &self.touched, folder);
            if is_new && self.found.folders.contains_key(folder) {
                // What came before it was watched gave no notice.
                self.touched.note(Some(folder));
            }
        }
        walk.files.into_iter().for_each(|file| self.meet(file));
        for (folder, error) in walk.unreadable {
            if error.kind() != std::io::ErrorKind::NotFound {
                self.warn(format!("this folder cannot be read ({error}): {}", folder.display()))?;
            }
        }
        if walk.is_cut {
            self.warn("some folders hold too much to look at all of it".to_owned())?;
        }
        Ok(())
    }

    fn watch(found: &mut Finds, watch: &Arc<Watch>, touched: &Arc<Touched>, folder: &Path) {
        if found.folders.len() >= FOLDERS_MAX || found.folders.contains_key(folder) {
            return;
        }
        let (touched, ours) = (Arc::clone(touched), folder.to_owned());
        // The system says where it really is; it is looked at by the name it was found by.
        let real = canonical(folder);
        let changed: Changed = Arc::new(move |path| {
            let inside = path.and_then(|path| path.strip_prefix(&real).ok());
            touched.note(Some(&inside.map_or_else(|| ours.clone(), |inside| ours.join(inside))));
        });
        found.folders.insert(folder.to_owned(), watch.folder(folder, changed));
    }

    /// Notes a file as it is now.
    fn meet(&mut self, file: Found) {
        let Found { mut path, len, written } = file;
        if !self.found.files.contains_key(&path) {
            path = canonical(&path);
        }
        if self.named.contains(&path) {
            return;
        }
        let new = File { len, written, kind: Kind::Unknown, followed: None };
        let known = self.found.files.entry(path).or_insert(new);
        (known.len, known.written) = (len, written);
        if matches!(known.kind, Kind::Other(at) if at != len) {
            known.kind = Kind::Unknown;
        }
    }

    /// Follows the newest, as many as there is room for.
    fn choose(&mut self) -> Result<(), Gone> {
        let mut newest: Vec<(SystemTime, PathBuf)> =
            self.found.files.iter().map(|(path, file)| (file.written, path.clone())).collect();
        newest.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        // Of several that join at once the oldest joins first.
        let mut joining = Vec::new();
        let mut passed = 0;
        for (written, path) in newest {
            let Some(file) = self.found.files.get(&path) else { continue };
            if file.followed.is_some() || !self.is_transcript(&path)? {
                continue;
            }
            if self.found.followed + joining.len() < self.room || self.give_way(written)? {
                joining.push(path);
            } else {
                passed += 1;
                // Those behind it are older still.
                if passed > self.room {
                    break;
                }
            }
        }
        if passed > 0 {
            let most = self.room;
            self.warn(format!("more conversations than the {most} newest are not followed"))?;
        }
        joining.iter().rev().try_for_each(|path| self.join(path))
    }

    /// Lets the one go that was quiet for longest, when another is newer by far.
    fn give_way(&mut self, newer: SystemTime) -> Result<bool, Gone> {
        let followed = self.found.files.values_mut().filter(|file| file.followed.is_some());
        let Some(quietest) = followed.min_by_key(|file| file.written) else { return Ok(false) };
        let quiet = newer.duration_since(quietest.written).unwrap_or_default();
        if quiet < QUIET {
            return Ok(false);
        }
        let Some(id) = quietest.followed.take() else { return Ok(false) };
        self.found.followed -= 1;
        self.tell(News::Leave(id))?;
        Ok(true)
    }

    fn is_transcript(&mut self, path: &Path) -> Result<bool, Gone> {
        let Some(file) = self.found.files.get_mut(path) else { return Ok(false) };
        if file.kind != Kind::Unknown {
            return Ok(file.kind == Kind::Transcript);
        }
        match transcript::open(path) {
            Ok(_) => file.kind = Kind::Transcript,
            // More may come.
            Err(OpenError::Empty(_) | OpenError::NotFound(_)) => return Ok(false),
            Err(error) => {
                file.kind = Kind::Other(file.len);
                self.warn(error.to_string())?;
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn join(&mut self, path: &Path) -> Result<(), Gone> {
        let id = FollowId(self.next_id);
        match Followed::file(id, path.to_owned(), &self.waker, self.config) {
            Ok(followed) => {
                self.next_id += 1;
                self.found.followed += 1;
                if let Some(file) = self.found.files.get_mut(path) {
                    file.followed = Some(id);
                }
                self.tell(News::Join(Box::new(followed)))
            }
            Err(error) => self.warn(format!("it cannot be followed ({error}): {}", path.display())),
        }
    }

    fn warn(&mut self, words: String) -> Result<(), Gone> {
        if self.found.warned.len() >= super::WARNINGS_MAX
            || !self.found.warned.insert(words.clone())
        {
            return Ok(());
        }
        self.tell(News::Warn(words))
    }

    fn tell(&self, news: News) -> Result<(), Gone> {
        let sent = self.news.send(news).map_err(|_closed| Gone);
        (self.waker)();
        sent
    }
}

fn canonical(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
