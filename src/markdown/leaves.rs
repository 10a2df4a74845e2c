//! Parser events to blocks: the inline level.

use std::ops::Range;

use pulldown_cmark::{Event, LinkType, Tag, TagEnd};

use super::{
    build::{Builder, clip},
    html::{self, InlineTag},
    inline::{Emphasis, Leaf},
    parse::TARGET_LIMIT,
    spans::{Span, SpanKind},
};
use crate::model::Style;

/// True for links whose target stands where they stand.
pub(super) fn is_inline(link_type: LinkType) -> bool {
    matches!(link_type, LinkType::Inline | LinkType::Autolink | LinkType::Email)
}

impl Builder<'_> {
    pub(super) fn inline(&mut self, event: Event<'_>, range: &Range<usize>) {
        if range.start >= self.input.visible && !matches!(event, Event::Code(_)) {
            return; // A closer that the stream has not sent.
        }
        match event {
            Event::Text(text) => self.text(&text, range),
            Event::Code(text) => {
                let shown = clip(range, self.input.visible);
                if self.spans_in(&shown).is_empty() {
                    self.leaf_at(range.start).code(&text);
                } else {
                    let written = self.input.original.get(shown).unwrap_or_default();
                    let text = written.trim_matches('`').replace(['\n', '\r'], " ");
                    self.leaf_at(range.start).code(text.trim());
                }
            }
            Event::SoftBreak => self.line_break(if self.input.hard_breaks { "\n" } else { " " }),
            Event::HardBreak => self.line_break("\n"),
            Event::InlineHtml(html) => self.inline_html(&html, range),
            // Whether the parser knows a footnote depends on how much it was given; references
            // that count were masked before.
            Event::FootnoteReference(_) => {
                let written = self.input.original.get(range.clone()).unwrap_or_default();
                self.leaf_at(range.start).text(written, None);
            }
            Event::InlineMath(tex) | Event::DisplayMath(tex) => {
                self.leaf_at(range.start).styled(&tex, Style::MATH);
            }
            Event::TaskListMarker(done) => self.set_task(done),
            Event::Start(_) | Event::End(_) | Event::Rule | Event::Html(_) => {}
        }
    }

    pub(super) fn start_inline(&mut self, tag: Tag<'_>, range: &Range<usize>) {
        let closed = range.end <= self.input.visible;
        match tag {
            Tag::Emphasis => self.leaf_at(range.start).open(Emphasis::Italic),
            Tag::Strong => self.leaf_at(range.start).open(Emphasis::Bold),
            Tag::Strikethrough if self.is_double_tilde(range) => {
                self.leaf_at(range.start).open(Emphasis::Strike);
            }
            Tag::Strikethrough => self.leaf_at(range.start).text("~", None),
            Tag::Link { link_type, dest_url, .. } => {
                let target = match link_type {
                    LinkType::Email => Some(format!("mailto:{dest_url}")),
                    LinkType::Autolink => {
                        let written = self.input.original.get(range.clone()).unwrap_or_default();
                        Some(written.trim_matches(['<', '>']).to_owned())
                    }
                    _ => Some(dest_url.into_string()),
                };
                let fits = |target: &str| is_inline(link_type) || target.len() <= TARGET_LIMIT;
                let target = target.filter(|to| closed && !to.is_empty() && fits(to));
                self.leaf_at(range.start).open_link(target.as_deref());
            }
            Tag::Image { link_type, dest_url, .. } => {
                let fits = is_inline(link_type) || dest_url.len() <= TARGET_LIMIT;
                let target = Some(&*dest_url).filter(|to| closed && fits && !to.is_empty());
                self.leaf_at(range.start).open_image(target);
            }
            _ => {}
        }
    }

    pub(super) fn end_inline(&mut self, tag: TagEnd, range: &Range<usize>) {
        let double = self.is_double_tilde(range);
        let Some(leaf) = &mut self.leaf else { return };
        match tag {
            TagEnd::Emphasis => leaf.close(Emphasis::Italic),
            TagEnd::Strong => leaf.close(Emphasis::Bold),
            TagEnd::Strikethrough if double => leaf.close(Emphasis::Strike),
            TagEnd::Strikethrough => leaf.text("~", None),
            TagEnd::Link => leaf.close_link(),
            TagEnd::Image => leaf.close_image(),
            _ => {}
        }
    }

    /// The open leaf; an item of a tight list opens one with its first inline event.
    fn leaf_at(&mut self, start: usize) -> &mut Leaf {
        self.leaf.get_or_insert_with(|| Leaf::new(start))
    }

    /// The parser strikes for one tilde as well; a single one is no mark here.
    fn is_double_tilde(&self, range: &Range<usize>) -> bool {
        let bytes = self.input.original.as_bytes();
        bytes.get(range.start..range.start + 2) == Some(b"~~")
    }

    fn line_break(&mut self, text: &str) {
        if let Some(leaf) = &mut self.leaf
            && !leaf.is_blank()
        {
            leaf.text(text, None);
        }
    }

    fn text(&mut self, text: &str, range: &Range<usize>) {
        let shown = clip(range, self.input.visible);
        let spans = self.spans_in(&shown);
        if spans.is_empty() {
            let source = (text.len() == range.len()).then_some(shown.start);
            let text = self.as_written(text, range);
            self.leaf_at(range.start).text(text, source);
            return;
        }
        let original = self.input.original;
        let mut at = shown.start;
        for span in spans {
            let before = original.get(at..span.range.start).unwrap_or_default();
            self.leaf_at(range.start).text(before, Some(at));
            if span.range.start >= shown.start {
                self.span(span, range.start);
            }
            at = span.range.end;
        }
        let rest = original.get(at..shown.end).unwrap_or_default();
        self.leaf_at(at).text(rest, Some(at));
    }

    fn span(&mut self, span: &Span, start: usize) {
        let written = self.input.original.get(span.range.clone()).unwrap_or_default();
        match &span.kind {
            SpanKind::Literal => self.leaf_at(start).text(written, None),
            SpanKind::Footnote(label) => {
                let label = self.input.original.get(label.clone()).unwrap_or_default();
                self.leaf_at(start).styled(label, Style::FOOTNOTE);
            }
            SpanKind::Math { inner, display, closed } => {
                let inner = self.input.original.get(inner.clone()).unwrap_or_default();
                let tex = self.formula(inner);
                if *display && self.in_paragraph() {
                    self.push_math(&tex, span.range.clone(), *closed);
                } else if *closed {
                    self.leaf_at(start).styled(&tex.replace('\n', " "), Style::MATH);
                } else {
                    self.leaf_at(start).styled(written, Style::DIM);
                }
            }
        }
    }

    /// A formula's source without the quote marks of the lines it stands on.
    fn formula(&self, inner: &str) -> String {
        if !inner.contains('\n') || !self.in_quote() {
            return inner.trim().to_owned();
        }
        let lines = inner.trim().lines().map(|line| line.trim_start_matches(['>', ' ', '\t']));
        lines.collect::<Vec<_>>().join("\n").trim_end().to_owned()
    }

    fn inline_html(&mut self, html: &str, range: &Range<usize>) {
        let html = self.as_written(html, range).to_owned();
        match html::inline_tag(&html) {
            InlineTag::Break => self.line_break("\n"),
            InlineTag::Open(style) => self.leaf_at(range.start).open_tag(&html, style),
            InlineTag::Close(style) => self.leaf_at(range.start).close_tag(&html, style),
            InlineTag::Comment => self.leaf_at(range.start).styled(&html, Style::DIM),
            InlineTag::Other => self.leaf_at(range.start).text(&html, None),
        }
    }
}
