//! The few HTML tags that mean something here; all others are shown as text.

use crate::model::Style;

/// What an inline tag does.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum InlineTag {
    /// `<br>`
    Break,
    /// `<kbd>`, `<sub>`, `<sup>`
    Open(Style),
    /// Their ends.
    Close(Style),
    /// `<!-- … -->`
    Comment,
    /// Anything else: text.
    Other,
}

/// Reads one inline tag, `<` to `>`.
pub(super) fn inline_tag(html: &str) -> InlineTag {
    if html.starts_with("<!--") {
        return InlineTag::Comment;
    }
    let Some(tag) = Tag::read(html) else { return InlineTag::Other };
    let style = match tag.name.to_ascii_lowercase().as_str() {
        "br" => return InlineTag::Break,
        "kbd" => Style::KBD,
        "sub" => Style::SUB,
        "sup" => Style::SUP,
        _ => return InlineTag::Other,
    };
    if tag.closing { InlineTag::Close(style) } else { InlineTag::Open(style) }
}

/// A piece of an HTML block.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum HtmlPart<'a> {
    /// `<details>`
    Open,
    /// The text of `<summary>…</summary>` that leads a piece.
    Summary(&'a str),
    /// `</details>`
    Close,
    /// Text to show as it is; never blank.
    Raw(&'a str),
}

/// Splits an HTML block at its `details` tags. Comments and blocks that hold program text are
/// not looked into.
pub(super) fn parts(html: &str) -> Vec<HtmlPart<'_>> {
    let opaque = ["<!", "<?", "<script", "<style", "<pre", "<textarea"];
    let head = html.trim_start();
    let is_opaque = opaque.iter().any(|start| starts_with(head, start));
    let mut parts = Vec::new();
    let mut rest = html;
    while let Some((before, tag, after)) = next_details(rest).filter(|_| !is_opaque) {
        push_raw(&mut parts, before);
        rest = after;
        if tag.closing {
            parts.push(HtmlPart::Close);
        } else {
            parts.push(HtmlPart::Open);
        }
    }
    push_raw(&mut parts, rest);
    parts
}

fn push_raw<'a>(parts: &mut Vec<HtmlPart<'a>>, text: &'a str) {
    let mut text = text;
    if let Some((summary, after)) = summary(text) {
        parts.push(HtmlPart::Summary(summary));
        text = after;
    }
    let text = text.trim_matches(['\n', '\r']).trim_end();
    let only_breaks =
        text.split_ascii_whitespace().all(|word| inline_tag(word) == InlineTag::Break);
    if !only_breaks {
        parts.push(HtmlPart::Raw(text));
    }
}

/// Splits `<summary>…</summary>` from the front of a text.
fn summary(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    if !starts_with(text, "<summary") {
        return None;
    }
    let tag = Tag::read(text)?;
    if !tag.name.eq_ignore_ascii_case("summary") {
        return None;
    }
    let body = text.get(tag.len..)?;
    let end = find_tag(body, "</summary")?;
    let (inner, close) = body.split_at(end);
    let after = close.split_once('>').map_or("", |(_, after)| after);
    Some((inner.trim(), after))
}

/// The next `<details …>` or `</details>`, what stands before it and what behind.
fn next_details(text: &str) -> Option<(&str, Tag<'_>, &str)> {
    let mut from = 0;
    loop {
        let at = from + memchr::memchr(b'<', text.as_bytes().get(from..)?)?;
        let rest = text.get(at..)?;
        if starts_with(rest, "<details") || starts_with(rest, "</details") {
            // A tag that never ends ends the search: there is no `>` for a later one either.
            let tag = Tag::read(rest)?;
            if tag.name.eq_ignore_ascii_case("details") {
                let after = rest.get(tag.len..)?;
                return Some((text.get(..at)?, tag, after));
            }
        }
        from = at + 1;
    }
}

fn find_tag(text: &str, tag: &str) -> Option<usize> {
    memchr::memchr_iter(b'<', text.as_bytes())
        .find(|at| text.get(*at..).is_some_and(|rest| starts_with(rest, tag)))
}

fn starts_with(text: &str, prefix: &str) -> bool {
    text.get(..prefix.len()).is_some_and(|head| head.eq_ignore_ascii_case(prefix))
}

/// A tag at the front of a text.
struct Tag<'a> {
    name: &'a str,
    closing: bool,
    len: usize,
}

impl<'a> Tag<'a> {
    fn read(text: &'a str) -> Option<Self> {
        let body = text.strip_prefix('<')?;
        let (closing, body) = match body.strip_prefix('/') {
            Some(body) => (true, body),
            None => (false, body),
        };
        let name_len = body.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(body.len());
        let (name, rest) = body.split_at(name_len);
        let len = text.len() - rest.len() + rest.find('>')? + 1;
        (!name.is_empty()).then_some(Self { name, closing, len })
    }
}
