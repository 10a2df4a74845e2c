//! What waits to be said.

use std::{collections::VecDeque, sync::Arc};

use crate::model::{Delivery, Draft, QueueChange, Queued, Refusal, Ticket};

/// Prompts that may wait while a turn goes on.
const ROOM: usize = 16;

/// What waits to be said, in the order of saying.
#[derive(Debug, Default)]
pub(super) struct Queue {
    waiting: VecDeque<Queued>,
    /// Nothing is said before the user wants it.
    is_paused: bool,
}

/// When something of the queue is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    /// Between two replies of a turn.
    Between,
    /// When the turn is over.
    Over,
}

/// What a change of the queue made of a draft.
#[derive(Debug, PartialEq)]
pub(super) enum Changed {
    /// Nothing that anybody has to be told.
    Nothing,
    /// It goes back to its writer.
    Back(Arc<Draft>, Refusal),
    /// It waits now.
    Waits(Arc<Draft>),
}

impl Queue {
    pub(super) fn push(&mut self, draft: Arc<Draft>, delivery: Delivery) -> Result<(), Refusal> {
        if self.waiting.len() >= ROOM {
            return Err(Refusal::QueueFull);
        }
        self.waiting.push_back(Queued { draft, delivery, is_held: false });
        Ok(())
    }

    /// Puts back what was taken and could not be said, before all that waits.
    pub(super) fn put_back<I>(&mut self, queued: I)
    where
        I: IntoIterator<Item = Queued, IntoIter: DoubleEndedIterator>,
    {
        for queued in queued.into_iter().rev() {
            self.waiting.push_front(queued);
        }
    }

    /// What is said now. What steers goes first; what is being edited stays, and holds up
    /// nothing.
    pub(super) fn take(&mut self, moment: Moment) -> Vec<Queued> {
        if self.is_paused {
            return Vec::new();
        }
        let is_due = |queued: &Queued| {
            !queued.is_held && (moment == Moment::Over || queued.delivery == Delivery::Steer)
        };
        let waiting = std::mem::take(&mut self.waiting).into_iter();
        let (mut due, stay): (Vec<_>, Vec<_>) = waiting.partition(is_due);
        self.waiting = stay.into();
        due.sort_by_key(|queued| queued.delivery != Delivery::Steer);
        due
    }

    /// True when something would be said if the turn were over.
    pub(super) fn is_due(&self) -> bool {
        !self.is_paused && self.waiting.iter().any(|queued| !queued.is_held)
    }

    pub(super) fn pause(&mut self) {
        self.is_paused = true;
    }

    pub(super) fn resume(&mut self) {
        self.is_paused = false;
    }

    /// A queue of which nothing waits does not rest.
    pub(super) fn is_paused(&self) -> bool {
        self.is_paused && !self.waiting.is_empty()
    }

    pub(super) fn shown(&self) -> Arc<[Queued]> {
        self.waiting.iter().cloned().collect()
    }

    /// Changes something. What is not there is let pass: it was said meanwhile.
    pub(super) fn change(&mut self, change: QueueChange) -> Changed {
        match change {
            QueueChange::Remove(ticket) => {
                let place = self.place(ticket);
                let removed = place.and_then(|place| self.waiting.remove(place));
                removed.map_or(Changed::Nothing, |q| Changed::Back(q.draft, Refusal::Removed))
            }
            QueueChange::Hold(ticket) => {
                self.with(ticket, |queued| queued.is_held = true);
                Changed::Nothing
            }
            QueueChange::Release(ticket, draft) => self.release(ticket, draft),
            QueueChange::Move { ticket, before } => {
                self.shift(ticket, before);
                Changed::Nothing
            }
            QueueChange::SetDelivery(ticket, delivery) => {
                self.with(ticket, |queued| queued.delivery = delivery);
                Changed::Nothing
            }
            QueueChange::Resume => {
                self.resume();
                Changed::Nothing
            }
        }
    }

    fn release(&mut self, ticket: Ticket, draft: Option<Draft>) -> Changed {
        let draft = draft.map(Arc::new);
        let Some(place) = self.place(ticket) else {
            // It is gone, and what was made of it is not lost.
            return draft.map_or(Changed::Nothing, |draft| Changed::Back(draft, Refusal::Removed));
        };
        let Some(queued) = self.waiting.get_mut(place) else { return Changed::Nothing };
        queued.is_held = false;
        match draft {
            Some(draft) if draft.is_blank() => Changed::Back(draft, Refusal::Blank),
            Some(draft) => {
                queued.draft = Arc::clone(&draft);
                Changed::Waits(draft)
            }
            None => Changed::Nothing,
        }
    }

    fn shift(&mut self, ticket: Ticket, before: Option<Ticket>) {
        if before == Some(ticket) {
            return;
        }
        let Some(place) = self.place(ticket) else { return };
        let Some(queued) = self.waiting.remove(place) else { return };
        let to = before.and_then(|before| self.place(before)).unwrap_or(self.waiting.len());
        self.waiting.insert(to, queued);
    }

    fn with(&mut self, ticket: Ticket, change: impl FnOnce(&mut Queued)) {
        let place = self.place(ticket);
        if let Some(queued) = place.and_then(|place| self.waiting.get_mut(place)) {
            change(queued);
        }
    }

    fn place(&self, ticket: Ticket) -> Option<usize> {
        self.waiting.iter().position(|queued| queued.draft.ticket == ticket)
    }
}
