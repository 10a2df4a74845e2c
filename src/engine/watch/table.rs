//! Who wants to know of what.

use std::{
    collections::BTreeMap,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    sync::Arc,
};

use super::{Changed, Standing};

/// All that is watched. Ordered, so that calls come in the order of asking.
#[derive(Default)]
pub(super) struct Table {
    entries: BTreeMap<u64, Entry>,
    folders: BTreeMap<PathBuf, Folder>,
    newest: u64,
}

struct Entry {
    places: Vec<(PathBuf, Option<OsString>)>,
    /// A file that the pulse looks at, and what it last saw.
    looked_at: Option<(PathBuf, Option<Standing>)>,
    changed: Changed,
}

#[derive(Default)]
struct Folder {
    users: Vec<u64>,
    /// What the system watches; none when it does not.
    watched: Option<Standing>,
}

/// A call to make, once the table is free, and the path to make it with.
pub(super) type Call = (Changed, Option<PathBuf>);

impl Table {
    pub(super) fn add(
        &mut self,
        places: Vec<(PathBuf, Option<OsString>)>,
        looked_at: Option<PathBuf>,
        changed: Changed,
    ) -> u64 {
        self.newest += 1;
        for (folder, _) in &places {
            self.folders.entry(folder.clone()).or_default().users.push(self.newest);
        }
        let looked_at = looked_at.map(|path| {
            let standing = super::pulse::print_of(&path);
            (path, standing)
        });
        self.entries.insert(self.newest, Entry { places, looked_at, changed });
        self.newest
    }

    /// Forgets an entry, and gives the folders that nobody wants any more.
    pub(super) fn remove(&mut self, id: u64) -> Vec<PathBuf> {
        let Some(entry) = self.entries.remove(&id) else { return Vec::new() };
        let mut unused = Vec::new();
        for (path, _) in entry.places {
            let Some(folder) = self.folders.get_mut(&path) else { continue };
            folder.users.retain(|user| *user != id);
            if folder.users.is_empty() {
                self.folders.remove(&path);
                unused.push(path);
            }
        }
        unused
    }

    /// True when the system should be asked for notices of a folder.
    pub(super) fn wants_notices(&self, folder: &Path, most: usize) -> bool {
        let watched = self.folders.values().filter(|folder| folder.watched.is_some()).count();
        watched < most && self.folders.get(folder).is_some_and(|folder| folder.watched.is_none())
    }

    /// Notes what the system watches now.
    pub(super) fn asked(&mut self, folder: &Path, watched: Option<Standing>) {
        if let Some(folder) = self.folders.get_mut(folder) {
            folder.watched = watched;
        }
    }

    /// Who wants to know of a path: of the file itself, or of the folder it is in or is.
    pub(super) fn interested(&self, path: &Path) -> Vec<Call> {
        let mut calls = Vec::new();
        if let Some(folder) = path.parent() {
            self.collect(folder, path.file_name(), path, &mut calls);
        }
        self.collect(path, None, path, &mut calls);
        calls
    }

    fn collect(&self, folder: &Path, name: Option<&OsStr>, path: &Path, calls: &mut Vec<Call>) {
        let Some(users) = self.folders.get(folder).map(|folder| &folder.users) else { return };
        for entry in users.iter().filter_map(|user| self.entries.get(user)) {
            let is_meant = entry.places.iter().any(|(place, wanted)| {
                let fits = match (wanted, name) {
                    (Some(wanted), Some(name)) => wanted == name,
                    // What happens to the folder happens to all in it.
                    _ => true,
                };
                place == folder && fits
            });
            if is_meant {
                calls.push((Arc::clone(&entry.changed), Some(path.to_owned())));
            }
        }
    }

    pub(super) fn everybody(&self) -> Vec<Call> {
        self.entries.values().map(|entry| (Arc::clone(&entry.changed), None)).collect()
    }

    /// The files to look at: all, or those whose folder gives no notices.
    pub(super) fn files(&self) -> Vec<(u64, PathBuf)> {
        let path = |(id, entry): (&u64, &Entry)| Some((*id, entry.looked_at.as_ref()?.0.clone()));
        self.entries.iter().filter_map(path).collect()
    }

    /// Notes what stands where a file should; gives the call when it is another thing.
    pub(super) fn seen(&mut self, id: u64, now: Option<Standing>) -> Option<Call> {
        let entry = self.entries.get_mut(&id)?;
        let (path, before) = entry.looked_at.as_mut()?;
        if *before == now {
            return None;
        }
        *before = now;
        Some((Arc::clone(&entry.changed), Some(path.clone())))
    }

    /// The folders and what the system watches of them.
    pub(super) fn folders(&self) -> Vec<(PathBuf, Option<Standing>)> {
        self.folders.iter().map(|(path, folder)| (path.clone(), folder.watched)).collect()
    }

    /// Those who want to know of a folder or of files in it.
    pub(super) fn users(&self, folder: &Path) -> Vec<Call> {
        let users = self.folders.get(folder).map(|folder| folder.users.as_slice());
        let entries = users.unwrap_or_default().iter().filter_map(|user| self.entries.get(user));
        entries.map(|entry| (Arc::clone(&entry.changed), Some(folder.to_owned()))).collect()
    }
}
