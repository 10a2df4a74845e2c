//! Parts of a message from the JSON that several formats share.

use std::{collections::HashMap, sync::Arc};

use base64::{
    Engine as _, alphabet,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};
use serde_json::Value;

use crate::model::{
    Image, ImageData, Message, Output, Part, Raw, Role, SourceLine, StopReason, Text, Thinking,
    ToolCall, ToolResult, ToolSituation, ToolState,
};

use super::{
    squeeze::{self, HEAD_BYTES, TAIL_BYTES},
    time,
};

/// A longer text is cut in the middle.
const TEXT_MAX: usize = 8 * 1024 * 1024;
const PICTURE_BASE64_MAX: usize = 20_000_000;
const DETAILS_BYTES_MAX: usize = 64 * 1024;
const RAW_BYTES_MAX: usize = 64 * 1024;

/// A record in memory.
#[derive(Debug)]
pub(super) struct Loaded {
    pub(super) value: Value,
    /// Bytes left out of each of its strings that was cut.
    pub(super) cuts: Vec<u64>,
    pub(super) line: SourceLine,
}

/// A message that still takes lines and results.
#[derive(Debug)]
pub(super) struct Draft {
    pub(super) message: Message,
    /// For each part that is a call: when it was made.
    call_times: HashMap<usize, Option<i64>>,
    calls: HashMap<Arc<str>, Slots>,
}

/// The calls of a message that share an id.
#[derive(Debug, Default)]
struct Slots {
    parts: Vec<usize>,
    answered: usize,
}

impl Draft {
    pub(super) fn new(message: Message) -> Self {
        let mut draft = Self {
            message: Message { parts: Vec::new(), ..message.clone() },
            call_times: HashMap::new(),
            calls: HashMap::new(),
        };
        draft.append(message);
        draft
    }

    /// Takes the next line of the same message. Its usage replaces what came before:
    /// each line repeats the count so far.
    pub(super) fn append(&mut self, line: Message) {
        for part in line.parts {
            if let Part::ToolCall(call) = &part {
                let place = self.message.parts.len();
                self.calls.entry(Arc::clone(&call.id)).or_default().parts.push(place);
                self.call_times.insert(place, line.timestamp_ms);
            }
            self.message.parts.push(part);
        }
        self.message.stop = line.stop.or_else(|| self.message.stop.take());
        self.message.usage = line.usage.or(self.message.usage);
        self.message.error = line.error.or_else(|| self.message.error.take());
        self.message.model = self.message.model.take().or(line.model);
    }

    /// Puts a result into the call it answers; a further one replaces it. Gives back a
    /// result that answers no call of this message.
    pub(super) fn answer(&mut self, result: ToolResult, at_ms: Option<i64>) -> Option<ToolResult> {
        let Some(slots) = self.calls.get_mut(&result.call_id) else { return Some(result) };
        // The nearest call before takes the result first, as in the index.
        let turn = slots.parts.len().saturating_sub(1 + slots.answered);
        let is_further = slots.answered >= slots.parts.len();
        let place = if is_further { slots.parts.last() } else { slots.parts.get(turn) };
        slots.answered += 1;
        let place = *place?;
        let Some(Part::ToolCall(call)) = self.message.parts.get_mut(place) else { return None };
        let called_ms = self.call_times.get(&place).copied().flatten();
        let call = Arc::make_mut(call);
        call.superseded += u32::from(is_further);
        call.duration_ms =
            called_ms.zip(at_ms).and_then(|(from, to)| u64::try_from(to.checked_sub(from)?).ok());
        call.result = Some(Arc::new(result));
        None
    }

    /// The message, with the state of each of the model's calls.
    pub(super) fn finish(mut self) -> Message {
        if matches!(self.message.role, Role::Custom(_)) {
            return self.message;
        }
        let stop = self.message.stop.take();
        for part in &mut self.message.parts {
            let Part::ToolCall(call) = part else { continue };
            let is_error = call.result.as_ref().map(|result| result.is_error);
            let situation = ToolSituation {
                result_is_error: is_error,
                stop: stop.as_ref(),
                ..ToolSituation::default()
            };
            Arc::make_mut(call).state = ToolState::of(situation);
        }
        self.message.stop = stop;
        self.message
    }
}

impl Loaded {
    /// The parts of a message's content, results aside: those stand in their calls.
    pub(super) fn parts(&self, content: &Value) -> Vec<Part> {
        match content {
            Value::String(text) => vec![text_part(text)],
            Value::Array(blocks) => blocks.iter().filter_map(|block| self.part(block)).collect(),
            Value::Null => Vec::new(),
            other => vec![self.raw("unknown content", other)],
        }
    }

    fn part(&self, block: &Value) -> Option<Part> {
        if let Value::String(text) = block {
            return Some(text_part(text));
        }
        let text = |key: &str| block.get(key).and_then(Value::as_str);
        Some(match text("type").unwrap_or("") {
            "text" => match text("text") {
                Some(text) => text_part(text),
                None => self.raw("text block without text", block),
            },
            "thinking" => {
                let redacted = block.get("redacted").and_then(Value::as_bool).unwrap_or(false);
                thinking(text("thinking").or_else(|| text("text")).unwrap_or(""), redacted)
            }
            "redacted_thinking" => thinking("", true),
            "image" => Part::Image(image(block)),
            "toolCall" | "tool_use" => Part::ToolCall(Arc::new(call(block))),
            "tool_result" => return None,
            "document" => self.raw("document", block),
            other => self.raw(&format!("unknown content block \"{}\"", label_of(other)), block),
        })
    }

    /// The result of a `tool_result` block or a `toolResult` message.
    pub(super) fn result(&self, block: &Value, call_id: &str, is_error: bool) -> ToolResult {
        let mut text = String::new();
        let mut images = Vec::new();
        match block.get("content") {
            None | Some(Value::Null) => {}
            Some(Value::String(content)) => text.push_str(content),
            Some(Value::Array(blocks)) => {
                for block in blocks {
                    if block.get("type").and_then(Value::as_str) == Some("image") {
                        images.push(image(block));
                        continue;
                    }
                    let words = block.as_str().or_else(|| block.get("text")?.as_str());
                    if !text.is_empty() {
                        text.push('\n');
                    }
                    match words {
                        Some(words) => text.push_str(words),
                        None => text.push_str(&block.to_string()),
                    }
                }
            }
            Some(other) => text = other.to_string(),
        }
        let tool_name = block.get("toolName").and_then(Value::as_str).unwrap_or("");
        ToolResult {
            call_id: call_id.into(),
            tool_name: tool_name.into(),
            is_error,
            output: self.output(&text),
            told: None,
            images,
            details: Value::Null,
        }
    }

    /// A tool's text; what a cut left out is counted.
    pub(super) fn output(&self, text: &str) -> Output {
        let of_record: u64 =
            self.cuts.iter().filter(|cut| text.contains(&squeeze::note(**cut))).sum();
        match squeeze::shorten(text, TEXT_MAX, HEAD_BYTES, TAIL_BYTES) {
            Some((text, dropped)) => Output { omitted: of_record + dropped, ..Output::plain(text) },
            None => Output { omitted: of_record, ..Output::plain(text) },
        }
    }

    /// What is not understood, as it was found.
    pub(super) fn raw(&self, label: &str, value: &Value) -> Part {
        Part::Raw(Raw { label: label.into(), text: raw_text(value), line: self.line })
    }
}

/// A text, cut in the middle when it is huge.
pub(super) fn text_of(text: &str) -> Text {
    match squeeze::shorten(text, TEXT_MAX, HEAD_BYTES, TAIL_BYTES) {
        Some((text, _)) => Text::unparsed(text),
        None => Text::unparsed(text),
    }
}

pub(super) fn text_part(text: &str) -> Part {
    Part::Text(text_of(text))
}

fn thinking(text: &str, redacted: bool) -> Part {
    Part::Thinking(Thinking { text: text_of(text), redacted, duration_ms: None })
}

fn call(block: &Value) -> ToolCall {
    let text = |key: &str| block.get(key).and_then(Value::as_str).unwrap_or("");
    let arguments = block.get("arguments").or_else(|| block.get("input"));
    ToolCall {
        id: text("id").into(),
        name: text("name").into(),
        arguments: arguments.cloned().unwrap_or(Value::Null),
        state: ToolState::NoResult,
        result: None,
        superseded: 0,
        duration_ms: None,
    }
}

/// A picture in any of the shapes that are known.
pub(super) fn image(block: &Value) -> Image {
    let source = block.get("source").unwrap_or(block);
    let text = |key: &str| source.get(key).and_then(Value::as_str);
    let media_type = text("media_type").or_else(|| text("mimeType")).unwrap_or("");
    let data = match (text("data").or_else(|| text("content")), text("url")) {
        (Some(data), _) => decoded(data),
        (None, Some(address)) => match address.split_once(";base64,") {
            Some((head, data)) if head.starts_with("data:") => decoded(data),
            _ => ImageData::Address(address.into()),
        },
        (None, None) => ImageData::Unusable("the picture has no data".into()),
    };
    Image { media_type: media_type.into(), data, size: None }
}

fn decoded(base64: &str) -> ImageData {
    let config =
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
    let engine = GeneralPurpose::new(&alphabet::STANDARD, config);
    if base64.len() > PICTURE_BASE64_MAX || base64.contains('…') {
        return ImageData::Unusable("the picture is too large to keep".into());
    }
    let bytes = engine.decode(base64).or_else(|error| {
        let dense: String = base64.split_ascii_whitespace().collect();
        if dense.len() == base64.len() { Err(error) } else { engine.decode(dense) }
    });
    match bytes {
        Ok(bytes) => ImageData::Bytes(bytes.into()),
        Err(_not_base64) => ImageData::Unusable("the picture is not valid base64".into()),
    }
}

/// Structured extras, unless they are heavy.
pub(super) fn light(value: Option<&Value>) -> Value {
    let mut budget = DETAILS_BYTES_MAX;
    value.filter(|value| weigh(value, &mut budget)).cloned().unwrap_or(Value::Null)
}

/// False as soon as a value weighs more than the budget.
fn weigh(value: &Value, budget: &mut usize) -> bool {
    let own = match value {
        Value::String(text) => text.len() + 2,
        Value::Null | Value::Bool(_) | Value::Number(_) => 5,
        Value::Array(_) | Value::Object(_) => 2,
    };
    let Some(left) = budget.checked_sub(own) else { return false };
    *budget = left;
    match value {
        Value::Array(items) => items.iter().all(|item| weigh(item, budget)),
        Value::Object(members) => members.iter().all(|(key, member)| {
            let fits = *budget > key.len() + 3;
            *budget = budget.saturating_sub(key.len() + 3);
            fits && weigh(member, budget)
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => true,
    }
}

/// JSON as text, shortened in the middle when it is huge.
pub(super) fn raw_text(value: &Value) -> Arc<str> {
    let text = value.to_string();
    let half = RAW_BYTES_MAX / 2;
    squeeze::shorten(&text, RAW_BYTES_MAX, half, half).map_or(text, |(text, _)| text).into()
}

/// A name from the source, short enough for a label.
pub(super) fn label_of(name: &str) -> &str {
    name.get(..name.floor_char_boundary(80)).unwrap_or(name)
}

/// A time as text or as milliseconds.
pub(super) fn time_ms(value: Option<&Value>) -> Option<i64> {
    match value? {
        Value::String(text) => time::iso_ms(text.as_bytes()),
        Value::Number(ms) => ms.as_f64().map(|ms| ms as i64),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A stop reason by any of the names that are known.
pub(super) fn stop_reason(name: &str) -> StopReason {
    match name {
        "stop" | "end_turn" | "stop_sequence" => StopReason::Stop,
        "length" | "max_tokens" => StopReason::Length,
        "toolUse" | "tool_use" => StopReason::ToolUse,
        "error" => StopReason::Error,
        "aborted" => StopReason::Aborted,
        other => StopReason::Other(other.into()),
    }
}

/// 155000 as "155,000".
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
