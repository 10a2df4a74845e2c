//! Colours of code, found off the UI thread.
//!
//! Code is set plain at once; its classes arrive some frames later for the same letters,
//! so nothing moves when they do. One worker serves everybody, newest request first.

mod grammar;
mod parse;
mod scope;
mod worker;

use std::{
    cell::{Cell, RefCell},
    collections::HashMap,
    hash::{BuildHasher as _, RandomState},
    sync::{Arc, LazyLock},
    time::Duration,
};

use worker::{Done, Job, Queue};

/// What a stretch of code is, without saying which colour that has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "the names are the documentation")]
pub enum Class {
    #[default]
    Plain,
    Keyword,
    Function,
    Type,
    String,
    Number,
    Comment,
    Constant,
    Operator,
    Punctuation,
    Attribute,
    Tag,
    Inserted,
    Deleted,
    Heading,
}

/// A stretch of code of one class; it begins where the token before it ended.
///
/// The tokens of a text are ordered, not empty, end on character boundaries, and the
/// last one ends where the text ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// Byte offset in the code where it ends.
    pub end: u32,
    /// What it is.
    pub class: Class,
}

/// How much work and memory a highlighter may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Bytes of finished tokens that are kept.
    pub cache_bytes: usize,
    /// Time for one piece of code; what is not reached by then is plain.
    pub budget: Duration,
    /// Longer code, in bytes, is not looked at.
    pub code_bytes: usize,
    /// Requests that wait; when there are more, the oldest are forgotten.
    pub waiting: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            cache_bytes: 8 << 20,
            budget: Duration::from_secs(2),
            code_bytes: 2_000_000,
            waiting: 64,
        }
    }
}

/// Names a piece of code in a language, for as long as the program runs. Reads all of it,
/// so ask once a block.
#[must_use]
pub fn key_of(language: &str, code: &str) -> u64 {
    // With a key that nobody knows, nobody can write two texts of one name.
    static SECRET: LazyLock<RandomState> = LazyLock::new(RandomState::new);
    SECRET.hash_one((language, code))
}

/// Finds the classes of code on a thread of its own and keeps what it found.
///
/// Nothing is started or loaded before the first request.
pub struct Highlighter {
    limits: Limits,
    queue: RefCell<Queue>,
    found: HashMap<u64, Entry>,
    /// Counts uses, for forgetting what was used longest ago.
    clock: Cell<u64>,
    bytes: usize,
}

struct Entry {
    /// None when the language is unknown: kept so that it is not asked for every frame.
    tokens: Option<Arc<[Token]>>,
    used: Cell<u64>,
}

impl Highlighter {
    /// A highlighter that calls `waker` from its thread each time something is ready.
    #[must_use]
    pub fn new(waker: Arc<dyn Fn() + Send + Sync>) -> Self {
        Self::with_limits(waker, Limits::default())
    }

    /// A highlighter with limits of its own.
    #[must_use]
    pub fn with_limits(waker: Arc<dyn Fn() + Send + Sync>, limits: Limits) -> Self {
        Self {
            limits,
            queue: RefCell::new(Queue::new(waker, limits)),
            found: HashMap::new(),
            clock: Cell::new(0),
            bytes: 0,
        }
    }

    /// Asks for the classes of `code`, whose key is [`key_of`] it. Never waits; asking
    /// again, or for something already found, does nothing.
    ///
    /// True when an answer is on its way.
    pub fn request(&self, key: u64, language: &Arc<str>, code: &Arc<str>) -> bool {
        let pointless =
            code.is_empty() || code.len() > self.limits.code_bytes || grammar::is_plain(language);
        if pointless || self.found.contains_key(&key) {
            return false;
        }
        let job = Job { key, language: Arc::clone(language), code: Arc::clone(code) };
        self.queue.borrow_mut().push(job)
    }

    /// True unless an answer for this key is on its way.
    #[must_use]
    pub fn knows(&self, key: u64) -> bool {
        !self.queue.borrow().has(key)
    }

    /// True when there is no answer for a key that was asked for, and none will come: too
    /// much else was asked for, or the answer was forgotten. Ask again.
    #[must_use]
    pub fn is_lost(&self, key: u64) -> bool {
        !self.found.contains_key(&key) && self.knows(key)
    }

    /// Takes in what is ready. True when there are classes that were not there before.
    pub fn poll(&mut self) -> bool {
        let mut is_new = false;
        while let Some(Done { key, tokens }) = self.queue.get_mut().next_done() {
            is_new |= tokens.is_some();
            self.keep(key, tokens);
        }
        if self.bytes > self.limits.cache_bytes {
            self.forget_oldest();
        }
        is_new
    }

    /// The tokens of a piece of code; none while they are not known, and for code in a
    /// language that nobody knows.
    pub fn get(&self, key: u64) -> Option<&Arc<[Token]>> {
        let entry = self.found.get(&key)?;
        entry.used.set(self.tick());
        entry.tokens.as_ref()
    }

    /// Bytes of the tokens that are kept.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Forgets every token and every request that waits, and frees the grammars.
    pub fn purge(&mut self) {
        let Self { queue, found, bytes, clock: _, limits: _ } = self;
        queue.get_mut().clear();
        found.clear();
        found.shrink_to_fit();
        *bytes = 0;
    }

    fn keep(&mut self, key: u64, tokens: Option<Arc<[Token]>>) {
        let entry = Entry { tokens, used: Cell::new(self.tick()) };
        self.bytes += entry.bytes();
        if let Some(old) = self.found.insert(key, entry) {
            self.bytes -= old.bytes();
        }
    }

    /// Makes room for an eighth more than is needed, so that this is done rarely. The
    /// newest entry stays whatever its size, or it would be asked for again for ever.
    fn forget_oldest(&mut self) {
        let goal = self.limits.cache_bytes / 8 * 7;
        let mut by_age: Vec<(u64, u64)> =
            self.found.iter().map(|(key, entry)| (entry.used.get(), *key)).collect();
        by_age.sort_unstable();
        by_age.pop();
        for (_, key) in by_age {
            if self.bytes <= goal {
                break;
            }
            if let Some(entry) = self.found.remove(&key) {
                self.bytes -= entry.bytes();
            }
        }
    }

    fn tick(&self) -> u64 {
        self.clock.set(self.clock.get() + 1);
        self.clock.get()
    }
}

impl Entry {
    fn bytes(&self) -> usize {
        let tokens = self.tokens.as_ref().map_or(0, |tokens| size_of_val::<[Token]>(tokens));
        size_of::<(u64, Self)>() + tokens
    }
}
