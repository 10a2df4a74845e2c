//! The catalog of sessions: listing many, finding words in many, reading their logs.
//!
//! `cargo bench --bench sessions`. The first list comes from the index alone.

#![expect(clippy::print_stdout, reason = "a bench prints its table")]

#[path = "measure/mod.rs"]
pub(crate) mod measure;

use std::{fmt::Write as _, fs, path::Path, sync::Arc};

use letterpress::{
    perf::{self, Samples, millis},
    store::catalog::{Catalog, Config, Listing, Question},
};

use measure::{Extent, Row, Table, runs};

fn main() {
    println!("{}", table(Extent::of_args()));
}

pub(crate) fn table(extent: Extent) -> Table {
    let mut rows = Vec::new();
    list_rows(&mut rows, extent);
    search_rows(&mut rows, extent);
    Table { title: "sessions: logs that are in the system's cache", rows }
}

/// Many short sessions: the first list, and the one that is known to be right.
fn list_rows(rows: &mut Vec<Row>, extent: Extent) {
    let data = tempfile::tempdir().expect("a folder can be made");
    let sessions = extent.pick(10_000, 50);
    let made = make(data.path(), sessions, |_| 4);
    drop(wait(&open(data.path()), |listing| listing.is_complete));
    let counts = [("sessions", sessions as u64), ("messages", made.messages)];
    let count = extent.pick(20, 2);
    let first = runs(count, || {
        let catalog = open(data.path());
        let listing = wait(&catalog, |listing| !listing.sessions.is_empty());
        assert_eq!(listing.sessions.len(), sessions, "the index knows all of them");
        catalog
    });
    rows.push(Row::new(format!("{sessions} sessions, first list"), first, counts));
    let right = runs(count, || {
        let catalog = open(data.path());
        drop(wait(&catalog, |listing| listing.is_complete));
        catalog
    });
    rows.push(Row::new(format!("{sessions} sessions, looked at"), right, counts));
}

/// Sessions of 10 to 100 messages: reading all of them, and finding words.
fn search_rows(rows: &mut Vec<Row>, extent: Extent) {
    let data = tempfile::tempdir().expect("a folder can be made");
    let sessions = extent.pick(1_000, 20);
    let made = make(data.path(), sessions, |session| 10 + session * 37 % 91);
    let index = data.path().join("index.sqlite");
    let mut speed = 0;
    let built = runs(extent.pick(3, 1), || {
        for end in ["", "-wal", "-shm"] {
            // The first time there is none.
            fs::remove_file(format!("{}{end}", index.display())).unwrap_or_default();
        }
        let start = perf::now();
        let catalog = open(data.path());
        drop(wait(&catalog, |listing| listing.is_complete));
        speed = (made.bytes as f64 / 1024.0 / start.elapsed().as_secs_f64()) as u64;
        catalog
    });
    let size = index.metadata().map_or(0, |meta| meta.len());
    let counts = [
        ("bytes", made.bytes),
        ("messages", made.messages),
        ("index bytes", size),
        ("KiB a second", speed),
    ];
    rows.push(Row::new(format!("{sessions} sessions, index built"), built, counts));

    let catalog = open(data.path());
    drop(wait(&catalog, |listing| listing.is_complete));
    let questions = [
        ("a rare word", "quokka77"),
        ("a common word", "compiler"),
        ("two words", "borrow checker"),
        ("a phrase", "\"the compiler says\""),
        ("what is nowhere", "xylophonist"),
        ("two characters", "中文"),
        ("one character", "é"),
        ("in tools", "main.rs"),
    ];
    let mut all = Samples::new(questions.len() * extent.pick(50, 2));
    for (name, words) in questions {
        let mut hits = 0;
        let samples = runs(extent.pick(50, 2), || {
            let start = perf::now();
            let answer = catalog.search(Question::new(words, 50)).blocking_recv();
            all.push(millis(start.elapsed()));
            hits = answer.expect("an answer comes").found.len() as u64;
        });
        rows.push(Row::new(format!("find {name}"), samples, [("hits", hits)]));
    }
    let p99 = (all.summary().p99 * 1_000.0) as u64;
    rows.push(Row::new("find, all of these", all, [("p99 µs", p99)]));
}

fn open(data: &Path) -> Catalog {
    let config =
        Config { data: data.to_owned(), index: data.join("index.sqlite"), waker: Arc::new(|| ()) };
    Catalog::open(config).expect("there is a thread for it")
}

fn wait(catalog: &Catalog, is_it: impl Fn(&Listing) -> bool) -> Listing {
    let mut listings = catalog.listing();
    loop {
        let listing = listings.borrow_and_update().clone();
        if is_it(&listing) {
            return listing;
        }
        pollster::block_on(listings.changed()).expect("the catalog goes on");
    }
}

/// What was made.
#[derive(Clone, Copy, Debug, Default)]
struct Made {
    messages: u64,
    bytes: u64,
}

/// Writes sessions, each with so many messages.
fn make(data: &Path, sessions: usize, messages: impl Fn(usize) -> usize) -> Made {
    let mut made = Made::default();
    let mut words = Words(1);
    for session in 0..sessions {
        let folder = data.join(format!("sessions/20260501-100000-{session:06}"));
        fs::create_dir_all(&folder).expect("a folder can be made");
        let time_ms = 1_777_629_600_000 + session as i64 * 60_000;
        let mut log = String::new();
        push(&mut log, 0, "meta", time_ms, "{\"program\":\"letterpress 0.1.0\"}");
        let count = messages(session);
        for n in 1..=count {
            let text = words.text(if n % 2 == 1 { 30 } else { 150 });
            let rare = if n == 5 { format!(" quokka{session}") } else { String::new() };
            let (kind, calls) = match n % 2 {
                1 => ("user", String::new()),
                _ => (
                    "assistant_final",
                    format!(
                        ",{{\"type\":\"tool_call\",\"id\":\"c\",\"name\":\"read_file\",\"arguments\":{{\"path\":\"src/main.rs\"}},\"state\":\"ok\",\"result\":{{\"is_error\":false,\"output\":\"{}\"}}}}",
                        words.text(100),
                    ),
                ),
            };
            let parent = if n == 1 { "null".to_owned() } else { format!("\"m{}\"", n - 1) };
            let body = format!(
                "{{\"id\":\"m{n}\",\"parent\":{parent},\"model\":\"m\",\"parts\":[{{\"type\":\"text\",\"text\":\"{text}{rare}\"}}{calls}]}}"
            );
            push(&mut log, n, kind, time_ms + n as i64, &body);
        }
        made.messages += count as u64;
        made.bytes += log.len() as u64;
        fs::write(folder.join("log.jsonl"), log).expect("it can be written");
    }
    made
}

fn push(log: &mut String, n: usize, kind: &str, time_ms: i64, body: &str) {
    let sum = crc32c::crc32c(body.as_bytes());
    writeln!(
        log,
        "{{\"v\":1,\"n\":{n},\"k\":\"{kind}\",\"t\":{time_ms},\"c\":{sum},\"b\":{body}}}"
    )
    .expect("memory takes all");
}

/// Words by chance, the same in every run.
struct Words(u64);

impl Words {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Some of each text are words that are asked for; most are made of syllables, so that
    /// there are about as many different ones as in what people write.
    fn text(&mut self, count: usize) -> String {
        const COMMON: [&str; 8] =
            ["the", "compiler", "says", "that", "borrow", "checker", "中文搜索", "café"];
        const SYLLABLES: [&str; 16] = [
            "ba", "ke", "lo", "mi", "nu", "ra", "se", "to", "vi", "zu", "per", "con", "dis", "ing",
            "ment", "tion",
        ];
        let mut text = String::new();
        for i in 0..count {
            if i > 0 {
                text.push(' ');
            }
            let chance = self.next();
            match COMMON.get((chance % 40) as usize) {
                Some(word) => text.push_str(word),
                None => {
                    for shift in 0..1 + chance % 3 {
                        let at = (chance >> (8 + 4 * shift)) & 15;
                        text.push_str(SYLLABLES[at as usize]);
                    }
                }
            }
        }
        text
    }
}
