//! What weighs and runs the calls of a conversation, as the conversation sees it.

use std::{fmt, pin::Pin, sync::Arc};

use tokio::sync::mpsc::Sender;

use crate::{
    model::{Approval, Decision, ToolResult, ToolUse},
    presenter::{Call, Touch},
    tools::Stop,
    wire::ToolSpec,
};

/// Something that takes its time.
pub type Later<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// Has tools, and weighs and runs what is called.
///
/// A call is weighed first; only what comes of that can run, so that nothing runs without
/// a permit.
pub trait Workbench: fmt::Debug + Send + Sync {
    /// What a model is told of now.
    fn tools(&self) -> Vec<Tool>;
    /// Decides on a call, or has the user asked. Touches nothing.
    fn weigh(&self, call: Arc<Call>, terms: Terms) -> Later<Weighed>;
    /// Makes what the first change can be taken back to, and gives its name; none where
    /// checkpoints are not made.
    fn checkpoint(&self) -> Option<Later<Result<Arc<str>, Arc<str>>>> {
        None
    }
    /// Takes the files back to a checkpoint; none where checkpoints are not made.
    fn restore(&self, _checkpoint: &str) -> Option<Later<Result<Restored, Arc<str>>>> {
        None
    }
    /// Where the tools work, for people.
    fn place(&self) -> Option<Arc<str>> {
        None
    }
}

/// A tool as a model is told of it, and what it can change.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// What the model is told.
    pub spec: ToolSpec,
    /// What it can change.
    pub touch: Touch,
}

/// What was done to go back to a checkpoint.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Restored {
    /// A checkpoint that was made just before, to take it back.
    pub before: Arc<str>,
    /// The files that were changed, relative to the workspace.
    pub files: Vec<Arc<str>>,
}

/// What a call is weighed by, beside the rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// What the user lets the model do.
    pub tool_use: ToolUse,
    /// The model has read what others wrote.
    pub has_heard_others: bool,
    /// When it is weighed, in milliseconds since 1970, UTC.
    pub now_ms: i64,
}

/// What became of weighing a call.
pub enum Weighed {
    /// It may run.
    Allowed(Box<dyn Permit>),
    /// The user decides.
    Asked(Approval, Box<dyn Question>),
    /// It may not run; why, in one sentence.
    Denied(Arc<str>),
}

/// A call that waits for the user's word.
pub trait Question: Send {
    /// Ends the question. None when the call was rejected.
    fn answer(self: Box<Self>, decision: Decision) -> Option<Box<dyn Permit>>;
}

/// A call that may run, once.
pub trait Permit: Send {
    /// Runs it. It always ends with a result, also when it is stopped. What it says
    /// meanwhile waits until it is taken.
    fn run(self: Box<Self>, stop: Stop, said: Sender<Said>) -> Later<ToolResult>;
}

/// What a call tells while it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Said {
    /// Bytes of output, which may end in the middle of a character.
    Output(Vec<u8>),
    /// How far it is.
    Note(Arc<str>),
}

impl Restored {
    /// What was done, for the reader.
    pub(super) fn words(&self) -> String {
        /// Files that are named.
        const NAMED: usize = 20;
        if self.files.is_empty() {
            return "The files are as they were at the checkpoint: none was different.".to_owned();
        }
        let named =
            self.files.iter().take(NAMED).map(|file| format!("`{}`", file.replace('`', "'")));
        let named: Vec<String> = named.collect();
        let more = match self.files.len() - named.len() {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        format!("Taken back to the checkpoint: {}{more}", named.join(", "))
    }
}

impl fmt::Debug for Weighed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Allowed(_) => f.write_str("Allowed"),
            Self::Asked(approval, _) => f.debug_tuple("Asked").field(approval).finish(),
            Self::Denied(why) => f.debug_tuple("Denied").field(why).finish(),
        }
    }
}
