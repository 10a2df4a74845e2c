//! aimock and the live engine: stopping, trying again, going on.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use letterpress::{
    engine::live::{Config, Engine, Provider, Session},
    model::{
        Command, Draft, Part, Phase, Role, Settings, Snapshot, Ticket,
        stream::{EndState, Wire},
    },
    wire::{Endpoint, Key},
};
use tokio::time::timeout;

use super::{
    fixtures::content,
    server::{KEY, Server},
};

const SLOW: &str = "Speak slowly";
const NEXT: &str = "And what did I say before";
/// More than a whole reply takes.
const LIMIT: Duration = Duration::from_secs(30);

#[test]
fn a_conversation_is_stopped_tried_again_and_continued() {
    let Some(server) = Server::aimock() else { return };
    let wires = [
        (Wire::Chat, "/v1"),
        (Wire::Responses, "/v1"),
        (Wire::Anthropic, ""),
        (Wire::Gemini, ""),
        (Wire::Ollama, ""),
    ];
    for (wire, path) in wires {
        let name = format!("{wire:?}");
        let base = format!("http://{}{path}?testId={name}", server.address);
        let endpoint = Endpoint::new("aimock", wire, &base).unwrap().with_key(Key::new(KEY));
        let engine = Engine::start(Config::new(|| 0)).unwrap();
        engine.set_provider("aimock", Provider::Endpoint(Arc::new(endpoint)));
        converse(&engine, &name);
        let journal = server.journal(&name);
        let roles = journal.iter().map(|request| {
            let messages = request["body"]["messages"].as_array().unwrap().iter();
            messages.map(|message| message["role"].as_str().unwrap()).collect::<Vec<_>>()
        });
        let roles: Vec<_> = roles.collect();
        assert_eq!(
            roles,
            [vec!["user"], vec!["user"], vec!["user", "assistant", "user"]],
            "{name}"
        );
        let last = &journal[2]["body"]["messages"];
        assert_eq!(last[1]["content"], content(SLOW), "{name}: what was stopped is not sent back");
    }
}

fn converse(engine: &Engine, name: &str) {
    let settings =
        Settings { provider: "aimock".into(), model: "set-in-type".into(), ..Settings::default() };
    let mut session = engine.session(settings, Arc::new(|| {}));

    session.send(Command::Send(Draft::text(Ticket(1), SLOW))).unwrap();
    until(engine, &mut session, |snapshot| spoken(snapshot).len() >= 3);
    let start = Instant::now();
    session.send(Command::Stop).unwrap();
    let stopped = until(engine, &mut session, |snapshot| snapshot.phase == Phase::Idle);
    assert!(start.elapsed() < Duration::from_secs(1), "{name}: {:?}", start.elapsed());
    assert_eq!(stopped.end.as_deref(), Some(&EndState::Cancelled), "{name}");
    let partial = spoken(&stopped);
    let whole = "0123456789 0123456789 0123456789";
    assert!(partial.len() >= 3 && whole.starts_with(&partial), "{name}: {partial:?}");

    session.send(Command::Retry).unwrap();
    let answer = until(engine, &mut session, is_complete);
    assert_eq!(spoken(&answer), content(SLOW), "{name}");

    session.send(Command::Send(Draft::text(Ticket(2), NEXT))).unwrap();
    let last = engine.block_on(session.settled(Ticket(2)));
    assert!(is_complete(&last), "{name}: {:?}", last.end);
    assert_eq!(spoken(&last), content(NEXT), "{name}");
    assert_eq!(last.messages().filter(|message| message.role == Role::User).count(), 2, "{name}");
}

fn until(
    engine: &Engine,
    session: &mut Session,
    is_there: impl Fn(&Snapshot) -> bool,
) -> Arc<Snapshot> {
    let found = async {
        let mut snapshot = session.snapshot();
        while !is_there(&snapshot) {
            snapshot = session.changed().await.expect("the conversation goes on");
        }
        snapshot
    };
    engine.block_on(async { timeout(LIMIT, found).await }).expect("it does not take this long")
}

fn is_complete(snapshot: &Snapshot) -> bool {
    let is_complete = matches!(snapshot.end.as_deref(), Some(EndState::Complete { .. }));
    is_complete && snapshot.phase == Phase::Idle
}

/// The text of the last message, when a model wrote it.
fn spoken(snapshot: &Snapshot) -> String {
    let last = snapshot.messages().last().filter(|message| message.role == Role::Assistant);
    let parts = last.map(|message| message.parts.clone()).unwrap_or_default();
    let texts = parts.iter().filter_map(|part| match part {
        Part::Text(text) => Some(text.source.as_ref()),
        _ => None,
    });
    texts.collect()
}
