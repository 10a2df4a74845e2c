//! Records of a log, from any of its lines on.
//!
//! The index reads what was appended and nothing else. What is no record is passed over, and
//! so is what has no end yet.

use std::{collections::VecDeque, io, path::Path};

use serde_json::Value;

use crate::{
    model::record::Kind,
    store::{
        blobs::blob_of,
        disk::DiskFile,
        scan::{self, Piece, sort_out},
    },
};

/// One record that stands whole and unharmed in a log.
#[derive(Debug)]
pub(super) struct Record {
    /// Its number.
    pub(super) n: u64,
    /// Where it begins.
    pub(super) offset: u64,
    /// Where the line behind it begins; none when more records stand in its line.
    pub(super) end: Option<u64>,
    pub(super) kind: Kind,
    /// Milliseconds since 1970.
    pub(super) time_ms: i64,
    /// The sum of its body.
    pub(super) sum: u32,
    pub(super) body: Value,
}

/// Reads records.
pub(super) struct Lines<'a> {
    file: &'a dyn DiskFile,
    /// The session's folder.
    folder: &'a Path,
    lines: scan::Lines,
    /// What a line held that is not given out yet.
    ready: VecDeque<Record>,
}

impl<'a> Lines<'a> {
    pub(super) fn new(file: &'a dyn DiskFile, folder: &'a Path, start: u64, end: u64) -> Self {
        let lines = scan::Lines::new(start, end);
        Self { file, folder, lines, ready: VecDeque::new() }
    }

    /// The next record; none when no whole line is left.
    pub(super) fn next(&mut self) -> io::Result<Option<Record>> {
        loop {
            if let Some(record) = self.ready.pop_front() {
                return Ok(Some(record));
            }
            let Some((offset, line, is_ended)) = self.lines.next_line(self.file)? else {
                return Ok(None);
            };
            if !is_ended {
                continue;
            }
            let end = offset + line.len() as u64 + 1;
            let (ready, folder) = (&mut self.ready, self.folder);
            sort_out(offset, line, is_ended, &mut |place, piece| {
                if let Piece::Record(line) = piece
                    && let Some(body) = body(line.body, folder)
                {
                    let (n, kind, sum) = (line.n, line.kind, line.sum);
                    let (offset, time_ms) = (place.offset, line.at_ms);
                    ready.push_back(Record { n, offset, end: None, kind, time_ms, sum, body });
                }
            });
            if let Some(last) = self.ready.back_mut() {
                last.end = Some(end);
            }
        }
    }
}

/// The body; one that did not fit into its line is in a blob.
fn body(text: &str, folder: &Path) -> Option<Value> {
    let body: Value = serde_json::from_str(text).ok()?;
    let whole = || {
        let fields = body.as_object().filter(|fields| fields.len() == 2)?;
        fields.get("bytes")?.as_u64()?;
        let bytes = blob_of(folder, fields.get("blob")?.as_str()?)?;
        serde_json::from_slice(&bytes).ok()
    };
    Some(whole().unwrap_or(body))
}
