//! Vectors C and E: the place where a message arrives, and a run as it is shown.

use std::sync::Arc;

use letterpress::{
    model::{
        Message, MessageId, Output, Part, Role, SourceLine, StopReason, Text, ToolCall, ToolResult,
        ToolState,
    },
    presenter::{
        slot::Slot,
        stage::{RunEnd, RunEvent, Stage},
    },
};
use proptest::prelude::*;
use serde_json::Value;

/// Plays `set`, `!set` (at once), `clear` and frames; gives what is shown after each.
struct Container {
    slot: Slot<String>,
    source: Option<String>,
    repaints: usize,
    shown: Vec<String>,
}

impl Container {
    fn play(ops: &str) -> Vec<String> {
        let mut container = Self::new();
        ops.split(' ').for_each(|op| container.step(op));
        container.shown
    }

    fn new() -> Self {
        Self { slot: Slot::default(), source: None, repaints: 0, shown: Vec::new() }
    }

    fn step(&mut self, op: &str) {
        match op {
            "F" => {
                let source = self.source.clone();
                self.repaints += usize::from(self.slot.frame(|| source.map(Arc::new)));
            }
            "clear" => {
                self.source = None;
                self.slot.clear();
            }
            _ => match op.strip_prefix('!') {
                Some(message) => {
                    self.source = Some(message.to_owned());
                    self.slot.show(Arc::new(message.to_owned()));
                }
                None => {
                    self.source = Some(op.to_owned());
                    self.slot.mark();
                }
            },
        }
        self.shown.push(self.slot.shown().map_or_else(|| "-".to_owned(), |m| m.to_string()));
    }

    /// Changes the message without saying so.
    fn mutate(&mut self, message: &str) {
        self.source = Some(message.to_owned());
    }
}

#[test]
fn c01() {
    assert_eq!(Container::play("A B F"), ["-", "-", "B"]);
    let mut container = Container::new();
    "A B F F".split(' ').for_each(|op| container.step(op));
    assert_eq!(container.repaints, 1);
}

#[test]
fn c02() {
    assert_eq!(Container::play("A clear F"), ["-", "-", "-"]);
}

#[test]
fn c03() {
    assert_eq!(Container::play("clear A F A2 F"), ["-", "-", "A", "A", "A2"]);
}

#[test]
fn c04() {
    assert_eq!(Container::play("A clear B F B2 F"), ["-", "-", "-", "B", "B", "B2"]);
}

#[test]
fn c05() {
    assert_eq!(Container::play("A !B F D F"), ["-", "B", "B", "B", "D"]);
}

#[test]
fn c06() {
    assert_eq!(Container::play("clear clear A F"), ["-", "-", "-", "A"]);
}

#[test]
fn c07() {
    assert_eq!(Container::play("A F clear F B F"), ["-", "A", "-", "-", "-", "B"]);
}

#[test]
fn c08() {
    let mut container = Container::new();
    container.step("A");
    container.mutate("A'");
    container.step("F");
    assert_eq!(container.shown, ["-", "A'"]);
}

#[test]
fn c09() {
    let mut container = Container::new();
    container.step("A");
    container.step("F");
    container.mutate("A'");
    container.step("F");
    assert_eq!(container.shown, ["-", "A", "A"]);
}

#[test]
fn c10() {
    let mut container = Container::new();
    container.step("!B");
    container.mutate("B'");
    container.step("F");
    assert_eq!(container.shown, ["B", "B"]);
}

fn message(id: u64, role: Role, parts: Vec<Part>) -> Message {
    Message {
        id: MessageId(id),
        key: "".into(),
        role,
        timestamp_ms: None,
        model: None,
        parts,
        stop: None,
        error: None,
        usage: None,
        line: SourceLine(0),
    }
}

fn text(text: &str) -> Part {
    Part::Text(Text::unparsed(text))
}

fn said(id: u64, role: Role, words: &str) -> Arc<Message> {
    Arc::new(message(id, role, vec![text(words)]))
}

fn call(id: &str) -> Part {
    Part::ToolCall(Arc::new(ToolCall {
        id: id.into(),
        name: "read".into(),
        arguments: Value::Null,
        state: ToolState::Receiving,
        result: None,
        superseded: 0,
        duration_ms: None,
    }))
}

fn result(id: &str, words: &str) -> Arc<ToolResult> {
    Arc::new(ToolResult {
        call_id: id.into(),
        tool_name: "read".into(),
        is_error: false,
        output: Output::plain(words),
        told: None,
        images: Vec::new(),
        details: Value::Null,
    })
}

fn stopped(id: u64, parts: Vec<Part>, stop: StopReason) -> Arc<Message> {
    Arc::new(Message { stop: Some(stop), ..message(id, Role::Assistant, parts) })
}

fn result_message(id: u64, call: &str, words: &str) -> Arc<Message> {
    Arc::new(message(id, Role::Tool, vec![Part::ToolResult(result(call, words))]))
}

fn started(call: &str) -> RunEvent {
    RunEvent::CallStarted { call_id: call.into() }
}

/// `id: words`, calls as `call=state(output)`, `…` behind the arriving one.
fn dump(stage: &Stage) -> Vec<String> {
    let part = |part: &Part| match part {
        Part::Text(text) => text.source.to_string(),
        Part::ToolCall(call) => {
            let output = call.result.as_ref().map(|result| format!("({})", result.output.source));
            format!("{}={}{}", call.id, call.state.word(), output.unwrap_or_default())
        }
        Part::ToolResult(result) => format!("orphan {}", result.call_id),
        other => format!("{other:?}"),
    };
    let arriving = stage.arriving().map(|message| message.id);
    let line = |message: &Arc<Message>| {
        let parts: Vec<_> = message.parts.iter().map(part).collect();
        let more = if arriving == Some(message.id) { " …" } else { "" };
        format!("{}: {}{more}", message.id.0, parts.join(" "))
    };
    stage.messages().map(line).collect()
}

fn play(stage: &mut Stage, events: impl IntoIterator<Item = RunEvent>) {
    for event in events {
        stage.apply(event);
        check_one_home(stage);
    }
}

#[track_caller]
fn check_one_home(stage: &Stage) {
    let mut ids: Vec<_> = stage.messages().map(|message| message.id).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "a message is shown twice: {:?}", dump(stage));
}

fn ended(end: RunEnd) -> RunEvent {
    RunEvent::Ended { messages: Vec::new(), end }
}

#[test]
fn e01() {
    let mut stage = Stage::default();
    let question = said(1, Role::User, "q");
    play(
        &mut stage,
        [
            RunEvent::Started,
            RunEvent::MessageStarted(Arc::clone(&question)),
            RunEvent::MessageEnded(question),
        ],
    );
    assert_eq!(dump(&stage), ["1: q"]);
    stage.apply(RunEvent::MessageStarted(said(2, Role::Assistant, "")));
    assert_eq!(dump(&stage), ["1: q", "2:  …"]);
    assert!(!stage.apply(RunEvent::MessageUpdated(said(2, Role::Assistant, "a"))));
    assert_eq!(dump(&stage), ["1: q", "2:  …"], "words wait for the frame");
    assert!(stage.frame() && !stage.frame());
    assert_eq!(dump(&stage), ["1: q", "2: a …"]);
    stage.apply(RunEvent::MessageUpdated(said(2, Role::Assistant, "ab")));
    assert!(stage.apply(RunEvent::MessageEnded(said(2, Role::Assistant, "abc"))));
    assert_eq!(dump(&stage), ["1: q", "2: abc"], "the end does not wait");
    assert!(!stage.frame(), "what waited for the frame is out of date");
    assert_eq!(dump(&stage), ["1: q", "2: abc"]);
}

#[test]
fn e02() {
    let mut stage = Stage::default();
    let reply = stopped(1, vec![call("A"), call("B")], StopReason::ToolUse);
    play(
        &mut stage,
        [
            RunEvent::Started,
            RunEvent::MessageEnded(reply),
            started("A"),
            started("B"),
            RunEvent::CallEnded(result("B", "b")),
        ],
    );
    assert_eq!(dump(&stage), ["1: A=running B=done(b)"]);
    play(
        &mut stage,
        [
            RunEvent::CallEnded(result("A", "a")),
            RunEvent::MessageEnded(result_message(2, "A", "a")),
            RunEvent::MessageEnded(result_message(3, "B", "b")),
            ended(RunEnd::Done),
        ],
    );
    assert_eq!(dump(&stage), ["1: A=done(a) B=done(b)"]);
    let answered: Vec<_> = stage.answered().map(|call| call.id.to_string()).collect();
    assert_eq!(answered, ["A", "B"]);
}

#[test]
fn e02_calls_wait_for_their_turn() {
    let mut stage = Stage::default();
    let reply = stopped(1, vec![call("A"), call("B")], StopReason::ToolUse);
    play(&mut stage, [RunEvent::Started, RunEvent::MessageEnded(reply), started("A")]);
    assert_eq!(dump(&stage), ["1: A=running B=waiting for approval"]);
}

#[test]
fn e03() {
    let mut stage = Stage::default();
    play(
        &mut stage,
        [
            RunEvent::Started,
            RunEvent::MessageStarted(said(1, Role::Assistant, "par")),
            RunEvent::MessageUpdated(said(1, Role::Assistant, "parti")),
            RunEvent::MessageEnded(stopped(1, vec![text("parti")], StopReason::Aborted)),
            ended(RunEnd::Aborted),
        ],
    );
    assert_eq!(dump(&stage), ["1: parti"]);
    assert_eq!(stage.messages().next().unwrap().stop, Some(StopReason::Aborted));
    assert!(!stage.is_running() && !stage.is_live() && !stage.frame());
}

#[test]
fn e03_without_a_last_word() {
    let mut stage = Stage::default();
    play(
        &mut stage,
        [
            RunEvent::Started,
            RunEvent::MessageStarted(said(1, Role::Assistant, "par")),
            RunEvent::MessageUpdated(said(1, Role::Assistant, "parti")),
            ended(RunEnd::Aborted),
        ],
    );
    assert_eq!(dump(&stage), ["1: parti"]);
    assert!(!stage.is_live());
}

#[test]
fn e04() {
    let mut stage = Stage::default();
    let reply = stopped(1, vec![call("A"), call("B")], StopReason::ToolUse);
    play(
        &mut stage,
        [
            RunEvent::Started,
            RunEvent::MessageEnded(reply),
            RunEvent::CallEnded(result("A", "a")),
            started("B"),
            ended(RunEnd::Aborted),
        ],
    );
    assert_eq!(dump(&stage), ["1: A=done(a) B=aborted"]);
    assert!(!stage.is_live());
}

#[test]
fn e05() {
    let mut stage = Stage::new([said(1, Role::User, "q")]);
    let failure = Message {
        stop: Some(StopReason::Error),
        error: Some("no connection".into()),
        ..message(2, Role::Assistant, Vec::new())
    };
    let messages = vec![said(1, Role::User, "q"), Arc::new(failure)];
    play(&mut stage, [RunEvent::Started, RunEvent::Ended { messages, end: RunEnd::Failed }]);
    assert_eq!(dump(&stage), ["1: q", "2: "]);
    assert_eq!(stage.messages().last().unwrap().error.as_deref(), Some("no connection"));
    assert!(!stage.is_live());
}

#[test]
fn e06() {
    let mut stage = Stage::default();
    let reply = stopped(1, vec![call("A")], StopReason::ToolUse);
    play(
        &mut stage,
        [
            RunEvent::Started,
            RunEvent::MessageEnded(reply),
            started("A"),
            RunEvent::CallEnded(result("A", "a")),
            RunEvent::MessageEnded(result_message(2, "A", "a")),
            RunEvent::MessageStarted(said(3, Role::User, "not so fast")),
            RunEvent::MessageEnded(said(3, Role::User, "not so fast")),
            RunEvent::MessageStarted(said(4, Role::Assistant, "ok")),
        ],
    );
    assert_eq!(dump(&stage), ["1: A=done(a)", "3: not so fast", "4: ok …"]);
}

#[test]
fn e07() {
    let mut stage = Stage::default();
    let reply = stopped(1, vec![call("A")], StopReason::ToolUse);
    play(&mut stage, [RunEvent::Started, RunEvent::MessageEnded(reply), started("A")]);
    let mut repaints = 0;
    for update in 0..100 {
        assert!(!stage.apply(RunEvent::CallOutput(result("A", &update.to_string()))));
        if update % 10 == 9 {
            repaints += usize::from(stage.frame()) + usize::from(stage.frame());
        }
    }
    assert_eq!(repaints, 10, "one for each frame");
    assert_eq!(dump(&stage), ["1: A=running(99)"]);
}

#[test]
fn e08() {
    let mut stage = Stage::default();
    play(&mut stage, [RunEvent::Started, RunEvent::MessageEnded(said(1, Role::Assistant, "a"))]);
    assert!(stage.is_running());
    stage.apply(ended(RunEnd::Done));
    assert!(!stage.is_running(), "by the event itself");
}

#[test]
fn a_result_without_a_call_is_shown() {
    let mut stage = Stage::default();
    play(&mut stage, [RunEvent::Started, RunEvent::MessageEnded(result_message(1, "?", "x"))]);
    assert_eq!(dump(&stage), ["1: orphan ?"]);
}

#[test]
fn calls_of_a_reply_that_failed_were_not_run() {
    for (stop, word) in [
        (StopReason::Error, "not executed"),
        (StopReason::Length, "not executed (truncated)"),
        (StopReason::ToolUse, "no result"),
    ] {
        let mut stage = Stage::default();
        let reply = stopped(1, vec![call("A")], stop);
        play(&mut stage, [RunEvent::Started, RunEvent::MessageEnded(reply), ended(RunEnd::Failed)]);
        assert_eq!(dump(&stage), [format!("1: A={word}")]);
    }
}

fn event() -> impl Strategy<Value = RunEvent> {
    let id = 0_u64..6;
    let call_id = prop::sample::select(vec!["A", "B", "C"]);
    let reply = (id, prop::collection::vec(call_id.clone(), 0..3)).prop_map(|(id, calls)| {
        let parts = calls.into_iter().map(call).chain([text("x")]).collect();
        Arc::new(message(id, Role::Assistant, parts))
    });
    let answer = (10_u64..16, call_id.clone()).prop_map(|(id, c)| result_message(id, c, "r"));
    let end = prop::sample::select(vec![RunEnd::Done, RunEnd::Aborted, RunEnd::Failed]);
    prop_oneof![
        Just(RunEvent::Started),
        reply.clone().prop_map(RunEvent::MessageStarted),
        reply.clone().prop_map(RunEvent::MessageUpdated),
        reply.clone().prop_map(RunEvent::MessageEnded),
        answer.prop_map(RunEvent::MessageEnded),
        call_id.clone().prop_map(started),
        call_id.clone().prop_map(|id| RunEvent::CallOutput(result(id, "o"))),
        call_id.prop_map(|id| RunEvent::CallEnded(result(id, "r"))),
        (prop::collection::vec(reply, 0..3), end)
            .prop_map(|(messages, end)| RunEvent::Ended { messages, end }),
    ]
}

proptest! {
    #[test]
    fn every_message_has_one_home(events in prop::collection::vec(event(), 0..40)) {
        let mut stage = Stage::default();
        let mut told = std::collections::BTreeSet::new();
        for (i, event) in events.into_iter().enumerate() {
            if let RunEvent::MessageStarted(message) | RunEvent::MessageEnded(message) = &event
                && message.role == Role::Assistant
            {
                told.insert(message.id);
            }
            stage.apply(event);
            check_one_home(&stage);
            for id in &told {
                prop_assert!(stage.messages().any(|message| message.id == *id), "{id} is lost");
            }
            if i % 3 == 0 {
                stage.frame();
                check_one_home(&stage);
            }
        }
        stage.apply(ended(RunEnd::Aborted));
        prop_assert!(!stage.is_live() && !stage.frame());
    }
}
