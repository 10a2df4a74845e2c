//! Failures, retries and stalls: they are shown, and nothing is left stuck.

use std::time::{Duration, Instant};

use letterpress::{
    engine::live::Limits,
    model::{
        Command, Phase, StopReason,
        stream::{EndState, ErrorClass, Interruption, Wire},
    },
    wire::Timeouts,
};

use super::{
    bench::{Bench, last, limits, prose},
    server::{Act, error, finish, sse, text, whole},
};

#[test]
fn e05_a_provider_that_refuses_makes_a_row_with_its_words() {
    let mut bench = Bench::new(vec![error(401, "bad key", vec![]), whole(&["fine"])]);
    let end = bench.ask("hello");
    let reply = last(&end);
    assert_eq!(reply.stop, Some(StopReason::Error));
    assert!(reply.error.as_deref().unwrap().contains("bad key"), "{:?}", reply.error);
    assert!(end.entry(1).unwrap().row.failed);
    let Some(EndState::Failed(failure)) = end.end.as_deref() else { panic!("{:?}", end.end) };
    assert_eq!((failure.class, failure.status), (ErrorClass::Auth, Some(401)));
    assert_eq!(bench.server.connections(), 1);
    assert_eq!(prose(last(&bench.ask("again"))), "fine");
}

#[test]
fn what_failed_before_its_first_word_is_tried_again_in_sight() {
    let busy = error(429, "slow down", vec![("retry-after-ms", "300")]);
    let broken = vec![sse(), Act::Sleep(50), Act::Reset];
    let mut bench = Bench::new(vec![busy, broken, whole(&["there"])]);
    let begun = Instant::now();
    let seen = bench.watch("hello");
    let retries: Vec<_> = seen
        .iter()
        .filter_map(|snapshot| match snapshot.phase {
            Phase::Retrying { attempt, of, until } => Some((attempt, of, until)),
            _ => None,
        })
        .collect();
    let [(2, 3, first), (3, 3, second)] = retries.as_slice() else { panic!("{retries:?}") };
    assert!(*first >= begun + Duration::from_millis(290) && second > first);
    let end = seen.last().unwrap();
    assert_eq!((end.len(), prose(last(end))), (2, "there".to_owned()), "no trace is left");
}

#[test]
fn the_user_need_not_wait() {
    let busy = error(503, "later", vec![("retry-after", "60")]);
    let mut bench = Bench::new(vec![busy, whole(&["there"])]);
    bench.say("hello");
    bench.until(|s| matches!(s.phase, Phase::Retrying { .. }));
    bench.command(Command::Retry);
    let end = bench.until(|s| !s.phase.is_busy());
    assert_eq!(prose(last(&end)), "there");
}

#[test]
fn three_tries_and_no_more() {
    let busy = || error(503, "later", vec![("retry-after-ms", "1")]);
    let mut bench = Bench::new(vec![busy(), busy(), busy(), busy()]);
    let end = bench.ask("hello");
    assert_eq!(bench.server.connections(), 3);
    assert_eq!(end.len(), 2, "one row for all three");
    assert!(matches!(end.end.as_deref(), Some(EndState::Failed(_))));
}

#[test]
fn after_the_first_word_nothing_is_sent_again() {
    let cut = vec![sse(), Act::Send(text("half an ans")), Act::Sleep(50), Act::Reset];
    let mut bench = Bench::new(vec![cut, whole(&["whole"])]);
    let end = bench.ask("hello");
    assert_eq!(bench.server.connections(), 1);
    assert_eq!(prose(last(&end)), "half an ans");
    assert_eq!(last(&end).stop, Some(StopReason::Error));
    assert!(last(&end).error.as_deref().unwrap().contains("connection was lost"));
    assert!(matches!(
        end.end.as_deref(),
        Some(EndState::Interrupted { cause: Interruption::Io(_), .. })
    ));
    bench.command(Command::Retry);
    let end = bench.until(|s| s.aside.len() == 1 && !s.phase.is_busy());
    assert_eq!(prose(last(&end)), "whole");
    bench.server.request();
    let messages = bench.server.request();
    assert_eq!(messages["messages"].as_array().unwrap().len(), 1, "half an answer is not sent");
}

#[test]
fn a_reply_that_ends_early_says_so() {
    let mut bench = Bench::new(vec![vec![sse(), Act::Send(text("half")), Act::Finish]]);
    let end = bench.ask("hello");
    assert_eq!(end.end.as_deref(), Some(&EndState::Incomplete));
    assert!(last(&end).error.as_deref().unwrap().contains("cut off"));
    assert_eq!(prose(last(&end)), "half");
}

#[test]
fn a_field_that_a_server_does_not_know_is_left_out() {
    let strange = error(400, "unknown field: stream_options", vec![]);
    let mut bench = Bench::new(vec![strange, whole(&["fine"])]);
    let end = bench.ask("hello");
    assert_eq!(prose(last(&end)), "fine");
    assert!(bench.server.request().get("stream_options").is_some());
    assert!(bench.server.request().get("stream_options").is_none());
}

#[test]
fn silence_in_the_middle_is_shown_and_forgiven() {
    let acts = vec![
        sse(),
        Act::Send(text("one")),
        Act::Sleep(600),
        Act::Send(text(" two")),
        Act::Sleep(100),
        Act::Send(finish("stop")),
        Act::Finish,
    ];
    let quick = Limits { stall: Duration::from_millis(200), ..limits() };
    let mut bench = Bench::with(Wire::Chat, quick, vec![acts]);
    let seen = bench.watch("hello");
    let stalled = seen.iter().position(|s| matches!(s.phase, Phase::Stalled { .. })).unwrap();
    assert_eq!(prose(last(&seen[stalled])), "one");
    assert!(seen[stalled..].iter().any(|s| s.phase == Phase::Streaming), "it goes on");
    assert_eq!(prose(last(seen.last().unwrap())), "one two");
}

#[test]
fn silence_without_end_is_given_up() {
    let timeouts = Timeouts { idle: Duration::from_millis(500), ..limits().timeouts };
    let quick = Limits { timeouts, ..limits() };
    let acts = vec![sse(), Act::Send(text("one")), Act::AwaitClose];
    let mut bench = Bench::with(Wire::Chat, quick, vec![acts]);
    let end = bench.ask("hello");
    assert!(matches!(
        end.end.as_deref(),
        Some(EndState::Interrupted { cause: Interruption::Stalled, .. })
    ));
    assert_eq!((prose(last(&end)).as_str(), end.phase), ("one", Phase::Idle));
    bench.server.closed();
}

#[test]
fn a_model_that_calls_tools_for_ever_is_stopped() {
    let calls = || {
        let call = super::server::call(0, Some("again"), "{}");
        vec![sse(), Act::Send(call), Act::Send(finish("tool_calls")), Act::Finish]
    };
    let mut bench = Bench::new((0..20).map(|_| calls()).collect());
    let end = bench.ask("go");
    assert_eq!(bench.server.connections(), 8);
    assert_eq!(last(&end).role.name(), "system", "and the reader is told");
    assert_eq!(end.phase, Phase::Idle);
}

#[test]
fn every_warning_of_a_reply_is_kept() {
    let acts = vec![
        sse(),
        Act::Send(b"data: {broken\n\n".to_vec()),
        Act::Send(text("fine")),
        Act::Send(finish("stop")),
        Act::Finish,
    ];
    let mut bench = Bench::new(vec![acts, whole(&["b"])]);
    let end = bench.ask("hello");
    assert_eq!(end.warnings.iter().map(|w| w.code.name()).collect::<Vec<_>>(), ["bad_json"]);
    assert!(bench.ask("more").warnings.is_empty(), "they belong to their turn");
}

#[test]
fn a_reply_without_end_is_cut_off_and_kept() {
    let mut acts = vec![sse()];
    let piece = text(&"x".repeat(4 << 20));
    acts.extend((0..30).map(|_| Act::Send(piece.clone())));
    acts.push(Act::AwaitClose);
    let mut bench = Bench::new(vec![acts]);
    let end = bench.ask("go");
    let Some(EndState::Failed(failure)) = end.end.as_deref() else { panic!("{:?}", end.end) };
    assert_eq!(failure.class, ErrorClass::TooLarge);
    let length = prose(last(&end)).len();
    assert!((64 << 20..80 << 20).contains(&length), "{length}");
    bench.server.closed();
}
