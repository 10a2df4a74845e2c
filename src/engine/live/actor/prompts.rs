//! What the user says: taken, refused, or kept waiting.

use std::sync::Arc;

use super::{
    Actor, Stop, now,
    queue::{Changed, Moment},
};
use crate::{
    engine::live::talk,
    model::{
        Delivery, Draft, Fate, NoticeKind, Phase, QueueChange, Queued, Receipt, Refusal, Ticket,
        record::{self, Kind},
    },
    store::Sync,
};

/// Fates that are remembered.
const RECEIPTS: usize = 32;

impl Actor {
    /// Says something, in the place of another message if there is one. It is on the disk
    /// when this returns, or the snapshot says that it is not. True when it has to be
    /// answered.
    pub(super) async fn accept(
        &mut self,
        draft: &Arc<Draft>,
        replaces: Option<Arc<str>>,
    ) -> Result<bool, Stop> {
        if let Some(refusal) = self.refusal(draft) {
            self.refuse(draft, refusal);
            return Ok(false);
        }
        // From here on it will be answered: no snapshot says that nothing goes on.
        self.phase = Phase::Waiting { since: now() };
        let message = talk::prompt(draft, (self.shared.clock)());
        let kind = if replaces.is_some() { Kind::Edit } else { Kind::User };
        let body = |blob: &mut dyn FnMut(&[u8]) -> String| {
            let mut body = record::encode_message(&message, &[], blob);
            if !draft.key.is_empty() {
                body["draft"] = (*draft.key).into();
            }
            if let Some(replaces) = &replaces {
                body["replaces"] = (**replaces).into();
            }
            body
        };
        let (spot, slip) = match self.place(kind, body, Sync::Now).await {
            Ok(placed) => placed,
            Err(stop) => {
                self.keep_waiting(draft);
                return Err(stop);
            }
        };
        let waited = self.settled(slip).await;
        let id = self.talk.push(message, spot);
        match slip.filter(|slip| !self.keeper.is_settled(*slip)) {
            Some(slip) => self.keeper.promised.push_back((slip, draft.ticket, id)),
            None => self.tell(draft.ticket, Fate::Accepted(id)),
        }
        self.phase = Phase::Waiting { since: now() };
        waited.map(|()| true)
    }

    /// It was stopped before it had a place: it waits with the others.
    fn keep_waiting(&mut self, draft: &Arc<Draft>) {
        let draft = Arc::clone(draft);
        self.tell(draft.ticket, Fate::Queued);
        self.queue.put_back([Queued { draft, delivery: Delivery::Next, is_held: false }]);
    }

    /// A word of ours.
    pub(super) async fn say(&mut self, kind: NoticeKind, words: &str) -> Result<(), Stop> {
        let message = talk::notice(kind, words, (self.shared.clock)());
        let body =
            |blob: &mut dyn FnMut(&[u8]) -> String| record::encode_message(&message, &[], blob);
        let (spot, _) = self.place(Kind::Error, body, Sync::Now).await?;
        self.talk.push(message, spot);
        Ok(())
    }

    pub(super) fn refusal(&self, draft: &Draft) -> Option<Refusal> {
        let is_known = self.shared.provider(&self.settings.provider).is_some();
        if self.keeper.is_read_only() {
            Some(Refusal::ReadOnly)
        } else if draft.is_blank() {
            Some(Refusal::Blank)
        } else {
            (!is_known).then_some(Refusal::UnknownProvider)
        }
    }

    pub(super) fn enqueue(&mut self, draft: &Arc<Draft>, delivery: Delivery) {
        let waits = match self.refusal(draft) {
            Some(refusal) => Err(refusal),
            None => self.queue.push(Arc::clone(draft), delivery),
        };
        match waits {
            Err(refusal) => self.refuse(draft, refusal),
            Ok(()) => self.tell(draft.ticket, Fate::Queued),
        }
    }

    pub(super) fn change_queue(&mut self, change: QueueChange) {
        match self.queue.change(change) {
            Changed::Nothing => {}
            Changed::Back(draft, refusal) => self.refuse(&draft, refusal),
            Changed::Waits(draft) => self.tell(draft.ticket, Fate::Queued),
        }
    }

    /// Says what waited. True if there was anything.
    pub(super) async fn take_queued(&mut self, moment: Moment) -> Result<bool, Stop> {
        let mut due = self.queue.take(moment).into_iter();
        let mut has_said = false;
        while let Some(queued) = due.next() {
            match self.accept(&queued.draft, None).await {
                Ok(is_said) => has_said |= is_said,
                Err(stop) => {
                    self.queue.put_back(due);
                    return Err(stop);
                }
            }
        }
        self.publish();
        Ok(has_said)
    }

    pub(super) fn refuse(&mut self, draft: &Arc<Draft>, refusal: Refusal) {
        self.tell(draft.ticket, Fate::Refused(refusal, Arc::clone(draft)));
    }

    pub(super) fn tell(&mut self, ticket: Ticket, fate: Fate) {
        if self.receipts.len() >= RECEIPTS {
            self.receipts.pop_front();
        }
        self.receipts.push_back(Receipt { ticket, fate });
    }
}
