//! Messages, phases and snapshots of one turn after the other.

use std::{collections::BTreeSet, sync::Arc, time::Duration};

use letterpress::{
    engine::live::{Limits, Provider},
    model::{
        Blocks, Command, Draft, Fate, MemorySource, Message, Part, Phase, Refusal, Role, RowKind,
        Snapshot, Source as _, StopReason, Ticket, ToolState,
        stream::{EndState, Wire},
    },
    wire::demo::Pace,
};
use tokio::sync::Notify;

use super::{
    bench::{Bench, is_settled, last, limits, prose, thoughts},
    server::{Act, Chance, call, finish, reasoning, sse, text, whole},
};

/// Every message stands in one place, ids only grow, and no row disagrees with its message.
fn check(snapshots: &[Arc<Snapshot>]) {
    for snapshot in snapshots {
        let ids: Vec<_> = snapshot.messages().map(|message| message.id).collect();
        let unique: BTreeSet<_> = ids.iter().collect();
        assert_eq!(unique.len(), ids.len(), "{ids:?}");
        assert!(ids.is_sorted(), "{ids:?}");
        for (index, id) in ids.iter().enumerate() {
            assert_eq!(snapshot.index_of(*id), Some(index));
        }
        let messages = snapshot.messages().map(|message| Message::clone(message));
        let memory = MemorySource::new(messages);
        for index in 0..snapshot.len() {
            assert_eq!(snapshot.entry(index).unwrap().row, memory.row(index), "row {index}");
        }
    }
    let versions: Vec<_> = snapshots.iter().map(|snapshot| snapshot.version).collect();
    assert!(versions.is_sorted());
}

#[test]
fn e01_a_text_is_at_every_instant_in_exactly_one_place() {
    let words: Vec<_> = (0..60).map(|n| format!("word {n}\n\n")).collect();
    let mut acts = vec![Act::Sleep(100), sse()];
    for word in &words {
        acts.extend([Act::Send(text(word)), Act::Sleep(3)]);
    }
    acts.extend([Act::Send(finish("stop")), Act::Finish]);
    let mut bench = Bench::new(vec![acts]);
    let seen = bench.watch("hello");
    check(&seen);
    let end = seen.last().unwrap();
    let reply = last(end).id;
    let mut length = 0;
    for snapshot in &seen {
        let Some(index) = snapshot.index_of(reply) else { continue };
        let message = &snapshot.entry(index).unwrap().message;
        let now = prose(message);
        assert!(now.len() >= length && words.concat().starts_with(&now), "it only grows");
        length = now.len();
        let is_open = message.parts.iter().any(
            |part| matches!(part, Part::Text(text) if matches!(text.blocks, Blocks::Open { .. })),
        );
        assert_eq!(is_open, snapshot.arriving.is_some(), "open while it arrives");
    }
    assert!(seen.iter().filter(|snapshot| snapshot.arriving.is_some()).count() > 5);
    assert_eq!(prose(last(end)), words.concat().trim_end());
    assert_eq!(last(end).stop, Some(StopReason::Stop));
    assert_eq!((end.usage.input, end.usage.output), (10, 5));
    let phases: Vec<_> = seen.iter().map(|snapshot| snapshot.phase).collect();
    assert!(phases.iter().any(|phase| matches!(phase, Phase::Waiting { .. })), "{phases:?}");
    assert!(phases.contains(&Phase::Streaming));
    assert_eq!(phases.last(), Some(&Phase::Idle));
}

#[test]
fn e02_calls_of_tools_that_do_not_exist_are_answered_in_order_and_the_model_is_told() {
    let calls = vec![
        sse(),
        Act::Send(text("Let me look.")),
        Act::Send(call(0, Some("read"), "{\"path\":")),
        Act::Send(call(1, Some("grep"), "{\"n\": 3}")),
        Act::Send(call(0, None, "\"a.rs\"}")),
        Act::Send(finish("tool_calls")),
        Act::Finish,
    ];
    let mut bench = Bench::new(vec![calls, whole(&["I cannot."])]);
    let seen = bench.watch("look");
    check(&seen);
    let end = seen.last().unwrap();
    let messages: Vec<_> = end.messages().collect();
    assert_eq!(messages.len(), 3);
    let calls: Vec<_> = messages[1]
        .parts
        .iter()
        .filter_map(|part| match part {
            Part::ToolCall(call) => Some(call),
            _ => None,
        })
        .collect();
    let names: Vec<_> = calls.iter().map(|call| &*call.name).collect();
    assert_eq!(names, ["read", "grep"]);
    assert_eq!(calls[0].arguments, serde_json::json!({"path": "a.rs"}));
    assert_eq!(calls[1].arguments, serde_json::json!({"n": 3}), "numbers stay numbers");
    for call in calls {
        assert_eq!(call.state, ToolState::NotRun);
        let result = call.result.as_ref().expect("every call ends with a result");
        assert!(result.is_error && result.output.source.contains("no tool of this name"));
    }
    assert_eq!(prose(messages[2]), "I cannot.");
    bench.server.request();
    let second = bench.server.request();
    let roles: Vec<_> =
        second["messages"].as_array().unwrap().iter().map(|m| m["role"].clone()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "tool"]);
    assert_eq!(second["messages"][3]["tool_call_id"], second["messages"][1]["tool_calls"][1]["id"]);
}

#[test]
fn e06_what_is_sent_in_the_middle_waits_its_turn() {
    let gate = Arc::new(Notify::new());
    let slow = vec![
        sse(),
        Act::Send(text("one")),
        Act::Await(Arc::clone(&gate)),
        Act::Send(finish("stop")),
        Act::Finish,
    ];
    let mut bench = Bench::new(vec![slow, whole(&["two"])]);
    bench.say("first");
    bench.until(|s| s.arriving.is_some());
    let second = bench.say("second");
    let waits = bench.until(|s| s.fate(second).is_some());
    assert_eq!(waits.fate(second), Some(&Fate::Queued));
    assert_eq!(waits.queued.iter().map(|waits| &*waits.draft.text).collect::<Vec<_>>(), ["second"]);
    gate.notify_one();
    let end = bench.until(|s| is_settled(s, second));
    let said: Vec<_> = end.messages().map(|m| (m.role.clone(), prose(m))).collect();
    let said: Vec<_> = said.iter().map(|(role, words)| (role.name(), words.as_str())).collect();
    let expected =
        [("user", "first"), ("assistant", "one"), ("user", "second"), ("assistant", "two")];
    assert_eq!(said, expected);
    assert!(end.queued.is_empty());
}

#[test]
fn e08_the_snapshot_that_holds_the_whole_reply_says_that_nothing_goes_on() {
    let mut bench = Bench::new(vec![whole(&["a", "b"])]);
    let seen = bench.watch("hello");
    let is_whole = |s: &&Arc<Snapshot>| s.entries.len() == 2;
    let first = seen.iter().find(is_whole).unwrap();
    assert_eq!(first.phase, Phase::Idle);
    assert!(first.arriving.is_none());
    assert!(matches!(first.end.as_deref(), Some(EndState::Complete { .. })));
}

/// A long frame makes visible what waits for it and what does not.
fn slow_frames() -> Limits {
    Limits { frame: Duration::from_secs(3600), ..limits() }
}

#[test]
fn c01_c03_c04_c06_c07_the_first_words_of_every_reply_are_seen_at_once() {
    let gate = Arc::new(Notify::new());
    let reply = |words: &str| {
        let end = [Act::Await(Arc::clone(&gate)), Act::Send(finish("stop")), Act::Finish];
        [vec![sse(), Act::Send(text(words))], end.to_vec()].concat()
    };
    let replies = vec![reply("one"), reply("two"), reply("three")];
    let mut bench = Bench::with(Wire::Chat, slow_frames(), replies);
    for words in ["one", "two", "three"] {
        let ticket = bench.say("go");
        bench.until(|s| s.arriving.as_ref().is_some_and(|entry| prose(&entry.message) == words));
        gate.notify_one();
        let end = bench.until(|s| is_settled(s, ticket));
        assert!(end.arriving.is_none(), "C02: nothing is left in the place for arriving messages");
        assert_eq!(prose(last(&end)), words);
    }
}

#[test]
fn c01_c05_more_waits_for_the_frame_and_the_end_does_not() {
    let gate = Arc::new(Notify::new());
    let acts = vec![
        sse(),
        Act::Send(text("a")),
        Act::Sleep(100),
        Act::Send(text("b")),
        Act::Send(text("c")),
        Act::Await(Arc::clone(&gate)),
        Act::Send(finish("stop")),
        Act::Finish,
    ];
    let mut bench = Bench::with(Wire::Chat, slow_frames(), vec![acts]);
    let ticket = bench.say("go");
    let first = bench.until(|s| s.arriving.is_some());
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(bench.session.snapshot().version, first.version, "the next frame has not come");
    gate.notify_one();
    assert_eq!(prose(last(&bench.until(|s| is_settled(s, ticket)))), "abc");
}

#[test]
fn c08_c09_c10_a_snapshot_never_changes() {
    let gate = Arc::new(Notify::new());
    let acts = vec![
        sse(),
        Act::Send(text("Hello")),
        Act::Await(Arc::clone(&gate)),
        Act::Send(text(" world")),
        Act::Send(finish("stop")),
        Act::Finish,
    ];
    let mut bench = Bench::new(vec![acts]);
    let ticket = bench.say("go");
    let early = bench.until(|s| s.arriving.is_some());
    let copy = Message::clone(last(&early));
    gate.notify_one();
    let late = bench.until(|s| is_settled(s, ticket));
    assert_eq!(**last(&early), copy);
    assert_eq!((prose(last(&early)), prose(last(&late))), ("Hello".into(), "Hello world".into()));
    assert_eq!(last(&early).id, last(&late).id);
}

#[test]
fn bytes_in_any_pieces_make_the_same_message() {
    let mut body = Vec::new();
    for words in
        ["# Title\n\n", "你好 ", "🌍 ", "é\n\n", "- a\n- b\n\n", "```rs\nfn x() {}\n```\n\n"]
    {
        body.extend(reasoning("hm "));
        body.extend(text(words));
    }
    body.extend(call(0, Some("ls"), "{\"path\": \"/\", \"deep\": {\"a\": [1, 2]}}"));
    body.extend(finish("length"));
    let mut messages = Vec::new();
    for seed in 0..6 {
        let mut chance = Chance(seed);
        let pieces = match seed {
            0 => vec![body.clone()],
            1 => body.chunks(1).map(<[u8]>::to_vec).collect(),
            _ => chance.cut(&body),
        };
        let mut acts = vec![sse()];
        for piece in pieces {
            acts.push(Act::Send(piece));
            if chance.below(60) == 0 {
                acts.push(Act::Sleep(5));
            }
        }
        acts.push(Act::Finish);
        let mut bench = Bench::new(vec![acts]);
        let seen = bench.watch("go");
        check(&seen);
        let mut message = Message::clone(last(seen.last().unwrap()));
        for part in &mut message.parts {
            if let Part::Thinking(thinking) = part {
                thinking.duration_ms = None;
            }
        }
        messages.push(message);
    }
    assert!(messages.iter().all(|message| *message == messages[0]), "{messages:#?}");
    assert_eq!(messages[0].stop, Some(StopReason::Length));
    assert_eq!(thoughts(&messages[0]), "hm".repeat(6));
}

#[test]
fn thinking_in_tags_is_reasoning() {
    let acts = ["<thi", "nk>let me", " see</thi", "nk>\n\nThe answer", " is 4."];
    let mut bench = Bench::new(vec![whole(&acts)]);
    let end = bench.ask("2 + 2");
    let reply = last(&end);
    assert_eq!(
        (thoughts(reply).as_str(), prose(reply).as_str()),
        ("let me see", "The answer is 4.")
    );
    assert!(matches!(&reply.parts[0], Part::Thinking(t) if t.duration_ms.is_some()));
}

#[test]
fn what_cannot_be_sent_comes_back() {
    let mut bench = Bench::new(vec![whole(&["hi"])]);
    let blank = bench.say("  \n");
    let snapshot = bench.until(|s| s.fate(blank).is_some());
    let Some(Fate::Refused(Refusal::Blank, draft)) = snapshot.fate(blank) else { panic!() };
    assert_eq!(&*draft.text, "  \n");
    bench.command(Command::SetModel { provider: "nobody".into(), model: "m".into() });
    let lost = bench.say("hello");
    let snapshot = bench.until(|s| s.fate(lost).is_some());
    assert!(matches!(snapshot.fate(lost), Some(Fate::Refused(Refusal::UnknownProvider, _))));
    assert!(snapshot.is_empty() && snapshot.phase == Phase::Idle);
    bench.command(Command::SetModel { provider: "test".into(), model: "n".into() });
    let end = bench.ask("hello");
    assert_eq!(prose(last(&end)), "hi");
    assert_eq!(bench.server.request()["model"], "n");
}

#[test]
fn a_queue_that_is_full_refuses() {
    let mut bench = Bench::new(vec![vec![sse(), Act::Send(text("a")), Act::AwaitClose]]);
    bench.say("first");
    bench.until(|s| s.arriving.is_some());
    let mut tickets = Vec::new();
    for n in 0..20 {
        let ticket = bench.say(&format!("more {n}"));
        bench.until(|s| s.fate(ticket).is_some());
        tickets.push(ticket);
    }
    let snapshot = bench.session.snapshot();
    let refused = |ticket: &&Ticket| {
        matches!(snapshot.fate(**ticket), Some(Fate::Refused(Refusal::QueueFull, _)))
    };
    assert_eq!(tickets.iter().filter(refused).count(), 4);
    assert_eq!(snapshot.queued.len(), 16);
}

#[test]
fn answering_anew_and_editing_put_aside_what_was_there() {
    let answers = ["one", "two", "three"].map(|words| whole(&[words])).to_vec();
    let mut bench = Bench::new(answers);
    let first = bench.ask("hello");
    let old = last(&first).id;
    bench.command(Command::Retry);
    let second = bench.until(|s| s.aside.len() == 1 && !s.phase.is_busy() && s.len() == 2);
    assert_eq!(prose(last(&second)), "two");
    assert!(second.index_of(old).is_none());
    assert_eq!(second.aside.last().unwrap().entries.last().unwrap().message.id, old);
    assert_eq!(second.usage.output, 10, "what was put aside was paid for");
    let ticket = bench.ticket();
    bench.command(Command::EditLast(Draft::text(ticket, "hello again")));
    let third = bench.until(|s| is_settled(s, ticket));
    let said: Vec<_> = third.messages().map(|message| prose(message)).collect();
    assert_eq!(said, ["hello again", "three"]);
    assert_eq!(third.aside.len(), 2);
    for _ in 0..2 {
        bench.server.request();
    }
    let messages = bench.server.request();
    assert_eq!(messages["messages"].as_array().unwrap().len(), 1);
    assert_eq!(messages["messages"][0]["content"], "hello again");
}

#[test]
fn the_source_says_what_the_snapshot_holds() {
    let mut bench = Bench::new(vec![whole(&["one"]), whole(&["two"])]);
    let mut source = bench.session.source();
    let before = source.poll();
    bench.ask("first");
    bench.ask("second");
    assert_eq!(source.len(), 0, "it changes only when it is polled");
    assert!(source.poll() > before);
    assert_eq!(source.len(), 4);
    assert_eq!(source.row(2).kind, RowKind::User);
    assert_eq!((source.prompt_before(3), source.prompt_before(1)), (Some(2), Some(0)));
    assert_eq!(source.prompt_after(1), Some(2));
    for index in 0..4 {
        let message = source.message(index).unwrap();
        assert_eq!(source.index_of(message.id), Some(index));
        assert_eq!(message.role == Role::User, index % 2 == 0);
    }
    assert!(source.message(4).is_none());
}

#[test]
fn the_demo_answers_from_end_to_end() {
    let mut bench = Bench::new(Vec::new());
    bench.engine.set_provider("demo", Provider::Demo(Pace::AtOnce));
    bench.command(Command::SetModel { provider: "demo".into(), model: "demo".into() });
    let seen = bench.watch("hello");
    check(&seen);
    let end = seen.last().unwrap();
    assert!(end.settings.is_demo, "it is labelled");
    let call = end.messages().flat_map(|m| &m.parts).find_map(|part| match part {
        Part::ToolCall(call) => Some(call),
        _ => None,
    });
    assert_eq!(call.map(|call| call.state), Some(ToolState::Ok), "the recording holds the result");
    assert!(prose(last(end)).contains("| Part of the page |"));
    let long = bench.ask("more");
    assert!(prose(last(&long)).len() > 5_000);
    let short = bench.ask("and more");
    assert!(!thoughts(last(&short)).is_empty());
    assert_eq!(bench.server.connections(), 0, "nothing leaves the machine");
}
