//! What tool tags add up to: texts and tools, in order.

use std::sync::Arc;

use super::{
    tags::{TagEnd, TagEvent, TagScanner},
    trim::TrimmedText,
    vocabulary::Vocabulary,
};

/// A text or a tool of a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TagBlock {
    /// Running text.
    Text {
        /// Without the white space around it; never empty.
        text: TrimmedText,
        /// More may come.
        partial: bool,
    },
    /// A tool.
    Tool {
        /// The call.
        call: TagCall,
        /// More may come.
        partial: bool,
        /// The reply ended in a parameter that holds the tool's own closing tag.
        malformed: bool,
    },
}

/// A tool and its parameters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TagCall {
    name: Arc<str>,
    params: Vec<(&'static str, TrimmedText)>,
    /// Which of `params` is being filled.
    open: Option<usize>,
}

impl TagCall {
    /// A call without parameters.
    #[must_use]
    pub fn new(name: Arc<str>) -> Self {
        Self { name, params: Vec::new(), open: None }
    }

    /// The tool's name.
    #[must_use]
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// Parameters in the order of their first mention, with trimmed values.
    pub fn params(&self) -> impl Iterator<Item = (&'static str, &str)> {
        self.params.iter().map(|(name, value)| (*name, value.as_str()))
    }

    /// True while a parameter's value is arriving.
    #[must_use]
    pub fn is_in_value(&self) -> bool {
        self.open.is_some()
    }

    /// Takes what the scanner found inside this tool; texts and openings are not for it.
    pub fn apply(&mut self, event: TagEvent<'_>) {
        match event {
            TagEvent::ParamOpen(name) => self.open = Some(self.cleared(name)),
            TagEvent::Value(piece) => self.push_value(piece),
            TagEvent::ParamClose | TagEvent::ToolClose { content: None } => self.open = None,
            TagEvent::ToolClose { content: Some(content) } => {
                self.open = Some(self.cleared("content"));
                self.push_value(content);
                self.open = None;
            }
            TagEvent::Text(_) | TagEvent::ToolOpen(_) => {}
        }
    }

    fn push_value(&mut self, piece: &str) {
        if let Some((_, value)) = self.open.and_then(|open| self.params.get_mut(open)) {
            value.push(piece);
        }
    }

    fn cleared(&mut self, name: &'static str) -> usize {
        if let Some(known) = self.params.iter().position(|(param, _)| *param == name) {
            self.params[known].1 = TrimmedText::default();
            return known;
        }
        self.params.push((name, TrimmedText::default()));
        self.params.len() - 1
    }
}

/// The blocks of a reply that arrives in pieces.
#[derive(Clone, Debug)]
pub struct TagBlocks {
    scanner: TagScanner,
    blocks: Vec<TagBlock>,
}

impl TagBlocks {
    /// No blocks yet.
    #[must_use]
    pub fn new(vocabulary: Arc<Vocabulary>) -> Self {
        Self { scanner: TagScanner::new(vocabulary), blocks: Vec::new() }
    }

    /// Reads on.
    pub fn push(&mut self, delta: &str) {
        let Self { scanner, blocks } = self;
        scanner.push(delta, &mut |event| apply(blocks, event));
    }

    /// The blocks as they would be if the reply ended here. Costs what it copies.
    #[must_use]
    pub fn so_far(&self) -> Vec<TagBlock> {
        self.clone().finish()
    }

    /// Ends the reply. Its last block stays partial unless a closing tag completed it.
    #[must_use]
    pub fn finish(mut self) -> Vec<TagBlock> {
        let Self { scanner, blocks } = &mut self;
        let end = scanner.finish(&mut |event| apply(blocks, event));
        if let Some(TagBlock::Tool { malformed, .. }) = blocks.last_mut() {
            *malformed = end == TagEnd::Malformed;
        }
        self.blocks
    }
}

/// The blocks of a whole reply.
#[must_use]
pub fn parse_tags(vocabulary: &Arc<Vocabulary>, text: &str) -> Vec<TagBlock> {
    let mut blocks = TagBlocks::new(Arc::clone(vocabulary));
    blocks.push(text);
    blocks.finish()
}

fn apply(blocks: &mut Vec<TagBlock>, event: TagEvent<'_>) {
    match (event, blocks.last_mut()) {
        (TagEvent::Text(piece), Some(TagBlock::Text { text, partial: true })) => text.push(piece),
        (TagEvent::Text(piece), _) => {
            let text = TrimmedText::from(piece);
            if !text.is_empty() {
                blocks.push(TagBlock::Text { text, partial: true });
            }
        }
        (TagEvent::ToolOpen(name), last) => {
            if let Some(TagBlock::Text { partial, .. }) = last {
                *partial = false;
            }
            let call = TagCall::new(Arc::clone(name));
            blocks.push(TagBlock::Tool { call, partial: true, malformed: false });
        }
        (event, Some(TagBlock::Tool { call, partial, .. })) => {
            call.apply(event);
            *partial = !matches!(event, TagEvent::ToolClose { .. });
        }
        // The scanner tells of parameters and closings only after an opening.
        (
            TagEvent::ParamOpen(_)
            | TagEvent::Value(_)
            | TagEvent::ParamClose
            | TagEvent::ToolClose { .. },
            Some(TagBlock::Text { .. }) | None,
        ) => {}
    }
}
