//! The tools of a conversation: a workspace, servers, and the user's rules over both.

mod asked;
mod pages;
mod result;
mod servers;

use std::{
    fmt,
    sync::{Arc, OnceLock},
};

use parking_lot::Mutex;
use tokio::sync::mpsc::{self, Sender};

pub use pages::PageFetcher;

use super::workbench::{Later, Permit, Question, Restored, Said, Terms, Tool, Weighed, Workbench};
use crate::{
    model::{Decision, ToolResult, ToolUse},
    presenter::{Call, Touch},
    tools::{
        self, Approved, BadArguments, Bench, Effect, Progress, Run, Stop, ToolSpec, Verdict,
        checkpoint::{CheckpointError, CheckpointId, Checkpoints},
        mcp::Servers,
        policy::{self, Answer, Granted, Level, Rule, Rules, Scope, Trust},
    },
    wire,
};

/// Words of a running tool that may wait; a command that writes faster is held back.
const PROGRESS: usize = 16;

/// The tools of a conversation: those that are built in, in a workspace, and those of servers.
#[derive(Clone)]
pub struct Toolbox {
    inner: Arc<Inner>,
}

struct Inner {
    bench: Bench,
    servers: Option<Servers>,
    rules: Mutex<Rules>,
    keep: Keep,
    checkpoints: OnceLock<Checkpoints>,
}

/// Keeps the rules that hold until the user takes them back.
pub type Keep = Box<dyn Fn(&[Rule]) + Send + Sync>;

impl Toolbox {
    /// Tools that work on `bench`, and those of `servers`. `always` are the rules that were
    /// kept; `keep` is called, on a thread that may wait, when there are more.
    #[must_use]
    pub fn new(bench: Bench, servers: Option<Servers>, always: Vec<Rule>, keep: Keep) -> Self {
        let bench = match &servers {
            Some(servers) => bench.remote(Arc::new(servers::Remotes(servers.clone()))),
            None => bench,
        };
        let rules = Mutex::new(Rules { always, ..Rules::default() });
        Self {
            inner: Arc::new(Inner { bench, servers, rules, keep, checkpoints: OnceLock::new() }),
        }
    }

    /// Makes checkpoints of the workspace, too.
    #[must_use]
    pub fn checkpoints(self, checkpoints: Checkpoints) -> Self {
        // Those that it has already it keeps.
        self.inner.checkpoints.get_or_init(|| checkpoints);
        self
    }

    /// Its servers.
    #[must_use]
    pub fn servers(&self) -> Option<&Servers> {
        self.inner.servers.as_ref()
    }
}

impl Workbench for Toolbox {
    fn tools(&self) -> Vec<Tool> {
        let built_in = ToolSpec::built_in().iter().map(built_in);
        let remote = self.inner.servers.iter().flat_map(servers::tools);
        built_in.chain(remote).collect()
    }

    fn weigh(&self, call: Arc<Call>, terms: Terms) -> Later<Weighed> {
        let toolbox = self.clone();
        Box::pin(async move {
            // Finding out what a call would touch reads files.
            let weighing = tokio::task::spawn_blocking(move || toolbox.judge(&call, terms));
            weighing.await.unwrap_or_else(|_panicked| {
                Weighed::Denied("Not run: it could not be looked into.".into())
            })
        })
    }

    fn checkpoint(&self) -> Option<Later<Result<Arc<str>, Arc<str>>>> {
        let checkpoints = self.inner.checkpoints.get()?.clone();
        Some(Box::pin(async move {
            let made = checkpoints.make().await.map_err(|error| words_of(&error))?;
            Ok(Arc::clone(made.name()))
        }))
    }

    fn restore(&self, checkpoint: &str) -> Option<Later<Result<Restored, Arc<str>>>> {
        let checkpoints = self.inner.checkpoints.get()?.clone();
        let id = CheckpointId::parse(checkpoint);
        Some(Box::pin(async move {
            let id = id.ok_or(CheckpointError::Unknown).map_err(|error| words_of(&error))?;
            let (before, changes) =
                checkpoints.restore(&id).await.map_err(|error| words_of(&error))?;
            let files = changes.iter().map(|it| policy::visible(&it.path).text.into()).collect();
            Ok(Restored { before: Arc::clone(before.name()), files })
        }))
    }

    fn place(&self) -> Option<Arc<str>> {
        Some(self.inner.bench.workspace().root().to_string_lossy().into())
    }
}

impl Toolbox {
    fn judge(&self, call: &Arc<Call>, terms: Terms) -> Weighed {
        let understood = match self.understand(call) {
            Ok(understood) => understood,
            Err(why) => return Weighed::Denied(format!("Not run: {why}").into()),
        };
        let trust = if terms.has_heard_others { Trust::Untrusted } else { Trust::UserOnly };
        let facts = self.inner.bench.facts(&understood, trust);
        let mut rules = self.inner.rules.lock().clone();
        rules.level = level(terms.tool_use);
        rules.always.extend(self.inner.servers.iter().flat_map(servers::rules));
        let scheduled =
            |approved| Scheduled { toolbox: self.clone(), call: Arc::clone(call), approved };
        match policy::judge(understood, facts, &rules) {
            Verdict::Allow(approved) => Weighed::Allowed(Box::new(scheduled(approved))),
            Verdict::Deny(denial) => Weighed::Denied(denial.to_string().into()),
            Verdict::Ask(question) => {
                let approval = asked::approval(question.approval(), call, terms.now_ms);
                let toolbox = self.clone();
                let call = Arc::clone(call);
                Weighed::Asked(approval, Box::new(Asked { toolbox, call, question }))
            }
        }
    }

    fn understand(&self, call: &Call) -> Result<tools::Call, BadArguments> {
        let understood = tools::Call::parse(&call.name, &call.arguments);
        let Some(servers) = self.inner.servers.as_ref().filter(|_| understood.is_err()) else {
            return understood;
        };
        match servers.resolve(&call.name) {
            Ok((server, _)) => Ok(tools::Call::Remote {
                server: server.to_string(),
                tool: call.name.to_string(),
                arguments: call.arguments.clone(),
            }),
            // What is wrong with a call of a built-in tool says more than that no server has it.
            Err(_unknown) => understood,
        }
    }

    fn remember(&self, offer: &policy::Offer) {
        let mut rules = self.inner.rules.lock();
        match offer.scope {
            Scope::Session => rules.session.push(offer.rule.clone()),
            Scope::Always => {
                rules.always.push(offer.rule.clone());
                let always = rules.always.clone();
                drop(rules);
                let inner = Arc::clone(&self.inner);
                tokio::task::spawn_blocking(move || (inner.keep)(&always));
            }
        }
    }
}

/// A call that waits for the user's word.
struct Asked {
    toolbox: Toolbox,
    call: Arc<Call>,
    question: Box<policy::Question>,
}

impl Question for Asked {
    fn answer(self: Box<Self>, decision: Decision) -> Option<Box<dyn Permit>> {
        let Self { toolbox, call, question } = *self;
        let answer = match decision {
            Decision::Once => Answer::Once,
            Decision::Offer(index) => Answer::Offer(index),
            Decision::Reject => Answer::Reject,
        };
        let Granted { call: approved, remember } = question.answer(answer)?;
        if let Some(offer) = &remember {
            toolbox.remember(offer);
        }
        Some(Box::new(Scheduled { toolbox, call, approved }))
    }
}

/// A call that may run.
struct Scheduled {
    toolbox: Toolbox,
    call: Arc<Call>,
    approved: Approved<tools::Call>,
}

impl Permit for Scheduled {
    fn run(self: Box<Self>, stop: Stop, said: Sender<Said>) -> Later<ToolResult> {
        let Self { toolbox, call, approved } = *self;
        Box::pin(async move {
            let (progress, mut heard) = mpsc::channel(PROGRESS);
            let run = Run { call_id: Arc::clone(&call.id), stop, progress };
            let running = toolbox.inner.bench.run(approved, run);
            let telling = async {
                while let Some(progress) = heard.recv().await {
                    // When nobody listens any more, the call was told to stop.
                    drop(said.send(words(progress)).await);
                }
            };
            let (output, ()) = tokio::join!(running, telling);
            result::of(&call, output)
        })
    }
}

fn words_of(error: &CheckpointError) -> Arc<str> {
    policy::visible(&error.to_string()).text.into()
}

fn words(progress: Progress) -> Said {
    match progress {
        Progress::Output { bytes, stream: _ } => Said::Output(bytes),
        Progress::Note(note) => Said::Note(note),
    }
}

fn built_in(spec: &ToolSpec) -> Tool {
    let touch = match spec.kind.effect() {
        Effect::Looks => Touch::Nothing,
        Effect::Files => Touch::Files,
        Effect::Anything => Touch::Anything,
    };
    let spec = wire::ToolSpec {
        name: Arc::clone(&spec.name),
        description: Arc::clone(&spec.description),
        parameters: spec.schema.clone(),
    };
    Tool { spec, touch }
}

fn level(tool_use: ToolUse) -> Level {
    match tool_use {
        ToolUse::Off | ToolUse::Ask => Level::Ask,
        ToolUse::Edits => Level::Edits,
        ToolUse::Auto => Level::Auto,
    }
}

impl fmt::Debug for Toolbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let root = self.inner.bench.workspace().root();
        f.debug_struct("Toolbox").field("workspace", &root).finish_non_exhaustive()
    }
}
