//! The reply as it is being written: what every wire shares, from blocks to end state.

use std::sync::Arc;

use serde_json::Value;

use super::{error, head::Head};
use crate::model::{
    Image, StopReason, Usage,
    stream::{
        ArgumentError, Close, Echo, EndState, ErrorClass, Interruption, ReplyBlock, ReplyKind,
        Retry, StreamError, StreamEvent, StreamWarning, WarningCode, Wire,
    },
};

/// Blocks one reply may have.
const BLOCK_LIMIT: u32 = 1 << 14;
/// Signs of life in a row, without anything to show between them. At one a second it
/// takes most of a day; only harm is meant by more.
const KEEP_ALIVE_LIMIT: u32 = 1 << 16;
/// Warnings of one kind that are passed on; the rest of them say nothing new.
const WARNING_LIMIT: u8 = 8;

/// How a body ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BodyEnd {
    /// In good order, or we closed it because the answer was complete.
    Eof,
    /// The connection broke; in the system's words.
    Broken(Arc<str>),
    /// Nothing came for too long.
    Stalled,
    /// The user stopped it.
    Cancelled,
}

/// Collects the events of a reply and the evidence of how it ended.
///
/// Invariant: every block that was opened is closed before the end, and nothing follows
/// the end.
pub(super) struct Draft {
    origin: Origin,
    events: Vec<StreamEvent>,
    next_block: u32,
    /// The block that prose without an address of its own goes to.
    flow: Option<(ReplyKind, ReplyBlock)>,
    usage: Option<Usage>,
    warned: Vec<(WarningCode, u8)>,
    keep_alives: u32,
    calls: Calls,
    /// The reply holds something to show or to send back.
    has_content: bool,
    started: bool,
    evidence: Evidence,
    /// An empty reason was given, which counts when there are calls.
    blank_reason: bool,
    failure: Option<StreamError>,
}

/// Where a reply comes from, for what has to go back there.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    pub(super) wire: Wire,
    pub(super) host: Arc<str>,
}

/// What is known about the calls of the reply.
#[derive(Clone, Copy, Debug, Default)]
struct Calls {
    closed: u32,
    broken: u32,
}

/// What the provider gave to understand about its end. Later ones outrank earlier ones.
#[derive(Clone, Debug, Default, PartialEq)]
enum Evidence {
    #[default]
    None,
    /// A terminator without a reason.
    Terminator,
    /// A reason.
    Reason(StopReason),
}

impl Draft {
    pub(super) fn new(origin: Origin) -> Self {
        Self {
            origin,
            events: Vec::new(),
            next_block: 0,
            flow: None,
            usage: None,
            warned: Vec::new(),
            keep_alives: 0,
            calls: Calls::default(),
            has_content: false,
            started: false,
            evidence: Evidence::None,
            blank_reason: false,
            failure: None,
        }
    }

    /// The events since the last time.
    pub(super) fn take_events(&mut self) -> Vec<StreamEvent> {
        std::mem::take(&mut self.events)
    }

    pub(super) fn start(&mut self, id: Option<&str>, model: Option<&str>) {
        if !std::mem::replace(&mut self.started, true) {
            let (id, model) = (id.map(Arc::from), model.map(Arc::from));
            self.events.push(StreamEvent::Started { id, model });
        }
    }

    pub(super) fn head(&mut self, head: &Head) {
        if !head.rate.is_empty() {
            self.events.push(StreamEvent::RateLimit(head.rate.as_slice().into()));
        }
    }

    pub(super) fn keep_alive(&mut self) {
        self.keep_alives += 1;
        if self.keep_alives > KEEP_ALIVE_LIMIT {
            let words = "the server sends nothing but signs of life";
            return self.fail(StreamError::new(ErrorClass::Protocol, words));
        }
        self.events.push(StreamEvent::KeepAlive);
    }

    pub(super) fn warn(&mut self, code: WarningCode, detail: impl Into<String>) {
        let index = self.warned.iter().position(|(known, _)| *known == code);
        let index = index.unwrap_or_else(|| {
            self.warned.push((code, 0));
            self.warned.len() - 1
        });
        if self.warned[index].1 < WARNING_LIMIT {
            self.warned[index].1 += 1;
            let detail = detail.into().chars().take(200).collect();
            self.events.push(StreamEvent::Warning(StreamWarning { code, detail }));
        }
    }

    /// Changes the usage so far by what `merge` finds; passes it on when it changed.
    pub(super) fn usage(&mut self, merge: impl FnOnce(&mut Usage)) {
        let mut usage = self.usage.unwrap_or_default();
        merge(&mut usage);
        if self.usage != Some(usage) {
            self.usage = Some(usage);
            self.events.push(StreamEvent::Usage(usage));
        }
    }
}

/// Blocks.
impl Draft {
    /// Opens a block that has an address of its own.
    pub(super) fn open(&mut self, kind: ReplyKind) -> ReplyBlock {
        let block = self.new_block();
        self.events.push(StreamEvent::BlockOpen { block, kind });
        block
    }

    pub(super) fn open_call(&mut self, id: &Arc<str>, name: &str) -> ReplyBlock {
        self.end_flow();
        let block = self.new_block();
        let (id, name) = (Arc::clone(id), name.into());
        self.content(StreamEvent::ToolOpen { block, id, name });
        block
    }

    pub(super) fn text(&mut self, block: ReplyBlock, delta: &str) {
        if !delta.is_empty() {
            self.content(StreamEvent::Text { block, delta: delta.to_owned() });
        }
    }

    pub(super) fn reasoning(&mut self, block: ReplyBlock, delta: &str) {
        if !delta.is_empty() {
            self.content(StreamEvent::Reasoning { block, delta: delta.to_owned() });
        }
    }

    pub(super) fn arguments(&mut self, block: ReplyBlock, delta: &str) {
        if !delta.is_empty() {
            self.content(StreamEvent::ToolArgs { block, delta: delta.to_owned() });
        }
    }

    pub(super) fn opaque(&mut self, block: ReplyBlock, value: &Value) {
        let (wire, host) = (self.origin.wire, Arc::clone(&self.origin.host));
        let echo = Echo { wire, host, json: value.to_string().into() };
        self.content(StreamEvent::Opaque { block, echo });
    }

    pub(super) fn close(&mut self, block: ReplyBlock, close: Close) {
        if let Close::Arguments(arguments) = &close {
            self.calls.closed += 1;
            self.calls.broken += u32::from(arguments.is_err());
        }
        self.events.push(StreamEvent::BlockClose { block, close });
    }

    /// A whole call at once.
    pub(super) fn whole_call(
        &mut self,
        id: &Arc<str>,
        name: &str,
        arguments: &Value,
    ) -> ReplyBlock {
        let block = self.open_call(id, name);
        let text = match arguments {
            Value::String(text) => text.clone(),
            Value::Null => String::new(),
            other => other.to_string(),
        };
        self.arguments(block, &text);
        self.close(block, Close::Arguments(super::calls::parse_arguments(&text)));
        block
    }

    /// A picture at once.
    pub(super) fn image(&mut self, image: Image) -> ReplyBlock {
        self.end_flow();
        let block = self.open(ReplyKind::Image);
        self.has_content = true;
        self.close(block, Close::Image(image));
        block
    }

    /// Appends prose that has no address: it goes to the block that is open, or to a new
    /// one when that is of another kind. Empty prose opens nothing.
    pub(super) fn flow(&mut self, kind: &ReplyKind, delta: &str) -> Option<ReplyBlock> {
        if delta.is_empty() {
            return None;
        }
        let block = match &self.flow {
            Some((open, block)) if open == kind => *block,
            _ => self.begin_flow(kind),
        };
        match kind {
            ReplyKind::Reasoning => self.reasoning(block, delta),
            ReplyKind::Text | ReplyKind::Refusal | ReplyKind::Image | ReplyKind::Other(_) => {
                self.text(block, delta);
            }
        }
        Some(block)
    }

    /// Opens a new block for prose, whatever was open.
    pub(super) fn begin_flow(&mut self, kind: &ReplyKind) -> ReplyBlock {
        self.end_flow();
        let block = self.open(kind.clone());
        self.flow = Some((kind.clone(), block));
        block
    }

    /// Closes the block that prose goes to.
    pub(super) fn end_flow(&mut self) {
        if let Some((_, block)) = self.flow.take() {
            self.close(block, Close::AsStreamed);
        }
    }

    fn content(&mut self, event: StreamEvent) {
        self.has_content = true;
        self.keep_alives = 0;
        self.events.push(event);
    }

    fn new_block(&mut self) -> ReplyBlock {
        if self.next_block == BLOCK_LIMIT {
            self.fail(StreamError::new(ErrorClass::TooLarge, "the reply has too many parts"));
        }
        let block = ReplyBlock(self.next_block);
        self.next_block += 1;
        block
    }
}

/// Evidence and end.
impl Draft {
    /// The provider said why it stopped.
    pub(super) fn finish(&mut self, reason: StopReason) {
        self.evidence = Evidence::Reason(reason);
    }

    /// The provider gave an empty reason.
    pub(super) fn finish_blank(&mut self) {
        self.blank_reason = true;
    }

    /// The provider said that nothing follows, or took that back by going on.
    pub(super) fn set_terminator(&mut self, seen: bool) {
        match (&self.evidence, seen) {
            (Evidence::None, true) => self.evidence = Evidence::Terminator,
            (Evidence::Terminator, false) => self.evidence = Evidence::None,
            _ => {}
        }
    }

    /// The first failure counts.
    pub(super) fn fail(&mut self, error: StreamError) {
        self.failure.get_or_insert(error);
    }

    /// Fails with an error document of the stream.
    pub(super) fn fail_with(&mut self, document: &Value) {
        let error = error::of_stream(document, self.has_content);
        self.fail(error);
    }

    pub(super) fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    pub(super) fn has_content(&self) -> bool {
        self.has_content
    }

    /// The provider said why it stopped, so that little can follow.
    pub(super) fn is_finishing(&self) -> bool {
        matches!(self.evidence, Evidence::Reason(_))
    }

    /// Pushes the end. All blocks must be closed by now.
    pub(super) fn end(&mut self, body: BodyEnd) {
        let state = self.end_state(body);
        let complete = matches!(state, EndState::Complete { .. });
        if complete && self.evidence == Evidence::Terminator {
            self.warn(WarningCode::NoFinishReason, "");
        }
        self.events.push(StreamEvent::End(state));
    }

    /// The end-state table, in its order of precedence.
    fn end_state(&mut self, body: BodyEnd) -> EndState {
        if body == BodyEnd::Cancelled {
            return EndState::Cancelled;
        }
        if let Some(error) = self.failure.take() {
            return EndState::Failed(error);
        }
        if let Evidence::Reason(reason) = &self.evidence {
            return self.complete(reason.clone());
        }
        let retry = if self.has_content { Retry::Never } else { Retry::Backoff };
        match (body, &self.evidence) {
            (BodyEnd::Broken(words), _) => {
                EndState::Interrupted { cause: Interruption::Io(words), retry }
            }
            (BodyEnd::Stalled, _) => {
                EndState::Interrupted { cause: Interruption::Stalled, retry: Retry::Never }
            }
            _ if self.blank_reason && self.calls.closed > 0 => self.complete(StopReason::ToolUse),
            (_, Evidence::Terminator) if self.has_content => self.complete(unknown()),
            _ if self.has_content => EndState::Incomplete,
            _ => EndState::Failed(StreamError::new(
                ErrorClass::Empty,
                "the server closed the connection without a word",
            )),
        }
    }

    fn complete(&self, reason: StopReason) -> EndState {
        let reason = match reason {
            StopReason::Stop if self.calls.closed > 0 => StopReason::ToolUse,
            other => other,
        };
        let allowed = match &reason {
            StopReason::ToolUse => true,
            StopReason::Other(why) => **why == *"unknown",
            StopReason::Stop | StopReason::Length | StopReason::Error | StopReason::Aborted => {
                false
            }
        };
        let tools_may_run = allowed && self.calls.closed > 0 && self.calls.broken == 0;
        EndState::Complete { reason, tools_may_run }
    }
}

/// The reason of a provider that gave none, or one that is not known here.
pub(super) fn unknown() -> StopReason {
    StopReason::Other("unknown".into())
}

/// Closes a call whose arguments are not to be had.
pub(super) fn no_arguments(error: ArgumentError) -> Close {
    Close::Arguments(Err(error))
}
