//! Reading one row: its records from the file, its message from their JSON.

use std::sync::Arc;

use serde_json::Value;

use crate::model::{
    Message, MessageId, Notice, NoticeKind, Part, Raw, Role, SourceLine, Text, ToolResult, Warning,
};

use super::{
    Format, Index, Transcript, claude,
    file::PositionedFile,
    glance::Glance,
    housekeeping,
    indexer::LINE_MAX,
    json::{Cursor, Fault},
    letterpress::{self, read::Standing},
    mend,
    parts::{Draft, Loaded, label_of, raw_text, text_of},
    pi,
    record::{Flags, Record, RecordKind},
    squeeze::{self, Squeezer},
};

const PIECE_BYTES: usize = 1 << 20;
/// Records of one row that are read; of more, the first and the last half.
const ROW_RECORDS_MAX: usize = 4096;
/// Bytes of one row that are read.
const ROW_BYTES_MAX: u64 = 96 * 1024 * 1024;
/// Raw parts of one row of housekeeping.
const HOUSEKEEPING_PARTS_MAX: usize = 200;
/// Messages of a sub-agent that are summarised.
const SIDECHAIN_MESSAGES_MAX: usize = 200;
/// Bytes shown of a raw record: of its start and of its end.
const RAW_SHOWN: [usize; 2] = [48 * 1024, 16 * 1024];
const HOUSEKEEPING_SHOWN: [usize; 2] = [12 * 1024, 4 * 1024];

/// Why a record cannot be read again.
#[derive(Clone, Copy, Debug)]
struct Unreadable(&'static str);

const CHANGED: Unreadable = Unreadable(CHANGED_WORDS);

/// The warning of a message whose records are no longer what they were when indexed.
pub const CHANGED_WORDS: &str = "the file changed since it was opened";

/// Reads one row.
pub(super) fn message(
    transcript: &Transcript,
    index: &Index,
    row: usize,
) -> (Message, Vec<Warning>) {
    let mut reader = Reader { transcript, index, warnings: Vec::new() };
    let message = match index.head_of(row) {
        Some(number) => reader.row(number),
        None => blank(MessageId(u64::MAX), SourceLine(0)),
    };
    (message, reader.warnings)
}

/// Reads a record's bytes; those of a record that is too long to hold are squeezed.
fn record_bytes(file: &PositionedFile, record: &Record) -> Result<Vec<u8>, Unreadable> {
    if record.len as usize > LINE_MAX {
        return squeezed(file, record).map(|squeezed| squeezed.json);
    }
    let bytes = file.read_vec(record.start(), record.len as usize);
    if bytes.len() < record.len as usize { Err(CHANGED) } else { Ok(bytes) }
}

fn squeezed(file: &PositionedFile, record: &Record) -> Result<squeeze::Squeezed, Unreadable> {
    let mut squeezer = Squeezer::new();
    let mut piece = vec![0; PIECE_BYTES];
    let (mut at, end) = (record.start(), record.start() + u64::from(record.len));
    while at < end {
        let wanted = PIECE_BYTES.min((end - at) as usize);
        let space = piece.get_mut(..wanted).unwrap_or(&mut []);
        let got = file.read_full(space, at).unwrap_or(0);
        if got < wanted {
            return Err(CHANGED);
        }
        squeezer.feed(space);
        at += got as u64;
    }
    squeezer.finish().map_err(Unreadable)
}

struct Reader<'a> {
    transcript: &'a Transcript,
    index: &'a Index,
    warnings: Vec<Warning>,
}

impl Reader<'_> {
    fn row(&mut self, number: u32) -> Message {
        let Some(record) = self.index.records().get(number as usize).copied() else {
            return blank(MessageId(u64::MAX), SourceLine(0));
        };
        match record.kind {
            RecordKind::Damaged if self.transcript.format() == Format::Letterpress => {
                self.damaged_in_log(&record, self.index.line_of(number))
            }
            RecordKind::Damaged => self.damaged(&record, self.index.line_of(number)),
            RecordKind::Raw if self.transcript.format() != Format::Letterpress => {
                self.unknown(&record, number)
            }
            RecordKind::Housekeeping => self.housekeeping(&record, number),
            RecordKind::Sidechain => self.sidechain(&record, number),
            _ if self.transcript.format() == Format::Letterpress => self.logged(&record, number),
            RecordKind::Result => self.orphan(&record, number),
            RecordKind::Header
            | RecordKind::User
            | RecordKind::Assistant
            | RecordKind::Custom
            | RecordKind::Raw
            | RecordKind::Silent
            | RecordKind::Notice => self.whole(&record, number),
        }
    }

    /// The numbers of a row's records.
    fn chain(&self, first: u32) -> impl Iterator<Item = (u32, Record)> {
        let records = self.index.records();
        let of = |number: u32| records.get(number as usize).map(|record| (number, *record));
        std::iter::successors(of(first), move |(_, record)| of(record.next))
    }

    fn whole(&mut self, head: &Record, number: u32) -> Message {
        let chain: Vec<_> = self.chain(number).filter(|(_, r)| !r.has(Flags::SUPERSEDED)).collect();
        let skipped = chain.len().saturating_sub(ROW_RECORDS_MAX);
        let half = ROW_RECORDS_MAX / 2;
        let mut draft = None;
        let mut budget = ROW_BYTES_MAX;
        for (at, (number, record)) in chain.iter().enumerate() {
            let is_left_out = skipped > 0 && (half..half + skipped).contains(&at);
            let cost = u64::from(record.len).min(LINE_MAX as u64);
            if is_left_out || budget < cost {
                continue;
            }
            budget -= cost;
            self.take(&mut draft, record, *number);
        }
        if skipped > 0 || budget < LINE_MAX as u64 {
            self.warn(number, "parts of this message are left out, because it is too large");
        }
        let Some(draft) = draft else { return self.unreadable(head, number, CHANGED) };
        let mut message = draft.finish();
        message.id = MessageId(head.offset);
        message.line = self.index.line_of(number);
        message
    }

    /// Takes the next record of a message.
    fn take(&mut self, draft: &mut Option<Draft>, record: &Record, number: u32) {
        let loaded = match self.load(record, number) {
            Ok(loaded) => loaded,
            Err(reason) => {
                let broken = self.unreadable(record, number, reason);
                match draft {
                    Some(draft) => draft
                        .append(Message { parts: broken.parts, ..blank(broken.id, broken.line) }),
                    None => *draft = Some(Draft::new(broken)),
                }
                return;
            }
        };
        let result = (record.kind == RecordKind::Result).then(|| self.result(&loaded, record));
        match (draft, result) {
            (Some(draft), Some(Some((result, at_ms)))) => {
                if draft.answer(result, at_ms).is_some() {
                    self.warn(number, "the result of a call is no longer where it was");
                }
            }
            (_, Some(_)) => self.warn(number, "the result of a call is no longer where it was"),
            (Some(draft), None) => draft.append(self.parse(&loaded)),
            (slot @ None, None) => *slot = Some(Draft::new(self.parse(&loaded))),
        }
    }

    fn parse(&self, loaded: &Loaded) -> Message {
        match self.transcript.format() {
            Format::Pi => pi::read::message(loaded),
            Format::ClaudeCode => claude::read::message(loaded),
            // Its messages are read in another way.
            Format::Letterpress => blank(MessageId(0), loaded.line),
        }
    }

    fn result(&self, loaded: &Loaded, record: &Record) -> Option<(ToolResult, Option<i64>)> {
        match self.transcript.format() {
            Format::Pi => pi::read::result(loaded),
            Format::ClaudeCode => claude::read::result(loaded, usize::from(record.extra)),
            Format::Letterpress => None,
        }
    }

    fn load(&self, record: &Record, number: u32) -> Result<Loaded, Unreadable> {
        let line = self.index.line_of(number);
        let file = &self.transcript.file;
        if record.len as usize <= LINE_MAX {
            let bytes = record_bytes(file, record)?;
            let value = mend::parse(&bytes).map_err(|_changed| CHANGED)?;
            return Ok(Loaded { value, cuts: Vec::new(), line });
        }
        let squeezed = squeezed(file, record)?;
        let mut value = mend::parse(&squeezed.json).map_err(|_changed| CHANGED)?;
        squeeze::note_cuts_in(&mut value, &squeezed.cuts);
        Ok(Loaded { value, cuts: squeezed.cuts, line })
    }

    /// A result without a call.
    fn orphan(&mut self, record: &Record, number: u32) -> Message {
        let loaded = match self.load(record, number) {
            Ok(loaded) => loaded,
            Err(reason) => return self.unreadable(record, number, reason),
        };
        let Some((result, at_ms)) = self.result(&loaded, record) else {
            return self.unreadable(record, number, CHANGED);
        };
        Message {
            key: key(&loaded.value),
            role: Role::Tool,
            timestamp_ms: at_ms,
            parts: vec![Part::ToolResult(Arc::new(result))],
            ..blank(MessageId(record.offset), loaded.line)
        }
    }

    /// A message of a log of this program.
    fn logged(&mut self, head: &Record, number: u32) -> Message {
        let newest = self.chain(number).filter(|(_, record)| !record.is_replaced()).last();
        let record = newest.map_or(*head, |(_, record)| record);
        if record.len as usize > LINE_MAX {
            self.warn(number, "parts of this message are left out, because it is too large");
        }
        let file = &self.transcript.file;
        let bytes = file.read_vec(record.start(), (record.len as usize).min(LINE_MAX));
        let is_open = self.index.open == Some(number);
        let standing = if is_open { Standing::Open } else { Standing::Closed };
        let path = self.transcript.on_disk();
        let Some((mut message, warnings)) = letterpress::read::message(&bytes, standing, path)
        else {
            return self.unreadable(head, number, CHANGED);
        };
        warnings.iter().for_each(|warning| self.warn(number, warning));
        let line = self.index.line_of(number);
        for part in &mut message.parts {
            if let Part::Raw(raw) = part {
                raw.line = line;
            }
        }
        let began_ms = (head.time_secs > 0).then(|| i64::from(head.time_secs) * 1000);
        Message {
            id: MessageId(head.offset),
            line,
            timestamp_ms: message.timestamp_ms.or(began_ms),
            ..message
        }
    }

    fn damaged_in_log(&self, record: &Record, line: SourceLine) -> Message {
        let len = (record.len as usize).min(LINE_MAX);
        let bytes = self.transcript.file.read_vec(record.start(), len);
        let mut glance = Glance::default();
        let mut cursor = Cursor::new(&bytes);
        let what = match letterpress::glance::record(&mut cursor, &mut glance) {
            Ok(()) => Fault::Syntax.words(),
            Err(fault) => fault.words(),
        };
        let place = match line.0 {
            0 => format!("byte {}", record.start()),
            line => format!("line {line}, byte {}", record.start()),
        };
        let label = format!("1 damaged record: {place} {what}");
        raw_message(record, line, &label, self.excerpt(record, RAW_SHOWN))
    }

    fn damaged(&self, record: &Record, line: SourceLine) -> Message {
        let bytes =
            self.transcript.file.read_vec(record.start(), (record.len as usize).min(LINE_MAX));
        let what = if record.len as usize > LINE_MAX {
            "is too large, or damaged"
        } else {
            let text = String::from_utf8_lossy(&bytes);
            let mut cursor = Cursor::new(text.as_bytes());
            match cursor.skip() {
                Ok(()) if cursor.position() < text.len() => "holds more than one value",
                Ok(()) => Fault::Syntax.words(),
                Err(fault) => fault.words(),
            }
        };
        let label = match line.0 {
            0 => format!("this record {what}"),
            line => format!("line {line} {what}"),
        };
        raw_message(record, line, &label, self.excerpt(record, RAW_SHOWN))
    }

    fn unreadable(&mut self, record: &Record, number: u32, reason: Unreadable) -> Message {
        self.warn(number, reason.0);
        let line = self.index.line_of(number);
        raw_message(record, line, reason.0, self.excerpt(record, RAW_SHOWN))
    }

    /// A record that is valid, but not known.
    fn unknown(&self, record: &Record, number: u32) -> Message {
        let line = self.index.line_of(number);
        let Ok(loaded) = self.load(record, number) else {
            return raw_message(record, line, "unknown record", self.excerpt(record, RAW_SHOWN));
        };
        let text = |value: &Value, key: &str| value.get(key)?.as_str().map(str::to_owned);
        let name = text(&loaded.value, "type").unwrap_or_default();
        let role = loaded.value.get("message").and_then(|message| text(message, "role"));
        let is_message = name == "message";
        let label = match &role {
            Some(role) if is_message => format!("unknown role \"{}\"", label_of(role)),
            _ => format!("unknown record type \"{}\"", label_of(&name)),
        };
        let mut message = raw_message(record, line, &label, raw_text(&loaded.value));
        message.key = key(&loaded.value);
        message.timestamp_ms = super::parts::time_ms(loaded.value.get("timestamp"));
        if let Some(role) = role.filter(|_| is_message) {
            message.role = Role::Custom(label_of(&role).into());
        }
        message
    }

    fn housekeeping(&self, head: &Record, number: u32) -> Message {
        let codes = self.chain(number).map(|(_, record)| record.extra);
        let mut text = housekeeping::summary(codes);
        let count = self.chain(number).count();
        if count > HOUSEKEEPING_PARTS_MAX {
            text.push_str(&format!("; the first {HOUSEKEEPING_PARTS_MAX} are listed"));
        }
        let mut parts = vec![notice(NoticeKind::Other("housekeeping".into()), &text)];
        parts.extend(self.chain(number).take(HOUSEKEEPING_PARTS_MAX).map(|(number, record)| {
            Part::Raw(Raw {
                label: housekeeping::name(record.extra).into(),
                text: self.excerpt(&record, HOUSEKEEPING_SHOWN),
                line: self.index.line_of(number),
            })
        }));
        let timestamp_ms = (head.time_secs > 0).then(|| i64::from(head.time_secs) * 1000);
        Message { parts, timestamp_ms, ..blank(MessageId(head.offset), self.index.line_of(number)) }
    }

    fn sidechain(&self, head: &Record, number: u32) -> Message {
        let count = self.chain(number).count();
        let noun = if count == 1 { "message" } else { "messages" };
        let mut text = format!("Sub-agent: {count} {noun}\n");
        let mut budget = ROW_BYTES_MAX / 4;
        for (number, record) in self.chain(number).take(SIDECHAIN_MESSAGES_MAX) {
            let cost = u64::from(record.len);
            let line = match self.load(&record, number) {
                Ok(loaded) if cost <= budget => claude::read::digest(&loaded.value),
                _ => "- (not read)".to_owned(),
            };
            budget = budget.saturating_sub(cost);
            text.push('\n');
            text.push_str(&line);
        }
        if count > SIDECHAIN_MESSAGES_MAX {
            text.push_str(&format!("\n- … and {} more", count - SIDECHAIN_MESSAGES_MAX));
        }
        let timestamp_ms = (head.time_secs > 0).then(|| i64::from(head.time_secs) * 1000);
        Message {
            parts: vec![notice(NoticeKind::Other("sidechain".into()), &text)],
            timestamp_ms,
            ..blank(MessageId(head.offset), self.index.line_of(number))
        }
    }

    /// Start and end of a record as text.
    fn excerpt(&self, record: &Record, [head, tail]: [usize; 2]) -> Arc<str> {
        let file = &self.transcript.file;
        let len = record.len as usize;
        if len <= head + tail {
            return String::from_utf8_lossy(&file.read_vec(record.start(), len)).into();
        }
        let start = file.read_vec(record.start(), head);
        let end = file.read_vec(record.start() + (len - tail) as u64, tail);
        let (start, end) = (String::from_utf8_lossy(&start), String::from_utf8_lossy(&end));
        let start = start.trim_end_matches('\u{fffd}');
        let end = end.trim_start_matches('\u{fffd}');
        format!("{start}{}{end}", squeeze::note((len - head - tail) as u64)).into()
    }

    fn warn(&mut self, number: u32, message: &str) {
        self.warnings
            .push(Warning { line: self.index.line_of(number), message: message.to_owned() });
    }
}

/// A message of the host program without parts.
pub(super) fn blank(id: MessageId, line: SourceLine) -> Message {
    Message {
        id,
        key: "".into(),
        role: Role::System,
        timestamp_ms: None,
        model: None,
        parts: Vec::new(),
        stop: None,
        error: None,
        usage: None,
        line,
    }
}

/// A word of the host program.
pub(super) fn notice(kind: NoticeKind, text: &str) -> Part {
    let text: Text = text_of(text);
    Part::Notice(Notice { kind, text })
}

/// The id that a record gives itself.
pub(super) fn key(value: &Value) -> Arc<str> {
    let id = value.get("uuid").or_else(|| value.get("id"));
    id.and_then(Value::as_str).unwrap_or("").into()
}

fn raw_message(record: &Record, line: SourceLine, label: &str, text: Arc<str>) -> Message {
    Message {
        parts: vec![Part::Raw(Raw { label: label.into(), text, line })],
        ..blank(MessageId(record.offset), line)
    }
}
