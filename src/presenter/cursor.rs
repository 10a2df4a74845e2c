//! Where presenting a reply stands.

use std::{sync::Arc, time::Instant};

use super::effect::{Call, EffectId};
use crate::markup::Arrival;

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
    pub(super) lock: Option<Held>,
    pub(super) phase: Phase,
    pub(super) spent: Spent,
    pub(super) is_ready: bool,
    pub(super) told_over: bool,
}

/// What is outstanding.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) id: EffectId,
    pub(super) work: Work,
    /// Whether the block was complete when this was started.
    pub(super) arrival: Arrival,
    /// A wake came meanwhile.
    pub(super) is_dirty: bool,
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
pub(super) enum Phase {
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
    pub(super) fn new() -> Self {
        let (phase, spent) = (Phase::Streaming, Spent::No);
        Self { index: 0, lock: None, phase, spent, is_ready: false, told_over: false }
    }
}
