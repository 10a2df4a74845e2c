//! `OpenAI` Chat Completions, and all servers that mean it.

use serde_json::{Map, Value};

use super::{Next, Protocol};
use crate::{
    model::{
        StopReason,
        stream::{ReplyBlock, ReplyKind, WarningCode},
    },
    wire::{
        calls::{Assembler, Mint},
        draft::{Draft, unknown},
        error,
        json::Lenient as _,
    },
};

/// Reads `chat.completion.chunk` objects, and whole `chat.completion` ones.
pub(super) struct Chat {
    calls: Assembler,
    reasoning: ReasoningEcho,
}

/// Reasoning as it has to go back, by the name it came under.
#[derive(Default)]
struct ReasoningEcho {
    block: Option<ReplyBlock>,
    field: &'static str,
    text: String,
    details: Vec<Value>,
}

/// The names that reasoning goes by; the first that is not empty counts.
const REASONING_FIELDS: [&str; 3] = ["reasoning_content", "reasoning", "thinking"];

impl Protocol for Chat {
    fn value(&mut self, event: &str, value: Value, draft: &mut Draft) -> Next {
        if event == "error" || error::is_error(&value) {
            draft.fail_with(&value);
            return Next::Over;
        }
        let choices = value.list("choices");
        if !choices.is_empty() || value.text("object").is_some() {
            draft.start(value.text("id"), value.text("model"));
        }
        let usage = value.get("usage").filter(|usage| usage.is_object());
        if let Some(usage) = usage {
            merge_usage(usage, draft);
        }
        let is_tail = choices.is_empty() && usage.is_some();
        draft.set_terminator(is_tail);
        for (place, choice) in choices.iter().enumerate() {
            if choice.number("index").unwrap_or(place as u64) == 0 {
                self.choice(choice, draft);
            }
        }
        Next::Continue
    }

    fn close(&mut self, draft: &mut Draft) {
        draft.end_flow();
        self.calls.close(draft);
        self.reasoning.send(draft);
    }
}

impl Chat {
    pub(super) fn new(mint: Mint) -> Self {
        Self { calls: Assembler::new(mint), reasoning: ReasoningEcho::default() }
    }

    fn choice(&mut self, choice: &Value, draft: &mut Draft) {
        if let Some(delta) = choice.get("delta").or_else(|| choice.get("message")) {
            self.delta(delta, draft);
        }
        match choice.get("finish_reason").and_then(Value::as_str) {
            Some("") => draft.finish_blank(),
            Some(reason) => finish(reason, draft),
            None => {}
        }
    }

    fn delta(&mut self, delta: &Value, draft: &mut Draft) {
        self.reasoning(delta, draft);
        match delta.get("content") {
            Some(Value::String(text)) => {
                draft.flow(&ReplyKind::Text, text);
            }
            Some(Value::Array(parts)) => parts.iter().for_each(|part| self.part(part, draft)),
            Some(part @ Value::Object(_)) => self.part(part, draft),
            _ => {}
        }
        if let Some(refusal) = delta.text("refusal") {
            draft.flow(&ReplyKind::Refusal, refusal);
        }
        if let Some(calls) = delta.get("tool_calls") {
            self.calls.take(calls, draft);
        }
        if let Some(function) = delta.get("function_call") {
            self.calls.take_function_call(function, draft);
        }
    }

    fn reasoning(&mut self, delta: &Value, draft: &mut Draft) {
        let found = REASONING_FIELDS.into_iter().find_map(|f| Some((f, delta.text(f)?)));
        let details = delta.list("reasoning_details");
        if let Some((field, text)) = found {
            self.reasoning.field = field;
            self.reason(text, draft);
        } else {
            for text in details.iter().filter_map(|d| d.text("text").or_else(|| d.text("summary")))
            {
                draft.flow(&ReplyKind::Reasoning, text).inspect(|b| self.reasoning.at(*b));
            }
        }
        for detail in details {
            self.reasoning.detail(detail);
        }
    }

    fn reason(&mut self, text: &str, draft: &mut Draft) {
        if let Some(block) = draft.flow(&ReplyKind::Reasoning, text) {
            self.reasoning.at(block);
            self.reasoning.text.push_str(text);
        }
    }

    /// A part of typed content, as Mistral and others send it.
    fn part(&mut self, part: &Value, draft: &mut Draft) {
        match part.text("type") {
            Some("text") | None => {
                draft.flow(&ReplyKind::Text, part.text("text").unwrap_or_default());
            }
            Some("thinking" | "reasoning") => match part.get("thinking") {
                Some(Value::String(text)) => self.reason(text, draft),
                Some(Value::Array(parts)) => {
                    for text in parts.iter().filter_map(|inner| inner.text("text")) {
                        self.reason(text, draft);
                    }
                }
                _ => self.reason(part.text("text").unwrap_or_default(), draft),
            },
            Some("refusal") => {
                draft.flow(&ReplyKind::Refusal, part.text("refusal").unwrap_or_default());
            }
            Some(other) => draft.warn(WarningCode::UnknownPart, other),
        }
    }
}

impl ReasoningEcho {
    fn at(&mut self, block: ReplyBlock) {
        self.block.get_or_insert(block);
    }

    /// Keeps a detail as it came, except that pieces of one text become that text.
    fn detail(&mut self, detail: &Value) {
        let field = match detail.text("type") {
            Some("reasoning.text") => "text",
            Some("reasoning.summary") => "summary",
            _ => return self.details.push(detail.clone()),
        };
        let same = |key: &str, last: &Value| last.get(key) == detail.get(key);
        match self.details.last_mut() {
            Some(last) if same("type", last) && same("index", last) => join(last, detail, field),
            _ => self.details.push(detail.clone()),
        }
    }

    /// Passes on what has to go back. It is merged into the message when that is sent.
    fn send(&mut self, draft: &mut Draft) {
        let Self { block, field, text, details } = std::mem::take(self);
        let mut fields = Map::new();
        if !text.is_empty() && !field.is_empty() {
            fields.insert(field.to_owned(), text.into());
        }
        if !details.is_empty() {
            fields.insert("reasoning_details".to_owned(), details.into());
        }
        if fields.is_empty() {
            return;
        }
        let block = block.unwrap_or_else(|| {
            let block = draft.open(ReplyKind::Reasoning);
            draft.close(block, crate::model::stream::Close::AsStreamed);
            block
        });
        draft.opaque(block, &Value::Object(fields));
    }
}

/// Appends the text of one detail to another, and takes over its other fields.
fn join(last: &mut Value, detail: &Value, field: &str) {
    let (Some(last), Some(detail)) = (last.as_object_mut(), detail.as_object()) else { return };
    for (key, value) in detail {
        match (last.get_mut(key), value) {
            (Some(Value::String(text)), Value::String(more)) if key == field => text.push_str(more),
            (_, Value::Null) => {}
            _ => {
                last.insert(key.clone(), value.clone());
            }
        }
    }
}

fn finish(reason: &str, draft: &mut Draft) {
    let reason = match reason {
        "stop" | "eos" | "end_turn" => StopReason::Stop,
        "length" | "max_tokens" => StopReason::Length,
        "tool_calls" | "tool_call" | "function_call" | "tool_use" => StopReason::ToolUse,
        "content_filter" => StopReason::Other("content_filter".into()),
        other => {
            draft.warn(WarningCode::UnknownFinish, other);
            unknown()
        }
    };
    draft.finish(reason);
}

fn merge_usage(value: &Value, draft: &mut Draft) {
    let cached = value.get("prompt_tokens_details").and_then(|d| d.number("cached_tokens"));
    // DeepSeek's own name for it.
    let cached = cached.or_else(|| value.number("prompt_cache_hit_tokens")).unwrap_or(0);
    draft.usage(|usage| {
        if let Some(prompt) = value.number("prompt_tokens") {
            usage.input = prompt.saturating_sub(cached);
            usage.cache_read = cached;
        }
        usage.output = value.number("completion_tokens").unwrap_or(usage.output);
        usage.cost = value.get("cost").and_then(Value::as_f64).or(usage.cost);
    });
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn details_of_one_text_are_joined() {
        let mut echo = ReasoningEcho::default();
        echo.detail(&json!({"type": "reasoning.text", "text": "a", "index": 0, "signature": null}));
        echo.detail(&json!({"type": "reasoning.text", "text": "b", "index": 0, "signature": "s"}));
        echo.detail(&json!({"type": "reasoning.encrypted", "data": "x", "index": 0}));
        echo.detail(&json!({"type": "reasoning.text", "text": "c", "index": 1}));
        let expected = [
            json!({"type": "reasoning.text", "text": "ab", "index": 0, "signature": "s"}),
            json!({"type": "reasoning.encrypted", "data": "x", "index": 0}),
            json!({"type": "reasoning.text", "text": "c", "index": 1}),
        ];
        assert_eq!(echo.details, expected);
    }
}
