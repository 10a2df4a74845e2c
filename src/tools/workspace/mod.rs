//! The folder that a conversation works in, opened once.
//!
//! Finding out where a path leads and going there are two steps. The first follows links and
//! gives a [`Place`](super::policy::Place), which is judged. The second goes to exactly that
//! place, name by name from a folder that is held open, and follows no link: what was swapped
//! in between is not followed but refused.

mod encoding;
mod handle;
mod list;
mod read;
mod resolve;
mod search;
mod write;

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use cap_std::{ambient_authority, fs::Dir};

pub use write::Undo;

pub(super) use list::{glob, list};
pub(super) use read::read;
pub(super) use search::search;
pub(super) use write::{Change, Digest, digest};

use super::policy::At;

/// The folder that a conversation works in.
#[derive(Debug)]
pub struct Workspace {
    root: PathBuf,
    dir: Arc<Dir>,
}

impl Workspace {
    /// Opens a folder.
    ///
    /// # Errors
    ///
    /// When it is no folder that can be read, or its path is no UTF-8.
    pub fn open(folder: &Path) -> io::Result<Self> {
        let root = folder.canonicalize()?;
        if root.to_str().is_none() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path is no UTF-8"));
        }
        let dir = Arc::new(Dir::open_ambient_dir(&root, ambient_authority())?);
        Ok(Self { root, dir })
    }

    /// Its absolute path, without links.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The absolute path of a place.
    pub(super) fn absolute(&self, at: &At) -> io::Result<PathBuf> {
        match at {
            At::Inside(path) if path.is_empty() => Ok(self.root.clone()),
            At::Inside(path) => Ok(self.root.join(path)),
            At::Outside(path) => Ok(PathBuf::from(path)),
            At::Nowhere(why) => Err(io::Error::other(why.clone())),
        }
    }

    /// The folder that the names of a place are counted from, and the names.
    fn start<'a>(&self, at: &'a At) -> io::Result<(Dir, Vec<&'a str>)> {
        match at {
            At::Inside(path) => Ok((self.dir.try_clone()?, names(path))),
            At::Outside(path) => handle::ambient(path),
            At::Nowhere(why) => Err(io::Error::other(why.clone())),
        }
    }

    /// The folder at a place.
    fn folder(&self, at: &At) -> io::Result<Dir> {
        let (mut dir, names) = self.start(at)?;
        for name in names {
            dir = handle::open_folder(&dir, name)?;
        }
        Ok(dir)
    }

    /// The folder that a place is in, and its name there.
    fn parent<'a>(&self, at: &'a At, missing: Missing) -> io::Result<(Dir, &'a str)> {
        let (mut dir, names) = self.start(at)?;
        let Some((leaf, folders)) = names.split_last() else {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "this is a folder"));
        };
        for name in folders {
            dir = match handle::open_folder(&dir, name) {
                Err(error)
                    if error.kind() == io::ErrorKind::NotFound && missing == Missing::Make =>
                {
                    handle::make_folder(&dir, name)?;
                    handle::open_folder(&dir, name)?
                }
                opened => opened?,
            };
        }
        Ok((dir, leaf))
    }
}

/// What to do about folders that are not there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Missing {
    Fail,
    Make,
}

fn names(path: &str) -> Vec<&str> {
    path.split('/').filter(|name| !name.is_empty()).collect()
}

/// What an error of the system means, in words for the model.
pub(super) fn words(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "the system does not permit it".to_owned(),
        io::ErrorKind::IsADirectory => "it is a folder".to_owned(),
        io::ErrorKind::NotADirectory => "it is no folder".to_owned(),
        io::ErrorKind::StorageFull => "the disk is full".to_owned(),
        _ => error.to_string(),
    }
}

pub(super) const LINK: &str = "a symbolic link stands where there was none";
