//! Carriage returns.

use std::borrow::Cow;

/// A text whose carriage returns are all half of a line end: one that stands alone ends a line
/// too, but the parser does not always think so. Offsets stay.
pub(super) fn unify(text: &str) -> Cow<'_, str> {
    if !has_lone_return(false, text) && !text.ends_with('\r') {
        return Cow::Borrowed(text);
    }
    let mut unified = String::with_capacity(text.len());
    push_unified(&mut unified, text);
    if unified.ends_with('\r') {
        unified.pop();
        unified.push('\n');
    }
    Cow::Owned(unified)
}

/// True when a carriage return before the last byte is not followed by a line feed.
pub(super) fn has_lone_return(pending: bool, text: &str) -> bool {
    let bytes = text.as_bytes();
    (pending && bytes.first() != Some(&b'\n'))
        || memchr::memchr_iter(b'\r', bytes)
            .any(|at| at + 1 < bytes.len() && bytes.get(at + 1) != Some(&b'\n'))
}

pub(super) fn push_unified(unified: &mut String, delta: &str) {
    if unified.ends_with('\r') && !delta.is_empty() && !delta.starts_with('\n') {
        unified.pop();
        unified.push('\n');
    }
    let mut chars = delta.chars().peekable();
    while let Some(c) = chars.next() {
        let lone = c == '\r' && chars.peek().is_some_and(|next| *next != '\n');
        unified.push(if lone { '\n' } else { c });
    }
}
