//! Every word of a message, one after the other.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{Redaction, fields};
use crate::{
    markup::{ansi, secrets::COVER},
    model::{Image, ImageData, Message, Output, Part, Role, Text, ToolCall, ToolResult},
};

/// The message with all its words covered.
pub(super) fn message(redaction: &Redaction, mut message: Message) -> Message {
    words(redaction, &mut message.key);
    message.model.iter_mut().chain(&mut message.error).for_each(|w| words(redaction, w));
    if let Role::Custom(name) = &mut message.role {
        words(redaction, name);
    }
    message.parts.iter_mut().for_each(|part| part_words(redaction, part));
    message
}

fn part_words(redaction: &Redaction, part: &mut Part) {
    match part {
        Part::Text(text) => source(redaction, text),
        Part::Thinking(thinking) => source(redaction, &mut thinking.text),
        Part::Notice(notice) => source(redaction, &mut notice.text),
        Part::Image(image) => image_words(redaction, image),
        Part::ToolCall(call) => call_words(redaction, Arc::make_mut(call)),
        Part::ToolResult(result) => result_words(redaction, Arc::make_mut(result)),
        Part::Raw(raw) => {
            words(redaction, &mut raw.label);
            if let Some(covered) = record(redaction, &raw.text) {
                raw.text = covered.into();
            }
        }
    }
}

fn words(redaction: &Redaction, words: &mut Arc<str>) {
    if let Some(covered) = redaction.cover(words) {
        *words = covered.into();
    }
}

fn source(redaction: &Redaction, text: &mut Text) {
    if let Some(covered) = redaction.cover(&text.source) {
        *text = Text::unparsed(covered);
    }
}

fn image_words(redaction: &Redaction, image: &mut Image) {
    words(redaction, &mut image.media_type);
    match &mut image.data {
        ImageData::Address(text) | ImageData::Unusable(text) => words(redaction, text),
        ImageData::Bytes(_) => {}
    }
}

fn call_words(redaction: &Redaction, call: &mut ToolCall) {
    words(redaction, &mut call.id);
    words(redaction, &mut call.name);
    fields::drop_from(&mut call.arguments);
    value(redaction, &mut call.arguments, None);
    if let Some(result) = &mut call.result {
        result_words(redaction, Arc::make_mut(result));
    }
}

fn result_words(redaction: &Redaction, result: &mut ToolResult) {
    words(redaction, &mut result.call_id);
    words(redaction, &mut result.tool_name);
    // No format writes what is for the model, or for the source, alone.
    result.told = None;
    result.details = Value::Null;
    if let Some(covered) = output(redaction, &result.output.source) {
        let omitted = result.output.omitted;
        result.output = Output { omitted, ..Output::plain(covered) };
    }
    result.images.iter_mut().for_each(|image| image_words(redaction, image));
}

/// A tool's text. Where colours stand inside a secret, they go.
fn output(redaction: &Redaction, text: &Arc<str>) -> Option<Arc<str>> {
    let covered = printed(redaction, text).map(Arc::from);
    let now = covered.as_ref().unwrap_or(text);
    if !now.contains('\u{1b}') {
        return covered;
    }
    let shown = ansi::parse(now).text;
    redaction.cover(&shown).map(Arc::from).or(covered)
}

/// A text that may be JSON.
fn printed(redaction: &Redaction, text: &str) -> Option<String> {
    let rest = fields::drop_from_text(text);
    redaction.cover(rest.as_deref().unwrap_or(text)).or(rest)
}

/// A record that is not understood: what is JSON stays JSON.
fn record(redaction: &Redaction, text: &str) -> Option<String> {
    let Ok(mut json) = serde_json::from_str::<Value>(text) else { return printed(redaction, text) };
    let before = json.clone();
    fields::drop_from(&mut json);
    value(redaction, &mut json, None);
    if json == before { None } else { serde_json::to_string(&json).ok() }
}

/// The strings of a JSON value and the names in it, each by itself, so that it stays JSON.
fn value(redaction: &Redaction, of: &mut Value, name: Option<&str>) {
    match of {
        Value::String(text) => {
            if let Some(covered) = string(redaction, text, name) {
                *text = covered;
            }
        }
        Value::Array(values) => values.iter_mut().for_each(|of| value(redaction, of, name)),
        Value::Object(fields) => {
            fields.iter_mut().for_each(|(name, of)| value(redaction, of, Some(name)));
            names(redaction, fields);
        }
        Value::Number(number) => {
            if name.is_some() && string(redaction, &number.to_string(), name).is_some() {
                *of = Value::String(COVER.to_string().repeat(8));
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
}

/// Names that hold secrets, each with its value behind it as before.
fn names(redaction: &Redaction, fields: &mut Map<String, Value>) {
    if fields.keys().any(|name| redaction.cover(name).is_some()) {
        let old = std::mem::take(fields);
        fields.extend(old.into_iter().map(|(name, of)| (redaction.text(&name).into_owned(), of)));
    }
}

/// Longer values are no passwords.
const NAMED_MAX: usize = 4096;

/// A string is judged by itself, and also with the name that it stands under.
fn string(redaction: &Redaction, text: &str, name: Option<&str>) -> Option<String> {
    if let Some(covered) = printed(redaction, text) {
        return Some(covered);
    }
    let name = name.filter(|_| text.len() <= NAMED_MAX && !text.contains(['"', '\n', '\\']))?;
    let opening = format!("\"{name}\": \"");
    let named = redaction.cover(&format!("{opening}{text}\""))?;
    let inside = named.strip_prefix(&*opening)?.strip_suffix('"')?;
    (inside != text).then(|| inside.to_owned())
}
