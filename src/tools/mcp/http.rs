//! The protocol over streamable HTTP.

use std::{collections::HashMap, error::Error, sync::Arc, time::Duration};

use reqwest::{
    Client, Url,
    header::{HeaderName, HeaderValue},
    redirect,
};
use rmcp::transport::{
    StreamableHttpClientTransport,
    streamable_http_client::{
        AuthRequiredError, HttpStatusError, InsufficientScopeError,
        StreamableHttpClientTransportConfig,
    },
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

/// What an error of a transport says, from the outside in, without addresses and secrets.
pub(super) fn words(error: &(dyn Error + 'static), redactor: &Redactor) -> Arc<str> {
    let mut said: Vec<String> = Vec::new();
    let mut cause = Some(error);
    while let Some(inner) = cause {
        if let Some(known) = known(inner) {
            return redactor.clean(&known).into();
        }
        let text = match inner.downcast_ref::<reqwest::Error>() {
            // It names the address, behind which may stand a key.
            Some(_) => String::new(),
            None => inner.to_string(),
        };
        said.push(text);
        cause = inner.source();
    }
    // What stands further out repeats what is further in, so the last word says it all.
    let last = said.iter().rev().find(|text| !text.is_empty());
    let text = last.cloned().unwrap_or_else(|| "it cannot be reached".into());
    redactor.clean(&clip(&text, MAX_WORDS)).into()
}

fn known(error: &(dyn Error + 'static)) -> Option<String> {
    if error.is::<AuthRequiredError>() {
        return Some(SIGN_IN.into());
    }
    if error.is::<InsufficientScopeError>() {
        return Some("what it was given to sign in with does not allow this (403)".into());
    }
    if let Some(status) = error.downcast_ref::<HttpStatusError>() {
        return Some(format!("it answered with status {}", status.status));
    }
    let text = error.to_string();
    (text.contains("401") && text.contains("nauthorized")).then(|| SIGN_IN.into())
}

const SIGN_IN: &str = "it asks for a sign-in (401): give it an Authorization header";
