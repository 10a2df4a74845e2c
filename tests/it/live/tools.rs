//! Tools in a conversation: weighed first, run once, ended with a result always.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use letterpress::{
    engine::live::{
        Provider,
        workbench::{Later, Permit, Question, Said, Terms, Tool, Weighed, Workbench},
    },
    model::{
        Approval, ApprovalId, Command, Decision, Draft, Fate, Output, Part, Phase, Settings,
        Snapshot, ToolCall, ToolResult, ToolState, ToolUse, stream::Wire,
    },
    presenter::{Call, Touch},
    tools::Stop,
    wire::{Endpoint, ToolSpec},
};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::mpsc::Sender;

use super::{
    bench::{Bench, engine, is_settled, last, limits, prose, settings},
    server::{Act, Server, call, finish, sse, text, whole},
};

/// A bench that does what the arguments of a call say, and writes down what it did.
#[derive(Clone, Debug, Default)]
struct Scripted {
    log: Arc<Mutex<Vec<String>>>,
    checkpoint: Option<Result<Arc<str>, Arc<str>>>,
}

struct Scheduled {
    bench: Scripted,
    call: Arc<Call>,
}

impl Scripted {
    fn note(&self, what: &str) {
        self.log.lock().push(what.to_owned());
    }

    fn log(&self) -> Vec<String> {
        self.log.lock().clone()
    }
}

impl Workbench for Scripted {
    fn tools(&self) -> Vec<Tool> {
        let tool = |name: &str, touch| Tool {
            spec: ToolSpec {
                name: name.into(),
                description: "x".into(),
                parameters: json!({"type": "object"}),
            },
            touch,
        };
        vec![tool("look", Touch::Nothing), tool("change", Touch::Anything)]
    }

    fn weigh(&self, call: Arc<Call>, _terms: Terms) -> Later<Weighed> {
        let bench = self.clone();
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(2)).await;
            let name = call.arguments["name"].as_str().unwrap_or("?").to_owned();
            let weighed = call.arguments["weigh"].as_str().unwrap_or("allow").to_owned();
            let approval = Approval { what: name.as_str().into(), ..Approval::default() };
            let scheduled = Box::new(Scheduled { bench, call });
            match weighed.as_str() {
                "ask" => Weighed::Asked(approval, scheduled),
                "deny" => Weighed::Denied("a rule forbids it".into()),
                _ => Weighed::Allowed(scheduled),
            }
        })
    }

    fn checkpoint(&self) -> Option<Later<Result<Arc<str>, Arc<str>>>> {
        let made = self.checkpoint.clone()?;
        let bench = self.clone();
        Some(Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(20)).await;
            bench.note("checkpoint");
            made
        }))
    }
}

impl Question for Scheduled {
    fn answer(self: Box<Self>, decision: Decision) -> Option<Box<dyn Permit>> {
        (decision != Decision::Reject).then_some(self as Box<dyn Permit>)
    }
}

impl Permit for Scheduled {
    fn run(self: Box<Self>, mut stop: Stop, said: Sender<Said>) -> Later<ToolResult> {
        Box::pin(async move {
            let arguments = &self.call.arguments;
            let name = arguments["name"].as_str().unwrap_or("?").to_owned();
            self.bench.note(&format!("run {name}"));
            for piece in arguments["says"].as_array().into_iter().flatten() {
                let bytes = piece.as_str().unwrap_or_default().as_bytes().to_vec();
                said.send(Said::Output(bytes)).await.ok();
            }
            let mut is_stopped = false;
            if arguments["hangs"] == json!(true) {
                stop.due().await;
                is_stopped = true;
                self.bench.note(&format!("stopped {name}"));
            }
            let gives = arguments["gives"].as_str().unwrap_or("done");
            ToolResult {
                call_id: Arc::clone(&self.call.id),
                tool_name: Arc::clone(&self.call.name),
                is_error: is_stopped || arguments["fails"] == json!(true),
                output: Output::plain(if is_stopped { "stopped by the user" } else { gives }),
                told: None,
                images: Vec::new(),
                details: Value::Null,
            }
        })
    }
}

fn bench_with(scripted: &Scripted, answers: Vec<Vec<Act>>) -> Bench {
    let mut bench = Bench::with(Wire::Chat, limits(), Vec::new());
    let server = Server::new(answers);
    let engine = engine(limits());
    let endpoint = Endpoint::new("test", Wire::Chat, &server.base).unwrap();
    engine.set_provider("test", Provider::Endpoint(Arc::new(endpoint)));
    let settings = Settings { tools: ToolUse::Ask, ..settings() };
    bench.session = engine.session_at(Some(Arc::new(scripted.clone())), settings, Arc::new(|| {}));
    bench.engine = engine;
    bench.server = server;
    bench
}

/// A reply that makes these calls, in this order.
fn calls(of: &[(&str, Value)]) -> Vec<Act> {
    let mut acts = vec![sse(), Act::Send(text("Let me."))];
    for (index, (tool, arguments)) in (0..).zip(of) {
        acts.push(Act::Send(call(index, Some(tool), &arguments.to_string())));
    }
    acts.extend([Act::Send(finish("tool_calls")), Act::Finish]);
    acts
}

fn calls_of(snapshot: &Snapshot) -> Vec<Arc<ToolCall>> {
    let parts = snapshot.messages().flat_map(|message| message.parts.iter());
    parts
        .filter_map(|part| match part {
            Part::ToolCall(call) => Some(Arc::clone(call)),
            _ => None,
        })
        .collect()
}

fn states(snapshot: &Snapshot) -> Vec<ToolState> {
    calls_of(snapshot).iter().map(|call| call.state).collect()
}

fn question(bench: &mut Bench, what: &str) -> (ApprovalId, Arc<Snapshot>) {
    let asks = bench.until(|s| s.question.as_ref().is_some_and(|q| &*q.what == what));
    (asks.question.as_ref().unwrap().id, asks)
}

fn decide(bench: &Bench, approval: ApprovalId, decision: Decision) {
    bench.command(Command::Decide { approval, decision, feedback: None });
}

#[test]
fn calls_are_run_in_order_and_the_model_reads_their_results() {
    let scripted = Scripted::default();
    let first = [
        ("look", json!({"name": "a", "gives": "alpha"})),
        ("change", json!({"name": "b", "gives": "beta", "fails": true})),
    ];
    let mut bench = bench_with(&scripted, vec![calls(&first), whole(&["Done."])]);
    let end = bench.ask("go");
    assert_eq!(scripted.log(), ["run a", "run b"]);
    assert_eq!(states(&end), [ToolState::Ok, ToolState::Error]);
    assert!(calls_of(&end).iter().all(|call| call.duration_ms.is_some()));
    assert_eq!(prose(last(&end)), "Done.");
    let first = bench.server.request();
    let names: Vec<_> =
        first["tools"].as_array().unwrap().iter().map(|tool| &tool["function"]["name"]).collect();
    assert_eq!(names, ["look", "change"], "the model is told what there is");
    let second = bench.server.request();
    assert_eq!(second["messages"][2]["content"], "alpha");
    assert_eq!(second["messages"][3]["content"], "beta");
}

#[test]
fn x06_nothing_runs_before_it_is_approved() {
    let scripted = Scripted::default();
    let first = [("change", json!({"name": "a", "weigh": "ask"}))];
    let mut bench = bench_with(&scripted, vec![calls(&first), whole(&["Done."])]);
    let ticket = bench.say("go");
    let (approval, asks) = question(&mut bench, "a");
    assert!(matches!(asks.phase, Phase::Asking { .. }));
    assert_eq!(states(&asks), [ToolState::Waiting]);
    assert!(scripted.log().is_empty());
    decide(&bench, ApprovalId(approval.0 + 1), Decision::Once);
    decide(&bench, approval, Decision::Once);
    // Twice is once.
    decide(&bench, approval, Decision::Once);
    let end = bench.until(|s| is_settled(s, ticket));
    assert_eq!(scripted.log(), ["run a"]);
    assert!(end.question.is_none());
    assert_eq!(states(&end), [ToolState::Ok]);
}

#[test]
fn x07_what_is_said_with_an_approval_is_read_by_the_model_and_shown() {
    let scripted = Scripted::default();
    let first = [("change", json!({"name": "a", "weigh": "ask"}))];
    let mut bench = bench_with(&scripted, vec![calls(&first), whole(&["Done."])]);
    let ticket = bench.say("go");
    let (approval, _) = question(&mut bench, "a");
    let beside = bench.ticket();
    let feedback = Some(Draft::text(beside, "use tabs"));
    bench.command(Command::Decide { approval, decision: Decision::Once, feedback });
    let end = bench.until(|s| is_settled(s, ticket));
    let said: Vec<_> = end.messages().map(|m| (m.role.name().to_owned(), prose(m))).collect();
    let said: Vec<_> = said.iter().map(|(role, words)| (role.as_str(), words.as_str())).collect();
    let expected =
        [("user", "go"), ("assistant", "Let me."), ("user", "use tabs"), ("assistant", "Done.")];
    assert_eq!(said, expected);
    assert!(matches!(end.fate(beside), Some(Fate::Accepted(_))));
    bench.server.request();
    let second = bench.server.request();
    let roles: Vec<_> = second["messages"].as_array().unwrap().iter().map(|m| &m["role"]).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "user"], "the result stands with its call");
}

#[test]
fn x08_a_rejection_ends_the_turn_and_skips_the_rest() {
    let scripted = Scripted::default();
    let first = [("change", json!({"name": "a", "weigh": "ask"})), ("look", json!({"name": "b"}))];
    let mut bench = bench_with(&scripted, vec![calls(&first), whole(&["Why not?"])]);
    let ticket = bench.say("go");
    let (approval, _) = question(&mut bench, "a");
    decide(&bench, approval, Decision::Reject);
    let end = bench.until(|s| is_settled(s, ticket));
    assert!(scripted.log().is_empty());
    assert_eq!(states(&end), [ToolState::NotRun, ToolState::NotRun]);
    assert!(calls_of(&end).iter().all(|call| call.result.is_some()), "each has its answer");
    assert_eq!(bench.server.connections(), 1, "the user's turn");
    // What he says then reaches the model with the denial.
    let end = bench.ask("because");
    assert_eq!(prose(last(&end)), "Why not?");
    bench.server.request();
    let second = bench.server.request();
    assert!(second["messages"][2]["content"].as_str().unwrap().contains("rejected"), "{second}");
}

#[test]
fn x09_a_message_instead_of_an_answer_rejects_and_is_heard() {
    let scripted = Scripted::default();
    let first = [("change", json!({"name": "a", "weigh": "ask"}))];
    let mut bench = bench_with(&scripted, vec![calls(&first), whole(&["As you wish."])]);
    bench.say("go");
    question(&mut bench, "a");
    let second = bench.say("do it differently");
    let end = bench.until(|s| is_settled(s, second));
    assert!(scripted.log().is_empty());
    assert_eq!(states(&end), [ToolState::NotRun]);
    assert_eq!(prose(last(&end)), "As you wish.");
    assert_eq!(bench.server.connections(), 2);
}

#[test]
fn a_denied_call_is_answered_and_the_turn_goes_on() {
    let scripted = Scripted::default();
    let first = [("change", json!({"name": "a", "weigh": "deny"})), ("look", json!({"name": "b"}))];
    let mut bench = bench_with(&scripted, vec![calls(&first), whole(&["Done."])]);
    let end = bench.ask("go");
    assert_eq!(scripted.log(), ["run b"]);
    let calls = calls_of(&end);
    let denied = calls[0].result.as_ref().unwrap();
    assert!(denied.is_error && denied.output.source.contains("a rule forbids it"));
    assert_eq!(prose(last(&end)), "Done.");
}

#[test]
fn x05_x20_stopping_ends_everything_at_once() {
    for (arguments, expected) in [
        (json!({"name": "a", "weigh": "ask"}), vec![]),
        (json!({"name": "a", "hangs": true}), vec!["run a", "stopped a"]),
    ] {
        let scripted = Scripted::default();
        let mut bench = bench_with(&scripted, vec![calls(&[("change", arguments)])]);
        let ticket = bench.say("go");
        bench.until(|s| {
            let is_running = states(s) == [ToolState::Running];
            s.question.is_some() || is_running && !scripted.log().is_empty()
        });
        let begun = Instant::now();
        bench.command(Command::Stop);
        let end = bench.until(|s| is_settled(s, ticket));
        assert!(begun.elapsed() < Duration::from_millis(250), "{:?}", begun.elapsed());
        assert_eq!(states(&end), [ToolState::Aborted]);
        assert!(end.question.is_none());
        while scripted.log().len() < expected.len() {
            assert!(begun.elapsed() < Duration::from_secs(10), "it is told to stop");
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(scripted.log(), expected);
    }
}

#[test]
fn one_running_call_can_be_stopped_and_the_turn_goes_on() {
    let scripted = Scripted::default();
    let first = [("look", json!({"name": "a", "hangs": true, "says": ["one\n", "two\n"]}))];
    let mut bench = bench_with(&scripted, vec![calls(&first), whole(&["I see."])]);
    let ticket = bench.say("go");
    let output = |s: &Snapshot| {
        let call = calls_of(s).first().map(Arc::clone)?;
        (call.state == ToolState::Running).then(|| call.result.clone())?
    };
    let runs = bench.until(|s| output(s).is_some_and(|r| r.output.text.ends_with("two\n")));
    assert_eq!(&*output(&runs).unwrap().output.text, "one\ntwo\n", "it is shown while it runs");
    let message = last(&runs).id;
    let call_id = Arc::clone(&calls_of(&runs)[0].id);
    bench.command(Command::StopCall { message, call_id });
    let end = bench.until(|s| is_settled(s, ticket));
    assert_eq!(scripted.log(), ["run a", "stopped a"]);
    assert_eq!(states(&end), [ToolState::Error]);
    assert_eq!(prose(last(&end)), "I see.");
}

#[test]
fn x01_x02_only_changes_wait_for_the_checkpoint() {
    let scripted = Scripted { checkpoint: Some(Ok("c1".into())), ..Scripted::default() };
    let first = [
        ("look", json!({"name": "a"})),
        ("change", json!({"name": "b"})),
        ("change", json!({"name": "c"})),
    ];
    let mut bench = bench_with(&scripted, vec![calls(&first), whole(&["Done."])]);
    bench.ask("go");
    assert_eq!(scripted.log(), ["run a", "checkpoint", "run b", "run c"]);
}

#[test]
fn x04_a_checkpoint_that_fails_is_said_and_holds_nothing_up() {
    let failed = Err("the disk is full".into());
    let scripted = Scripted { checkpoint: Some(failed), ..Scripted::default() };
    let first = [("change", json!({"name": "a"}))];
    let mut bench = bench_with(&scripted, vec![calls(&first), whole(&["Done."])]);
    let end = bench.ask("go");
    assert_eq!(scripted.log(), ["checkpoint", "run a"]);
    let notices = end.messages().flat_map(|m| m.parts.iter()).filter_map(|part| match part {
        Part::Notice(notice) => Some(&*notice.text.source),
        _ => None,
    });
    assert!(notices.into_iter().any(|words| words.contains("the disk is full")));
}

#[test]
fn x15_the_same_call_five_times_ends_the_turn() {
    let scripted = Scripted::default();
    let again = || calls(&[("look", json!({"name": "a"}))]);
    let mut bench = bench_with(&scripted, (0..9).map(|_| again()).collect());
    let end = bench.ask("go");
    assert_eq!(scripted.log().len(), 5);
    assert_eq!(last(&end).role.name(), "system", "and the reader is told");
    let fourth = (0..4).map(|_| bench.server.request()).last().unwrap();
    let told = fourth["messages"].as_array().unwrap().last().unwrap()["content"].to_string();
    assert!(told.contains("three times in a row"), "the model is told too: {told}");
}

#[test]
fn without_leave_a_model_gets_no_tools() {
    let scripted = Scripted::default();
    let mut bench = bench_with(&scripted, vec![whole(&["Hello."]), whole(&["Hello."])]);
    bench.command(Command::SetTools(ToolUse::Off));
    bench.ask("go");
    assert!(bench.server.request().get("tools").is_none());
    bench.command(Command::SetTools(ToolUse::Ask));
    bench.ask("go");
    assert!(bench.server.request().get("tools").is_some());
}
