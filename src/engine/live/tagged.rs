//! Tools for models that call them with tags in their text: what they are told, and how what
//! they called before is told back to them.

use std::{
    fmt::Write as _,
    sync::{Arc, LazyLock},
};

use serde_json::Value;

use super::{talk::blank, workbench::Tool};
use crate::{
    markup::Vocabulary,
    model::{Message, Part, Role, StopReason, Text, ToolCall},
    presenter::Touch,
    wire::Turn,
};

/// The names that make a tag.
pub(super) fn vocabulary() -> Arc<Vocabulary> {
    static VOCABULARY: LazyLock<Arc<Vocabulary>> = LazyLock::new(Arc::default);
    Arc::clone(&VOCABULARY)
}

/// What an edit is called with tags, where its two texts stand in one.
const EDIT: &str = "replace_in_file";
const NATIVE_EDIT: &str = "edit_file";

const INTRODUCTION: &str = "You have tools. To use one, write its tags in your reply, exactly \
    as shown, each parameter in tags of its own; nothing in them is escaped. Its result comes \
    in the next message. Never write a result yourself.";

const EDIT_WORDS: &str = "## replace_in_file\nReplace text in a file. What stands between SEARCH \
    and ======= must be exactly what stands in the file, and must occur once. There may be \
    several such pieces in one call.\n<replace_in_file>\n<path>path of the file, relative to the \
    workspace</path>\n<diff>\n------- SEARCH\nwhat stands there\n=======\nwhat is to stand there\n\
    +++++++ REPLACE\n</diff>\n</replace_in_file>\n";

/// Results that never came.
const NO_RESULT: &str = "result unavailable; do not assume it ran";

/// The tools that can be called with tags, and what they can change.
pub(super) fn names(tools: &[Tool]) -> impl Iterator<Item = (Arc<str>, Touch)> + '_ {
    tools.iter().filter_map(|tool| {
        let name = if &*tool.spec.name == NATIVE_EDIT { EDIT } else { &tool.spec.name };
        vocabulary().tool(name).map(|name| (Arc::clone(name), tool.touch))
    })
}

/// What the model is told about its task and about its tools.
pub(super) fn system(own: Option<&str>, tools: &[Tool]) -> Arc<str> {
    let mut text = own.map_or_else(String::new, |own| format!("{own}\n\n"));
    text.push_str(INTRODUCTION);
    text.push('\n');
    for tool in tools {
        if &*tool.spec.name == NATIVE_EDIT {
            text.push('\n');
            text.push_str(EDIT_WORDS);
        } else if vocabulary().tool(&tool.spec.name).is_some() {
            describe(&mut text, tool);
        }
    }
    text.into()
}

fn describe(text: &mut String, tool: &Tool) {
    let name = &tool.spec.name;
    let schema = &tool.spec.parameters;
    let required = schema["required"].as_array().map_or(&[][..], Vec::as_slice);
    // Writing into a string cannot fail.
    let _infallible = writeln!(text, "\n## {name}\n{}\n<{name}>", tool.spec.description);
    for (parameter, about) in schema["properties"].as_object().into_iter().flatten() {
        if !Vocabulary::has_parameter(parameter) {
            continue;
        }
        let is_required = required.iter().any(|name| name == parameter);
        let may = if is_required { "" } else { " (may be left out)" };
        let words = match (&**name, &**parameter) {
            // A list has no tags.
            ("execute_command", "command") => "the command line, which a shell runs",
            _ => about["description"].as_str().unwrap_or_default(),
        };
        let _infallible = writeln!(text, "<{parameter}>{words}{may}</{parameter}>");
    }
    let _infallible = writeln!(text, "</{name}>");
}

/// A conversation with its calls and their results as text.
pub(super) fn turns(turns: Vec<Turn>) -> Vec<Turn> {
    turns.into_iter().flat_map(turn).collect()
}

fn turn(turn: Turn) -> impl Iterator<Item = Turn> {
    let is_call = |part: &Part| matches!(part, Part::ToolCall(_));
    if !turn.message.parts.iter().any(is_call) {
        return [Some(turn), None].into_iter().flatten();
    }
    let Turn { message, mut echoes } = turn;
    echoes.retain(|(index, _)| !message.parts.get(*index).is_some_and(is_call));
    let broke = matches!(message.stop, Some(StopReason::Error | StopReason::Aborted))
        || message.error.is_some();
    let said = |part: &Part| match part {
        // The calls of a reply that broke off are not told back.
        Part::ToolCall(_) if broke => Part::Text(Text::unparsed("")),
        Part::ToolCall(call) => Part::Text(Text::unparsed(call_text(call))),
        other => other.clone(),
    };
    let parts = message.parts.iter().map(said).collect();
    let answers = message.parts.iter().filter_map(|part| match part {
        Part::ToolCall(call) if !broke => Some(answer(call)),
        _ => None,
    });
    let answers: Vec<Part> = answers.flatten().collect();
    let results = (!answers.is_empty()).then(|| {
        let own = blank(message.id, Role::User, message.timestamp_ms.unwrap_or_default());
        Turn::from(Arc::new(Message { parts: answers, ..own }))
    });
    let message = Arc::new(Message { parts, ..(*message).clone() });
    [Some(Turn { message, echoes }), results].into_iter().flatten()
}

/// A call as the model wrote it.
fn call_text(call: &ToolCall) -> String {
    let name = &call.name;
    let mut text = format!("<{name}>\n");
    for (parameter, value) in call.arguments.as_object().into_iter().flatten() {
        let value = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let _infallible = writeln!(text, "<{parameter}>{value}</{parameter}>");
    }
    let _infallible = write!(text, "</{name}>");
    text
}

fn answer(call: &ToolCall) -> Vec<Part> {
    let result = call.result.as_deref();
    let words = result.map_or(NO_RESULT, |it| it.told.as_deref().unwrap_or(&it.output.source));
    let words = if words.trim().is_empty() { "(no output)" } else { words };
    let text = Part::Text(Text::unparsed(format!("[{}]\n{words}\n\n", call.name)));
    let images = result.map_or(&[][..], |it| it.images.as_slice());
    std::iter::once(text).chain(images.iter().cloned().map(Part::Image)).collect()
}
