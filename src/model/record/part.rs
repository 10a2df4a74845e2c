//! Parts of messages, calls and their results.

use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Map, Value, json};

use super::{
    INLINE_MAX,
    blob::{Blob, Decoder, Encoder},
};
use crate::model::{
    Image, ImageData, Notice, NoticeKind, Output, Part, Raw, SourceLine, Text, Thinking, ToolCall,
    ToolResult, ToolState,
};

/// Bytes shown of what is not understood.
const RAW_MAX: usize = 64 * 1024;

/// A part as it stands in a body.
pub(super) fn encode(part: &Part, encoder: &mut Encoder<'_>) -> Value {
    match part {
        Part::Text(text) => json!({ "type": "text", "text": encoder.text(&text.source) }),
        Part::Thinking(thinking) => encode_thinking(thinking, encoder),
        Part::Image(image) => encode_image(image, encoder),
        Part::ToolCall(call) => encode_call(call, encoder),
        Part::ToolResult(result) => {
            let mut object = encode_result(result, None, encoder);
            object.insert("type".into(), "tool_result".into());
            Value::Object(object)
        }
        Part::Notice(notice) => {
            let mut object = Map::new();
            object.insert("type".into(), "notice".into());
            object.insert("kind".into(), notice.kind.name().into());
            super::message::put_checkpoint(&mut object, notice);
            object.insert("text".into(), encoder.text(&notice.text.source));
            Value::Object(object)
        }
        Part::Raw(raw) => json!({
            "type": "raw", "label": encoder.text(&raw.label), "text": encoder.text(&raw.text),
        }),
    }
}

/// A part of a body. What is not understood is shown as it was found.
pub(super) fn decode(value: &Value, decoder: &mut Decoder<'_>) -> Part {
    let known = match text_of(value, "type") {
        "text" => text(value.get("text"), decoder).map(Part::Text),
        "thinking" => {
            let text = Text::unparsed(decoder.words(value.get("text")));
            let redacted = value.get("redacted").and_then(Value::as_bool).unwrap_or(false);
            let duration_ms = value.get("duration_ms").and_then(Value::as_u64);
            Ok(Part::Thinking(Thinking { text, redacted, duration_ms }))
        }
        "image" => Ok(Part::Image(decode_image(value, decoder))),
        "tool_call" => Ok(Part::ToolCall(Arc::new(decode_call(value, decoder)))),
        "tool_result" => Ok(Part::ToolResult(Arc::new(decode_result(value, None, decoder)))),
        "notice" => {
            let checkpoint = value.get("checkpoint").and_then(Value::as_str);
            let kind = notice_kind(text_of(value, "kind"), checkpoint);
            let text = Text::unparsed(decoder.words(value.get("text")));
            Ok(Part::Notice(Notice { kind, text }))
        }
        "raw" => Ok(Part::Raw(Raw {
            label: decoder.words(value.get("label")).into(),
            text: decoder.words(value.get("text")).into(),
            line: SourceLine(0),
        })),
        other => {
            let label = format!("unknown part \"{}\"", short(other, 80));
            decoder.warn(label.clone());
            Err(label)
        }
    };
    known.unwrap_or_else(|label| raw(&label, value))
}

/// What is not understood, as it was found.
pub(super) fn raw(label: &str, value: &Value) -> Part {
    let text = value.to_string();
    let shown = short(&text, RAW_MAX);
    let text = if shown.len() < text.len() { format!("{shown} …") } else { text };
    Part::Raw(Raw { label: label.into(), text: text.into(), line: SourceLine(0) })
}

fn text(value: Option<&Value>, decoder: &mut Decoder<'_>) -> Result<Text, String> {
    match decoder.text(value) {
        Some(text) => Ok(Text::unparsed(text?)),
        None => Err("text part without text".to_owned()),
    }
}

fn text_of<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or("")
}

fn short(text: &str, max: usize) -> &str {
    text.get(..text.floor_char_boundary(max)).unwrap_or(text)
}

fn encode_thinking(thinking: &Thinking, encoder: &mut Encoder<'_>) -> Value {
    let mut value = json!({ "type": "thinking", "text": encoder.text(&thinking.text.source) });
    if thinking.redacted {
        value["redacted"] = true.into();
    }
    if let Some(duration_ms) = thinking.duration_ms {
        value["duration_ms"] = duration_ms.into();
    }
    value
}

fn encode_image(image: &Image, encoder: &mut Encoder<'_>) -> Value {
    let mut value = json!({ "type": "image", "media_type": encoder.text(&image.media_type) });
    match &image.data {
        ImageData::Bytes(bytes) => {
            // Base64 takes four bytes for three.
            let is_long = bytes.len().div_ceil(3) * 4 > INLINE_MAX.min(encoder.inline_max);
            value["data"] = match is_long {
                true => encoder.blob(bytes),
                false => encoder.text(&STANDARD.encode(bytes)),
            };
        }
        ImageData::Address(address) => value["address"] = encoder.text(address),
        ImageData::Unusable(why) => value["unusable"] = encoder.text(why),
    }
    if let Some([width, height]) = image.size {
        value["size"] = json!([width, height]);
    }
    value
}

fn decode_image(value: &Value, decoder: &mut Decoder<'_>) -> Image {
    let side = |i: usize| value.get("size")?.get(i)?.as_u64().and_then(|n| u32::try_from(n).ok());
    let size = side(0).zip(side(1)).map(|(width, height)| [width, height]);
    let data = match (value.get("data"), value.get("address")) {
        (Some(data), _) => bytes_of(data, decoder),
        (None, Some(address)) => ImageData::Address(decoder.words(Some(address)).into()),
        (None, None) => match decoder.text(value.get("unusable")) {
            Some(Ok(why) | Err(why)) => ImageData::Unusable(why.into()),
            None => ImageData::Unusable("the picture has no data".into()),
        },
    };
    Image { media_type: decoder.words(value.get("media_type")).into(), data, size }
}

fn bytes_of(data: &Value, decoder: &mut Decoder<'_>) -> ImageData {
    let bytes = match (Blob::of(data), data.as_str()) {
        (Some(blob), _) => decoder.blob(blob),
        (None, Some(text)) => STANDARD
            .decode(text)
            .map_err(|_not_base64| "the picture is not valid base64".to_owned()),
        (None, None) => Err("the picture has no data".to_owned()),
    };
    bytes.map_or_else(|why| ImageData::Unusable(why.into()), |b| ImageData::Bytes(b.into()))
}

/// A call with its result.
pub(super) fn encode_call(call: &ToolCall, encoder: &mut Encoder<'_>) -> Value {
    let mut value = json!({
        "type": "tool_call",
        "id": encoder.text(&call.id),
        "name": encoder.text(&call.name),
        "arguments": encoder.free(&call.arguments),
        "state": state_name(call.state),
    });
    if let Some(duration_ms) = call.duration_ms {
        value["duration_ms"] = duration_ms.into();
    }
    if call.superseded > 0 {
        value["superseded"] = call.superseded.into();
    }
    value["result"] = match &call.result {
        Some(result) => Value::Object(encode_result(result, Some(call), encoder)),
        None => Value::Null,
    };
    value
}

/// A call of a body. One that was going on when it was written no longer is.
pub(super) fn decode_call(value: &Value, decoder: &mut Decoder<'_>) -> ToolCall {
    let mut call = ToolCall {
        id: decoder.words(value.get("id")).into(),
        name: decoder.words(value.get("name")).into(),
        arguments: value.get("arguments").map_or(Value::Null, |value| decoder.free(value)),
        state: ToolState::NoResult,
        result: None,
        superseded: count(value, "superseded"),
        duration_ms: value.get("duration_ms").and_then(Value::as_u64),
    };
    let result = value.get("result").filter(|result| result.is_object());
    call.result = result.map(|result| Arc::new(decode_result(result, Some(&call), decoder)));
    call.state = state_of(text_of(value, "state"), call.result.as_deref());
    call
}

/// A result; of one inside its call, what the call says is not said again.
pub(super) fn encode_result(
    result: &ToolResult,
    call: Option<&ToolCall>,
    encoder: &mut Encoder<'_>,
) -> Map<String, Value> {
    let mut object = Map::new();
    if call.is_none_or(|call| call.id != result.call_id) {
        object.insert("call_id".into(), encoder.text(&result.call_id));
    }
    if call.is_none_or(|call| call.name != result.tool_name) {
        object.insert("name".into(), encoder.text(&result.tool_name));
    }
    object.insert("is_error".into(), result.is_error.into());
    object.insert("output".into(), encoder.text(&result.output.source));
    if let Some(told) = &result.told {
        object.insert("told".into(), encoder.text(told));
    }
    if !result.images.is_empty() {
        let images = result.images.iter().map(|image| encode_image(image, encoder));
        object.insert("images".into(), images.collect());
    }
    if !result.details.is_null() {
        object.insert("details".into(), encoder.free(&result.details));
    }
    if result.output.omitted > 0 {
        object.insert("omitted".into(), result.output.omitted.into());
    }
    object
}

pub(super) fn decode_result(
    value: &Value,
    call: Option<&ToolCall>,
    decoder: &mut Decoder<'_>,
) -> ToolResult {
    let mut own = |key: &str, of_call: Option<&Arc<str>>| match (value.get(key), of_call) {
        (None, Some(of_call)) => Arc::clone(of_call),
        (found, _) => decoder.words(found).into(),
    };
    let call_id = own("call_id", call.map(|call| &call.id));
    let tool_name = own("name", call.map(|call| &call.name));
    let output = Output::plain(decoder.words(value.get("output")));
    let omitted = value.get("omitted").and_then(Value::as_u64).unwrap_or(0);
    let images = value.get("images").and_then(Value::as_array).into_iter().flatten();
    ToolResult {
        call_id,
        tool_name,
        is_error: value.get("is_error").and_then(Value::as_bool).unwrap_or(false),
        output: Output { omitted, ..output },
        told: decoder.text(value.get("told")).and_then(Result::ok).map(Into::into),
        images: images.map(|image| decode_image(image, decoder)).collect(),
        details: value.get("details").map_or(Value::Null, |value| decoder.free(value)),
    }
}

fn count(value: &Value, key: &str) -> u32 {
    value.get(key).and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok()).unwrap_or(0)
}

/// The name of a state in a log, where more is told apart than in exports.
pub(super) fn state_name(state: ToolState) -> &'static str {
    match state {
        ToolState::Truncated => "truncated",
        ToolState::Receiving
        | ToolState::Waiting
        | ToolState::Running
        | ToolState::Ok
        | ToolState::Error
        | ToolState::Aborted
        | ToolState::NoResult
        | ToolState::NotRun => state.name(),
    }
}

/// The state of a name; of an unknown one what the result says.
pub(super) fn state_of(name: &str, result: Option<&ToolResult>) -> ToolState {
    match (name, result) {
        ("ok", _) => ToolState::Ok,
        ("error", _) => ToolState::Error,
        ("aborted", _) => ToolState::Aborted,
        ("no_result", _) => ToolState::NoResult,
        ("not_run", _) => ToolState::NotRun,
        ("truncated", _) => ToolState::Truncated,
        (_, Some(result)) if result.is_error => ToolState::Error,
        (_, Some(_)) => ToolState::Ok,
        (_, None) => ToolState::NoResult,
    }
}

/// The kind of a name.
pub(super) fn notice_kind(name: &str, checkpoint: Option<&str>) -> NoticeKind {
    match name {
        "compaction" => NoticeKind::Compaction,
        "branch" => NoticeKind::Branch,
        "model_change" => NoticeKind::ModelChange,
        "setting" => NoticeKind::Setting,
        "abort" => NoticeKind::Abort,
        "error" => NoticeKind::Error,
        "label" => NoticeKind::Label,
        "checkpoint" => NoticeKind::Checkpoint(checkpoint.unwrap_or("").into()),
        other => NoticeKind::Other(other.into()),
    }
}
