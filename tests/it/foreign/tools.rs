//! aimock calls tools on all five wires: each is run once, or not at all.

use std::{fs, sync::Arc, time::Duration};

use letterpress::{
    engine::live::{Config, Engine, Provider, Session, Toolbox},
    model::{
        Command, Decision, Draft, Part, Settings, Snapshot, Ticket, ToolState, ToolUse,
        stream::Wire,
    },
    tools::{Bench, Workspace},
    wire::{Endpoint, Key},
};
use tempfile::TempDir;
use tokio::time::timeout;

use super::server::{KEY, Server};

const WORK: &str = "Work in the folder";
const LIMIT: Duration = Duration::from_secs(30);
const WIRES: [(Wire, &str); 5] = [
    (Wire::Chat, "/v1"),
    (Wire::Responses, "/v1"),
    (Wire::Anthropic, ""),
    (Wire::Gemini, ""),
    (Wire::Ollama, ""),
];

#[test]
fn calls_are_looked_at_asked_about_and_run_once() {
    let Some(server) = Server::aimock() else { return };
    for (wire, path) in WIRES {
        let name = format!("approved {wire:?}");
        let base = format!("http://{}{path}?testId=approved{wire:?}", server.address);
        let (folder, end, asked) = work(wire, &base, Decision::Once);
        assert_eq!(asked, ["write_to_file", "execute_command"], "{name}: looking is not asked");
        assert_eq!(states(&end), [ToolState::Ok; 4], "{name}");
        assert_eq!(fs::read_to_string(folder.path().join("b.txt")).unwrap(), "two\n", "{name}");
        assert!(folder.path().join("c.txt").exists(), "{name}");
        let journal = server.journal(&format!("approved{wire:?}"));
        assert_eq!(journal.len(), 4, "{name}: one request for each turn");
    }
}

#[test]
fn what_is_rejected_is_not_run() {
    let Some(server) = Server::aimock() else { return };
    for (wire, path) in WIRES {
        let name = format!("rejected {wire:?}");
        let base = format!("http://{}{path}?testId=rejected{wire:?}", server.address);
        let (folder, end, asked) = work(wire, &base, Decision::Reject);
        assert_eq!(asked, ["write_to_file"], "{name}: the turn ends there");
        assert_eq!(states(&end), [ToolState::Ok, ToolState::Ok, ToolState::NotRun], "{name}");
        let left = fs::read_dir(folder.path()).unwrap().count();
        assert_eq!(left, 1, "{name}: the folder is as it was");
    }
}

/// A conversation about a folder with one file in it; every question gets this answer. Gives
/// the folder, how it ended, and what was asked about.
fn work(wire: Wire, base: &str, decision: Decision) -> (TempDir, Arc<Snapshot>, Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.txt"), "one\n").unwrap();
    let workspace = Arc::new(Workspace::open(folder.path()).unwrap());
    let toolbox = Toolbox::new(Bench::new(workspace), None, Vec::new(), Box::new(|_| {}));
    let endpoint = Endpoint::new("aimock", wire, base).unwrap().with_key(Key::new(KEY));
    let engine = Engine::start(Config::new(|| 0)).unwrap();
    engine.set_provider("aimock", Provider::Endpoint(Arc::new(endpoint)));
    let settings = Settings {
        provider: "aimock".into(),
        model: "set-in-type".into(),
        tools: ToolUse::Ask,
        ..Settings::default()
    };
    let mut session = engine.session_at(Some(Arc::new(toolbox)), settings, Arc::new(|| {}));
    session.send(Command::Send(Draft::text(Ticket(1), WORK))).unwrap();
    let answering = async { timeout(LIMIT, answer(&mut session, decision)).await };
    let (end, asked) = engine.block_on(answering).expect("it does not take this long");
    (folder, end, asked)
}

/// Answers every question until nothing goes on any more.
async fn answer(session: &mut Session, decision: Decision) -> (Arc<Snapshot>, Vec<String>) {
    let mut asked = Vec::new();
    let mut last = None;
    loop {
        let snapshot = session.changed().await.expect("the conversation goes on");
        if let Some(question) = snapshot.question.as_ref().filter(|q| last != Some(q.id)) {
            last = Some(question.id);
            asked.push(question.tool.to_string());
            let approval = question.id;
            let decide = Command::Decide { approval, decision, feedback: None };
            session.send(decide).unwrap();
        }
        if snapshot.end.is_some() && !snapshot.phase.is_busy() {
            return (snapshot, asked);
        }
    }
}

fn states(snapshot: &Snapshot) -> Vec<ToolState> {
    let parts = snapshot.messages().flat_map(|message| message.parts.iter());
    parts
        .filter_map(|part| match part {
            Part::ToolCall(call) => Some(call.state),
            _ => None,
        })
        .collect()
}
