//! A record of a log in passing: its place and sum are checked, its body is walked.

use crate::{
    model::{
        LowStakes,
        record::{Kind, line},
    },
    transcript::{
        glance::{Content, Glance, Link, Logged, Piece, Title, hash, link, time_ms},
        housekeeping,
        json::{self, Cursor, Fault, Walk},
        record::RecordKind,
    },
};

/// Walks one record.
pub(crate) fn record(cursor: &mut Cursor<'_>, glance: &mut Glance) -> Walk<()> {
    glance.clear();
    let head = line::head(cursor.rest()).map_err(|flaw| match flaw {
        line::Flaw::End => Fault::End,
        line::Flaw::Shape | line::Flaw::Sum => Fault::Syntax,
    })?;
    cursor.pass(head.body_at);
    let from = cursor.position();
    let kind = Kind::of_name(head.kind_name);
    let body = Body::walk(cursor, glance, kind)?;
    let sum = crc32c::crc32c(cursor.since(from));
    cursor.byte(b'}')?;
    if sum != head.sum {
        return Err(Fault::Sum);
    }
    body.settle(glance, kind, &head);
    Ok(())
}

/// The id of the message that a record begins; the record may be cut off behind it.
pub(crate) fn id_in(bytes: &[u8]) -> Option<String> {
    let head = line::head(bytes).ok()?;
    let mut id = None;
    // What was met before the cut counts.
    let _walked = Cursor::new(bytes.get(head.body_at..)?).members(|cursor, key| {
        if key == b"id" {
            id = cursor.string_or_skip()?.map(json::unescaped);
            return Ok(());
        }
        cursor.skip()
    });
    id.or_else(|| Some(format!("m{}", head.n)))
}

/// The folder that the settings of a session name.
pub(crate) fn workspace(line: &[u8]) -> Option<String> {
    let head = line::head(line).ok()?;
    let mut folder = None;
    let _walked = Cursor::new(line.get(head.body_at..)?).members(|cursor, key| {
        if key != b"settings" || cursor.peek() != Some(b'{') {
            return cursor.skip();
        }
        cursor.members(|cursor, key| {
            if key == b"workspace" {
                folder = cursor.string_or_skip()?.map(json::unescaped);
                return Ok(());
            }
            cursor.skip()
        })
    });
    folder
}

/// What the index needs of a body.
#[derive(Default)]
struct Body<'a> {
    id: &'a [u8],
    parent: Link,
    at_ms: Option<i64>,
    role: &'a [u8],
    error: &'a [u8],
    /// Of a notice.
    has_notice: bool,
    first_part: Option<&'a [u8]>,
    has_parts: bool,
    /// Of a result: its call, its state and the tool's name.
    call: &'a [u8],
    state: &'a [u8],
    tool: &'a [u8],
}

impl<'a> Body<'a> {
    fn walk(cursor: &mut Cursor<'a>, glance: &mut Glance, kind: Kind) -> Walk<Self> {
        let mut body = Self::default();
        cursor.members(|cursor, key| {
            match key {
                b"id" => body.id = cursor.string_or_skip()?.unwrap_or(b""),
                b"parent" | b"leaf" => body.parent = link(cursor)?,
                b"at" => body.at_ms = time_ms(cursor)?,
                b"role" => body.role = cursor.string_or_skip()?.unwrap_or(b""),
                b"error" => body.error = text_or_blob(cursor)?.0,
                b"kind" if kind == Kind::Error => {
                    body.has_notice = cursor.string_or_skip()?.is_some();
                }
                b"title" if kind == Kind::Meta => {
                    if let Some(title) = cursor.string_or_skip()? {
                        let text = json::unescaped(title).trim().to_owned();
                        glance.title = Some(Title { text, rank: 1, leaf: None });
                    }
                }
                b"parts" => body.parts(cursor, glance, kind)?,
                b"call" if kind == Kind::ToolCall && cursor.peek() == Some(b'{') => {
                    meet(&Part::walk(cursor)?, glance);
                }
                b"call" => body.call = cursor.string_or_skip()?.unwrap_or(b""),
                b"state" => body.state = cursor.string_or_skip()?.unwrap_or(b""),
                b"result" if kind == Kind::ToolResult && cursor.peek() == Some(b'{') => {
                    body.tool = Part::walk(cursor)?.name;
                }
                _ => cursor.skip()?,
            }
            Ok(())
        })?;
        Ok(body)
    }

    fn parts(&mut self, cursor: &mut Cursor<'a>, glance: &mut Glance, kind: Kind) -> Walk<()> {
        self.has_parts = true;
        if cursor.peek() != Some(b'[') {
            let (_, bytes) = text_or_blob(cursor)?;
            glance.content.part(if bytes == 0 { 3 } else { blob_lines(bytes) });
            return Ok(());
        }
        let mut is_first = true;
        cursor.elements(|cursor| {
            if cursor.peek() != Some(b'{') {
                glance.content.part(3);
                return cursor.skip();
            }
            let part = Part::walk(cursor)?;
            if std::mem::take(&mut is_first) {
                self.first_part = Some(part.kind);
            }
            match kind {
                Kind::Partial => add_delta(&part, glance),
                Kind::User
                | Kind::Edit
                | Kind::AssistantFinal
                | Kind::Error
                | Kind::Meta
                | Kind::AssistantStart
                | Kind::ToolCall
                | Kind::Approval
                | Kind::ToolResult
                | Kind::Branch
                | Kind::Usage
                | Kind::Other => add_part(&part, glance),
            }
            Ok(())
        })
    }

    fn settle(&self, glance: &mut Glance, kind: Kind, head: &line::Head<'_>) {
        let own_name = format!("m{}", head.n);
        let own_id = hash(own_name.as_bytes());
        let id = if self.id.is_empty() { own_id } else { hash(self.id) };
        let is_first = id == own_id;
        glance.time_ms = self.at_ms.or(Some(head.at_ms));
        glance.logged = Some(Logged {
            version: head.version,
            n: head.n,
            sum: head.sum,
            written_ms: head.at_ms,
            piece: piece(kind),
            is_first,
            has_own_time: self.at_ms.is_some(),
        });
        if kind == Kind::ToolResult {
            let name = json::unescaped(self.tool);
            glance.met.push((hash(self.call), LowStakes::of(&name)));
            glance.call_failed |= self.state == b"error";
        }
        let kind = self.kind(kind, glance);
        let has_place = match kind {
            RecordKind::Silent => self.parent != Link::Absent,
            // What a newer version says may stand in the tree, too.
            RecordKind::Housekeeping => is_first && self.parent != Link::Absent,
            _ => head.n != super::OUTSIDE,
        };
        if has_place {
            glance.id = Some(id);
            glance.parent = self.parent;
        }
        if kind == RecordKind::Assistant {
            glance.message_id = Some(id);
        }
        glance.failed = !self.error.is_empty();
        glance.kind = Some(kind);
    }

    fn kind(&self, kind: Kind, glance: &mut Glance) -> RecordKind {
        match kind {
            Kind::Meta | Kind::Branch | Kind::Usage => RecordKind::Silent,
            Kind::User | Kind::Edit => RecordKind::User,
            Kind::AssistantStart
            | Kind::Partial
            | Kind::ToolCall
            | Kind::Approval
            | Kind::ToolResult
            | Kind::AssistantFinal => RecordKind::Assistant,
            Kind::Error => self.word_of_the_program(),
            Kind::Other => {
                glance.housekeeping = housekeeping::NEWER_RECORD;
                RecordKind::Housekeeping
            }
        }
    }

    fn word_of_the_program(&self) -> RecordKind {
        match (self.role, self.first_part) {
            (b"tool", _) => RecordKind::Result,
            (_, Some(b"notice")) => RecordKind::Notice,
            (_, Some(b"text" | b"thinking" | b"image" | b"tool_call" | b"tool_result")) => {
                RecordKind::Custom
            }
            (_, Some(_)) => RecordKind::Raw,
            (_, None) if self.has_notice && !self.has_parts => RecordKind::Notice,
            (_, None) => RecordKind::Custom,
        }
    }
}

fn piece(kind: Kind) -> Piece {
    match kind {
        Kind::AssistantStart => Piece::Begins,
        Kind::Partial | Kind::ToolCall | Kind::Approval | Kind::ToolResult => Piece::Adds,
        Kind::AssistantFinal => Piece::Ends,
        Kind::Meta
        | Kind::User
        | Kind::Edit
        | Kind::Error
        | Kind::Branch
        | Kind::Usage
        | Kind::Other => Piece::Whole,
    }
}

/// A part, a delta or a call; what is absent is empty.
#[derive(Default)]
struct Part<'a> {
    kind: &'a [u8],
    text: &'a [u8],
    has_text: bool,
    /// Bytes of a text that stands elsewhere.
    far_bytes: u64,
    id: &'a [u8],
    name: &'a [u8],
    state: &'a [u8],
    redacted: bool,
}

impl<'a> Part<'a> {
    fn walk(cursor: &mut Cursor<'a>) -> Walk<Self> {
        let mut part = Self::default();
        cursor.members(|cursor, key| {
            let field = match key {
                b"text" | b"add" => {
                    part.has_text = matches!(cursor.peek(), Some(b'"' | b'{'));
                    (part.text, part.far_bytes) = text_or_blob(cursor)?;
                    return Ok(());
                }
                b"redacted" => {
                    part.redacted = cursor.flag()?;
                    return Ok(());
                }
                b"type" => &mut part.kind,
                b"id" => &mut part.id,
                b"name" => &mut part.name,
                b"state" => &mut part.state,
                _ => return cursor.skip(),
            };
            *field = cursor.string_or_skip()?.unwrap_or(b"");
            Ok(())
        })?;
        Ok(part)
    }

    fn is_far(&self) -> bool {
        self.far_bytes > 0
    }
}

/// A text, or how long it is where it stands elsewhere.
fn text_or_blob<'a>(cursor: &mut Cursor<'a>) -> Walk<(&'a [u8], u64)> {
    if cursor.peek() != Some(b'{') {
        return Ok((cursor.string_or_skip()?.unwrap_or(b""), 0));
    }
    let mut bytes = 0;
    let mut sha: &[u8] = b"";
    cursor.members(|cursor, key| {
        match key {
            b"bytes" => bytes = cursor.number_or_skip()?.map_or(0, |n| n as u64),
            b"blob" => sha = cursor.string_or_skip()?.unwrap_or(b""),
            _ => cursor.skip()?,
        }
        Ok(())
    })?;
    Ok((sha, bytes))
}

fn blob_lines(bytes: u64) -> u32 {
    u32::try_from(bytes.div_ceil(90)).unwrap_or(u32::MAX)
}

fn add_part(part: &Part<'_>, glance: &mut Glance) {
    let content = &mut glance.content;
    match part.kind {
        b"text" if part.is_far() => content.part(blob_lines(part.far_bytes)),
        b"text" if part.has_text => content.text(part.text),
        b"thinking" => content.thinking(part.redacted, part.text),
        b"tool_call" => {
            content.named_call(&json::unescaped(part.name));
            glance.call_failed |= part.state == b"error";
        }
        b"image" => content.part(16),
        _ => content.part(3),
    }
}

fn add_delta(part: &Part<'_>, glance: &mut Glance) {
    match part.kind {
        b"text" => add_text(part.text, &mut glance.content),
        b"thinking" if !json::is_blank(part.text) => {
            glance.content.marks.thinking();
            glance.content.traces.think();
        }
        b"thinking" => {}
        b"tool_call" => meet(part, glance),
        _ => glance.content.part(3),
    }
}

/// Counts words of which it is not known where their line began.
fn add_text(inside: &[u8], content: &mut Content) {
    let ends = memchr::memmem::find_iter(inside, b"\\n").count();
    let set = inside.len() / 90;
    content.lines = content.lines.saturating_add(u32::try_from(ends + set).unwrap_or(u32::MAX));
    if !json::is_blank(inside) {
        content.marks.other();
    }
}

fn meet(part: &Part<'_>, glance: &mut Glance) {
    glance.met.push((hash(part.id), LowStakes::of(&json::unescaped(part.name))));
}
