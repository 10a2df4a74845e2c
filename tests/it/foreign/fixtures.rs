//! The replies that aimock is told to give, and what must come of them.

use serde_json::Value;

use super::program::{Told, together};

const FIXTURES: &str = include_str!("../../corpora/foreign/aimock.json");

/// The fixtures that answer a prompt, in the order in which they do.
pub(super) fn fixtures(prompt: &str) -> Vec<Value> {
    let all: Value = serde_json::from_str(FIXTURES).unwrap();
    let all = all["fixtures"].as_array().unwrap().iter();
    let found = all.filter(|fixture| fixture["match"]["userMessage"] == prompt).cloned();
    let found: Vec<_> = found.collect();
    assert!(!found.is_empty(), "no fixture answers {prompt:?}");
    found
}

/// The one text that answers a prompt in the end.
pub(super) fn content(prompt: &str) -> String {
    let last = fixtures(prompt).pop().unwrap();
    last["response"]["content"].as_str().unwrap().to_owned()
}

/// What the program has to tell of these responses, one after the other.
pub(super) fn expected(fixtures: &[Value]) -> Vec<Told> {
    let responses = fixtures.iter().map(|fixture| &fixture["response"]);
    together(responses.flat_map(of_response).collect())
}

fn of_response(response: &Value) -> Vec<Told> {
    let text = |value: &Value| Told::Text(value.as_str().unwrap().to_owned());
    let list = |name: &str| response[name].as_array().into_iter().flatten();
    let mut told = Vec::new();
    if let Some(reasoning) = response["reasoning"].as_str() {
        told.push(Told::Reasoning(reasoning.to_owned()));
    }
    if response["content"].is_string() {
        told.push(text(&response["content"]));
    }
    for call in list("toolCalls") {
        told.extend(of_call(call));
    }
    for block in list("blocks") {
        match block["type"].as_str().unwrap() {
            "text" => told.push(text(&block["text"])),
            "toolCall" => told.extend(of_call(block)),
            other => panic!("a block of an unknown type: {other}"),
        }
    }
    told
}

fn of_call(call: &Value) -> [Told; 2] {
    let name = call["name"].as_str().unwrap().to_owned();
    [Told::Call(name, call["arguments"].clone()), Told::NoTool]
}

/// The tokens that these responses are said to cost together.
pub(super) fn usage(fixtures: &[Value]) -> Option<(u64, u64)> {
    let mut sum = None;
    for usage in fixtures.iter().map(|fixture| &fixture["response"]["usage"]) {
        if let (Some(input), Some(output)) =
            (usage["prompt_tokens"].as_u64(), usage["completion_tokens"].as_u64())
        {
            let (inputs, outputs) = sum.unwrap_or_default();
            sum = Some((inputs + input, outputs + output));
        }
    }
    sum
}
