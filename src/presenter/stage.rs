//! What is shown of a run of turns: finished messages, and the one that is arriving.
//!
//! Whoever runs the turns, ourselves or an agent in a process of its own, tells it in
//! [`RunEvent`]s. At every event each message stands in exactly one place: it leaves the
//! place for arriving messages in the same step that puts it among the finished ones. A
//! result goes into its call as soon as it is there, whatever its siblings do.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use super::slot::Slot;
use crate::model::{
    Message, MessageId, Part, Role, ToolCall, ToolResult, ToolSituation, ToolState,
};

/// What happens in a run.
#[derive(Clone, Debug, PartialEq)]
pub enum RunEvent {
    /// The run begins.
    Started,
    /// A message begins to arrive.
    MessageStarted(Arc<Message>),
    /// More of it arrived; this is all of it so far.
    MessageUpdated(Arc<Message>),
    /// A message is complete, whether or not it was seen to start.
    MessageEnded(Arc<Message>),
    /// A call begins to run.
    CallStarted {
        /// The call's id.
        call_id: Arc<str>,
    },
    /// What a running call has given so far.
    CallOutput(Arc<ToolResult>),
    /// A call is over.
    CallEnded(Arc<ToolResult>),
    /// The run is over.
    Ended {
        /// Every message of the run, some of which no event may have told of.
        messages: Vec<Arc<Message>>,
        /// How it ended.
        end: RunEnd,
    },
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RunEnd {
    /// There was nothing more to do.
    Done,
    /// The user stopped it.
    Aborted,
    /// It failed.
    Failed,
}

/// The messages of a conversation while it runs.
#[derive(Debug, Default)]
pub struct Stage {
    finished: Vec<Arc<Message>>,
    /// Every id that has a place, and those of results that went into their calls.
    seen: BTreeSet<MessageId>,
    arriving: Option<Arc<Message>>,
    slot: Slot<Message>,
    /// Calls that are running, with output that the next frame will show.
    running: BTreeMap<Arc<str>, Option<Arc<ToolResult>>>,
    /// Index of the first message of this run.
    run_start: usize,
    is_running: bool,
}

impl Stage {
    /// A stage with the messages of a conversation that nothing happens in.
    #[must_use]
    pub fn new(messages: impl IntoIterator<Item = Arc<Message>>) -> Self {
        let finished: Vec<_> = messages.into_iter().collect();
        let seen = finished.iter().map(|message| message.id).collect();
        Self { finished, seen, ..Self::default() }
    }

    /// Takes an event. True when it should be seen at once, and not with the next frame.
    pub fn apply(&mut self, event: RunEvent) -> bool {
        match event {
            RunEvent::Started => {
                self.is_running = true;
                self.run_start = self.finished.len();
            }
            RunEvent::MessageStarted(message) => self.start(message),
            RunEvent::MessageUpdated(message) => return self.update(message),
            RunEvent::MessageEnded(message) => self.finish(message),
            RunEvent::CallStarted { call_id } => {
                self.running.insert(Arc::clone(&call_id), None);
                self.change_call(&call_id, |call| call.state = ToolState::Running);
            }
            RunEvent::CallOutput(output) => {
                if let Some(latest) = self.running.get_mut(&output.call_id) {
                    *latest = Some(output);
                }
                return false;
            }
            RunEvent::CallEnded(result) => {
                self.running.remove(&result.call_id);
                self.answer(&result);
            }
            RunEvent::Ended { messages, end } => self.end(messages, end),
        }
        true
    }

    /// A frame begins: shows what was collected since the last one. True if there was any.
    pub fn frame(&mut self) -> bool {
        let outputs: Vec<_> = self.running.values_mut().filter_map(Option::take).collect();
        for output in &outputs {
            self.change_call(&output.call_id, |call| call.result = Some(Arc::clone(output)));
        }
        let arriving = self.arriving.as_ref();
        let has_moved = self.slot.frame(|| arriving.map(Arc::clone));
        has_moved || !outputs.is_empty()
    }

    /// Every message, in order, each once.
    pub fn messages(&self) -> impl Iterator<Item = &Arc<Message>> {
        self.finished.iter().chain(self.slot.shown())
    }

    /// The message that is arriving, as it is shown.
    #[must_use]
    pub fn arriving(&self) -> Option<&Arc<Message>> {
        self.slot.shown()
    }

    /// A run is going on.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.is_running
    }

    /// Something shown is still going to change by itself.
    #[must_use]
    pub fn is_live(&self) -> bool {
        let has_live_call =
            |message: &Arc<Message>| calls(message).any(|call| call.state.is_live());
        self.is_running
            || self.slot.shown().is_some()
            || self.finished.iter().skip(self.run_start).any(has_live_call)
    }

    /// The calls of this run that were answered, in the order they were made.
    pub fn answered(&self) -> impl Iterator<Item = &Arc<ToolCall>> {
        let messages = self.finished.iter().skip(self.run_start);
        messages.flat_map(|message| calls(message)).filter(|call| !call.state.is_live())
    }

    fn start(&mut self, message: Arc<Message>) {
        if self.seen.contains(&message.id) {
            return;
        }
        if self.arriving.as_ref().is_some_and(|arriving| arriving.id != message.id) {
            self.leave_unfinished();
        }
        self.slot.show(Arc::clone(&message));
        self.arriving = Some(message);
    }

    fn update(&mut self, message: Arc<Message>) -> bool {
        if self.arriving.as_ref().is_none_or(|arriving| arriving.id != message.id) {
            self.start(message);
            return true;
        }
        self.arriving = Some(message);
        self.slot.mark();
        false
    }

    fn finish(&mut self, message: Arc<Message>) {
        if self.arriving.as_ref().is_some_and(|arriving| arriving.id == message.id) {
            self.arriving = None;
            self.slot.clear();
        }
        if !self.seen.insert(message.id) {
            return;
        }
        if message.role == Role::Tool && self.take_results(&message) {
            return;
        }
        self.finished.push(message);
        let last = self.finished.len() - 1;
        let (is_running, running) = (self.is_running, &self.running);
        let state = |call: &ToolCall, message: &Message| {
            let situation = ToolSituation {
                streaming: false,
                pending: running.contains_key(&call.id),
                result_is_error: call.result.as_ref().map(|result| result.is_error),
                stop: message.stop.as_ref(),
            };
            match ToolState::of(situation) {
                // The run goes on, so its turn will come.
                ToolState::NoResult if is_running => ToolState::Waiting,
                state => state,
            }
        };
        change_calls(&mut self.finished[last], state);
    }

    /// Another message begins although this one never ended: it stays as it is.
    fn leave_unfinished(&mut self) {
        if let Some(message) = self.arriving.take() {
            self.slot.clear();
            self.finish(message);
        }
    }

    /// Gives the results of a message to their calls; true when all found one.
    fn take_results(&mut self, message: &Message) -> bool {
        let mut all = true;
        for part in &message.parts {
            let Part::ToolResult(result) = part else {
                all = false;
                continue;
            };
            self.running.remove(&result.call_id);
            all &= self.answer(result) || self.has_answer(result);
        }
        all
    }

    fn answer(&mut self, result: &Arc<ToolResult>) -> bool {
        let state = if result.is_error { ToolState::Error } else { ToolState::Ok };
        self.change_call(&result.call_id, |call| {
            call.state = state;
            call.result = Some(Arc::clone(result));
        })
    }

    fn has_answer(&self, result: &ToolResult) -> bool {
        self.finished.iter().flat_map(|message| calls(message)).any(|call| {
            call.id == result.call_id
                && call.result.as_ref().is_some_and(|known| known.output == result.output)
        })
    }

    /// Changes the nearest call of this id that is still going on; false if there is none.
    fn change_call(&mut self, id: &str, change: impl FnOnce(&mut ToolCall)) -> bool {
        let is_it = |call: &ToolCall| *call.id == *id && call.state.is_live();
        let run = self.finished.iter_mut().skip(self.run_start);
        let Some(message) = run.rev().find(|message| calls(message).any(|call| is_it(call))) else {
            return false;
        };
        let parts = &mut Arc::make_mut(message).parts;
        let call = parts.iter_mut().find_map(|part| match part {
            Part::ToolCall(call) if is_it(call) => Some(call),
            _ => None,
        });
        if let Some(call) = call {
            change(Arc::make_mut(call));
        }
        true
    }

    fn end(&mut self, messages: Vec<Arc<Message>>, end: RunEnd) {
        for message in messages {
            self.finish(message);
        }
        self.leave_unfinished();
        self.is_running = false;
        self.running.clear();
        let state = |call: &ToolCall, message: &Message| match (call.state.is_live(), end) {
            (false, _) => call.state,
            (true, RunEnd::Aborted) => ToolState::Aborted,
            (true, RunEnd::Done | RunEnd::Failed) => {
                ToolState::of(ToolSituation { stop: message.stop.as_ref(), ..Default::default() })
            }
        };
        for message in self.finished.iter_mut().skip(self.run_start) {
            change_calls(message, state);
        }
    }
}

fn calls(message: &Message) -> impl Iterator<Item = &Arc<ToolCall>> {
    message.parts.iter().filter_map(|part| match part {
        Part::ToolCall(call) => Some(call),
        _ => None,
    })
}

/// Gives the calls of a message new states; a message that has them already stays shared.
fn change_calls(message: &mut Arc<Message>, state: impl Fn(&ToolCall, &Message) -> ToolState) {
    let states: Vec<_> = calls(message).map(|call| state(call, message)).collect();
    if calls(message).map(|call| call.state).eq(states.iter().copied()) {
        return;
    }
    let parts = Arc::make_mut(message).parts.iter_mut();
    let calls = parts.filter_map(|part| match part {
        Part::ToolCall(call) => Some(call),
        _ => None,
    });
    for (call, state) in calls.zip(states) {
        Arc::make_mut(call).state = state;
    }
}
