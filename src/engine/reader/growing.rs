//! Sources that grow: how they are followed, and how what arrives is told.

use std::{path::PathBuf, sync::Weak};

use super::{Waker, mailbox::Mailbox};
use crate::{engine::watch::Notice, model::activity::Link};

/// Tells a source that follows a spool what happens to that.
pub(in crate::engine) struct Arrivals {
    mailbox: Weak<Mailbox>,
    waker: Waker,
}

impl Arrivals {
    pub(super) fn new(mailbox: Weak<Mailbox>, waker: Waker) -> Self {
        Self { mailbox, waker }
    }

    /// Something has arrived. False when nobody waits for it any more.
    pub(in crate::engine) fn arrived(&self) -> bool {
        let mailbox = self.mailbox.upgrade();
        mailbox.inspect(|mailbox| mailbox.look()).is_some()
    }

    /// Whether more can arrive.
    pub(in crate::engine) fn link(&self, link: Link) {
        if let Some(mailbox) = self.mailbox.upgrade() {
            mailbox.link(link);
            (self.waker)();
        }
    }
}

/// How a source that grows is followed.
#[derive(Clone, Debug)]
pub(in crate::engine) struct Growing {
    /// The file to watch; none for what arrives otherwise.
    pub(in crate::engine) path: Option<PathBuf>,
    pub(in crate::engine) notice: Notice,
    /// How much of its end is indexed; none for all of it.
    pub(in crate::engine) window_bytes: Option<u64>,
    /// Whether to say what the agent is doing.
    pub(in crate::engine) outline: bool,
}
