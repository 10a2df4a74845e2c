//! Files of the user's that nobody else may read, each whole at any time.

use std::{
    fs::{self, DirBuilder},
    io::{self, Read as _, Write as _},
    path::Path,
};

use tempfile::NamedTempFile;

/// Reads a file; none when there is none.
///
/// # Errors
/// When it cannot be read, is longer than `limit` bytes, or is no UTF-8.
pub(super) fn read(path: &Path, limit: u64) -> io::Result<Option<String>> {
    let file = match fs::File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut text = String::new();
    file.take(limit + 1).read_to_string(&mut text)?;
    if text.len() as u64 > limit {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is too long"));
    }
    Ok(Some(text))
}

/// Puts a file in the place of the one before, whole or not at all, for the user alone. A
/// link stays one: what it leads to is replaced.
///
/// # Errors
/// When it cannot be written; then the one before is still there.
pub(super) fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // What is not there yet is no link.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    };
    make_folder(folder)?;
    // It is made for its owner alone.
    let mut draft = NamedTempFile::new_in(folder)?;
    draft.write_all(bytes)?;
    draft.as_file().sync_all()?;
    draft.persist(path)?;
    Ok(())
}

/// Makes a folder for the user alone, and those above it that are not there. One that is
/// there stays as it is.
///
/// # Errors
/// When it cannot be made.
pub(super) fn make_folder(folder: &Path) -> io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(folder)
}

/// Closes a file or folder of ours to everybody else.
///
/// # Errors
/// When the system refuses.
pub(super) fn close(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let about = fs::metadata(path)?;
        let mode = about.permissions().mode() & 0o7777;
        if mode & 0o077 != 0 {
            let closed = if about.is_dir() { 0o700 } else { 0o600 };
            fs::set_permissions(path, fs::Permissions::from_mode(closed))?;
        }
    }
    #[cfg(not(unix))]
    fs::metadata(path)?;
    Ok(())
}
