//! `letterpress ask --session`: the program itself, and what it leaves when it is killed.

use std::{
    io::Read as _,
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use letterpress::{
    model::record::Kind,
    store::{Access, RealDisk, SessionId, Store},
};

use super::told::Log;
use crate::live::server::{Act, Chance, Server, finish, sse, text, whole};

/// How often the program is killed.
const KILLS: usize = 200;
/// How many are running at a time.
const CROWD: usize = 2;

fn command(server: &Server, data: &Path, session: &str, prompt: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_letterpress"));
    command.args(["ask", "--base-url", &server.base, "--model", "m", "--session", session]);
    command.arg("--data-dir").arg(data).arg(prompt);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.env_remove("OPENAI_API_KEY");
    command
}

fn store(data: &Path) -> Store {
    Store::open(data.to_owned(), std::sync::Arc::new(RealDisk)).unwrap()
}

/// Runs it to its end: what it printed, what it complained of, and whether all went well.
fn run(mut command: Command) -> (String, String, bool) {
    let output = command.output().unwrap();
    let words = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (words(output.stdout), words(output.stderr), output.status.success())
}

#[test]
fn a_session_goes_on_from_command_to_command() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = Server::new(vec![whole(&["One."]), whole(&["Two."]), whole(&["Three."])]);
    let (out, error, is_well) = run(command(&server, folder.path(), "trip", "first"));
    assert!(is_well && out == "One.\n", "{out} {error}");
    let (out, error, is_well) = run(command(&server, folder.path(), "tr", "second"));
    assert!(is_well && out == "Two.\n", "a beginning is enough: {out} {error}");
    server.request();
    let request = server.request();
    let said: Vec<_> = request["messages"].as_array().unwrap().iter().collect();
    assert_eq!(said.len(), 3);
    assert_eq!((&said[0]["content"], &said[2]["content"]), (&"first".into(), &"second".into()));
    let store = store(folder.path());
    assert_eq!(store.ids(), [SessionId::new("trip").unwrap()]);
    let log = Log::read(&store.log_path(&store.ids()[0]));
    assert_eq!(log.words(), ["user: first", "assistant: One.", "user: second", "assistant: Two."]);
    // Without a name there is a new one, unless nothing is to be kept.
    let mut unnamed = Command::new(env!("CARGO_BIN_EXE_letterpress"));
    unnamed.args(["ask", "--base-url", &server.base, "--model", "m", "third"]);
    unnamed.arg("--data-dir").arg(folder.path()).stdin(Stdio::null());
    let (out, ..) = run(unnamed);
    assert_eq!((out.as_str(), store.ids().len()), ("Three.\n", 2));
    let mut unsaved = Command::new(env!("CARGO_BIN_EXE_letterpress"));
    unsaved.args(["ask", "--provider", "demo", "--no-save", "fourth"]);
    unsaved.arg("--data-dir").arg(folder.path()).stdin(Stdio::null());
    run(unsaved);
    assert_eq!(store.ids().len(), 2);
}

#[test]
fn a_session_that_is_written_elsewhere_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::new(vec![whole(&["One."])]);
    run(command(&server, folder.path(), "trip", "first"));
    let store = store(folder.path());
    let id = SessionId::new("trip").unwrap();
    let held = store.open_session(&id, 0).unwrap();
    assert!(matches!(held.log, Access::Write(_)));
    let (out, error, is_well) = run(command(&server, folder.path(), "trip", "second"));
    assert!(!is_well && out.is_empty());
    assert!(error.starts_with("letterpress: ") && error.lines().count() == 1, "{error}");
    assert!(error.trim_end().ends_with("trip"), "{error}");
    assert_eq!(Log::read(&store.log_path(&id)).words().len(), 2);
    let (_, error, is_well) = run(command(&server, folder.path(), "No Name", "second"));
    assert!(!is_well && error.lines().count() == 1, "{error}");
}

/// Words that come one after the other, slowly.
fn slow(words: usize) -> Vec<Act> {
    let mut acts = vec![sse()];
    for n in 0..words {
        acts.extend([Act::Send(text(&format!("word{n} "))), Act::Sleep(4)]);
    }
    acts.extend([Act::Send(finish("stop")), Act::Finish]);
    acts
}

/// Waits until the program has printed something, or has ended; then for a while longer.
fn kill(child: &mut Child, began: Instant, after: Duration) -> String {
    let mut out = child.stdout.take().unwrap();
    std::thread::sleep(after.saturating_sub(began.elapsed()));
    child.kill().unwrap();
    child.wait().unwrap();
    let mut printed = String::new();
    out.read_to_string(&mut printed).unwrap();
    printed
}

/// How many words of a text there are.
fn count(text: &str) -> usize {
    text.matches("word").count()
}

/// Kills the program at random in one session after the other: how often it had already
/// begun to answer.
fn kill_again_and_again(seed: u64, times: usize) -> usize {
    let folder = tempfile::tempdir().unwrap();
    let store = store(folder.path());
    let mut chance = Chance(seed);
    let mut answered = 0;
    for round in 0..times {
        let name = format!("s{round}");
        let id = SessionId::new(&name).unwrap();
        let server = Server::new(vec![slow(2000), whole(&["And on."])]);
        let mut child = command(&server, folder.path(), &name, "tell me").spawn().unwrap();
        let (began, after) = (Instant::now(), Duration::from_millis(chance.below(1600) as u64));
        let printed = kill(&mut child, began, after);
        if !store.contains(&id) {
            assert!(printed.is_empty(), "what answers is kept");
            assert_eq!(server.connections(), 0, "nothing leaves before it is kept");
            continue;
        }
        let log = Log::read(&store.log_path(&id));
        let said = log.words();
        if server.connections() > 0 {
            assert_eq!(said[0], "user: tell me", "{seed} {round}: {said:?}");
        }
        let kept = said.get(1).map_or(0, |words| count(words));
        if !printed.is_empty() {
            answered += 1;
            // What was printed is at most a second older than what was kept: 250 words.
            let lost = count(&printed).saturating_sub(kept);
            assert!(lost <= 250, "{seed} {round}: {lost} words of {}", count(&printed));
        }
        assert!(!log.kinds.contains(&Kind::AssistantFinal));
        if round % 8 == 0 && server.connections() > 0 {
            let (out, error, is_well) = run(command(&server, folder.path(), &name, "go on"));
            assert!(is_well && out == "And on.\n", "{out} {error}");
            let words = Log::read(&store.log_path(&id)).words();
            assert_eq!(words[words.len() - 2..], ["user: go on", "assistant: And on."]);
        }
    }
    answered
}

#[test]
fn killed_at_any_moment_it_has_kept_what_was_said() {
    let (done, finished) = std::sync::mpsc::sync_channel(CROWD);
    for seed in 0..CROWD as u64 {
        let done = done.clone();
        let work = move || done.send(kill_again_and_again(seed, KILLS / CROWD)).unwrap();
        std::thread::Builder::new().spawn(work).unwrap();
    }
    drop(done);
    let answered: Vec<usize> = finished.iter().collect();
    // One that panics sends nothing.
    assert_eq!(answered.len(), CROWD);
    let answered: usize = answered.into_iter().sum();
    println!("{answered} of {KILLS} were killed in the middle of an answer");
    assert!(answered > KILLS / 4, "{answered}");
}
