//! Reading a file: lines, pictures, or a word on what it is.

use std::{
    fs::File,
    io::{self, Read as _, Seek as _, SeekFrom},
    sync::Arc,
};

use super::{Missing, Workspace, encoding, handle, words};
use crate::tools::{
    cancel::Stop,
    output::{MODEL_TEXT, OutputPart, ToolOutput},
    policy::Place,
};

/// Lines of one reading.
const MAX_LINES: u64 = 2000;
/// Bytes of a line that are shown.
const MAX_LINE: usize = 2000;
/// Bytes of a picture.
const MAX_IMAGE: u64 = 5 * 1024 * 1024;
/// Bytes that are looked through for a line.
const MAX_SCAN: u64 = 4 * 1024 * 1024 * 1024;
/// Bytes of a file in UTF-16.
const MAX_UTF16: u64 = 16 * 1024 * 1024;

impl Workspace {
    /// A file to read.
    pub(super) fn open_at(&self, place: &Place) -> io::Result<File> {
        let (dir, name) = self.parent(&place.at, Missing::Fail)?;
        handle::open_file(&dir, name)
    }
}

/// Reads lines `first` to `last` of a file, counted from 1, as far as they have room.
pub(in crate::tools) fn read(
    workspace: &Workspace,
    place: &Place,
    lines: (Option<u64>, Option<u64>),
    stop: &Stop,
) -> ToolOutput {
    match read_file(workspace, place, lines, stop) {
        Ok(output) => output,
        Err(error) => ToolOutput::error(&format!("{}: {}", place.asked, words(&error))),
    }
}

fn read_file(
    workspace: &Workspace,
    place: &Place,
    lines: (Option<u64>, Option<u64>),
    stop: &Stop,
) -> io::Result<ToolOutput> {
    let mut file = workspace.open_at(place)?;
    let size = file.metadata()?.len();
    let mut head = Vec::new();
    file.by_ref().take(4096).read_to_end(&mut head)?;
    if let Some(media_type) = picture(&head) {
        return picture_of(file, size, media_type);
    }
    file.seek(SeekFrom::Start(0))?;
    if head.starts_with(b"\xFF\xFE") || head.starts_with(b"\xFE\xFF") {
        let mut bytes = Vec::new();
        file.by_ref().take(MAX_UTF16).read_to_end(&mut bytes)?;
        if let Some((text, _)) = encoding::decode(&bytes) {
            return Ok(excerpt(text.as_bytes(), lines, stop)?.output());
        }
        file.seek(SeekFrom::Start(0))?;
    }
    if memchr::memchr(0, &head).is_some() {
        return Ok(ToolOutput::error(&format!("{} is a binary file of {size} bytes", place.asked)));
    }
    if head.is_empty() {
        return Ok(ToolOutput::text("(the file is empty)"));
    }
    Ok(excerpt(file, lines, stop)?.output())
}

fn picture_of(mut file: File, size: u64, media_type: &str) -> io::Result<ToolOutput> {
    if size > MAX_IMAGE {
        let why = format!("a picture of {size} bytes is too large to be shown");
        return Ok(ToolOutput::error(&why));
    }
    file.seek(SeekFrom::Start(0))?;
    let mut bytes = Vec::new();
    file.take(MAX_IMAGE).read_to_end(&mut bytes)?;
    let text: Arc<str> = format!("(a picture, {media_type}, {} bytes)", bytes.len()).into();
    let image = OutputPart::Image { media_type: media_type.into(), bytes: bytes.into() };
    Ok(ToolOutput { text, parts: vec![image], ..ToolOutput::default() })
}

fn picture(head: &[u8]) -> Option<&'static str> {
    match head {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xFF, 0xD8, 0xFF, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

/// Lines of a file, and what is behind them.
struct Excerpt {
    text: Vec<u8>,
    first: u64,
    /// The last line that is in it; less than `first` when there is none.
    last: u64,
    is_at_end: bool,
    /// Lines that were too long.
    cut: u64,
    was_asked_for_less: bool,
}

/// Reads on in pieces, so that a file of any size takes no more memory than what is shown.
fn excerpt(
    mut source: impl io::Read,
    (first, last): (Option<u64>, Option<u64>),
    stop: &Stop,
) -> io::Result<Excerpt> {
    let first = first.unwrap_or(1);
    let room_for = first.saturating_add(MAX_LINES - 1);
    let wanted = last.unwrap_or(u64::MAX);
    let end = wanted.min(room_for);
    let mut excerpt = Excerpt {
        text: Vec::new(),
        first,
        last: first - 1,
        is_at_end: false,
        cut: 0,
        was_asked_for_less: wanted <= room_for,
    };
    let mut buffer = vec![0; 64 * 1024];
    // The line that is being read, and how many bytes of it are kept.
    let (mut line, mut kept, mut scanned) = (1, 0, 0);
    let mut has_begun = false;
    'reading: loop {
        let count = source.read(&mut buffer)?;
        scanned += count as u64;
        if count == 0 {
            excerpt.is_at_end = true;
            break;
        }
        if stop.is_due() || scanned > MAX_SCAN {
            return Err(io::Error::new(io::ErrorKind::Interrupted, "stopped"));
        }
        let chunk = buffer.get(..count).unwrap_or_default();
        for piece in chunk.split_inclusive(|b| *b == b'\n') {
            if line > end || excerpt.text.len() >= MODEL_TEXT - MAX_LINE {
                break 'reading;
            }
            has_begun = true;
            let ends = piece.ends_with(b"\n");
            if line >= first {
                excerpt.take(piece, &mut kept);
            }
            if ends {
                excerpt.last = line.max(excerpt.first - 1);
                (line, kept, has_begun) = (line + 1, 0, false);
            }
        }
    }
    if has_begun && line >= first {
        excerpt.last = line;
    }
    Ok(excerpt)
}

impl Excerpt {
    fn take(&mut self, piece: &[u8], kept: &mut usize) {
        let body = piece.strip_suffix(b"\n").unwrap_or(piece);
        let room = MAX_LINE.saturating_sub(*kept);
        if body.len() > room {
            self.text.extend(body.get(..room).unwrap_or_default());
            if *kept <= MAX_LINE {
                self.text.extend("[… line cut]".as_bytes());
                self.cut += 1;
            }
            *kept = MAX_LINE + 1;
        } else {
            self.text.extend(body);
            *kept += body.len();
        }
        if piece.len() > body.len() {
            self.text.push(b'\n');
        }
    }

    fn output(self) -> ToolOutput {
        let text = String::from_utf8_lossy(&self.text);
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(&text);
        let damaged = text.matches('\u{FFFD}').count();
        let mut notes = Vec::new();
        if self.last < self.first {
            return ToolOutput::error(&format!("the file ends before line {}", self.first));
        }
        if !self.is_at_end && !self.was_asked_for_less {
            notes.push(format!(
                "[lines {}–{}; read on with start_line {}]",
                self.first,
                self.last,
                self.last + 1
            ));
        } else if self.first > 1 || !self.is_at_end {
            notes.push(format!("[lines {}–{}]", self.first, self.last));
        }
        if damaged > 0 {
            notes.push(format!("[{damaged} characters could not be read as UTF-8]"));
        }
        let mut output = ToolOutput::text(text);
        if !notes.is_empty() {
            let gap = if text.ends_with('\n') { "" } else { "\n" };
            output.text = format!("{}{gap}{}", output.text, notes.join("\n")).into();
        }
        output
    }
}
