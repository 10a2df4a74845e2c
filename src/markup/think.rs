//! Reasoning that a model writes into its text between tags.

use super::{
    code::{CodeTracker, Place},
    trim::{TrimmedText, is_blank, is_space},
};

/// The wrappers, with the names that close each other.
const WRAPPERS: [(&str, Wrapper); 3] = [
    ("thinking", Wrapper::Thought),
    ("think", Wrapper::Thought),
    ("function_calls", Wrapper::Calls),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wrapper {
    Thought,
    Calls,
}

/// Where in a text the tags count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThinkTags {
    /// Anywhere outside of code: models that write tool tags into their text.
    Anywhere,
    /// Only before everything else: models whose server forgot to split them off.
    AtStart,
}

/// What a piece of text turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ThinkEvent<'a> {
    /// Prose.
    Text(&'a str),
    /// Reasoning begins.
    Open,
    /// Reasoning.
    Reasoning(&'a str),
    /// Reasoning ends.
    Close,
}

/// Splits reasoning from a text that arrives in pieces.
#[derive(Clone, Debug)]
pub struct ThinkSplitter {
    tags: ThinkTags,
    inside: Option<Wrapper>,
    held: String,
    code: CodeTracker,
    /// Prose was met, or a reasoning is over.
    begun: bool,
    /// The prose so far ends in white space.
    after_space: bool,
    /// A stray closing tag was dropped behind white space: one more is too much.
    skip_space: bool,
}

impl ThinkSplitter {
    /// A splitter at the start of a text.
    #[must_use]
    pub fn new(tags: ThinkTags) -> Self {
        Self {
            tags,
            inside: None,
            held: String::new(),
            code: CodeTracker::default(),
            begun: false,
            after_space: true,
            skip_space: false,
        }
    }

    /// Reads on.
    pub fn push(&mut self, delta: &str, sink: &mut dyn FnMut(ThinkEvent<'_>)) {
        let mut rest = delta;
        while !rest.is_empty() {
            rest = if self.held.is_empty() {
                self.seek_tag(rest, sink)
            } else {
                self.read_tag(rest, sink)
            };
        }
        if !self.may_become_tag() {
            self.release(sink);
        }
    }

    /// Ends the text: what was held back is literal, and open reasoning is over.
    pub fn finish(&mut self, sink: &mut dyn FnMut(ThinkEvent<'_>)) {
        self.release(sink);
        if self.inside.is_some() {
            self.close(sink);
        }
    }

    /// Begins another text of the same reply, after [`Self::finish`].
    pub fn begin_text(&mut self) {
        self.code = CodeTracker::default();
        self.after_space = true;
        self.skip_space = false;
    }

    /// Where the prose read so far ends.
    #[must_use]
    pub fn place(&self) -> Place {
        self.code.place()
    }

    fn seek_tag<'a>(&mut self, rest: &'a str, sink: &mut dyn FnMut(ThinkEvent<'_>)) -> &'a str {
        let Some((before, after)) = rest.split_once('<') else {
            self.literal(rest, sink);
            return "";
        };
        self.literal(before, sink);
        if self.tags_count() {
            self.held.push('<');
        } else {
            self.literal("<", sink);
        }
        after
    }

    fn read_tag<'a>(&mut self, rest: &'a str, sink: &mut dyn FnMut(ThinkEvent<'_>)) -> &'a str {
        let Some(end) = memchr::memchr2(b'<', b'>', rest.as_bytes()) else {
            self.held.push_str(rest);
            return "";
        };
        let (name, after) = rest.split_at(end);
        self.held.push_str(name);
        if let Some(after) = after.strip_prefix('>') {
            self.held.push('>');
            self.complete_tag(sink);
            after
        } else {
            self.release(sink);
            after
        }
    }

    fn complete_tag(&mut self, sink: &mut dyn FnMut(ThinkEvent<'_>)) {
        let tag = std::mem::take(&mut self.held);
        let name = tag.strip_prefix('<').and_then(|tag| tag.strip_suffix('>')).unwrap_or_default();
        let closes = name.strip_prefix('/');
        let wrapper = wrapper(closes.unwrap_or(name));
        match (wrapper, self.inside) {
            (None, _) => self.literal(&tag, sink),
            (Some(met), Some(open)) if met == open && closes.is_some() => self.close(sink),
            // A wrapper in a wrapper: the tag goes, its words stay.
            (Some(_), Some(_)) => {}
            (Some(met), None) if closes.is_none() => {
                self.inside = Some(met);
                sink(ThinkEvent::Open);
            }
            (Some(_), None) => self.skip_space = self.after_space,
        }
    }

    fn close(&mut self, sink: &mut dyn FnMut(ThinkEvent<'_>)) {
        self.inside = None;
        self.begun = true;
        self.begin_text();
        sink(ThinkEvent::Close);
    }

    fn release(&mut self, sink: &mut dyn FnMut(ThinkEvent<'_>)) {
        let held = std::mem::take(&mut self.held);
        self.literal(&held, sink);
    }

    fn literal(&mut self, text: &str, sink: &mut dyn FnMut(ThinkEvent<'_>)) {
        if text.is_empty() {
            return;
        }
        if self.inside.is_some() {
            sink(ThinkEvent::Reasoning(text));
            return;
        }
        let skipped = std::mem::take(&mut self.skip_space);
        let text = if skipped { text.strip_prefix(is_space).unwrap_or(text) } else { text };
        let Some(last) = text.chars().next_back() else { return };
        self.after_space = is_space(last);
        self.begun |= !is_blank(text);
        self.code.push(text);
        sink(ThinkEvent::Text(text));
    }

    fn tags_count(&self) -> bool {
        match (self.inside, self.tags) {
            (Some(_), _) => true,
            (None, ThinkTags::AtStart) => !self.begun,
            (None, ThinkTags::Anywhere) => self.code.place() == Place::Prose,
        }
    }

    fn may_become_tag(&self) -> bool {
        let Some(name) = self.held.strip_prefix('<') else { return false };
        let name = name.strip_prefix('/').unwrap_or(name);
        WRAPPERS.iter().any(|(known, _)| known.starts_with(name))
    }
}

fn wrapper(name: &str) -> Option<Wrapper> {
    WRAPPERS.iter().find(|(known, _)| *known == name).map(|(_, wrapper)| *wrapper)
}

/// A stretch of text or of reasoning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Segment {
    /// Which of the two.
    pub kind: SegmentKind,
    /// Without the white space around it; never empty.
    pub text: TrimmedText,
}

/// What a segment is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names are the documentation")]
pub enum SegmentKind {
    Text,
    Reasoning,
}

/// Splits a whole text.
#[must_use]
pub fn split_thinking(tags: ThinkTags, text: &str) -> Vec<Segment> {
    let mut splitter = ThinkSplitter::new(tags);
    let mut segments = vec![Segment::empty(SegmentKind::Text)];
    let mut sink = |event: ThinkEvent<'_>| match (event, segments.last_mut()) {
        (ThinkEvent::Open, _) => segments.push(Segment::empty(SegmentKind::Reasoning)),
        (ThinkEvent::Close, _) => segments.push(Segment::empty(SegmentKind::Text)),
        (ThinkEvent::Text(piece) | ThinkEvent::Reasoning(piece), Some(last)) => {
            last.text.push(piece);
        }
        (ThinkEvent::Text(_) | ThinkEvent::Reasoning(_), None) => {}
    };
    splitter.push(text, &mut sink);
    splitter.finish(&mut sink);
    segments.retain(|segment| !segment.text.is_empty());
    segments
}

impl Segment {
    fn empty(kind: SegmentKind) -> Self {
        Self { kind, text: TrimmedText::default() }
    }
}
