//! The veil: a source whose messages have their keys, tokens and passwords covered.
//!
//! Covering happens once for each state of a message, when it is first asked for, and never
//! again in the frames after; what is long is covered by a thread. Until then nothing of it
//! is shown.

use std::{
    ops::Range,
    sync::{
        Arc,
        mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
    },
    thread,
};

use rustc_hash::FxHashMap;
use serde_json::Value;

use crate::{
    engine::{Waker, prepare},
    markup::secrets::{Ending, cover},
    model::{
        Blocks, Message, MessageId, Output, Part, Progress, RowInfo, Source, Text, ToolCall,
        ToolResult,
    },
};

/// A message up to this size is covered at once: well below a millisecond.
const SHORT_BYTES: usize = 48 * 1024;
/// Messages that wait for the thread, and results that wait to be taken.
const QUEUE: usize = 16;
/// Covered messages are kept up to this size.
const KEPT_BYTES: usize = 8 * 1024 * 1024;

/// The message with its secrets covered, prepared for showing; none when it has none.
#[must_use]
pub fn covered(message: &Message) -> Option<Message> {
    let mut covered = message.clone();
    let mut changed = false;
    for part in &mut covered.parts {
        changed |= cover_part(part);
    }
    changed |= covered.error.as_mut().is_some_and(cover_words);
    changed.then(|| prepare(covered))
}

fn cover_part(part: &mut Part) -> bool {
    match part {
        Part::Text(text) => cover_text(text),
        Part::Thinking(thinking) => cover_text(&mut thinking.text),
        Part::Notice(notice) => cover_text(&mut notice.text),
        Part::ToolCall(call) => replace(call, cover_call),
        Part::ToolResult(result) => replace(result, cover_result),
        Part::Raw(raw) => cover_words(&mut raw.text) | cover_words(&mut raw.label),
        Part::Image(_) => false,
    }
}

/// Changes what is shared only when there is something to change.
fn replace<T: Clone>(shared: &mut Arc<T>, change: impl FnOnce(&mut T) -> bool) -> bool {
    let mut copy = (**shared).clone();
    let changed = change(&mut copy);
    if changed {
        *shared = Arc::new(copy);
    }
    changed
}

fn cover_words(words: &mut Arc<str>) -> bool {
    let Some(covered) = cover(words, Ending::Final) else { return false };
    *words = covered.into();
    true
}

fn cover_text(text: &mut Text) -> bool {
    let open = matches!(text.blocks, Blocks::Open { .. });
    let ending = if open { Ending::Open } else { Ending::Final };
    let Some(covered) = cover(&text.source, ending) else { return false };
    *text = Text::unparsed(covered);
    true
}

fn cover_call(call: &mut ToolCall) -> bool {
    let arguments = cover_value(&mut call.arguments, None);
    let result = call.result.as_mut().is_some_and(|result| replace(result, cover_result));
    arguments | result
}

fn cover_result(result: &mut ToolResult) -> bool {
    let details = cover_value(&mut result.details, None);
    let Some(covered) = cover(&result.output.source, Ending::Final) else { return details };
    let omitted = result.output.omitted;
    result.output = Output { omitted, ..Output::plain(covered) };
    true
}

/// Covers the strings of a JSON value. A string under a name is judged with its name.
fn cover_value(value: &mut Value, name: Option<&str>) -> bool {
    match value {
        Value::String(text) => cover_string(text, name),
        Value::Array(values) => {
            values.iter_mut().fold(false, |changed, value| changed | cover_value(value, name))
        }
        Value::Object(fields) => fields
            .iter_mut()
            .fold(false, |changed, (name, value)| changed | cover_value(value, Some(name))),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn cover_string(text: &mut String, name: Option<&str>) -> bool {
    if let Some(covered) = cover(text, Ending::Final) {
        *text = covered;
        return true;
    }
    let Some(name) = name.filter(|_| text.len() <= 4096 && !text.contains(['"', '\n', '\\']))
    else {
        return false;
    };
    let opening = format!("\"{name}\": \"");
    let named = cover(&format!("{opening}{text}\""), Ending::Final);
    let inside =
        named.as_deref().and_then(|named| named.strip_prefix(&*opening)?.strip_suffix('"'));
    let Some(covered) = inside.filter(|covered| *covered != text.as_str()) else { return false };
    *text = covered.to_owned();
    true
}

/// What was covered of one conversation.
pub struct Veil {
    kept: FxHashMap<MessageId, Kept>,
    bytes: usize,
    clock: u64,
    version: u64,
    thread: Thread,
    waker: Waker,
}

struct Kept {
    /// What the source gave.
    original: Arc<Message>,
    /// What may be shown: of this state, or of an earlier one while this one is covered.
    shown: Option<Arc<Message>>,
    /// The thread has it.
    asked: bool,
    bytes: usize,
    used: u64,
}

/// Who covers a message.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Asked {
    /// It is done at once.
    Nobody,
    Thread,
    /// The thread has its hands full.
    Later,
}

enum Thread {
    NotStarted,
    /// It could not be started: long messages are covered where they are asked for.
    Missing,
    Runs {
        wanted: SyncSender<Arc<Message>>,
        done: Receiver<(Arc<Message>, Arc<Message>)>,
    },
}

impl Veil {
    /// A veil that calls `waker` when a long message is covered.
    #[must_use]
    pub fn new(waker: Waker) -> Self {
        Self {
            kept: FxHashMap::default(),
            bytes: 0,
            clock: 0,
            version: 0,
            thread: Thread::NotStarted,
            waker,
        }
    }

    /// The source behind the veil.
    pub fn over<'a>(&'a mut self, source: &'a mut dyn Source) -> Veiled<'a> {
        Veiled { veil: self, source }
    }

    /// Bytes of covered messages.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    fn message(&mut self, original: &Arc<Message>) -> Option<Arc<Message>> {
        self.clock += 1;
        let clock = self.clock;
        if let Some(kept) = self.kept.get_mut(&original.id)
            && Arc::ptr_eq(&kept.original, original)
        {
            kept.used = clock;
            if kept.asked {
                return kept.shown.clone();
            }
        }
        let bytes = original.heap_bytes();
        let asked = if bytes <= SHORT_BYTES { Asked::Nobody } else { self.ask(original) };
        let shown = match asked {
            Asked::Nobody => Some(covered(original).map_or_else(|| Arc::clone(original), Arc::new)),
            Asked::Thread | Asked::Later => {
                self.kept.get(&original.id).and_then(|kept| kept.shown.clone())
            }
        };
        self.keep(original, shown.clone(), (asked != Asked::Later, bytes));
        shown
    }

    /// Hands a message to the thread.
    fn ask(&mut self, original: &Arc<Message>) -> Asked {
        if matches!(self.thread, Thread::NotStarted) {
            self.thread = start(Arc::clone(&self.waker));
        }
        let Thread::Runs { wanted, .. } = &self.thread else { return Asked::Nobody };
        match wanted.try_send(Arc::clone(original)) {
            Ok(()) => Asked::Thread,
            // What it finishes makes everything be asked for again.
            Err(TrySendError::Full(_)) => Asked::Later,
            Err(TrySendError::Disconnected(_)) => Asked::Nobody,
        }
    }

    fn keep(&mut self, original: &Arc<Message>, shown: Option<Arc<Message>>, of: (bool, usize)) {
        let (asked, bytes) = of;
        let kept = Kept { original: Arc::clone(original), shown, asked, bytes, used: self.clock };
        self.bytes += bytes;
        if let Some(old) = self.kept.insert(original.id, kept) {
            self.bytes -= old.bytes;
        }
        while self.bytes > KEPT_BYTES && self.kept.len() > 1 {
            let oldest = self.kept.iter().min_by_key(|(_, kept)| kept.used).map(|(id, _)| *id);
            let Some(gone) = oldest.and_then(|id| self.kept.remove(&id)) else { break };
            self.bytes -= gone.bytes;
        }
    }

    /// Takes what the thread finished.
    fn take(&mut self) {
        let Thread::Runs { done, .. } = &self.thread else { return };
        for (original, shown) in done.try_iter() {
            if let Some(kept) = self.kept.get_mut(&original.id) {
                kept.shown = Some(shown);
                self.version += 1;
            }
        }
    }
}

fn start(waker: Waker) -> Thread {
    let (wanted, wishes) = sync_channel::<Arc<Message>>(QUEUE);
    let (finished, done) = sync_channel(QUEUE);
    let work = move || {
        for original in wishes {
            let shown = covered(&original).map_or_else(|| Arc::clone(&original), Arc::new);
            if finished.send((original, shown)).is_err() {
                break;
            }
            waker();
        }
    };
    match thread::Builder::new().name("letterpress-veil".to_owned()).spawn(work) {
        Ok(_detached) => Thread::Runs { wanted, done },
        Err(error) => {
            tracing::warn!("long messages are covered on the UI thread: {error}");
            Thread::Missing
        }
    }
}

/// A [`Source`] behind a [`Veil`].
pub struct Veiled<'a> {
    veil: &'a mut Veil,
    source: &'a mut dyn Source,
}

impl Source for Veiled<'_> {
    fn poll(&mut self) -> u64 {
        self.veil.take();
        // Either side's change must change the sum.
        self.source.poll().wrapping_add(self.veil.version << 32)
    }

    fn len(&self) -> usize {
        self.source.len()
    }

    fn row(&self, index: usize) -> RowInfo {
        self.source.row(index)
    }

    fn index_of(&self, id: MessageId) -> Option<usize> {
        self.source.index_of(id)
    }

    fn prompt_before(&self, index: usize) -> Option<usize> {
        self.source.prompt_before(index)
    }

    fn prompt_after(&self, index: usize) -> Option<usize> {
        self.source.prompt_after(index)
    }

    fn message(&mut self, index: usize) -> Option<Arc<Message>> {
        let original = self.source.message(index)?;
        self.veil.message(&original)
    }

    fn want(&mut self, rows: Range<usize>) {
        self.source.want(rows);
    }

    fn estimate(&self, rows: Range<usize>) -> (u64, u64) {
        self.source.estimate(rows)
    }

    fn progress(&self) -> Progress {
        self.source.progress()
    }
}
