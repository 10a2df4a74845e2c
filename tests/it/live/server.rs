//! A server in this process that does what it is told, well or badly.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
    runtime::{Builder, Runtime},
    sync::{Notify, mpsc},
    time::sleep,
};

/// What the server does after it has read a request.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Sends the head of a response.
    Head(u16, Vec<(&'static str, &'static str)>),
    /// Sends a piece of the body.
    Send(Vec<u8>),
    /// Ends the body.
    Finish,
    Sleep(u64),
    /// Waits until the test says so.
    Await(Arc<Notify>),
    /// Resets the connection.
    Reset,
    /// Waits for the other side to close the connection.
    AwaitClose,
}

pub(crate) struct Server {
    pub(crate) base: String,
    requests: mpsc::Receiver<Value>,
    closed: mpsc::Receiver<Instant>,
    connections: Arc<AtomicUsize>,
    runtime: Option<Runtime>,
}

impl Server {
    /// A server that answers one connection after the other with these acts.
    pub(crate) fn new(answers: Vec<Vec<Act>>) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let (request, requests) = mpsc::channel(64);
        let (close, closed) = mpsc::channel(64);
        let connections = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connections);
        runtime.spawn(async move {
            for acts in answers {
                let (stream, _) = listener.accept().await.unwrap();
                stream.set_nodelay(true).unwrap();
                count.fetch_add(1, Ordering::Relaxed);
                tokio::spawn(answer(stream, acts, request.clone(), close.clone()));
            }
            // Keeps the port, so that nobody else gets it.
            std::future::pending::<()>().await;
        });
        Self { base, requests, closed, connections, runtime: Some(runtime) }
    }

    /// The body of the next request.
    pub(crate) fn request(&mut self) -> Value {
        self.wait(async |server| server.requests.recv().await.unwrap())
    }

    /// When the other side closed a connection that waited for it.
    pub(crate) fn closed(&mut self) -> Instant {
        self.wait(async |server| server.closed.recv().await.unwrap())
    }

    /// How many connections were made.
    pub(crate) fn connections(&self) -> usize {
        self.connections.load(Ordering::Relaxed)
    }

    fn wait<T>(&mut self, work: impl AsyncFnOnce(&mut Self) -> T) -> T {
        let runtime = self.runtime.take().unwrap();
        let limit = Duration::from_secs(20);
        let done = runtime.block_on(async { tokio::time::timeout(limit, work(self)).await });
        self.runtime = Some(runtime);
        done.expect("the server met what it waited for")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn answer(
    mut stream: TcpStream,
    acts: Vec<Act>,
    requests: mpsc::Sender<Value>,
    closed: mpsc::Sender<Instant>,
) {
    requests.send(read_request(&mut stream).await).await.ok();
    for act in acts {
        let sent = match act {
            Act::Head(status, headers) => stream.write_all(&head(status, &headers)).await,
            Act::Send(bytes) => stream.write_all(&chunk(&bytes)).await,
            Act::Finish => stream.write_all(b"0\r\n\r\n").await,
            Act::Sleep(ms) => {
                sleep(Duration::from_millis(ms)).await;
                Ok(())
            }
            Act::Await(word) => {
                word.notified().await;
                Ok(())
            }
            Act::Reset => {
                stream.set_zero_linger().unwrap();
                return;
            }
            Act::AwaitClose => {
                let gone = stream.read(&mut [0; 16]).await;
                assert!(matches!(gone, Ok(0) | Err(_)), "nothing more is asked");
                closed.send(Instant::now()).await.ok();
                return;
            }
        };
        // The other side may leave whenever it has enough.
        if sent.is_err() {
            closed.send(Instant::now()).await.ok();
            return;
        }
    }
    // Not closed before the other side is, so that nothing of the answer is lost.
    stream.shutdown().await.ok();
    let _more = stream.read(&mut [0; 16]).await;
}

fn head(status: u16, headers: &[(&str, &str)]) -> Vec<u8> {
    let mut head =
        format!("HTTP/1.1 {status} X\r\ntransfer-encoding: chunked\r\nconnection: close\r\n");
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    (head + "\r\n").into_bytes()
}

fn chunk(bytes: &[u8]) -> Vec<u8> {
    [format!("{:x}\r\n", bytes.len()).as_bytes(), bytes, b"\r\n"].concat()
}

async fn read_request(stream: &mut TcpStream) -> Value {
    let mut request = Vec::new();
    loop {
        let mut piece = vec![0; 1 << 16];
        let len = stream.read(&mut piece).await.unwrap_or(0);
        request.extend_from_slice(&piece[..len]);
        let text = String::from_utf8_lossy(&request);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            if len == 0 {
                return Value::Null;
            }
            continue;
        };
        let length = head.to_ascii_lowercase().lines().find_map(|line| {
            line.strip_prefix("content-length:").and_then(|n| n.trim().parse::<usize>().ok())
        });
        if len == 0 || body.len() >= length.unwrap_or(0) {
            return serde_json::from_str(body).unwrap_or(Value::Null);
        }
    }
}

/// The head of a stream.
pub(crate) fn sse() -> Act {
    Act::Head(200, vec![("content-type", "text/event-stream")])
}

/// An error with a status.
pub(crate) fn error(
    status: u16,
    words: &str,
    headers: Vec<(&'static str, &'static str)>,
) -> Vec<Act> {
    let body = json!({"error": {"message": words, "type": "x"}}).to_string();
    vec![Act::Head(status, headers), Act::Send(body.into_bytes()), Act::Finish]
}

fn delta(delta: &Value) -> Vec<u8> {
    format!("data: {}\n\n", json!({"choices": [{"index": 0, "delta": delta}]})).into_bytes()
}

pub(crate) fn text(words: &str) -> Vec<u8> {
    delta(&json!({"content": words}))
}

pub(crate) fn reasoning(words: &str) -> Vec<u8> {
    delta(&json!({"reasoning_content": words}))
}

/// A call, or more of its arguments.
pub(crate) fn call(index: u32, name: Option<&str>, arguments: &str) -> Vec<u8> {
    let id = name.map(|_| format!("call_{index}"));
    let function = match name {
        Some(name) => json!({"name": name, "arguments": arguments}),
        None => json!({"arguments": arguments}),
    };
    delta(
        &json!({"tool_calls": [{"index": index, "id": id, "type": "function", "function": function}]}),
    )
}

/// The end of a stream.
pub(crate) fn finish(reason: &str) -> Vec<u8> {
    let last = json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]});
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 10, "completion_tokens": 5}});
    format!("data: {last}\n\ndata: {usage}\n\ndata: [DONE]\n\n").into_bytes()
}

/// A whole answer.
pub(crate) fn whole(words: &[&str]) -> Vec<Act> {
    let mut acts = vec![sse()];
    acts.extend(words.iter().map(|words| Act::Send(text(words))));
    acts.extend([Act::Send(finish("stop")), Act::Finish]);
    acts
}

/// The same numbers for the same seed.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    pub(crate) fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    /// Cuts bytes into pieces: single bytes, small ones and bursts.
    pub(crate) fn cut(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut rest = bytes;
        let mut pieces = Vec::new();
        while !rest.is_empty() {
            let most = [1, 7, 200, 5000][self.below(4)];
            let (piece, after) = rest.split_at((1 + self.below(most)).min(rest.len()));
            pieces.push(piece.to_vec());
            rest = after;
        }
        pieces
    }
}
