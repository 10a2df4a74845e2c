//! Where a conversation is to be shown, once so much of it is known.

use std::time::{Duration, Instant};

use crate::{
    engine::find::Needle,
    layout::Anchor,
    model::{MessageId, Progress, Source},
    view::TranscriptView,
};

/// The page stays empty for so long at most, instead of showing another place first.
const PATIENCE: Duration = Duration::from_millis(400);

/// Where a conversation is to be shown.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Goal {
    aim: Aim,
    since: Instant,
}

#[derive(Clone, Debug, PartialEq)]
enum Aim {
    /// Where the reader was.
    Place(Anchor),
    /// A message, and what was looked for in it.
    Message(MessageId, String),
}

impl Goal {
    /// Where the reader was.
    pub(super) fn place(anchor: Anchor, now: Instant) -> Self {
        Self { aim: Aim::Place(anchor), since: now }
    }

    /// A message, and what was looked for in it.
    pub(super) fn message(message: MessageId, words: String, now: Instant) -> Self {
        Self { aim: Aim::Message(message, words), since: now }
    }

    /// The message that has to be known.
    pub(super) fn id(&self) -> MessageId {
        match &self.aim {
            Aim::Place(anchor) => anchor.message,
            Aim::Message(message, _) => *message,
        }
    }

    /// Goes there, if so much is known. True while the page is better left empty.
    pub(super) fn pursue(
        goal: &mut Option<Self>,
        view: &mut TranscriptView,
        source: &mut dyn Source,
        now: Instant,
    ) -> bool {
        let Some(this) = goal else { return false };
        source.poll();
        let is_known = source.index_of(this.id());
        let Self { aim, since } = this;
        if is_known.is_none() {
            let is_hopeless = source.progress() == Progress::Complete && !source.is_empty();
            if is_hopeless {
                *goal = None;
                return false;
            }
            return now.saturating_duration_since(*since) < PATIENCE;
        }
        match aim {
            Aim::Place(anchor) => view.return_to(*anchor),
            Aim::Message(message, words) => {
                view.go_to(*message);
                if !words.is_empty() {
                    view.find(Needle { text: words.clone(), ..Needle::default() });
                }
            }
        }
        *goal = None;
        false
    }
}
