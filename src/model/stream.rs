//! What a reply is made of while it arrives: the one closed enum every provider ends in.

use std::{fmt, sync::Arc, time::Duration};

use super::message::{Image, StopReason, Usage};

/// One event of a reply.
///
/// Order: `Started` at most once; every block is opened once, then filled, then closed;
/// [`StreamEvent::End`] comes exactly once, last, and no block is open by then. Blocks may
/// be open side by side.
#[derive(Clone, Debug, PartialEq)]
pub enum StreamEvent {
    /// The provider began to answer.
    Started {
        /// The provider's id of the reply.
        id: Option<Arc<str>>,
        /// The model that answers, which may differ from the one asked for.
        model: Option<Arc<str>>,
    },
    /// A block other than a tool call begins.
    BlockOpen {
        /// Its id.
        block: ReplyBlock,
        /// What it holds.
        kind: ReplyKind,
    },
    /// More prose of a block; never empty.
    Text {
        /// The block it belongs to.
        block: ReplyBlock,
        /// What to append.
        delta: String,
    },
    /// More reasoning of a block; never empty.
    Reasoning {
        /// The block it belongs to.
        block: ReplyBlock,
        /// What to append.
        delta: String,
    },
    /// What the provider wants back verbatim in later requests. It may come after its block
    /// has closed.
    Opaque {
        /// The block it belongs to.
        block: ReplyBlock,
        /// The provider's own words.
        echo: Echo,
    },
    /// A tool call begins.
    ToolOpen {
        /// The block that the call is.
        block: ReplyBlock,
        /// The provider's id, or one of ours where it gave none or gave it twice.
        id: Arc<str>,
        /// The tool's name.
        name: Arc<str>,
    },
    /// More of a call's arguments, as JSON text; never empty.
    ToolArgs {
        /// The block that the call is.
        block: ReplyBlock,
        /// What to append.
        delta: String,
    },
    /// A block is over.
    BlockClose {
        /// Its id.
        block: ReplyBlock,
        /// What is known only now.
        close: Close,
    },
    /// Tokens so far; each one replaces the one before.
    Usage(Usage),
    /// What the provider still allows, read from the response's headers.
    RateLimit(Arc<[RateWindow]>),
    /// Something was met and survived.
    Warning(StreamWarning),
    /// The connection is alive, and there is nothing to show.
    KeepAlive,
    /// The reply is over.
    End(EndState),
}

/// Names a block of one reply: 0, 1, 2 … in order of arrival.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReplyBlock(pub u32);

/// What a block that is no tool call holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum ReplyKind {
    /// Prose.
    Text,
    /// The model's reasoning. Without any text it was redacted or is encrypted.
    Reasoning,
    /// The model's words on why it will not answer.
    Refusal,
    /// A picture; it comes with [`Close::Image`].
    Image,
    /// Anything else, by the provider's name for it; its JSON comes as `Opaque`.
    Other(Arc<str>),
}

/// What is known about a block when it closes.
#[derive(Clone, Debug, PartialEq)]
pub enum Close {
    /// It is what its deltas said.
    AsStreamed,
    /// The provider's last word on the text of the block, which differs from its deltas.
    Replaced(String),
    /// The arguments of a call: an object, or why they are none.
    Arguments(Result<serde_json::Value, ArgumentError>),
    /// The picture.
    Image(Image),
}

/// Why a call's arguments cannot be used. Such a call is shown and never run; the text of
/// this error is what the model is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgumentError {
    /// They are not JSON from this byte on.
    NotJson {
        /// Byte offset into the arguments.
        byte: usize,
    },
    /// They are JSON but no object.
    NotObject,
    /// They were longer than this many bytes.
    TooLarge {
        /// The limit.
        limit: usize,
    },
}

impl fmt::Display for ArgumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotJson { byte } => write!(f, "arguments are not valid JSON (byte {byte})"),
            Self::NotObject => f.write_str("arguments are not a JSON object"),
            Self::TooLarge { limit } => write!(f, "arguments are longer than {limit} bytes"),
        }
    }
}

/// A piece of a reply that only its provider understands: a signature, encrypted
/// reasoning, a result of a tool that ran on the provider's side.
///
/// It is sent back unchanged to the wire and host it came from, and to nobody else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Echo {
    /// The wire it was read from.
    pub wire: Wire,
    /// The host it was read from.
    pub host: Arc<str>,
    /// JSON.
    pub json: Arc<str>,
}

/// A language that providers speak.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wire {
    /// `OpenAI` Chat Completions and all that are compatible with it.
    Chat,
    /// `OpenAI` Responses.
    Responses,
    /// Anthropic Messages.
    Anthropic,
    /// Ollama's own chat endpoint.
    Ollama,
    /// Google Gemini.
    Gemini,
}

impl Wire {
    /// Every wire, in the order providers are listed.
    pub const ALL: [Self; 5] =
        [Self::Chat, Self::Responses, Self::Anthropic, Self::Ollama, Self::Gemini];

    /// The name used in settings and stored sessions.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Chat => "openai",
            Self::Responses => "openai-responses",
            Self::Anthropic => "anthropic",
            Self::Ollama => "ollama",
            Self::Gemini => "gemini",
        }
    }

    /// The wire of a name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|wire| wire.name() == name)
    }
}

/// One allowance of a provider.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RateWindow {
    /// What is counted: `requests`, `tokens`, `input-tokens` …
    pub resource: Arc<str>,
    /// How many are allowed.
    pub limit: Option<u64>,
    /// How many are left.
    pub remaining: Option<u64>,
    /// How long until it is full again.
    pub reset: Option<Duration>,
}

/// Something unusual in a reply that did not end it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamWarning {
    /// Which kind of thing it was.
    pub code: WarningCode,
    /// What exactly, for the curious; may be empty.
    pub detail: String,
}

/// The kinds of warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WarningCode {
    /// Bytes that are not UTF-8 were replaced.
    BadUtf8,
    /// Half a surrogate pair was replaced.
    BadSurrogate,
    /// An event that is not JSON was skipped.
    BadJson,
    /// An event without data.
    EmptyData,
    /// The server never said why it stopped.
    NoFinishReason,
    /// The server's reason is not known here.
    UnknownFinish,
    /// A call changed its name half-way; the first one counts.
    NameChanged,
    /// A call's id was used before; it got a new one.
    DuplicateId,
    /// More calls than are kept.
    TooManyCalls,
    /// Events were numbered with gaps.
    SequenceGap,
    /// The final text differs from its deltas; the final one counts.
    TextReplaced,
    /// A kind of part or event that is not known here was left out.
    UnknownPart,
}

impl WarningCode {
    /// The name used by `ask --json`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::BadUtf8 => "bad_utf8",
            Self::BadSurrogate => "bad_surrogate",
            Self::BadJson => "bad_json",
            Self::EmptyData => "empty_data",
            Self::NoFinishReason => "no_finish_reason",
            Self::UnknownFinish => "unknown_finish",
            Self::NameChanged => "name_changed",
            Self::DuplicateId => "duplicate_id",
            Self::TooManyCalls => "too_many_calls",
            Self::SequenceGap => "seq_gap",
            Self::TextReplaced => "text_replaced",
            Self::UnknownPart => "unknown_part",
        }
    }
}

/// How a reply ended.
#[derive(Clone, Debug, PartialEq)]
pub enum EndState {
    /// The provider said that it was done.
    Complete {
        /// Why it stopped; `Other("unknown")` when it did not say.
        reason: StopReason,
        /// The calls of this reply may run: there are some, and all are sound.
        tools_may_run: bool,
    },
    /// The connection closed in good order in the middle of the reply.
    Incomplete,
    /// The connection broke or went silent.
    Interrupted {
        /// How.
        cause: Interruption,
        /// Whether to try again without asking.
        retry: Retry,
    },
    /// The provider, or something on the way, refused or gave up.
    Failed(StreamError),
    /// The user stopped it.
    Cancelled,
}

impl EndState {
    /// The name used by `ask --json`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Complete { .. } => "complete",
            Self::Incomplete => "incomplete",
            Self::Interrupted { .. } => "interrupted",
            Self::Failed(_) => "failed",
            Self::Cancelled => "cancelled",
        }
    }

    /// Whether to try again without asking.
    #[must_use]
    pub fn retry(&self) -> Retry {
        match self {
            Self::Interrupted { retry, .. } => *retry,
            Self::Failed(error) => error.retry,
            Self::Complete { .. } | Self::Incomplete | Self::Cancelled => Retry::Never,
        }
    }

    /// True when tools may run now.
    #[must_use]
    pub fn tools_may_run(&self) -> bool {
        matches!(self, Self::Complete { tools_may_run: true, .. })
    }
}

/// How a connection was lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Interruption {
    /// It broke; in the system's words.
    Io(Arc<str>),
    /// Nothing came for too long.
    Stalled,
}

/// Whether a request may be sent again without asking.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Retry {
    /// No: it would fail again, or the answer had begun.
    #[default]
    Never,
    /// Yes, after the usual pause.
    Backoff,
    /// Yes, after the pause the server asked for.
    After(Duration),
    /// Yes, once, without this optional field of the request.
    Without(OptionalField),
}

/// Fields of a request that some servers refuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OptionalField {
    /// `stream_options` of Chat Completions.
    StreamOptions,
}

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamError {
    /// What kind of failure it is.
    pub class: ErrorClass,
    /// The HTTP status, when the failure is one.
    pub status: Option<u16>,
    /// The provider's code or type for it.
    pub code: Option<Arc<str>>,
    /// In the provider's words, or ours; holds no key and no address with one.
    pub message: Arc<str>,
    /// What the provider's support asks for.
    pub request_id: Option<Arc<str>>,
    /// Whether to try again without asking.
    pub retry: Retry,
    /// The pause the server asked for, also when it is too long to wait.
    pub wait: Option<Duration>,
}

impl StreamError {
    /// An error of a class, with our words for it.
    #[must_use]
    pub fn new(class: ErrorClass, message: impl Into<Arc<str>>) -> Self {
        Self {
            class,
            status: None,
            code: None,
            message: message.into(),
            request_id: None,
            retry: Retry::Never,
            wait: None,
        }
    }

    /// Rewrites every text that came from outside, to take secrets out of it.
    pub fn redact(&mut self, clean: impl Fn(&str) -> String) {
        self.message = clean(&self.message).into();
        for text in [&mut self.code, &mut self.request_id].into_iter().flatten() {
            *text = clean(text).into();
        }
    }
}

impl fmt::Display for StreamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.status {
            Some(status) => write!(f, "{} ({status}): {}", self.class.words(), self.message),
            None => write!(f, "{}: {}", self.class.words(), self.message),
        }
    }
}

impl std::error::Error for StreamError {}

/// The kinds of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorClass {
    /// No connection: name, route, TLS.
    Connect,
    /// The server took too long.
    Timeout,
    /// The key is missing or wrong.
    Auth,
    /// No credit.
    Billing,
    /// The key may not do this.
    Permission,
    /// No such model or address.
    NotFound,
    /// The request is not understood.
    BadRequest,
    /// The conversation is too long for the model.
    ContextLength,
    /// Too many requests.
    RateLimit,
    /// The server has too much to do.
    Overloaded,
    /// The server broke.
    Server,
    /// The provider's rules forbid the prompt or the answer.
    Blocked,
    /// The model called a tool in a way its provider did not understand.
    MalformedCall,
    /// The reply held nothing.
    Empty,
    /// The reply is not in the language that was agreed on.
    Protocol,
    /// A page for people came where data was expected.
    ProxyHtml,
    /// The server points elsewhere, which is not followed.
    Redirect,
    /// The reply or the request is larger than is allowed.
    TooLarge,
}

impl ErrorClass {
    /// The name used by `ask --json`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Connect => "connect",
            Self::Timeout => "timeout",
            Self::Auth => "auth",
            Self::Billing => "billing",
            Self::Permission => "permission",
            Self::NotFound => "not_found",
            Self::BadRequest => "bad_request",
            Self::ContextLength => "context_length",
            Self::RateLimit => "rate_limit",
            Self::Overloaded => "overloaded",
            Self::Server => "server",
            Self::Blocked => "blocked",
            Self::MalformedCall => "malformed_call",
            Self::Empty => "empty",
            Self::Protocol => "protocol",
            Self::ProxyHtml => "proxy_html",
            Self::Redirect => "redirect",
            Self::TooLarge => "too_large",
        }
    }

    /// A few words for people.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Connect => "cannot connect",
            Self::Timeout => "the server took too long",
            Self::Auth => "the key was not accepted",
            Self::Billing => "no credit",
            Self::Permission => "not allowed",
            Self::NotFound => "not found",
            Self::BadRequest => "the request was refused",
            Self::ContextLength => "the conversation is too long for the model",
            Self::RateLimit => "too many requests",
            Self::Overloaded => "the server is overloaded",
            Self::Server => "the server failed",
            Self::Blocked => "blocked by the provider",
            Self::MalformedCall => "the model made a malformed tool call",
            Self::Empty => "empty reply",
            Self::Protocol => "the reply is not understood",
            Self::ProxyHtml => "a web page came instead of a reply",
            Self::Redirect => "the server points elsewhere",
            Self::TooLarge => "too large",
        }
    }
}
