//! `ask` with tools: at a terminal, without one, by itself.

use std::{
    io::{self, BufReader, Write},
    sync::Arc,
    time::Duration,
};

use letterpress::{
    app::{
        ask::{self, Desk, Kept, User},
        cli::{self, Ask},
        providers::{Choice, Reason},
        toolbox,
    },
    engine::live::Provider,
    model::{Draft, Ticket, stream::Wire},
    wire::Endpoint,
};
use parking_lot::Mutex;
use serde_json::{Value, json};

use super::bench::{Ground, calls};
use crate::live::{
    bench::{engine, limits},
    server::{Act, Server, whole},
};

/// What stands on a terminal.
#[derive(Clone, Default)]
struct Screen(Arc<Mutex<Vec<u8>>>);

impl Write for Screen {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Screen {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().clone()).unwrap()
    }
}

struct Asked {
    events: Vec<Value>,
    done: Result<(), String>,
    screen: String,
    server: Server,
}

impl Asked {
    fn results(&self) -> Vec<(bool, &str)> {
        let results = self.events.iter().filter(|event| event["type"] == "tool_result");
        results
            .map(|it| (it["is_error"].as_bool().unwrap(), it["text"].as_str().unwrap()))
            .collect()
    }
}

/// Asks with these words on the command line; `typed` is what the user types, if there is one.
fn ask(ground: &Ground, line: &str, answers: Vec<Vec<Act>>, typed: Option<&str>) -> Asked {
    let server = Server::new(answers);
    let engine = engine(limits());
    let endpoint = Endpoint::new("test", Wire::Chat, &server.base).unwrap();
    let choice = Choice {
        name: "test".into(),
        provider: Provider::Endpoint(Arc::new(endpoint)),
        model: "m".into(),
        reason: Reason::Named,
    };
    let kit = toolbox::open_at(&ground.work(), &ground.places(), &engine.handle()).unwrap();
    let screen = Screen::default();
    let user = typed.map(|typed| {
        let lines = BufReader::new(io::Cursor::new(typed.to_owned()));
        User::new(Box::new(lines), Box::new(screen.clone()), Duration::ZERO)
    });
    let mut out = Vec::new();
    let desk =
        Desk { out: &mut out, is_terminal: false, bench: Some(kit.toolbox), user, kept: Kept::Not };
    let draft = Draft::text(Ticket(1), "hello");
    let done = ask::answer(&engine, &choice, &args(line), draft, desk);
    let out = String::from_utf8(out).unwrap();
    let events = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    Asked { events, done: done.map_err(|error| error.to_string()), screen: screen.text(), server }
}

fn args(line: &str) -> Ask {
    let words = ["letterpress", "ask"].into_iter().chain(line.split(' '));
    let Ok(cli::Invocation { command: cli::Command::Ask(ask), .. }) = cli::parse_from(words) else {
        panic!("{line}")
    };
    ask
}

fn touch(name: &str) -> (&'static str, Value) {
    ("execute_command", json!({"command": ["touch", name]}))
}

#[test]
fn without_a_terminal_questions_are_refused_and_the_turn_goes_on() {
    let ground = Ground::new();
    ground.write("notes", "alpha\n");
    let first = calls(&[touch("made"), ("read_file", json!({"path": "notes"}))]);
    let asked = ask(&ground, "--json --tools ask hi", vec![first, whole(&["Sorry."])], None);
    assert_eq!(asked.done, Ok(()));
    let [(true, refused), (false, read)] = asked.results()[..] else {
        panic!("{:?}", asked.results())
    };
    assert!(refused.contains("approval") && refused.contains("nobody"), "{refused}");
    assert!(read.contains("alpha"), "looking needs nobody: {read}");
    assert!(ground.read("made").is_none());
    let mut server = asked.server;
    server.request();
    let second = server.request();
    assert!(second["messages"][2]["content"].as_str().unwrap().contains("nobody"), "{second}");
}

#[test]
fn by_itself_it_works_until_it_has_read_what_others_wrote() {
    let ground = Ground::new();
    ground.write("notes", "alpha\n");
    let rounds = vec![
        calls(&[touch("first")]),
        calls(&[("write_to_file", json!({"path": "second", "content": "b\n"})), touch("third")]),
        whole(&["Done."]),
    ];
    let asked = ask(&ground, "--json --tools auto hi", rounds, None);
    assert_eq!(asked.done, Ok(()));
    let errors: Vec<_> = asked.results().iter().map(|(is_error, _)| *is_error).collect();
    assert_eq!(errors, [false, false, true], "{:?}", asked.results());
    assert!(ground.read("first").is_some() && ground.read("second").is_some());
    assert!(ground.read("third").is_none(), "a result is what others wrote");
}

#[test]
fn tools_none_gives_none() {
    let ground = Ground::new();
    let first = calls(&[("read_file", json!({"path": "notes"}))]);
    let mut asked = ask(&ground, "--json --tools none hi", vec![first, whole(&["Sorry."])], None);
    assert!(asked.results()[0].0 && asked.results()[0].1.contains("no tool of this name"));
    assert!(asked.server.request().get("tools").is_none());
}

#[test]
fn at_a_terminal_he_sees_exactly_what_and_why() {
    let ground = Ground::new();
    ground.write("code", "one\ntwo\nthree\n");
    let edits = json!({"path": "code", "old_string": "two", "new_string": "2\u{202e}"});
    let first = calls(&[
        ("execute_command", json!({"command": ["touch", "a b", "-c"]})),
        ("edit_file", edits),
    ]);
    let asked =
        ask(&ground, "--json --tools ask hi", vec![first, whole(&["Done."])], Some("y\n\n7\ny\n"));
    assert_eq!(asked.done, Ok(()), "{}", asked.screen);
    let has = |words: &str| assert!(asked.screen.contains(words), "{words}: {}", asked.screen);
    has("execute_command wants to run:\n    touch 'a b' -c\n");
    has(&format!("  in {}\n", ground.work().canonicalize().unwrap().display()));
    has("  for at most 120 s\n");
    has("GIT_PAGER=cat");
    has("    - two\n    + 2⟨RLO⟩\n");
    has("      one\n");
    has("Write y, n, a number of the list, or words.");
    assert!(!asked.screen.contains('\u{202e}'));
    assert_eq!(asked.screen.matches("wants to run").count(), 2, "each is asked once");
    assert_eq!(ground.read("code").unwrap(), "one\n2\u{202e}\nthree\n");
}

#[test]
fn a_number_means_its_offer_and_words_are_what_the_model_reads() {
    let ground = Ground::new();
    let rounds = vec![
        calls(&[touch("a")]),
        calls(&[touch("a")]),
        calls(&[touch("b"), touch("c")]),
        whole(&["As you wish."]),
    ];
    let asked = ask(&ground, "--json --tools ask hi", rounds, Some("1\nuse the other folder\n"));
    assert_eq!(asked.done, Ok(()), "{}", asked.screen);
    assert_eq!(asked.screen.matches("wants to run").count(), 2, "{}", asked.screen);
    assert!(ground.read("a").is_some() && ground.read("b").is_none() && ground.read("c").is_none());
    let mut server = asked.server;
    let last = (0..4).map(|_| server.request()).last().unwrap();
    let said = last["messages"].as_array().unwrap().last().unwrap();
    assert_eq!((&said["role"], &said["content"]), (&json!("user"), &json!("use the other folder")));
}

#[test]
fn an_end_of_what_is_typed_is_a_no() {
    let ground = Ground::new();
    let asked = ask(&ground, "--json --tools ask hi", vec![calls(&[touch("a")])], Some(""));
    assert_eq!(asked.done, Ok(()));
    assert!(asked.screen.contains("nobody answers"), "{}", asked.screen);
    assert!(asked.results()[0].0 && ground.read("a").is_none());
}
