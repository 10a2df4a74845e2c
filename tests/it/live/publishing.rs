//! Cadence, cost and load: a snapshot costs what is new, and a reader who does not look
//! costs nothing and misses nothing.

use std::{
    sync::{Arc, Weak},
    time::{Duration, Instant},
};

use letterpress::{
    engine::live::{Engine, Limits, Provider, Session},
    model::{Block, Blocks, Command, Draft, Message, Part, Snapshot, Ticket, stream::Wire},
    wire::Endpoint,
};
use parking_lot::Mutex;
use tokio::sync::Notify;

use super::{
    bench::{Bench, engine, last, limits, prose, settings},
    server::{Act, Chance, Server, call, finish, sse, text, whole},
};

type Shown<'a> = &'a [Arc<Block>];

/// Sealed and open blocks of the last text.
fn blocks(message: &Message) -> Option<(Shown<'_>, Shown<'_>)> {
    match message.parts.last()? {
        Part::Text(text) => match &text.blocks {
            Blocks::Open { sealed, tail } => Some((sealed, tail)),
            Blocks::Sealed(sealed) => Some((sealed, &[])),
            Blocks::Unparsed => None,
        },
        _ => None,
    }
}

#[test]
fn a_snapshot_shares_all_that_did_not_change() {
    let mut acts = vec![sse()];
    for n in 0..40 {
        acts.push(Act::Send(text(&format!("Paragraph {n} of *some* length.\n\n- a\n- b\n\n"))));
        acts.push(Act::Sleep(20));
    }
    acts.extend([Act::Send(finish("stop")), Act::Finish]);
    let mut bench = Bench::new(vec![whole(&["old"]), acts]);
    bench.ask("first");
    let seen = bench.watch("second");
    let (mut shared, mut tails) = (0, 0);
    for pair in seen.windows(2) {
        let [before, after] = pair else { unreachable!() };
        for (old, new) in before.entries.iter().zip(after.entries.iter()) {
            assert!(
                Arc::ptr_eq(&old.message, &new.message),
                "finished messages stay where they are"
            );
        }
        let (Some(old), Some(new)) = (blocks(last(before)), blocks(last(after))) else { continue };
        if last(before).id != last(after).id {
            continue;
        }
        assert!(new.0.len() >= old.0.len());
        for (a, b) in old.0.iter().zip(new.0) {
            assert!(Arc::ptr_eq(a, b), "a sealed block stays where it is");
            shared += 1;
        }
        if old.0.len() == new.0.len() && after.arriving.is_some() {
            assert!(std::ptr::eq(old.0, new.0), "so does the list of them while none is sealed");
        }
        tails = tails.max(new.1.len());
    }
    assert!(shared > 100 && tails > 0, "{shared} {tails}");
    assert!(tails <= 4, "the tail is what is open, not what was said: {tails}");
}

#[test]
fn parts_that_are_complete_stay_where_they_are() {
    let mut acts = vec![sse(), Act::Send(text("first"))];
    acts.push(Act::Send(call(0, Some("x"), "{\"a\": 1}")));
    for _ in 0..20 {
        acts.extend([Act::Send(call(1, Some("y"), "{")), Act::Sleep(20)]);
    }
    acts.push(Act::AwaitClose);
    let mut bench = Bench::new(vec![acts]);
    bench.say("go");
    let parts = |s: &Snapshot| s.arriving.as_ref().map_or(0, |e| e.message.parts.len());
    let first = bench.until(|s| parts(s) == 3);
    let later = bench.until(|s| s.version >= first.version + 2);
    let (Part::Text(a), Part::Text(b)) = (&last(&first).parts[0], &last(&later).parts[0]) else {
        panic!("{first:?}")
    };
    assert!(Arc::ptr_eq(&a.source, &b.source));
    let (Part::ToolCall(a), Part::ToolCall(b)) = (&last(&first).parts[1], &last(&later).parts[1])
    else {
        panic!("{first:?}")
    };
    assert!(Arc::ptr_eq(a, b));
}

#[test]
fn e07_however_fast_it_comes_it_is_published_once_a_frame() {
    let mut acts = vec![sse()];
    for n in 0..2_000 {
        acts.push(Act::Send(text(&format!("word{n} "))));
    }
    acts.extend([Act::Send(finish("stop")), Act::Finish]);
    let frame = Duration::from_millis(50);
    let mut bench = Bench::with(Wire::Chat, Limits { frame, ..limits() }, vec![acts]);
    let before = bench.session.snapshot().version;
    let begun = Instant::now();
    let end = bench.ask("go");
    let frames = begun.elapsed().as_millis() as u64 / 50;
    let published = end.version - before;
    assert!(published <= frames + 8, "{published} snapshots in {frames} frames");
    let expected: String = (0..2_000).map(|n| format!("word{n} ")).collect();
    assert_eq!(prose(last(&end)), expected.trim_end());
}

/// Long texts in many small pieces.
fn flood(seed: u64, deltas: usize) -> (String, Vec<Act>) {
    let mut chance = Chance(seed);
    let words = [
        "lorem ",
        "**ipsum** ",
        "dolor\n\n",
        "`sit`, ",
        "你好 ",
        "- amet\n",
        "1. x\n\n",
        "# T\n\n",
    ];
    let mut whole = String::new();
    let mut body = Vec::new();
    for _ in 0..deltas {
        let word = words[chance.below(words.len())];
        whole.push_str(word);
        body.extend(text(word));
    }
    body.extend(finish("stop"));
    let mut acts = vec![sse()];
    acts.extend(chance.cut(&body).into_iter().map(Act::Send));
    acts.push(Act::Finish);
    (whole, acts)
}

fn join(engine: &Engine, server: &Server, name: &str) -> Session {
    let endpoint = Endpoint::new(name, Wire::Chat, &server.base).unwrap();
    engine.set_provider(name, Provider::Endpoint(Arc::new(endpoint)));
    let settings = letterpress::model::Settings { provider: name.into(), ..settings() };
    engine.session(settings, Arc::new(|| {}))
}

#[test]
fn eight_conversations_at_once_lose_nothing() {
    let engine = engine(limits());
    let floods: Vec<_> = (0..8).map(|seed| flood(seed, 4_000)).collect();
    let conversations: Vec<_> = floods
        .into_iter()
        .enumerate()
        .map(|(n, (whole, acts))| {
            let server = Server::new(vec![acts]);
            let session = join(&engine, &server, &format!("p{n}"));
            session.send(Command::Send(Draft::text(Ticket(1), "go"))).unwrap();
            (whole, server, session)
        })
        .collect();
    for (whole, _server, session) in &conversations {
        let settled = async {
            tokio::time::timeout(Duration::from_secs(60), session.settled(Ticket(1))).await
        };
        let end = engine.block_on(settled).expect("it ends");
        assert_eq!(prose(last(&end)), whole.trim());
        let parsed = letterpress::markdown::parse(whole.trim(), Default::default());
        assert_eq!(
            blocks(last(&end)).unwrap().0,
            &*parsed,
            "and its blocks are those of the whole"
        );
    }
}

#[test]
fn a_reader_who_does_not_look_costs_nothing_and_misses_nothing() {
    let (expected, acts) = flood(99, 30_000);
    let server = Server::new(vec![acts]);
    let engine = engine(limits());
    let endpoint = Endpoint::new("test", Wire::Chat, &server.base).unwrap();
    engine.set_provider("test", Provider::Endpoint(Arc::new(endpoint)));
    // Follows what is alive without keeping it so.
    let published: Arc<Mutex<Vec<Weak<Snapshot>>>> = Arc::default();
    let receiver: Arc<Mutex<Option<letterpress::engine::SessionSource>>> = Arc::default();
    let waker = {
        let (published, receiver) = (Arc::clone(&published), Arc::clone(&receiver));
        Arc::new(move || {
            use letterpress::model::Source as _;
            if let Some(source) = &mut *receiver.lock() {
                source.poll();
                published.lock().push(Arc::downgrade(source.snapshot()));
            }
        })
    };
    let session = engine.session(settings(), waker);
    *receiver.lock() = Some(session.source());
    session.send(Command::Send(Draft::text(Ticket(1), "go"))).unwrap();
    std::thread::sleep(Duration::from_secs(2));
    let alive = published.lock().iter().filter(|weak| weak.strong_count() > 0).count();
    assert!(alive <= 2, "{alive} snapshots are kept");
    let end = engine.block_on(session.settled(Ticket(1)));
    assert_eq!(prose(last(&end)), expected.trim());
    assert!(published.lock().len() > 3);
}

#[test]
fn a_long_text_is_published_as_quickly_as_a_short_one() {
    let gate = Arc::new(Notify::new());
    let mut acts = vec![sse()];
    let paragraph = "Some words of a paragraph that is neither long nor short. ".repeat(8);
    let long = (0..2_000).map(|_| format!("{paragraph}\n\n")).collect::<Vec<_>>();
    for piece in long.chunks(50) {
        acts.push(Act::Send(text(&piece.concat())));
    }
    acts.push(Act::Await(Arc::clone(&gate)));
    for n in 0..100 {
        acts.extend([Act::Send(text(&format!("word{n} "))), Act::Sleep(2)]);
    }
    acts.extend([Act::Send(finish("stop")), Act::Finish]);
    let mut bench = Bench::new(vec![acts]);
    let ticket = bench.say("go");
    let length = long.concat().trim_end().len();
    let is_there =
        |s: &Snapshot| s.arriving.as_ref().is_some_and(|e| prose(&e.message).len() >= length);
    let before = bench.until(is_there);
    gate.notify_one();
    let seen = bench.collect(|s| super::bench::is_settled(s, ticket));
    let mut copied = 0;
    for snapshot in seen.iter().filter(|s| s.arriving.is_some()) {
        let (sealed, tail) = blocks(last(snapshot)).unwrap();
        let known = blocks(last(&before)).unwrap().0;
        assert!(sealed.len() >= known.len() && Arc::ptr_eq(&sealed[0], &known[0]));
        copied = copied.max(tail.len());
    }
    assert!(copied <= 2, "only the open paragraph is made anew: {copied} blocks");
    assert!(seen.len() > 5, "{}", seen.len());
}
