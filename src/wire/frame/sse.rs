//! Server-sent events, strictly by the rules, with what lies outside them kept apart.

use super::{EVENT_LIMIT, LineEnds, Lines, TooLarge};

/// What a stream of server-sent events is made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SseFrame {
    /// An event.
    Event(SseEvent),
    /// A field called `error`: some servers fail this way. Holds its value.
    Error(String),
    /// A comment: the server is alive.
    Comment,
    /// The line that the next frame comes from held bytes that are not UTF-8.
    BadUtf8,
}

/// One event as it is dispatched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SseEvent {
    /// Its type; `message` when none was given.
    pub name: String,
    /// Its data lines, joined with LF.
    pub data: String,
    /// The last event id so far.
    pub id: String,
}

/// Bytes of lines outside the rules that are kept.
const STRAY_LIMIT: usize = 64 << 10;

/// Cuts chunks of bytes into events.
#[derive(Debug)]
pub struct SseFramer {
    lines: Lines,
    event: Pending,
}

/// The event being collected.
#[derive(Debug, Default)]
struct Pending {
    /// A first line was seen, so a byte order mark can no longer come.
    begun: bool,
    name: String,
    /// Data lines, each followed by LF; empty when there were none.
    data: String,
    id: String,
    /// The id as of the last event that was whole.
    whole_id: String,
    retry_ms: Option<u64>,
    stray: String,
    too_large: bool,
}

impl Default for SseFramer {
    fn default() -> Self {
        Self::new()
    }
}

impl SseFramer {
    /// A framer at the start of a body.
    #[must_use]
    pub fn new() -> Self {
        Self { lines: Lines::new(LineEnds::Any), event: Pending::default() }
    }

    /// Appends the frames that are complete now.
    ///
    /// # Errors
    /// When a line or an event grows over its limit.
    pub fn feed(&mut self, bytes: &[u8], out: &mut Vec<SseFrame>) -> Result<(), TooLarge> {
        let Self { lines, event } = self;
        lines.feed(bytes, |line| event.line(line, out))?;
        if event.too_large { Err(TooLarge) } else { Ok(()) }
    }

    /// The event that the end of the body cut off. By the rules it is dropped; a caller
    /// may use it when its data is whole.
    pub fn finish(&mut self, out: &mut Vec<SseFrame>) -> Option<SseEvent> {
        if let Some(line) = self.lines.finish() {
            self.event.line(&line, out);
        }
        self.event.take()
    }

    /// The id of the last whole event that had one, of those without data too.
    #[must_use]
    pub fn last_id(&self) -> &str {
        &self.event.whole_id
    }

    /// The pause before reconnecting that the server asked for last, in milliseconds. A
    /// reply is never asked for again by itself, so only a feed heeds it.
    #[must_use]
    pub fn retry_ms(&self) -> Option<u64> {
        self.event.retry_ms
    }

    /// Lines that are no field, for the error documents some servers send without framing.
    #[must_use]
    pub fn stray(&self) -> &str {
        &self.event.stray
    }
}

impl Pending {
    fn line(&mut self, mut line: &[u8], out: &mut Vec<SseFrame>) {
        if !std::mem::replace(&mut self.begun, true) {
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        if line.is_empty() {
            self.id.clone_into(&mut self.whole_id);
            out.extend(self.take().map(SseFrame::Event));
            return;
        }
        let text = String::from_utf8_lossy(line);
        if matches!(text, std::borrow::Cow::Owned(_)) {
            out.push(SseFrame::BadUtf8);
        }
        let (name, value) = text.split_once(':').unwrap_or((&text, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "" => out.push(SseFrame::Comment),
            "data" => self.data(value),
            "event" => value.clone_into(&mut self.name),
            "id" if !value.contains('\0') => value.clone_into(&mut self.id),
            "retry" if !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit()) => {
                self.retry_ms = value.parse().ok();
            }
            "error" => out.push(SseFrame::Error(value.to_owned())),
            "id" | "retry" => {}
            _ => self.keep_stray(&text),
        }
    }

    fn data(&mut self, value: &str) {
        if self.data.len() + value.len() >= EVENT_LIMIT {
            self.too_large = true;
            return;
        }
        self.data.push_str(value);
        self.data.push('\n');
    }

    /// The event at an empty line, which also forgets its type when there is no data.
    fn take(&mut self) -> Option<SseEvent> {
        let name = std::mem::take(&mut self.name);
        let mut data = std::mem::take(&mut self.data);
        data.pop()?;
        let name = if name.is_empty() { "message".to_owned() } else { name };
        Some(SseEvent { name, data, id: self.id.clone() })
    }

    fn keep_stray(&mut self, line: &str) {
        if self.stray.len() + line.len() < STRAY_LIMIT {
            self.stray.push_str(line);
            self.stray.push('\n');
        }
    }
}
