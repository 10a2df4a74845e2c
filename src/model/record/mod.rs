//! What stands in the log of a session: lines, kinds, and the bodies of each kind.
//!
//! A log is a file of [lines](mod@line), one record each. Records name the record they follow,
//! so that a log is a tree: nothing in it is ever overwritten. Encoding and decoding are
//! here, in both directions and without IO, because those who write logs, those who read
//! them and those who show them do not know each other.
//!
//! Decoding never fails: what is strange becomes a [`Raw`](super::Raw) part or a default,
//! and is told in a warning.

mod blob;
mod body;
pub mod line;
mod message;
mod part;
mod unfinished;

pub use blob::{Blob, blob_refs};
pub use body::{
    Approved, Delta, Imported, Meta, approval, approval_of, branch, branch_of, id_of, parent_of,
    partial, placed, result_of, settings_body, start, tool_call, tool_call_of, tool_result, usage,
    usage_of,
};
pub use message::{decode_message, encode_answer, encode_message};
pub use unfinished::{INTERRUPTED, UNFINISHED, Unfinished};

use super::message::{Message, Role};

/// A string of more bytes stands in a file of its own, a blob, and so do the bytes of a
/// picture whose base64 would be longer.
pub const INLINE_MAX: usize = 64 * 1024;

/// What a record is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// What is known of the session: title, settings. What is there replaces what was there.
    Meta,
    /// The person's words.
    User,
    /// The person's words in the place of earlier ones, as another branch.
    Edit,
    /// The model begins to answer.
    AssistantStart,
    /// What was added to the answer since the partial before.
    Partial,
    /// A call that is about to run, or to be asked about.
    ToolCall,
    /// The user's word on a call, or that of a rule.
    Approval,
    /// What a call gave back.
    ToolResult,
    /// The whole answer; stands for all records of its id before it.
    AssistantFinal,
    /// A word of the program, and any message that neither the person nor the model said.
    Error,
    /// The conversation goes on from an earlier message.
    Branch,
    /// Tokens and cost of what was put aside.
    Usage,
    /// A kind that this version does not know.
    Other,
}

impl Kind {
    /// All that are known.
    pub const ALL: [Self; 12] = [
        Self::Meta,
        Self::User,
        Self::Edit,
        Self::AssistantStart,
        Self::Partial,
        Self::ToolCall,
        Self::Approval,
        Self::ToolResult,
        Self::AssistantFinal,
        Self::Error,
        Self::Branch,
        Self::Usage,
    ];

    /// Its name in the log; that of [`Kind::Other`] is never written.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Meta => "meta",
            Self::User => "user",
            Self::Edit => "edit",
            Self::AssistantStart => "assistant_start",
            Self::Partial => "partial",
            Self::ToolCall => "tool_call",
            Self::Approval => "approval",
            Self::ToolResult => "tool_result",
            Self::AssistantFinal => "assistant_final",
            Self::Error => "error",
            Self::Branch => "branch",
            Self::Usage => "usage",
            Self::Other => "other",
        }
    }

    /// The kind of a name.
    #[must_use]
    pub fn of_name(name: &str) -> Self {
        Self::ALL.into_iter().find(|kind| kind.name() == name).unwrap_or(Self::Other)
    }

    /// The kind under which a whole message is written.
    #[must_use]
    pub fn of(message: &Message) -> Self {
        match message.role {
            Role::User => Self::User,
            Role::Assistant => Self::AssistantFinal,
            Role::Tool | Role::System | Role::Custom(_) => Self::Error,
        }
    }

    /// Who speaks in records of this kind, unless their body says otherwise.
    #[must_use]
    pub fn role(self) -> Role {
        match self {
            Self::User | Self::Edit => Role::User,
            Self::AssistantStart
            | Self::Partial
            | Self::ToolCall
            | Self::Approval
            | Self::ToolResult
            | Self::AssistantFinal => Role::Assistant,
            Self::Meta | Self::Error | Self::Branch | Self::Usage | Self::Other => Role::System,
        }
    }

    /// True for records that stand in the tree: others can follow them.
    #[must_use]
    pub fn is_node(self) -> bool {
        matches!(
            self,
            Self::User
                | Self::Edit
                | Self::AssistantStart
                | Self::AssistantFinal
                | Self::Error
                | Self::Branch
        )
    }
}
