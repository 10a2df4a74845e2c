//! Opening a file and telling whose it is.

use std::{
    cmp::Ordering,
    fmt,
    fs::File,
    io,
    path::{Path, PathBuf},
    sync::Arc,
};

use crate::model::record::line;

use super::{
    Format, Transcript,
    file::PositionedFile,
    glance::hash,
    json::{self, Cursor, Fault},
    letterpress,
};

/// Enough to tell a format.
pub(super) const HEAD_BYTES: usize = 64 * 1024;
/// How far a last line that is longer than the window is followed to its start.
const LAST_LINE_MAX: u64 = 128 * 1024 * 1024;
const STEP_BYTES: u64 = 1024 * 1024;
/// Read at a time to find the next record, and how much of it is read again.
const PROBE_BYTES: usize = 16 * 1024;
const PROBE_OVERLAP: usize = 512;

/// Why a file could not be opened.
#[derive(Debug)]
pub enum OpenError {
    /// There is no such file.
    NotFound(PathBuf),
    /// It is a folder.
    Folder(PathBuf),
    /// It has no content.
    Empty(PathBuf),
    /// It may not be read.
    Permission(PathBuf),
    /// It is none of the formats that are read, or no regular file.
    NotTranscript(PathBuf),
    /// Anything else the system says.
    Io(PathBuf, io::Error),
}

impl fmt::Display for OpenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (what, path) = match self {
            Self::NotFound(path) => ("no such file", path),
            Self::Folder(path) => ("this is a folder, not a transcript", path),
            Self::Empty(path) => ("the file is empty", path),
            Self::Permission(path) => ("no permission to read", path),
            Self::NotTranscript(path) => (
                "not a transcript (expected a pi or Claude Code session, one JSON object a line)",
                path,
            ),
            Self::Io(path, error) => return write!(f, "cannot read ({error}): {}", path.display()),
        };
        write!(f, "{what}: {}", path.display())
    }
}

impl std::error::Error for OpenError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(_, error) => Some(error),
            Self::NotFound(_)
            | Self::Folder(_)
            | Self::Empty(_)
            | Self::Permission(_)
            | Self::NotTranscript(_) => None,
        }
    }
}

/// Opens a transcript for reading.
///
/// # Errors
/// When there is no file, it may not be read, or it is no transcript.
pub fn open(path: &Path) -> Result<Transcript, OpenError> {
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => OpenError::NotFound(path.to_owned()),
        io::ErrorKind::PermissionDenied => OpenError::Permission(path.to_owned()),
        _ => OpenError::Io(path.to_owned(), error),
    };
    // Asked before opening, because opening a pipe would wait for its writer.
    let metadata = std::fs::metadata(path).map_err(failed)?;
    if metadata.is_dir() {
        return Err(OpenError::Folder(path.to_owned()));
    }
    if !metadata.is_file() {
        return Err(OpenError::NotTranscript(path.to_owned()));
    }
    let file = File::open(path).map_err(failed)?;
    let len = file.metadata().map_err(failed)?.len();
    if len == 0 {
        return Err(OpenError::Empty(path.to_owned()));
    }
    opened(path, PositionedFile::of(file), len)
}

/// Opens the log of a session of this program, of which the first `len` bytes belong to the
/// conversation. It need not say by its content that it is one, and may be empty.
///
/// # Errors
/// When there is no file or it may not be read.
pub fn open_log(path: &Path, len: u64) -> Result<Transcript, OpenError> {
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => OpenError::NotFound(path.to_owned()),
        io::ErrorKind::PermissionDenied => OpenError::Permission(path.to_owned()),
        _ => OpenError::Io(path.to_owned(), error),
    };
    let metadata = std::fs::metadata(path).map_err(failed)?;
    if !metadata.is_file() {
        return Err(OpenError::NotTranscript(path.to_owned()));
    }
    let file = PositionedFile::of(File::open(path).map_err(failed)?);
    Ok(Transcript {
        path: path.to_owned(),
        format: Format::Letterpress,
        file: Arc::new(file),
        len: len.min(metadata.len()),
        agent_file: false,
    })
}

/// Opens a transcript that is part of the program, under a name of its own.
///
/// # Errors
/// When it is no transcript.
pub fn open_bytes(name: &Path, bytes: &'static [u8]) -> Result<Transcript, OpenError> {
    opened(name, PositionedFile::Memory(bytes), bytes.len() as u64)
}

fn opened(path: &Path, file: PositionedFile, len: u64) -> Result<Transcript, OpenError> {
    let failed = |error| OpenError::Io(path.to_owned(), error);
    let mut head = vec![0; HEAD_BYTES];
    let got = file.read_full(&mut head, 0).map_err(failed)?;
    head.truncate(got);
    let format = sniff(&head).ok_or_else(|| OpenError::NotTranscript(path.to_owned()))?;
    let agent_file = format == Format::ClaudeCode && begins_in_sidechain(&head);
    Ok(Transcript { path: path.to_owned(), format, file: Arc::new(file), len, agent_file })
}

/// Tells the format of a file by its first bytes, about 64 KiB. Lines that are damaged or
/// say nothing are passed over.
#[must_use]
pub fn sniff(head: &[u8]) -> Option<Format> {
    let mut is_strange = false;
    lines(head).find_map(|line| {
        let traits = Traits::of(line);
        let format = traits.format();
        // A pi entry tells only where the header is lost, not behind a foreign one.
        let is_certain = format != Some(Format::Pi) || traits.record_type == b"session";
        let found = format.filter(|_| is_certain || !is_strange);
        is_strange |= format.is_none() && !traits.record_type.is_empty() && !traits.is_pi_setting();
        found
    })
}

/// The first record that belongs to a conversation belongs to a sub-agent's.
pub(super) fn begins_in_sidechain(head: &[u8]) -> bool {
    let mut records = lines(head).map(Traits::of).filter(|traits| traits.sidechain.is_some());
    records.next().is_some_and(|traits| traits.sidechain == Some(true))
}

/// The folder named by the first record that names one.
pub(super) fn working_folder(file: &PositionedFile) -> Option<String> {
    let head = file.read_vec(file.first(), HEAD_BYTES);
    lines(&head).find_map(|line| {
        let mut folder = letterpress::glance::workspace(line);
        // A line that is cut off may have named it before.
        let _walked = Cursor::new(line).members(|cursor, key| {
            if key == b"cwd" && folder.is_none() {
                folder = cursor.string_or_skip()?.map(json::unescaped);
                return Ok(());
            }
            cursor.skip()
        });
        folder.filter(|folder: &String| !folder.is_empty())
    })
}

/// What tells a record from others: its id, or all of it when it has none.
#[must_use]
pub fn record_id(line: &[u8]) -> u64 {
    let mut id = None;
    let walked = Cursor::new(line).members(|cursor, key| {
        match key {
            b"id" | b"uuid" => id = cursor.string_or_skip()?.map(hash).or(id),
            _ => cursor.skip()?,
        }
        Ok(())
    });
    id.filter(|_| walked.is_ok()).unwrap_or_else(|| hash(line))
}

fn lines(head: &[u8]) -> impl Iterator<Item = &[u8]> {
    let body = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    body.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_start)
}

/// What the members of a record say about its format.
#[derive(Default)]
struct Traits<'a> {
    /// A line of a log of this program, perhaps cut off.
    is_logged: bool,
    record_type: &'a [u8],
    /// A text member of this name.
    id: bool,
    message: bool,
    family: Family,
    sidechain: Option<bool>,
}

/// Whose members a record has; of several the last counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Family {
    #[default]
    Unknown,
    ClaudeCode,
    /// Formats that look alike: Codex and Qwen Code.
    Foreign,
}

impl Family {
    fn of(member: &[u8]) -> Self {
        match member {
            b"sessionId" | b"uuid" | b"parentUuid" | b"leafUuid" => Self::ClaudeCode,
            b"payload" | b"systemPayload" => Self::Foreign,
            _ => Self::Unknown,
        }
    }
}

impl<'a> Traits<'a> {
    /// The members up to where the line ends or goes wrong.
    fn of(line: &'a [u8]) -> Self {
        if line.starts_with(b"{\"v\":") && is_logged(line) {
            return Self { is_logged: true, ..Self::default() };
        }
        let mut traits = Self::default();
        let mut cursor = Cursor::new(line);
        let walked = cursor.members(|cursor, key| {
            let next = cursor.peek();
            match key {
                b"type" => traits.record_type = cursor.string_or_skip()?.unwrap_or(b""),
                b"isSidechain" => traits.sidechain = Some(cursor.flag()?),
                b"message" if next == Some(b'{') => {
                    traits.message = true;
                    cursor.members(|cursor, key| {
                        if key == b"parts" {
                            traits.family = Family::Foreign;
                        }
                        cursor.skip()
                    })?;
                }
                _ => {
                    traits.id |= key == b"id" && next == Some(b'"');
                    traits.family = traits.family.max(Family::of(key));
                    cursor.skip()?;
                }
            }
            Ok(())
        });
        // A line that is cut off, by the end of the head or a crash, still tells.
        if matches!(walked, Err(Fault::Syntax | Fault::Depth)) { Self::default() } else { traits }
    }

    fn is_pi_setting(&self) -> bool {
        matches!(self.record_type, b"model_change" | b"thinking_level_change")
    }

    fn format(&self) -> Option<Format> {
        if self.is_logged {
            return Some(Format::Letterpress);
        }
        let is_claude = self.family == Family::ClaudeCode;
        match self.record_type {
            b"file-history-snapshot" => Some(Format::ClaudeCode),
            b"summary" | b"queue-operation" | b"user" | b"assistant" | b"system" | b"progress"
            | b"attachment"
                if is_claude =>
            {
                Some(Format::ClaudeCode)
            }
            b"session" if self.id && !is_claude => Some(Format::Pi),
            b"message" if self.message && !is_claude => Some(Format::Pi),
            _ if is_claude && self.sidechain.is_some() => Some(Format::ClaudeCode),
            _ => None,
        }
    }
}

/// The line begins like one of a log; the head of the file may end in it.
fn is_logged(line: &[u8]) -> bool {
    matches!(line::head(line), Ok(_) | Err(line::Flaw::End))
}

/// Where the newest `window` bytes begin to be whole lines. When the last line alone is
/// longer, where the window before that line begins.
pub(super) fn tail_start(file: &PositionedFile, len: u64, window: u64) -> u64 {
    first_line(file, len, window).unwrap_or_else(|| {
        let line = last_line_start(file, len - window - 1, len);
        // A result needs the call before it.
        first_line(file, line, window).unwrap_or(line)
    })
}

/// Where the record of a number begins in a log: numbers rise with the lines.
pub(super) fn find_record(file: &PositionedFile, len: u64, number: u64) -> Option<u64> {
    let (mut low, mut high) = (0, len);
    while low < high {
        let middle = low.midpoint(high);
        let (start, found) = record_from(file, middle, high);
        match found.cmp(&number) {
            Ordering::Less => low = start + 1,
            Ordering::Equal => return Some(start),
            Ordering::Greater => high = middle,
        }
    }
    None
}

/// The first whole head of a record at or behind a place, and its number; the end when
/// there is none.
fn record_from(file: &PositionedFile, from: u64, end: u64) -> (u64, u64) {
    let mut at = from.saturating_sub(1);
    let mut is_start = from == 0;
    while at < end {
        let bytes = file.read_vec(at, PROBE_BYTES);
        let mut place = 0;
        while let Some(rest) = bytes.get(place..).filter(|rest| !rest.is_empty()) {
            let start = at + place as u64;
            if is_start && let Ok(head) = line::head(rest) {
                return if start < end { (start, head.n) } else { (end, u64::MAX) };
            }
            let line_end = memchr::memchr(b'\n', rest);
            is_start = line_end.is_some();
            place = line_end.map_or(bytes.len(), |found| place + found + 1);
        }
        if bytes.len() < PROBE_BYTES {
            break;
        }
        // A head that was cut off is met again, behind the end of the line before it.
        (at, is_start) = (at + (PROBE_BYTES - PROBE_OVERLAP) as u64, false);
    }
    (end, u64::MAX)
}

/// The first line that begins in the last `window` of `len` bytes.
fn first_line(file: &PositionedFile, len: u64, window: u64) -> Option<u64> {
    if window >= len {
        return Some(0);
    }
    // The byte before belongs in: a line that begins with the window is whole.
    let mut at = len - window - 1;
    while at < len {
        let wanted = STEP_BYTES.min(len - at) as usize;
        let bytes = file.read_vec(at, wanted);
        if let Some(found) = memchr::memchr(b'\n', &bytes) {
            let start = at + found as u64 + 1;
            return (start < len).then_some(start);
        }
        if bytes.len() < wanted {
            return None;
        }
        at += wanted as u64;
    }
    None
}

/// The start of the line that covers `at`; the end of the file when it is out of reach.
fn last_line_start(file: &PositionedFile, at: u64, len: u64) -> u64 {
    let mut end = at;
    let stop = at.saturating_sub(LAST_LINE_MAX);
    while end > stop {
        let start = end.saturating_sub(STEP_BYTES).max(stop);
        let bytes = file.read_vec(start, (end - start) as usize);
        if let Some(found) = memchr::memrchr(b'\n', &bytes) {
            return start + found as u64 + 1;
        }
        end = start;
    }
    if stop == 0 { 0 } else { len }
}
