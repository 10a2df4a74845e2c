//! A Claude Code record in passing.

use crate::transcript::{
    glance::{Content, Glance, Link, Title, hash, link, time_ms},
    housekeeping,
    json::{self, Cursor, Walk},
    record::RecordKind,
};

/// Walks one record. In the transcript of a sub-agent (`agent_file`) the sub-agent's
/// records are the conversation itself.
pub(crate) fn record(cursor: &mut Cursor<'_>, glance: &mut Glance, agent_file: bool) -> Walk<()> {
    glance.clear();
    let mut record = Record::default();
    cursor.members(|cursor, key| record.member(cursor, key, glance))?;
    if agent_file {
        glance.side = false;
    }
    record.settle(glance);
    Ok(())
}

#[derive(Default)]
struct Record<'a> {
    kind: &'a [u8],
    subtype: &'a [u8],
    has_message: bool,
    purpose: Purpose,
    logical_parent: Option<Link>,
    title: Option<(&'a [u8], u8)>,
    leaf: Option<u64>,
}

/// What a record is for; of several the last counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Purpose {
    #[default]
    Conversation,
    /// For the model only.
    Meta,
    ApiError,
    CompactSummary,
}

impl<'a> Record<'a> {
    fn member(&mut self, cursor: &mut Cursor<'a>, key: &[u8], glance: &mut Glance) -> Walk<()> {
        match key {
            b"type" => self.kind = cursor.string_or_skip()?.unwrap_or(b""),
            b"subtype" => self.subtype = cursor.string_or_skip()?.unwrap_or(b""),
            b"uuid" => glance.id = cursor.string_or_skip()?.map(hash),
            b"parentUuid" => glance.parent = link(cursor)?,
            b"logicalParentUuid" => self.logical_parent = Some(link(cursor)?),
            b"timestamp" => glance.time_ms = time_ms(cursor)?,
            b"isSidechain" => glance.side = cursor.flag()?,
            b"isMeta" => self.mark(Purpose::Meta, cursor)?,
            b"isCompactSummary" => self.mark(Purpose::CompactSummary, cursor)?,
            b"isApiErrorMessage" => self.mark(Purpose::ApiError, cursor)?,
            b"message" if cursor.peek() == Some(b'{') => {
                self.has_message = true;
                glance.message_id = message(cursor, &mut glance.content)?;
            }
            b"summary" => self.take_title(cursor, 1)?,
            b"aiTitle" => self.take_title(cursor, 2)?,
            b"customTitle" | b"title" => self.take_title(cursor, 3)?,
            b"leafUuid" => self.leaf = cursor.string_or_skip()?.map(hash),
            _ => cursor.skip()?,
        }
        Ok(())
    }

    fn mark(&mut self, purpose: Purpose, cursor: &mut Cursor<'_>) -> Walk<()> {
        if cursor.flag()? {
            self.purpose = self.purpose.max(purpose);
        }
        Ok(())
    }

    fn take_title(&mut self, cursor: &mut Cursor<'a>, rank: u8) -> Walk<()> {
        self.title = cursor.string_or_skip()?.map(|text| (text, rank));
        Ok(())
    }

    fn settle(&self, glance: &mut Glance) {
        if matches!(glance.parent, Link::Root | Link::Absent) {
            glance.parent = self.logical_parent.unwrap_or(glance.parent);
        }
        glance.kind = Some(match self.kind {
            _ if glance.side && self.has_message => RecordKind::Sidechain,
            b"user" if self.has_message => self.user(glance),
            b"assistant" if self.has_message => {
                glance.failed = self.purpose == Purpose::ApiError;
                RecordKind::Assistant
            }
            b"system" if self.purpose == Purpose::Meta => {
                housekeep(glance, housekeeping::HIDDEN_MESSAGE)
            }
            b"system" => RecordKind::Notice,
            b"summary" | b"custom-title" | b"ai-title" => self.titled(glance),
            other => match housekeeping::claude_code(other) {
                Some(code) => housekeep(glance, code),
                None => RecordKind::Raw,
            },
        });
    }

    fn user(&self, glance: &mut Glance) -> RecordKind {
        let only_results = !glance.content.has_words && !glance.content.results.is_empty();
        if only_results {
            RecordKind::Result
        } else if self.purpose == Purpose::CompactSummary {
            RecordKind::Notice
        } else if self.purpose == Purpose::Meta {
            housekeep(glance, housekeeping::HIDDEN_MESSAGE)
        } else {
            RecordKind::User
        }
    }

    fn titled(&self, glance: &mut Glance) -> RecordKind {
        if let Some((text, rank)) = self.title {
            let text = json::unescaped(text).trim().to_owned();
            let leaf = if self.kind == b"summary" { self.leaf } else { None };
            let is_ours = self.kind != b"summary" || leaf.is_some();
            glance.title = (is_ours && !text.is_empty()).then_some(Title { text, rank, leaf });
        }
        RecordKind::Notice
    }
}

fn housekeep(glance: &mut Glance, code: u16) -> RecordKind {
    glance.housekeeping = code;
    RecordKind::Housekeeping
}

/// Walks an API message; its id says which lines belong together.
fn message(cursor: &mut Cursor<'_>, content: &mut Content) -> Walk<Option<u64>> {
    let mut id = None;
    cursor.members(|cursor, key| {
        match key {
            b"id" => id = cursor.string_or_skip()?.filter(|id| !id.is_empty()).map(hash),
            b"content" => content.take(cursor)?,
            _ => cursor.skip()?,
        }
        Ok(())
    })?;
    Ok(id)
}
