//! A message of a log in full: its records, or what came of it, and its blobs.

use std::{cell::Cell, fs, io::Read as _, path::Path, sync::Arc};

use serde_json::Value;

use crate::{
    model::{
        Message, Output, Part, Text,
        record::{self, Kind, Unfinished, line},
    },
    transcript::{
        mend,
        squeeze::{self, HEAD_BYTES, TAIL_BYTES},
    },
};

/// A blob that is longer is read at its ends alone.
const BLOB_MAX: u64 = 24 * 1024 * 1024;
/// Bytes of blobs read for one row.
const BLOBS_MAX: u64 = 96 * 1024 * 1024;
/// A longer text is cut in the middle.
const TEXT_MAX: usize = 8 * 1024 * 1024;

/// How a message of a log stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// More of it may come.
    Open,
    /// If its end is not there, it will never come.
    Closed,
}

/// The message of a record, or of the records of an answer that has no end. None when they
/// are not what they were.
pub(crate) fn message(
    bytes: &[u8],
    standing: Standing,
    log: Option<&Path>,
) -> Option<(Message, Vec<String>)> {
    let blobs = Blobs { folder: log.and_then(Path::parent), left: Cell::new(BLOBS_MAX) };
    let load = |sha: &str| blobs.load(sha);
    let first = bytes.split(|byte| *byte == b'\n').next()?;
    let first = line::parse(first).ok()?;
    let body = body_of(&first)?;
    let key = record::id_of(&body, first.n);
    let (mut message, warnings) = match first.kind {
        Kind::AssistantStart
        | Kind::Partial
        | Kind::ToolCall
        | Kind::Approval
        | Kind::ToolResult => unfinished(bytes, &key, standing, &load),
        Kind::Meta
        | Kind::User
        | Kind::Edit
        | Kind::AssistantFinal
        | Kind::Error
        | Kind::Branch
        | Kind::Usage
        | Kind::Other => {
            let (message, _, warnings) = record::decode_message(&body, first.kind.role(), &load);
            (message, warnings)
        }
    };
    message.key = key;
    message.parts.iter_mut().for_each(shorten);
    Some((message, warnings))
}

/// Puts an answer together from the records that were written of it.
fn unfinished(
    bytes: &[u8],
    key: &str,
    standing: Standing,
    load: &dyn Fn(&str) -> Option<Vec<u8>>,
) -> (Message, Vec<String>) {
    let mut unfinished = Unfinished::default();
    let mut last = None;
    for line in bytes.split(|byte| *byte == b'\n') {
        let Ok(line) = line::parse(line) else { continue };
        // What was written twice is said once.
        if last.is_some_and(|last| line.n <= last) {
            continue;
        }
        let Some(body) = body_of(&line).filter(|body| *record::id_of(body, line.n) == *key) else {
            continue;
        };
        last = Some(line.n);
        unfinished.take(line.kind, &body, line.at_ms, load);
    }
    match standing {
        Standing::Open => unfinished.so_far(),
        Standing::Closed => unfinished.interrupted(),
    }
}

fn body_of(line: &line::Line<'_>) -> Option<Value> {
    mend::parse(line.body.as_bytes()).ok()
}

/// The blobs beside a log.
struct Blobs<'a> {
    folder: Option<&'a Path>,
    left: Cell<u64>,
}

impl Blobs<'_> {
    fn load(&self, sha: &str) -> Option<Vec<u8>> {
        let path = self.folder?.join("blobs").join(sha);
        // A link could lead anywhere.
        let len = fs::symlink_metadata(&path).ok().filter(fs::Metadata::is_file)?.len();
        let cost = len.min(BLOB_MAX);
        let left = self.left.get().checked_sub(cost)?;
        self.left.set(left);
        let mut bytes = Vec::new();
        let file = fs::File::open(&path).ok()?;
        file.take(BLOB_MAX + 1).read_to_end(&mut bytes).ok()?;
        if bytes.len() as u64 > BLOB_MAX {
            return Some(ends(&path, &bytes, len));
        }
        Some(bytes)
    }
}

/// The beginning and the end of a blob that is too long to hold.
fn ends(path: &Path, beginning: &[u8], len: u64) -> Vec<u8> {
    let mut bytes = beginning.get(..HEAD_BYTES).unwrap_or(beginning).to_vec();
    let dropped = len.saturating_sub((HEAD_BYTES + TAIL_BYTES) as u64);
    bytes.extend(squeeze::note(dropped).bytes());
    let mut tail = Vec::new();
    let read = fs::File::open(path).and_then(|mut file| {
        use std::io::Seek as _;
        file.seek(std::io::SeekFrom::End(-(TAIL_BYTES as i64)))?;
        file.take(TAIL_BYTES as u64).read_to_end(&mut tail)
    });
    if read.is_ok() {
        bytes.extend(tail);
    }
    bytes
}

/// Cuts texts in the middle that are too long to set.
fn shorten(part: &mut Part) {
    match part {
        Part::Text(text) => shorten_text(text),
        Part::Thinking(thinking) => shorten_text(&mut thinking.text),
        Part::Notice(notice) => shorten_text(&mut notice.text),
        Part::ToolCall(call) => {
            if let Some(result) = &mut Arc::make_mut(call).result {
                shorten_output(&mut Arc::make_mut(result).output);
            }
        }
        Part::ToolResult(result) => shorten_output(&mut Arc::make_mut(result).output),
        Part::Image(_) | Part::Raw(_) => {}
    }
}

fn shorten_text(text: &mut Text) {
    if let Some((short, _)) = squeeze::shorten(&text.source, TEXT_MAX, HEAD_BYTES, TAIL_BYTES) {
        *text = Text::unparsed(short);
    }
}

fn shorten_output(output: &mut Output) {
    if let Some((short, dropped)) =
        squeeze::shorten(&output.source, TEXT_MAX, HEAD_BYTES, TAIL_BYTES)
    {
        *output = Output { omitted: output.omitted + dropped, ..Output::plain(short) };
    }
}
