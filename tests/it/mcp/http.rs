//! Addresses: headers, sign-in, sessions that expire.

use std::{collections::BTreeMap, sync::Arc};

use letterpress::tools::mcp::{CallError, Limits, Pins, ServerState, Servers};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};

use super::bench::{accept, call, limits, servers, tool};

const SECRET: &str = "sk-CANARY-0123456789";

/// A server at an address of this machine.
struct Site {
    url: String,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// What everything is answered with, instead of an answer.
    instead: Option<Reply>,
    /// The session that is known.
    session: Option<String>,
    sessions: usize,
    /// What an unknown session is told: 404 as it should be, or 400 as some do.
    unknown: u16,
    /// A call's stream breaks off once before the answer.
    breaks: bool,
    /// Method, protocol method, headers.
    requests: Vec<(String, String, BTreeMap<String, String>)>,
}

impl Site {
    async fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp?key={SECRET}", listener.local_addr().unwrap());
        let state = Arc::new(Mutex::new(State { unknown: 404, ..State::default() }));
        let shared = Arc::clone(&state);
        tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                tokio::spawn(serve(stream, Arc::clone(&shared)));
            }
        });
        Self { url, state }
    }

    fn servers(&self, limits: Limits) -> Servers {
        let headers = json!({ "Authorization": format!("Bearer {SECRET}"), "X-Team": "press" });
        let entry = json!({ "s": { "url": self.url, "headers": headers } });
        servers(entry, Pins::default(), limits)
    }

    fn count(&self, method: &str) -> usize {
        self.state.lock().requests.iter().filter(|(_, inner, _)| inner == method).count()
    }
}

async fn serve(mut stream: TcpStream, state: Arc<Mutex<State>>) {
    let mut bytes = Vec::new();
    let (head, length) = loop {
        let mut piece = [0; 4096];
        let count = stream.read(&mut piece).await.unwrap_or(0);
        if count == 0 {
            return;
        }
        bytes.extend_from_slice(&piece[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.to_ascii_lowercase().lines().find_map(|line| {
            line.strip_prefix("content-length: ").and_then(|value| value.parse::<usize>().ok())
        });
        let length = length.unwrap_or(0);
        if body.len() >= length {
            break (head.to_owned(), bytes.len() - length);
        }
    };
    let body: Value = serde_json::from_slice(&bytes[length..]).unwrap_or_default();
    let mut lines = head.lines();
    let method = lines.next().unwrap().split(' ').next().unwrap().to_owned();
    let headers: BTreeMap<String, String> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let inner = body["method"].as_str().unwrap_or_default().to_owned();
    let (status, more, text) = {
        let mut state = state.lock();
        state.requests.push((method.clone(), inner.clone(), headers.clone()));
        reply(&mut state, &method, &inner, &body, &headers)
    };
    let more: String = more.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let response = format!(
        "HTTP/1.1 {status} X\r\n{more}Content-Length: {}\r\nConnection: close\r\n\r\n{text}",
        text.len()
    );
    // Whoever asked may be gone.
    stream.write_all(response.as_bytes()).await.ok();
}

type Reply = (u16, Vec<(&'static str, String)>, String);

fn reply(
    state: &mut State,
    method: &str,
    inner: &str,
    body: &Value,
    headers: &BTreeMap<String, String>,
) -> Reply {
    if let Some(instead) = &state.instead {
        return instead.clone();
    }
    let kind = |kind: &str| ("Content-Type", kind.to_owned());
    let json = |body: &Value| (200, vec![kind("application/json")], body.to_string());
    let answer = |result: Value| json!({ "jsonrpc": "2.0", "id": body["id"], "result": result });
    if inner == "initialize" {
        state.sessions += 1;
        let session = format!("session-{}", state.sessions);
        state.session = Some(session.clone());
        let result = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": { "tools": {} },
            "serverInfo": { "name": "site", "version": "1" },
        });
        let (status, mut more, text) = json(&answer(result));
        more.push(("Mcp-Session-Id", session));
        return (status, more, text);
    }
    if headers.get("mcp-session-id") != state.session.as_ref() {
        let error =
            json!({ "jsonrpc": "2.0", "error": { "code": -32000, "message": "No valid session" } });
        return (state.unknown, vec![kind("application/json")], error.to_string());
    }
    match (method, inner) {
        ("GET", _) => match headers.get("last-event-id").map(String::as_str) {
            Some(id) if id.starts_with("call-") => {
                let id: u64 = id.trim_start_matches("call-").parse().unwrap();
                let result = json!({ "content": [{ "type": "text", "text": "resumed" }] });
                let message = json!({ "jsonrpc": "2.0", "id": id, "result": result });
                (200, vec![kind("text/event-stream")], format!("id: end\ndata: {message}\n\n"))
            }
            _ => (405, vec![], String::new()),
        },
        ("DELETE", _) => (200, vec![], String::new()),
        (_, "tools/list") => json(&answer(json!({ "tools": [tool("echo")] }))),
        (_, "tools/call") if state.breaks => {
            // The stream ends after its first event, which has no data.
            let events = format!("id: call-{}\nretry: 10\ndata:\n\n", body["id"]);
            (200, vec![kind("text/event-stream")], events)
        }
        (_, "tools/call") => {
            let result = json!({ "content": [{ "type": "text", "text": state.session }] });
            json(&answer(result))
        }
        _ => (202, vec![], String::new()),
    }
}

#[tokio::test]
async fn headers_travel_and_the_session_is_kept() {
    let site = Site::new().await;
    let servers = site.servers(limits());
    accept(&servers, "s").await;
    let outcome = call(&servers, "s__echo", json!({})).await.unwrap();
    assert_eq!(outcome.text(), "session-1");
    for (method, inner, headers) in &site.state.lock().requests {
        assert_eq!(headers["authorization"], format!("Bearer {SECRET}"), "{method} {inner}");
        assert_eq!(headers["x-team"], "press");
    }
    servers.shut_down().await;
    let state = site.state.lock();
    assert!(state.requests.iter().any(|(method, ..)| method == "DELETE"), "the session is ended");
}

#[tokio::test]
async fn a_session_that_expired_is_begun_again() {
    // As the specification says, and as some servers do instead.
    for unknown in [404, 400] {
        let site = Site::new().await;
        site.state.lock().unknown = unknown;
        let servers = site.servers(limits());
        accept(&servers, "s").await;
        site.state.lock().session = Some("another".into());
        let outcome = call(&servers, "s__echo", json!({})).await;
        assert_eq!(outcome.unwrap().text(), "session-2", "{unknown}");
        assert_eq!(site.count("tools/call"), 1, "{unknown}: the call itself ran once");
        servers.shut_down().await;
    }
}

#[tokio::test]
async fn a_stream_that_breaks_off_is_resumed() {
    let site = Site::new().await;
    let servers = site.servers(limits());
    accept(&servers, "s").await;
    site.state.lock().breaks = true;
    let outcome = call(&servers, "s__echo", json!({})).await.unwrap();
    assert_eq!(outcome.text(), "resumed");
    assert_eq!(site.count("tools/call"), 1);
    servers.shut_down().await;
}

#[tokio::test]
async fn errors_say_what_is_wrong_and_never_a_secret() {
    let echo = format!("you sent Bearer {SECRET} to /mcp?key={SECRET}");
    let challenge = vec![("WWW-Authenticate", format!("Bearer realm=\"{SECRET}\""))];
    let cases = [
        ((401, challenge, String::new()), "asks for a sign-in (401)"),
        ((401, vec![], echo.clone()), "asks for a sign-in (401)"),
        ((403, vec![("WWW-Authenticate", "Bearer scope=\"x\"".into())], String::new()), "(403)"),
        ((500, vec![], echo.clone()), "status 500"),
        ((400, vec![], echo.clone()), "400"),
        ((307, vec![("Location", "http://localhost:9/".into())], echo.clone()), "307"),
        ((200, vec![("Content-Type", "text/html".into())], echo), "text/html"),
    ];
    for (instead, words) in cases {
        let site = Site::new().await;
        let servers = site.servers(limits());
        let Err(CallError::NotAccepted(acceptance)) = servers.start("s").await else { panic!() };
        servers.accept_start("s", acceptance.launch.digest()).unwrap();
        let status = instead.0;
        site.state.lock().instead = Some(instead);
        let error = servers.start("s").await.unwrap_err();
        let all = format!("{error} {error:?} {:?} {:?}", servers.overview(), servers.log("s"));
        assert!(all.contains(words), "{status}: {all}");
        assert!(!all.contains("CANARY"), "{status}: {all}");
    }
}

#[tokio::test]
async fn an_error_in_mid_session_ends_the_call_alone() {
    let site = Site::new().await;
    let servers = site.servers(limits());
    accept(&servers, "s").await;
    site.state.lock().instead = Some((500, vec![], format!("oh {SECRET}")));
    let error = call(&servers, "s__echo", json!({})).await.unwrap_err();
    assert_eq!(error, CallError::NotSent("it answered with status 500".into()));
    site.state.lock().instead = None;
    assert_eq!(call(&servers, "s__echo", json!({})).await.unwrap().text(), "session-1");
    servers.shut_down().await;
}

#[tokio::test]
async fn an_address_that_nobody_answers_says_so() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let entry = json!({ "s": { "url": format!("http://127.0.0.1:{port}/?key={SECRET}") } });
    let servers = servers(entry, Pins::default(), limits());
    let Err(CallError::NotAccepted(acceptance)) = servers.start("s").await else { panic!() };
    servers.accept_start("s", acceptance.launch.digest()).unwrap();
    let error = servers.start("s").await.unwrap_err().to_string();
    assert!(error.contains("refused") && !error.contains("CANARY"), "{error}");
    assert!(matches!(servers.overview()[0].state, ServerState::Failed(_)));
}

#[tokio::test]
async fn what_would_travel_in_the_clear_is_not_spoken_to() {
    for (url, words) in [
        ("http://example.com/mcp", "neither https nor in your own network"),
        ("https://user:word@example.com/", "holds a password"),
        ("http://10.0.0.1.example.com/", "neither https nor in your own network"),
        ("${LETTERPRESS_NO_SUCH_ADDRESS:-ftp://a}", "neither https nor http"),
    ] {
        let servers = servers(json!({ "s": { "url": url } }), Pins::default(), limits());
        let Err(CallError::NotAccepted(acceptance)) = servers.start("s").await else { panic!() };
        servers.accept_start("s", acceptance.launch.digest()).unwrap();
        let error = servers.start("s").await.unwrap_err().to_string();
        assert!(error.contains(words), "{url}: {error}");
    }
}
