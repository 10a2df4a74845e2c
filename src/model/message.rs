//! Messages and the parts they are made of.

use std::sync::Arc;

use super::{
    block::Block,
    id::{MessageId, SourceLine},
    tool::{ToolCall, ToolResult},
};

/// One message of a conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    /// Its identity in this program.
    pub id: MessageId,
    /// The id its source gave it; empty when the source gives none.
    pub key: Arc<str>,
    /// Who speaks.
    pub role: Role,
    /// Milliseconds since 1970, UTC.
    pub timestamp_ms: Option<i64>,
    /// The model that spoke, as its source names it.
    pub model: Option<Arc<str>>,
    /// What was said, in order.
    pub parts: Vec<Part>,
    /// Why the model stopped.
    pub stop: Option<StopReason>,
    /// The error that ended it, in the source's words.
    pub error: Option<Arc<str>>,
    /// Tokens and cost of this message.
    pub usage: Option<Usage>,
    /// First line of the source it stands on.
    pub line: SourceLine,
}

/// Who speaks.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Role {
    /// The person.
    User,
    /// The model.
    Assistant,
    /// A tool result that found no call.
    Tool,
    /// The host program.
    System,
    /// Any other role, by its name in the source.
    Custom(Arc<str>),
}

impl Role {
    /// The name used by exports and registries.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::System => "system",
            Self::Custom(name) => name,
        }
    }
}

/// Why a model stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopReason {
    /// It was done.
    Stop,
    /// It ran into its token limit.
    Length,
    /// It called tools.
    ToolUse,
    /// The request failed.
    Error,
    /// The user stopped it.
    Aborted,
    /// A reason of the provider's own.
    Other(Arc<str>),
}

impl StopReason {
    /// The name used by exports.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Stop => "stop",
            Self::Length => "length",
            Self::ToolUse => "tool_use",
            Self::Error => "error",
            Self::Aborted => "aborted",
            Self::Other(name) => name,
        }
    }
}

/// Tokens and cost of one message.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Usage {
    /// Prompt tokens that were not read from a cache.
    pub input: u64,
    /// Generated tokens.
    pub output: u64,
    /// Prompt tokens read from the provider's cache.
    pub cache_read: u64,
    /// Prompt tokens written to the provider's cache.
    pub cache_write: u64,
    /// US dollars, when the source says.
    pub cost: Option<f64>,
}

/// One part of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Part {
    /// Prose.
    Text(Text),
    /// The model's reasoning.
    Thinking(Thinking),
    /// A picture.
    Image(Image),
    /// A tool call together with its result.
    ToolCall(Arc<ToolCall>),
    /// A tool result that found no call; only in messages of [`Role::Tool`].
    ToolResult(Arc<ToolResult>),
    /// A word of the host program: compaction, branch, model change …
    Notice(Notice),
    /// What is not understood, shown as it was found.
    Raw(Raw),
}

/// Prose and the blocks it became.
#[derive(Clone, Debug, PartialEq)]
pub struct Text {
    /// The text as stored, untouched by hygiene.
    pub source: Arc<str>,
    /// Its blocks.
    pub blocks: Blocks,
}

/// The blocks of a text.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Blocks {
    /// Not parsed yet: a reader fills this in off the UI thread.
    #[default]
    Unparsed,
    /// A finished text.
    Sealed(Arc<[Arc<Block>]>),
    /// A streaming text: blocks that can no longer change, and those of the open tail.
    Open {
        /// Final blocks.
        sealed: Arc<[Arc<Block>]>,
        /// Blocks of the text behind them, which the next delta may change.
        tail: Arc<[Arc<Block>]>,
    },
}

impl Text {
    /// A text that has not been parsed.
    #[must_use]
    pub fn unparsed(source: impl Into<Arc<str>>) -> Self {
        Self { source: source.into(), blocks: Blocks::Unparsed }
    }

    /// All blocks in order, sealed ones first.
    pub fn blocks(&self) -> impl Iterator<Item = &Arc<Block>> {
        let (sealed, tail): (&[_], &[_]) = match &self.blocks {
            Blocks::Unparsed => (&[], &[]),
            Blocks::Sealed(sealed) => (sealed, &[]),
            Blocks::Open { sealed, tail } => (sealed, tail),
        };
        sealed.iter().chain(tail)
    }
}

/// A model's reasoning.
#[derive(Clone, Debug, PartialEq)]
pub struct Thinking {
    /// Its text; empty when redacted.
    pub text: Text,
    /// The provider kept the text to itself.
    pub redacted: bool,
    /// How long it took, when known.
    pub duration_ms: Option<u64>,
}

/// A picture inside a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    /// As the source declares it; the bytes decide.
    pub media_type: Arc<str>,
    /// Where its bytes are.
    pub data: ImageData,
    /// Width and height in pixels, read from the header.
    pub size: Option<[u32; 2]>,
}

/// Where a picture's bytes are.
#[derive(Clone, Debug, PartialEq)]
pub enum ImageData {
    /// Encoded bytes, decoded from base64 by the reader.
    Bytes(Arc<[u8]>),
    /// An address. It is shown as text and never fetched.
    Address(Arc<str>),
    /// Too large to keep, or not valid base64; the text says which.
    Unusable(Arc<str>),
}

/// A word of the host program.
#[derive(Clone, Debug, PartialEq)]
pub struct Notice {
    /// What happened.
    pub kind: NoticeKind,
    /// In words; may be markdown for summaries.
    pub text: Text,
}

/// What a notice is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoticeKind {
    /// Earlier messages were replaced by a summary for the model; they stay visible here.
    Compaction,
    /// The summary of a branch that was left.
    Branch,
    /// Another model answers from here on.
    ModelChange,
    /// Thinking level, mode, permission and other settings.
    Setting,
    /// The user or a limit stopped the turn.
    Abort,
    /// Something failed.
    Error,
    /// A title or label was given.
    Label,
    /// The files can be taken back to what they were here: the name of the checkpoint.
    Checkpoint(Arc<str>),
    /// Any other, by its name in the source.
    Other(Arc<str>),
}

impl NoticeKind {
    /// The name used by exports.
    #[must_use]
    pub fn name(&self) -> &str {
        match self {
            Self::Compaction => "compaction",
            Self::Branch => "branch",
            Self::ModelChange => "model_change",
            Self::Setting => "setting",
            Self::Abort => "abort",
            Self::Error => "error",
            Self::Label => "label",
            Self::Checkpoint(_) => "checkpoint",
            Self::Other(name) => name,
        }
    }
}

/// A record that is not understood.
#[derive(Clone, Debug, PartialEq)]
pub struct Raw {
    /// One line: what it is, or what is wrong with it.
    pub label: Arc<str>,
    /// The record as found, shortened in the middle when it is huge.
    pub text: Arc<str>,
    /// Where it stands.
    pub line: SourceLine,
}
