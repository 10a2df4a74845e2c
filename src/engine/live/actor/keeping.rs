//! What a conversation has to do with its log.

use std::{
    collections::VecDeque,
    sync::{Arc, Weak},
    time::Duration,
};

use serde_json::Value;
use tokio::task::spawn_blocking;

use super::{Actor, Stop, Turn, now};
use crate::{
    engine::live::{
        arrival::CallNews,
        composition::Composed,
        ledger::{
            self, Ledger, Slip,
            base::{Ground, Ready, Wanted},
            partials::Partials,
        },
        talk::{Spot, Talk},
        tree::Place,
    },
    model::{
        Base, Fate, Keeping, MessageId, Settings, Ticket, ToolCall,
        record::{self, Approved, Kind, Meta},
        stream::EndState,
    },
    store::{Access, Log, Opened, Sync},
    wire::Turn as Said,
};

/// How long the end of a turn that was stopped waits for the disk before it is shown.
const PATIENCE: Duration = Duration::from_millis(100);

/// What a conversation has to do with its log.
#[derive(Debug, Default)]
pub(in crate::engine::live) struct Keeper {
    pub(super) ledger: Option<Ledger>,
    /// The part of the log that was there in the beginning.
    ground: Option<Ground>,
    base: Option<Arc<Base>>,
    /// The newest message of it.
    newest: Option<Place>,
    ready: Ready,
    /// Why nothing can be said here.
    read_only: Option<Arc<str>>,
    pub(super) partials: Partials,
    /// Prompts that are shown and not known to be on the disk.
    pub(super) promised: VecDeque<(Slip, Ticket, MessageId)>,
    /// What has to be on the disk before the next call runs.
    gate: Option<Slip>,
    /// Who answers.
    answering: Arc<str>,
    written: Option<Settings>,
    /// What it was set to when it was left counts.
    restores: bool,
}

impl Keeper {
    /// `restores`: what it was set to when it was left counts.
    pub(in crate::engine::live) fn new(opened: Opened, restores: bool) -> Self {
        let Opened { log, path, len, next, .. } = opened;
        let (ledger, read_only) = match log {
            Access::Write(log) => (Some(Ledger::new(log)), None),
            Access::Read { why, .. } => (None, Some(why)),
        };
        // A log of one record holds no message.
        let has_more = next > 1 || ledger.is_none();
        let base = has_more.then(|| Arc::new(Base { path: path.clone(), len, leaf: None }));
        let ground = Some(Ground { path, len });
        Self { ledger, read_only, ground, base, restores, ..Self::default() }
    }

    /// The log, as long as it is written.
    pub(in crate::engine::live) fn log(&self) -> Option<Weak<Log>> {
        self.ledger.as_ref().map(Ledger::log)
    }

    pub(super) fn writes(&self) -> bool {
        self.ledger.is_some()
    }

    pub(super) fn is_read_only(&self) -> bool {
        self.read_only.is_some()
    }

    pub(super) fn keeping(&self) -> Keeping {
        match (&self.read_only, &self.ledger) {
            (Some(why), _) => Keeping::ReadOnly(Arc::clone(why)),
            (None, Some(ledger)) => ledger.keeping(),
            (None, None) => Keeping::Nowhere,
        }
    }

    pub(super) fn base(&self) -> Option<Arc<Base>> {
        self.base.clone()
    }

    pub(super) fn is_settled(&self, slip: Slip) -> bool {
        self.ledger.as_ref().is_none_or(|ledger| ledger.is_settled(slip))
    }

    /// What stands before the entries may be something else now.
    pub(super) fn go_to(&mut self, talk: &Talk) {
        let Some(Ground { path, len }) = &self.ground else { return };
        self.base = talk.base().map(|place| {
            let leaf = (Some(place) != self.newest).then(|| talk.tree().key(place));
            Arc::new(Base { path: path.clone(), len: *len, leaf })
        });
    }

    pub(super) fn write_settings(&mut self, settings: &Settings) {
        let Some(ledger) = &mut self.ledger else { return };
        // Whether it is the demo is not kept: its name tells.
        let settings = Settings { is_demo: false, ..settings.clone() };
        if self.written.as_ref() != Some(&settings) {
            let meta = Meta { settings: Some(settings.clone()), ..Meta::default() };
            ledger.write(Kind::Meta, meta.to_body(), Sync::Later);
            self.written = Some(settings);
        }
    }

    /// Writes what waits, and lets the log go.
    pub(super) async fn close(&mut self) {
        if let Some(ledger) = self.ledger.take() {
            ledger.close().await;
        }
    }
}

impl Actor {
    /// Goes through the log.
    pub(super) async fn load(&mut self) {
        let Some(ground) = self.keeper.ground.clone() else { return };
        // It fails when the program ends.
        let Ok(loaded) = spawn_blocking(move || ground.load()).await else { return };
        self.talk.load(loaded.tree);
        self.keeper.newest = self.talk.base();
        self.keeper.go_to(&self.talk);
        self.usage = loaded.usage;
        let restores = self.keeper.restores;
        if let Some(stored) = loaded.settings.clone().filter(|_| restores) {
            self.restore_settings(stored);
        } else {
            self.keeper.written = loaded.settings;
            self.keeper.write_settings(&self.settings);
        }
        self.publish();
    }

    /// Goes on as it was, as far as that can still be.
    fn restore_settings(&mut self, stored: Settings) {
        let Settings { is_demo, workspace, provider, model, .. } = self.settings.clone();
        let known = self.shared.provider(&stored.provider);
        self.settings = match known {
            Some(known) => Settings { is_demo: known.is_demo(), workspace, ..stored.clone() },
            None => Settings { is_demo, workspace, provider, model, ..stored.clone() },
        };
        self.keeper.written = Some(stored);
    }

    /// Something became of what was written.
    pub(super) fn after_step(&mut self) {
        self.keep_promises();
        let keeping = self.keeper.keeping();
        let is_news = !matches!(keeping, Keeping::Saving { .. });
        if is_news && self.publisher.keeping() != keeping {
            self.publish();
        }
    }

    /// Tells of prompts that are on the disk now.
    fn keep_promises(&mut self) {
        while let Some(&(slip, ticket, id)) = self.keeper.promised.front()
            && self.keeper.is_settled(slip)
        {
            self.keeper.promised.pop_front();
            self.tell(ticket, Fate::Accepted(id));
        }
    }

    /// Writes the record that begins a message, and waits for its place. It has none when
    /// the user stopped that.
    pub(super) async fn place(
        &mut self,
        kind: Kind,
        body: impl FnOnce(&mut dyn FnMut(&[u8]) -> String) -> Value,
        sync: Sync,
    ) -> Result<(Spot, Option<Slip>), Stop> {
        let parent = self.talk.tip_key();
        let Some(ledger) = &mut self.keeper.ledger else {
            return Ok((self.talk.next_spot(), None));
        };
        let body = body(&mut ledger.blob());
        let body = match kind {
            Kind::Branch => body,
            _ => record::placed(None, parent.as_deref(), body),
        };
        let slip = ledger.begin(kind, body, sync);
        loop {
            let spot = self.keeper.ledger.as_mut().and_then(|ledger| ledger.spot(slip));
            if let Some(spot) = spot {
                return Ok((spot, Some(slip)));
            }
            if let Err(stop) = self.heed().await
                && self.keeper.ledger.as_mut().is_none_or(|ledger| ledger.withdraw(slip))
            {
                return Err(stop);
            }
        }
    }

    /// Waits until a record is on the disk, or it is known that it will not be there soon.
    pub(super) async fn settled(&mut self, slip: Option<Slip>) -> Result<(), Stop> {
        let Some(slip) = slip.filter(|slip| !self.keeper.is_settled(*slip)) else { return Ok(()) };
        self.publish();
        while !self.keeper.is_settled(slip) {
            self.heed().await?;
        }
        Ok(())
    }

    /// Waits for the log, and takes commands.
    async fn heed(&mut self) -> Result<(), Stop> {
        tokio::select! {
            biased;
            command = self.commands.recv() => match self.take_busy(command) {
                Turn::Stops(stop) => Err(stop),
                Turn::GoesOn | Turn::Hurries => Ok(()),
            },
            () = ledger::step(&mut self.keeper.ledger) => {
                // Whoever waits shows what comes of it.
                self.keep_promises();
                Ok(())
            }
        }
    }

    /// What was said before what is in memory. It is read while commands are taken.
    pub(super) async fn said_before(&mut self) -> Result<Arc<[Said]>, Stop> {
        let (Some(base), Some(ground)) = (self.talk.base(), self.keeper.ground.clone()) else {
            return Ok(Arc::default());
        };
        if let Some(ready) = self.keeper.ready.get(base) {
            return Ok(ready);
        }
        let tree = self.talk.tree();
        let mut wanted: Vec<_> =
            tree.upwards(Some(base)).map(|place| Wanted::of(tree, place)).collect();
        wanted.reverse();
        let mut reading = spawn_blocking(move || ground.read(&wanted));
        let turns = loop {
            tokio::select! {
                biased;
                command = self.commands.recv() => {
                    if let Turn::Stops(stop) = self.take_busy(command) {
                        return Err(stop);
                    }
                }
                // It fails when the program ends.
                turns = &mut reading => break turns.unwrap_or_default(),
                () = ledger::step(&mut self.keeper.ledger) => self.after_step(),
            }
        };
        self.keeper.ready.keep(base, &turns);
        Ok(turns)
    }

    /// A reply begins.
    pub(super) async fn place_reply(&mut self) -> Result<Spot, Stop> {
        let provider = Arc::clone(&self.settings.provider);
        let start = record::start(&provider, &self.settings.model);
        self.keeper.answering = provider;
        self.keeper.partials = Partials::default();
        self.keeper.gate = None;
        let (spot, _) = self.place(Kind::AssistantStart, |_| start, Sync::Later).await?;
        self.talk.begin(spot);
        Ok(spot)
    }

    /// Writes a reply that is whole, and waits until it is on the disk.
    pub(super) async fn keep_reply(
        &mut self,
        composed: &Composed,
        end: &EndState,
    ) -> Result<(), Stop> {
        let parent = self.talk.tip_key();
        let Some(ledger) = &mut self.keeper.ledger else { return Ok(()) };
        let Composed { message, echoes, .. } = composed;
        let mut blob = ledger.blob();
        let body = record::encode_answer(message, &self.keeper.answering, echoes, &mut blob);
        drop(blob);
        let body = record::placed(Some(&message.key), parent.as_deref(), body);
        let slip = ledger.write(Kind::AssistantFinal, body, Sync::Now);
        if *end != EndState::Cancelled {
            return self.settled(Some(slip)).await;
        }
        // Whoever stops wants to see that it stopped.
        let settled = self.settled(Some(slip));
        tokio::time::timeout(PATIENCE, settled).await.unwrap_or(Ok(()))
    }

    /// Writes what has come of the reply, when it is time.
    pub(super) fn checkpoint(&mut self) {
        let Some(ledger) = self.keeper.ledger.as_ref() else { return };
        let (shown, now) = (self.arrival.composition.bytes(), now());
        self.keeper.partials.note(shown, now);
        if self.keeper.partials.is_due(shown, now) && !ledger.is_crowded() {
            self.write_pieces();
        }
    }

    fn write_pieces(&mut self) {
        let Some(ledger) = &mut self.keeper.ledger else { return };
        let composition = &self.arrival.composition;
        let deltas = self.keeper.partials.take(composition);
        let bodies = record::partial(&composition.key, &deltas, &mut ledger.blob());
        for body in bodies {
            ledger.write(Kind::Partial, body, Sync::Later);
        }
    }

    /// Writes what happened to calls, and lets the next one run once its decision is on the
    /// disk.
    pub(super) fn heed_calls(&mut self) {
        for news in self.arrival.take_news() {
            match news {
                CallNews::Decided { call, approved } => self.write_decision(&call, &approved),
                CallNews::Ended(ordinal) => self.write_result(ordinal),
            }
        }
        if self.arrival.waits_to_run()
            && self.keeper.gate.is_none_or(|gate| self.keeper.is_settled(gate))
        {
            self.arrival.run_now(now());
            self.show();
        }
    }

    fn write_decision(&mut self, call: &ToolCall, approved: &Approved) {
        self.write_pieces();
        let Some(ledger) = &mut self.keeper.ledger else { return };
        let key = &self.arrival.composition.key;
        let body = record::tool_call(key, call, &mut ledger.blob());
        ledger.write(Kind::ToolCall, body, Sync::Later);
        let slip = ledger.write(Kind::Approval, record::approval(key, approved), Sync::Now);
        self.keeper.gate = Some(slip);
    }

    fn write_result(&mut self, ordinal: u32) {
        let Some(ledger) = &mut self.keeper.ledger else { return };
        let composition = &self.arrival.composition;
        if let Some(call) = composition.call(ordinal) {
            let body = record::tool_result(&composition.key, call, &mut ledger.blob());
            ledger.write(Kind::ToolResult, body, Sync::Now);
        }
    }
}
