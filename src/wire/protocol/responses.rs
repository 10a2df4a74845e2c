//! `OpenAI` Responses.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use serde_json::{Map, Value};

use super::{Next, Protocol};
use crate::{
    model::{
        StopReason,
        stream::{ArgumentError, Close, ReplyBlock, ReplyKind, WarningCode},
    },
    wire::{
        calls::{ARGUMENT_LIMIT, Mint, parse_arguments},
        draft::{Draft, no_arguments, unknown},
        error,
        json::Lenient as _,
    },
};

/// Reads the events of a response, or the response as one document.
pub(super) struct Responses {
    mint: Mint,
    /// Parts that are open, by where their deltas say they belong.
    open: HashMap<Address, Open>,
    /// Items whose last word was heard.
    done: HashSet<String>,
    names: ItemNames,
    sequence: Sequence,
}

/// Gives every item one name.
///
/// The output index is trusted before the id, because some gateways change an item's id
/// from event to event; but two items that claim one index are told apart by their ids.
#[derive(Default)]
struct ItemNames {
    /// Names by id.
    by_id: HashMap<String, String>,
    claimed: HashSet<String>,
}

/// Where a delta belongs: an item, and a part of it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Address {
    item: String,
    part: Part,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Part {
    /// Text or refusal of a message, by its index.
    Content(u64),
    /// The reasoning of an item, all its summaries together.
    Reasoning,
    /// The arguments of a call.
    Call,
    /// An item that is shown as a card.
    Card,
}

/// A part that is open.
struct Open {
    block: ReplyBlock,
    /// The sum of its deltas.
    text: String,
    /// Its text is not what its deltas said.
    replaced: bool,
    /// Index of the last summary that was added to it.
    summary: u64,
    /// The input of the call is free text, not JSON.
    is_custom: bool,
}

/// Watches the numbers of the events.
#[derive(Default)]
struct Sequence {
    last: Option<(u64, Value)>,
}

impl Protocol for Responses {
    fn value(&mut self, event: &str, value: Value, draft: &mut Draft) -> Next {
        if self.sequence.repeats(&value, draft) {
            return Next::Continue;
        }
        let kind = value.text("type").unwrap_or(event);
        let next = match kind.strip_prefix("response.") {
            Some(kind) => self.event(kind, &value, draft),
            None => self.other(kind, &value, draft),
        };
        self.sequence.remember(value);
        next
    }

    fn close(&mut self, draft: &mut Draft) {
        self.close_where(|_| true, draft);
    }
}

impl Responses {
    pub(super) fn new(mint: Mint) -> Self {
        Self {
            mint,
            open: HashMap::new(),
            done: HashSet::new(),
            names: ItemNames::default(),
            sequence: Sequence::default(),
        }
    }

    fn event(&mut self, kind: &str, value: &Value, draft: &mut Draft) -> Next {
        let response = value.get("response").unwrap_or(&Value::Null);
        let delta = value.text("delta").unwrap_or_default();
        match kind {
            "created" | "queued" | "in_progress" => {
                draft.start(response.text("id"), response.text("model"));
                draft.keep_alive();
            }
            "completed" | "incomplete" | "failed" | "cancelled" => {
                return self.terminal(kind, response, draft);
            }
            "output_item.added" => self.item_added(value, draft),
            "output_item.done" => self.item_done(value, draft),
            "output_text.delta" => self.content(value, &ReplyKind::Text, delta, draft),
            "output_text.done" => self.content_done(value, "text", &ReplyKind::Text, draft),
            "refusal.delta" => self.content(value, &ReplyKind::Refusal, delta, draft),
            "refusal.done" => self.content_done(value, "refusal", &ReplyKind::Refusal, draft),
            "reasoning_summary_text.delta" | "reasoning_text.delta" => {
                self.reasoning(value, delta, draft);
            }
            "function_call_arguments.delta" | "custom_tool_call_input.delta" => {
                self.arguments(value, delta, draft);
            }
            "function_call_arguments.done" => self.call_done(value, "arguments", draft),
            "custom_tool_call_input.done" => self.call_done(value, "input", draft),
            _ if is_progress(kind) => draft.keep_alive(),
            other => draft.warn(WarningCode::UnknownPart, other),
        }
        Next::Continue
    }

    fn other(&mut self, kind: &str, value: &Value, draft: &mut Draft) -> Next {
        if kind == "error" || error::is_error(value) {
            draft.fail_with(value);
            return Next::Over;
        }
        if value.text("object") == Some("response") {
            draft.start(value.text("id"), value.text("model"));
            return self.terminal(value.text("status").unwrap_or("completed"), value, draft);
        }
        match kind {
            "keepalive" | "ping" => draft.keep_alive(),
            other => draft.warn(WarningCode::UnknownPart, other),
        }
        Next::Continue
    }

    fn terminal(&mut self, status: &str, response: &Value, draft: &mut Draft) -> Next {
        merge_usage(response.get("usage"), draft);
        if error::is_error(response) || matches!(status, "failed" | "cancelled") {
            draft.fail_with(response);
            return Next::Over;
        }
        // What did not come in events may still stand in the whole.
        for (index, item) in (0..).zip(response.list("output")) {
            let key = self.names.find(item.text("id"), Some(index));
            self.finish_item(&key, item, draft);
        }
        let details = response.get("incomplete_details").and_then(|d| d.text("reason"));
        draft.finish(match (status, details) {
            ("incomplete", Some("max_output_tokens")) => StopReason::Length,
            ("incomplete", Some("content_filter")) => StopReason::Other("content_filter".into()),
            ("incomplete", _) => unknown(),
            _ => StopReason::Stop,
        });
        Next::Over
    }
}

/// Items.
impl Responses {
    fn item_added(&mut self, value: &Value, draft: &mut Draft) {
        let item = value.get("item").unwrap_or(&Value::Null);
        let key = self.names.claim(item.text("id"), value.number("output_index"));
        match item.text("type").unwrap_or_default() {
            // Their blocks open with their first words.
            "message" | "reasoning" => {}
            "function_call" | "custom_tool_call" => {
                self.open_call(&key, item, draft);
            }
            kind => {
                self.open_card(&key, kind, draft);
            }
        }
    }

    fn item_done(&mut self, value: &Value, draft: &mut Draft) {
        let item = value.get("item").unwrap_or(&Value::Null);
        let key = self.names.find(item.text("id"), value.number("output_index"));
        self.finish_item(&key, item, draft);
    }

    /// The provider's last word on an item: it outranks what its deltas said.
    fn finish_item(&mut self, key: &str, item: &Value, draft: &mut Draft) {
        if !self.done.insert(key.to_owned()) {
            return;
        }
        match item.text("type").unwrap_or_default() {
            "message" => self.finish_message(key, item, draft),
            "reasoning" => self.finish_reasoning(key, item, draft),
            "function_call" => self.finish_call(key, item, "arguments", draft),
            "custom_tool_call" => self.finish_call(key, item, "input", draft),
            kind => {
                let block = self.open_card(key, kind, draft);
                draft.opaque(block, item);
            }
        }
        self.close_where(|address| address.item == key, draft);
    }

    fn finish_message(&mut self, key: &str, item: &Value, draft: &mut Draft) {
        for (index, content) in (0..).zip(item.list("content")) {
            let (kind, field) = match content.text("type") {
                Some("refusal") => (ReplyKind::Refusal, "refusal"),
                _ => (ReplyKind::Text, "text"),
            };
            let address = Address { item: key.to_owned(), part: Part::Content(index) };
            self.set(address, &kind, content.text(field).unwrap_or_default(), draft);
        }
    }

    fn finish_reasoning(&mut self, key: &str, item: &Value, draft: &mut Draft) {
        let address = Address { item: key.to_owned(), part: Part::Reasoning };
        if !self.open.contains_key(&address) {
            let words = item.list("summary").iter().chain(item.list("content"));
            let words: Vec<_> = words.filter_map(|part| part.text("text")).collect();
            self.prose(address.clone(), &ReplyKind::Reasoning, &words.join("\n\n"), draft);
        }
        let open = self.open_part(address, &ReplyKind::Reasoning, draft);
        let block = open.block;
        draft.opaque(block, item);
    }

    fn finish_call(&mut self, key: &str, item: &Value, field: &str, draft: &mut Draft) {
        let open = self.open_call(key, item, draft);
        if let Some(text) = item.text(field) {
            open.set_input(text, draft);
        }
        if field == "input" {
            // A free-text call can only go back as it came.
            let block = open.block;
            draft.opaque(block, item);
        }
    }
}

/// Parts.
impl Responses {
    fn key(&self, event: &Value) -> String {
        self.names.find(event.text("item_id"), event.number("output_index"))
    }

    fn content_address(&self, event: &Value) -> Address {
        let index = event.number("content_index").unwrap_or(0);
        Address { item: self.key(event), part: Part::Content(index) }
    }

    fn content(&mut self, value: &Value, kind: &ReplyKind, delta: &str, draft: &mut Draft) {
        let address = self.content_address(value);
        self.prose(address, kind, delta, draft);
    }

    fn content_done(&mut self, value: &Value, field: &str, kind: &ReplyKind, draft: &mut Draft) {
        let address = self.content_address(value);
        if let (Some(text), false) = (value.text(field), self.done.contains(&address.item)) {
            self.set(address, kind, text, draft);
        }
    }

    fn reasoning(&mut self, value: &Value, delta: &str, draft: &mut Draft) {
        let address = Address { item: self.key(value), part: Part::Reasoning };
        let summary = value.number("summary_index").unwrap_or(0);
        if let Some(open) = self.open.get_mut(&address)
            && std::mem::replace(&mut open.summary, summary) != summary
            && !open.text.is_empty()
        {
            self.prose(address.clone(), &ReplyKind::Reasoning, "\n\n", draft);
        }
        self.prose(address, &ReplyKind::Reasoning, delta, draft);
    }

    fn arguments(&mut self, value: &Value, delta: &str, draft: &mut Draft) {
        let key = self.key(value);
        self.open_call(&key, value, draft).add_input(delta, draft);
    }

    fn call_done(&mut self, value: &Value, field: &str, draft: &mut Draft) {
        let key = self.key(value);
        if let Some(text) = value.text(field)
            && !self.done.contains(&key)
        {
            self.open_call(&key, value, draft).set_input(text, draft);
        }
    }

    fn prose(&mut self, address: Address, kind: &ReplyKind, delta: &str, draft: &mut Draft) {
        if delta.is_empty() {
            return;
        }
        let open = self.open_part(address, kind, draft);
        open.text.push_str(delta);
        let block = open.block;
        match kind {
            ReplyKind::Reasoning => draft.reasoning(block, delta),
            ReplyKind::Text | ReplyKind::Refusal | ReplyKind::Image | ReplyKind::Other(_) => {
                draft.text(block, delta);
            }
        }
    }

    /// Makes the text of a part what its provider says it is in the end.
    fn set(&mut self, address: Address, kind: &ReplyKind, text: &str, draft: &mut Draft) {
        let known = self.open.get(&address).map_or("", |open| open.text.as_str());
        match text.strip_prefix(known) {
            Some(rest) => self.prose(address, kind, rest, draft),
            None => {
                draft.warn(WarningCode::TextReplaced, "");
                let open = self.open_part(address, kind, draft);
                text.clone_into(&mut open.text);
                open.replaced = true;
            }
        }
    }

    fn open_part(&mut self, address: Address, kind: &ReplyKind, draft: &mut Draft) -> &mut Open {
        self.open.entry(address).or_insert_with(|| Open::new(draft.open(kind.clone())))
    }

    fn open_card(&mut self, key: &str, kind: &str, draft: &mut Draft) -> ReplyBlock {
        let address = Address { item: key.to_owned(), part: Part::Card };
        let kind = ReplyKind::Other(if kind.is_empty() { "item" } else { kind }.into());
        self.open_part(address, &kind, draft).block
    }

    /// The call of an item; `source` is the item or an event that names it.
    fn open_call(&mut self, key: &str, source: &Value, draft: &mut Draft) -> &mut Open {
        let address = Address { item: key.to_owned(), part: Part::Call };
        let mint = &mut self.mint;
        self.open.entry(address).or_insert_with(|| {
            let id = source.text("call_id").map_or_else(|| mint.id(), Arc::from);
            let mut open = Open::new(draft.open_call(&id, source.text("name").unwrap_or_default()));
            open.is_custom = source.text("type").is_some_and(|kind| kind.contains("custom_tool"));
            open
        })
    }

    /// Closes parts in the order in which they were opened.
    fn close_where(&mut self, which: impl Fn(&Address) -> bool, draft: &mut Draft) {
        let mut closing: Vec<_> = self.open.extract_if(|address, _| which(address)).collect();
        closing.sort_by_key(|(_, open)| open.block);
        for (address, open) in closing {
            let close = match address.part {
                Part::Call => open.close_call(),
                Part::Content(_) if open.replaced => Close::Replaced(open.text),
                Part::Content(_) | Part::Reasoning | Part::Card => Close::AsStreamed,
            };
            draft.close(open.block, close);
        }
    }
}

impl Open {
    fn new(block: ReplyBlock) -> Self {
        Self { block, text: String::new(), replaced: false, summary: 0, is_custom: false }
    }

    fn add_input(&mut self, delta: &str, draft: &mut Draft) {
        if self.text.len() + delta.len() <= ARGUMENT_LIMIT + 1 {
            self.text.push_str(delta);
            draft.arguments(self.block, delta);
        }
    }

    /// Takes the provider's last word on the input of a call.
    fn set_input(&mut self, text: &str, draft: &mut Draft) {
        match text.strip_prefix(self.text.as_str()) {
            Some(rest) => self.add_input(rest, draft),
            None => {
                draft.warn(WarningCode::TextReplaced, "");
                text.clone_into(&mut self.text);
            }
        }
    }

    fn close_call(&self) -> Close {
        if self.text.len() > ARGUMENT_LIMIT {
            return no_arguments(ArgumentError::TooLarge { limit: ARGUMENT_LIMIT });
        }
        if self.is_custom {
            let input = Map::from_iter([("input".to_owned(), self.text.as_str().into())]);
            return Close::Arguments(Ok(Value::Object(input)));
        }
        Close::Arguments(parse_arguments(&self.text))
    }
}

impl ItemNames {
    /// The name of an item that begins.
    fn claim(&mut self, id: Option<&str>, index: Option<u64>) -> String {
        let by_index = index.map(|index| format!("#{index}"));
        let free = by_index.filter(|name| !self.claimed.contains(name));
        let name = free.unwrap_or_else(|| id.unwrap_or_default().to_owned());
        self.claimed.insert(name.clone());
        if let Some(id) = id {
            self.by_id.insert(id.to_owned(), name.clone());
        }
        name
    }

    /// The name of an item that an event speaks of.
    fn find(&self, id: Option<&str>, index: Option<u64>) -> String {
        let known = id.and_then(|id| self.by_id.get(id)).cloned();
        known
            .or_else(|| index.map(|index| format!("#{index}")))
            .unwrap_or_else(|| id.unwrap_or_default().to_owned())
    }
}

impl Sequence {
    /// True when an event is the one before it once more.
    fn repeats(&self, value: &Value, draft: &mut Draft) -> bool {
        let (Some(number), Some((last, event))) = (value.number("sequence_number"), &self.last)
        else {
            return false;
        };
        if number == *last && event == value {
            return true;
        }
        if number != last.saturating_add(1) {
            draft.warn(WarningCode::SequenceGap, format!("{last} to {number}"));
        }
        false
    }

    fn remember(&mut self, value: Value) {
        if let Some(number) = value.number("sequence_number") {
            self.last = Some((number, value));
        }
    }
}

/// Events that show the provider at work and carry nothing that is not in the item.
fn is_progress(kind: &str) -> bool {
    [
        "content_part.",
        "reasoning_summary_part.",
        "reasoning_summary_text.done",
        "reasoning_text.done",
        "output_text.annotation.",
        "web_search_call.",
        "file_search_call.",
        "code_interpreter_call",
        "image_generation_call.",
        "mcp_call",
        "mcp_list_tools.",
        "shell_call",
        "apply_patch_call",
        "audio",
        "custom_tool_call",
    ]
    .iter()
    .any(|prefix| kind.starts_with(prefix))
}

fn merge_usage(value: Option<&Value>, draft: &mut Draft) {
    let Some(value) = value.filter(|value| value.is_object()) else { return };
    let cached = value.get("input_tokens_details").and_then(|d| d.number("cached_tokens"));
    let cached = cached.unwrap_or(0);
    draft.usage(|usage| {
        if let Some(input) = value.number("input_tokens") {
            usage.input = input.saturating_sub(cached);
            usage.cache_read = cached;
        }
        usage.output = value.number("output_tokens").unwrap_or(usage.output);
    });
}
