//! A question to the user about a call, and the answer.

use std::sync::Arc;

use super::id::MessageId;

/// Names a question. No two of a conversation have the same number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ApprovalId(pub u64);

/// A call that waits for the user's word. Every text in it shows all that is in it:
/// characters that would not show are escaped.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Approval {
    /// Its name.
    pub id: ApprovalId,
    /// The message that holds the call.
    pub message: MessageId,
    /// The call's id.
    pub call_id: Arc<str>,
    /// The tool's name.
    pub tool: Arc<str>,
    /// What kind of thing is asked about.
    pub subject: Subject,
    /// What exactly: the command, the paths, the address, the arguments.
    pub what: Arc<str>,
    /// Where: the folder of a command, the file as it really is; empty for what is nowhere.
    pub place: Arc<str>,
    /// How long a command may take, in seconds.
    pub timeout_secs: Option<u64>,
    /// Nothing outside of the workspace is named.
    pub is_inside: bool,
    /// Environment variables that a command sees and this program does not have so itself.
    pub environment: Arc<[(Arc<str>, Arc<str>)]>,
    /// What would change.
    pub changes: Arc<[Change]>,
    /// Why the user is asked.
    pub concerns: Arc<[Concern]>,
    /// What he may decide for more than this call.
    pub offers: Arc<[Offer]>,
    /// When it was asked, in milliseconds since 1970, UTC.
    pub asked_ms: i64,
}

/// What kind of thing is asked about.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Subject {
    /// Looking at files.
    Look,
    /// Changing files.
    Change,
    /// Running a program. No key that is pressed without a thought may approve it.
    #[default]
    Command,
    /// A request to a host.
    Network,
    /// A tool that a server has.
    Remote,
}

/// A change of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// The file.
    pub path: Arc<str>,
    /// Where it goes, if it is moved.
    pub moved_to: Option<Arc<str>>,
    /// What it holds before; none if it is not there.
    pub before: Option<Arc<str>>,
    /// What it holds after; none if it is deleted.
    pub after: Option<Arc<str>>,
}

/// A reason to ask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Concern {
    /// One sentence.
    pub words: Arc<str>,
    /// It is a warning, and not only what the tool does anyway.
    pub is_warning: bool,
}

/// A decision for more than one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// For how long.
    pub scope: Scope,
    /// What would be decided, in a few words.
    pub words: Arc<str>,
}

/// How long a decision lasts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scope {
    /// Until the conversation is closed.
    Session,
    /// Until the user takes it back.
    Always,
}

/// The user's word on a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Decision {
    /// Run it, this once.
    Once,
    /// Run it, and take the offer of this index; one that is not there means [`Self::Once`].
    Offer(usize),
    /// Do not run it, nor anything behind it in the reply.
    Reject,
}

/// How a model calls its tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum CallGrammar {
    /// Through its provider.
    #[default]
    Native,
    /// With tags in its text, for models and servers that know no calls.
    Tags,
}

/// What a model may do with tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ToolUse {
    /// It gets none.
    #[default]
    Off,
    /// It may look around in the workspace; everything else is asked about.
    Ask,
    /// It may change files in the workspace, too.
    Edits,
    /// It may run what it likes as long as only the user has spoken; then it asks.
    Auto,
}

impl ToolUse {
    /// All of them, from the least to the most.
    pub const ALL: [Self; 4] = [Self::Off, Self::Ask, Self::Edits, Self::Auto];

    /// A word for a menu.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Off => "no tools",
            Self::Ask => "ask first",
            Self::Edits => "edit freely",
            Self::Auto => "automatic",
        }
    }
}
