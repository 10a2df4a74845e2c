//! Calls that do real work: each effect once, results always.

use std::collections::BTreeMap;

use letterpress::model::{CallGrammar, Command, Decision, Draft, ToolState, ToolUse};
use serde_json::{Value, json};

use super::bench::{Ground, calls, calls_of, decide, question, talk, talk_in};
use crate::live::{
    bench::{is_settled, last, prose},
    server::whole,
};

/// A command that leaves a line in the log each time that it runs.
fn note(name: &str) -> (&'static str, Value) {
    ("execute_command", json!({"command": format!("echo {name} >> log")}))
}

fn log(ground: &Ground) -> Vec<String> {
    let log = ground.read("log").unwrap_or_default();
    log.lines().map(str::to_owned).collect()
}

#[test]
fn a_model_reads_changes_and_runs_and_each_effect_happens_once() {
    let ground = Ground::new();
    ground.write("notes", "alpha\nbeta\n");
    let rounds = vec![
        calls(&[
            ("read_file", json!({"path": "notes"})),
            ("search_files", json!({"path": ".", "regex": "bet."})),
            ("write_to_file", json!({"path": "new/file", "content": "one\n"})),
        ]),
        calls(&[
            ("edit_file", json!({"path": "notes", "old_string": "alpha", "new_string": "ALPHA"})),
            note("a"),
            ("read_file", json!({"path": "nowhere"})),
        ]),
        whole(&["Done."]),
    ];
    let (mut bench, _kit) = talk(&ground, ToolUse::Edits, rounds);
    let ticket = bench.say("go");
    let asked = question(&mut bench, None);
    assert_eq!(&*asked.what, "echo a >> log");
    assert!(log(&ground).is_empty());
    decide(&bench, &asked, Decision::Once);
    let end = bench.until(|s| is_settled(s, ticket));
    let states: Vec<_> = calls_of(&end).iter().map(|call| call.state).collect();
    use ToolState::{Error, Ok};
    assert_eq!(states, [Ok, Ok, Ok, Ok, Ok, Error]);
    assert_eq!(ground.read("notes").unwrap(), "ALPHA\nbeta\n");
    assert_eq!(ground.read("new/file").unwrap(), "one\n");
    assert_eq!(log(&ground), ["a"]);
    assert_eq!(prose(last(&end)), "Done.");

    bench.server.request();
    let second = bench.server.request();
    let results: Vec<_> = second["messages"].as_array().unwrap()[2..].iter().collect();
    assert_eq!(results.len(), 3, "each call has one result");
    assert!(results[0]["content"].as_str().unwrap().contains("beta"));
    assert!(results[1]["content"].as_str().unwrap().contains("notes"));
}

#[test]
fn every_answer_in_every_place_does_what_it_says_once() {
    // Three calls; at each the user says yes, no, yes with words, or no with words.
    let mut seen: BTreeMap<Vec<String>, usize> = BTreeMap::new();
    for order in 0..64 {
        let answers = [order % 4, order / 4 % 4, order / 16];
        let ground = Ground::new();
        let first = calls(&[note("a"), note("b"), note("c")]);
        let (mut bench, _kit) = talk(&ground, ToolUse::Ask, vec![first, whole(&["Done."])]);
        let ticket = bench.say("go");
        let mut expected = Vec::new();
        let mut before = None;
        for (name, answer) in ["a", "b", "c"].into_iter().zip(answers) {
            let asked = question(&mut bench, before.as_deref());
            let words = bench.ticket();
            let feedback = (answer > 1).then(|| Draft::text(words, "hm"));
            let is_yes = answer % 2 == 0;
            let decision = if is_yes { Decision::Once } else { Decision::Reject };
            bench.command(Command::Decide { approval: asked.id, decision, feedback });
            // Twice is once.
            decide(&bench, &asked, Decision::Once);
            before = Some(asked);
            if !is_yes {
                break;
            }
            expected.push(name.to_owned());
        }
        let end = bench.until(|s| is_settled(s, ticket));
        assert_eq!(log(&ground), expected, "{answers:?}");
        let results: Vec<_> = calls_of(&end).iter().map(|call| call.result.is_some()).collect();
        assert_eq!(results, [true; 3], "{answers:?}");
        let ran = calls_of(&end).iter().filter(|call| call.state == ToolState::Ok).count();
        assert_eq!(ran, expected.len(), "{answers:?}");
        *seen.entry(expected).or_default() += 1;
    }
    assert_eq!(seen.len(), 4, "none, a, a b, a b c: {seen:?}");
}

#[test]
fn a_turn_that_is_stopped_anywhere_leaves_no_call_without_an_end() {
    for stop_at in 0..4 {
        let ground = Ground::new();
        let hang = ("execute_command", json!({"command": "echo b >> log; sleep 600"}));
        let first = calls(&[note("a"), hang, note("c")]);
        let (mut bench, _kit) = talk(&ground, ToolUse::Ask, vec![first]);
        let ticket = bench.say("go");
        let asked = question(&mut bench, None);
        if stop_at > 0 {
            decide(&bench, &asked, Decision::Once);
            let asked = question(&mut bench, Some(&asked));
            if stop_at > 1 {
                decide(&bench, &asked, Decision::Once);
                let runs = |s: &letterpress::model::Snapshot| {
                    calls_of(s).get(1).is_some_and(|call| call.state == ToolState::Running)
                };
                bench.until(runs);
            }
        }
        if stop_at == 3 {
            while log(&ground).len() < 2 {
                std::thread::sleep(std::time::Duration::from_millis(2));
            }
        }
        bench.command(Command::Stop);
        let end = bench.until(|s| is_settled(s, ticket));
        assert!(end.question.is_none() && !end.phase.is_busy());
        let open = [ToolState::Receiving, ToolState::Waiting, ToolState::Running];
        assert!(calls_of(&end).iter().all(|call| !open.contains(&call.state)), "{stop_at}");
        assert_eq!(calls_of(&end)[2].state, ToolState::Aborted);
        assert!(!log(&ground).contains(&"c".to_owned()));
    }
}

#[test]
fn a_model_that_knows_only_tags_does_the_same_work() {
    let ground = Ground::new();
    ground.write("notes", "alpha\nbeta\n");
    let rounds = vec![
        whole(&[
            "Let me look.\n<read_",
            "file>\n<path>notes</path>\n</read_file>\n",
            "<write_to_file>\n<path>new</path>\n<content>\n<b>one</b> & two\n</content>\n",
            "</write_to_file>",
        ]),
        whole(&[
            "<replace_in_file>\n<path>notes</path>\n<diff>\n------- SEARCH\nalpha\n=======\n",
            "ALPHA\n+++++++ REPLACE\n</diff>\n</replace_in_file>\nand\n",
            "<execute_command>\n<command>echo a >> log</command>\n</execute_command>",
        ]),
        whole(&["Done."]),
    ];
    let (mut bench, _kit) = talk_in(&ground, CallGrammar::Tags, ToolUse::Edits, rounds);
    bench.command(Command::SetSystem(Some("Be brief.".into())));
    let ticket = bench.say("go");
    let asked = question(&mut bench, None);
    assert_eq!(&*asked.what, "echo a >> log");
    decide(&bench, &asked, Decision::Once);
    let end = bench.until(|s| is_settled(s, ticket));
    let states: Vec<_> = calls_of(&end).iter().map(|call| call.state).collect();
    assert_eq!(states, [ToolState::Ok; 4], "{:?}", calls_of(&end));
    assert_eq!(ground.read("notes").unwrap(), "ALPHA\nbeta\n");
    assert_eq!(ground.read("new").unwrap().trim(), "<b>one</b> & two");
    assert_eq!(log(&ground), ["a"]);
    assert_eq!(prose(last(&end)), "Done.");

    let first = bench.server.request();
    assert!(first.get("tools").is_none(), "they are described in words");
    let system = first["messages"][0]["content"].as_str().unwrap();
    assert!(system.starts_with("Be brief."), "{system}");
    for tool in ["read_file", "list_files", "search_files", "write_to_file", "replace_in_file"] {
        assert!(system.contains(&format!("<{tool}>")), "{tool}: {system}");
    }
    assert!(!system.contains("glob>") && !system.contains("old_string"), "{system}");
    let second = bench.server.request();
    let third = bench.server.request();
    let said = |request: &Value, at: usize| {
        let message = &request["messages"][at];
        (message["role"].as_str().unwrap().to_owned(), message["content"].to_string())
    };
    let (role, words) = said(&second, 2);
    assert_eq!(role, "assistant");
    assert!(words.contains("Let me look.") && words.contains("<path>notes</path>"), "{words}");
    let (role, words) = said(&second, 3);
    assert_eq!(role, "user");
    assert!(words.contains("[read_file]") && words.contains("alpha"), "{words}");
    assert!(words.contains("[write_to_file]"), "{words}");
    assert_eq!(third["messages"].as_array().unwrap().len(), 6);
    assert!(said(&third, 5).1.contains("[execute_command]"));
}

#[test]
fn a_rejected_call_with_tags_ends_the_turn_and_half_a_call_never_runs() {
    let ground = Ground::new();
    let command = "<execute_command>\n<command>echo a >> log</command>\n</execute_command>";
    let rounds = vec![
        whole(&[
            command,
            "\n<execute_command>\n<command>echo b >> log</command>\n</execute_command>",
        ]),
        whole(&["<execute_command>\n<command>echo c >> log"]),
        whole(&["Done."]),
    ];
    let (mut bench, _kit) = talk_in(&ground, CallGrammar::Tags, ToolUse::Ask, rounds);
    let ticket = bench.say("go");
    let asked = question(&mut bench, None);
    decide(&bench, &asked, Decision::Reject);
    let end = bench.until(|s| is_settled(s, ticket));
    assert!(calls_of(&end).iter().all(|call| call.state == ToolState::NotRun));
    bench.ask("go on");
    assert_eq!(log(&ground), Vec::<String>::new());
}
