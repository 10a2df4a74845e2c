//! Makes a body fit into a line: what is long goes into blobs, what is deep becomes text.

use serde_json::{Value, json};

use crate::model::record::{INLINE_MAX, line::BODY_MAX};

/// What is nested deeper becomes text: readers of JSON stop at 128.
const DEPTH_MAX: usize = 120;

/// The body as text. `blob` keeps bytes, and gives the name that they are kept under.
pub(super) fn fit(mut body: Value, blob: &mut dyn FnMut(&[u8]) -> String) -> String {
    let mut longest = INLINE_MAX;
    slim(&mut body, longest, 0, blob);
    loop {
        let text = body.to_string();
        if text.len() <= BODY_MAX {
            return text;
        }
        // Many strings of which none is long.
        longest /= 16;
        if longest < 128 {
            let name = blob(text.as_bytes());
            return json!({"blob": name, "bytes": text.len()}).to_string();
        }
        slim(&mut body, longest, 0, blob);
    }
}

fn slim(value: &mut Value, longest: usize, depth: usize, blob: &mut dyn FnMut(&[u8]) -> String) {
    match value {
        Value::String(text) if text.len() > longest => {
            let name = blob(text.as_bytes());
            *value = json!({"blob": name, "bytes": text.len()});
        }
        Value::Array(_) | Value::Object(_) if depth >= DEPTH_MAX => {
            *value = Value::String(value.to_string());
            slim(value, longest, depth, blob);
        }
        Value::Array(items) => {
            items.iter_mut().for_each(|item| slim(item, longest, depth + 1, blob));
        }
        Value::Object(fields) => {
            fields.values_mut().for_each(|field| slim(field, longest, depth + 1, blob));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
