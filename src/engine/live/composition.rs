//! The message that is arriving, put together from what the presenter says.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Instant,
};

use serde_json::{Map, Value};

use super::prose::Prose;
use crate::{
    engine::prepare::{prepare_image, prepare_result},
    model::{
        Image, Message, MessageId, Notice, NoticeKind, Part, Raw, Role, SourceLine, StopReason,
        Text, ToolCall, ToolResult, ToolState, Usage,
        stream::{Echo, EndState, Interruption},
    },
    presenter::{Answer, CallView, Note, Saying},
};

/// A message that is being put together.
///
/// What has not changed since the last look keeps its pointers, so that a look costs what
/// changed and a few pointers a part.
#[derive(Debug, Default)]
pub(super) struct Composition {
    id: MessageId,
    /// The log's name for it; empty for what is not in one.
    pub(super) key: Arc<str>,
    timestamp_ms: i64,
    /// The model that answers; the provider may name a more precise one.
    pub(super) model: Arc<str>,
    pub(super) usage: Option<Usage>,
    /// By the ordinals of their blocks.
    rows: BTreeMap<u32, Row>,
    /// Remarks, by the ordinal of the block that they stand behind.
    notes: BTreeMap<u32, Vec<Part>>,
    echoes: Vec<(u32, Echo)>,
    /// Calls whose arguments have changed since the last look.
    stale_calls: BTreeSet<u32>,
}

/// What a block holds so far.
#[derive(Clone, Copy, Debug)]
pub(super) enum Content<'a> {
    Text(&'a str),
    Reasoning(&'a str),
    Call {
        call: &'a ToolCall,
        /// Bytes of its arguments.
        bytes: usize,
        is_closed: bool,
    },
}

impl Content<'_> {
    pub(super) fn bytes(self) -> usize {
        match self {
            Self::Text(text) | Self::Reasoning(text) => text.len(),
            Self::Call { bytes, .. } => bytes,
        }
    }
}

#[derive(Debug)]
enum Row {
    Prose(Box<Prose>),
    Call {
        call: Arc<ToolCall>,
        /// The provider's own arguments are known, so the presenter's view no longer counts.
        is_closed: bool,
    },
    Other(Part),
}

impl Composition {
    pub(super) fn new(id: MessageId, model: Arc<str>, timestamp_ms: i64) -> Self {
        Self {
            id,
            key: "".into(),
            timestamp_ms,
            model,
            usage: None,
            rows: BTreeMap::new(),
            notes: BTreeMap::new(),
            echoes: Vec::new(),
            stale_calls: BTreeSet::new(),
        }
    }

    pub(super) fn id(&self) -> MessageId {
        self.id
    }

    /// Nothing of it can be seen.
    pub(super) fn is_blank(&self) -> bool {
        self.notes.is_empty() && self.rows.values().all(|row| !row.is_visible())
    }

    /// The call of a block.
    pub(super) fn call(&self, ordinal: u32) -> Option<&ToolCall> {
        match self.rows.get(&ordinal)? {
            Row::Call { call, .. } => Some(call),
            Row::Prose(_) | Row::Other(_) => None,
        }
    }

    /// What was said and called so far, by the ordinals of the blocks.
    pub(super) fn contents(&self) -> impl Iterator<Item = (u32, Content<'_>)> {
        self.rows.iter().filter_map(|(ordinal, row)| Some((*ordinal, row.content()?)))
    }

    /// Bytes of texts, reasoning and arguments.
    pub(super) fn bytes(&self) -> usize {
        self.contents().map(|(_, content)| content.bytes()).sum()
    }

    /// Bytes of text and arguments that are still open, which a look may have to copy.
    pub(super) fn open_bytes(&self) -> usize {
        self.rows.values().map(Row::open_bytes).sum()
    }

    pub(super) fn say(&mut self, saying: &Saying, now: Instant) {
        let row = self.rows.entry(saying.block.ordinal);
        let row = row.or_insert_with(|| Row::Prose(Box::new(Prose::new(saying.kind, now))));
        if let Row::Prose(prose) = row {
            prose.apply(saying, now);
        }
    }

    pub(super) fn touch_call(&mut self, ordinal: u32) {
        self.stale_calls.insert(ordinal);
    }

    pub(super) fn take_stale_calls(&mut self) -> BTreeSet<u32> {
        std::mem::take(&mut self.stale_calls)
    }

    /// Shows a call as far as it has arrived.
    pub(super) fn show_call(&mut self, view: CallView) {
        let CallView { block, id, name, params } = view;
        self.stale_calls.remove(&block.ordinal);
        let row = self.rows.entry(block.ordinal);
        let row = row.or_insert_with(|| Row::new_call(id, name));
        let Row::Call { call, is_closed: false } = row else { return };
        let value = |(name, value)| (name, Value::String(value));
        let arguments = Value::Object(params.into_iter().map(value).collect());
        if call.arguments != arguments {
            Arc::make_mut(call).arguments = arguments;
        }
    }

    /// The arguments of a call are complete.
    pub(super) fn close_call(&mut self, ordinal: u32, arguments: Value) {
        if let Some(Row::Call { call, is_closed }) = self.rows.get_mut(&ordinal) {
            Arc::make_mut(call).arguments = arguments;
            *is_closed = true;
        }
    }

    pub(super) fn set_call_state(&mut self, ordinal: u32, state: ToolState) {
        if let Some(Row::Call { call, .. }) = self.rows.get_mut(&ordinal) {
            Arc::make_mut(call).state = state;
        }
    }

    /// What a running call has given so far.
    pub(super) fn set_output(&mut self, ordinal: u32, mut output: ToolResult) {
        if let Some(Row::Call { call, .. }) = self.rows.get_mut(&ordinal) {
            prepare_result(&mut output);
            Arc::make_mut(call).result = Some(Arc::new(output));
        }
    }

    /// Tells the model something together with the result of a call.
    pub(super) fn remark(&mut self, ordinal: u32, words: &str) {
        let Some(Row::Call { call, .. }) = self.rows.get_mut(&ordinal) else { return };
        let Some(result) = &mut Arc::make_mut(call).result else { return };
        let result = Arc::make_mut(result);
        let told = result.told.as_deref().unwrap_or(&result.output.source);
        result.told = Some(format!("{told}\n\n{words}").into());
    }

    pub(super) fn set_duration(&mut self, ordinal: u32, millis: u64) {
        if let Some(Row::Call { call, .. }) = self.rows.get_mut(&ordinal) {
            Arc::make_mut(call).duration_ms = Some(millis);
        }
    }

    pub(super) fn answer(&mut self, answer: Answer) {
        let Some(Row::Call { call, is_closed }) = self.rows.get_mut(&answer.block.ordinal) else {
            return;
        };
        *is_closed = true;
        let call = Arc::make_mut(call);
        call.state = answer.state;
        call.result = answer.result.map(|mut result| {
            prepare_result(Arc::make_mut(&mut result));
            result
        });
    }

    pub(super) fn picture(&mut self, ordinal: u32, mut image: Image) {
        prepare_image(&mut image);
        self.rows.insert(ordinal, Row::Other(Part::Image(image)));
    }

    pub(super) fn foreign(&mut self, ordinal: u32, kind: Arc<str>, json: Arc<str>) {
        let raw = Raw { label: kind, text: json, line: SourceLine(0) };
        self.rows.insert(ordinal, Row::Other(Part::Raw(raw)));
    }

    pub(super) fn note(&mut self, note: Note) {
        let text = Text { blocks: super::prose::parsed(&note.text), source: note.text };
        let part = Part::Notice(Notice { kind: NoticeKind::Error, text });
        self.notes.entry(note.block.ordinal).or_default().push(part);
    }

    /// A checkpoint was made before this call.
    pub(super) fn checkpoint(&mut self, ordinal: u32, name: Arc<str>) {
        let text = Text::unparsed("Checkpoint before the first change");
        let text = Text { blocks: super::prose::parsed(&text.source), ..text };
        let part = Part::Notice(Notice { kind: NoticeKind::Checkpoint(name), text });
        self.notes.entry(ordinal.saturating_sub(1)).or_default().push(part);
    }

    pub(super) fn echo(&mut self, ordinal: u32, echo: Echo) {
        self.echoes.push((ordinal, echo));
    }

    /// The message so far; none while nothing of it can be seen.
    pub(super) fn look(&mut self) -> Option<Composed> {
        (!self.is_blank()).then(|| self.compose())
    }

    /// The whole message.
    pub(super) fn finish(mut self, end: &EndState) -> Composed {
        let mut composed = self.compose();
        (composed.message.stop, composed.message.error) = ending(end);
        let place = |ordinal| composed.keys.iter().position(|key| *key == ordinal);
        let echoes = std::mem::take(&mut self.echoes).into_iter();
        composed.echoes =
            echoes.filter_map(|(ordinal, echo)| Some((place(ordinal)?, echo))).collect();
        composed
    }

    fn blank(&self) -> Message {
        Message {
            id: self.id,
            key: Arc::clone(&self.key),
            role: Role::Assistant,
            timestamp_ms: Some(self.timestamp_ms),
            model: Some(Arc::clone(&self.model)),
            parts: Vec::with_capacity(self.rows.len() + self.notes.len()),
            stop: None,
            error: None,
            usage: self.usage,
            line: SourceLine(0),
        }
    }

    fn compose(&mut self) -> Composed {
        let mut composed = Composed::whole(self.blank());
        let mut notes = self.notes.iter().peekable();
        for (ordinal, row) in &mut self.rows {
            while let Some((_, earlier)) = notes.next_if(|(behind, _)| *behind < ordinal) {
                composed.note(earlier);
            }
            if let Some((part, lines)) = row.part() {
                composed.push(*ordinal, part, lines);
            }
        }
        notes.for_each(|(_, rest)| composed.note(rest));
        composed
    }
}

/// A message as far as it has come.
#[derive(Clone, Debug)]
pub(super) struct Composed {
    pub(super) message: Message,
    /// About how many lines it takes.
    pub(super) lines: usize,
    /// The ordinals of its parts; remarks have [`NOTE`].
    pub(super) keys: Vec<u32>,
    /// What its provider wants back, by the index of the part it belongs to.
    pub(super) echoes: Vec<(usize, Echo)>,
}

/// The key of a remark.
const NOTE: u32 = u32::MAX;

impl Composed {
    /// A message that came whole.
    pub(super) fn whole(message: Message) -> Self {
        let lines = message.parts.iter().map(Part::estimated_lines).sum();
        Self { message, lines, keys: Vec::new(), echoes: Vec::new() }
    }

    fn push(&mut self, key: u32, part: Part, lines: usize) {
        self.keys.push(key);
        self.message.parts.push(part);
        self.lines += lines;
    }

    fn note(&mut self, notes: &[Part]) {
        for note in notes {
            self.push(NOTE, note.clone(), note.estimated_lines());
        }
    }
}

impl Row {
    fn new_call(id: Arc<str>, name: Arc<str>) -> Self {
        let call = ToolCall {
            id,
            name,
            arguments: Value::Object(Map::new()),
            state: ToolState::Receiving,
            result: None,
            superseded: 0,
            duration_ms: None,
        };
        Self::Call { call: Arc::new(call), is_closed: false }
    }

    fn is_visible(&self) -> bool {
        match self {
            Self::Prose(prose) => prose.is_visible(),
            Self::Call { .. } | Self::Other(_) => true,
        }
    }

    fn content(&self) -> Option<Content<'_>> {
        match self {
            Self::Prose(prose) if prose.is_reasoning() => Some(Content::Reasoning(prose.source())),
            Self::Prose(prose) => Some(Content::Text(prose.source())),
            Self::Call { call, is_closed } => {
                let bytes = argument_bytes(call);
                Some(Content::Call { call, bytes, is_closed: *is_closed })
            }
            Self::Other(_) => None,
        }
    }

    fn open_bytes(&self) -> usize {
        match self {
            Self::Prose(prose) => prose.open_bytes(),
            Self::Call { call, is_closed: false } => argument_bytes(call),
            Self::Call { .. } | Self::Other(_) => 0,
        }
    }

    fn part(&mut self) -> Option<(Part, usize)> {
        match self {
            Self::Prose(prose) => prose.part(),
            Self::Call { call, .. } => {
                let part = Part::ToolCall(Arc::clone(call));
                let lines = part.estimated_lines();
                Some((part, lines))
            }
            Self::Other(part) => Some((part.clone(), part.estimated_lines())),
        }
    }
}

/// Bytes of the texts among the arguments of a call.
fn argument_bytes(call: &ToolCall) -> usize {
    let fields = call.arguments.as_object().into_iter().flat_map(Map::values);
    fields.filter_map(Value::as_str).map(str::len).sum()
}

/// How the end of a reply is recorded in its message.
fn ending(end: &EndState) -> (Option<StopReason>, Option<Arc<str>>) {
    let error = match end {
        EndState::Complete { reason, .. } => return (Some(reason.clone()), None),
        EndState::Cancelled => return (Some(StopReason::Aborted), None),
        EndState::Incomplete => {
            "The reply is cut off: the server closed the connection before it was done.".into()
        }
        EndState::Interrupted { cause: Interruption::Io(words), .. } => {
            format!("The connection was lost: {words}").into()
        }
        EndState::Interrupted { cause: Interruption::Stalled, .. } => {
            "The server fell silent in the middle of the reply.".into()
        }
        EndState::Failed(error) => error.to_string().into(),
    };
    (Some(StopReason::Error), Some(error))
}
