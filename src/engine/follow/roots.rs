//! Which files are meant, and finding them.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    time::SystemTime,
};

use globset::GlobMatcher;

/// A place where conversations may be found.
#[derive(Debug)]
pub(super) enum Root {
    /// A folder and those inside.
    Folder {
        path: PathBuf,
        /// It belongs to an agent, whose helpers' files are parts of other conversations.
        of_agent: bool,
    },
    /// Files below a folder whose paths match.
    Glob { base: PathBuf, matcher: Box<GlobMatcher> },
}

/// A file that may be a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) path: PathBuf,
    pub(super) len: u64,
    pub(super) written: SystemTime,
}

/// What a walk met.
#[derive(Debug, Default)]
pub(super) struct Walk {
    pub(super) files: Vec<Found>,
    pub(super) folders: Vec<PathBuf>,
    /// Folders that cannot be read, and why.
    pub(super) unreadable: Vec<(PathBuf, std::io::Error)>,
    /// There was more than is looked at.
    pub(super) is_cut: bool,
    entries: usize,
    /// Folders that were entered, so that links that lead back end.
    entered: BTreeSet<PathBuf>,
}

const DEPTH_MAX: usize = 12;
/// Entries that one walk looks at.
const ENTRIES_MAX: usize = 200_000;

impl Root {
    /// A folder and those inside.
    pub(super) fn folder(path: &Path, of_agent: bool) -> Self {
        let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        Self::Folder { path, of_agent }
    }

    /// All that a pattern of whole paths can match lies below its first parts without a
    /// wildcard.
    pub(super) fn glob(pattern: &str, matcher: GlobMatcher) -> Self {
        let parts = Path::new(pattern).components();
        let plain = parts
            .take_while(|part| !part.as_os_str().to_string_lossy().contains(['*', '?', '[', '{']));
        let base: PathBuf = plain.collect();
        // A pattern without a wildcard names one file.
        let is_file = base.as_path() == Path::new(pattern);
        let base = base.parent().filter(|_| is_file).map(Path::to_owned).unwrap_or(base);
        Self::Glob { base, matcher: Box::new(matcher) }
    }

    pub(super) fn path(&self) -> &Path {
        match self {
            Self::Folder { path, .. } => path,
            Self::Glob { base, .. } => base,
        }
    }

    /// True when a file is meant, going by its path.
    pub(super) fn means(&self, path: &Path) -> bool {
        if !path.starts_with(self.path()) {
            return false;
        }
        match self {
            Self::Folder { of_agent, .. } => {
                let name = path.file_name().map(|name| name.to_string_lossy());
                let of_helper = name.is_some_and(|name| name.starts_with("agent-"));
                is_lines(path) && !(*of_agent && of_helper)
            }
            Self::Glob { matcher, .. } => matcher.is_match(path),
        }
    }

    /// Looks at a folder of this root and those inside.
    pub(super) fn walk(&self, folder: &Path, walk: &mut Walk) {
        let mut open = vec![(folder.to_owned(), 0)];
        while let Some((folder, depth)) = open.pop() {
            // The system's name for it is the same whichever link leads here.
            let entered = folder.canonicalize().unwrap_or_else(|_| folder.clone());
            if !walk.entered.insert(entered) {
                continue;
            }
            match fs::read_dir(&folder) {
                Ok(entries) => self.look(entries, depth, walk, &mut open),
                Err(error) => {
                    walk.unreadable.push((folder, error));
                    continue;
                }
            }
            walk.folders.push(folder);
        }
    }

    fn look(
        &self,
        entries: fs::ReadDir,
        depth: usize,
        walk: &mut Walk,
        open: &mut Vec<(PathBuf, usize)>,
    ) {
        for entry in entries.filter_map(Result::ok) {
            walk.entries += 1;
            if walk.entries > ENTRIES_MAX {
                walk.is_cut = true;
                return;
            }
            let path = entry.path();
            let Ok(metadata) = fs::metadata(&path) else { continue };
            if metadata.is_dir() {
                let is_hidden = entry.file_name().to_string_lossy().starts_with('.');
                let is_too_deep = depth >= DEPTH_MAX;
                walk.is_cut |= is_too_deep;
                if !is_hidden && !is_too_deep {
                    open.push((path, depth + 1));
                }
            } else if metadata.is_file() && self.means(&path) {
                walk.files.push(Found::of(path, &metadata));
            }
        }
    }
}

impl Found {
    pub(super) fn of(path: PathBuf, metadata: &fs::Metadata) -> Self {
        let written = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
        Self { path, len: metadata.len(), written }
    }
}

/// Files of lines, by their names.
fn is_lines(path: &Path) -> bool {
    path.extension().is_some_and(|extension| {
        extension.eq_ignore_ascii_case("jsonl") || extension.eq_ignore_ascii_case("ndjson")
    })
}
