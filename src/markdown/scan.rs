//! The scan for formulas and footnote references.

use std::ops::Range;

use super::{
    delimiters::{Reach, close, close_dollar, end_of, label_len},
    lines::{Fence, line_content, run},
    spans::{Rules, Span, SpanKind},
};

/// A label longer than this is not a footnote's.
const LABEL_LIMIT: usize = 1000;

/// Where the last search for a delimiter ended without finding it.
#[derive(Clone, Copy, Default)]
struct Missing {
    paren: usize,
    bracket: usize,
    dollars: usize,
    dollar: usize,
}

/// Walks a text once.
pub(super) struct Scanner<'a> {
    bytes: &'a [u8],
    rules: Rules,
    at: usize,
    line_start: usize,
    /// Content of the current line begins here.
    content: usize,
    paragraph_end: usize,
    display_end: usize,
    missing: Missing,
    /// Backtick runs of these lengths have no partner before the end of the paragraph.
    lonely_ticks: (usize, Vec<usize>),
    pub(super) spans: Vec<Span>,
    pub(super) opaque: Vec<Range<usize>>,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a str, rules: Rules) -> Self {
        Self {
            bytes: text.as_bytes(),
            rules,
            at: 0,
            line_start: 0,
            content: 0,
            paragraph_end: 0,
            display_end: 0,
            missing: Missing::default(),
            lonely_ticks: (0, Vec::new()),
            spans: Vec::new(),
            opaque: Vec::new(),
        }
    }

    pub(super) fn run(&mut self) {
        self.begin_line(0);
        while let Some(&byte) = self.bytes.get(self.at) {
            match byte {
                b'\n' | b'\r' => self.begin_line(self.at + 1),
                b'\\' => self.backslash(),
                b'`' => self.code_span(),
                b'$' => self.dollars(),
                b'[' if self.bytes.get(self.at + 1) == Some(&b'^') => self.footnote(),
                b']' if self.bytes.get(self.at + 1) == Some(&b'(') => self.link_target(),
                b'<' => self.autolink(),
                _ => self.skip_plain(),
            }
        }
    }

    /// Moves to the next byte that could mean something.
    fn skip_plain(&mut self) {
        self.at += 1;
        let rest = self.bytes.get(self.at..).unwrap_or_default();
        self.at += rest
            .iter()
            .position(|b| matches!(b, b'\n' | b'\r' | b'\\' | b'`' | b'$' | b'[' | b']' | b'<'))
            .unwrap_or(rest.len());
    }

    /// Enters the line at `start`, stepping over fenced code as a whole.
    fn begin_line(&mut self, start: usize) {
        self.line_start = start;
        let line = self.line(start);
        self.content = start + line_content(line);
        self.at = self.content;
        let Some(fence) = Fence::opens(line) else {
            if line.get(self.content - start..).is_some_and(|content| content.starts_with(b"```")) {
                // Masking what keeps this line from being a fence would make it one.
                self.at = start + line.len();
            }
            return;
        };
        let mut next = start + line.len();
        while next < self.bytes.len() {
            let line = self.line(next + 1);
            if fence.is_left_by(line) {
                break;
            }
            next += 1 + line.len();
            if fence.closes(line) {
                break;
            }
        }
        self.opaque.push(start..next);
        self.at = next;
    }

    /// The line that begins at `start`, without its end.
    fn line(&self, start: usize) -> &'a [u8] {
        let rest = self.bytes.get(start..).unwrap_or_default();
        let end = memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len());
        rest.get(..end).unwrap_or_default()
    }

    /// True when the opener at `at` is the first thing on its line.
    fn leads_line(&self, at: usize) -> bool {
        at == self.content
    }

    /// The byte where a search that starts now has to stop.
    fn limit(&mut self, reach: Reach) -> usize {
        let known = match reach {
            Reach::Paragraph => &mut self.paragraph_end,
            Reach::Display => &mut self.display_end,
        };
        if *known <= self.at {
            *known = end_of(self.bytes, self.at, reach);
        }
        *known
    }

    fn backslash(&mut self) {
        let at = self.at;
        match self.bytes.get(at + 1) {
            Some(b'(') => {
                let limit = self.limit(Reach::Paragraph);
                let close = close(self.bytes, at + 2, limit, b"\\)", &mut self.missing.paren);
                self.formula(at..at + 2, close, limit, false);
            }
            Some(b'[') => {
                let leads = self.leads_line(at);
                let limit = self.limit(if leads { Reach::Display } else { Reach::Paragraph });
                let close = close(self.bytes, at + 2, limit, b"\\]", &mut self.missing.bracket);
                self.formula(at..at + 2, close, limit, leads);
            }
            Some(next) if next.is_ascii_punctuation() => self.at += 2,
            _ => self.at += 1,
        }
    }

    fn dollars(&mut self) {
        let at = self.at;
        match run(self.bytes, at) {
            2 => {
                let leads = self.leads_line(at);
                let limit = self.limit(if leads { Reach::Display } else { Reach::Paragraph });
                let close = close(self.bytes, at + 2, limit, b"$$", &mut self.missing.dollars);
                self.formula(at..at + 2, close, limit, leads);
            }
            1 if self.rules.dollar_math => {
                let limit = self.limit(Reach::Paragraph);
                match close_dollar(self.bytes, at + 1, limit, &mut self.missing.dollar) {
                    Some(close) => {
                        let inner = at + 1..close;
                        self.push(
                            at..close + 1,
                            SpanKind::Math { inner, display: false, closed: true },
                        );
                    }
                    None => self.at += 1,
                }
            }
            len => self.at += len,
        }
    }

    /// Records the formula that `opener` begins, or steps over the opener.
    fn formula(&mut self, opener: Range<usize>, close: Option<usize>, limit: usize, leads: bool) {
        let length = opener.len();
        if let Some(close) = close {
            let inner = opener.end..close;
            if self.bytes.get(inner.clone()).unwrap_or_default().trim_ascii().is_empty() {
                self.at = opener.end;
                return;
            }
            let end = close + length;
            let display = leads && self.line(end).trim_ascii().is_empty();
            self.push(opener.start..end, SpanKind::Math { inner, display, closed: true });
        } else if self.rules.streaming && limit == self.bytes.len() {
            let mut inner = opener.end..limit;
            // Half of the closer may have arrived.
            let half = if self.bytes.get(opener.start) == Some(&b'$') { b'$' } else { b'\\' };
            let text = self.bytes.get(inner.clone()).unwrap_or_default();
            let arrived = text.last() == Some(&half);
            if arrived {
                inner.end -= 1;
            }
            if text.trim_ascii().is_empty() && !leads {
                self.at = opener.end;
                return;
            }
            let closed = arrived && !leads;
            let kind = SpanKind::Math { inner, display: leads, closed };
            self.push(opener.start..limit, kind);
        } else {
            self.at = opener.end;
        }
    }

    fn push(&mut self, range: Range<usize>, kind: SpanKind) {
        self.at = range.end;
        self.spans.push(Span { range, kind });
    }

    fn code_span(&mut self) {
        let len = run(self.bytes, self.at);
        let limit = self.limit(Reach::Paragraph);
        if self.lonely_ticks.0 != limit {
            self.lonely_ticks = (limit, Vec::new());
        }
        let mut at = self.at + len;
        if !self.lonely_ticks.1.contains(&len) {
            while let Some(found) =
                memchr::memchr(b'`', self.bytes.get(at..limit).unwrap_or_default())
            {
                let other = run(self.bytes, at + found);
                at += found + other;
                if other == len {
                    self.opaque.push(self.at..at);
                    self.at = at;
                    return;
                }
            }
            self.lonely_ticks.1.push(len);
        }
        self.at += len;
    }

    /// A footnote reference, whether or not its definition is known.
    ///
    /// The parser would resolve some by itself, depending on how much of the text it has seen;
    /// so labels that are none here are masked too, and shown as they stand.
    fn footnote(&mut self) {
        let start = self.at;
        let label = start + 2;
        let rest = self.bytes.get(label..).unwrap_or_default();
        let window = rest.get(..LABEL_LIMIT).unwrap_or(rest);
        let len = label_len(window);
        let end = label + len;
        let defines = self.bytes.get(end + 1) == Some(&b':') && self.leads_line(start);
        if len == 0 || self.bytes.get(end) != Some(&b']') || defines {
            self.at = label;
            return;
        }
        let word =
            |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.') || *b >= 0x80;
        let kind = if window.iter().take(len).all(word) {
            SpanKind::Footnote(label..end)
        } else {
            SpanKind::Literal
        };
        self.push(start..end + 1, kind);
    }

    /// Steps over the target of an inline link, whose escapes belong to the address.
    fn link_target(&mut self) {
        let mut at = self.at + 2;
        let angle = self.bytes.get(at) == Some(&b'<');
        let mut depth = 0;
        while let Some(&byte) = self.bytes.get(at) {
            match byte {
                b'\\' => at += 1,
                b'\n' | b'\r' => break,
                b'>' if angle => {
                    self.at = at;
                    return;
                }
                b' ' | b'\t' if !angle => break,
                b'(' if !angle => depth += 1,
                b')' if !angle && depth == 0 => {
                    self.at = at;
                    return;
                }
                b')' if !angle => depth -= 1,
                _ => {}
            }
            at += 1;
        }
        // A title may follow the target.
        let titled = !angle
            && matches!(self.bytes.get(at), Some(b' ' | b'\t'))
            && matches!(self.bytes.get(at + 1), Some(b'"' | b'\'' | b'('));
        self.at = if titled { at } else { self.at + 2 };
    }

    fn autolink(&mut self) {
        let rest = self.bytes.get(self.at + 1..).unwrap_or_default();
        let len = rest
            .iter()
            .take(2048)
            .take_while(|b| !b.is_ascii_whitespace() && !matches!(b, b'<' | b'>'))
            .count();
        let address = rest.get(..len).unwrap_or_default();
        let is_link = rest.get(len) == Some(&b'>') && address.contains(&b':');
        self.at += if is_link { len + 2 } else { 1 };
    }
}
