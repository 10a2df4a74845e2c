//! Looking at records without reading what they say: their bytes, in large reads.

use crate::model::{ReadAhead, RowKind};

use super::{
    Format, Index, Transcript,
    file::PositionedFile,
    record::{Record, RecordKind},
};

/// Bytes read at a time.
const AHEAD_BYTES: usize = 1 << 20;
/// A record that is longer is not looked at.
const RECORD_BYTES_MAX: usize = 1 << 20;
/// Bytes of a record among which its kind stands.
const HEAD_BYTES: usize = 128;
/// Records of one row that are looked at.
const ROW_RECORDS_MAX: usize = 4096;

impl Transcript {
    /// False when no record of a row has bytes that `sieve` lets through.
    ///
    /// Rows that are not made of what was said, records that are long and records that
    /// cannot be read are let through: reading the row tells.
    #[must_use]
    pub fn passes(
        &self,
        index: &Index,
        row: usize,
        ahead: &mut ReadAhead,
        sieve: &dyn Fn(&[u8]) -> bool,
    ) -> bool {
        let Some(mut number) = index.head_of(row) else { return true };
        if !matches!(index.row(row).kind, RowKind::User | RowKind::Assistant | RowKind::Orphan) {
            return true;
        }
        for turn in 0..ROW_RECORDS_MAX {
            let Some(record) = index.records().get(number as usize) else { return false };
            // The records of a row stand close together; one that does not is read alone.
            if self.format == Format::Letterpress && self.may_hide_words(record, ahead) {
                return true;
            }
            let passes = if turn == 0 {
                self.is_let_through(record, ahead, AHEAD_BYTES, sieve)
            } else {
                self.is_let_through(record, ahead, 0, sieve)
            };
            if passes {
                return true;
            }
            number = record.next;
        }
        true
    }

    /// True when a record of a log does not show all words of its message: some stand in
    /// blobs, and those of an answer without an end in pieces.
    fn may_hide_words(&self, record: &Record, ahead: &mut ReadAhead) -> bool {
        let may_hide = |bytes: &[u8]| {
            let is_beginning = bytes.get(..HEAD_BYTES).unwrap_or(bytes);
            memchr::memmem::find(bytes, b"{\"blob\":\"").is_some()
                || !record.is_replaced()
                    && memchr::memmem::find(is_beginning, b"\"k\":\"assistant_final\"").is_none()
                    && record.kind == RecordKind::Assistant
        };
        self.is_let_through(record, ahead, AHEAD_BYTES, &may_hide)
    }

    fn is_let_through(
        &self,
        record: &Record,
        ahead: &mut ReadAhead,
        ahead_bytes: usize,
        sieve: &dyn Fn(&[u8]) -> bool,
    ) -> bool {
        let (start, len) = (record.start(), record.len as usize);
        if len > RECORD_BYTES_MAX {
            return true;
        }
        if let Some(bytes) = ahead.get(start, len) {
            return sieve(bytes);
        }
        if ahead_bytes == 0 {
            let bytes = self.file.read_vec(start, len);
            return bytes.len() < len || sieve(&bytes);
        }
        refill(&self.file, ahead, start, ahead_bytes.max(len));
        ahead.get(start, len).is_none_or(sieve)
    }
}

/// Reads from `start` on into the same memory.
fn refill(file: &PositionedFile, ahead: &mut ReadAhead, start: u64, len: usize) {
    ahead.bytes.resize(len, 0);
    let got = file.read_full(&mut ahead.bytes, start).unwrap_or(0);
    ahead.bytes.truncate(got);
    ahead.start = start;
}
