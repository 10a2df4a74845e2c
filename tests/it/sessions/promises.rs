//! What is on the disk at which moment.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use letterpress::model::{Command, Delivery, Fate, Keeping, Phase, Role, record::Kind};
use serde_json::json;
use tokio::sync::Notify;

use super::{
    bench::{Desk, Step, calls, is_settled, open, says, text},
    told::{Log, assert_same},
};

#[test]
fn what_is_shown_is_what_the_log_says() {
    let replies =
        vec![says("# One\n\nwith *words*"), calls("a", &json!({"gives": "two"})), says("Three")];
    let mut desk = Desk::new(replies);
    desk.ask("first");
    desk.ask("second");
    let end = desk.rests();
    assert_eq!(end.len(), 5);
    let log = Log::read(&desk.path());
    assert_same(&end, &log);
    assert_eq!(
        log.kinds,
        [
            Kind::Meta,
            Kind::User,
            Kind::AssistantStart,
            Kind::AssistantFinal,
            Kind::User,
            Kind::AssistantStart,
            Kind::Partial,
            Kind::ToolCall,
            Kind::Approval,
            Kind::ToolResult,
            Kind::AssistantFinal,
            Kind::AssistantStart,
            Kind::AssistantFinal
        ]
    );
    let approval = &log.bodies[8];
    assert_eq!((&approval["decision"], &approval["by"]), (&json!("once"), &json!("rule")));
    assert_eq!(log.bodies[9]["result"]["output"], "two");
    assert_eq!(log.bodies[9]["state"], "ok");
}

#[test]
fn a_prompt_is_on_the_disk_before_the_request_leaves_and_a_decision_before_the_call_runs() {
    let mut desk = Desk::new(vec![calls("a", &json!({})), says("Done.")]);
    desk.ask("please change it");
    let requests = desk.world.synced_at_request.lock().clone();
    assert!(requests[0].contains("please change it"), "{requests:?}");
    assert!(!requests[0].contains("assistant_final"));
    for kind in ["\"k\":\"tool_result\"", "\"k\":\"assistant_final\""] {
        assert!(requests[1].contains(kind), "{kind} before the next request");
    }
    let runs = desk.world.synced_at_run.lock().clone();
    assert_eq!(runs.len(), 1);
    for kind in ["\"k\":\"tool_call\"", "\"k\":\"approval\""] {
        assert!(runs[0].contains(kind), "{kind}");
    }
    assert!(!runs[0].contains("tool_result"));
}

#[test]
fn a_reply_is_complete_only_when_it_is_on_the_disk() {
    let mut desk = Desk::new(vec![says("whole")]);
    desk.world.faults.millis_a_sync.store(150, Ordering::SeqCst);
    let ticket = desk.say("go");
    let faults = Arc::clone(&desk.world.faults);
    let was_whole = std::cell::Cell::new(false);
    let end = desk.until(|snapshot| {
        let synced = String::from_utf8_lossy(&faults.synced.lock()).into_owned();
        was_whole.set(was_whole.get() | keeps_its_word(snapshot, &synced));
        is_settled(snapshot, ticket)
    });
    assert!(was_whole.get(), "it was seen while it was being saved");
    assert_eq!(end.len(), 2);
    assert_same(&desk.rests(), &Log::read(&desk.path()));
}

/// What is shown as complete or told as accepted is on the disk. True while a whole reply
/// waits for that.
fn keeps_its_word(snapshot: &letterpress::model::Snapshot, synced: &str) -> bool {
    for entry in snapshot.entries.iter().filter(|entry| entry.message.role == Role::Assistant) {
        let end = "\"k\":\"assistant_final\"";
        assert!(synced.contains(end), "{:?} is not kept", entry.message.key);
    }
    for receipt in snapshot.receipts.iter() {
        if let Fate::Accepted(_) = receipt.fate {
            assert!(synced.contains("\"k\":\"user\""));
        }
    }
    let has_whole = snapshot.arriving.as_ref().is_some_and(|entry| entry.message.stop.is_some());
    if has_whole {
        assert!(matches!(snapshot.keeping, Keeping::Saving { .. }), "{:?}", snapshot.keeping);
        assert!(snapshot.phase.is_busy());
    }
    has_whole
}

#[test]
fn what_arrives_is_written_down_every_second_and_every_32_kilobytes() {
    let gate = Arc::new(Notify::new());
    let mut steps = vec![open(), text("A few words"), Step::Sleep(1000), text(" and more.")];
    steps.extend([Step::Sleep(1000), text(&"x".repeat(40_000)), Step::Wait(Arc::clone(&gate))]);
    let mut desk = Desk::new(vec![steps]);
    let ticket = desk.say("go");
    let long = |s: &letterpress::model::Snapshot| {
        s.arriving.as_ref().is_some_and(|e| crate::live::bench::prose(&e.message).len() > 40_000)
    };
    desk.until(long);
    // The writer takes it within its ten milliseconds.
    std::thread::sleep(Duration::from_millis(200));
    let log = Log::read(&desk.path());
    let partials = log.kinds.iter().filter(|kind| **kind == Kind::Partial).count();
    assert!((3..=4).contains(&partials), "{:?}", log.kinds);
    let expected = format!("A few words and more.{}", "x".repeat(40_000));
    assert_eq!(crate::live::bench::prose(&log.path()[1].message), expected);
    desk.command(Command::Stop);
    desk.until(|s| is_settled(s, ticket));
    assert_same(&desk.rests(), &Log::read(&desk.path()));
}

#[test]
fn a_draft_is_known_by_its_name() {
    let mut desk = Desk::new(vec![]);
    let mut draft = desk.draft("hello");
    draft.key = "draft-7".into();
    let ticket = draft.ticket;
    desk.command(Command::Send(draft));
    desk.until(|s| is_settled(s, ticket));
    assert_eq!(Log::read(&desk.path()).bodies[1]["draft"], "draft-7");
}

#[test]
fn what_answers_is_written_when_it_changes() {
    let mut desk = Desk::new(vec![]);
    desk.command(Command::SetModel { provider: "other".into(), model: "n".into() });
    desk.command(Command::SetSystem(Some("Be brief.".into())));
    desk.command(Command::SetSystem(Some("Be brief.".into())));
    desk.ask("hello");
    let log = Log::read(&desk.path());
    let metas = log.kinds.iter().filter(|kind| **kind == Kind::Meta).count();
    assert_eq!(metas, 3, "one of them changes nothing");
    assert_eq!(log.bodies[1]["settings"]["model"], "n");
    assert_eq!(log.bodies[2]["settings"]["system"], "Be brief.");
}

#[test]
fn what_steers_stands_between_two_replies_in_the_log_too() {
    let gate = Arc::new(Notify::new());
    let mut first = calls("a", &json!({}));
    first.insert(2, Step::Wait(Arc::clone(&gate)));
    let mut desk = Desk::new(vec![first, says("Done."), says("And more.")]);
    desk.say("go");
    desk.until(|s| s.arriving.is_some());
    let next = desk.say("then");
    let steer = desk.draft("mind the tabs");
    desk.command(Command::Steer(steer));
    desk.until(|s| s.queued.last().is_some_and(|queued| queued.delivery == Delivery::Steer));
    gate.notify_one();
    desk.until(|s| is_settled(s, next));
    let end = desk.rests();
    assert_eq!(end.phase, Phase::Idle);
    let log = Log::read(&desk.path());
    assert_same(&end, &log);
    let expected = [
        "user: go",
        "assistant: Let me see.",
        "user: mind the tabs",
        "assistant: Done.",
        "user: then",
        "assistant: And more.",
    ];
    assert_eq!(log.words(), expected);
}

#[test]
fn eight_conversations_at_once_are_all_kept() {
    let desks: Vec<_> = (0..8)
        .map(|n| {
            let words = |m: usize| (0..200).map(move |i| text(&format!("{n}-{m}-{i} ")));
            let reply = |m| [vec![open()], words(m).collect(), says("")[2..].to_vec()].concat();
            Desk::new((0..4).map(reply).collect())
        })
        .collect();
    let mut desks: Vec<_> = desks
        .into_iter()
        .map(|mut desk| {
            let tickets: Vec<_> = (0..4).map(|m| desk.say(&format!("prompt {m}"))).collect();
            (desk, tickets)
        })
        .collect();
    for (desk, tickets) in &mut desks {
        for ticket in tickets {
            desk.until(|s| is_settled(s, *ticket));
        }
        let end = desk.rests();
        assert_same(&end, &Log::read(&desk.path()));
        assert_eq!(end.messages().filter(|m| m.role == Role::User).count(), 4);
    }
}
