//! A server whose every byte a test decides, one connection after the other.

use std::{
    io::{Read as _, Write as _},
    net::{TcpListener, TcpStream},
    time::Duration,
};

/// Waits for a connection so long.
const PATIENCE: Duration = Duration::from_secs(20);

pub(crate) struct Server {
    listener: TcpListener,
    stream: Option<TcpStream>,
}

/// The beginning of a response, or all of it.
pub(crate) struct Answer {
    bytes: Vec<u8>,
    is_whole: bool,
}

impl Answer {
    /// A head whose body ends with the connection.
    pub(crate) fn head(status: u16, headers: &str) -> Self {
        let head = format!("HTTP/1.1 {status} X\r\n{headers}connection: close\r\n\r\n");
        Self { bytes: head.into_bytes(), is_whole: false }
    }

    pub(crate) fn whole(status: u16, headers: &str, body: &[u8]) -> Self {
        let length = body.len();
        let head = format!(
            "HTTP/1.1 {status} X\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n"
        );
        Self { bytes: [head.as_bytes(), body].concat(), is_whole: true }
    }
}

impl Server {
    pub(crate) fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        Self { listener, stream: None }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.listener.local_addr().expect("a port"))
    }

    /// Takes the next connection and answers it. Gives the request in lower case names.
    pub(crate) fn answer(&mut self, answer: &Answer) -> String {
        let (mut stream, _) = self.listener.accept().expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a socket");
        stream.set_nodelay(true).expect("a socket");
        let mut request = Vec::new();
        let mut byte = [0];
        while !request.ends_with(b"\r\n\r\n") {
            stream.read_exact(&mut byte).expect("a request");
            request.push(byte[0]);
        }
        stream.write_all(&answer.bytes).expect("a connection");
        self.stream = (!answer.is_whole).then_some(stream);
        String::from_utf8(request).expect("a request")
    }

    pub(crate) fn send(&mut self, bytes: &[u8]) {
        self.stream.as_mut().expect("a connection").write_all(bytes).expect("a connection");
    }

    pub(crate) fn close(&mut self) {
        self.stream = None;
    }

    /// Ends the connection as a crash would.
    pub(crate) fn reset(&mut self) {
        if let Some(stream) = self.stream.take() {
            let socket = tokio::runtime::Builder::new_current_thread().enable_io().build();
            let runtime = socket.expect("a runtime");
            let _guard = runtime.enter();
            stream.set_nonblocking(true).expect("a socket");
            let stream = tokio::net::TcpStream::from_std(stream).expect("a socket");
            stream.set_zero_linger().expect("a socket");
        }
    }
}
