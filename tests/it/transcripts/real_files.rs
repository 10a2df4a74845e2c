//! Real files, where a folder of them is named: nothing is lost, nothing is taken wrongly.

use std::{collections::HashSet, path::Path};

use letterpress::{
    model::{Part, RowKind},
    transcript::{self, Format, Index, OpenError, Transcript},
};
use serde_json::Value;

use super::{dump::agree, properties::exhaust, whole};

/// What a file holds, counted without regard to how it is read.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    users: usize,
    assistants: usize,
    calls: usize,
    results: usize,
}

/// Counts over plain JSON. Lines are split where one value ends and another begins.
fn counted(bytes: &[u8], format: Format) -> Counts {
    let mut counts = Counts::default();
    let mut seen = HashSet::new();
    let mut messages = HashSet::new();
    let mut values: Vec<Value> = Vec::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        values.extend(serde_json::Deserializer::from_slice(line).into_iter().map_while(Result::ok));
    }
    // Of records with one id the last counts.
    values.reverse();
    for value in &values {
        let id = value.get("uuid").or_else(|| value.get("id")).and_then(Value::as_str);
        let is_repeated = id.is_some_and(|id| !seen.insert(id.to_owned()));
        let Some(message) = value.get("message").filter(|_| !is_repeated) else { continue };
        let blocks = message["content"].as_array().cloned().unwrap_or_default();
        let count = |kind: &str| blocks.iter().filter(|block| block["type"] == kind).count();
        match format {
            Format::Pi if value["type"] == "message" => {
                counts.users += usize::from(message["role"] == "user");
                counts.assistants += usize::from(message["role"] == "assistant");
                counts.results += usize::from(message["role"] == "toolResult");
                counts.calls += count("toolCall");
            }
            Format::ClaudeCode if value["type"] == "assistant" => {
                counts.calls += count("tool_use");
                let id = message["id"].as_str().map(str::to_owned);
                counts.assistants += usize::from(id.is_none_or(|id| messages.insert(id)));
            }
            Format::ClaudeCode if value["type"] == "user" => {
                counts.results += count("tool_result");
                let has_words =
                    message["content"].is_string() || blocks.len() > count("tool_result");
                let is_hidden = value["isMeta"] == true || value["isCompactSummary"] == true;
                counts.users += usize::from(has_words && !is_hidden);
            }
            _ => {}
        }
    }
    counts
}

impl Counts {
    /// Adds a row.
    fn add(&mut self, transcript: &Transcript, index: &Index, row: usize) {
        let info = index.row(row);
        let (message, _) = transcript.message(index, row);
        agree(&info, &message);
        self.users += usize::from(info.kind == RowKind::User);
        self.assistants += usize::from(info.kind == RowKind::Assistant);
        for part in &message.parts {
            match part {
                Part::ToolCall(call) if info.kind == RowKind::Assistant => {
                    self.calls += 1;
                    self.results += usize::from(call.result.is_some()) + call.superseded as usize;
                }
                Part::ToolResult(_) => self.results += 1,
                _ => {}
            }
        }
    }
}

#[test]
fn real_files_keep_every_message() {
    let Some(root) = std::env::var_os("LETTERPRESS_CORPUS") else {
        println!("skipped: LETTERPRESS_CORPUS names no folder");
        return;
    };
    let mut files = 0;
    for (folder, format) in [("pi", Format::Pi), ("claude-code", Format::ClaudeCode)] {
        for entry in std::fs::read_dir(Path::new(&root).join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let transcript = transcript::open(&path).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(transcript.format(), format, "{}", path.display());
            let index = whole(&transcript);
            let mut counts = Counts::default();
            let mut met = HashSet::new();
            // Messages of other branches are on those branches, and only there.
            let others = index.branches().iter().map(|branch| index.on_branch(&branch.id).unwrap());
            let others: Vec<_> = others.collect();
            for index in std::iter::once(&index).chain(&others) {
                for row in (0..index.len()).filter(|row| met.insert(index.row(*row).id)) {
                    counts.add(&transcript, index, row);
                }
            }
            let bytes = std::fs::read(&path).unwrap();
            assert_eq!(counts, counted(&bytes, format), "{}", path.display());
            exhaust(&transcript, &transcript.tail(64 * 1024));
            files += 1;
        }
    }
    assert!(files >= 20, "{files} files");
}

#[test]
fn files_of_other_programs_are_not_taken() {
    let Some(root) = std::env::var_os("LETTERPRESS_CORPUS") else {
        println!("skipped: LETTERPRESS_CORPUS names no folder");
        return;
    };
    for folder in ["codex", "cline", "chats", "markdown", "sse"] {
        for entry in std::fs::read_dir(Path::new(&root).join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let opened = transcript::open(&path).map(|transcript| transcript.format());
                assert!(matches!(opened, Err(OpenError::NotTranscript(_))), "{}", path.display());
            }
        }
    }
}
