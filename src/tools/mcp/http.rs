//! The protocol over streamable HTTP.

use std::{collections::HashMap, error::Error, sync::Arc, time::Duration};

use reqwest::{
    Client, Url,
    header::{HeaderName, HeaderValue},
    redirect,
};
use rmcp::transport::{
    StreamableHttpClientTransport,
    streamable_http_client::{StreamableHttpClientTransportConfig, StreamableHttpError},
};
use url::Host;

use super::{environment::Redactor, log::clip};

/// How to reach the world.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Network {
    /// The address of a proxy for everything but this machine; without it the system's count.
    pub proxy: Option<String>,
    /// Certificates to trust besides the system's, as PEM.
    pub certificates: Vec<u8>,
}

const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Bytes of one message from a server.
const MAX_MESSAGE: usize = 16 << 20;
/// Bytes of an error that is no message of the protocol.
const MAX_ERROR: usize = 4 * 1024;
/// Bytes of an error's words.
const MAX_WORDS: usize = 1024;

/// A connection to an address. Nothing is sent yet.
pub(super) fn transport(
    url: &str,
    headers: &[(String, String)],
    network: &Network,
) -> Result<StreamableHttpClientTransport<Client>, String> {
    let address = Url::parse(url).map_err(|error| format!("the address is not valid: {error}"))?;
    check(&address)?;
    let mut config = StreamableHttpClientTransportConfig::with_uri(address.as_str())
        .custom_headers(header_map(headers)?)
        .max_sse_event_size(MAX_MESSAGE)
        .max_json_response_size(MAX_MESSAGE)
        .max_error_response_size(MAX_ERROR)
        .reinit_on_expired_session(true);
    config.max_concurrent_requests = super::connection::MAX_RUNNING;
    let client = client(network, is_loopback(&address))?;
    Ok(StreamableHttpClientTransport::with_client(client, config))
}

fn client(network: &Network, is_loopback: bool) -> Result<Client, String> {
    // Fails when another part of the program chose one before: then that one serves.
    rustls::crypto::ring::default_provider().install_default().ok();
    let mut builder = Client::builder()
        .user_agent(concat!("letterpress/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(CONNECT_TIMEOUT)
        // A redirect would carry the headers, and perhaps a key, somewhere else.
        .redirect(redirect::Policy::none())
        .tcp_nodelay(true)
        .tcp_keepalive(Duration::from_secs(30));
    if is_loopback {
        builder = builder.no_proxy();
    } else if let Some(proxy) = &network.proxy {
        let unusable =
            |error: reqwest::Error| format!("the proxy cannot be used: {}", error.without_url());
        builder = builder.proxy(reqwest::Proxy::all(proxy).map_err(unusable)?);
    }
    if !network.certificates.is_empty() {
        let unusable = |error| format!("the certificates cannot be used: {error}");
        let certificates =
            reqwest::Certificate::from_pem_bundle(&network.certificates).map_err(unusable)?;
        builder = builder.tls_certs_merge(certificates);
    }
    builder.build().map_err(|error| format!("the settings cannot be used: {error}"))
}

/// What may be spoken to: everything in secret, and one's own network in the clear.
fn check(address: &Url) -> Result<(), String> {
    if !address.username().is_empty() || address.password().is_some() {
        return Err("the address holds a password: put it into a header".into());
    }
    match address.scheme() {
        "https" => Ok(()),
        "http" if is_private(address) => Ok(()),
        "http" => Err("the address is neither https nor in your own network".into()),
        _ => Err("the address is neither https nor http".into()),
    }
}

fn is_loopback(address: &Url) -> bool {
    match address.host() {
        Some(Host::Domain(name)) => name == "localhost" || name.ends_with(".localhost"),
        Some(Host::Ipv4(ip)) => ip.is_loopback(),
        Some(Host::Ipv6(ip)) => ip.is_loopback(),
        None => false,
    }
}

fn is_private(address: &Url) -> bool {
    is_loopback(address)
        || match address.host() {
            // A name without a dot is one of the local network or of a container.
            Some(Host::Domain(name)) => {
                let suffixes = [".local", ".internal", ".lan", ".home.arpa"];
                !name.contains('.') || suffixes.iter().any(|suffix| name.ends_with(suffix))
            }
            Some(Host::Ipv4(ip)) => ip.is_private() || ip.is_link_local(),
            Some(Host::Ipv6(ip)) => ip.is_unique_local() || ip.is_unicast_link_local(),
            None => false,
        }
}

fn header_map(headers: &[(String, String)]) -> Result<HashMap<HeaderName, HeaderValue>, String> {
    let header = |(name, value): &(String, String)| {
        // The value may be a secret, so the error names the header alone.
        let unusable = || format!("the header {} cannot be sent", clip(name, 80));
        let mut header = HeaderValue::from_str(value.trim()).map_err(|_error| unusable())?;
        header.set_sensitive(true);
        let name = HeaderName::try_from(name.as_str()).map_err(|_error| unusable())?;
        Ok((name, header))
    };
    headers.iter().map(header).collect()
}

/// What an error of a transport says, without addresses and secrets.
pub(super) fn words(error: &(dyn Error + 'static), redactor: &Redactor) -> Arc<str> {
    let text = match error.downcast_ref::<StreamableHttpError<reqwest::Error>>() {
        Some(error) => http_words(error),
        None => deepest(error).unwrap_or_else(|| error.to_string()),
    };
    redactor.clean(&clip(&text, MAX_WORDS)).into()
}

fn http_words(error: &StreamableHttpError<reqwest::Error>) -> String {
    match error {
        // What it says itself names the address, behind which may stand a key.
        StreamableHttpError::Client(error) => {
            deepest(error).unwrap_or_else(|| "it cannot be reached".into())
        }
        StreamableHttpError::AuthRequired(_) => SIGN_IN.into(),
        StreamableHttpError::InsufficientScope(_) => {
            "what it was given to sign in with does not allow this (403)".into()
        }
        StreamableHttpError::HttpStatus(status) => {
            format!("it answered with status {}", status.status)
        }
        StreamableHttpError::UnexpectedServerResponse(text) if text.starts_with("HTTP 401") => {
            SIGN_IN.into()
        }
        StreamableHttpError::UnexpectedContentType(kind) => {
            format!("it answered with {}", kind.as_deref().unwrap_or("no content type"))
        }
        other => other.to_string(),
    }
}

/// What the cause says that has none itself; what stands above it only says that something
/// failed.
fn deepest(error: &dyn Error) -> Option<String> {
    let mut cause = error.source()?;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    Some(cause.to_string())
}

const SIGN_IN: &str = "it asks for a sign-in (401): give it an Authorization header";
