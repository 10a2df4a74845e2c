//! A Claude Code record in full.

use serde_json::Value;

use crate::{
    model::{Message, MessageId, NoticeKind, Part, Role, ToolResult, Usage},
    transcript::{
        parts::{Loaded, grouped, light, stop_reason, time_ms},
        read::{blank, key, notice},
    },
};

/// Characters of each message of a sub-agent that its summary shows.
const DIGEST_CHARS: usize = 300;

/// The message that a record is.
pub(crate) fn message(loaded: &Loaded) -> Message {
    let record = &loaded.value;
    let inner = record.get("message").filter(|inner| inner.is_object());
    let base = Message {
        key: key(record),
        timestamp_ms: time_ms(record.get("timestamp")),
        ..blank(MessageId(0), loaded.line)
    };
    match (text(record, "type"), inner) {
        ("user", Some(inner)) => user(loaded, inner, base),
        ("assistant", Some(inner)) => assistant(loaded, inner, base),
        ("system", _) => Message { parts: system(loaded), ..base },
        ("summary" | "custom-title" | "ai-title", _) => {
            let names = ["summary", "customTitle", "aiTitle", "title"];
            let title = names.iter().find_map(|name| record.get(*name)?.as_str()).unwrap_or("");
            Message { parts: vec![notice(NoticeKind::Label, &format!("Title: {title}"))], ..base }
        }
        _ => Message { parts: vec![loaded.raw("unexpected record", record)], ..base },
    }
}

/// The result of that ordinal in a record.
pub(crate) fn result(loaded: &Loaded, ordinal: usize) -> Option<(ToolResult, Option<i64>)> {
    let record = &loaded.value;
    let blocks = record.get("message")?.get("content")?.as_array()?;
    let is_result = |block: &&Value| text(block, "type") == "tool_result";
    let results = || blocks.iter().filter(is_result);
    let block = results().nth(ordinal)?;
    let is_error = block.get("is_error").and_then(Value::as_bool).unwrap_or(false);
    let mut result = loaded.result(block, text(block, "tool_use_id"), is_error);
    if results().count() == 1 {
        result.details = light(record.get("toolUseResult"));
    }
    Some((result, time_ms(record.get("timestamp"))))
}

/// One line about a message of a sub-agent.
pub(crate) fn digest(record: &Value) -> String {
    let inner = record.get("message").unwrap_or(&Value::Null);
    let mut words = String::new();
    match inner.get("content") {
        Some(Value::String(text)) => words.push_str(text),
        Some(Value::Array(blocks)) => {
            for block in blocks {
                let shown = match text(block, "type") {
                    "text" => text(block, "text").to_owned(),
                    "tool_use" => format!("[{}]", text(block, "name")),
                    "tool_result" => "[result]".to_owned(),
                    "thinking" => continue,
                    other => format!("[{other}]"),
                };
                words.push_str(&shown);
                words.push(' ');
                if words.len() > DIGEST_CHARS * 8 {
                    break;
                }
            }
        }
        _ => {}
    }
    let flat: Vec<&str> = words.split_whitespace().take(DIGEST_CHARS).collect();
    let flat = flat.join(" ");
    let role = match text(inner, "role") {
        "" => text(record, "type"),
        role => role,
    };
    match flat.char_indices().nth(DIGEST_CHARS) {
        Some((end, _)) => format!("- **{role}**: {}…", flat.get(..end).unwrap_or("")),
        None => format!("- **{role}**: {flat}"),
    }
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or("")
}

fn user(loaded: &Loaded, inner: &Value, base: Message) -> Message {
    let content = inner.get("content").unwrap_or(&Value::Null);
    let is_summary = loaded.value.get("isCompactSummary").and_then(Value::as_bool) == Some(true);
    if !is_summary {
        return Message { role: Role::User, parts: loaded.parts(content), ..base };
    }
    let mut rest = Vec::new();
    let mut words = String::new();
    for part in loaded.parts(content) {
        match part {
            Part::Text(text) if words.is_empty() => words.push_str(&text.source),
            other => rest.push(other),
        }
    }
    let mut parts = vec![notice(NoticeKind::Compaction, &words)];
    parts.extend(rest);
    Message { parts, ..base }
}

fn assistant(loaded: &Loaded, inner: &Value, base: Message) -> Message {
    let record = &loaded.value;
    let is_error = record.get("isApiErrorMessage").and_then(Value::as_bool) == Some(true);
    let error = is_error.then(|| match text(record, "error") {
        "" => "API error",
        error => error,
    });
    Message {
        role: Role::Assistant,
        model: inner.get("model").and_then(Value::as_str).map(Into::into),
        parts: loaded.parts(inner.get("content").unwrap_or(&Value::Null)),
        stop: inner.get("stop_reason").and_then(Value::as_str).map(stop_reason),
        error: error.map(Into::into),
        usage: inner.get("usage").and_then(usage),
        ..base
    }
}

fn usage(value: &Value) -> Option<Usage> {
    let object = value.as_object()?;
    let count = |name: &str| object.get(name).and_then(Value::as_u64).unwrap_or(0);
    Some(Usage {
        input: count("input_tokens"),
        output: count("output_tokens"),
        cache_read: count("cache_read_input_tokens"),
        cache_write: count("cache_creation_input_tokens"),
        cost: None,
    })
}

/// What the program says about itself.
fn system(loaded: &Loaded) -> Vec<Part> {
    let record = &loaded.value;
    let content = text(record, "content");
    let subtype = text(record, "subtype");
    let other = || NoticeKind::Other(if subtype.is_empty() { "system" } else { subtype }.into());
    match subtype {
        "compact_boundary" => vec![notice(NoticeKind::Compaction, &boundary(record, content))],
        "api_error" => vec![notice(NoticeKind::Error, &api_error(record))],
        "turn_duration" => {
            let ms = record.get("durationMs").and_then(Value::as_f64).unwrap_or(0.0);
            vec![notice(other(), &format!("The turn took {}", duration(ms)))]
        }
        "stop_hook_summary" => vec![notice(other(), &hooks(record))],
        _ if content.is_empty() => {
            let words = subtype.replace('_', " ");
            vec![notice(other(), &words), loaded.raw("system record", record)]
        }
        _ if text(record, "level") == "error" => vec![notice(NoticeKind::Error, content)],
        _ => vec![notice(other(), content)],
    }
}

fn boundary(record: &Value, content: &str) -> String {
    let metadata = record.get("compactMetadata").unwrap_or(&Value::Null);
    let tokens = metadata.get("preTokens").and_then(Value::as_u64);
    let trigger = text(metadata, "trigger");
    match (tokens, trigger) {
        (None, _) => content.to_owned(),
        (Some(tokens), "") => format!("{content}\n\n{} tokens before", grouped(tokens)),
        (Some(tokens), trigger) => {
            format!("{content}\n\n{} tokens before ({trigger})", grouped(tokens))
        }
    }
}

fn api_error(record: &Value) -> String {
    let mut error = record.get("error").unwrap_or(&Value::Null);
    let status = error.get("status").and_then(Value::as_u64);
    let mut message = "";
    // The reason is wrapped once for each layer it went through.
    for _ in 0..4 {
        message = match (error.as_str(), text(error, "message"), text(error, "code")) {
            (Some(words), ..) => words,
            (None, "", "") => message,
            (None, "", code) => code,
            (None, words, _) => words,
        };
        let inner = error.get("error").or_else(|| error.get("cause"));
        let Some(inner) = inner else { break };
        error = inner;
    }
    let mut words = match status {
        Some(status) => format!("API error {status}"),
        None => "API error".to_owned(),
    };
    if !message.is_empty() {
        words.push_str(": ");
        words.push_str(message);
    }
    let number = |name: &str| record.get(name).and_then(Value::as_u64);
    if let (Some(attempt), Some(most)) = (number("retryAttempt"), number("maxRetries")) {
        words.push_str(&format!(" (attempt {attempt}/{most})"));
    }
    if let Some(ms) = record.get("retryInMs").and_then(Value::as_f64) {
        words.push_str(&format!(", next try in {}", duration(ms)));
    }
    words
}

fn hooks(record: &Value) -> String {
    let count = record.get("hookCount").and_then(Value::as_u64).unwrap_or(0);
    let mut words = format!("{count} {} ran", if count == 1 { "hook" } else { "hooks" });
    let errors = record.get("hookErrors").and_then(Value::as_array);
    for error in errors.into_iter().flatten() {
        words.push('\n');
        match error.as_str() {
            Some(error) => words.push_str(error),
            None => words.push_str(&error.to_string()),
        }
    }
    if let reason @ [_, ..] = text(record, "stopReason").as_bytes() {
        words.push('\n');
        words.push_str(&String::from_utf8_lossy(reason));
    }
    words
}

fn duration(ms: f64) -> String {
    let secs = ms / 1000.0;
    if secs < 60.0 {
        return format!("{secs:.1} s");
    }
    let whole = secs.round() as u64;
    format!("{} min {} s", whole / 60, whole % 60)
}
