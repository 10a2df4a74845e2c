//! Pages for the tools.

use std::sync::Arc;

use crate::{
    model::stream::StreamError,
    tools::{
        fetch::{FetchRequest, Fetched, Fetcher, Fetching},
        policy,
    },
    wire::{HttpConfig, Page, Pages},
};

/// Fetches pages for the tools.
#[derive(Clone, Debug)]
pub struct PageFetcher(Arc<Pages>);

impl PageFetcher {
    /// Fetches pages by these settings.
    ///
    /// # Errors
    /// When a certificate is not valid.
    pub fn new(config: &HttpConfig) -> Result<Self, StreamError> {
        Pages::new(config, policy::is_private_ip).map(Arc::new).map(Self)
    }
}

impl Fetcher for PageFetcher {
    fn fetch(&self, request: FetchRequest) -> Fetching<'_> {
        let FetchRequest { url, max_bytes, may_be_private } = request;
        Box::pin(async move {
            let fetched = match may_be_private {
                true => self.0.get_any(url, max_bytes).await,
                false => self.0.get_public(url, max_bytes).await,
            };
            let Page { status, content_type, location, body, is_cut } =
                fetched.map_err(|error| error.to_string())?;
            Ok(Fetched { status, content_type, location, body, is_cut })
        })
    }
}
