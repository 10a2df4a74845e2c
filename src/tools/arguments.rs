//! Reading the arguments that a model sent. Models send numbers as text and flags as words.

use std::{error::Error, fmt};

use serde_json::{Map, Value};

use super::spec::Kind;

/// Bytes of a path.
const MAX_PATH: usize = 4096;
/// Bytes of a pattern, an address, or an argument of a command.
const MAX_TEXT: usize = 128 * 1024;
/// Bytes of a file's text.
const MAX_CONTENT: usize = 16 * 1024 * 1024;
/// What models of the tag grammar send along with any tool.
const PASSED_OVER: &[&str] = &["task_progress", "requires_approval"];

/// Why a call was not understood, in words for the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadArguments(String);

impl BadArguments {
    pub(super) fn unknown_tool(tool: &str) -> Self {
        let names: Vec<_> = Kind::BUILT_IN.iter().map(|kind| kind.name()).collect();
        let tool = short(tool);
        Self(format!("There is no tool called {tool:?}. The tools are {}.", names.join(", ")))
    }
}

impl fmt::Display for BadArguments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for BadArguments {}

/// The arguments of one call. What was asked for is remembered, so that what is left over
/// can be told.
pub(super) struct Arguments<'a> {
    tool: &'a str,
    map: &'a Map<String, Value>,
    known: Vec<&'static str>,
}

impl<'a> Arguments<'a> {
    pub(super) fn new(tool: &'a str, value: &'a Value) -> Result<Self, BadArguments> {
        match value {
            Value::Object(map) => Ok(Self { tool, map, known: Vec::new() }),
            _ => Err(BadArguments(format!("{tool}: the arguments must be an object."))),
        }
    }

    pub(super) fn tool(&self) -> &str {
        self.tool
    }

    pub(super) fn bad(&self, why: &str) -> BadArguments {
        BadArguments(format!("{}: {why}.", short(self.tool)))
    }

    /// Null stands for nothing: strict providers make models send every argument.
    fn get(&mut self, name: &'static str) -> Option<&'a Value> {
        self.known.push(name);
        self.map.get(name).filter(|value| !value.is_null())
    }

    fn string(&mut self, name: &'static str, max: usize) -> Result<Option<&'a str>, BadArguments> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::String(text)) if text.len() > max => {
                Err(self.bad(&format!("{name} is longer than {max} bytes")))
            }
            Some(Value::String(text)) => Ok(Some(text)),
            Some(other) => Err(self.bad(&format!("{name} must be text, not {}", type_of(other)))),
        }
    }

    fn missing(&self, name: &str) -> BadArguments {
        self.bad(&format!("{name} is missing"))
    }

    /// Text that must be there and hold something.
    pub(super) fn text(&mut self, name: &'static str) -> Result<String, BadArguments> {
        match self.string(name, MAX_TEXT)? {
            Some("") => Err(self.bad(&format!("{name} is empty"))),
            Some(text) => Ok(text.to_owned()),
            None => Err(self.missing(name)),
        }
    }

    pub(super) fn optional_text(
        &mut self,
        name: &'static str,
    ) -> Result<Option<String>, BadArguments> {
        let text = self.string(name, MAX_TEXT)?;
        Ok(text.filter(|text| !text.is_empty()).map(str::to_owned))
    }

    /// The text of a file: anything, of any length that a file may have here.
    pub(super) fn content(&mut self, name: &'static str) -> Result<String, BadArguments> {
        self.optional_content(name)?.ok_or_else(|| self.missing(name))
    }

    pub(super) fn optional_content(
        &mut self,
        name: &'static str,
    ) -> Result<Option<String>, BadArguments> {
        Ok(self.string(name, MAX_CONTENT)?.map(str::to_owned))
    }

    pub(super) fn path(&mut self) -> Result<String, BadArguments> {
        self.optional_path("path")?.ok_or_else(|| self.missing("path"))
    }

    /// The path, or the workspace itself.
    pub(super) fn path_or_here(&mut self) -> Result<String, BadArguments> {
        Ok(self.optional_path("path")?.unwrap_or_else(|| ".".to_owned()))
    }

    pub(super) fn optional_path(
        &mut self,
        name: &'static str,
    ) -> Result<Option<String>, BadArguments> {
        let Some(path) = self.string(name, MAX_PATH)?.filter(|path| !path.is_empty()) else {
            return Ok(None);
        };
        if path.contains(char::is_control) {
            return Err(self.bad(&format!("{name} has a control character in it")));
        }
        if path == "~" || path.starts_with("~/") {
            return Err(self.bad(&format!("{name} must be written out; no shell reads the ~")));
        }
        Ok(Some(path.to_owned()))
    }

    pub(super) fn number(&mut self, name: &'static str) -> Result<Option<u64>, BadArguments> {
        let number = match self.get(name) {
            None => return Ok(None),
            Some(Value::String(text)) if text.trim().is_empty() => return Ok(None),
            Some(Value::String(text)) => text.trim().parse().ok(),
            Some(Value::Number(number)) => number.as_u64().or_else(|| whole(number.as_f64()?)),
            Some(Value::Bool(_) | Value::Array(_) | Value::Object(_) | Value::Null) => None,
        };
        number.map(Some).ok_or_else(|| self.bad(&format!("{name} must be a whole number")))
    }

    pub(super) fn flag(&mut self, name: &'static str) -> Result<Option<bool>, BadArguments> {
        match self.get(name) {
            None => Ok(None),
            Some(Value::Bool(flag)) => Ok(Some(*flag)),
            Some(Value::String(word)) => match word.trim().to_ascii_lowercase().as_str() {
                "" => Ok(None),
                "true" | "yes" | "1" => Ok(Some(true)),
                "false" | "no" | "0" => Ok(Some(false)),
                _ => Err(self.bad(&format!("{name} must be true or false"))),
            },
            Some(_) => Err(self.bad(&format!("{name} must be true or false"))),
        }
    }

    /// A list of texts, or else one text.
    pub(super) fn list_or_text(
        &mut self,
        name: &'static str,
    ) -> Result<Result<Vec<String>, String>, BadArguments> {
        let Some(Value::Array(items)) = self.get(name) else {
            return self.text(name).map(Err);
        };
        let mut list = Vec::with_capacity(items.len().min(1024));
        let mut bytes = 0;
        for item in items {
            let text = match item {
                Value::String(text) => text.clone(),
                Value::Number(number) => number.to_string(),
                other => {
                    let kind = type_of(other);
                    return Err(self.bad(&format!("{name} must hold texts only, not {kind}")));
                }
            };
            bytes += text.len();
            if text.contains('\0') {
                return Err(self.bad(&format!("{name} has a NUL character in it")));
            }
            list.push(text);
        }
        if bytes > MAX_TEXT {
            return Err(self.bad(&format!("{name} is longer than {MAX_TEXT} bytes")));
        }
        Ok(Ok(list))
    }

    /// Says what is left over: a misspelt argument that is passed over would do something
    /// else than what was meant.
    pub(super) fn finish(&self) -> Result<(), BadArguments> {
        let known = |name: &str| self.known.contains(&name) || PASSED_OVER.contains(&name);
        let Some(extra) = self.map.keys().find(|name| !known(name)) else { return Ok(()) };
        let extra = short(extra);
        Err(self
            .bad(&format!("there is no argument {extra:?}; there are {}", self.known.join(", "))))
    }
}

fn whole(number: f64) -> Option<u64> {
    (number.fract() == 0.0 && (0.0..9e15).contains(&number)).then_some(number as u64)
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a flag",
        Value::Number(_) => "a number",
        Value::String(_) => "a text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

/// A name that a model made up, at a length that can be repeated to it.
fn short(name: &str) -> String {
    name.chars().take(64).collect()
}
