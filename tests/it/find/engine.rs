//! The thread that reads: order, cancelling, what is read again and what is not.

use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use letterpress::{
    engine::find::{Finder, Found, Needle, News, Query, Request, Words},
    model::{Message, MessageId, Part, Reading, Role},
};
use parking_lot::{Condvar, Mutex};

use crate::bed::{message, text};

/// A conversation that is made up row by row, and can be held at any of them.
struct Made {
    rows: usize,
    says: fn(usize) -> String,
    read: AtomicUsize,
    gate: Gate,
}

#[derive(Default)]
struct Gate {
    shut_at: Mutex<Option<usize>>,
    moved: Condvar,
}

impl Made {
    fn new(rows: usize, says: fn(usize) -> String) -> Arc<Self> {
        Arc::new(Self { rows, says, read: AtomicUsize::new(0), gate: Gate::default() })
    }

    fn shut_at(&self, row: Option<usize>) {
        *self.gate.shut_at.lock() = row;
        self.gate.moved.notify_all();
    }

    fn read(&self) -> usize {
        self.read.load(Ordering::SeqCst)
    }
}

impl Reading for Made {
    fn len(&self) -> usize {
        self.rows
    }

    fn stamp(&self) -> u64 {
        1
    }

    fn id(&self, row: usize) -> MessageId {
        MessageId(row as u64)
    }

    fn message(&self, row: usize) -> Arc<Message> {
        let mut shut = self.gate.shut_at.lock();
        self.read.fetch_add(1, Ordering::SeqCst);
        while *shut == Some(row) {
            self.gate.moved.wait(&mut shut);
        }
        drop(shut);
        Arc::new(message(row as u64, Role::User, vec![text(&(self.says)(row))]))
    }

    fn is_resident(&self) -> bool {
        false
    }
}

fn sources() -> Arc<Words> {
    Arc::new(|message: &Message, each: &mut dyn FnMut(&str, Range<usize>)| {
        for part in &message.parts {
            if let Part::Text(text) = part {
                each(&text.source, 0..text.source.len());
            }
        }
    })
}

fn request(reading: &Arc<Made>, needle: &str, from: usize) -> Request {
    let needle = Needle { text: needle.to_owned(), ..Needle::default() };
    let reading = Arc::clone(reading) as Arc<dyn Reading>;
    Request { needle, reading, from, words: sources(), own_words: None }
}

fn finder() -> Finder {
    Finder::start(Arc::new(|| {})).expect("a thread")
}

/// Takes what comes until the search is over.
fn all(finder: &Finder) -> Vec<Found> {
    let mut found = Vec::new();
    until(finder, |news| {
        found.extend(news.found.iter().copied());
        news.done
    });
    found
}

fn until(finder: &Finder, mut meets: impl FnMut(&News) -> bool) {
    for _ in 0..20_000 {
        if meets(&finder.poll()) {
            return;
        }
        std::thread::park_timeout(Duration::from_millis(1));
    }
    panic!("nothing comes");
}

fn every_third(row: usize) -> String {
    if row.is_multiple_of(3) { "a needle, a needle".to_owned() } else { "hay".to_owned() }
}

#[test]
fn rows_come_from_where_the_reader_is() {
    let made = Made::new(10, every_third);
    let mut finder = finder();
    finder.ask(request(&made, "needle", 5));
    let found = all(&finder);
    let rows: Vec<u32> = found.iter().map(|found| found.row).collect();
    assert_eq!(rows, [6, 9, 0, 3]);
    assert!(found.iter().all(|found| found.hits == 2));
    assert_eq!((made.read(), finder.rows_read()), (10, 10));
}

#[test]
fn another_needle_ends_the_search_behind_the_row_that_is_read() {
    let made = Made::new(100_000, every_third);
    made.shut_at(Some(50));
    let mut finder = finder();
    finder.ask(request(&made, "needle", 0));
    while made.read() < 51 {
        std::thread::park_timeout(Duration::from_millis(1));
    }
    let other = Made::new(3, |_| "needle in another stack".to_owned());
    finder.ask(request(&other, "stack", 0));
    made.shut_at(None);
    let found = all(&finder);
    assert_eq!(found.len(), 3, "nothing of the first search is among it");
    assert_eq!(made.read(), 51, "the row that was being read is the last");
    assert_eq!(finder.rows_read(), 54);
}

#[test]
fn cancelling_and_dropping_end_it_at_once() {
    let made = Made::new(100_000, every_third);
    made.shut_at(Some(20));
    let mut finder = finder();
    finder.ask(request(&made, "needle", 0));
    while made.read() < 21 {
        std::thread::park_timeout(Duration::from_millis(1));
    }
    finder.cancel();
    made.shut_at(None);
    let weak = Arc::downgrade(&made);
    drop((made, finder));
    for _ in 0..5_000 {
        if weak.strong_count() == 0 {
            return;
        }
        std::thread::park_timeout(Duration::from_millis(1));
    }
    panic!("the thread goes on");
}

/// What is not taken holds the search up instead of piling up.
#[test]
fn results_that_nobody_takes_are_bounded() {
    let made = Made::new(60_000, |_| "needle".to_owned());
    let mut finder = finder();
    finder.ask(request(&made, "needle", 0));
    let mut last = usize::MAX;
    while made.read() != last {
        last = made.read();
        std::thread::park_timeout(Duration::from_millis(200));
    }
    assert!(last < 20_000, "{last} rows were read ahead");
    assert_eq!(all(&finder).len(), 60_000);
}

#[test]
fn a_needle_that_cannot_be_looked_for_is_said() {
    let made = Made::new(10, every_third);
    let mut finder = finder();
    let mut bad = request(&made, "(", 0);
    bad.needle.regex = true;
    finder.ask(bad);
    let mut error = None;
    until(&finder, |news| {
        error = error
            .take()
            .or_else(|| news.query.as_ref().and_then(|query| query.as_ref().err().cloned()));
        news.done
    });
    assert_eq!(error.as_deref(), Some("unclosed group"));
    assert_eq!(made.read(), 0);
}

/// A message that makes whoever shows it panic costs itself.
#[test]
fn a_panic_costs_its_message() {
    let made = Made::new(9, every_third);
    let mut finder = finder();
    let own = sources();
    let words: Arc<Words> =
        Arc::new(move |message: &Message, each: &mut dyn FnMut(&str, Range<usize>)| {
            assert!(message.id != MessageId(3), "planted");
            own(message, each);
        });
    finder.ask(Request { words, ..request(&made, "needle", 0) });
    let rows: Vec<u32> = all(&finder).iter().map(|found| found.row).collect();
    assert_eq!(rows, [0, 6]);
}

/// A conversation in memory, of which only what changed is searched again.
struct Resident(Vec<Arc<Message>>, u64);

impl Reading for Resident {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn stamp(&self) -> u64 {
        self.1
    }

    fn id(&self, row: usize) -> MessageId {
        self.0[row].id
    }

    fn message(&self, row: usize) -> Arc<Message> {
        Arc::clone(&self.0[row])
    }

    fn is_resident(&self) -> bool {
        true
    }
}

#[test]
fn what_did_not_change_is_not_read_again() {
    let say = |id: u64, words: &str| Arc::new(message(id, Role::User, vec![text(words)]));
    let mut messages: Vec<_> = (0..500).map(|id| say(id, "a needle")).collect();
    let mut finder = finder();
    let words = sources();
    let stamp = AtomicU64::new(0);
    let ask = |finder: &mut Finder, messages: &[Arc<Message>], needle: &str| {
        let stamp = stamp.fetch_add(1, Ordering::Relaxed);
        finder.ask(Request {
            needle: Needle { text: needle.to_owned(), ..Needle::default() },
            reading: Arc::new(Resident(messages.to_vec(), stamp)),
            from: 0,
            words: Arc::clone(&words),
            own_words: None,
        });
        let found = all(finder);
        (found.iter().map(|found| u64::from(found.hits)).sum::<u64>(), finder.rows_read())
    };
    assert_eq!(ask(&mut finder, &messages, "needle"), (500, 500));
    messages.push(say(500, "needle needle"));
    assert_eq!(ask(&mut finder, &messages, "needle"), (502, 501));
    messages[500] = say(500, "needle needle needle");
    assert_eq!(ask(&mut finder, &messages, "needle"), (503, 502));
    messages.truncate(100);
    assert_eq!(ask(&mut finder, &messages, "needle"), (100, 502));
    assert_eq!(ask(&mut finder, &messages, "a"), (100, 602), "another needle");
}

#[test]
fn an_empty_pattern_finds_nothing() {
    let made = Made::new(5, every_third);
    let mut finder = finder();
    finder.ask(request(&made, "", 0));
    assert_eq!(all(&finder), []);
    assert!(Query::new(&Needle::default(), None).is_ok());
}
