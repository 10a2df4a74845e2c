//! Vectors X and those of A that the presenter decides: checkpoint, approval, rejection,
//! repetition, answers.

use std::time::Duration;

use letterpress::{
    model::{
        MessageId, StopReason,
        stream::{ArgumentError, Close, EndState},
    },
    presenter::{CHECKPOINT_LIMIT, Outcome, Planning, Reply, ToolMode},
};
use serde_json::json;

use super::sim::{
    Sim, approved, done, edit, feedback, native, read, rejected, result, tag_call, tags,
};

fn gated() -> Sim {
    let mut sim = tags(ToolMode::Parallel);
    sim.presenter.expect_checkpoint();
    sim
}

/// What the model is told, in short.
fn replies(sim: &Sim) -> Vec<String> {
    let line = |reply: &Reply| match reply {
        Reply::Result { call_id, text, is_error, .. } => {
            format!("{call_id}: {text}{}", if *is_error { " !" } else { "" })
        }
        Reply::Feedback(feedback) => format!("user: {}", feedback.text),
        Reply::Remark(text) => format!("remark: {text}"),
    };
    sim.presenter.replies().iter().map(line).collect()
}

fn has_run(sim: &Sim) -> bool {
    sim.log.iter().any(|line| line.starts_with("run "))
}

#[test]
fn x01() {
    let mut sim = gated();
    sim.text(&read()).text(&edit()).log.clear();
    sim.wake();
    sim.expect(&["approve read_file"], "0,f,t,f");
    sim.resolve(approved()).finish("ok");
    assert_eq!(sim.log.last().unwrap(), "await checkpoint", "the gate is still there");
}

#[test]
fn x02() {
    let mut sim = gated();
    sim.text("<write_to_file><path>a").log.clear();
    sim.wake();
    sim.expect(&["await checkpoint"], "0,f,t,f");
    sim.resolve(Outcome::Done);
    sim.expect(&["await checkpoint", r#"show write_to_file{path: "a"}"#], "0,f,t,f");
    sim.settle().text("</path></write_to_file>").text(&edit()).wake().settle();
    let waits = sim.log.iter().filter(|line| *line == "await checkpoint").count();
    assert_eq!(waits, 1, "the gate is cleared");
}

#[test]
fn x02_complete_meanwhile() {
    let mut sim = gated();
    sim.text("<write_to_file><path>a").wake().text("</path></write_to_file>").wake().log.clear();
    sim.resolve(Outcome::Done);
    sim.expect(&["approve write_to_file"], "0,f,t,f");
}

#[test]
fn x03() {
    let mut sim = gated();
    sim.text(&read()).text(&edit()).log.clear();
    sim.wake().resolve(approved()).finish("ok");
    let expected = ["approve read_file", "run read_file", "answer 0 done", "await checkpoint"];
    sim.expect(&expected, "1,f,t,f");
    sim.settle();
    assert_eq!(sim.state(), "2,t,f,f");
}

#[test]
fn x04() {
    let mut sim = gated();
    sim.text(&edit()).wake().log.clear();
    sim.resolve(Outcome::Failed("no space left".into())).settle();
    sim.expect(
        &["note 0 NoCheckpoint", "approve replace_in_file", "run replace_in_file", "answer 0 done"],
        "1,t,f,f",
    );
    assert!(sim.notes[0].text.contains("no space left"), "{:?}", sim.notes);
}

#[test]
fn x04_a_checkpoint_that_never_comes() {
    let mut sim = gated();
    sim.text(&edit()).wake();
    let deadline = sim.presenter.deadline().unwrap();
    assert_eq!(deadline, sim.now + CHECKPOINT_LIMIT);
    sim.log.clear();
    sim.wake_after(CHECKPOINT_LIMIT - Duration::from_millis(1));
    sim.expect(&[], "0,f,t,t");
    sim.wake_after(Duration::from_millis(1));
    sim.expect(&["stop", "note 0 NoCheckpoint", "approve replace_in_file"], "0,f,t,f");
    assert_eq!(sim.presenter.deadline(), None);
}

#[test]
fn x05() {
    let mut sim = gated();
    sim.text(&edit()).wake().log.clear();
    sim.abort();
    sim.expect(&["stop", "answer 0 aborted", "over"], "0,t,f,f");
    sim.wake_after(CHECKPOINT_LIMIT);
    assert!(!has_run(&sim));
}

#[test]
fn x06() {
    let mut sim = native(ToolMode::Serial);
    sim.whole_call(0, "c", "read_file").end(done()).wake().resolve(approved()).finish("text");
    assert_eq!(replies(&sim), ["c: text"]);
    assert_eq!(sim.presenter.interrupt(), Some(letterpress::presenter::Interrupt::ToolUsed));
}

#[test]
fn x07() {
    let mut sim = native(ToolMode::Serial);
    sim.whole_call(0, "c", "read_file").end(done()).wake().log.clear();
    sim.resolve(Outcome::Approved { feedback: Some(feedback("use tabs")) }).finish("text");
    assert_eq!(replies(&sim), ["user: use tabs", "c: text"]);
    let expected = ["feedback use tabs", "run read_file", "answer 0 done", "over"];
    sim.expect(&expected, "1,t,f,f");
}

#[test]
fn x08() {
    let mut sim = native(ToolMode::Serial);
    sim.whole_call(0, "c", "read_file").whole_call(1, "d", "read_file").text_of(2, "z");
    sim.end(done()).wake().resolve(rejected());
    let [first, second] = replies(&sim).try_into().unwrap();
    assert_eq!(first, "c: Not run: the user rejected this call. !");
    assert_eq!(second, "d: Not run: skipped, because the user rejected an earlier call. !");
    assert!(!has_run(&sim) && sim.rows().is_empty());
    assert_eq!(sim.state(), "3,t,f,f");
}

#[test]
fn x09() {
    let mut sim = native(ToolMode::Serial);
    sim.whole_call(0, "c", "read_file").end(done()).wake();
    sim.resolve(Outcome::Rejected { feedback: Some(feedback("look in b")) });
    let expected = ["user: look in b", "c: Not run: the user rejected this call. !"];
    assert_eq!(replies(&sim), expected);
    assert!(sim.log.contains(&"feedback look in b".to_owned()));
}

#[test]
fn x10() {
    let mut sim = native(ToolMode::Parallel);
    sim.whole_call(0, "c", "read_file").whole_call(1, "d", "read_file").end(done());
    sim.wake().resolve(rejected());
    assert_eq!(sim.answers.len(), 2);
    assert!(!has_run(&sim));
}

#[test]
fn x11() {
    let mut sim = native(ToolMode::Serial);
    sim.whole_call(0, "c", "read_file").whole_call(1, "d", "read_file").end(done());
    sim.wake().settle();
    assert!(replies(&sim)[1].contains("another tool was already used"), "{:?}", replies(&sim));
    assert_eq!(sim.log.iter().filter(|line| line.starts_with("run ")).count(), 1);
}

#[test]
fn x12() {
    let mut sim = tags(ToolMode::Parallel);
    sim.presenter.setup.planning = Planning::Strict;
    sim.text("<write_to_file><path>a").log.clear();
    sim.wake().wake();
    sim.expect(&["note 0 PlanMode"], "0,f,f,f");
    assert!(sim.presenter.replies().is_empty());
    sim.text("</path></write_to_file>").text(&read()).wake().settle();
    assert_eq!(sim.answers.len(), 2);
    assert!(replies(&sim)[0].contains("while planning"), "{:?}", replies(&sim));
    assert!(replies(&sim)[1].ends_with("ok"), "reading is planning");
    assert_eq!(sim.notes(), ["PlanMode"]);
}

#[test]
fn x13() {
    let mut sim = tags(ToolMode::Parallel);
    sim.text(&tag_call("attempt_completion", "response", "r")).wake();
    assert_eq!(sim.running().arguments, json!({"response": "r", "result": "r"}));
}

#[test]
fn x14() {
    let mut sim = native(ToolMode::Parallel);
    let arguments = json!({"result": "a", "response": "b"});
    sim.call(0, "c", "attempt_completion", "").close(0, Close::Arguments(Ok(arguments.clone())));
    sim.end(done()).wake();
    assert_eq!(sim.running().arguments, arguments);
}

#[test]
fn x15() {
    let mut sim = tags(ToolMode::Parallel);
    let mut seen = Vec::new();
    for request in 0..6 {
        sim.presenter.begin(MessageId(request));
        sim.text(&read()).end(done()).wake().settle();
        seen.push((sim.notes(), replies(&sim).len()));
        sim.notes.clear();
    }
    let note = |kind: &str| vec![kind.to_owned()];
    assert_eq!(
        seen,
        [
            (vec![], 1),
            (vec![], 1),
            (note("Repeating"), 2),
            (vec![], 1),
            (note("Stuck"), 2),
            (vec![], 1)
        ]
    );
}

#[test]
fn x15_another_call_between() {
    let mut sim = tags(ToolMode::Parallel);
    for path in ["a", "a", "b", "a", "a"] {
        sim.text(&tag_call("read_file", "path", path));
    }
    sim.end(done()).wake().settle();
    assert!(sim.notes.is_empty());
}

#[test]
fn x16() {
    let mut sim = native(ToolMode::Parallel);
    for (block, progress) in [(0, "one"), (1, "two"), (2, "three")] {
        // The order of the fields does not count either.
        let arguments = match block {
            1 => json!({"task_progress": progress, "path": "a", "query": "q"}),
            _ => json!({"query": "q", "path": "a", "task_progress": progress}),
        };
        sim.call(block, &format!("c{block}"), "read_file", "");
        sim.close(block, Close::Arguments(Ok(arguments)));
    }
    sim.end(done()).wake().settle();
    assert_eq!(sim.notes(), ["Repeating"]);
}

#[test]
fn x17() {
    let mut sim = native(ToolMode::Parallel);
    sim.whole_call(0, "c", "read_file").end(done()).wake().resolve(approved()).finish("");
    assert_eq!(replies(&sim), ["c: (the tool ended without output)"]);
}

#[test]
fn x18() {
    let mut sim = native(ToolMode::Parallel);
    sim.whole_call(0, "c", "read_file").whole_call(1, "c", "list_files").end(done());
    sim.wake().settle();
    assert_eq!(replies(&sim), ["c: ok"]);
    assert_eq!(sim.notes(), ["DuplicateAnswer"]);
    assert_eq!(sim.answers.len(), 2, "each call is shown with its own");
}

#[test]
fn x19() {
    let mut sim = native(ToolMode::Parallel);
    sim.whole_call(0, "c", "read_file").whole_call(1, "d", "read_file").end(done());
    sim.wake().resolve(approved()).resolve(Outcome::Failed("it broke".into())).settle();
    assert_eq!(replies(&sim), ["c: it broke !", "d: ok"]);
    assert_eq!(sim.notes(), ["Failed"]);
    assert!(sim.presenter.is_over());
}

#[test]
fn x20() {
    let mut sim = native(ToolMode::Parallel);
    sim.whole_call(0, "c", "read_file").end(done()).wake();
    let (id, ..) = sim.started.clone().unwrap();
    sim.abort().resolve_id(id, approved());
    assert!(!has_run(&sim));
    assert!(replies(&sim).is_empty());
    assert_eq!(sim.log.last().unwrap(), "over");
}

#[test]
fn nothing_runs_without_a_decision() {
    for outcome in [Outcome::Done, Outcome::Failed("no answer".into())] {
        let mut sim = native(ToolMode::Parallel);
        sim.whole_call(0, "c", "read_file").end(done()).wake().resolve(outcome);
        assert!(!has_run(&sim));
        assert_eq!((sim.answers.len(), sim.notes().len()), (1, 1));
    }
    let mut sim = native(ToolMode::Parallel);
    sim.whole_call(0, "c", "read_file").end(done()).wake();
    let finished = Outcome::Finished(result(&sim.running(), "made up", false));
    sim.resolve(finished);
    assert!(!has_run(&sim) && replies(&sim)[0].ends_with('!'));
}

#[test]
fn a_call_stopped_while_it_runs_is_rejected() {
    let mut sim = native(ToolMode::Parallel);
    sim.whole_call(0, "c", "read_file").whole_call(1, "d", "read_file").end(done());
    sim.wake().resolve(approved()).resolve(rejected());
    assert_eq!(sim.answers.len(), 2);
    assert_eq!(sim.state(), "2,t,f,f");
}

// Calls that the end of the reply decides on.

#[test]
fn bad_arguments_are_answered_and_never_run() {
    let mut sim = native(ToolMode::Parallel);
    sim.call(0, "c", "read_file", "{\"path\"");
    sim.close(0, Close::Arguments(Err(ArgumentError::NotJson { byte: 7 })));
    sim.end(EndState::Complete { reason: StopReason::ToolUse, tools_may_run: false });
    sim.wake();
    assert_eq!(replies(&sim), ["c: Not run: arguments are not valid JSON (byte 7). !"]);
    assert_eq!(sim.notes(), ["BadCall"]);
}

#[test]
fn no_call_runs_after_an_end_that_forbids_it() {
    let length = EndState::Complete { reason: StopReason::Length, tools_may_run: false };
    for (end, word) in
        [(EndState::Incomplete, "not executed"), (length, "not executed (truncated)")]
    {
        let mut sim = native(ToolMode::Parallel);
        sim.whole_call(0, "c", "read_file").call(1, "d", "read_file", "{\"pa").end(end);
        sim.wake();
        assert!(!has_run(&sim));
        let words: Vec<_> = sim.answers.iter().map(|answer| answer.state.word()).collect();
        assert_eq!(words, [word, word]);
        assert!(sim.presenter.is_over());
    }
}

#[test]
fn g17_a_missing_closing_tag_is_told() {
    let mut sim = tags(ToolMode::Parallel);
    sim.text("<read_file><path>a</read_file> and more").end(done()).wake();
    assert_eq!(sim.notes(), ["BadCall"]);
    assert!(!has_run(&sim) && replies(&sim)[0].contains("closing tag"));
}

#[test]
fn g16_a_call_that_only_lacks_its_last_tag_runs() {
    let mut sim = tags(ToolMode::Parallel);
    sim.text("<read_file><path>a</path>").end(done()).wake().settle();
    assert!(has_run(&sim));
    for (text, end) in
        [("<read_file><path>a</path>", EndState::Incomplete), ("<read_file><path>a", done())]
    {
        let mut sim = tags(ToolMode::Parallel);
        sim.text(text).end(end).wake().settle();
        assert!(!has_run(&sim));
        assert_eq!(sim.answers.len(), 1);
    }
}

// The rows of the log, as far as the presenter decides on them.

#[test]
fn a01_a02_a03() {
    let mut sim = tags(ToolMode::Parallel);
    sim.text("a").wake().settle();
    assert_eq!(sim.rows(), ["a …"]);
    sim.text("b").wake().settle();
    assert_eq!(sim.rows(), ["ab …"]);
    sim.end(done()).wake().settle();
    assert_eq!(sim.rows(), ["ab"]);
    assert_eq!((sim.rows.len(), sim.rows[&sim.id(0)].changes), (1, 3), "one row throughout");
}

#[test]
fn a04() {
    let mut sim = tags(ToolMode::Parallel);
    sim.text("x").end(done()).wake().settle();
    assert_eq!((sim.rows(), sim.rows[&sim.id(0)].changes), (vec!["x".to_owned()], 1));
}

#[test]
fn a05() {
    let mut sim = tags(ToolMode::Parallel);
    sim.text("a").wake().resolve(Outcome::Failed("e".into())).text("b").wake().settle();
    assert_eq!((sim.rows(), sim.notes()), (vec!["ab …".to_owned()], vec!["Failed".to_owned()]));
}

#[test]
fn a06() {
    let mut sim = tags(ToolMode::Parallel);
    sim.text("<replace_in_file>").wake().settle().wake().settle();
    sim.text("<path>a</path></replace_in_file>").wake();
    let blocks = sim.log.iter().filter(|line| !line.starts_with("changed")).count();
    assert_eq!(blocks, 3, "shown twice, then asked once: {:?}", sim.log);
    assert_eq!(sim.started.as_ref().unwrap().1, sim.id(0), "all on one row");
}

#[test]
fn a08() {
    let mut sim = tags(ToolMode::Parallel);
    sim.text(&edit()).wake().abort();
    assert_eq!(sim.stopped.len(), 1, "whoever asks is told at once");
}

#[test]
fn a11() {
    let mut sim = tags(ToolMode::Parallel);
    sim.text(&edit()).wake();
    sim.resolve(Outcome::Approved { feedback: Some(feedback("yes, and")) }).finish("ok");
    assert_eq!(replies(&sim), ["user: yes, and", "tag-7-0: [replace_in_file]\nok"]);
}
