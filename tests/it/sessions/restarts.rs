//! Ends of the program, and what comes back.

use letterpress::model::{
    Command, Keeping, Part, Role, ToolState,
    record::Kind,
    stream::{Close, ReplyBlock, StreamEvent},
};
use serde_json::json;

use super::{
    bench::{Desk, Step, calls, hangs, is_settled, open, says, text},
    told::{Log, words},
};

#[test]
fn it_goes_on_where_it_was_left() {
    let replies = vec![calls("a", &json!({"gives": "42"})), says("One."), says("Two.")];
    let mut desk = Desk::new(replies);
    desk.command(Command::SetModel { provider: "other".into(), model: "n".into() });
    desk.ask("first");
    let before = desk.rests();
    let reopened = desk.restart();
    assert!(!reopened.is_interrupted);
    let opened = desk.until(|s| s.settings.model == "n".into());
    assert_eq!((&*opened.settings.provider, opened.entries.len()), ("other", 0));
    let base = opened.base.clone().expect("what was said is in the log");
    assert_eq!((base.path.clone(), &base.leaf), (desk.path(), &None));
    assert_eq!(base.len, std::fs::metadata(desk.path()).unwrap().len());
    let end = desk.ask("second");
    assert_eq!(end.entries.len(), 2, "what is in the log stays there");
    assert_eq!(end.base, Some(base));
    let last = before.messages().map(|message| message.id).max().unwrap();
    assert!(end.messages().all(|message| message.id > last), "names are never used again");
    // The model reads all of it.
    let request = desk.world.requests.lock().last().unwrap().clone();
    let said: Vec<_> = request.turns.iter().map(|turn| words(&turn.message)).collect();
    assert_eq!(said, ["user: first", "assistant: Let me see.", "assistant: One.", "user: second"]);
    let Part::ToolCall(call) = &request.turns[1].message.parts[1] else { panic!("{request:?}") };
    assert_eq!(&*call.result.as_ref().unwrap().output.source, "42");
    let log = Log::read(&desk.path());
    assert_eq!(log.words().len(), 5);
    assert_eq!(desk.rests().keeping, Keeping::Kept);
}

#[test]
fn a_reply_that_was_arriving_is_there_and_nothing_is_sent_by_itself() {
    let mut desk = Desk::new(vec![hangs("half an ans"), says("whole")]);
    desk.say("go");
    desk.until(|s| s.arriving.is_some());
    std::thread::sleep(std::time::Duration::from_millis(1100));
    let reopened = desk.restart();
    assert!(reopened.is_interrupted);
    let log = Log::read(&desk.path());
    assert_eq!(log.words(), ["user: go", "assistant: half an ans"]);
    assert_eq!(desk.until(|s| s.base.is_some()).entries.len(), 0);
    std::thread::sleep(std::time::Duration::from_millis(100));
    assert_eq!(desk.world.requests.lock().len(), 1, "nothing is sent by itself");
    // Answering anew leaves what was there beside.
    desk.command(Command::Retry);
    let end = desk.until(|s| !s.phase.is_busy() && s.entries.len() == 1);
    assert_eq!(words(end.messages().next().unwrap()), "assistant: whole");
    let request = desk.world.requests.lock().last().unwrap().clone();
    assert_eq!(request.turns.len(), 1, "{request:?}");
    let log = Log::read(&desk.path());
    assert_eq!(log.words(), ["user: go", "assistant: whole"]);
    assert_eq!(end.forks.len(), 1);
    assert_eq!((end.forks[0].at, end.forks[0].siblings.len()), (1, 2));
    assert_eq!(end.base.as_ref().unwrap().leaf.as_deref(), Some("m1"));
}

#[test]
fn a_call_that_was_running_is_not_run_again_and_the_model_is_told() {
    let mut desk = Desk::new(vec![calls("a", &json!({"hangs": true})), says("I see.")]);
    desk.say("go");
    let ran = std::sync::Arc::clone(&desk.world);
    desk.until(|s| s.running_since.is_some());
    while ran.ran.lock().is_empty() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    desk.restart();
    let log = Log::read(&desk.path());
    let Part::ToolCall(call) = &log.path()[1].message.parts[1] else { panic!("{log:?}") };
    assert_eq!((call.state, call.result.is_some()), (ToolState::NoResult, false));
    desk.ask("and?");
    assert_eq!(*desk.world.ran.lock(), ["call-a"], "once and never again");
    let request = desk.world.requests.lock().last().unwrap().clone();
    let said: Vec<_> = request.turns.iter().map(|turn| words(&turn.message)).collect();
    assert_eq!(said, ["user: go", "assistant: Let me see.", "user: and?"]);
}

#[test]
fn a_result_that_came_before_the_end_is_kept_with_its_call() {
    let mut first = calls("a", &json!({"gives": "42"}));
    let block = ReplyBlock(2);
    let arguments = json!({"hangs": true});
    let close = Close::Arguments(Ok(arguments.clone()));
    let second = [
        StreamEvent::ToolOpen { block, id: "call-b".into(), name: "change".into() },
        StreamEvent::ToolArgs { block, delta: arguments.to_string() },
        StreamEvent::BlockClose { block, close },
    ];
    let last = first.len() - 1;
    first.splice(last..last, second.map(Step::Event));
    let mut desk = Desk::new(vec![first]);
    desk.say("go");
    let is_done = |s: &letterpress::model::Snapshot| {
        s.messages()
            .flat_map(|m| &m.parts)
            .any(|part| matches!(part, Part::ToolCall(call) if call.state == ToolState::Ok))
    };
    desk.until(is_done);
    std::thread::sleep(std::time::Duration::from_millis(100));
    desk.restart();
    let log = Log::read(&desk.path());
    let Part::ToolCall(call) = &log.path()[1].message.parts[1] else { panic!("{log:?}") };
    assert_eq!(&*call.result.as_ref().unwrap().output.source, "42");
    assert_eq!(call.state, ToolState::Ok);
    let Part::ToolCall(call) = &log.path()[1].message.parts[2] else { panic!("{log:?}") };
    assert_eq!((&*call.id, call.state), ("call-b", ToolState::NoResult));
}

#[test]
fn it_can_end_at_any_moment_any_number_of_times() {
    let mut desk = Desk::new(Vec::new());
    let mut prompts = Vec::new();
    for round in 0..12 {
        let steps = match round % 4 {
            0 => vec![Step::Hang],
            1 => vec![open(), text("some"), Step::Hang],
            2 => calls("a", &json!({"hangs": true})),
            _ => says("whole"),
        };
        desk.world.replies.lock().push_back(steps);
        let words = format!("prompt {round}");
        let ticket = desk.say(&words);
        desk.until(|s| s.fate(ticket).is_some());
        prompts.push(format!("user: {words}"));
        std::thread::sleep(std::time::Duration::from_millis(7 * (round % 5)));
        desk.restart();
        desk.world.replies.lock().clear();
        let log = Log::read(&desk.path());
        let said: Vec<_> = log.words().into_iter().filter(|w| w.starts_with("user")).collect();
        assert_eq!(said, prompts, "every prompt is there, and none twice");
    }
    let ran = desk.world.ran.lock().len();
    assert!(ran <= 3, "{ran}");
    desk.ask("the last");
    let log = Log::read(&desk.path());
    assert_eq!(log.words().last().unwrap(), "assistant: Done.");
    assert_eq!(log.path().iter().filter(|told| told.role == Role::User).count(), 13);
}

#[test]
fn one_that_is_let_go_in_the_middle_ends_in_its_log() {
    let mut desk = Desk::new(vec![hangs("half")]);
    desk.say("go");
    desk.until(|s| s.arriving.is_some());
    desk.session = None;
    let reopened = desk.reopen();
    assert!(!reopened.is_interrupted, "it had the time to end");
    let log = Log::read(&desk.path());
    assert_eq!(log.kinds.last(), Some(&Kind::AssistantFinal));
    assert_eq!(log.words(), ["user: go", "assistant: half"]);
}

#[test]
fn what_was_paid_for_is_known_again() {
    let mut desk = Desk::new(Vec::new());
    let usage = letterpress::model::Usage { input: 7, output: 3, ..Default::default() };
    let paid = |words: &str| {
        let mut steps = says(words);
        let paid = StreamEvent::Usage(usage);
        steps.insert(2, Step::Event(paid));
        steps
    };
    *desk.world.replies.lock() = vec![paid("one"), paid("two")].into();
    desk.ask("go");
    desk.command(Command::Retry);
    let before = desk.until(|s| s.usage.input == 14 && !s.phase.is_busy());
    desk.restart();
    let after = desk.until(|s| s.usage.input > 0);
    assert_eq!(after.usage, before.usage, "also what was put aside");
    let ticket = desk.say("more");
    desk.until(|s| is_settled(s, ticket));
}
