//! The cursor over the blocks of a reply.

use std::{
    collections::BTreeSet,
    sync::Arc,
    time::{Duration, Instant},
};

use super::{
    block::{Block, Body},
    effect::{
        Answer, BlockId, Call, CallView, Effect, EffectId, Note, NoteKind, Outcome, Reply, RowKind,
        Task,
    },
    intake::{Apart, Intake},
    repeats::Repeats,
    setup::{Planning, Setup, ToolMode},
    words,
};
use crate::{
    markup::Arrival,
    model::{
        MessageId, ToolState,
        stream::{EndState, StreamEvent},
    },
};

/// How long a call waits for the first checkpoint before it does without.
pub const CHECKPOINT_LIMIT: Duration = Duration::from_secs(15);

/// Why the rest of a reply need not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Interrupt {
    /// The turn was aborted.
    Aborted,
    /// The user rejected a call.
    Rejected,
    /// A call ran, and only one may.
    ToolUsed,
}

/// Presents the replies of one conversation, one at a time.
#[derive(Debug)]
pub struct Presenter {
    pub(super) setup: Setup,
    pub(super) checkpoint: Checkpoint,
    pub(super) repeats: Repeats,
    pub(super) intake: Intake,
    pub(super) cursor: Cursor,
    pub(super) replies: Vec<Reply>,
    pub(super) out: Vec<Effect>,
    noted: BTreeSet<(BlockId, NoteKind)>,
    /// Counts requests and what was started in each, so that no id comes twice.
    next: EffectId,
}

/// The first checkpoint of the conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Checkpoint {
    NotExpected,
    Expected,
}

/// Where presenting a reply stands.
#[derive(Debug)]
pub(super) struct Cursor {
    pub(super) index: usize,
    lock: Option<Held>,
    phase: Phase,
    pub(super) spent: Spent,
    is_ready: bool,
    told_over: bool,
}

/// What is outstanding.
#[derive(Debug)]
struct Held {
    id: EffectId,
    work: Work,
    /// Whether the block was complete when this was started.
    arrival: Arrival,
    /// A wake came meanwhile.
    is_dirty: bool,
}

#[derive(Debug)]
pub(super) enum Work {
    Say,
    ShowCall,
    AwaitCheckpoint { until: Instant },
    Approve(Arc<Call>),
    Run(Arc<Call>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Streaming,
    Ended,
    Aborted,
}

/// What of a reply's chances to run a call is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Spent {
    No,
    /// A call was answered while only one may be.
    ToolUsed,
    /// The user rejected a call.
    Rejected,
}

/// What became of a look at a block, or of the outcome of something started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Something is outstanding.
    Waiting,
    /// This block needs no more for now.
    Done,
    /// Look at the same block again.
    Again,
}

impl Cursor {
    fn new() -> Self {
        let (phase, spent) = (Phase::Streaming, Spent::No);
        Self { index: 0, lock: None, phase, spent, is_ready: false, told_over: false }
    }
}

impl Presenter {
    /// A presenter at the start of the reply that `message` will hold.
    #[must_use]
    pub fn new(setup: Setup, message: MessageId) -> Self {
        let intake = Intake::new(message, &setup.dialect);
        Self {
            setup,
            checkpoint: Checkpoint::NotExpected,
            repeats: Repeats::default(),
            intake,
            cursor: Cursor::new(),
            replies: Vec::new(),
            out: Vec::new(),
            noted: BTreeSet::new(),
            next: EffectId { request: 0, serial: 0 },
        }
    }

    /// Begins the next reply. What the last one left open is aborted, and outcomes that
    /// are still on their way mean nothing any more.
    pub fn begin(&mut self, message: MessageId) -> Vec<Effect> {
        let effects = if self.is_over() { Vec::new() } else { self.abort() };
        self.intake = Intake::new(message, &self.setup.dialect);
        self.cursor = Cursor::new();
        self.replies.clear();
        self.noted.clear();
        self.next = EffectId { request: self.next.request.wrapping_add(1), serial: 0 };
        effects
    }

    /// Takes an event of the reply, and then wants to be [woken](Self::wake).
    ///
    /// What is returned waits for nothing and holds up nothing: usage, reasoning, pictures,
    /// and which calls have changed.
    pub fn feed(&mut self, event: &StreamEvent) -> Vec<Effect> {
        match (self.cursor.phase, event) {
            (Phase::Ended | Phase::Aborted, _) => return Vec::new(),
            (Phase::Streaming, StreamEvent::End(EndState::Cancelled)) => return self.abort(),
            (Phase::Streaming, StreamEvent::End(end)) => {
                self.intake.end(end);
                self.cursor.phase = Phase::Ended;
            }
            (Phase::Streaming, event) => self.take(event),
        }
        self.show_touched();
        std::mem::take(&mut self.out)
    }

    /// Presents what is there. While something is outstanding this only notes that there
    /// is more; after an abort it does nothing at all.
    pub fn wake(&mut self, now: Instant) -> Vec<Effect> {
        if self.cursor.phase == Phase::Aborted {
            return Vec::new();
        }
        match &mut self.cursor.lock {
            Some(Held { id, work: Work::AwaitCheckpoint { until }, .. }) if *until <= now => {
                let id = *id;
                self.out.push(Effect::Stop(id));
                return self.resolved(id, Outcome::Failed(words::CHECKPOINT_LATE.into()), now);
            }
            Some(held) => held.is_dirty = true,
            None => self.present(now),
        }
        std::mem::take(&mut self.out)
    }

    /// Takes the outcome of what was started. One that nobody waits for is let pass.
    pub fn resolved(&mut self, id: EffectId, outcome: Outcome, now: Instant) -> Vec<Effect> {
        let Some(held) = self.cursor.lock.take_if(|held| held.id == id) else { return Vec::new() };
        let step = match held.work {
            Work::Say => self.said(outcome),
            Work::ShowCall => self.showed_call(outcome),
            Work::AwaitCheckpoint { .. } => self.checkpoint_is_there(outcome),
            Work::Approve(call) => self.decided(&call, outcome),
            Work::Run(call) => self.ran(&call, outcome),
        };
        match (step, &mut self.cursor.lock) {
            (Step::Waiting, Some(next)) => next.is_dirty |= held.is_dirty,
            (Step::Waiting, None) => {}
            (Step::Again, _) => self.present(now),
            (Step::Done, _) => {
                if self.advance(held.arrival) || held.is_dirty {
                    self.present(now);
                }
                self.tell_over();
            }
        }
        std::mem::take(&mut self.out)
    }

    /// Ends the turn at once: what is outstanding is let go, partial rows become final as
    /// they are, and calls that have no answer are aborted.
    pub fn abort(&mut self) -> Vec<Effect> {
        if self.cursor.phase == Phase::Aborted {
            return Vec::new();
        }
        if let Some(held) = self.cursor.lock.take() {
            self.out.push(Effect::Stop(held.id));
        }
        if self.cursor.phase == Phase::Streaming {
            self.intake.end(&EndState::Cancelled);
        }
        self.settle();
        self.cursor.phase = Phase::Aborted;
        self.cursor.is_ready = true;
        self.tell_over();
        std::mem::take(&mut self.out)
    }

    /// Changes how many calls may run; it counts from the next time that is asked.
    pub fn set_tool_mode(&mut self, mode: ToolMode) {
        self.setup.mode = mode;
    }

    /// Changes whether files may be changed.
    pub fn set_planning(&mut self, planning: Planning) {
        self.setup.planning = planning;
    }

    /// The first checkpoint is being made: calls that change something wait for it.
    pub fn expect_checkpoint(&mut self) {
        self.checkpoint = Checkpoint::Expected;
    }

    /// When to wake the presenter although nothing came.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        match self.cursor.lock.as_ref()?.work {
            Work::AwaitCheckpoint { until } => Some(until),
            Work::Say | Work::ShowCall | Work::Approve(_) | Work::Run(_) => None,
        }
    }

    /// The parts of the next request that this reply's calls ask for, in order.
    #[must_use]
    pub fn replies(&self) -> &[Reply] {
        &self.replies
    }

    /// A call as far as it can be shown; none for a block that is no call.
    #[must_use]
    pub fn call_view(&self, block: BlockId) -> Option<CallView> {
        if block.message != self.intake.list.message() {
            return None;
        }
        let found = self.intake.list.get(usize::try_from(block.ordinal).ok()?)?;
        match &found.body {
            Body::Call(call) => Some(call.view(block, found.arrival)),
            Body::Prose(_) | Body::Apart => None,
        }
    }

    /// All reasoning of the reply, as it is sent back to the model.
    #[must_use]
    pub fn reasoning(&self) -> String {
        self.intake.list.iter().filter_map(Block::reasoning).collect()
    }

    /// Why the rest of the reply need not be read.
    #[must_use]
    pub fn interrupt(&self) -> Option<Interrupt> {
        match self.cursor.spent {
            _ if self.is_aborted() => Some(Interrupt::Aborted),
            Spent::Rejected => Some(Interrupt::Rejected),
            Spent::ToolUsed if self.is_spent() => Some(Interrupt::ToolUsed),
            Spent::ToolUsed | Spent::No => None,
        }
    }

    /// Index of the block that is presented now or next.
    #[must_use]
    pub fn index(&self) -> usize {
        self.cursor.index
    }

    /// The last block known so far was presented.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.cursor.is_ready
    }

    /// Something is outstanding.
    #[must_use]
    pub fn is_locked(&self) -> bool {
        self.cursor.lock.is_some()
    }

    /// A wake came while something was outstanding.
    #[must_use]
    pub fn is_dirty(&self) -> bool {
        self.cursor.lock.as_ref().is_some_and(|held| held.is_dirty)
    }

    /// The turn was aborted.
    #[must_use]
    pub fn is_aborted(&self) -> bool {
        self.cursor.phase == Phase::Aborted
    }

    /// The reply has ended and everything in it was presented, or it was aborted.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.cursor.told_over
    }

    /// Looks at blocks until one has to wait or is not complete.
    fn present(&mut self, now: Instant) {
        loop {
            let index = self.cursor.index;
            let Some(block) = self.intake.list.get(index) else {
                // Too early, which is normal, or past the last one.
                self.cursor.is_ready |= self.cursor.phase == Phase::Ended;
                break;
            };
            let arrival = block.arrival;
            let step = match &block.body {
                Body::Call(_) => self.present_call(index, now),
                Body::Prose(prose) if prose.kind != RowKind::Reasoning => self.say(index),
                Body::Prose(_) | Body::Apart => Step::Done,
            };
            if step == Step::Waiting || !self.advance(arrival) {
                break;
            }
        }
        self.tell_over();
    }

    /// Goes on to the next block if this one is done with; true if there is one.
    fn advance(&mut self, arrival: Arrival) -> bool {
        if arrival == Arrival::Partial && !self.is_spent() {
            return false;
        }
        let length = self.intake.list.len();
        self.cursor.is_ready |= self.cursor.index + 1 == length;
        self.cursor.index += 1;
        self.cursor.index < length
    }

    fn say(&mut self, index: usize) -> Step {
        if self.is_spent() {
            return Step::Done;
        }
        match self.intake.list.get_mut(index).and_then(Block::say) {
            Some(saying) => self.start(index, Work::Say, Task::Say(saying)),
            None => Step::Done,
        }
    }

    fn said(&mut self, outcome: Outcome) -> Step {
        if let Outcome::Failed(why) = outcome {
            let index = self.cursor.index;
            if let Some(Block { body: Body::Prose(prose), .. }) = self.intake.list.get_mut(index) {
                prose.unsay();
            }
            self.note(index, NoteKind::Failed, &why);
        }
        Step::Done
    }

    /// Starts something for a block; the lock is held from here on.
    pub(super) fn start(&mut self, index: usize, work: Work, task: Task) -> Step {
        let Some(block) = self.intake.list.get(index) else { return Step::Done };
        let id = self.next;
        self.next.serial = self.next.serial.wrapping_add(1);
        self.out.push(Effect::Start { id, block: block.id, task });
        self.cursor.lock = Some(Held { id, work, arrival: block.arrival, is_dirty: false });
        Step::Waiting
    }

    /// True when nothing more of this reply is said or run.
    pub(super) fn is_spent(&self) -> bool {
        match self.cursor.spent {
            Spent::No => false,
            Spent::ToolUsed => self.setup.mode == ToolMode::Serial,
            Spent::Rejected => true,
        }
    }

    pub(super) fn block_id(&self, index: usize) -> BlockId {
        self.intake.list.id(index)
    }

    /// Shows a remark, unless this block has one of the kind.
    pub(super) fn note(&mut self, index: usize, kind: NoteKind, text: &str) {
        let Some(block) = self.intake.list.get(index) else { return };
        if self.noted.insert((block.id, kind)) {
            self.out.push(Effect::Note(Note { block: block.id, kind, text: text.into() }));
        }
    }

    fn take(&mut self, event: &StreamEvent) {
        if let StreamEvent::Usage(usage) = event {
            self.out.push(Effect::Usage(*usage));
        }
        let length = self.intake.list.len();
        let apart = self.intake.take(event);
        if let Some(apart) = apart {
            self.show_apart(apart);
        }
        if self.intake.list.len() > length || is_for_call(event) {
            self.cursor.is_ready = false;
        }
    }

    fn show_apart(&mut self, apart: Apart) {
        let (Apart::Picture { index, .. } | Apart::Foreign { index, .. }) = apart;
        let Some(&Block { id: block, .. }) = self.intake.list.get(index) else { return };
        self.out.push(match apart {
            Apart::Picture { image, .. } => Effect::Picture { block, image },
            Apart::Foreign { kind, json, .. } => Effect::Foreign { block, kind, json },
        });
    }

    /// Shows reasoning, which waits for nothing, and tells of calls that the cursor does
    /// not show now.
    fn show_touched(&mut self) {
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
    fn settle(&mut self) {
        let (from, is_spent) = (self.cursor.index, self.is_spent());
        for (index, block) in self.intake.list.iter_mut().enumerate() {
            let id = block.id;
            match &mut block.body {
                Body::Prose(prose) => {
                    let is_dropped = index < from || is_spent;
                    if prose.kind == RowKind::Reasoning || !is_dropped {
                        self.out.extend(block.say().map(Effect::Row));
                    }
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

    fn tell_over(&mut self) {
        let cursor = &mut self.cursor;
        let is_done = match cursor.phase {
            Phase::Streaming => false,
            Phase::Ended => {
                cursor.is_ready && cursor.lock.is_none() && cursor.index >= self.intake.list.len()
            }
            Phase::Aborted => true,
        };
        if is_done && !cursor.told_over {
            cursor.told_over = true;
            self.out.push(Effect::Over);
        }
    }
}

fn is_for_call(event: &StreamEvent) -> bool {
    matches!(event, StreamEvent::ToolOpen { .. } | StreamEvent::ToolArgs { .. })
}
