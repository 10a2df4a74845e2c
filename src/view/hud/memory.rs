//! Resident memory, read beside the UI: the kernel counts it by walking, and a frame
//! should not wait for that.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
    thread::{self, Thread},
    time::Duration,
};

use crate::perf;

/// How often it is read.
const EVERY: Duration = Duration::from_secs(1);

/// Reads resident memory for as long as it lives. It wakes nobody.
pub(super) struct Resident {
    bytes: Arc<AtomicU64>,
    reader: Option<Thread>,
}

impl Resident {
    pub(super) fn watch() -> Self {
        let bytes = Arc::new(AtomicU64::new(0));
        let seen = Arc::downgrade(&bytes);
        let started = thread::Builder::new().name("hud-memory".to_owned()).spawn(move || {
            while let Some(bytes) = seen.upgrade() {
                bytes.store(perf::rss_bytes().unwrap_or(0), Relaxed);
                drop(bytes);
                thread::park_timeout(EVERY);
            }
        });
        // Without its thread the panel says that the figure is not known.
        Self { bytes, reader: started.ok().map(|handle| handle.thread().clone()) }
    }

    /// The newest figure; none when the system says nothing.
    pub(super) fn bytes(&self) -> Option<u64> {
        Some(self.bytes.load(Relaxed)).filter(|bytes| *bytes > 0)
    }
}

impl Drop for Resident {
    fn drop(&mut self) {
        // The thread looks after it wakes, so the count must be gone by then.
        self.bytes = Arc::default();
        if let Some(reader) = &self.reader {
            reader.unpark();
        }
    }
}
