//! The cursor over the blocks of a reply.

use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

use super::{
    block::{Block, Body},
    cursor::{Checkpoint, Cursor, Held, Phase, Spent, Step, Work},
    effect::{BlockId, CallView, Effect, EffectId, NoteKind, Outcome, Reply, RowKind, Task},
    intake::Intake,
    repeats::Repeats,
    setup::{Setup, ToolMode},
    words,
};
use crate::{
    markup::Arrival,
    model::{
        MessageId,
        stream::{EndState, ReplyBlock, StreamEvent},
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
    /// May change at any time and counts from the next time that it is asked; the dialect
    /// counts from the next reply.
    pub setup: Setup,
    pub(super) checkpoint: Checkpoint,
    pub(super) repeats: Repeats,
    pub(super) intake: Intake,
    pub(super) cursor: Cursor,
    pub(super) replies: Vec<Reply>,
    pub(super) out: Vec<Effect>,
    pub(super) noted: BTreeSet<(BlockId, NoteKind)>,
    /// Counts requests and what was started in each, so that no id comes twice.
    next: EffectId,
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
            Work::Say => self.said(outcome, held.arrival),
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
            if matches!(held.work, Work::Say) {
                self.unsay();
            }
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

    /// The block that a block of the provider's is shown in, so that what comes for it
    /// later finds its row; none while nothing of it is shown.
    #[must_use]
    pub fn block_of(&self, block: ReplyBlock) -> Option<BlockId> {
        let index = self.intake.place_of(block)?;
        self.intake.list.get(index).map(|block| block.id)
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
