//! An answer whose end was not written: what is known of it from the records that were.

use std::{collections::HashMap, sync::Arc};

use serde_json::Value;

use super::{Kind, blob::Decoder, body, message::blank, part};
use crate::model::{Message, Part, Role, StopReason, Text, Thinking, ToolCall, ToolState};

/// What is said of an answer whose end will never come.
pub const INTERRUPTED: &str = "Interrupted: the program was closed before this reply was complete.";
/// The name of the reason why an answer stops that is still being written.
pub const UNFINISHED: &str = "unfinished";

/// Puts an answer together from the records before its end.
#[derive(Clone, Debug)]
pub struct Unfinished {
    message: Message,
    /// The part of each number that names one, and of each call.
    keys: HashMap<u32, usize>,
    calls: HashMap<Arc<str>, usize>,
    texts: Vec<String>,
    warnings: Vec<String>,
}

impl Default for Unfinished {
    fn default() -> Self {
        Self {
            message: blank("", Role::Assistant),
            keys: HashMap::new(),
            calls: HashMap::new(),
            texts: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

impl Unfinished {
    /// Takes the next record of the answer. Records that say nothing of it are passed over.
    pub fn take(
        &mut self,
        kind: Kind,
        body: &Value,
        at_ms: i64,
        blob: &dyn Fn(&str) -> Option<Vec<u8>>,
    ) {
        let mut decoder = Decoder::new(blob);
        self.message.timestamp_ms.get_or_insert(at_ms);
        if self.message.key.is_empty() {
            self.message.key = body.get("id").and_then(Value::as_str).unwrap_or("").into();
        }
        match kind {
            Kind::AssistantStart => self.begin(body),
            Kind::Partial => self.add(body, &mut decoder),
            Kind::ToolCall => self.call(body, &mut decoder),
            Kind::ToolResult => self.result(body, &mut decoder),
            Kind::Meta
            | Kind::User
            | Kind::Edit
            | Kind::Approval
            | Kind::AssistantFinal
            | Kind::Error
            | Kind::Branch
            | Kind::Usage
            | Kind::Other => {}
        }
        self.warnings.extend(decoder.warnings);
    }

    /// The answer, which the end of the program interrupted.
    #[must_use]
    pub fn interrupted(self) -> (Message, Vec<String>) {
        let (mut message, warnings) = self.so_far();
        (message.stop, message.error) = (Some(StopReason::Error), Some(INTERRUPTED.into()));
        (message, warnings)
    }

    /// The answer as far as it was written, while more of it may come.
    #[must_use]
    pub fn so_far(self) -> (Message, Vec<String>) {
        let Self { mut message, texts, warnings, .. } = self;
        for (part, text) in message.parts.iter_mut().zip(texts) {
            match part {
                Part::Text(slot) => *slot = Text::unparsed(text),
                Part::Thinking(thinking) => thinking.text = Text::unparsed(text),
                _ => {}
            }
        }
        message.stop = Some(StopReason::Other(UNFINISHED.into()));
        (message, warnings)
    }

    fn begin(&mut self, body: &Value) {
        let model = body.get("model").and_then(Value::as_str).filter(|model| !model.is_empty());
        self.message.model = model.map(Into::into);
        if let Some(at_ms) = body.get("at").and_then(Value::as_i64) {
            self.message.timestamp_ms = Some(at_ms);
        }
    }

    fn add(&mut self, body: &Value, decoder: &mut Decoder<'_>) {
        for delta in body.get("parts").and_then(Value::as_array).into_iter().flatten() {
            let key = delta.get("key").and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok());
            match delta.get("type").and_then(Value::as_str).unwrap_or("") {
                "text" => self.text(key, || Part::Text(Text::unparsed("")), delta, decoder),
                "thinking" => self.text(key, thinking, delta, decoder),
                "tool_call" => self.keyed_call(key, part::decode_call(delta, decoder)),
                other => {
                    let label = format!("unknown part \"{other}\"");
                    self.push(key, part::raw(&label, delta));
                }
            }
        }
    }

    fn text(
        &mut self,
        key: Option<u32>,
        new: impl FnOnce() -> Part,
        delta: &Value,
        decoder: &mut Decoder<'_>,
    ) {
        let new = new();
        let is_same = |part: &Part| std::mem::discriminant(part) == std::mem::discriminant(&new);
        let place =
            self.place_of(key).filter(|place| self.message.parts.get(*place).is_some_and(is_same));
        let place = place.unwrap_or_else(|| self.push(key, new));
        let added = decoder.words(delta.get("add"));
        if let Some(text) = self.texts.get_mut(place) {
            text.push_str(&added);
        }
    }

    fn keyed_call(&mut self, key: Option<u32>, call: ToolCall) {
        let place = self.place_of(key).or_else(|| self.place_of_call(&call.id));
        match place.and_then(|place| self.message.parts.get_mut(place)) {
            Some(Part::ToolCall(known)) if known.result.is_none() => *known = Arc::new(call),
            Some(_) => {}
            None => drop(self.push(key, Part::ToolCall(Arc::new(call)))),
        }
    }

    /// What runs is what was written last of a call.
    fn call(&mut self, body: &Value, decoder: &mut Decoder<'_>) {
        if let Some(call) = body.get("call").filter(|call| call.is_object()) {
            self.keyed_call(None, part::decode_call(call, decoder));
        }
    }

    fn result(&mut self, body: &Value, decoder: &mut Decoder<'_>) {
        let id = decoder.words(body.get("call"));
        let place = self.place_of_call(&id).unwrap_or_else(|| {
            let name = body.get("result").and_then(|r| r.get("name")).and_then(Value::as_str);
            let call = ToolCall {
                id: id.as_str().into(),
                name: name.unwrap_or("").into(),
                arguments: Value::Null,
                state: ToolState::NoResult,
                result: None,
                superseded: 0,
                duration_ms: None,
            };
            self.push(None, Part::ToolCall(Arc::new(call)))
        });
        if let Some(Part::ToolCall(call)) = self.message.parts.get_mut(place) {
            body::answer(body, Arc::make_mut(call), decoder);
        }
    }

    fn push(&mut self, key: Option<u32>, part: Part) -> usize {
        let place = self.message.parts.len();
        if let Some(key) = key {
            self.keys.insert(key, place);
        }
        if let Part::ToolCall(call) = &part {
            self.calls.insert(Arc::clone(&call.id), place);
        }
        self.message.parts.push(part);
        self.texts.push(String::new());
        place
    }

    fn place_of(&self, key: Option<u32>) -> Option<usize> {
        self.keys.get(&key?).copied()
    }

    fn place_of_call(&self, id: &str) -> Option<usize> {
        self.calls.get(id).copied()
    }
}

fn thinking() -> Part {
    Part::Thinking(Thinking { text: Text::unparsed(""), redacted: false, duration_ms: None })
}
