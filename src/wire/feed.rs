//! A conversation at an address: lines of JSON or server-sent events, asked for again
//! whenever they end.

use std::time::Duration;

use reqwest::{
    Client, Response, StatusCode,
    header::{self, HeaderMap, HeaderValue},
};
use tokio::time::timeout;
use url::{Host, Url};

use super::{
    frame::{LineEnds, Lines, SseFrame, SseFramer},
    http::{Http, head_of, not_sent, seed, words},
    reconnect::{Ended, Reconnect},
};

/// What a feed brings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FeedEvent {
    /// It is connected.
    Open {
        /// It goes on at the very byte where it stood, so that nothing comes twice.
        exact: bool,
    },
    /// A line, or the data of an event.
    Record(Vec<u8>),
    /// Data that was too long to be held.
    LeftOut,
    /// All that came in one piece of the body was given.
    Pause,
    /// It is no longer connected, and why.
    Lost(String),
}

/// How long to wait for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeedLimits {
    /// For the head of a response.
    pub head: Duration,
    /// For the next byte; then it is asked for again.
    pub idle: Duration,
    /// The first pause between two connections.
    pub pause: Duration,
}

impl Default for FeedLimits {
    fn default() -> Self {
        Self {
            head: Duration::from_secs(30),
            idle: Duration::from_secs(300),
            pause: Duration::from_secs(1),
        }
    }
}

/// Redirects within one host that are followed.
const REDIRECTS_MAX: usize = 5;
/// An unfinished last line is tried for being whole up to this size.
const LAST_LINE_MAX: usize = 1 << 20;

/// Follows an address until the future is dropped, and tells `each` what comes.
///
/// - Events are asked for again with the id of the last one, after the pause that the server
///   names.
/// - Lines are asked for from where the last whole one ended; a server that cannot do that
///   sends all again, which is told by [`FeedEvent::Open`].
/// - A response that ends after its lines is no loss: there may be more later.
pub async fn feed(http: &Http, url: &Url, limits: FeedLimits, mut each: impl FnMut(FeedEvent)) {
    let mut feed = Feed {
        client: http.client_for(is_loopback(url)),
        url,
        limits,
        plan: Reconnect::new(limits.pause),
        last_event_id: None,
        place: Place::default(),
    };
    loop {
        let ended = match feed.connection(&mut each).await {
            Ok(ended) => ended,
            Err(Loss { why, ended }) => {
                each(FeedEvent::Lost(why));
                ended
            }
        };
        let pause = feed.plan.pause(ended, chance());
        tokio::time::sleep(pause).await;
    }
}

struct Feed<'a> {
    client: &'a Client,
    url: &'a Url,
    limits: FeedLimits,
    plan: Reconnect,
    last_event_id: Option<String>,
    place: Place,
}

/// How far lines have come.
#[derive(Debug, Default)]
struct Place {
    /// Bytes of the resource up to the end of the last whole line.
    position: u64,
    /// The last of these bytes, by which the resource is known again.
    tail: Vec<u8>,
    /// Bytes behind them, and the last of these.
    partial: (u64, Vec<u8>),
}

/// Bytes by which a resource is known again.
const TAIL_BYTES: usize = 64;

impl Place {
    /// Where to ask from.
    fn from(&self) -> u64 {
        self.position - self.tail.len() as u64
    }

    /// Takes a piece of the resource.
    fn take(&mut self, bytes: &[u8]) {
        let ended = memchr::memrchr(b'\n', bytes).map_or(0, |end| end + 1);
        let (whole, rest) = bytes.split_at(ended);
        self.extend(whole);
        if ended > 0 {
            self.end();
        }
        self.extend(rest);
    }

    /// Takes what has no line end as a whole line.
    fn end(&mut self) {
        let (len, last) = std::mem::take(&mut self.partial);
        self.position += len;
        self.tail.extend(last);
        self.tail.drain(..self.tail.len().saturating_sub(TAIL_BYTES));
    }

    fn extend(&mut self, bytes: &[u8]) {
        let (len, last) = &mut self.partial;
        *len += bytes.len() as u64;
        last.extend(bytes.get(bytes.len().saturating_sub(TAIL_BYTES)..).unwrap_or(bytes));
        last.drain(..last.len().saturating_sub(TAIL_BYTES));
    }
}

/// Why there is no connection.
struct Loss {
    why: String,
    ended: Ended,
}

impl Loss {
    fn new(why: impl Into<String>) -> Self {
        Self { why: why.into(), ended: Ended::Failed }
    }
}

impl Feed<'_> {
    /// One connection, from asking to its end.
    async fn connection(&mut self, each: &mut impl FnMut(FeedEvent)) -> Result<Ended, Loss> {
        let response = self.ask().await?;
        match response.status() {
            StatusCode::NOT_MODIFIED => return Ok(Ended::WithoutNews),
            StatusCode::RANGE_NOT_SATISFIABLE => return Ok(self.start_over()),
            StatusCode::NO_CONTENT => return Err(Loss::new("the server has nothing to send")),
            status if !status.is_success() => return Err(refused(&response)),
            _ => {}
        }
        self.place.partial = (0, Vec::new());
        let mut overlap = self.place.tail.clone();
        if !self.goes_on(&response) {
            self.place = Place::default();
            overlap.clear();
            each(FeedEvent::Open { exact: false });
        }
        let mut body = Body::new(&head_of(&response).content_type)?;
        let ended = self.receive(response, &mut body, overlap, each).await;
        if let Body::Events(framer) = &body {
            if !framer.last_id().is_empty() {
                self.last_event_id = Some(framer.last_id().to_owned());
            }
            if let Some(ms) = framer.retry_ms() {
                self.plan.server_says(Duration::from_millis(ms));
            }
        }
        ended
    }

    async fn ask(&self) -> Result<Response, Loss> {
        let mut url = self.url.clone();
        for _ in 0..=REDIRECTS_MAX {
            let sent = self.client.get(url.clone()).headers(self.headers()).send();
            let response = match timeout(self.limits.head, sent).await {
                Ok(sent) => sent.map_err(|error| Loss::new(&*not_sent(error).message))?,
                Err(_elapsed) => {
                    let secs = self.limits.head.as_secs();
                    return Err(Loss::new(format!("no answer within {secs} s")));
                }
            };
            match moved_to(&response, &url)? {
                None => return Ok(response),
                Some(there) => url = there,
            }
        }
        Err(Loss::new("the server redirects without end"))
    }

    fn headers(&self) -> HeaderMap {
        let accept = "text/event-stream, application/x-ndjson, application/jsonl, */*;q=0.5";
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, HeaderValue::from_static(accept));
        // Compressed streams arrive in lumps.
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        let id = self.last_event_id.as_ref().and_then(|id| HeaderValue::from_str(id).ok());
        if let Some(id) = id {
            headers.insert("last-event-id", id);
        }
        if self.place.position > 0
            && let Ok(range) = HeaderValue::from_str(&format!("bytes={}-", self.place.from()))
        {
            // Without a condition: a file that has grown is another by its tag, but the same
            // as far as it is known.
            headers.insert(header::RANGE, range);
        }
        headers
    }

    /// True when the response goes on from where it was asked to.
    fn goes_on(&self, response: &Response) -> bool {
        let range = response.headers().get(header::CONTENT_RANGE);
        let range = range.and_then(|range| range.to_str().ok()).unwrap_or("");
        self.place.position > 0
            && response.status() == StatusCode::PARTIAL_CONTENT
            && range.starts_with(&format!("bytes {}-", self.place.from()))
    }

    /// The server has not even what is known: it has become shorter.
    fn start_over(&mut self) -> Ended {
        self.place = Place::default();
        Ended::WithNews
    }

    async fn receive(
        &mut self,
        mut response: Response,
        body: &mut Body,
        mut overlap: Vec<u8>,
        each: &mut impl FnMut(FeedEvent),
    ) -> Result<Ended, Loss> {
        let mut has_news = false;
        let mut is_known = overlap.is_empty();
        loop {
            let chunk = match timeout(self.limits.idle, response.chunk()).await {
                Ok(chunk) => chunk.map_err(|error| Loss::new(words(error)))?,
                Err(_elapsed) => {
                    let secs = self.limits.idle.as_secs();
                    return Err(Loss::new(format!("nothing came for {secs} s")));
                }
            };
            let Some(bytes) = chunk else { break };
            // What is known comes first, and shows whether the resource is the same.
            let (known, new) = bytes.split_at(bytes.len().min(overlap.len()));
            if !overlap.starts_with(known) {
                return Ok(self.start_over());
            }
            overlap.drain(..known.len());
            if overlap.is_empty() && !std::mem::replace(&mut is_known, true) {
                each(FeedEvent::Open { exact: true });
            }
            if !new.is_empty() {
                has_news |= body.feed(new, &mut self.place, each)?;
                each(FeedEvent::Pause);
            }
        }
        match body {
            Body::Events(_) => Err(Loss {
                why: "the server closed the connection".to_owned(),
                ended: if has_news { Ended::WithNews } else { Ended::Failed },
            }),
            Body::Lines(_) | Body::Unknown(_) => {
                has_news |= body.finish(&mut self.place, each)?;
                Ok(if has_news { Ended::WithNews } else { Ended::WithoutNews })
            }
        }
    }
}

/// What the body of a response is made of.
enum Body {
    Events(SseFramer),
    Lines(Lines),
    /// Its first bytes will tell.
    Unknown(Vec<u8>),
}

impl Body {
    fn new(content_type: &str) -> Result<Self, Loss> {
        match content_type {
            "text/event-stream" => Ok(Self::Events(SseFramer::new())),
            "text/html" => Err(Loss::new("the server answers with a page, not with records")),
            kind if kind.contains("ndjson") || kind.contains("jsonl") => {
                Ok(Self::Lines(Lines::new(LineEnds::Lf)))
            }
            _ => Ok(Self::Unknown(Vec::new())),
        }
    }

    /// Takes a piece of the body. True when it held a record.
    fn feed(
        &mut self,
        bytes: &[u8],
        place: &mut Place,
        each: &mut impl FnMut(FeedEvent),
    ) -> Result<bool, Loss> {
        match self {
            Self::Unknown(held) => {
                held.extend_from_slice(bytes);
                let Some(kind) = kind_of(held) else { return Ok(false) };
                let held = std::mem::replace(self, kind);
                let Self::Unknown(held) = held else { return Ok(false) };
                self.feed(&held, place, each)
            }
            Self::Events(framer) => {
                let mut frames = Vec::new();
                let fed = framer.feed(bytes, &mut frames);
                let mut has_news = false;
                for frame in frames {
                    if let SseFrame::Event(event) = frame {
                        has_news = true;
                        each(FeedEvent::Record(event.data.into_bytes()));
                    }
                }
                fed.map_err(|_too_large| too_long(each))?;
                Ok(has_news)
            }
            Self::Lines(lines) => {
                let mut has_news = false;
                place.take(bytes);
                let fed = lines.feed(bytes, |line| {
                    if !line.trim_ascii().is_empty() {
                        has_news = true;
                        each(FeedEvent::Record(line.to_vec()));
                    }
                });
                fed.map_err(|_too_large| too_long(each))?;
                Ok(has_news)
            }
        }
    }

    /// Takes the last line when it is whole.
    fn finish(
        &mut self,
        place: &mut Place,
        each: &mut impl FnMut(FeedEvent),
    ) -> Result<bool, Loss> {
        if let Self::Unknown(held) = self {
            if held.trim_ascii().is_empty() {
                return Ok(false);
            }
            let held = std::mem::take(held);
            *self = Self::Lines(Lines::new(LineEnds::Lf));
            self.feed(&held, place, each)?;
        }
        let Self::Lines(lines) = self else { return Ok(false) };
        let Some(rest) = lines.finish() else { return Ok(false) };
        let is_whole = rest.len() <= LAST_LINE_MAX
            && serde_json::from_slice::<serde::de::IgnoredAny>(&rest).is_ok();
        if is_whole && !rest.trim_ascii().is_empty() {
            place.end();
            each(FeedEvent::Record(rest));
            each(FeedEvent::Pause);
        }
        Ok(is_whole)
    }
}

fn too_long(each: &mut impl FnMut(FeedEvent)) -> Loss {
    each(FeedEvent::LeftOut);
    Loss::new("a record is too long")
}

/// What the first bytes say; none while they say nothing.
fn kind_of(held: &[u8]) -> Option<Body> {
    let text = held.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(held).trim_ascii_start();
    let events = [&b"data:"[..], b"event:", b"id:", b"retry:", b":"];
    if text.is_empty() {
        return None;
    }
    if events.iter().any(|start| text.starts_with(start)) {
        return Some(Body::Events(SseFramer::new()));
    }
    let may_become = events.iter().any(|start| start.starts_with(text));
    (!may_become).then(|| Body::Lines(Lines::new(LineEnds::Lf)))
}

/// Where a response sends to, within its host.
fn moved_to(response: &Response, from: &Url) -> Result<Option<Url>, Loss> {
    if !response.status().is_redirection() || response.status() == StatusCode::NOT_MODIFIED {
        return Ok(None);
    }
    let location = response.headers().get(header::LOCATION);
    let location = location.and_then(|location| from.join(location.to_str().ok()?).ok());
    match location {
        Some(there) if there.origin() == from.origin() => Ok(Some(there)),
        Some(there) => Err(Loss::new(format!(
            "it has moved to another host: {}",
            there.host_str().unwrap_or("unknown")
        ))),
        None => Err(Loss::new("the server redirects to nowhere")),
    }
}

fn refused(response: &Response) -> Loss {
    let status = response.status();
    let words = status.canonical_reason().unwrap_or("refused");
    let wait = head_of(response).wait;
    Loss {
        why: format!("the server answers {}: {words}", status.as_u16()),
        ended: wait.map_or(Ended::Failed, Ended::Asked),
    }
}

fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    }
}

/// A number from 0 to 1.
fn chance() -> f64 {
    (seed() as u32 as f64) / f64::from(u32::MAX)
}
