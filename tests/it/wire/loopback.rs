//! Real sockets: a server in this process that does what it is told, well or badly.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use letterpress::{
    model::{
        Message, MessageId, Part, Role, SourceLine, Text,
        stream::{EndState, ErrorClass, Interruption, OptionalField, Retry, StreamEvent, Wire},
    },
    wire::{
        Endpoint, Http, HttpConfig, Key, Plan, Request, Timeouts, Turn, attempt,
        demo::{self, Pace},
        models, plan,
    },
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    sync::{mpsc, oneshot},
    task::JoinHandle,
    time::{sleep, timeout},
};

use super::{
    told::{Chance, Told},
    vectors::{self, Vector},
};

/// What the server does after it has read a request.
#[derive(Clone, Debug)]
enum Act {
    /// Sends bytes as they are.
    Send(Vec<u8>),
    /// Sends a chunk of a chunked body.
    Chunk(Vec<u8>),
    /// Ends a chunked body.
    LastChunk,
    Sleep(u64),
    /// Resets the connection.
    Reset,
    /// Closes the connection in good order.
    Close,
    /// Sends a chunk every few milliseconds for as long as anybody listens.
    Repeat(Vec<u8>),
    /// Says when the other side closed the connection.
    AwaitClose(Arc<parking::Slot>),
}

/// A place to leave something in.
mod parking {
    #[derive(Debug, Default)]
    pub(super) struct Slot(pub(super) tokio::sync::Notify);
}

struct Server {
    base: String,
    /// The requests it got, head and body.
    requests: mpsc::Receiver<String>,
    task: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A server that answers one connection after the other with these acts.
async fn serve(answers: Vec<Vec<Act>>) -> Server {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    let (sender, requests) = mpsc::channel(64);
    let task = tokio::spawn(async move {
        for acts in answers {
            let (stream, _) = listener.accept().await.unwrap();
            stream.set_nodelay(true).unwrap();
            answer(stream, acts, &sender).await;
        }
    });
    Server { base, requests, task }
}

async fn answer(mut stream: TcpStream, acts: Vec<Act>, requests: &mpsc::Sender<String>) {
    requests.send(read_request(&mut stream).await).await.unwrap();
    for act in acts {
        let sent = match act {
            Act::Send(bytes) => stream.write_all(&bytes).await,
            Act::Chunk(bytes) => stream.write_all(&chunk(&bytes)).await,
            Act::LastChunk => stream.write_all(b"0\r\n\r\n").await,
            Act::Sleep(ms) => {
                sleep(Duration::from_millis(ms)).await;
                Ok(())
            }
            Act::Reset => {
                stream.set_zero_linger().unwrap();
                return;
            }
            Act::Close => return,
            Act::Repeat(bytes) => loop {
                if let Err(error) = stream.write_all(&chunk(&bytes)).await {
                    break Err(error);
                }
                sleep(Duration::from_millis(5)).await;
            },
            Act::AwaitClose(slot) => {
                let closed = stream.read(&mut [0; 16]).await;
                assert!(matches!(closed, Ok(0) | Err(_)), "nothing more is asked");
                slot.0.notify_one();
                return;
            }
        };
        // The other side may leave whenever it has enough.
        if sent.is_err() {
            return;
        }
    }
    stream.shutdown().await.ok();
    // Not closed before the other side is, so that nothing of the answer is lost.
    timeout(Duration::from_secs(2), stream.read(&mut [0; 16])).await.ok();
}

fn chunk(bytes: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

async fn read_request(stream: &mut TcpStream) -> String {
    let mut request = Vec::new();
    loop {
        let mut piece = [0; 4096];
        let len = stream.read(&mut piece).await.unwrap();
        request.extend_from_slice(&piece[..len]);
        let text = String::from_utf8_lossy(&request).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            if len == 0 {
                return text;
            }
            continue;
        };
        let length = head.to_ascii_lowercase().lines().find_map(|line| {
            line.strip_prefix("content-length:").and_then(|n| n.trim().parse::<usize>().ok())
        });
        if len == 0 || body.len() >= length.unwrap_or(0) {
            return text;
        }
    }
}

fn head(status: u16, headers: &[(&str, &str)]) -> Act {
    let mut head = format!("HTTP/1.1 {status} X\r\ntransfer-encoding: chunked\r\n");
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    Act::Send((head + "\r\n").into_bytes())
}

fn sse() -> Act {
    head(200, &[("content-type", "text/event-stream")])
}

fn text_event(text: &str) -> Vec<u8> {
    let delta = serde_json::json!({"choices": [{"index": 0, "delta": {"content": text}}]});
    format!("data: {delta}\n\n").into_bytes()
}

fn finished() -> Vec<u8> {
    b"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n".to_vec()
}

fn http() -> Http {
    Http::new(&HttpConfig::default()).unwrap()
}

fn request() -> Request {
    let message = Message {
        id: MessageId(0),
        key: "".into(),
        role: Role::User,
        timestamp_ms: None,
        model: None,
        parts: vec![Part::Text(Text::unparsed("hello"))],
        stop: None,
        error: None,
        usage: None,
        line: SourceLine(0),
    };
    Request { model: "m".into(), turns: vec![Turn::from(Arc::new(message))], ..Request::default() }
}

/// Short enough for tests, long enough for a busy machine.
fn quick() -> Timeouts {
    Timeouts {
        head: Duration::from_millis(600),
        head_private: Duration::from_millis(600),
        idle: Duration::from_millis(500),
        first_progress: Duration::from_secs(5),
        progress: Duration::from_secs(5),
        grace: Duration::from_millis(150),
        total: Duration::from_secs(60),
    }
}

/// Asks, and gathers all events.
async fn ask(endpoint: &Endpoint, timeouts: &Timeouts) -> Vec<StreamEvent> {
    ask_for(endpoint, &request(), timeouts).await
}

async fn ask_for(endpoint: &Endpoint, request: &Request, timeouts: &Timeouts) -> Vec<StreamEvent> {
    let (sender, mut receiver) = mpsc::channel(4);
    let http = http();
    let gather = async {
        let mut events = Vec::new();
        while let Some(event) = receiver.recv().await {
            let last = matches!(event, StreamEvent::End(_));
            events.push(event);
            if last {
                break;
            }
        }
        events
    };
    let (end, events) = tokio::join!(attempt(&http, endpoint, request, timeouts, &sender), gather);
    assert_eq!(
        events.last(),
        end.map(StreamEvent::End).as_ref(),
        "the end is passed on and returned"
    );
    events
}

fn at(server: &Server, wire: Wire) -> Endpoint {
    Endpoint::new("test", wire, &server.base).unwrap()
}

#[tokio::test]
async fn every_vector_over_a_socket() {
    let Some(vectors) = vectors::load("provider_vectors.json") else { return };
    let mut failures = Vec::new();
    for value in &vectors {
        let vector = Vector::of(value);
        let headers: Vec<_> = vector.headers();
        let mut acts = vec![head(vector.status(), &headers)];
        acts.extend(vector.chunks().iter().filter(|c| !c.is_empty()).cloned().map(Act::Chunk));
        acts.extend(match vector.end() {
            "eof" => vec![Act::LastChunk],
            "reset" => vec![Act::Sleep(50), Act::Reset],
            "heartbeats:forever" => vec![Act::Repeat(b": heartbeat\n\n".to_vec())],
            _ => vec![Act::Sleep(5_000)],
        });
        let server = serve(vec![acts]).await;
        let begun = Instant::now();
        let events = ask(&at(&server, vector.source().wire), &quick()).await;
        failures.extend(vector.check(&Told::of(&events)));
        assert!(begun.elapsed() < Duration::from_secs(3), "{} is closed by us", vector.id());
    }
    println!("{} vectors over sockets", vectors.len());
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[tokio::test]
async fn pieces_of_any_size_arrive_whole() {
    let mut body = Vec::new();
    for word in ["你好", "🌍", " é", "plain "].iter().cycle().take(200) {
        body.extend(text_event(word));
    }
    body.extend(finished());
    let expected = "你好🌍 éplain ".repeat(50);
    for seed in 0..4 {
        let mut chance = Chance(seed);
        let mut acts = vec![sse()];
        let pieces: Vec<_> = if seed == 0 { body.chunks(1).collect() } else { chance.cut(&body) };
        for piece in pieces.into_iter().filter(|piece| !piece.is_empty()) {
            acts.push(Act::Chunk(piece.to_vec()));
            if chance.below(400) == 0 {
                acts.push(Act::Sleep(20));
            }
        }
        acts.push(Act::LastChunk);
        let server = serve(vec![acts]).await;
        let told = Told::of(&ask(&at(&server, Wire::Chat), &quick()).await);
        assert_eq!(told.text, expected, "seed {seed}");
        assert_eq!(told.end().name(), "complete");
    }
}

#[tokio::test]
async fn a_silent_server_is_given_up() {
    let server = serve(vec![vec![Act::Sleep(5_000)]]).await;
    let told = Told::of(&ask(&at(&server, Wire::Chat), &quick()).await);
    assert_eq!((told.error().class, told.error().retry), (ErrorClass::Timeout, Retry::Never));

    let acts = vec![sse(), Act::Chunk(text_event("a")), Act::Sleep(5_000)];
    let server = serve(vec![acts]).await;
    let told = Told::of(&ask(&at(&server, Wire::Chat), &quick()).await);
    let stalled = EndState::Interrupted { cause: Interruption::Stalled, retry: Retry::Never };
    assert_eq!((told.text.as_str(), told.end()), ("a", &stalled));
}

#[tokio::test]
async fn a_server_that_only_says_that_it_lives_is_given_up_too() {
    let acts = vec![sse(), Act::Chunk(text_event("a")), Act::Repeat(b": alive\n\n".to_vec())];
    let server = serve(vec![acts]).await;
    let timeouts = Timeouts { progress: Duration::from_millis(400), ..quick() };
    let told = Told::of(&ask(&at(&server, Wire::Chat), &timeouts).await);
    assert!(told.keep_alives > 3);
    assert!(matches!(told.end(), EndState::Interrupted { cause: Interruption::Stalled, .. }));
}

#[tokio::test]
async fn a_body_that_is_not_ended_was_interrupted() {
    for end in [Act::Close, Act::Reset] {
        let acts = vec![sse(), Act::Chunk(text_event("a")), Act::Sleep(50), end];
        let server = serve(vec![acts]).await;
        let told = Told::of(&ask(&at(&server, Wire::Chat), &quick()).await);
        assert_eq!(told.text, "a");
        let end = told.end();
        assert!(
            matches!(
                end,
                EndState::Interrupted { cause: Interruption::Io(_), retry: Retry::Never }
            ),
            "{end:?}"
        );
    }
    // Before anything was shown, asking again costs nothing.
    let server = serve(vec![vec![sse(), Act::Sleep(50), Act::Reset]]).await;
    let told = Told::of(&ask(&at(&server, Wire::Chat), &quick()).await);
    assert_eq!(told.end().retry(), Retry::Backoff, "{:?}", told.end());
}

#[tokio::test]
async fn no_connection_is_a_failure_that_may_pass() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let refused = Endpoint::new("x", Wire::Chat, &base).unwrap();
    let told = Told::of(&ask(&refused, &quick()).await);
    assert_eq!((told.error().class, told.error().retry), (ErrorClass::Connect, Retry::Backoff));

    // A server that speaks no TLS, and one that leaves in the middle of the handshake.
    for answer in ["HTTP/1.1 400 Bad Request\r\n\r\n", ""] {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base = format!("https://{}", listener.local_addr().unwrap());
        let server = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            let hello = stream.read(&mut [0; 4096]).await.unwrap();
            assert!(hello > 0);
            stream.write_all(answer.as_bytes()).await.unwrap();
        });
        let endpoint = Endpoint::new("x", Wire::Chat, &base).unwrap();
        let told = Told::of(&ask(&endpoint, &quick()).await);
        assert_eq!(told.error().class, ErrorClass::Connect, "{:?}", told.end());
        server.await.unwrap();
    }
}

#[tokio::test]
async fn a_busy_server_is_asked_again_after_the_pause_it_wants() {
    let body = b"{\"error\":{\"message\":\"slow down\"}}".to_vec();
    let busy = vec![
        head(429, &[("retry-after", "0.2"), ("x-request-id", "req_1")]),
        Act::Chunk(body),
        Act::LastChunk,
    ];
    let fine = vec![sse(), Act::Chunk(text_event("a")), Act::Chunk(finished()), Act::LastChunk];
    let server = serve(vec![busy, fine]).await;
    let endpoint = at(&server, Wire::Chat);
    let first = Told::of(&ask(&endpoint, &quick()).await);
    assert_eq!(first.error().class, ErrorClass::RateLimit);
    assert_eq!(first.error().request_id.as_deref(), Some("req_1"));
    let Plan::Wait(pause) = plan(first.end(), 1, &[], 0.5) else { panic!("it may pass") };
    assert_eq!(pause, Duration::from_millis(200));
    sleep(pause).await;
    let second = Told::of(&ask(&endpoint, &quick()).await);
    assert_eq!((second.text.as_str(), plan(second.end(), 2, &[], 0.5)), ("a", Plan::Stop));
}

#[tokio::test]
async fn a_refused_field_is_left_out_the_second_time() {
    let refused = vec![
        head(422, &[("content-type", "application/json")]),
        Act::Chunk(
            b"{\"detail\":[{\"loc\":[\"body\",\"stream_options\"],\"msg\":\"extra\"}]}".to_vec(),
        ),
        Act::LastChunk,
    ];
    let fine = vec![sse(), Act::Chunk(text_event("a")), Act::Chunk(finished()), Act::LastChunk];
    let mut server = serve(vec![refused, fine]).await;
    let endpoint = at(&server, Wire::Chat);
    let told = Told::of(&ask(&endpoint, &quick()).await);
    let Plan::ResendWithout(field) = plan(told.end(), 1, &[], 0.5) else {
        panic!("{:?}", told.end())
    };
    assert_eq!(field, OptionalField::StreamOptions);
    let again = Request { without: vec![field], ..request() };
    let told = Told::of(&ask_for(&endpoint, &again, &quick()).await);
    assert_eq!(told.text, "a");
    assert!(server.requests.recv().await.unwrap().contains("stream_options"));
    assert!(!server.requests.recv().await.unwrap().contains("stream_options"));
}

/// The socket is closed within a tenth of a second, however the reply is given up.
#[tokio::test]
async fn stopping_closes_the_connection_at_once() {
    for stop in ["drop the future", "drop the receiver"] {
        let slot = Arc::new(parking::Slot::default());
        let acts = vec![sse(), Act::Chunk(text_event("a")), Act::AwaitClose(Arc::clone(&slot))];
        let server = serve(vec![acts]).await;
        let endpoint = at(&server, Wire::Chat);
        let (sender, mut receiver) = mpsc::channel(4);
        let (shown, first) = oneshot::channel();
        let task = tokio::spawn(async move {
            let (http, request) = (http(), request());
            attempt(&http, &endpoint, &request, &Timeouts::default(), &sender).await
        });
        let reader = tokio::spawn(async move {
            while !matches!(receiver.recv().await, Some(StreamEvent::Text { .. })) {}
            shown.send(receiver).unwrap();
        });
        let receiver = first.await.unwrap();
        reader.await.unwrap();
        let begun = Instant::now();
        if stop == "drop the future" {
            task.abort();
        } else {
            drop(receiver);
            assert_eq!(task.await.unwrap(), None);
        }
        timeout(Duration::from_secs(5), slot.0.notified()).await.expect("it is closed");
        let took = begun.elapsed();
        println!("{stop}: closed after {took:?}");
        assert!(took < Duration::from_millis(100), "{stop}: {took:?}");
    }
}

/// A server that repeats the key wherever it can: it is nowhere in what we show.
#[tokio::test]
async fn the_key_travels_in_one_header_and_comes_back_nowhere() {
    const KEY: &str = "sk-CANARY-0123456789";
    for wire in Wire::ALL {
        let said = format!("{{\"error\":{{\"message\":\"bad key {KEY}\",\"code\":\"{KEY}\"}}}}");
        let refused = vec![
            head(401, &[("x-request-id", KEY), ("location", KEY)]),
            Act::Chunk(said.clone().into_bytes()),
            Act::LastChunk,
        ];
        let in_stream =
            vec![sse(), Act::Chunk(format!("data: {said}\n\n").into_bytes()), Act::LastChunk];
        let broken =
            vec![Act::Send(format!("HTTP/1.1 999999 {KEY}\r\n{KEY}\r\n\r\n").into_bytes())];
        let mut server = serve(vec![refused, in_stream, broken]).await;
        let endpoint = at(&server, wire).with_key(Key::new(KEY));
        for _ in 0..3 {
            let events = ask(&endpoint, &quick()).await;
            let shown = format!("{events:?} {endpoint:?}");
            assert!(!shown.contains("CANARY"), "{wire:?}: {shown}");
            let sent = server.requests.recv().await.unwrap();
            let (line, rest) = sent.split_once("\r\n").unwrap();
            assert!(!line.contains("CANARY"), "{line}");
            assert_eq!(rest.matches("CANARY").count(), 1, "once, in its header");
        }
    }
}

#[tokio::test]
async fn requests_say_what_they_want() {
    let fine = || vec![sse(), Act::Chunk(finished()), Act::LastChunk];
    let mut server = serve(vec![fine(), fine()]).await;
    let mut endpoint = at(&server, Wire::Anthropic);
    endpoint.headers.push(("anthropic-beta".into(), "a,b".into()));
    ask(&endpoint, &quick()).await;
    let sent = server.requests.recv().await.unwrap().to_ascii_lowercase();
    assert!(sent.starts_with("post /v1/messages http/1.1\r\n"), "{sent}");
    for header in [
        "content-type: application/json",
        "accept: text/event-stream",
        "accept-encoding: identity",
        "anthropic-version: 2023-06-01",
        "anthropic-beta: a,b",
    ] {
        assert!(sent.contains(&format!("{header}\r\n")), "{header} in {sent}");
    }
    endpoint.headers.push(("bad header".into(), "x".into()));
    let told = Told::of(&ask(&endpoint, &quick()).await);
    assert_eq!(told.error().class, ErrorClass::BadRequest);
}

#[tokio::test]
async fn redirects_are_told_and_not_followed() {
    let elsewhere = serve(vec![vec![]]).await;
    let target = format!("{}/secret?token=1", elsewhere.base);
    let server = serve(vec![vec![head(307, &[("location", &target)]), Act::LastChunk]]).await;
    let told = Told::of(&ask(&at(&server, Wire::Chat), &quick()).await);
    assert_eq!(told.error().class, ErrorClass::Redirect);
    assert!(told.error().message.contains("127.0.0.1"));
    assert!(!told.error().message.contains("secret"));
    let mut elsewhere = elsewhere;
    assert!(elsewhere.requests.try_recv().is_err(), "nobody went there");
}

#[tokio::test]
async fn a_slow_reader_slows_the_server_and_loses_nothing() {
    let mut acts = vec![sse()];
    acts.extend((0..200).map(|n| {
        let many: Vec<u8> =
            (0..100).flat_map(|m| text_event(&format!("{} ", n * 100 + m))).collect();
        Act::Chunk(many)
    }));
    acts.extend([Act::Chunk(finished()), Act::LastChunk]);
    let server = serve(vec![acts]).await;
    let endpoint = at(&server, Wire::Chat);
    let (sender, mut receiver) = mpsc::channel(2);
    let timeouts = Timeouts { idle: Duration::from_millis(300), ..quick() };
    let (http, request) = (http(), request());
    let sending = attempt(&http, &endpoint, &request, &timeouts, &sender);
    let reading = async {
        let mut events = Vec::new();
        // Longer than the idle limit: our own slowness is not the server's silence.
        sleep(Duration::from_millis(700)).await;
        while let Some(event) = receiver.recv().await {
            let last = matches!(event, StreamEvent::End(_));
            events.push(event);
            if last {
                break;
            }
        }
        events
    };
    let (end, events) = tokio::join!(sending, reading);
    let told = Told::of(&events);
    assert_eq!(told.text, (0..20_000).map(|n| format!("{n} ")).collect::<String>());
    assert_eq!(end.unwrap().name(), "complete");
}

#[tokio::test]
async fn proxies_stand_before_the_world_but_not_before_this_machine() {
    let fine = || vec![sse(), Act::Chunk(text_event("a")), Act::Chunk(finished()), Act::LastChunk];
    let mut proxy = serve(vec![fine()]).await;
    let direct = serve(vec![fine()]).await;
    let config = HttpConfig { proxy: Some(proxy.base.clone()), ..HttpConfig::default() };
    let http = Http::new(&config).unwrap();
    let remote = Endpoint::new("x", Wire::Chat, "http://models.example/v1").unwrap();
    for endpoint in [remote, at(&direct, Wire::Chat)] {
        let (sender, mut receiver) = mpsc::channel(64);
        let end = attempt(&http, &endpoint, &request(), &quick(), &sender).await.unwrap();
        assert_eq!(end.name(), "complete", "{end:?}");
        receiver.close();
    }
    let through = proxy.requests.recv().await.unwrap();
    assert!(through.starts_with("POST http://models.example/v1/chat/completions"), "{through}");
    let mut direct = direct;
    assert!(direct.requests.recv().await.unwrap().starts_with("POST /chat/completions"));
    assert!(Http::new(&HttpConfig { proxy: Some("::".into()), ..HttpConfig::default() }).is_err());
}

#[tokio::test]
async fn models_are_listed() {
    let listed = vec![
        head(200, &[]),
        Act::Chunk(b"{\"data\":[{\"id\":\"tiny\"},{\"id\":\"big\"}]}".to_vec()),
        Act::LastChunk,
    ];
    let refused = vec![head(401, &[]), Act::Chunk(b"{\"error\":\"no\"}".to_vec()), Act::LastChunk];
    let server = serve(vec![listed, refused]).await;
    let endpoint = at(&server, Wire::Chat);
    let ids: Vec<_> =
        models(&http(), &endpoint).await.unwrap().into_iter().map(|model| model.id).collect();
    assert_eq!(ids, ["tiny", "big"]);
    assert_eq!(models(&http(), &endpoint).await.unwrap_err().class, ErrorClass::Auth);
}

#[tokio::test]
async fn the_demo_plays_like_any_provider() {
    for (asked, shows) in [(1, "This is a recording"), (2, "| composing |"), (3, "```sh")] {
        let mut wanted = request();
        wanted.turns = vec![wanted.turns[0].clone(); asked];
        let (sender, mut receiver) = mpsc::channel(100_000);
        let end = demo::play(&wanted, Pace::AtOnce, &sender).await.unwrap();
        receiver.close();
        let mut events = Vec::new();
        while let Some(event) = receiver.recv().await {
            events.push(event);
        }
        let told = Told::of(&events);
        assert_eq!(end.name(), "complete");
        assert!(told.text.contains(shows), "{asked}");
        assert!(told.warnings.is_empty(), "{:?}", told.warnings);
        assert_eq!(told.calls.len(), usize::from(asked == 1));
        assert_eq!(told.reasoning.is_empty(), asked == 2);
        assert!(told.usage.is_some());
    }
}
