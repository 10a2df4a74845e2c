//! Ollama's own chat endpoint.

use serde_json::{Map, Value, json};

use super::{
    Request, ThinkingLevel, fields,
    history::{Answer, Entry, Piece, Said},
};

pub(super) fn body(request: &Request, entries: &[Entry<'_>]) -> Map<String, Value> {
    let system = request.system.as_ref().map(|text| json!({"role": "system", "content": text}));
    let messages: Vec<_> = system.into_iter().chain(entries.iter().flat_map(said_in)).collect();
    let mut options = fields(json!({"num_ctx": context_tokens(&messages, request.max_tokens)}));
    if let Some(limit) = request.max_tokens {
        options.insert("num_predict".into(), limit.into());
    }
    let mut body = fields(json!({
        "model": request.model, "stream": true, "options": options, "messages": messages,
    }));
    if let Some(think) = think(request) {
        body.insert("think".into(), think);
    }
    if !request.tools.is_empty() {
        body.insert("tools".into(), super::chat_tools(request));
    }
    body
}

/// The context to ask for. Left to itself the server cuts the history without a word; a
/// power of two changes rarely, and each change makes it load the model anew.
fn context_tokens(messages: &[Value], max_tokens: Option<u32>) -> u64 {
    let bytes: usize = messages.iter().map(text_bytes).sum();
    let tokens = bytes as u64 / 3 + u64::from(max_tokens.unwrap_or(2048)) + 1024;
    tokens.next_power_of_two().clamp(8192, 131_072)
}

/// Bytes of what a message says; pictures are counted by themselves.
fn text_bytes(message: &Value) -> usize {
    let text = |field: &str| message.get(field).and_then(Value::as_str).map_or(0, str::len);
    let calls = message.get("tool_calls").map_or(0, |calls| calls.to_string().len());
    let images = message.get("images").and_then(Value::as_array).map_or(0, Vec::len);
    text("content") + calls + images * 3000
}

fn think(request: &Request) -> Option<Value> {
    match request.thinking {
        ThinkingLevel::Default => None,
        ThinkingLevel::Off => Some(false.into()),
        // Only this family knows amounts.
        level if request.model.contains("gpt-oss") => level.effort().map(Value::from),
        ThinkingLevel::Low | ThinkingLevel::Medium | ThinkingLevel::High => Some(true.into()),
    }
}

fn said_in(entry: &Entry<'_>) -> Vec<Value> {
    match entry {
        Entry::User(pieces) => vec![with_pieces("user", pieces)],
        Entry::Assistant { said, answers } => {
            std::iter::once(assistant(said)).chain(answers.iter().map(tool)).collect()
        }
    }
}

fn assistant(said: &[Said<'_>]) -> Value {
    let mut text = Vec::new();
    let mut calls = Vec::new();
    for said in said {
        match said {
            Said::Text(words) => text.push(*words),
            Said::Call { name, arguments, .. } => {
                calls.push(json!({"function": {"name": name, "arguments": arguments}}));
            }
            Said::Echo(_) => {}
        }
    }
    let mut message = fields(json!({"role": "assistant", "content": text.join("\n\n")}));
    if !calls.is_empty() {
        message.insert("tool_calls".into(), calls.into());
    }
    message.into()
}

fn tool(answer: &Answer<'_>) -> Value {
    let mut message = fields(with_pieces("tool", &answer.images));
    message.insert("content".into(), json!(answer.text));
    message.insert("tool_name".into(), json!(answer.name));
    message.into()
}

/// A message of text and of pictures without the prefix of a data URL.
fn with_pieces(role: &str, pieces: &[Piece<'_>]) -> Value {
    let mut text = Vec::new();
    let mut images = Vec::new();
    for piece in pieces {
        match piece {
            Piece::Text(words) => text.push(&**words),
            Piece::Image { base64, .. } => images.push(base64.as_str()),
        }
    }
    let mut message = fields(json!({"role": role, "content": text.join("\n\n")}));
    if !images.is_empty() {
        message.insert("images".into(), json!(images));
    }
    message.into()
}
