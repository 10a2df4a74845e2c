//! What is asked of a disk: the few calls that everything stored goes through, so that a
//! simulated one can crash at each of them.

mod real;

use std::{fmt, fs::TryLockError, io, path::Path};

pub use real::RealDisk;

/// A disk.
pub trait Disk: fmt::Debug + Send + Sync {
    /// Makes one folder, for the user alone.
    ///
    /// # Errors
    /// When it cannot be made, or is there already.
    fn make_folder(&self, path: &Path) -> io::Result<()>;

    /// Opens a file.
    ///
    /// # Errors
    /// When it cannot be opened.
    fn open(&self, path: &Path, opening: Opening) -> io::Result<Box<dyn DiskFile>>;

    /// Gives a file or a folder another name, in the place of the file that has it.
    ///
    /// # Errors
    /// When it cannot be renamed; then nothing has changed.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Returns when the names in a folder are on the disk.
    ///
    /// # Errors
    /// When they may not be there.
    fn sync_folder(&self, path: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// When it cannot be removed.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Removes a folder with all that is in it. Links are removed, not followed.
    ///
    /// # Errors
    /// When something in it cannot be removed.
    fn remove_folder(&self, path: &Path) -> io::Result<()>;

    /// What is in a folder, in no order.
    ///
    /// # Errors
    /// When it cannot be read.
    fn list(&self, path: &Path) -> io::Result<Vec<Listing>>;

    /// Is there a file or a folder of this name?
    fn exists(&self, path: &Path) -> bool;
}

/// An open file of a [`Disk`].
pub trait DiskFile: fmt::Debug + Send + Sync {
    /// Writes behind all that is there, in one call of the system; returns how many bytes
    /// were taken.
    ///
    /// # Errors
    /// When none was.
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize>;

    /// Returns when all that was written is on the disk.
    ///
    /// # Errors
    /// When it may not be there; asking again proves nothing.
    fn sync(&mut self) -> io::Result<()>;

    /// Cuts the file to `len` bytes.
    ///
    /// # Errors
    /// When it cannot be cut.
    fn truncate(&mut self, len: u64) -> io::Result<()>;

    /// Reads from a place; 0 bytes at the end of the file.
    ///
    /// # Errors
    /// When it cannot be read.
    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<usize>;

    /// How many bytes it has.
    ///
    /// # Errors
    /// When that cannot be told.
    fn size(&self) -> io::Result<u64>;

    /// Locks it against all other handles until this one is dropped.
    ///
    /// # Errors
    /// When another one has the lock, or there are no locks here.
    fn try_lock(&self) -> Result<(), TryLockError>;
}

/// What a file is opened for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// To read what is there.
    Read,
    /// To read, and to write behind what is there.
    Append,
    /// To write a new file, for the user alone; it must not be there.
    New,
    /// To lock it; it is made when it is not there, for the user alone.
    Lock,
}

/// Something in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// Its name in the folder.
    pub name: String,
    /// Is it a folder? A link is none.
    pub is_folder: bool,
    /// Its size in bytes.
    pub bytes: u64,
    /// When it was written last, in milliseconds since 1970; 0 when nobody knows.
    pub modified_ms: i64,
}

/// Writes all of it.
pub(super) fn write_all(file: &mut dyn DiskFile, mut bytes: &[u8]) -> io::Result<()> {
    while !bytes.is_empty() {
        match file.write(bytes) {
            Ok(0) => return Err(io::ErrorKind::StorageFull.into()),
            Ok(taken) => bytes = bytes.get(taken..).unwrap_or_default(),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Fills `into` from a place, as far as the file goes; returns how many bytes there were.
pub(super) fn read_full(file: &dyn DiskFile, at: u64, into: &mut [u8]) -> io::Result<usize> {
    let mut read = 0;
    while let Some(rest) = into.get_mut(read..).filter(|rest| !rest.is_empty()) {
        match file.read_at(at + read as u64, rest) {
            Ok(0) => break,
            Ok(more) => read += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(read)
}

/// Reads a whole file of at most `limit` bytes.
pub(super) fn read_file(disk: &dyn Disk, path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let file = disk.open(path, Opening::Read)?;
    let size = file.size()?;
    if size > limit {
        return Err(io::ErrorKind::FileTooLarge.into());
    }
    let mut bytes = vec![0; usize::try_from(size).unwrap_or_default()];
    let read = read_full(&*file, 0, &mut bytes)?;
    bytes.truncate(read);
    Ok(bytes)
}

/// The folder that a file is in.
pub(super) fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    }
}

/// Makes a folder and those above it that are not there, all of them to stay.
pub(super) fn make_folders(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    if disk.exists(path) {
        return Ok(());
    }
    let parent = folder_of(path);
    make_folders(disk, parent)?;
    match disk.make_folder(path) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        Ok(()) | Err(_) => {}
    }
    disk.sync_folder(parent)
}

/// Puts a file in the place of the one before: whole or not at all. With `is_synced` it is on
/// the disk when this returns.
pub(super) fn replace(
    disk: &dyn Disk,
    path: &Path,
    bytes: &[u8],
    is_synced: bool,
) -> io::Result<()> {
    let folder = folder_of(path);
    let draft = folder.join(temporary_name());
    let written = (|| {
        let mut file = disk.open(&draft, Opening::New)?;
        write_all(&mut *file, bytes)?;
        if is_synced {
            file.sync()?;
        }
        drop(file);
        disk.rename(&draft, path)
    })();
    if let Err(error) = written {
        // What is left of it is swept later when it cannot be removed now.
        disk.remove(&draft).ok();
        return Err(error);
    }
    if is_synced { disk.sync_folder(folder) } else { Ok(()) }
}

/// How the names of files begin that are not whole yet.
pub(super) const TEMPORARY: &str = ".new-";

/// A name that nobody else chooses: two writers never share a file that is not whole yet.
pub(super) fn temporary_name() -> String {
    format!("{TEMPORARY}{:016x}", random())
}

/// Sixty-four random bits; good enough for names.
pub(super) fn random() -> u64 {
    use std::hash::{BuildHasher as _, Hasher as _, RandomState};
    RandomState::new().build_hasher().finish()
}
