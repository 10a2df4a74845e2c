//! A reply that arrives below a history, for measuring what a streaming frame costs.

use std::{ops::Range, sync::Arc};

use crate::{
    engine::FileSource,
    markdown::{self, Stream},
    model::{
        Blocks, Census, Message, MessageId, Part, Progress, Role, RowInfo, Source, SourceLine, Text,
    },
};

/// A file's conversation and one message that grows at its end.
pub(super) struct Streamed {
    pub(super) history: FileSource,
    reply: Option<Reply>,
}

struct Reply {
    rest: std::vec::IntoIter<char>,
    stream: Option<Stream>,
    message: Arc<Message>,
    text: String,
    version: u64,
}

/// The reply stands behind every record a file can hold.
const REPLY: MessageId = MessageId(u64::MAX);

impl Streamed {
    pub(super) fn new(history: FileSource) -> Self {
        Self { history, reply: None }
    }

    /// Begins the reply: its message is there and says nothing yet.
    pub(super) fn begin(&mut self, text: &str) {
        let characters: Vec<char> = text.chars().collect();
        self.reply = Some(Reply {
            rest: characters.into_iter(),
            stream: Some(Stream::new(markdown::Options::default())),
            message: Arc::new(message(Arc::from(""), Blocks::Unparsed)),
            text: String::new(),
            version: 0,
        });
    }

    /// Lets so many characters of the reply arrive, as one snapshot. False once it is whole.
    ///
    /// The text itself is kept only for a renderer that reads it: copying it would cost
    /// more than showing it.
    pub(super) fn feed(&mut self, characters: usize, keep_text: bool) -> bool {
        let Some(reply) = &mut self.reply else { return false };
        let Some(stream) = &mut reply.stream else { return false };
        let delta: String = reply.rest.by_ref().take(characters).collect();
        stream.push(&delta);
        reply.version += 1;
        let blocks = if reply.rest.as_slice().is_empty() {
            reply.stream.take().map(|stream| Blocks::Sealed(stream.finish()))
        } else {
            Some(stream.snapshot())
        };
        if keep_text {
            reply.text.push_str(&delta);
        }
        let text = if keep_text { Arc::from(reply.text.as_str()) } else { Arc::from("…") };
        reply.message = Arc::new(message(text, blocks.unwrap_or_default()));
        reply.stream.is_some()
    }

    fn is_reply(&self, index: usize) -> bool {
        self.reply.is_some() && index == self.history.len()
    }
}

fn message(source: Arc<str>, blocks: Blocks) -> Message {
    Message {
        id: REPLY,
        key: Arc::from(""),
        role: Role::Assistant,
        timestamp_ms: None,
        model: None,
        parts: vec![Part::Text(Text { source, blocks })],
        stop: None,
        error: None,
        usage: None,
        line: SourceLine(0),
    }
}

impl Source for Streamed {
    fn poll(&mut self) -> u64 {
        self.history.poll() + self.reply.as_ref().map_or(0, |reply| reply.version)
    }

    fn len(&self) -> usize {
        self.history.len() + usize::from(self.reply.is_some())
    }

    fn row(&self, index: usize) -> RowInfo {
        match &self.reply {
            Some(reply) if self.is_reply(index) => RowInfo::of(&reply.message),
            _ => self.history.row(index),
        }
    }

    fn index_of(&self, id: MessageId) -> Option<usize> {
        if id == REPLY {
            self.reply.as_ref().map(|_| self.history.len())
        } else {
            self.history.index_of(id)
        }
    }

    fn prompt_before(&self, index: usize) -> Option<usize> {
        self.history.prompt_before(index.min(self.history.len().checked_sub(1)?))
    }

    fn message(&mut self, index: usize) -> Option<Arc<Message>> {
        match &self.reply {
            Some(reply) if self.is_reply(index) => Some(Arc::clone(&reply.message)),
            _ => self.history.message(index),
        }
    }

    fn want(&mut self, rows: Range<usize>) {
        let end = rows.end.min(self.history.len());
        self.history.want(rows.start.min(end)..end);
    }

    fn estimate(&self, rows: Range<usize>) -> (u64, u64) {
        let end = rows.end.min(self.history.len());
        let (shown, lines) = self.history.estimate(rows.start.min(end)..end);
        (shown + u64::from(rows.end > end), lines)
    }

    fn census(&self, rows: Range<usize>) -> Census {
        let end = rows.end.min(self.history.len());
        let mut census = self.history.census(rows.start.min(end)..end);
        if rows.end > end {
            census.add(&Census::of(&self.row(end)));
        }
        census
    }

    fn progress(&self) -> Progress {
        self.history.progress()
    }
}
