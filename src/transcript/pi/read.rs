//! A pi entry in full.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::{
    model::{
        Message, MessageId, NoticeKind, Part, Role, StopReason, ToolCall, ToolResult, ToolState,
        Usage,
    },
    transcript::{
        parts::{Loaded, grouped, image, light, stop_reason, text_part, time_ms},
        read::{blank, key, notice},
    },
};

/// The message that an entry is.
pub(crate) fn message(loaded: &Loaded) -> Message {
    let entry = &loaded.value;
    let inner = entry.get("message").filter(|inner| inner.is_object());
    let text = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or("");
    let base = Message {
        key: key(entry),
        timestamp_ms: time_of(entry),
        ..blank(MessageId(0), loaded.line)
    };
    let parts = match (text("type"), inner) {
        ("message", Some(inner)) => return spoken(loaded, inner, base),
        ("custom_message", _) => {
            let content = entry.get("content").unwrap_or(&Value::Null);
            let role = Role::Custom(text("customType").into());
            return Message { role, parts: loaded.parts(content), ..base };
        }
        ("compaction", _) => compaction(entry),
        ("branch_summary", _) => vec![notice(NoticeKind::Branch, text("summary"))],
        ("model_change", _) => {
            let model = [text("provider"), text("modelId")].map(str::trim);
            let name: Vec<_> = model.into_iter().filter(|word| !word.is_empty()).collect();
            let part = notice(NoticeKind::ModelChange, &name.join("/"));
            return Message { model: Some(text("modelId").into()), parts: vec![part], ..base };
        }
        ("thinking_level_change", _) => {
            let text = format!("Thinking level: {}", text("thinkingLevel"));
            vec![notice(NoticeKind::Setting, &text)]
        }
        ("label", _) => vec![notice(NoticeKind::Label, &label(entry))],
        ("session_info", _) => {
            let words = match text("name").trim() {
                "" => "Title removed".to_owned(),
                title => format!("Title: {title}"),
            };
            vec![notice(NoticeKind::Label, &words)]
        }
        _ => vec![loaded.raw("unexpected entry", entry)],
    };
    Message { parts, ..base }
}

/// The result that a `toolResult` message is.
pub(crate) fn result(loaded: &Loaded) -> Option<(ToolResult, Option<i64>)> {
    let inner = loaded.value.get("message")?;
    let call_id = inner.get("toolCallId").and_then(Value::as_str).unwrap_or("");
    let is_error = inner.get("isError").and_then(Value::as_bool).unwrap_or(false);
    let mut result = loaded.result(inner, call_id, is_error);
    result.details = light(inner.get("details"));
    Some((result, time_of(&loaded.value)))
}

fn time_of(entry: &Value) -> Option<i64> {
    let inner = || entry.get("message").and_then(|inner| inner.get("timestamp"));
    time_ms(entry.get("timestamp")).or_else(|| time_ms(inner()))
}

/// A `message` entry, by its role.
fn spoken(loaded: &Loaded, inner: &Value, base: Message) -> Message {
    let text = |name: &str| inner.get(name).and_then(Value::as_str);
    let content = inner.get("content").unwrap_or(&Value::Null);
    match text("role").unwrap_or("") {
        "assistant" => assistant(loaded, inner, base),
        "user" | "user-with-attachments" => {
            let mut parts = loaded.parts(content);
            parts.extend(attachments(loaded, inner));
            Message { role: Role::User, parts, ..base }
        }
        "bashExecution" => Message {
            role: Role::Custom("bashExecution".into()),
            parts: vec![bash(loaded, inner, &base.key)],
            ..base
        },
        "branchSummary" => {
            let part = notice(NoticeKind::Branch, text("summary").unwrap_or(""));
            Message { parts: vec![part], ..base }
        }
        "compactionSummary" => Message { parts: compaction(inner), ..base },
        role => {
            let name = text("customType").filter(|_| matches!(role, "custom" | "hookMessage"));
            let role = Role::Custom(name.unwrap_or(role).into());
            Message { role, parts: loaded.parts(content), ..base }
        }
    }
}

fn assistant(loaded: &Loaded, inner: &Value, base: Message) -> Message {
    let text = |name: &str| inner.get(name).and_then(Value::as_str);
    let stop = text("stopReason").map(stop_reason);
    let is_aborted = stop == Some(StopReason::Aborted);
    let error = text("errorMessage").filter(|text| !text.trim().is_empty() && !is_aborted);
    Message {
        role: Role::Assistant,
        model: text("model").map(Into::into),
        parts: loaded.parts(inner.get("content").unwrap_or(&Value::Null)),
        error: error.map(Into::into),
        usage: inner.get("usage").and_then(usage),
        stop,
        ..base
    }
}

fn usage(value: &Value) -> Option<Usage> {
    let object = value.as_object()?;
    let count = |name: &str| object.get(name).and_then(Value::as_u64).unwrap_or(0);
    Some(Usage {
        input: count("input"),
        output: count("output"),
        cache_read: count("cacheRead"),
        cache_write: count("cacheWrite"),
        cost: object.get("cost").and_then(|cost| cost.get("total")).and_then(Value::as_f64),
    })
}

/// Pictures are shown; of other files the name and what was extracted.
fn attachments(loaded: &Loaded, inner: &Value) -> Vec<Part> {
    let list = inner.get("attachments").and_then(Value::as_array);
    let part = |attachment: &Value| {
        let text = |name: &str| attachment.get(name).and_then(Value::as_str);
        if text("type") == Some("image") {
            return Part::Image(image(attachment));
        }
        match (text("fileName"), text("extractedText")) {
            (Some(name), Some(words)) => text_part(&format!("{name}\n\n{words}")),
            _ => loaded.raw("attachment", attachment),
        }
    };
    list.into_iter().flatten().map(part).collect()
}

fn compaction(value: &Value) -> Vec<Part> {
    let summary = value.get("summary").and_then(Value::as_str).unwrap_or("");
    let text = match value.get("tokensBefore").and_then(Value::as_u64) {
        Some(tokens) => format!("{} tokens before\n\n{summary}", grouped(tokens)),
        None => summary.to_owned(),
    };
    vec![notice(NoticeKind::Compaction, &text)]
}

fn label(entry: &Value) -> String {
    match entry.get("label").and_then(Value::as_str) {
        Some(label) => format!("Label: {label}"),
        None => "Label removed".to_owned(),
    }
}

/// A command that the user ran, as a call with its result.
fn bash(loaded: &Loaded, inner: &Value, id: &Arc<str>) -> Part {
    let get = |name: &str| inner.get(name).cloned().unwrap_or(Value::Null);
    let is_cancelled = inner.get("cancelled").and_then(Value::as_bool).unwrap_or(false);
    let exit_code = inner.get("exitCode").and_then(Value::as_f64);
    let is_error = exit_code.is_some_and(|code| code != 0.0);
    let output = inner.get("output").and_then(Value::as_str).unwrap_or("");
    let state = match (is_cancelled, is_error) {
        (true, _) => ToolState::Aborted,
        (false, true) => ToolState::Error,
        (false, false) => ToolState::Ok,
    };
    let details = json!({
        "exitCode": get("exitCode"),
        "cancelled": is_cancelled,
        "truncated": get("truncated"),
        "fullOutputPath": get("fullOutputPath"),
    });
    let result = ToolResult {
        call_id: Arc::clone(id),
        tool_name: "bash".into(),
        is_error,
        output: loaded.output(output),
        told: None,
        images: Vec::new(),
        details,
    };
    Part::ToolCall(Arc::new(ToolCall {
        id: Arc::clone(id),
        name: "bash".into(),
        arguments: json!({ "command": get("command") }),
        state,
        result: Some(Arc::new(result)),
        superseded: 0,
        duration_ms: None,
    }))
}
