//! The hands of a conversation: at most one thing at a time is weighed, asked about or run
//! beside it, and what becomes of it comes back as a deed.

mod running;

use std::{fmt, sync::Arc, time::Instant};

use serde_json::Value;
use tokio::{
    sync::mpsc::{self, Receiver, Sender},
    task::AbortHandle,
    time::Instant as TokioInstant,
};

use self::running::Running;
use super::workbench::{Permit, Question, Said, Terms, Weighed, Workbench};
use crate::{
    model::{Approval, ApprovalId, Decision, MessageId, Output, ToolResult},
    presenter::{Call, EffectId, Outcome},
    tools::{Stop, Stopper},
};

/// Words of a running call that may wait to be shown; it waits beyond that.
const SAID: usize = 64;

/// What became of something.
#[derive(Debug)]
pub(super) struct Deed {
    /// What it was started for.
    id: EffectId,
    news: News,
}

#[derive(Debug)]
enum News {
    Weighed(Weighed),
    Said(Said),
    Done(ToolResult),
    Checkpoint(Result<Arc<str>, Arc<str>>),
}

/// What a deed means for the conversation.
pub(super) enum Turned {
    /// Nothing any more: it was let go.
    Nothing,
    /// The user is asked.
    Asks,
    /// The output of a running call has changed.
    Output,
    /// A checkpoint of this name was made.
    Checkpoint(EffectId, Arc<str>),
    /// What was started has this outcome.
    Outcome(EffectId, Outcome),
}

/// Does one thing at a time.
pub(super) struct Hands {
    sender: Sender<Deed>,
    deeds: Receiver<Deed>,
    held: Option<Held>,
    /// What the last approval lets run.
    permit: Option<Box<dyn Permit>>,
    questions: u64,
}

/// What is under way.
struct Held {
    id: EffectId,
    work: Work,
}

enum Work {
    /// It ends by itself and has touched nothing.
    Waiting(AbortHandle),
    Asking {
        approval: Arc<Approval>,
        since: Instant,
        question: Box<dyn Question>,
    },
    Running(Box<Running>),
}

impl Hands {
    pub(super) fn new() -> Self {
        let (sender, deeds) = mpsc::channel(SAID);
        Self { sender, deeds, held: None, permit: None, questions: 0 }
    }

    /// The next deed; waits for ever while there is nothing under way.
    pub(super) async fn next(&mut self) -> Deed {
        match self.deeds.recv().await {
            Some(deed) => deed,
            // It holds a sender itself, so there is always one.
            None => std::future::pending().await,
        }
    }

    pub(super) fn weigh(
        &mut self,
        id: EffectId,
        bench: &Arc<dyn Workbench>,
        call: Arc<Call>,
        terms: Terms,
    ) {
        let weighing = bench.weigh(call, terms);
        let fallen = News::Weighed(Weighed::Denied("Not run: weighing it failed inside.".into()));
        self.wait(id, fallen, async move { News::Weighed(weighing.await) });
    }

    /// Makes a checkpoint. False where there is none to make.
    pub(super) fn checkpoint(&mut self, id: EffectId, bench: &Arc<dyn Workbench>) -> bool {
        let Some(making) = bench.checkpoint() else { return false };
        let fallen = News::Checkpoint(Err("it failed inside".into()));
        self.wait(id, fallen, async move { News::Checkpoint(making.await) });
        true
    }

    /// Runs what was approved. False when nothing was.
    pub(super) fn run(&mut self, id: EffectId, call: Arc<Call>) -> bool {
        let Some(permit) = self.permit.take() else { return false };
        let (stopper, stop) = Stopper::new();
        let fallen = News::Done(failed_inside(&call));
        let fall = Fall { id, sender: self.sender.clone(), news: Some(fallen) };
        tokio::spawn(run(permit, stop, fall));
        let running = Box::new(Running::new(call, stopper));
        self.held = Some(Held { id, work: Work::Running(running) });
        true
    }

    fn wait(
        &mut self,
        id: EffectId,
        fallen: News,
        work: impl Future<Output = News> + Send + 'static,
    ) {
        let sender = self.sender.clone();
        let task = tokio::spawn(async move {
            let mut fall = Fall { id, sender: sender.clone(), news: Some(fallen) };
            let news = work.await;
            fall.news = None;
            // When nobody takes it, the conversation is gone.
            drop(sender.send(Deed { id, news }).await);
        });
        self.held = Some(Held { id, work: Work::Waiting(task.abort_handle()) });
    }

    /// Takes a deed.
    pub(super) fn take(&mut self, deed: Deed, message: MessageId) -> Turned {
        let Deed { id, news } = deed;
        let Some(held) = self.held.as_mut().filter(|held| held.id == id) else {
            return Turned::Nothing;
        };
        match news {
            News::Weighed(Weighed::Asked(approval, question)) => {
                self.questions += 1;
                let name = ApprovalId(self.questions);
                let approval = Arc::new(Approval { id: name, message, ..approval });
                let since = TokioInstant::now().into_std();
                held.work = Work::Asking { approval, since, question };
                Turned::Asks
            }
            News::Said(said) => {
                let is_seen = self.running().is_some_and(|running| running.hear(said));
                if is_seen { Turned::Output } else { Turned::Nothing }
            }
            News::Weighed(Weighed::Allowed(permit)) => {
                self.permit = Some(permit);
                self.ended(id, Outcome::Approved { feedback: None })
            }
            News::Weighed(Weighed::Denied(why)) => self.ended(id, Outcome::Failed(why)),
            News::Done(result) => self.ended(id, Outcome::Finished(Arc::new(result))),
            News::Checkpoint(Ok(name)) => {
                self.held = None;
                Turned::Checkpoint(id, name)
            }
            News::Checkpoint(Err(why)) => self.ended(id, Outcome::Failed(why)),
        }
    }

    fn ended(&mut self, id: EffectId, outcome: Outcome) -> Turned {
        self.held = None;
        Turned::Outcome(id, outcome)
    }

    /// The question that waits, and since when.
    pub(super) fn question(&self) -> Option<(&Arc<Approval>, Instant)> {
        match &self.held.as_ref()?.work {
            Work::Asking { approval, since, .. } => Some((approval, *since)),
            Work::Waiting(_) | Work::Running(_) => None,
        }
    }

    /// The user's word; what was asked for has an outcome now, unless it is not asked any
    /// more. The outcome's feedback is left to the caller.
    pub(super) fn decide(
        &mut self,
        name: ApprovalId,
        decision: Decision,
    ) -> Option<(EffectId, bool)> {
        if self.question().is_none_or(|(approval, _)| approval.id != name) {
            return None;
        }
        let Held { id, work: Work::Asking { question, .. } } = self.held.take()? else {
            return None;
        };
        self.permit = question.answer(decision);
        Some((id, self.permit.is_some()))
    }

    /// The call that runs.
    pub(super) fn running(&mut self) -> Option<&mut Running> {
        match &mut self.held.as_mut()?.work {
            Work::Running(running) => Some(running),
            Work::Waiting(_) | Work::Asking { .. } => None,
        }
    }

    /// Lets go of what was started. A running call is told to stop and cleans up by itself.
    pub(super) fn let_go(&mut self, id: EffectId) {
        match self.held.take_if(|held| held.id == id).map(|held| held.work) {
            Some(Work::Waiting(task)) => task.abort(),
            Some(Work::Running(running)) => running.stop(),
            Some(Work::Asking { .. }) | None => {}
        }
        self.permit = None;
    }
}

impl Drop for Hands {
    fn drop(&mut self) {
        if let Some(id) = self.held.as_ref().map(|held| held.id) {
            self.let_go(id);
        }
    }
}

impl fmt::Debug for Hands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let held = self.held.as_ref().map(|held| held.id);
        f.debug_struct("Hands").field("held", &held).finish_non_exhaustive()
    }
}

/// Tells what became of work that failed inside, so that nobody waits for it for ever.
struct Fall {
    id: EffectId,
    sender: Sender<Deed>,
    /// None once it ended by itself.
    news: Option<News>,
}

impl Drop for Fall {
    fn drop(&mut self) {
        if let Some(news) = self.news.take().filter(|_| std::thread::panicking()) {
            let (id, sender) = (self.id, self.sender.clone());
            // When nobody takes it, the conversation is gone.
            tokio::spawn(async move { drop(sender.send(Deed { id, news }).await) });
        }
    }
}

fn failed_inside(call: &Call) -> ToolResult {
    ToolResult {
        call_id: Arc::clone(&call.id),
        tool_name: Arc::clone(&call.name),
        is_error: true,
        output: Output::plain("The tool failed inside."),
        told: None,
        images: Vec::new(),
        details: Value::Null,
    }
}

/// Runs a call, and tells what it says in order, before how it ended.
async fn run(permit: Box<dyn Permit>, stop: Stop, mut fall: Fall) {
    let (id, sender) = (fall.id, fall.sender.clone());
    let (said, mut heard) = mpsc::channel(SAID);
    let mut running = permit.run(stop, said);
    let result = loop {
        tokio::select! {
            biased;
            Some(said) = heard.recv() => {
                // When nobody takes it the conversation is gone, and the call was told to stop.
                drop(sender.send(Deed { id, news: News::Said(said) }).await);
            }
            result = &mut running => break result,
        }
    };
    fall.news = None;
    while let Ok(said) = heard.try_recv() {
        drop(sender.send(Deed { id, news: News::Said(said) }).await);
    }
    drop(sender.send(Deed { id, news: News::Done(result) }).await);
}
