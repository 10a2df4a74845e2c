//! Whole messages.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{
    blob::{Decoder, Encoder},
    body,
    line::BODY_MAX,
    part::{self, notice_kind},
};
use crate::model::{
    Message, MessageId, Notice, Part, Role, SourceLine, StopReason, Text,
    stream::{Echo, Wire},
};

/// Strings that stay in place when a message is too long for a line with longer ones.
const TIGHT_MAX: usize = 4 * 1024;
/// JSON writes some characters six times as long as they are.
const ESCAPE_MAX: usize = 6;
/// What a message may take: the places that it is given need some, too.
const ROOM: usize = BODY_MAX - 1024;

/// The body of a whole message, but for the places that [`body::placed`] gives it. `blob`
/// stores bytes and gives their SHA-256 in hex.
///
/// What its source alone knows of it (id, key, line) is not written.
#[must_use]
pub fn encode_message(
    message: &Message,
    echoes: &[(usize, Echo)],
    blob: &mut dyn FnMut(&[u8]) -> String,
) -> Value {
    encode(message, None, echoes, blob)
}

/// The same for an answer, with the name of the provider that gave it.
#[must_use]
pub fn encode_answer(
    message: &Message,
    provider: &str,
    echoes: &[(usize, Echo)],
    blob: &mut dyn FnMut(&[u8]) -> String,
) -> Value {
    encode(message, Some(provider), echoes, blob)
}

fn encode(
    message: &Message,
    provider: Option<&str>,
    echoes: &[(usize, Echo)],
    blob: &mut dyn FnMut(&[u8]) -> String,
) -> Value {
    let mut encoder = Encoder::new(blob);
    let body = whole(message, provider, echoes, &mut encoder);
    if fits(&body, encoder.written) {
        return body;
    }
    (encoder.inline_max, encoder.written) = (TIGHT_MAX, 0);
    let mut body = whole(message, provider, echoes, &mut encoder);
    if fits(&body, encoder.written) {
        return body;
    }
    // Very many parts: they stand in a blob together.
    for name in ["parts", "echoes"] {
        if let Some(list) = body.get_mut(name) {
            *list = encoder.blob(list.to_string().as_bytes());
        }
    }
    body
}

fn fits(body: &Value, written: usize) -> bool {
    written * ESCAPE_MAX < ROOM || body.to_string().len() < ROOM
}

fn whole(
    message: &Message,
    provider: Option<&str>,
    echoes: &[(usize, Echo)],
    encoder: &mut Encoder<'_>,
) -> Value {
    let mut body = Map::new();
    let mut put = |key: &str, value: Value| {
        body.insert(key.to_owned(), value);
    };
    if let Some(at_ms) = message.timestamp_ms {
        put("at", at_ms.into());
    }
    if let Some(provider) = provider {
        put("provider", provider.into());
    }
    if let Some(model) = &message.model {
        put("model", encoder.text(model));
    }
    match (lone_notice(message), &message.role) {
        (Some(notice), _) => {
            put("kind", notice.kind.name().into());
            put_checkpoint(&mut body, notice);
            body.insert("text".into(), encoder.text(&notice.text.source));
        }
        (None, role) => {
            if let Some(role) = role_name(role) {
                put("role", role.into());
            }
            put("parts", message.parts.iter().map(|part| part::encode(part, encoder)).collect());
        }
    }
    if let Some(stop) = &message.stop {
        body.insert("stop".into(), encoder.text(stop.name()));
    }
    if let Some(error) = &message.error {
        body.insert("error".into(), encoder.text(error));
    }
    if let Some(usage) = &message.usage {
        body.insert("usage".into(), body::usage_value(usage));
    }
    if !echoes.is_empty() {
        let echo = |(part, echo): &(usize, Echo)| {
            let (wire, host) = (echo.wire.name(), &*echo.host);
            json!([part, { "wire": wire, "host": host, "json": encoder.text(&echo.json) }])
        };
        body.insert("echoes".into(), echoes.iter().map(echo).collect());
    }
    Value::Object(body)
}

pub(super) fn put_checkpoint(body: &mut Map<String, Value>, notice: &Notice) {
    if let crate::model::NoticeKind::Checkpoint(name) = &notice.kind {
        body.insert("checkpoint".into(), (**name).into());
    }
}

/// The notice that a message of the program is, when it is nothing else.
fn lone_notice(message: &Message) -> Option<&Notice> {
    match (&message.role, &*message.parts) {
        (Role::System, [Part::Notice(notice)]) => Some(notice),
        _ => None,
    }
}

/// The name of a role that the kind of a record does not tell.
fn role_name(role: &Role) -> Option<String> {
    match role {
        Role::User | Role::Assistant => None,
        Role::Tool | Role::System => Some(role.name().to_owned()),
        Role::Custom(name) => Some(format!("custom:{name}")),
    }
}

fn role_of(body: &Value, role: Role) -> Role {
    let Some(name) = body.get("role").and_then(Value::as_str) else { return role };
    match name {
        "tool" => Role::Tool,
        "system" => Role::System,
        _ => Role::Custom(name.strip_prefix("custom:").unwrap_or(name).into()),
    }
}

/// The message that a body says, what its provider wants back of it, and what was met.
///
/// Texts are not parsed. `role` is that of the record's kind. `blob` gives the
/// bytes of a blob by their SHA-256 in hex, as far as they are there.
///
/// Its id and line are 0, and its time is that of the body, if there is one: whoever knows
/// the record fills in the rest.
#[must_use]
pub fn decode_message(
    body: &Value,
    role: Role,
    blob: &dyn Fn(&str) -> Option<Vec<u8>>,
) -> (Message, Vec<(usize, Echo)>, Vec<String>) {
    let mut decoder = Decoder::new(blob);
    let text = |decoder: &mut Decoder<'_>, key: &str| {
        decoder.text(body.get(key)).map(|found| match found {
            Ok(text) | Err(text) => text,
        })
    };
    let stop = text(&mut decoder, "stop").map(|name| stop_reason(&name));
    let error = text(&mut decoder, "error").filter(|error| !error.is_empty());
    let model = text(&mut decoder, "model").filter(|model| !model.is_empty());
    let message = Message {
        timestamp_ms: body.get("at").and_then(Value::as_i64),
        model: model.map(Into::into),
        parts: parts(body, &mut decoder),
        stop,
        error: error.map(Into::into),
        usage: body.get("usage").and_then(body::usage_of),
        ..blank(body.get("id").and_then(Value::as_str).unwrap_or(""), role_of(body, role))
    };
    let echoes = echoes(body, &mut decoder);
    (message, echoes, decoder.warnings)
}

pub(super) fn blank(key: &str, role: Role) -> Message {
    Message {
        id: MessageId(0),
        key: key.into(),
        role,
        timestamp_ms: None,
        model: None,
        parts: Vec::new(),
        stop: None,
        error: None,
        usage: None,
        line: SourceLine(0),
    }
}

fn parts(body: &Value, decoder: &mut Decoder<'_>) -> Vec<Part> {
    let Some(list) = body.get("parts") else {
        let Some(kind) = body.get("kind").and_then(Value::as_str) else { return Vec::new() };
        let checkpoint = body.get("checkpoint").and_then(Value::as_str);
        let text = Text::unparsed(decoder.words(body.get("text")));
        return vec![Part::Notice(Notice { kind: notice_kind(kind, checkpoint), text })];
    };
    match list_of(list, decoder) {
        Ok(list) => list.iter().map(|part| part::decode(part, decoder)).collect(),
        Err(words) => vec![part::raw(&words, list)],
    }
}

/// A list that stands in place or in a blob.
fn list_of(value: &Value, decoder: &mut Decoder<'_>) -> Result<Vec<Value>, String> {
    if let Value::Array(list) = value {
        return Ok(list.clone());
    }
    let strange = || "what this message says is not understood".to_owned();
    let text = decoder.text(Some(value)).ok_or_else(strange)??;
    let list = serde_json::from_str(&text);
    list.map_err(|_not_a_list| {
        decoder.warn(strange());
        strange()
    })
}

fn echoes(body: &Value, decoder: &mut Decoder<'_>) -> Vec<(usize, Echo)> {
    let Some(list) = body.get("echoes") else { return Vec::new() };
    let list = list_of(list, decoder).unwrap_or_default();
    let echo = |pair: &Value| {
        let part = usize::try_from(pair.get(0)?.as_u64()?).ok()?;
        let echo = pair.get(1)?;
        let wire = Wire::of_name(echo.get("wire")?.as_str()?)?;
        let host: Arc<str> = echo.get("host")?.as_str()?.into();
        let json = decoder.text(echo.get("json"))?.ok()?;
        Some((part, Echo { wire, host, json: json.into() }))
    };
    list.iter().filter_map(echo).collect()
}

pub(super) fn stop_reason(name: &str) -> StopReason {
    match name {
        "stop" => StopReason::Stop,
        "length" => StopReason::Length,
        "tool_use" => StopReason::ToolUse,
        "error" => StopReason::Error,
        "aborted" => StopReason::Aborted,
        other => StopReason::Other(other.into()),
    }
}
