//! Lists that come in pages.

use serde_json::{Value, json};

use super::{
    connection::Connection,
    error::CallError,
    prompts::Prompt,
    resources::{Resource, ResourceTemplate},
};

/// Pages of one list.
const MAX_PAGES: usize = 200;
/// Entries of one list.
const MAX_ENTRIES: usize = 5_000;
/// Bytes of one list, about.
const MAX_BYTES: usize = 32 << 20;
/// Bytes of the cursor that asks for the next page.
const MAX_CURSOR: usize = 64 * 1024;

/// One kind of list.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    pub(super) method: &'static str,
    pub(super) key: &'static str,
}

pub(super) const TOOLS: Kind = Kind { method: "tools/list", key: "tools" };
const RESOURCES: Kind = Kind { method: "resources/list", key: "resources" };
const TEMPLATES: Kind = Kind { method: "resources/templates/list", key: "resourceTemplates" };
const PROMPTS: Kind = Kind { method: "prompts/list", key: "prompts" };

/// A list, and what of it could not be used.
pub(super) type Listed<T> = (Vec<T>, Vec<String>);

impl Connection {
    pub(super) async fn resources(&self) -> Result<Vec<Resource>, CallError> {
        if !self.can().resources {
            return Ok(Vec::new());
        }
        Ok(self.list(RESOURCES, Resource::read).await?.0)
    }

    pub(super) async fn templates(&self) -> Result<Vec<ResourceTemplate>, CallError> {
        if !self.can().resources {
            return Ok(Vec::new());
        }
        Ok(self.list(TEMPLATES, ResourceTemplate::read).await?.0)
    }

    pub(super) async fn prompts(&self) -> Result<Vec<Prompt>, CallError> {
        if !self.can().prompts {
            return Ok(Vec::new());
        }
        Ok(self.list(PROMPTS, Prompt::read).await?.0)
    }

    /// All entries of a list, page by page. An entry that cannot be read costs itself.
    pub(super) async fn list<T>(
        &self,
        kind: Kind,
        read: impl Fn(&Value) -> Result<T, String>,
    ) -> Result<Listed<T>, CallError> {
        let (mut entries, mut warnings) = (Vec::new(), Vec::new());
        let mut cursor: Option<String> = None;
        let mut bytes = 0;
        for _ in 0..MAX_PAGES {
            let params =
                cursor.as_ref().map_or_else(|| json!({}), |cursor| json!({ "cursor": cursor }));
            let page = self.ask(kind.method, params).await?;
            let Some(list) = page.get(kind.key).and_then(Value::as_array) else {
                return Err(CallError::BadAnswer(format!("it has no {}", kind.key).into()));
            };
            for value in list {
                bytes += weight(value);
                if entries.len() + warnings.len() >= MAX_ENTRIES || bytes > MAX_BYTES {
                    let count = entries.len();
                    warnings.push(format!("only its first {count} {} are used", kind.key));
                    return Ok((entries, warnings));
                }
                match read(value) {
                    Ok(entry) => entries.push(entry),
                    Err(why) => warnings.push(why),
                }
            }
            let next = page.get("nextCursor").and_then(Value::as_str);
            match next.filter(|next| !next.is_empty()) {
                None => return Ok((entries, warnings)),
                Some(next) if next.len() > MAX_CURSOR || Some(next) == cursor.as_deref() => {
                    warnings.push("it asks for the same page again".into());
                    return Ok((entries, warnings));
                }
                Some(next) => cursor = Some(next.to_owned()),
            }
        }
        warnings.push(format!("it has more than {MAX_PAGES} pages of {}", kind.key));
        Ok((entries, warnings))
    }
}

/// Bytes of a value, about.
fn weight(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => 8,
        Value::String(text) => 8 + text.len(),
        Value::Array(list) => 8 + list.iter().map(weight).sum::<usize>(),
        Value::Object(map) => {
            8 + map.iter().map(|(key, value)| 8 + key.len() + weight(value)).sum::<usize>()
        }
    }
}
