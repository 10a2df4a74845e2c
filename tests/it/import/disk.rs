//! Disks that count, and disks that stop.

use std::{
    fs::TryLockError,
    io,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use letterpress::store::{
    Disk, DiskFile, RealDisk,
    disk::{Listing, Opening},
};

/// What may be done, and what is noted of it.
trait Gate: std::fmt::Debug + Send + Sync {
    /// Before anything that changes the disk.
    fn pass(&self) -> io::Result<()>;
    fn wrote(&self, _bytes: usize) {}
    fn synced(&self) {}
}

#[derive(Debug)]
struct File<G: Gate> {
    file: Box<dyn DiskFile>,
    gate: Arc<G>,
}

impl<G: Gate> DiskFile for File<G> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.gate.pass()?;
        self.gate.wrote(bytes.len());
        self.file.write(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.gate.pass()?;
        self.gate.synced();
        self.file.sync()
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.gate.pass()?;
        self.file.truncate(len)
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<usize> {
        self.file.read_at(at, into)
    }

    fn size(&self) -> io::Result<u64> {
        self.file.size()
    }

    fn try_lock(&self) -> Result<(), TryLockError> {
        self.file.try_lock()
    }
}

macro_rules! gated {
    ($disk:ty) => {
        impl Disk for $disk {
            fn make_folder(&self, path: &Path) -> io::Result<()> {
                self.0.pass()?;
                RealDisk.make_folder(path)
            }

            fn open(&self, path: &Path, opening: Opening) -> io::Result<Box<dyn DiskFile>> {
                if opening != Opening::Read {
                    self.0.pass()?;
                }
                let file = RealDisk.open(path, opening)?;
                Ok(Box::new(File { file, gate: Arc::clone(&self.0) }))
            }

            fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
                self.0.pass()?;
                RealDisk.rename(from, to)
            }

            fn sync_folder(&self, path: &Path) -> io::Result<()> {
                self.0.pass()?;
                self.0.synced();
                RealDisk.sync_folder(path)
            }

            fn remove(&self, path: &Path) -> io::Result<()> {
                self.0.pass()?;
                RealDisk.remove(path)
            }

            fn remove_folder(&self, path: &Path) -> io::Result<()> {
                self.0.pass()?;
                RealDisk.remove_folder(path)
            }

            fn list(&self, path: &Path) -> io::Result<Vec<Listing>> {
                RealDisk.list(path)
            }

            fn exists(&self, path: &Path) -> bool {
                RealDisk.exists(path)
            }
        }
    };
}

/// Counts what is written.
#[derive(Debug, Default)]
pub(super) struct Counting(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    largest: AtomicU64,
    written: AtomicU64,
    syncs: AtomicU64,
}

impl Gate for Counts {
    fn pass(&self) -> io::Result<()> {
        Ok(())
    }

    fn wrote(&self, bytes: usize) {
        self.largest.fetch_max(bytes as u64, Ordering::Relaxed);
        self.written.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    fn synced(&self) {
        self.syncs.fetch_add(1, Ordering::Relaxed);
    }
}

impl Counting {
    /// The largest write and all of them together in bytes, and how often was waited for the
    /// disk.
    pub(super) fn counts(&self) -> (u64, u64, u64) {
        let Counts { largest, written, syncs } = &*self.0;
        (
            largest.load(Ordering::Relaxed),
            written.load(Ordering::Relaxed),
            syncs.load(Ordering::Relaxed),
        )
    }
}

gated!(Counting);

/// Takes so many calls, and then nothing any more: what a crash leaves stays as it is.
#[derive(Debug)]
pub(super) struct Failing(Arc<Budget>);

#[derive(Debug)]
struct Budget {
    left: AtomicU64,
    refused: AtomicU64,
}

impl Gate for Budget {
    fn pass(&self) -> io::Result<()> {
        let take = |left: u64| left.checked_sub(1);
        if self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok() {
            return Ok(());
        }
        self.refused.fetch_add(1, Ordering::Relaxed);
        Err(io::Error::other("the disk is gone"))
    }
}

impl Failing {
    pub(super) fn after(calls: u64) -> Self {
        Self(Arc::new(Budget { left: AtomicU64::new(calls), refused: AtomicU64::new(0) }))
    }

    pub(super) fn has_failed(&self) -> bool {
        self.0.refused.load(Ordering::Relaxed) > 0
    }
}

gated!(Failing);
