//! A reply while it arrives: events go into the presenter, and what it asks for is done.

use std::{collections::VecDeque, sync::Arc, time::Instant};

use super::{
    composition::Composition,
    hands::{Deed, Hands, Turned},
    tagged,
    workbench::{Terms, Workbench},
};
use crate::{
    model::{
        Approval, ApprovalId, CallGrammar, Decision, MessageId, Scope, StopReason, ToolCall,
        ToolState,
        record::Approved,
        stream::{Close, EndState, StreamEvent},
    },
    presenter::{
        Answer, BlockId, Call, Dialect, Effect, EffectId, Feedback, NoteKind, Outcome, Presenter,
        Setup, Task,
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
    pub(super) hands: Hands,
    bench: Option<Arc<dyn Workbench>>,
    pub(super) terms: Terms,
    /// The call that is decided on or run, and its block.
    current: Option<(BlockId, Arc<Call>)>,
    /// The call that waits for a checkpoint.
    awaiting: Option<u32>,
    /// The user said something beside a decision.
    is_spoken_to: bool,
    /// The model goes round in circles.
    is_stuck: bool,
    /// When the call that is run was started.
    ran_since: Option<Instant>,
    /// Bytes of text, reasoning and arguments that came.
    received: usize,
    /// What happens to calls is written down, and what is to run waits for that.
    pub(super) waits_for_the_log: bool,
    /// What is to run, and waits.
    waiting: Option<(EffectId, Arc<Call>)>,
    /// What happened to calls and is not written down yet.
    news: Vec<CallNews>,
}

/// Something that happened to a call and has to be written down.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum CallNews {
    /// There is a word on it.
    Decided {
        /// The call.
        call: Arc<ToolCall>,
        /// The word.
        approved: Approved,
    },
    /// It was run to its end: its block.
    Ended(u32),
}

/// What comes after a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum After {
    /// The model waits for the answers to its calls.
    Goes,
    /// The user's turn.
    Rests,
    /// The user's turn, because the model makes the same call over and over.
    Stuck,
}

impl Arrival {
    pub(super) fn new(frame: std::time::Duration) -> Self {
        let id = MessageId(0);
        Self {
            presenter: Presenter::new(Setup::default(), id),
            pace: Pace::new(Some(frame)),
            frame,
            composition: Composition::new(id, "".into(), 0),
            hands: Hands::new(),
            bench: None,
            terms: Terms::default(),
            current: None,
            awaiting: None,
            is_spoken_to: false,
            is_stuck: false,
            ran_since: None,
            received: 0,
            waits_for_the_log: false,
            waiting: None,
            news: Vec::new(),
        }
    }

    /// Begins a reply. What is left of the one before means nothing any more.
    pub(super) fn begin(
        &mut self,
        id: MessageId,
        composition: Composition,
        bench: Option<Arc<dyn Workbench>>,
        terms: Terms,
        calls: CallGrammar,
    ) {
        let tools: Vec<_> = bench.iter().flat_map(|bench| bench.tools()).collect();
        let setup = &mut self.presenter.setup;
        (setup.dialect, setup.tools) = match calls {
            CallGrammar::Native => {
                let names = tools.into_iter().map(|tool| (tool.spec.name, tool.touch));
                (Dialect::Native, names.collect())
            }
            CallGrammar::Tags => {
                (Dialect::Tags(tagged::vocabulary()), tagged::names(&tools).collect())
            }
        };
        self.bench = bench;
        self.terms = terms;
        self.is_stuck = false;
        self.is_spoken_to = false;
        for effect in self.presenter.begin(id) {
            if let Effect::Stop(id) = effect {
                self.hands.let_go(id);
            }
        }
        self.pace.reset();
        self.composition = composition;
        self.received = 0;
        self.waiting = None;
        self.news.clear();
    }

    /// What happened to calls since the last time.
    pub(super) fn take_news(&mut self) -> Vec<CallNews> {
        std::mem::take(&mut self.news)
    }

    /// A call may run as soon as what is known of it is written down.
    pub(super) fn waits_to_run(&self) -> bool {
        self.waiting.is_some()
    }

    /// Runs the call that waits for that.
    pub(super) fn run_now(&mut self, now: Instant) {
        if let Some((id, call)) = self.waiting.take()
            && let Some(outcome) = self.start(id, call, now)
        {
            self.resolve(id, outcome, now);
        }
    }

    /// The first change of the conversation will wait for a checkpoint.
    pub(super) fn expect_checkpoint(&mut self) {
        self.presenter.expect_checkpoint();
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

    /// Nothing more comes of the reply; its calls may still have to be run.
    pub(super) fn end(&mut self, end: &EndState, now: Instant) {
        let effects = self.presenter.feed(&StreamEvent::End(end.clone()));
        self.carry_out(effects, now);
        self.present(now);
    }

    /// Everything of the reply was shown, and every call has its result.
    pub(super) fn is_over(&self) -> bool {
        self.presenter.is_over()
    }

    /// Lets go of everything that is under way.
    pub(super) fn abort(&mut self, now: Instant) {
        let effects = self.presenter.abort();
        self.carry_out(effects, now);
    }

    /// What comes after the reply.
    pub(super) fn after(&mut self, end: &EndState) -> After {
        self.pace.reset();
        let has_room = matches!(
            end, EndState::Complete { reason, .. } if *reason != StopReason::Length
        );
        // A rejection with words is an answer; without words the model has to wait for some.
        let is_heard = self.presenter.interrupt().is_none() || self.is_spoken_to;
        if !has_room || self.presenter.replies().is_empty() || !is_heard {
            return After::Rests;
        }
        if self.is_stuck { After::Stuck } else { After::Goes }
    }

    /// The call that waits for the user's word, and since when.
    pub(super) fn question(&self) -> Option<(&Arc<Approval>, Instant)> {
        self.hands.question()
    }

    /// When the call that runs was started.
    pub(super) fn ran_since(&self) -> Option<Instant> {
        self.ran_since
    }

    /// Takes what became of something that was started. True when what is shown should be
    /// brought up to date now.
    pub(super) fn take_deed(&mut self, deed: Deed, now: Instant) -> bool {
        match self.hands.take(deed, self.composition.id()) {
            Turned::Nothing => false,
            Turned::Asks => {
                self.set_state(ToolState::Waiting);
                true
            }
            Turned::Output => {
                let steps = self.pace.request(Priority::Normal, now);
                self.flush(steps, now)
            }
            Turned::Checkpoint(id, name) => {
                let call = self.awaiting.take().unwrap_or_default();
                self.composition.checkpoint(call, name);
                self.resolve(id, Outcome::Done, now);
                true
            }
            Turned::Outcome(id, outcome) => {
                if let Outcome::Approved { .. } = outcome {
                    self.note_decision("once", "rule", None);
                }
                self.resolve(id, outcome, now);
                true
            }
        }
    }

    /// The user's word on the call that waits for it. False when it is not asked about.
    pub(super) fn decide(
        &mut self,
        approval: ApprovalId,
        decision: Decision,
        feedback: Option<Feedback>,
        now: Instant,
    ) -> bool {
        let word = self.question().map_or("once", |(approval, _)| word(approval, decision));
        let Some((id, is_approved)) = self.hands.decide(approval, decision) else { return false };
        let word = if is_approved { word } else { "reject" };
        self.note_decision(word, "user", feedback.as_ref().map(|feedback| &feedback.text));
        let outcome = match is_approved {
            true => Outcome::Approved { feedback },
            false => Outcome::Rejected { feedback },
        };
        self.resolve(id, outcome, now);
        true
    }

    /// Stops one running call; its result says so.
    pub(super) fn stop_call(&mut self, message: MessageId, call_id: &str) {
        let is_here = message == self.composition.id();
        if let Some(running) = self.hands.running().filter(|r| is_here && *r.call.id == *call_id) {
            running.stop();
        }
    }

    fn note_decision(&mut self, decision: &str, by: &str, feedback: Option<&Arc<str>>) {
        let Some((_, call)) = self.current.as_ref().filter(|_| self.waits_for_the_log) else {
            return;
        };
        let approved = Approved {
            call: Arc::clone(&call.id),
            decision: decision.into(),
            by: by.into(),
            feedback: feedback.map(Arc::clone),
        };
        let call = ToolCall {
            id: Arc::clone(&call.id),
            name: Arc::clone(&call.name),
            arguments: call.arguments.clone(),
            state: ToolState::Waiting,
            result: None,
            superseded: 0,
            duration_ms: None,
        };
        self.news.push(CallNews::Decided { call: Arc::new(call), approved });
    }

    fn resolve(&mut self, id: EffectId, outcome: Outcome, now: Instant) {
        if let (Outcome::Finished(_), Some((block, _)), Some(since)) =
            (&outcome, &self.current, self.ran_since.take())
        {
            let millis = now.saturating_duration_since(since).as_millis();
            self.composition.set_duration(block.ordinal, u64::try_from(millis).unwrap_or(u64::MAX));
        }
        let ended = match (&outcome, &self.current) {
            (Outcome::Finished(_), Some((block, _))) if self.waits_for_the_log => {
                Some(block.ordinal)
            }
            _ => None,
        };
        let effects = self.presenter.resolved(id, outcome, now);
        self.carry_out(effects, now);
        self.news.extend(ended.map(CallNews::Ended));
    }

    fn set_state(&mut self, state: ToolState) {
        if let Some((block, _)) = &self.current {
            self.composition.set_call_state(block.ordinal, state);
        }
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
        if let (Some(running), Some((block, _))) = (self.hands.running(), &self.current)
            && let Some(output) = running.look()
        {
            self.composition.set_output(block.ordinal, output);
        }
        let effects = self.presenter.wake(now);
        self.carry_out(effects, now);
    }

    fn block(&self, ordinal: u32) -> BlockId {
        BlockId { message: self.composition.id(), ordinal }
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
                Effect::Start { id, task, block } => {
                    if matches!(task, Task::AwaitCheckpoint) {
                        self.awaiting = Some(block.ordinal);
                    }
                    if let Some(outcome) = self.perform(id, task, now) {
                        effects.extend(self.presenter.resolved(id, outcome, now));
                    }
                }
                Effect::Row(saying) => self.composition.say(&saying, now),
                Effect::CallChanged(block) => self.composition.touch_call(block.ordinal),
                Effect::Picture { block, image } => self.composition.picture(block.ordinal, image),
                Effect::Foreign { block, kind, json } => {
                    self.composition.foreign(block.ordinal, kind, json);
                }
                Effect::Usage(usage) => self.composition.usage = Some(usage),
                Effect::Answer(answer) => self.answer(answer),
                Effect::Note(note) => {
                    self.is_stuck |= note.kind == NoteKind::Stuck;
                    if matches!(note.kind, NoteKind::Stuck | NoteKind::Repeating) {
                        self.composition.remark(note.block.ordinal, &note.text);
                    }
                    self.composition.note(note);
                }
                Effect::Stop(id) => {
                    self.waiting.take_if(|(waiting, _)| *waiting == id);
                    self.hands.let_go(id);
                }
                Effect::Feedback { .. } => self.is_spoken_to = true,
                Effect::Over => {}
            }
        }
    }

    fn answer(&mut self, answer: Answer) {
        // A call that the cursor never showed has its row from here.
        if let Some(view) = self.presenter.call_view(answer.block) {
            self.composition.show_call(view);
        }
        self.composition.answer(answer);
    }

    /// Does what can be done at once, and begins the rest.
    fn perform(&mut self, id: EffectId, task: Task, now: Instant) -> Option<Outcome> {
        match task {
            Task::Say(saying) => self.composition.say(&saying, now),
            Task::ShowCall(view) => self.composition.show_call(view),
            Task::AwaitCheckpoint => {
                if self.bench.as_ref().is_some_and(|bench| self.hands.checkpoint(id, bench)) {
                    return None;
                }
            }
            Task::Approve(call) => return self.weigh(id, call),
            Task::Run(call) if self.waits_for_the_log => {
                self.waiting = Some((id, call));
                return None;
            }
            Task::Run(call) => return self.start(id, call, now),
        }
        Some(Outcome::Done)
    }

    fn weigh(&mut self, id: EffectId, call: Arc<Call>) -> Option<Outcome> {
        let Some(bench) = &self.bench else {
            return Some(Outcome::Failed("no tool of this name is available".into()));
        };
        self.current = Some((call.block, Arc::clone(&call)));
        self.hands.weigh(id, bench, call, self.terms);
        None
    }

    fn start(&mut self, id: EffectId, call: Arc<Call>, now: Instant) -> Option<Outcome> {
        self.composition.set_call_state(call.block.ordinal, ToolState::Running);
        self.terms.has_heard_others = true;
        self.ran_since = Some(now);
        let is_running = self.hands.run(id, call);
        (!is_running).then(|| Outcome::Failed("it was not approved".into()))
    }
}

/// The log's word for what the user wants.
fn word(approval: &Approval, decision: Decision) -> &'static str {
    match decision {
        Decision::Once => "once",
        Decision::Reject => "reject",
        Decision::Offer(offer) => match approval.offers.get(offer).map(|offer| offer.scope) {
            Some(Scope::Session) => "session",
            Some(Scope::Always) => "always",
            None => "once",
        },
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
