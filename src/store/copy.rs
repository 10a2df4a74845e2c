//! All of a session in a new place, when the old one fails.

use std::{io, path::Path};

use super::{
    blobs,
    disk::{self, Disk, DiskFile, Opening},
    scan::BLOCK,
    writer::Pages,
};

/// Writes what is on the disk and what is in memory to a new file, with the blobs beside it;
/// gives its length.
pub(super) fn save(
    disk: &dyn Disk,
    session: &Path,
    log: &dyn DiskFile,
    pages: &Pages,
    to: &Path,
) -> io::Result<u64> {
    if disk.exists(to) {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let folder = disk::folder_of(to);
    disk::make_folders(disk, folder)?;
    copy_blobs(disk, session, folder)?;
    for (sha, bytes) in &pages.blobs {
        blobs::keep(disk, folder, sha, bytes)?;
    }
    let draft = folder.join(disk::temporary_name());
    let mut file = disk.open(&draft, Opening::New)?;
    let written = write_log(&mut *file, log, pages);
    drop(file);
    let kept = written.and_then(|()| disk.rename(&draft, to));
    if kept.is_err() {
        // It is of no use, and is no harm where it is.
        disk.remove(&draft).ok();
    }
    kept?;
    disk.sync_folder(folder)?;
    Ok(pages.synced + pages.tail.len() as u64)
}

fn write_log(file: &mut dyn DiskFile, log: &dyn DiskFile, pages: &Pages) -> io::Result<()> {
    let mut block = vec![0; BLOCK];
    let mut at = 0;
    while at < pages.synced {
        let wanted = usize::try_from(pages.synced - at).unwrap_or(BLOCK).min(BLOCK);
        let read = disk::read_full(log, at, block.get_mut(..wanted).unwrap_or_default())?;
        if read == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        disk::write_all(file, block.get(..read).unwrap_or_default())?;
        at += read as u64;
    }
    disk::write_all(file, &pages.tail)?;
    file.sync()
}

fn copy_blobs(disk: &dyn Disk, session: &Path, folder: &Path) -> io::Result<()> {
    let from = blobs::folder(session);
    if !disk.exists(&from) {
        return Ok(());
    }
    for listing in disk.list(&from)? {
        if blobs::is_name(&listing.name) {
            let bytes = disk::read_file(disk, &from.join(&listing.name), blobs::BLOB_MAX)?;
            blobs::keep(disk, folder, &listing.name, &bytes)?;
        }
    }
    Ok(())
}
