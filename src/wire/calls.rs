//! Tool calls out of fragments: one assembler for all servers that speak like `OpenAI`.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::{
    draft::{Draft, no_arguments},
    frame::Scan,
    json::{self, Lenient as _},
};
use crate::model::stream::{ArgumentError, Close, ReplyBlock, WarningCode};

/// Calls one reply may have.
const CALL_LIMIT: usize = 128;
/// Bytes the arguments of one call may have.
pub(super) const ARGUMENT_LIMIT: usize = 8 << 20;

/// Parses the arguments of a call; blank ones are an empty object.
pub(super) fn parse_arguments(text: &str) -> Result<Value, ArgumentError> {
    if text.trim().is_empty() {
        return Ok(Value::Object(Map::new()));
    }
    match json::parse(text) {
        Ok((value, _)) if value.is_object() => Ok(value),
        Ok(_) => Err(ArgumentError::NotObject),
        Err(error) => Err(ArgumentError::NotJson { byte: json::error_byte(text, &error) }),
    }
}

/// Makes ids for calls that have none of their own: `call_` and a ULID.
#[derive(Clone, Debug)]
pub(super) struct Mint {
    next: u128,
}

impl Mint {
    /// `seed` is unique to the reply: its time in the upper 48 bits, chance below.
    pub(super) fn new(seed: u128) -> Self {
        Self { next: seed }
    }

    pub(super) fn id(&mut self) -> Arc<str> {
        let value = self.next;
        self.next = self.next.wrapping_add(1);
        let digit = |place: u32| ULID_DIGITS[(value >> (place * 5)) as usize & 31] as char;
        let ulid = (0..26).rev().map(digit);
        "call_".chars().chain(ulid).collect::<String>().into()
    }
}

const ULID_DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// True for ids that [`Mint`] made.
pub(super) fn is_minted(id: &str) -> bool {
    id.strip_prefix("call_")
        .is_some_and(|ulid| ulid.len() == 26 && ulid.bytes().all(|b| ULID_DIGITS.contains(&b)))
}

/// Puts calls together from their fragments.
pub(super) struct Assembler {
    slots: Vec<Slot>,
    mint: Mint,
}

/// One call.
struct Slot {
    /// The `index` of its first fragment: a label, not a place.
    label: Option<u64>,
    /// The id its server gave it; may be empty.
    server_id: String,
    id: Arc<str>,
    name: String,
    arguments: String,
    scan: Scan,
    /// The arguments are one closed value with nothing behind it.
    closed_value: bool,
    too_large: bool,
    /// Its block, opened as soon as it has a name.
    block: Option<ReplyBlock>,
}

/// One fragment of a call.
#[derive(Clone, Copy, Debug)]
struct Fragment<'a> {
    index: Option<u64>,
    id: &'a str,
    name: &'a str,
    arguments: &'a str,
    /// The arguments came as an object, whole.
    whole: bool,
}

impl Assembler {
    pub(super) fn new(mint: Mint) -> Self {
        Self { slots: Vec::new(), mint }
    }

    /// Takes the value of `tool_calls`: a list of fragments, or one alone.
    pub(super) fn take(&mut self, calls: &Value, draft: &mut Draft) {
        match calls {
            Value::Array(list) => list.iter().for_each(|call| self.take_one(call, draft)),
            Value::Object(_) => self.take_one(calls, draft),
            _ => {}
        }
    }

    /// Takes the deprecated `function_call`: one call without id or index.
    pub(super) fn take_function_call(&mut self, function: &Value, draft: &mut Draft) {
        if function.is_object() {
            let call = Value::Object(Map::from_iter([("function".to_owned(), function.clone())]));
            self.take_one(&call, draft);
        }
    }

    /// Closes every call, in order.
    pub(super) fn close(&mut self, draft: &mut Draft) {
        for mut slot in std::mem::take(&mut self.slots) {
            let block = slot.open(draft);
            let close = if slot.too_large {
                no_arguments(ArgumentError::TooLarge { limit: ARGUMENT_LIMIT })
            } else {
                Close::Arguments(parse_arguments(&slot.arguments))
            };
            draft.close(block, close);
        }
    }

    fn take_one(&mut self, call: &Value, draft: &mut Draft) {
        let function = call.get("function").unwrap_or(call);
        let raw = function.get("arguments").unwrap_or(&Value::Null);
        let text = if raw.is_object() { raw.to_string() } else { String::new() };
        let fragment = Fragment {
            index: call.number("index"),
            id: call.text("id").unwrap_or_default(),
            name: function.text("name").unwrap_or_default(),
            arguments: raw.as_str().unwrap_or(&text),
            whole: raw.is_object(),
        };
        let place = match self.place_of(fragment) {
            Some(place) => place,
            None if self.slots.len() == CALL_LIMIT => {
                return draft.warn(WarningCode::TooManyCalls, fragment.name);
            }
            None => self.add(fragment, draft),
        };
        self.slots[place].merge(fragment, draft);
    }

    /// The slot a fragment belongs to, or none when it begins a new call.
    fn place_of(&self, fragment: Fragment<'_>) -> Option<usize> {
        let place = self.addressed(fragment)?;
        let slot = &self.slots[place];
        let repeated = fragment.whole && slot.arguments == fragment.arguments;
        let begins_anew =
            fragment.arguments.trim_start().starts_with('{') && slot.is_whole_object();
        (repeated || !begins_anew).then_some(place)
    }

    /// The slot by id, by index, or by being the newest, in this order of trust.
    fn addressed(&self, fragment: Fragment<'_>) -> Option<usize> {
        let newest = |found: &dyn Fn(&Slot) -> bool| self.slots.iter().rposition(found);
        if !fragment.id.is_empty() {
            let known = |slot: &Slot| slot.server_id == fragment.id;
            let same = newest(&|slot| known(slot) && slot.label == fragment.index);
            if let Some(place) = same.or_else(|| newest(&known)) {
                let continues = fragment.index.is_none() || fragment.name.is_empty();
                return (same.is_some() || continues).then_some(place);
            }
            let place = newest(&|slot| slot.label == fragment.index)?;
            let slot = &self.slots[place];
            let free = slot.server_id.is_empty() && !slot.is_followed_by(fragment);
            return free.then_some(place);
        }
        if fragment.index.is_some() {
            return newest(&|slot| slot.label == fragment.index);
        }
        let place = self.slots.len().checked_sub(1)?;
        (!self.slots[place].is_followed_by(fragment)).then_some(place)
    }

    fn add(&mut self, fragment: Fragment<'_>, draft: &mut Draft) -> usize {
        let taken =
            !fragment.id.is_empty() && self.slots.iter().any(|slot| slot.server_id == fragment.id);
        if taken {
            draft.warn(WarningCode::DuplicateId, fragment.id);
        }
        let own = taken || fragment.id.is_empty();
        let id = if own { self.mint.id() } else { fragment.id.into() };
        // A server that begins a further call without its name means the same tool.
        let name = match self.slots.last() {
            Some(last) if fragment.name.is_empty() && fragment.index == last.label => {
                last.name.clone()
            }
            _ => String::new(),
        };
        self.slots.push(Slot {
            label: fragment.index,
            server_id: fragment.id.to_owned(),
            id,
            name,
            arguments: String::new(),
            scan: Scan::default(),
            closed_value: false,
            too_large: false,
            block: None,
        });
        self.slots.len() - 1
    }
}

impl Slot {
    fn merge(&mut self, fragment: Fragment<'_>, draft: &mut Draft) {
        if self.server_id.is_empty() {
            fragment.id.clone_into(&mut self.server_id);
            if self.block.is_none() && !fragment.id.is_empty() {
                self.id = fragment.id.into();
            }
        }
        if self.name.is_empty() {
            fragment.name.clone_into(&mut self.name);
        } else if !fragment.name.is_empty() && fragment.name != self.name {
            draft.warn(WarningCode::NameChanged, fragment.name);
        }
        let repeated = fragment.whole && self.arguments == fragment.arguments;
        if !repeated {
            self.append(fragment.arguments, draft);
        }
        if !self.name.is_empty() {
            self.open(draft);
        }
    }

    fn append(&mut self, arguments: &str, draft: &mut Draft) {
        if self.arguments.len() + arguments.len() > ARGUMENT_LIMIT {
            self.too_large = true;
        }
        if self.too_large || arguments.is_empty() {
            return;
        }
        self.arguments.push_str(arguments);
        for byte in arguments.bytes() {
            let closed = self.scan.step(byte);
            self.closed_value = closed || (self.closed_value && byte.is_ascii_whitespace());
        }
        if let Some(block) = self.block {
            draft.arguments(block, arguments);
        }
    }

    fn open(&mut self, draft: &mut Draft) -> ReplyBlock {
        if let Some(block) = self.block {
            return block;
        }
        let block = draft.open_call(&self.id, &self.name);
        draft.arguments(block, &self.arguments);
        self.block = Some(block);
        block
    }

    /// The arguments are one whole object, as far as brackets tell.
    fn is_whole_object(&self) -> bool {
        self.closed_value && self.arguments.trim_start().starts_with('{')
    }

    /// A fragment without an address begins the next call: it has a name, and this call
    /// has one too and is whole.
    fn is_followed_by(&self, fragment: Fragment<'_>) -> bool {
        !fragment.name.is_empty() && !self.name.is_empty() && self.closed_value
    }
}
