//! The tool tags of models without native tools, read as they arrive.
//!
//! The scanner looks at each byte once: it runs from `<` to `<` or `>` and asks only there
//! whether a tag is complete. What may still become a tag is held back, so no event ever
//! has to be taken back.

use std::sync::Arc;

use super::vocabulary::{Vocabulary, has_parameter_prefix, parameter};

/// The one tool whose value may contain its own closing tag: a file's text.
const REPAIRED_TOOL: &str = "write_to_file";
const REPAIRED_OPEN: &str = "<content>";
const REPAIRED_CLOSE: &str = "</content>";

/// Tools of one reply after which further tool tags are text.
const MAX_TOOLS: u32 = 1 << 16;

/// What a piece of a reply turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagEvent<'a> {
    /// Running text; not trimmed.
    Text(&'a str),
    /// A tool begins, and the text before it ends.
    ToolOpen(&'a Arc<str>),
    /// A parameter begins; a value that it had before is void.
    ParamOpen(&'static str),
    /// More of the parameter's value; not trimmed.
    Value(&'a str),
    /// The parameter is complete.
    ParamClose,
    /// The tool is complete.
    ToolClose {
        /// The repaired value of its `content`, if it has one; not trimmed.
        content: Option<&'a str>,
    },
}

/// Where a reply stood when it ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagEnd {
    /// Outside of any tool.
    Clean,
    /// In a tool, between its parameters.
    InTool,
    /// In a parameter.
    InValue,
    /// In a parameter that holds the tool's own closing tag: the parameter's is missing.
    Malformed,
}

/// Finds tool tags in a reply that arrives in pieces.
#[derive(Clone, Debug)]
pub struct TagScanner {
    vocabulary: Arc<Vocabulary>,
    state: State,
    /// Empty, or a `<` and what followed it, as long as that may become a tag.
    held: String,
    body: Option<Body>,
    tools: u32,
}

#[derive(Clone, Debug)]
enum State {
    Text,
    Tool { tool: Arc<str> },
    Value { tool: Arc<str>, param: &'static str, holds_tool_close: bool },
}

impl TagScanner {
    /// A scanner at the start of a reply. Tools registered later do not concern it.
    #[must_use]
    pub fn new(vocabulary: Arc<Vocabulary>) -> Self {
        Self { vocabulary, state: State::Text, held: String::new(), body: None, tools: 0 }
    }

    /// Reads on.
    pub fn push(&mut self, delta: &str, sink: &mut dyn FnMut(TagEvent<'_>)) {
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

    /// Ends the reply: what was held back is text after all.
    pub fn finish(&mut self, sink: &mut dyn FnMut(TagEvent<'_>)) -> TagEnd {
        self.release(sink);
        match self.state {
            State::Text => TagEnd::Clean,
            State::Tool { .. } => TagEnd::InTool,
            State::Value { holds_tool_close: false, .. } => TagEnd::InValue,
            State::Value { holds_tool_close: true, .. } => TagEnd::Malformed,
        }
    }

    /// What is held back because it may become a tag.
    #[must_use]
    pub fn held(&self) -> &str {
        &self.held
    }

    /// True outside of any tool.
    #[must_use]
    pub fn is_in_text(&self) -> bool {
        matches!(self.state, State::Text)
    }

    fn seek_tag<'a>(&mut self, rest: &'a str, sink: &mut dyn FnMut(TagEvent<'_>)) -> &'a str {
        let Some((before, after)) = rest.split_once('<') else {
            self.literal(rest, sink);
            return "";
        };
        self.literal(before, sink);
        self.held.push('<');
        after
    }

    fn read_tag<'a>(&mut self, rest: &'a str, sink: &mut dyn FnMut(TagEvent<'_>)) -> &'a str {
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

    fn release(&mut self, sink: &mut dyn FnMut(TagEvent<'_>)) {
        let held = std::mem::take(&mut self.held);
        self.literal(&held, sink);
    }

    fn literal(&mut self, text: &str, sink: &mut dyn FnMut(TagEvent<'_>)) {
        if let Some(body) = &mut self.body {
            body.push(text);
        }
        self.emit(text, sink);
    }

    fn emit(&self, text: &str, sink: &mut dyn FnMut(TagEvent<'_>)) {
        if text.is_empty() {
            return;
        }
        match self.state {
            State::Text => sink(TagEvent::Text(text)),
            State::Tool { .. } => {}
            State::Value { .. } => sink(TagEvent::Value(text)),
        }
    }

    fn complete_tag(&mut self, sink: &mut dyn FnMut(TagEvent<'_>)) {
        let tag = std::mem::take(&mut self.held);
        if let Some(body) = &mut self.body {
            body.push_tag(&tag);
        }
        let name = tag.strip_prefix('<').and_then(|tag| tag.strip_suffix('>'));
        if !self.fire(name.unwrap_or_default(), sink) {
            self.emit(&tag, sink);
        }
    }

    /// Takes the step that a tag asks for; false when it is no tag here.
    fn fire(&mut self, name: &str, sink: &mut dyn FnMut(TagEvent<'_>)) -> bool {
        let closes = name.strip_prefix('/');
        match &mut self.state {
            State::Text => {
                let Some(tool) = self.vocabulary.tool(name) else { return false };
                if self.tools == MAX_TOOLS {
                    return false;
                }
                let tool = Arc::clone(tool);
                self.open_tool(tool, sink);
            }
            State::Tool { tool } => {
                if let Some(param) = parameter(name) {
                    let tool = Arc::clone(tool);
                    self.state = State::Value { tool, param, holds_tool_close: false };
                    sink(TagEvent::ParamOpen(param));
                } else if closes == Some(tool) {
                    self.close_tool(sink);
                }
            }
            State::Value { tool, param, holds_tool_close } => {
                if closes != Some(*param) {
                    *holds_tool_close |= closes == Some(tool);
                    return false;
                }
                self.state = State::Tool { tool: Arc::clone(tool) };
                sink(TagEvent::ParamClose);
            }
        }
        true
    }

    fn open_tool(&mut self, tool: Arc<str>, sink: &mut dyn FnMut(TagEvent<'_>)) {
        self.tools += 1;
        self.body = (*tool == *REPAIRED_TOOL).then(Body::default);
        sink(TagEvent::ToolOpen(&tool));
        self.state = State::Tool { tool };
    }

    fn close_tool(&mut self, sink: &mut dyn FnMut(TagEvent<'_>)) {
        let body = self.body.take();
        self.state = State::Text;
        sink(TagEvent::ToolClose { content: body.as_ref().and_then(Body::content) });
    }

    fn may_become_tag(&self) -> bool {
        let Some(name) = self.held.strip_prefix('<') else { return false };
        let closes = |open: &str| name.strip_prefix('/').is_some_and(|part| open.starts_with(part));
        let here = match &self.state {
            State::Text => self.vocabulary.has_tool_prefix(name),
            State::Tool { tool } => has_parameter_prefix(name) || closes(tool),
            State::Value { tool, param, .. } => closes(param) || closes(tool),
        };
        let in_body = || [REPAIRED_OPEN, REPAIRED_CLOSE].iter().any(|t| t.starts_with(&self.held));
        here || name.is_empty() || (self.body.is_some() && in_body())
    }
}

/// A file's text: from behind the first opening tag to before the last closing one.
#[derive(Clone, Debug, Default)]
struct Body {
    /// Everything behind the first opening tag, once that was met.
    text: Option<String>,
    last_close: Option<usize>,
}

impl Body {
    fn push(&mut self, piece: &str) {
        if let Some(text) = &mut self.text {
            text.push_str(piece);
        }
    }

    fn push_tag(&mut self, tag: &str) {
        match &mut self.text {
            None if tag == REPAIRED_OPEN => self.text = Some(String::new()),
            None => {}
            Some(text) => {
                if tag == REPAIRED_CLOSE {
                    self.last_close = Some(text.len());
                }
                text.push_str(tag);
            }
        }
    }

    fn content(&self) -> Option<&str> {
        self.text.as_ref()?.get(..self.last_close?)
    }
}
