//! D10: the clock goes back. What came later still comes later.

use std::sync::atomic::{AtomicI64, Ordering};

use letterpress::{model::record::Kind, store::Sync};
use serde_json::json;

use super::{NOW, entries, id, meta, real, saved, wait, writer};

const HOUR: i64 = 60 * 60 * 1000;
static TIME: AtomicI64 = AtomicI64::new(NOW);

#[test]
fn d10_order_is_by_number_not_by_time() {
    let folder = tempfile::tempdir().unwrap();
    let store = real(folder.path()).with_clock(|| TIME.load(Ordering::SeqCst));
    let log = writer(store.create(id("a"), meta(), NOW).unwrap());
    let append = |log: &letterpress::store::Log| {
        saved(wait(log.append(Kind::User, json!({"at": TIME.load(Ordering::SeqCst)}), Sync::Now)))
    };
    append(&log);
    TIME.fetch_sub(HOUR, Ordering::SeqCst);
    append(&log);
    wait(log.close()).unwrap();
    TIME.fetch_sub(HOUR, Ordering::SeqCst);
    let opened = store.open_session(&id("a"), NOW - 2 * HOUR).unwrap();
    assert_eq!((opened.next, opened.found.oddities.len()), (3, 0));
    let log = writer(opened);
    append(&log);
    let len = wait(log.close()).unwrap();
    let found = entries(store.replay(&id("a"), len).unwrap());
    let seen: Vec<_> = found.iter().map(|entry| (entry.n, entry.t)).collect();
    assert_eq!(seen, [(0, NOW), (1, NOW), (2, NOW - HOUR), (3, NOW - 2 * HOUR)]);
    // What was deleted in the future is not old.
    store.trash(&id("a"), NOW + HOUR).unwrap();
    assert_eq!(store.purge(NOW), []);
    store.restore(&id("a")).unwrap();
}
