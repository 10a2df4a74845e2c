//! Calls as cards: what each kind says of itself.

use std::sync::Arc;

use letterpress::{
    layout::registry::{Body, Registry, ToolCard},
    model::{Output, ToolCall, ToolResult, ToolState},
};
use serde_json::{Value, json};

fn call(name: &str, arguments: Value, state: ToolState, text: &str, details: Value) -> ToolCall {
    ToolCall {
        id: "c1".into(),
        name: name.into(),
        arguments,
        state,
        result: Some(Arc::new(ToolResult {
            call_id: "c1".into(),
            tool_name: name.into(),
            is_error: state == ToolState::Error,
            output: Output::plain(text),
            told: None,
            images: Vec::new(),
            details,
        })),
        superseded: 0,
        duration_ms: None,
    }
}

fn card(call: &ToolCall) -> ToolCard {
    Registry::default().card(call)
}

/// A command's line reads back as its arguments, and its end says how it came.
#[test]
fn a_command_says_how_it_ended() {
    let rows = [
        (json!({"exitCode": 101}), "exit 101"),
        (json!({"signal": 9}), "ended by SIGKILL"),
        (json!({"signal": 40}), "ended by signal 40"),
        (json!({"timedOut": true}), "its time was up"),
        (json!({"stopped": true}), "stopped by you"),
        (json!(null), ""),
    ];
    for (details, note) in rows {
        let arguments = json!({"command": ["grep", "a b", "x\u{202e}y"], "cwd": "src"});
        let call = call("execute_command", arguments, ToolState::Ok, "x", details);
        let card = card(&call);
        assert_eq!(card.title, "$ grep 'a b' $'x\\u202Ey'");
        assert_eq!((card.detail.as_str(), card.note.as_str()), ("in src", note));
    }
}

#[test]
fn output_that_is_kept_elsewhere_says_where() {
    let details =
        json!({"spill": {"place": "/state/out-1", "bytes": 104_000_000, "isWhole": true}});
    let call = call("execute_command", json!({"command": "yes"}), ToolState::Ok, "y\n", details);
    let notes = card(&call).body.into_iter().filter_map(|body| match body {
        Body::Note(words) => Some(words),
        _ => None,
    });
    let words = "All of the output (104 MB) lies in /state/out-1";
    assert_eq!(notes.collect::<Vec<_>>(), [words]);
}

#[test]
fn changes_of_one_file_and_of_several() {
    let change = |path: &str, before: Value, after: Value| json!({"path": path, "movedTo": null, "before": before, "after": after});
    let one = json!({"changes": [change("a.rs", json!("x\n"), json!("y\n"))]});
    let call_of =
        |details| call("apply_patch", json!({"input": "?"}), ToolState::Ok, "ok", details);
    let alone = card(&call_of(one));
    assert_eq!((alone.title.as_str(), alone.note.as_str()), ("a.rs", "+1 −1"));
    assert!(matches!(alone.body.as_slice(), [Body::Diff(_)]));
    let several = json!({"changes": [
        change("a.rs", json!("x\n"), json!("y\n")),
        change("b\u{202e}.rs", Value::Null, json!("new\n")),
        change("c.rs", json!("gone\n"), Value::Null),
    ]});
    let card = card(&call_of(several));
    assert_eq!((card.title.as_str(), card.note.as_str()), ("3 files", "+2 −2"));
    let files = card.body.iter().filter_map(|body| match body {
        Body::File(_, file) => Some((file.name.as_str(), file.fate)),
        _ => None,
    });
    let expected = [("a.rs", ""), ("b⟨RLO⟩.rs", "new"), ("c.rs", "deleted")];
    assert_eq!(files.collect::<Vec<_>>(), expected);
}

/// A message that goes on is composed again and again; its changes are compared once.
#[test]
fn changes_are_compared_once() {
    let change = json!({"path": "a", "movedTo": null, "before": "x\n", "after": "y\n"});
    let call = call("edit_file", json!({}), ToolState::Ok, "", json!({"changes": [change]}));
    let registry = Registry::default();
    let diff = || match registry.card(&call).body.as_slice() {
        [Body::Diff(change)] => Arc::clone(change),
        other => panic!("{other:?}"),
    };
    assert!(Arc::ptr_eq(&diff(), &diff()));
}

#[test]
fn searches_count_their_hits_and_servers_stand_before_their_tools() {
    let found = "src/a.rs:3:let x\nsrc/a.rs:9:x + 1\n--\n";
    let search = call("search_files", json!({"regex": "x"}), ToolState::Ok, found, Value::Null);
    assert_eq!(card(&search).note, "2 hits");
    let remote =
        call("github__create_issue", json!({"title": "x"}), ToolState::Ok, "", json!(null));
    assert_eq!(card(&remote).title, "github · create_issue");
    let broken =
        call("apply_patch", json!({"input": "@@ nonsense"}), ToolState::Error, "no", json!(null));
    assert!(matches!(card(&broken).body.as_slice(), [_, Body::Output]));
}
