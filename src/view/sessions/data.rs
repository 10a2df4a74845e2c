//! Stand-ins for what the index of sessions gives, until it is there.

use std::{ops::Range, sync::Arc};

use crate::model::MessageId;

/// Names a session.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SessionId(pub Arc<str>);

impl SessionId {
    /// Its name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A session as lists show it.
#[derive(Clone, Debug, PartialEq)]
pub struct Listed {
    /// Its name.
    pub id: SessionId,
    /// What it is called.
    pub title: Arc<str>,
    /// When it began, in milliseconds since 1970.
    pub created_ms: i64,
    /// When something last happened in it.
    pub updated_ms: i64,
    /// How many messages it has.
    pub messages: u32,
    /// Who answered last.
    pub model: Arc<str>,
    /// It stays on top.
    pub pinned: bool,
    /// It is put away.
    pub archived: bool,
    /// It is in the trash.
    pub deleted: bool,
    /// Its newest words.
    pub preview: Arc<str>,
    /// Something was written in it and not sent.
    pub has_draft: bool,
}

/// A message with the words that were looked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Where it is.
    pub session: SessionId,
    /// What that is called.
    pub title: Arc<str>,
    /// The message.
    pub message: MessageId,
    /// Words around what was found.
    pub snippet: Arc<str>,
    /// What was found in them, in bytes.
    pub ranges: Vec<Range<usize>>,
}
