//! The one task that changes a conversation.

mod queue;
mod turn;

use std::{collections::VecDeque, sync::Arc, time::Instant};

use tokio::{sync::mpsc::Receiver, time::Instant as TokioInstant};

use self::queue::{Changed, Moment, Queue};
use super::{Shared, arrival::Arrival, publish::Publisher, talk::Talk, workbench::Workbench};
use crate::{
    model::{
        ApprovalId, Attachment, Command, Decision, Delivery, Draft, Entry, Fate, Keeping,
        NoticeKind, Phase, QueueChange, Receipt, Refusal, Settings, Snapshot, Usage,
        stream::{EndState, RateWindow, StreamWarning},
    },
    presenter::Feedback,
};

/// Fates that are remembered.
const RECEIPTS: usize = 32;

/// The one task that changes a conversation.
#[derive(Debug)]
pub(super) struct Actor {
    shared: Arc<Shared>,
    commands: Receiver<Command>,
    publisher: Publisher,
    talk: Talk,
    arrival: Arrival,
    /// What runs the calls of this conversation.
    bench: Option<Arc<dyn Workbench>>,
    /// What the user said beside decisions, until the reply has its place.
    beside: Vec<Arc<Draft>>,
    /// What is shown of the reply that is arriving.
    arriving: Option<Entry>,
    settings: Settings,
    phase: Phase,
    end: Option<Arc<EndState>>,
    warnings: Vec<StreamWarning>,
    allowance: Arc<[RateWindow]>,
    usage: Usage,
    queue: Queue,
    receipts: VecDeque<Receipt>,
    /// What ended the turn that it has to wait for.
    next: Option<Command>,
}

/// Something that ends a turn from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    /// The user wants it.
    Wanted,
    /// Nobody holds the conversation any more.
    Abandoned,
}

/// What a command that comes in the middle of a turn means for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Turn {
    GoesOn,
    /// A pause is over.
    Hurries,
    Stops(Stop),
}

impl Actor {
    pub(super) fn new(
        shared: Arc<Shared>,
        commands: Receiver<Command>,
        publisher: Publisher,
        settings: Settings,
        bench: Option<Arc<dyn Workbench>>,
    ) -> Self {
        let mut arrival = Arrival::new(shared.limits.frame);
        if bench.is_some() {
            arrival.expect_checkpoint();
        }
        let workspace = bench.as_ref().and_then(|bench| bench.place());
        let is_demo = shared.provider(&settings.provider).is_some_and(|p| p.is_demo());
        let actor = Self {
            shared,
            commands,
            publisher,
            talk: Talk::new(),
            arrival,
            bench,
            beside: Vec::new(),
            arriving: None,
            settings: Settings { is_demo, workspace, ..settings },
            phase: Phase::Idle,
            end: None,
            warnings: Vec::new(),
            allowance: Arc::default(),
            usage: Usage::default(),
            queue: Queue::default(),
            receipts: VecDeque::new(),
            next: None,
        };
        actor.publish();
        actor
    }

    /// Takes commands until nobody can send any more.
    pub(super) async fn run(mut self) {
        loop {
            let command = match self.next.take() {
                Some(command) => command,
                None => match self.commands.recv().await {
                    Some(command) => command,
                    None => return,
                },
            };
            let command = match command {
                Command::Restore { checkpoint } => {
                    self.restore(&checkpoint).await;
                    continue;
                }
                other => other,
            };
            let mut is_due = self.take_idle(command);
            while is_due {
                if self.turn().await == Some(Stop::Abandoned) {
                    return;
                }
                is_due = self.next.is_none() && self.take_queued(Moment::Over);
            }
            if self.next.is_none() && self.phase.is_busy() {
                self.phase = Phase::Idle;
                self.publish();
            }
        }
    }

    /// Takes a command while nothing goes on. True when a turn begins.
    fn take_idle(&mut self, command: Command) -> bool {
        let begins = match command {
            Command::Send(draft) | Command::Steer(draft) => {
                self.queue.resume();
                self.accept(&Arc::new(draft))
            }
            Command::EditLast(draft) => self.edit(&Arc::new(draft)),
            Command::Retry => self.forget_reply(),
            Command::Queue(change) => {
                self.change_queue(change);
                self.take_queued(Moment::Over)
            }
            Command::Stop | Command::Decide { .. } | Command::StopCall { .. } => false,
            other => {
                self.set(other);
                false
            }
        };
        self.publish();
        begins
    }

    /// Takes a command in the middle of a turn.
    fn take_busy(&mut self, command: Option<Command>) -> Turn {
        let turn = match command {
            None => return Turn::Stops(Stop::Abandoned),
            Some(Command::Stop) => {
                self.queue.pause();
                return Turn::Stops(Stop::Wanted);
            }
            Some(Command::Retry) if matches!(self.phase, Phase::Retrying { .. }) => Turn::Hurries,
            Some(Command::Restore { checkpoint }) => {
                self.queue.pause();
                self.next = Some(Command::Restore { checkpoint });
                return Turn::Stops(Stop::Wanted);
            }
            Some(command @ (Command::Retry | Command::EditLast(_))) => {
                self.next = Some(command);
                return Turn::Stops(Stop::Wanted);
            }
            Some(Command::Send(draft)) => {
                self.hear(Arc::new(draft));
                Turn::GoesOn
            }
            Some(Command::Steer(draft)) => {
                self.enqueue(Arc::new(draft), Delivery::Steer);
                Turn::GoesOn
            }
            Some(Command::Queue(change)) => {
                self.change_queue(change);
                Turn::GoesOn
            }
            Some(Command::Decide { approval, decision, feedback }) => {
                self.decide(approval, decision, feedback.map(Arc::new));
                Turn::GoesOn
            }
            Some(Command::StopCall { message, call_id }) => {
                self.arrival.stop_call(message, &call_id);
                Turn::GoesOn
            }
            Some(other) => {
                self.set(other);
                Turn::GoesOn
            }
        };
        self.publish();
        turn
    }

    /// Takes what the user wrote in the middle of a turn. While a call waits for his word,
    /// that is a no to the call, and why.
    fn hear(&mut self, draft: Arc<Draft>) {
        let question = self.arrival.question().map(|(approval, _)| approval.id);
        match question {
            Some(approval) if !draft.is_blank() => {
                self.decide(approval, Decision::Reject, Some(draft));
            }
            Some(_) | None => {
                self.queue.resume();
                self.enqueue(draft, Delivery::Next);
            }
        }
    }

    fn decide(&mut self, approval: ApprovalId, decision: Decision, said: Option<Arc<Draft>>) {
        let said = said.filter(|draft| !draft.is_blank());
        let feedback = said.as_deref().map(feedback);
        if self.arrival.decide(approval, decision, feedback, now()) {
            self.beside.extend(said);
            self.show();
        } else if let Some(draft) = said {
            // It was decided otherwise meanwhile, and what was said is still said.
            self.enqueue(draft, Delivery::Steer);
        }
    }

    /// Takes the files back to a checkpoint, and says what was done. It goes on to its end,
    /// which git keeps near.
    async fn restore(&mut self, checkpoint: &str) {
        let restoring = self.bench.as_ref().and_then(|bench| bench.restore(checkpoint));
        self.phase = Phase::Working { since: now() };
        self.publish();
        let restored = match restoring {
            Some(restoring) => restoring.await,
            None => Err("no checkpoints are made here".into()),
        };
        let (kind, words) = match restored {
            Ok(restored) => {
                let words = restored.words();
                (NoticeKind::Checkpoint(restored.before), words)
            }
            Err(why) => (NoticeKind::Error, format!("The files were not taken back: {why}.")),
        };
        self.talk.push_notice(kind, &words, (self.shared.clock)());
        self.phase = Phase::Idle;
        self.publish();
    }

    fn accept(&mut self, draft: &Arc<Draft>) -> bool {
        let refusal = self.refusal(draft);
        match refusal {
            Some(refusal) => self.refuse(draft, refusal),
            None => {
                let id = self.talk.push_prompt(draft, (self.shared.clock)());
                self.tell(draft, Fate::Accepted(id));
                // From here on it will be answered: no snapshot says that nothing goes on.
                self.phase = Phase::Waiting { since: now() };
            }
        }
        refusal.is_none()
    }

    fn refusal(&self, draft: &Draft) -> Option<Refusal> {
        let is_known = self.shared.provider(&self.settings.provider).is_some();
        if draft.is_blank() {
            Some(Refusal::Blank)
        } else {
            (!is_known).then_some(Refusal::UnknownProvider)
        }
    }

    fn edit(&mut self, draft: &Arc<Draft>) -> bool {
        if let Some(refusal) = self.refusal(draft) {
            self.refuse(draft, refusal);
            return false;
        }
        if let Some(place) = self.talk.last_prompt() {
            self.talk.cut(place);
        }
        self.accept(draft)
    }

    /// Puts aside what answered the last prompt. True when there is a prompt.
    fn forget_reply(&mut self) -> bool {
        let Some(place) = self.talk.last_prompt() else { return false };
        self.talk.cut(place + 1);
        self.phase = Phase::Waiting { since: now() };
        true
    }

    fn enqueue(&mut self, draft: Arc<Draft>, delivery: Delivery) {
        let waits = match self.refusal(&draft) {
            Some(refusal) => Err(refusal),
            None => self.queue.push(Arc::clone(&draft), delivery),
        };
        match waits {
            Err(refusal) => self.refuse(&draft, refusal),
            Ok(()) => self.tell(&draft, Fate::Queued),
        }
    }

    fn change_queue(&mut self, change: QueueChange) {
        match self.queue.change(change) {
            Changed::Nothing => {}
            Changed::Back(draft, refusal) => self.refuse(&draft, refusal),
            Changed::Waits(draft) => self.tell(&draft, Fate::Queued),
        }
    }

    /// Says what waited. True if there was anything.
    fn take_queued(&mut self, moment: Moment) -> bool {
        let due = self.queue.take(moment);
        let said = due.iter().filter(|draft| self.accept(draft)).count();
        self.publish();
        said > 0
    }

    fn refuse(&mut self, draft: &Arc<Draft>, refusal: Refusal) {
        self.tell(draft, Fate::Refused(refusal, Arc::clone(draft)));
    }

    fn tell(&mut self, draft: &Draft, fate: Fate) {
        if self.receipts.len() >= RECEIPTS {
            self.receipts.pop_front();
        }
        self.receipts.push_back(Receipt { ticket: draft.ticket, fate });
    }

    fn set(&mut self, command: Command) {
        match command {
            Command::SetModel { provider, model } => {
                let known = self.shared.provider(&provider);
                self.settings.is_demo = known.is_some_and(|provider| provider.is_demo());
                self.settings.provider = provider;
                self.settings.model = model;
            }
            Command::SetThinking(level) => self.settings.thinking = level,
            Command::SetSystem(text) => self.settings.system = text,
            Command::SetMaxTokens(limit) => self.settings.max_tokens = limit,
            Command::SetTools(tool_use) => {
                self.settings.tools = tool_use;
                self.settings.workspace = self.bench.as_ref().and_then(|bench| bench.place());
            }
            Command::Send(_)
            | Command::Steer(_)
            | Command::Edit { .. }
            | Command::Regenerate { .. }
            | Command::Choose { .. }
            | Command::Queue(_)
            | Command::Stop
            | Command::Retry
            | Command::EditLast(_)
            | Command::Decide { .. }
            | Command::Restore { .. }
            | Command::StopCall { .. } => {}
        }
    }

    fn publish(&self) {
        let arriving = self.arriving.as_ref().and_then(|entry| entry.message.usage);
        let question = self.arrival.question();
        self.publisher.publish(Snapshot {
            version: 0,
            running_since: self.arrival.ran_since(),
            entries: self.talk.entries().clone(),
            arriving: self.arriving.clone(),
            phase: question.map_or(self.phase, |(_, since)| Phase::Asking { since }),
            end: self.end.clone(),
            warnings: self.warnings.as_slice().into(),
            allowance: Arc::clone(&self.allowance),
            usage: sum(self.usage, arriving.unwrap_or_default()),
            settings: self.settings.clone(),
            question: question.map(|(approval, _)| Arc::clone(approval)),
            queued: self.queue.shown(),
            is_queue_paused: self.queue.is_paused(),
            keeping: Keeping::Nowhere,
            base: None,
            forks: Arc::default(),
            receipts: self.receipts.iter().cloned().collect(),
            aside: self.talk.aside().clone(),
        });
    }
}

/// What the user said beside a decision, as the model reads it.
fn feedback(draft: &Draft) -> Feedback {
    let mut feedback = Feedback { text: Arc::clone(&draft.text), images: Vec::new() };
    for attachment in &draft.attachments {
        match attachment {
            Attachment::Image(image) => feedback.images.push(image.clone()),
            Attachment::Document { name, text } => {
                feedback.text = format!("{}\n\n[Document: {name}]\n{text}", feedback.text).into();
            }
        }
    }
    feedback
}

/// The clock that timers go by.
fn now() -> Instant {
    TokioInstant::now().into_std()
}

fn sum(a: Usage, b: Usage) -> Usage {
    Usage {
        input: a.input.saturating_add(b.input),
        output: a.output.saturating_add(b.output),
        cache_read: a.cache_read.saturating_add(b.cache_read),
        cache_write: a.cache_write.saturating_add(b.cache_write),
        cost: match (a.cost, b.cost) {
            (None, None) => None,
            (a, b) => Some(a.unwrap_or(0.0) + b.unwrap_or(0.0)),
        },
    }
}
