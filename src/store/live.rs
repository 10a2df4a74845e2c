//! A session that somebody else writes, read as it grows.

use std::{io, sync::Arc};

use super::{
    Access, OpenError, Opened, SessionId, Store,
    check::Sequence,
    disk::{DiskFile, Opening},
    replay::{Line, entry},
    scan::{Lines, PIECE_MAX, Piece, sort_out},
};

/// No more than this is read in one poll, in bytes.
const POLL_MAX: u64 = 8 << 20;

/// A session that is only read: another window writes it, or nobody may. Only whole records
/// are seen, and never one twice.
#[derive(Debug)]
pub struct LiveView {
    store: Store,
    id: SessionId,
    file: Option<Arc<dyn DiskFile>>,
    sequence: Sequence,
    /// How much of the log has been given out.
    len: u64,
    /// Can it be written once the lock is free?
    is_lockable: bool,
}

/// What came since the last time.
#[derive(Debug, Default)]
pub struct Grown {
    /// New records, and damage between them.
    pub lines: Vec<Line>,
    /// How much of the log there is now, up to the last whole record, in bytes.
    pub len: u64,
    /// Is there more already than one poll reads?
    pub is_more: bool,
}

impl LiveView {
    pub(super) fn new(store: &Store, id: &SessionId, len: u64, is_lockable: bool) -> Self {
        let sequence = Sequence::starting(len);
        Self { store: store.clone(), id: id.clone(), file: None, sequence, len, is_lockable }
    }

    /// How much of the log has been seen, in bytes.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.len
    }

    /// True when there was nothing to see yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Can it ever be taken over?
    #[must_use]
    pub fn is_lockable(&self) -> bool {
        self.is_lockable
    }

    /// Reads what came since the last time. Twice a second is often enough.
    ///
    /// # Errors
    /// When the log cannot be read; the next time may go well.
    pub fn poll(&mut self) -> io::Result<Grown> {
        let file = self.file()?;
        let size = file.size()?;
        let end = size.min(self.len + POLL_MAX);
        let mut lines = Lines::new(self.len, end);
        let mut found = Vec::new();
        // What is behind the last record may be half of the next one.
        let (mut whole, mut len) = (0, self.len);
        while let Some((offset, line, is_ended)) = lines.next_line(&*file)? {
            // No record is as long as a piece that was cut: what comes behind it is awaited in vain.
            let is_cut = !is_ended && line.len() >= PIECE_MAX;
            if !is_ended && !is_cut {
                break;
            }
            let cut = is_cut.then_some(offset + line.len() as u64);
            sort_out(offset, line, is_ended, &mut |place, piece| {
                let is_record = matches!(piece, Piece::Record(_));
                found.extend(entry(place, piece, &mut self.sequence, None));
                if is_record {
                    (whole, len) = (found.len(), place.end);
                }
            });
            if let Some(end) = cut {
                (whole, len) = (found.len(), end);
            }
        }
        found.truncate(whole);
        let is_more = end < size && len > self.len;
        self.len = len;
        Ok(Grown { lines: found, len, is_more })
    }

    fn file(&mut self) -> io::Result<Arc<dyn DiskFile>> {
        if let Some(file) = &self.file {
            return Ok(Arc::clone(file));
        }
        let file: Arc<dyn DiskFile> = self.open()?.into();
        self.file = Some(Arc::clone(&file));
        Ok(file)
    }

    /// The log, to be read.
    pub(super) fn open(&self) -> io::Result<Box<dyn DiskFile>> {
        self.store.disk().open(&self.store.log_path(&self.id), Opening::Read)
    }

    /// Is there nobody who writes it?
    #[must_use]
    pub fn is_free(&self) -> bool {
        self.is_lockable && self.store.is_free(&self.id)
    }

    /// Becomes the writer, when there is none; none when there still is.
    ///
    /// # Errors
    /// When the log cannot be opened.
    pub fn try_take_over(&self, now_ms: i64) -> Result<Option<Opened>, OpenError> {
        if !self.is_lockable {
            return Ok(None);
        }
        let opened = self.store.open_session(&self.id, now_ms)?;
        Ok(matches!(opened.log, Access::Write(_)).then_some(opened))
    }
}
