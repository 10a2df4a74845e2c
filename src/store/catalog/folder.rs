//! What lies in the folder of sessions, without reading any of it.

use std::{
    fs::{self, File, Metadata},
    io::{self, Read as _},
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use crate::store::{LOG, SESSIONS, SessionId, blobs, trash::FOLDER as TRASH};

const DRAFT: &str = "draft.json";

/// What tells whether a file is as it was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Seen {
    /// Bytes.
    pub(super) len: u64,
    /// When it was written last, in nanoseconds since 1970.
    pub(super) mtime: i64,
    /// Which file it is, where the system numbers them.
    pub(super) inode: u64,
}

impl Seen {
    pub(super) fn of(meta: &Metadata) -> Self {
        let since = meta.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let mtime = since.and_then(|since| i64::try_from(since.as_nanos()).ok());
        #[cfg(unix)]
        let inode = std::os::unix::fs::MetadataExt::ino(meta);
        #[cfg(not(unix))]
        let inode = 0;
        Self { len: meta.len(), mtime: mtime.unwrap_or(0), inode }
    }
}

/// The folder that all sessions are kept in.
#[derive(Clone, Debug)]
pub(super) struct Folder(pub(super) PathBuf);

/// A session as it lies in the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lying {
    pub(super) log: Seen,
    pub(super) is_in_trash: bool,
    pub(super) has_draft: bool,
}

impl Folder {
    /// Every session in it, those in the trash too. A folder that is not there holds none.
    pub(super) fn sessions(&self) -> io::Result<Vec<(SessionId, Lying)>> {
        let mut found = Vec::new();
        for name in [SESSIONS, TRASH] {
            let entries = match fs::read_dir(self.0.join(name)) {
                Ok(entries) => entries,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(error),
            };
            for entry in entries {
                let name = entry?.file_name();
                let id = name.to_str().and_then(SessionId::new);
                found.extend(id.and_then(|id| self.look(&id).map(|lying| (id, lying))));
            }
        }
        Ok(found)
    }

    /// One session; none when it has no log. One that is in the trash is not looked for there
    /// while there is another of its name.
    pub(super) fn look(&self, id: &SessionId) -> Option<Lying> {
        let (folder, meta, is_in_trash) = [(SESSIONS, false), (TRASH, true)]
            .into_iter()
            .map(|(name, is_in_trash)| (self.0.join(name).join(id.as_str()), is_in_trash))
            .find_map(|(folder, is_in_trash)| {
                let meta = fs::metadata(folder.join(LOG)).ok().filter(Metadata::is_file)?;
                Some((folder, meta, is_in_trash))
            })?;
        let has_draft = fs::metadata(folder.join(DRAFT)).is_ok();
        Some(Lying { log: Seen::of(&meta), is_in_trash, has_draft })
    }

    /// The folder of a session, wherever it lies.
    pub(super) fn of(&self, id: &SessionId, is_in_trash: bool) -> PathBuf {
        self.0.join(if is_in_trash { TRASH } else { SESSIONS }).join(id.as_str())
    }
}

/// The beginning of a blob of a session, as text. Names that are no blob's have none.
pub(super) fn blob_head(session: &Path, name: &str, most: usize) -> Option<String> {
    let path = blobs::folder(session).join(name);
    blobs::is_name(name).then(|| text_head(&path, most).ok()).flatten()
}

fn text_head(path: &Path, most: usize) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most as u64).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
