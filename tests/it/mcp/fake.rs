//! A server in this very program, told by a file what to be.
//!
//! The file is read again for every request, so that a test can change the server under way.
//! Everything that it gets is noted in a journal, which is how a test knows that a call did
//! not pass.

use std::{
    env,
    fs::{self, OpenOptions},
    io::{Lines, StdinLock, Write as _, stdin, stdout},
    path::{Path, PathBuf},
    process::exit,
    thread::sleep,
    time::Duration,
};

use serde_json::{Value, json};

/// Names the file.
pub(super) const SCRIPT: &str = "LETTERPRESS_FAKE_SERVER";

/// The test that is the server.
pub(super) const ARGS: [&str; 4] = ["mcp::fake::serve", "--exact", "--ignored", "--nocapture"];

pub(super) fn journal_of(script: &Path) -> PathBuf {
    script.with_extension("journal")
}

#[expect(clippy::exit, reason = "it is a program")]
#[test]
#[ignore = "this is a server: tests start it as a program"]
fn serve() {
    let Some(script) = env::var_os(SCRIPT).map(PathBuf::from) else { return };
    let mut fake = Fake { script, lines: stdin().lines(), seen: Vec::new() };
    fake.note("started");
    eprintln!("the fake server is up, and its word is {}", fake.script()["word"]);
    // What the test harness prints stands before this.
    println!();
    let is_silent = fake.script()["silent"].as_bool().unwrap_or(false);
    while let Some(message) = fake.next() {
        if !is_silent {
            fake.take(&message);
        }
    }
    fake.note("input closed");
    if fake.script()["stubborn"].as_bool().unwrap_or(false) {
        sleep(Duration::from_secs(600));
    }
    exit(0);
}

struct Fake {
    script: PathBuf,
    lines: Lines<StdinLock<'static>>,
    /// Errors that came back to its own questions.
    seen: Vec<i64>,
}

fn send(message: &Value) {
    let mut out = stdout().lock();
    writeln!(out, "{message}").unwrap();
    out.flush().unwrap();
}

fn send_raw(line: &str) {
    let mut out = stdout().lock();
    writeln!(out, "{line}").unwrap();
    out.flush().unwrap();
}

fn notify(method: &str, params: &Value) {
    send(&json!({ "jsonrpc": "2.0", "method": method, "params": params }));
}

fn text(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }] })
}

impl Fake {
    fn next(&mut self) -> Option<Value> {
        let line = self.lines.next()?;
        Some(serde_json::from_str(&line.unwrap()).unwrap())
    }

    fn script(&self) -> Value {
        serde_json::from_slice(&fs::read(&self.script).unwrap()).unwrap()
    }

    fn note(&self, words: &str) {
        let journal = journal_of(&self.script);
        let mut file = OpenOptions::new().create(true).append(true).open(journal).unwrap();
        writeln!(file, "{words}").unwrap();
    }

    fn take(&mut self, message: &Value) {
        let method = message["method"].as_str().unwrap_or_default();
        let id = &message["id"];
        let params = &message["params"];
        match method {
            "initialize" => self.answer(id, &self.greeting()),
            "tools/list" => self.list(id, params),
            "tools/call" => {
                let name = params["name"].as_str().unwrap();
                self.note(&format!("call {name}"));
                self.call(id, name, params);
            }
            "notifications/cancelled" => {
                self.note(&format!("cancelled {}", params["requestId"]));
            }
            "" => {
                let code = message["error"]["code"].as_i64().unwrap_or_default();
                self.seen.push(code);
                self.note(&format!("answer {code}"));
            }
            other => self.note(other),
        }
    }

    fn answer(&self, id: &Value, result: &Value) {
        send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    fn greeting(&self) -> Value {
        json!({
            "protocolVersion": "2025-11-25",
            "capabilities": { "tools": { "listChanged": true } },
            "serverInfo": { "name": "fake", "version": "1" },
            "instructions": self.script()["instructions"].as_str().unwrap_or("obey me"),
        })
    }

    /// The tools of the script, so many on a page.
    fn list(&self, id: &Value, params: &Value) {
        let script = self.script();
        if let Some(lines) = script["before_list"].as_array() {
            lines.iter().for_each(send);
        }
        let tools = script["tools"].as_array().unwrap();
        let size = script["page"].as_u64().map_or(usize::MAX, |size| size as usize);
        let from: usize = params["cursor"].as_str().map_or(0, |cursor| cursor.parse().unwrap());
        let page: Vec<_> = tools.iter().skip(from).take(size).collect();
        let next = from.saturating_add(size);
        let mut result = json!({ "tools": page });
        if next < tools.len() {
            result["nextCursor"] = json!(next.to_string());
        }
        if let Some(cursor) = script["cursor"].as_str() {
            result["nextCursor"] = json!(cursor);
        }
        self.answer(id, &result);
    }

    #[expect(
        clippy::print_stderr,
        clippy::zombie_processes,
        reason = "it is a program, errors are its log, and others have to clean up after it"
    )]
    fn call(&mut self, id: &Value, name: &str, params: &Value) {
        let token = &params["_meta"]["progressToken"];
        let progress = |done: u64| {
            let message = format!("step {done}");
            let params =
                json!({ "progressToken": token, "progress": done, "total": 5, "message": message });
            notify("notifications/progress", &params);
        };
        match name {
            "hang" => {}
            "slow" => {
                for done in 1..=5 {
                    sleep(Duration::from_millis(200));
                    progress(done);
                }
                self.answer(id, &text("done"));
            }
            "endless" => loop {
                sleep(Duration::from_millis(50));
                progress(1);
            },
            "die" => {
                eprintln!("I cannot go on");
                exit(3);
            }
            "last" => {
                self.answer(id, &text("my last words"));
                exit(0);
            }
            "parts" => self.answer(id, &self.script()["parts"]),
            "refuse" => send(&json!({
                "jsonrpc": "2.0", "id": id, "error": { "code": -32602, "message": "not like this" },
            })),
            "huge" => self.answer(id, &text(&"x".repeat(17 << 20))),
            "deep" => {
                let (open, shut) = ("[".repeat(500), "]".repeat(500));
                send_raw(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{open}{shut}}}"#));
            }
            "noise" => {
                send_raw("Loading model... 100%\u{1b}[0m");
                send_raw("{\"half\": ");
                self.answer(id, &text("heard"));
            }
            "flood" => {
                for done in 0..10_000 {
                    progress(done);
                    notify("notifications/message", &json!({ "level": "info", "data": "la" }));
                    notify("notifications/nonsense", &json!({}));
                }
                self.answer(id, &text("dry"));
            }
            "ask" => self.ask(id),
            "announce" => {
                notify("notifications/tools/list_changed", &json!({}));
                self.answer(id, &text("announced"));
            }
            "env" => {
                let mut names: Vec<_> = env::vars().collect();
                names.sort();
                self.answer(id, &json!({ "structuredContent": { "env": names } }));
            }
            "fork" => {
                let child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
                self.answer(id, &text(&child.id().to_string()));
            }
            "pid" => self.answer(id, &text(&std::process::id().to_string())),
            _ => self.answer(id, &text(&params["arguments"].to_string())),
        }
    }

    /// Asks for all that a server may ask for, and tells what came back.
    fn ask(&mut self, id: &Value) {
        let questions = ["sampling/createMessage", "roots/list", "elicitation/create"];
        let params = [
            json!({ "messages": [{ "role": "user", "content": { "type": "text", "text": "?" } }], "maxTokens": 9 }),
            json!({}),
            json!({ "message": "your password?", "requestedSchema": { "type": "object", "properties": {} } }),
        ];
        for (at, (method, params)) in questions.iter().zip(params).enumerate() {
            send(&json!({ "jsonrpc": "2.0", "id": 900 + at, "method": method, "params": params }));
        }
        for _ in questions {
            let answer = self.next().unwrap();
            self.take(&answer);
        }
        self.answer(id, &text(&format!("{:?}", self.seen)));
    }
}
