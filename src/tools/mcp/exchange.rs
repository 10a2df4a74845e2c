//! One request and its answer: how long to wait, and what comes in between.

use std::{sync::Arc, time::Duration};

use tokio::sync::watch;

/// How long to wait for what.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// For a server to start and to tell its tools. The first start may install it.
    pub start: Duration,
    /// For an answer to a list or another short question.
    pub question: Duration,
    /// For a call or its next progress; the configuration of a server may set another.
    pub silence: Duration,
    /// For a call, whatever its progress.
    pub call: Duration,
    /// For a server to end by itself once its input is closed, and again once it was told to.
    pub parting: Duration,
    /// Before the first restart; each further one waits twice as long.
    pub first_restart: Duration,
    /// Before any restart.
    pub longest_restart: Duration,
    /// The time in which restarts are counted.
    pub restart_window: Duration,
    /// Restarts within that time.
    pub restarts: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            start: Duration::from_secs(60),
            question: Duration::from_secs(30),
            silence: Duration::from_secs(120),
            call: Duration::from_secs(3600),
            parting: Duration::from_secs(2),
            first_restart: Duration::from_secs(1),
            longest_restart: Duration::from_secs(60),
            restart_window: Duration::from_secs(600),
            restarts: 5,
        }
    }
}

/// How far a call is.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// How much is done. Grows.
    pub done: f64,
    /// How much there is to do, when the server knows.
    pub total: Option<f64>,
    /// What is being done.
    pub message: Option<Arc<str>>,
}

/// Where the progress of a request goes: the newest counts.
#[derive(Clone, Debug)]
pub(super) struct Route(pub(super) watch::Sender<Option<Progress>>);

/// How long one request may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Patience {
    /// Until its answer or its next progress.
    pub(super) silence: Duration,
    /// Until its answer.
    pub(super) total: Duration,
}
