//! The end of a text or value as it is shown while it may still be half a tag.
//!
//! Nothing here changes what is stored.

use super::{code::Place, trim::is_space, vocabulary::MAX_NAME_BYTES};

/// Whether more may come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the documentation")]
pub enum Arrival {
    Partial,
    Complete,
}

/// The part of a text that is shown. `text` has no reasoning tags and no white space
/// around it; `place` is where it ends.
///
/// A partial text loses a tail that may be half a tag, except in code. A complete one
/// loses a bare `<` or `</`, and a code fence opened with nothing in it, which models
/// write before a tool call. Costs the length of the tail.
#[must_use]
pub fn shown_text(text: &str, arrival: Arrival, place: Place) -> &str {
    let text = match half_tag(text) {
        Some(tail) if place == Place::Prose && tail.is_cut(arrival) => tail.before,
        _ => text,
    };
    match arrival {
        Arrival::Partial => text,
        Arrival::Complete => without_opened_fence(text),
    }
}

/// The part of a partial tool's parameter that is shown: without half its closing tag.
#[must_use]
pub fn shown_value<'a>(param: &str, value: &'a str) -> &'a str {
    let Some((before, tail)) = value.rsplit_once('<') else { return value };
    let letters = tail.strip_prefix('/').unwrap_or(tail);
    if !is_subsequence(letters, param) {
        return value;
    }
    before.strip_suffix(is_space).unwrap_or(before)
}

/// What a text ends in when that may be half a tag.
struct HalfTag<'a> {
    before: &'a str,
    name: &'a str,
}

impl HalfTag<'_> {
    fn is_cut(&self, arrival: Arrival) -> bool {
        arrival == Arrival::Partial || self.name.is_empty()
    }
}

/// Reads backwards: letters, then white space that only a `/` may be followed by, then
/// `<` or `</`.
fn half_tag(text: &str) -> Option<HalfTag<'_>> {
    let name_start = text.trim_end_matches(|c: char| c.is_ascii_alphabetic() || c == '_').len();
    let (head, name) = text.split_at_checked(name_start)?;
    if name.len() > MAX_NAME_BYTES {
        return None;
    }
    let before = match head.strip_suffix('<') {
        Some(before) => before,
        None => head.trim_end_matches(is_space).strip_suffix("</")?,
    };
    Some(HalfTag { before: before.trim_end_matches(is_space), name })
}

fn without_opened_fence(text: &str) -> &str {
    let body = text.trim_end_matches(is_space);
    let is_info = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let head = body.trim_end_matches(is_info);
    if head.len() == body.len() { text } else { head.strip_suffix("```").unwrap_or(text) }
}

fn is_subsequence(part: &str, whole: &str) -> bool {
    let mut rest = whole.chars();
    part.chars().all(|c| rest.any(|w| w == c))
}

/// What the reference system shows of a text, so that ours can be held against it: tags
/// of reasoning vanish and their words stay, and half a tag is cut everywhere.
#[must_use]
pub fn shown_by_reference(content: &str, arrival: Arrival) -> String {
    let mut content = content.to_owned();
    for name in ["thinking", "think", "function_calls"] {
        content = without_tag_and_space_after(&content, &format!("<{name}>"));
        content = without_tag_and_space_before(&content, &format!("</{name}>"));
    }
    if let Some((before, tail)) = content.rsplit_once('<')
        && is_half_tag_to_reference(tail)
    {
        content = before.trim_matches(is_space).to_owned();
    }
    match arrival {
        Arrival::Partial => content,
        Arrival::Complete => without_opened_fence(&content).to_owned(),
    }
}

fn is_half_tag_to_reference(tail: &str) -> bool {
    let name = tail.strip_prefix('/').unwrap_or(tail);
    let letters = name.trim_matches(is_space);
    let is_name =
        !letters.is_empty() && letters.chars().all(|c| c.is_ascii_alphabetic() || c == '_');
    name.is_empty() || is_name
}

fn without_tag_and_space_after(text: &str, tag: &str) -> String {
    let Some((first, tail)) = text.split_once(tag) else { return text.to_owned() };
    let pieces = tail.split(tag).map(|piece| piece.strip_prefix(is_space).unwrap_or(piece));
    [first].into_iter().chain(pieces).collect()
}

fn without_tag_and_space_before(text: &str, tag: &str) -> String {
    let Some((head, last)) = text.rsplit_once(tag) else { return text.to_owned() };
    let pieces = head.split(tag).map(|piece| piece.strip_suffix(is_space).unwrap_or(piece));
    pieces.chain([last]).collect()
}
