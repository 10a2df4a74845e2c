//! A file that is read at positions, so that one handle serves every thread.

use std::{
    fs::File,
    io::{self, Read as _},
    sync::atomic::{AtomicU64, Ordering},
};

use super::spool::Spool;

/// An open file, read only, never moved and never written; bytes of the program's own;
/// or what came so far.
#[derive(Debug)]
pub(super) enum PositionedFile {
    File(File, AtomicU64),
    Memory(&'static [u8]),
    Spool(Spool),
}

impl PositionedFile {
    pub(super) fn of(file: File) -> Self {
        Self::File(file, AtomicU64::new(0))
    }

    /// Bytes read from a file so far.
    pub(super) fn bytes_read(&self) -> u64 {
        match self {
            Self::File(_, read) => read.load(Ordering::Relaxed),
            Self::Memory(_) | Self::Spool(_) => 0,
        }
    }

    /// Fills `buffer` from `offset` and says how much there was: less than asked when
    /// the file ends before, or became shorter.
    pub(super) fn read_full(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        let mut done = 0;
        while let Some(rest) = buffer.get_mut(done..).filter(|rest| !rest.is_empty()) {
            match self.read_at(rest, offset + done as u64) {
                Ok(0) => break,
                Ok(n) => done += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        match self {
            Self::File(file, read) => {
                let got = read_at(file, buffer, offset)?;
                read.fetch_add(got as u64, Ordering::Relaxed);
                Ok(got)
            }
            Self::Memory(bytes) => {
                let start = usize::try_from(offset).unwrap_or(usize::MAX).min(bytes.len());
                (&bytes[start..]).read(buffer)
            }
            Self::Spool(spool) => spool.read_at(buffer, offset),
        }
    }

    /// The first byte that can be read.
    pub(super) fn first(&self) -> u64 {
        match self {
            Self::File(..) | Self::Memory(_) => 0,
            Self::Spool(spool) => spool.first(),
        }
    }

    /// Up to `len` bytes from `offset`; what cannot be read is missing at the end.
    pub(super) fn read_vec(&self, offset: u64, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        let got = self.read_full(&mut bytes, offset).unwrap_or(0);
        bytes.truncate(got);
        bytes
    }
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}
