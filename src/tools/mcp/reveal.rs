//! Texts of a server, with what cannot be seen in them made visible.

use serde_json::Value;

use crate::model::character::{bidi_name, control_picture, is_invisible};

/// A text as a reader should see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Revealed {
    /// The text, with a visible name in place of each character that has none of its own.
    pub text: String,
    /// How many characters were hidden.
    pub hidden: usize,
}

/// Makes visible what is hidden in a text: controls, direction marks, characters without
/// width, tag characters.
#[must_use]
pub fn reveal(text: &str) -> Revealed {
    let mut shown = String::with_capacity(text.len());
    let mut hidden = 0;
    for c in text.chars() {
        if let Some(name) = bidi_name(c) {
            shown.push_str(&format!("⟨{name}⟩"));
        } else if is_invisible(c) || is_private(c) {
            shown.push_str(&format!("⟨U+{:04X}⟩", u32::from(c)));
        } else if let Some(picture) = control_picture(c) {
            shown.push(picture);
        } else {
            shown.push(c);
            continue;
        }
        hidden += 1;
    }
    Revealed { text: shown, hidden }
}

/// How many hidden characters a value holds, keys included.
pub(super) fn count_hidden(value: &Value) -> usize {
    match value {
        Value::String(text) => reveal(text).hidden,
        Value::Array(list) => list.iter().map(count_hidden).sum(),
        Value::Object(map) => {
            map.iter().map(|(key, value)| reveal(key).hidden + count_hidden(value)).sum()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

/// Reveals the prose of a schema: what describes, and not what is compared when a call is
/// made.
pub(super) fn reveal_prose(value: &Value) -> Value {
    let prose = |key: &str, value: &Value| match value {
        Value::String(text) if matches!(key, "description" | "title" | "$comment") => {
            Value::String(reveal(text).text)
        }
        _ => reveal_prose(value),
    };
    match value {
        Value::Array(list) => list.iter().map(reveal_prose).collect(),
        Value::Object(map) => {
            map.iter().map(|(key, value)| (key.clone(), prose(key, value))).collect()
        }
        _ => value.clone(),
    }
}

/// Private use: what it shows depends on a font, so it can show nothing.
fn is_private(c: char) -> bool {
    matches!(c, '\u{E000}'..='\u{F8FF}' | '\u{F0000}'..='\u{10FFFD}')
}
