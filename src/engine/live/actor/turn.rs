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

use super::{Actor, Stop, Turn, now, queue::Moment, sum};
use crate::{
    engine::live::{
        arrival::After,
        composition::Composition,
        ledger,
        provider::Provider,
        tagged,
        talk::Spot,
        workbench::{Terms, Workbench},
    },
    model::{
        CallGrammar, NoticeKind, Phase, Refusal, ToolUse,
        stream::{
            EndState, ErrorClass, Interruption, OptionalField, Retry, StreamError, StreamEvent,
        },
    },
    wire::{Plan, Request, TRIES, Turn as Said, plan},
};

/// Events that may wait to be shown; a fast server waits beyond that.
const EVENTS: usize = 256;
/// Requests of one turn. A model that calls tools over and over is stopped there.
const ROUNDS: u32 = 100;
/// The same for a model that has no tools to call.
const ROUNDS_WITHOUT_TOOLS: u32 = 8;
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
        let has_tools = self.bench.is_some() && self.settings.tools != ToolUse::Off;
        let rounds = if has_tools { ROUNDS } else { ROUNDS_WITHOUT_TOOLS };
        for round in 1..=rounds {
            let goes_on = match self.reply().await {
                Ok(After::Goes) if round < rounds => {
                    self.take_queued(Moment::Between).await.map(|_| true)
                }
                Ok(After::Goes) => {
                    self.give_up(&format!("{rounds} times in a row")).await.map(|()| false)
                }
                Ok(After::Stuck) => {
                    self.give_up("in the same way five times in a row").await.map(|()| false)
                }
                Ok(After::Rests) => Ok(false),
                Err(why) => Err(why),
            };
            match goes_on {
                Ok(true) => {}
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
        if !self.queue.is_due() && self.next.is_none() {
            self.phase = Phase::Idle;
        }
    }

    async fn give_up(&mut self, how: &str) -> Result<(), Stop> {
        let words = format!("Stopped: the model called tools {how}.");
        self.say(NoticeKind::Abort, &words).await
    }

    /// Has one reply made, however many attempts that takes, and its calls run.
    async fn reply(&mut self) -> Result<After, Stop> {
        let spot = match self.place_reply().await {
            Ok(spot) => spot,
            Err(stop) => {
                self.end = Some(Arc::new(EndState::Cancelled));
                return Err(stop);
            }
        };
        let mut without = Vec::new();
        let mut tries = 0;
        loop {
            let provider = self.shared.provider(&self.settings.provider);
            self.begin(spot, provider.as_ref());
            let Some(provider) = provider else { return self.finish(&unknown_provider()).await };
            let end = match self.said_before().await {
                Ok(before) => {
                    let attempt = self.send(provider, &without, &before);
                    self.receive(attempt).await
                }
                Err(stop) => Err(stop),
            };
            let end = match end {
                Ok(end) => end,
                Err(stop) => return self.stop(stop).await,
            };
            tries += 1;
            match self.plan(&end, tries, &without) {
                Plan::Stop => {
                    return match self.settle(&end).await {
                        Ok(()) => self.finish(&end).await,
                        Err(stop) => self.stop(stop).await,
                    };
                }
                Plan::ResendWithout(field) => {
                    without.push(field);
                    tries -= 1;
                }
                Plan::Wait(pause) => {
                    let until = now() + pause;
                    self.phase = Phase::Retrying { attempt: tries + 1, of: TRIES, until };
                    self.publish();
                    if let Err(stop) = self.pause(until).await {
                        return self.stop(stop).await;
                    }
                }
            }
        }
    }

    fn begin(&mut self, spot: Spot, provider: Option<&Provider>) {
        let model = Arc::clone(&self.settings.model);
        let mut composition = Composition::new(spot.id, model, (self.shared.clock)());
        composition.key = spot.key();
        let bench = self.bench(provider);
        let terms = Terms {
            tool_use: self.settings.tools,
            now_ms: (self.shared.clock)(),
            has_heard_others: self.arrival.terms.has_heard_others,
        };
        let calls = self.calls(provider);
        self.arrival.begin(spot.id, composition, bench, terms, calls);
        self.arriving = None;
        self.phase = Phase::Waiting { since: now() };
        self.publish();
    }

    /// What runs the calls of the next reply.
    fn bench(&self, provider: Option<&Provider>) -> Option<Arc<dyn Workbench>> {
        let own = self.bench.as_ref().filter(|_| self.settings.tools != ToolUse::Off);
        provider.and_then(Provider::bench).or_else(|| own.map(Arc::clone))
    }

    /// How the model calls tools in the next reply.
    fn calls(&self, provider: Option<&Provider>) -> CallGrammar {
        // Recordings call as they did when they were made.
        let is_demo = provider.is_some_and(Provider::is_demo);
        if is_demo { CallGrammar::Native } else { self.settings.calls }
    }

    fn send(&self, provider: Provider, without: &[OptionalField], before: &[Said]) -> Attempt {
        let turns = before.iter().cloned().chain(self.talk.turns()).collect();
        let tools = self.bench(Some(&provider)).map(|bench| bench.tools()).unwrap_or_default();
        let own = self.settings.system.clone();
        let (system, turns, tools) = match self.calls(Some(&provider)) {
            CallGrammar::Native => (own, turns, tools),
            CallGrammar::Tags => {
                let told = (!tools.is_empty()).then(|| tagged::system(own.as_deref(), &tools));
                (told.or(own), tagged::turns(turns), Vec::new())
            }
        };
        let request = Request {
            model: self.settings.model.to_string(),
            system,
            turns,
            tools: tools.into_iter().map(|tool| tool.spec).collect(),
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
                deed = self.arrival.hands.next() => {
                    if self.arrival.take_deed(deed, now()) {
                        self.show();
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
                () = ledger::step(&mut self.keeper.ledger) => self.after_step(),
            }
            self.heed_calls();
            self.checkpoint();
        }
    }

    /// Has the calls of a reply run that has come to its end.
    async fn settle(&mut self, end: &EndState) -> Result<(), Stop> {
        self.arrival.end(end, now());
        self.heed_calls();
        let since = now();
        while !self.arrival.is_over() {
            self.phase = Phase::Working { since };
            self.show();
            let due = [self.arrival.due(), self.keeper.partials.due()].into_iter().flatten().min();
            tokio::select! {
                biased;
                command = self.commands.recv() => {
                    if let Turn::Stops(stop) = self.take_busy(command) {
                        return Err(stop);
                    }
                }
                deed = self.arrival.hands.next() => drop(self.arrival.take_deed(deed, now())),
                () = sleep(due) => drop(self.arrival.tick(now())),
                () = ledger::step(&mut self.keeper.ledger) => self.after_step(),
            }
            self.heed_calls();
            self.checkpoint();
        }
        Ok(())
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
        [self.arrival.due(), stall, self.keeper.partials.due()].into_iter().flatten().min()
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
    pub(super) fn show(&mut self) {
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

    async fn stop(&mut self, stop: Stop) -> Result<After, Stop> {
        self.arrival.abort(now());
        // It is over either way.
        self.finish(&EndState::Cancelled).await.ok();
        Err(stop)
    }

    /// The reply takes its place among the others, once it is on the disk, and what the user
    /// said to it behind it.
    async fn finish(&mut self, end: &EndState) -> Result<After, Stop> {
        if !self.arrival.is_over() {
            self.arrival.end(end, now());
            self.arrival.abort(now());
        }
        let after = self.arrival.after(end);
        let composition = std::mem::take(&mut self.arrival.composition);
        let composed = composition.finish(end);
        let usage = composed.message.usage;
        if self.keeper.writes() {
            self.arriving = Some(self.talk.entry(composed.clone()));
        }
        let kept = self.keep_reply(&composed, end).await;
        if let Some(usage) = usage {
            self.usage = sum(self.usage, usage);
        }
        self.arriving = None;
        self.end = Some(Arc::new(end.clone()));
        let entry = self.talk.entry(composed);
        self.talk.finish(entry);
        let mut heard = kept;
        for draft in std::mem::take(&mut self.beside) {
            let said = self.accept(&draft, None).await.map(drop);
            heard = heard.and(said);
        }
        if after == After::Rests || heard.is_err() {
            self.rest();
        }
        self.publish();
        heard.map(|()| after)
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
