//! `letterpress ask` and `letterpress providers`: what is printed, and what is chosen.

#![expect(clippy::unwrap_used, reason = "tests: a panic is a failure")]

use std::sync::Arc;

use letterpress::{
    app::{
        ask::{self, Desk, Kept},
        cli::{self, Ask, Command, ProviderFlags},
        keys::Keys,
        providers::{self, Choice, Reason, Sources},
        settings::Live,
    },
    engine::live::{Config, Engine, Provider},
    model::{Draft, Ticket, stream::Wire},
    wire::{Endpoint, Http, HttpConfig, demo::Pace},
};
use serde_json::{Value, json};

use crate::live::{
    bench::{engine, limits},
    server::{Act, Server, call, error, finish, sse, text, whole},
};

fn args(line: &str) -> Ask {
    let words = ["letterpress", "ask"].into_iter().chain(line.split(' '));
    let Ok(cli::Invocation { command: Command::Ask(ask), .. }) = cli::parse_from(words) else {
        panic!("{line}")
    };
    ask
}

/// The lines of stdout, and what stands on stderr in the end.
fn ask_with(engine: &Engine, choice: &Choice, line: &str) -> (String, Result<(), String>) {
    let mut out = Vec::new();
    let draft = Draft::text(Ticket(1), "hello");
    let desk = Desk { out: &mut out, is_terminal: false, bench: None, user: None, kept: Kept::Not };
    let done = ask::answer(engine, choice, &args(line), draft, desk);
    (String::from_utf8(out).unwrap(), done.map_err(|error| error.to_string()))
}

fn ask_server(acts: Vec<Vec<Act>>, line: &str) -> (String, Result<(), String>) {
    let server = Server::new(acts);
    let endpoint = Endpoint::new("test", Wire::Chat, &server.base).unwrap();
    let choice = Choice {
        name: "test".into(),
        provider: Provider::Endpoint(Arc::new(endpoint)),
        model: "m".into(),
        reason: Reason::Named,
    };
    ask_with(&engine(limits()), &choice, line)
}

/// The events, with neighbouring deltas of a kind put together: where they are cut is chance.
fn events(out: &str) -> Vec<Value> {
    let mut events: Vec<Value> = Vec::new();
    for line in out.lines() {
        let event: Value = serde_json::from_str(line).unwrap();
        let last = events.last_mut().filter(|last| last["type"] == event["type"]);
        match (last, event["delta"].as_str()) {
            (Some(last), Some(delta)) => {
                last["delta"] = json!(format!("{}{delta}", last["delta"].as_str().unwrap()));
            }
            _ => events.push(event),
        }
    }
    events
}

#[test]
fn the_demo_prints_what_it_always_prints() {
    let demo = Choice { provider: Provider::Demo(Pace::AtOnce), ..Choice::demo(Reason::Named) };
    let engine = Engine::start(Config::new(|| 1_777_629_601_002)).unwrap();
    let (out, done) = ask_with(&engine, &demo, "--json hello");
    assert_eq!(done, Ok(()));
    let lines: Vec<_> = events(&out).iter().map(Value::to_string).collect();
    let printed = lines.join("\n") + "\n";
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpora/ask/demo.jsonl");
    if std::env::var_os("LETTERPRESS_BLESS").is_some() {
        std::fs::write(file, &printed).unwrap();
    }
    assert_eq!(printed, std::fs::read_to_string(file).unwrap());

    let (out, done) = ask_with(&engine, &demo, "hello");
    assert_eq!(done, Ok(()));
    assert!(out.starts_with("This is a recording.") && out.ends_with("the program again.\n"));
    assert!(!out.contains("The reader has opened"), "reasoning is no part of the answer");
}

#[test]
fn every_kind_of_event_has_its_line() {
    let calls = vec![
        sse(),
        Act::Send(crate::live::server::reasoning("hm")),
        Act::Send(text("Looking.")),
        Act::Send(b"data: {broken\n\n".to_vec()),
        Act::Send(call(0, Some("ls"), "{\"path\": \".\"}")),
        Act::Send(finish("tool_calls")),
        Act::Finish,
    ];
    let (out, done) = ask_server(vec![calls, whole(&["Sorry."])], "--json hello");
    assert_eq!(done, Ok(()));
    let events = events(&out);
    let mut kinds: Vec<_> = events.iter().map(|event| event["type"].as_str().unwrap()).collect();
    assert_eq!(kinds.pop(), Some("end"), "it comes last");
    let at = |kind: &str| kinds.iter().position(|k| *k == kind).unwrap();
    assert_eq!(events[at("reasoning")]["delta"], "hm");
    assert_eq!(events[at("text")]["delta"], "Looking.");
    assert_eq!(events[at("warning")]["code"], "bad_json");
    let call = &events[at("tool_call")];
    assert_eq!((&call["name"], &call["arguments"]), (&json!("ls"), &json!({"path": "."})));
    let result = &events[at("tool_result")];
    assert_eq!((&result["id"], &result["is_error"]), (&call["id"], &json!(true)));
    assert!(result["text"].as_str().unwrap().contains("no tool of this name"));
    assert!(at("tool_call") < at("tool_result"));
    let end = events.last().unwrap();
    assert_eq!(
        (&end["state"], &end["reason"], &end["error"]),
        (&json!("complete"), &json!("stop"), &Value::Null)
    );
    assert_eq!(end["message"]["parts"], json!([{"type": "text", "text": "Sorry."}]));
    assert_eq!(end["usage"]["output"], 10, "of the whole turn");
}

#[test]
fn only_a_complete_answer_is_a_success() {
    let cut = || vec![sse(), Act::Send(text("half")), Act::Finish];
    let lost = || vec![sse(), Act::Send(text("half")), Act::Sleep(50), Act::Reset];
    let cases = [
        (error(401, "bad key", vec![]), "failed", json!("auth"), "the key was not accepted"),
        (cut(), "incomplete", json!("eof"), "cut off"),
        (lost(), "interrupted", json!("io"), "connection was lost"),
    ];
    for (acts, state, reason, words) in cases {
        let (out, done) = ask_server(vec![acts.clone()], "--json hello");
        let error = done.unwrap_err();
        assert!(error.contains(words) && error.lines().count() == 1, "{error}");
        let end = events(&out).pop().unwrap();
        assert_eq!((&end["state"], &end["reason"]), (&json!(state), &reason));
        assert_eq!(end["error"].is_null(), state == "incomplete");
        let (out, done) = ask_server(vec![acts], "hello");
        assert_eq!(out, if state == "failed" { "" } else { "half\n" });
        assert!(done.is_err());
    }
}

#[test]
fn a_reader_that_has_had_enough_is_no_failure() {
    struct Gone;
    impl std::io::Write for Gone {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let demo = Choice { provider: Provider::Demo(Pace::AtOnce), ..Choice::demo(Reason::Named) };
    let engine = Engine::start(Config::new(|| 0)).unwrap();
    let draft = Draft::text(Ticket(1), "hello");
    let desk =
        Desk { out: &mut Gone, is_terminal: false, bench: None, user: None, kept: Kept::Not };
    assert!(ask::answer(&engine, &demo, &args("hello"), draft, desk).is_ok());
}

#[test]
fn a_terminal_is_not_spoken_to() {
    let server = Server::new(vec![whole(&["a\u{1b}]0;owned\u{7}b"])]);
    let endpoint = Endpoint::new("test", Wire::Chat, &server.base).unwrap();
    let provider = Provider::Endpoint(Arc::new(endpoint));
    let choice = Choice { provider, name: "test".into(), ..Choice::demo(Reason::Named) };
    let mut out = Vec::new();
    let draft = Draft::text(Ticket(1), "hello");
    let desk = Desk { out: &mut out, is_terminal: true, bench: None, user: None, kept: Kept::Not };
    ask::answer(&engine(limits()), &choice, &args("hello"), draft, desk).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), "a\u{241b}]0;owned\u{2407}b\n");
}

fn nothing(_: &str) -> Option<String> {
    None
}

fn sources(variable: fn(&str) -> Option<String>) -> Sources {
    Sources::new(Arc::new(variable), Keys::default(), Live::default())
}

fn choose(line: &str, variable: fn(&str) -> Option<String>) -> Result<Choice, String> {
    let engine = Engine::start(Config::new(|| 0)).unwrap();
    let flags = args(line).provider;
    let chosen = engine.block_on(providers::choose(&engine.http(), &flags, &sources(variable)));
    chosen.map_err(|error| error.to_string())
}

#[test]
fn a_named_provider_is_taken_or_says_what_it_lacks() {
    let keys: fn(&str) -> Option<String> = |name| match name {
        "ANTHROPIC_API_KEY" => Some("sk-secret".into()),
        _ => None,
    };
    let choice = choose("--provider anthropic --model m x", keys).unwrap();
    assert_eq!((&*choice.name, &*choice.model, choice.reason), ("anthropic", "m", Reason::Named));
    let Provider::Endpoint(endpoint) = &choice.provider else { panic!("{choice:?}") };
    assert!(endpoint.key.is_some() && !format!("{choice:?}").contains("sk-secret"));

    let error = choose("--provider anthropic --model m x", nothing).unwrap_err();
    assert!(error.contains("ANTHROPIC_API_KEY"), "{error}");
    let error = choose("--provider nobody x", nothing).unwrap_err();
    assert!(error.contains("there is no provider") && error.contains("gemini"), "{error}");
    let error = choose("--provider openai --base-url ftp://host --model m x", nothing).unwrap_err();
    assert!(error.contains("address"), "{error}");
    assert!(choose("--provider demo x", keys).unwrap().provider.is_demo());
}

#[test]
fn an_address_is_enough() {
    let list = json!({"data": [{"id": "first"}, {"id": "second"}]}).to_string();
    let list = vec![
        Act::Head(200, vec![("content-type", "application/json")]),
        Act::Send(list.into_bytes()),
        Act::Finish,
    ];
    let server = Server::new(vec![list]);
    let choice = choose(&format!("--base-url {}/v1 x", server.base), nothing).unwrap();
    assert_eq!((&*choice.name, &*choice.model), ("openai", "first"), "the first one it lists");
}

#[test]
fn the_first_key_counts() {
    let keys: fn(&str) -> Option<String> = |name| match name {
        "GROQ_API_KEY" | "MISTRAL_API_KEY" => Some("k".into()),
        _ => None,
    };
    let choice = choose("--model m x", keys).unwrap();
    assert_eq!((&*choice.name, choice.reason), ("groq", Reason::KeyFound));
}

#[test]
fn the_table_names_variables_and_shows_no_key() {
    let keys: fn(&str) -> Option<String> = |name| match name {
        "OPENAI_API_KEY" => Some("sk-secret".into()),
        "ANTHROPIC_BASE_URL" => Some("https://me:hidden@proxy.example/anthropic?key=hidden".into()),
        // A port of this machine where nobody answers.
        "OPENAI_BASE_URL" | "OLLAMA_HOST" => Some("http://127.0.0.1:9".into()),
        _ => None,
    };
    let engine = Engine::start(Config::new(|| 0)).unwrap();
    let begun = letterpress::perf::now();
    let table = engine
        .block_on(providers::describe(&Http::new(&HttpConfig::default()).unwrap(), &sources(keys)));
    assert!(begun.elapsed().as_secs_f64() < 3.0, "{:?}", begun.elapsed());
    assert!(!table.contains("secret") && !table.contains("hidden"), "{table}");
    assert!(table.contains("OPENAI_API_KEY is set") && table.contains("GROQ_API_KEY is not set"));
    assert!(table.contains("https://proxy.example/anthropic") && table.contains("127.0.0.1:9"));
    assert!(table.contains("With none named, openai would answer"), "{table}");
    for name in ["anthropic", "ollama", "llama.cpp", "lmstudio", "demo"] {
        assert!(table.lines().any(|line| line.starts_with(name)), "{name}");
    }
}

#[test]
fn flags_become_settings() {
    let line = "--system Briefly. --max-tokens 5 --no-save --tools none hello there";
    let args = args(line);
    assert_eq!(args.prompt, ["hello", "there"]);
    let settings = Choice::demo(Reason::Named).settings(&args.provider);
    assert_eq!((settings.system.as_deref(), settings.max_tokens), (Some("Briefly."), Some(5)));
    assert!(settings.is_demo);
    assert_eq!(ProviderFlags::default().provider, None);
}
