//! What a tool gave back, as the conversation holds it.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::{
    model::{Image, ImageData, Output, ToolResult},
    presenter::Call,
    tools::{FileChange, OutputPart, ToolOutput},
};

pub(super) fn of(call: &Call, output: ToolOutput) -> ToolResult {
    let shown = output.shown_text();
    let mut details = output.details();
    let changes = output.parts.iter().filter_map(|part| match part {
        OutputPart::Change(change) => Some(changed(change)),
        OutputPart::Text { .. } | OutputPart::Gap(_) | OutputPart::Image { .. } => None,
    });
    let changes: Vec<Value> = changes.collect();
    if !changes.is_empty() {
        if !details.is_object() {
            details = json!({});
        }
        details["changes"] = changes.into();
    }
    let shown = if shown.is_empty() { output.text.to_string() } else { shown };
    ToolResult {
        call_id: Arc::clone(&call.id),
        tool_name: Arc::clone(&call.name),
        is_error: output.is_error,
        told: (shown != *output.text).then(|| Arc::clone(&output.text)),
        output: Output { omitted: output.omitted, ..Output::plain(shown) },
        images: output.parts.into_iter().filter_map(picture).collect(),
        details,
    }
}

fn picture(part: OutputPart) -> Option<Image> {
    match part {
        OutputPart::Image { media_type, bytes } => {
            Some(Image { media_type, data: ImageData::Bytes(bytes), size: None })
        }
        OutputPart::Text { .. } | OutputPart::Gap(_) | OutputPart::Change(_) => None,
    }
}

fn changed(change: &FileChange) -> Value {
    json!({
        "path": change.path,
        "movedTo": change.moved_to,
        "before": change.before,
        "after": change.after,
    })
}
