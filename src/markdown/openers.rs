//! What is open at the end of a paragraph, and what would close it.

use std::ops::Range;

use super::{
    lines,
    partial::TAG_HELD,
    spans::Span,
    target::{Target, target_state},
};

/// A bracket that has stood open for longer than this is taken for a bracket.
const LINK_TEXT_LIMIT: usize = 200;

/// How to close the constructs that a paragraph leaves open.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Open {
    /// The text is shown up to here.
    pub(super) cut: usize,
    /// What the parser reads behind it.
    pub(super) closers: String,
    /// The last byte before which nothing was open, at the start of a word.
    pub(super) safe: Option<usize>,
    /// More words would stand in the text, not in a target, a tag or a code span.
    pub(super) fluent: bool,
}

#[derive(Clone, Copy)]
enum Opener {
    /// A delimiter run; what it opens begins at `body`.
    Run {
        mark: u8,
        len: usize,
        body: usize,
    },
    Bracket {
        at: usize,
    },
}

/// Walks the paragraph in `leaf` and finds what is open at its end.
pub(super) fn find(text: &str, leaf: Range<usize>, spans: &[Span]) -> Open {
    let end = leaf.end;
    let first_span = spans.partition_point(|span| span.range.end <= leaf.start);
    let mut walk = Walk {
        text,
        bytes: text.as_bytes().get(..end).unwrap_or_default(),
        at: leaf.start,
        start: leaf.start,
        spans: spans.get(first_span..).unwrap_or_default(),
        stack: Vec::new(),
        cut: end,
        closers: String::new(),
        safe: None,
        lonely_ticks: Vec::new(),
        stopped: false,
    };
    walk.run();
    walk.finish()
}

struct Walk<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    start: usize,
    spans: &'a [Span],
    stack: Vec<Opener>,
    cut: usize,
    closers: String,
    safe: Option<usize>,
    lonely_ticks: Vec<usize>,
    stopped: bool,
}

/// Whether the walk goes on.
enum Step {
    On,
    Stop,
}

impl Walk<'_> {
    fn run(&mut self) {
        while let Some(&byte) = self.bytes.get(self.at) {
            if let Some(span) = self.spans.first().filter(|span| span.range.start <= self.at) {
                self.at = self.at.max(span.range.end);
                self.spans = self.spans.get(1..).unwrap_or_default();
                continue;
            }
            let step = match byte {
                b'\\' => self.escape(),
                b'`' => self.ticks(),
                b'<' => self.tag(),
                b'[' => self.bracket(),
                b']' => self.close_bracket(),
                b'*' | b'_' | b'~' => self.delimiters(byte),
                b' ' => self.space(),
                _ => self.skip(1),
            };
            if matches!(step, Step::Stop) {
                self.stopped = true;
                return;
            }
        }
    }

    fn finish(mut self) -> Open {
        let bytes = self.bytes;
        // Half a closer may have arrived: `~~gone~`.
        let half_tilde = self.cut == bytes.len() && bytes.last() == Some(&b'~');
        let end = self.text.get(self.start..self.cut).unwrap_or_default().trim_end().len();
        let end = self.start + end;
        while let Some(opener) = self.stack.pop() {
            match opener {
                // With nothing behind it, it is only a marker so far.
                Opener::Run { body, .. } if body >= end && self.closers.is_empty() => {}
                Opener::Run { mark: b'~', .. } if half_tilde && self.closers.is_empty() => {
                    self.closers.push('~');
                }
                Opener::Run { mark, len, .. } => {
                    self.closers.extend(std::iter::repeat_n(char::from(mark), len));
                }
                Opener::Bracket { at } if self.cut.saturating_sub(at) <= LINK_TEXT_LIMIT => {
                    self.closers.push_str("](x)");
                }
                Opener::Bracket { .. } => {}
            }
        }
        if !self.closers.is_empty() {
            // Behind a space a closer would close nothing.
            self.cut = end;
        }
        Open { cut: self.cut, closers: self.closers, safe: self.safe, fluent: !self.stopped }
    }

    fn skip(&mut self, bytes: usize) -> Step {
        self.at += bytes;
        Step::On
    }

    fn space(&mut self) -> Step {
        self.at += 1;
        let (before, after) = self.text.split_at_checked(self.at).unwrap_or_default();
        let letter = after.chars().next().is_some_and(char::is_alphabetic);
        let mut before = before.chars().rev().skip(1);
        let single = before.next().is_some_and(|c| c.is_alphanumeric() || matches!(c, '.' | ','));
        if letter
            && self.at < self.bytes.len()
            && single
            && self.stack.is_empty()
            && self.lonely_ticks.is_empty()
        {
            self.safe = Some(self.at);
        }
        Step::On
    }

    fn escape(&mut self) -> Step {
        match self.bytes.get(self.at + 1) {
            // What it escapes has not arrived.
            None => {
                self.cut = self.at;
                Step::Stop
            }
            Some(next) if next.is_ascii_punctuation() => self.skip(2),
            Some(_) => self.skip(1),
        }
    }

    fn ticks(&mut self) -> Step {
        let len = lines::run(self.bytes, self.at);
        let body = self.at + len;
        let mut at = body;
        if !self.lonely_ticks.contains(&len) {
            while let Some(found) = memchr::memchr(b'`', self.bytes.get(at..).unwrap_or_default()) {
                let other = lines::run(self.bytes, at + found);
                at += found + other;
                if other == len {
                    self.at = at;
                    return Step::On;
                }
            }
        }
        if body == self.bytes.len() || !self.lonely_ticks.is_empty() {
            self.lonely_ticks.push(len);
            return self.skip(len);
        }
        // Everything behind it is code. Half of its closer may have arrived.
        let arrived = self.bytes.iter().rev().take_while(|b| **b == b'`').count();
        if arrived > len {
            self.lonely_ticks.push(len);
            return self.skip(len);
        }
        self.closers.extend(std::iter::repeat_n('`', len - arrived));
        Step::Stop
    }

    fn tag(&mut self) -> Step {
        let rest = self.bytes.get(self.at + 1..).unwrap_or_default();
        let begins =
            rest.first().is_none_or(|b| b.is_ascii_alphabetic() || matches!(b, b'/' | b'!'));
        if !begins {
            return self.skip(1);
        }
        match rest.iter().position(|b| matches!(b, b'<' | b'>')) {
            Some(end) if rest.get(end) == Some(&b'>') => self.skip(end + 2),
            Some(_) => self.skip(1),
            None if rest.len() < TAG_HELD => {
                self.cut = self.at;
                Step::Stop
            }
            None => self.skip(1),
        }
    }

    fn bracket(&mut self) -> Step {
        let at = self.at;
        let rest = self.bytes.get(at + 1..).unwrap_or_default();
        let footnote = rest.len() < TAG_HELD && rest.first() == Some(&b'^');
        if footnote && !rest.iter().any(|b| *b == b']' || b.is_ascii_whitespace()) {
            self.cut = at;
            return Step::Stop;
        }
        self.stack.push(Opener::Bracket { at });
        self.skip(1)
    }

    fn close_bracket(&mut self) -> Step {
        let at = self.at;
        let open = self.stack.iter().rposition(|open| matches!(open, Opener::Bracket { .. }));
        let Some(open) = open else { return self.skip(1) };
        let content = match self.stack.get(open) {
            Some(Opener::Bracket { at }) => *at + 1,
            _ => at,
        };
        match self.bytes.get(at + 1) {
            None if self.is_task(content, at) => {
                self.stack.truncate(open);
                self.skip(1)
            }
            None => {
                self.stack.truncate(open);
                self.closers.push_str("(x)");
                Step::Stop
            }
            Some(b'(') => self.target(at + 2, open),
            Some(b'[') => {
                let rest = self.bytes.get(at + 2..).unwrap_or_default();
                self.stack.truncate(open);
                match memchr::memchr(b']', rest) {
                    Some(end) => self.skip(end + 3),
                    None => {
                        self.cut = at + 1;
                        self.closers.push_str("(x)");
                        Step::Stop
                    }
                }
            }
            Some(_) => {
                self.stack.truncate(open);
                self.skip(1)
            }
        }
    }

    /// True for the box of a task, which is no link text.
    fn is_task(&self, content: usize, end: usize) -> bool {
        content == self.start + 1
            && matches!(self.bytes.get(content..end), Some(b" " | b"x" | b"X"))
    }

    /// Reads a link's target; what is missing of it becomes closers.
    fn target(&mut self, from: usize, open: usize) -> Step {
        match target_state(self.bytes.get(from..).unwrap_or_default()) {
            Target::Closed(len) => {
                self.stack.truncate(open);
                self.at = from + len;
                Step::On
            }
            Target::Open(closers) => {
                self.stack.truncate(open);
                self.closers.push_str(&closers);
                Step::Stop
            }
            Target::None => {
                self.stack.truncate(open);
                self.skip(1)
            }
        }
    }

    fn delimiters(&mut self, mark: u8) -> Step {
        let at = self.at;
        let mut len = lines::run(self.bytes, at);
        let total = len;
        if mark == b'~' && len != 2 {
            return self.skip(len);
        }
        let flank = Flank::of(self.text, at, at + len, self.bytes.len(), mark);
        if flank.closes {
            while len > 0 {
                let Some(index) = self.matching(mark) else { break };
                let Some(Opener::Run { len: open, body, .. }) = self.stack.get(index).copied()
                else {
                    break;
                };
                let used = if mark == b'~' || (open >= 2 && len >= 2) { 2 } else { 1 };
                len = len.saturating_sub(used);
                self.stack.truncate(index);
                if open > used {
                    self.stack.push(Opener::Run { mark, len: open - used, body });
                }
            }
        }
        if len > 0 && flank.opens {
            self.stack.push(Opener::Run { mark, len, body: at + total });
        }
        self.skip(total)
    }

    /// The innermost opener of a mark, not looking past an open bracket.
    fn matching(&self, mark: u8) -> Option<usize> {
        let within = self.stack.iter().rposition(|open| matches!(open, Opener::Bracket { .. }));
        let found = self
            .stack
            .iter()
            .rposition(|open| matches!(open, Opener::Run { mark: other, .. } if *other == mark));
        found.filter(|index| within.is_none_or(|bracket| *index > bracket))
    }
}

/// What a delimiter run can do where it stands.
struct Flank {
    opens: bool,
    closes: bool,
}

impl Flank {
    fn of(text: &str, start: usize, end: usize, limit: usize, mark: u8) -> Self {
        let before = text.get(..start).and_then(|text| text.chars().next_back());
        let after = text.get(end..limit).and_then(|text| text.chars().next());
        let space = |c: Option<char>| c.is_none_or(char::is_whitespace);
        let punctuation = |c: Option<char>| c.is_some_and(is_punctuation);
        let left = !space(after) && (!punctuation(after) || space(before) || punctuation(before));
        let right = !space(before) && (!punctuation(before) || space(after) || punctuation(after));
        if mark == b'_' {
            Self {
                opens: left && (!right || punctuation(before)),
                closes: right && (!left || punctuation(after)),
            }
        } else {
            Self { opens: left, closes: right }
        }
    }
}

/// Punctuation and symbols, near enough for a guess that only ever hides a marker.
fn is_punctuation(c: char) -> bool {
    if c.is_ascii() { c.is_ascii_punctuation() } else { !c.is_alphanumeric() && !c.is_whitespace() }
}
