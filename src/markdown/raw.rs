//! Code and HTML: what is shown as it was written.

use std::ops::Range;

use pulldown_cmark::CodeBlockKind;

use super::{
    build::{Builder, DEPTH_CAP, clip},
    frames::FrameKind,
    html::{self, HtmlPart},
    hygiene,
    lines::Fence,
    partial,
    spans::Span,
};
use crate::model::{BlockKind, Hygiene, RichText};

/// A code block whose lines are being read.
pub(super) struct Code {
    start: usize,
    info: String,
    fenced: bool,
    text: String,
}

impl<'a> Builder<'a> {
    pub(super) fn start_code(&mut self, kind: CodeBlockKind<'_>, start: usize) {
        self.close_leaf(start);
        let (info, fenced) = match kind {
            CodeBlockKind::Fenced(info) => (info.into_string(), true),
            CodeBlockKind::Indented => (String::new(), false),
        };
        self.code = Some(Code { start, info, fenced, text: String::new() });
    }

    pub(super) fn code_text(&mut self, text: &str, range: &Range<usize>) {
        let text = self.as_written(text, range);
        if let Some(code) = &mut self.code {
            code.text.push_str(text);
        }
    }

    pub(super) fn end_code(&mut self, range: &Range<usize>) {
        let Some(code) = self.code.take() else { return };
        let closed = !code.fenced || !self.is_open_fence(range);
        let mut found = Hygiene::default();
        let text = hygiene::for_code(&code.text, &mut found);
        let text = text.strip_suffix('\n').unwrap_or(&text);
        let word = code.info.split_whitespace().next().unwrap_or_default();
        let kind = if code.fenced && word == "math" {
            BlockKind::Math { source: text.into(), display: true, closed }
        } else {
            let language = hygiene::visible(word).into();
            BlockKind::Code { language, text: text.into(), closed }
        };
        self.push_block(kind, code.start..range.end, found);
    }

    /// True for a fence that has not been closed and may still be.
    fn is_open_fence(&self, range: &Range<usize>) -> bool {
        if !self.input.streaming || range.end < self.input.visible {
            return false;
        }
        let (before, source) =
            self.input.original.split_at_checked(range.start).unwrap_or_default();
        let column = before.len() - partial::last_line(before);
        let source =
            source.get(..self.input.visible.saturating_sub(range.start)).unwrap_or_default();
        let mut lines = source.lines();
        let first = lines.next().unwrap_or_default().as_bytes();
        let Some(fence) = Fence::opens(first) else { return false };
        let last = lines.next_back().unwrap_or_default();
        let indent = last.len() - last.trim_start_matches(' ').len();
        indent > column + 3 || !fence.closes(last.as_bytes())
    }

    pub(super) fn html_text(&mut self, text: &str, range: &Range<usize>) {
        let text = self.as_written(text, range);
        if let Some((_, html)) = &mut self.html {
            html.push_str(text);
        }
    }

    pub(super) fn end_html(&mut self, end: usize) {
        let Some((start, text)) = self.html.take() else { return };
        for part in html::parts(&text) {
            match part {
                HtmlPart::Open => {
                    let kind = FrameKind::Details(RichText::default(), Hygiene::default());
                    if self.depth() < DEPTH_CAP {
                        self.push_frame(kind, start);
                    } else {
                        self.push_verbatim("<details>", start..end);
                    }
                }
                HtmlPart::Summary(text) => self.summary(text, start..end),
                HtmlPart::Close if matches!(self.top().kind, FrameKind::Details(..)) => {
                    self.top().end = end;
                    self.end_frame();
                }
                HtmlPart::Close => self.push_verbatim("</details>", start..end),
                HtmlPart::Raw(text) => self.push_verbatim(text, start..end),
            }
        }
    }

    /// Sets the summary of the details that just opened; elsewhere it is text.
    fn summary(&mut self, text: &str, range: Range<usize>) {
        let frame = self.top();
        match &mut frame.kind {
            FrameKind::Details(summary, found) if summary.is_empty() && frame.blocks.is_empty() => {
                *summary = RichText::plain(hygiene::for_prose(text, found));
            }
            _ => self.push_verbatim(&format!("<summary>{text}</summary>"), range),
        }
    }

    fn push_verbatim(&mut self, text: &str, range: Range<usize>) {
        let mut found = Hygiene::default();
        let text = hygiene::for_code(text, &mut found);
        self.push_block(BlockKind::Verbatim(text.into()), range, found);
    }

    /// Shows a stretch of source as it was written.
    pub(super) fn push_source(&mut self, range: Range<usize>, capped: bool) {
        let text = self.input.original.get(clip(&range, self.input.visible)).unwrap_or_default();
        let mut found = Hygiene { capped, ..Hygiene::default() };
        let text = hygiene::for_code(text.trim_end(), &mut found);
        if !text.is_empty() {
            self.push_block(BlockKind::Verbatim(text.into()), range, found);
        }
    }

    /// The text of a verbatim event: the original where a formula was masked, and nothing of the
    /// virtual closers.
    pub(super) fn as_written<'t>(&self, text: &'t str, range: &Range<usize>) -> &'t str
    where
        'a: 't,
    {
        let shown = clip(range, self.input.visible);
        if self.spans_in(&shown).is_empty() {
            let virtual_bytes = if text.len() == range.len() { range.end - shown.end } else { 0 };
            return text.get(..text.len() - virtual_bytes).unwrap_or(text);
        }
        self.input.original.get(shown).unwrap_or_default()
    }

    /// The spans that overlap a range.
    pub(super) fn spans_in(&self, range: &Range<usize>) -> &'a [Span] {
        let spans = self.input.spans;
        let from = spans.partition_point(|span| span.range.end <= range.start);
        let rest = spans.get(from..).unwrap_or_default();
        let count = rest.partition_point(|span| span.range.start < range.end);
        rest.get(..count).unwrap_or_default()
    }
}
