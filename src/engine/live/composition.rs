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
        Text, ToolCall, ToolState, Usage,
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

    pub(super) fn echo(&mut self, ordinal: u32, echo: Echo) {
        self.echoes.push((ordinal, echo));
    }

    /// The message so far, and about how many lines it takes; none while nothing of it can
    /// be seen.
    pub(super) fn look(&mut self) -> Option<(Message, usize)> {
        if self.is_blank() {
            return None;
        }
        let (parts, lines, _) = self.parts();
        Some((self.message(parts), lines))
    }

    /// The whole message, with its echoes by the index of their parts.
    pub(super) fn finish(mut self, end: &EndState) -> (Message, Vec<(usize, Echo)>) {
        let (parts, _, places) = self.parts();
        let echoes = std::mem::take(&mut self.echoes).into_iter();
        let placed = echoes.filter_map(|(ordinal, echo)| Some((*places.get(&ordinal)?, echo)));
        let echoes = placed.collect();
        let (stop, error) = ending(end);
        let message = Message { stop: Some(stop), error, ..self.message(parts) };
        (message, echoes)
    }

    fn message(&self, parts: Vec<Part>) -> Message {
        Message {
            id: self.id,
            key: "".into(),
            role: Role::Assistant,
            timestamp_ms: Some(self.timestamp_ms),
            model: Some(Arc::clone(&self.model)),
            parts,
            stop: None,
            error: None,
            usage: self.usage,
            line: SourceLine(0),
        }
    }

    /// The parts, about how many lines they take, and their indices by ordinal.
    fn parts(&mut self) -> (Vec<Part>, usize, BTreeMap<u32, usize>) {
        let mut parts = Vec::with_capacity(self.rows.len() + self.notes.len());
        let mut places = BTreeMap::new();
        let mut lines = 0;
        let mut notes = self.notes.iter().peekable();
        for (ordinal, row) in &mut self.rows {
            while let Some((_, earlier)) = notes.next_if(|(behind, _)| *behind < ordinal) {
                parts.extend(earlier.iter().cloned());
            }
            if let Some((part, part_lines)) = row.part() {
                places.insert(*ordinal, parts.len());
                parts.push(part);
                lines += part_lines;
            }
        }
        parts.extend(notes.flat_map(|(_, rest)| rest.iter().cloned()));
        lines += self.notes.values().flatten().map(Part::estimated_lines).sum::<usize>();
        (parts, lines, places)
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

    fn open_bytes(&self) -> usize {
        match self {
            Self::Prose(prose) => prose.open_bytes(),
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

/// How the end of a reply is recorded in its message.
fn ending(end: &EndState) -> (StopReason, Option<Arc<str>>) {
    let error = match end {
        EndState::Complete { reason, .. } => return (reason.clone(), None),
        EndState::Cancelled => return (StopReason::Aborted, None),
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
    (StopReason::Error, Some(error))
}
