//! The same kind of history as the log of a session of this program.
//!
//! Now and then a prompt is edited, an answer asked for anew or an earlier branch chosen, and
//! now and then an answer has no end.

use std::{
    io::{self, Write},
    sync::Arc,
};

use serde_json::{Value, json};

use super::{BEGIN_MS, FLUSH_BYTES, MODELS, Request, prose::Prose, rng::Rng, tools::Call};
use crate::model::{
    Message, MessageId, Output, Part, Role, Settings, SourceLine, StopReason, Text, Thinking,
    ToolCall, ToolResult, ToolState, Usage,
    record::{self, Approved, Delta, Kind, Meta, line},
};

/// Writes a history as the log of a session: about 4 KB a message. Messages are the prompts
/// and the answers of all branches; results stand in the answers.
///
/// # Errors
/// Those of the writer.
pub fn write_log(request: Request, out: &mut dyn Write) -> io::Result<()> {
    let mut log = Log::new(request);
    log.meta();
    while log.left > 0 {
        log.turn();
        if log.lines.len() >= FLUSH_BYTES {
            out.write_all(log.lines.as_bytes())?;
            log.lines.clear();
        }
    }
    out.write_all(log.lines.as_bytes())?;
    out.flush()
}

struct Log {
    lines: String,
    prose: Prose,
    left: u64,
    n: u64,
    calls: u64,
    now_ms: i64,
    /// The message that the next one follows.
    leaf: Option<Arc<str>>,
    /// The last prompt, and what it follows.
    prompt: Option<(Arc<str>, Option<Arc<str>>)>,
    /// An end to go back to.
    other: Option<Arc<str>>,
}

impl Log {
    fn new(request: Request) -> Self {
        Self {
            lines: String::with_capacity(FLUSH_BYTES * 2),
            prose: Prose::new(Rng::new(request.seed)),
            left: request.messages,
            n: 0,
            calls: 0,
            now_ms: BEGIN_MS,
            leaf: None,
            prompt: None,
            other: None,
        }
    }

    fn record(&mut self, kind: Kind, body: &Value) {
        self.lines.push_str(&line::write(self.n, kind, self.now_ms, &body.to_string()));
        self.n += 1;
    }

    /// Writes a record that begins a message or is a branch, and gives its id.
    fn begin(&mut self, kind: Kind, parent: Option<&str>, body: Value) -> Arc<str> {
        let id: Arc<str> = format!("m{}", self.n).into();
        self.record(kind, &record::placed(Some(&id), parent, body));
        id
    }

    fn meta(&mut self) {
        let settings = Settings {
            provider: "synthetic".into(),
            model: MODELS[0].into(),
            workspace: Some("/work/orchard".into()),
            ..Settings::default()
        };
        let meta = Meta {
            title: Some("A made-up session".into()),
            settings: Some(settings),
            program: Some("letterpress synth".into()),
            ..Meta::default()
        };
        self.record(Kind::Meta, &meta.to_body());
    }

    /// One prompt and everything that follows from it.
    fn turn(&mut self) {
        self.go_back();
        self.user();
        let steps = [0, 1, 1, 2, 2, 3, 4, 6, 9][self.prose.rng.below(9)];
        for _ in 0..steps {
            self.answer(true);
        }
        let before = self.leaf.clone();
        self.answer(false);
        if self.prose.rng.chance(2) {
            self.other = std::mem::replace(&mut self.leaf, before);
            self.answer(false);
        }
    }

    /// Goes back to a branch that was left, once in a while.
    fn go_back(&mut self) {
        if !self.prose.rng.chance(1) {
            return;
        }
        if let Some(other) = self.other.take() {
            let id: Arc<str> = format!("m{}", self.n).into();
            let mut body = record::branch(Some(&other));
            body["id"] = (*id).into();
            self.record(Kind::Branch, &body);
            self.leaf = Some(id);
        }
    }

    fn user(&mut self) {
        if !self.next(4_000, 180_000) {
            return;
        }
        let mut text = String::new();
        self.prose.prompt(&mut text);
        let mut body = json!({ "parts": [{ "type": "text", "text": text }] });
        let edited = self.prompt.take().filter(|_| self.prose.rng.chance(3));
        let (kind, parent) = match edited {
            Some((prompt, parent)) => {
                self.other = self.leaf.take();
                body["replaces"] = (*prompt).into();
                (Kind::Edit, parent)
            }
            None => (Kind::User, self.leaf.take()),
        };
        let id = self.begin(kind, parent.as_deref(), body);
        self.prompt = Some((Arc::clone(&id), parent));
        self.leaf = Some(id);
    }

    /// An answer, with calls or without.
    fn answer(&mut self, works: bool) {
        if !self.next(900, 25_000) {
            return;
        }
        let model = MODELS[self.prose.rng.below(MODELS.len())];
        let parent = self.leaf.take();
        let begun_ms = self.now_ms;
        let start = record::start("synthetic", model);
        let id = self.begin(Kind::AssistantStart, parent.as_deref(), start);
        let mut parts = self.words(works);
        if self.prose.rng.chance(40) {
            self.partial(&id, &parts);
        }
        let is_cut = self.prose.rng.below(300) == 0;
        if works && !is_cut {
            let count = [1, 1, 1, 1, 2, 2, 3][self.prose.rng.below(7)];
            parts.extend((0..count).map(|_| self.call(&id)));
        }
        if !is_cut {
            let stop = if works { StopReason::ToolUse } else { StopReason::Stop };
            let usage = Some(self.usage());
            let said = Message {
                timestamp_ms: Some(begun_ms),
                model: Some(model.into()),
                parts,
                stop: Some(stop),
                usage,
                ..blank()
            };
            let body = record::encode_answer(&said, "synthetic", &[], &mut |_| String::new());
            let body = record::placed(Some(&id), parent.as_deref(), body);
            self.record(Kind::AssistantFinal, &body);
        }
        self.leaf = Some(id);
    }

    fn words(&mut self, works: bool) -> Vec<Part> {
        let mut parts = Vec::new();
        if self.prose.rng.chance(if works { 70 } else { 40 }) {
            let mut text = String::new();
            self.prose.thought(&mut text);
            let text = Text::unparsed(text);
            parts.push(Part::Thinking(Thinking { text, redacted: false, duration_ms: None }));
        }
        let mut text = String::new();
        if !works {
            self.prose.answer(&mut text);
        } else if self.prose.rng.chance(45) {
            self.prose.aside(&mut text);
        }
        if !text.is_empty() {
            parts.push(Part::Text(Text::unparsed(text)));
        }
        parts
    }

    /// What was written of the answer before it was whole.
    fn partial(&mut self, id: &str, parts: &[Part]) {
        let deltas: Vec<(u32, Delta<'_>)> = (0..)
            .zip(parts)
            .filter_map(|(key, part)| match part {
                Part::Text(text) => Some((key, Delta::Text(&text.source))),
                Part::Thinking(thinking) => Some((key, Delta::Thinking(&thinking.text.source))),
                _ => None,
            })
            .collect();
        for body in record::partial(id, &deltas, &mut |_| String::new()) {
            self.record(Kind::Partial, &body);
        }
    }

    /// A call, as it is run.
    fn call(&mut self, id: &str) -> Part {
        self.calls += 1;
        let made = Call::new(self.calls, &mut self.prose);
        let (mut arguments, mut scratch) = (String::new(), String::new());
        made.arguments(&mut arguments, &mut scratch);
        let mut call = ToolCall {
            id: format!("call_{:06x}", made.number).into(),
            name: made.name().into(),
            arguments: serde_json::from_str(&arguments).unwrap_or(Value::Null),
            state: ToolState::NoResult,
            result: None,
            superseded: 0,
            duration_ms: None,
        };
        self.record(Kind::ToolCall, &record::tool_call(id, &call, &mut |_| String::new()));
        if matches!(made.name(), "bash" | "edit") {
            let approved = Approved {
                call: Arc::clone(&call.id),
                decision: "once".into(),
                by: "user".into(),
                feedback: None,
            };
            self.record(Kind::Approval, &record::approval(id, &approved));
        }
        let took_ms = 20 + self.prose.rng.below(9_000);
        self.now_ms += took_ms as i64;
        let mut output = String::new();
        let is_error = made.output(&mut self.prose, &mut output);
        call.state = if is_error { ToolState::Error } else { ToolState::Ok };
        call.duration_ms = Some(took_ms as u64);
        call.result = Some(Arc::new(ToolResult {
            call_id: Arc::clone(&call.id),
            tool_name: Arc::clone(&call.name),
            is_error,
            output: Output::plain(output),
            told: None,
            images: Vec::new(),
            details: Value::Null,
        }));
        self.record(Kind::ToolResult, &record::tool_result(id, &call, &mut |_| String::new()));
        Part::ToolCall(Arc::new(call))
    }

    fn usage(&mut self) -> Usage {
        let input = 20 + self.prose.rng.below(900) as u64;
        let output = 40 + self.prose.rng.below(1_400) as u64;
        Usage { input, output, cache_read: input * 9, cache_write: input * 2, cost: None }
    }

    /// Goes on to the next message. False when all that were asked for are written.
    fn next(&mut self, least_ms: i64, spread_ms: usize) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        self.now_ms += least_ms + self.prose.rng.below(spread_ms) as i64;
        true
    }
}

fn blank() -> Message {
    Message {
        id: MessageId(0),
        key: "".into(),
        role: Role::Assistant,
        timestamp_ms: None,
        model: None,
        parts: Vec::new(),
        stop: None,
        error: None,
        usage: None,
        line: SourceLine(0),
    }
}
