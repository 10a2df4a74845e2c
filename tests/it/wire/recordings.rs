//! Recorded streams of real servers, from a folder that is not part of the repository:
//! `LETTERPRESS_CORPUS`, or `../corpus` beside the vectors.

use std::{fs, path::PathBuf};

use letterpress::{
    model::stream::{EndState, ErrorClass, Wire},
    wire::{BodyEnd, Head, ReplySource},
};
use serde_json::Value;

use super::told::{Chance, Told, read};

/// Streams by the beginning of their names.
const STREAMS: &[(&str, Wire)] = &[
    ("anthropic-sdk-stream-a-toolrefusal.sse", Wire::Anthropic),
    ("gemini-cli-context-compress-interactive", Wire::Gemini),
    ("llm-anthropic-fixed_version_tool_chain_with_thinking_d-2.sse", Wire::Anthropic),
    ("llm-gemini-tools", Wire::Gemini),
    ("llm-responses_tool_use_streaming", Wire::Responses),
    ("llm-tools_streaming_variant_a", Wire::Chat),
    ("pydanticai-deepseek_model_thinking_stream-1.sse", Wire::Chat),
    ("pydanticai-google_model_thinking_part_iter-1.sse", Wire::Gemini),
    ("pydanticai-google_streaming_tool_call", Wire::Gemini),
    ("pydanticai-groq_model_thinking_part_iter", Wire::Chat),
    ("pydanticai-openai_responses_compact", Wire::Responses),
    ("pydanticai-openrouter_stream", Wire::Chat),
    ("pydanticai-tool_use_failed", Wire::Chat),
    ("pydanticai-zai_thinking_stream", Wire::Chat),
    ("rig-copilot-reasoning", Wire::Responses),
    ("rig-deepseek", Wire::Chat),
    ("rig-gemini", Wire::Gemini),
    ("rig-llamacpp", Wire::Chat),
    ("rig-mistralrs", Wire::Chat),
    ("rig-ollama", Wire::Ollama),
    ("rig-openai-reasoning", Wire::Responses),
    ("rig-openrouter", Wire::Chat),
    ("rig-perplexity", Wire::Chat),
    ("rig-xai", Wire::Responses),
    ("rubyllm", Wire::Chat),
    ("vercelai-alibaba", Wire::Chat),
    ("vercelai-anthropic", Wire::Anthropic),
    ("vercelai-groq", Wire::Chat),
    ("vercelai-lmstudio", Wire::Responses),
    ("vercelai-openai-text", Wire::Chat),
    ("vercelai-openai", Wire::Responses),
    ("vercelai-xai-tool-call", Wire::Chat),
    ("vercelai-xai-x-search-tool", Wire::Responses),
];

#[test]
fn recorded_streams_say_what_they_say() {
    let Some(folder) = folder() else {
        println!("skipped: there is no folder of recorded streams");
        return;
    };
    let mut read_streams = 0;
    let mut failures = Vec::new();
    let mut files: Vec<_> = fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    files.sort();
    for path in files {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let known = STREAMS.iter().find(|(begin, _)| name.starts_with(begin));
        let Some((_, wire)) = known.filter(|_| !name.ends_with(".yaml")) else { continue };
        for (content_type, body) in bodies(&name, &fs::read(&path).unwrap(), *wire) {
            failures.extend(check(&name, *wire, content_type, &body));
            read_streams += 1;
        }
    }
    println!("{read_streams} recorded streams");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn folder() -> Option<PathBuf> {
    let named = std::env::var_os("LETTERPRESS_CORPUS").map(PathBuf::from);
    let beside = std::env::var_os("LETTERPRESS_VECTORS")
        .map(|vectors| PathBuf::from(vectors).join("../corpus"));
    named.or(beside).map(|corpus| corpus.join("sse")).filter(|folder| folder.is_dir())
}

/// The bodies in a file, with the content type they had.
fn bodies(name: &str, bytes: &[u8], wire: Wire) -> Vec<(&'static str, Vec<u8>)> {
    match name.rsplit('.').next() {
        Some("sse") => vec![("text/event-stream", bytes.to_vec())],
        Some("ndjson") => vec![("application/x-ndjson", bytes.to_vec())],
        Some("json") => vec![("application/json", bytes.to_vec())],
        // Payloads without their framing, or whole bodies, one a line.
        _ if name.ends_with(".chunks.jsonl") => {
            let lines = String::from_utf8(bytes.to_vec()).unwrap();
            let done = if wire == Wire::Chat { "data: [DONE]\n\n" } else { "" };
            let mut streams = vec![String::new()];
            for line in lines.lines() {
                // One file may hold a reply and the one after it.
                if line.contains("\"response.created\"") && !streams[0].is_empty() {
                    streams.push(String::new());
                }
                let last = streams.last_mut().unwrap();
                *last += &format!("data: {line}\n\n");
            }
            let bodies = streams.into_iter().map(|stream| (stream + done).into_bytes());
            bodies.map(|body| ("text/event-stream", body)).collect()
        }
        _ => {
            let lines = String::from_utf8(bytes.to_vec()).unwrap();
            let streams = lines.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
            let streams = streams.filter(|value| value["method"] == "generateContentStream");
            streams
                .map(|value| ("application/json", value["response"].to_string().into_bytes()))
                .collect()
        }
    }
}

fn check(name: &str, wire: Wire, content_type: &str, body: &[u8]) -> Vec<String> {
    let source = ReplySource { wire, host: "host".into(), seed: 0 };
    let header = |header: &str| (header == "content-type").then_some(content_type);
    let head = Head::read(200, header, 0);
    let whole = read(&source, &head, &[body], BodyEnd::Eof);
    let told = Told::of(&whole);
    let plain = Plain::of(wire, content_type, body);
    let mut failures = Vec::new();
    let mut compare = |what: &str, got: &str, expected: &str| {
        if got != expected {
            failures.push(format!("{name}: {what}\n  is  {got:.300?}\n  not {expected:.300?}"));
        }
    };
    compare("text", &told.text, &plain.text);
    compare("reasoning", &told.reasoning, &plain.reasoning);
    let calls: Vec<_> = told.calls.iter().map(|c| (c.name.clone(), c.streamed.clone())).collect();
    compare("calls", &format!("{calls:?}"), &format!("{:?}", plain.calls));
    let broken = told.calls.iter().any(|call| call.arguments.is_err());
    compare("arguments", if broken { "broken" } else { "sound" }, "sound");
    let end = match told.end() {
        EndState::Failed(error) if error.class == ErrorClass::MalformedCall => "malformed_call",
        end => end.name(),
    };
    let failed = name.contains("tool_use_failed") || (name.contains("gemini-cli") && plain.fails);
    compare("end", end, if failed { "malformed_call" } else { "complete" });
    let mut warnings = told.warnings.clone();
    // New kinds of events are no fault; and one of these servers never says why it stopped.
    warnings.retain(|code| *code != "unknown_part");
    warnings.retain(|code| *code != "no_finish_reason" || !name.starts_with("llm-tools_streaming"));
    compare("warnings", &format!("{warnings:?}"), "[]");
    let mut chance = Chance(11);
    for _ in 0..5 {
        let cut = chance.cut(body);
        if read(&source, &head, &cut, BodyEnd::Eof) != whole {
            failures.push(format!("{name}: {} pieces give other events", cut.len()));
        }
    }
    failures
}

/// A second reading of a stream, as naive as can be.
#[derive(Default)]
struct Plain {
    text: String,
    reasoning: String,
    calls: Vec<(String, String)>,
    /// Calls by the label the provider gives them.
    labels: Vec<String>,
    fails: bool,
}

impl Plain {
    fn of(wire: Wire, content_type: &str, body: &[u8]) -> Self {
        let text = String::from_utf8_lossy(body);
        let values: Vec<Value> = if content_type == "application/json" {
            serde_json::from_str(&text).unwrap()
        } else {
            let payloads = text.lines().map(|line| line.strip_prefix("data:").unwrap_or(line));
            payloads.filter_map(|payload| serde_json::from_str(payload.trim()).ok()).collect()
        };
        let mut plain = Self::default();
        for value in &values {
            match wire {
                Wire::Chat => plain.chat(value),
                Wire::Responses => plain.responses(value),
                Wire::Anthropic => plain.anthropic(value),
                Wire::Ollama => plain.ollama(value),
                Wire::Gemini => plain.gemini(value),
            }
        }
        plain
    }

    fn chat(&mut self, value: &Value) {
        let delta = &value["choices"][0]["delta"];
        self.text += delta["content"].as_str().unwrap_or_default();
        let names = ["reasoning_content", "reasoning", "thinking"];
        let reasoning = names.iter().find_map(|n| delta[n].as_str().filter(|t| !t.is_empty()));
        self.reasoning += reasoning.unwrap_or_default();
        for call in delta["tool_calls"].as_array().into_iter().flatten() {
            let label = call["index"].to_string();
            let place = self.labelled(&label);
            // Some servers repeat the name with every fragment.
            if let Some(name) = call["function"]["name"].as_str() {
                name.clone_into(&mut self.calls[place].0);
            }
            self.calls[place].1 += call["function"]["arguments"].as_str().unwrap_or_default();
        }
    }

    fn responses(&mut self, value: &Value) {
        let delta = value["delta"].as_str().unwrap_or_default();
        match value["type"].as_str().unwrap_or_default() {
            "response.output_text.delta" => self.text += delta,
            "response.reasoning_summary_text.delta" => self.reasoning += delta,
            "response.reasoning_text.delta" => self.reasoning += delta,
            "response.reasoning_summary_part.added" if !self.reasoning.is_empty() => {
                self.reasoning += "\n\n";
            }
            "response.output_item.done" if value["item"]["type"] == "function_call" => {
                let text = |field: &str| value["item"][field].as_str().unwrap().to_owned();
                self.calls.push((text("name"), text("arguments")));
            }
            "response.output_item.done" if value["item"]["type"] == "custom_tool_call" => {
                let text = |field: &str| value["item"][field].as_str().unwrap().to_owned();
                self.calls.push((text("name"), text("input")));
            }
            _ => {}
        }
    }

    fn anthropic(&mut self, value: &Value) {
        let label = value["index"].to_string();
        if value["content_block"]["type"] == "tool_use" {
            let place = self.labelled(&label);
            self.calls[place].0 = value["content_block"]["name"].as_str().unwrap().to_owned();
        }
        let delta = &value["delta"];
        match delta["type"].as_str().unwrap_or_default() {
            "text_delta" => self.text += delta["text"].as_str().unwrap(),
            "thinking_delta" => self.reasoning += delta["thinking"].as_str().unwrap(),
            "input_json_delta" if self.labels.contains(&label) => {
                let place = self.labelled(&label);
                self.calls[place].1 += delta["partial_json"].as_str().unwrap();
            }
            _ => {}
        }
    }

    fn ollama(&mut self, value: &Value) {
        let message = &value["message"];
        self.text += message["content"].as_str().unwrap_or_default();
        self.reasoning += message["thinking"].as_str().unwrap_or_default();
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            let function = &call["function"];
            let name = function["name"].as_str().unwrap().to_owned();
            self.calls.push((name, function["arguments"].to_string()));
        }
    }

    fn gemini(&mut self, value: &Value) {
        let candidate = &value["candidates"][0];
        self.fails |= candidate["finishReason"] == "MALFORMED_FUNCTION_CALL";
        for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
            let text = part["text"].as_str().unwrap_or_default();
            if part["thought"] == true {
                self.reasoning += text;
            } else {
                self.text += text;
            }
            if let Some(name) = part["functionCall"]["name"].as_str() {
                self.calls.push((name.to_owned(), part["functionCall"]["args"].to_string()));
            }
        }
    }

    fn labelled(&mut self, label: &str) -> usize {
        self.labels.iter().position(|known| known == label).unwrap_or_else(|| {
            self.labels.push(label.to_owned());
            self.calls.push(Default::default());
            self.calls.len() - 1
        })
    }
}
