//! A reply while it arrives: events go into the presenter, and what it asks for is done.

use std::{collections::VecDeque, sync::Arc, time::Instant};

use super::{composition::Composition, provider::Answers};
use crate::{
    model::{
        MessageId, StopReason, ToolState,
        stream::{Close, EndState, StreamEvent},
    },
    presenter::{
        Effect, Outcome, Presenter, Setup, Task,
        pace::{Pace, PaceStep, Priority},
    },
};

/// Bytes of open text that are copied for each frame without a thought.
const COPIED_A_BEAT: usize = 1 << 20;

/// Bytes of text, reasoning and arguments that one reply may have.
const REPLY_LIMIT: usize = 64 << 20;

/// The replies of a conversation, one at a time, while they arrive.
#[derive(Debug)]
pub(super) struct Arrival {
    presenter: Presenter,
    pace: Pace,
    frame: std::time::Duration,
    pub(super) composition: Composition,
    answers: Answers,
    /// Bytes of text, reasoning and arguments that came.
    received: usize,
}

impl Arrival {
    pub(super) fn new(frame: std::time::Duration) -> Self {
        let id = MessageId(0);
        Self {
            presenter: Presenter::new(Setup::default(), id),
            pace: Pace::new(Some(frame)),
            frame,
            composition: Composition::new(id, "".into(), 0),
            answers: Answers::default(),
            received: 0,
        }
    }

    /// Begins a reply. What is left of the one before means nothing any more.
    pub(super) fn begin(&mut self, id: MessageId, composition: Composition, answers: Answers) {
        self.presenter.setup.tools = answers.tools();
        self.answers = answers;
        let _ended = self.presenter.begin(id);
        self.pace.reset();
        self.composition = composition;
        self.received = 0;
    }

    /// Takes an event. True when what is shown should be brought up to date now.
    pub(super) fn feed(&mut self, event: &StreamEvent, now: Instant) -> bool {
        let effects = self.presenter.feed(event);
        self.carry_out(effects, now);
        self.take_apart(event);
        self.received += delta(event).len();
        let steps = match event {
            // A call's arguments may be long, and each look at them costs as much.
            StreamEvent::ToolOpen { .. }
            | StreamEvent::ToolArgs { .. }
            | StreamEvent::Usage(_)
            | StreamEvent::Warning(_) => self.pace.request(Priority::Normal, now),
            event => self.pace.event(event, now),
        };
        self.flush(steps, now)
    }

    /// More came than is kept of one reply.
    pub(super) fn is_too_long(&self) -> bool {
        self.received > REPLY_LIMIT
    }

    /// When to call [`Self::tick`].
    pub(super) fn due(&self) -> Option<Instant> {
        [self.pace.due(), self.presenter.deadline()].into_iter().flatten().min()
    }

    /// True when what is shown should be brought up to date now.
    pub(super) fn tick(&mut self, now: Instant) -> bool {
        let steps = self.pace.tick(now);
        self.flush(steps, now)
    }

    /// Ends the reply, and shows all of it. True when the model waits for the answers to
    /// its calls.
    pub(super) fn end(&mut self, end: &EndState, now: Instant) -> bool {
        let effects = self.presenter.feed(&StreamEvent::End(end.clone()));
        self.carry_out(effects, now);
        self.present(now);
        if !self.presenter.is_over() {
            let effects = self.presenter.abort();
            self.carry_out(effects, now);
        }
        self.pace.reset();
        let has_room = matches!(
            end, EndState::Complete { reason, .. } if *reason != StopReason::Length
        );
        has_room && !self.presenter.replies().is_empty() && self.presenter.interrupt().is_none()
    }

    fn flush(&mut self, steps: Vec<PaceStep>, now: Instant) -> bool {
        let mut steps = VecDeque::from(steps);
        let mut has_shown = false;
        while let Some(step) = steps.pop_front() {
            if let PaceStep::Flush(id) = step {
                self.present(now);
                has_shown = true;
                steps.extend(self.pace.finished(id, Ok(()), now));
            }
        }
        if has_shown {
            // Long texts are shown a little less often, so that copying them stays cheap.
            let share = u32::try_from(self.composition.open_bytes() / COPIED_A_BEAT);
            let beat = self.frame * share.unwrap_or(u32::MAX).saturating_add(1).min(60);
            let begun = self.pace.set_beat(beat, now);
            has_shown |= !begun.is_empty() && self.flush(begun, now);
        }
        has_shown
    }

    fn present(&mut self, now: Instant) {
        for ordinal in self.composition.take_stale_calls() {
            let view = self.presenter.call_view(self.block(ordinal));
            if let Some(view) = view {
                self.composition.show_call(view);
            }
        }
        let effects = self.presenter.wake(now);
        self.carry_out(effects, now);
    }

    fn block(&self, ordinal: u32) -> crate::presenter::BlockId {
        crate::presenter::BlockId { message: self.composition.id(), ordinal }
    }

    /// Takes what the presenter has no use for.
    fn take_apart(&mut self, event: &StreamEvent) {
        match event {
            StreamEvent::Started { model: Some(model), .. } => {
                self.composition.model = Arc::clone(model);
            }
            StreamEvent::Opaque { block, echo } => {
                if let Some(block) = self.presenter.block_of(*block) {
                    self.composition.echo(block.ordinal, echo.clone());
                }
            }
            StreamEvent::BlockClose { block, close: Close::Arguments(Ok(arguments)) } => {
                let Some(block) = self.presenter.block_of(*block) else { return };
                if let Some(view) = self.presenter.call_view(block) {
                    self.composition.show_call(view);
                }
                self.composition.close_call(block.ordinal, arguments.clone());
            }
            _ => {}
        }
    }

    fn carry_out(&mut self, effects: Vec<Effect>, now: Instant) {
        let mut effects = VecDeque::from(effects);
        while let Some(effect) = effects.pop_front() {
            match effect {
                Effect::Start { id, task, .. } => {
                    let outcome = self.perform(task, now);
                    effects.extend(self.presenter.resolved(id, outcome, now));
                }
                Effect::Row(saying) => self.composition.say(&saying, now),
                Effect::CallChanged(block) => self.composition.touch_call(block.ordinal),
                Effect::Picture { block, image } => self.composition.picture(block.ordinal, image),
                Effect::Foreign { block, kind, json } => {
                    self.composition.foreign(block.ordinal, kind, json);
                }
                Effect::Usage(usage) => self.composition.usage = Some(usage),
                Effect::Answer(answer) => self.answer(answer),
                Effect::Note(note) => self.composition.note(note),
                // Everything is done at once, so there is nothing to let go of, and nobody is
                // asked, so nobody says anything.
                Effect::Stop(_) | Effect::Feedback { .. } | Effect::Over => {}
            }
        }
    }

    fn answer(&mut self, answer: crate::presenter::Answer) {
        // A call that the cursor never showed has its row from here.
        if let Some(view) = self.presenter.call_view(answer.block) {
            self.composition.show_call(view);
        }
        self.composition.answer(answer);
    }

    fn perform(&mut self, task: Task, now: Instant) -> Outcome {
        match task {
            Task::Say(saying) => {
                self.composition.say(&saying, now);
                Outcome::Done
            }
            Task::ShowCall(view) => {
                self.composition.show_call(view);
                Outcome::Done
            }
            Task::AwaitCheckpoint => Outcome::Done,
            // Only what plays no part outside this process is known by name, so there is
            // nothing to ask about.
            Task::Approve(call) => {
                self.composition.set_call_state(call.block.ordinal, ToolState::Running);
                Outcome::Approved { feedback: None }
            }
            Task::Run(call) => self.answers.run(&call),
        }
    }
}

/// What an event adds to a block.
fn delta(event: &StreamEvent) -> &str {
    match event {
        StreamEvent::Text { delta, .. }
        | StreamEvent::Reasoning { delta, .. }
        | StreamEvent::ToolArgs { delta, .. } => delta,
        _ => "",
    }
}
