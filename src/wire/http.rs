//! The only place where requests leave this program.

use std::{
    error::Error as _,
    hash::{BuildHasher as _, Hasher as _, RandomState},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use reqwest::{
    Client, Response,
    header::{HeaderMap, HeaderName, HeaderValue},
    redirect,
};
use tokio::{
    sync::mpsc::Sender,
    time::{Instant, timeout},
};

use super::{
    draft::BodyEnd,
    endpoint::Endpoint,
    head::Head,
    reply::{Reply, ReplySource},
    request::{self, Request},
};
use crate::model::stream::{
    EndState, ErrorClass, Interruption, Retry, StreamError, StreamEvent, Wire,
};

/// Connections to providers, kept open between requests.
#[derive(Clone, Debug)]
pub struct Http {
    /// Follows the proxies of the system, or the one of the settings.
    proxied: Client,
    /// For this machine, where no proxy stands between.
    direct: Client,
}

/// How to reach the world.
#[derive(Clone, Debug, Default)]
pub struct HttpConfig {
    /// The address of a proxy for everything but this machine; without it the system's
    /// proxies and `HTTPS_PROXY`, `HTTP_PROXY`, `NO_PROXY` count.
    pub proxy: Option<String>,
    /// Certificates to trust besides the system's, as PEM.
    pub certificates: Vec<u8>,
}

/// How long to wait for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeouts {
    /// For the head of the response of a public server.
    pub head: Duration,
    /// For the head of the response of a private server, which may load a model first.
    pub head_private: Duration,
    /// For the next byte.
    pub idle: Duration,
    /// For the first thing to show.
    pub first_progress: Duration,
    /// For the next thing to show: a server that only says that it is alive is not enough.
    pub progress: Duration,
    /// For what may follow once the provider said why it stopped.
    pub grace: Duration,
    /// For everything.
    pub total: Duration,
}

impl Default for Timeouts {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(120),
            head_private: Duration::from_secs(600),
            idle: Duration::from_secs(120),
            first_progress: Duration::from_secs(600),
            progress: Duration::from_secs(300),
            grace: Duration::from_secs(2),
            total: Duration::from_secs(6 * 3600),
        }
    }
}

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

impl Http {
    /// Connections by these settings.
    ///
    /// # Errors
    /// When a proxy's address or a certificate is not valid.
    pub fn new(config: &HttpConfig) -> Result<Self, StreamError> {
        install_cryptography();
        let mut builder = client();
        if let Some(address) = &config.proxy {
            let proxy = reqwest::Proxy::all(address).map_err(|e| setting("the proxy", e))?;
            builder = builder.proxy(proxy);
        }
        Ok(Self {
            proxied: trusting(builder, config)?,
            direct: client().no_proxy().build().map_err(|e| setting("the settings", e))?,
        })
    }

    /// The connections to this machine, or those to the world.
    pub(super) fn client_for(&self, is_loopback: bool) -> &Client {
        if is_loopback { &self.direct } else { &self.proxied }
    }

    pub(super) fn client(&self, endpoint: &Endpoint) -> &Client {
        self.client_for(endpoint.is_loopback())
    }
}

fn install_cryptography() {
    // Fails when another part of the program chose one before: then that one serves.
    rustls::crypto::ring::default_provider().install_default().ok();
}

/// A client that trusts the certificates of the settings, too.
pub(super) fn trusting(
    mut builder: reqwest::ClientBuilder,
    config: &HttpConfig,
) -> Result<Client, StreamError> {
    install_cryptography();
    if !config.certificates.is_empty() {
        let certificates = reqwest::Certificate::from_pem_bundle(&config.certificates);
        let certificates = certificates.map_err(|e| setting("the certificates", e))?;
        builder = builder.tls_certs_merge(certificates);
    }
    builder.build().map_err(|e| setting("the settings", e))
}

fn client() -> reqwest::ClientBuilder {
    Client::builder()
        .user_agent(concat!("letterpress/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIMEOUT)
        // A redirect would carry the prompt, and perhaps the key, somewhere else.
        .redirect(redirect::Policy::none())
        .tcp_nodelay(true)
        .tcp_keepalive(Duration::from_secs(30))
        // Closing the connection is how a reply is stopped, so each has one of its own.
        .http1_only()
}

fn setting(what: &str, error: reqwest::Error) -> StreamError {
    StreamError::new(ErrorClass::Connect, format!("{what} cannot be used: {}", words(error)))
}

/// Sends a request once, and passes on what comes until the end, which is passed on too and
/// returned.
///
/// Nothing is retried here; see [`plan`](super::plan). Dropping the future closes the
/// connection at once. None when nobody listens to `events` any more.
pub async fn attempt(
    http: &Http,
    endpoint: &Endpoint,
    request: &Request,
    timeouts: &Timeouts,
    events: &Sender<StreamEvent>,
) -> Option<EndState> {
    let passage = Passage { endpoint, events };
    let sent = send(http, endpoint, request, timeouts);
    let response = tokio::select! {
        response = sent => response,
        () = events.closed() => return None,
    };
    match response {
        Ok(response) => receive(response, endpoint, timeouts, &passage).await,
        Err(error) => passage.pass(vec![StreamEvent::End(EndState::Failed(error))]).await,
    }
}

async fn send(
    http: &Http,
    endpoint: &Endpoint,
    request: &Request,
    timeouts: &Timeouts,
) -> Result<Response, StreamError> {
    let url = endpoint
        .chat_url(&request.model)
        .map_err(|error| StreamError::new(ErrorClass::Connect, error.to_string()))?;
    let body = request::body(request, endpoint).to_string();
    let sent = http.client(endpoint).post(url).headers(headers(endpoint)?).body(body).send();
    let limit = if endpoint.is_private() { timeouts.head_private } else { timeouts.head };
    match timeout(limit, sent).await {
        Ok(Ok(response)) => Ok(response),
        Ok(Err(error)) => Err(not_sent(error)),
        Err(elapsed) => Err(StreamError::new(
            ErrorClass::Timeout,
            format!("no answer within {} s ({elapsed})", limit.as_secs()),
        )),
    }
}

fn headers(endpoint: &Endpoint) -> Result<HeaderMap, StreamError> {
    let accept = match endpoint.wire {
        Wire::Ollama => "application/x-ndjson",
        Wire::Chat | Wire::Responses | Wire::Anthropic | Wire::Gemini => "text/event-stream",
    };
    let fixed = [
        ("content-type", "application/json".to_owned()),
        ("accept", accept.to_owned()),
        // Compressed streams arrive in lumps.
        ("accept-encoding", "identity".to_owned()),
    ];
    let mut headers = HeaderMap::new();
    for (name, value) in fixed.into_iter().chain(endpoint.auth_headers()) {
        insert(&mut headers, name, &value)?;
    }
    for (name, value) in &endpoint.headers {
        insert(&mut headers, name, value)?;
    }
    Ok(headers)
}

pub(super) fn insert(headers: &mut HeaderMap, name: &str, value: &str) -> Result<(), StreamError> {
    // The value may be a secret, so the error names the header alone.
    let refused = |_| {
        let words = format!("the header {name} holds characters that cannot be sent");
        StreamError::new(ErrorClass::Auth, words)
    };
    let mut header = HeaderValue::from_str(value.trim()).map_err(refused)?;
    header.set_sensitive(!matches!(name, "content-type" | "accept" | "accept-encoding"));
    let refused = |error| StreamError::new(ErrorClass::BadRequest, format!("{name}: {error}"));
    headers.insert(HeaderName::try_from(name).map_err(refused)?, header);
    Ok(())
}

async fn receive(
    mut response: Response,
    endpoint: &Endpoint,
    timeouts: &Timeouts,
    passage: &Passage<'_>,
) -> Option<EndState> {
    let source = ReplySource { wire: endpoint.wire, host: endpoint.host(), seed: seed() };
    let mut reply = Reply::new(&source, head_of(&response));
    let mut watch = Watch::new(timeouts);
    let mut batch = Vec::new();
    loop {
        let chunk = tokio::select! {
            chunk = tokio::time::timeout_at(watch.deadline(), response.chunk()) => chunk,
            () = passage.events.closed() => return None,
        };
        match chunk {
            Ok(Ok(Some(bytes))) => reply.feed(&bytes, &mut batch),
            Ok(Ok(None)) => reply.finish(BodyEnd::Eof, &mut batch),
            Ok(Err(error)) => reply.finish(BodyEnd::Broken(words(error).into()), &mut batch),
            // After the provider's last word we close, whatever it still sends.
            Err(_) if reply.is_finishing() => reply.finish(BodyEnd::Eof, &mut batch),
            Err(_) => reply.finish(BodyEnd::Stalled, &mut batch),
        }
        if reply.has_enough() {
            reply.finish(BodyEnd::Eof, &mut batch);
        }
        let shown = batch.iter().any(|event| *event != StreamEvent::KeepAlive);
        if let Some(end) = passage.pass(std::mem::take(&mut batch)).await {
            return Some(end);
        }
        // Time in which nobody took the events is not the server's silence.
        watch.heard();
        if shown {
            watch.progressed();
        }
        if reply.is_finishing() {
            watch.finishing();
        }
    }
}

/// Passes events on, with the key blacked out wherever a server repeats it.
struct Passage<'a> {
    endpoint: &'a Endpoint,
    events: &'a Sender<StreamEvent>,
}

impl Passage<'_> {
    /// The end, when it was among the events.
    async fn pass(&self, events: Vec<StreamEvent>) -> Option<EndState> {
        let mut end = None;
        for mut event in events {
            self.redact(&mut event);
            if let StreamEvent::End(state) = &event {
                end = Some(state.clone());
            }
            if self.events.send(event).await.is_err() {
                break;
            }
        }
        end
    }

    fn redact(&self, event: &mut StreamEvent) {
        let clean = |text: &str| self.endpoint.redact(text);
        match event {
            StreamEvent::End(EndState::Failed(error)) => error.redact(clean),
            StreamEvent::End(EndState::Interrupted { cause: Interruption::Io(words), .. }) => {
                *words = clean(words).into();
            }
            StreamEvent::Warning(warning) => warning.detail = clean(&warning.detail),
            _ => {}
        }
    }
}

/// Knows until when the next byte has to come.
struct Watch<'a> {
    timeouts: &'a Timeouts,
    end: Instant,
    idle: Instant,
    progress: Instant,
    grace: Option<Instant>,
}

impl<'a> Watch<'a> {
    fn new(timeouts: &'a Timeouts) -> Self {
        let now = Instant::now();
        Self {
            timeouts,
            end: now + timeouts.total,
            idle: now + timeouts.idle,
            progress: now + timeouts.first_progress,
            grace: None,
        }
    }

    fn deadline(&self) -> Instant {
        let deadline = self.end.min(self.idle).min(self.progress);
        self.grace.map_or(deadline, |grace| grace.min(deadline))
    }

    /// Bytes came.
    fn heard(&mut self) {
        self.idle = Instant::now() + self.timeouts.idle;
    }

    /// Something to show came.
    fn progressed(&mut self) {
        self.progress = Instant::now() + self.timeouts.progress;
    }

    /// The provider said why it stopped.
    fn finishing(&mut self) {
        let grace = Instant::now() + self.timeouts.grace;
        self.grace.get_or_insert(grace);
    }
}

pub(super) fn head_of(response: &Response) -> Head {
    let headers = response.headers();
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    Head::read(response.status().as_u16(), header, now_ms())
}

/// Milliseconds since 1970.
#[expect(clippy::disallowed_methods, reason = "a date in a header says when to come back")]
fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

pub(super) fn seed() -> u128 {
    // Hashers start from chance, which is all that ids need.
    let chance = || u128::from(RandomState::new().build_hasher().finish());
    ((now_ms() as u128) << 80) | ((chance() << 64 | chance()) & ((1 << 80) - 1))
}

/// An error before any response.
pub(super) fn not_sent(error: reqwest::Error) -> StreamError {
    let class = if error.is_timeout() && !error.is_connect() {
        ErrorClass::Timeout
    } else {
        ErrorClass::Connect
    };
    // What cannot be built can never be sent.
    let retry = if error.is_builder() { Retry::Never } else { Retry::Backoff };
    StreamError { retry, ..StreamError::new(class, words(error)) }
}

/// What an error says, from its cause down, and without the address. What stands above the
/// cause only says that a request failed.
pub(super) fn words(error: reqwest::Error) -> String {
    let error = error.without_url();
    let mut words = Vec::new();
    let mut cause = error.source();
    while let Some(inner) = cause {
        words.push(inner.to_string());
        cause = inner.source();
    }
    words.dedup();
    if words.is_empty() { error.to_string() } else { words.join(": ") }
}
