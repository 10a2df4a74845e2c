//! Formulas and footnote references, found before the parser sees the text.
//!
//! `CommonMark` would eat the backslash of `\(` and read the `_` and `*` of a formula as emphasis,
//! so a formula is replaced, byte for byte, by letters that mean nothing to the parser. Offsets
//! stay true, and the block builder puts the formula back by its range.

use std::ops::Range;

use super::scan::Scanner;

/// The byte that stands for every byte of a span. Letters keep the flanking of emphasis beside a
/// formula as it would be beside a word, and no entity is made of this one.
const FILLER: u8 = b'q';

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
