//! A conversation becomes what each provider accepts, and nothing that it would refuse.

use std::{sync::Arc, time::Duration};

use letterpress::{
    model::{
        Image, ImageData, Message, MessageId, Notice, NoticeKind, Output, Part, Role, SourceLine,
        StopReason, Text, Thinking, ToolCall, ToolResult, ToolState,
        stream::{Echo, EndState, ErrorClass, OptionalField, Retry, StreamError, Wire},
    },
    wire::{
        AddressError, Endpoint, Key, PRESETS, Plan, Preset, Request, ThinkingLevel, ToolSpec, Turn,
        body, plan, read_models,
    },
};
use serde_json::{Value, json};

fn endpoint(wire: Wire) -> Endpoint {
    let base = match wire {
        Wire::Chat | Wire::Responses => "https://models.example/v1",
        Wire::Anthropic | Wire::Ollama | Wire::Gemini => "https://models.example",
    };
    Endpoint::new("test", wire, base).unwrap()
}

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

fn text(text: &str) -> Part {
    Part::Text(Text::unparsed(text))
}

fn picture() -> Part {
    let data = ImageData::Bytes(Arc::from(*b"\x89PNG\r\n\x1a\n"));
    Part::Image(Image { media_type: "image/jpeg".into(), data, size: None })
}

fn thinking(words: &str) -> Part {
    Part::Thinking(Thinking { text: Text::unparsed(words), redacted: false, duration_ms: None })
}

fn result(id: &str, words: &str, is_error: bool) -> ToolResult {
    ToolResult {
        call_id: id.into(),
        tool_name: "ls".into(),
        is_error,
        output: Output::plain(words),
        told: None,
        images: Vec::new(),
        details: Value::Null,
    }
}

fn call(id: &str, arguments: Value, result: Option<ToolResult>) -> Part {
    Part::ToolCall(Arc::new(ToolCall {
        id: id.into(),
        name: "ls".into(),
        arguments,
        state: ToolState::Ok,
        result: result.map(Arc::new),
        superseded: 0,
        duration_ms: None,
    }))
}

fn user(words: &str) -> Message {
    message(Role::User, vec![text(words)])
}

/// A request of these messages, without echoes.
fn request(messages: Vec<Message>) -> Request {
    let turns = messages.into_iter().map(|message| Turn::from(Arc::new(message))).collect();
    Request { model: "m".into(), turns, ..Request::default() }
}

/// A conversation with everything in it.
fn full() -> Request {
    let answered = call("call_1", json!({"p": "."}), Some(result("call_1", "a.txt", false)));
    let failed = call("call_2", json!({}), Some(result("call_2", "no such folder", true)));
    Request {
        system: Some("Be terse.".into()),
        tools: vec![ToolSpec {
            name: "ls".into(),
            description: "lists".into(),
            parameters: json!({"type": "object", "properties": {"p": {"type": "string"}}}),
        }],
        max_tokens: Some(100),
        ..request(vec![
            message(Role::User, vec![text("Look."), picture()]),
            message(Role::Assistant, vec![text("I look."), answered, failed]),
            user("And?"),
        ])
    }
}

fn check(wire: Wire, request: &Request, expected: &Value) {
    let body = body(request, &endpoint(wire));
    for (key, value) in expected.as_object().unwrap() {
        assert_eq!(&body[key], value, "{wire:?}: {key}");
    }
}

const PNG: &str = "iVBORw0KGgo=";

#[test]
fn chat_completions() {
    let tool = json!({"type": "function", "function": {"name": "ls", "description": "lists",
        "parameters": {"type": "object", "properties": {"p": {"type": "string"}}}}});
    let image = json!({"type": "image_url",
        "image_url": {"url": format!("data:image/png;base64,{PNG}"), "detail": "auto"}});
    check(
        Wire::Chat,
        &full(),
        &json!({
            "model": "m", "stream": true, "stream_options": {"include_usage": true},
            "max_tokens": 100, "tools": [tool],
            "messages": [
                {"role": "system", "content": "Be terse."},
                {"role": "user", "content": [{"type": "text", "text": "Look."}, image]},
                {"role": "assistant", "content": "I look.", "tool_calls": [
                    {"id": "call_1", "type": "function",
                     "function": {"name": "ls", "arguments": "{\"p\":\".\"}"}},
                    {"id": "call_2", "type": "function",
                     "function": {"name": "ls", "arguments": "{}"}}]},
                {"role": "tool", "tool_call_id": "call_1", "content": "a.txt"},
                {"role": "tool", "tool_call_id": "call_2", "content": "no such folder"},
                {"role": "user", "content": "And?"},
            ],
        }),
    );
}

#[test]
fn chat_completions_by_host_and_by_refusal() {
    let openai = Endpoint::new("openai", Wire::Chat, "https://api.openai.com/v1").unwrap();
    let mut request = full();
    request.thinking = ThinkingLevel::High;
    request.without.push(OptionalField::StreamOptions);
    request.extra.insert("service_tier".into(), json!("flex"));
    request.extra.insert("stream".into(), json!("as you like"));
    let body = body(&request, &openai);
    assert_eq!(body["max_completion_tokens"], 100);
    assert_eq!(body.get("max_tokens"), None);
    assert_eq!(body.get("stream_options"), None);
    assert_eq!(body["reasoning_effort"], "high");
    assert_eq!(body["service_tier"], "flex");
    assert_eq!(body["stream"], "as you like", "the provider's own fields outrank ours");
}

#[test]
fn responses() {
    check(
        Wire::Responses,
        &full(),
        &json!({
            "model": "m", "stream": true, "store": false, "instructions": "Be terse.",
            "include": ["reasoning.encrypted_content"], "max_output_tokens": 100,
            "input": [
                {"role": "user", "content": [
                    {"type": "input_text", "text": "Look."},
                    {"type": "input_image", "image_url": format!("data:image/png;base64,{PNG}")}]},
                {"role": "assistant", "content": [{"type": "output_text", "text": "I look."}]},
                {"type": "function_call", "call_id": "call_1", "name": "ls",
                 "arguments": "{\"p\":\".\"}"},
                {"type": "function_call", "call_id": "call_2", "name": "ls", "arguments": "{}"},
                {"type": "function_call_output", "call_id": "call_1", "output": "a.txt"},
                {"type": "function_call_output", "call_id": "call_2", "output": "no such folder"},
                {"role": "user", "content": [{"type": "input_text", "text": "And?"}]},
            ],
        }),
    );
}

#[test]
fn anthropic() {
    let source = json!({"type": "base64", "media_type": "image/png", "data": PNG});
    check(
        Wire::Anthropic,
        &full(),
        &json!({
            "model": "m", "max_tokens": 100, "stream": true, "system": "Be terse.",
            "messages": [
                {"role": "user", "content": [
                    {"type": "text", "text": "Look."}, {"type": "image", "source": source}]},
                {"role": "assistant", "content": [
                    {"type": "text", "text": "I look."},
                    {"type": "tool_use", "id": "call_1", "name": "ls", "input": {"p": "."}},
                    {"type": "tool_use", "id": "call_2", "name": "ls", "input": {}}]},
                {"role": "user", "content": [
                    {"type": "tool_result", "tool_use_id": "call_1", "content": "a.txt"},
                    {"type": "tool_result", "tool_use_id": "call_2", "content": "no such folder",
                     "is_error": true},
                    {"type": "text", "text": "And?"}]},
            ],
        }),
    );
    let mut thinks = full();
    thinks.thinking = ThinkingLevel::Medium;
    let body = body(&thinks, &endpoint(Wire::Anthropic));
    assert_eq!(body["thinking"], json!({"type": "enabled", "budget_tokens": 8192}));
    assert!(body["max_tokens"].as_u64().unwrap() > 8192, "thinking leaves room for the answer");
    thinks.turns.pop();
    let body = letterpress::wire::body(&thinks, &endpoint(Wire::Anthropic));
    assert_eq!(body.get("thinking"), None, "a loop that began without thinking goes on without");
}

#[test]
fn ollama() {
    check(
        Wire::Ollama,
        &full(),
        &json!({
            "model": "m", "stream": true, "options": {"num_ctx": 8192, "num_predict": 100},
            "messages": [
                {"role": "system", "content": "Be terse."},
                {"role": "user", "content": "Look.", "images": [PNG]},
                {"role": "assistant", "content": "I look.", "tool_calls": [
                    {"function": {"name": "ls", "arguments": {"p": "."}}},
                    {"function": {"name": "ls", "arguments": {}}}]},
                {"role": "tool", "content": "a.txt", "tool_name": "ls"},
                {"role": "tool", "content": "no such folder", "tool_name": "ls"},
                {"role": "user", "content": "And?"},
            ],
        }),
    );
    let long = request(vec![user(&"word ".repeat(20_000))]);
    let body = body(&long, &endpoint(Wire::Ollama));
    assert_eq!(body["options"]["num_ctx"], 65_536, "the history is never cut in silence");
}

#[test]
fn gemini() {
    let mut request = full();
    request.tools[0].parameters = json!({
        "$schema": "x", "type": "object", "additionalProperties": false,
        "properties": {"title": {"type": "string", "$comment": "gone"},
                       "list": {"type": "array", "items": {"type": "string", "const": "gone"}}},
    });
    check(
        Wire::Gemini,
        &request,
        &json!({
            "systemInstruction": {"parts": [{"text": "Be terse."}]},
            "generationConfig": {"maxOutputTokens": 100},
            "tools": [{"functionDeclarations": [{"name": "ls", "description": "lists",
                "parameters": {"type": "object", "properties": {"title": {"type": "string"},
                    "list": {"type": "array", "items": {"type": "string"}}}}}]}],
            "contents": [
                {"role": "user", "parts": [
                    {"text": "Look."}, {"inlineData": {"mimeType": "image/png", "data": PNG}}]},
                {"role": "model", "parts": [
                    {"text": "I look."},
                    {"functionCall": {"name": "ls", "args": {"p": "."}, "id": "call_1"}},
                    {"functionCall": {"name": "ls", "args": {}, "id": "call_2"}}]},
                {"role": "user", "parts": [
                    {"functionResponse": {"name": "ls", "response": {"output": "a.txt"},
                     "id": "call_1"}},
                    {"functionResponse": {"name": "ls", "response": {"error": "no such folder"},
                     "id": "call_2"}}]},
                {"role": "user", "parts": [{"text": "And?"}]},
            ],
        }),
    );
}

/// Calls without results, results without calls, replies that broke off.
#[test]
fn what_is_broken_is_repaired_on_the_way_out() {
    let mut aborted = message(
        Role::Assistant,
        vec![text("Half a"), call("call_9", json!({}), Some(result("call_9", "x", false)))],
    );
    aborted.stop = Some(StopReason::Aborted);
    let mut failed = message(Role::Assistant, vec![call("call_8", json!({}), None)]);
    failed.error = Some("overloaded".into());
    let orphan =
        message(Role::Tool, vec![Part::ToolResult(Arc::new(result("gone", "lost", false)))]);
    let summary =
        Part::Notice(Notice { kind: NoticeKind::Compaction, text: Text::unparsed("We spoke.") });
    let label = Part::Notice(Notice { kind: NoticeKind::Label, text: Text::unparsed("title") });
    let request = request(vec![
        message(Role::System, vec![label, summary]),
        user("1"),
        message(
            Role::Assistant,
            vec![
                text("  "),
                thinking("no signature"),
                call("same", json!("not an object"), None),
                call("same", json!({"a": 1}), Some(result("same", " ", false))),
            ],
        ),
        orphan,
        message(Role::Custom("artifact".into()), vec![text("for people")]),
        user("2"),
        aborted,
        failed,
        user("3"),
        message(Role::Assistant, vec![call("odd:id/1", json!({}), None)]),
    ]);
    check(
        Wire::Chat,
        &request,
        &json!({"messages": [
            {"role": "user", "content": [
                {"type": "text", "text":
                 "The conversation so far, in short:\n\n<summary>\nWe spoke.\n</summary>"},
                {"type": "text", "text": "1"}]},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "same", "type": "function", "function": {"name": "ls", "arguments": "{}"}},
                {"id": "same_1", "type": "function",
                 "function": {"name": "ls", "arguments": "{\"a\":1}"}}]},
            {"role": "tool", "tool_call_id": "same",
             "content": "result unavailable; do not assume it ran"},
            {"role": "tool", "tool_call_id": "same_1", "content": "(no output)"},
            {"role": "user", "content": [
                {"type": "text", "text": "[result of the tool ls]\nlost"},
                {"type": "text", "text": "2"}]},
            {"role": "assistant", "content": "Half a"},
            {"role": "user", "content": "3"},
            {"role": "assistant", "content": null, "tool_calls": [
                {"id": "odd_id_1", "type": "function",
                 "function": {"name": "ls", "arguments": "{}"}}]},
            {"role": "tool", "tool_call_id": "odd_id_1",
             "content": "result unavailable; do not assume it ran"},
        ]}),
    );
}

#[test]
fn pictures_that_are_not_here_are_named() {
    let part = |data| Part::Image(Image { media_type: "image/png".into(), data, size: None });
    let address = part(ImageData::Address("https://example.org/cat.png".into()));
    let declared = part(ImageData::Bytes(Arc::from(*b"%PDF-")));
    let body = body(
        &request(vec![message(Role::User, vec![address, declared])]),
        &endpoint(Wire::Anthropic),
    );
    let content = &body["messages"][0]["content"];
    assert_eq!(content[0]["text"], "[image: at https://example.org/cat.png]");
    assert_eq!(content[1]["source"]["media_type"], "image/png", "unknown bytes are as declared");
}

/// Sent back to where they came from, byte for byte, and to nobody else.
#[test]
fn echoes_go_home_only() {
    let signed = r#"{"type":"thinking","thinking":"Hm.","signature":"c2ln"}"#;
    let echo = |wire, host: &str, json: &str| Echo { wire, host: host.into(), json: json.into() };
    let said = Arc::new(message(Role::Assistant, vec![thinking("Hm."), text("Yes.")]));
    let turn = |echo| Turn { message: Arc::clone(&said), echoes: vec![(0, echo)] };
    let contents = |wire, echo| {
        let mut request = request(vec![user("?")]);
        request.turns.push(turn(echo));
        body(&request, &endpoint(wire))["messages"][1]["content"].clone()
    };
    let home = contents(Wire::Anthropic, echo(Wire::Anthropic, "models.example", signed));
    assert_eq!(home[0].to_string(), signed);
    assert_eq!(home[1]["text"], "Yes.");
    for foreign in [
        echo(Wire::Anthropic, "elsewhere.example", signed),
        echo(Wire::Chat, "models.example", "{\"reasoning_content\":\"Hm.\"}"),
        echo(Wire::Anthropic, "models.example", "{torn"),
    ] {
        let away = contents(Wire::Anthropic, foreign);
        assert_eq!(away, json!([{"type": "text", "text": "Yes."}]));
    }
}

#[test]
fn reasoning_goes_back_with_calls_where_servers_want_it() {
    let echo = Echo {
        wire: Wire::Chat,
        host: "models.example".into(),
        json: "{\"reasoning_content\":\"Hm.\"}".into(),
    };
    let turn = |parts| Turn {
        message: Arc::new(message(Role::Assistant, parts)),
        echoes: vec![(0, echo.clone())],
    };
    let mut request = request(vec![user("?")]);
    request.turns.push(turn(vec![thinking("Hm."), call("call_1", json!({}), None)]));
    request.turns.push(Turn::from(Arc::new(user("!"))));
    request.turns.push(turn(vec![thinking("Hm."), text("Plain.")]));
    let body = body(&request, &endpoint(Wire::Chat));
    assert_eq!(body["messages"][1]["reasoning_content"], "Hm.");
    assert_eq!(body["messages"][4], json!({"role": "assistant", "content": "Plain."}));
}

#[test]
fn gemini_gets_its_signatures_and_its_own_ids_back() {
    let minted = "call_01KBB0000000000000000000ZZ";
    let part = r#"{"functionCall":{"name":"ls","args":{}},"thoughtSignature":"c2ln"}"#;
    let echo = Echo { wire: Wire::Gemini, host: "models.example".into(), json: part.into() };
    let said =
        message(Role::Assistant, vec![call(minted, json!({}), Some(result(minted, "x", false)))]);
    let mut request = request(vec![user("?")]);
    request.turns.push(Turn { message: Arc::new(said), echoes: vec![(0, echo)] });
    let body = body(&request, &endpoint(Wire::Gemini));
    assert_eq!(body["contents"][1]["parts"][0].to_string(), part);
    let response = &body["contents"][2]["parts"][0]["functionResponse"];
    assert_eq!(response, &json!({"name": "ls", "response": {"output": "x"}}), "no id of ours");
}

#[test]
fn addresses() {
    let url = |wire, base: &str, model: &str| {
        let endpoint = Endpoint::new("x", wire, base).unwrap();
        endpoint.chat_url(model).unwrap().to_string()
    };
    let cases = [
        (Wire::Chat, "https://a.example/v1", "https://a.example/v1/chat/completions"),
        (Wire::Chat, "https://a.example/v1/", "https://a.example/v1/chat/completions"),
        (Wire::Chat, "https://a.example/x?v=2", "https://a.example/x/chat/completions?v=2"),
        (Wire::Responses, "https://a.example/v1", "https://a.example/v1/responses"),
        (Wire::Anthropic, "https://a.example", "https://a.example/v1/messages"),
        (Wire::Anthropic, "https://a.example/v1", "https://a.example/v1/messages"),
        (Wire::Ollama, "0.0.0.0", "http://127.0.0.1:11434/api/chat"),
        (Wire::Ollama, "box:99", "http://box:99/api/chat"),
        (
            Wire::Gemini,
            "https://a.example",
            "https://a.example/v1beta/models/m:streamGenerateContent?alt=sse",
        ),
    ];
    for (wire, base, expected) in cases {
        assert_eq!(url(wire, base, "m"), expected, "{base}");
    }
    let odd = url(Wire::Gemini, "https://a.example", "models/../../x?y");
    assert!(
        odd.starts_with("https://a.example/v1beta/models/") && odd.ends_with("?alt=sse"),
        "{odd}"
    );
    for bad in ["", "ftp://a.example", "http://", "not an address"] {
        assert!(Endpoint::new("x", Wire::Chat, bad).is_err(), "{bad:?}");
    }
}

#[test]
fn keys_stay_where_they_belong() {
    let key = Key::new(" sk-CANARY ").unwrap();
    assert!(Key::new("  ").is_none());
    assert!(!format!("{key:?}").contains("CANARY"));
    let mut azure = endpoint(Wire::Chat).with_key(Some(key.clone()));
    azure.headers.push(("api-key".into(), "0123-CANARY-4567".into()));
    assert!(!format!("{azure:?}").contains("CANARY"));
    assert_eq!(azure.redact("sk-CANARY, 0123-CANARY-4567!"), "[secret], [secret]!");
    let at =
        |base: &str| Endpoint::new("x", Wire::Gemini, base).unwrap().with_key(Some(key.clone()));
    for private in [
        "http://localhost:1",
        "http://10.0.0.2",
        "http://box",
        "http://[::1]:8",
        "https://a.example",
    ] {
        let url = at(private).chat_url("m").unwrap();
        assert!(!url.as_str().contains("CANARY"));
    }
    for public in ["http://a.example", "http://8.8.8.8", "http://172.32.0.1"] {
        assert!(
            matches!(at(public).chat_url("m"), Err(AddressError::KeyInTheClear { .. })),
            "{public}"
        );
    }
}

#[test]
fn presets_take_keys_and_addresses_from_the_environment() {
    let variables = |name: &str| match name {
        "GOOGLE_API_KEY" => Some("g".to_owned()),
        "OPENAI_BASE_URL" => Some("http://127.0.0.1:8000/v1".to_owned()),
        _ => None,
    };
    let openai = Preset::of_name("openai").unwrap().endpoint(variables).unwrap();
    assert_eq!(openai.chat_url("m").unwrap().as_str(), "http://127.0.0.1:8000/v1/chat/completions");
    assert_eq!(openai.key, None);
    assert!(Preset::of_name("gemini").unwrap().endpoint(variables).unwrap().key.is_some());
    for preset in PRESETS {
        let endpoint = preset.endpoint(|_| None).unwrap();
        assert_eq!(endpoint.is_loopback(), preset.is_local, "{}", preset.name);
    }
}

#[test]
fn lists_of_models() {
    let ids = |wire, text: &str| {
        let models = read_models(wire, text)?;
        Some(models.into_iter().map(|m| (m.id, m.context)).collect::<Vec<_>>())
    };
    assert_eq!(
        ids(
            Wire::Chat,
            r#"{"data":[{"id":"a","context_length":9},{"object":"model"},{"id":"b"}]}"#
        ),
        Some(vec![("a".to_owned(), Some(9)), ("b".to_owned(), None)])
    );
    assert_eq!(
        ids(Wire::Ollama, r#"{"models":[{"name":"qwen3:8b"}]}"#),
        Some(vec![("qwen3:8b".to_owned(), None)])
    );
    assert_eq!(
        ids(
            Wire::Gemini,
            r#"{"models":[{"name":"models/g","inputTokenLimit":5},{"name":"models/e","supportedGenerationMethods":["embedContent"]}]}"#
        ),
        Some(vec![("g".to_owned(), Some(5))])
    );
    assert_eq!(ids(Wire::Chat, "<html>"), None);
}

#[test]
fn retries() {
    let failed =
        |retry| EndState::Failed(StreamError { retry, ..StreamError::new(ErrorClass::Server, "") });
    let ms = Duration::from_millis;
    let stream_options = OptionalField::StreamOptions;
    let cases = [
        (failed(Retry::Never), 1, 0.5, Plan::Stop),
        (failed(Retry::Backoff), 1, 0.5, Plan::Wait(ms(500))),
        (failed(Retry::Backoff), 2, 0.5, Plan::Wait(ms(1000))),
        (failed(Retry::Backoff), 1, 0.0, Plan::Wait(ms(375))),
        (failed(Retry::Backoff), 1, 1.0, Plan::Wait(ms(625))),
        (failed(Retry::Backoff), 3, 0.5, Plan::Stop),
        (failed(Retry::After(ms(90_000))), 2, 0.5, Plan::Wait(ms(90_000))),
        (failed(Retry::Without(stream_options)), 3, 0.5, Plan::ResendWithout(stream_options)),
        (EndState::Cancelled, 1, 0.5, Plan::Stop),
        (EndState::Incomplete, 1, 0.5, Plan::Stop),
    ];
    for (end, tries, chance, expected) in cases {
        assert_eq!(plan(&end, tries, &[], chance), expected, "{end:?} after {tries}");
    }
    let again = failed(Retry::Without(stream_options));
    assert_eq!(plan(&again, 1, &[stream_options], 0.5), Plan::Stop, "once only");
}
