//! The thread that saves drafts, so that nobody who types waits for a disk.

use std::{
    collections::BTreeMap,
    io, mem,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use parking_lot::{Condvar, Mutex};
use tokio::sync::watch;

use super::{DraftClock, Home, StoredDraft, folder, write};
use crate::{
    perf,
    store::{
        blobs,
        disk::{Disk, make_folders},
    },
};

/// How long the end of the program waits for drafts in other hands.
const LAST_WAIT: Duration = Duration::from_millis(200);
/// A disk that takes nothing is tried again this often.
const RETRY: Duration = Duration::from_secs(1);

/// Saves drafts. All calls return at once; a thread of the store's own does the work.
/// Clones are the same keeper; the last one that goes has what is left saved.
#[derive(Clone, Debug)]
pub struct Drafts {
    handle: Arc<Handle>,
}

#[derive(Debug)]
struct Handle(Arc<Shared>);

impl Drop for Handle {
    fn drop(&mut self) {
        self.0.held.lock().is_closing = true;
        self.0.wake.notify_one();
    }
}

#[derive(Debug)]
struct Shared {
    disk: Arc<dyn Disk>,
    root: PathBuf,
    held: Mutex<Held>,
    wake: Condvar,
    /// Held while files are written, so that none is older than the one it replaces.
    writing: Mutex<()>,
    /// Why drafts are not saved; none while they are.
    trouble: watch::Sender<Option<Arc<str>>>,
    has_thread: AtomicBool,
}

#[derive(Debug, Default)]
struct Held {
    homes: BTreeMap<Home, Changed>,
    is_closing: bool,
}

/// What changed in one place and is not saved yet.
#[derive(Debug, Default)]
struct Changed {
    /// By key; the one that was written last is last.
    drafts: Vec<StoredDraft>,
    /// Keys of those that arrived.
    cleared: Vec<Arc<str>>,
    /// What was pasted.
    blobs: Vec<(String, Arc<[u8]>)>,
    clock: DraftClock,
    /// To survive the end of the power.
    is_synced: bool,
}

impl Changed {
    fn edit(&mut self, draft: StoredDraft) {
        self.drafts.retain(|it| it.key != draft.key);
        self.cleared.retain(|key| *key != draft.key);
        self.drafts.push(draft);
    }

    /// Takes back what was not saved, behind what came since.
    fn take_back(&mut self, mut older: Self) {
        older.drafts.retain(|draft| !self.drafts.iter().any(|it| it.key == draft.key));
        older.drafts.retain(|draft| !self.cleared.contains(&draft.key));
        older.drafts.append(&mut self.drafts);
        self.drafts = older.drafts;
        self.cleared.append(&mut older.cleared);
        older.blobs.append(&mut self.blobs);
        self.blobs = older.blobs;
        self.is_synced |= older.is_synced;
    }
}

impl Drafts {
    pub(in crate::store) fn new(disk: Arc<dyn Disk>, root: PathBuf) -> Self {
        let shared = Arc::new(Shared {
            disk,
            root,
            held: Mutex::default(),
            wake: Condvar::new(),
            writing: Mutex::new(()),
            trouble: watch::Sender::new(None),
            has_thread: AtomicBool::new(false),
        });
        Self { handle: Arc::new(Handle(shared)) }
    }

    /// The draft is this now. It is saved when [`DraftClock`] says so. One of another key
    /// stays beside it until it is [cleared](Self::clear): it was sent, and may not have
    /// arrived. A blank one is removed.
    pub fn edit(&self, home: &Home, draft: StoredDraft) {
        self.change(home, |changed| {
            changed.edit(draft);
            changed.clock.change(perf::now());
        });
    }

    /// Save it now: the window lost the focus, another session is shown, the program ends.
    /// With `is_synced` what is saved survives the end of the power too.
    pub fn flush(&self, home: &Home, is_synced: bool) {
        self.change(home, |changed| {
            changed.clock.hurry(perf::now());
            changed.is_synced |= is_synced;
        });
    }

    /// The draft of this key arrived: its record is on the disk. One that is in its place by
    /// now stays.
    pub fn clear(&self, home: &Home, key: &str) {
        self.change(home, |changed| {
            changed.drafts.retain(|draft| *draft.key != *key);
            changed.cleared.push(key.into());
            changed.clock.hurry(perf::now());
        });
    }

    /// Keeps what was pasted into a draft; gives the name that
    /// [`Store::draft_blob`](crate::store::Store::draft_blob) knows it by.
    #[must_use]
    pub fn keep(&self, home: &Home, bytes: Arc<[u8]>) -> String {
        let sha = blobs::name(&bytes);
        self.change(home, |changed| {
            changed.blobs.push((sha.clone(), bytes));
            changed.clock.hurry(perf::now());
        });
        sha
    }

    /// Why drafts are not saved, now and later; none while they are.
    #[must_use]
    pub fn trouble(&self) -> watch::Receiver<Option<Arc<str>>> {
        self.handle.0.trouble.subscribe()
    }

    /// Saves on the calling thread what is not saved yet, as well as it goes: for the end of
    /// the program, and for its bad ends. Waits for no lock for long.
    pub fn save_now(&self) {
        let shared = &self.handle.0;
        let Some(writing) = shared.writing.try_lock_for(LAST_WAIT) else { return };
        let Some(mut held) = shared.held.try_lock_for(LAST_WAIT) else { return };
        let changed = mem::take(&mut held.homes);
        drop(held);
        shared.save(changed);
        drop(writing);
    }

    fn change(&self, home: &Home, change: impl FnOnce(&mut Changed)) {
        let shared = &self.handle.0;
        change(shared.held.lock().homes.entry(home.clone()).or_default());
        if !shared.has_thread.swap(true, Ordering::AcqRel) {
            let theirs = Arc::clone(shared);
            let thread = thread::Builder::new().name("drafts".to_owned());
            if let Err(error) = thread.spawn(move || theirs.run()) {
                shared.has_thread.store(false, Ordering::Release);
                shared.say(Err(error));
            }
        }
        shared.wake.notify_one();
    }
}

impl Shared {
    fn run(&self) {
        loop {
            let is_last = self.wait();
            let writing = self.writing.lock();
            let due = self.held.lock().take_due(perf::now(), is_last);
            let is_saved = self.save(due);
            drop(writing);
            if is_last {
                return;
            }
            if !is_saved {
                self.rest();
            }
        }
    }

    /// Waits until something is due; true when it is the end.
    fn wait(&self) -> bool {
        let mut held = self.held.lock();
        loop {
            let due = held.homes.values().filter_map(|changed| changed.clock.due()).min();
            match due {
                _ if held.is_closing => return true,
                Some(due) if due <= perf::now() => return false,
                Some(due) => {
                    // Whatever ended the wait, it is looked at again.
                    self.wake.wait_until(&mut held, due);
                }
                None => self.wake.wait(&mut held),
            }
        }
    }

    /// Lets a disk that takes nothing be for a while.
    fn rest(&self) {
        let mut held = self.held.lock();
        let until = perf::now() + RETRY;
        while !held.is_closing && !self.wake.wait_until(&mut held, until).timed_out() {}
    }

    /// Writes them; what cannot be written is taken back. True when all was written.
    fn save(&self, changed: BTreeMap<Home, Changed>) -> bool {
        let mut outcome = Ok(());
        let is_nothing = changed.is_empty();
        for (home, changed) in changed {
            if let Err(error) = self.save_one(&home, &changed) {
                outcome = Err(error);
                let mut held = self.held.lock();
                let newer = held.homes.entry(home).or_default();
                newer.take_back(changed);
                newer.clock.change(perf::now());
            }
        }
        let is_saved = outcome.is_ok();
        if !is_nothing {
            self.say(outcome);
        }
        is_saved
    }

    fn save_one(&self, home: &Home, changed: &Changed) -> io::Result<()> {
        let folder = folder(&self.root, home);
        if !changed.blobs.is_empty() {
            make_folders(&*self.disk, &folder)?;
        }
        for (sha, bytes) in &changed.blobs {
            blobs::keep(&*self.disk, &folder, sha, bytes)?;
        }
        let Changed { drafts, cleared, is_synced, .. } = changed;
        write(&*self.disk, &self.root, home, drafts, cleared, *is_synced)
    }

    fn say(&self, outcome: io::Result<()>) {
        let why = outcome.err().map(|error| format!("The draft was not saved: {error}.").into());
        self.trouble.send_if_modified(|now| {
            let is_new = *now != why;
            *now = why;
            is_new
        });
    }
}

impl Held {
    fn take_due(&mut self, now: Instant, is_last: bool) -> BTreeMap<Home, Changed> {
        let all = mem::take(&mut self.homes);
        let is_due = |_: &Home, changed: &mut Changed| is_last || changed.clock.is_due(now);
        let mut kept = all;
        let due = kept.extract_if(.., is_due).collect();
        self.homes = kept;
        due
    }
}
