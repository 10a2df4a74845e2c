//! The disk of the computer.

use std::{
    fs::{self, DirBuilder, File, OpenOptions, TryLockError},
    io::{self, Write as _},
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    time::UNIX_EPOCH,
};

use super::{Disk, DiskFile, Listing, Opening};

/// The disk of the computer. Folders that it makes are `rwx------`, files `rw-------`, from
/// the moment they are there and whatever the umask.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn make_folder(&self, path: &Path) -> io::Result<()> {
        #[cfg_attr(not(unix), expect(unused_mut, reason = "there are no modes here"))]
        let mut builder = DirBuilder::new();
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(path)?;
        owner_only(path, 0o700)
    }

    fn open(&self, path: &Path, opening: Opening) -> io::Result<Box<dyn DiskFile>> {
        let mut options = OpenOptions::new();
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let (file, is_new) = match opening {
            Opening::Read => (options.read(true).open(path)?, false),
            Opening::Append => (options.read(true).append(true).open(path)?, false),
            Opening::New => (options.read(true).append(true).create_new(true).open(path)?, true),
            Opening::Lock => {
                let is_new = !path.exists();
                let options = options.read(true).write(true).create(true).truncate(false);
                (options.open(path)?, is_new)
            }
        };
        if is_new {
            owner_only(path, 0o600)?;
        }
        Ok(Box::new(RealFile { file, is_locked: AtomicBool::new(false) }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    #[cfg(unix)]
    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        File::open(path)?.sync_all()
    }

    /// Other systems keep names by their journal.
    #[cfg(not(unix))]
    fn sync_folder(&self, _path: &Path) -> io::Result<()> {
        Ok(())
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        fs::remove_dir_all(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<Listing>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(path)? {
            let entry = entry?;
            // One that goes away meanwhile is not there.
            let Ok(metadata) = entry.metadata() else { continue };
            let Ok(name) = entry.file_name().into_string() else { continue };
            let modified = metadata.modified().ok();
            let since = modified.and_then(|at| at.duration_since(UNIX_EPOCH).ok());
            found.push(Listing {
                name,
                is_folder: metadata.is_dir(),
                bytes: metadata.len(),
                modified_ms: since
                    .map_or(0, |since| i64::try_from(since.as_millis()).unwrap_or(i64::MAX)),
            });
        }
        Ok(found)
    }

    fn exists(&self, path: &Path) -> bool {
        path.exists()
    }
}

/// Gives a new file or folder the mode that a strange umask took away from it.
#[cfg(unix)]
fn owner_only(path: &Path, mode: u32) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    if fs::metadata(path)?.permissions().mode() & 0o777 != mode {
        fs::set_permissions(path, fs::Permissions::from_mode(mode))?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn owner_only(_path: &Path, _mode: u32) -> io::Result<()> {
    Ok(())
}

#[derive(Debug)]
struct RealFile {
    file: File,
    is_locked: AtomicBool,
}

impl Drop for RealFile {
    /// A program that was started a moment ago may still have this file too, and with it the
    /// lock: closing it here would not free it.
    fn drop(&mut self) {
        if *self.is_locked.get_mut() {
            // It is free at the latest when this process ends.
            self.file.unlock().ok();
        }
    }
}

impl DiskFile for RealFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.file.set_len(len)
    }

    #[cfg(unix)]
    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<usize> {
        std::os::unix::fs::FileExt::read_at(&self.file, into, at)
    }

    #[cfg(windows)]
    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(&self.file, into, at)
    }

    fn size(&self) -> io::Result<u64> {
        Ok(self.file.metadata()?.len())
    }

    fn try_lock(&self) -> Result<(), TryLockError> {
        self.file.try_lock()?;
        self.is_locked.store(true, Ordering::Relaxed);
        Ok(())
    }
}
