//! A made-up agent history of any length, the same bytes for the same seed for ever.
//!
//! It is what the program is measured on, so its mix is that of real histories: prompts,
//! reasoning, prose with every kind of block, tool calls with results that are files,
//! listings, searches, test runs and errors. A longer history begins with the whole turns
//! of a shorter one of the same seed.

mod code;
mod log;
mod prose;
mod rng;
mod tools;

use std::{
    fmt::Write as _,
    io::{self, Write},
    path::Path,
};

pub use self::log::write_log;
use self::{prose::Prose, rng::Rng, tools::Call};
use super::{
    error::{Error, Result},
    timestamp::Iso,
};

/// What to make up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// How many messages: entries of type `message`, tool results included.
    pub messages: u64,
    /// Chooses one of many histories.
    pub seed: u64,
}

/// In which form it is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Form {
    /// A session of the pi coding agent.
    #[default]
    Pi,
    /// The log of a session of this program.
    Letterpress,
}

/// Carries out `letterpress synth`. A reader that closes stdout early has had enough,
/// which is no failure.
///
/// # Errors
/// When stdout cannot be written.
pub fn run(request: Request, form: Form) -> Result<()> {
    let out = &mut io::stdout().lock();
    let written = match form {
        Form::Pi => write(request, out),
        Form::Letterpress => write_log(request, out),
    };
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::io("cannot write", &error, Path::new("stdout")))
        }
        Ok(()) | Err(_) => Ok(()),
    }
}

/// A mixed markdown reply of about so many bytes, always the same.
#[must_use]
pub fn reply(bytes: usize) -> String {
    let mut prose = Prose::new(Rng::new(1));
    let mut text = String::with_capacity(bytes + 4096);
    while text.len() < bytes {
        prose.answer(&mut text);
        text.push_str("\n\n");
    }
    text.truncate(text.floor_char_boundary(bytes));
    text
}

/// Writes a history as pi session JSONL, version 3: about 1.3 KB a message.
///
/// # Errors
/// Those of the writer.
pub fn write(request: Request, out: &mut dyn Write) -> io::Result<()> {
    let mut history = History::new(request);
    history.header();
    while history.left > 0 {
        history.turn();
        if history.lines.len() >= FLUSH_BYTES {
            out.write_all(history.lines.as_bytes())?;
            history.lines.clear();
        }
    }
    out.write_all(history.lines.as_bytes())?;
    out.flush()
}

const FLUSH_BYTES: usize = 256 * 1024;
/// 2026-01-05T09:00:00Z, a Monday.
const BEGIN_MS: i64 = 1_767_603_600_000;
const MODELS: [&str; 3] = ["synthetic-large-1", "synthetic-large-1", "synthetic-small-2"];

struct History {
    lines: String,
    text: String,
    prose: Prose,
    left: u64,
    entries: u32,
    calls: u64,
    now_ms: i64,
    context_tokens: u64,
}

impl History {
    fn new(request: Request) -> Self {
        Self {
            lines: String::with_capacity(FLUSH_BYTES * 2),
            text: String::new(),
            prose: Prose::new(Rng::new(request.seed)),
            left: request.messages,
            entries: 0,
            calls: 0,
            now_ms: BEGIN_MS,
            context_tokens: 2_000,
        }
    }

    fn header(&mut self) {
        let session = self.prose.rng.next() & 0xffff_ffff_ffff;
        let time = Iso(self.now_ms);
        push(
            &mut self.lines,
            format_args!(
                "{{\"type\":\"session\",\"version\":3,\"id\":\"5e550000-0000-4000-8000-{session:012x}\",\
                 \"timestamp\":\"{time}\",\"cwd\":\"/work/orchard\"}}\n"
            ),
        );
        self.begin_entry("model_change");
        self.lines.push_str(",\"provider\":\"synthetic\",\"modelId\":\"synthetic-large-1\"}\n");
    }

    /// One prompt and everything that follows from it.
    fn turn(&mut self) {
        self.user();
        let steps = [0, 1, 1, 2, 2, 3, 4, 6, 9][self.prose.rng.below(9)];
        for _ in 0..steps {
            if self.left == 0 || self.interrupted() {
                return;
            }
            self.work();
        }
        self.answer();
        if self.context_tokens > 160_000 {
            self.context_tokens = 4_000;
        }
    }

    fn user(&mut self) {
        if !self.begin_message(4_000, 180_000) {
            return;
        }
        self.text.clear();
        self.prose.prompt(&mut self.text);
        let (before, after) = match self.prose.rng.chance(30) {
            true => ("", ""),
            false => ("[{\"type\":\"text\",\"text\":", "}]"),
        };
        push(&mut self.lines, format_args!("\"role\":\"user\",\"content\":{before}"));
        quote(&mut self.lines, &self.text);
        let ms = self.now_ms;
        push(&mut self.lines, format_args!("{after},\"timestamp\":{ms}}}}}\n"));
    }

    /// Now and then a request fails or is stopped in its first words, which ends the turn.
    fn interrupted(&mut self) -> bool {
        let dice = self.prose.rng.below(400);
        let (stop, error) = match dice {
            0 => ("error", Some("529 overloaded: the service is busy, try again later")),
            1 => ("aborted", Some("Request was aborted")),
            _ => return false,
        };
        if self.begin_assistant() {
            self.text.clear();
            self.prose.sentence(&mut self.text);
            self.text_part();
            self.end_assistant(stop, error);
        }
        true
    }

    /// An assistant message with tool calls, and their results.
    fn work(&mut self) {
        if !self.begin_assistant() {
            return;
        }
        if self.prose.rng.chance(70) {
            self.thinking_part();
        }
        if self.prose.rng.chance(45) {
            self.text.clear();
            self.prose.aside(&mut self.text);
            self.text_part();
        }
        let count = [1, 1, 1, 1, 2, 2, 3][self.prose.rng.below(7)];
        let calls: Vec<Call> = (0..count).map(|_| self.call_part()).collect();
        self.end_assistant("toolUse", None);
        for call in &calls {
            self.result(call);
        }
    }

    fn answer(&mut self) {
        if !self.begin_assistant() {
            return;
        }
        if self.prose.rng.chance(40) {
            self.thinking_part();
        }
        self.text.clear();
        self.prose.answer(&mut self.text);
        self.text_part();
        self.end_assistant("stop", None);
    }

    fn thinking_part(&mut self) {
        self.text.clear();
        self.prose.thought(&mut self.text);
        self.lines.push_str("{\"type\":\"thinking\",\"thinking\":");
        quote(&mut self.lines, &self.text);
        self.lines.push_str("},");
    }

    fn text_part(&mut self) {
        self.lines.push_str("{\"type\":\"text\",\"text\":");
        quote(&mut self.lines, &self.text);
        self.lines.push_str("},");
    }

    fn call_part(&mut self) -> Call {
        self.calls += 1;
        let call = Call::new(self.calls, &mut self.prose);
        let (number, name) = (call.number, call.name());
        push(
            &mut self.lines,
            format_args!(
                "{{\"type\":\"toolCall\",\"id\":\"call_{number:06x}\",\"name\":\"{name}\",\"arguments\":"
            ),
        );
        call.arguments(&mut self.lines, &mut self.text);
        self.lines.push_str("},");
        call
    }

    fn result(&mut self, call: &Call) {
        if !self.begin_message(20, 9_000) {
            return;
        }
        let (number, name) = (call.number, call.name());
        push(
            &mut self.lines,
            format_args!(
                "\"role\":\"toolResult\",\"toolCallId\":\"call_{number:06x}\",\
                 \"toolName\":\"{name}\",\"content\":[{{\"type\":\"text\",\"text\":"
            ),
        );
        self.text.clear();
        let failed = call.output(&mut self.prose, &mut self.text);
        self.context_tokens += self.text.len() as u64 / 4;
        quote(&mut self.lines, &self.text);
        let ms = self.now_ms;
        push(&mut self.lines, format_args!("}}],\"isError\":{failed},\"timestamp\":{ms}}}}}\n"));
    }

    fn begin_assistant(&mut self) -> bool {
        let begun = self.begin_message(900, 25_000);
        if begun {
            self.lines.push_str("\"role\":\"assistant\",\"content\":[");
        }
        begun
    }

    fn end_assistant(&mut self, stop: &str, error: Option<&str>) {
        // Every part ends with a comma, so that none has to know whether another follows.
        if self.lines.ends_with(',') {
            self.lines.pop();
        }
        let model = MODELS[self.prose.rng.below(MODELS.len())];
        push(
            &mut self.lines,
            format_args!(
                "],\"api\":\"synthetic\",\"provider\":\"synthetic\",\"model\":\"{model}\",\"usage\":"
            ),
        );
        self.usage();
        let ms = self.now_ms;
        push(&mut self.lines, format_args!(",\"stopReason\":\"{stop}\""));
        if let Some(error) = error {
            push(&mut self.lines, format_args!(",\"errorMessage\":\"{error}\""));
        }
        push(&mut self.lines, format_args!(",\"timestamp\":{ms}}}}}\n"));
    }

    fn usage(&mut self) {
        let input = 20 + self.prose.rng.below(900) as u64;
        let output = 40 + self.prose.rng.below(1_400) as u64;
        let (read, write) = (self.context_tokens, input * 2);
        self.context_tokens += input + output;
        let total = input + output + read + write;
        // Whole millionths of a dollar: no float is printed, so the bytes hold everywhere.
        let cost = [input * 3, output * 15, read * 3 / 10, write * 4];
        let all: u64 = cost.iter().sum();
        push(
            &mut self.lines,
            format_args!(
                "{{\"input\":{input},\"output\":{output},\"cacheRead\":{read},\
                 \"cacheWrite\":{write},\"totalTokens\":{total},\"cost\":{{\"input\":{},\
                 \"output\":{},\"cacheRead\":{},\"cacheWrite\":{},\"total\":{}}}}}",
                Dollars(cost[0]),
                Dollars(cost[1]),
                Dollars(cost[2]),
                Dollars(cost[3]),
                Dollars(all),
            ),
        );
    }

    /// Begins a message that comes `least_ms..least_ms + spread_ms` after the one before.
    /// False when all messages asked for are written.
    fn begin_message(&mut self, least_ms: i64, spread_ms: usize) -> bool {
        if self.left == 0 {
            return false;
        }
        self.left -= 1;
        self.now_ms += least_ms + self.prose.rng.below(spread_ms) as i64;
        self.begin_entry("message");
        self.lines.push_str(",\"message\":{");
        true
    }

    fn begin_entry(&mut self, kind: &str) {
        let (id, parent, time) = (entry_id(self.entries), self.entries, Iso(self.now_ms));
        self.entries += 1;
        push(&mut self.lines, format_args!("{{\"type\":\"{kind}\",\"id\":\"{id:08x}\","));
        match parent.checked_sub(1) {
            Some(before) => {
                let before = entry_id(before);
                push(&mut self.lines, format_args!("\"parentId\":\"{before:08x}\""));
            }
            None => self.lines.push_str("\"parentId\":null"),
        }
        push(&mut self.lines, format_args!(",\"timestamp\":\"{time}\""));
    }
}

/// A different, random-looking id for each number: every step can be undone.
fn entry_id(number: u32) -> u32 {
    let mut x = number ^ 0x9e37_79b9;
    x = (x ^ (x >> 16)).wrapping_mul(0x85eb_ca6b);
    x = (x ^ (x >> 13)).wrapping_mul(0xc2b2_ae35);
    x ^ (x >> 16)
}

/// Millionths of a dollar that print as dollars.
struct Dollars(u64);

impl std::fmt::Display for Dollars {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{:06}", self.0 / 1_000_000, self.0 % 1_000_000)
    }
}

/// Appends formatted text; writing to a string cannot fail.
fn push(out: &mut String, args: std::fmt::Arguments<'_>) {
    if out.write_fmt(args).is_err() {
        unreachable!("a string takes any text");
    }
}

/// Appends a text as a JSON string.
fn quote(out: &mut String, text: &str) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest.bytes().position(|b| b == b'"' || b == b'\\' || b < 0x20) {
        let Some((plain, special)) = rest.split_at_checked(at) else { break };
        out.push_str(plain);
        let mut chars = special.chars();
        match chars.next() {
            Some('\n') => out.push_str("\\n"),
            Some('\t') => out.push_str("\\t"),
            Some(c @ ('"' | '\\')) => out.extend(['\\', c]),
            Some(c) => push(out, format_args!("\\u{:04x}", u32::from(c))),
            None => {}
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    out.push('"');
}
