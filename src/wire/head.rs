//! The head of a response: status and the headers that matter.

use std::{sync::Arc, time::Duration};

use super::time;
use crate::model::stream::RateWindow;

/// What a response says before its body.
#[derive(Clone, Debug, Default)]
pub struct Head {
    /// The HTTP status.
    pub status: u16,
    /// `Content-Type`, lower case, without parameters.
    pub content_type: String,
    /// `Content-Encoding` as sent.
    pub content_encoding: Option<String>,
    /// Where a redirect points.
    pub location: Option<String>,
    /// What the provider's support asks for.
    pub request_id: Option<Arc<str>>,
    /// `x-should-retry`, which overrides every rule of ours.
    pub should_retry: Option<bool>,
    /// The pause that `retry-after-ms` or `retry-after` asks for.
    pub wait: Option<Duration>,
    /// What the provider still allows.
    pub rate: Vec<RateWindow>,
}

/// Resources that rate limits count, as they stand at the end of header names.
const RESOURCES: [&str; 4] = ["requests", "tokens", "input-tokens", "output-tokens"];

impl Head {
    /// Reads a head. `header` gives the value of a header by its lower-case name;
    /// `now_ms` is the time in milliseconds since 1970, which dates are held against.
    #[must_use]
    pub fn read<'h>(status: u16, header: impl Fn(&str) -> Option<&'h str>, now_ms: i64) -> Self {
        let content_type = header("content-type").unwrap_or_default();
        let content_type = content_type.split(';').next().unwrap_or_default();
        let request_id = ["request-id", "x-request-id", "x-generation-id"]
            .into_iter()
            .find_map(&header)
            .map(|id| Arc::from(shorten(id)));
        Self {
            status,
            content_type: content_type.trim().to_ascii_lowercase(),
            content_encoding: header("content-encoding").map(str::to_owned),
            location: header("location").map(str::to_owned),
            request_id,
            should_retry: header("x-should-retry").and_then(|value| value.trim().parse().ok()),
            wait: stated_wait(&header, now_ms),
            rate: RESOURCES.iter().filter_map(|r| window(r, &header, now_ms)).collect(),
        }
    }

    /// True when the body is a reply, not an error.
    #[must_use]
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// How long until every allowance that is used up is full again.
    pub(super) fn rate_reset(&self) -> Option<Duration> {
        let spent = self.rate.iter().filter(|window| window.remaining == Some(0));
        spent.filter_map(|window| window.reset).max()
    }
}

fn stated_wait<'h>(header: impl Fn(&str) -> Option<&'h str>, now_ms: i64) -> Option<Duration> {
    let millis = header("retry-after-ms").and_then(|text| text.trim().parse::<f64>().ok());
    if let Some(wait) = millis.and_then(|ms| Duration::try_from_secs_f64(ms / 1000.0).ok()) {
        return Some(wait);
    }
    let text = header("retry-after")?;
    time::duration(text).or_else(|| until(time::http_date_ms(text)?, now_ms))
}

fn until(time_ms: i64, now_ms: i64) -> Option<Duration> {
    let ms = u64::try_from(time_ms.saturating_sub(now_ms)).unwrap_or(0);
    Some(Duration::from_millis(ms))
}

fn window<'h>(
    resource: &str,
    header: impl Fn(&str) -> Option<&'h str>,
    now_ms: i64,
) -> Option<RateWindow> {
    let read = |what: &str| {
        header(&format!("x-ratelimit-{what}-{resource}"))
            .or_else(|| header(&format!("anthropic-ratelimit-{resource}-{what}")))
    };
    let number = |what: &str| read(what).and_then(|text| text.trim().parse().ok());
    let (limit, remaining) = (number("limit"), number("remaining"));
    let reset = read("reset")
        .and_then(|text| time::duration(text).or_else(|| until(time::rfc3339_ms(text)?, now_ms)));
    let known = limit.is_some() || remaining.is_some();
    known.then(|| RateWindow { resource: resource.into(), limit, remaining, reset })
}

/// An id for people to copy: short, and nothing but visible ASCII.
fn shorten(id: &str) -> String {
    id.chars().filter(char::is_ascii_graphic).take(128).collect()
}
