//! Google Gemini.

use serde_json::{Map, Value, json};

use super::{
    Request, ThinkingLevel, ToolSpec, fields,
    history::{Answer, Entry, Piece, Said},
};
use crate::wire::calls::is_minted;

pub(super) fn body(request: &Request, entries: &[Entry<'_>]) -> Map<String, Value> {
    let contents = entries.iter().flat_map(|entry| contents(entry, request));
    let mut body = fields(json!({"contents": contents.collect::<Vec<_>>()}));
    if let Some(system) = &request.system {
        body.insert("systemInstruction".into(), json!({"parts": [{"text": system}]}));
    }
    if !request.tools.is_empty() {
        let tools: Vec<_> = request.tools.iter().map(tool).collect();
        body.insert("tools".into(), json!([{"functionDeclarations": tools}]));
    }
    let mut config = Map::new();
    if let Some(limit) = request.max_tokens {
        config.insert("maxOutputTokens".into(), limit.into());
    }
    if let Some(thinking) = thinking(request) {
        config.insert("thinkingConfig".into(), thinking);
    }
    if !config.is_empty() {
        body.insert("generationConfig".into(), config.into());
    }
    body
}

/// How to think. Models before 2.5 refuse to be told.
fn thinking(request: &Request) -> Option<Value> {
    let model = request.model.strip_prefix("models/").unwrap_or(&request.model);
    let is_third = model.starts_with("gemini-3");
    if !is_third && !model.starts_with("gemini-2.5") {
        return None;
    }
    let mut config = fields(json!({"includeThoughts": true}));
    match (request.thinking, super::budget(request.thinking)) {
        (ThinkingLevel::Low | ThinkingLevel::Off, _) if is_third => {
            config.insert("thinkingLevel".into(), "low".into());
        }
        (ThinkingLevel::Medium | ThinkingLevel::High, _) if is_third => {
            config.insert("thinkingLevel".into(), "high".into());
        }
        (ThinkingLevel::Off, _) => {
            config.insert("thinkingBudget".into(), 0.into());
        }
        (_, Some(budget)) => {
            config.insert("thinkingBudget".into(), budget.into());
        }
        (_, None) => {}
    }
    Some(config.into())
}

fn contents(entry: &Entry<'_>, request: &Request) -> Vec<Value> {
    match entry {
        Entry::User(pieces) => {
            vec![json!({"role": "user", "parts": pieces.iter().map(part).collect::<Vec<_>>()})]
        }
        Entry::Assistant { said, answers } => {
            let parts: Vec<_> = said.iter().map(|said| said_part(said, request)).collect();
            let mut contents = vec![json!({"role": "model", "parts": parts})];
            if !answers.is_empty() {
                let parts: Vec<_> = answers.iter().flat_map(response).collect();
                contents.push(json!({"role": "user", "parts": parts}));
            }
            contents
        }
    }
}

fn said_part(said: &Said<'_>, request: &Request) -> Value {
    match said {
        Said::Text(text) => json!({"text": text}),
        Said::Echo(part) => part.clone(),
        Said::Call { id, name, arguments } => {
            let call = with_id(json!({"name": name, "args": arguments}), id);
            let mut part = fields(json!({"functionCall": call}));
            if request.model.contains("gemini-3") {
                // The vendor's word for calls that another model made and nobody signed.
                part.insert("thoughtSignature".into(), "skip_thought_signature_validator".into());
            }
            part.into()
        }
    }
}

fn response<'a>(answer: &'a Answer<'_>) -> impl Iterator<Item = Value> + 'a {
    let key = if answer.is_error { "error" } else { "output" };
    let response = json!({"name": answer.name, "response": {key: answer.text}});
    let response = json!({"functionResponse": with_id(response, &answer.id)});
    std::iter::once(response).chain(answer.images.iter().map(part))
}

/// The provider knows a call by the id it gave, and by no other.
fn with_id(call: Value, id: &str) -> Value {
    let mut call = fields(call);
    if !is_minted(id) {
        call.insert("id".into(), id.into());
    }
    call.into()
}

fn part(piece: &Piece<'_>) -> Value {
    match piece {
        Piece::Text(text) => json!({"text": text}),
        Piece::Image { media_type, base64 } => {
            json!({"inlineData": {"mimeType": media_type, "data": base64}})
        }
    }
}

fn tool(spec: &ToolSpec) -> Value {
    json!({
        "name": spec.name, "description": spec.description,
        "parameters": dialect(&spec.parameters),
    })
}

/// Keywords of a schema that this provider knows; it refuses all others.
const KEYWORDS: [&str; 20] = [
    "type",
    "format",
    "title",
    "description",
    "nullable",
    "enum",
    "maxItems",
    "minItems",
    "required",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "pattern",
    "example",
    "propertyOrdering",
    "default",
    "minimum",
    "maximum",
    "anyOf",
];

/// A JSON schema in the dialect of this provider.
fn dialect(schema: &Value) -> Value {
    let Value::Object(schema) = schema else { return schema.clone() };
    let translate = |(key, value): (&String, &Value)| {
        let value = match (key.as_str(), value) {
            ("properties", Value::Object(properties)) => {
                let properties = properties.iter().map(|(name, s)| (name.clone(), dialect(s)));
                Value::Object(properties.collect())
            }
            ("items", item) => dialect(item),
            ("anyOf", Value::Array(list)) => list.iter().map(dialect).collect(),
            (known, value) if KEYWORDS.contains(&known) => value.clone(),
            _ => return None,
        };
        Some((key.clone(), value))
    };
    Value::Object(schema.iter().filter_map(translate).collect())
}
