//! The governor's book: what was asked for, when frames were, and when the next may be.
//!
//! Wake-ups come from any thread and never wait, so it is all atomic numbers. Times are
//! nanoseconds since the governor was made, and come from outside.

use std::{
    sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    time::Duration,
};

use crate::perf::{Reason, Requests, Tally};

/// Between two frames that nobody's hand asked for.
pub const FRAME: Duration = Duration::from_millis(16);
/// How long a wake-up from a thread gathers others before it becomes a frame.
///
/// So much sooner than [`FRAME`] may a frame follow one that came after a rest: what is awaited
/// often comes right after the frame that asked for it.
pub const GATHER: Duration = Duration::from_millis(8);
/// Between two frames of a reply while power is saved.
pub const SAVING: Duration = Duration::from_millis(100);
/// A frame asked for zero time from now would be painted twice.
pub(super) const SOON: Duration = Duration::from_millis(1);

/// A request that was not answered for so long is not believed in any more: a window
/// system may keep frames to itself, and then run the program's logic only.
const UNANSWERED: Duration = Duration::from_millis(250);
const NEVER: u64 = u64::MAX;

#[derive(Debug)]
pub(super) struct Ledger {
    tally: Tally,
    /// The earliest frame that was asked for since the last one.
    asked: AtomicU64,
    /// A frame that has been promised whatever frames come before it.
    promised: AtomicU64,
    last_frame: AtomicU64,
    /// When the next frame would be due if all kept their distance.
    paced: AtomicU64,
    hidden: AtomicBool,
    /// Something was asked for while nothing could be seen.
    withheld: AtomicBool,
    still: AtomicBool,
    saving: AtomicBool,
}

impl Default for Ledger {
    fn default() -> Self {
        Self {
            tally: Tally::default(),
            asked: AtomicU64::new(NEVER),
            promised: AtomicU64::new(NEVER),
            last_frame: AtomicU64::new(0),
            paced: AtomicU64::new(0),
            hidden: AtomicBool::new(false),
            withheld: AtomicBool::new(false),
            still: AtomicBool::new(false),
            saving: AtomicBool::new(false),
        }
    }
}

impl Ledger {
    /// Somebody wants a frame. Gives how long until it, if the context has to be told;
    /// nothing when an earlier frame will do, or when nothing could be seen of it.
    pub(super) fn request(
        &self,
        reason: Reason,
        delay: Duration,
        now: Duration,
    ) -> Option<Duration> {
        self.tally.request(reason, now);
        let now = nanos(now);
        let due = now.saturating_add(nanos(delay.max(SOON))).max(self.earliest(reason));
        if reason == Reason::Copied {
            self.promised.fetch_min(due, SeqCst);
        }
        if self.hidden.load(SeqCst) {
            self.withheld.store(true, SeqCst);
            return None;
        }
        self.ask(due, now)
    }

    /// A frame begins at `now`: it answers everything but promises.
    pub(super) fn frame_begins(&self, now: Duration) {
        self.tally.frame(now);
        let now = nanos(now);
        self.last_frame.store(now, SeqCst);
        let paced = self.paced.load(SeqCst).max(now).saturating_add(nanos(FRAME));
        self.paced.store(paced.min(now.saturating_add(nanos(FRAME + GATHER))), SeqCst);
        self.pass_begins();
        if self.promised.load(SeqCst) <= now {
            self.promised.store(NEVER, SeqCst);
        }
    }

    /// The same frame is laid out again, or none is and the program's logic alone runs:
    /// the integration has heard what was asked for.
    pub(super) fn pass_begins(&self) {
        self.asked.store(NEVER, SeqCst);
    }

    /// A frame ends. Gives how long until one that was promised, if the context has to be
    /// told.
    pub(super) fn frame_ends(&self, now: Duration) -> Option<Duration> {
        let promised = self.promised.load(SeqCst);
        let wanted = promised != NEVER && !self.hidden.load(SeqCst);
        wanted.then(|| self.ask(promised, nanos(now))).flatten()
    }

    /// Says whether anything can be seen. True when it can again, and was asked for.
    pub(super) fn set_hidden(&self, hidden: bool) -> bool {
        self.hidden.store(hidden, SeqCst);
        !hidden && self.withheld.swap(false, SeqCst)
    }

    pub(super) fn set_still(&self, still: bool) {
        self.still.store(still, SeqCst);
    }

    pub(super) fn set_saving(&self, saving: bool) {
        self.saving.store(saving, SeqCst);
    }

    pub(super) fn is_hidden(&self) -> bool {
        self.hidden.load(SeqCst)
    }

    /// True while nothing may move by itself.
    pub(super) fn is_still(&self) -> bool {
        self.still.load(SeqCst) || self.saving.load(SeqCst)
    }

    /// What egui asks for by itself; it cannot be kept from it.
    pub(super) fn count_toolkit(&self, now: Duration) {
        self.tally.request(Reason::Toolkit, now);
    }

    pub(super) fn total(&self) -> Requests {
        self.tally.total()
    }

    pub(super) fn last(&self, seconds: u64, now: Duration) -> Requests {
        self.tally.last(seconds, now)
    }

    /// The earliest that a frame may be for a reason.
    fn earliest(&self, reason: Reason) -> u64 {
        match reason {
            Reason::Input | Reason::Shown => 0,
            Reason::Stream | Reason::Colours | Reason::Picture | Reason::Tick
                if self.saving.load(SeqCst) =>
            {
                self.last_frame.load(SeqCst).saturating_add(nanos(SAVING))
            }
            Reason::Stream
            | Reason::Page
            | Reason::Colours
            | Reason::Picture
            | Reason::Layout
            | Reason::Scroll
            | Reason::Animation
            | Reason::Tick
            | Reason::Copied
            | Reason::Find
            | Reason::Answer
            | Reason::Other
            | Reason::Toolkit => self.paced.load(SeqCst).saturating_sub(nanos(GATHER)),
        }
    }

    fn ask(&self, due: u64, now: u64) -> Option<Duration> {
        let before = self.asked.fetch_min(due, SeqCst);
        let unanswered = before.saturating_add(nanos(UNANSWERED)) < now;
        if unanswered {
            self.asked.store(due, SeqCst);
        }
        let delay = Duration::from_nanos(due.saturating_sub(now)).max(SOON);
        (due < before || unanswered).then_some(delay)
    }
}

fn nanos(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(NEVER - 1)
}
