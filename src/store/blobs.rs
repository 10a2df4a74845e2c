//! What is too long for a line of the log: files that are named after what is in them.

use std::{
    io,
    path::{Path, PathBuf},
};

use sha2::{Digest as _, Sha256};

use super::disk::{self, Disk, RealDisk};

/// Blobs of more bytes are not read.
pub(super) const BLOB_MAX: u64 = 1 << 30;
const FOLDER: &str = "blobs";

/// The bytes that a session keeps under a name: the SHA-256 of them, in hex. None when they
/// are not there, or are not what was kept.
#[must_use]
pub fn blob_of(folder: &Path, sha: &str) -> Option<Vec<u8>> {
    read(&RealDisk, folder, sha)
}

/// See [`blob_of`].
pub(super) fn read(disk: &dyn Disk, session: &Path, sha: &str) -> Option<Vec<u8>> {
    let path = is_name(sha).then(|| folder(session).join(sha))?;
    let bytes = disk::read_file(disk, &path, BLOB_MAX).ok()?;
    (name(&bytes) == sha).then_some(bytes)
}

/// The name that bytes are kept under.
#[must_use]
pub fn name(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digest = Sha256::digest(bytes);
    let digit = |digit: u8| char::from(DIGITS[usize::from(digit & 15)]);
    digest.iter().flat_map(|byte| [digit(byte >> 4), digit(*byte)]).collect()
}

/// Is this the name of a blob?
pub(super) fn is_name(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// The folder of them.
pub(super) fn folder(session: &Path) -> PathBuf {
    session.join(FOLDER)
}

/// Keeps bytes under their name; they are on the disk when this returns.
pub(super) fn keep(disk: &dyn Disk, session: &Path, sha: &str, bytes: &[u8]) -> io::Result<()> {
    let folder = folder(session);
    disk::make_folders(disk, &folder)?;
    let path = folder.join(sha);
    // One that is there may be what a crash left of it: only what reads the same is the same.
    if disk.exists(&path) && disk::read_file(disk, &path, BLOB_MAX).is_ok_and(|it| it == bytes) {
        disk.open(&path, disk::Opening::Append)?.sync()?;
        return disk.sync_folder(&folder);
    }
    disk::replace(disk, &path, bytes, true)
}
