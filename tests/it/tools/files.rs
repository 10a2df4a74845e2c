//! Reading, listing, searching, writing, undoing, in a folder of its own.

use std::fs;

use letterpress::tools::{OutputPart, Stopper};
use serde_json::json;

use super::bench::{Place, inventory};

#[test]
fn a_file_is_read_in_parts() {
    let place = Place::new();
    let lines: String = (1..=5000).map(|n| format!("line {n}\n")).collect();
    place.write("w/long.txt", &lines);
    let read = |arguments| place.run("read_file", &arguments).text.to_string();
    let whole = read(json!({"path": "long.txt"}));
    assert!(whole.starts_with("line 1\n"), "{whole}");
    assert!(
        whole.ends_with("line 2000\n[lines 1–2000; read on with start_line 2001]"),
        "{}",
        &whole[whole.len() - 80..]
    );
    let part = read(json!({"path": "long.txt", "start_line": 4, "end_line": 5}));
    assert_eq!(part, "line 4\nline 5\n[lines 4–5]");
    let tail = read(json!({"path": "long.txt", "start_line": 4999}));
    assert_eq!(tail, "line 4999\nline 5000\n[lines 4999–5000]");
    assert!(
        read(json!({"path": "long.txt", "start_line": 6000})).contains("ends before line 6000")
    );
    place.write("w/short.txt", "a\nb");
    assert_eq!(read(json!({"path": "short.txt"})), "a\nb");
    assert_eq!(read(json!({"path": "short.txt", "start_line": 2})), "b\n[lines 2–2]");
    place.write("w/empty.txt", "");
    assert_eq!(read(json!({"path": "empty.txt"})), "(the file is empty)");
    let missing = place.run("read_file", &json!({"path": "missing.txt"}));
    assert!(missing.is_error && missing.text.contains("no such file"), "{}", missing.text);
    assert!(place.run("read_file", &json!({"path": "."})).is_error);
}

#[test]
fn lines_of_any_length_and_files_of_any_size_fit() {
    let place = Place::new();
    place.write("w/wide.txt", format!("{}\nnext\n", "x".repeat(3_000_000)));
    let text = place.run("read_file", &json!({"path": "wide.txt"})).text.to_string();
    assert!(text.starts_with("xxx") && text.contains("[… line cut]\nnext\n"), "{}", text.len());
    assert!(text.len() < 3000);
    place.write("w/large.txt", "0123456789abcde\n".repeat(4_000_000));
    let text = place.run("read_file", &json!({"path": "large.txt", "start_line": 3_999_999}));
    assert_eq!(text.text.lines().count(), 3, "{}", text.text);
}

#[test]
fn bytes_become_text_as_far_as_they_are() {
    let place = Place::new();
    let read = |name: &str| place.run("read_file", &json!({"path": name}));
    place.write("w/mark.txt", b"\xEF\xBB\xBFhello\n");
    assert_eq!(&*read("mark.txt").text, "hello\n");
    let utf16: Vec<u8> = "\u{feff}héllo\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    place.write("w/wide.txt", utf16);
    assert_eq!(&*read("wide.txt").text, "héllo\n");
    place.write("w/latin.txt", b"caf\xE9\n");
    assert_eq!(&*read("latin.txt").text, "caf\u{fffd}\n[1 characters could not be read as UTF-8]");
    place.write("w/binary", b"\x7fELF\0\0\0");
    let binary = read("binary");
    assert!(binary.is_error && binary.text.contains("binary file of 7 bytes"), "{}", binary.text);
    let png = [&b"\x89PNG\r\n\x1a\n"[..], &[0; 32]].concat();
    place.write("w/picture.png", &png);
    let output = read("picture.png");
    let [OutputPart::Image { media_type, bytes }] = output.parts.as_slice() else {
        panic!("{output:?}")
    };
    assert_eq!((&**media_type, &**bytes), ("image/png", &png[..]));
}

#[test]
fn folders_are_listed() {
    let place = Place::new();
    place.write("w/.gitignore", "target/\n*.log\n");
    for name in
        ["a.txt", "src/b.rs", "src/deep/c.rs", "target/x.rs", "d.log", ".hidden", ".git/config"]
    {
        place.write(&format!("w/{name}"), "x");
    }
    let list = |arguments| place.run("list_files", &arguments).text.to_string();
    assert_eq!(
        list(json!({})),
        ".git/\n.gitignore (14 B)\n.hidden (1 B)\na.txt (1 B)\nd.log (1 B)\nsrc/\ntarget/"
    );
    assert_eq!(
        list(json!({"recursive": true})),
        ".gitignore\n.hidden\na.txt\nsrc/\nsrc/b.rs\nsrc/deep/\nsrc/deep/c.rs"
    );
    assert_eq!(list(json!({"path": "src/deep"})), "c.rs (1 B)");
    let glob = |arguments| place.run("glob", &arguments).text.to_string();
    assert_eq!(glob(json!({"pattern": "**/*.rs"})), "src/b.rs\nsrc/deep/c.rs");
    assert_eq!(glob(json!({"pattern": "*.rs"})), "src/b.rs\nsrc/deep/c.rs");
    assert_eq!(glob(json!({"pattern": "src/*.rs"})), "src/b.rs");
    assert_eq!(glob(json!({"pattern": "./src/*.{rs,md}"})), "src/b.rs");
    assert_eq!(glob(json!({"pattern": "*.rs", "path": "src/deep"})), "c.rs");
    assert_eq!(glob(json!({"pattern": "*.py"})), "(no file fits)");
    assert!(place.run("glob", &json!({"pattern": "[a"})).is_error);
    fs::create_dir(place.path("w/empty")).expect("a folder");
    assert_eq!(list(json!({"path": "empty"})), "(the folder is empty)");
    assert!(place.run("list_files", &json!({"path": "a.txt"})).is_error);
    assert!(place.run("list_files", &json!({"path": "missing"})).is_error);
}

#[test]
fn a_long_listing_is_cut_and_says_so() {
    let place = Place::new();
    for n in 0..1100 {
        place.write(&format!("w/many/{n:04}.txt"), "");
    }
    for arguments in [json!({"path": "many"}), json!({"path": "many", "recursive": true})] {
        let text = place.run("list_files", &arguments).text.to_string();
        assert_eq!(text.lines().count(), 1001);
        assert!(text.ends_with("[only 1000 are shown; narrow it down]"), "{text}");
    }
}

#[test]
fn files_are_searched() {
    let place = Place::new();
    place.write("w/.gitignore", "target/\n");
    place.write("w/a.txt", "one\nTwo two\nthree\n");
    place.write("w/src/b.rs", "fn two() {}\n");
    place.write("w/target/c.rs", "two\n");
    place.write("w/.env", "KEY=two\n");
    place.write("w/.git/x", "two\n");
    place.write("w/binary", b"two\0two");
    let search = |arguments| place.run("search_files", &arguments).text.to_string();
    assert_eq!(
        search(json!({"regex": "two"})),
        "a.txt:2:Two two\nsrc/b.rs:1:fn two() {}\n[2 lines in 2 files]"
    );
    assert_eq!(
        search(json!({"regex": "^two", "ignore_case": true})),
        "a.txt:2:Two two\n[1 lines in 1 files]"
    );
    assert_eq!(
        search(json!({"regex": "two", "file_pattern": "*.rs"})),
        "src/b.rs:1:fn two() {}\n[1 lines in 1 files]"
    );
    assert_eq!(
        search(json!({"regex": "two", "path": "src"})),
        "src/b.rs:1:fn two() {}\n[1 lines in 1 files]"
    );
    assert_eq!(
        search(json!({"regex": "two", "path": "./a.txt"})),
        "./a.txt:2:Two two\n[1 lines in 1 files]"
    );
    assert_eq!(
        search(json!({"regex": "Two", "context_lines": 1})),
        "a.txt-1-one\na.txt:2:Two two\na.txt-3-three\n[1 lines in 1 files]"
    );
    assert_eq!(search(json!({"regex": "nothing"})), "(no match)");
    let bad = place.run("search_files", &json!({"regex": "(a"}));
    assert!(bad.is_error && bad.text.contains("cannot be understood"), "{}", bad.text);
    let huge = place.run("search_files", &json!({"regex": "(a{1000}){1000}"}));
    assert!(huge.is_error, "{}", huge.text);
    place.write("w/many.txt", "x two x\n".repeat(2000));
    assert!(
        search(json!({"regex": "two", "path": "many.txt"}))
            .ends_with("[at least 500 lines in 1 files]")
    );
}

#[test]
fn a_search_that_is_stopped_says_so() {
    let place = Place::new();
    place.write("w/a.txt", "x");
    let (stopper, stop) = Stopper::new();
    stopper.stop();
    let output = place.run_with("search_files", &json!({"regex": "x"}), stop);
    assert!(output.is_error && output.text.contains("stopped"), "{}", output.text);
}

#[test]
fn what_is_written_can_be_undone() {
    let place = Place::new();
    place.write("w/a.txt", "one\r\ntwo\r\n");
    place.write("w/b.txt", b"\xEF\xBB\xBFb\n");
    place.write("w/gone.txt", "gone\n");
    place.write("w/was.txt", "x\n");
    let before = inventory(&place.path("w"));
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+2\n*** Update File: b.txt\n@@\n-b\n+B\n\
        *** Delete File: gone.txt\n*** Add File: new/deep/c.txt\n+c\n*** Update File: was.txt\n*** Move to: is.txt\n@@\n-x\n+y\n*** End Patch\n";
    let output = place.run("apply_patch", &json!({ "input": patch }));
    assert!(!output.is_error, "{}", output.text);
    assert_eq!(
        &*output.text,
        "a.txt was changed\nb.txt was changed\ngone.txt was deleted\nnew/deep/c.txt was created\nwas.txt is now is.txt"
    );
    assert_eq!(place.read("w/a.txt").as_deref(), Some("one\r\n2\r\n"));
    assert_eq!(place.read("w/b.txt").as_deref(), Some("\u{feff}B\n"));
    assert_eq!(place.read("w/gone.txt"), None);
    assert_eq!(place.read("w/new/deep/c.txt").as_deref(), Some("c\n"));
    assert_eq!((place.read("w/was.txt"), place.read("w/is.txt").as_deref()), (None, Some("y\n")));
    assert_eq!(output.parts.len(), 5);
    for undo in output.undo.iter().rev() {
        place.bench.workspace().undo(undo).expect("it is as it was left");
    }
    let files = |list: Vec<(std::path::PathBuf, Vec<u8>)>| {
        list.into_iter().filter(|(path, _)| path.is_file()).collect::<Vec<_>>()
    };
    assert_eq!(files(inventory(&place.path("w"))), files(before));
}

#[test]
fn what_was_changed_since_is_not_undone() {
    let place = Place::new();
    place.write("w/a.txt", "one");
    let output = place.run("write_to_file", &json!({"path": "a.txt", "content": "two"}));
    place.write("w/a.txt", "three");
    let error = place.bench.workspace().undo(&output.undo[0]).expect_err("it was changed");
    assert!(error.contains("was changed since"), "{error}");
    assert_eq!(place.read("w/a.txt").as_deref(), Some("three"));
}

#[test]
fn a_patch_is_applied_whole_or_not_at_all() {
    let place = Place::new();
    place.write("w/a.txt", "one\n");
    place.write("w/b.txt", "two\n");
    let before = inventory(&place.path("w"));
    for second in [
        "*** Update File: b.txt\n@@\n-nothing\n+x",
        "*** Delete File: missing.txt",
        "*** Add File: b.txt\n+x",
    ] {
        let patch = format!(
            "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+1\n{second}\n*** End Patch"
        );
        let output = place.run("apply_patch", &json!({ "input": patch }));
        assert!(output.is_error, "{}", output.text);
        assert_eq!(inventory(&place.path("w")), before, "{}", output.text);
    }
}

#[cfg(unix)]
#[test]
fn a_patch_that_fails_half_way_is_taken_back() {
    use std::os::unix::fs::PermissionsExt as _;
    let place = Place::new();
    place.write("w/a.txt", "one\n");
    place.write("w/locked/b.txt", "two\n");
    let locked = place.path("w/locked");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o555)).expect("permissions");
    let can_write_anyway = fs::write(locked.join("probe"), "").is_ok();
    let patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+1\n*** Update File: locked/b.txt\n@@\n-two\n+2\n*** End Patch";
    let output = place.run("apply_patch", &json!({ "input": patch }));
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o755)).expect("permissions");
    // The administrator may write anywhere, and sees the patch succeed.
    assert_eq!(output.is_error, !can_write_anyway, "{}", output.text);
    let expected = if can_write_anyway { "1\n" } else { "one\n" };
    assert_eq!(place.read("w/a.txt").as_deref(), Some(expected));
}

#[test]
fn an_edit_keeps_the_encoding() {
    let place = Place::new();
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
    place.write("w/wide.txt", wide("\u{feff}one\r\ntwo\r\n"));
    let edit = json!({"path": "wide.txt", "old_string": "one\n", "new_string": "1\n"});
    let output = place.run("edit_file", &edit);
    assert!(!output.is_error, "{}", output.text);
    assert_eq!(fs::read(place.path("w/wide.txt")).expect("a file"), wide("\u{feff}1\r\ntwo\r\n"));
    place.write("w/latin.txt", b"caf\xE9 one\n");
    let output = place
        .run("edit_file", &json!({"path": "latin.txt", "old_string": "one", "new_string": "1"}));
    assert!(output.is_error && output.text.contains("would damage it"), "{}", output.text);
    assert_eq!(fs::read(place.path("w/latin.txt")).expect("a file"), b"caf\xE9 one\n");
}

#[test]
fn the_question_shows_the_change() {
    let place = Place::new();
    place.write("w/a.txt", "one\n");
    let edit = json!({"path": "./a.txt", "old_string": "one", "new_string": "two"});
    let Ok(letterpress::tools::Verdict::Ask(question)) = place.judge("edit_file", &edit) else {
        panic!()
    };
    let approval = question.approval();
    let [change] = approval.changes.as_slice() else { panic!("{approval:?}") };
    assert_eq!(
        (&*change.path, change.before.as_deref(), change.after.as_deref()),
        ("a.txt", Some("one\n"), Some("two\n"))
    );
    assert_eq!((approval.what.as_str(), approval.is_inside), ("./a.txt", true));
    #[cfg(unix)]
    assert_eq!(approval.place, place.path("w/a.txt").to_str().expect("UTF-8"));
    // What changes between question and answer is not written over.
    place.write("w/a.txt", "one and more\n");
    let approved = question.answer(letterpress::tools::policy::Answer::Once).expect("granted").call;
    let (progress, _heard) = tokio::sync::mpsc::channel(1);
    let run = letterpress::tools::Run {
        call_id: "c".into(),
        stop: letterpress::tools::Stop::never(),
        progress,
    };
    let output = super::bench::runtime().block_on(place.bench.run(approved, run));
    assert!(output.is_error && output.text.contains("in the meantime"), "{}", output.text);
    assert_eq!(place.read("w/a.txt").as_deref(), Some("one and more\n"));
}
