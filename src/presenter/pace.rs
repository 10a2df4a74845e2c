//! When to present: at once where it matters, else at a steady beat.
//!
//! A flush is whatever brings the reader up to date; exactly one runs at a time. Requests
//! while it runs are remembered as one. The beat is a cadence: a further request does not
//! put the next flush off.

use std::{
    collections::VecDeque,
    sync::Arc,
    time::{Duration, Instant},
};

use crate::model::stream::StreamEvent;

/// The beat where the window is on this machine.
pub const LOCAL_BEAT: Duration = Duration::from_millis(40);
/// The beat where it is at the other end of a network.
pub const REMOTE_BEAT: Duration = Duration::from_millis(90);

/// How soon something should be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Priority {
    /// At the next beat.
    Normal,
    /// Now.
    Immediate,
}

/// Names a flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FlushId(u64);

/// Names someone who waits for a flush of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticket(u64);

/// What is to be done, or has come to pass.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PaceStep {
    /// Begin this flush now, and report when it has [finished](Pace::finished).
    Flush(FlushId),
    /// A flush that nobody waits for failed.
    Report(Arc<str>),
    /// The flush that someone waited for is over, or there will be none.
    Resolved(Ticket, Result<(), Arc<str>>),
    /// Nothing runs any more, and nothing will.
    Disposed,
}

/// Decides when flushes begin.
#[derive(Debug)]
pub struct Pace {
    /// None until it is known where the window is; no flush begins before that.
    beat: Option<Duration>,
    pending: Option<Priority>,
    due: Option<Instant>,
    running: Option<Running>,
    waiting: VecDeque<Ticket>,
    is_disposed: bool,
    /// Something of this reply was asked for already.
    has_begun: bool,
    next: u64,
}

#[derive(Clone, Copy, Debug)]
struct Running {
    id: FlushId,
    /// Who waits for this very flush.
    owner: Option<Ticket>,
}

impl Pace {
    /// A pace with this beat; with none, flushes wait for [`Pace::set_beat`].
    #[must_use]
    pub fn new(beat: Option<Duration>) -> Self {
        Self {
            beat,
            pending: None,
            due: None,
            running: None,
            waiting: VecDeque::new(),
            is_disposed: false,
            has_begun: false,
            next: 0,
        }
    }

    /// Says where the window is.
    pub fn set_beat(&mut self, beat: Duration, now: Instant) -> Vec<PaceStep> {
        self.beat = Some(beat);
        self.go_on(now)
    }

    /// Asks for a flush as an event deserves: what begins a reply and what belongs to a
    /// call is seen at once, more of the same at the next beat, all else not at all.
    pub fn event(&mut self, event: &StreamEvent, now: Instant) -> Vec<PaceStep> {
        let priority = match event {
            StreamEvent::ToolOpen { .. } | StreamEvent::ToolArgs { .. } | StreamEvent::End(_) => {
                Priority::Immediate
            }
            StreamEvent::Text { .. } | StreamEvent::Reasoning { .. } if self.has_begun => {
                Priority::Normal
            }
            StreamEvent::Text { .. } | StreamEvent::Reasoning { .. } => Priority::Immediate,
            StreamEvent::BlockOpen { .. } | StreamEvent::BlockClose { .. } => Priority::Normal,
            StreamEvent::Started { .. }
            | StreamEvent::Opaque { .. }
            | StreamEvent::Usage(_)
            | StreamEvent::RateLimit(_)
            | StreamEvent::Warning(_)
            | StreamEvent::KeepAlive => return Vec::new(),
        };
        self.has_begun |= !matches!(event, StreamEvent::BlockOpen { .. });
        self.request(priority, now)
    }

    /// Asks for a flush.
    pub fn request(&mut self, priority: Priority, now: Instant) -> Vec<PaceStep> {
        if self.is_disposed {
            return Vec::new();
        }
        self.pending = self.pending.max(Some(priority));
        if self.running.is_some() { Vec::new() } else { self.go_on(now) }
    }

    /// Begins the flush whose time has come.
    pub fn tick(&mut self, now: Instant) -> Vec<PaceStep> {
        match self.due {
            Some(due) if due <= now && self.running.is_none() => vec![self.begin(None)],
            _ => Vec::new(),
        }
    }

    /// When to call [`Pace::tick`].
    #[must_use]
    pub fn due(&self) -> Option<Instant> {
        self.due.filter(|_| self.running.is_none())
    }

    /// Asks for a flush that begins after this call, and for word when it is over.
    pub fn flush_now(&mut self, now: Instant) -> (Ticket, Vec<PaceStep>) {
        let ticket = Ticket(self.number());
        if self.is_disposed {
            return (ticket, vec![PaceStep::Resolved(ticket, Ok(()))]);
        }
        self.due = None;
        self.waiting.push_back(ticket);
        let steps = if self.running.is_some() { Vec::new() } else { self.go_on(now) };
        (ticket, steps)
    }

    /// Takes the end of a flush.
    pub fn finished(
        &mut self,
        id: FlushId,
        result: Result<(), Arc<str>>,
        now: Instant,
    ) -> Vec<PaceStep> {
        let Some(running) = self.running.take_if(|running| running.id == id) else {
            return Vec::new();
        };
        let mut steps = match (running.owner, result) {
            (Some(owner), result) => vec![PaceStep::Resolved(owner, result)],
            (None, Err(error)) => vec![PaceStep::Report(error)],
            (None, Ok(())) => Vec::new(),
        };
        if self.is_disposed {
            steps.extend(self.dismiss());
            steps.push(PaceStep::Disposed);
        } else {
            steps.extend(self.go_on(now));
        }
        steps
    }

    /// Forgets what was asked for, at the start of a reply. A running flush runs on.
    pub fn reset(&mut self) {
        self.pending = None;
        self.due = None;
        self.has_begun = false;
    }

    /// Lets no further flush begin.
    pub fn dispose(&mut self) -> Vec<PaceStep> {
        self.reset();
        self.is_disposed = true;
        if self.running.is_some() {
            return Vec::new();
        }
        let mut steps = self.dismiss();
        steps.push(PaceStep::Disposed);
        steps
    }

    /// Begins what is next while nothing runs, or sets the time for it.
    fn go_on(&mut self, now: Instant) -> Vec<PaceStep> {
        let Some(beat) = self.beat else { return Vec::new() };
        if self.running.is_some() {
            return Vec::new();
        }
        if self.pending == Some(Priority::Immediate) {
            return vec![self.begin(None)];
        }
        if let Some(owner) = self.waiting.pop_front() {
            return vec![self.begin(Some(owner))];
        }
        if self.pending.is_some() {
            self.due.get_or_insert(now + beat);
        }
        Vec::new()
    }

    fn begin(&mut self, owner: Option<Ticket>) -> PaceStep {
        let id = FlushId(self.number());
        self.pending = None;
        self.due = None;
        self.running = Some(Running { id, owner });
        PaceStep::Flush(id)
    }

    fn dismiss(&mut self) -> Vec<PaceStep> {
        let waiting = std::mem::take(&mut self.waiting);
        waiting.into_iter().map(|ticket| PaceStep::Resolved(ticket, Ok(()))).collect()
    }

    fn number(&mut self) -> u64 {
        self.next += 1;
        self.next
    }
}
