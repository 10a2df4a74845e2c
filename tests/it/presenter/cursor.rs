//! Vectors P: the cursor, its lock, and failures.

use letterpress::{
    model::stream::{EndState, ReplyKind},
    presenter::{Interrupt, NoteKind, Outcome, ToolMode},
};

use super::sim::{Sim, approved, done, edit, native, read, rejected, tag_call, tags};

fn serial() -> Sim {
    tags(ToolMode::Serial)
}

fn parallel() -> Sim {
    tags(ToolMode::Parallel)
}

#[test]
fn p01() {
    let mut sim = serial();
    sim.text("Hel").wake().settle();
    sim.expect(&["say Hel…"], "0,f,f,f");
}

#[test]
fn p02() {
    let mut sim = serial();
    sim.text("Hel").wake().settle().text("lo").end(done()).wake().settle();
    sim.expect(&["say Hel…", "say lo", "over"], "1,t,f,f");
    assert_eq!(sim.rows(), ["Hello"]);
}

#[test]
fn p03() {
    let mut sim = serial();
    sim.text("Hello").end(done()).wake().settle().log.clear();
    sim.wake();
    sim.expect(&[], "1,t,f,f");
}

#[test]
fn p04() {
    let mut sim = serial();
    sim.wake();
    sim.expect(&[], "0,f,f,f");
}

#[test]
fn p05() {
    let mut sim = serial();
    sim.end(done()).wake();
    sim.expect(&["over"], "0,t,f,f");
}

#[test]
fn p06() {
    let mut sim = serial();
    sim.text("A<read_file>").wake().settle();
    sim.expect(&["changed 1", "say A", "show read_file{}"], "1,f,f,f");
}

#[test]
fn p07() {
    let mut sim = serial();
    sim.text(&edit()).log.clear();
    sim.wake().wake().wake();
    sim.expect(&["approve replace_in_file"], "0,f,t,t");
    sim.resolve(approved()).finish("ok");
    sim.expect(&["approve replace_in_file", "run replace_in_file", "answer 0 done"], "1,t,f,f");
}

#[test]
fn p08() {
    let mut sim = parallel();
    sim.text(&edit()).wake().text("tail").wake();
    assert_eq!(sim.state(), "0,f,t,t");
    sim.log.clear();
    sim.resolve(approved()).finish("ok");
    sim.expect(&["run replace_in_file", "answer 0 done", "say tail…"], "1,f,t,f");
    sim.settle();
    assert_eq!(sim.state(), "1,f,f,f");
}

#[test]
fn p09() {
    let mut sim = serial();
    sim.text(&edit()).wake().text("tail").text(&read()).wake().log.clear();
    sim.resolve(approved()).finish("ok");
    sim.expect(&["run replace_in_file", "answer 0 done", "answer 2 not executed"], "3,t,f,f");
    assert!(sim.rows().is_empty());
    assert_eq!(sim.presenter.interrupt(), Some(Interrupt::ToolUsed));
}

#[test]
fn p10() {
    let mut sim = parallel();
    sim.text("a").text(&edit()).text("b<execute_command><command>ls").log.clear();
    sim.wake().resolve(Outcome::Done).resolve(rejected());
    sim.expect(
        &["say a", "approve replace_in_file", "answer 1 not executed", "answer 3 not executed"],
        "4,t,f,f",
    );
    let words = |i: usize| sim.answers[i].result.as_ref().unwrap().output.source.to_string();
    assert!(words(0).contains("user rejected this call"), "{}", words(0));
    assert!(words(1).contains("interrupted"), "{}", words(1));
    assert_eq!(sim.presenter.interrupt(), Some(Interrupt::Rejected));
    sim.text("</command></execute_command>").end(done()).wake();
    assert_eq!(sim.answers.len(), 2, "the interrupted call has its answer");
}

#[test]
fn p11() {
    let mut sim = serial();
    sim.text("<replace_in_file>").wake().settle().wake().settle();
    sim.expect(&["show replace_in_file{}", "show replace_in_file{}"], "0,f,f,f");
}

#[test]
fn p12() {
    let mut sim = parallel();
    sim.text(&edit()).text(&read()).text("z").end(done()).log.clear();
    sim.wake().settle();
    sim.expect(
        &[
            "approve replace_in_file",
            "run replace_in_file",
            "answer 0 done",
            "approve read_file",
            "run read_file",
            "answer 1 done",
            "say z",
            "over",
        ],
        "3,t,f,f",
    );
}

#[test]
fn p13() {
    let mut sim = serial();
    sim.text(&edit()).text(&read()).text("z").end(done()).log.clear();
    sim.wake().settle();
    sim.expect(
        &[
            "approve replace_in_file",
            "run replace_in_file",
            "answer 0 done",
            "answer 1 not executed",
            "over",
        ],
        "3,t,f,f",
    );
}

#[test]
fn p14() {
    let mut sim = serial();
    sim.text("He").wake().text("ll").wake().text("o").wake().settle();
    sim.expect(&["say He…", "say llo…"], "0,f,f,f");
    assert_eq!(sim.rows(), ["Hello …"]);
}

#[test]
fn p15() {
    let mut sim = parallel();
    sim.text(&edit()).text("b").wake().resolve(approved()).log.clear();
    sim.resolve(Outcome::Failed("the disk is full".into())).settle().wake();
    sim.expect(&["note 0 Failed", "answer 0 failed", "say b…"], "1,f,f,f");
    assert_eq!(&*sim.notes[0].text, "the disk is full");
}

#[test]
fn p15_a_row_that_cannot_be_shown() {
    let mut sim = serial();
    let fail = || Outcome::Failed("no".into());
    sim.text("a").wake().resolve(fail()).text("b").wake().resolve(fail()).text("c").wake();
    sim.expect(&["say a…", "note 0 Failed", "say ab…", "say abc…"], "0,f,t,f");
    sim.end(done()).resolve(fail()).wake().resolve(fail());
    assert!(sim.presenter.is_over());
    assert_eq!(sim.rows(), ["abc"], "a final row is final in the end");
}

#[test]
fn p15_a_call_that_cannot_be_shown() {
    let mut sim = serial();
    sim.text("<read_file>").wake().resolve(Outcome::Failed("no".into()));
    sim.text("<path>a</path></read_file>").wake().settle();
    assert_eq!(sim.notes(), ["Failed"]);
    assert_eq!(sim.state(), "1,t,f,f");
}

#[test]
fn p16() {
    let mut sim = serial();
    sim.text("a").abort().log.clear();
    let before = sim.state();
    sim.wake().wake();
    sim.expect(&[], &before);
    assert!(sim.presenter.is_aborted());
}

#[test]
fn p17() {
    let mut sim = parallel();
    sim.text("a").wake().settle().text(&edit()).text("more").wake().settle_says();
    let (id, ..) = sim.started.clone().unwrap();
    assert_eq!(sim.running().name.as_ref(), "replace_in_file");
    sim.log.clear();
    sim.abort();
    sim.expect(&["stop", "answer 1 aborted", "text more", "over"], "1,t,f,f");
    assert_eq!(sim.rows(), ["a", "more"]);
    sim.resolve_id(id, approved()).wake();
    assert_eq!(sim.log.len(), 4, "a late word changes nothing");
    assert!(sim.presenter.replies().is_empty());
}

#[test]
fn p18() {
    let mut sim = native(ToolMode::Serial);
    sim.reasoning(0, "r").text_of(1, "x").end(done()).wake().settle();
    sim.expect(&["reasoning r…", "reasoning ", "say x", "over"], "2,t,f,f");
}

#[test]
fn p19() {
    // Text behind a call takes a place of its own, so nothing moves.
    let mut sim = native(ToolMode::Parallel);
    sim.text("a").call(1, "c", "read_file", "{").wake().settle().text_of(2, "b");
    sim.log.clear();
    sim.wake().settle();
    sim.expect(&["show read_file{}"], "1,f,f,f");
    sim.end(EndState::Incomplete).wake().settle();
    assert_eq!(sim.rows(), ["a", "b"]);
    assert_eq!(sim.state(), "3,t,f,f");
}

#[test]
fn p20() {
    for (before, after, runs) in
        [(ToolMode::Serial, ToolMode::Parallel, 2), (ToolMode::Parallel, ToolMode::Serial, 1)]
    {
        let mut sim = tags(before);
        sim.text(&edit()).text(&read()).wake();
        sim.presenter.setup.mode = after;
        sim.settle();
        let run = sim.log.iter().filter(|line| line.starts_with("run ")).count();
        assert_eq!(run, runs, "{before:?} became {after:?}");
        assert_eq!(sim.state(), "2,t,f,f");
    }
}

#[test]
fn p20_a_row_that_is_dropped_half_said() {
    let mut sim = serial();
    sim.text(&edit()).wake().settle();
    sim.presenter.setup.mode = ToolMode::Parallel;
    sim.text("tail").wake().settle();
    sim.presenter.setup.mode = ToolMode::Serial;
    sim.text(" and more").wake().end(done()).wake();
    assert_eq!(sim.rows(), ["tail and more"]);
    assert!(sim.presenter.is_over());
}

#[test]
fn p21() {
    let mut sim = native(ToolMode::Parallel);
    sim.whole_call(0, "c", "no_such_tool").text_of(1, "x").end(done()).log.clear();
    sim.wake().settle();
    sim.expect(&["note 0 UnknownTool", "answer 0 not executed", "say x", "over"], "2,t,f,f");
    assert_eq!(sim.presenter.replies().len(), 1);
}

#[test]
fn p22() {
    let mut sim = native(ToolMode::Serial);
    for block in 0..10_000 {
        sim.text_of(block, "x");
    }
    sim.end(done()).wake().settle();
    assert_eq!(sim.state(), "10000,t,f,f");
    assert_eq!(sim.rows.len(), 10_000);
}

#[test]
fn p22_blocks_without_effects() {
    let mut sim = native(ToolMode::Serial);
    for block in 0..10_000 {
        sim.open(block, ReplyKind::Reasoning);
    }
    sim.end(done()).log.clear();
    sim.wake();
    sim.expect(&["over"], "10000,t,f,f");
}

#[test]
fn another_request_starts_clean() {
    let mut sim = serial();
    sim.text("a").text(&edit()).wake().settle_says();
    let (late, ..) = sim.started.clone().unwrap();
    let effects = sim.presenter.begin(letterpress::model::MessageId(8));
    assert_eq!(effects.len(), 3, "stop, aborted, over: {effects:?}");
    sim.started = None;
    assert_eq!(sim.state(), "0,f,f,f");
    assert!(sim.presenter.replies().is_empty() && !sim.presenter.is_over());
    assert!(sim.presenter.resolved(late, approved(), sim.now).is_empty());
    assert!(sim.presenter.call_view(sim.id(1)).is_none(), "it was a call of the last reply");
}

#[test]
fn an_abort_keeps_what_is_held_back() {
    let mut sim = serial();
    sim.text("a <read_fi").wake().settle().abort();
    assert_eq!(sim.rows(), ["a <read_fi"]);
}

#[test]
fn an_aborted_serial_turn_keeps_dropped_text_dropped() {
    let mut sim = serial();
    sim.text(&edit()).wake().settle().text("tail").abort();
    assert!(sim.rows().is_empty());
    assert_eq!(sim.overs, 1);
}

// Clean-up as the cursor shows it.

#[test]
fn half_a_tag_is_never_shown() {
    let mut sim = parallel();
    for c in "See <b and <read_file><path>a".chars() {
        sim.text(c.encode_utf8(&mut [0; 4])).wake().settle();
    }
    let said = sim.log.iter().filter_map(|line| line.strip_prefix("say "));
    let said: String = said.map(|line| line.trim_end_matches('…')).collect();
    assert_eq!(said, "See <b and");
    assert_eq!(sim.view(1), r#"read_file{path: "a"}"#);
}

#[test]
fn t17_no_row() {
    let mut sim = parallel();
    sim.text("<function_calls>\n").text(&read()).text("\n</function_calls>").end(done());
    sim.wake().settle();
    assert!(sim.rows.is_empty(), "{:?}", sim.rows);
    assert_eq!(sim.state(), "1,t,f,f");
}

#[test]
fn t18_a_fence_before_a_call_goes_when_the_call_comes() {
    let mut sim = parallel();
    sim.text("So:\n```xml\n").wake().settle();
    assert_eq!(sim.rows(), ["So:\n```xml …"]);
    sim.text(&read()).wake().settle();
    assert_eq!(sim.rows(), ["So:\n"]);
}

#[test]
fn t24_nothing_is_said_of_nothing() {
    let mut sim = parallel();
    sim.text(" \n").text(&read()).text("\n").end(done()).wake().settle();
    assert!(sim.rows.is_empty());
    assert_eq!(sim.notes.iter().filter(|note| note.kind == NoteKind::Failed).count(), 0);
}

#[test]
fn reasoning_between_tags_is_reasoning() {
    let mut sim = parallel();
    sim.text("Ok <thinking>x").wake().settle().text("</thinking>\n");
    sim.text(&tag_call("read_file", "path", "a.rs")).text(" bye").end(done()).wake().settle();
    assert_eq!(sim.rows(), ["Ok", "x", "bye"]);
    assert_eq!(sim.presenter.reasoning(), "x");
}
