//! The conversation as every wire can say it: repaired, in order, nothing orphaned.

use std::{borrow::Cow, collections::HashSet};

use serde_json::Value;

use super::Turn;
use crate::{
    model::{
        Image, ImageData, Message, NoticeKind, Part, Role, StopReason, ToolCall, ToolResult,
        stream::Wire,
    },
    wire::{
        endpoint::{CallIds, Endpoint},
        image,
    },
};

/// One speaker's turn. Two in a row are never of the same speaker, unless results stand
/// between them.
#[derive(Debug)]
pub(super) enum Entry<'a> {
    /// The person.
    User(Vec<Piece<'a>>),
    /// The model, and the answers to its calls. Every call has one.
    Assistant {
        /// What it said and called.
        said: Vec<Said<'a>>,
        /// The results of its calls, in their order.
        answers: Vec<Answer<'a>>,
    },
}

/// A piece of what a person or a tool gave.
#[derive(Debug, PartialEq)]
pub(super) enum Piece<'a> {
    /// Never blank.
    Text(Cow<'a, str>),
    /// A picture as base64.
    Image {
        /// What the bytes are.
        media_type: &'a str,
        /// Without a prefix.
        base64: String,
    },
}

/// A piece of what a model said.
#[derive(Debug)]
pub(super) enum Said<'a> {
    /// Never blank.
    Text(&'a str),
    /// A call; its arguments are an object.
    Call {
        /// As the answer names it.
        id: String,
        /// The tool.
        name: &'a str,
        /// An object.
        arguments: Cow<'a, Value>,
    },
    /// The provider's own words in the place of a part.
    Echo(Value),
}

/// What a call is answered.
#[derive(Debug)]
pub(super) struct Answer<'a> {
    pub(super) id: String,
    pub(super) name: &'a str,
    pub(super) is_error: bool,
    /// Never blank.
    pub(super) text: Cow<'a, str>,
    pub(super) images: Vec<Piece<'a>>,
}

/// What stands for a result that never came.
const NO_RESULT: &str = "result unavailable; do not assume it ran";

/// The conversation for an endpoint.
pub(super) fn entries<'a>(turns: &'a [Turn], endpoint: &Endpoint) -> Vec<Entry<'a>> {
    let mut history = History { endpoint, entries: Vec::new(), ids: HashSet::new() };
    for turn in turns {
        history.turn(turn);
    }
    history.entries
}

struct History<'a, 'e> {
    endpoint: &'e Endpoint,
    entries: Vec<Entry<'a>>,
    /// Ids of calls that were given out.
    ids: HashSet<String>,
}

impl<'a> History<'a, '_> {
    fn turn(&mut self, turn: &'a Turn) {
        let message = &*turn.message;
        match &message.role {
            Role::User => self.user(message.parts.iter().filter_map(user_piece).collect()),
            Role::Assistant => self.assistant(turn),
            Role::Tool => self.user(message.parts.iter().flat_map(orphan).collect()),
            // The host's own words are for people, except for the summaries that stand for
            // what was left out.
            Role::System | Role::Custom(_) => {
                self.user(message.parts.iter().filter_map(summary).collect());
            }
        }
    }

    fn user(&mut self, pieces: Vec<Piece<'a>>) {
        if pieces.is_empty() {
            return;
        }
        match self.entries.last_mut() {
            Some(Entry::User(before)) => before.extend(pieces),
            _ => self.entries.push(Entry::User(pieces)),
        }
    }

    fn assistant(&mut self, turn: &'a Turn) {
        let message = &*turn.message;
        let mut said = Vec::new();
        let mut answers = Vec::new();
        let whole = is_whole(message);
        for (index, part) in message.parts.iter().enumerate() {
            let echo = self.echo(turn, index).filter(|_| whole);
            let has_echo = echo.is_some();
            match (echo, part) {
                (Some(echo), _) => said.push(Said::Echo(echo)),
                (None, Part::Text(text)) if !text.source.trim().is_empty() => {
                    said.push(Said::Text(&text.source));
                }
                _ => {}
            }
            if let (Part::ToolCall(call), true) = (part, whole) {
                let id = if has_echo { call.id.to_string() } else { self.call_id(&call.id) };
                if !has_echo || self.endpoint.wire == Wire::Chat {
                    said.push(called(call, id.clone()));
                }
                answers.push(answer(call, id));
            }
        }
        self.push_assistant(said, answers);
    }

    fn push_assistant(&mut self, said: Vec<Said<'a>>, answers: Vec<Answer<'a>>) {
        if said.is_empty() {
            return;
        }
        match self.entries.last_mut() {
            Some(Entry::Assistant { said: before, answers: none }) if none.is_empty() => {
                before.extend(said);
                *none = answers;
            }
            _ => self.entries.push(Entry::Assistant { said, answers }),
        }
    }

    /// What the provider wants back for a part, when it is the one that is asked now.
    fn echo(&self, turn: &Turn, index: usize) -> Option<Value> {
        let host = self.endpoint.host();
        let mut echoes = turn.echoes.iter().filter(|(part, _)| *part == index);
        let (_, echo) = echoes.find(|(_, e)| e.wire == self.endpoint.wire && e.host == host)?;
        serde_json::from_str(&echo.json).ok()
    }

    /// An id that this endpoint accepts and that is not taken.
    fn call_id(&mut self, id: &str) -> String {
        let legal = match self.endpoint.quirks.call_ids {
            CallIds::Common => common_id(id),
            CallIds::NineCharacters => nine_characters(id, 0),
        };
        if self.ids.insert(legal.clone()) {
            return legal;
        }
        let more = (1..).map(|n| match self.endpoint.quirks.call_ids {
            CallIds::Common => format!("{}_{n}", legal.chars().take(32).collect::<String>()),
            CallIds::NineCharacters => nine_characters(id, n),
        });
        let mut free = more.filter(|id| !self.ids.contains(id));
        let id = free.next().unwrap_or(legal);
        self.ids.insert(id.clone());
        id
    }
}

/// A reply that broke off: its words are kept, its calls and reasoning are not sent.
fn is_whole(message: &Message) -> bool {
    let broke = matches!(message.stop, Some(StopReason::Error | StopReason::Aborted));
    !broke && message.error.is_none()
}

fn called(call: &ToolCall, id: String) -> Said<'_> {
    let arguments = if call.arguments.is_object() {
        Cow::Borrowed(&call.arguments)
    } else {
        // The answer tells the model what was wrong with them.
        Cow::Owned(Value::Object(serde_json::Map::new()))
    };
    Said::Call { id, name: &call.name, arguments }
}

fn answer(call: &ToolCall, id: String) -> Answer<'_> {
    let name = &*call.name;
    let Some(result) = call.result.as_deref() else {
        let text = Cow::Borrowed(NO_RESULT);
        return Answer { id, name, is_error: true, text, images: Vec::new() };
    };
    let images = result.images.iter().map(picture).collect();
    Answer { id, name, is_error: result.is_error, text: output(result), images }
}

/// Not blank, because some servers refuse a blank result.
fn output(result: &ToolResult) -> Cow<'_, str> {
    let text = result.told.as_deref().unwrap_or(&result.output.source);
    Cow::Borrowed(if text.trim().is_empty() { "(no output)" } else { text })
}

fn user_piece(part: &Part) -> Option<Piece<'_>> {
    match part {
        Part::Text(text) if !text.source.trim().is_empty() => {
            Some(Piece::Text(Cow::Borrowed(&text.source)))
        }
        Part::Image(image) => Some(picture(image)),
        Part::Text(_)
        | Part::Thinking(_)
        | Part::ToolCall(_)
        | Part::ToolResult(_)
        | Part::Notice(_)
        | Part::Raw(_) => None,
    }
}

/// A picture, or a word on why it is not there.
fn picture(image: &Image) -> Piece<'_> {
    if let Some((media_type, base64)) = image::encode(image) {
        return Piece::Image { media_type, base64 };
    }
    let why = match &image.data {
        ImageData::Address(address) => format!("at {address}"),
        ImageData::Unusable(why) => why.to_string(),
        ImageData::Bytes(_) => "too large to send".to_owned(),
    };
    Piece::Text(Cow::Owned(format!("[image: {why}]")))
}

/// A result that lost its call is told as text.
fn orphan(part: &Part) -> Vec<Piece<'_>> {
    let Part::ToolResult(result) = part else { return Vec::new() };
    let text = format!("[result of the tool {}]\n{}", result.tool_name, output(result));
    let mut pieces = vec![Piece::Text(Cow::Owned(text))];
    pieces.extend(result.images.iter().map(picture));
    pieces
}

fn summary(part: &Part) -> Option<Piece<'_>> {
    let Part::Notice(notice) = part else { return None };
    let what = match notice.kind {
        NoticeKind::Compaction => "The conversation so far, in short:",
        NoticeKind::Branch => "What happened on a branch of this conversation that was left:",
        NoticeKind::ModelChange
        | NoticeKind::Setting
        | NoticeKind::Abort
        | NoticeKind::Error
        | NoticeKind::Label
        | NoticeKind::Checkpoint(_)
        | NoticeKind::Other(_) => return None,
    };
    let text = format!("{what}\n\n<summary>\n{}\n</summary>", notice.text.source);
    Some(Piece::Text(Cow::Owned(text)))
}

fn common_id(id: &str) -> String {
    let legal = |c: char| if c.is_ascii_alphanumeric() || "_-".contains(c) { c } else { '_' };
    let id: String = id.chars().map(legal).take(40).collect();
    if id.is_empty() { "call".to_owned() } else { id }
}

/// Nine letters and digits that stand for an id.
fn nine_characters(id: &str, turn: u32) -> String {
    // FNV-1a: the same id must give the same characters in every request.
    let seed = 0xCBF2_9CE4_8422_2325 ^ u64::from(turn);
    let mut hash = id.bytes().fold(seed, |h, b| (h ^ u64::from(b)).wrapping_mul(0x0100_0000_01B3));
    let digit = |_| {
        let digit = b"0123456789abcdefghijklmnopqrstuvwxyz"[(hash % 36) as usize];
        hash /= 36;
        digit as char
    };
    (0..9).map(digit).collect()
}
