//! Strings that are too long for a line: they stand in files of their own, and records name
//! those by the hash of what is in them.
//!
//! Arguments and details of calls may hold anything, also what looks like such a name. Where
//! they have a member `blob` or `json` of their own, it is written with a `~` before it.

use serde_json::{Map, Value};

use super::INLINE_MAX;

/// The name of a blob, as it stands in a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blob<'a> {
    /// The SHA-256 of its bytes, in hex.
    pub sha: &'a str,
    /// How many bytes it has.
    pub bytes: u64,
}

impl<'a> Blob<'a> {
    /// The blob that a value names, if it does.
    #[must_use]
    pub fn of(value: &'a Value) -> Option<Self> {
        let object = value.as_object().filter(|object| object.len() == 2)?;
        let sha = object.get("blob")?.as_str().filter(|sha| is_sha(sha))?;
        Some(Self { sha, bytes: object.get("bytes")?.as_u64()? })
    }

    /// The value that names it.
    #[must_use]
    pub fn to_value(self) -> Value {
        let mut object = Map::new();
        object.insert("blob".into(), self.sha.into());
        object.insert("bytes".into(), self.bytes.into());
        Value::Object(object)
    }
}

/// True for what may be the name of a blob's file: 64 digits of lower-case hex.
#[must_use]
pub(super) fn is_sha(name: &str) -> bool {
    name.len() == 64 && name.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

/// Visits the name of every blob in a body.
pub fn blob_refs(value: &Value, visit: &mut dyn FnMut(Blob<'_>)) {
    if let Some(blob) = Blob::of(value) {
        return visit(blob);
    }
    match value {
        Value::Array(items) => items.iter().for_each(|item| blob_refs(item, visit)),
        Value::Object(members) => members.values().for_each(|member| blob_refs(member, visit)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Where long strings go.
pub(super) struct Encoder<'a> {
    store: &'a mut dyn FnMut(&[u8]) -> String,
    /// A longer string is stored.
    pub(super) inline_max: usize,
    /// Bytes that were written in place.
    pub(super) written: usize,
}

/// Arguments may nest this deep in place; what is deeper is written as text, because a line
/// nests no deeper than its readers go.
const DEPTH_MAX: usize = 96;

impl<'a> Encoder<'a> {
    pub(super) fn new(store: &'a mut dyn FnMut(&[u8]) -> String) -> Self {
        Self { store, inline_max: INLINE_MAX, written: 0 }
    }

    pub(super) fn text(&mut self, text: &str) -> Value {
        if text.len() > self.inline_max {
            return self.blob(text.as_bytes());
        }
        self.written += text.len() + 16;
        text.into()
    }

    pub(super) fn blob(&mut self, bytes: &[u8]) -> Value {
        let sha = (self.store)(bytes);
        self.written += 100;
        Blob { sha: &sha, bytes: bytes.len() as u64 }.to_value()
    }

    /// A value that may hold anything.
    pub(super) fn free(&mut self, value: &Value) -> Value {
        self.free_below(value, 0)
    }

    fn free_below(&mut self, value: &Value, depth: usize) -> Value {
        match value {
            Value::String(text) => self.text(text),
            Value::Array(_) | Value::Object(_) if depth >= DEPTH_MAX => {
                let mut object = Map::new();
                object.insert("json".into(), self.text(&value.to_string()));
                Value::Object(object)
            }
            Value::Array(items) => {
                self.written += 2 * items.len();
                items.iter().map(|item| self.free_below(item, depth + 1)).collect()
            }
            Value::Object(members) => {
                let member = |(key, value): (&String, &Value)| {
                    self.written += key.len() + 8;
                    let key = if is_reserved(key) { format!("~{key}") } else { key.clone() };
                    (key, self.free_below(value, depth + 1))
                };
                Value::Object(members.iter().map(member).collect())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {
                self.written += 16;
                value.clone()
            }
        }
    }
}

fn is_reserved(key: &str) -> bool {
    matches!(key.trim_start_matches('~'), "blob" | "json")
}

/// Where long strings come from.
pub(super) struct Decoder<'a> {
    load: &'a dyn Fn(&str) -> Option<Vec<u8>>,
    pub(super) warnings: Vec<String>,
}

/// More warnings about one record are not told.
const WARNINGS_MAX: usize = 100;

impl<'a> Decoder<'a> {
    pub(super) fn new(load: &'a dyn Fn(&str) -> Option<Vec<u8>>) -> Self {
        Self { load, warnings: Vec::new() }
    }

    pub(super) fn warn(&mut self, message: impl Into<String>) {
        if self.warnings.len() < WARNINGS_MAX {
            self.warnings.push(message.into());
        }
    }

    /// The bytes of a blob; the words to show in their place when they are not there.
    pub(super) fn blob(&mut self, blob: Blob<'_>) -> Result<Vec<u8>, String> {
        (self.load)(blob.sha).ok_or_else(|| {
            let Blob { sha, bytes } = blob;
            let words = format!("{bytes} bytes of this message are missing: blobs/{sha}");
            self.warn(words.clone());
            words
        })
    }

    /// A text in place or from a blob; nothing for what is neither.
    pub(super) fn text(&mut self, value: Option<&Value>) -> Option<Result<String, String>> {
        let value = value?;
        if let Value::String(text) = value {
            return Some(Ok(text.clone()));
        }
        let bytes = self.blob(Blob::of(value)?);
        Some(bytes.map(|bytes| match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        }))
    }

    /// A text, or the words that stand in its place.
    pub(super) fn words(&mut self, value: Option<&Value>) -> String {
        match self.text(value) {
            Some(Ok(text) | Err(text)) => text,
            None => String::new(),
        }
    }

    /// A value that may hold anything.
    pub(super) fn free(&mut self, value: &Value) -> Value {
        match value {
            Value::Object(members) => {
                if Blob::of(value).is_some() {
                    return self.words(Some(value)).into();
                }
                if let Some(json) = members.get("json").filter(|_| members.len() == 1) {
                    let text = self.words(Some(json));
                    return serde_json::from_str(&text).unwrap_or(Value::String(text));
                }
                let member = |(key, value): (&String, &Value)| {
                    let own = key.strip_prefix('~').filter(|own| is_reserved(own));
                    (own.unwrap_or(key).to_owned(), self.free(value))
                };
                Value::Object(members.iter().map(member).collect())
            }
            Value::Array(items) => items.iter().map(|item| self.free(item)).collect(),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
        }
    }
}
