//! The thread that reads: row by row, until something else is asked.

use std::{
    ops::Range,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
    time::{Duration, Instant},
};

use super::{Found, Needle, Query, Request, Words, finder::Desk};
use crate::{
    engine::Waker,
    model::{Message, ReadAhead, Reading},
    perf,
};

/// Rows with hits that are handed over together.
const BATCH: usize = 256;
/// The longest time between two looks at whether there is something to hand over.
const TURN: Duration = Duration::from_millis(16);
/// Rows between two looks at the clock.
const CLOCK_ROWS: u32 = 64;

pub(super) struct Worker {
    desk: Arc<Desk>,
    waker: Waker,
    known: Known,
}

/// What is known of a conversation in memory, so that only what changed is searched again.
#[derive(Default)]
struct Known {
    needle: Option<Needle>,
    words: Option<Arc<Words>>,
    rows: Vec<Option<(Arc<Message>, u32)>>,
}

impl Worker {
    pub(super) fn new(desk: Arc<Desk>, waker: Waker) -> Self {
        Self { desk, waker, known: Known::default() }
    }

    pub(super) fn run(mut self) {
        while let Some((number, request)) = self.desk.next() {
            match Query::new(&request.needle, request.own_words) {
                Ok(query) => {
                    let query = Arc::new(query);
                    self.desk.tell(number, Ok(Arc::clone(&query)));
                    self.search(number, &request, &query);
                }
                Err(reason) => {
                    self.desk.tell(number, Err(reason));
                    self.desk.done(number);
                }
            }
            (self.waker)();
        }
    }

    fn search(&mut self, number: u64, request: &Request, query: &Query) {
        let rows = request.reading.len();
        let from = request.from.min(rows);
        self.known.begin(request);
        let mut batch = Batch::new();
        let mut ahead = ReadAhead::default();
        for row in (from..rows).chain(0..from) {
            if self.desk.is_stale(number) {
                return;
            }
            let hits = self.row(row, request, query, &mut ahead);
            if hits > 0 {
                let row_number = u32::try_from(row).unwrap_or(u32::MAX);
                batch.found.push(Found { row: row_number, id: request.reading.id(row), hits });
            }
            if batch.is_due() {
                if !self.desk.deliver(number, &mut batch.found) {
                    return;
                }
                (self.waker)();
            }
        }
        if self.desk.deliver(number, &mut batch.found) {
            self.desk.done(number);
        }
    }

    fn row(&mut self, row: usize, request: &Request, query: &Query, ahead: &mut ReadAhead) -> u32 {
        let reading = &*request.reading;
        if !reading.is_resident() {
            let passes = |record: &[u8]| query.may_say(record);
            if query.has_sieve() && !reading.passes(row, ahead, &passes) {
                return 0;
            }
            self.desk.read_one();
            return count(&reading.message(row), query, &request.words);
        }
        let message = reading.message(row);
        if let Some(hits) = self.known.hits(row, &message) {
            return hits;
        }
        self.desk.read_one();
        let hits = count(&message, query, &request.words);
        self.known.note(row, message, hits);
        hits
    }
}

/// Hits in a message. One that makes anything panic has none: it cannot be shown either.
fn count(message: &Message, query: &Query, words: &Arc<Words>) -> u32 {
    let counted = catch_unwind(AssertUnwindSafe(|| {
        let mut hits = 0_usize;
        let mut each = |text: &str, shown: Range<usize>| hits += query.count(text, shown);
        words(message, &mut each);
        hits
    }));
    u32::try_from(counted.unwrap_or(0)).unwrap_or(u32::MAX)
}

impl Known {
    /// Forgets what was known for another needle or other words.
    fn begin(&mut self, request: &Request) {
        let same_words =
            self.words.as_ref().is_some_and(|words| Arc::ptr_eq(words, &request.words));
        if !same_words || self.needle.as_ref() != Some(&request.needle) {
            self.rows = Vec::new();
            self.needle = Some(request.needle.clone());
            self.words = Some(Arc::clone(&request.words));
        }
        self.rows.truncate(resident_rows(&*request.reading));
    }

    fn hits(&self, row: usize, message: &Arc<Message>) -> Option<u32> {
        let (known, hits) = self.rows.get(row)?.as_ref()?;
        Arc::ptr_eq(known, message).then_some(*hits)
    }

    fn note(&mut self, row: usize, message: Arc<Message>, hits: u32) {
        if self.rows.len() <= row {
            self.rows.resize(row + 1, None);
        }
        if let Some(known) = self.rows.get_mut(row) {
            *known = Some((message, hits));
        }
    }
}

fn resident_rows(reading: &dyn Reading) -> usize {
    if reading.is_resident() { reading.len() } else { 0 }
}

/// What was found and not handed over.
struct Batch {
    found: Vec<Found>,
    rows: u32,
    since: Instant,
}

impl Batch {
    fn new() -> Self {
        Self { found: Vec::new(), rows: 0, since: perf::now() }
    }

    /// True when there is something to hand over and it is time for it.
    fn is_due(&mut self) -> bool {
        self.rows += 1;
        if self.found.len() >= BATCH {
            self.since = perf::now();
            return true;
        }
        if self.found.is_empty() || !self.rows.is_multiple_of(CLOCK_ROWS) {
            return false;
        }
        let now = perf::now();
        let due = now.saturating_duration_since(self.since) >= TURN;
        if due {
            self.since = now;
        }
        due
    }
}
