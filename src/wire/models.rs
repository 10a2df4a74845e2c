//! Which models a provider has.

use std::time::Duration;

use reqwest::header::HeaderMap;
use serde_json::Value;
use tokio::time::timeout;

use super::{
    endpoint::Endpoint,
    error,
    http::{Http, head_of, insert, not_sent},
    json::Lenient as _,
};
use crate::model::stream::{ErrorClass, StreamError, Wire};

/// Bytes that a list of models may have.
const LIST_LIMIT: usize = 16 << 20;
const LIST_TIMEOUT: Duration = Duration::from_secs(20);

/// A model that a provider has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelInfo {
    /// The name to ask for it by.
    pub id: String,
    /// Tokens it can take in, where the provider says.
    pub context: Option<u64>,
}

/// The models of a provider that can hold a conversation, in its order.
///
/// # Errors
/// When it cannot be reached, refuses, or answers with something else.
pub async fn models(http: &Http, endpoint: &Endpoint) -> Result<Vec<ModelInfo>, StreamError> {
    let listed = timeout(LIST_TIMEOUT, list(http, endpoint)).await;
    listed.unwrap_or_else(|elapsed| {
        Err(StreamError::new(ErrorClass::Timeout, format!("no list of models ({elapsed})")))
    })
}

async fn list(http: &Http, endpoint: &Endpoint) -> Result<Vec<ModelInfo>, StreamError> {
    let url = endpoint
        .models_url()
        .map_err(|error| StreamError::new(ErrorClass::Connect, error.to_string()))?;
    let mut headers = HeaderMap::new();
    for (name, value) in endpoint.auth_headers() {
        insert(&mut headers, name, &value)?;
    }
    for (name, value) in &endpoint.headers {
        insert(&mut headers, name, value)?;
    }
    let sent = http.client(endpoint).get(url).headers(headers).send().await;
    let mut response = sent.map_err(not_sent)?;
    let head = head_of(&response);
    let mut body = Vec::new();
    while let Some(bytes) = response.chunk().await.map_err(not_sent)? {
        if body.len() + bytes.len() > LIST_LIMIT {
            return Err(StreamError::new(ErrorClass::TooLarge, "the list of models is too large"));
        }
        body.extend_from_slice(&bytes);
    }
    let text = String::from_utf8_lossy(&body);
    if !head.is_success() {
        let mut error = error::of_response(&head, &text);
        error.redact(|text| endpoint.redact(text));
        return Err(error);
    }
    read_models(endpoint.wire, &text)
        .ok_or_else(|| StreamError::new(ErrorClass::Protocol, "this is no list of models"))
}

/// Reads a list of models in the shape of a wire.
#[must_use]
pub fn read_models(wire: Wire, text: &str) -> Option<Vec<ModelInfo>> {
    let value: Value = serde_json::from_str(text).ok()?;
    let list = match wire {
        Wire::Chat | Wire::Responses | Wire::Anthropic => value.get("data")?,
        Wire::Ollama | Wire::Gemini => value.get("models")?,
    };
    Some(list.as_array()?.iter().filter_map(|model| read_model(wire, model)).collect())
}

fn read_model(wire: Wire, model: &Value) -> Option<ModelInfo> {
    let (id, context) = match wire {
        Wire::Chat | Wire::Responses => {
            let names = ["context_length", "context_window", "max_model_len"];
            let context = names.into_iter().find_map(|name| model.number(name));
            let trained = model.get("meta").and_then(|meta| meta.number("n_ctx_train"));
            (model.text("id")?, context.or(trained))
        }
        Wire::Anthropic => (model.text("id")?, model.number("max_input_tokens")),
        Wire::Ollama => (model.text("name").or_else(|| model.text("model"))?, None),
        Wire::Gemini => {
            let methods = model.list("supportedGenerationMethods");
            let talks = methods.is_empty() || methods.iter().any(|m| m == "generateContent");
            let name = model.text("name").filter(|_| talks)?;
            (name.strip_prefix("models/").unwrap_or(name), model.number("inputTokenLimit"))
        }
    };
    Some(ModelInfo { id: id.to_owned(), context })
}
