//! Pages of the web: one GET, without anything of the user's.
//!
//! A page is asked for directly, not through a proxy, because only who looks a name up himself
//! knows where it leads: the address that was checked is the one that is connected to.

use std::{
    fmt,
    net::{IpAddr, SocketAddr},
    sync::Arc,
    time::Duration,
};

use reqwest::{
    Client, Response,
    dns::{Addrs, Name, Resolve, Resolving},
    header::{CONTENT_ENCODING, CONTENT_TYPE, LOCATION},
    redirect,
};
use tokio::time::timeout;
use url::{Host, Url};

use super::http::{HttpConfig, trusting, words};
use crate::model::stream::StreamError;

/// Tells addresses of the user's own network.
pub type IsPrivate = fn(IpAddr) -> bool;

/// Redirects that are followed.
const MAX_REDIRECTS: usize = 5;
/// How long a connection may take.
const CONNECT: Duration = Duration::from_secs(10);
/// How long a server may say nothing.
const SILENCE: Duration = Duration::from_secs(30);
/// How long a page may take.
const TOTAL: Duration = Duration::from_secs(120);

/// Gets pages.
#[derive(Debug)]
pub struct Pages {
    public: Client,
    any: Client,
    is_private: IsPrivate,
}

/// A page, or what came instead of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Page {
    /// The status.
    pub status: u16,
    /// The type of the body, as the server says.
    pub content_type: String,
    /// Where a redirect that was not followed leads.
    pub location: Option<String>,
    /// The body.
    pub body: Vec<u8>,
    /// The body had more bytes than asked for.
    pub is_cut: bool,
}

/// Why there is no page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PageError {
    /// The address cannot be asked for: what is wrong with it.
    Address(&'static str),
    /// The name leads into the user's own network.
    Private,
    /// The server fell silent, or took too long.
    Late,
    /// The body is coded although it was asked for as it is.
    Coded,
    /// The request failed.
    Failed(String),
}

impl fmt::Display for PageError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Address(what) => f.write_str(what),
            Self::Private => f.write_str("the address is in your own network"),
            Self::Late => f.write_str("the server took too long"),
            Self::Coded => f.write_str("the page came compressed"),
            Self::Failed(words) => f.write_str(words),
        }
    }
}

impl std::error::Error for PageError {}

impl Pages {
    /// Gets pages by these settings, of which the proxy does not count.
    ///
    /// # Errors
    /// When a certificate is not valid.
    pub fn new(config: &HttpConfig, is_private: IsPrivate) -> Result<Self, StreamError> {
        let client = |resolver: Resolver| {
            let builder = Client::builder()
                .user_agent(concat!("letterpress/", env!("CARGO_PKG_VERSION")))
                .connect_timeout(CONNECT)
                .referer(false)
                .redirect(redirect::Policy::custom(follow))
                .no_proxy()
                .dns_resolver(Arc::new(resolver))
                .http1_only();
            trusting(builder, config)
        };
        Ok(Self {
            public: client(Resolver { refused: Some(is_private) })?,
            any: client(Resolver { refused: None })?,
            is_private,
        })
    }

    /// Gets a page of the public net, with at most `max_bytes` of its body.
    ///
    /// # Errors
    /// Also when the name leads into the user's own network.
    pub async fn get_public(&self, url: Url, max_bytes: usize) -> Result<Page, PageError> {
        // A name is checked when it is looked up; an address is not looked up.
        let address = match url.host() {
            Some(Host::Ipv4(ip)) => Some(IpAddr::from(ip)),
            Some(Host::Ipv6(ip)) => Some(IpAddr::from(ip)),
            Some(Host::Domain(_)) | None => None,
        };
        if address.is_some_and(self.is_private) {
            return Err(PageError::Private);
        }
        get(&self.public, url, max_bytes).await
    }

    /// Gets a page from anywhere, with at most `max_bytes` of its body.
    ///
    /// # Errors
    /// When there is none.
    pub async fn get_any(&self, url: Url, max_bytes: usize) -> Result<Page, PageError> {
        get(&self.any, url, max_bytes).await
    }
}

async fn get(client: &Client, url: Url, max_bytes: usize) -> Result<Page, PageError> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(PageError::Address("it is neither http nor https"));
    }
    if has_names(&url) {
        return Err(PageError::Address("the address holds a name or a password"));
    }
    let getting = async {
        let request = client.get(url).header("accept-encoding", "identity").header("accept", "*/*");
        let response = timeout(SILENCE, request.send()).await.map_err(late)?.map_err(failed)?;
        read(response, max_bytes).await
    };
    timeout(TOTAL, getting).await.map_err(late)?
}

async fn read(mut response: Response, max_bytes: usize) -> Result<Page, PageError> {
    let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
    if header(CONTENT_ENCODING).is_some_and(|coding| !coding.eq_ignore_ascii_case("identity")) {
        return Err(PageError::Coded);
    }
    let mut page = Page {
        status: response.status().as_u16(),
        content_type: header(CONTENT_TYPE).unwrap_or_default().to_owned(),
        location: header(LOCATION).map(str::to_owned),
        ..Page::default()
    };
    while let Some(bytes) =
        timeout(SILENCE, response.chunk()).await.map_err(late)?.map_err(failed)?
    {
        let room = max_bytes - page.body.len();
        page.body.extend_from_slice(bytes.get(..room).unwrap_or(&bytes));
        if bytes.len() > room {
            page.is_cut = true;
            break;
        }
    }
    Ok(page)
}

/// A redirect is followed on the same host only; others are the model's to ask for.
fn follow(attempt: redirect::Attempt<'_>) -> redirect::Action {
    let origin = |url: &Url| {
        (url.scheme().to_owned(), url.host_str().map(str::to_owned), url.port_or_known_default())
    };
    let is_same =
        attempt.previous().last().is_some_and(|from| origin(from) == origin(attempt.url()));
    let is_plain = is_same && !has_names(attempt.url());
    if is_plain && attempt.previous().len() <= MAX_REDIRECTS {
        attempt.follow()
    } else {
        attempt.stop()
    }
}

fn has_names(url: &Url) -> bool {
    !url.username().is_empty() || url.password().is_some()
}

fn late(_elapsed: tokio::time::error::Elapsed) -> PageError {
    PageError::Late
}

fn failed(error: reqwest::Error) -> PageError {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(&error);
    while let Some(inner) = cause {
        if inner.is::<Refused>() {
            return PageError::Private;
        }
        cause = inner.source();
    }
    if error.is_timeout() { PageError::Late } else { PageError::Failed(words(error)) }
}

/// Looks names up, and leaves out the addresses that are refused.
struct Resolver {
    refused: Option<IsPrivate>,
}

/// All addresses of a name were refused.
#[derive(Debug)]
struct Refused;

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name leads into the own network")
    }
}

impl std::error::Error for Refused {}

impl Resolve for Resolver {
    fn resolve(&self, name: Name) -> Resolving {
        let refused = self.refused;
        Box::pin(async move {
            let found: Vec<SocketAddr> =
                tokio::net::lookup_host((name.as_str(), 0)).await?.collect();
            let is_refused = |address: &SocketAddr| refused.is_some_and(|is| is(address.ip()));
            // A name with both kinds of addresses is refused whole: it wants to be mistaken.
            if found.iter().any(is_refused) {
                return Err(Refused.into());
            }
            Ok(Box::new(found.into_iter()) as Addrs)
        })
    }
}
