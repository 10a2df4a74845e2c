//! Reading what was appended to a log into the index.

use std::{io, path::Path};

use super::{
    digest::{self, Digest},
    folder::{Folder, Seen, blob_head},
    index::{Failure, Pen, Read, Sheaf, Stored},
    lines::Lines,
};
use crate::store::{
    LOG, SessionId,
    disk::{Disk as _, DiskFile, Opening, RealDisk, read_full},
};

/// Bytes at the start of a log, and before what was not read yet, that tell whether it is
/// still the same.
const MARK: u64 = 512;

/// Reads what is new in a session's log, at most about `budget` bytes of it.
///
/// Gives what the session comes to, none where it is no more, and whether that is all there is
/// to read. The budget is what is left of it.
pub(super) fn read(
    pen: &mut Pen<'_>,
    folder: &Folder,
    id: &SessionId,
    budget: &mut u64,
) -> Result<(Option<Stored>, bool), Failure> {
    let Some(lying) = folder.look(id) else {
        pen.forget(id)?;
        return Ok((None, true));
    };
    let mut stored = match pen.session(id)? {
        Some(stored) => stored,
        None => Stored { row: pen.free_row()?, log: Read::default(), digest: Digest::default() },
    };
    let before = stored.log;
    stored.log.is_in_trash = lying.is_in_trash;
    let is_read = before.seen == lying.log;
    if is_read && stored.log == before {
        return Ok((Some(stored), true));
    }
    let mut is_whole = true;
    if !is_read {
        let place = folder.of(id, lying.is_in_trash);
        is_whole = read_new(pen, &place, lying.log, &mut stored, budget)?.unwrap_or_else(|error| {
            // What cannot be read now is looked at again when the file has changed.
            tracing::warn!("cannot read the log of session {id}: {error}");
            true
        });
    }
    pen.keep(id, &stored)?;
    Ok((Some(stored), is_whole))
}

/// True when all was read. The outer error is the index's, the inner one the log's.
fn read_new(
    pen: &mut Pen<'_>,
    place: &Path,
    seen: Seen,
    stored: &mut Stored,
    budget: &mut u64,
) -> Result<io::Result<bool>, Failure> {
    let file = match RealDisk.open(&place.join(LOG), Opening::Read) {
        Ok(file) => file,
        Err(error) => return Ok(Err(error)),
    };
    if !is_same(&*file, &seen, &stored.log).unwrap_or(false) {
        pen.forget_messages(stored.row)?;
        stored.log = Read { is_in_trash: stored.log.is_in_trash, ..Read::default() };
        stored.digest = Digest::default();
    }
    stored.log.seen = seen;
    read_on(pen, &*file, place, stored, budget)
}

/// Is it the file that was read before, longer or as long?
fn is_same(file: &dyn DiskFile, seen: &Seen, before: &Read) -> io::Result<bool> {
    if before.read == 0 || before.seen.inode != seen.inode || seen.len < before.read {
        return Ok(false);
    }
    Ok(marks(file, before.read)? == (before.head, before.tail))
}

/// Sums of the first bytes and of the last ones before an offset.
fn marks(file: &dyn DiskFile, read: u64) -> io::Result<(u32, u32)> {
    let mut bytes = [0; MARK as usize];
    let mut sum = |from: u64| {
        let len = usize::try_from(read.min(MARK)).unwrap_or_default();
        let piece = bytes.get_mut(..len).unwrap_or_default();
        let len = read_full(file, from, piece)?;
        Ok::<u32, io::Error>(crc32c::crc32c(piece.get(..len).unwrap_or_default()))
    };
    Ok((sum(0)?, sum(read.saturating_sub(MARK))?))
}

fn read_on(
    pen: &mut Pen<'_>,
    file: &dyn DiskFile,
    place: &Path,
    stored: &mut Stored,
    budget: &mut u64,
) -> Result<io::Result<bool>, Failure> {
    let Stored { row, log, digest } = stored;
    let start = log.read;
    let mut lines = Lines::new(file, place, start, log.seen.len);
    let mut sheaf = Sheaf::new(pen, *row);
    let blobs = |name: &str, most: usize| blob_head(place, name, most);
    let ended = loop {
        match lines.next() {
            Ok(Some(record)) => {
                digest::take(digest, &record, &mut sheaf, &blobs)?;
                // Lines behind the last good one are looked at again: they may become whole.
                log.read = record.end.unwrap_or(log.read);
                if record.end.is_some() && log.read - start >= *budget {
                    break Ok(false);
                }
            }
            Ok(None) => break Ok(true),
            Err(error) => break Err(error),
        }
    };
    sheaf.write()?;
    *budget = budget.saturating_sub(log.read - start);
    if matches!(ended, Ok(false)) {
        // Whoever opens the index next must not take it for read.
        log.seen = Seen { len: log.read, mtime: 0, ..log.seen };
    }
    Ok(marks(file, log.read).map(|sums| (log.head, log.tail) = sums).and(ended))
}
