//! Saying something else, having it answered anew, and going back to what was there: all of
//! it is a matter of which message is the last. Nothing is ever overwritten.

use std::sync::Arc;

use super::{Actor, Stop, now};
use crate::{
    engine::live::tree::{NodeKind, Place},
    model::{
        Draft, MessageId, Phase,
        record::{self, Kind},
    },
    store::Sync,
};

impl Actor {
    /// Lets a message be the last.
    fn go_to(&mut self, tip: Option<Place>) {
        self.talk.go_to(tip);
        self.keeper.go_to(&self.talk);
    }

    pub(super) async fn edit_last(&mut self, draft: &Arc<Draft>) -> Result<bool, Stop> {
        match self.talk.last_prompt() {
            Some(prompt) => self.say_instead(prompt, draft).await,
            None => self.accept(draft, None).await,
        }
    }

    pub(super) async fn edit(
        &mut self,
        message: MessageId,
        draft: &Arc<Draft>,
    ) -> Result<bool, Stop> {
        let tree = self.talk.tree();
        let place = tree.place_of(message);
        match place.filter(|place| tree.kind(*place) == NodeKind::Prompt) {
            Some(prompt) => self.say_instead(prompt, draft).await,
            // What is not there cannot be replaced, and what was written is not lost.
            None => self.accept(draft, None).await,
        }
    }

    async fn say_instead(&mut self, prompt: Place, draft: &Arc<Draft>) -> Result<bool, Stop> {
        if let Some(refusal) = self.refusal(draft) {
            self.refuse(draft, refusal);
            return Ok(false);
        }
        let left = self.talk.tip();
        let (parent, key) = (self.talk.tree().parent(prompt), self.talk.tree().key(prompt));
        self.go_to(parent);
        let said = self.accept(draft, Some(key)).await;
        if said.is_err() && self.talk.tip() == parent {
            // It did not come to that.
            self.go_to(left);
        }
        said
    }

    /// Has the last prompt answered anew. True when there is one.
    pub(super) fn retry(&mut self) -> bool {
        self.answer_anew(self.talk.last_prompt())
    }

    /// Has the prompt before a message answered anew. True when there is one.
    pub(super) fn regenerate(&mut self, message: MessageId) -> bool {
        let tree = self.talk.tree();
        self.answer_anew(tree.prompt_at(tree.place_of(message)))
    }

    fn answer_anew(&mut self, prompt: Option<Place>) -> bool {
        if prompt.is_none() || self.keeper.is_read_only() {
            return false;
        }
        self.go_to(prompt);
        self.phase = Phase::Waiting { since: now() };
        true
    }

    /// Goes to the branch that a message stands on.
    pub(super) async fn choose(&mut self, message: MessageId) -> Result<(), Stop> {
        let Some(place) = self.talk.tree().place_of(message) else { return Ok(()) };
        let end = self.talk.tree().end_of(place);
        if self.keeper.is_read_only() || self.talk.tip() == Some(end) {
            return Ok(());
        }
        if self.keeper.writes() {
            let key = self.talk.tree().key(end);
            let body = |_: &mut dyn FnMut(&[u8]) -> String| record::branch(Some(&key));
            let (spot, _) = self.place(Kind::Branch, body, Sync::Now).await?;
            self.go_to(Some(end));
            self.talk.mark(spot);
        } else {
            self.go_to(Some(end));
        }
        Ok(())
    }
}
