//! `letterpress ask --json` as a program of its own, and what it tells.

use std::{
    io::{BufRead as _, BufReader, Read as _},
    path::Path,
    process::Stdio,
    sync::mpsc::{self, RecvTimeoutError},
    thread::Builder,
    time::{Duration, Instant},
};

use serde_json::Value;

use super::server::{KEY, command};

/// How long a run may take, retries included.
const LIMIT: Duration = Duration::from_secs(90);

/// A way to ask a server.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wire {
    /// The name of the provider that speaks this way.
    pub(super) provider: &'static str,
    /// What the vendor's own SDK has behind the host.
    path: &'static str,
    /// Where its key is taken from.
    key_variable: Option<&'static str>,
}

impl Wire {
    const fn new(
        provider: &'static str,
        path: &'static str,
        key_variable: Option<&'static str>,
    ) -> Self {
        Self { provider, path, key_variable }
    }

    /// The program makes itself known to it.
    pub(super) fn has_key(self) -> bool {
        self.key_variable.is_some()
    }
}

pub(super) const CHAT: Wire = Wire::new("openai", "/v1", Some("OPENAI_API_KEY"));
pub(super) const RESPONSES: Wire = Wire::new("openai-responses", "/v1", Some("OPENAI_API_KEY"));
pub(super) const ANTHROPIC: Wire = Wire::new("anthropic", "", Some("ANTHROPIC_API_KEY"));
pub(super) const GEMINI: Wire = Wire::new("gemini", "", Some("GEMINI_API_KEY"));
pub(super) const OLLAMA: Wire = Wire::new("ollama", "", None);

/// All five.
pub(super) const WIRES: [Wire; 5] = [CHAT, RESPONSES, ANTHROPIC, GEMINI, OLLAMA];

/// Something that a run tells, in order; the pieces of a text are put together.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Told {
    Text(String),
    Reasoning(String),
    Call(String, Value),
    /// Every call is answered by an error: there are no tools.
    NoTool,
}

/// A run that ended.
#[derive(Debug)]
pub(super) struct Run {
    /// The events, and how long after the start each came.
    pub(super) lines: Vec<(Duration, Value)>,
    pub(super) stderr: String,
    pub(super) code: Option<i32>,
}

/// Asks; `more` are further words of the command line. `name` is what aimock files the
/// requests under: it travels as the query of the base address.
pub(super) fn ask(wire: Wire, address: &str, name: &str, model: &str, more: &[&str]) -> Run {
    let base = format!("http://{address}{}", wire.path);
    let base = if name.is_empty() { base } else { format!("{base}?testId={name}") };
    let model = if model.is_empty() { vec![] } else { vec!["--model", model] };
    let mut command = command(Path::new(env!("CARGO_BIN_EXE_letterpress")));
    command.args(["ask", "--json", "--provider", wire.provider, "--base-url", &base]);
    command.args(model).args(more);
    command.envs(wire.key_variable.map(|variable| (variable, KEY)));
    let start = Instant::now();
    let mut child =
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let (sender, lines) = mpsc::sync_channel(4096);
    let stdout = BufReader::new(child.stdout.take().unwrap());
    let reader = Builder::new().name("stdout".into()).spawn(move || {
        for line in stdout.lines() {
            sender.send((start.elapsed(), line.unwrap())).unwrap();
        }
    });
    let mut run = Run { lines: Vec::new(), stderr: String::new(), code: None };
    loop {
        match lines.recv_timeout(LIMIT.saturating_sub(start.elapsed())) {
            Ok((at, line)) => run.lines.push((at, serde_json::from_str(&line).unwrap())),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                child.kill().unwrap();
                panic!("{command:?} does not end: {run:?}");
            }
        }
    }
    reader.unwrap().join().unwrap();
    child.stderr.take().unwrap().read_to_string(&mut run.stderr).unwrap();
    run.code = child.wait().unwrap().code();
    run
}

impl Run {
    fn events<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Value> {
        self.lines.iter().map(|(_, line)| line).filter(move |line| line["type"] == kind)
    }

    /// When each piece of text came.
    pub(super) fn text_times(&self) -> Vec<Duration> {
        let texts = self.lines.iter().filter(|(_, line)| line["type"] == "text");
        texts.map(|(at, _)| *at).collect()
    }

    /// What it told before the end.
    pub(super) fn told(&self) -> Vec<Told> {
        let mut told = Vec::new();
        let mut last_call = &Value::Null;
        for (_, line) in &self.lines {
            let text = || line["delta"].as_str().unwrap().to_owned();
            told.push(match line["type"].as_str().unwrap() {
                "text" => Told::Text(text()),
                "reasoning" => Told::Reasoning(text()),
                "tool_call" => {
                    last_call = &line["id"];
                    let name = line["name"].as_str().unwrap().to_owned();
                    Told::Call(name, line["arguments"].clone())
                }
                "tool_result" => {
                    assert_eq!(&line["id"], last_call, "{line}");
                    assert_eq!(line["is_error"], true, "{line}");
                    Told::NoTool
                }
                "warning" | "end" => continue,
                other => panic!("an event of an unknown type: {other}"),
            });
        }
        together(told)
    }

    /// All text.
    pub(super) fn text(&self) -> String {
        self.events("text").map(|line| line["delta"].as_str().unwrap()).collect()
    }

    pub(super) fn warnings(&self) -> Vec<&str> {
        self.events("warning").map(|line| line["code"].as_str().unwrap()).collect()
    }

    /// The last line, which is the only one of its kind.
    pub(super) fn end(&self) -> &Value {
        let (_, last) = self.lines.last().expect("a run says how it ended");
        assert_eq!(last["type"], "end", "{last}");
        assert_eq!(self.events("end").count(), 1);
        last
    }

    /// Input and output tokens; none when nothing was counted.
    pub(super) fn usage(&self) -> Option<(u64, u64)> {
        let usage = &self.end()["usage"];
        usage
            .is_object()
            .then(|| (usage["input"].as_u64().unwrap(), usage["output"].as_u64().unwrap()))
    }

    /// It went well, and says nothing about itself.
    pub(super) fn assert_complete(&self, reason: &str) {
        assert_eq!(self.end()["state"], "complete", "{self:?}");
        assert_eq!(self.end()["reason"], reason, "{self:?}");
        assert_eq!(self.end()["error"], Value::Null, "{self:?}");
        assert_eq!(self.stderr, "", "{self:?}");
        assert_eq!(self.code, Some(0), "{self:?}");
    }

    /// It failed, says so in one line, and gives no key away.
    pub(super) fn assert_failed(&self, state: &str, class: &str) {
        assert_eq!(self.end()["state"], state, "{self:?}");
        assert_eq!(self.end()["error"]["class"], class, "{self:?}");
        assert_eq!(self.code, Some(1), "{self:?}");
        let words = self.stderr.strip_prefix("letterpress: ").expect("the program's name");
        assert_eq!(words.lines().count(), 1, "{self:?}");
        // What stands in the events stands there too.
        let message = self.end()["error"]["message"].as_str().unwrap();
        assert!(!message.is_empty() && words.contains(message), "{self:?}");
        assert!(!format!("{self:?}").contains(KEY), "{self:?}");
    }
}

/// Neighbours of a kind become one: where texts are cut is up to the server.
pub(super) fn together(told: Vec<Told>) -> Vec<Told> {
    let mut all: Vec<Told> = Vec::new();
    for told in told {
        match (all.last_mut(), told) {
            (Some(Told::Text(text)), Told::Text(more))
            | (Some(Told::Reasoning(text)), Told::Reasoning(more)) => text.push_str(&more),
            (_, told) => all.push(told),
        }
    }
    all
}
