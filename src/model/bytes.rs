//! What messages take on the heap, for caches that count.

use serde_json::Value;

use super::{
    block::Block,
    message::{Image, ImageData, Message, Part, Text},
    tool::{ToolCall, ToolResult},
};

impl Message {
    /// Bytes on the heap: texts, blocks, pictures, arguments and results.
    ///
    /// An estimate that errs by the allocator's overhead. Work grows with the message's
    /// structure, not with its texts.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let texts = [&self.model, &self.error].into_iter().flatten().map(|text| text.len());
        self.key.len()
            + texts.sum::<usize>()
            + self.parts.capacity() * size_of::<Part>()
            + self.parts.iter().map(Part::heap_bytes).sum::<usize>()
    }
}

impl Part {
    fn heap_bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.heap_bytes(),
            Self::Thinking(thinking) => thinking.text.heap_bytes(),
            Self::Image(image) => image.heap_bytes(),
            Self::ToolCall(call) => call.total_bytes(),
            Self::ToolResult(result) => result.total_bytes(),
            Self::Notice(notice) => notice.text.heap_bytes(),
            Self::Raw(raw) => raw.label.len() + raw.text.len(),
        }
    }
}

impl Text {
    /// Bytes on the heap: the source and its blocks.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let shared = |block: &std::sync::Arc<Block>| size_of_val(block) + block.total_bytes();
        self.source.len() + self.blocks().map(shared).sum::<usize>()
    }
}

impl Image {
    fn heap_bytes(&self) -> usize {
        let data = match &self.data {
            ImageData::Bytes(bytes) => bytes.len(),
            ImageData::Address(text) | ImageData::Unusable(text) => text.len(),
        };
        self.media_type.len() + data
    }
}

impl ToolCall {
    fn total_bytes(&self) -> usize {
        size_of::<Self>()
            + self.id.len()
            + self.name.len()
            + value_bytes(&self.arguments)
            + self.result.as_ref().map_or(0, |result| result.total_bytes())
    }
}

impl ToolResult {
    fn total_bytes(&self) -> usize {
        size_of::<Self>()
            + self.call_id.len()
            + self.tool_name.len()
            + self.output.heap_bytes()
            + self.told.as_ref().map_or(0, |told| told.len())
            + self.images.iter().map(|image| size_of::<Image>() + image.heap_bytes()).sum::<usize>()
            + value_bytes(&self.details)
    }
}

/// Bytes of a JSON value on the heap. Its depth is bounded by the reader that made it.
fn value_bytes(value: &Value) -> usize {
    /// A key's place in an object, beside its text and its value.
    const SLOT: usize = size_of::<String>() + 2 * size_of::<usize>();
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
        Value::String(text) => text.capacity(),
        Value::Array(list) => list.iter().map(|v| size_of::<Value>() + value_bytes(v)).sum(),
        Value::Object(map) => {
            map.iter().map(|(key, v)| SLOT + key.len() + size_of::<Value>() + value_bytes(v)).sum()
        }
    }
}
