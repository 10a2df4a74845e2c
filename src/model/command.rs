//! What is asked of a running conversation.

use std::sync::Arc;

use super::{
    approval::{ApprovalId, Decision, ToolUse},
    id::MessageId,
    message::Image,
};

/// Names one thing that the user wrote, so that its fate can be told. Whoever sends it
/// chooses a number that it has not used before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(pub u64);

/// Something for the one who runs a conversation to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Say this, and have it answered. While an answer is arriving it waits for its turn.
    Send(Draft),
    /// Stop what is going on. What arrived stays.
    Stop,
    /// Have the last prompt answered anew; while waiting to try again, try now.
    Retry,
    /// Say this in the place of the last prompt, and have it answered. What followed that
    /// prompt is put aside.
    EditLast(Draft),
    /// Say this in the place of one of the user's messages, and have it answered. The one
    /// that stood there stays, with all that followed it, as another branch.
    Edit {
        /// The message in whose place it stands.
        message: MessageId,
        /// What is said.
        draft: Draft,
    },
    /// Have the prompt before a message answered anew. The answer that stood there stays, as
    /// another branch.
    Regenerate {
        /// The answer.
        message: MessageId,
    },
    /// Go to the branch that a message stands on, as it was left.
    Choose {
        /// The message: one of the siblings of a [`Fork`](super::Fork).
        message: MessageId,
    },
    /// Say this in the turn that goes on, as soon as the reply that is arriving and its calls
    /// are through; with no turn going on it is said at once.
    Steer(Draft),
    /// Change something in the queue.
    Queue(QueueChange),
    /// Let another model answer from now on.
    SetModel {
        /// A provider that is known to the engine.
        provider: Arc<str>,
        /// The model, by its provider's name for it.
        model: Arc<str>,
    },
    /// How much the model should think from now on.
    SetThinking(ThinkingLevel),
    /// What the model is told about its task from now on.
    SetSystem(Option<Arc<str>>),
    /// How many tokens a reply may have from now on.
    SetMaxTokens(Option<u32>),
    /// What the model may do with tools from now on.
    SetTools(ToolUse),
    /// The user's word on a call. One that is not asked about any more is let pass.
    Decide {
        /// The question.
        approval: ApprovalId,
        /// What the user wants.
        decision: Decision,
        /// What he says with it; the model reads it.
        feedback: Option<Draft>,
    },
    /// Take the files back to a checkpoint. What is going on is stopped first.
    Restore {
        /// Its name, as the notice of it says.
        checkpoint: Arc<str>,
    },
    /// Stop one running call. The turn goes on with its result.
    StopCall {
        /// The message that holds it.
        message: MessageId,
        /// Its id.
        call_id: Arc<str>,
    },
}

/// A change of what waits to be said.
#[derive(Clone, Debug, PartialEq)]
pub enum QueueChange {
    /// Take one out; it goes back to the one who wrote it, if anybody still wants it.
    Remove(Ticket),
    /// It is being edited: it is not said before it is [released](Self::Release).
    Hold(Ticket),
    /// It is no longer being edited. With a draft, that one stands in its place, under its
    /// own ticket.
    Release(Ticket, Option<Draft>),
    /// Put one before another, or at the end.
    Move {
        /// The one that moves.
        ticket: Ticket,
        /// The one that it stands before then; none for the end.
        before: Option<Ticket>,
    },
    /// Let one steer the turn, or wait for its end.
    SetDelivery(Ticket, Delivery),
    /// Go on saying what waits, after a stop.
    Resume,
}

/// When something that waits is said.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Delivery {
    /// When the turn is over.
    #[default]
    Next,
    /// In the turn that goes on, between two replies of the model.
    Steer,
}

/// What the user wrote.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draft {
    /// Its name.
    pub ticket: Ticket,
    /// The name that it is kept under while it is written, so that nothing is kept twice;
    /// empty when it is not kept.
    pub key: Arc<str>,
    /// The words.
    pub text: Arc<str>,
    /// What goes with them.
    pub attachments: Vec<Attachment>,
}

impl Draft {
    /// Words alone.
    #[must_use]
    pub fn text(ticket: Ticket, text: impl Into<Arc<str>>) -> Self {
        Self { ticket, text: text.into(), ..Self::default() }
    }

    /// True when it says nothing.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        self.text.trim().is_empty() && self.attachments.iter().all(Attachment::is_blank)
    }
}

/// Something that goes with a prompt.
#[derive(Clone, Debug, PartialEq)]
pub enum Attachment {
    /// A picture.
    Image(Image),
    /// The text of a file.
    Document {
        /// The file's name.
        name: Arc<str>,
        /// What stands in it.
        text: Arc<str>,
    },
}

impl Attachment {
    /// True when there is nothing in it.
    #[must_use]
    pub fn is_blank(&self) -> bool {
        match self {
            Self::Image(_) => false,
            Self::Document { text, .. } => text.trim().is_empty(),
        }
    }
}

/// How much a model should think before it answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ThinkingLevel {
    /// As the provider likes.
    #[default]
    Default,
    /// Not at all, where that can be chosen.
    Off,
    /// A little.
    Low,
    /// Some.
    Medium,
    /// A lot.
    High,
}

impl ThinkingLevel {
    /// The word that most providers use; none for the two that are no amount.
    #[must_use]
    pub fn effort(self) -> Option<&'static str> {
        match self {
            Self::Default | Self::Off => None,
            Self::Low => Some("low"),
            Self::Medium => Some("medium"),
            Self::High => Some("high"),
        }
    }
}
