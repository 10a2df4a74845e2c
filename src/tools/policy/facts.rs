//! What is known about the things that a call touches. Gathered elsewhere, judged here.

use std::path::PathBuf;

use super::{
    super::{
        call::{Call, CommandLine},
        output::FileChange,
        patch,
    },
    Denial, command, protected,
};

/// What is known about what a call touches.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The workspace, as its absolute path.
    pub root: String,
    /// One for each path of [`paths_of`], in that order.
    pub places: Vec<Place>,
    /// The program of a command.
    pub program: Program,
    /// What git would obey in the folder of a command.
    pub git: GitConfig,
    /// What a write, an edit or a patch would change, or why it cannot.
    pub changes: Result<Vec<FileChange>, String>,
    /// What a command sees of the environment.
    pub environment: Environment,
    /// Folders of our own, as absolute paths.
    pub own_folders: Vec<String>,
    /// What the turn has seen.
    pub trust: Trust,
}

impl Default for Facts {
    /// Nothing is known, and nobody is trusted.
    fn default() -> Self {
        Self {
            root: String::new(),
            places: Vec::new(),
            program: Program::NotFound,
            git: GitConfig::Unknown,
            changes: Err("nothing is known about the files".to_owned()),
            environment: Environment::default(),
            own_folders: Vec::new(),
            trust: Trust::Untrusted,
        }
    }
}

/// Whether the turn has seen what others wrote: results of tools, pages, opened transcripts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Trust {
    /// Only the user has spoken.
    UserOnly,
    /// Others have.
    #[default]
    Untrusted,
}

/// A path that a call names, and what for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathUse {
    /// The path, as the call has it.
    pub path: String,
    /// The folder that it is relative to, as the call has it; none is the workspace.
    pub base: Option<String>,
    /// What for.
    pub used_for: Use,
}

/// What a path is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// To look at it.
    Look,
    /// To change it.
    Write,
    /// To run a program in it.
    WorkIn,
}

/// A path, and what it turned out to be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// As the call has it.
    pub asked: String,
    /// Where it really is, with all symbolic links on the way followed.
    pub at: At,
    /// What is there.
    pub what: What,
}

/// Where a path really is. The names in it are joined by `/`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum At {
    /// In the workspace; empty for the workspace itself.
    Inside(String),
    /// Outside, as an absolute path.
    Outside(String),
    /// It leads nowhere; why.
    Nowhere(String),
}

/// What is at a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// Nothing.
    Missing,
    /// A file.
    File {
        /// How many names it has.
        links: u64,
    },
    /// A folder.
    Folder,
    /// A symbolic link, where the path is not to be followed to its end.
    Link(String),
    /// Something that is no file: `a device`, `a pipe`.
    Other(&'static str),
}

/// The program of a command, as a search of PATH found it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Program {
    /// There is none.
    NotFound,
    /// Where it is installed.
    Installed(PathBuf),
    /// It lies where a model or anybody may have put it.
    Loose(PathBuf),
}

/// What git would obey in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GitConfig {
    /// There is no repository.
    None,
    /// Nothing in its settings runs a program.
    Plain,
    /// This setting does, or may.
    Runs(String),
    /// It was not looked at.
    Unknown,
}

/// What a command sees of the environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Environment {
    /// What it sees; sorted by name.
    pub variables: Vec<(String, String)>,
    /// Those of them that this program does not have so itself.
    pub changed: Vec<(String, String)>,
    /// How many of this program's own it does not see.
    pub withheld: usize,
}

/// The paths that a call names, in a fixed order. For a command, its folder comes first.
///
/// # Errors
///
/// When a patch cannot be read; in words for the model.
pub fn paths_of(call: &Call) -> Result<Vec<PathUse>, String> {
    let one = |path: &str, used_for| vec![PathUse { path: path.to_owned(), base: None, used_for }];
    Ok(match call {
        Call::Read { path, .. } | Call::List { path, .. } | Call::Glob { path, .. } => {
            one(path, Use::Look)
        }
        Call::Search(search) => one(&search.path, Use::Look),
        Call::Write { path, .. } | Call::Edit { path, .. } => one(path, Use::Write),
        Call::Patch { patch } => {
            let paths = patch::parse(patch).map_err(|error| error.to_string())?;
            let paths = paths.iter().flat_map(patch::FilePatch::paths);
            paths.flat_map(|path| one(path, Use::Write)).collect()
        }
        Call::Command { line, folder, .. } => {
            let mut uses = one(folder.as_deref().unwrap_or("."), Use::WorkIn);
            if let CommandLine::Argv(argv) = line {
                let look = |path: String| {
                    let base = folder.clone();
                    PathUse { path, base, used_for: Use::Look }
                };
                uses.extend(command::paths(argv).into_iter().map(look));
            }
            uses
        }
        Call::Fetch { .. } | Call::Remote { .. } => Vec::new(),
    })
}

/// The folder that a command runs in, as the call has it.
pub(in crate::tools) fn base_of(call: &Call) -> Option<&str> {
    match call {
        Call::Command { folder, .. } => folder.as_deref(),
        _ => None,
    }
}

impl Facts {
    /// The folder of a command.
    #[must_use]
    pub fn folder(&self) -> Option<&Place> {
        self.places.first()
    }

    /// Why a command cannot run in its folder.
    pub(super) fn folder_flaw(&self) -> Option<Denial> {
        let place = self.folder()?;
        let why = match (&place.at, &place.what) {
            (At::Nowhere(why), _) => why.clone(),
            (_, What::Missing) => "there is no such folder".to_owned(),
            (_, What::Folder) => return None,
            (_, What::File { .. } | What::Link(_) | What::Other(_)) => "it is no folder".to_owned(),
        };
        Some(Denial::Impossible(format!("{}: {why}", place.asked)))
    }

    /// The path of a place, relative to the workspace or absolute.
    pub(super) fn path_of<'a>(&self, place: &'a Place) -> Option<&'a str> {
        match &place.at {
            At::Inside(path) | At::Outside(path) => Some(path),
            At::Nowhere(_) => None,
        }
    }

    /// The absolute path of a place.
    pub(super) fn absolute(&self, place: &Place) -> Option<String> {
        match &place.at {
            At::Inside(path) if path.is_empty() => Some(self.root.clone()),
            At::Inside(path) => Some(format!("{}/{path}", self.root.trim_end_matches('/'))),
            At::Outside(path) => Some(path.clone()),
            At::Nowhere(_) => None,
        }
    }

    /// Other programs, or we ourselves, obey what stands there.
    pub(super) fn is_protected(&self, place: &Place) -> bool {
        let Some(absolute) = self.absolute(place) else { return true };
        let is_ours = self.own_folders.iter().any(|folder| protected::is_within(&absolute, folder));
        // A workspace that lies within such a folder, as a copy under .config does, is the
        // user's choice: only what follows counts.
        is_ours || self.path_of(place).is_none_or(protected::is_protected)
    }
}
