//! Stopping at any moment: the connection closes, the text stays, nothing is left moving.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use letterpress::model::{
    Command, Draft, Part, Phase, Snapshot, StopReason, ToolState, stream::EndState,
};

use super::{
    bench::{Bench, is_settled, last, prose, thoughts},
    server::{Act, call, error, reasoning, sse, text, whole},
};

/// The budget is 100 ms; a busy machine gets a little more.
const AT_ONCE: Duration = Duration::from_millis(250);

/// Stops once a condition is met. The snapshot after it, which has to come at once.
fn stop_when(bench: &mut Bench, meets: impl Fn(&Snapshot) -> bool) -> Arc<Snapshot> {
    let ticket = bench.say("go");
    bench.server.request();
    bench.until(meets);
    let begun = Instant::now();
    bench.command(Command::Stop);
    let end = bench.until(|s| is_settled(s, ticket));
    assert!(begun.elapsed() < AT_ONCE, "{:?}", begun.elapsed());
    assert!(end.arriving.is_none());
    assert_eq!(end.end.as_deref(), Some(&EndState::Cancelled));
    assert_eq!(last(&end).stop, Some(StopReason::Aborted));
    assert!(last(&end).error.is_none());
    let live = last(&end)
        .parts
        .iter()
        .any(|part| matches!(part, Part::ToolCall(call) if call.state.is_live()));
    assert!(!live, "nothing is left that moves");
    end
}

/// The server saw the connection close at once after it was told to stop.
fn stop_and_close(acts: Vec<Act>, meets: impl Fn(&Snapshot) -> bool) -> (Bench, Arc<Snapshot>) {
    let acts = [acts, vec![Act::AwaitClose]].concat();
    let mut bench = Bench::new(vec![acts, whole(&["again"])]);
    let begun = Instant::now();
    let end = stop_when(&mut bench, meets);
    let closed = bench.server.closed();
    assert!(closed >= begun && Instant::now() - closed < Duration::from_secs(5));
    (bench, end)
}

/// The conversation can be used at once.
fn goes_on(mut bench: Bench) {
    let end = bench.ask("and now?");
    assert_eq!(prose(last(&end)), "again");
}

#[test]
fn e03_in_a_text() {
    let acts = vec![sse(), Act::Send(text("partial **bold"))];
    let (bench, end) = stop_and_close(acts, |s| s.arriving.is_some());
    assert_eq!(prose(last(&end)), "partial **bold", "what came is kept");
    goes_on(bench);
}

#[test]
fn in_reasoning() {
    let acts = vec![sse(), Act::Send(reasoning("let me"))];
    let (bench, end) = stop_and_close(acts, |s| s.arriving.is_some());
    assert_eq!(thoughts(last(&end)), "let me");
    goes_on(bench);
}

#[test]
fn e04_in_the_arguments_of_a_call() {
    let acts = vec![sse(), Act::Send(call(0, Some("write"), "{\"path\": \"a\", \"text\": \"He"))];
    let (bench, end) = stop_and_close(acts, |s| s.arriving.is_some());
    let Some(Part::ToolCall(call)) = last(&end).parts.first() else { panic!("{end:?}") };
    assert_eq!((call.state, call.result.is_none()), (ToolState::Aborted, true));
    assert_eq!(call.arguments["text"], "He", "what came is kept");
    goes_on(bench);
}

#[test]
fn before_the_first_byte() {
    let (bench, end) = stop_and_close(vec![], |s| matches!(s.phase, Phase::Waiting { .. }));
    assert!(last(&end).parts.is_empty());
    assert_eq!(end.len(), 2, "a row says that it was stopped");
    goes_on(bench);
}

#[test]
fn before_the_first_words() {
    let acts = vec![sse(), Act::Send(b": hello\n\n".to_vec())];
    let (bench, _) = stop_and_close(acts, |s| matches!(s.phase, Phase::Waiting { .. }));
    goes_on(bench);
}

#[test]
fn while_waiting_to_try_again() {
    let busy = error(429, "slow down", vec![("retry-after", "30")]);
    let mut bench = Bench::new(vec![busy, whole(&["again"])]);
    let end = stop_when(&mut bench, |s| matches!(s.phase, Phase::Retrying { .. }));
    assert_eq!(end.phase, Phase::Idle);
    assert_eq!(bench.server.connections(), 1);
    goes_on(bench);
}

#[test]
fn editing_stops_what_it_replaces() {
    let slow = vec![sse(), Act::Send(text("wrong")), Act::AwaitClose];
    let mut bench = Bench::new(vec![slow, whole(&["right"])]);
    bench.say("helo");
    bench.until(|s| s.arriving.is_some());
    let ticket = bench.ticket();
    bench.command(Command::EditLast(Draft::text(ticket, "hello")));
    let end = bench.until(|s| is_settled(s, ticket));
    let said: Vec<_> = end.messages().map(|message| prose(message)).collect();
    assert_eq!(said, ["hello", "right"]);
    bench.server.closed();
}

#[test]
fn a_conversation_that_is_dropped_closes_its_connection() {
    let mut bench = Bench::new(vec![vec![sse(), Act::Send(text("a")), Act::AwaitClose]]);
    bench.say("go");
    bench.until(|s| s.arriving.is_some());
    let source = bench.session.source();
    let Bench { session, engine, mut server, .. } = bench;
    let begun = Instant::now();
    drop(session);
    let closed = server.closed();
    assert!(closed.duration_since(begun) < AT_ONCE, "{:?}", closed.duration_since(begun));
    drop((source, engine));
}

#[test]
fn an_engine_that_is_dropped_closes_everything_and_leaves_nothing_moving() {
    let mut bench = Bench::new(vec![vec![sse(), Act::Send(text("a")), Act::AwaitClose]]);
    bench.say("go");
    bench.until(|s| s.arriving.is_some());
    let Bench { session, engine, mut server, .. } = bench;
    let begun = Instant::now();
    drop(engine);
    let closed = server.closed();
    assert!(closed.duration_since(begun) < AT_ONCE, "{:?}", closed.duration_since(begun));
    assert_eq!(session.snapshot().phase, Phase::Idle);
    assert!(session.send(Command::Retry).is_err(), "nobody listens any more");
}
