//! Our sessions on the disk: one folder each, with a log that is only ever appended to.
//!
//! ```text
//! sessions/<id>/log.jsonl    the truth: one record a line, each with a sum of its body
//!               blobs/<sha>  what is too long for a line
//!               draft.json   what is being written
//!               lock         held by the one who writes
//!               torn-*.bin   what a crash left half written, put aside
//! index.sqlite               what [`catalog`] knows: it can be built anew at any time
//! drafts/<key>.json          drafts of conversations that have no session yet
//! trash/<id>/                deleted, and not gone yet
//! ```
//!
//! What [`Saved`] said is on the disk survives the end of the program and of the power.
//! Nothing that is in a log is ever overwritten, and nothing that cannot be read is thrown
//! away.

mod blobs;
pub mod catalog;
mod check;
mod clock;
mod copy;
pub mod disk;
mod draft;
mod exposure;
mod fit;
mod id;
mod live;
mod log;
mod open;
mod queue;
mod recover;
mod replay;
mod scan;
mod sweep;
mod trash;
mod writer;

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde_json::Value;

pub use blobs::{blob_of, name as blob_name};
pub use check::{Check, Damaged, Oddity};
pub use clock::Clock;
pub use disk::{Disk, DiskFile, RealDisk};
pub use draft::{DraftClock, Drafts, Home, StoredAttachment, StoredDraft};
pub use id::SessionId;
pub use live::{Grown, LiveView};
pub use log::{Appended, Copied, Log, LogState, Saved, Sync};
pub use open::{Access, Found, OpenError, Opened};
pub use replay::{Entry, Line, Replay, replay};
pub use trash::TRASH_MS;

use disk::make_folders;

const SESSIONS: &str = "sessions";
const LOG: &str = "log.jsonl";
const LOCK: &str = "lock";

/// The folder that all sessions are kept in.
#[derive(Clone, Debug)]
pub struct Store {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    folder: PathBuf,
    disk: Arc<dyn Disk>,
    clock: Clock,
    drafts: Drafts,
}

impl Store {
    /// Opens the folder, and makes it when it is not there. One that cannot be written is
    /// read.
    ///
    /// # Errors
    /// When it is not there and cannot be made.
    pub fn open(folder: PathBuf, disk: Arc<dyn Disk>) -> io::Result<Self> {
        let made = make_folders(&*disk, &folder.join(SESSIONS));
        if !disk.exists(&folder) {
            made?;
        }
        let drafts = Drafts::new(Arc::clone(&disk), folder.clone());
        Ok(Self { inner: Arc::new(Inner { folder, disk, clock: clock::system, drafts }) })
    }

    /// The same with another clock.
    #[must_use]
    pub fn with_clock(self, clock: Clock) -> Self {
        let Inner { folder, disk, drafts, .. } = &*self.inner;
        let (folder, disk, drafts) = (folder.clone(), Arc::clone(disk), drafts.clone());
        Self { inner: Arc::new(Inner { folder, disk, clock, drafts }) }
    }

    /// Where it is.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.inner.folder
    }

    /// The folder of a session.
    #[must_use]
    pub fn folder(&self, id: &SessionId) -> PathBuf {
        self.inner.folder.join(SESSIONS).join(id.as_str())
    }

    /// The log of a session.
    #[must_use]
    pub fn log_path(&self, id: &SessionId) -> PathBuf {
        self.folder(id).join(LOG)
    }

    /// All sessions that have a log, by rising names.
    #[must_use]
    pub fn ids(&self) -> Vec<SessionId> {
        let folder = self.inner.folder.join(SESSIONS);
        let found = self.inner.disk.list(&folder).unwrap_or_default();
        let folders = found.iter().filter(|listing| listing.is_folder);
        let ids = folders.filter_map(|listing| SessionId::new(&listing.name));
        let mut ids: Vec<_> = ids.filter(|id| self.disk().exists(&self.log_path(id))).collect();
        ids.sort();
        ids
    }

    /// Is there a session of this name?
    #[must_use]
    pub fn contains(&self, id: &SessionId) -> bool {
        self.disk().exists(&self.log_path(id))
    }

    /// Makes a session whose first record is `meta`. When this returns it is on the disk.
    ///
    /// # Errors
    /// When there is one of this name, or the disk does not take it.
    pub fn create(&self, id: SessionId, meta: Value, now_ms: i64) -> io::Result<Opened> {
        open::create(self, id, meta, now_ms)
    }

    /// Opens a session: to write it, or to read it while somebody else does.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    pub fn open_session(&self, id: &SessionId, now_ms: i64) -> Result<Opened, OpenError> {
        open::open(self, id, now_ms)
    }

    /// Opens a session only to read it, as it grows, whoever writes it.
    ///
    /// # Errors
    /// When there is none, or it cannot be read.
    pub fn view_session(&self, id: &SessionId) -> Result<Opened, OpenError> {
        open::view(self, id, "It is only read.".into(), true)
    }

    /// Saves drafts.
    #[must_use]
    pub fn drafts(&self) -> Drafts {
        self.inner.drafts.clone()
    }

    /// All records in the first `len` bytes of a session's log, see [`replay()`].
    ///
    /// # Errors
    /// When there is no log.
    pub fn replay(&self, id: &SessionId, len: u64) -> io::Result<Replay> {
        let file = self.disk().open(&self.log_path(id), disk::Opening::Read)?;
        Ok(Replay::new(Some(file), 0, len, Some(self.folder(id))))
    }

    /// The bytes that a session keeps under a name, see [`blob_of`].
    #[must_use]
    pub fn blob(&self, id: &SessionId, sha: &str) -> Option<Vec<u8>> {
        blobs::read(self.disk(), &self.folder(id), sha)
    }

    /// Is there nobody who writes a session?
    #[must_use]
    pub fn is_free(&self, id: &SessionId) -> bool {
        let path = self.folder(id).join(LOCK);
        let file = self.disk().open(&path, disk::Opening::Lock);
        file.is_ok_and(|file| file.try_lock().is_ok())
    }

    fn disk(&self) -> &dyn Disk {
        &*self.inner.disk
    }
}
