//! How the servers stand, for the view.

use std::{sync::Arc, time::Duration};

use tokio::sync::watch;

use super::{
    config::ToolSetting,
    definition::{Definition, Difference},
    digest::Digest,
    launch::Acceptance,
};

/// How all servers stand, in the order of the configuration.
pub type Overview = Arc<[ServerStatus]>;

/// How one server stands.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerStatus {
    /// Its name in the configuration.
    pub name: Arc<str>,
    /// Where it stands.
    pub state: ServerState,
    /// What it says about itself, once it has.
    pub info: Option<Arc<ServerInfo>>,
    /// Its tools, once it has told them, in the order of their names.
    pub tools: Arc<[ToolStatus]>,
    /// What of its lists could not be used.
    pub warnings: Arc<[String]>,
}

/// Where a server stands. Exactly one holds at any time.
#[derive(Clone, Debug, PartialEq)]
pub enum ServerState {
    /// The configuration keeps it off.
    Disabled,
    /// It was not needed yet, or was stopped.
    Stopped,
    /// It was needed, and what would be started has to be accepted first.
    NeedsAcceptance(Arc<Acceptance>),
    /// It is starting.
    Starting,
    /// It answers.
    Ready,
    /// It ended by itself and starts again after this time.
    Restarting {
        /// Why it ended.
        why: Arc<str>,
        /// From the moment that the state was entered.
        after: Duration,
    },
    /// It could not be started, or ended too often. It is tried again when it is needed.
    Failed(Arc<str>),
}

/// What a server says about itself. None of it is trusted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServerInfo {
    /// Its name.
    pub name: String,
    /// Its name for people.
    pub title: Option<String>,
    /// Its version.
    pub version: String,
    /// The version of the protocol that it speaks.
    pub protocol: String,
    /// How it wants to be used. For the user to read; no model gets it by itself.
    pub instructions: Option<String>,
}

/// How one tool stands.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolStatus {
    /// As the server describes it now.
    pub definition: Arc<Definition>,
    /// Names this definition at this server; given back to accept it.
    pub sha256: Digest,
    /// Whether it may be called.
    pub standing: Standing,
    /// What the configuration sets.
    pub setting: ToolSetting,
    /// How many hidden characters it holds; with any, "always allow" is not offered.
    pub hidden: usize,
}

/// Whether a tool may be called.
#[derive(Clone, Debug, PartialEq)]
pub enum Standing {
    /// It is what the user accepted.
    Accepted,
    /// It was never accepted.
    New,
    /// It differs from what was accepted.
    Changed(Arc<[Difference]>),
    /// The description is what was accepted, but of another server of this name.
    Moved,
}

/// Where the supervisors write how their servers stand.
#[derive(Debug)]
pub(super) struct Board {
    sender: watch::Sender<Overview>,
}

impl Board {
    pub(super) fn new(statuses: Vec<ServerStatus>) -> Self {
        Self { sender: watch::Sender::new(statuses.into()) }
    }

    pub(super) fn watch(&self) -> watch::Receiver<Overview> {
        self.sender.subscribe()
    }

    pub(super) fn get(&self) -> Overview {
        Arc::clone(&self.sender.borrow())
    }

    /// Changes one server's entry; nobody is told when nothing changed.
    pub(super) fn update(&self, index: usize, change: impl FnOnce(&mut ServerStatus)) {
        self.sender.send_if_modified(|overview| {
            let mut statuses = overview.to_vec();
            let Some(status) = statuses.get_mut(index) else { return false };
            change(status);
            let is_new = overview.get(index) != statuses.get(index);
            if is_new {
                *overview = statuses.into();
            }
            is_new
        });
    }

    pub(super) fn set_state(&self, index: usize, state: ServerState) {
        self.update(index, |status| status.state = state);
    }
}
