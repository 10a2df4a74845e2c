//! What lies in the folder of sessions, without reading any of it.

use std::{
    fs::{self, File, Metadata},
    io::{self, Read as _},
    path::{Path, PathBuf},
    time::UNIX_EPOCH,
};

use crate::store::SessionId;

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

/// The folder of sessions.
#[derive(Clone, Debug)]
pub(super) struct Folder(pub(super) PathBuf);

/// A session as it lies in the folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Lying {
    pub(super) log: Seen,
    pub(super) has_draft: bool,
}

impl Folder {
    pub(super) fn log(&self, id: &SessionId) -> PathBuf {
        self.0.join(id.as_str()).join("log.jsonl")
    }

    /// Every session in it. A folder that is not there holds none.
    pub(super) fn sessions(&self) -> io::Result<Vec<(SessionId, Lying)>> {
        let entries = match fs::read_dir(&self.0) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let named = entries.filter_map(|entry| SessionId::new(entry.ok()?.file_name().to_str()?));
        Ok(named.filter_map(|id| self.look(&id).map(|lying| (id, lying))).collect())
    }

    /// One session; none when it has no log.
    pub(super) fn look(&self, id: &SessionId) -> Option<Lying> {
        let log = self.log(id);
        let meta = fs::metadata(&log).ok().filter(Metadata::is_file)?;
        let has_draft = fs::metadata(log.with_file_name("draft.json")).is_ok();
        Some(Lying { log: Seen::of(&meta), has_draft })
    }

    /// The beginning of a blob of a session, as text. Names that are no blob's have none.
    pub(super) fn blob(&self, id: &SessionId, name: &str, most: usize) -> Option<String> {
        let is_name = name.len() == 64 && name.bytes().all(|c| c.is_ascii_hexdigit());
        let path = self.0.join(id.as_str()).join("blobs").join(name);
        is_name.then(|| text_head(&path, most).ok()).flatten()
    }
}

fn text_head(path: &Path, most: usize) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most as u64).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
