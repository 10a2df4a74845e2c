//! What the model is sent: M01 to M16 by name, echoes, settings.

use std::sync::Arc;

use letterpress::{
    model::{
        Attachment, Command, Draft, Image, ImageData, Message, MessageId, Notice, NoticeKind,
        Output, Part, Role, SourceLine, StopReason, Text, ThinkingLevel, ToolCall, ToolResult,
        ToolState, stream::Wire,
    },
    wire::{Endpoint, Request, Turn, body},
};
use serde_json::{Value, json};

use super::{
    bench::{Bench, last, limits, thoughts},
    server::{Act, whole},
};

const PNG: &[u8] = &[0x89, b'P', b'N', b'G', 13, 10, 26, 10];

fn message(role: Role, parts: Vec<Part>) -> Message {
    Message {
        id: MessageId(0),
        key: "".into(),
        role,
        timestamp_ms: None,
        model: None,
        parts,
        stop: None,
        error: None,
        usage: None,
        line: SourceLine(0),
    }
}

fn words(text: &str) -> Part {
    Part::Text(Text::unparsed(text))
}

fn image(media_type: &str, bytes: &[u8]) -> Image {
    Image { media_type: media_type.into(), data: ImageData::Bytes(bytes.into()), size: None }
}

fn call(id: &str, result: Option<&str>) -> Part {
    let result = result.map(|output| {
        Arc::new(ToolResult {
            call_id: id.into(),
            tool_name: "ls".into(),
            is_error: false,
            output: Output::plain(output),
            told: None,
            images: vec![image("image/png", PNG)],
            details: Value::Null,
        })
    });
    Part::ToolCall(Arc::new(ToolCall {
        id: id.into(),
        name: "ls".into(),
        arguments: json!({}),
        state: ToolState::Ok,
        result,
        superseded: 0,
        duration_ms: None,
    }))
}

/// The messages as an Anthropic server reads them, which keeps pieces apart.
fn sent(messages: Vec<Message>) -> Vec<Value> {
    let endpoint = Endpoint::new("test", Wire::Anthropic, "http://localhost").unwrap();
    let turns = messages.into_iter().map(|message| Turn::from(Arc::new(message))).collect();
    let request = Request { model: "m".into(), turns, ..Request::default() };
    body(&request, &endpoint)["messages"].as_array().unwrap().clone()
}

/// What a prompt with attachments becomes on its way through the engine.
fn said(text: &str, attachments: Vec<Attachment>) -> Vec<Value> {
    let mut bench = Bench::with(Wire::Anthropic, limits(), vec![vec![Act::AwaitClose]]);
    let ticket = bench.ticket();
    bench.command(Command::Send(Draft {
        ticket,
        text: text.into(),
        attachments,
        ..Draft::default()
    }));
    let request = bench.server.request();
    request["messages"].as_array().unwrap().clone()
}

fn document(name: &str, text: &str) -> Attachment {
    Attachment::Document { name: name.into(), text: text.into() }
}

fn picture() -> Attachment {
    Attachment::Image(image("image/png", PNG))
}

/// The pieces of the only message.
fn pieces(messages: &[Value]) -> Vec<String> {
    let [message] = messages else { panic!("{messages:?}") };
    assert_eq!(message["role"], "user");
    let piece = |piece: &Value| match piece["type"].as_str().unwrap() {
        "text" => piece["text"].as_str().unwrap().to_owned(),
        kind => format!("{kind} {}", piece["source"]["media_type"].as_str().unwrap_or("?")),
    };
    match &message["content"] {
        Value::String(text) => vec![text.clone()],
        list => list.as_array().unwrap().iter().map(piece).collect(),
    }
}

#[test]
fn m01_m02_m12_words_alone() {
    assert_eq!(pieces(&said("hi", vec![])), ["hi"]);
}

#[test]
fn m03_a_picture_stands_behind_the_words() {
    assert_eq!(pieces(&said("hi", vec![picture()])), ["hi", "image image/png"]);
}

#[test]
fn m04_a_document_is_named_and_told() {
    let sent = said("hi", vec![document("a.pdf", "T")]);
    assert_eq!(pieces(&sent), ["hi", "\n\n[Document: a.pdf]\nT"]);
}

#[test]
fn m05_a_document_without_text_is_nothing() {
    assert_eq!(pieces(&said("hi", vec![document("a.pdf", "")])), ["hi"]);
}

#[test]
fn m06_a_picture_without_words_stands_alone() {
    assert_eq!(pieces(&said("", vec![picture()])), ["image image/png"]);
}

#[test]
fn m07_m08_attachments_keep_their_order() {
    let attachments = vec![document("a", "1"), picture(), document("b", "2")];
    let expected = ["a", "\n\n[Document: a]\n1", "image image/png", "\n\n[Document: b]\n2"];
    assert_eq!(pieces(&said("a", attachments)), expected);
}

#[test]
fn m09_m10_m13_what_is_for_people_is_not_sent() {
    let artifact = || message(Role::Custom("artifact".into()), vec![words("x")]);
    let notice = Notice { kind: NoticeKind::ModelChange, text: Text::unparsed("y") };
    let notice = message(Role::System, vec![Part::Notice(notice)]);
    let user = message(Role::User, vec![words("hi")]);
    let reply = message(Role::Assistant, vec![words("ho")]);
    let sent_roles: Vec<_> = sent(vec![user, artifact(), notice, reply])
        .iter()
        .map(|message| message["role"].clone())
        .collect();
    assert_eq!(sent_roles, ["user", "assistant"]);
    assert_eq!(sent(vec![artifact(), artifact(), artifact()]), Vec::<Value>::new());
}

#[test]
fn m11_a_result_keeps_its_picture() {
    let user = message(Role::User, vec![words("hi")]);
    let reply = message(Role::Assistant, vec![call("c1", Some("out"))]);
    let sent = sent(vec![user, reply]);
    let result = &sent[2]["content"][0];
    assert_eq!((&result["type"], &result["tool_use_id"]), (&json!("tool_result"), &json!("c1")));
    assert_eq!(result["content"][1]["type"], "image");
}

#[test]
fn m14_the_bytes_of_a_picture_say_what_it_is() {
    let lie = Attachment::Image(image("application/pdf", PNG));
    assert_eq!(pieces(&said("hi", vec![lie])), ["hi", "image image/png"]);
    let unknown = Attachment::Image(image("application/pdf", b"%PDF"));
    assert_eq!(pieces(&said("hi", vec![unknown])), ["hi", "image application/pdf"]);
}

#[test]
fn m15_a_call_without_a_result_gets_one() {
    let user = || message(Role::User, vec![words("hi")]);
    let reply = message(Role::Assistant, vec![call("c1", None)]);
    let sent = sent(vec![user(), reply, user()]);
    let result = &sent[2]["content"][0];
    assert_eq!((&result["tool_use_id"], &result["is_error"]), (&json!("c1"), &json!(true)));
    assert_eq!(sent[2]["content"].as_array().unwrap().last().unwrap()["text"], "hi");
}

#[test]
fn m16_the_calls_of_a_reply_that_was_stopped_go_with_their_results() {
    let user = || message(Role::User, vec![words("hi")]);
    let parts = vec![words("I was saying"), call("c1", Some("out"))];
    let stopped = Message { stop: Some(StopReason::Aborted), ..message(Role::Assistant, parts) };
    let text = serde_json::to_string(&sent(vec![user(), stopped, user()])).unwrap();
    assert!(text.contains("I was saying"));
    assert!(!text.contains("tool_use") && !text.contains("tool_result"), "{text}");
}

/// What a server wants back it gets back, in its place.
#[test]
fn signed_reasoning_goes_back_to_the_server_it_came_from() {
    let event = |name: &str, value: &Value| {
        Act::Send(format!("event: {name}\ndata: {value}\n\n").into_bytes())
    };
    let block = |index: u32, block: Value| json!({"type": "content_block_start", "index": index, "content_block": block});
    let delta = |index: u32, delta: Value| json!({"type": "content_block_delta", "index": index, "delta": delta});
    let stop = |index: u32| json!({"type": "content_block_stop", "index": index});
    let answer = vec![
        super::server::sse(),
        event(
            "message_start",
            &json!({"type": "message_start", "message": {"id": "m", "model": "x", "usage": {}}}),
        ),
        event(
            "content_block_start",
            &block(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        ),
        event(
            "content_block_delta",
            &delta(0, json!({"type": "thinking_delta", "thinking": "hm"})),
        ),
        event(
            "content_block_delta",
            &delta(0, json!({"type": "signature_delta", "signature": "SIGNED"})),
        ),
        event("content_block_stop", &stop(0)),
        event(
            "content_block_start",
            &block(1, json!({"type": "redacted_thinking", "data": "SECRET"})),
        ),
        event("content_block_stop", &stop(1)),
        event("content_block_start", &block(2, json!({"type": "text", "text": ""}))),
        event("content_block_delta", &delta(2, json!({"type": "text_delta", "text": "ho"}))),
        event("content_block_stop", &stop(2)),
        event(
            "message_delta",
            &json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": {"output_tokens": 3}}),
        ),
        event("message_stop", &json!({"type": "message_stop"})),
        Act::Finish,
    ];
    let mut bench = Bench::with(Wire::Anthropic, limits(), vec![answer, vec![Act::AwaitClose]]);
    let end = bench.ask("hi");
    assert_eq!(thoughts(last(&end)), "hm");
    assert!(matches!(&last(&end).parts[1], Part::Thinking(t) if t.redacted), "{end:?}");
    bench.say("more");
    bench.server.request();
    let second = bench.server.request();
    let content = &second["messages"][1]["content"];
    assert_eq!(content[0]["signature"], "SIGNED", "{content}");
    assert_eq!(content[0]["thinking"], "hm");
    assert_eq!(content[1]["data"], "SECRET");
    assert_eq!(content[2]["text"], "ho");
}

#[test]
fn settings_count_from_the_next_request() {
    let mut bench = Bench::new(vec![whole(&["a"]), whole(&["b"])]);
    bench.ask("one");
    bench.command(Command::SetSystem(Some("Be brief.".into())));
    bench.command(Command::SetMaxTokens(Some(77)));
    bench.command(Command::SetThinking(ThinkingLevel::High));
    let ticket = bench.ticket();
    bench.command(Command::Send(Draft::text(ticket, "two")));
    let end = bench.settled(ticket);
    assert_eq!(end.settings.system.as_deref(), Some("Be brief."));
    let first = bench.server.request();
    assert!(first.get("max_tokens").is_none() && first["messages"][0]["role"] == "user");
    let second = bench.server.request();
    assert_eq!(second["messages"][0]["content"], "Be brief.");
    assert_eq!((&second["max_tokens"], &second["reasoning_effort"]), (&json!(77), &json!("high")));
}
