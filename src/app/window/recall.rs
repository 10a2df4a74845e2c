//! What the window remembers of the time before: its tabs, and where each session was read.
//!
//! A thread of its own writes it, the newest state only; a file that cannot be read or
//! written costs the memory and nothing else.

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
    sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
    thread,
};

use serde::{Deserialize, Serialize};

use crate::{
    app::private_file,
    layout::{Anchor, spec::SlugKey},
    model::MessageId,
    view::sessions::SessionId,
};

/// A file of more bytes was written by somebody else.
const FILE_MAX: u64 = 4 << 20;
/// Sessions whose place is remembered; the others open at their end.
const PLACES_MAX: usize = 1_000;
/// Tabs that are opened again.
const TABS_MAX: usize = 64;

/// What is remembered.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Recall {
    /// The tabs, in their order.
    pub(super) tabs: Vec<Remembered>,
    /// The one that was shown.
    pub(super) active: usize,
    /// The sidebar was hidden.
    pub(super) is_bare: bool,
    /// Where sessions were read, those that were read last first.
    places: VecDeque<Place>,
}

/// A tab.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Remembered {
    /// One of our sessions.
    Session {
        /// Its name.
        id: String,
        /// What it was called.
        title: String,
    },
    /// What was written in a conversation that had not begun, by the name of its draft.
    Draft(String),
    /// A file.
    File(PathBuf),
}

/// Where a session was read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Place {
    session: String,
    message: u64,
    part: u16,
    leaf: u32,
    chunk: u32,
    offset: f64,
}

impl Recall {
    /// Reads it; what cannot be read is as if it had never been.
    pub(super) fn read(path: &Path) -> Self {
        let text = match private_file::read(path, FILE_MAX) {
            Ok(text) => text.unwrap_or_default(),
            Err(error) => {
                tracing::warn!(%error, "the tabs of before are forgotten");
                return Self::default();
            }
        };
        let mut recall: Self = serde_json::from_str(&text).unwrap_or_default();
        recall.tabs.truncate(TABS_MAX);
        recall.places.truncate(PLACES_MAX);
        recall
    }

    /// Where a session was read; none when it was read at its end, or never.
    pub(super) fn place(&self, id: &SessionId) -> Option<Anchor> {
        let place = self.places.iter().find(|place| place.session == id.as_str())?;
        let Place { message, part, leaf, chunk, offset, .. } = *place;
        let key = SlugKey { part, leaf, chunk };
        let offset = if offset.is_finite() { offset } else { 0.0 };
        Some(Anchor { message: MessageId(message), key, offset })
    }

    /// Remembers where a session is read; none is its end.
    pub(super) fn note(&mut self, id: &SessionId, anchor: Option<Anchor>) {
        self.places.retain(|place| place.session != id.as_str());
        let Some(Anchor { message, key, offset }) = anchor else { return };
        let SlugKey { part, leaf, chunk } = key;
        let session = id.as_str().to_owned();
        self.places.push_front(Place { session, message: message.0, part, leaf, chunk, offset });
        self.places.truncate(PLACES_MAX);
    }
}

/// Writes what is remembered.
#[derive(Debug)]
pub(super) struct Keeper {
    path: PathBuf,
    sender: Option<SyncSender<Recall>>,
    written: Recall,
    worker: Option<thread::JoinHandle<()>>,
}

impl Keeper {
    /// Begins with what was read.
    pub(super) fn new(path: PathBuf, read: Recall) -> Self {
        let (sender, receiver) = sync_channel(1);
        let file = path.clone();
        let worker = thread::Builder::new()
            .name("window-memory".to_owned())
            .spawn(move || write_all(&receiver, &file));
        let sender = worker.is_ok().then_some(sender);
        Self { path, sender, written: read, worker: worker.ok() }
    }

    /// Has it written, if it is another than before. A state that finds no room is written
    /// with the next call.
    pub(super) fn keep(&mut self, recall: &Recall) {
        if *recall == self.written {
            return;
        }
        let Some(sender) = &self.sender else { return };
        match sender.try_send(recall.clone()) {
            Ok(()) => self.written = recall.clone(),
            Err(TrySendError::Full(_)) => {}
            Err(TrySendError::Disconnected(_)) => self.sender = None,
        }
    }

    /// Writes the last state, and waits for it.
    pub(super) fn finish(&mut self, recall: &Recall) {
        self.sender = None;
        if let Some(worker) = self.worker.take()
            && worker.join().is_err()
        {
            tracing::warn!("the thread that remembers tabs came to a bad end");
        }
        if *recall != self.written {
            write(&self.path, recall);
        }
    }
}

fn write_all(receiver: &Receiver<Recall>, path: &Path) {
    for recall in receiver {
        write(path, &recall);
    }
}

fn write(path: &Path, recall: &Recall) {
    let written = serde_json::to_vec(recall).map_err(std::io::Error::from);
    if let Err(error) = written.and_then(|bytes| private_file::replace(path, &bytes)) {
        tracing::warn!(%error, "the tabs cannot be remembered");
    }
}
