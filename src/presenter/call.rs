//! What happens to a call: the gates before it runs, and its answer.

use std::{sync::Arc, time::Instant};

use serde_json::Value;

use super::{
    block::{Block, Body, CallBlock},
    cursor::{Checkpoint, Spent, Step, Work},
    effect::{Answer, Call, CallForm, Effect, Feedback, Flaw, NoteKind, Outcome, Reply, Task},
    machine::{CHECKPOINT_LIMIT, Presenter},
    repeats::Repetition,
    setup::{Planning, ToolMode, Touch},
    words,
};
use crate::{
    markup::Arrival,
    model::{Output, StopReason, ToolResult, ToolState, stream::EndState},
};

/// Why a call is answered without being run.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Refusal {
    UnknownTool,
    /// The user rejected it.
    Denied,
    /// The user rejected an earlier one.
    Skipped(Arrival),
    /// An earlier one ran, and only one may.
    AlreadyUsed,
    PlanMode,
    Flaw(Flaw),
}

impl Presenter {
    /// Takes a call as far as it can go now.
    pub(super) fn present_call(&mut self, index: usize, now: Instant) -> Step {
        let Some((call, arrival)) = self.call(index) else { return Step::Done };
        if call.is_answered {
            return Step::Done;
        }
        if let Some(refusal) = self.refusal(call, arrival) {
            self.refuse(index, &refusal, arrival);
            return Step::Done;
        }
        if self.checkpoint == Checkpoint::Expected && self.touch(&call.name) != Touch::Nothing {
            let until = now + CHECKPOINT_LIMIT;
            return self.start(index, Work::AwaitCheckpoint { until }, Task::AwaitCheckpoint);
        }
        match &call.verdict {
            Some(Ok(call)) => {
                let call = Arc::clone(call);
                self.start(index, Work::Approve(Arc::clone(&call)), Task::Approve(call))
            }
            Some(Err(_)) | None => {
                let view = call.view(self.block_id(index), arrival);
                self.start(index, Work::ShowCall, Task::ShowCall(view))
            }
        }
    }

    pub(super) fn showed_call(&mut self, outcome: Outcome) -> Step {
        if let Outcome::Failed(why) = outcome {
            self.note(self.cursor.index, NoteKind::Failed, &why);
        }
        Step::Done
    }

    /// The checkpoint is there, or will never be: either way nothing waits for it again.
    pub(super) fn checkpoint_is_there(&mut self, outcome: Outcome) -> Step {
        self.checkpoint = Checkpoint::NotExpected;
        if let Outcome::Failed(why) = outcome {
            let text = words::no_checkpoint(&why);
            self.note(self.cursor.index, NoteKind::NoCheckpoint, &text);
        }
        Step::Again
    }

    pub(super) fn decided(&mut self, call: &Arc<Call>, outcome: Outcome) -> Step {
        match outcome {
            Outcome::Approved { feedback } => {
                self.hear(feedback);
                let call = Arc::clone(call);
                self.start(self.cursor.index, Work::Run(Arc::clone(&call)), Task::Run(call))
            }
            Outcome::Rejected { feedback } => self.reject(feedback),
            Outcome::Failed(why) => self.fail(&why),
            Outcome::Done | Outcome::Finished(_) => self.fail(words::NO_DECISION),
        }
    }

    pub(super) fn ran(&mut self, call: &Arc<Call>, outcome: Outcome) -> Step {
        match outcome {
            Outcome::Finished(result) => {
                let state = if result.is_error { ToolState::Error } else { ToolState::Ok };
                self.answer(self.cursor.index, state, result);
                self.count(call);
                Step::Done
            }
            Outcome::Rejected { feedback } => self.reject(feedback),
            Outcome::Failed(why) => self.fail(&why),
            Outcome::Done | Outcome::Approved { .. } => self.fail(words::NO_RESULT),
        }
    }

    fn call(&self, index: usize) -> Option<(&CallBlock, Arrival)> {
        match self.intake.list.get(index)? {
            Block { body: Body::Call(call), arrival, .. } => Some((call, *arrival)),
            Block { body: Body::Prose(_) | Body::Apart, .. } => None,
        }
    }

    /// A tool that is not known may touch anything.
    fn touch(&self, tool: &str) -> Touch {
        self.setup.tools.get(tool).copied().unwrap_or(Touch::Anything)
    }

    /// Why a call will not run, if that is known by now.
    fn refusal(&self, call: &CallBlock, arrival: Arrival) -> Option<Refusal> {
        let is_complete = arrival == Arrival::Complete;
        if is_complete && !self.setup.tools.contains_key(&call.name) {
            return Some(Refusal::UnknownTool);
        }
        if self.cursor.spent == Spent::Rejected {
            return Some(Refusal::Skipped(arrival));
        }
        if self.is_spent() {
            return Some(Refusal::AlreadyUsed);
        }
        if self.setup.planning == Planning::Strict && self.touch(&call.name) == Touch::Files {
            return Some(Refusal::PlanMode);
        }
        match &call.verdict {
            Some(Err(flaw)) => Some(Refusal::Flaw(flaw.clone())),
            Some(Ok(_)) | None => None,
        }
    }

    fn refuse(&mut self, index: usize, refusal: &Refusal, arrival: Arrival) {
        let text = words::refused(refusal);
        if let Some(kind) = refusal.note() {
            self.note(index, kind, &text);
        }
        // A call that is still arriving may not be answered for good before it is complete,
        // unless the cursor leaves it behind.
        if arrival == Arrival::Complete || self.is_spent() {
            self.answer_in_words(index, refusal.state(), &text);
        }
    }

    fn reject(&mut self, feedback: Option<Feedback>) -> Step {
        self.cursor.spent = Spent::Rejected;
        self.hear(feedback);
        self.refuse(self.cursor.index, &Refusal::Denied, Arrival::Complete);
        Step::Done
    }

    fn fail(&mut self, why: &str) -> Step {
        self.note(self.cursor.index, NoteKind::Failed, why);
        self.answer_in_words(self.cursor.index, ToolState::Error, why);
        Step::Done
    }

    fn hear(&mut self, feedback: Option<Feedback>) {
        let Some(feedback) = feedback else { return };
        let block = self.block_id(self.cursor.index);
        self.replies.push(Reply::Feedback(feedback.clone()));
        self.out.push(Effect::Feedback { block, feedback });
    }

    fn answer_in_words(&mut self, index: usize, state: ToolState, text: &str) {
        let Some((call, _)) = self.call(index) else { return };
        let result = ToolResult {
            call_id: Arc::clone(&call.id),
            tool_name: Arc::clone(&call.name),
            is_error: true,
            output: Output::plain(text),
            told: None,
            images: Vec::new(),
            details: Value::Null,
        };
        self.answer(index, state, Arc::new(result));
    }

    /// Ends a call for good.
    fn answer(&mut self, index: usize, state: ToolState, result: Arc<ToolResult>) {
        let block = self.block_id(index);
        let Some(Body::Call(call)) = self.intake.list.get_mut(index).map(|block| &mut block.body)
        else {
            return;
        };
        call.is_answered = true;
        let (call_id, form) = (Arc::clone(&call.id), call.form());
        let text = words::answer(form, &call.name, &result);
        if form == CallForm::Native && self.has_result(&call_id) {
            self.note(index, NoteKind::DuplicateAnswer, words::DUPLICATE_ANSWER);
        } else {
            let (call_id, images) = (Arc::clone(&call_id), result.images.clone());
            let is_error = result.is_error;
            self.replies.push(Reply::Result { call_id, form, text, images, is_error });
        }
        if self.cursor.spent == Spent::No && self.setup.mode == ToolMode::Serial {
            self.cursor.spent = Spent::ToolUsed;
        }
        self.out.push(Effect::Answer(Answer { block, call_id, state, result: Some(result) }));
    }

    fn has_result(&self, id: &str) -> bool {
        self.replies.iter().any(|reply| match reply {
            Reply::Result { call_id, form: CallForm::Native, .. } => **call_id == *id,
            Reply::Result { form: CallForm::Tags, .. } | Reply::Feedback(_) | Reply::Remark(_) => {
                false
            }
        })
    }

    fn count(&mut self, call: &Arc<Call>) {
        let kind = match self.repeats.count(call) {
            Repetition::Fine => return,
            Repetition::Repeating => NoteKind::Repeating,
            Repetition::Stuck => NoteKind::Stuck,
        };
        let text = words::repeats(kind, &call.name);
        self.note(self.cursor.index, kind, &text);
        self.replies.push(Reply::Remark(text.into()));
    }
}

impl Refusal {
    fn state(&self) -> ToolState {
        match self {
            Self::Flaw(Flaw::CutOff(end) | Flaw::NotAllowed(end)) if is_length(end) => {
                ToolState::Truncated
            }
            Self::UnknownTool
            | Self::Denied
            | Self::Skipped(_)
            | Self::AlreadyUsed
            | Self::PlanMode
            | Self::Flaw(_) => ToolState::NotRun,
        }
    }

    /// The remark that goes with it, where the answer alone would be overlooked.
    fn note(&self) -> Option<NoteKind> {
        match self {
            Self::UnknownTool => Some(NoteKind::UnknownTool),
            Self::PlanMode => Some(NoteKind::PlanMode),
            Self::Flaw(Flaw::Arguments(_) | Flaw::Malformed) => Some(NoteKind::BadCall),
            Self::Flaw(Flaw::CutOff(_) | Flaw::NotAllowed(_))
            | Self::Denied
            | Self::Skipped(_)
            | Self::AlreadyUsed => None,
        }
    }
}

fn is_length(end: &EndState) -> bool {
    matches!(end, EndState::Complete { reason: StopReason::Length, .. })
}
