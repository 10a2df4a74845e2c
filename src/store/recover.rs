//! Opens a log for writing: what a crash left at its end is put aside, never thrown away.

use std::{
    io,
    path::{Path, PathBuf},
};

use super::{
    check::Check,
    disk::{self, Disk, DiskFile, Opening},
    scan::{BLOCK, Lines},
};

/// The end of a log is looked for in its last part, and in larger ones when it has no record.
const FIRST_LOOK: u64 = 2 << 20;
/// More than this is not put aside, but stays where it is.
const TORN_MAX: u64 = 64 << 20;

/// A log whose end is whole.
#[derive(Debug)]
pub(super) struct Recovered {
    pub file: Box<dyn DiskFile>,
    /// Its bytes.
    pub len: u64,
    /// What was read of it.
    pub check: Check,
    /// Was all of it read?
    pub is_checked: bool,
    /// Where the bytes went that were no record.
    pub torn: Option<PathBuf>,
    /// The last byte is no end of a line: the next record begins with one.
    pub wants_end: bool,
}

/// Reads the end of a log.
pub(super) fn look(file: &dyn DiskFile, size: u64) -> io::Result<(Check, bool)> {
    let mut wanted = FIRST_LOOK;
    loop {
        let start = match size.checked_sub(wanted) {
            None | Some(0) => 0,
            Some(start) => next_line(file, start, size)?,
        };
        let check = Check::of(file, start, size)?;
        if start == 0 || check.records > 0 || wanted > TORN_MAX {
            return Ok((check, start == 0));
        }
        wanted *= 8;
    }
}

/// Where the first line begins behind a place.
fn next_line(file: &dyn DiskFile, start: u64, size: u64) -> io::Result<u64> {
    let mut lines = Lines::new(start - 1, size);
    let line = lines.next_line(file)?;
    Ok(line.map_or(size, |(offset, line, _)| offset + line.len() as u64 + 1).min(size))
}

/// Opens a log, and makes its end whole. The lock is held meanwhile.
pub(super) fn recover(disk: &dyn Disk, path: &Path, now_ms: i64) -> io::Result<Recovered> {
    let file = disk.open(path, Opening::Append)?;
    let size = file.size()?;
    let (check, is_checked) = look(&*file, size)?;
    let mut recovered =
        Recovered { file, len: size, check, is_checked, torn: None, wants_end: false };
    if recovered.check.is_newer {
        return Ok(recovered);
    }
    let end = recovered.check.end;
    if !is_blank(&*recovered.file, end, size)? {
        recovered.put_aside(disk, path, now_ms)?;
    }
    recovered.wants_end = ends_open(&*recovered.file, recovered.len)?;
    Ok(recovered)
}

impl Recovered {
    /// Copies what follows the last record to a file of its own, and cuts it off. It stays
    /// where it is when there is no place for the copy.
    fn put_aside(&mut self, disk: &dyn Disk, path: &Path, now_ms: i64) -> io::Result<()> {
        let (from, size) = (self.check.end, self.len);
        if size - from > TORN_MAX {
            return Ok(());
        }
        let mut bytes = vec![0; usize::try_from(size - from).unwrap_or_default()];
        let read = disk::read_full(&*self.file, from, &mut bytes)?;
        bytes.truncate(read);
        let torn = free_name(disk, disk::folder_of(path), now_ms);
        if disk::replace(disk, &torn, &bytes, true).is_err() {
            return Ok(());
        }
        self.torn = Some(torn);
        if self.file.truncate(from).is_ok() {
            self.file.sync()?;
            self.len = from;
        }
        Ok(())
    }
}

fn free_name(disk: &dyn Disk, folder: &Path, now_ms: i64) -> PathBuf {
    let names = (now_ms.max(0)..).map(|ms| folder.join(format!("torn-{ms}.bin")));
    let mut free = names.filter(|name| !disk.exists(name));
    free.next().unwrap_or_else(|| folder.join(disk::temporary_name()))
}

/// Is there nothing from a place on but ends of lines?
fn is_blank(file: &dyn DiskFile, from: u64, size: u64) -> io::Result<bool> {
    let mut bytes = vec![0; usize::try_from(size - from).unwrap_or(BLOCK).min(BLOCK)];
    let read = disk::read_full(file, from, &mut bytes)?;
    let is_blank = bytes.iter().take(read).all(|byte| matches!(byte, b'\n' | b'\r'));
    Ok(is_blank && read as u64 == size - from)
}

/// Is the last byte no end of a line?
fn ends_open(file: &dyn DiskFile, size: u64) -> io::Result<bool> {
    let mut last = [b'\n'];
    if let Some(at) = size.checked_sub(1) {
        disk::read_full(file, at, &mut last)?;
    }
    Ok(last != [b'\n'])
}
