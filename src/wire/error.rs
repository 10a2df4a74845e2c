//! What kind of failure an error of a provider is.

use std::{sync::Arc, time::Duration};

use serde_json::Value;

use super::{
    frame::{SseFrame, SseFramer},
    head::Head,
    json,
    json::Lenient as _,
    time,
};
use crate::model::stream::{ErrorClass, OptionalField, Retry, StreamError};

/// A server may ask for a pause of at most this; beyond it the user decides.
pub const LONGEST_WAIT: Duration = Duration::from_secs(120);

/// Characters of a provider's message that are kept.
const MESSAGE_LIMIT: usize = 2000;

/// The error of a response whose status is no success.
pub(super) fn of_response(head: &Head, body: &str) -> StreamError {
    let mut error = match document(body) {
        Some(value) => of_value(&value, Some(head.status)),
        None if is_html(head, body) => of_html(head.status, body),
        None => plain(head, body),
    };
    error.status = Some(head.status);
    error.request_id = head.request_id.as_ref().map(Arc::clone).or(error.request_id);
    error.wait = head.wait.or(error.wait).or_else(|| head.rate_reset());
    error.retry = match refused_field(head.status, body) {
        Some(field) => Retry::Without(field),
        None => response_retry(head, &error),
    };
    error
}

/// The document in the body of an error. Some gateways send it as a server-sent event, as
/// they would have sent the answer.
fn document(body: &str) -> Option<Value> {
    let parse = |text: &str| json::parse(text.trim()).ok().map(|(value, _)| value);
    parse(body).or_else(|| {
        let mut framer = SseFramer::new();
        let mut frames = Vec::new();
        framer.feed(body.as_bytes(), &mut frames).ok()?;
        frames.extend(framer.finish(&mut Vec::new()).map(SseFrame::Event));
        frames.into_iter().find_map(|frame| match frame {
            SseFrame::Event(event) => parse(&event.data),
            SseFrame::Error(text) => parse(&text),
            SseFrame::Comment | SseFrame::BadUtf8 => None,
        })
    })
}

/// The error that a reply carried in its stream. `shown` says that part of the answer was
/// already there, so that asking again would bill and show it twice.
pub(super) fn of_stream(value: &Value, shown: bool) -> StreamError {
    let mut error = of_value(value, None);
    error.retry = if shown || !is_passing(error.class) { Retry::Never } else { pause(error.wait) };
    error
}

/// A page for people in the place of a reply: its title is all that is shown of it.
pub(super) fn of_html(status: u16, page: &str) -> StreamError {
    let title = html_title(page).unwrap_or_else(|| "a page without a title".into());
    StreamError {
        status: Some(status),
        ..StreamError::new(ErrorClass::ProxyHtml, format!("HTTP {status}: {title}"))
    }
}

/// True when the value says that something failed.
pub(super) fn is_error(value: &Value) -> bool {
    let said = value.get("error").is_some_and(|error| match error {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Bool(true) | Value::Number(_) | Value::Array(_) => true,
    });
    said || value.text("object") == Some("error") || value.text("type") == Some("error")
}

/// True when the document's own words say that it is a page for people.
pub(super) fn looks_like_html(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim_start().starts_with('<')
}

fn is_html(head: &Head, body: &str) -> bool {
    head.content_type == "text/html" || looks_like_html(body)
}

fn plain(head: &Head, body: &str) -> StreamError {
    let text = body.trim();
    let message = match (&head.location, text.is_empty()) {
        (Some(location), _) if (300..400).contains(&head.status) => {
            format!("it points to {}, which is not followed", host_of(location))
        }
        (_, true) => format!("HTTP {}", head.status),
        (_, false) => clean(text),
    };
    StreamError::new(refine(class_of_status(head.status), text), message)
}

fn of_value(value: &Value, status: Option<u16>) -> StreamError {
    // Gemini wraps its error document in an array at times.
    let value = value.as_array().and_then(|list| list.first()).unwrap_or(value);
    let error = value.get("error").filter(|error| !error.is_null()).unwrap_or(value);
    let message =
        message_of(error).or_else(|| message_of(value)).unwrap_or_else(|| "no reason given".into());
    let codes = [error.get("code"), error.get("type"), error.get("status"), error.get("reason")];
    let number = codes.iter().flatten().find_map(|code| as_status(code));
    let words = codes.iter().flatten().filter_map(|code| code.as_str());
    let class = class_of(words.clone().find_map(class_of_word), status.or(number));
    let code = words.clone().find(|word| *word != "error").map(Arc::from);
    StreamError {
        status: status.or(number),
        code: code.or_else(|| number.map(|number| number.to_string().into())),
        request_id: value.text("request_id").map(Arc::from),
        wait: retry_info(error),
        ..StreamError::new(refine(class, &message), message)
    }
}

/// What an error says, in any of the shapes that are met.
fn message_of(error: &Value) -> Option<String> {
    if let Some(text) = error.as_str() {
        return Some(clean(text));
    }
    let detail = match error.get("detail") {
        Some(Value::Array(list)) => {
            Some(list.iter().map(validation).collect::<Vec<_>>().join("; "))
        }
        Some(Value::String(text)) => Some(text.clone()),
        _ => None,
    };
    let text = error.text("message").map(str::to_owned).or(detail)?;
    // Routers put what the provider behind them said beside their own words.
    let cause = error.get("metadata").and_then(|metadata| metadata.text("raw"));
    Some(clean(&cause.map_or_else(|| text.clone(), |cause| format!("{text}: {cause}"))))
}

/// One entry of a list of validation errors: where and what.
fn validation(entry: &Value) -> String {
    let place = entry.list("loc").iter().map(|step| match step {
        Value::String(name) => name.clone(),
        other => other.to_string(),
    });
    let place = place.collect::<Vec<_>>().join(".");
    format!("{place}: {}", entry.text("msg").unwrap_or("not valid"))
}

/// Text for one line: no control characters, and not without end.
fn clean(text: &str) -> String {
    let visible = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let mut line: String = visible.take(MESSAGE_LIMIT).collect();
    line.truncate(line.trim_end().len());
    line
}

fn as_status(code: &Value) -> Option<u16> {
    let number = code.as_u64().or_else(|| code.as_str()?.parse().ok())?;
    u16::try_from(number).ok().filter(|status| (300..600).contains(status))
}

fn class_of_word(word: &str) -> Option<ErrorClass> {
    let word = word.to_ascii_lowercase();
    Some(match word.as_str() {
        "context_length_exceeded" | "exceed_context_size_error" | "string_above_max_length" => {
            ErrorClass::ContextLength
        }
        "overloaded_error" | "overloaded" | "server_is_overloaded" | "unavailable" => {
            ErrorClass::Overloaded
        }
        "resource_exhausted" | "too_many_requests" => ErrorClass::RateLimit,
        "authentication_error" | "invalid_api_key" | "unauthenticated" | "unauthorized" => {
            ErrorClass::Auth
        }
        "permission_error" | "permission_denied" => ErrorClass::Permission,
        "not_found_error" | "model_not_found" | "not_found" => ErrorClass::NotFound,
        "request_too_large" => ErrorClass::TooLarge,
        "timeout_error" | "deadline_exceeded" => ErrorClass::Timeout,
        "api_error" | "server_error" | "internal" | "internal_server_error" => ErrorClass::Server,
        "content_policy_violation" | "content_filter" | "invalid_prompt" => ErrorClass::Blocked,
        "tool_use_failed" => ErrorClass::MalformedCall,
        "invalid_request_error" | "invalid_argument" | "bad_request" => ErrorClass::BadRequest,
        _ if word.contains("insufficient_quota") || word.contains("billing") => ErrorClass::Billing,
        _ if word.starts_with("rate_limit") => ErrorClass::RateLimit,
        _ => return None,
    })
}

/// A bad request is said of many things, which the status may tell apart.
fn class_of(said: Option<ErrorClass>, status: Option<u16>) -> ErrorClass {
    let status = status.unwrap_or(0);
    match said {
        Some(ErrorClass::BadRequest) if (400..500).contains(&status) => class_of_status(status),
        Some(class) => class,
        None => class_of_status(status),
    }
}

fn class_of_status(status: u16) -> ErrorClass {
    match status {
        300..400 => ErrorClass::Redirect,
        401 => ErrorClass::Auth,
        402 => ErrorClass::Billing,
        403 => ErrorClass::Permission,
        404 | 410 => ErrorClass::NotFound,
        408 | 504 | 524 => ErrorClass::Timeout,
        413 => ErrorClass::TooLarge,
        429 => ErrorClass::RateLimit,
        503 | 529 => ErrorClass::Overloaded,
        400..500 => ErrorClass::BadRequest,
        _ => ErrorClass::Server,
    }
}

/// A general class made a particular one by what the message says.
fn refine(class: ErrorClass, message: &str) -> ErrorClass {
    let general =
        matches!(class, ErrorClass::BadRequest | ErrorClass::Server | ErrorClass::TooLarge);
    if !general {
        return class;
    }
    let message = message.to_ascii_lowercase();
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| message.contains(phrase));
    if says(&[
        "context length",
        "context size",
        "context window",
        "prompt is too long",
        "maximum context",
    ]) {
        ErrorClass::ContextLength
    } else if says(&["credit balance"]) {
        ErrorClass::Billing
    } else {
        class
    }
}

/// Failures that pass by themselves.
fn is_passing(class: ErrorClass) -> bool {
    matches!(
        class,
        ErrorClass::Overloaded | ErrorClass::RateLimit | ErrorClass::Server | ErrorClass::Timeout
    )
}

fn response_retry(head: &Head, error: &StreamError) -> Retry {
    let by_status = matches!(head.status, 408 | 409 | 425 | 429 | 500 | 502 | 503 | 504 | 529);
    let hopeless = matches!(error.class, ErrorClass::Billing | ErrorClass::ContextLength);
    if head.should_retry.unwrap_or(by_status && !hopeless) {
        pause(error.wait)
    } else {
        Retry::Never
    }
}

/// The pause before the next try: the stated one unless it is too long to wait for.
fn pause(wait: Option<Duration>) -> Retry {
    match wait {
        Some(wait) if wait > LONGEST_WAIT => Retry::Never,
        Some(wait) => Retry::After(wait),
        None => Retry::Backoff,
    }
}

fn refused_field(status: u16, body: &str) -> Option<OptionalField> {
    let named = matches!(status, 400 | 422) && body.contains("stream_options");
    named.then_some(OptionalField::StreamOptions)
}

/// Gemini's `RetryInfo` among the details.
fn retry_info(error: &Value) -> Option<Duration> {
    let details = error.list("details").iter();
    details.filter_map(|detail| detail.text("retryDelay")).find_map(time::duration)
}

/// The host of an address, without what may be secret in it.
fn host_of(location: &str) -> String {
    let host = url::Url::parse(location).ok().and_then(|url| url.host_str().map(str::to_owned));
    host.unwrap_or_else(|| "another address".into())
}

fn html_title(page: &str) -> Option<String> {
    let lower = page.to_ascii_lowercase();
    let open = lower.find("<title")?;
    let start = open + lower.get(open..)?.find('>')? + 1;
    let end = lower.get(start..)?.find('<').map_or(page.len(), |end| start + end);
    let title = page.get(start..end)?.split_whitespace().collect::<Vec<_>>().join(" ");
    let title: String = title.chars().filter(|c| !c.is_control()).take(200).collect();
    (!title.is_empty()).then_some(title)
}
