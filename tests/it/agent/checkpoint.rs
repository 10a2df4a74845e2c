//! Checkpoints: what they hold, what they leave alone, and the way back and forth.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    process::Command as Program,
    sync::Arc,
};

use letterpress::{
    model::{Command, Decision, NoticeKind, Part, Snapshot, ToolState, ToolUse},
    tools::checkpoint::{ChangedFile, CheckpointError, CheckpointId, Checkpoints, How},
};
use serde_json::json;
use tokio::runtime::{Builder, Runtime};

use super::bench::{Ground, calls, calls_of, decide, question, talk};
use crate::live::server::whole;

fn runtime() -> Runtime {
    Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap()
}

fn checkpoints(ground: &Ground) -> Checkpoints {
    let work = ground.work().canonicalize().unwrap();
    Checkpoints::new(&work, &ground.places().state.join("points"), None).unwrap()
}

fn git(folder: &Path, words: &[&str]) {
    let mut git = Program::new("git");
    git.args(["-c", "user.name=x", "-c", "user.email=x@x"]).args(words).current_dir(folder);
    assert!(git.output().unwrap().status.success(), "{words:?}");
}

/// Everything below a folder.
fn all(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let about = fs::symlink_metadata(&path).unwrap();
            if about.is_dir() {
                folders.push(path);
            } else if about.is_symlink() {
                let target = fs::read_link(&path).unwrap();
                found.insert(path, target.into_os_string().into_encoded_bytes());
            } else {
                found.insert(path.clone(), fs::read(path).unwrap());
            }
        }
    }
    found
}

#[test]
fn a_workspace_comes_back_byte_by_byte_and_goes_forth_again() {
    let ground = Ground::new();
    ground.write("same", "same\n");
    ground.write("text", "one\r\ntwo\nthree");
    ground.write(".gitattributes", "* text=auto eol=crlf\n*.id ident\n");
    ground.write("x.id", "$Id$\n");
    ground.write("gone", "gone\n");
    ground.write("-odd :(top)\nname*", "odd\n");
    fs::write(ground.work().join("bytes"), [0, 255, 13, 10, 0]).unwrap();
    fs::create_dir(ground.work().join("deep")).unwrap();
    ground.write("deep/er", "deeper\n");
    #[cfg(unix)]
    std::os::unix::fs::symlink("same", ground.work().join("link")).unwrap();
    let (runtime, points) = (runtime(), checkpoints(&ground));
    let before = all(&ground.work());
    let first = runtime.block_on(points.make()).unwrap();
    assert_eq!(runtime.block_on(points.changes_since(&first)).unwrap(), []);

    ground.write("text", "one\r\n2\nthree");
    fs::remove_file(ground.work().join("gone")).unwrap();
    fs::remove_dir_all(ground.work().join("deep")).unwrap();
    ground.write("deep", "a file now\n");
    ground.write("new", "a\nb\n");
    ground.write("-odd :(top)\nname*", "even\n");
    fs::write(ground.work().join("bytes"), [1, 0]).unwrap();
    let after = all(&ground.work());
    let changes = runtime.block_on(points.changes_since(&first)).unwrap();
    let change = |path: &str, how, added, removed| ChangedFile {
        path: path.into(),
        how,
        added: Some(added),
        removed: Some(removed),
    };
    let binary = ChangedFile { added: None, removed: None, ..change("bytes", How::Changed, 0, 0) };
    let expected = [
        change("-odd :(top)\nname*", How::Changed, 1, 1),
        binary,
        change("deep", How::Added, 1, 0),
        change("deep/er", How::Deleted, 0, 1),
        change("gone", How::Deleted, 0, 1),
        change("new", How::Added, 2, 0),
        change("text", How::Changed, 1, 1),
    ];
    assert_eq!(changes, expected);

    let untouched = fs::metadata(ground.work().join("same")).unwrap().modified().unwrap();
    let (second, done) = runtime.block_on(points.restore(&first)).unwrap();
    assert_eq!(all(&ground.work()), before);
    assert_eq!(done.len(), expected.len());
    assert_eq!(done[5], change("new", How::Deleted, 0, 2));
    assert_eq!(fs::metadata(ground.work().join("same")).unwrap().modified().unwrap(), untouched);

    let (_, back) = runtime.block_on(points.restore(&second)).unwrap();
    assert_eq!(all(&ground.work()), after, "a restore can be taken back");
    assert_eq!(back.len(), expected.len());
    let (_, nothing) = runtime.block_on(points.restore(&second)).unwrap();
    assert_eq!(nothing, []);
}

#[test]
fn what_is_ignored_large_or_a_repository_of_its_own_is_left_alone() {
    let ground = Ground::new();
    ground.write(".gitignore", "*.log\nbuild/\n");
    ground.write("a.log", "1\n");
    ground.write("kept", "1\n");
    for name in ["empty", "inner"] {
        fs::create_dir(ground.work().join(name)).unwrap();
        git(&ground.work().join(name), &["init", "-q"]);
    }
    ground.write("inner/file", "1\n");
    git(&ground.work().join("inner"), &["add", "."]);
    git(&ground.work().join("inner"), &["commit", "-q", "-m", "x"]);
    let large = fs::File::create(ground.work().join("large")).unwrap();
    large.set_len(50 * 1024 * 1024 + 1).unwrap();
    ground.write("grows", "small\n");
    let (runtime, points) = (runtime(), checkpoints(&ground));
    let first = runtime.block_on(points.make()).unwrap();
    for name in ["a.log", "kept", "inner/file"] {
        ground.write(name, "2\n");
    }
    large.set_len(50 * 1024 * 1024 + 2).unwrap();
    fs::File::create(ground.work().join("grows")).unwrap().set_len(60 * 1024 * 1024).unwrap();
    let (_, done) = runtime.block_on(points.restore(&first)).unwrap();
    let names: Vec<_> = done.iter().map(|change| &*change.path).collect();
    assert_eq!(names, ["kept"]);
    assert_eq!(fs::metadata(ground.work().join("grows")).unwrap().len(), 60 * 1024 * 1024);
    assert_eq!(ground.read("kept").unwrap(), "1\n");
    assert_eq!(ground.read("a.log").unwrap(), "2\n");
    assert_eq!(ground.read("inner/file").unwrap(), "2\n");
    assert_eq!(fs::metadata(ground.work().join("large")).unwrap().len(), 50 * 1024 * 1024 + 2);
    assert!(ground.work().join("empty/.git").exists());
}

#[test]
fn the_users_repository_is_not_touched_and_what_it_names_does_not_run() {
    let ground = Ground::new();
    let work = ground.work();
    git(&work, &["init", "-q"]);
    ground.write("staged", "1\n");
    git(&work, &["add", "."]);
    git(&work, &["commit", "-q", "-m", "first"]);
    ground.write("staged", "2\n");
    git(&work, &["add", "."]);
    let trap = ground.work().join("sprung");
    let trap_line = format!("touch {}", trap.display());
    for setting in
        ["filter.evil.clean", "filter.evil.smudge", "core.fsmonitor", "diff.evil.textconv"]
    {
        git(&work, &["config", setting, &trap_line]);
    }
    ground.write(".gitattributes", "* filter=evil diff=evil\n");
    fs::write(work.join(".git/hooks/post-checkout"), format!("#!/bin/sh\n{trap_line}\n")).unwrap();
    let before = all(&work.join(".git"));
    let (runtime, points) = (runtime(), checkpoints(&ground));
    let first = runtime.block_on(points.make()).unwrap();
    ground.write("staged", "3\n");
    runtime.block_on(points.changes_since(&first)).unwrap();
    runtime.block_on(points.restore(&first)).unwrap();
    assert_eq!(ground.read("staged").unwrap(), "2\n");
    assert_eq!(all(&work.join(".git")), before);
    assert!(!trap.exists());
}

#[test]
fn what_is_no_workspace_and_what_is_no_checkpoint_is_refused() {
    let ground = Ground::new();
    let work = ground.work().canonicalize().unwrap();
    let state = ground.places().state;
    let refused =
        |folder: &Path, home: Option<&Path>| Checkpoints::new(folder, &state, home).unwrap_err();
    assert_eq!(refused(Path::new("/"), None), CheckpointError::NoWorkspace);
    assert_eq!(refused(&work, Some(&work)), CheckpointError::NoWorkspace);
    assert_eq!(refused(work.parent().unwrap(), Some(&work)), CheckpointError::NoWorkspace);
    let desktop = work.join("Desktop");
    assert_eq!(refused(&desktop, Some(&work)), CheckpointError::NoWorkspace);
    assert!(Checkpoints::new(&work.join("project"), &state, Some(&work)).is_ok());
    let inside = Checkpoints::new(&work, &work.join(".points"), None).unwrap_err();
    assert_eq!(inside, CheckpointError::InsideItself);

    for name in ["", "HEAD", "--output=/etc/x", "refs/heads/checkpoints", &"g".repeat(40)] {
        assert_eq!(CheckpointId::parse(name), None, "{name}");
    }
    let (runtime, points) = (runtime(), checkpoints(&ground));
    let unknown = CheckpointId::parse(&"a".repeat(40)).unwrap();
    assert_eq!(runtime.block_on(points.restore(&unknown)).unwrap_err(), CheckpointError::Unknown);
}

#[test]
fn several_at_once_and_one_that_was_given_up_do_no_harm() {
    let ground = Ground::new();
    for number in 0..50 {
        ground.write(&format!("file{number}"), &number.to_string());
    }
    let (runtime, points) = (runtime(), checkpoints(&ground));
    for steps in 0..12 {
        let given_up = async {
            let mut making = Box::pin(points.make());
            for _ in 0..steps {
                let wait = std::time::Duration::from_millis(3);
                if tokio::time::timeout(wait, &mut making).await.is_ok() {
                    break;
                }
            }
        };
        runtime.block_on(given_up);
    }
    let made =
        runtime.block_on(async { tokio::join!(points.make(), points.make(), points.make()) });
    let (one, two, three) = (made.0.unwrap(), made.1.unwrap(), made.2.unwrap());
    for point in [one, two, three] {
        assert_eq!(runtime.block_on(points.changes_since(&point)).unwrap(), []);
    }
}

/// The checkpoint that the last notice of one names.
fn newest(snapshot: &Snapshot) -> Option<Arc<str>> {
    let parts = snapshot.messages().flat_map(|message| message.parts.iter());
    let names = parts.filter_map(|part| match part {
        Part::Notice(notice) => match &notice.kind {
            NoticeKind::Checkpoint(name) => Some(Arc::clone(name)),
            _ => None,
        },
        _ => None,
    });
    names.collect::<Vec<_>>().pop()
}

#[test]
fn the_first_change_of_a_conversation_can_be_taken_back_and_that_too() {
    let ground = Ground::new();
    ground.write("notes", "alpha\n");
    let edit = |old: &str, new: &str| {
        ("edit_file", json!({"path": "notes", "old_string": old, "new_string": new}))
    };
    let hang = ("execute_command", json!({"command": ["sleep", "600"]}));
    let rounds = vec![
        calls(&[
            ("read_file", json!({"path": "notes"})),
            edit("alpha", "beta"),
            edit("beta", "gamma"),
        ]),
        whole(&["Done."]),
        calls(&[hang]),
    ];
    let (mut bench, kit) = talk(&ground, ToolUse::Edits, rounds);
    assert_eq!(kit.warnings, Vec::<String>::new());
    let end = bench.ask("go");
    assert!(calls_of(&end).iter().all(|call| call.state == ToolState::Ok));
    assert_eq!(ground.read("notes").unwrap(), "gamma\n");
    let first = newest(&end).expect("the reader is told");
    let notices = end.messages().flat_map(|m| m.parts.iter());
    let notices = notices.filter(|part| matches!(part, Part::Notice(_))).count();
    assert_eq!(notices, 1, "one, before the first change");

    bench.command(Command::Restore { checkpoint: Arc::clone(&first) });
    let restored =
        bench.until(|s| newest(s).is_some_and(|name| name != first) && !s.phase.is_busy());
    assert_eq!(ground.read("notes").unwrap(), "alpha\n");
    let second = newest(&restored).unwrap();

    // What is going on is stopped first.
    bench.say("on");
    let asked = question(&mut bench, None);
    decide(&bench, &asked, Decision::Once);
    bench.until(|s| calls_of(s).last().is_some_and(|call| call.state == ToolState::Running));
    bench.command(Command::Restore { checkpoint: Arc::clone(&second) });
    let back = bench.until(|s| newest(s).is_some_and(|name| name != second) && !s.phase.is_busy());
    assert_eq!(ground.read("notes").unwrap(), "gamma\n");
    assert_eq!(calls_of(&back).last().unwrap().state, ToolState::Aborted);

    let none = bench.session.snapshot().len();
    bench.command(Command::Restore { checkpoint: "nonsense".into() });
    let told = bench.until(|s| s.len() > none && !s.phase.is_busy());
    let last = told.messages().next_back().unwrap();
    assert!(matches!(&last.parts[0], Part::Notice(it) if it.kind == NoticeKind::Error));
}
