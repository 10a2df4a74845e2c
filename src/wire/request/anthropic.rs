//! Anthropic Messages.

use serde_json::{Map, Value, json};

use super::{
    Request, ThinkingLevel, ToolSpec, fields,
    history::{Answer, Entry, Piece, Said},
};

/// Tokens of a reply when nobody says how many: this provider wants a number.
const DEFAULT_TOKENS: u32 = 8192;

pub(super) fn body(request: &Request, entries: &[Entry<'_>]) -> Map<String, Value> {
    let limit = request.max_tokens.unwrap_or(DEFAULT_TOKENS);
    let budget = super::budget(request.thinking).filter(|_| may_think(entries));
    // Thinking counts against the limit, which must leave room for the answer.
    let limit = budget.map_or(limit, |budget| limit.max(budget + 1024));
    let mut body = fields(json!({"model": request.model, "max_tokens": limit, "stream": true}));
    if let Some(system) = &request.system {
        body.insert("system".into(), json!(system));
    }
    match (request.thinking, budget) {
        (_, Some(budget)) => {
            body.insert("thinking".into(), json!({"type": "enabled", "budget_tokens": budget}));
        }
        (ThinkingLevel::Off, None) => {
            body.insert("thinking".into(), json!({"type": "disabled"}));
        }
        (_, None) => {}
    }
    body.insert("messages".into(), messages(entries).into());
    if !request.tools.is_empty() {
        body.insert("tools".into(), request.tools.iter().map(tool).collect());
    }
    body
}

/// In the middle of a tool loop the provider wants the thinking that began it. Where that
/// is not at hand, because another model began, this step goes without.
fn may_think(entries: &[Entry<'_>]) -> bool {
    match entries.last() {
        Some(Entry::Assistant { said, .. }) => matches!(said.first(), Some(Said::Echo(_))),
        Some(Entry::User(_)) | None => true,
    }
}

/// The messages: results open the user message behind their calls.
fn messages(entries: &[Entry<'_>]) -> Vec<Value> {
    let mut messages = Vec::new();
    let mut results: Vec<Value> = Vec::new();
    for entry in entries {
        match entry {
            Entry::User(pieces) => {
                let mut content = std::mem::take(&mut results);
                content.extend(pieces.iter().map(part));
                messages.push(json!({"role": "user", "content": content}));
            }
            Entry::Assistant { said, answers } => {
                flush(&mut messages, &mut results);
                let content: Value = said.iter().map(block).collect();
                messages.push(json!({"role": "assistant", "content": content}));
                results = answers.iter().map(result).collect();
            }
        }
    }
    flush(&mut messages, &mut results);
    messages
}

fn flush(messages: &mut Vec<Value>, results: &mut Vec<Value>) {
    if !results.is_empty() {
        messages.push(json!({"role": "user", "content": std::mem::take(results)}));
    }
}

fn block(said: &Said<'_>) -> Value {
    match said {
        Said::Text(text) => json!({"type": "text", "text": text}),
        Said::Call { id, name, arguments } => {
            json!({"type": "tool_use", "id": id, "name": name, "input": arguments})
        }
        Said::Echo(block) => block.clone(),
    }
}

fn result(answer: &Answer<'_>) -> Value {
    let content = if answer.images.is_empty() {
        json!(answer.text)
    } else {
        let text = json!({"type": "text", "text": answer.text});
        std::iter::once(text).chain(answer.images.iter().map(part)).collect()
    };
    let mut result =
        fields(json!({"type": "tool_result", "tool_use_id": answer.id, "content": content}));
    if answer.is_error {
        result.insert("is_error".into(), true.into());
    }
    result.into()
}

fn part(piece: &Piece<'_>) -> Value {
    match piece {
        Piece::Text(text) => json!({"type": "text", "text": text}),
        Piece::Image { media_type, base64 } => {
            let source = json!({"type": "base64", "media_type": media_type, "data": base64});
            json!({"type": "image", "source": source})
        }
    }
}

fn tool(spec: &ToolSpec) -> Value {
    json!({"name": spec.name, "description": spec.description, "input_schema": spec.parameters})
}
