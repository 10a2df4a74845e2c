//! Where a path leads.

use std::{
    fs, io,
    path::{Component, Path, PathBuf},
};

use super::Workspace;
use crate::tools::policy::{At, PathUse, Place, Use, What};

/// Names in a path.
const MAX_DEPTH: usize = 256;

impl Workspace {
    /// Where a path that a call names leads, and what is there. Touches nothing.
    #[must_use]
    pub fn place(&self, path: &PathUse) -> Place {
        let (at, what) = match self.follow(path) {
            Ok((real, what)) => (self.at(&real), what),
            Err(why) => (At::Nowhere(why), What::Missing),
        };
        Place { asked: path.path.clone(), at, what }
    }

    fn follow(&self, path: &PathUse) -> Result<(PathBuf, What), String> {
        let mut real = self.root.clone();
        if let Some(base) = &path.base {
            let base = PathUse { path: base.clone(), base: None, used_for: Use::WorkIn };
            real = self.follow(&base)?.0;
        }
        let components: Vec<_> = Path::new(&path.path).components().collect();
        if components.len() > MAX_DEPTH {
            return Err("the path has too many names".to_owned());
        }
        let keeps_link = path.used_for == Use::Write;
        let mut what = What::Folder;
        for (index, component) in components.iter().enumerate() {
            let is_last = index + 1 == components.len();
            match component {
                Component::Prefix(_) | Component::RootDir => {
                    real = std::iter::empty::<&Path>().collect();
                    real.extend(components.iter().take(index + 1));
                    what = What::Folder;
                }
                Component::CurDir => {}
                Component::ParentDir if what == What::Missing => {
                    return Err("the path goes back from a folder that is not there".to_owned());
                }
                Component::ParentDir if what != What::Folder => {
                    return Err("the path goes through something that is no folder".to_owned());
                }
                Component::ParentDir => {
                    // `real` has no links, so this is where the system would go too.
                    real.pop();
                    what = What::Folder;
                }
                Component::Normal(_) if what == What::Missing => real.push(component),
                Component::Normal(_) if what != What::Folder => {
                    return Err("the path goes through something that is no folder".to_owned());
                }
                Component::Normal(_) => {
                    real.push(component);
                    what = step(&mut real, is_last && keeps_link)?;
                }
            }
        }
        Ok((real, what))
    }

    fn at(&self, real: &Path) -> At {
        match real.strip_prefix(&self.root) {
            Ok(inside) => joined(inside).map_or_else(not_utf8, At::Inside),
            Err(_is_outside) => joined(real).map_or_else(not_utf8, At::Outside),
        }
    }
}

fn not_utf8() -> At {
    At::Nowhere("the path is no UTF-8".to_owned())
}

/// Looks at what is at `real`, and goes to where it points if it is a link.
fn step(real: &mut PathBuf, keeps_link: bool) -> Result<What, String> {
    match fs::symlink_metadata(&*real) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(What::Missing),
        Err(error) => Err(super::words(&error)),
        Ok(metadata) if metadata.is_symlink() => {
            let target = fs::read_link(&*real).map_err(|error| super::words(&error))?;
            if keeps_link {
                return Ok(What::Link(target.display().to_string()));
            }
            *real = fs::canonicalize(&*real).map_err(|error| match error.kind() {
                io::ErrorKind::NotFound => {
                    format!("a link leads to {}, which is not there", target.display())
                }
                _ => super::words(&error),
            })?;
            let metadata = fs::symlink_metadata(&*real).map_err(|error| super::words(&error))?;
            Ok(what(&metadata))
        }
        Ok(metadata) => Ok(what(&metadata)),
    }
}

fn what(metadata: &fs::Metadata) -> What {
    if metadata.is_dir() {
        return What::Folder;
    }
    if metadata.is_file() {
        return What::File { links: links(metadata) };
    }
    What::Other(other(metadata))
}

#[cfg(unix)]
fn links(metadata: &fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::nlink(metadata)
}

#[cfg(not(unix))]
fn links(_metadata: &fs::Metadata) -> u64 {
    1
}

#[cfg(unix)]
fn other(metadata: &fs::Metadata) -> &'static str {
    use std::os::unix::fs::FileTypeExt as _;
    let kind = metadata.file_type();
    if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

#[cfg(not(unix))]
fn other(_metadata: &fs::Metadata) -> &'static str {
    "a device"
}

/// A path with `/` between its names; none when it is no UTF-8.
fn joined(path: &Path) -> Option<String> {
    let text = path.to_str()?;
    if cfg!(windows) {
        // Canonical paths have a prefix there that says so.
        return Some(text.trim_start_matches(r"\\?\").replace('\\', "/"));
    }
    Some(text.to_owned())
}
