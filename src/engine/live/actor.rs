//! The one task that changes a conversation.

mod branches;
pub(super) mod keeping;
mod prompts;
mod queue;
mod turn;

use std::{collections::VecDeque, sync::Arc, time::Instant};

use tokio::{sync::mpsc::Receiver, time::Instant as TokioInstant};

use self::{
    keeping::Keeper,
    queue::{Moment, Queue},
};
use super::{
    Shared, arrival::Arrival, ledger, publish::Publisher, talk::Talk, workbench::Workbench,
};
use crate::{
    model::{
        ApprovalId, Attachment, Command, Decision, Delivery, Draft, Entry, NoticeKind, Phase,
        Receipt, Settings, Snapshot, Usage,
        stream::{EndState, RateWindow, StreamWarning},
    },
    presenter::Feedback,
};

/// The one task that changes a conversation.
#[derive(Debug)]
pub(super) struct Actor {
    shared: Arc<Shared>,
    commands: Receiver<Command>,
    publisher: Publisher,
    talk: Talk,
    keeper: Keeper,
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
        keeper: Keeper,
    ) -> Self {
        let mut arrival = Arrival::new(shared.limits.frame);
        if bench.is_some() {
            arrival.expect_checkpoint();
        }
        arrival.waits_for_the_log = keeper.writes();
        let workspace = bench.as_ref().and_then(|bench| bench.place());
        let is_demo = shared.provider(&settings.provider).is_some_and(|p| p.is_demo());
        let actor = Self {
            shared,
            commands,
            publisher,
            talk: Talk::default(),
            keeper,
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

    /// Takes commands until nobody can send any more, and lets the log go.
    pub(super) async fn run(mut self) {
        self.load().await;
        self.work().await;
        self.keeper.close().await;
    }

    async fn work(&mut self) {
        while let Some(command) = self.next_command().await {
            let mut begins = self.take_idle(command).await;
            loop {
                match begins {
                    Err(Stop::Abandoned) => return,
                    Err(Stop::Wanted) | Ok(false) => break,
                    Ok(true) => {}
                }
                begins = match self.turn().await {
                    Some(Stop::Abandoned) => return,
                    Some(Stop::Wanted) | None if self.next.is_some() => Ok(false),
                    Some(Stop::Wanted) | None => self.take_queued(Moment::Over).await,
                };
            }
            if self.next.is_none() && self.phase.is_busy() {
                self.phase = Phase::Idle;
                self.publish();
            }
        }
    }

    async fn next_command(&mut self) -> Option<Command> {
        loop {
            if let Some(next) = self.next.take() {
                return Some(next);
            }
            tokio::select! {
                biased;
                command = self.commands.recv() => return command,
                () = ledger::step(&mut self.keeper.ledger) => self.after_step(),
            }
        }
    }

    /// Takes a command while nothing goes on. True when a turn begins.
    async fn take_idle(&mut self, command: Command) -> Result<bool, Stop> {
        let begins = match command {
            Command::Send(draft) | Command::Steer(draft) => {
                self.queue.resume();
                self.accept(&Arc::new(draft), None).await?
            }
            Command::EditLast(draft) => self.edit_last(&Arc::new(draft)).await?,
            Command::Edit { message, draft } => self.edit(message, &Arc::new(draft)).await?,
            Command::Retry => self.retry(),
            Command::Regenerate { message } => self.regenerate(message),
            Command::Choose { message } => {
                self.choose(message).await?;
                false
            }
            Command::Restore { checkpoint } => {
                self.restore(&checkpoint).await?;
                false
            }
            Command::Queue(change) => {
                self.change_queue(change);
                self.take_queued(Moment::Over).await?
            }
            Command::Stop | Command::Decide { .. } | Command::StopCall { .. } => false,
            other => {
                self.set(other);
                false
            }
        };
        self.publish();
        Ok(begins)
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
            Some(
                command @ (Command::Retry
                | Command::EditLast(_)
                | Command::Edit { .. }
                | Command::Regenerate { .. }
                | Command::Choose { .. }),
            ) => {
                self.next = Some(command);
                return Turn::Stops(Stop::Wanted);
            }
            Some(Command::Send(draft)) => {
                self.hear(Arc::new(draft));
                Turn::GoesOn
            }
            Some(Command::Steer(draft)) => {
                self.enqueue(&Arc::new(draft), Delivery::Steer);
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
                self.enqueue(&draft, Delivery::Next);
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
            self.enqueue(&draft, Delivery::Steer);
        }
    }

    /// Takes the files back to a checkpoint, and says what was done. It goes on to its end,
    /// which git keeps near.
    async fn restore(&mut self, checkpoint: &str) -> Result<(), Stop> {
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
        self.say(kind, &words).await?;
        self.phase = Phase::Idle;
        Ok(())
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
            | Command::StopCall { .. } => return,
        }
        self.keeper.write_settings(&self.settings);
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
            keeping: self.keeper.keeping(),
            base: self.keeper.base(),
            forks: Arc::clone(self.talk.forks()),
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

pub(super) fn sum(a: Usage, b: Usage) -> Usage {
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
