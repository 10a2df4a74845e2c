//! An engine, a server and a conversation between them.

use std::{sync::Arc, time::Duration};

use letterpress::{
    engine::live::{Config, Engine, Limits, Provider, Session},
    model::{Command, Draft, Fate, Message, Part, Settings, Snapshot, Ticket, stream::Wire},
    wire::{Endpoint, Timeouts},
};

use super::server::{Act, Server};

const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct Bench {
    pub(crate) session: Session,
    pub(crate) engine: Engine,
    pub(crate) server: Server,
    next: u64,
}

/// Short enough for tests, long enough for a busy machine.
pub(crate) fn limits() -> Limits {
    let timeouts = Timeouts {
        head: Duration::from_secs(10),
        head_private: Duration::from_secs(10),
        idle: Duration::from_secs(10),
        ..Timeouts::default()
    };
    Limits { timeouts, ..Limits::default() }
}

pub(crate) fn settings() -> Settings {
    Settings { provider: "test".into(), model: "m".into(), ..Settings::default() }
}

pub(crate) fn engine(limits: Limits) -> Engine {
    Engine::start(Config { limits, ..Config::new(|| 1000) }).unwrap()
}

impl Bench {
    pub(crate) fn new(answers: Vec<Vec<Act>>) -> Self {
        Self::with(Wire::Chat, limits(), answers)
    }

    pub(crate) fn with(wire: Wire, limits: Limits, answers: Vec<Vec<Act>>) -> Self {
        let server = Server::new(answers);
        let engine = engine(limits);
        let endpoint = Endpoint::new("test", wire, &server.base).unwrap();
        engine.set_provider("test", Provider::Endpoint(Arc::new(endpoint)));
        let session = engine.session(settings(), Arc::new(|| {}));
        Self { session, engine, server, next: 0 }
    }

    pub(crate) fn ticket(&mut self) -> Ticket {
        self.next += 1;
        Ticket(self.next)
    }

    pub(crate) fn command(&self, command: Command) {
        self.session.send(command).unwrap();
    }

    pub(crate) fn say(&mut self, words: &str) -> Ticket {
        let ticket = self.ticket();
        self.command(Command::Send(Draft::text(ticket, words)));
        ticket
    }

    /// Says something and waits for all that follows from it.
    pub(crate) fn ask(&mut self, words: &str) -> Arc<Snapshot> {
        let ticket = self.say(words);
        self.settled(ticket)
    }

    pub(crate) fn settled(&self, ticket: Ticket) -> Arc<Snapshot> {
        let settled = self.session.settled(ticket);
        let settled = async { tokio::time::timeout(PATIENCE, settled).await };
        self.engine.block_on(settled).expect("it settles")
    }

    /// Waits for a snapshot that meets a condition.
    pub(crate) fn until(&mut self, meets: impl Fn(&Snapshot) -> bool) -> Arc<Snapshot> {
        self.collect(meets).pop().unwrap()
    }

    /// Every snapshot that is seen until one meets a condition, that one last.
    pub(crate) fn collect(&mut self, meets: impl Fn(&Snapshot) -> bool) -> Vec<Arc<Snapshot>> {
        let mut seen = vec![self.session.snapshot()];
        let Self { session, engine, .. } = self;
        let look = async {
            while !meets(seen.last().unwrap()) {
                let next = session.changed().await.expect("the conversation goes on");
                if next.version > seen.last().unwrap().version {
                    seen.push(next);
                }
            }
        };
        let looked = engine.block_on(async { tokio::time::timeout(PATIENCE, look).await });
        assert!(looked.is_ok(), "still {:?}", seen.last());
        seen
    }

    /// Says something and collects every snapshot that is seen until it is answered.
    pub(crate) fn watch(&mut self, words: &str) -> Vec<Arc<Snapshot>> {
        let ticket = self.say(words);
        self.collect(|s| is_settled(s, ticket))
    }
}

pub(crate) fn is_settled(snapshot: &Snapshot, ticket: Ticket) -> bool {
    matches!(snapshot.fate(ticket), Some(Fate::Accepted(_))) && !snapshot.phase.is_busy()
}

/// All prose of a message.
pub(crate) fn prose(message: &Message) -> String {
    message
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Text(text) => Some(&*text.source),
            _ => None,
        })
        .collect()
}

/// All reasoning of a message.
pub(crate) fn thoughts(message: &Message) -> String {
    message
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::Thinking(thinking) => Some(&*thinking.text.source),
            _ => None,
        })
        .collect()
}

/// The last message.
pub(crate) fn last(snapshot: &Snapshot) -> &Arc<Message> {
    snapshot.messages().next_back().unwrap()
}
