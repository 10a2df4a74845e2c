//! The proxy of litellm: a stream, a document where a stream was asked for, and errors.

use std::thread;

use serde_json::{Value, json};

use super::{
    program::{ANTHROPIC, CHAT, RESPONSES, Told, ask},
    server::Server,
};

const MODEL: &str = "typesetter";
const PROMPT: &str = "Set a page";

#[test]
fn a_proxy_is_understood_whatever_it_answers() {
    let Some(server) = Server::litellm() else { return };
    let reply = reply(&server);
    chat_streams(&server, &reply);
    messages_answers_with_a_document(&server, &reply);
    // Most of the time is spent waiting for the next try.
    thread::scope(|scope| {
        let tests: [fn(&Server); 4] =
            [responses_fails, limits_are_told, faults_are_told, unknown_models_are_told];
        for test in tests {
            let server = &server;
            let thread = thread::Builder::new().name("litellm".into());
            thread.spawn_scoped(scope, move || test(server)).unwrap();
        }
    });
}

/// The text that the proxy makes up, as it says it where nothing is streamed.
fn reply(server: &Server) -> String {
    let request = json!({"model": MODEL, "messages": [{"role": "user", "content": PROMPT}]});
    let response = server.post("/v1/chat/completions", &request);
    let document: Value = serde_json::from_str(&response.body).unwrap();
    let text = document["choices"][0]["message"]["content"].as_str().unwrap().to_owned();
    assert!(text.starts_with("Set in *type*: naïve café, 活字印刷.") && text.ends_with("The end."));
    text
}

fn chat_streams(server: &Server, reply: &str) {
    let request = json!({
        "model": MODEL, "stream": true, "stream_options": {"include_usage": true},
        "messages": [{"role": "user", "content": PROMPT}],
    });
    let response = server.post("/v1/chat/completions", &request);
    assert!(response.head.contains("content-type: text/event-stream"), "{}", response.head);
    let values = response.body.lines().filter_map(|line| line.strip_prefix("data: "));
    let values: Vec<Value> = values.filter_map(|data| serde_json::from_str(data).ok()).collect();
    assert!(values.len() > 10, "it streams: {}", response.body);
    let usage = values.iter().rev().map(|value| &value["usage"]).find(|usage| usage.is_object());
    let tokens = |name: &str| usage.unwrap()[name].as_u64().unwrap();

    let run = ask(CHAT, &server.address, "", MODEL, &[PROMPT]);
    run.assert_complete("stop");
    assert_eq!(run.told(), [Told::Text(reply.to_owned())], "{run:?}");
    assert_eq!(run.warnings(), [""; 0], "{run:?}");
    assert_eq!(run.usage(), Some((tokens("prompt_tokens"), tokens("completion_tokens"))));

    // Without a model it is the first one that the proxy lists.
    let run = ask(CHAT, &server.address, "", "", &[PROMPT]);
    run.assert_complete("stop");
    assert_eq!(run.end()["message"]["model"], MODEL, "{run:?}");
}

fn messages_answers_with_a_document(server: &Server, reply: &str) {
    let request = json!({
        "model": MODEL, "stream": true, "max_tokens": 100,
        "messages": [{"role": "user", "content": PROMPT}],
    });
    let response = server.post("/v1/messages", &request);
    assert!(response.head.contains("content-type: application/json"), "{}", response.head);
    let document: Value = serde_json::from_str(&response.body).unwrap();
    assert_eq!(document["content"], json!([{"type": "text", "text": reply}]), "{document}");
    let tokens = |name: &str| document["usage"][name].as_u64().unwrap();

    let run = ask(ANTHROPIC, &server.address, "", MODEL, &[PROMPT]);
    run.assert_complete("stop");
    assert_eq!(run.told(), [Told::Text(reply.to_owned())], "{run:?}");
    assert_eq!(run.warnings(), [""; 0], "{run:?}");
    assert_eq!(run.usage(), Some((tokens("input_tokens"), tokens("output_tokens"))), "{run:?}");
}

/// It answers with an error as an event, whose status is 200 or 500 depending on its version.
fn responses_fails(server: &Server) {
    let request = json!({"model": MODEL, "stream": true, "input": PROMPT});
    let response = server.post("/v1/responses", &request);
    assert!(response.head.contains("content-type: text/event-stream"), "{}", response.head);
    let data = response.body.lines().find_map(|line| line.strip_prefix("data: ")).unwrap();
    let event: Value = serde_json::from_str(data).unwrap();
    let message = event["error"]["message"].as_str().unwrap();

    let run = ask(RESPONSES, &server.address, "", MODEL, &[PROMPT]);
    run.assert_failed("failed", "server");
    assert_eq!(run.end()["error"]["message"], message, "{run:?}");
    assert_eq!(run.told(), [], "{run:?}");
    // Nothing was shown, so it is asked three times; the fourth was the test itself.
    let line = format!("\"POST /v1/responses HTTP/1.1\" {}", response.status);
    let log = server.log();
    assert_eq!(log.matches(&line).count(), 3, "{log}");
    let line = format!("\"POST /v1/responses HTTP/1.0\" {}", response.status);
    assert_eq!(log.matches(&line).count(), 1, "{log}");
}

fn limits_are_told(server: &Server) {
    let run = ask(CHAT, &server.address, "", "busy", &[PROMPT]);
    run.assert_failed("failed", "rate_limit");
    assert_eq!(run.end()["error"]["status"], 429, "{run:?}");
    let log = server.log();
    assert_eq!(log.matches("\"POST /v1/chat/completions HTTP/1.1\" 429").count(), 3, "{log}");
}

fn faults_are_told(server: &Server) {
    let run = ask(CHAT, &server.address, "", "broken", &[PROMPT]);
    run.assert_failed("failed", "server");
    assert_eq!(run.end()["error"]["status"], 500, "{run:?}");
    let log = server.log();
    assert_eq!(log.matches("\"POST /v1/chat/completions HTTP/1.1\" 500").count(), 3, "{log}");
}

/// A model that is not there is not asked for again.
fn unknown_models_are_told(server: &Server) {
    let run = ask(CHAT, &server.address, "", "nobody", &[PROMPT]);
    run.assert_failed("failed", "bad_request");
    assert_eq!(run.end()["error"]["status"], 400, "{run:?}");
    assert!(run.stderr.contains("nobody"), "{run:?}");
    let log = server.log();
    assert_eq!(log.matches("\"POST /v1/chat/completions HTTP/1.1\" 400").count(), 1, "{log}");
}
