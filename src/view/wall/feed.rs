//! What the wall must know of each conversation that it may show.

use std::sync::Arc;

use crate::{
    layout::Tone,
    markup::secrets::{Ending, cover},
    model::{
        Source,
        activity::{Link, State},
    },
};

/// A conversation that is followed. It keeps its number for as long as it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FeedId(pub u64);

/// How a state is marked. The shape alone tells it from the others, at any distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    /// A filled circle.
    Disc,
    /// A filled triangle.
    Triangle,
    /// A hollow circle.
    Ring,
    /// A circle of dashes.
    Dashes,
    /// A tick.
    Check,
    /// A cross.
    Cross,
}

/// The colour of a state.
#[must_use]
pub fn tone(state: State) -> Tone {
    match state {
        State::Idle | State::Stale => Tone::Faint,
        State::Done => Tone::Ok,
        State::Working => Tone::Accent,
        State::Error => Tone::Err,
        State::NeedsApproval => Tone::Warn,
    }
}

/// The mark of a state. No two states share one.
#[must_use]
pub fn mark(state: State) -> Mark {
    match state {
        State::Idle => Mark::Ring,
        State::Stale => Mark::Dashes,
        State::Done => Mark::Check,
        State::Working => Mark::Disc,
        State::Error => Mark::Cross,
        State::NeedsApproval => Mark::Triangle,
    }
}

/// What is known of a conversation without showing it.
#[derive(Clone, Debug, PartialEq)]
pub struct Glance {
    /// Which one.
    pub id: FeedId,
    /// What the agent works on, in a word or two; empty when the source does not say.
    pub project: Arc<str>,
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
    /// Whether its source can be reached.
    pub link: Link,
    /// When the state will be another although nothing happens, in milliseconds since 1970.
    pub changes_ms: Option<i64>,
}

impl Glance {
    /// Covers keys, tokens and passwords in what is said about it.
    pub(super) fn cover(&mut self) {
        for words in [&mut self.title, &mut self.project, &mut self.headline] {
            if let Some(covered) = cover(words, Ending::Final) {
                *words = covered.into();
            }
        }
        if let Link::Lost { why, .. } = &mut self.link
            && let Some(covered) = cover(why, Ending::Final)
        {
            *why = covered.into();
        }
    }
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
