//! What became of a file since it was opened.

use std::{fs::Metadata, path::Path, time::SystemTime};

use super::{Transcript, file::PositionedFile};

/// What became of a file since it was opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It stands where it stood.
    There(Extent),
    /// Another file stands in its place, or it does in the place of a link that was moved.
    Replaced,
    /// Nothing stands there, or it cannot be asked; why, in a few words.
    Gone(String),
}

/// How long a file is and when it was last written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extent {
    /// Bytes.
    pub len: u64,
    /// When it was written, as its file system says.
    pub written: Option<SystemTime>,
}

impl Extent {
    fn of(metadata: &Metadata) -> Self {
        Self { len: metadata.len(), written: metadata.modified().ok() }
    }

    /// When it was written, in milliseconds since 1970.
    #[must_use]
    pub fn written_ms(&self) -> Option<i64> {
        let since = self.written?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        i64::try_from(since.as_millis()).ok()
    }
}

impl Transcript {
    /// Looks what became of the file. Two questions to the system.
    #[must_use]
    pub fn standing(&self) -> Standing {
        let PositionedFile::File(file, _) = &*self.file else {
            return Standing::There(self.extent());
        };
        match std::fs::metadata(&self.path) {
            Ok(there) => match file.metadata() {
                Ok(ours) if is_same(&ours, &there) => Standing::There(Extent::of(&ours)),
                _ => Standing::Replaced,
            },
            Err(error) => Standing::Gone(gone(&error)),
        }
    }

    /// The extent of what was opened, wherever it is now.
    #[must_use]
    pub fn extent(&self) -> Extent {
        match &*self.file {
            PositionedFile::File(file, _) => match file.metadata() {
                Ok(metadata) => Extent::of(&metadata),
                Err(_unknown) => Extent { len: self.len, written: None },
            },
            PositionedFile::Memory(bytes) => Extent { len: bytes.len() as u64, written: None },
            PositionedFile::Spool(spool) => Extent { len: spool.len_bytes(), written: None },
        }
    }

    /// Marks by which the first `len` bytes are known again.
    #[must_use]
    pub fn print(&self, len: u64) -> Print {
        Print::of(&self.file, len)
    }

    /// True when the beginning of the file is still what the marks were taken of. Content
    /// that differs between the marks alone is not told.
    #[must_use]
    pub fn matches(&self, print: &Print) -> bool {
        matches!(&*self.file, PositionedFile::Spool(_)) || print.matches(&self.file)
    }
}

/// Why there is no file, in a few words.
pub(super) fn gone(error: &std::io::Error) -> String {
    match error.kind() {
        std::io::ErrorKind::NotFound => "the file is gone".to_owned(),
        std::io::ErrorKind::PermissionDenied => "no permission to look".to_owned(),
        _ => format!("the file cannot be reached ({error})"),
    }
}

/// What was read at some places of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Print {
    places: Vec<(u64, u32, u32)>,
}

/// Bytes looked at of the start and of the end, and of each place between.
const START_BYTES: u64 = 4096;
const END_BYTES: u64 = 1024;
const BETWEEN_BYTES: u64 = 64;
const BETWEEN: u64 = 14;

impl Print {
    fn of(file: &PositionedFile, len: u64) -> Self {
        let step = len / (BETWEEN + 1);
        let between = (1..=BETWEEN).map(|n| (n * step, BETWEEN_BYTES));
        let ends = [(0, START_BYTES), (len.saturating_sub(END_BYTES), END_BYTES)];
        let places = ends.into_iter().chain(between).map(|(at, bytes)| {
            let bytes = bytes.min(len.saturating_sub(at)) as u32;
            (at, bytes, sum(file, at, bytes))
        });
        Self { places: places.collect() }
    }

    fn matches(&self, file: &PositionedFile) -> bool {
        self.places.iter().all(|(at, bytes, was)| sum(file, *at, *bytes) == *was)
    }
}

fn sum(file: &PositionedFile, at: u64, bytes: u32) -> u32 {
    crc32c::crc32c(&file.read_vec(at, bytes as usize))
}

#[cfg(unix)]
fn is_same(a: &Metadata, b: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    (a.dev(), a.ino()) == (b.dev(), b.ino())
}

#[cfg(not(unix))]
fn is_same(a: &Metadata, b: &Metadata) -> bool {
    a.created().ok() == b.created().ok()
}

/// True when two paths lead to one file, or the first to no other than the second.
#[must_use]
pub fn is_same_file(a: &Path, b: &Path) -> bool {
    match (std::fs::metadata(a), std::fs::metadata(b)) {
        (Ok(a), Ok(b)) => is_same(&a, &b),
        _ => a == b,
    }
}
