//! The words of a message, as they are copied.

use std::fmt::Write as _;

use crate::model::{Message, Part, Role, ToolCall, record::encode_message};

/// A message as it was written: markdown. Calls stand in only where there are no words.
pub(super) fn markdown(message: &Message) -> String {
    let texts = message.parts.iter().filter_map(|part| match part {
        Part::Text(text) if !text.source.trim().is_empty() => Some(text.source.trim_end()),
        Part::Notice(notice) => Some(notice.text.source.trim_end()),
        Part::Raw(raw) => Some(&*raw.text),
        _ => None,
    });
    let texts: Vec<&str> = texts.collect();
    if !texts.is_empty() {
        return texts.join("\n\n");
    }
    let calls = message.parts.iter().filter_map(|part| match part {
        Part::ToolCall(call) => Some(called(call)),
        Part::ToolResult(result) => Some(fenced("", &result.output.text)),
        _ => None,
    });
    calls.collect::<Vec<_>>().join("\n\n")
}

/// A message under the name of the one who said it.
pub(super) fn named(message: &Message) -> String {
    let who = match &message.role {
        Role::User => "You",
        Role::Assistant => "Assistant",
        Role::Tool => "Tool",
        Role::System => "System",
        Role::Custom(name) => name,
    };
    format!("## {who}\n\n{}\n", markdown(message))
}

/// All that is known of a message, as the log of a session has it: for those who look into
/// what a model sent. What is too long for a line of the log is only named there.
pub(super) fn record(message: &Message) -> String {
    let mut named = |bytes: &[u8]| format!("{} bytes that are not shown", bytes.len());
    let body = encode_message(message, &[], &mut named);
    serde_json::to_string_pretty(&body).unwrap_or_default()
}

fn called(call: &ToolCall) -> String {
    let mut words = format!("`{}`\n\n", call.name);
    let arguments = serde_json::to_string_pretty(&call.arguments).unwrap_or_default();
    words.push_str(&fenced("json", &arguments));
    if let Some(result) = &call.result {
        // Writing into a string cannot fail.
        let _infallible = write!(words, "\n\n{}", fenced("", &result.output.text));
    }
    words
}

/// A block of code whose fence is longer than any that stands in it.
fn fenced(language: &str, text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}{language}\n{}\n{fence}", text.trim_end())
}

#[cfg(test)]
mod tests {
    use super::fenced;

    #[test]
    fn a_fence_is_longer_than_those_in_it() {
        assert_eq!(fenced("", "a"), "```\na\n```");
        assert_eq!(fenced("md", "```\nx\n```\n"), "````md\n```\nx\n```\n````");
    }
}
