//! Making and opening sessions.

use std::{
    fmt,
    fs::TryLockError,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::Value;

use super::{
    LOCK, Store,
    check::{Check, Oddity},
    disk::{self, DiskFile, Opening, make_folders},
    fit::fit,
    id::SessionId,
    live::LiveView,
    log::Log,
    queue::Queue,
    recover::{self, Recovered},
    writer::{Pages, Writer},
};
use crate::model::record::{Kind, line};

/// A session that was opened.
#[derive(Debug)]
pub struct Opened {
    /// Its name.
    pub id: SessionId,
    /// What may be done with it.
    pub log: Access,
    /// The log.
    pub path: PathBuf,
    /// How much of the log holds records, in bytes.
    pub len: u64,
    /// The number of the next record; of a long log that is not [checked](Self::check) yet
    /// it is at least this.
    pub next: u64,
    /// What was found.
    pub found: Found,
}

/// What may be done with a session.
#[derive(Debug)]
pub enum Access {
    /// It is ours to write.
    Write(Log),
    /// It can only be read.
    Read {
        /// Why, in one sentence.
        why: Arc<str>,
        /// It as it grows, from [`Opened::len`] on.
        live: LiveView,
    },
}

/// What was found when a session was opened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Where the bytes at the end of the log went that were no record: a crash left them.
    pub torn: Option<PathBuf>,
    /// What in the end of the log is not as it should be; [`Opened::check`] looks at all.
    pub oddities: Vec<Oddity>,
    /// It was written by a later version of the program.
    pub is_newer: bool,
    /// The last reply has no end.
    pub is_interrupted: bool,
}

/// Why a session was not opened.
#[derive(Debug)]
pub enum OpenError {
    /// There is none of this name.
    NotFound,
    /// It could not be read.
    Io(io::Error),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound => f.write_str("there is no such session"),
            Self::Io(error) => write!(f, "the session cannot be read: {error}"),
        }
    }
}

impl std::error::Error for OpenError {}

impl From<io::Error> for OpenError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound => Self::NotFound,
            _ => Self::Io(error),
        }
    }
}

impl Opened {
    /// Reads the log from end to end, once; a long one takes its time, so this is not for the
    /// UI thread.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn check(&self) -> io::Result<Arc<Check>> {
        match &self.log {
            Access::Write(log) => Ok(pollster::block_on(log.checked())),
            Access::Read { live, .. } => Ok(Arc::new(Check::of(&*live.open()?, 0, self.len)?)),
        }
    }
}

/// Makes a session, and opens it.
pub(super) fn create(store: &Store, id: SessionId, meta: Value, now_ms: i64) -> io::Result<Opened> {
    let (disk, folder) = (store.disk(), store.folder(&id));
    make_folders(disk, &folder)?;
    let lock = disk.open(&folder.join(LOCK), Opening::Lock)?;
    lock.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => io::ErrorKind::AlreadyExists.into(),
        TryLockError::Error(error) => error,
    })?;
    let path = store.log_path(&id);
    if disk.exists(&path) {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    write_first(store, &path, meta)?;
    let recovered = recover::recover(disk, &path, now_ms)?;
    Ok(start(store, id, recovered, lock))
}

/// Writes a log of one record.
fn write_first(store: &Store, path: &Path, meta: Value) -> io::Result<()> {
    let disk = store.disk();
    let folder = disk::folder_of(path);
    let mut kept = Ok(());
    let body = fit(meta, &mut |bytes| {
        let name = super::blobs::name(bytes);
        if kept.is_ok() {
            kept = super::blobs::keep(disk, folder, &name, bytes);
        }
        name
    });
    kept?;
    let line = line::write(0, Kind::Meta, (store.inner.clock)(), &body);
    disk::replace(disk, path, line.as_bytes(), true)
}

/// Opens a session.
pub(super) fn open(store: &Store, id: &SessionId, now_ms: i64) -> Result<Opened, OpenError> {
    let (disk, path) = (store.disk(), store.log_path(id));
    if !disk.exists(&path) {
        return Err(OpenError::NotFound);
    }
    let lock = match take_lock(store, id) {
        Ok(lock) => lock,
        Err((why, is_lockable)) => return view(store, id, why, is_lockable),
    };
    let recovered = match recover::recover(disk, &path, now_ms) {
        Ok(recovered) => recovered,
        Err(error) => {
            let why = format!("It cannot be written: {error}.");
            return view(store, id, why.into(), true);
        }
    };
    if recovered.check.is_newer {
        let why = "It was written by a later version of this program.";
        return view(store, id, why.into(), false);
    }
    remove_unfinished(store, id);
    Ok(start(store, id.clone(), recovered, lock))
}

/// The lock of a session, or why it is not to be had and whether it may be later.
fn take_lock(store: &Store, id: &SessionId) -> Result<Box<dyn DiskFile>, (Arc<str>, bool)> {
    let path = store.folder(id).join(LOCK);
    let lock = store
        .disk()
        .open(&path, Opening::Lock)
        .map_err(|error| (format!("It cannot be written: {error}.").into(), true))?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(("It is open in another window.".into(), true)),
        Err(TryLockError::Error(error)) => {
            Err((format!("Nothing can be locked here, so it is only read: {error}.").into(), false))
        }
    }
}

/// Removes what never became a file of its own.
fn remove_unfinished(store: &Store, id: &SessionId) {
    let folder = store.folder(id);
    let disk = store.disk();
    for listing in disk.list(&folder).unwrap_or_default() {
        if listing.name.starts_with(disk::TEMPORARY) {
            // What cannot be removed is in nobody's way.
            disk.remove(&folder.join(listing.name)).ok();
        }
    }
}

/// A session that is only read.
pub(super) fn view(
    store: &Store,
    id: &SessionId,
    why: Arc<str>,
    is_lockable: bool,
) -> Result<Opened, OpenError> {
    let path = store.log_path(id);
    let file = store.disk().open(&path, Opening::Read)?;
    let (check, _) = recover::look(&*file, file.size()?)?;
    let live = LiveView::new(store, id, check.end, is_lockable);
    let next = check.highest.map_or(0, |n| n + 1);
    let (id, len) = (id.clone(), check.end);
    let log = Access::Read { why, live };
    Ok(Opened { id, log, path, len, next, found: found(check, None) })
}

/// Makes a log ours to write.
fn start(store: &Store, id: SessionId, recovered: Recovered, lock: Box<dyn DiskFile>) -> Opened {
    let Recovered { file, len, check, is_checked, torn, wants_end } = recovered;
    let next = check.highest.map_or(0, |n| n + 1);
    let known = is_checked.then(|| Arc::new(check.clone()));
    let queue = Arc::new(Queue::new(next, len + u64::from(wants_end), len, known));
    let tail = if wants_end { vec![b'\n'] } else { Vec::new() };
    let writer = Writer {
        disk: Arc::clone(&store.inner.disk),
        folder: store.folder(&id),
        file,
        lock,
        queue,
        pages: Pages { synced: len, tail, ..Pages::default() },
        is_unchecked: !is_checked,
    };
    let log = Access::Write(Log::new(writer, store.inner.clock));
    let path = store.log_path(&id);
    Opened { id, log, path, len, next, found: found(check, torn) }
}

fn found(check: Check, torn: Option<PathBuf>) -> Found {
    let Check { oddities, is_newer, is_interrupted, .. } = check;
    Found { torn, oddities, is_newer, is_interrupted }
}
