//! Calls without a result while their agent works: they are running, not abandoned.
//!
//! A file says of a call only that there is no result yet. What the agent is doing tells
//! whether one is still to come.

use std::{ops::Range, sync::Arc};

use crate::model::{
    Message, MessageId, Part, Progress, RowInfo, Source, ToolCall, ToolState, activity::State,
};

/// Newest rows whose calls can still be running.
const ROWS: usize = 3;

/// What open calls of one conversation are shown as.
#[derive(Default)]
pub(super) struct Running {
    /// None while the agent does nothing.
    shown_as: Option<ToolState>,
    changes: u64,
    kept: Vec<Kept>,
}

/// A message and how it is shown.
struct Kept {
    original: Arc<Message>,
    shown: Arc<Message>,
}

impl Running {
    /// The source, with its open calls shown as this state of the agent means them.
    pub(super) fn over<'a>(
        &'a mut self,
        source: &'a mut dyn Source,
        state: State,
    ) -> WithRunning<'a> {
        let shown_as = match state {
            State::Working => Some(ToolState::Running),
            State::NeedsApproval => Some(ToolState::Waiting),
            State::Done | State::Error | State::Idle | State::Stale => None,
        };
        if shown_as != self.shown_as {
            self.shown_as = shown_as;
            self.changes += 1;
            self.kept.clear();
        }
        WithRunning { running: self, source }
    }

    fn message(&mut self, original: Arc<Message>) -> Arc<Message> {
        let Some(state) = self.shown_as else { return original };
        if let Some(kept) = self.kept.iter().find(|kept| Arc::ptr_eq(&kept.original, &original)) {
            return Arc::clone(&kept.shown);
        }
        if !original.parts.iter().any(|part| matches!(part, Part::ToolCall(call) if is_open(call)))
        {
            return original;
        }
        let mut shown = (*original).clone();
        for part in &mut shown.parts {
            if let Part::ToolCall(call) = part
                && is_open(call)
            {
                Arc::make_mut(call).state = state;
            }
        }
        let shown = Arc::new(shown);
        self.kept.retain(|kept| kept.original.id != original.id);
        self.kept.truncate(ROWS);
        self.kept.insert(0, Kept { original, shown: Arc::clone(&shown) });
        shown
    }
}

fn is_open(call: &ToolCall) -> bool {
    call.state == ToolState::NoResult && call.result.is_none()
}

/// A [`Source`] whose open calls are running.
pub(super) struct WithRunning<'a> {
    running: &'a mut Running,
    source: &'a mut dyn Source,
}

impl Source for WithRunning<'_> {
    fn poll(&mut self) -> u64 {
        // Either side's change must change the sum.
        self.source.poll().wrapping_add(self.running.changes << 48)
    }

    fn len(&self) -> usize {
        self.source.len()
    }

    fn row(&self, index: usize) -> RowInfo {
        self.source.row(index)
    }

    fn index_of(&self, id: MessageId) -> Option<usize> {
        self.source.index_of(id)
    }

    fn prompt_before(&self, index: usize) -> Option<usize> {
        self.source.prompt_before(index)
    }

    fn prompt_after(&self, index: usize) -> Option<usize> {
        self.source.prompt_after(index)
    }

    fn message(&mut self, index: usize) -> Option<Arc<Message>> {
        let message = self.source.message(index)?;
        let is_newest = index + ROWS >= self.source.len();
        Some(if is_newest { self.running.message(message) } else { message })
    }

    fn want(&mut self, rows: Range<usize>) {
        self.source.want(rows);
    }

    fn estimate(&self, rows: Range<usize>) -> (u64, u64) {
        self.source.estimate(rows)
    }

    fn progress(&self) -> Progress {
        self.source.progress()
    }
}
