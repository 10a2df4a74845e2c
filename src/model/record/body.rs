//! The bodies of the other kinds of records, and what all bodies have in common.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::{
    blob::{Decoder, Encoder},
    part,
};
use crate::model::{CallGrammar, Settings, ThinkingLevel, ToolCall, ToolUse, Usage};

/// Gives a body its place: the id of the message and the one it follows.
///
/// One that begins the conversation follows none. Without an id the message is called after its record, `m<n>`:
/// only continuing records need one.
#[must_use]
pub fn placed(id: Option<&str>, parent: Option<&str>, body: Value) -> Value {
    let mut placed = Map::new();
    if let Some(id) = id {
        placed.insert("id".into(), id.into());
    }
    placed.insert("parent".into(), parent.map_or(Value::Null, Into::into));
    if let Value::Object(body) = body {
        let is_rest = |(key, _): &(String, Value)| !matches!(key.as_str(), "id" | "parent");
        placed.extend(body.into_iter().filter(is_rest));
    }
    Value::Object(placed)
}

/// The id of the message that a record belongs to, which has the number `n`.
#[must_use]
pub fn id_of(body: &Value, n: u64) -> Arc<str> {
    match body.get("id").and_then(Value::as_str).filter(|id| !id.is_empty()) {
        Some(id) => id.into(),
        None => format!("m{n}").into(),
    }
}

/// The id of the message that a record follows; of a branch, the one it goes back to.
#[must_use]
pub fn parent_of(body: &Value) -> Option<&str> {
    body.get("parent").or_else(|| body.get("leaf")).and_then(Value::as_str)
}

/// The beginning of an answer. Its place is still to be given.
#[must_use]
pub fn start(provider: &str, model: &str) -> Value {
    json!({ "provider": provider, "model": model })
}

/// Going back to a message; none goes back to before the first.
#[must_use]
pub fn branch(leaf: Option<&str>) -> Value {
    json!({ "leaf": leaf })
}

/// The message that a branch goes back to.
#[must_use]
pub fn branch_of(body: &Value) -> Option<Arc<str>> {
    body.get("leaf").and_then(Value::as_str).map(Into::into)
}

/// Tokens and cost of what was put aside.
#[must_use]
pub fn usage(usage: &Usage) -> Value {
    json!({ "usage": usage_value(usage) })
}

pub(super) fn usage_value(usage: &Usage) -> Value {
    let Usage { input, output, cache_read, cache_write, cost } = usage;
    let mut value = json!({
        "input": input, "output": output, "cache_read": cache_read, "cache_write": cache_write,
    });
    if let Some(cost) = cost {
        value["cost"] = json!(cost);
    }
    value
}

/// Tokens and cost, as they stand under `usage`.
#[must_use]
pub fn usage_of(value: &Value) -> Option<Usage> {
    let object = value.as_object()?;
    let count = |key: &str| object.get(key).and_then(Value::as_u64).unwrap_or(0);
    Some(Usage {
        input: count("input"),
        output: count("output"),
        cache_read: count("cache_read"),
        cache_write: count("cache_write"),
        cost: object.get("cost").and_then(Value::as_f64),
    })
}

/// What was added to a part of an answer.
#[derive(Clone, Debug, PartialEq)]
pub enum Delta<'a> {
    /// Words were.
    Text(&'a str),
    /// Reasoning was.
    Thinking(&'a str),
    /// A call is known now, or known better.
    Call(&'a ToolCall),
}

/// Bytes of one piece of text in a partial.
const PIECE_MAX: usize = 48 * 1024;
/// Bytes of text in one partial.
const PARTIAL_MAX: usize = 128 * 1024;

/// Bodies that say what was added to the parts of an answer, each by the number that names
/// it while it arrives; several when it is much.
#[must_use]
pub fn partial(
    id: &str,
    deltas: &[(u32, Delta<'_>)],
    blob: &mut dyn FnMut(&[u8]) -> String,
) -> Vec<Value> {
    let mut bodies = Vec::new();
    let (mut parts, mut bytes) = (Vec::new(), 0);
    for (key, delta) in deltas {
        for part in delta_parts(*key, delta, blob) {
            bytes += part.get("add").and_then(Value::as_str).map_or(PIECE_MAX, str::len);
            parts.push(part);
            if bytes >= PARTIAL_MAX {
                bodies.push(json!({ "id": id, "parts": std::mem::take(&mut parts) }));
                bytes = 0;
            }
        }
    }
    if !parts.is_empty() {
        bodies.push(json!({ "id": id, "parts": parts }));
    }
    bodies
}

fn delta_parts(key: u32, delta: &Delta<'_>, blob: &mut dyn FnMut(&[u8]) -> String) -> Vec<Value> {
    let (kind, text) = match delta {
        Delta::Text(text) => ("text", *text),
        Delta::Thinking(text) => ("thinking", *text),
        Delta::Call(call) => {
            let mut encoder = Encoder::new(blob);
            let (id, name) = (encoder.text(&call.id), encoder.text(&call.name));
            let arguments = small(&mut encoder, &call.arguments);
            return vec![json!({
                "key": key, "type": "tool_call", "id": id, "name": name, "arguments": arguments,
            })];
        }
    };
    pieces(text).map(|add| json!({ "key": key, "type": kind, "add": add })).collect()
}

/// A text in pieces that are short enough for a record.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let (piece, more) = rest.split_at_checked(rest.floor_char_boundary(PIECE_MAX))?;
        rest = more;
        (!piece.is_empty()).then_some(piece)
    })
}

/// A value that takes no more room than one long string.
fn small(encoder: &mut Encoder<'_>, value: &Value) -> Value {
    let before = encoder.written;
    let encoded = encoder.free(value);
    if encoder.written - before <= super::INLINE_MAX {
        return encoded;
    }
    json!({ "json": encoder.blob(value.to_string().as_bytes()) })
}

fn call_value(call: &ToolCall, encoder: &mut Encoder<'_>) -> Value {
    let (id, name) = (encoder.text(&call.id), encoder.text(&call.name));
    json!({ "id": id, "name": name, "arguments": small(encoder, &call.arguments) })
}

/// A call of a message that is about to run, or to be asked about.
#[must_use]
pub fn tool_call(id: &str, call: &ToolCall, blob: &mut dyn FnMut(&[u8]) -> String) -> Value {
    json!({ "id": id, "call": call_value(call, &mut Encoder::new(blob)) })
}

/// The call of a [`tool_call`].
#[must_use]
pub fn tool_call_of(body: &Value, blob: &dyn Fn(&str) -> Option<Vec<u8>>) -> Option<ToolCall> {
    let call = body.get("call").filter(|call| call.is_object())?;
    Some(part::decode_call(call, &mut Decoder::new(blob)))
}

/// A word on a call, as it is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Approved {
    /// The call's id.
    pub call: Arc<str>,
    /// `once`, `session`, `always` or `reject`.
    pub decision: Arc<str>,
    /// `user` or `rule`.
    pub by: Arc<str>,
    /// What was said with it.
    pub feedback: Option<Arc<str>>,
}

/// A word on a call of a message.
#[must_use]
pub fn approval(id: &str, approved: &Approved) -> Value {
    let Approved { call, decision, by, feedback } = approved;
    let mut body = json!({ "id": id, "call": &**call, "decision": &**decision, "by": &**by });
    if let Some(feedback) = feedback {
        body["feedback"] = (**feedback).into();
    }
    body
}

/// The word of an [`approval`].
#[must_use]
pub fn approval_of(body: &Value) -> Approved {
    let text = |key: &str| body.get(key).and_then(Value::as_str);
    Approved {
        call: text("call").unwrap_or("").into(),
        decision: text("decision").unwrap_or("").into(),
        by: text("by").unwrap_or("").into(),
        feedback: text("feedback").map(Into::into),
    }
}

/// How a call of a message ended: its state, its result and how long it took.
#[must_use]
pub fn tool_result(id: &str, call: &ToolCall, blob: &mut dyn FnMut(&[u8]) -> String) -> Value {
    let mut encoder = Encoder::new(blob);
    let mut body = json!({
        "id": id, "call": encoder.text(&call.id), "state": part::state_name(call.state),
    });
    if let Some(duration_ms) = call.duration_ms {
        body["duration_ms"] = duration_ms.into();
    }
    body["result"] = match &call.result {
        Some(result) => {
            let mut object = part::encode_result(result, Some(call), &mut encoder);
            object.insert("name".into(), encoder.text(&result.tool_name));
            if encoder.written > super::line::BODY_MAX / 6 {
                encoder.inline_max = 4096;
                object = part::encode_result(result, Some(call), &mut encoder);
                if let Some(details) = object.get_mut("details") {
                    *details = small(&mut encoder, &result.details);
                }
            }
            Value::Object(object)
        }
        None => Value::Null,
    };
    body
}

/// Writes what a [`tool_result`] says into the call it is about; the call's id is the one to
/// look for.
pub(super) fn answer(body: &Value, call: &mut ToolCall, decoder: &mut Decoder<'_>) {
    let result = body.get("result").filter(|result| result.is_object());
    if let Some(result) = result {
        call.superseded += u32::from(call.result.is_some());
        call.result = Some(Arc::new(part::decode_result(result, Some(call), decoder)));
    }
    call.duration_ms = body.get("duration_ms").and_then(Value::as_u64).or(call.duration_ms);
    let state = body.get("state").and_then(Value::as_str).unwrap_or("");
    call.state = part::state_of(state, call.result.as_deref());
}

/// What a [`tool_result`] says, as a call whose arguments are not known.
#[must_use]
pub fn result_of(body: &Value, blob: &dyn Fn(&str) -> Option<Vec<u8>>) -> ToolCall {
    let mut decoder = Decoder::new(blob);
    let id = decoder.words(body.get("call"));
    let name = body.get("result").and_then(|result| result.get("name")).and_then(Value::as_str);
    let mut call = ToolCall {
        id: id.into(),
        name: name.unwrap_or("").into(),
        arguments: Value::Null,
        state: crate::model::ToolState::NoResult,
        result: None,
        superseded: 0,
        duration_ms: None,
    };
    answer(body, &mut call, &mut decoder);
    call
}

/// What is known of a session. Of several the newest counts, member by member.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Meta {
    /// Its title; empty when it was taken away.
    pub title: Option<Arc<str>>,
    /// It stands before all others.
    pub pinned: Option<bool>,
    /// It was put away.
    pub archived: Option<bool>,
    /// It was thrown away, and can still be taken back.
    pub deleted: Option<bool>,
    /// What answers.
    pub settings: Option<Settings>,
    /// Where it came from.
    pub imported: Option<Imported>,
    /// The program that wrote it, with its version.
    pub program: Option<Arc<str>>,
}

/// Where a session came from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    /// Whose format it was.
    pub format: Arc<str>,
    /// The file.
    pub path: Arc<str>,
    /// Its title there.
    pub title: Option<Arc<str>>,
}

impl Meta {
    /// What a body says.
    #[must_use]
    pub fn of(body: &Value) -> Self {
        let text = |key: &str| body.get(key).and_then(Value::as_str).map(Arc::from);
        let flag = |key: &str| body.get(key).and_then(Value::as_bool);
        let imported = body.get("imported").filter(|imported| imported.is_object());
        Self {
            title: text("title"),
            pinned: flag("pinned"),
            archived: flag("archived"),
            deleted: flag("deleted"),
            settings: body.get("settings").filter(|s| s.is_object()).map(settings_of),
            imported: imported.map(imported_of),
            program: text("program"),
        }
    }

    /// The body that says it.
    #[must_use]
    pub fn to_body(&self) -> Value {
        let Self { title, pinned, archived, deleted, settings, imported, program } = self;
        let mut body = Map::new();
        let mut put = |key: &str, value: Option<Value>| {
            if let Some(value) = value {
                body.insert(key.to_owned(), value);
            }
        };
        put("title", title.as_deref().map(Into::into));
        put("pinned", pinned.map(Into::into));
        put("archived", archived.map(Into::into));
        put("deleted", deleted.map(Into::into));
        put("settings", settings.as_ref().map(settings_body));
        put("imported", imported.as_ref().map(imported_body));
        put("program", program.as_deref().map(Into::into));
        Value::Object(body)
    }

    /// Takes what a later record says.
    pub fn take(&mut self, later: Self) {
        let Self { title, pinned, archived, deleted, settings, imported, program } = later;
        self.title = title.or_else(|| self.title.take());
        self.pinned = pinned.or(self.pinned);
        self.archived = archived.or(self.archived);
        self.deleted = deleted.or(self.deleted);
        self.settings = settings.or_else(|| self.settings.take());
        self.imported = imported.or_else(|| self.imported.take());
        self.program = program.or_else(|| self.program.take());
    }
}

/// Settings as they stand in a record. Whether the provider plays recordings is not kept:
/// its name tells.
#[must_use]
pub fn settings_body(settings: &Settings) -> Value {
    let Settings { provider, model, system, thinking, max_tokens, tools, calls, workspace, .. } =
        settings;
    json!({
        "provider": &**provider,
        "model": &**model,
        "system": system.as_deref(),
        "thinking": thinking_name(*thinking),
        "max_tokens": max_tokens,
        "tools": tools_name(*tools),
        "calls": match calls {
            CallGrammar::Native => "native",
            CallGrammar::Tags => "tags",
        },
        "workspace": workspace.as_deref(),
    })
}

fn settings_of(value: &Value) -> Settings {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    let max_tokens = value.get("max_tokens").and_then(Value::as_u64);
    let levels = [
        ThinkingLevel::Default,
        ThinkingLevel::Off,
        ThinkingLevel::Low,
        ThinkingLevel::Medium,
        ThinkingLevel::High,
    ];
    let thinking = text("thinking").unwrap_or("");
    let tools = text("tools").unwrap_or("");
    Settings {
        provider: text("provider").unwrap_or("").into(),
        model: text("model").unwrap_or("").into(),
        is_demo: false,
        system: text("system").map(Into::into),
        thinking: levels.into_iter().find(|l| thinking_name(*l) == thinking).unwrap_or_default(),
        max_tokens: max_tokens.and_then(|n| u32::try_from(n).ok()),
        tools: ToolUse::ALL.into_iter().find(|t| tools_name(*t) == tools).unwrap_or_default(),
        calls: match text("calls") {
            Some("tags") => CallGrammar::Tags,
            _ => CallGrammar::Native,
        },
        workspace: text("workspace").map(Into::into),
    }
}

fn thinking_name(level: ThinkingLevel) -> &'static str {
    match level {
        ThinkingLevel::Default => "default",
        ThinkingLevel::Off => "off",
        ThinkingLevel::Low => "low",
        ThinkingLevel::Medium => "medium",
        ThinkingLevel::High => "high",
    }
}

fn tools_name(tools: ToolUse) -> &'static str {
    match tools {
        ToolUse::Off => "off",
        ToolUse::Ask => "ask",
        ToolUse::Edits => "edits",
        ToolUse::Auto => "auto",
    }
}

fn imported_of(value: &Value) -> Imported {
    let text = |key: &str| value.get(key).and_then(Value::as_str);
    Imported {
        format: text("format").unwrap_or("").into(),
        path: text("path").unwrap_or("").into(),
        title: text("title").map(Into::into),
    }
}

fn imported_body(imported: &Imported) -> Value {
    let Imported { format, path, title } = imported;
    let mut body = json!({ "format": &**format, "path": &**path });
    if let Some(title) = title {
        body["title"] = (**title).into();
    }
    body
}
