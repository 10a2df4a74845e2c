//! An address that is followed: what it sends goes into a spool, each record once.

use std::{collections::VecDeque, sync::Arc};

use rustc_hash::FxHashMap;
use url::Url;

use crate::{
    engine::{clock, reader::Arrivals},
    model::activity::Link,
    transcript::{Spool, record_id},
    wire::{FeedEvent, FeedLimits, Http, feed},
};

/// Follows an address until the future is dropped.
pub(super) async fn follow(
    http: Http,
    url: Url,
    limits: FeedLimits,
    spool: Spool,
    arrivals: Arrivals,
) {
    let mut intake = Intake { spool, arrivals, seen: Seen::default(), since_ms: None };
    feed(&http, &url, limits, |event| intake.take(event)).await;
}

/// Says that an address cannot be followed at all.
pub(super) fn lose(arrivals: &Arrivals, why: &str) {
    arrivals.link(Link::Lost { since_ms: clock::now_ms(), why: why.into() });
}

/// Takes what a feed brings.
struct Intake {
    spool: Spool,
    arrivals: Arrivals,
    seen: Seen,
    /// Since when the connection is lost.
    since_ms: Option<i64>,
}

impl Intake {
    fn take(&mut self, event: FeedEvent) {
        match event {
            FeedEvent::Open { exact } => {
                self.seen.begin(exact);
                self.since_ms = None;
                self.arrivals.link(Link::Live);
            }
            FeedEvent::Record(record) => {
                if self.seen.is_new(&record) {
                    self.spool.append(&record);
                }
            }
            FeedEvent::LeftOut => self.spool.append_left_out(),
            FeedEvent::Pause => {
                self.arrivals.arrived();
            }
            FeedEvent::Lost(why) => {
                self.arrivals.arrived();
                let since_ms = *self.since_ms.get_or_insert_with(clock::now_ms);
                self.arrivals.link(Link::Lost { since_ms, why: Arc::from(why) });
            }
        }
    }
}

/// Records that came before: a server that cannot go on where it was sends them again.
#[derive(Debug, Default)]
struct Seen {
    /// How often each record came, by its id or its content.
    counts: FxHashMap<u64, u32>,
    order: VecDeque<u64>,
    /// What this connection may send again.
    again: FxHashMap<u64, u32>,
}

/// Records that are remembered.
const SEEN_MAX: usize = 256 * 1024;

impl Seen {
    /// A connection begins; one that goes on exactly sends nothing again.
    fn begin(&mut self, exact: bool) {
        self.again = if exact { FxHashMap::default() } else { self.counts.clone() };
    }

    fn is_new(&mut self, record: &[u8]) -> bool {
        let key = record_id(record);
        if let Some(left) = self.again.get_mut(&key) {
            *left -= 1;
            if *left == 0 {
                self.again.remove(&key);
            }
            return false;
        }
        *self.counts.entry(key).or_default() += 1;
        self.order.push_back(key);
        if self.order.len() > SEEN_MAX
            && let Some(oldest) = self.order.pop_front()
            && let Some(count) = self.counts.get_mut(&oldest)
        {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&oldest);
            }
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fed(seen: &mut Seen, records: &[&str]) -> Vec<bool> {
        records.iter().map(|record| seen.is_new(record.as_bytes())).collect()
    }

    #[test]
    fn a_connection_that_begins_anew_brings_only_what_is_new() {
        let mut seen = Seen::default();
        let [a, b, c] = [r#"{"id":"a"}"#, r#"{"type":"mode"}"#, r#"{"uuid":"c","x":1}"#];
        seen.begin(false);
        assert_eq!(fed(&mut seen, &[a, b, b]), [true, true, true], "nothing came before");
        seen.begin(false);
        // The same record in other words is the same by its id.
        let again = r#"{ "x": 2, "id": "a" }"#;
        assert_eq!(fed(&mut seen, &[again, b, b, b, c]), [false, false, false, true, true]);
        seen.begin(true);
        assert_eq!(fed(&mut seen, &[b]), [true], "it goes on where it was");
    }

    #[test]
    fn memory_of_what_came_is_bounded() {
        let mut seen = Seen::default();
        for number in 0..SEEN_MAX + 10 {
            assert!(seen.is_new(format!("{{\"id\":\"{number}\"}}").as_bytes()));
        }
        assert_eq!((seen.order.len(), seen.counts.len()), (SEEN_MAX, SEEN_MAX));
    }
}
