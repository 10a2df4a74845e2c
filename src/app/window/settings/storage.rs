//! How much of the disk the program takes.

use std::{fs, path::Path};

use crate::app::places::Places;

/// Files that are counted; the rest is said to be more.
const FILES_MAX: usize = 200_000;

/// How much of the disk is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Storage {
    files: usize,
    bytes: u64,
}

impl Storage {
    /// Counts what lies at these places. Reads folders: not for the UI thread.
    pub(super) fn of(places: &Places) -> Self {
        let mut storage = Self::default();
        let mut folders = vec![places.state.clone()];
        while let Some(folder) = folders.pop() {
            storage.count(&folder, &mut folders);
        }
        storage
    }

    fn count(&mut self, folder: &Path, folders: &mut Vec<std::path::PathBuf>) {
        // What cannot be read is not counted.
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        for entry in entries {
            // A link is not followed: it leads to what is not ours.
            let Ok(about) = fs::symlink_metadata(entry.path()) else { continue };
            if about.is_dir() {
                folders.push(entry.path());
            } else if about.is_file() {
                self.files += 1;
                self.bytes += about.len();
            }
            if self.files >= FILES_MAX {
                folders.clear();
                return;
            }
        }
    }

    /// In words.
    pub(super) fn words(self) -> String {
        let Self { files, bytes } = self;
        let more = if files >= FILES_MAX { "more than " } else { "" };
        let kilo = bytes as f64 / 1000.0;
        let size = match kilo {
            kilo if kilo < 1.0 => format!("{bytes} bytes"),
            kilo if kilo < 1000.0 => format!("{kilo:.0} kB"),
            kilo if kilo < 1_000_000.0 => format!("{:.1} MB", kilo / 1000.0),
            kilo => format!("{:.1} GB", kilo / 1_000_000.0),
        };
        match files {
            0 => "nothing yet".to_owned(),
            1 => format!("{size} in 1 file"),
            files => format!("{more}{size} in {files} files"),
        }
    }
}
