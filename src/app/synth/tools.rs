//! Made-up tool calls and what they gave back.

use super::{code, prose::Prose, push, quote};

/// One call: a number that makes its id, and what it does.
pub(super) struct Call {
    pub(super) number: u64,
    action: Action,
}

enum Action {
    Read { path: String, pieces: usize },
    Grep { pattern: String },
    List { path: &'static str },
    Bash { command: String, kind: Bash },
    Edit { path: String, old: String, new: String },
}

#[derive(Clone, Copy)]
enum Bash {
    Tests,
    Log,
    Status,
}

impl Call {
    pub(super) fn new(number: u64, prose: &mut Prose) -> Self {
        let action = match prose.rng.below(20) {
            0..=6 => Action::Read { path: path(prose), pieces: 1 + prose.rng.below(20) },
            7..=10 => Action::Grep { pattern: identifier(prose) },
            11 => Action::List { path: prose.rng.pick(&["src", "src/core", "tests"]) },
            12..=16 => bash(prose),
            _ => {
                let (mut old, mut new) = (String::new(), String::new());
                prose.code(&code::RUST, 1, &mut old);
                prose.code(&code::RUST, 1, &mut new);
                Action::Edit { path: path(prose), old, new }
            }
        };
        Self { number, action }
    }

    pub(super) fn name(&self) -> &'static str {
        match self.action {
            Action::Read { .. } => "read",
            Action::Grep { .. } => "grep",
            Action::List { .. } => "ls",
            Action::Bash { .. } => "bash",
            Action::Edit { .. } => "edit",
        }
    }

    /// Appends the arguments as a JSON object.
    pub(super) fn arguments(&self, out: &mut String, scratch: &mut String) {
        scratch.clear();
        match &self.action {
            Action::Read { path, pieces } => {
                let limit = pieces * 9;
                push(out, format_args!("{{\"path\":\"{path}\",\"offset\":1,\"limit\":{limit}}}"));
            }
            Action::Grep { pattern } => {
                push(out, format_args!("{{\"pattern\":\"{pattern}\",\"path\":\"src\"}}"));
            }
            Action::List { path } => push(out, format_args!("{{\"path\":\"{path}\"}}")),
            Action::Bash { command, .. } => {
                push(out, format_args!("{{\"command\":\"{command}\",\"timeout\":120}}"));
            }
            Action::Edit { path, old, new } => {
                push(out, format_args!("{{\"path\":\"{path}\",\"oldText\":"));
                quote(out, old);
                out.push_str(",\"newText\":");
                quote(out, new);
                out.push('}');
            }
        }
    }

    /// Appends the output. True when the call failed.
    pub(super) fn output(&self, prose: &mut Prose, out: &mut String) -> bool {
        if prose.rng.chance(4) {
            return self.failure(prose, out);
        }
        match &self.action {
            Action::Read { path, pieces } => prose.code(language(path), *pieces, out),
            Action::Grep { pattern } => matches(pattern, prose, out),
            Action::List { .. } => listing(prose, out),
            Action::Bash { kind: Bash::Tests, .. } => return tests(prose, out),
            Action::Bash { kind: Bash::Log, .. } => log(prose, out),
            Action::Bash { kind: Bash::Status, .. } => status(prose, out),
            Action::Edit { path, .. } => {
                push(out, format_args!("Edited {path}: 1 replacement"));
            }
        }
        false
    }

    fn failure(&self, prose: &mut Prose, out: &mut String) -> bool {
        match &self.action {
            Action::Read { path, .. } => push(out, format_args!("No such file: {path}")),
            Action::Grep { pattern } => push(out, format_args!("No match for {pattern}")),
            Action::List { path } => push(out, format_args!("Not a folder: {path}")),
            Action::Bash { command, .. } => {
                push(out, format_args!("$ {command}\n\u{1b}[31mcommand failed\u{1b}[0m\n"));
                prose.fill("thread 'main' panicked at {f}:{d}: the {n} is {a}\n", out);
                out.push_str("\nCommand exited with code 101");
            }
            Action::Edit { path, .. } => {
                push(out, format_args!("The text to replace was not found in {path}"));
            }
        }
        true
    }
}

fn path(prose: &mut Prose) -> String {
    let mut path = String::new();
    prose.path(&mut path);
    path
}

fn identifier(prose: &mut Prose) -> String {
    let mut name = String::new();
    prose.identifier(&mut name);
    name
}

fn bash(prose: &mut Prose) -> Action {
    let (kind, template) = prose.rng.pick(&[
        (Bash::Tests, "cargo test {i}"),
        (Bash::Tests, "cargo test --all"),
        (Bash::Log, "git log --oneline -20"),
        (Bash::Status, "git status --short && git diff --stat"),
    ]);
    let mut command = String::new();
    prose.fill(template, &mut command);
    Action::Bash { command, kind }
}

fn language(path: &str) -> &'static code::Language {
    match path.rsplit('.').next() {
        Some("py") => &code::PYTHON,
        Some("ts") => &code::TYPESCRIPT,
        Some("sql") => &code::SQL,
        _ => &code::RUST,
    }
}

fn matches(pattern: &str, prose: &mut Prose, out: &mut String) {
    for _ in 0..2 + prose.rng.below(16) {
        prose.fill("{f}:{d}:    self.", out);
        out.push_str(pattern);
        prose.fill("({i}, {d}); // {a} {n}\n", out);
    }
}

fn listing(prose: &mut Prose, out: &mut String) {
    for _ in 0..4 + prose.rng.below(20) {
        prose.path(out);
        out.push('\n');
    }
}

fn tests(prose: &mut Prose, out: &mut String) -> bool {
    out.push_str("   Compiling orchard v0.4.2 (/work/orchard)\n");
    let count = 5 + prose.rng.below(20);
    push(out, format_args!("    Finished `test` profile\n\nrunning {count} tests\n"));
    let broken = if prose.rng.chance(12) { prose.rng.below(count) } else { count };
    for i in 0..count {
        prose.fill("test {i}::{i} ... ", out);
        out.push_str(if i == broken { "\u{1b}[31mFAILED\u{1b}[0m\n" } else { "ok\n" });
    }
    let failed = usize::from(broken < count);
    let (word, passed) = (if failed == 0 { "ok" } else { "FAILED" }, count - failed);
    push(out, format_args!("\ntest result: {word}. {passed} passed; {failed} failed\n"));
    failed > 0
}

fn log(prose: &mut Prose, out: &mut String) {
    for _ in 0..20 {
        let hash = prose.rng.next() & 0xfff_ffff;
        push(out, format_args!("\u{1b}[33m{hash:07x}\u{1b}[m "));
        prose.fill("Make the {n} {a} {w}\n", out);
    }
}

fn status(prose: &mut Prose, out: &mut String) {
    for _ in 0..1 + prose.rng.below(6) {
        prose.fill(" M {f}\n", out);
    }
    for _ in 0..1 + prose.rng.below(6) {
        prose.fill(" {f} | {d} ++++++----\n", out);
    }
}
