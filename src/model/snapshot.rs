//! A running conversation as it stands at one moment.

use std::{path::PathBuf, sync::Arc, time::Instant};

use super::{
    approval::{Approval, CallGrammar, ToolUse},
    command::{Delivery, Draft, ThinkingLevel, Ticket},
    id::MessageId,
    list::List,
    message::{Message, Usage},
    source::{Grouping, RowInfo},
    stream::{Echo, EndState, RateWindow, StreamWarning},
};

/// A running conversation as it stands at one moment. It never changes: what happens next
/// is in the next one, which shares with it all that stayed the same.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// Grows with every snapshot of the conversation.
    pub version: u64,
    /// Messages that are complete, oldest first.
    pub entries: List<Entry>,
    /// The message that is arriving, once there is something of it to show. It moves to the
    /// end of `entries`, under the same id, in the snapshot that shows it complete.
    pub arriving: Option<Entry>,
    /// What is going on.
    pub phase: Phase,
    /// How the last turn ended; none before the first, and while one is going on.
    pub end: Option<Arc<EndState>>,
    /// What was met and survived in the last turn.
    pub warnings: Arc<[StreamWarning]>,
    /// What the provider still allows, when it last said so.
    pub allowance: Arc<[RateWindow]>,
    /// Tokens and cost of all replies, also of those that were put aside.
    pub usage: Usage,
    /// What answers the next prompt.
    pub settings: Settings,
    /// When the call that runs was started; only of use while one does.
    pub running_since: Option<Instant>,
    /// The call that waits for the user's word.
    pub question: Option<Arc<Approval>>,
    /// What waits to be said.
    pub queued: Arc<[Queued]>,
    /// The queue rests, because the turn was stopped: nothing of it is said before
    /// [`QueueChange::Resume`](super::QueueChange::Resume) or the next prompt.
    pub is_queue_paused: bool,
    /// Whether it survives the end of the program.
    pub keeping: Keeping,
    /// What stands before `entries` and is only in the log; none for a conversation that is
    /// wholly in memory.
    pub base: Option<Arc<Base>>,
    /// Where the path that is shown parts from others, by rising ids.
    pub forks: Arc<[Fork]>,
    /// The fate of what the user wrote last, oldest first.
    pub receipts: Arc<[Receipt]>,
    /// What was put aside by answering a prompt anew or editing it, oldest first.
    pub aside: List<Aside>,
}

/// A message and what the engine knows about it.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The message.
    pub message: Arc<Message>,
    /// Its row.
    pub row: RowInfo,
    /// The state of grouping behind it.
    pub grouping: Grouping,
    /// Names its parts while it arrives: a number each, which a part keeps when another one
    /// appears before it. Empty for messages that came whole.
    pub keys: Arc<[u32]>,
    /// What its provider wants back of it, by the index of the part it belongs to.
    pub echoes: Arc<[(usize, Echo)]>,
}

/// Something that waits to be said.
#[derive(Clone, Debug, PartialEq)]
pub struct Queued {
    /// What is said.
    pub draft: Arc<Draft>,
    /// When.
    pub delivery: Delivery,
    /// It is being edited, and not said before that is over.
    pub is_held: bool,
}

/// Whether a conversation survives the end of the program.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Keeping {
    /// Nobody wants it kept.
    #[default]
    Nowhere,
    /// All that is shown as complete is on the disk.
    Kept,
    /// It is being written. Worth a word when it takes longer than a quarter of a second.
    Saving {
        /// Since when.
        since: Instant,
    },
    /// It could not be written, and is in memory alone: why, in one sentence.
    Unsaved(Arc<str>),
    /// Somebody else writes it, or it may not be written: why, in one sentence. Nothing can
    /// be said in it.
    ReadOnly(Arc<str>),
}

/// The part of a conversation that stands in its log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Base {
    /// The log.
    pub path: PathBuf,
    /// How much of the log belongs to it, in bytes.
    pub len: u64,
    /// The message that ends it, as the log names it; none for the newest.
    pub leaf: Option<Arc<str>>,
}

/// A place where several branches begin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fork {
    /// The message of the shown path that stands there.
    pub message: MessageId,
    /// All messages that stand there, in the order in which they were said.
    pub siblings: Arc<[MessageId]>,
    /// Which of them is `message`, counted from 0.
    pub at: usize,
}

/// What is going on in a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// Nothing.
    #[default]
    Idle,
    /// A request was sent and nothing to show has come.
    Waiting {
        /// When it was sent.
        since: Instant,
    },
    /// The reply is arriving.
    Streaming,
    /// The reply is there, and its calls are being run.
    Working {
        /// When it was there.
        since: Instant,
    },
    /// A call waits for the user's word.
    Asking {
        /// Since when.
        since: Instant,
    },
    /// The reply was arriving, and then no byte came for a while.
    Stalled {
        /// When the last one came.
        since: Instant,
    },
    /// The request failed before anything came, and will be sent again.
    Retrying {
        /// Which attempt that will be; the first one was 1.
        attempt: u32,
        /// How many are made at most.
        of: u32,
        /// When.
        until: Instant,
    },
}

impl Phase {
    /// True while something is going on that can be stopped.
    #[must_use]
    pub fn is_busy(self) -> bool {
        self != Self::Idle
    }
}

/// What answers a prompt, and how.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The provider's name.
    pub provider: Arc<str>,
    /// The model, by its provider's name for it.
    pub model: Arc<str>,
    /// The provider plays recordings, which has to be said on screen.
    pub is_demo: bool,
    /// What the model is told about its task.
    pub system: Option<Arc<str>>,
    /// How much it should think.
    pub thinking: ThinkingLevel,
    /// Tokens a reply may have; none leaves it to the provider.
    pub max_tokens: Option<u32>,
    /// What it may do with tools.
    pub tools: ToolUse,
    /// How it calls them.
    pub calls: CallGrammar,
    /// The folder that its tools work in, for people.
    pub workspace: Option<Arc<str>>,
}

/// What became of something that the user wrote.
#[derive(Clone, Debug, PartialEq)]
pub struct Receipt {
    /// What it is about.
    pub ticket: Ticket,
    /// What became of it.
    pub fate: Fate,
}

/// What became of something that the user wrote.
#[derive(Clone, Debug, PartialEq)]
pub enum Fate {
    /// It waits for its turn, and is among [`Snapshot::queued`].
    Queued,
    /// It is this message.
    Accepted(MessageId),
    /// It was not taken, and goes back to the one who wrote it.
    Refused(Refusal, Arc<Draft>),
}

/// Why something that the user wrote was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Refusal {
    /// It says nothing.
    Blank,
    /// Too much waits already.
    QueueFull,
    /// The provider that should answer is not known.
    UnknownProvider,
    /// It was taken out of the queue.
    Removed,
    /// Nothing can be said in the conversation here: see [`Keeping::ReadOnly`].
    ReadOnly,
}

impl Refusal {
    /// One sentence for the user.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::Blank => "There is nothing to send.",
            Self::QueueFull => "Too many messages wait to be sent.",
            Self::UnknownProvider => "The chosen provider is not set up.",
            Self::Removed => "It was taken out of the queue.",
            Self::ReadOnly => "This conversation can only be read here.",
        }
    }
}

/// Messages that no longer stand in the conversation.
#[derive(Clone, Debug)]
pub struct Aside {
    /// The message they followed; none if they stood at the beginning.
    pub after: Option<MessageId>,
    /// The messages.
    pub entries: List<Entry>,
}

impl Snapshot {
    /// How many messages there are, the one that is arriving included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len() + usize::from(self.arriving.is_some())
    }

    /// True when there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The message at a place.
    #[must_use]
    pub fn entry(&self, index: usize) -> Option<&Entry> {
        match self.entries.get(index) {
            Some(entry) => Some(entry),
            None => self.arriving.as_ref().filter(|_| index == self.entries.len()),
        }
    }

    /// Where a message stands. Ids only grow, so this looks at few of them.
    #[must_use]
    pub fn index_of(&self, id: MessageId) -> Option<usize> {
        let index = self.entries.partition_point(|entry| entry.message.id < id);
        self.entry(index).is_some_and(|entry| entry.message.id == id).then_some(index)
    }

    /// All messages in order, each once.
    pub fn messages(&self) -> impl DoubleEndedIterator<Item = &Arc<Message>> {
        self.entries.iter().chain(&self.arriving).map(|entry| &entry.message)
    }

    /// What became of something that the user wrote; none while that is not known, and
    /// after much else was written.
    #[must_use]
    pub fn fate(&self, ticket: Ticket) -> Option<&Fate> {
        self.receipts.iter().rev().find(|receipt| receipt.ticket == ticket).map(|r| &r.fate)
    }
}
