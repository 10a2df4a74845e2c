//! Files for output of tools that is too large to keep in memory.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use crate::{
    app::{private_file, timestamp},
    tools::spill::Spill,
};

/// How long a file is kept that nobody wrote to.
const KEPT: Duration = Duration::from_secs(7 * 24 * 3600);
/// Bytes that all files together may have when another one is added.
const ALL: u64 = 2 << 30;

/// Gives files in a folder of the program's own.
#[derive(Clone, Debug)]
pub struct Spills {
    folder: PathBuf,
}

impl Spills {
    /// Files below this folder.
    #[must_use]
    pub fn new(state: &Path) -> Self {
        Self { folder: state.join("output") }
    }

    /// Makes room: what is old goes, and the oldest while there is too much. A file that
    /// cannot be removed takes its room for longer.
    fn tidy(&self) -> io::Result<()> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let about = entry.metadata()?;
            if about.is_file() {
                files.push((about.modified().unwrap_or(UNIX_EPOCH), about.len(), entry.path()));
            }
        }
        files.sort();
        let mut all: u64 = files.iter().map(|(_, bytes, _)| *bytes).sum();
        let oldest = now() - KEPT;
        for (modified, bytes, path) in files {
            if modified >= oldest && all <= ALL {
                break;
            }
            fs::remove_file(path)?;
            all -= bytes;
        }
        Ok(())
    }
}

impl Spill for Spills {
    fn open(&self, call_id: &str) -> io::Result<(Box<dyn io::Write + Send>, Arc<str>)> {
        private_file::make_folder(&self.folder)?;
        if let Err(error) = self.tidy() {
            tracing::warn!(%error, "old output was not removed");
        }
        // The id is a provider's word; the file's name has only harmless characters of it.
        let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let name: String = call_id.chars().filter(is_plain).take(40).collect();
        let draft = tempfile::Builder::new()
            .prefix(&format!("{name}."))
            .suffix(".txt")
            .tempfile_in(&self.folder)?;
        let (file, path) = draft.keep()?;
        Ok((Box::new(file), path.to_string_lossy().into()))
    }
}

fn now() -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(timestamp::now_ms().unsigned_abs())
}
