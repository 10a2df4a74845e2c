//! Patches: read in two forms, applied to texts. Pure.

mod apply;
mod envelope;
mod unified;

use std::{error::Error, fmt};

pub use apply::apply;

/// Files of one patch.
const MAX_FILES: usize = 500;

/// What a patch does to one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePatch {
    /// The file.
    pub path: String,
    /// What is done to it.
    pub action: Action,
}

/// What a patch does to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// It is new, and holds this.
    Add(String),
    /// It is deleted.
    Delete,
    /// Parts of it are replaced.
    Update {
        /// Where it goes, if it is moved.
        moved_to: Option<String>,
        /// The parts, in order.
        hunks: Vec<Hunk>,
    },
}

/// A part of a file that is replaced.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hunk {
    /// The line it begins on, counted from 1, when the patch says so.
    pub line: Option<usize>,
    /// Lines that come somewhere before it, one after the other.
    pub anchors: Vec<String>,
    /// Its lines.
    pub lines: Vec<Line>,
    /// It is the end of the file.
    pub is_at_end: bool,
    /// The last line is to have no line break.
    pub no_newline: bool,
}

/// A line of a hunk, without its line break.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// It stays.
    Keep(String),
    /// It goes.
    Remove(String),
    /// It comes.
    Add(String),
}

/// Why a patch cannot be read or applied, in words for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatchError(pub(super) String);

impl fmt::Display for PatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for PatchError {}

impl FilePatch {
    /// The files that it touches.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        let target = match &self.action {
            Action::Update { moved_to, .. } => moved_to.as_deref(),
            Action::Add(_) | Action::Delete => None,
        };
        std::iter::once(self.path.as_str()).chain(target)
    }
}

/// Reads a patch of either form.
///
/// # Errors
///
/// When it is neither, names no file, or names one twice.
pub fn parse(text: &str) -> Result<Vec<FilePatch>, PatchError> {
    let text = unwrapped(text);
    let is_envelope = text.lines().any(|line| line.trim_end() == "*** Begin Patch");
    let files = if is_envelope { envelope::parse(text)? } else { unified::parse(text)? };
    if files.is_empty() {
        return Err(PatchError("the patch names no file".to_owned()));
    }
    if files.len() > MAX_FILES {
        return Err(PatchError(format!("the patch changes more than {MAX_FILES} files")));
    }
    let mut seen: Vec<&str> = files.iter().flat_map(FilePatch::paths).collect();
    if let Some(path) = seen.iter().find(|path| path.contains(char::is_control)) {
        return Err(PatchError(format!("the path {path:?} has a control character in it")));
    }
    seen.sort_unstable();
    match seen.windows(2).find(|pair| pair.first() == pair.last()) {
        Some(pair) => {
            let path = pair.first().copied().unwrap_or_default();
            Err(PatchError(format!("the patch names {path} twice; put its changes together")))
        }
        None => Ok(files),
    }
}

/// Models like to put a patch into a fence.
fn unwrapped(text: &str) -> &str {
    let trimmed = text.trim();
    let Some(inner) = trimmed.strip_prefix("```").and_then(|rest| rest.strip_suffix("```")) else {
        return text;
    };
    inner.split_once('\n').map_or(text, |(_, inner)| inner)
}
