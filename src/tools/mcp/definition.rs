//! A tool as its server describes it, and how two descriptions differ.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::{
    digest::Digest,
    log::clip,
    reveal::{count_hidden, reveal, reveal_prose},
};

/// Bytes that one definition may take.
const MAX_BYTES: usize = 256 * 1024;
/// Bytes that a tool's name may take.
const MAX_NAME: usize = 256;
/// Differences that are told one by one.
const MAX_DIFFERENCES: usize = 200;
/// Bytes of each side of a difference that are told.
const MAX_SIDE: usize = 4 * 1024;

/// A tool as its server describes it, word for word.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    /// Its name at its server. Without hidden characters.
    pub name: Arc<str>,
    /// Its name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it does.
    #[serde(default)]
    pub description: String,
    /// The JSON schema of its arguments.
    pub input_schema: Value,
    /// The JSON schema of its structured results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// What it says about itself. Shown and pinned; it lowers nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Value>,
}

/// One place where two definitions differ, with hidden characters made visible.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The place: `description`, `inputSchema.properties.path.type` …
    pub place: String,
    /// What was accepted; none when it was not there.
    pub before: Option<String>,
    /// What it is now; none when it is not there any more.
    pub after: Option<String>,
}

impl Definition {
    /// Reads one entry of a server's list.
    pub(super) fn read(value: &Value) -> Result<Self, String> {
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        let name = text("name").ok_or("a tool without a name")?;
        if name.is_empty() || name.len() > MAX_NAME || reveal(name).hidden > 0 {
            return Err(format!(
                "a tool whose name is empty, too long, or holds hidden characters: {}",
                clip(&reveal(name).text, 80)
            ));
        }
        let present = |key: &str| value.get(key).filter(|value| !value.is_null()).cloned();
        let input_schema = match present("inputSchema") {
            None => json!({ "type": "object" }),
            Some(schema) if schema.is_object() => schema,
            Some(_) => return Err(format!("{name}: the schema of its arguments is no object")),
        };
        let definition = Self {
            name: name.into(),
            title: text("title").map(str::to_owned),
            description: text("description").unwrap_or_default().to_owned(),
            input_schema,
            output_schema: present("outputSchema"),
            annotations: present("annotations"),
        };
        let bytes = definition.canonical().to_string().len();
        if bytes > MAX_BYTES {
            return Err(format!("{name}: its definition takes {bytes} bytes"));
        }
        Ok(definition)
    }

    /// Names this definition at this server. The order of keys does not count, nor that of
    /// lists that are sets in a schema.
    pub(super) fn digest(&self, identity: &Value) -> Digest {
        Digest::of_json(&canonical(&json!({ "server": identity, "tool": self.canonical() })))
    }

    fn canonical(&self) -> Value {
        canonical(&json!({
            "name": self.name,
            "title": self.title,
            "description": self.description,
            "inputSchema": self.input_schema,
            "outputSchema": self.output_schema,
            "annotations": self.annotations,
        }))
    }

    /// How many hidden characters it holds.
    #[must_use]
    pub fn hidden(&self) -> usize {
        count_hidden(&self.canonical())
    }

    /// As a model gets to know it: hidden characters in its prose are visible, as the user saw
    /// them. What is compared when a call is made stays as it is.
    #[must_use]
    pub fn revealed(&self) -> Self {
        Self {
            name: Arc::clone(&self.name),
            title: self.title.as_deref().map(|title| reveal(title).text),
            description: reveal(&self.description).text,
            input_schema: reveal_prose(&self.input_schema),
            output_schema: self.output_schema.as_ref().map(reveal_prose),
            annotations: self.annotations.clone(),
        }
    }

    /// Where `after` differs from this definition.
    #[must_use]
    pub fn differences(&self, after: &Self) -> Vec<Difference> {
        let (mut old, mut new) = (BTreeMap::new(), BTreeMap::new());
        flatten(String::new(), &self.canonical(), &mut old);
        flatten(String::new(), &after.canonical(), &mut new);
        let mut places: Vec<_> = old.keys().chain(new.keys()).cloned().collect();
        places.sort();
        places.dedup();
        let side = |side: Option<&Value>| side.filter(|value| !value.is_null()).map(shown);
        let differ = places.into_iter().filter(|place| old.get(place) != new.get(place));
        let difference = |place: String| Difference {
            before: side(old.get(&place)),
            after: side(new.get(&place)),
            place: reveal(&place).text,
        };
        differ.map(difference).take(MAX_DIFFERENCES).collect()
    }
}

fn shown(value: &Value) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    clip(&reveal(&text).text, MAX_SIDE)
}

/// Every leaf by the path that leads to it.
fn flatten(path: String, value: &Value, leaves: &mut BTreeMap<String, Value>) {
    let below = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        Value::Object(map) if !map.is_empty() => {
            map.iter().for_each(|(key, value)| flatten(below(key), value, leaves));
        }
        Value::Array(list) if list.iter().any(|value| value.is_object() || value.is_array()) => {
            list.iter()
                .enumerate()
                .for_each(|(at, value)| flatten(below(&at.to_string()), value, leaves));
        }
        _ => {
            leaves.insert(path, value.clone());
        }
    }
}

/// Objects in the order of their keys, and the lists that mean sets in theirs.
fn canonical(value: &Value) -> Value {
    match value {
        Value::Array(list) => list.iter().map(canonical).collect(),
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            entries.sort_by(|a, b| a.0.cmp(b.0));
            let entry = |(key, value): (&String, &Value)| {
                let mut value = canonical(value);
                if let (Value::Array(list), "required" | "enum" | "type") =
                    (&mut value, key.as_str())
                {
                    list.sort_by_cached_key(Value::to_string);
                }
                (key.clone(), value)
            };
            Value::Object(entries.into_iter().map(entry).collect::<Map<_, _>>())
        }
        _ => value.clone(),
    }
}
