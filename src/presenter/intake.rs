//! From events to blocks.

use std::{collections::BTreeMap, sync::Arc};

use super::{
    arguments::ArgumentView,
    block::{CallBlock, CallSource, CleanUp},
    effect::{Flaw, RowKind},
    list::BlockList,
};
use crate::{
    markup::{
        SegmentKind, TagEnd, TagEvent, TagScanner, ThinkEvent, ThinkSplitter, ThinkTags,
        Vocabulary, split_thinking,
    },
    model::{
        Image, MessageId, StopReason,
        stream::{ArgumentError, Close, EndState, ReplyBlock, ReplyKind, StreamEvent},
    },
};

/// How the model that answers calls its tools.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Through its provider. Reasoning tags count at the start of its text only.
    Native,
    /// With tags in its text, from this vocabulary.
    Tags(Arc<Vocabulary>),
}

/// Builds the blocks of one reply.
#[derive(Clone, Debug)]
pub(super) struct Intake {
    pub(super) list: BlockList,
    /// Finds tool tags, for models that use them.
    scanner: Option<TagScanner>,
    splitter: ThinkSplitter,
    sources: BTreeMap<ReplyBlock, Source>,
    /// The source that the open prose is read from.
    reading: Option<ReplyBlock>,
}

/// What a block of the provider's is read into.
#[derive(Clone, Debug)]
enum Source {
    /// Text, and what was found in it from this block on.
    Text {
        first: usize,
        /// The last block that was read from it.
        last: Option<usize>,
    },
    Refusal,
    Reasoning(usize),
    Call(usize),
    Picture(usize),
    Other {
        index: usize,
        kind: Arc<str>,
    },
}

/// Something that is shown when it comes.
#[derive(Clone, Debug)]
pub(super) enum Apart {
    Picture { index: usize, image: Image },
    Foreign { index: usize, kind: Arc<str>, json: Arc<str> },
}

impl Intake {
    pub(super) fn new(message: MessageId, dialect: &Dialect) -> Self {
        let (scanner, think, clean_up) = match dialect {
            Dialect::Native => (None, ThinkTags::AtStart, CleanUp::HalfTags),
            Dialect::Tags(vocabulary) => {
                let scanner = TagScanner::new(Arc::clone(vocabulary));
                (Some(scanner), ThinkTags::Anywhere, CleanUp::Tags)
            }
        };
        Self {
            list: BlockList::new(message, clean_up),
            scanner,
            splitter: ThinkSplitter::new(think),
            sources: BTreeMap::new(),
            reading: None,
        }
    }

    /// Takes an event. What concerns no block, or a block that it cannot, is let pass.
    pub(super) fn take(&mut self, event: &StreamEvent) -> Option<Apart> {
        match event {
            StreamEvent::BlockOpen { block, kind } => self.open(*block, kind),
            StreamEvent::Text { block, delta } => self.text(*block, delta),
            StreamEvent::Reasoning { block, delta } => self.reasoning(*block, delta),
            StreamEvent::ToolOpen { block, id, name } => self.open_call(*block, id, name),
            StreamEvent::ToolArgs { block, delta } => self.arguments(*block, delta),
            StreamEvent::BlockClose { block, close } => return self.close(*block, close),
            StreamEvent::Opaque { block, echo } => return self.opaque(*block, &echo.json),
            StreamEvent::Started { .. }
            | StreamEvent::Usage(_)
            | StreamEvent::RateLimit(_)
            | StreamEvent::Warning(_)
            | StreamEvent::KeepAlive
            | StreamEvent::End(_) => {}
        }
        None
    }

    /// Where a block of the provider's stands: for a text, its last piece.
    pub(super) fn place_of(&self, block: ReplyBlock) -> Option<usize> {
        match self.sources.get(&block)? {
            Source::Text { last, .. } => *last,
            Source::Reasoning(index)
            | Source::Call(index)
            | Source::Picture(index)
            | Source::Other { index, .. } => Some(*index),
            Source::Refusal => None,
        }
    }

    /// Ends the reply: every block is complete, and every call is sound or has a flaw.
    pub(super) fn end(&mut self, end: &EndState) {
        let tags = self.end_tags();
        self.flush();
        if let Some((index, _)) = self.list.open_tag_call() {
            self.list.judge(index, |_| judge_open_tags(tags, end));
        }
        for index in 0..self.list.len() {
            self.list.judge(index, |call| judge_native(call, end));
            self.list.complete(index);
        }
    }

    fn end_tags(&mut self) -> TagEnd {
        let Self { list, scanner: Some(scanner), splitter, .. } = self else {
            return TagEnd::Clean;
        };
        scanner.finish(&mut |event| apply_tag(list, splitter, event))
    }

    /// Another block is read: the prose so far is complete.
    fn flush(&mut self) {
        finish_text(&mut self.list, &mut self.splitter);
        self.list.close_prose();
        self.reading = None;
    }

    fn read(&mut self, block: ReplyBlock) {
        if self.reading != Some(block) {
            self.flush();
            self.reading = Some(block);
        }
    }

    fn open(&mut self, block: ReplyBlock, kind: &ReplyKind) {
        if self.sources.contains_key(&block) {
            return;
        }
        self.flush();
        let is_full = self.list.is_full();
        let source = match kind {
            ReplyKind::Text => Source::Text { first: self.list.len(), last: None },
            ReplyKind::Refusal => Source::Refusal,
            ReplyKind::Reasoning => {
                // It has its place even if it never says a word.
                Source::Reasoning(self.list.begin_prose(RowKind::Reasoning))
            }
            ReplyKind::Image | ReplyKind::Other(_) if is_full => return,
            ReplyKind::Image => Source::Picture(self.list.push_apart()),
            ReplyKind::Other(kind) => {
                Source::Other { index: self.list.push_apart(), kind: Arc::clone(kind) }
            }
        };
        self.sources.insert(block, source);
        self.reading = Some(block);
    }

    fn text(&mut self, block: ReplyBlock, delta: &str) {
        self.open_if_new(block, &ReplyKind::Text);
        match self.sources.get(&block) {
            Some(Source::Text { .. }) => {
                self.read(block);
                self.push_text(delta);
                self.note_last(block);
            }
            Some(Source::Refusal) => {
                self.read(block);
                self.list.push_prose(RowKind::Refusal, delta);
            }
            Some(
                Source::Reasoning(_) | Source::Call(_) | Source::Picture(_) | Source::Other { .. },
            )
            | None => {}
        }
    }

    /// What was just read of a text went into the last block, if into any.
    fn note_last(&mut self, block: ReplyBlock) {
        let newest = self.list.len().checked_sub(1);
        if let Some(Source::Text { first, last }) = self.sources.get_mut(&block) {
            *last = newest.filter(|newest| newest >= first);
        }
    }

    fn push_text(&mut self, delta: &str) {
        let Self { list, scanner, splitter, .. } = self;
        match scanner {
            Some(scanner) => scanner.push(delta, &mut |event| apply_tag(list, splitter, event)),
            None => split_text(list, splitter, delta),
        }
    }

    fn reasoning(&mut self, block: ReplyBlock, delta: &str) {
        self.open_if_new(block, &ReplyKind::Reasoning);
        if let Some(Source::Reasoning(_)) = self.sources.get(&block) {
            self.read(block);
            self.list.push_prose(RowKind::Reasoning, delta);
        }
    }

    fn open_if_new(&mut self, block: ReplyBlock, kind: &ReplyKind) {
        if !self.sources.contains_key(&block) {
            self.open(block, kind);
        }
    }

    fn open_call(&mut self, block: ReplyBlock, id: &Arc<str>, name: &Arc<str>) {
        if self.sources.contains_key(&block) {
            return;
        }
        self.flush();
        let source = CallSource::Native { view: ArgumentView::default(), closed: None };
        let index = self.list.push_call(Arc::clone(id), Arc::clone(name), source);
        self.sources.insert(block, Source::Call(index));
    }

    fn arguments(&mut self, block: ReplyBlock, delta: &str) {
        let Some(Source::Call(index)) = self.sources.get(&block) else { return };
        if let Some(CallSource::Native { view, .. }) = self.list.call_source(*index) {
            view.push(delta);
            self.list.touch(*index);
        }
    }

    fn opaque(&self, block: ReplyBlock, json: &Arc<str>) -> Option<Apart> {
        match self.sources.get(&block)? {
            Source::Other { index, kind } => {
                let (kind, json) = (Arc::clone(kind), Arc::clone(json));
                Some(Apart::Foreign { index: *index, kind, json })
            }
            Source::Text { .. }
            | Source::Refusal
            | Source::Reasoning(_)
            | Source::Call(_)
            | Source::Picture(_) => None,
        }
    }

    fn close(&mut self, block: ReplyBlock, close: &Close) -> Option<Apart> {
        match (self.sources.get(&block)?.clone(), close) {
            (Source::Text { first, .. }, close) => self.close_text(block, first, close),
            (Source::Refusal, close) => self.close_plain(block, RowKind::Refusal, close),
            (Source::Reasoning(_), close) => self.close_plain(block, RowKind::Reasoning, close),
            (Source::Call(index), Close::Arguments(arguments)) => {
                if let Some(CallSource::Native { closed, .. }) = self.list.call_source(index) {
                    *closed = Some(arguments.clone());
                    self.list.touch(index);
                }
            }
            (Source::Call(_), Close::AsStreamed | Close::Replaced(_) | Close::Image(_)) => {}
            (Source::Picture(index), Close::Image(image)) => {
                self.list.complete(index);
                return Some(Apart::Picture { index, image: image.clone() });
            }
            (Source::Picture(index) | Source::Other { index, .. }, _) => self.list.complete(index),
        }
        None
    }

    fn close_text(&mut self, block: ReplyBlock, first: usize, close: &Close) {
        if self.reading != Some(block) {
            return;
        }
        finish_text(&mut self.list, &mut self.splitter);
        self.note_last(block);
        // Where tools were found in the words as they came, the last word is too late.
        if let (Close::Replaced(text), None) = (close, &self.scanner) {
            let after_thinking = self.list.is_reasoning(first).then(|| without_thinking(text));
            self.list.replace_prose(RowKind::Text, after_thinking.as_deref().unwrap_or(text));
        }
        self.list.close_prose();
        self.reading = None;
    }

    fn close_plain(&mut self, block: ReplyBlock, kind: RowKind, close: &Close) {
        if self.reading != Some(block) {
            return;
        }
        if let Close::Replaced(text) = close {
            self.list.replace_prose(kind, text);
        }
        self.flush();
    }
}

fn apply_tag(list: &mut BlockList, splitter: &mut ThinkSplitter, event: TagEvent<'_>) {
    match event {
        TagEvent::Text(piece) => split_text(list, splitter, piece),
        TagEvent::ToolOpen(name) => {
            finish_text(list, splitter);
            list.close_prose();
            list.push_tag_call(name);
        }
        TagEvent::ParamOpen(_)
        | TagEvent::Value(_)
        | TagEvent::ParamClose
        | TagEvent::ToolClose { .. } => list.apply_to_tag_call(event),
    }
}

fn split_text(list: &mut BlockList, splitter: &mut ThinkSplitter, piece: &str) {
    splitter.push(piece, &mut |event| apply_thinking(list, event));
    list.set_place(splitter.place());
}

fn finish_text(list: &mut BlockList, splitter: &mut ThinkSplitter) {
    splitter.finish(&mut |event| apply_thinking(list, event));
    list.set_place(splitter.place());
    splitter.begin_text();
}

fn apply_thinking(list: &mut BlockList, event: ThinkEvent<'_>) {
    match event {
        ThinkEvent::Text(piece) => list.push_prose(RowKind::Text, piece),
        ThinkEvent::Reasoning(piece) => list.push_prose(RowKind::Reasoning, piece),
        ThinkEvent::Open | ThinkEvent::Close => list.close_prose(),
    }
}

fn without_thinking(text: &str) -> String {
    let segments = split_thinking(ThinkTags::AtStart, text);
    let texts = segments.iter().filter(|segment| segment.kind == SegmentKind::Text);
    texts.map(|segment| segment.text.as_str()).collect()
}

/// A call whose closing tag never came.
fn judge_open_tags(tags: TagEnd, end: &EndState) -> Result<(), Flaw> {
    let is_done = matches!(
        end,
        EndState::Complete { reason, .. } if *reason != StopReason::Length
    );
    match tags {
        TagEnd::Malformed => Err(Flaw::Malformed),
        // All its parameters are whole: only the last tag is missing.
        TagEnd::InTool if is_done => Ok(()),
        TagEnd::InTool | TagEnd::InValue | TagEnd::Clean => Err(Flaw::CutOff(end.clone())),
    }
}

fn judge_native(call: &CallBlock, end: &EndState) -> Result<(), Flaw> {
    match &call.source {
        CallSource::Native { closed: Some(Err(error)), .. } => Err(Flaw::Arguments(error.clone())),
        CallSource::Native { closed: Some(Ok(arguments)), .. } if !arguments.is_object() => {
            Err(Flaw::Arguments(ArgumentError::NotObject))
        }
        CallSource::Native { closed: Some(Ok(_)), .. } if end.tools_may_run() => Ok(()),
        CallSource::Native { closed: Some(Ok(_)), .. } => Err(Flaw::NotAllowed(end.clone())),
        CallSource::Native { closed: None, .. } | CallSource::Tags(_) => {
            Err(Flaw::CutOff(end.clone()))
        }
    }
}
