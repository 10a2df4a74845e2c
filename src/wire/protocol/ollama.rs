//! Ollama's own chat endpoint.

use std::sync::Arc;

use serde_json::Value;

use super::{Next, Protocol};
use crate::{
    model::{
        StopReason,
        stream::{ReplyKind, WarningCode},
    },
    wire::{
        calls::Mint,
        draft::{Draft, unknown},
        error,
        json::Lenient as _,
    },
};

/// Reads the lines of `/api/chat`.
pub(super) struct Ollama {
    mint: Mint,
}

impl Ollama {
    pub(super) fn new(mint: Mint) -> Self {
        Self { mint }
    }

    /// Calls come whole, several with the same index: one call each.
    fn call(&mut self, call: &Value, draft: &mut Draft) {
        let function = call.get("function").unwrap_or(call);
        let id = call.text("id").map_or_else(|| self.mint.id(), Arc::from);
        let arguments = function.get("arguments").unwrap_or(&Value::Null);
        draft.whole_call(&id, function.text("name").unwrap_or_default(), arguments);
    }
}

impl Protocol for Ollama {
    fn value(&mut self, event: &str, value: Value, draft: &mut Draft) -> Next {
        if event == "error" || error::is_error(&value) {
            draft.fail_with(&value);
            return Next::Over;
        }
        let message = value.get("message").unwrap_or(&Value::Null);
        if value.get("message").is_some() {
            draft.start(None, value.text("model"));
        }
        // Servers that only speak like Ollama call it as others do.
        let reasoning = message.text("thinking").or_else(|| message.text("reasoning_content"));
        draft.flow(&ReplyKind::Reasoning, reasoning.unwrap_or_default());
        draft.flow(&ReplyKind::Text, message.text("content").unwrap_or_default());
        for call in message.list("tool_calls") {
            self.call(call, draft);
        }
        merge_usage(&value, draft);
        let done = value.get("done") == Some(&Value::Bool(true));
        let reason = value.text("done_reason");
        if done || reason.is_some() {
            let reason = stop_reason(reason, draft);
            draft.finish(reason);
            return Next::Over;
        }
        Next::Continue
    }

    fn close(&mut self, draft: &mut Draft) {
        draft.end_flow();
    }
}

fn stop_reason(reason: Option<&str>, draft: &mut Draft) -> StopReason {
    match reason {
        None | Some("stop") => StopReason::Stop,
        Some("length") => StopReason::Length,
        Some(other @ ("load" | "unload")) => StopReason::Other(other.into()),
        Some(other) => {
            draft.warn(WarningCode::UnknownFinish, other);
            unknown()
        }
    }
}

fn merge_usage(value: &Value, draft: &mut Draft) {
    let (input, output) = (value.number("prompt_eval_count"), value.number("eval_count"));
    if input.is_some() || output.is_some() {
        draft.usage(|usage| {
            usage.input = input.unwrap_or(usage.input);
            usage.output = output.unwrap_or(usage.output);
        });
    }
}
