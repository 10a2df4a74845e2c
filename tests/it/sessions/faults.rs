//! Disks that fail, are full, or are slow.

use std::{
    sync::atomic::Ordering,
    time::{Duration, Instant},
};

use letterpress::model::{Command, Keeping, Phase, record::Kind};
use serde_json::json;

use super::{
    bench::{Desk, calls, hangs, is_settled, says},
    told::{Log, assert_same},
};

#[test]
fn a_disk_that_fails_is_said_and_the_conversation_goes_on() {
    let mut desk = Desk::new(vec![says("one"), calls("a", &json!({})), says("three")]);
    desk.ask("kept");
    desk.world.faults.fails_to_sync.store(true, Ordering::SeqCst);
    let end = desk.ask("not kept");
    let Keeping::Unsaved(why) = &end.keeping else { panic!("{:?}", end.keeping) };
    assert!(why.contains("the cable is loose") && why.ends_with('.'), "{why}");
    assert_eq!(end.len(), 5);
    // It is not tried again as if nothing had been.
    desk.world.faults.fails_to_sync.store(false, Ordering::SeqCst);
    let end = desk.ask("nor this");
    assert!(matches!(end.keeping, Keeping::Unsaved(_)));
    assert_eq!(end.len(), 7);
    // Nothing is ever said to be kept that is not.
    let synced = String::from_utf8_lossy(&desk.world.faults.synced.lock()).into_owned();
    assert!(synced.contains("\"kept\"") && !synced.contains("nor this"));
}

#[test]
fn a_disk_that_is_full_is_said_and_all_is_written_when_there_is_space() {
    let mut desk = Desk::new(vec![says("one"), calls("a", &json!({})), says("three")]);
    desk.ask("first");
    desk.rests();
    desk.world.faults.is_full.store(true, Ordering::SeqCst);
    let end = desk.ask("second");
    let full = desk.until(|s| matches!(s.keeping, Keeping::Unsaved(_)));
    let Keeping::Unsaved(why) = &full.keeping else { panic!("{:?}", full.keeping) };
    assert!(why.contains("full"), "{why}");
    assert_eq!(end.len(), 5, "it goes on");
    assert_eq!(Log::read(&desk.path()).words().len(), 2, "and the disk has none of it");
    desk.world.faults.is_full.store(false, Ordering::SeqCst);
    let kept = desk.rests();
    let log = Log::read(&desk.path());
    assert_same(&kept, &log);
    let order: Vec<_> = log.kinds.iter().skip(4).collect();
    assert_eq!(order[..2], [&Kind::User, &Kind::AssistantStart]);
}

#[test]
fn a_slow_disk_holds_up_the_request_and_not_the_user() {
    let mut desk = Desk::new(vec![hangs("a"), says("two")]);
    desk.ask_nothing();
    desk.world.faults.millis_a_sync.store(600, Ordering::SeqCst);
    desk.say("go");
    let saving = desk.until(|s| matches!(s.keeping, Keeping::Saving { .. }));
    assert!(matches!(saving.phase, Phase::Waiting { .. }));
    let begun = Instant::now();
    desk.command(Command::Stop);
    let stopped = desk.until(|s| !s.phase.is_busy());
    assert!(begun.elapsed() < Duration::from_millis(300), "{:?}", begun.elapsed());
    assert_eq!(stopped.len(), 1, "what was said stays");
    assert!(matches!(stopped.keeping, Keeping::Saving { .. }), "{:?}", stopped.keeping);
    assert!(desk.world.requests.lock().is_empty(), "it was stopped before it left");
    desk.rests();
    assert_eq!(Log::read(&desk.path()).words(), ["user: go"]);
    // A reply that is arriving stops at once, too.
    desk.world.faults.millis_a_sync.store(0, Ordering::SeqCst);
    let ticket = desk.say("again");
    desk.until(|s| s.arriving.is_some());
    desk.world.faults.millis_a_sync.store(1500, Ordering::SeqCst);
    let begun = Instant::now();
    desk.command(Command::Stop);
    let stopped = desk.until(|s| is_settled(s, ticket));
    assert!(begun.elapsed() < Duration::from_millis(600), "{:?}", begun.elapsed());
    assert!(matches!(stopped.keeping, Keeping::Saving { .. }), "and nothing is claimed");
    desk.world.faults.millis_a_sync.store(0, Ordering::SeqCst);
    assert_same(&desk.rests(), &Log::read(&desk.path()));
}

impl Desk {
    /// Waits until it is ready.
    fn ask_nothing(&mut self) {
        self.until(|s| s.keeping == Keeping::Kept);
    }
}

#[test]
fn a_session_that_another_window_writes_can_only_be_read() {
    let mut desk = Desk::new(vec![says("one")]);
    desk.ask("first");
    desk.rests();
    let opened = desk.store.open_session(&desk.id, 0).unwrap();
    let engine = desk.engine.as_ref().unwrap();
    let other =
        engine.session_kept(opened, None, super::bench::settings(), std::sync::Arc::new(|| {}));
    let draft = letterpress::model::Draft::text(letterpress::model::Ticket(1), "hello");
    other.send(Command::Send(draft)).unwrap();
    let end = engine.block_on(other.settled(letterpress::model::Ticket(1)));
    assert!(matches!(end.keeping, Keeping::ReadOnly(_)), "{:?}", end.keeping);
    let fate = end.fate(letterpress::model::Ticket(1));
    let read_only = letterpress::model::Refusal::ReadOnly;
    assert!(
        matches!(fate, Some(letterpress::model::Fate::Refused(refusal, _)) if *refusal == read_only)
    );
    assert!(end.base.is_some() && end.is_empty());
    assert_eq!(Log::read(&desk.path()).words().len(), 2);
}
