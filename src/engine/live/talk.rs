//! The messages of a conversation, and what is put aside of them.

use std::sync::Arc;

use super::composition::Composed;
use crate::{
    engine::prepare,
    model::{
        Aside, Attachment, Draft, Entry, GroupTraits, Grouping, List, Message, MessageId, Notice,
        NoticeKind, Part, Role, RowInfo, SourceLine, Text,
    },
    wire::Turn,
};

/// The messages of a conversation. Ids count up and are never used again.
#[derive(Debug)]
pub(super) struct Talk {
    entries: List<Entry>,
    aside: List<Aside>,
    next: u64,
}

impl Talk {
    pub(super) fn new() -> Self {
        Self { entries: List::default(), aside: List::default(), next: 1 }
    }

    pub(super) fn entries(&self) -> &List<Entry> {
        &self.entries
    }

    pub(super) fn aside(&self) -> &List<Aside> {
        &self.aside
    }

    pub(super) fn next_id(&mut self) -> MessageId {
        let id = MessageId(self.next);
        self.next += 1;
        id
    }

    /// Appends a message whose texts are blocks already.
    pub(super) fn push(&mut self, composed: Composed) {
        let entry = self.entry(composed);
        self.entries.push(entry);
    }

    /// The entry of a message that stands behind all others.
    pub(super) fn entry(&self, composed: Composed) -> Entry {
        let Composed { message, lines, keys, echoes } = composed;
        let mut grouping = self.entries.last().map_or_else(Grouping::default, |e| e.grouping);
        let group = grouping.place(GroupTraits::of(&message));
        let row = RowInfo { group, ..RowInfo::of_lines(&message, lines) };
        Entry {
            message: Arc::new(message),
            row,
            grouping,
            keys: keys.into(),
            echoes: echoes.into(),
        }
    }

    /// Appends what the user wrote.
    pub(super) fn push_prompt(&mut self, draft: &Draft, timestamp_ms: i64) -> MessageId {
        let id = self.next_id();
        let words = Some(&draft.text).filter(|text| !text.trim().is_empty());
        let words = words.map(|text| Part::Text(Text::unparsed(Arc::clone(text))));
        let attached = draft.attachments.iter().filter_map(attached);
        let parts = words.into_iter().chain(attached).collect();
        let message = blank(id, Role::User, timestamp_ms);
        self.push(Composed::whole(prepare(Message { parts, ..message })));
        id
    }

    /// Appends a word of ours.
    pub(super) fn push_notice(&mut self, kind: NoticeKind, text: &str, timestamp_ms: i64) {
        let id = self.next_id();
        let parts = vec![Part::Notice(Notice { kind, text: Text::unparsed(text) })];
        let message = Message { parts, ..blank(id, Role::System, timestamp_ms) };
        self.push(Composed::whole(prepare(message)));
    }

    /// Where the last prompt stands.
    pub(super) fn last_prompt(&self) -> Option<usize> {
        let is_prompt = |entry: &Entry| entry.message.role == Role::User;
        let from_end = self.entries.iter().rev().position(is_prompt)?;
        Some(self.entries.len() - 1 - from_end)
    }

    /// Puts everything from a place on aside.
    pub(super) fn cut(&mut self, length: usize) {
        if length >= self.entries.len() {
            return;
        }
        let after = length.checked_sub(1).and_then(|last| self.entries.get(last));
        let after = after.map(|entry| entry.message.id);
        let cut = (length..self.entries.len()).filter_map(|index| self.entries.get(index));
        let entries = cut.cloned().collect();
        self.aside.push(Aside { after, entries });
        self.entries.truncate(length);
    }

    /// The conversation as it is sent.
    pub(super) fn turns(&self) -> Vec<Turn> {
        let turn = |entry: &Entry| Turn {
            message: Arc::clone(&entry.message),
            echoes: entry.echoes.to_vec(),
        };
        self.entries.iter().map(turn).collect()
    }
}

pub(super) fn blank(id: MessageId, role: Role, timestamp_ms: i64) -> Message {
    Message {
        id,
        key: "".into(),
        role,
        timestamp_ms: Some(timestamp_ms),
        model: None,
        parts: Vec::new(),
        stop: None,
        error: None,
        usage: None,
        line: SourceLine(0),
    }
}

fn attached(attachment: &Attachment) -> Option<Part> {
    match attachment {
        Attachment::Image(image) => Some(Part::Image(image.clone())),
        Attachment::Document { text, .. } if text.trim().is_empty() => None,
        Attachment::Document { name, text } => {
            Some(Part::Text(Text::unparsed(format!("\n\n[Document: {name}]\n{text}"))))
        }
    }
}
