//! Google Gemini, `streamGenerateContent`.

use std::sync::Arc;

use serde_json::Value;

use super::{Next, Protocol};
use crate::{
    model::{
        Image, ImageData, StopReason,
        stream::{Close, ErrorClass, ReplyBlock, ReplyKind, StreamError, WarningCode},
    },
    wire::{
        calls::Mint,
        draft::{Draft, unknown},
        error,
        image::decode,
        json::Lenient as _,
    },
};

/// Reads `GenerateContentResponse` objects.
pub(super) struct Gemini {
    mint: Mint,
}

impl Protocol for Gemini {
    fn value(&mut self, event: &str, value: Value, draft: &mut Draft) -> Next {
        if event == "error" || error::is_error(&value) {
            draft.fail_with(&value);
            return Next::Over;
        }
        let candidates = value.list("candidates");
        if !candidates.is_empty() {
            draft.start(value.text("responseId"), value.text("modelVersion"));
        }
        if let Some(usage) = value.get("usageMetadata") {
            merge_usage(usage, draft);
        }
        let blocked = value.get("promptFeedback").and_then(|f| f.text("blockReason"));
        if let (true, Some(reason)) = (candidates.is_empty(), blocked) {
            draft.fail(blocked_by(reason));
            return Next::Over;
        }
        // Only the first candidate is asked for, and shown.
        let first = candidates.iter().find(|c| c.number("index").unwrap_or(0) == 0);
        first.map_or(Next::Continue, |candidate| self.candidate(candidate, draft))
    }

    fn close(&mut self, draft: &mut Draft) {
        draft.end_flow();
    }
}

impl Gemini {
    pub(super) fn new(mint: Mint) -> Self {
        Self { mint }
    }

    fn candidate(&mut self, candidate: &Value, draft: &mut Draft) -> Next {
        let content = candidate.get("content").unwrap_or(&Value::Null);
        for part in content.list("parts") {
            self.part(part, draft);
        }
        if let Some(reason) = candidate.text("finishReason") {
            let words = candidate.text("finishMessage");
            return finish(reason, words, draft);
        }
        Next::Continue
    }

    fn part(&mut self, part: &Value, draft: &mut Draft) {
        let signed = part.text("thoughtSignature").is_some();
        let block = if let Some(call) = part.get("functionCall") {
            Some(self.call(call, draft))
        } else if let Some(data) = part.get("inlineData") {
            Some(draft.image(image(data)))
        } else if part.get("text").is_some() || signed {
            prose(part, signed, draft)
        } else {
            return other(part, draft);
        };
        if let (true, Some(block)) = (signed, block) {
            draft.opaque(block, part);
        }
    }

    fn call(&mut self, call: &Value, draft: &mut Draft) -> ReplyBlock {
        let id = call.text("id").map_or_else(|| self.mint.id(), Arc::from);
        let arguments = call.get("args").unwrap_or(&Value::Null);
        draft.whole_call(&id, call.text("name").unwrap_or_default(), arguments)
    }
}

/// Text or reasoning. A signed part stands alone, because it goes back as it came.
fn prose(part: &Value, signed: bool, draft: &mut Draft) -> Option<ReplyBlock> {
    let thought = part.get("thought") == Some(&Value::Bool(true));
    let kind = if thought { ReplyKind::Reasoning } else { ReplyKind::Text };
    let text = part.text("text").unwrap_or_default();
    if !signed {
        return draft.flow(&kind, text);
    }
    let block = draft.begin_flow(&kind);
    draft.flow(&kind, text);
    draft.end_flow();
    Some(block)
}

/// A part that is shown as a card: code that ran at the provider's, or what is new.
fn other(part: &Value, draft: &mut Draft) {
    let name = part.as_object().and_then(|fields| fields.keys().next());
    let Some(name) = name else { return };
    draft.end_flow();
    let block = draft.open(ReplyKind::Other(name.as_str().into()));
    draft.opaque(block, part);
    draft.close(block, Close::AsStreamed);
}

fn image(data: &Value) -> Image {
    let media_type = data.text("mimeType").unwrap_or("application/octet-stream");
    let data = data.text("data").map_or_else(|| ImageData::Unusable("no data".into()), decode);
    Image { media_type: media_type.into(), data, size: None }
}

fn finish(reason: &str, words: Option<&str>, draft: &mut Draft) -> Next {
    match reason {
        "STOP" => draft.finish(StopReason::Stop),
        // No word of the vendor's, but of servers that stand in for it.
        "FUNCTION_CALL" | "TOOL_CALL" => draft.finish(StopReason::ToolUse),
        "MAX_TOKENS" => draft.finish(StopReason::Length),
        "FINISH_REASON_UNSPECIFIED" => {}
        "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL" | "TOO_MANY_TOOL_CALLS" => {
            let words = words.unwrap_or("the provider could not read the model's call");
            fail(ErrorClass::MalformedCall, reason, words, draft);
            return Next::Over;
        }
        _ if is_filter(reason) && !draft.has_content() => {
            draft.fail(blocked_by(reason));
            return Next::Over;
        }
        _ if is_filter(reason) => draft.finish(StopReason::Other("content_filter".into())),
        other => {
            draft.warn(WarningCode::UnknownFinish, other);
            draft.finish(unknown());
        }
    }
    Next::Continue
}

fn is_filter(reason: &str) -> bool {
    matches!(
        reason,
        "SAFETY" | "RECITATION" | "LANGUAGE" | "BLOCKLIST" | "PROHIBITED_CONTENT" | "SPII"
    ) || reason.starts_with("IMAGE_")
}

fn fail(class: ErrorClass, code: &str, words: &str, draft: &mut Draft) {
    draft.fail(StreamError { code: Some(code.into()), ..StreamError::new(class, words) });
}

fn blocked_by(reason: &str) -> StreamError {
    let words = format!("the provider blocked this: {}", reason.to_ascii_lowercase());
    StreamError { code: Some(reason.into()), ..StreamError::new(ErrorClass::Blocked, words) }
}

fn merge_usage(value: &Value, draft: &mut Draft) {
    let cached = value.number("cachedContentTokenCount").unwrap_or(0);
    let thoughts = value.number("thoughtsTokenCount").unwrap_or(0);
    draft.usage(|usage| {
        if let Some(prompt) = value.number("promptTokenCount") {
            usage.input = prompt.saturating_sub(cached);
            usage.cache_read = cached;
        }
        let answer = value.number("candidatesTokenCount");
        if answer.is_some() || thoughts > 0 {
            usage.output = answer.unwrap_or(0) + thoughts;
        }
    });
}
