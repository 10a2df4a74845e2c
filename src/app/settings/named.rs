//! Providers that the user named: an address, the language spoken there, and where the key is.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::Value;
use toml_edit::{Item, TableLike};

use super::{document, read::Reader};
use crate::{
    markup::secrets::{self, Ending},
    model::stream::Wire,
    wire::{PRESETS, Preset},
};

/// Languages, by their names in the settings.
pub const WIRES: &[(&str, Wire)] = &[
    ("openai", Wire::Chat),
    ("openai-responses", Wire::Responses),
    ("anthropic", Wire::Anthropic),
    ("gemini", Wire::Gemini),
    ("ollama", Wire::Ollama),
];

/// Headers that say who asks: their values are secrets, which do not belong into the file.
const SECRET_HEADERS: &[&str] = &[
    "authorization",
    "proxy-authorization",
    "x-api-key",
    "api-key",
    "x-goog-api-key",
    "cookie",
    "x-auth-token",
];

/// A provider that the user named.
#[derive(Clone, Debug, PartialEq)]
pub struct Named {
    /// The name it goes by.
    pub name: Arc<str>,
    /// Its address; none for one that is known and has only another key.
    pub base_url: Option<Arc<str>>,
    /// The language it speaks.
    pub wire: Wire,
    /// The environment variable that holds its key.
    pub key_variable: Option<Arc<str>>,
    /// Its key is in the system's keyring.
    pub is_in_keyring: bool,
    /// Further headers. A value may be `${NAME}`, a variable of the environment.
    pub headers: BTreeMap<String, String>,
    /// The line it stands in.
    pub line: u32,
}

/// Reads a provider; none when it cannot be used.
pub(super) fn read(
    reader: &mut Reader<'_>,
    providers: &dyn TableLike,
    name: &str,
    item: &Item,
) -> Option<Named> {
    let path = format!("providers.{name}");
    let line = reader.line_of(providers, name, item);
    let Some(table) = item.as_table_like() else {
        reader.flaw(line, &path, "is no table");
        return None;
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.len() > 64 || !name.chars().all(is_name) || name == "demo" {
        reader.flaw(line, &path, "is no name for a provider");
        return None;
    }
    let preset = Preset::of_name(name);
    let wire = preset.map_or(Wire::Chat, |preset| preset.wire);
    let mut found = Named {
        name: name.into(),
        base_url: None,
        wire,
        key_variable: None,
        is_in_keyring: false,
        headers: BTreeMap::new(),
        line,
    };
    for (key, item) in table.iter() {
        let line = reader.line_of(table, key, item);
        let path = format!("{path}.{key}");
        match field(&mut found, key, &document::json(item)) {
            Field::Read => {}
            Field::Unknown => reader.unknown(line, &path),
            Field::Wrong(words) => reader.flaw(line, &path, &words),
        }
    }
    if found.base_url.is_none() && preset.is_none() {
        reader.flaw(line, &path, "has no base_url");
        return None;
    }
    Some(found)
}

enum Field {
    Read,
    Unknown,
    Wrong(String),
}

fn field(found: &mut Named, key: &str, value: &Value) -> Field {
    let text = value.as_str().map(str::trim).filter(|text| !text.is_empty());
    let wrong = |words: &str| Field::Wrong(words.to_owned());
    match (key, text) {
        ("base_url", Some(text)) => found.base_url = Some(text.into()),
        ("wire", Some(text)) => match WIRES.iter().find(|(name, _)| *name == text) {
            Some((_, wire)) => found.wire = *wire,
            None => {
                let names: Vec<_> = WIRES.iter().map(|(name, _)| *name).collect();
                return Field::Wrong(format!("is none of {}", names.join(", ")));
            }
        },
        ("key_variable", Some(text)) if is_variable(text) => {
            found.key_variable = Some(text.into());
        }
        ("key_variable", _) => {
            return wrong("is no name of a variable; the key itself does not belong here");
        }
        ("key", Some("keyring")) => found.is_in_keyring = true,
        ("key", _) => {
            return wrong(
                "does not belong here: write key = \"keyring\" and `letterpress keys set`",
            );
        }
        ("headers", _) => return headers(found, value),
        ("base_url" | "wire", None) => return wrong("is no text"),
        _ => return Field::Unknown,
    }
    Field::Read
}

fn headers(found: &mut Named, value: &Value) -> Field {
    let Some(headers) = value.as_object() else { return Field::Wrong("is no table".to_owned()) };
    let mut refused = Vec::new();
    for (name, value) in headers {
        let Some(text) = value.as_str() else {
            refused.push(name.as_str());
            continue;
        };
        let names_variable = variable(text).is_some();
        let is_secret = SECRET_HEADERS.contains(&name.to_ascii_lowercase().as_str())
            || !secrets::find(text, Ending::Final).is_empty();
        if is_secret && !names_variable {
            refused.push(name.as_str());
        } else {
            found.headers.insert(name.clone(), text.to_owned());
        }
    }
    if refused.is_empty() {
        return Field::Read;
    }
    let names = refused.join(", ");
    Field::Wrong(format!("may hold no secret: write {names} = \"${{NAME}}\" of the environment"))
}

/// The variable that a value names: `${NAME}`, with anything around it.
fn variable(text: &str) -> Option<(&str, &str, &str)> {
    let (before, rest) = text.split_once("${")?;
    let (name, after) = rest.split_once('}')?;
    is_variable(name).then_some((before, name, after))
}

fn is_variable(text: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    text.len() <= 128
        && text.starts_with(|c: char| !c.is_ascii_digit())
        && text.chars().all(is_letter)
}

impl Named {
    /// The headers, with the values of their variables. One whose variable is not set is
    /// left out.
    #[must_use]
    pub fn headers(&self, read: impl Fn(&str) -> Option<String>) -> Vec<(String, String)> {
        let value = |text: &str| match variable(text) {
            None => Some(text.to_owned()),
            Some((before, name, after)) => Some(format!("{before}{}{after}", read(name)?)),
        };
        let headers = self.headers.iter();
        headers.filter_map(|(name, text)| Some((name.clone(), value(text)?))).collect()
    }

    /// Variables of the environment that hold secrets of it.
    pub fn variables(&self) -> impl Iterator<Item = &str> {
        self.key_variable.as_deref().into_iter().chain(self.header_variables())
    }

    /// Variables of the environment that stand in headers.
    pub fn header_variables(&self) -> impl Iterator<Item = &str> {
        self.headers.values().filter_map(|text| Some(variable(text)?.1))
    }

    /// The provider that is known by the same name.
    #[must_use]
    pub fn preset(&self) -> Option<&'static Preset> {
        PRESETS.iter().find(|preset| *preset.name == *self.name)
    }
}
