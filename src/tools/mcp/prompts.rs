//! Prompts: messages that a server has ready, for the user to pick.

use serde_json::Value;

use super::{content::Content, resources::field};
use crate::model::Role;

/// Messages of one prompt.
const MAX_MESSAGES: usize = 1_000;
/// Arguments of one prompt.
const MAX_ARGUMENTS: usize = 100;

/// Messages that a server has ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prompt {
    /// What it is asked for by.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// What to fill in.
    pub arguments: Vec<PromptArgument>,
}

/// Something to fill into a prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PromptArgument {
    /// What it is called.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// What it is.
    pub description: Option<String>,
    /// There is no prompt without it.
    pub required: bool,
}

/// One message of a prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct PromptMessage {
    /// The user or the model.
    pub role: Role,
    /// What is said.
    pub content: Content,
}

impl Prompt {
    pub(super) fn read(value: &Value) -> Result<Self, String> {
        let arguments = value.get("arguments").and_then(Value::as_array);
        let argument = |value: &Value| {
            Some(PromptArgument {
                name: field(value, "name")?,
                title: field(value, "title"),
                description: field(value, "description"),
                required: value.get("required").and_then(Value::as_bool).unwrap_or(false),
            })
        };
        Ok(Self {
            name: field(value, "name").ok_or("a prompt without a name")?,
            title: field(value, "title"),
            description: field(value, "description"),
            arguments: arguments
                .into_iter()
                .flatten()
                .take(MAX_ARGUMENTS)
                .filter_map(argument)
                .collect(),
        })
    }
}

impl PromptMessage {
    pub(super) fn read_all(mut answer: Value) -> Result<Vec<Self>, String> {
        let messages = answer.as_object_mut().and_then(|map| map.remove("messages"));
        let Some(Value::Array(messages)) = messages else {
            return Err("it has no messages".into());
        };
        let message = |mut value: Value| {
            let is_assistant = value.get("role").and_then(Value::as_str) == Some("assistant");
            let content = value.as_object_mut().and_then(|map| map.remove("content"));
            Self {
                role: if is_assistant { Role::Assistant } else { Role::User },
                content: Content::read(content.unwrap_or_default()),
            }
        };
        Ok(messages.into_iter().take(MAX_MESSAGES).map(message).collect())
    }
}
