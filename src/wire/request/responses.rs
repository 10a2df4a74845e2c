//! `OpenAI` Responses.

use serde_json::{Map, Value, json};

use super::{
    Request, ToolSpec, fields,
    history::{Answer, Entry, Piece, Said},
};

pub(super) fn body(request: &Request, entries: &[Entry<'_>]) -> Map<String, Value> {
    let mut body = fields(json!({
        "model": request.model,
        "stream": true,
        // Nothing is kept at the provider's; so encrypted reasoning has to travel with us.
        "store": false,
        "include": ["reasoning.encrypted_content"],
    }));
    if let Some(system) = &request.system {
        body.insert("instructions".into(), json!(system));
    }
    body.insert("input".into(), entries.iter().flat_map(items).collect());
    if let Some(limit) = request.max_tokens {
        body.insert("max_output_tokens".into(), limit.into());
    }
    if let Some(effort) = request.thinking.effort() {
        body.insert("reasoning".into(), json!({"effort": effort, "summary": "auto"}));
    }
    if !request.tools.is_empty() {
        body.insert("tools".into(), request.tools.iter().map(tool).collect());
    }
    body
}

fn items(entry: &Entry<'_>) -> Vec<Value> {
    match entry {
        Entry::User(pieces) => {
            vec![json!({"role": "user", "content": pieces.iter().map(part).collect::<Value>()})]
        }
        Entry::Assistant { said, answers } => {
            said.iter().map(item).chain(answers.iter().map(output)).collect()
        }
    }
}

fn item(said: &Said<'_>) -> Value {
    match said {
        Said::Text(text) => {
            json!({"role": "assistant", "content": [{"type": "output_text", "text": text}]})
        }
        Said::Call { id, name, arguments } => json!({
            "type": "function_call", "call_id": id, "name": name,
            "arguments": arguments.to_string(),
        }),
        Said::Echo(item) => item.clone(),
    }
}

fn output(answer: &Answer<'_>) -> Value {
    let kind = "function_call_output";
    let output = if answer.images.is_empty() {
        json!(answer.text)
    } else {
        let text = json!({"type": "input_text", "text": answer.text});
        std::iter::once(text).chain(answer.images.iter().map(part)).collect()
    };
    json!({"type": kind, "call_id": answer.id, "output": output})
}

fn part(piece: &Piece<'_>) -> Value {
    match piece {
        Piece::Text(text) => json!({"type": "input_text", "text": text}),
        Piece::Image { media_type, base64 } => {
            json!({"type": "input_image", "image_url": format!("data:{media_type};base64,{base64}")})
        }
    }
}

fn tool(spec: &ToolSpec) -> Value {
    json!({
        "type": "function", "name": spec.name, "description": spec.description,
        "parameters": spec.parameters, "strict": false,
    })
}
