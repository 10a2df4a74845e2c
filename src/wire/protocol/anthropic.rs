//! Anthropic Messages.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Map, Value, json};

use super::{Next, Protocol};
use crate::{
    model::{
        StopReason,
        stream::{ArgumentError, Close, ReplyBlock, ReplyKind, WarningCode},
    },
    wire::{
        calls::{ARGUMENT_LIMIT, Mint, parse_arguments},
        draft::{Draft, no_arguments, unknown},
        error,
        json::Lenient as _,
    },
};

/// Reads the events of a message, or the message as one document.
pub(super) struct Anthropic {
    /// Open blocks by the provider's index, which is a label.
    open: BTreeMap<u64, Open>,
    mint: Mint,
}

/// A block that is open.
struct Open {
    block: ReplyBlock,
    kind: Kind,
    /// The block as it has to go back, filled by its deltas.
    echo: Map<String, Value>,
    /// Pieces of `partial_json`.
    input: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Thinking,
    ToolUse,
    /// Stored and sent back, shown as a card.
    Other,
}

impl Protocol for Anthropic {
    fn value(&mut self, event: &str, value: Value, draft: &mut Draft) -> Next {
        let index = value.number("index").unwrap_or(0);
        let part = |field: &str| value.get(field).unwrap_or(&Value::Null);
        match value.text("type").unwrap_or(event) {
            "message_start" => start(part("message"), draft),
            "content_block_start" => self.block_start(index, part("content_block"), draft),
            "content_block_delta" => self.block_delta(index, part("delta"), draft),
            "content_block_stop" => self.block_stop(index, draft),
            "message_delta" => message_delta(&value, draft),
            "message_stop" => return Next::Over,
            "ping" => draft.keep_alive(),
            "message" if value.get("content").is_some() => return self.document(&value, draft),
            "error" => {
                draft.fail_with(&value);
                return Next::Over;
            }
            _ if error::is_error(&value) => {
                draft.fail_with(&value);
                return Next::Over;
            }
            // The vendor says that new events may appear at any time.
            other => draft.warn(WarningCode::UnknownPart, other),
        }
        Next::Continue
    }

    fn close(&mut self, draft: &mut Draft) {
        let mut open: Vec<_> = std::mem::take(&mut self.open).into_values().collect();
        open.sort_by_key(|open| open.block);
        for block in open {
            block.close(draft);
        }
    }
}

impl Anthropic {
    pub(super) fn new(mint: Mint) -> Self {
        Self { open: BTreeMap::new(), mint }
    }

    fn block_start(&mut self, index: u64, content: &Value, draft: &mut Draft) {
        self.block_stop(index, draft);
        let kind = Kind::of(content.text("type").unwrap_or_default());
        let block = match kind {
            Kind::ToolUse => {
                let id = content.text("id").map_or_else(|| self.mint.id(), Arc::from);
                draft.open_call(&id, content.text("name").unwrap_or_default())
            }
            Kind::Text => draft.open(ReplyKind::Text),
            Kind::Thinking => draft.open(ReplyKind::Reasoning),
            Kind::Other => {
                draft.open(ReplyKind::Other(content.text("type").unwrap_or("block").into()))
            }
        };
        draft.text(block, content.text("text").filter(|_| kind == Kind::Text).unwrap_or_default());
        draft.reasoning(block, content.text("thinking").unwrap_or_default());
        let echo = content.as_object().cloned().unwrap_or_default();
        self.open.insert(index, Open { block, kind, echo, input: String::new() });
    }

    fn block_delta(&mut self, index: u64, delta: &Value, draft: &mut Draft) {
        let kind = delta.text("type").unwrap_or_default();
        if !self.open.contains_key(&index) {
            let Some(start) = implied_start(kind) else {
                return draft.warn(WarningCode::UnknownPart, kind);
            };
            self.block_start(index, &start, draft);
        }
        let Some(open) = self.open.get_mut(&index) else { return };
        match kind {
            "text_delta" => {
                let text = delta.text("text").unwrap_or_default();
                draft.text(open.block, text);
                // Only a text with citations goes back by its echo.
                append(&mut open.echo, "text", text);
            }
            "thinking_delta" => {
                let text = delta.text("thinking").unwrap_or_default();
                draft.reasoning(open.block, text);
                append(&mut open.echo, "thinking", text);
            }
            "input_json_delta" => open.input(delta.text("partial_json").unwrap_or_default(), draft),
            "citations_delta" => open.cite(delta.get("citation")),
            _ => open.merge(delta),
        }
    }

    fn block_stop(&mut self, index: u64, draft: &mut Draft) {
        if let Some(open) = self.open.remove(&index) {
            open.close(draft);
        }
    }

    /// A whole message, as some gateways answer a request for a stream.
    fn document(&mut self, message: &Value, draft: &mut Draft) -> Next {
        start(message, draft);
        for (index, content) in (0..).zip(message.list("content")) {
            self.block_start(index, content, draft);
            self.block_stop(index, draft);
        }
        message_delta(&json!({ "delta": message }), draft);
        Next::Over
    }
}

impl Kind {
    fn of(name: &str) -> Self {
        match name {
            "text" => Self::Text,
            "thinking" | "redacted_thinking" => Self::Thinking,
            "tool_use" => Self::ToolUse,
            _ => Self::Other,
        }
    }
}

impl Open {
    fn input(&mut self, piece: &str, draft: &mut Draft) {
        if self.input.len() + piece.len() > ARGUMENT_LIMIT + 1 {
            return;
        }
        self.input.push_str(piece);
        if self.kind == Kind::ToolUse {
            draft.arguments(self.block, piece);
        }
    }

    fn cite(&mut self, citation: Option<&Value>) {
        let list = self.echo.entry("citations").or_insert_with(|| json!([]));
        match (list, citation) {
            (Value::Array(list), Some(citation)) => list.push(citation.clone()),
            (list, Some(citation)) => *list = json!([citation]),
            (_, None) => {}
        }
    }

    /// A delta of a kind of its own: its strings are appended, the rest is taken over.
    /// Signatures arrive this way too.
    fn merge(&mut self, delta: &Value) {
        for (key, value) in delta.as_object().into_iter().flatten() {
            match value {
                _ if key == "type" => {}
                Value::String(text) => append(&mut self.echo, key, text),
                other => {
                    self.echo.insert(key.clone(), other.clone());
                }
            }
        }
    }

    fn close(mut self, draft: &mut Draft) {
        let close = match self.kind {
            Kind::ToolUse => self.close_call(draft),
            Kind::Text | Kind::Thinking | Kind::Other => Close::AsStreamed,
        };
        if self.goes_back() {
            if let (Kind::Other, Ok(input)) = (self.kind, parse_arguments(&self.input))
                && !self.input.trim().is_empty()
            {
                self.echo.insert("input".to_owned(), input);
            }
            draft.opaque(self.block, &Value::Object(self.echo));
        }
        draft.close(self.block, close);
    }

    /// The arguments: what streamed in, else what the block began with.
    fn close_call(&self, draft: &mut Draft) -> Close {
        if self.input.len() > ARGUMENT_LIMIT {
            return no_arguments(ArgumentError::TooLarge { limit: ARGUMENT_LIMIT });
        }
        if self.input.trim().is_empty()
            && let Some(Value::Object(input)) = self.echo.get("input")
            && !input.is_empty()
        {
            let input = Value::Object(input.clone());
            draft.arguments(self.block, &input.to_string());
            return Close::Arguments(Ok(input));
        }
        Close::Arguments(parse_arguments(&self.input))
    }

    /// Thinking without a signature would be refused, and plain text and calls are built
    /// anew from the message.
    fn goes_back(&self) -> bool {
        let has = |key: &str| {
            self.echo.get(key).is_some_and(|value| match value {
                Value::String(text) => !text.is_empty(),
                Value::Array(list) => !list.is_empty(),
                _ => false,
            })
        };
        match self.kind {
            Kind::Thinking => has("signature") || has("data"),
            Kind::Text => has("citations"),
            Kind::ToolUse => false,
            Kind::Other => true,
        }
    }
}

fn append(echo: &mut Map<String, Value>, key: &str, text: &str) {
    match echo.get_mut(key) {
        Some(Value::String(known)) => known.push_str(text),
        _ => {
            echo.insert(key.to_owned(), text.into());
        }
    }
}

/// The block that a delta without a start would have had.
fn implied_start(delta: &str) -> Option<Value> {
    let kind = match delta {
        "text_delta" => "text",
        "thinking_delta" | "signature_delta" => "thinking",
        "input_json_delta" => "tool_use",
        _ => return None,
    };
    Some(json!({ "type": kind }))
}

fn start(message: &Value, draft: &mut Draft) {
    draft.start(message.text("id"), message.text("model"));
    merge_usage(message.get("usage"), draft);
}

fn message_delta(value: &Value, draft: &mut Draft) {
    merge_usage(value.get("usage"), draft);
    let reason = value.get("delta").and_then(|delta| delta.text("stop_reason"));
    let Some(reason) = reason else { return };
    let reason = match reason {
        "end_turn" | "stop_sequence" => StopReason::Stop,
        "max_tokens" | "model_context_window_exceeded" => StopReason::Length,
        "tool_use" => StopReason::ToolUse,
        "pause_turn" | "refusal" => StopReason::Other(reason.into()),
        other => {
            draft.warn(WarningCode::UnknownFinish, other);
            unknown()
        }
    };
    draft.finish(reason);
}

/// Counts are cumulative, and each may be absent at any time.
fn merge_usage(value: Option<&Value>, draft: &mut Draft) {
    let Some(value) = value.filter(|value| value.is_object()) else { return };
    draft.usage(|usage| {
        let merge = |into: &mut u64, field: &str| *into = value.number(field).unwrap_or(*into);
        merge(&mut usage.input, "input_tokens");
        merge(&mut usage.output, "output_tokens");
        merge(&mut usage.cache_read, "cache_read_input_tokens");
        merge(&mut usage.cache_write, "cache_creation_input_tokens");
    });
}
