//! One reply, from the bytes of a response to its events.

use std::sync::Arc;

use super::{
    calls::Mint,
    draft::{BodyEnd, Draft, Origin},
    encoding::{Decoder, More},
    error,
    frame::{JsonFramer, LineEnds, Lines, SseEvent, SseFrame, SseFramer, TooLarge},
    head::Head,
    json::{self, Repair},
    protocol::{self, Next, Protocol},
};
use crate::model::stream::{ErrorClass, StreamError, StreamEvent, WarningCode, Wire};

/// Bytes of a body, after decoding.
const BODY_LIMIT: usize = 512 << 20;
/// Bytes of an error's body that are read.
const ERROR_BODY_LIMIT: usize = 64 << 10;
/// Events in a row that may be no JSON.
const BAD_LIMIT: u32 = 3;

/// Reads one response, without IO: bytes are fed, events come out, and they are the same
/// however the bytes are cut.
///
/// ```
/// use letterpress::wire::{BodyEnd, Head, Reply, ReplySource};
/// use letterpress::model::stream::Wire;
///
/// let source = ReplySource { wire: Wire::Ollama, host: "localhost".into(), seed: 1 };
/// let head = Head::read(200, |_| None, 0);
/// let mut reply = Reply::new(&source, head);
/// let mut events = Vec::new();
/// reply.feed(b"{\"message\":{\"content\":\"Hi\"},\"done\":true}\n", &mut events);
/// reply.finish(BodyEnd::Eof, &mut events);
/// assert!(matches!(events.last(), Some(letterpress::model::stream::StreamEvent::End(_))));
/// ```
pub struct Reply {
    head: Head,
    decoder: Decoder,
    body: Body,
    reader: Reader,
    received: usize,
}

/// Where a reply comes from.
#[derive(Clone, Debug)]
pub struct ReplySource {
    /// The language it speaks.
    pub wire: Wire,
    /// The host that was asked.
    pub host: Arc<str>,
    /// Unique to the reply: ids of calls that have none are made from it. Time in the
    /// upper 48 bits (milliseconds since 1970), chance below.
    pub seed: u128,
}

/// How the body is framed.
enum Body {
    /// Not known before its first bytes.
    Unknown(Vec<u8>),
    Sse(SseFramer),
    Lines(Lines),
    Json(JsonFramer),
    /// A page for people, or the body of an error: kept up to a limit.
    Page(Vec<u8>),
}

/// Frames in, events out.
struct Reader {
    protocol: Box<dyn Protocol>,
    draft: Draft,
    bad_in_a_row: u32,
    /// The last value was seen.
    is_done: bool,
    is_over: bool,
}

impl Reply {
    /// A reply whose head has just come.
    #[must_use]
    pub fn new(source: &ReplySource, head: Head) -> Self {
        let origin = Origin { wire: source.wire, host: Arc::clone(&source.host) };
        let mut draft = Draft::new(origin);
        draft.head(&head);
        let decoder = Decoder::of(head.content_encoding.as_deref()).unwrap_or_else(|| {
            draft.fail(protocol_error("the body is compressed in a way that was not asked for"));
            Decoder::Identity
        });
        let body =
            if head.is_success() { Body::Unknown(Vec::new()) } else { Body::Page(Vec::new()) };
        let protocol = protocol::of(source.wire, Mint::new(source.seed));
        let reader = Reader { protocol, draft, bad_in_a_row: 0, is_done: false, is_over: false };
        Self { head, decoder, body, reader, received: 0 }
    }

    /// Takes the next bytes of the body. Does nothing once the reply is over.
    pub fn feed(&mut self, bytes: &[u8], out: &mut Vec<StreamEvent>) {
        if self.reader.is_over {
            return;
        }
        let Self { head, decoder, body, reader, received } = self;
        let decoded = decoder.feed(bytes, |piece| {
            *received += piece.len();
            if *received > BODY_LIMIT {
                reader.fail(too_large());
            } else if !reader.draft.has_failed() {
                body.feed(piece, head, reader);
            }
            if reader.stops() { More::Enough } else { More::Please }
        });
        if let Err(fault) = decoded {
            reader.fail(protocol_error(&format!("the compressed body is damaged: {fault}")));
        }
        if reader.stops() {
            reader.end(BodyEnd::Eof);
        }
        out.append(&mut reader.draft.take_events());
    }

    /// Takes the end of the body. Does nothing once the reply is over.
    pub fn finish(&mut self, end: BodyEnd, out: &mut Vec<StreamEvent>) {
        if self.reader.is_over {
            return;
        }
        let Self { head, body, reader, .. } = self;
        if let Body::Unknown(bytes) = body {
            let bytes = std::mem::take(bytes);
            body.decide(&bytes, head, reader);
        }
        body.finish(&end, head, reader);
        reader.end(end);
        out.append(&mut reader.draft.take_events());
    }

    /// The end was given out: nothing more is read.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.reader.is_over
    }

    /// Nothing more need be read: the reply is over, or what it is about is known.
    #[must_use]
    pub fn has_enough(&self) -> bool {
        let full = matches!(&self.body, Body::Page(page) if page.len() >= ERROR_BODY_LIMIT);
        full || self.reader.is_over
    }

    /// The provider said why it stopped: what follows is bookkeeping, worth a short wait.
    #[must_use]
    pub fn is_finishing(&self) -> bool {
        self.reader.draft.is_finishing()
    }
}

impl Body {
    fn feed(&mut self, bytes: &[u8], head: &Head, reader: &mut Reader) {
        let fed = match self {
            Self::Unknown(begin) => {
                begin.extend_from_slice(bytes);
                if is_decisive(begin, head) {
                    let begin = std::mem::take(begin);
                    self.decide(&begin, head, reader);
                }
                return;
            }
            Self::Page(page) => {
                let room = ERROR_BODY_LIMIT.saturating_sub(page.len());
                page.extend(bytes.iter().take(room));
                return;
            }
            Self::Sse(framer) => {
                let mut frames = Vec::new();
                let fed = framer.feed(bytes, &mut frames);
                reader.frames(frames);
                fed
            }
            Self::Lines(lines) => lines.feed(bytes, |line| reader.bytes(line)),
            Self::Json(framer) => framer.feed(bytes, |value| reader.bytes(value)),
        };
        if fed == Err(TooLarge) {
            reader.fail(too_large());
        }
    }

    /// Chooses the framing by the declared type and the first bytes, and feeds those.
    fn decide(&mut self, begin: &[u8], head: &Head, reader: &mut Reader) {
        if begin.starts_with(&[0x1F, 0x8B]) {
            return reader.fail(protocol_error("compressed data without a header"));
        }
        let first = first_byte(begin);
        *self = match (head.content_type.as_str(), first) {
            ("text/event-stream", _) => Self::Sse(SseFramer::new()),
            ("application/x-ndjson" | "application/jsonl", _) => {
                Self::Lines(Lines::new(LineEnds::Lf))
            }
            ("text/html", _) | (_, Some(b'<')) => Self::Page(Vec::new()),
            (_, Some(b'{' | b'[')) => Self::Json(JsonFramer::new()),
            _ => Self::Sse(SseFramer::new()),
        };
        self.feed(begin, head, reader);
    }

    fn finish(&mut self, end: &BodyEnd, head: &Head, reader: &mut Reader) {
        match self {
            Self::Unknown(_) => {}
            Self::Page(page) => {
                let text = String::from_utf8_lossy(page);
                reader.fail(if head.is_success() {
                    error::of_html(head.status, &text)
                } else {
                    error::of_response(head, &text)
                });
            }
            Self::Sse(framer) => {
                let mut frames = Vec::new();
                let pending = framer.finish(&mut frames);
                if *end == BodyEnd::Eof {
                    reader.frames(frames);
                    reader.cut_event(pending);
                }
                reader.stray(framer.stray(), head);
            }
            Self::Lines(lines) => reader.cut(lines.finish()),
            Self::Json(framer) => reader.cut(framer.finish()),
        }
    }
}

/// Enough bytes are there to tell how the body is framed.
fn is_decisive(begin: &[u8], head: &Head) -> bool {
    let declared = matches!(
        head.content_type.as_str(),
        "text/event-stream" | "application/x-ndjson" | "application/jsonl" | "text/html"
    );
    // Two bytes show compressed data; and nobody sends this much blank space in good faith.
    let enough = begin.len() >= 2 && !BYTE_ORDER_MARK.starts_with(begin);
    enough && (declared || first_byte(begin).is_some()) || begin.len() > ERROR_BODY_LIMIT
}

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

fn first_byte(begin: &[u8]) -> Option<u8> {
    let text = begin.strip_prefix(BYTE_ORDER_MARK).unwrap_or(begin);
    text.iter().copied().find(|byte| !byte.is_ascii_whitespace())
}

impl Reader {
    fn frames(&mut self, frames: Vec<SseFrame>) {
        for frame in frames {
            match frame {
                SseFrame::Event(event) => self.event(&event),
                SseFrame::Comment if !self.stops() => self.draft.keep_alive(),
                SseFrame::BadUtf8 if !self.stops() => self.draft.warn(WarningCode::BadUtf8, ""),
                SseFrame::Error(text) => self.error_field(&text),
                SseFrame::Comment | SseFrame::BadUtf8 => {}
            }
        }
    }

    fn event(&mut self, event: &SseEvent) {
        let data = event.data.trim();
        if self.stops() {
        } else if data.is_empty() {
            self.draft.warn(WarningCode::EmptyData, "");
        } else if data.starts_with("[DONE]") {
            self.draft.set_terminator(true);
            self.is_done = true;
        } else {
            self.text(&event.name, data);
        }
    }

    /// A value as bytes, outside server-sent events.
    fn bytes(&mut self, bytes: &[u8]) {
        if self.stops() || bytes.trim_ascii().is_empty() {
            return;
        }
        let text = String::from_utf8_lossy(bytes);
        if matches!(text, std::borrow::Cow::Owned(_)) {
            self.draft.warn(WarningCode::BadUtf8, "");
        }
        self.text("message", text.trim());
    }

    fn text(&mut self, event: &str, text: &str) {
        match json::parse(text) {
            Ok((value, repair)) => {
                if repair == Repair::Surrogates {
                    self.draft.warn(WarningCode::BadSurrogate, "");
                }
                self.bad_in_a_row = 0;
                self.value(event, value);
            }
            Err(_) if event == "error" => self.error_field(text),
            Err(fault) => self.bad(&fault.to_string()),
        }
    }

    fn value(&mut self, event: &str, value: serde_json::Value) {
        if let serde_json::Value::Array(values) = value {
            for value in values {
                if !self.stops() {
                    self.value(event, value);
                }
            }
        } else if self.protocol.value(event, value, &mut self.draft) == Next::Over {
            self.is_done = true;
        }
    }

    /// An event that is not JSON costs itself; several in a row cost the reply.
    fn bad(&mut self, fault: &str) {
        self.draft.warn(WarningCode::BadJson, fault);
        self.bad_in_a_row += 1;
        if self.bad_in_a_row == BAD_LIMIT {
            self.fail(protocol_error("the server sends something that is not JSON"));
        }
    }

    /// The value of a field called `error`, or of an event called so: JSON or plain words.
    fn error_field(&mut self, text: &str) {
        let value = match json::parse(text) {
            Ok((value, _)) => value,
            Err(_) => serde_json::Value::String(text.to_owned()),
        };
        self.draft.fail_with(&value);
    }

    /// The event that a clean end of the body cut off: taken when it is whole.
    fn cut_event(&mut self, event: Option<SseEvent>) {
        let Some(event) = event else { return };
        let data = event.data.trim();
        if data.starts_with("[DONE]") || json::parse(data).is_ok() {
            self.event(&event);
        }
    }

    /// The value that the end of the body cut off: taken when it is whole.
    fn cut(&mut self, bytes: Option<Vec<u8>>) {
        let Some(bytes) = bytes else { return };
        let text = String::from_utf8_lossy(&bytes);
        if json::parse(text.trim()).is_ok() {
            self.bytes(&bytes);
        } else if !self.draft.has_content() {
            self.bad(&format!("cut off after {} bytes", bytes.len()));
            self.fail(protocol_error("the reply is not whole"));
        }
    }

    /// Lines between events that are no fields: an error document without framing, a page
    /// for people, or nothing to speak of.
    fn stray(&mut self, text: &str, head: &Head) {
        let document = text.find('{').and_then(|at| text.get(at..));
        let parsed = document.and_then(|document| json::parse(document.trim()).ok());
        match parsed {
            Some((value, _)) if error::is_error(&value) => self.draft.fail_with(&value),
            _ if self.draft.has_content() || text.trim().is_empty() => {}
            _ if error::looks_like_html(text) => self.fail(error::of_html(head.status, text)),
            _ => {
                let words: String = text.trim().chars().take(200).collect();
                self.fail(protocol_error(&format!("the server said: {words}")));
            }
        }
    }

    fn fail(&mut self, error: StreamError) {
        self.draft.fail(error);
    }

    /// Whatever else the body holds no longer counts.
    fn stops(&self) -> bool {
        self.is_done || self.draft.has_failed()
    }

    fn end(&mut self, end: BodyEnd) {
        self.protocol.close(&mut self.draft);
        self.draft.end(end);
        self.is_over = true;
    }
}

fn protocol_error(words: &str) -> StreamError {
    StreamError::new(ErrorClass::Protocol, words)
}

fn too_large() -> StreamError {
    StreamError::new(ErrorClass::TooLarge, "the reply is larger than is allowed")
}
