//! The settings while the program runs: changed here and in the file, whichever comes first.
//!
//! One thread owns the file. It looks at it once a second and wakes nobody while nothing has
//! changed; a file that cannot be read leaves the last settings that could.

use std::{
    fmt, fs,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
        mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel},
    },
    thread,
    time::{Duration, SystemTime},
};

use parking_lot::RwLock;

use super::{Setting, Settings, Value, document};
use crate::app::error::{Error, Result};

/// How often the file is looked at.
const EVERY: Duration = Duration::from_millis(700);
/// Changes that may wait to be written.
const CHANGES: usize = 64;

/// A change of the settings.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// It is this from now on.
    Set(Setting, Value),
    /// As when nobody chose.
    Reset(Setting),
}

/// The settings at a moment.
#[derive(Clone, Debug, Default)]
pub struct Now {
    /// Grows with every change.
    pub version: u64,
    /// What holds.
    pub settings: Arc<Settings>,
    /// Why the file is not what holds, in one sentence.
    pub trouble: Option<Arc<str>>,
}

/// Called after every change, from another thread.
pub type Waker = Arc<dyn Fn() + Send + Sync>;

/// The settings while the program runs. Cheap to clone; all clones are one.
#[derive(Clone, Default)]
pub struct Live {
    shared: Arc<Shared>,
    /// None when nothing is kept. The thread ends with the last of these.
    changes: Option<SyncSender<Change>>,
    path: Option<Arc<Path>>,
}

#[derive(Default)]
struct Shared {
    version: AtomicU64,
    state: RwLock<State>,
}

#[derive(Default)]
struct State {
    now: Now,
    /// Changes that are not in the file yet.
    waiting: usize,
    wakers: Vec<Waker>,
}

impl Live {
    /// Settings that stand in no file.
    #[must_use]
    pub fn fixed(settings: Settings) -> Self {
        let live = Self::default();
        live.shared.state.write().now.settings = Arc::new(settings);
        live
    }

    /// What a file says now, for a command that soon ends.
    #[must_use]
    pub fn once(path: &Path) -> Self {
        let live = Self { path: Some(path.into()), ..Self::default() };
        live.shared.publish(read(path));
        live
    }

    /// Follows a file. Where the system gives no thread, it is read once.
    #[must_use]
    pub fn follow(path: PathBuf) -> Self {
        let mut live = Self::once(&path);
        let (sender, changes) = sync_channel(CHANGES);
        let shared = Arc::clone(&live.shared);
        let seen = stamp(&path);
        let work = move || Keeper { path, shared, seen }.run(&changes);
        let started = thread::Builder::new().name("settings".to_owned()).spawn(work);
        live.changes = started.is_ok().then_some(sender);
        live
    }

    /// The file; none when they stand in none.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Grows with every change. Cheap, for every frame.
    #[must_use]
    pub fn version(&self) -> u64 {
        self.shared.version.load(Ordering::Acquire)
    }

    /// The settings at this moment.
    #[must_use]
    pub fn now(&self) -> Now {
        self.shared.state.read().now.clone()
    }

    /// What holds at this moment.
    #[must_use]
    pub fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.shared.state.read().now.settings)
    }

    /// Calls this after every change.
    pub fn wake(&self, waker: Waker) {
        self.shared.state.write().wakers.push(waker);
    }

    /// Changes a setting: at once for everybody who asks, and soon in the file. Never waits.
    pub fn change(&self, change: Change) {
        let mut state = self.shared.state.write();
        state.now.settings = Arc::new(state.now.settings.changed(&change));
        if let Some(changes) = &self.changes {
            if changes.try_send(change).is_ok() {
                state.waiting += 1;
            } else {
                state.now.trouble = Some("The last change is not kept: too many wait.".into());
            }
        }
        self.shared.grow(&mut state);
    }
}

impl fmt::Debug for Live {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Live").field("path", &self.path).finish_non_exhaustive()
    }
}

impl Shared {
    fn grow(&self, state: &mut State) {
        state.now.version += 1;
        self.version.store(state.now.version, Ordering::Release);
    }

    /// Takes in what the file says. While changes of the window wait, those count.
    fn publish(&self, read: Result<Settings>) {
        let mut state = self.state.write();
        if state.waiting > 0 {
            return;
        }
        let before = state.now.clone();
        match read {
            Ok(settings) => {
                state.now.trouble = None;
                if *before.settings != settings {
                    state.now.settings = Arc::new(settings);
                }
            }
            Err(error) => state.now.trouble = Some(trouble(&error)),
        }
        let is_same = Arc::ptr_eq(&before.settings, &state.now.settings)
            && before.trouble == state.now.trouble;
        if is_same {
            return;
        }
        self.grow(&mut state);
        let wakers = state.wakers.clone();
        drop(state);
        wakers.iter().for_each(|wake| wake());
    }
}

fn trouble(error: &Error) -> Arc<str> {
    let mut words = error.to_string();
    if let Some(first) = words.get_mut(..1) {
        first.make_ascii_uppercase();
    }
    format!("{words}. The last settings that could be read still hold.").into()
}

fn read(path: &Path) -> Result<Settings> {
    Settings::read(path)
}

/// What tells one state of a file from another.
type Stamp = Option<(Option<SystemTime>, u64, u64)>;

fn stamp(path: &Path) -> Stamp {
    let about = fs::metadata(path).ok()?;
    #[cfg(unix)]
    let node = std::os::unix::fs::MetadataExt::ino(&about);
    #[cfg(not(unix))]
    let node = 0;
    Some((about.modified().ok(), about.len(), node))
}

/// The one that writes the file and looks at it.
struct Keeper {
    path: PathBuf,
    shared: Arc<Shared>,
    seen: Stamp,
}

impl Keeper {
    fn run(mut self, changes: &Receiver<Change>) {
        loop {
            match changes.recv_timeout(EVERY) {
                Ok(first) => {
                    let all: Vec<_> = std::iter::once(first).chain(changes.try_iter()).collect();
                    self.write(&all);
                }
                Err(RecvTimeoutError::Timeout) => self.look(),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn look(&mut self) {
        let stamp = stamp(&self.path);
        if stamp != self.seen {
            // What is written between the look and the reading is looked at again.
            self.seen = stamp;
            self.shared.publish(read(&self.path));
        }
    }

    fn write(&mut self, changes: &[Change]) {
        let written = write(&self.path, changes);
        {
            let mut state = self.shared.state.write();
            state.waiting = state.waiting.saturating_sub(changes.len());
        }
        match written {
            Ok(()) => {
                self.seen = stamp(&self.path);
                self.shared.publish(read(&self.path));
            }
            // What was chosen holds, in this window.
            Err(error) => {
                tracing::warn!(%error, "the settings were not kept");
                let mut state = self.shared.state.write();
                state.now.trouble = Some(format!("The last change is not kept: {error}.").into());
                self.shared.grow(&mut state);
                let wakers = state.wakers.clone();
                drop(state);
                wakers.iter().for_each(|wake| wake());
            }
        }
    }
}

/// Writes changes into the file, in place.
fn write(path: &Path, changes: &[Change]) -> Result<()> {
    document::edit(path, |document| {
        for change in changes {
            match change {
                Change::Set(setting, value) => {
                    let spec = setting.spec();
                    document::set(document, spec.table, spec.key, value.written()).ok_or_else(
                        || {
                            Error::failed(
                                format!("{} is no table", spec.table),
                                path.display().to_string(),
                            )
                        },
                    )?;
                }
                Change::Reset(setting) => {
                    let spec = setting.spec();
                    document::remove(document, spec.table, spec.key);
                }
            }
        }
        Ok(true)
    })
}
