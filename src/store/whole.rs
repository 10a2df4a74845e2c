//! A session that comes from elsewhere and is written as a whole: until it is finished it
//! stands under a name that is no session's, and what a crash leaves of it is swept later.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use rustc_hash::FxHashSet;
use serde_json::Value;

use super::{
    LOCK, LOG, SESSIONS, Store, blobs,
    disk::{self, Disk, DiskFile, Opening, make_folders},
    fit::fit,
    id::SessionId,
};
use crate::model::record::{Kind, line};

/// Bytes that are gathered before they are written.
const GATHERED_MAX: usize = 256 * 1024;
/// What is left of an attempt is swept after this time, in milliseconds.
const SWEPT_AFTER_MS: i64 = 60 * 60 * 1000;

/// A session that nobody sees before it is finished. Dropping it leaves nothing behind.
#[derive(Debug)]
pub struct Whole {
    disk: Arc<dyn Disk>,
    /// The folder of all sessions.
    sessions: PathBuf,
    /// Its own, as long as it is not finished.
    folder: PathBuf,
    file: Box<dyn DiskFile>,
    /// Tells those who sweep that somebody is at work.
    lock: Option<Box<dyn DiskFile>>,
    gathered: Vec<u8>,
    next: u64,
    len: u64,
    blobs: FxHashSet<String>,
    /// Why a blob could not be written; the next record says so.
    trouble: Option<io::Error>,
    is_finished: bool,
}

/// A record that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Written {
    /// Its number.
    pub n: u64,
    /// Its first byte in the log.
    pub offset: u64,
}

impl Store {
    /// Begins a session that is written as a whole, with `meta` as its first record.
    ///
    /// # Errors
    /// When the disk does not take it.
    pub fn begin_whole(&self, meta: &Value, now_ms: i64) -> io::Result<Whole> {
        let disk = Arc::clone(&self.inner.disk);
        let sessions = self.inner.folder.join(SESSIONS);
        make_folders(&*disk, &sessions)?;
        sweep(&*disk, &sessions, now_ms);
        let folder = sessions.join(disk::temporary_name());
        disk.make_folder(&folder)?;
        match begin(&*disk, &folder) {
            Ok((lock, file)) => {
                let mut whole = Whole {
                    disk,
                    sessions,
                    folder,
                    file,
                    lock: Some(lock),
                    gathered: Vec::new(),
                    next: 0,
                    len: 0,
                    blobs: FxHashSet::default(),
                    trouble: None,
                    is_finished: false,
                };
                whole.append(Kind::Meta, meta.clone(), now_ms)?;
                Ok(whole)
            }
            Err(error) => {
                // What cannot be removed now is swept later.
                disk.remove_folder(&folder).ok();
                Err(error)
            }
        }
    }
}

fn begin(disk: &dyn Disk, folder: &Path) -> io::Result<(Box<dyn DiskFile>, Box<dyn DiskFile>)> {
    let lock = disk.open(&folder.join(LOCK), Opening::Lock)?;
    // Where nothing can be locked, the time alone keeps others from sweeping.
    lock.try_lock().ok();
    Ok((lock, disk.open(&folder.join(LOG), Opening::New)?))
}

/// Removes what crashes left of earlier attempts.
fn sweep(disk: &dyn Disk, sessions: &Path, now_ms: i64) {
    for listing in disk.list(sessions).unwrap_or_default() {
        let is_old = listing.modified_ms.saturating_add(SWEPT_AFTER_MS) < now_ms;
        if !listing.is_folder || !listing.name.starts_with(disk::TEMPORARY) || !is_old {
            continue;
        }
        let folder = sessions.join(&listing.name);
        let lock = disk.open(&folder.join(LOCK), Opening::Lock);
        if lock.is_ok_and(|lock| lock.try_lock().is_ok()) {
            // What cannot be removed is in nobody's way.
            disk.remove_folder(&folder).ok();
        }
    }
}

impl Whole {
    /// Keeps bytes beside the log; gives the name that [`blobs::blob_of`] knows them by.
    #[must_use]
    pub fn blob(&mut self, bytes: &[u8]) -> String {
        let name = blobs::name(bytes);
        if self.trouble.is_none() && !self.blobs.contains(&name) {
            match self.keep(&name, bytes) {
                Ok(()) => _ = self.blobs.insert(name.clone()),
                Err(error) => self.trouble = Some(error),
            }
        }
        name
    }

    fn keep(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        let folder = blobs::folder(&self.folder);
        if self.blobs.is_empty() {
            self.disk.make_folder(&folder)?;
        }
        let mut file = self.disk.open(&folder.join(name), Opening::New)?;
        disk::write_all(&mut *file, bytes)
    }

    /// Writes a record behind those before it, which bears a time in milliseconds since 1970,
    /// or 0 when nobody knows. Long strings in the body go into blobs.
    ///
    /// # Errors
    /// When the disk does not take it, or did not take a blob.
    pub fn append(&mut self, kind: Kind, body: Value, at_ms: i64) -> io::Result<Written> {
        let body = fit(body, &mut |bytes| self.blob(bytes));
        if let Some(error) = self.trouble.take() {
            return Err(error);
        }
        let written = Written { n: self.next, offset: self.len };
        let line = line::write(self.next, kind, at_ms, &body);
        self.gathered.extend_from_slice(line.as_bytes());
        self.next += 1;
        self.len += line.len() as u64;
        if self.gathered.len() >= GATHERED_MAX {
            self.write_gathered()?;
        }
        Ok(written)
    }

    fn write_gathered(&mut self) -> io::Result<()> {
        disk::write_all(&mut *self.file, &self.gathered)?;
        self.gathered.clear();
        Ok(())
    }

    /// Bytes that wait to be written.
    #[must_use]
    pub fn gathered(&self) -> usize {
        self.gathered.capacity()
    }

    /// Gives it its name. When this returns, all of it is on the disk: the bytes of its log.
    ///
    /// # Errors
    /// When the disk did not take some of it, or there is a session of this name; then
    /// nothing is left of it.
    pub fn finish(mut self, id: &SessionId) -> io::Result<u64> {
        self.write_gathered()?;
        self.file.sync()?;
        if !self.blobs.is_empty() {
            let folder = blobs::folder(&self.folder);
            let mut names: Vec<&String> = self.blobs.iter().collect();
            names.sort();
            for name in names {
                self.disk.open(&folder.join(name), Opening::Append)?.sync()?;
            }
            self.disk.sync_folder(&folder)?;
        }
        self.disk.sync_folder(&self.folder)?;
        let target = self.sessions.join(id.as_str());
        if self.disk.exists(&target) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        // A folder with an open file in it has to keep its name on some systems.
        self.lock = None;
        self.disk.rename(&self.folder, &target)?;
        self.is_finished = true;
        self.disk.sync_folder(&self.sessions)?;
        Ok(self.len)
    }
}

impl Drop for Whole {
    fn drop(&mut self) {
        if !self.is_finished {
            self.lock = None;
            // What cannot be removed now is swept later.
            self.disk.remove_folder(&self.folder).ok();
        }
    }
}
