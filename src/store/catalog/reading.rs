//! Reading what was appended to a log into the index.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom},
};

use super::{
    digest::{self, Digest},
    folder::{Folder, Seen},
    index::{Failure, Pen, Read, Sheaf, Stored},
    lines::Lines,
};
use crate::store::SessionId;

/// Bytes at the start of a log, and before what was not read yet, that tell whether it is
/// still the same.
const MARK: u64 = 512;

/// Reads what is new in a session's log, at most about `budget` bytes of it.
///
/// Gives what the session comes to, none where it is no more; the budget is what is left of
/// it, and 0 when there may be more to read.
pub(super) fn read(
    pen: &mut Pen<'_>,
    folder: &Folder,
    id: &SessionId,
    budget: &mut u64,
) -> Result<Option<Stored>, Failure> {
    let Ok(mut file) = File::open(folder.log(id)) else {
        pen.forget(id)?;
        return Ok(None);
    };
    let mut stored = match pen.session(id)? {
        Some(stored) => stored,
        None => Stored { row: pen.free_row()?, log: Read::default(), digest: Digest::default() },
    };
    let seen = file.metadata().map(|meta| Seen::of(&meta)).unwrap_or_default();
    if stored.log.seen == seen {
        return Ok(Some(stored));
    }
    if !is_same(&mut file, &seen, &stored.log).unwrap_or(false) {
        pen.forget_messages(stored.row)?;
        stored = Stored { row: stored.row, log: Read::default(), digest: Digest::default() };
    }
    stored.log.seen = seen;
    if let Err(error) = read_on(pen, file, folder, id, &mut stored, budget)? {
        // What cannot be read now is looked at again when the file has changed.
        tracing::warn!("cannot read the log of session {id}: {error}");
    }
    pen.keep(id, &stored)?;
    Ok(Some(stored))
}

/// Is it the file that was read before, longer or as long?
fn is_same(file: &mut File, seen: &Seen, before: &Read) -> io::Result<bool> {
    if before.read == 0 || before.seen.inode != seen.inode || seen.len < before.read {
        return Ok(false);
    }
    Ok(marks(file, before.read)? == (before.head, before.tail))
}

/// Checksums of the first bytes and of the last ones before an offset.
fn marks(file: &mut File, read: u64) -> io::Result<(u32, u32)> {
    let mut sum = |from: u64, to: u64| {
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(from))?;
        file.take(to - from).read_to_end(&mut bytes)?;
        Ok::<u32, io::Error>(crc32c::crc32c(&bytes))
    };
    Ok((sum(0, read.min(MARK))?, sum(read.saturating_sub(MARK), read)?))
}

/// The outer error is the index's, the inner one the log's.
fn read_on(
    pen: &mut Pen<'_>,
    file: File,
    folder: &Folder,
    id: &SessionId,
    stored: &mut Stored,
    budget: &mut u64,
) -> Result<io::Result<()>, Failure> {
    let Stored { row, log, digest } = stored;
    let start = log.read;
    let mut opened = match file.try_clone().and_then(|file| Lines::new(file, start)) {
        Ok(lines) => lines,
        Err(error) => return Ok(Err(error)),
    };
    let mut sheaf = Sheaf::new(pen, *row);
    let blobs = |name: &str, most: usize| folder.blob(id, name, most);
    let mut ended = Ok(());
    let mut is_cut = false;
    loop {
        match opened.next() {
            Ok(Some(record)) => {
                digest::take(digest, &record, &mut sheaf, &blobs)?;
                // Lines behind the last good one are looked at again: they may become whole.
                log.read = record.end;
            }
            Ok(None) => break,
            Err(error) => {
                ended = Err(error);
                break;
            }
        }
        if log.read - start >= *budget {
            is_cut = true;
            break;
        }
    }
    sheaf.write()?;
    *budget = if is_cut { 0 } else { budget.saturating_sub(opened.offset() - start) };
    if is_cut {
        // Whoever opens the index next must not take it for read.
        log.seen.len = log.read;
        log.seen.mtime = 0;
    }
    let mut file = file;
    match marks(&mut file, log.read) {
        Ok((head, tail)) => (log.head, log.tail) = (head, tail),
        Err(error) => ended = ended.and(Err(error)),
    }
    Ok(ended)
}
