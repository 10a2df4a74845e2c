//! Fetching a page. Who knows HTTP does it; here is what is asked, and what becomes of it.

mod page;

use std::{future::Future, pin::Pin, sync::Arc};

use url::Url;

use super::{
    cancel::Stop,
    output::{OutputPart, ToolOutput},
};

pub use page::text_of_html;

/// Bytes of a page.
pub const MAX_PAGE: usize = 5 * 1024 * 1024;

/// What a fetcher promises to do.
pub type Fetching<'a> = Pin<Box<dyn Future<Output = Result<Fetched, String>> + Send + 'a>>;

/// Fetches pages. It sends no cookies, keys or names of the user's, and obeys what a
/// [`FetchRequest`] says.
pub trait Fetcher: Send + Sync {
    /// Fetches a page. The error is one sentence. Dropping the future ends the request.
    fn fetch(&self, request: FetchRequest) -> Fetching<'_>;
}

/// What to fetch, and within which bounds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FetchRequest {
    /// The address: http or https, without name and password. Redirects are followed on this
    /// host and scheme only; any other is given back as it is, with `Location`.
    pub url: Url,
    /// Bytes of the body; what is over is left out, and said.
    pub max_bytes: usize,
    /// The user was warned that the host is within his own network. Otherwise a name that
    /// leads there, when it is looked up to connect, is refused: see
    /// [`is_private_ip`](super::policy::is_private_ip).
    pub may_be_private: bool,
}

/// A page, or what came instead of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fetched {
    /// The status.
    pub status: u16,
    /// The type of the body, as the server says.
    pub content_type: String,
    /// Where a redirect that was not followed leads.
    pub location: Option<String>,
    /// The body, without any coding of its transfer.
    pub body: Vec<u8>,
    /// The body had more bytes than asked for.
    pub is_cut: bool,
}

pub(super) async fn fetch(
    fetcher: Option<&Arc<dyn Fetcher>>,
    request: FetchRequest,
    mut stop: Stop,
) -> ToolOutput {
    let Some(fetcher) = fetcher else {
        return ToolOutput::error("pages cannot be fetched here");
    };
    let url = request.url.clone();
    let fetched = tokio::select! {
        biased;
        () = stop.due() => return ToolOutput::error("[stopped by the user]"),
        fetched = fetcher.fetch(request) => fetched,
    };
    match fetched {
        Ok(page) => shown(&url, page),
        Err(why) => ToolOutput::error(&format!("{url} was not fetched: {why}")),
    }
}

fn shown(url: &Url, page: Fetched) -> ToolOutput {
    if let Some(location) = page.location.as_deref().filter(|_| (300..400).contains(&page.status)) {
        let target = url.join(location).map_or_else(|_| location.to_owned(), |url| url.to_string());
        return ToolOutput::text(&format!(
            "{url} redirects to {target}, which was not followed. Fetch that if it is wanted."
        ));
    }
    let kind = page.content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let is_error = !(200..300).contains(&page.status);
    let mut output = body(&kind, page.body);
    let mut notes = Vec::new();
    if is_error {
        notes.push(format!("[status {}]", page.status));
    }
    if page.is_cut {
        notes.push("[the page is longer than what was fetched]".to_owned());
    }
    if !notes.is_empty() {
        output.text = format!("{}\n{}", notes.join("\n"), output.text).into();
    }
    output.is_error |= is_error;
    output
}

fn body(kind: &str, body: Vec<u8>) -> ToolOutput {
    if matches!(kind, "image/png" | "image/jpeg" | "image/gif" | "image/webp") {
        let text: Arc<str> = format!("(a picture, {kind}, {} bytes)", body.len()).into();
        let image = OutputPart::Image { media_type: kind.into(), bytes: body.into() };
        return ToolOutput { text, parts: vec![image], ..ToolOutput::default() };
    }
    let is_html = matches!(kind, "text/html" | "application/xhtml+xml");
    let is_text = is_html
        || kind.is_empty()
        || kind.starts_with("text/")
        || ["json", "xml", "javascript", "yaml", "toml"].iter().any(|name| kind.ends_with(name));
    if !is_text || memchr::memchr(0, &body).is_some() {
        return ToolOutput::error(&format!(
            "the page is {kind}, {} bytes, and not text",
            body.len()
        ));
    }
    let text = String::from_utf8_lossy(&body);
    let text = if is_html { text_of_html(&text) } else { text.into_owned() };
    ToolOutput::text(text.trim())
}
