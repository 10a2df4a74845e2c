//! What the presenter asks for, and what it is told in return.

use std::sync::Arc;

use serde_json::Value;

use crate::model::{
    Image, MessageId, ToolResult, ToolState, Usage,
    stream::{ArgumentError, EndState},
};

/// Names a block of a reply for as long as the reply lives.
///
/// Ordinals count blocks in order of arrival; a block never changes its ordinal or kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockId {
    /// The reply.
    pub message: MessageId,
    /// 0, 1, 2 …
    pub ordinal: u32,
}

/// Names something that was started. Ids of an earlier request mean nothing to a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EffectId {
    pub(super) request: u32,
    pub(super) serial: u32,
}

/// What the presenter wants done, in this order.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Do this, then say how it went. At most one is outstanding at any time.
    Start {
        /// Goes back with the outcome.
        id: EffectId,
        /// The block it is for.
        block: BlockId,
        /// What to do.
        task: Task,
    },
    /// Let go of what was started; its outcome no longer matters.
    Stop(EffectId),
    /// Bring a row up to date; there is nothing to wait for.
    Row(Saying),
    /// A call that is not being shown now has changed: show what
    /// [`Presenter::call_view`](super::Presenter::call_view) gives, at the next frame.
    CallChanged(BlockId),
    /// A picture is complete.
    Picture {
        /// Its block.
        block: BlockId,
        /// The picture.
        image: Image,
    },
    /// A block of a kind that is not known here.
    Foreign {
        /// Its block.
        block: BlockId,
        /// The provider's name for the kind.
        kind: Arc<str>,
        /// What the provider sent.
        json: Arc<str>,
    },
    /// Tokens so far.
    Usage(Usage),
    /// Show what the user said beside a decision, as a row of the user's.
    Feedback {
        /// The call that was decided on.
        block: BlockId,
        /// What was said.
        feedback: Feedback,
    },
    /// A call is over. There is exactly one of these for each call.
    Answer(Answer),
    /// Show a remark of ours as a row.
    Note(Note),
    /// The turn is over: the next request may be sent. There is exactly one of these.
    Over,
}

/// What is started.
#[derive(Clone, Debug, PartialEq)]
pub enum Task {
    /// Bring a row up to date.
    Say(Saying),
    /// Show a call whose arguments are still arriving.
    ShowCall(CallView),
    /// Wait for the first checkpoint of the conversation, and show on the call's row that
    /// it waits.
    AwaitCheckpoint,
    /// Decide on a call: by policy, or by asking the user.
    Approve(Arc<Call>),
    /// Run a call that was approved.
    Run(Arc<Call>),
}

/// How something that was started went.
#[derive(Clone, Debug, PartialEq)]
pub enum Outcome {
    /// A row is up to date, or the checkpoint is there.
    Done,
    /// The call may run.
    Approved {
        /// What the user said with it.
        feedback: Option<Feedback>,
    },
    /// The call may not run, and no later one of this reply may.
    Rejected {
        /// What the user said with it, or instead of it.
        feedback: Option<Feedback>,
    },
    /// The call ran.
    Finished(Arc<ToolResult>),
    /// It failed; in one sentence. A row that failed will be said again, from the start.
    Failed(Arc<str>),
}

/// A change of a row's text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Saying {
    /// The block, and so the row: it is the same one for every change.
    pub block: BlockId,
    /// What the row holds.
    pub kind: RowKind,
    /// Bytes of the row's text that stay.
    pub keep: usize,
    /// What follows them now.
    pub append: String,
    /// A final row changes no more. One without text holds nothing to show, or, if it is
    /// reasoning, something that the provider keeps to itself.
    pub is_final: bool,
}

impl Saying {
    /// Carries the change out. A text that this change is not for stays a text.
    pub fn apply(&self, text: &mut String) {
        let keep = text.floor_char_boundary(self.keep);
        text.truncate(keep);
        text.push_str(&self.append);
    }
}

/// What a row of text holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowKind {
    /// Prose.
    Text,
    /// The model's words on why it will not answer.
    Refusal,
    /// The model's reasoning.
    Reasoning,
}

/// A call whose arguments are still arriving, as far as they can be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallView {
    /// Its block.
    pub block: BlockId,
    /// The provider's id, or ours.
    pub id: Arc<str>,
    /// The tool's name.
    pub name: Arc<str>,
    /// Names and values in order of arrival. Values that are no strings are JSON.
    pub params: Vec<(String, String)>,
}

/// A complete call.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Its block.
    pub block: BlockId,
    /// The provider's id, or ours.
    pub id: Arc<str>,
    /// The tool's name.
    pub name: Arc<str>,
    /// An object.
    pub arguments: Value,
    /// How the model made it.
    pub form: CallForm,
}

/// How a model makes a call, and so how it is answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallForm {
    /// As a call of its provider's.
    Native,
    /// As tags in its text; the answer is text.
    Tags,
}

/// What the user said beside a decision.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Feedback {
    /// Words.
    pub text: Arc<str>,
    /// Pictures.
    pub images: Vec<Image>,
}

/// The end of a call.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Its block.
    pub block: BlockId,
    /// The provider's id, or ours.
    pub call_id: Arc<str>,
    /// Where the call stands for good.
    pub state: ToolState,
    /// What came back, or why nothing did; none after an abort only.
    pub result: Option<Arc<ToolResult>>,
}

/// A part of the next request.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// The answer to a call.
    Result {
        /// The call's id.
        call_id: Arc<str>,
        /// How it was made. The text of an answer to tags says which tool it is from.
        form: CallForm,
        /// What the model reads; never empty.
        text: Arc<str>,
        /// What it sees.
        images: Vec<Image>,
        /// It failed or did not run.
        is_error: bool,
    },
    /// What the user said beside a decision.
    Feedback(Feedback),
    /// A remark of ours to the model.
    Remark(Arc<str>),
}

/// A remark of ours, shown as a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The block it stands behind.
    pub block: BlockId,
    /// What it is about. There is at most one note of a kind behind a block.
    pub kind: NoteKind,
    /// One sentence.
    pub text: Arc<str>,
}

/// What a remark is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum NoteKind {
    /// Showing or running the block failed.
    Failed,
    /// The call cannot be understood or was cut off.
    BadCall,
    /// There is no such tool.
    UnknownTool,
    /// The tool is not for planning.
    PlanMode,
    /// There is no checkpoint to go back to.
    NoCheckpoint,
    /// The same call was made three times.
    Repeating,
    /// The same call was made five times: the user should step in.
    Stuck,
    /// A second answer to the same call was left out of the next request.
    DuplicateAnswer,
}

/// Why a call will not run although it is complete or its reply is over.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Flaw {
    /// Its arguments are unusable.
    Arguments(ArgumentError),
    /// A closing tag is missing, and its value ran on over the tool's own.
    Malformed,
    /// The reply ended within it.
    CutOff(EndState),
    /// The reply ended in a way that lets no call run.
    NotAllowed(EndState),
}
