//! A turn: requests, attempts, events, and what ends them.

use std::{
    hash::{BuildHasher as _, Hasher as _, RandomState},
    sync::Arc,
    time::Instant,
};

use tokio::{
    sync::mpsc::{self, Receiver},
    task::AbortHandle,
    time::sleep_until,
};

use super::{Actor, Stop, Turn, now, sum};
use crate::{
    engine::live::{composition::Composition, provider::Provider},
    model::{
        MessageId, NoticeKind, Phase, Refusal,
        stream::{
            EndState, ErrorClass, Interruption, OptionalField, Retry, StreamError, StreamEvent,
        },
    },
    wire::{Plan, Request, TRIES, plan},
};

/// Events that may wait to be shown; a fast server waits beyond that.
const EVENTS: usize = 256;
/// Requests of one turn. A model that calls tools over and over is stopped there.
const ROUNDS: u32 = 8;
/// Warnings of a turn that are kept.
const WARNINGS: usize = 64;

/// A request under way. Dropping it closes the connection.
struct Attempt {
    events: Receiver<StreamEvent>,
    task: AbortHandle,
}

impl Drop for Attempt {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Actor {
    /// Answers the last prompt, and the calls that the answers make.
    pub(super) async fn turn(&mut self) -> Option<Stop> {
        self.end = None;
        self.warnings.clear();
        let mut stop = None;
        for round in 1..=ROUNDS {
            match self.reply().await {
                Ok(true) if round < ROUNDS => {
                    self.take_queued();
                }
                Ok(true) => self.give_up(),
                Ok(false) => break,
                Err(why) => {
                    stop = Some(why);
                    break;
                }
            }
        }
        self.rest();
        self.publish();
        stop
    }

    /// A turn is over. While something waits to be said or done, that goes on at once.
    fn rest(&mut self) {
        if self.queued.is_empty() && self.next.is_none() {
            self.phase = Phase::Idle;
        }
    }

    fn give_up(&mut self) {
        let words = format!("Stopped: the model called tools {ROUNDS} times in a row.");
        self.talk.push_notice(NoticeKind::Abort, &words, (self.shared.clock)());
    }

    /// Has one reply made, however many attempts that takes. True when the model waits for
    /// the answers to its calls.
    async fn reply(&mut self) -> Result<bool, Stop> {
        let id = self.talk.next_id();
        let mut without = Vec::new();
        let mut tries = 0;
        loop {
            let provider = self.shared.provider(&self.settings.provider);
            self.begin(id, provider.as_ref());
            let Some(provider) = provider else { return Ok(self.finish(&unknown_provider())) };
            let attempt = self.send(provider, &without);
            let end = match self.receive(attempt).await {
                Ok(end) => end,
                Err(stop) => return self.stop(stop),
            };
            tries += 1;
            match self.plan(&end, tries, &without) {
                Plan::Stop => return Ok(self.finish(&end)),
                Plan::ResendWithout(field) => {
                    without.push(field);
                    tries -= 1;
                }
                Plan::Wait(pause) => {
                    let until = now() + pause;
                    self.phase = Phase::Retrying { attempt: tries + 1, of: TRIES, until };
                    self.publish();
                    if let Err(stop) = self.pause(until).await {
                        return self.stop(stop);
                    }
                }
            }
        }
    }

    fn begin(&mut self, id: MessageId, provider: Option<&Provider>) {
        let model = Arc::clone(&self.settings.model);
        let composition = Composition::new(id, model, (self.shared.clock)());
        self.arrival.begin(id, composition, provider.map(Provider::answers).unwrap_or_default());
        self.arriving = None;
        self.phase = Phase::Waiting { since: now() };
        self.publish();
    }

    fn send(&self, provider: Provider, without: &[OptionalField]) -> Attempt {
        let request = Request {
            model: self.settings.model.to_string(),
            system: self.settings.system.clone(),
            turns: self.talk.turns(),
            max_tokens: self.settings.max_tokens,
            thinking: self.settings.thinking,
            without: without.to_vec(),
            ..Request::default()
        };
        let (sender, events) = mpsc::channel(EVENTS);
        let (http, timeouts) = (self.shared.http.clone(), self.shared.limits.timeouts);
        let task = tokio::spawn(provider.attempt(http, request, timeouts, sender));
        Attempt { events, task: task.abort_handle() }
    }

    /// Once there is something to show, nothing is sent again without asking.
    fn plan(&self, end: &EndState, tries: u32, without: &[OptionalField]) -> Plan {
        if self.arrival.composition.is_blank() {
            plan(end, tries, without, chance())
        } else {
            Plan::Stop
        }
    }

    /// Takes events until the last one.
    async fn receive(&mut self, mut attempt: Attempt) -> Result<EndState, Stop> {
        let mut heard = now();
        loop {
            let due = self.due(heard);
            tokio::select! {
                // The user's word comes before everything.
                biased;
                command = self.commands.recv() => {
                    if let Turn::Stops(stop) = self.take_busy(command) {
                        return Err(stop);
                    }
                }
                event = attempt.events.recv() => {
                    let Some(event) = event else { return Ok(lost()) };
                    heard = now();
                    if let Some(end) = self.take_events(event, &mut attempt.events, heard) {
                        return Ok(end);
                    }
                }
                () = sleep(due) => self.tick(heard),
            }
        }
    }

    /// Takes an event and those that wait behind it, and shows them together.
    fn take_events(
        &mut self,
        first: StreamEvent,
        events: &mut Receiver<StreamEvent>,
        now: Instant,
    ) -> Option<EndState> {
        let mut next = Some(first);
        let mut is_due = false;
        // Not without end, so that the user's word is heard in between.
        for taken in 1..=EVENTS {
            match next.take() {
                Some(StreamEvent::End(end)) => return Some(end),
                Some(event) => is_due |= self.take_event(&event, now),
                None => break,
            }
            if self.arrival.is_too_long() {
                return Some(too_long());
            }
            next = if taken < EVENTS { events.try_recv().ok() } else { None };
        }
        if is_due {
            self.show();
        }
        None
    }

    fn take_event(&mut self, event: &StreamEvent, now: Instant) -> bool {
        match event {
            StreamEvent::Warning(warning) if self.warnings.len() < WARNINGS => {
                self.warnings.push(warning.clone());
            }
            StreamEvent::RateLimit(windows) => self.allowance = Arc::clone(windows),
            _ => {}
        }
        let is_content = matches!(
            event,
            StreamEvent::BlockOpen { .. }
                | StreamEvent::ToolOpen { .. }
                | StreamEvent::Text { .. }
                | StreamEvent::Reasoning { .. }
        );
        let resumes = matches!(self.phase, Phase::Stalled { .. });
        if is_content || resumes {
            self.phase = Phase::Streaming;
        }
        self.arrival.feed(event, now) || resumes
    }

    /// When to look again although nothing came.
    fn due(&self, heard: Instant) -> Option<Instant> {
        let stall = (self.phase == Phase::Streaming).then(|| heard + self.shared.limits.stall);
        [self.arrival.due(), stall].into_iter().flatten().min()
    }

    fn tick(&mut self, heard: Instant) {
        let now = now();
        let stalls = self.phase == Phase::Streaming && now >= heard + self.shared.limits.stall;
        if stalls {
            self.phase = Phase::Stalled { since: heard };
        }
        if self.arrival.tick(now) || stalls {
            self.show();
        }
    }

    /// Brings what is shown of the reply up to date.
    fn show(&mut self) {
        let look = self.arrival.composition.look();
        self.arriving = look.map(|composed| self.talk.entry(composed));
        self.publish();
    }

    async fn pause(&mut self, until: Instant) -> Result<(), Stop> {
        loop {
            tokio::select! {
                biased;
                command = self.commands.recv() => match self.take_busy(command) {
                    Turn::GoesOn => {}
                    Turn::Hurries => return Ok(()),
                    Turn::Stops(stop) => return Err(stop),
                },
                () = sleep(Some(until)) => return Ok(()),
            }
        }
    }

    fn stop(&mut self, stop: Stop) -> Result<bool, Stop> {
        for draft in std::mem::take(&mut self.queued) {
            self.refuse(&draft, Refusal::Stopped);
        }
        self.finish(&EndState::Cancelled);
        Err(stop)
    }

    /// The reply takes its place among the others. True when the model waits for the
    /// answers to its calls.
    fn finish(&mut self, end: &EndState) -> bool {
        let goes_on = self.arrival.end(end, now());
        let composition = std::mem::take(&mut self.arrival.composition);
        let composed = composition.finish(end);
        if let Some(usage) = composed.message.usage {
            self.usage = sum(self.usage, usage);
        }
        self.arriving = None;
        self.end = Some(Arc::new(end.clone()));
        self.talk.push(composed);
        if !goes_on {
            self.rest();
        }
        self.publish();
        goes_on
    }
}

async fn sleep(until: Option<Instant>) {
    match until {
        Some(until) => sleep_until(until.into()).await,
        None => std::future::pending().await,
    }
}

/// From 0 to 1.
fn chance() -> f64 {
    // Hashers start from chance, which is all that a pause needs.
    RandomState::new().build_hasher().finish() as f64 / u64::MAX as f64
}

/// The end of a request that ended without a word.
fn lost() -> EndState {
    let cause = Interruption::Io("the request ended without a word".into());
    EndState::Interrupted { cause, retry: Retry::Never }
}

fn too_long() -> EndState {
    EndState::Failed(StreamError::new(ErrorClass::TooLarge, "the reply is longer than is kept"))
}

/// The end of a request to a provider that was chosen in the middle of the turn.
fn unknown_provider() -> EndState {
    let words = Refusal::UnknownProvider.words();
    EndState::Failed(StreamError::new(ErrorClass::NotFound, words))
}
