//! The protocol over a program's standard input and output: one message a line.

use std::{io, sync::Arc, time::Duration};

use rmcp::{
    RoleClient,
    model::{
        CustomResult, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerResult,
    },
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};
use serde::Deserialize;
use serde_json::Value;
use tokio::{
    io::{AsyncRead, AsyncWrite, AsyncWriteExt as _},
    sync::mpsc,
    time::timeout,
};

use super::{
    environment::Redactor,
    lines::{Line, Lines, response_id},
    log::{Log, LogSource, MAX_LINE},
};

/// Bytes of one message from a server.
const MAX_MESSAGE: usize = 16 << 20;
/// Messages that wait for the server to read.
const MAX_WAITING: usize = 64;
/// For the server to read one message.
const READING: Duration = Duration::from_secs(30);

/// The protocol over a program's standard input and output.
pub(super) struct Stdio<R> {
    lines: Lines<R>,
    /// None once it is closed.
    outgoing: Option<mpsc::Sender<Vec<u8>>>,
    log: Arc<Log>,
    redactor: Redactor,
    /// The answer to `initialize` has come; what answers from then on stays as it came.
    is_initialized: bool,
}

impl<R: AsyncRead + Unpin + Send> Stdio<R> {
    pub(super) fn new(
        read: R,
        write: impl AsyncWrite + Unpin + Send + 'static,
        log: Arc<Log>,
        redactor: Redactor,
    ) -> Self {
        let (outgoing, messages) = mpsc::channel(MAX_WAITING);
        tokio::spawn(write_all(write, messages, Arc::clone(&log)));
        let lines = Lines::new(read, MAX_MESSAGE);
        Self { lines, outgoing: Some(outgoing), log, redactor, is_initialized: false }
    }

    /// What a line says; none when it says nothing that anyone waits for.
    fn understand(&mut self, line: &[u8]) -> Option<RxJsonRpcMessage<RoleClient>> {
        let line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line).trim_ascii();
        if line.is_empty() {
            return None;
        }
        if self.is_initialized
            && let Ok(answer) = serde_json::from_slice::<Answer>(line)
        {
            // Raw, so that a part which is not understood costs that part alone.
            let result = ServerResult::CustomResult(CustomResult(answer.result));
            return Some(JsonRpcMessage::response(result, answer.id));
        }
        match serde_json::from_slice::<ServerJsonRpcMessage>(line) {
            Ok(message) => {
                self.is_initialized |= matches!(message, JsonRpcMessage::Response(_));
                Some(message)
            }
            Err(error) => {
                if let Some(id) = response_id(line, line) {
                    return Some(broken(id, &format!("it is no message: {error}")));
                }
                let text = String::from_utf8_lossy(line.get(..MAX_LINE).unwrap_or(line));
                self.log.push(LogSource::Stdout, &self.redactor.clean(&text));
                None
            }
        }
    }
}

/// An answer as it came. It has no method, and no error.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Answer {
    #[serde(rename = "jsonrpc", default)]
    _version: Value,
    id: RequestId,
    result: Value,
}

impl<R: AsyncRead + Unpin + Send> Transport<RoleClient> for Stdio<R> {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let outgoing = self.outgoing.clone();
        async move {
            let mut bytes = serde_json::to_vec(&message)?;
            bytes.push(b'\n');
            let closed = || io::Error::new(io::ErrorKind::BrokenPipe, "its input is closed");
            let outgoing = outgoing.ok_or_else(closed)?;
            match timeout(READING, outgoing.send(bytes)).await {
                Ok(Ok(())) => Ok(()),
                Ok(Err(_)) => Err(closed()),
                Err(elapsed) => {
                    let words = format!("it does not read its input ({elapsed})");
                    Err(io::Error::new(io::ErrorKind::TimedOut, words))
                }
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            match self.lines.next().await {
                Line::Whole(line) => {
                    if let Some(message) = self.understand(&line) {
                        return Some(message);
                    }
                }
                Line::Long(long) => {
                    let words = format!("it takes {} bytes, and {MAX_MESSAGE} may be", long.bytes);
                    self.log.push(LogSource::Note, &format!("a message was dropped: {words}"));
                    if let Some(id) = response_id(&long.head, &long.tail) {
                        return Some(broken(id, &words));
                    }
                }
                Line::End => return None,
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.outgoing = None;
        Ok(())
    }
}

/// The code of an answer that could not be read.
pub(super) const BROKEN: i32 = -32_700;

/// Stands in for an answer that could not be read, so that nobody waits for it.
fn broken(id: i64, words: &str) -> RxJsonRpcMessage<RoleClient> {
    let error = ErrorData::parse_error(words.to_owned(), None);
    JsonRpcMessage::error(error, Some(RequestId::Number(id)))
}

/// Writes until nothing more comes, which closes the server's input.
async fn write_all(
    mut write: impl AsyncWrite + Unpin,
    mut messages: mpsc::Receiver<Vec<u8>>,
    log: Arc<Log>,
) {
    while let Some(message) = messages.recv().await {
        let written = timeout(READING, async {
            write.write_all(&message).await?;
            write.flush().await
        });
        match written.await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                log.push(LogSource::Note, &format!("its input is closed: {error}"));
                return;
            }
            Err(_) => {
                log.push(LogSource::Note, "it does not read its input");
                return;
            }
        }
    }
}
