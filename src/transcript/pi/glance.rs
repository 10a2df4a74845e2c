//! A pi entry in passing.

use crate::transcript::{
    glance::{Content, Glance, Title, hash, link, time_ms},
    housekeeping,
    json::{self, Cursor, Walk},
    record::RecordKind,
};

/// Walks one entry.
pub(crate) fn entry(cursor: &mut Cursor<'_>, glance: &mut Glance) -> Walk<()> {
    glance.clear();
    let mut entry = Entry { display: true, ..Entry::default() };
    cursor.members(|cursor, key| {
        match key {
            b"type" => entry.kind = cursor.string_or_skip()?.unwrap_or(b""),
            b"id" => glance.id = cursor.string_or_skip()?.map(hash),
            b"parentId" => glance.parent = link(cursor)?,
            b"timestamp" => glance.time_ms = time_ms(cursor)?,
            b"message" if cursor.peek() == Some(b'{') => {
                entry.message = Message::walk(cursor, &mut glance.content)?;
                entry.has_message = true;
            }
            b"content" => glance.content.take(cursor)?,
            b"display" => entry.display = cursor.flag()?,
            b"name" => entry.name = cursor.string_or_skip()?.unwrap_or(b""),
            _ => cursor.skip()?,
        }
        Ok(())
    })?;
    entry.settle(glance);
    Ok(())
}

#[derive(Default)]
struct Entry<'a> {
    kind: &'a [u8],
    message: Message<'a>,
    has_message: bool,
    display: bool,
    name: &'a [u8],
}

impl Entry<'_> {
    fn settle(&self, glance: &mut Glance) {
        glance.time_ms = glance.time_ms.or(self.message.time_ms);
        let kind = match self.kind {
            b"session" => RecordKind::Header,
            b"message" if self.has_message => self.message.settle(glance),
            b"custom" => housekeep(glance, housekeeping::EXTENSION_STATE),
            b"custom_message" if self.display => RecordKind::Custom,
            b"custom_message" => housekeep(glance, housekeeping::HIDDEN_MESSAGE),
            b"compaction"
            | b"branch_summary"
            | b"thinking_level_change"
            | b"model_change"
            | b"label" => RecordKind::Notice,
            b"session_info" => {
                let text = json::unescaped(self.name).trim().to_owned();
                glance.title = (!text.is_empty()).then_some(Title { text, rank: 1, leaf: None });
                RecordKind::Notice
            }
            _ => RecordKind::Raw,
        };
        glance.kind = Some(kind);
    }
}

fn housekeep(glance: &mut Glance, code: u16) -> RecordKind {
    glance.housekeeping = code;
    RecordKind::Housekeeping
}

#[derive(Default)]
struct Message<'a> {
    role: &'a [u8],
    call_id: &'a [u8],
    stop: &'a [u8],
    error: &'a [u8],
    is_error: bool,
    is_hidden: bool,
    is_cancelled: bool,
    exit_code: Option<f64>,
    time_ms: Option<i64>,
}

impl<'a> Message<'a> {
    fn walk(cursor: &mut Cursor<'a>, content: &mut Content) -> Walk<Self> {
        let mut message = Self::default();
        cursor.members(|cursor, key| {
            match key {
                b"role" => message.role = cursor.string_or_skip()?.unwrap_or(b""),
                b"content" => content.take(cursor)?,
                b"attachments" if cursor.peek() == Some(b'[') => {
                    cursor.elements(|cursor| content.block(cursor))?;
                }
                b"toolCallId" => message.call_id = cursor.string_or_skip()?.unwrap_or(b""),
                b"stopReason" => message.stop = cursor.string_or_skip()?.unwrap_or(b""),
                b"errorMessage" => message.error = cursor.string_or_skip()?.unwrap_or(b""),
                b"isError" => message.is_error = cursor.flag()?,
                b"display" => message.is_hidden = !cursor.flag()?,
                b"cancelled" => message.is_cancelled = cursor.flag()?,
                b"exitCode" => message.exit_code = cursor.number_or_skip()?,
                b"timestamp" => message.time_ms = time_ms(cursor)?,
                _ => cursor.skip()?,
            }
            Ok(())
        })?;
        Ok(message)
    }

    fn settle(&self, glance: &mut Glance) -> RecordKind {
        match self.role {
            b"user" | b"user-with-attachments" => RecordKind::User,
            b"assistant" => {
                glance.failed = !json::is_blank(self.error) && self.stop != b"aborted";
                RecordKind::Assistant
            }
            b"toolResult" => {
                glance.content.results.push((hash(self.call_id), self.is_error));
                RecordKind::Result
            }
            b"bashExecution" => {
                glance.content.other_call();
                glance.failed =
                    !self.is_cancelled && self.exit_code.is_some_and(|code| code != 0.0);
                RecordKind::Custom
            }
            b"custom" | b"hookMessage" if self.is_hidden => {
                housekeep(glance, housekeeping::HIDDEN_MESSAGE)
            }
            b"custom" | b"hookMessage" => RecordKind::Custom,
            b"branchSummary" | b"compactionSummary" => RecordKind::Notice,
            b"artifact" => housekeep(glance, housekeeping::ARTIFACT),
            _ => RecordKind::Raw,
        }
    }
}
