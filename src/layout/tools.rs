//! The built-in cards of the tools that agents have in common.

use std::{fmt::Write as _, sync::Arc};

use serde_json::Value;

use crate::{
    layout::{
        Face,
        diff::{self, DiffKind},
        icon,
        registry::{Body, Change, FileDiff, ToolCard},
    },
    model::{LowStakes, ToolCall, ToolResult, ToolState},
    tools::policy,
};

/// Text of arguments or results that is pretty-printed, at most this many bytes.
const JSON_MAX: usize = 256 * 1024;
/// Bytes of the replacements of one call that are compared.
const EDITS_MAX: usize = 128 * 1024;
/// Files of one call whose changes are shown.
const FILES_MAX: usize = 200;
/// Lines of context around a change.
const DIFF_CONTEXT: usize = 3;

/// The card of a call of any tool; `changes` is what its result tells of changed files.
#[must_use]
pub fn card(call: &ToolCall, changes: &Arc<[FileDiff]>) -> ToolCard {
    if !changes.is_empty() {
        return changed_files(call, changes);
    }
    match &*call.name {
        "bash" | "Bash" | "shell" | "exec" | "run_command" | "execute_command"
        | "run_terminal_cmd" | "local_shell" => command(call),
        "edit" | "Edit" | "MultiEdit" | "str_replace" | "replace_in_file" | "edit_file" => {
            edit(call)
        }
        "write" | "Write" | "write_file" | "write_to_file" | "create_file" => write_file(call),
        "Task" | "Agent" | "task" => task(call),
        "TodoWrite" | "todo_write" => todos(call),
        "apply_patch" => patch(call),
        "WebFetch" | "web_fetch" | "fetch" => simple(call, icon::GLOBE, "Fetch", &["url"]),
        "WebSearch" | "web_search" => simple(call, icon::GLOBE, "Search the web", &["query"]),
        name => match LowStakes::of(name) {
            Some(kind) => look(call, kind),
            None => unknown(call),
        },
    }
}

/// A string argument by any of its usual names.
fn argument<'c>(call: &'c ToolCall, names: &[&str]) -> Option<&'c str> {
    names.iter().find_map(|name| call.arguments.get(name)?.as_str())
}

const PATHS: &[&str] = &["path", "file_path", "filePath", "notebook_path", "file", "directory"];

fn path(call: &ToolCall) -> &str {
    argument(call, PATHS).unwrap_or_default()
}

fn output_lines(call: &ToolCall) -> usize {
    call.result.as_ref().map_or(0, |result| result.output.lines.len())
}

fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

fn command(call: &ToolCall) -> ToolCard {
    let line = match call.arguments.get("command").or_else(|| call.arguments.get("cmd")) {
        Some(Value::String(line)) => line.clone(),
        Some(Value::Array(argv)) => {
            let argv: Vec<String> =
                argv.iter().filter_map(Value::as_str).map(str::to_owned).collect();
            policy::command_line(&argv).text
        }
        _ => return unknown(call),
    };
    let mut lines = line.lines();
    let first = lines.next().unwrap_or_default();
    let more = lines.next().is_some();
    let mut body = Vec::new();
    if more {
        body.push(Body::Text(Arc::from(line.as_str())));
    }
    body.push(Body::Output);
    body.extend(kept_elsewhere(call).map(Body::Note));
    ToolCard {
        icon: Some(icon::TERMINAL_WINDOW),
        title: format!("$ {first}{}", if more { " …" } else { "" }),
        face: Some(Face::Mono),
        detail: in_path(argument(call, &["cwd"]).unwrap_or_default()),
        note: ending(call),
        body,
        open: output_lines(call) > 0,
        tail: true,
    }
}

/// Where the whole output lies, when it was too large to hold.
fn kept_elsewhere(call: &ToolCall) -> Option<String> {
    let spill = call.result.as_ref()?.details.get("spill")?;
    let place = policy::visible(spill.get("place")?.as_str()?).text;
    let megabytes = spill.get("bytes")?.as_u64()? / 1_000_000;
    let is_whole = spill.get("isWhole").and_then(Value::as_bool).unwrap_or(true);
    let what = if is_whole { "All of the output" } else { "More of the output" };
    Some(format!("{what} ({megabytes} MB) lies in {place}"))
}

/// How a command ended.
fn ending(call: &ToolCall) -> String {
    let details = call.result.as_ref().map(|result| &result.details);
    let has = |key: &str| details.and_then(|details| details.get(key)?.as_bool()).unwrap_or(false);
    let signal = details.and_then(|details| details.get("signal")?.as_i64());
    match signal {
        _ if has("timedOut") => "its time was up".to_owned(),
        _ if has("stopped") => "stopped by you".to_owned(),
        Some(signal) => format!("ended by {}", signal_name(signal)),
        None => exit_code(call),
    }
}

fn signal_name(signal: i64) -> String {
    match signal {
        1 => "SIGHUP".to_owned(),
        2 => "SIGINT".to_owned(),
        6 => "SIGABRT".to_owned(),
        9 => "SIGKILL".to_owned(),
        11 => "SIGSEGV".to_owned(),
        13 => "SIGPIPE".to_owned(),
        15 => "SIGTERM".to_owned(),
        other => format!("signal {other}"),
    }
}

fn exit_code(call: &ToolCall) -> String {
    let details = call.result.as_ref().map(|result| &result.details);
    let code = details.and_then(|details| {
        ["exitCode", "exit_code", "code"].iter().find_map(|key| details.get(key)?.as_i64())
    });
    code.map_or_else(String::new, |code| format!("exit {code}"))
}

fn look(call: &ToolCall, kind: LowStakes) -> ToolCard {
    let lines = output_lines(call);
    let base = ToolCard { face: Some(Face::Mono), body: vec![Body::Output], ..ToolCard::default() };
    match kind {
        LowStakes::Read => ToolCard {
            icon: Some(icon::FILE),
            title: path(call).to_owned(),
            detail: line_range(call),
            note: if lines > 0 { count(lines, "line", "lines") } else { String::new() },
            ..base
        },
        LowStakes::List => ToolCard {
            icon: Some(icon::FOLDER),
            title: call.name.to_string(),
            detail: match argument(call, &["pattern", "glob"]) {
                Some(pattern) => format!("{pattern} {}", in_path(path(call))),
                None => path(call).to_owned(),
            },
            note: count(lines, "entry", "entries"),
            ..base
        },
        LowStakes::Search => ToolCard {
            icon: Some(icon::MAGNIFYING_GLASS),
            title: call.name.to_string(),
            detail: {
                let words = argument(call, &["pattern", "query", "regex"]).unwrap_or_default();
                format!("\"{}\" {}", search_words(words), in_path(path(call)))
            },
            note: hits(call),
            ..base
        },
    }
}

/// Matches of a search where they are told one a line with their numbers, else lines.
fn hits(call: &ToolCall) -> String {
    let text = call.result.as_ref().map_or("", |result| &*result.output.text);
    let is_hit = |line: &&str| {
        let mut pieces = line.splitn(3, ':').skip(1);
        pieces.next().is_some_and(|no| !no.is_empty() && no.bytes().all(|b| b.is_ascii_digit()))
            && pieces.next().is_some()
    };
    match text.lines().filter(is_hit).count() {
        0 => count(output_lines(call), "line", "lines"),
        hits => count(hits, "hit", "hits"),
    }
}

fn in_path(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!("in {path}") }
}

/// `1–140` from whichever way a tool names its range.
fn line_range(call: &ToolCall) -> String {
    let number = |names: &[&str]| names.iter().find_map(|n| call.arguments.get(n)?.as_u64());
    let first = number(&["offset", "start_line", "readLineStart"]);
    let last = number(&["end_line", "readLineEnd"])
        .or_else(|| Some(first.unwrap_or(1) + number(&["limit"])?.saturating_sub(1)));
    match (first, last) {
        (None, None) => String::new(),
        (first, Some(last)) => format!("{}–{last}", first.unwrap_or(1)),
        (Some(first), None) => format!("{first}–"),
    }
}

/// Alternatives of a pattern as words; more than three are counted.
fn search_words(pattern: &str) -> String {
    let plain = pattern.replace("\\b", "");
    let words: Vec<&str> = plain.split('|').filter(|word| !word.is_empty()).collect();
    if words.len() > 3 { format!("{} patterns", words.len()) } else { words.join(", ") }
}

fn edit(call: &ToolCall) -> ToolCard {
    if let Some(change) = recorded(call) {
        return changed(call, change);
    }
    let old = argument(call, &["old_string", "oldText", "old_str", "oldString", "search"]);
    let new = argument(call, &["new_string", "newText", "new_str", "newString", "replace"]);
    if let (Some(old), Some(new)) = (old, new) {
        return changed(call, compared(old, new));
    }
    match argument(call, &["diff", "patch"]).and_then(patched) {
        Some(change) => changed(call, change),
        None => match edits(call) {
            Some(change) => changed(call, change),
            None => unknown(call),
        },
    }
}

/// The difference as the tool itself recorded it, which knows the lines around it.
fn recorded(call: &ToolCall) -> Option<Change> {
    let details = &call.result.as_ref()?.details;
    let patch = details.get("structuredPatch").and_then(diff::patch_text);
    if let Some(change) = patch.as_deref().and_then(patched) {
        return Some(change);
    }
    let text = details.get("diff")?.as_str()?;
    let lines = diff::numbered(text)?;
    Some(Change { old: text.into(), new: text.into(), lines })
}

fn compared(old: &str, new: &str) -> Change {
    Change { old: old.into(), new: new.into(), lines: diff::lines(old, new, DIFF_CONTEXT) }
}

fn patched(patch: &str) -> Option<Change> {
    let lines = diff::unified(patch)?;
    let text: Arc<str> = patch.into();
    Some(Change { old: Arc::clone(&text), new: text, lines })
}

/// Several replacements in one call, shown one after the other.
fn edits(call: &ToolCall) -> Option<Change> {
    let edits = call.arguments.get("edits")?.as_array()?;
    let text = |edit: &Value, keys: [&str; 2]| {
        keys.iter().find_map(|key| edit.get(key)?.as_str()).unwrap_or_default().to_owned()
    };
    let (mut old, mut new, mut lines) = (String::new(), String::new(), Vec::new());
    // A frame compares no more than this; the call's arguments hold the rest.
    let mut budget = EDITS_MAX;
    for edit in edits {
        if budget == 0 {
            break;
        }
        let (gone, come) =
            (text(edit, ["old_string", "oldText"]), text(edit, ["new_string", "newText"]));
        budget = budget.saturating_sub(gone.len() + come.len());
        for mut line in diff::lines(&gone, &come, DIFF_CONTEXT) {
            let base = if line.kind == DiffKind::Removed { old.len() } else { new.len() };
            line.text = line.text.start + base..line.text.end + base;
            lines.push(line);
        }
        old.push_str(&gone);
        new.push_str(&come);
    }
    Some(Change { old: old.into(), new: new.into(), lines })
}

/// True when a result says which files it changed, and how.
#[must_use]
pub fn tells_changes(result: &ToolResult) -> bool {
    result.details.get("changes").is_some_and(Value::is_array)
}

/// The files that a result says it changed, compared line by line.
#[must_use]
pub fn changes(result: &ToolResult) -> Vec<FileDiff> {
    let listed = result.details.get("changes").and_then(Value::as_array);
    listed.into_iter().flatten().take(FILES_MAX).filter_map(file_diff).collect()
}

fn file_diff(change: &Value) -> Option<FileDiff> {
    let text = |key: &str| change.get(key).and_then(Value::as_str);
    let path = policy::visible(text("path")?).text;
    let name = match text("movedTo") {
        Some(moved) => format!("{path} → {}", policy::visible(moved).text),
        None => path,
    };
    let (before, after) = (text("before"), text("after"));
    let fate = match (before, after) {
        (None, Some(_)) => "new",
        (Some(_), None) => "deleted",
        _ => "",
    };
    let change = compared(before.unwrap_or_default(), after.unwrap_or_default());
    Some(FileDiff { name, fate, change: Arc::new(change) })
}

/// One file under the card's own line, several each under a line of its own.
fn changed_files(call: &ToolCall, files: &[FileDiff]) -> ToolCard {
    let counts = files.iter().map(|file| diff::counts(&file.change.lines));
    let (added, removed) = counts.fold((0, 0), |sum, file| (sum.0 + file.0, sum.1 + file.1));
    let (title, detail, mut body) = match files {
        [one] => {
            let body = vec![Body::Diff(Arc::clone(&one.change))];
            (one.name.clone(), one.fate.to_owned(), body)
        }
        several => {
            let file = |(i, file): (u16, &FileDiff)| Body::File(i, file.clone());
            let body = (0..).zip(several).map(file).collect();
            (count(several.len(), "file", "files"), "changed".to_owned(), body)
        }
    };
    if call.state == ToolState::Error {
        body.push(Body::Output);
    }
    ToolCard {
        icon: Some(icon::PENCIL_SIMPLE),
        title,
        detail,
        face: Some(Face::Mono),
        note: format!("+{added} −{removed}"),
        body,
        open: true,
        ..ToolCard::default()
    }
}

/// A patch before it is applied, or one that could not be.
fn patch(call: &ToolCall) -> ToolCard {
    let Some(text) = argument(call, &["input", "patch", "diff"]) else { return unknown(call) };
    let body = match patched(text) {
        Some(change) => Body::Diff(Arc::new(change)),
        None => Body::Text(Arc::from(text)),
    };
    let mut body = vec![body];
    if call.state == ToolState::Error {
        body.push(Body::Output);
    }
    ToolCard {
        icon: Some(icon::PENCIL_SIMPLE),
        title: "Patch".to_owned(),
        body,
        open: true,
        ..ToolCard::default()
    }
}

fn changed(call: &ToolCall, change: Change) -> ToolCard {
    let (added, removed) = diff::counts(&change.lines);
    let mut body = vec![Body::Diff(Arc::new(change))];
    if call.state == ToolState::Error {
        body.push(Body::Output);
    }
    ToolCard {
        icon: Some(icon::PENCIL_SIMPLE),
        title: path(call).to_owned(),
        face: Some(Face::Mono),
        note: format!("+{added} −{removed}"),
        body,
        open: true,
        ..ToolCard::default()
    }
}

fn write_file(call: &ToolCall) -> ToolCard {
    let Some(content) = argument(call, &["content", "file_text", "contents"]) else {
        return unknown(call);
    };
    let mut body = vec![Body::Text(Arc::from(content))];
    if call.state == ToolState::Error {
        body.push(Body::Output);
    }
    ToolCard {
        icon: Some(icon::NOTE_PENCIL),
        title: path(call).to_owned(),
        face: Some(Face::Mono),
        detail: "written".to_owned(),
        note: count(content.lines().count(), "line", "lines"),
        body,
        ..ToolCard::default()
    }
}

fn task(call: &ToolCall) -> ToolCard {
    let mut body = Vec::new();
    if let Some(prompt) = argument(call, &["prompt"]) {
        body.push(Body::Text(Arc::from(prompt)));
    }
    body.push(Body::Output);
    ToolCard {
        icon: Some(icon::ROBOT),
        title: "Agent".to_owned(),
        detail: argument(call, &["description", "subagent_type"]).unwrap_or_default().to_owned(),
        body,
        ..ToolCard::default()
    }
}

fn todos(call: &ToolCall) -> ToolCard {
    let Some(todos) = call.arguments.get("todos").and_then(Value::as_array) else {
        return unknown(call);
    };
    let is_done = |todo: &&Value| todo.get("status").and_then(Value::as_str) == Some("completed");
    let mut text = String::new();
    for todo in todos {
        let mark = match todo.get("status").and_then(Value::as_str) {
            Some("completed") => "✓",
            Some("in_progress") => "→",
            _ => "·",
        };
        let words = todo.get("content").and_then(Value::as_str).unwrap_or_default();
        // Writing to a string cannot fail.
        let _infallible = writeln!(text, "{mark} {words}");
    }
    ToolCard {
        icon: Some(icon::LIST_CHECKS),
        title: "Plan".to_owned(),
        note: format!("{} of {}", todos.iter().filter(is_done).count(), todos.len()),
        body: vec![Body::Text(Arc::from(text.trim_end()))],
        open: true,
        ..ToolCard::default()
    }
}

fn simple(call: &ToolCall, icon: char, title: &str, names: &[&str]) -> ToolCard {
    ToolCard {
        icon: Some(icon),
        title: title.to_owned(),
        detail: argument(call, names).unwrap_or_default().to_owned(),
        body: vec![Body::Output],
        ..ToolCard::default()
    }
}

/// `server__tool` as its parts.
fn remote_name(name: &str) -> Option<(&str, &str)> {
    name.split_once("__").filter(|(server, tool)| !server.is_empty() && !tool.is_empty())
}

fn unknown(call: &ToolCall) -> ToolCard {
    let mut body = Vec::new();
    if let Some(text) = pretty(&call.arguments) {
        body.push(Body::Text(text.into()));
    }
    body.push(match json_output(call) {
        Some(text) => Body::Shaped(text.into()),
        None => Body::Output,
    });
    let (icon, title) = match remote_name(&call.name) {
        Some((server, tool)) => (icon::PLUG, format!("{server} · {tool}")),
        None => (icon::WRENCH, call.name.to_string()),
    };
    ToolCard {
        icon: Some(icon),
        title,
        face: Some(Face::Mono),
        detail: first_argument(&call.arguments),
        body,
        open: call.state == ToolState::Error,
        ..ToolCard::default()
    }
}

fn first_argument(arguments: &Value) -> String {
    let Some(object) = arguments.as_object() else { return String::new() };
    let text = object.values().find_map(Value::as_str).unwrap_or_default();
    text.lines().next().unwrap_or_default().chars().take(120).collect()
}

/// Arguments as indented JSON. A string that holds JSON is opened up first.
fn pretty(arguments: &Value) -> Option<String> {
    let opened = match arguments {
        Value::Null => return None,
        Value::Object(object) if object.is_empty() => return None,
        Value::String(text) => match serde_json::from_str::<Value>(text) {
            Ok(value) => serde_json::to_string_pretty(&value).ok(),
            Err(_not_json) => Some(text.clone()),
        },
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => {
            serde_json::to_string_pretty(arguments).ok()
        }
    };
    opened.map(|text| text.chars().take(JSON_MAX).collect())
}

/// A result that is JSON, indented; nothing when it is not or is large.
fn json_output(call: &ToolCall) -> Option<String> {
    let text = &call.result.as_ref()?.output.source;
    let first = text.trim_start().as_bytes().first()?;
    if text.len() > JSON_MAX || !matches!(first, b'{' | b'[') {
        return None;
    }
    let value: Value = serde_json::from_str(text).ok()?;
    serde_json::to_string_pretty(&value).ok()
}
