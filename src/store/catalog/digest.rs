//! What the records of a log come to: the line that a session has in a list, and the words
//! that its messages are found by.

use serde_json::Value;

use super::{
    lines::Record,
    words::{fold, one_line},
};
use crate::model::record::Kind;

/// Bytes of a message's own text that it is found by.
const TEXT_MAX: usize = 256 << 10;
/// Bytes of a call's arguments, and of its result, that a message is found by.
const CALL_MAX: usize = 4 << 10;
/// Bytes of all calls of a message.
const CALLS_MAX: usize = 64 << 10;
/// Characters of a title that is made from the first message.
const TITLE_CHARS: usize = 60;
/// Characters of a title that was given.
const GIVEN_CHARS: usize = 200;
const PREVIEW_CHARS: usize = 120;
const MODEL_CHARS: usize = 120;

/// What is known of a session from its log so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Digest {
    /// The title that it was given last; empty for none.
    pub(super) title: String,
    /// The title of what it was imported from; empty for none.
    pub(super) imported: String,
    /// The beginning of the first thing that the user said.
    pub(super) first_line: String,
    pub(super) preview: String,
    pub(super) model: String,
    pub(super) marks: Marks,
    pub(super) created_ms: i64,
    pub(super) updated_ms: i64,
    /// The newest leaf.
    pub(super) leaf: Option<u32>,
    /// Messages on the way from the first one to the leaf.
    pub(super) messages: u32,
    /// The number and the checksum of the last record.
    pub(super) last: Option<(u64, u32)>,
}

/// What the user did with a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Marks {
    pub(super) pinned: bool,
    pub(super) archived: bool,
    pub(super) deleted: bool,
}

impl Digest {
    /// What it is called in a list; empty when nothing was said yet.
    pub(super) fn name(&self) -> &str {
        let names = [&self.title, &self.imported, &self.first_line];
        names.into_iter().find(|name| !name.is_empty()).map_or("", |name| name)
    }
}

/// One node of the conversation's tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Node {
    /// Where its first record begins: the message's id.
    pub(super) offset: u64,
    pub(super) speaker: Speaker,
    pub(super) time_ms: i64,
    /// Messages on the way to it, itself included.
    pub(super) depth: u32,
    /// The part that a reply was last given more of; none when it is whole.
    pub(super) open_part: Option<i64>,
    pub(super) text: String,
    /// Its calls and their results.
    pub(super) calls: String,
}

/// Who a node is by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Speaker {
    /// Nobody: a notice, or the choice of a branch.
    #[default]
    Nobody,
    User,
    Model,
}

/// The nodes that were met before.
pub(super) trait Nodes {
    /// Why a node could not be had.
    type Error;

    /// The node of a number.
    fn find(&mut self, n: u32) -> Result<Option<&mut Node>, Self::Error>;

    /// Puts a node in, or in the place of the one before.
    fn put(&mut self, n: u32, node: Node);
}

/// Gives the beginning of a blob, as text, by its name.
pub(super) type Blobs<'a> = &'a dyn Fn(&str, usize) -> Option<String>;

/// Takes a record in.
pub(super) fn take<N: Nodes>(
    digest: &mut Digest,
    record: &Record,
    nodes: &mut N,
    blobs: Blobs<'_>,
) -> Result<(), N::Error> {
    // Written twice, it is one.
    if digest.last.replace((record.n, record.sum)) == Some((record.n, record.sum)) {
        return Ok(());
    }
    if digest.created_ms == 0 {
        (digest.created_ms, digest.updated_ms) = (record.time_ms, record.time_ms);
    }
    let body = &record.body;
    match record.kind {
        Kind::Meta => {
            take_meta(digest, body);
            return Ok(());
        }
        Kind::User | Kind::Edit => take_user(digest, record, nodes, blobs)?,
        Kind::AssistantStart | Kind::AssistantFinal => take_reply(digest, record, nodes, blobs)?,
        Kind::Partial | Kind::ToolCall | Kind::ToolResult => {
            take_more(digest, record, nodes, blobs)?;
        }
        Kind::Error => take_notice(digest, record, nodes, blobs)?,
        Kind::Branch => {
            begin(digest, record, nodes, Speaker::Nobody)?;
            let chosen = number_of(body.get("leaf"));
            if let Some(text) = chosen.map(|n| nodes.find(n)).transpose()?.flatten() {
                preview(digest, &text.text);
            }
            return Ok(());
        }
        // What later versions say is not known.
        Kind::Approval | Kind::Usage | Kind::Other => return Ok(()),
    }
    // Of what was imported the times are not all known.
    digest.updated_ms = digest.updated_ms.max(record.time_ms);
    Ok(())
}

fn take_meta(digest: &mut Digest, body: &Value) {
    let text = |value: Option<&Value>, chars| {
        value.and_then(Value::as_str).map(|text| one_line(text, chars))
    };
    let imported = body.get("imported").and_then(|imported| imported.get("title"));
    let model = body.get("settings").and_then(|settings| settings.get("model"));
    let Digest { title, imported: from, model: by, marks, .. } = digest;
    let texts = [
        (title, text(body.get("title"), GIVEN_CHARS)),
        (from, text(imported, GIVEN_CHARS)),
        (by, text(model, MODEL_CHARS)),
    ];
    for (place, text) in texts {
        if let Some(text) = text {
            *place = text;
        }
    }
    let Marks { pinned, archived, deleted } = marks;
    for (name, mark) in [("pinned", pinned), ("archived", archived), ("deleted", deleted)] {
        if let Some(value) = body.get(name).and_then(Value::as_bool) {
            *mark = value;
        }
    }
}

fn take_user<N: Nodes>(
    digest: &mut Digest,
    record: &Record,
    nodes: &mut N,
    blobs: Blobs<'_>,
) -> Result<(), N::Error> {
    begin(digest, record, nodes, Speaker::User)?;
    let Some(node) = nodes.find(node_number(record))? else { return Ok(()) };
    (node.text, node.calls) = words_of(record.body.get("parts"), blobs);
    preview(digest, &node.text);
    if digest.first_line.is_empty() {
        let first = node.text.lines().find(|line| !line.trim().is_empty());
        digest.first_line = one_line(first.unwrap_or_default(), TITLE_CHARS);
    }
    Ok(())
}

/// A word of the program; it is found, but below what others said.
fn take_notice<N: Nodes>(
    digest: &mut Digest,
    record: &Record,
    nodes: &mut N,
    blobs: Blobs<'_>,
) -> Result<(), N::Error> {
    begin(digest, record, nodes, Speaker::Nobody)?;
    let Some(node) = nodes.find(node_number(record))? else { return Ok(()) };
    let (text, calls) = words_of(record.body.get("parts"), blobs);
    push_text(&mut node.calls, record.body.get("text"), CALL_MAX, CALLS_MAX, blobs);
    push(&mut node.calls, &text, CALLS_MAX);
    push(&mut node.calls, &calls, CALLS_MAX);
    Ok(())
}

fn take_reply<N: Nodes>(
    digest: &mut Digest,
    record: &Record,
    nodes: &mut N,
    blobs: Blobs<'_>,
) -> Result<(), N::Error> {
    let n = node_number(record);
    let is_known = nodes.find(n)?.is_some_and(|node| node.speaker == Speaker::Model);
    if !is_known {
        begin(digest, record, nodes, Speaker::Model)?;
    }
    if let Some(model) = record.body.get("model").and_then(Value::as_str) {
        digest.model = one_line(model, MODEL_CHARS);
    }
    let Some(node) = nodes.find(n)? else { return Ok(()) };
    if record.kind == Kind::AssistantStart {
        if !is_known {
            node.open_part = Some(-1);
        }
        return Ok(());
    }
    node.open_part = None;
    (node.text, node.calls) = words_of(record.body.get("parts"), blobs);
    preview(digest, &node.text);
    Ok(())
}

/// More of a reply that is not whole yet; what comes behind a whole one is in it already.
fn take_more<N: Nodes>(
    digest: &mut Digest,
    record: &Record,
    nodes: &mut N,
    blobs: Blobs<'_>,
) -> Result<(), N::Error> {
    let Some(n) = number_of(record.body.get("id")) else { return Ok(()) };
    let Some(node) = nodes.find(n)? else { return Ok(()) };
    let Some(mut open) = node.open_part else { return Ok(()) };
    match record.kind {
        Kind::Partial => {
            for part in list(record.body.get("parts")) {
                if part.get("type").and_then(Value::as_str) != Some("text") {
                    continue;
                }
                let key = part.get("key").and_then(Value::as_i64).unwrap_or(0).max(0);
                if open >= 0 && open != key {
                    push(&mut node.text, "\n", TEXT_MAX);
                }
                open = key;
                push_text(&mut node.text, part.get("add"), TEXT_MAX, TEXT_MAX, blobs);
            }
            preview(digest, &node.text);
        }
        Kind::ToolCall => push_call(&mut node.calls, record.body.get("call"), blobs),
        _ => push_result(&mut node.calls, record.body.get("result"), blobs),
    }
    node.open_part = Some(open);
    Ok(())
}

/// Puts a node into the tree, as the newest leaf.
fn begin<N: Nodes>(
    digest: &mut Digest,
    record: &Record,
    nodes: &mut N,
    speaker: Speaker,
) -> Result<(), N::Error> {
    let body = &record.body;
    let n = node_number(record);
    let parent = body.get("parent").or_else(|| body.get("leaf"));
    let parent_depth = match parent {
        Some(Value::Null) => Some(0),
        _ => number_of(parent).map(|n| nodes.find(n)).transpose()?.flatten().map(|p| p.depth),
    };
    // Behind a damaged record the conversation goes on.
    let parent_depth = parent_depth.unwrap_or(digest.messages);
    let depth = parent_depth.saturating_add(u32::from(speaker != Speaker::Nobody));
    let offset = nodes.find(n)?.map_or(record.offset, |known| known.offset);
    let node = Node { offset, speaker, time_ms: record.time_ms, depth, ..Node::default() };
    nodes.put(n, node);
    (digest.leaf, digest.messages) = (Some(n), depth);
    Ok(())
}

fn preview(digest: &mut Digest, text: &str) {
    let line = one_line(text, PREVIEW_CHARS);
    if !line.is_empty() {
        digest.preview = line;
    }
}

/// The number of the node that a record is about: that of its id, or its own.
fn node_number(record: &Record) -> u32 {
    // So many records are in no log: they would take more than any disk.
    let own = || u32::try_from(record.n).unwrap_or(u32::MAX);
    number_of(record.body.get("id")).unwrap_or_else(own)
}

/// The number in `"m12"`.
fn number_of(id: Option<&Value>) -> Option<u32> {
    id?.as_str()?.strip_prefix('m')?.parse().ok()
}

fn list(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// What a whole message is found by: its text, and its calls.
fn words_of(parts: Option<&Value>, blobs: Blobs<'_>) -> (String, String) {
    let (mut text, mut calls) = (String::new(), String::new());
    for part in list(parts) {
        match part.get("type").and_then(Value::as_str) {
            Some("text") => {
                if !text.is_empty() {
                    push(&mut text, "\n", TEXT_MAX);
                }
                push_text(&mut text, part.get("text"), TEXT_MAX, TEXT_MAX, blobs);
            }
            Some("tool_call") => {
                push_call(&mut calls, Some(part), blobs);
                push_result(&mut calls, part.get("result"), blobs);
            }
            Some("raw") => {
                push_text(&mut calls, part.get("text"), CALL_MAX, CALLS_MAX, blobs);
                push(&mut calls, "\n", CALLS_MAX);
            }
            _ => {}
        }
    }
    (text, calls)
}

fn push_call(calls: &mut String, call: Option<&Value>, blobs: Blobs<'_>) {
    let Some(call) = call else { return };
    push_text(calls, call.get("name"), CALL_MAX, CALLS_MAX, blobs);
    push(calls, " ", CALLS_MAX);
    push_text(calls, call.get("arguments"), CALL_MAX, CALLS_MAX, blobs);
    push(calls, "\n", CALLS_MAX);
}

fn push_result(calls: &mut String, result: Option<&Value>, blobs: Blobs<'_>) {
    let Some(output) = result.and_then(|result| result.get("output")) else { return };
    push_text(calls, Some(output), CALL_MAX, CALLS_MAX, blobs);
    push(calls, "\n", CALLS_MAX);
}

/// Appends a string, the beginning of a blob, or whatever else it is as JSON.
fn push_text(to: &mut String, value: Option<&Value>, most: usize, whole: usize, blobs: Blobs<'_>) {
    let room = most.min(whole.saturating_sub(to.len()));
    match value {
        None | Some(Value::Null) => {}
        Some(Value::String(text)) => push(to, head(text, room), whole),
        Some(other) => match other.get("blob").and_then(Value::as_str) {
            Some(name) => {
                push(to, head(&blobs(name, room).unwrap_or_default(), room), whole);
            }
            None => push(to, head(&other.to_string(), room), whole),
        },
    }
}

fn push(to: &mut String, text: &str, whole: usize) {
    to.push_str(head(text, whole.saturating_sub(to.len())));
}

/// At most so many bytes of the beginning.
fn head(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or_default()
}

/// What a node is looked up by. The blanks behind it let its last characters begin a gram.
pub(super) fn looked_up_by(text: &str) -> String {
    let mut folded = fold(text);
    if !folded.is_empty() {
        folded.push_str("  ");
    }
    folded
}
