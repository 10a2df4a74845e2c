//! Made-up words: prompts, reasoning and answers with every kind of block.

use super::{code, push, rng::Rng};

/// Writes prose; all choices come from its one row of random numbers.
pub(super) struct Prose {
    pub(super) rng: Rng,
}

const NOUNS: &[&str] = &[
    "parser",
    "cache",
    "scheduler",
    "index",
    "renderer",
    "queue",
    "lexer",
    "router",
    "session",
    "snapshot",
    "buffer",
    "worker",
    "registry",
    "timeline",
    "layout pass",
    "retry loop",
    "file watcher",
    "token counter",
    "glyph atlas",
    "event stream",
    "request builder",
    "state machine",
    "test fixture",
    "config loader",
    "error path",
    "migration",
];
const VERBS: &[&str] = &[
    "drops",
    "rebuilds",
    "shadows",
    "waits for",
    "invalidates",
    "reads",
    "copies",
    "depends on",
    "feeds",
    "replaces",
    "duplicates",
    "outlives",
    "serialises",
    "polls",
    "hides",
    "trusts",
];
const ADJECTIVES: &[&str] = &[
    "stale",
    "shared",
    "bounded",
    "partial",
    "broken",
    "nested",
    "temporary",
    "lazy",
    "half-empty",
    "generated",
    "slow",
    "public",
    "private",
    "missing",
    "duplicate",
    "streaming",
];
const WHEN: &[&str] = &[
    "after a reload",
    "on the second call",
    "when the list is empty",
    "under load",
    "before the first frame",
    "in release builds",
    "while a request is in flight",
    "when two writers race",
    "at the end of the file",
    "if the network is slow",
    "every time",
    "for names with spaces",
    "once the window is resized",
    "on a cold start",
];
const SENTENCES: &[&str] = &[
    "The {n} {v} the {a} {n} {w}.",
    "I think the {n} is {a}, because `{i}` {v} it {w}.",
    "It looks like `{f}` still {v} the {n}.",
    "There is a {a} {n} in `{f}`, and nothing else uses it.",
    "That explains why the {n} is {a} {w}.",
    "We should make the {n} **{a}** and keep `{i}` as it is.",
    "The fix is small: `{i}` must not touch the {n} {w}.",
    "Nothing in the {n} says what happens {w}.",
    "Both the {n} and the {n} {v2} the same {a} {n}.",
    "See [the notes on the {n}](https://example.org/notes/{d}) for the reason.",
    "Roughly {d} of {d} cases {v2} a {a} {n}; the rest are *fine*.",
    "Line {d} of `{f}` is where the {n} goes wrong.",
    "Strictly speaking the {n} is ~~wrong~~ {a}, which is worse {w}.",
];
const PROMPTS: &[&str] = &[
    "Why does the {n} {v3} the {n} {w}?",
    "Please make `{i}` in {f} {a}.",
    "The {n} is {a} {w}. Find out why and fix it, then run the tests.",
    "Add a test for the {n} {w}.",
    "Can you explain how the {n} and the {n} work together?",
    "Rename `{i}` to `{i}` everywhere and update the docs.",
    "CI fails {w}: the {n} {v} the {a} {n}. Have a look.",
    "Clean up {f}: the {n} should not know about the {n}.",
];
const ASIDES: &[&str] = &[
    "Let me look at `{f}` first.",
    "I'll search for `{i}` to see who uses it.",
    "Now the tests.",
    "The {n} is next: {f} {v} it.",
    "That was not it. Checking the {n} instead.",
    "I'll change `{i}` so that the {n} stays {a}.",
];
const ELSEWHERE: &[&str] = &[
    "日本語の見出しも確認しました。問題はありません。",
    "Слой кэша теперь пересчитывается только один раз.",
    "الاختبار يمر الآن بدون أخطاء.",
    "Größenänderungen sind jetzt schnell – auch à la carte. 🚀",
    "缓存现在按字节计数，并且可以清空。✅",
];
const HEADINGS: &[&str] =
    &["What happens", "Cause", "What I changed", "The {n}", "Next steps", "Numbers", "Risks"];
const FOLDERS: &[&str] = &["core", "ui", "net", "store", "cli", "layout"];
const FILES: &[&str] = &["cache", "parser", "index", "queue", "session", "render", "mod", "state"];
const ENDINGS: &[&str] = &["rs", "rs", "rs", "py", "ts", "sql"];
const IDENTIFIER_HEADS: &[&str] =
    &["load", "next", "flush", "seal", "open", "merge", "split", "resolve", "push", "measure"];
const IDENTIFIER_TAILS: &[&str] =
    &["index", "row", "frame", "batch", "session", "token", "block", "page", "entry", "height"];

impl Prose {
    pub(super) fn new(rng: Rng) -> Self {
        Self { rng }
    }

    /// What a person asks.
    pub(super) fn prompt(&mut self, out: &mut String) {
        self.filled(PROMPTS, out);
        for _ in 0..self.rng.below(3) {
            out.push(' ');
            self.sentence(out);
        }
        if self.rng.chance(15) {
            out.push_str("\n\nThis is what I see:\n");
            self.code_block(out);
        }
    }

    /// Reasoning: a few plain paragraphs.
    pub(super) fn thought(&mut self, out: &mut String) {
        let paragraphs = 1 + self.rng.below(3);
        for i in 0..paragraphs {
            if i > 0 {
                out.push_str("\n\n");
            }
            self.paragraph(out);
        }
    }

    /// A line or two before a tool call.
    pub(super) fn aside(&mut self, out: &mut String) {
        self.filled(ASIDES, out);
        if self.rng.chance(30) {
            out.push(' ');
            self.sentence(out);
        }
    }

    /// A final answer: three to nine blocks.
    pub(super) fn answer(&mut self, out: &mut String) {
        self.paragraph(out);
        for _ in 0..2 + self.rng.below(7) {
            out.push_str("\n\n");
            match self.rng.below(20) {
                0..=4 => self.heading(out),
                5..=9 => self.paragraph(out),
                10..=12 => self.list(out),
                13 => self.tasks(out),
                14 | 15 => self.table(out),
                16 => self.quote(out),
                17 => out.push_str(self.rng.pick(ELSEWHERE)),
                _ => self.code_block(out),
            }
        }
    }

    fn heading(&mut self, out: &mut String) {
        out.push_str(if self.rng.chance(60) { "## " } else { "### " });
        self.filled(HEADINGS, out);
        out.push_str("\n\n");
        self.paragraph(out);
    }

    fn paragraph(&mut self, out: &mut String) {
        let sentences = 2 + self.rng.below(4);
        for i in 0..sentences {
            if i > 0 {
                out.push(' ');
            }
            self.sentence(out);
        }
    }

    fn list(&mut self, out: &mut String) {
        let ordered = self.rng.chance(40);
        for i in 1..=2 + self.rng.below(5) {
            if i > 1 {
                out.push('\n');
            }
            match ordered {
                true => push(out, format_args!("{i}. ")),
                false => out.push_str("- "),
            }
            self.sentence(out);
            if self.rng.chance(20) {
                out.push_str(if ordered { "\n   - " } else { "\n  - " });
                self.sentence(out);
            }
        }
    }

    fn tasks(&mut self, out: &mut String) {
        for i in 0..2 + self.rng.below(4) {
            if i > 0 {
                out.push('\n');
            }
            out.push_str(if self.rng.chance(50) { "- [x] " } else { "- [ ] " });
            self.sentence(out);
        }
    }

    fn table(&mut self, out: &mut String) {
        out.push_str("| case | before | after | note |\n|:-----|-------:|------:|------|");
        for _ in 0..2 + self.rng.below(6) {
            out.push_str("\n| ");
            self.fill("`{i}` | {d} ms | {d} µs | the {n} is {a}", out);
            out.push_str(" |");
        }
    }

    fn quote(&mut self, out: &mut String) {
        out.push_str(if self.rng.chance(50) { "> [!NOTE]\n> " } else { "> " });
        self.sentence(out);
        out.push_str("\n> ");
        self.sentence(out);
    }

    /// A fenced block in one of several languages.
    pub(super) fn code_block(&mut self, out: &mut String) {
        let language = self.rng.pick(code::LANGUAGES);
        out.push_str("```");
        out.push_str(language.name);
        out.push('\n');
        let pieces = 1 + self.rng.below(2);
        self.code(language, pieces, out);
        out.push_str("```");
    }

    /// Some definitions in a language, each line with its newline.
    pub(super) fn code(&mut self, language: &code::Language, pieces: usize, out: &mut String) {
        for i in 0..pieces {
            if i > 0 {
                out.push('\n');
            }
            self.filled(language.pieces, out);
        }
    }

    /// One sentence.
    pub(super) fn sentence(&mut self, out: &mut String) {
        self.filled(SENTENCES, out);
    }

    /// A file's path.
    pub(super) fn path(&mut self, out: &mut String) {
        let (folder, name) = (self.rng.pick(FOLDERS), self.rng.pick(FILES));
        push(out, format_args!("src/{folder}/{name}.{}", self.rng.pick(ENDINGS)));
    }

    /// A function's name.
    pub(super) fn identifier(&mut self, out: &mut String) {
        let (head, tail) = (self.rng.pick(IDENTIFIER_HEADS), self.rng.pick(IDENTIFIER_TAILS));
        push(out, format_args!("{head}_{tail}"));
    }

    fn filled(&mut self, templates: &[&str], out: &mut String) {
        let template = self.rng.pick(templates);
        self.fill(template, out);
    }

    /// Writes a template with its gaps filled: `{n}` a noun, `{v}` a verb, and so on.
    pub(super) fn fill(&mut self, template: &str, out: &mut String) {
        let mut pieces = template.split('{');
        out.push_str(pieces.next().unwrap_or_default());
        for piece in pieces {
            let Some((gap, plain)) = piece.split_once('}') else {
                out.push('{');
                out.push_str(piece);
                continue;
            };
            self.gap(gap, out);
            out.push_str(plain);
        }
    }

    fn gap(&mut self, gap: &str, out: &mut String) {
        match gap {
            "n" => out.push_str(self.rng.pick(NOUNS)),
            "v" => out.push_str(self.rng.pick(VERBS)),
            "v2" | "v3" => out.push_str(&self.plural_verb()),
            "a" => out.push_str(self.rng.pick(ADJECTIVES)),
            "w" => out.push_str(self.rng.pick(WHEN)),
            "f" => self.path(out),
            "i" => self.identifier(out),
            "d" => push(out, format_args!("{}", 1 + self.rng.below(900))),
            "<" => out.push('{'),
            ">" => out.push('}'),
            other => push(out, format_args!("{{{other}}}")),
        }
    }

    /// "waits for" becomes "wait for".
    fn plural_verb(&mut self) -> String {
        let verb = self.rng.pick(VERBS);
        let (first, rest) = verb.split_once(' ').unwrap_or((verb, ""));
        let stem = first.strip_suffix('s').unwrap_or(first);
        if rest.is_empty() { stem.to_owned() } else { format!("{stem} {rest}") }
    }
}
