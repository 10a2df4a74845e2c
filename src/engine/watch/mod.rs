//! Who wants to know when a file or a folder changes, and the two ways to notice.
//!
//! The system's notices come within milliseconds, but not for network folders, and only so
//! many. So a slow pulse looks as well: at every file when there are no notices, and at
//! whether what is watched is still what stands there.

mod pulse;
mod table;

use std::{
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    sync::{Arc, Weak},
    thread::Thread,
    time::Duration,
};

use notify::{
    EventKind, RecommendedWatcher, RecursiveMode, Watcher as _,
    event::{AccessKind, AccessMode},
};
use parking_lot::Mutex;

use self::table::Table;

/// How changes of files are noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Notice {
    /// By the system's notices, and by looking now and then for what it does not notice.
    Both,
    /// By the system's notices alone.
    System,
    /// By looking twice a second.
    Polling,
}

/// Called with what changed; none when that is not known. Must be quick.
pub(super) type Changed = Arc<dyn Fn(Option<&Path>) + Send + Sync>;

/// How often the pulse looks.
const PULSE: Duration = Duration::from_millis(500);
/// Folders that the system is asked to watch; others are only looked at.
const FOLDERS_MAX: usize = 1024;

/// The one watcher of this process for each way to notice.
pub(super) struct Watch {
    notice: Notice,
    table: Mutex<Table>,
    /// None where the system gives none. Never locked while the table is: its own thread
    /// takes the table, and waits for no answer of ours.
    system: Mutex<Option<RecommendedWatcher>>,
    pulse: Mutex<Option<Thread>>,
}

/// Wants to know until it is dropped.
pub(super) struct Watched {
    watch: Arc<Watch>,
    id: u64,
}

impl Watch {
    /// The watcher that all share; it ends when nobody uses it.
    pub(super) fn shared(notice: Notice) -> Arc<Self> {
        static SHARED: Mutex<[Weak<Watch>; 3]> = Mutex::new([const { Weak::new() }; 3]);
        let mut shared = SHARED.lock();
        let slot = &mut shared[notice as usize];
        if let Some(watch) = slot.upgrade() {
            return watch;
        }
        let watch = Self::start(notice);
        *slot = Arc::downgrade(&watch);
        watch
    }

    fn start(notice: Notice) -> Arc<Self> {
        let watch = Arc::new(Self {
            notice,
            table: Mutex::default(),
            system: Mutex::new(None),
            pulse: Mutex::new(None),
        });
        if notice != Notice::Polling {
            let ours = Arc::downgrade(&watch);
            let handler = move |event: notify::Result<notify::Event>| {
                if let Some(watch) = ours.upgrade() {
                    watch.noticed(event);
                }
            };
            // Without notices all is looked at.
            *watch.system.lock() = notify::recommended_watcher(handler).ok();
        }
        *watch.pulse.lock() = pulse::start(&watch);
        watch
    }

    /// Tells when something happens to a file, or comes to stand where it should.
    pub(super) fn file(self: &Arc<Self>, path: &Path, changed: Changed) -> Watched {
        let mut places = vec![place_of(path)];
        if let Ok(target) = path.canonicalize() {
            let target = place_of(&target);
            if !places.contains(&target) {
                places.push(target);
            }
        }
        self.add(places, Some(path.to_owned()), changed)
    }

    /// Tells when something happens in a folder, not in those inside.
    pub(super) fn folder(self: &Arc<Self>, path: &Path, changed: Changed) -> Watched {
        let folder = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        self.add(vec![(folder, None)], None, changed)
    }

    fn add(
        self: &Arc<Self>,
        places: Vec<(PathBuf, Option<OsString>)>,
        looked_at: Option<PathBuf>,
        changed: Changed,
    ) -> Watched {
        let folders: Vec<PathBuf> = places.iter().map(|(folder, _)| folder.clone()).collect();
        let id = self.table.lock().add(places, looked_at, changed);
        for folder in folders {
            self.ask_system(&folder);
        }
        Watched { watch: Arc::clone(self), id }
    }

    /// Asks the system for notices of a folder, unless it gives them already.
    fn ask_system(&self, folder: &Path) {
        if !self.table.lock().wants_notices(folder, FOLDERS_MAX) {
            return;
        }
        let mut system = self.system.lock();
        let Some(watcher) = system.as_mut() else { return };
        let print = pulse::print_of(folder);
        let is_watched =
            print.is_some() && watcher.watch(folder, RecursiveMode::NonRecursive).is_ok();
        drop(system);
        self.table.lock().asked(folder, print.filter(|_| is_watched));
    }

    /// Lets the system forget a folder.
    fn forget(&self, folder: &Path) {
        if let Some(watcher) = self.system.lock().as_mut() {
            // It may be gone by itself.
            watcher.unwatch(folder).ok();
        }
    }

    fn noticed(&self, event: notify::Result<notify::Event>) {
        let event = match event {
            Ok(event) if is_own_doing(event.kind) => return,
            Ok(event) if event.need_rescan() || event.paths.is_empty() => None,
            Ok(event) => Some(event),
            Err(_unknown) => None,
        };
        let calls = match &event {
            None => self.table.lock().everybody(),
            Some(event) => {
                let table = self.table.lock();
                event.paths.iter().flat_map(|path| table.interested(path)).collect()
            }
        };
        for (call, path) in calls {
            call(path.as_deref());
        }
    }
}

/// Reading a file makes notices too.
fn is_own_doing(kind: EventKind) -> bool {
    matches!(kind, EventKind::Access(access) if access != AccessKind::Close(AccessMode::Write))
}

/// The folder of a file, as the system names it, and its name there.
fn place_of(path: &Path) -> (PathBuf, Option<OsString>) {
    let folder = match path.parent() {
        Some(parent) if parent.as_os_str().is_empty() => Path::new("."),
        Some(parent) => parent,
        None => path,
    };
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    (folder, path.file_name().map(OsStr::to_owned))
}

impl Drop for Watched {
    fn drop(&mut self) {
        let unused = self.watch.table.lock().remove(self.id);
        for folder in unused {
            self.watch.forget(&folder);
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(pulse) = self.pulse.lock().take() {
            pulse.unpark();
        }
    }
}

/// What stands in a place, as far as it can be told from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Standing {
    pub(super) identity: (u64, u64),
    pub(super) len: u64,
    pub(super) written_ns: i128,
}
