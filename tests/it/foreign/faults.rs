//! aimock on all five wires when it fails.

use std::thread;

use serde_json::{Value, json};

use super::{
    fixtures::content,
    program::{Run, WIRES, Wire, ask},
    server::{KEY, Server},
};

const REFUSED: &str = "Refuse the key";

/// A failure, and what must come of it.
struct Fault {
    prompt: &'static str,
    /// Requests that the server gets.
    requests: usize,
    /// The class of the error and its status; none when a try goes well in the end.
    error: Option<(&'static str, Option<u16>)>,
    /// What the error line holds.
    words: &'static str,
    /// Between two requests.
    pause_ms: u64,
}

const FAULTS: &[Fault] = &[
    Fault {
        prompt: "Always fail",
        requests: 3,
        error: Some(("server", Some(500))),
        words: "Chaos: request dropped",
        pause_ms: 300,
    },
    Fault { prompt: "Fail one time", requests: 2, error: None, words: "", pause_ms: 300 },
    Fault {
        prompt: "Always be busy",
        requests: 3,
        error: Some(("rate_limit", Some(429))),
        words: "Chaos: rate limit exceeded",
        // It says when to come back: in one second.
        pause_ms: 990,
    },
    Fault { prompt: "Be busy one time", requests: 2, error: None, words: "", pause_ms: 990 },
    Fault {
        prompt: "Be busy for ten minutes",
        requests: 1,
        error: Some(("rate_limit", Some(429))),
        words: "Come back later.",
        pause_ms: 0,
    },
    Fault {
        prompt: "Send no JSON",
        requests: 1,
        error: Some(("protocol", None)),
        words: "",
        pause_ms: 0,
    },
    Fault {
        prompt: "Hang up",
        requests: 3,
        error: Some(("connect", None)),
        words: "connection closed",
        pause_ms: 300,
    },
    Fault {
        prompt: REFUSED,
        requests: 1,
        error: Some(("auth", Some(401))),
        words: "Incorrect API key provided: ",
        pause_ms: 0,
    },
    Fault { prompt: "Think long before", requests: 1, error: None, words: "", pause_ms: 0 },
];

#[test]
fn failures_are_told_and_tried_again() {
    let Some(server) = Server::aimock() else { return };
    let server = &server;
    // Most of the time is spent waiting for the next try.
    thread::scope(|scope| {
        for wire in WIRES {
            let thread = thread::Builder::new().name(wire.provider.into());
            let faults = move || {
                for fault in FAULTS {
                    fault.run(wire, server);
                }
            };
            thread.spawn_scoped(scope, faults).unwrap();
        }
    });
}

impl Fault {
    fn run(&self, wire: Wire, server: &Server) {
        // It would be told somebody else's key, which nobody could black out.
        if self.prompt == REFUSED && !wire.has_key() {
            return;
        }
        let name = format!("{}-{}", self.prompt.replace(' ', "-"), wire.provider);
        let run = ask(wire, &server.address, &name, "set-in-type", &[self.prompt]);
        match self.error {
            Some((class, status)) => {
                run.assert_failed("failed", class);
                assert_eq!(run.end()["error"]["status"].as_u64(), status.map(u64::from), "{name}");
                assert!(run.stderr.contains(self.words), "{name}: {run:?}");
                assert_eq!(run.told(), [], "{name}: {run:?}");
                assert_eq!(run.usage(), None, "{name}: {run:?}");
            }
            None => {
                run.assert_complete("stop");
                assert_eq!(run.text(), content(self.prompt), "{name}: {run:?}");
            }
        }
        let journal = server.journal(&name);
        assert_eq!(journal.len(), self.requests, "{name}: {journal:?}");
        let times: Vec<_> = journal.iter().map(|r| r["timestamp"].as_u64().unwrap()).collect();
        assert!(
            times.windows(2).all(|pair| pair[1] - pair[0] >= self.pause_ms),
            "{name}: {times:?}"
        );
    }
}

/// The server repeats the key, and the program does not.
#[test]
fn a_key_that_comes_back_is_blacked_out() {
    let Some(server) = Server::aimock() else { return };
    for wire in WIRES.into_iter().filter(|wire| wire.has_key()) {
        let run = ask(wire, &server.address, "key", "set-in-type", &[REFUSED]);
        assert_eq!(run.code, Some(1), "{run:?}");
        for told in [run.stderr.clone(), run.end().to_string()] {
            assert!(told.contains("provided: [secret]. Find"), "{told}");
            assert!(!told.contains(KEY), "{told}");
        }
        let journal = server.journal("key");
        assert_eq!(journal.last().unwrap()["response"]["status"], 401);
        let path = journal.last().unwrap()["path"].as_str().unwrap();
        assert!(!path.contains(KEY), "a key stands in no address: {path}");
    }
    assert_eq!(server.journal("key").len(), 4);
}

#[test]
fn a_reply_that_breaks_off_keeps_what_came() {
    let Some(server) = Server::aimock() else { return };
    for wire in WIRES {
        for (name, prompt) in
            [("pieces", "Break off after some pieces"), ("while", "Break off after a while")]
        {
            let name = format!("{name}-{}", wire.provider);
            let run = ask(wire, &server.address, &name, "set-in-type", &[prompt]);
            run.assert_failed("interrupted", "io");
            assert_partial(&run, &content(prompt), &name);
            let journal = server.journal(&name);
            // Part of it was shown, so it is not asked again without the user.
            assert_eq!(journal.len(), 1, "{name}: {journal:?}");
            assert_eq!(journal[0]["response"]["interrupted"], true, "{name}");
        }
    }
}

fn assert_partial(run: &Run, whole: &str, name: &str) {
    let text = run.text();
    assert!(!text.is_empty() && text.len() < whole.len(), "{name}: {run:?}");
    assert!(whole.starts_with(&text), "{name}: {run:?}");
    let message = &run.end()["message"];
    assert_eq!(message["stop_reason"], "error", "{name}: {run:?}");
    let parts = message["parts"].as_array().unwrap();
    let kept: Vec<&Value> = parts.iter().filter(|part| part["type"] == "text").collect();
    assert_eq!(kept, [&json!({"type": "text", "text": text})], "{name}: {run:?}");
    assert!(parts.iter().any(|part| part["type"] == "notice"), "{name}: {run:?}");
}
