//! Removes blobs that nothing names.

use std::{io, path::Path};

use memchr::memmem;
use rustc_hash::FxHashSet;

use super::{
    Store, blobs,
    disk::{self, Opening, TEMPORARY},
    id::SessionId,
    scan::Lines,
};

/// What nothing names may still be named soon.
const AGE_MS: i64 = 7 * 24 * 60 * 60 * 1000;
/// More is no file of drafts, in bytes.
const DRAFTS_MAX: u64 = 64 << 20;

impl Store {
    /// Removes the blobs of a session that neither its log nor its draft names, when they are
    /// older than a week; how many. Does nothing for one that is open. Not for the UI thread.
    ///
    /// # Errors
    /// When its files cannot be read; then nothing was removed.
    pub fn sweep(&self, id: &SessionId, now_ms: i64) -> io::Result<usize> {
        let folder = self.folder(id);
        if !self.disk().exists(&blobs::folder(&folder)) {
            return Ok(0);
        }
        let Ok(lock) = self.lock(&folder) else { return Ok(0) };
        let mut named = Named::default();
        named.in_log(self, &self.log_path(id))?;
        named.in_drafts(self, &folder)?;
        let swept = self.sweep_blobs(&folder, &named, now_ms);
        drop(lock);
        swept
    }

    /// The same for what was pasted into drafts of conversations without a session.
    ///
    /// # Errors
    /// When the drafts cannot be read; then nothing was removed.
    pub fn sweep_drafts(&self, now_ms: i64) -> io::Result<usize> {
        let folder = self.root().join(super::draft::FOLDER);
        if !self.disk().exists(&folder) {
            return Ok(0);
        }
        let mut named = Named::default();
        named.in_drafts(self, &folder)?;
        self.sweep_blobs(&folder, &named, now_ms)
    }

    fn sweep_blobs(&self, folder: &Path, named: &Named, now_ms: i64) -> io::Result<usize> {
        let folder = blobs::folder(folder);
        if !self.disk().exists(&folder) {
            return Ok(0);
        }
        let mut swept = 0;
        for listing in self.disk().list(&folder)? {
            let is_ours = blobs::is_name(&listing.name) || listing.name.starts_with(TEMPORARY);
            let is_old = now_ms.saturating_sub(listing.modified_ms) > AGE_MS;
            if is_ours && is_old && !named.0.contains(&listing.name) {
                self.disk().remove(&folder.join(&listing.name))?;
                swept += 1;
            }
        }
        Ok(swept)
    }
}

/// All that looks like the name of a blob.
#[derive(Debug, Default)]
struct Named(FxHashSet<String>);

impl Named {
    fn in_log(&mut self, store: &Store, path: &Path) -> io::Result<()> {
        let file = store.disk().open(path, Opening::Read)?;
        let mut lines = Lines::new(0, file.size()?);
        // Damaged lines too: what they name may be wanted by who mends them.
        while let Some((_, line, _)) = lines.next_line(&*file)? {
            self.find(line, br#""blob":""#);
        }
        Ok(())
    }

    fn in_drafts(&mut self, store: &Store, folder: &Path) -> io::Result<()> {
        for listing in store.disk().list(folder)? {
            let name = &listing.name;
            if name.ends_with(".json") || name.starts_with("torn-") {
                let bytes = disk::read_file(store.disk(), &folder.join(name), DRAFTS_MAX)?;
                self.find(&bytes, br#""sha256":""#);
                self.find(&bytes, br#""blob":""#);
            }
        }
        Ok(())
    }

    fn find(&mut self, text: &[u8], before: &[u8]) {
        for at in memmem::find_iter(text, before) {
            let from = at + before.len();
            let name = text.get(from..from + 64).and_then(|name| str::from_utf8(name).ok());
            if let Some(name) = name.filter(|name| blobs::is_name(name)) {
                self.0.insert(name.to_owned());
            }
        }
    }
}
