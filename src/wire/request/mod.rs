//! What is asked of a model, and how each wire says it.

mod anthropic;
mod chat;
mod gemini;
mod history;
mod ollama;
mod responses;

use std::sync::Arc;

use serde_json::{Map, Value};

use super::endpoint::Endpoint;
pub use crate::model::ThinkingLevel;
use crate::model::{
    Message,
    stream::{Echo, OptionalField, Wire},
};

/// A request for one reply.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// The model, by its provider's name for it.
    pub model: String,
    /// What the model is told about its task.
    pub system: Option<Arc<str>>,
    /// The conversation, oldest first.
    pub turns: Vec<Turn>,
    /// The tools that it may call.
    pub tools: Vec<ToolSpec>,
    /// Tokens the reply may have; none leaves it to the provider.
    pub max_tokens: Option<u32>,
    /// How much it should think.
    pub thinking: ThinkingLevel,
    /// Fields to leave out, because the server refused them.
    pub without: Vec<OptionalField>,
    /// Fields of the provider's own, which outrank ours; objects are merged.
    pub extra: Map<String, Value>,
}

/// One message, with what its provider wants back of it.
#[derive(Clone, Debug)]
pub struct Turn {
    /// The message. Results stand in its calls.
    pub message: Arc<Message>,
    /// Echoes by the index of the part they belong to. An echo stands in the place of its
    /// part when the request goes where it came from; otherwise it is left out.
    pub echoes: Vec<(usize, Echo)>,
}

impl From<Arc<Message>> for Turn {
    fn from(message: Arc<Message>) -> Self {
        Self { message, echoes: Vec::new() }
    }
}

/// A tool as a model is told of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// Its name.
    pub name: Arc<str>,
    /// What it does.
    pub description: Arc<str>,
    /// Its arguments, as a JSON schema of an object.
    pub parameters: Value,
}

/// Tokens for thinking, for providers that count them.
fn budget(level: ThinkingLevel) -> Option<u32> {
    match level {
        ThinkingLevel::Default | ThinkingLevel::Off => None,
        ThinkingLevel::Low => Some(2048),
        ThinkingLevel::Medium => Some(8192),
        ThinkingLevel::High => Some(24_576),
    }
}

/// The body of a request in the language of its endpoint.
#[must_use]
pub fn body(request: &Request, endpoint: &Endpoint) -> Value {
    let entries = history::entries(&request.turns, endpoint);
    let mut body = match endpoint.wire {
        Wire::Chat => chat::body(request, &entries, endpoint.quirks),
        Wire::Responses => responses::body(request, &entries),
        Wire::Anthropic => anthropic::body(request, &entries),
        Wire::Ollama => ollama::body(request, &entries),
        Wire::Gemini => gemini::body(request, &entries),
    };
    for (key, value) in &request.extra {
        match (body.get_mut(key), value) {
            (Some(Value::Object(ours)), Value::Object(theirs)) => ours.extend(theirs.clone()),
            _ => {
                body.insert(key.clone(), value.clone());
            }
        }
    }
    Value::Object(body)
}

/// The fields of a JSON object that is written out in the source.
fn fields(value: Value) -> Map<String, Value> {
    match value {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// The tools as Chat Completions and Ollama name them.
fn chat_tools(request: &Request) -> Value {
    let tool = |spec: &ToolSpec| {
        serde_json::json!({"type": "function", "function": {
            "name": spec.name, "description": spec.description, "parameters": spec.parameters,
        }})
    };
    request.tools.iter().map(tool).collect()
}
