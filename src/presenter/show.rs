//! What the reader is shown: texts, reasoning, pictures, remarks.

use std::sync::Arc;

use super::{
    block::{Block, Body},
    cursor::{Step, Work},
    effect::{Answer, Effect, Note, NoteKind, Outcome, RowKind, Task},
    intake::Apart,
    machine::Presenter,
};
use crate::{markup::Arrival, model::ToolState};

impl Presenter {
    /// Says what is new of a text.
    pub(super) fn say(&mut self, index: usize) -> Step {
        if self.is_spent() {
            let last = self.intake.list.get_mut(index).and_then(Block::say_no_more);
            self.out.extend(last.map(Effect::Row));
            return Step::Done;
        }
        match self.intake.list.get_mut(index).and_then(Block::say) {
            Some(saying) => self.start(index, Work::Say, Task::Say(saying)),
            None => Step::Done,
        }
    }

    /// A row that was to be final has to be: that is asked for once more, without waiting.
    pub(super) fn said(&mut self, outcome: Outcome, arrival: Arrival) -> Step {
        let Outcome::Failed(why) = outcome else { return Step::Done };
        let index = self.cursor.index;
        self.unsay();
        self.note(index, NoteKind::Failed, &why);
        if arrival == Arrival::Complete {
            let again = self.intake.list.get_mut(index).and_then(Block::say);
            self.out.extend(again.map(Effect::Row));
        }
        Step::Done
    }

    /// What was being said did not reach its row for certain: it will be said again.
    pub(super) fn unsay(&mut self) {
        let index = self.cursor.index;
        if let Some(Block { body: Body::Prose(prose), .. }) = self.intake.list.get_mut(index) {
            prose.unsay();
        }
    }

    /// Shows a remark, unless this block has one of the kind.
    pub(super) fn note(&mut self, index: usize, kind: NoteKind, text: &str) {
        let Some(block) = self.intake.list.get(index) else { return };
        if self.noted.insert((block.id, kind)) {
            self.out.push(Effect::Note(Note { block: block.id, kind, text: text.into() }));
        }
    }

    pub(super) fn show_apart(&mut self, apart: Apart) {
        let (Apart::Picture { index, .. } | Apart::Foreign { index, .. }) = apart;
        let Some(&Block { id: block, .. }) = self.intake.list.get(index) else { return };
        self.out.push(match apart {
            Apart::Picture { image, .. } => Effect::Picture { block, image },
            Apart::Foreign { kind, json, .. } => Effect::Foreign { block, kind, json },
        });
    }

    /// Shows reasoning, which waits for nothing, and tells of calls that the cursor does
    /// not show now.
    pub(super) fn show_touched(&mut self) {
        for index in self.intake.list.take_touched() {
            let is_presented = index == self.cursor.index && self.cursor.lock.is_none();
            let Some(block) = self.intake.list.get_mut(index) else { continue };
            match &block.body {
                Body::Prose(prose) if prose.kind == RowKind::Reasoning => {
                    self.out.extend(block.say().map(Effect::Row));
                }
                Body::Call(_) if !is_presented => self.out.push(Effect::CallChanged(block.id)),
                Body::Prose(_) | Body::Call(_) | Body::Apart => {}
            }
        }
    }

    /// Makes all rows final and aborts all calls.
    pub(super) fn settle(&mut self) {
        let (from, is_spent) = (self.cursor.index, self.is_spent());
        for (index, block) in self.intake.list.iter_mut().enumerate() {
            let id = block.id;
            match &mut block.body {
                Body::Prose(prose) => {
                    let is_dropped = index < from || is_spent;
                    let saying = if prose.kind == RowKind::Reasoning || !is_dropped {
                        block.say()
                    } else {
                        block.say_no_more()
                    };
                    self.out.extend(saying.map(Effect::Row));
                }
                Body::Call(call) if !call.is_answered => {
                    call.is_answered = true;
                    let (call_id, state) = (Arc::clone(&call.id), ToolState::Aborted);
                    let answer = Answer { block: id, call_id, state, result: None };
                    self.out.push(Effect::Answer(answer));
                }
                Body::Call(_) | Body::Apart => {}
            }
        }
    }
}
