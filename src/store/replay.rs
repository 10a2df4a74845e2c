//! All records of a log, one after the other.

use std::{
    collections::VecDeque,
    io,
    path::{Path, PathBuf},
};

use serde_json::Value;

use super::{
    blobs::blob_of,
    check::{Damaged, Sequence, Step},
    disk::{Disk as _, DiskFile, Opening, RealDisk},
    scan::{Lines, Piece, Place, sort_out},
};
use crate::model::record::{self, Kind};

/// Something in a log.
#[derive(Clone, Debug, PartialEq)]
pub enum Line {
    /// A record.
    Entry(Entry),
    /// What is none; it is passed over, and shown.
    Damaged(Damaged),
}

/// A record of a log.
#[derive(Clone, Debug, PartialEq)]
pub struct Entry {
    /// Its number.
    pub n: u64,
    /// Its first byte in the file.
    pub offset: u64,
    /// Its bytes, without the end of the line.
    pub len: u64,
    /// What it is.
    pub kind: Kind,
    /// When it was written, in milliseconds since 1970. The order is that of the file.
    pub t: i64,
    /// What it says.
    pub body: Value,
}

/// All records in the first `len` bytes of a log, and where there is damage between them.
/// What stands there twice comes once. A file that cannot be read is damage.
#[must_use]
pub fn replay(path: &Path, len: u64) -> Replay {
    let folder = path.parent().map(Path::to_path_buf);
    match RealDisk.open(path, Opening::Read) {
        Ok(file) => Replay::new(Some(file), 0, len, folder),
        Err(error) => {
            let mut none = Replay::new(None, 0, 0, None);
            none.fail(&error);
            none
        }
    }
}

/// See [`replay`].
#[derive(Debug)]
pub struct Replay {
    /// None when it can be read no further.
    file: Option<Box<dyn DiskFile>>,
    folder: Option<PathBuf>,
    lines: Lines,
    sequence: Sequence,
    /// What a line held that is not given out yet.
    ready: VecDeque<Line>,
    /// How far it got.
    offset: u64,
}

impl Replay {
    /// Goes through a file from the first byte of a line to `end`.
    pub(super) fn new(
        file: Option<Box<dyn DiskFile>>,
        start: u64,
        end: u64,
        folder: Option<PathBuf>,
    ) -> Self {
        let (lines, sequence) = (Lines::new(start, end), Sequence::starting(start));
        Self { file, folder, lines, sequence, ready: VecDeque::new(), offset: start }
    }

    fn fail(&mut self, error: &io::Error) {
        self.file = None;
        let why = format!("cannot be read: {error}").into();
        self.ready.push_back(Line::Damaged(Damaged { offset: self.offset, len: 0, why }));
    }

    /// Reads one line; false when there is none.
    fn read_line(&mut self) -> bool {
        let Self { file, folder, lines, sequence, ready, offset: reached } = self;
        let Some(file) = file.as_deref() else { return false };
        match lines.next_line(file) {
            Ok(Some((offset, line, is_ended))) => {
                *reached = offset;
                sort_out(offset, line, is_ended, &mut |place, piece| {
                    ready.extend(entry(place, piece, sequence, folder.as_deref()));
                });
                true
            }
            Ok(None) => false,
            Err(error) => {
                self.fail(&error);
                true
            }
        }
    }
}

impl Iterator for Replay {
    type Item = Line;

    fn next(&mut self) -> Option<Line> {
        loop {
            if let Some(line) = self.ready.pop_front() {
                return Some(line);
            }
            if !self.read_line() {
                return None;
            }
        }
    }
}

/// What a piece says; none for a record that was there before.
pub(super) fn entry(
    place: Place,
    piece: Piece<'_>,
    sequence: &mut Sequence,
    folder: Option<&Path>,
) -> Option<Line> {
    let Place { offset, len, .. } = place;
    let damaged = |why: &str| Some(Line::Damaged(Damaged { offset, len, why: why.into() }));
    let record = match piece {
        Piece::Record(record) => record,
        Piece::Damaged(why) => return damaged(why),
    };
    if sequence.follow(record.n, record.sum) == (Step::Repeat { is_same: true }) {
        return None;
    }
    let Some(body) = body(&record, folder) else { return damaged("cannot be understood") };
    let record::line::Line { n, kind, at_ms: t, .. } = record;
    Some(Line::Entry(Entry { n, offset, len, kind, t, body }))
}

/// The body; one that did not fit into its line is in a blob.
fn body(record: &record::line::Line<'_>, folder: Option<&Path>) -> Option<Value> {
    let body: Value = serde_json::from_str(record.body).ok()?;
    let whole = || {
        let fields = body.as_object().filter(|fields| fields.len() == 2)?;
        fields.get("bytes")?.as_u64()?;
        let bytes = blob_of(folder?, fields.get("blob")?.as_str()?)?;
        serde_json::from_slice(&bytes).ok()
    };
    Some(whole().unwrap_or(body))
}
