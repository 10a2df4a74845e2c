//! Chat Completions.

use serde_json::{Map, Value, json};

use super::{
    Request, fields,
    history::{Answer, Entry, Piece, Said},
};
use crate::{
    model::stream::OptionalField,
    wire::endpoint::{Quirks, ReasoningBack, TokenLimitName},
};

pub(super) fn body(request: &Request, entries: &[Entry<'_>], quirks: Quirks) -> Map<String, Value> {
    let mut body = fields(json!({"model": request.model, "stream": true}));
    if !request.without.contains(&OptionalField::StreamOptions) {
        body.insert("stream_options".into(), json!({"include_usage": true}));
    }
    let system = request.system.as_ref().map(|text| json!({"role": "system", "content": text}));
    let mut messages: Vec<_> = system.into_iter().collect();
    for entry in entries {
        messages.extend(said_in(entry, quirks));
    }
    body.insert("messages".into(), messages.into());
    if let Some(limit) = request.max_tokens {
        let name = match quirks.token_limit {
            TokenLimitName::MaxTokens => "max_tokens",
            TokenLimitName::MaxCompletionTokens => "max_completion_tokens",
        };
        body.insert(name.into(), limit.into());
    }
    if let Some(effort) = request.thinking.effort() {
        body.insert("reasoning_effort".into(), effort.into());
    }
    if !request.tools.is_empty() {
        body.insert("tools".into(), super::chat_tools(request));
    }
    body
}

fn said_in(entry: &Entry<'_>, quirks: Quirks) -> Vec<Value> {
    match entry {
        Entry::User(pieces) => vec![json!({"role": "user", "content": content(pieces)})],
        Entry::Assistant { said, answers } => {
            let mut messages = vec![assistant(said, quirks)];
            // All answers first: nothing may stand between a call and its result.
            messages.extend(answers.iter().map(tool));
            messages.extend(pictures(answers));
            messages
        }
    }
}

fn assistant(said: &[Said<'_>], quirks: Quirks) -> Value {
    let texts = said.iter().filter_map(|said| match said {
        Said::Text(text) => Some(*text),
        Said::Call { .. } | Said::Echo(_) => None,
    });
    let text = texts.collect::<Vec<_>>().join("\n\n");
    let calls: Vec<_> = said.iter().filter_map(call).collect();
    let goes_back = match quirks.reasoning {
        ReasoningBack::Never => false,
        ReasoningBack::ToolTurns => !calls.is_empty(),
        ReasoningBack::Always => true,
    };
    let content = if text.is_empty() { Value::Null } else { text.into() };
    let mut message = fields(json!({"role": "assistant", "content": content}));
    for said in said {
        if let (Said::Echo(Value::Object(echo)), true) = (said, goes_back) {
            message.extend(echo.clone());
        }
    }
    if !calls.is_empty() {
        message.insert("tool_calls".into(), calls.into());
    } else if message["content"].is_null() {
        // A message of nothing but reasoning: servers want words where no call stands.
        message.insert("content".into(), "".into());
    }
    message.into()
}

fn call(said: &Said<'_>) -> Option<Value> {
    let Said::Call { id, name, arguments } = said else { return None };
    let function = json!({"name": name, "arguments": arguments.to_string()});
    Some(json!({"id": id, "type": "function", "function": function}))
}

fn tool(answer: &Answer<'_>) -> Value {
    json!({"role": "tool", "tool_call_id": answer.id, "content": answer.text})
}

/// Tool messages hold text only, so pictures follow as the user's.
fn pictures(answers: &[Answer<'_>]) -> Option<Value> {
    let mut parts = Vec::new();
    for answer in answers.iter().filter(|answer| !answer.images.is_empty()) {
        parts.push(json!({"type": "text", "text": format!("Pictures from {}:", answer.name)}));
        parts.extend(answer.images.iter().map(part));
    }
    (!parts.is_empty()).then(|| json!({"role": "user", "content": parts}))
}

/// Plain text where it can be: not every server takes a list of parts.
fn content(pieces: &[Piece<'_>]) -> Value {
    match pieces {
        [Piece::Text(text)] => json!(text),
        _ => pieces.iter().map(part).collect(),
    }
}

fn part(piece: &Piece<'_>) -> Value {
    match piece {
        Piece::Text(text) => json!({"type": "text", "text": text}),
        Piece::Image { media_type, base64 } => {
            let url = format!("data:{media_type};base64,{base64}");
            json!({"type": "image_url", "image_url": {"url": url, "detail": "auto"}})
        }
    }
}
