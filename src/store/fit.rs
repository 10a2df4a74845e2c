//! Makes a body fit into a line: what is long goes into blobs, what is deep becomes text.

use serde_json::{Value, json};

use super::line::{HEAD_MAX, LINE_MAX};

/// Longer strings go into blobs, in bytes.
pub const STRING_MAX: usize = 64 * 1024;
/// What is nested deeper becomes text: readers of JSON stop at 128.
const DEPTH_MAX: usize = 100;

/// The body as bytes. `blob` keeps bytes, and gives the name that they are kept under.
pub(super) fn fit(mut body: Value, blob: &mut dyn FnMut(&[u8]) -> String) -> Vec<u8> {
    let mut longest = STRING_MAX;
    slim(&mut body, longest, 0, blob);
    loop {
        let bytes = serde_json::to_vec(&body).unwrap_or_else(|_| b"null".to_vec());
        if bytes.len() + HEAD_MAX <= LINE_MAX {
            return bytes;
        }
        // Many strings of which none is long.
        longest /= 16;
        if longest < 128 {
            let name = blob(&bytes);
            return json!({"blob": name, "bytes": bytes.len()}).to_string().into_bytes();
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
