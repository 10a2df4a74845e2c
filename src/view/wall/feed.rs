//! What the wall must know of each conversation that it may show.

use std::sync::Arc;

use crate::{
    layout::{Tone, icon},
    model::Source,
};

/// A conversation that is followed. It keeps its number for as long as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FeedId(pub u64);

/// Where a conversation stands, in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(missing_docs, reason = "the words are the documentation")]
pub enum State {
    Idle,
    Stale,
    Done,
    Working,
    Error,
    NeedsApproval,
}

/// How a state is marked. The shape alone tells it from the others, at any distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A filled circle.
    Disc,
    /// A filled triangle.
    Triangle,
    /// A hollow circle.
    Ring,
    /// An icon.
    Icon(char),
}

impl State {
    /// Every state, the most urgent first.
    pub const ALL: [Self; 6] =
        [Self::NeedsApproval, Self::Error, Self::Working, Self::Done, Self::Stale, Self::Idle];

    /// The word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Stale => "stale",
            Self::Done => "done",
            Self::Working => "working",
            Self::Error => "error",
            Self::NeedsApproval => "needs approval",
        }
    }

    /// The colour.
    #[must_use]
    pub fn tone(self) -> Tone {
        match self {
            Self::Idle | Self::Stale => Tone::Faint,
            Self::Done => Tone::Ok,
            Self::Working => Tone::Accent,
            Self::Error => Tone::Err,
            Self::NeedsApproval => Tone::Warn,
        }
    }

    /// The mark.
    #[must_use]
    pub fn mark(self) -> Mark {
        match self {
            Self::Idle => Mark::Ring,
            Self::Stale => Mark::Icon(icon::CIRCLE_DASHED),
            Self::Done => Mark::Icon(icon::CHECK),
            Self::Working => Mark::Disc,
            Self::Error => Mark::Icon(icon::X),
            Self::NeedsApproval => Mark::Triangle,
        }
    }

    /// Someone should come and look.
    #[must_use]
    pub fn is_urgent(self) -> bool {
        matches!(self, Self::Error | Self::NeedsApproval)
    }
}

/// What is known of a conversation without showing it.
#[derive(Clone, Debug, PartialEq)]
pub struct Glance {
    /// Which one.
    pub id: FeedId,
    /// Its title, in one line.
    pub title: Arc<str>,
    /// The model that spoke last; empty when the source does not say.
    pub model: Arc<str>,
    /// Where it stands.
    pub state: State,
    /// When its last event was, in milliseconds since 1970; 0 when the source has no times.
    pub last_event_ms: i64,
    /// The one thing to know from across the room: the error, or what waits for approval.
    pub headline: Arc<str>,
    /// Since when and why nothing comes from its source any more.
    pub lost: Option<Lost>,
}

/// A source that cannot be reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// In milliseconds since 1970.
    pub since_ms: i64,
    /// In words.
    pub why: Arc<str>,
}

/// The conversations that a wall shows. No call waits.
pub trait Feeds {
    /// Takes in what arrived. The number changes when any [`Glance`] may have.
    fn poll(&mut self) -> u64;
    /// All conversations in the order in which they joined.
    fn glances(&mut self, now_ms: i64) -> Vec<Glance>;
    /// The messages of one.
    fn source(&mut self, id: FeedId) -> Option<&mut dyn Source>;
    /// What is watched, in words: folders, files, hosts.
    fn watching(&self) -> Vec<String>;
}
