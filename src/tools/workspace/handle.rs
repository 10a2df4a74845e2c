//! Steps of one name from a folder that is held open. No step follows a link.

use std::io;

use cap_std::{ambient_authority, fs::Dir};

use super::{LINK, names};

/// What is behind a name.
pub(super) struct Found {
    pub(super) kind: FoundKind,
    /// How many names it has.
    pub(super) links: u64,
    /// Bytes.
    pub(super) size: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FoundKind {
    File,
    Folder,
    Link,
    Pipe,
    Socket,
    Device,
}

fn is_one_name(name: &str) -> io::Result<()> {
    let is_one = !matches!(name, "" | "." | "..") && !name.contains(['/', '\0']);
    let is_one = is_one && (cfg!(unix) || !name.contains(['\\', ':']));
    if is_one {
        Ok(())
    } else {
        Err(io::Error::new(io::ErrorKind::InvalidInput, "this is no name"))
    }
}

fn a_link() -> io::Error {
    io::Error::other(LINK)
}

/// The root of an absolute path, and the names from there.
pub(super) fn ambient(path: &str) -> io::Result<(Dir, Vec<&str>)> {
    let bad = || io::Error::new(io::ErrorKind::InvalidInput, "the path is not absolute");
    let (root, rest) = match path.strip_prefix('/') {
        Some(rest) => ("/", rest),
        // `C:/…`, as places are written there.
        None => {
            path.split_at_checked(3).filter(|(root, _)| root.ends_with(":/")).ok_or_else(bad)?
        }
    };
    Ok((Dir::open_ambient_dir(root, ambient_authority())?, names(rest)))
}

#[cfg(unix)]
mod steps {
    use std::{
        fs::File,
        io,
        os::{fd::OwnedFd, unix::fs::MetadataExt as _},
    };

    use cap_std::fs::Dir;
    use rustix::fs::{
        AtFlags, FileType, Mode, OFlags, mkdirat, openat, renameat, statat, unlinkat,
    };

    use super::{Found, FoundKind, a_link, is_one_name};

    fn open(dir: &Dir, name: &str, flags: OFlags, mode: u32) -> io::Result<OwnedFd> {
        is_one_name(name)?;
        let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NOCTTY;
        let opened = openat(dir, name, flags, Mode::from_raw_mode(mode as _));
        opened.map_err(|error| match error {
            rustix::io::Errno::LOOP => a_link(),
            rustix::io::Errno::NOTDIR if is_link(dir, name) => a_link(),
            error => error.into(),
        })
    }

    fn is_link(dir: &Dir, name: &str) -> bool {
        look(dir, name).is_ok_and(|found| found.kind == FoundKind::Link)
    }

    pub(in super::super) fn open_folder(dir: &Dir, name: &str) -> io::Result<Dir> {
        let folder = open(dir, name, OFlags::RDONLY | OFlags::DIRECTORY, 0)?;
        Ok(Dir::from_std_file(File::from(folder)))
    }

    pub(in super::super) fn make_folder(dir: &Dir, name: &str) -> io::Result<()> {
        is_one_name(name)?;
        match mkdirat(dir, name, Mode::from_raw_mode(0o777)) {
            // Somebody else made it meanwhile; what it is shows when it is opened.
            Err(rustix::io::Errno::EXIST) => Ok(()),
            made => Ok(made?),
        }
    }

    /// Opens a file to read. A pipe without a writer does not hold this up.
    pub(in super::super) fn open_file(dir: &Dir, name: &str) -> io::Result<File> {
        let file = File::from(open(dir, name, OFlags::RDONLY | OFlags::NONBLOCK, 0)?);
        let metadata = file.metadata()?;
        if metadata.is_dir() {
            return Err(io::Error::new(io::ErrorKind::IsADirectory, "this is a folder"));
        }
        if !metadata.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "this is no file"));
        }
        Ok(file)
    }

    /// Opens a file that is not there yet.
    pub(in super::super) fn new_file(dir: &Dir, name: &str, mode: u32) -> io::Result<File> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        Ok(File::from(open(dir, name, flags, mode)?))
    }

    pub(in super::super) fn look(dir: &Dir, name: &str) -> io::Result<Found> {
        is_one_name(name)?;
        let stat = statat(dir, name, AtFlags::SYMLINK_NOFOLLOW)?;
        let kind = match FileType::from_raw_mode(stat.st_mode) {
            FileType::RegularFile => FoundKind::File,
            FileType::Directory => FoundKind::Folder,
            FileType::Symlink => FoundKind::Link,
            FileType::Fifo => FoundKind::Pipe,
            FileType::Socket => FoundKind::Socket,
            _ => FoundKind::Device,
        };
        Ok(Found { kind, links: stat.st_nlink as u64, size: stat.st_size as u64 })
    }

    pub(in super::super) fn rename(from: &Dir, old: &str, to: &Dir, new: &str) -> io::Result<()> {
        is_one_name(old)?;
        is_one_name(new)?;
        Ok(renameat(from, old, to, new)?)
    }

    pub(in super::super) fn remove(dir: &Dir, name: &str) -> io::Result<()> {
        is_one_name(name)?;
        Ok(unlinkat(dir, name, AtFlags::empty())?)
    }

    /// The permissions of a file, to give them to the one that takes its place.
    pub(in super::super) fn mode(file: &File) -> io::Result<u32> {
        Ok(file.metadata()?.mode() & 0o777)
    }

    pub(in super::super) fn set_mode(file: &File, mode: u32) -> io::Result<()> {
        Ok(rustix::fs::fchmod(file, Mode::from_raw_mode(mode as _))?)
    }
}

#[cfg(not(unix))]
mod steps {
    use std::{fs::File, io};

    use cap_std::fs::{Dir, OpenOptions};

    use super::{Found, FoundKind, a_link, is_one_name};

    fn refuse_link(dir: &Dir, name: &str) -> io::Result<()> {
        match look(dir, name)?.kind {
            FoundKind::Link => Err(a_link()),
            _ => Ok(()),
        }
    }

    pub(in super::super) fn open_folder(dir: &Dir, name: &str) -> io::Result<Dir> {
        refuse_link(dir, name)?;
        dir.open_dir(name)
    }

    pub(in super::super) fn make_folder(dir: &Dir, name: &str) -> io::Result<()> {
        is_one_name(name)?;
        match dir.create_dir(name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            made => made,
        }
    }

    pub(in super::super) fn open_file(dir: &Dir, name: &str) -> io::Result<File> {
        refuse_link(dir, name)?;
        let file = dir.open(name)?.into_std();
        if file.metadata()?.is_file() {
            Ok(file)
        } else {
            Err(io::Error::new(io::ErrorKind::InvalidInput, "this is no file"))
        }
    }

    pub(in super::super) fn new_file(dir: &Dir, name: &str, _mode: u32) -> io::Result<File> {
        is_one_name(name)?;
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        Ok(dir.open_with(name, &options)?.into_std())
    }

    pub(in super::super) fn look(dir: &Dir, name: &str) -> io::Result<Found> {
        is_one_name(name)?;
        let metadata = dir.symlink_metadata(name)?;
        let kind = if metadata.is_symlink() {
            FoundKind::Link
        } else if metadata.is_dir() {
            FoundKind::Folder
        } else if metadata.is_file() {
            FoundKind::File
        } else {
            FoundKind::Device
        };
        Ok(Found { kind, links: 1, size: metadata.len() })
    }

    pub(in super::super) fn rename(from: &Dir, old: &str, to: &Dir, new: &str) -> io::Result<()> {
        is_one_name(old)?;
        is_one_name(new)?;
        from.rename(old, to, new)
    }

    pub(in super::super) fn remove(dir: &Dir, name: &str) -> io::Result<()> {
        is_one_name(name)?;
        dir.remove_file(name)
    }

    pub(in super::super) fn mode(_file: &File) -> io::Result<u32> {
        Ok(0)
    }

    pub(in super::super) fn set_mode(_file: &File, _mode: u32) -> io::Result<()> {
        Ok(())
    }
}

pub(super) use steps::{
    look, make_folder, mode, new_file, open_file, open_folder, remove, rename, set_mode,
};
