//! Fields that say how a server was reached: headers of requests, and the environment that
//! a tool server is started with. They are dropped by their names.

use std::ops::Range;

use serde_json::{Map, Value};

use super::encoded::cover_ranges;

/// What stands for a dropped field.
pub(super) const DROPPED: &str = "(left out of the export)";

/// Drops them from a JSON value. True when there were any.
pub(super) fn drop_from(value: &mut Value) -> bool {
    match value {
        Value::Array(values) => values.iter_mut().fold(false, |any, value| any | drop_from(value)),
        Value::Object(fields) => drop_from_object(fields),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

fn drop_from_object(fields: &mut Map<String, Value>) -> bool {
    let is_server = ["command", "url", "args", "transport"].iter().any(|f| fields.contains_key(*f));
    let mut any = false;
    for (name, value) in fields.iter_mut() {
        let drops = match plain(name).as_str() {
            "headers" | "httpheaders" | "requestheaders" | "responseheaders" | "extraheaders"
            | "defaultheaders" => are_headers(value),
            "rawheaders" => !value.is_null(),
            "env" | "environment" => {
                is_server && matches!(value, Value::Object(_) | Value::Array(_))
            }
            _ => false,
        };
        if drops {
            *value = Value::String(DROPPED.to_owned());
        }
        any |= drops || drop_from(value);
    }
    any
}

/// A field's name without what styles differ in.
fn plain(name: &str) -> String {
    name.chars().filter(|c| !matches!(c, '-' | '_')).map(|c| c.to_ascii_lowercase()).collect()
}

/// Not the headings of a table.
fn are_headers(value: &Value) -> bool {
    match value {
        Value::Object(fields) => !fields.is_empty(),
        Value::String(text) => text.contains(':'),
        Value::Array(values) => values.iter().any(|value| match value {
            Value::String(text) => text.contains(':'),
            Value::Array(_) | Value::Object(_) => true,
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Longer texts, in bytes, are not taken apart.
const JSON_MAX: usize = 1024 * 1024;

/// A text that is JSON, without those fields; none when it has none.
pub(super) fn drop_from_text(text: &str) -> Option<String> {
    let body = text.trim_start();
    let may_have = body.starts_with(['{', '['])
        && text.len() <= JSON_MAX
        && ["eaders\"", "env\"", "environment\"", "EADERS\"", "ENV\""]
            .iter()
            .any(|name| body.contains(name));
    if !may_have {
        return None;
    }
    let mut value: Value = serde_json::from_str(text).ok()?;
    if !drop_from(&mut value) {
        return None;
    }
    let is_broken = text.trim_end().contains('\n');
    let written = match is_broken {
        true => serde_json::to_string_pretty(&value),
        false => serde_json::to_string(&value),
    };
    written.ok()
}

/// Headers that open doors.
const KEYS: [&str; 9] = [
    "authorization",
    "proxy-authorization",
    "cookie",
    "set-cookie",
    "x-api-key",
    "api-key",
    "x-goog-api-key",
    "x-auth-token",
    "x-amz-security-token",
];

/// The text with the values of such headers covered, where each stands on a line of its own
/// as programs print them; none when there are none.
pub(super) fn cover_headers(text: &str) -> Option<String> {
    let mut found = Vec::new();
    for colon in memchr::memchr_iter(b':', text.as_bytes()) {
        found.extend(header_at(text, colon));
    }
    (!found.is_empty()).then(|| cover_ranges(text, &found))
}

/// Signs that programs put before a header: `> `, `< `, `* `, quotes and options.
const MARKS: &[char] = &['<', '>', '*', ' ', '\t', '"', '\'', '-', 'H'];

/// The value of the header whose colon stands at a place.
fn header_at(text: &str, colon: usize) -> Option<Range<usize>> {
    let before = text.get(..colon)?;
    let is_in_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let name =
        before.get(before.len() - before.chars().rev().take_while(|c| is_in_name(*c)).count()..)?;
    if !KEYS.iter().any(|key| name.eq_ignore_ascii_case(key)) {
        return None;
    }
    let above = before.strip_suffix(name)?;
    let tail = above.trim_end_matches(MARKS);
    if !(tail.is_empty() || tail.ends_with('\n') || above.ends_with(['"', '\''])) {
        return None;
    }
    let after = text.get(colon + 1..)?;
    let value = after.trim_start_matches([' ', '\t']);
    let start = text.len() - value.len();
    let quote = above.chars().next_back().filter(|c| matches!(c, '"' | '\''));
    let end = value.find(|c| c == '\n' || c == '\r' || Some(c) == quote).unwrap_or(value.len());
    (end > 0).then_some(start..start + end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_and_environments_are_dropped() {
        let mut value = serde_json::json!({
            "mcpServers": {"garden": {"command": "beds", "args": ["-v"], "env": {"WATER": "x"}}},
            "request": {"url": "u", "headers": {"X-Any": "1"}, "rawHeaders": ["A", "b"]},
            "table": {"headers": ["bed", "state"], "env": {"kept": true}},
        });
        assert!(drop_from(&mut value));
        assert_eq!(value["mcpServers"]["garden"]["env"], DROPPED);
        assert_eq!(value["request"]["headers"], DROPPED);
        assert_eq!(value["request"]["rawHeaders"], DROPPED);
        assert_eq!(value["table"]["headers"][0], "bed");
        assert_eq!(value["table"]["env"]["kept"], true);
        let text = "{\"command\":\"x\",\"env\":{\"A\":\"b\"}}";
        let expected = format!("{{\"command\":\"x\",\"env\":\"{DROPPED}\"}}");
        assert_eq!(drop_from_text(text), Some(expected));
        assert_eq!(drop_from_text("{\"command\":\"x\""), None);
    }

    #[test]
    fn printed_headers_are_covered() {
        for (text, rest) in [
            ("> Authorization: Custom abc\nnext", "> Authorization: •\nnext"),
            ("curl -H 'X-Api-Key: abc' u", "curl -H 'X-Api-Key: •' u"),
            ("set-cookie: a=b; Path=/", "set-cookie: •"),
            ("{\"a\": \"Cookie: x=1\"}", "{\"a\": \"Cookie: •\"}"),
        ] {
            let covered = cover_headers(text).expect(text);
            assert_eq!(covered.replace(&"•".repeat(16), "•"), rest);
        }
        for text in ["the cookie: sweet", "authorization:", "fn cookie::new()", "content-type: x"] {
            assert_eq!(cover_headers(text), None, "{text}");
        }
    }
}
