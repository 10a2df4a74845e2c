//! Runs a grammar over code.

use std::{
    borrow::Cow,
    collections::HashSet,
    ops::Range,
    sync::Arc,
    time::{Duration, Instant},
};

use syntect::parsing::{ParseState, ScopeStack, SyntaxReference, SyntaxSet};

use super::{
    Class, Token,
    grammar::{self, Grammar},
    scope::Classes,
};
use crate::perf;

/// A grammar cannot be stopped inside a line, and its cost may grow with the square of
/// the line. Longer lines, in bytes, are plain.
const LINE_BYTES: usize = 4096;
/// Tokens of one piece of code; the rest is plain.
const TOKENS: usize = 512 << 10;
/// Texts that can be taken up again when they come back longer, as they do while they
/// stream.
const TAILS: usize = 3;
/// Which texts are remembered, in bytes: shorter ones are quicker read again, longer
/// ones would take too much room.
const TAIL_BYTES: Range<usize> = 1 << 10..1 << 20;
const TAIL_TOKENS: usize = 128 << 10;
/// What the compiled expressions of all languages in use may take, in MB as they were
/// measured: a mixed conversation would otherwise hold a hundred of them.
const COMPILED_MB: usize = 30;

/// The grammars, and what is remembered between texts.
pub(super) struct Parser {
    syntaxes: SyntaxSet,
    classes: Classes,
    tails: Vec<Tail>,
    /// Names of grammars that were used.
    used: HashSet<String>,
}

/// The end of the last whole line of a text, from where a longer one goes on.
struct Tail {
    language: Arc<str>,
    code: Arc<str>,
    reading: Reading,
}

/// How far code is read.
#[derive(Clone)]
struct Reading {
    state: ParseState,
    scopes: ScopeStack,
    tokens: Vec<Token>,
    /// Bytes read.
    at: usize,
    /// In a terminal session: the line before went on behind its end.
    continues: bool,
}

impl Parser {
    /// Loads every grammar, which takes some milliseconds.
    pub(super) fn new() -> Self {
        Self {
            syntaxes: two_face::syntax::extra_newlines(),
            classes: Classes::default(),
            tails: Vec::new(),
            used: HashSet::new(),
        }
    }

    /// True when there is no room for one more language beside those in use.
    pub(super) fn is_full_for(&self, language: &str) -> bool {
        let Some(grammar) = grammar::find(&self.syntaxes, language) else { return false };
        let name = &grammar.syntax().name;
        let in_use: usize = self.used.iter().map(|name| compiled_mb(name)).sum();
        !self.used.is_empty()
            && !self.used.contains(name)
            && in_use + compiled_mb(name) > COMPILED_MB
    }

    /// The tokens of a piece of code, or none when its language is unknown.
    pub(super) fn tokens(
        &mut self,
        language: &Arc<str>,
        code: &Arc<str>,
        budget: Duration,
    ) -> Option<Arc<[Token]>> {
        let Self { syntaxes, classes, tails, used } = self;
        let grammar = grammar::find(syntaxes, language)?;
        used.insert(grammar.syntax().name.clone());
        let mut lines = Lines { syntaxes, classes, grammar, code, until: perf::now() + budget };
        let start = take_tail(tails, language, code);
        let mut reading = start.unwrap_or_else(|| Reading::new(lines.grammar.syntax()));
        lines.whole(&mut reading);
        if TAIL_BYTES.contains(&reading.at) && reading.tokens.len() < TAIL_TOKENS {
            keep_tail(tails, language, code, &reading);
        }
        lines.rest(&mut reading);
        Some(reading.tokens.into())
    }
}

/// What a language's expressions take once they are compiled.
fn compiled_mb(name: &str) -> usize {
    match name {
        "JSON" | "Diff" | "TOML" | "YAML" | "HTML" | "INI" | "XML" | "Go" => 5,
        "SQL" => 10,
        _ => 26,
    }
}

/// What a remembered text says about `code`: the longest one that it begins with.
fn take_tail(tails: &mut Vec<Tail>, language: &Arc<str>, code: &str) -> Option<Reading> {
    let begins = |tail: &Tail| {
        let head = tail.code.as_bytes().get(..tail.reading.at);
        tail.language == *language && head.is_some_and(|head| code.as_bytes().starts_with(head))
    };
    let best = tails
        .iter()
        .enumerate()
        .filter(|(_, tail)| begins(tail))
        .max_by_key(|(_, tail)| tail.reading.at)
        .map(|(i, _)| i)?;
    Some(tails.remove(best).reading)
}

fn keep_tail(tails: &mut Vec<Tail>, language: &Arc<str>, code: &Arc<str>, reading: &Reading) {
    if tails.len() >= TAILS {
        tails.remove(0);
    }
    tails.push(Tail {
        language: Arc::clone(language),
        code: Arc::clone(code),
        reading: reading.clone(),
    });
}

impl Reading {
    fn new(syntax: &SyntaxReference) -> Self {
        Self {
            state: ParseState::new(syntax),
            scopes: ScopeStack::new(),
            tokens: Vec::new(),
            at: 0,
            continues: false,
        }
    }

    /// Gives a class to everything up to `end`.
    fn push(&mut self, end: usize, class: Class) {
        if end <= self.at {
            return;
        }
        self.at = end;
        let end = end as u32;
        match self.tokens.last_mut() {
            Some(last) if last.class == class => last.end = end,
            _ => self.tokens.push(Token { end, class }),
        }
    }
}

/// One piece of code and what is needed to read it.
struct Lines<'a> {
    syntaxes: &'a SyntaxSet,
    classes: &'a mut Classes,
    grammar: Grammar<'a>,
    code: &'a str,
    until: Instant,
}

impl Lines<'_> {
    /// Reads the lines that have their newline, until time or room for tokens is out.
    fn whole(&mut self, reading: &mut Reading) {
        let unread = self.code.get(reading.at..).unwrap_or_default();
        for line in unread.split_inclusive('\n').filter(|line| line.ends_with('\n')) {
            if self.is_enough(reading) {
                return;
            }
            self.line(reading, line);
        }
    }

    /// Reads the line that has none. What was not reached before is plain.
    fn rest(&mut self, reading: &mut Reading) {
        let unread = self.code.get(reading.at..).unwrap_or_default();
        if !unread.contains('\n') && !self.is_enough(reading) {
            self.line(reading, unread);
        }
        reading.push(self.code.len(), Class::Plain);
    }

    fn is_enough(&self, reading: &Reading) -> bool {
        reading.tokens.len() >= TOKENS || perf::now() >= self.until
    }

    fn line(&mut self, reading: &mut Reading, line: &str) {
        let end = reading.at + line.len();
        if line.len() <= LINE_BYTES {
            match self.grammar {
                Grammar::Syntax(_) => self.code_line(reading, line),
                Grammar::Console(shell) => self.console_line(reading, line, shell),
            }
        }
        reading.push(end, Class::Plain);
    }

    fn code_line(&mut self, reading: &mut Reading, line: &str) {
        // Grammars expect every line to have its newline.
        let with_newline = match line.ends_with('\n') {
            true => Cow::Borrowed(line),
            false => Cow::Owned(format!("{line}\n")),
        };
        let Ok(ops) = reading.state.parse_line(&with_newline, self.syntaxes) else {
            return; // The grammar is broken here; the line stays plain.
        };
        let start = reading.at;
        let end = start + line.len();
        for (offset, op) in ops {
            let before = (start + offset).min(end);
            if before > reading.at {
                reading.push(before, self.classes.of(reading.scopes.as_slice()));
            }
            if reading.scopes.apply(&op).is_err() {
                reading.scopes = ScopeStack::new(); // As above; better plain than wrong.
            }
        }
        if end > reading.at {
            reading.push(end, self.classes.of(reading.scopes.as_slice()));
        }
    }

    /// A command is read as shell, what was printed is plain.
    fn console_line(&mut self, reading: &mut Reading, line: &str, shell: &SyntaxReference) {
        let prompt = ["$ ", "% ", "> "].iter().find_map(|mark| line.strip_prefix(mark));
        let command = match prompt {
            Some(command) => {
                reading.state = ParseState::new(shell);
                reading.scopes = ScopeStack::new();
                reading.push(reading.at + line.len() - command.len(), Class::Punctuation);
                command
            }
            None if reading.continues => line,
            None => return,
        };
        reading.continues = command.trim_end_matches(['\r', '\n']).ends_with('\\');
        self.code_line(reading, command);
    }
}

impl<'a> Grammar<'a> {
    fn syntax(&self) -> &'a SyntaxReference {
        match self {
            Grammar::Syntax(syntax) | Grammar::Console(syntax) => syntax,
        }
    }
}
