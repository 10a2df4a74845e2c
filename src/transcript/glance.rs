//! What the index takes from a record in passing.

use std::hash::{DefaultHasher, Hasher as _};

use crate::model::{LowStakes, ToolTally};

use super::{
    json::{self, Cursor, Walk},
    record::{Marks, RecordKind, Traces},
    time,
};

/// A record seen in passing. One value is used for all records of a scan.
#[derive(Debug, Default)]
pub(super) struct Glance {
    pub(super) kind: Option<RecordKind>,
    /// Hash of its id.
    pub(super) id: Option<u64>,
    pub(super) parent: Link,
    /// Hash of the message that it continues.
    pub(super) message_id: Option<u64>,
    pub(super) time_ms: Option<i64>,
    pub(super) content: Content,
    /// The message carries an error.
    pub(super) failed: bool,
    /// One of its calls does.
    pub(super) call_failed: bool,
    /// Hashed ids of calls that a piece of an answer tells of, and which kind of call it is.
    pub(super) met: Vec<(u64, Option<LowStakes>)>,
    /// Belongs to a sub-agent.
    pub(super) side: bool,
    /// What a housekeeping record is, see [`super::housekeeping`].
    pub(super) housekeeping: u16,
    pub(super) title: Option<Title>,
    /// Of a session of this program: where it stands in its log.
    pub(super) logged: Option<Logged>,
}

/// Where a record stands in a log of this program, and what it is to its message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Logged {
    pub(super) version: u64,
    pub(super) n: u64,
    pub(super) sum: u32,
    /// When it was written.
    pub(super) written_ms: i64,
    pub(super) piece: Piece,
    /// The message is called after this record: it has none before it.
    pub(super) is_first: bool,
    /// It says of itself when the message was said.
    pub(super) has_own_time: bool,
}

/// What a record is to its message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Piece {
    /// All of it.
    #[default]
    Whole,
    /// The beginning of an answer.
    Begins,
    /// What came of it.
    Adds,
    /// The whole answer, which stands for what was added before.
    Ends,
}

/// Where a record hangs in the tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Link {
    /// It does not say.
    #[default]
    Absent,
    /// It says that nothing is above it.
    Root,
    /// Below the record with this id.
    Below(u64),
}

/// A title that a record gives the conversation.
#[derive(Clone, Debug)]
pub(super) struct Title {
    pub(super) text: String,
    /// Titles given by the user outrank those given by programs.
    pub(super) rank: u8,
    /// Only meant for a conversation that holds this id.
    pub(super) leaf: Option<u64>,
}

/// The content of a message seen in passing.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) lines: u32,
    pub(super) marks: Marks,
    pub(super) traces: Traces,
    /// Hashed ids of its calls.
    pub(super) calls: Vec<u64>,
    /// Hashed ids and error flags of the results it carries.
    pub(super) results: Vec<(u64, bool)>,
    /// It has anything beside results.
    pub(super) has_words: bool,
}

impl Glance {
    pub(super) fn clear(&mut self) {
        let Self {
            kind,
            id,
            parent,
            message_id,
            time_ms,
            content,
            failed,
            side,
            housekeeping,
            title,
            call_failed,
            met,
            logged,
        } = self;
        *kind = None;
        *id = None;
        *parent = Link::Absent;
        *message_id = None;
        *time_ms = None;
        *failed = false;
        *side = false;
        *housekeeping = 0;
        *title = None;
        *call_failed = false;
        met.clear();
        *logged = None;
        content.clear();
    }
}

/// A hash that is the same in every run.
pub(super) fn hash(inside: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    if inside.contains(&b'\\') {
        hasher.write(json::unescaped(inside).as_bytes());
    } else {
        hasher.write(inside);
    }
    hasher.finish()
}

/// A time as text or as milliseconds.
pub(super) fn time_ms(cursor: &mut Cursor<'_>) -> Walk<Option<i64>> {
    if cursor.peek() == Some(b'"') {
        return cursor.string().map(time::iso_ms);
    }
    Ok(cursor.number_or_skip()?.map(|ms| ms as i64))
}

/// A link to a parent: text, or anything else for none.
pub(super) fn link(cursor: &mut Cursor<'_>) -> Walk<Link> {
    Ok(cursor.string_or_skip()?.map_or(Link::Root, |id| Link::Below(hash(id))))
}

impl Content {
    fn clear(&mut self) {
        let Self { lines, marks, traces, calls, results, has_words } = self;
        *lines = 0;
        *marks = Marks::default();
        *traces = Traces::default();
        calls.clear();
        results.clear();
        *has_words = false;
    }

    /// Walks the content of a message: text or a list of blocks.
    pub(super) fn take(&mut self, cursor: &mut Cursor<'_>) -> Walk<()> {
        match cursor.peek() {
            Some(b'"') => {
                let text = cursor.string()?;
                self.text(text);
                Ok(())
            }
            Some(b'[') => cursor.elements(|cursor| self.block(cursor)),
            _ => cursor.skip(),
        }
    }

    /// Counts one block of content, or one attachment.
    pub(super) fn block(&mut self, cursor: &mut Cursor<'_>) -> Walk<()> {
        match cursor.peek() {
            Some(b'"') => {
                let text = cursor.string()?;
                self.text(text);
                return Ok(());
            }
            Some(b'{') => {}
            _ => {
                self.part(3);
                return cursor.skip();
            }
        }
        let block = Block::walk(cursor)?;
        self.add(&block);
        Ok(())
    }

    fn add(&mut self, block: &Block<'_>) {
        match block.kind {
            b"text" => self.text(block.text),
            b"thinking" => self.thinking(block.redacted, block.text),
            b"redacted_thinking" => self.thinking(true, block.text),
            b"toolCall" | b"tool_use" => self.call(block),
            b"tool_result" => self.results.push((hash(block.call_id), block.is_error)),
            b"image" => self.part(16),
            _ => self.part(3),
        }
    }

    /// Counts a text.
    pub(super) fn text(&mut self, inside: &[u8]) {
        self.has_words = true;
        self.lines = self.lines.saturating_add(json::escaped_lines(inside));
        if !json::is_blank(inside) {
            self.marks.other();
        }
    }

    /// Counts any other visible part of this height.
    pub(super) fn part(&mut self, lines: u32) {
        self.has_words = true;
        self.lines = self.lines.saturating_add(lines);
        self.marks.other();
    }

    pub(super) fn thinking(&mut self, redacted: bool, inside: &[u8]) {
        self.has_words = true;
        self.lines = self.lines.saturating_add(2);
        if redacted || !json::is_blank(inside) {
            self.marks.thinking();
            self.traces.think();
        }
    }

    /// Counts a call that is no low-stakes one.
    pub(super) fn other_call(&mut self) {
        self.traces.call();
        self.part(3);
    }

    fn call(&mut self, block: &Block<'_>) {
        self.calls.push(hash(block.id));
        self.named_call(&json::unescaped(block.name));
    }

    /// Counts a call of a tool.
    pub(super) fn named_call(&mut self, name: &str) {
        self.call_of(LowStakes::of(name));
    }

    /// Counts a call of a kind; none is no low-stakes one.
    pub(super) fn call_of(&mut self, kind: Option<LowStakes>) {
        let mut tally = ToolTally::default();
        match kind {
            None => return self.other_call(),
            Some(LowStakes::Read) => tally.reads = 1,
            Some(LowStakes::List) => tally.lists = 1,
            Some(LowStakes::Search) => tally.searches = 1,
        }
        self.has_words = true;
        self.lines = self.lines.saturating_add(3);
        self.marks.low(tally);
    }
}

/// One block of a message's content; what is absent is empty.
#[derive(Default)]
struct Block<'a> {
    kind: &'a [u8],
    text: &'a [u8],
    id: &'a [u8],
    name: &'a [u8],
    call_id: &'a [u8],
    is_error: bool,
    redacted: bool,
}

impl<'a> Block<'a> {
    fn walk(cursor: &mut Cursor<'a>) -> Walk<Self> {
        let mut block = Self::default();
        cursor.members(|cursor, key| {
            let field = match key {
                b"type" => &mut block.kind,
                b"text" | b"thinking" => &mut block.text,
                b"id" => &mut block.id,
                b"name" => &mut block.name,
                b"tool_use_id" => &mut block.call_id,
                b"is_error" => {
                    block.is_error = cursor.flag()?;
                    return Ok(());
                }
                b"redacted" => {
                    block.redacted = cursor.flag()?;
                    return Ok(());
                }
                _ => return cursor.skip(),
            };
            *field = cursor.string_or_skip()?.unwrap_or(b"");
            Ok(())
        })?;
        Ok(block)
    }
}
