//! Where a provider lives, how it is addressed, and what it is particular about.

use std::{
    fmt,
    net::{IpAddr, Ipv4Addr, Ipv6Addr},
    sync::Arc,
};

use url::{Host, Url};

use crate::model::{Redactor, redactor::REDACTED, stream::Wire};

/// A provider that requests can be sent to. Its `Debug` shows no secret.
#[derive(Clone)]
pub struct Endpoint {
    /// The name it goes by here.
    pub name: Arc<str>,
    /// The language it speaks.
    pub wire: Wire,
    /// Its address as its vendor's own SDK takes it.
    pub base: Url,
    /// What it knows us by.
    pub key: Option<Key>,
    /// Further headers, as the settings give them.
    pub headers: Vec<(String, String)>,
    /// What it is particular about.
    pub quirks: Quirks,
}

/// A secret. It is shown nowhere: its `Debug` says only that there is one.
#[derive(Clone, PartialEq, Eq)]
pub struct Key(Arc<str>);

impl Key {
    /// A key without the blanks around it; none when nothing is left.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        (!text.is_empty()).then(|| Self(text.into()))
    }

    pub(super) fn secret(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

/// Differences between servers that speak the same language.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Quirks {
    /// How the limit of tokens is called.
    pub token_limit: TokenLimitName,
    /// Which turns get their reasoning back.
    pub reasoning: ReasoningBack,
    /// What ids of calls have to look like.
    pub call_ids: CallIds,
}

/// How Chat Completions servers call the limit of tokens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TokenLimitName {
    /// `max_tokens`.
    #[default]
    MaxTokens,
    /// `max_completion_tokens`, as `OpenAI` itself wants it.
    MaxCompletionTokens,
}

/// Which assistant messages are sent back with their reasoning.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReasoningBack {
    /// None: the server refuses or ignores it.
    Never,
    /// Those that call tools: some servers refuse them without it.
    #[default]
    ToolTurns,
    /// All.
    Always,
}

/// What ids of calls have to look like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CallIds {
    /// Letters, digits, `_` and `-`, at most 40 of them.
    #[default]
    Common,
    /// Exactly nine letters and digits.
    NineCharacters,
}

/// An address that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AddressError {
    /// It is no address of a web server.
    NotAnAddress,
    /// A key would travel in the clear through a public network.
    KeyInTheClear {
        /// The public host.
        host: String,
    },
}

impl fmt::Display for AddressError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAnAddress => f.write_str("the base URL is no http or https address"),
            Self::KeyInTheClear { host } => {
                write!(f, "a key is not sent over plain http to a public host: {host}")
            }
        }
    }
}

impl std::error::Error for AddressError {}

impl Endpoint {
    /// A provider by its name, language and address.
    ///
    /// # Errors
    /// When the address is none.
    pub fn new(name: &str, wire: Wire, base: &str) -> Result<Self, AddressError> {
        let base = parse_base(base, wire)?;
        let quirks = Quirks::of(wire, base.host_str().unwrap_or_default());
        Ok(Self { name: name.into(), wire, base, key: None, headers: Vec::new(), quirks })
    }

    /// The same provider with a key.
    #[must_use]
    pub fn with_key(self, key: Option<Key>) -> Self {
        Self { key, ..self }
    }

    /// The text with the secrets of this provider, should they occur there in whatever
    /// spelling, blacked out.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        let mut redactor = Redactor::new();
        let headers = self.headers.iter().flat_map(|(_, value)| within(value));
        for secret in self.key.iter().map(Key::secret).chain(headers.filter(|it| it.len() >= 12)) {
            redactor.learn(secret);
        }
        let text = redactor.redact(text);
        // Short values are words such as "true", or what local servers take for a key.
        match self.key.as_ref().map(Key::secret).filter(|key| (6..8).contains(&key.len())) {
            Some(key) => text.replace(key, REDACTED),
            None => text.into_owned(),
        }
    }

    /// Its host, which replies are marked with.
    #[must_use]
    pub fn host(&self) -> Arc<str> {
        self.base.host_str().unwrap_or_default().into()
    }

    /// True for this machine and private networks: models load slowly there, and plain http
    /// is fine.
    #[must_use]
    pub fn is_private(&self) -> bool {
        is_private(self.base.host().as_ref())
    }

    /// True for this machine: no proxy stands between.
    #[must_use]
    pub fn is_loopback(&self) -> bool {
        match self.base.host() {
            Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
            Some(Host::Ipv4(ip)) => ip.is_loopback(),
            Some(Host::Ipv6(ip)) => ip.is_loopback(),
            None => false,
        }
    }

    /// The address that a model is asked at. It never holds a key.
    ///
    /// # Errors
    /// When the key would travel in the clear.
    pub fn chat_url(&self, model: &str) -> Result<Url, AddressError> {
        let mut url = match self.wire {
            Wire::Chat => self.at(&["chat", "completions"])?,
            Wire::Responses => self.at(&["responses"])?,
            Wire::Anthropic => self.at(&["v1", "messages"])?,
            Wire::Ollama => self.at(&["api", "chat"])?,
            Wire::Gemini => {
                let model = model.strip_prefix("models/").unwrap_or(model);
                self.at(&["v1beta", "models", &format!("{model}:streamGenerateContent")])?
            }
        };
        if self.wire == Wire::Gemini {
            url.query_pairs_mut().append_pair("alt", "sse");
        }
        Ok(url)
    }

    /// The address that lists models.
    ///
    /// # Errors
    /// When the key would travel in the clear.
    pub fn models_url(&self) -> Result<Url, AddressError> {
        match self.wire {
            Wire::Chat | Wire::Responses => self.at(&["models"]),
            Wire::Anthropic => self.at(&["v1", "models"]),
            Wire::Ollama => self.at(&["api", "tags"]),
            Wire::Gemini => self.at(&["v1beta", "models"]),
        }
    }

    /// The headers that say who asks, and which version of the language is meant.
    pub(super) fn auth_headers(&self) -> Vec<(&'static str, String)> {
        let mut headers = Vec::new();
        if let Some(key) = self.key.as_ref().map(Key::secret) {
            headers.push(match self.wire {
                Wire::Anthropic => ("x-api-key", key.to_owned()),
                Wire::Gemini => ("x-goog-api-key", key.to_owned()),
                Wire::Chat | Wire::Responses | Wire::Ollama => {
                    ("authorization", format!("Bearer {key}"))
                }
            });
        }
        if self.wire == Wire::Anthropic {
            headers.push(("anthropic-version", "2023-06-01".to_owned()));
        }
        headers
    }

    /// An address below the base. A base that already ends in the version the path begins
    /// with is taken as meant.
    fn at(&self, path: &[&str]) -> Result<Url, AddressError> {
        if self.key.is_some() && self.base.scheme() == "http" && !self.is_private() {
            return Err(AddressError::KeyInTheClear { host: self.host().to_string() });
        }
        let mut url = self.base.clone();
        let last = self.base.path_segments().and_then(|mut s| s.rfind(|part| !part.is_empty()));
        let path = if last == path.first().copied() { path.get(1..).unwrap_or(path) } else { path };
        match url.path_segments_mut() {
            Ok(mut segments) => {
                segments.pop_if_empty().extend(path);
            }
            Err(()) => return Err(AddressError::NotAnAddress),
        }
        Ok(url)
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, wire, base: _, key, headers, quirks } = self;
        let headers: Vec<_> = headers.iter().map(|(name, _)| name).collect();
        f.debug_struct("Endpoint")
            .field("name", name)
            .field("wire", wire)
            .field("host", &self.host())
            .field("key", key)
            .field("headers", &headers)
            .field("quirks", quirks)
            .finish()
    }
}

impl Quirks {
    /// What is known about the server of a host.
    #[must_use]
    pub fn of(wire: Wire, host: &str) -> Self {
        let is = |domain: &str| host == domain || host.ends_with(&format!(".{domain}"));
        let own = wire == Wire::Chat && is("openai.com");
        Self {
            token_limit: if own {
                TokenLimitName::MaxCompletionTokens
            } else {
                TokenLimitName::MaxTokens
            },
            reasoning: if own || is("groq.com") || is("mistral.ai") {
                ReasoningBack::Never
            } else {
                ReasoningBack::ToolTurns
            },
            call_ids: if is("mistral.ai") { CallIds::NineCharacters } else { CallIds::Common },
        }
    }
}

/// A base address; without a scheme it is a plain local server, as `OLLAMA_HOST` gives it.
fn parse_base(base: &str, wire: Wire) -> Result<Url, AddressError> {
    let base = base.trim();
    let bare = !base.contains("://");
    let text = if bare { format!("http://{base}") } else { base.to_owned() };
    // What is wrong with it is plain to see for whoever wrote it.
    let Ok(mut url) = Url::parse(&text) else { return Err(AddressError::NotAnAddress) };
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        return Err(AddressError::NotAnAddress);
    }
    let everywhere = match url.host() {
        Some(Host::Ipv4(ip)) => ip.is_unspecified(),
        Some(Host::Ipv6(ip)) => ip.is_unspecified(),
        Some(Host::Domain(_)) | None => false,
    };
    // Servers listen on "everywhere"; clients have to name a place.
    if everywhere && url.set_ip_host(IpAddr::V4(Ipv4Addr::LOCALHOST)).is_err() {
        return Err(AddressError::NotAnAddress);
    }
    if bare && wire == Wire::Ollama && url.port().is_none() && url.set_port(Some(11434)).is_err() {
        return Err(AddressError::NotAnAddress);
    }
    Ok(url)
}

fn is_private(host: Option<&Host<&str>>) -> bool {
    match host {
        Some(Host::Domain(name)) => {
            // A name without a dot is one of the local network or of a container.
            let suffixes = [".localhost", ".local", ".internal", ".lan", ".home.arpa"];
            !name.contains('.') || suffixes.iter().any(|suffix| name.ends_with(suffix))
        }
        Some(Host::Ipv4(ip)) => is_private_v4(*ip),
        Some(Host::Ipv6(ip)) => is_private_v6(*ip),
        None => false,
    }
}

fn is_private_v4(ip: Ipv4Addr) -> bool {
    let shared = ip.octets()[0] == 100 && (64..128).contains(&ip.octets()[1]);
    ip.is_loopback() || ip.is_private() || ip.is_link_local() || shared
}

fn is_private_v6(ip: Ipv6Addr) -> bool {
    let mapped = ip.to_ipv4_mapped().is_some_and(is_private_v4);
    ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local() || mapped
}

/// What may be the secret in a header: all of it, each word, and what stands behind a sign
/// that names something, as in "Bearer KEY" and "token=KEY".
fn within(value: &str) -> impl Iterator<Item = &str> {
    let tails = value.match_indices(['=', ':', ' ']).filter_map(|(at, _)| value.get(at + 1..));
    tails.chain(value.split_whitespace()).chain([value])
}
