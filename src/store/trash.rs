//! Deleted sessions: out of the way at once, gone after a month.

use std::{fs::TryLockError, io, path::Path};

use super::{
    LOCK, SESSIONS, Store,
    disk::{self, DiskFile, Opening, make_folders},
    id::SessionId,
};

pub(super) const FOLDER: &str = "trash";
/// Says in the folder when it was deleted.
const MARK: &str = "deleted";
const DAY_MS: i64 = 24 * 60 * 60 * 1000;
/// Deleted sessions can be had back for so long.
pub const TRASH_MS: i64 = 30 * DAY_MS;

impl Store {
    /// Deletes a session: it can be [had back](Self::restore) for a month. One that is open,
    /// here or in another window, must be closed first.
    ///
    /// # Errors
    /// `WouldBlock` when it is open; else when it cannot be moved: then it is where it was.
    pub fn trash(&self, id: &SessionId, now_ms: i64) -> io::Result<()> {
        let folder = self.folder(id);
        let lock = self.lock(&folder)?;
        let trash = self.root().join(FOLDER);
        make_folders(self.disk(), &trash)?;
        disk::replace(self.disk(), &folder.join(MARK), now_ms.to_string().as_bytes(), true)?;
        self.move_folder(&folder, &trash.join(id.as_str()))?;
        drop(lock);
        Ok(())
    }

    /// Takes a deleted session back.
    ///
    /// # Errors
    /// When it is not there, there is another one of its name, or it cannot be moved.
    pub fn restore(&self, id: &SessionId) -> io::Result<()> {
        let folder = self.folder(id);
        if self.disk().exists(&folder) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        make_folders(self.disk(), &self.root().join(SESSIONS))?;
        self.move_folder(&self.root().join(FOLDER).join(id.as_str()), &folder)?;
        // It says nothing outside of the trash.
        self.disk().remove(&folder.join(MARK)).ok();
        Ok(())
    }

    /// The deleted sessions, and when each was deleted, in milliseconds since 1970.
    #[must_use]
    pub fn trashed(&self) -> Vec<(SessionId, i64)> {
        let trash = self.root().join(FOLDER);
        let found = self.disk().list(&trash).unwrap_or_default();
        let mut ids: Vec<_> = found
            .iter()
            .filter(|listing| listing.is_folder)
            .filter_map(|listing| SessionId::new(&listing.name))
            .map(|id| {
                let at = self.deleted_at(&trash.join(id.as_str()));
                (id, at.unwrap_or(i64::MAX))
            })
            .collect();
        ids.sort();
        ids
    }

    /// Removes for good what was deleted more than a month ago; gives the names.
    pub fn purge(&self, now_ms: i64) -> Vec<SessionId> {
        let trash = self.root().join(FOLDER);
        let mut gone = Vec::new();
        for (id, at) in self.trashed() {
            let is_old = now_ms.saturating_sub(at) > TRASH_MS;
            if is_old && self.disk().remove_folder(&trash.join(id.as_str())).is_ok() {
                gone.push(id);
            }
        }
        gone
    }

    fn deleted_at(&self, folder: &Path) -> Option<i64> {
        let mark = disk::read_file(self.disk(), &folder.join(MARK), 64).ok()?;
        str::from_utf8(&mark).ok()?.trim().parse().ok()
    }

    pub(super) fn lock(&self, folder: &Path) -> io::Result<Box<dyn DiskFile>> {
        let lock = self.disk().open(&folder.join(LOCK), Opening::Lock)?;
        lock.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => io::ErrorKind::WouldBlock.into(),
            TryLockError::Error(error) => error,
        })?;
        Ok(lock)
    }

    fn move_folder(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.disk().rename(from, to)?;
        for folder in [to.parent(), from.parent()].into_iter().flatten() {
            self.disk().sync_folder(folder)?;
        }
        Ok(())
    }
}
