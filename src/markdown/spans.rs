//! Formulas and footnote references, found before the parser sees the text.
//!
//! `CommonMark` would eat the backslash of `\(` and read the `_` and `*` of a formula as emphasis,
//! so a formula is replaced, byte for byte, by letters that mean nothing to the parser. Offsets
//! stay true, and the block builder puts the formula back by its range.

use std::ops::Range;

/// The byte that stands for every byte of a span. Letters keep the flanking of emphasis beside a
/// formula as it would be beside a word, and no entity is made of this one.
const FILLER: u8 = b'q';

/// A label longer than this is not a footnote's.
const LABEL_LIMIT: usize = 1000;

/// A stretch of text that the parser must not read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Span {
    /// The bytes it covers, delimiters included.
    pub(super) range: Range<usize>,
    /// What it is.
    pub(super) kind: SpanKind,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum SpanKind {
    /// A formula.
    Math {
        /// Its source without delimiters.
        inner: Range<usize>,
        /// It stands alone on its lines, between display delimiters.
        display: bool,
        /// Its closing delimiter has arrived.
        closed: bool,
    },
    /// `[^label]`.
    Footnote(Range<usize>),
    /// A line that cannot be judged yet and is shown as it stands.
    Literal,
}

/// Which delimiters count, and whether the text may go on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rules {
    /// `$…$` is a formula by pandoc's rule.
    pub(super) dollar_math: bool,
    /// The text may go on behind its end: what is still open may yet close.
    pub(super) streaming: bool,
}

/// What a scan found.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// The spans, in order and not overlapping.
    pub(super) spans: Vec<Span>,
    /// Code that was stepped over as a whole, in order.
    opaque: Vec<Range<usize>>,
}

impl Found {
    /// True when the scan did not begin anew at `at`: it took the bytes around for one thing.
    ///
    /// A block that ends there shows that the scan was wrong about what follows, for it knows
    /// containers only by the look of their lines.
    pub(super) fn crosses(&self, at: usize) -> bool {
        let inside = |range: &Range<usize>| range.start < at && at < range.end;
        let opaque = self.opaque.partition_point(|range| range.end <= at);
        let span = self.spans.partition_point(|span| span.range.end <= at);
        self.opaque.get(opaque).is_some_and(inside)
            || self.spans.get(span).is_some_and(|span| inside(&span.range))
    }
}

/// Scans a text. Linear in the text.
pub(super) fn find(text: &str, rules: Rules) -> Found {
    if !may_have_spans(text, rules) {
        return Found::default();
    }
    let mut scanner = Scanner::new(text, rules);
    scanner.run();
    Found { spans: scanner.spans, opaque: scanner.opaque }
}

/// The text with every span replaced by filler of the same length.
pub(super) fn mask(text: &str, spans: &[Span]) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    let mut at = 0;
    for Span { range, .. } in spans {
        out.push_str(text.get(at..range.start).unwrap_or_default());
        out.extend(std::iter::repeat_n(char::from(FILLER), range.len()));
        at = range.end;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

fn may_have_spans(text: &str, rules: Rules) -> bool {
    let bytes = text.as_bytes();
    let has = |needle: &[u8]| memchr::memmem::find(bytes, needle).is_some();
    if rules.dollar_math && memchr::memchr(b'$', bytes).is_some() {
        return true;
    }
    has(b"$$") || has(b"\\(") || has(b"\\[") || has(b"[^")
}

/// A fence that opened and what closes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Fence {
    /// Backtick or tilde.
    pub(super) mark: u8,
    /// Length of the opening run.
    pub(super) len: usize,
    /// It stands in a quote, and ends with it.
    quoted: bool,
    /// It stands in a list item, most likely, and ends with it.
    in_item: bool,
}

impl Fence {
    /// The fence that a line opens.
    pub(super) fn opens(line: &[u8]) -> Option<Self> {
        let start = line_content(line);
        let (prefix, content) = line.split_at_checked(start)?;
        let mark = *content.first().filter(|b| matches!(b, b'`' | b'~'))?;
        let len = run(content, 0);
        let info = content.get(len..).unwrap_or_default();
        let quoted = prefix.contains(&b'>');
        let in_item = !quoted && prefix.len() >= 2;
        let opens = len >= 3 && !(mark == b'`' && info.contains(&b'`'));
        opens.then_some(Self { mark, len, quoted, in_item })
    }

    /// True when the line closes this fence.
    pub(super) fn closes(self, line: &[u8]) -> bool {
        let prefix = line.iter().take_while(|b| is_prefix(**b)).count();
        let content = line.get(prefix..).unwrap_or_default();
        content.first() == Some(&self.mark) && {
            let len = run(content, 0);
            len >= self.len && content.iter().skip(len).all(u8::is_ascii_whitespace)
        }
    }

    /// True when the line stands outside the container of the fence, which ends it as well.
    pub(super) fn is_left_by(self, line: &[u8]) -> bool {
        match line.first() {
            None | Some(b'\r') => self.quoted,
            Some(b' ' | b'\t' | b'>') => false,
            Some(_) => self.quoted || self.in_item,
        }
    }
}

/// Space or quote mark.
pub(super) fn is_prefix(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'>')
}

/// A line without the quote markers, list markers and indentation before its content.
pub(super) fn line_content(line: &[u8]) -> usize {
    let mut at = 0;
    loop {
        at += line.iter().skip(at).take_while(|b| is_prefix(**b)).count();
        let marker = list_marker(line.get(at..).unwrap_or_default());
        if marker == 0 {
            return at;
        }
        at += marker;
    }
}

/// Bytes of a list marker and the space behind it; zero when there is none.
pub(super) fn list_marker(content: &[u8]) -> usize {
    let digits = content.iter().take(10).take_while(|b| b.is_ascii_digit()).count();
    let mark = match (digits, content.get(digits)) {
        (0, Some(b'-' | b'*' | b'+')) | (1..=9, Some(b'.' | b')')) => digits + 1,
        _ => return 0,
    };
    match content.get(mark) {
        Some(b' ' | b'\t') => mark + 1,
        _ => 0,
    }
}

/// Length of the run of the byte at `at`.
pub(super) fn run(bytes: &[u8], at: usize) -> usize {
    let Some(first) = bytes.get(at) else { return 0 };
    bytes.iter().skip(at).take_while(|b| *b == first).count()
}

/// How far a search for a closing delimiter may look.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// To the next blank line.
    Paragraph,
    /// To two blank lines, or a fence.
    Display,
}

/// Where the last search for a delimiter ended without finding it.
#[derive(Clone, Copy, Default)]
struct Missing {
    paren: usize,
    bracket: usize,
    dollars: usize,
    dollar: usize,
}

struct Scanner<'a> {
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
    spans: Vec<Span>,
    opaque: Vec<Range<usize>>,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a str, rules: Rules) -> Self {
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

    fn run(&mut self) {
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

/// Bytes of a label up to its bracket.
fn label_len(rest: &[u8]) -> usize {
    let mut at = 0;
    while let Some(byte) = rest.get(at) {
        match byte {
            b'\\' => at += 2,
            b'[' | b']' | b'\n' | b'\r' => break,
            _ => at += 1,
        }
    }
    at.min(rest.len())
}

/// The end of the paragraph, or of what a display formula may cover, that `from` stands in.
fn end_of(bytes: &[u8], from: usize, reach: Reach) -> usize {
    let mut at = from;
    let mut blank_lines = 0;
    let line = memchr::memrchr(b'\n', bytes.get(..from).unwrap_or_default()).map_or(0, |at| at + 1);
    let line = bytes.get(line..).unwrap_or_default();
    let quoted = is_quoted(line);
    if reach == Reach::Paragraph && ends_with_its_line(line) {
        let rest = bytes.get(from..).unwrap_or_default();
        return memchr::memchr(b'\n', rest).map_or(bytes.len(), |at| from + at);
    }
    while let Some(found) = memchr::memchr(b'\n', bytes.get(at..).unwrap_or_default()) {
        let line_end = at + found;
        let start = line_end + 1;
        let rest = bytes.get(start..).unwrap_or_default();
        let content = rest.iter().take_while(|b| matches!(b, b' ' | b'\t' | b'>' | b'\r')).count();
        let Some(first) = rest.get(content) else { return bytes.len() };
        let line = rest.get(content..).unwrap_or_default();
        if *first == b'\n' {
            blank_lines += 1;
            let enough = match reach {
                Reach::Paragraph => 1,
                Reach::Display => 2,
            };
            if blank_lines == enough {
                return line_end;
            }
        } else {
            blank_lines = 0;
            let fence = matches!(first, b'`' | b'~') && run(line, 0) >= 3;
            let block = begins_block(line) || (!quoted && is_quoted(rest));
            if fence || (block && reach == Reach::Paragraph) {
                return line_end;
            }
        }
        at = start + content;
    }
    bytes.len()
}

/// True when a line could end the paragraph above it: no formula inside a paragraph reaches over
/// it, or a block that has begun could be taken back.
fn begins_block(line: &[u8]) -> bool {
    let second = line.get(1).copied().unwrap_or(b'\n');
    match line.first() {
        Some(b'#' | b'|' | b'<') => true,
        Some(b'=') => {
            let line = line.split(|b| *b == b'\n').next().unwrap_or_default();
            line.trim_ascii_end().iter().all(|b| *b == b'=')
        }
        Some(mark @ (b'-' | b'*' | b'_')) => second == *mark || second.is_ascii_whitespace(),
        Some(b'[') => second == b'^',
        _ => list_marker(line) > 0,
    }
}

/// True when the line may be a block of its own, so that a formula in it ends there.
fn ends_with_its_line(line: &[u8]) -> bool {
    let content = line_content(line.split(|b| *b == b'\n').next().unwrap_or_default());
    let indented = line.starts_with(b"    ") || line.starts_with(b"\t");
    indented || matches!(line.get(content), Some(b'#' | b'|' | b'[' | b'<'))
}

fn is_quoted(line: &[u8]) -> bool {
    line.iter().find(|b| !matches!(b, b' ' | b'\t')) == Some(&b'>')
}

/// Finds a closing delimiter before `limit`. TeX escapes (`\\`, `\$`) are stepped over.
fn close(
    bytes: &[u8],
    from: usize,
    limit: usize,
    closer: &[u8; 2],
    missing: &mut usize,
) -> Option<usize> {
    if from < *missing && *missing == limit {
        return None;
    }
    let mut at = from;
    while at + 1 < limit {
        let rest = bytes.get(at..limit).unwrap_or_default();
        let Some(found) = memchr::memchr2(b'\\', closer.first().copied()?, rest) else { break };
        at += found;
        if bytes.get(at..at + 2) == Some(closer) && at + 2 <= limit {
            return Some(at);
        }
        at += if bytes.get(at) == Some(&b'\\') { 2 } else { 1 };
    }
    *missing = limit;
    None
}

/// Pandoc's rule: no space inside the dollars, no digit behind them.
fn close_dollar(bytes: &[u8], from: usize, limit: usize, missing: &mut usize) -> Option<usize> {
    let inner_space = |at: usize| bytes.get(at).is_none_or(u8::is_ascii_whitespace);
    if inner_space(from) || (from < *missing && *missing == limit) {
        return None;
    }
    let mut at = from;
    while at < limit {
        let rest = bytes.get(at..limit).unwrap_or_default();
        let Some(found) = memchr::memchr3(b'\\', b'$', b'`', rest) else { break };
        at += found;
        match bytes.get(at) {
            Some(b'\\') => at += 2,
            Some(b'$') if at > from => {
                let digit = bytes.get(at + 1).is_some_and(u8::is_ascii_digit);
                if !inner_space(at - 1) && !digit {
                    return Some(at);
                }
                return None;
            }
            Some(b'$') => return None,
            _ => return None,
        }
    }
    *missing = limit;
    None
}
