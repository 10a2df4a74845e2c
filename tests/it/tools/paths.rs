//! Paths that try to leave the workspace, and things that are not what they seem.

#![cfg(unix)]

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
};

use letterpress::tools::{ToolOutput, Verdict, policy::Answer};
use serde_json::{Value, json};

use super::bench::{Place, inventory, runtime};

/// A workspace with every kind of trap in it.
fn trapped() -> Place {
    let place = Place::new();
    place.write("outside/secret.txt", "secret");
    place.write("outside/folder/secret.txt", "secret");
    place.write("w/a.txt", "inside");
    place.write("w/src/b.txt", "inside");
    place.write("w/.git/config", "[core]\n");
    place.write("w/.env", "KEY=x");
    place.write("w/deep/er/c.txt", "inside");
    let link = |target: &str, name: &str| {
        symlink(target, place.path("w").join(name)).expect("a link");
    };
    link("../outside/secret.txt", "leaf");
    link("../outside", "out");
    link("/etc", "etc");
    link("a.txt", "inner");
    link("src", "inner-folder");
    link(".git", "g");
    link(".env", "e");
    link("nowhere", "dangling");
    link("../outside/new.txt", "dangling-out");
    link("loop-b", "loop-a");
    link("loop-a", "loop-b");
    link("..", "up");
    link("/proc/self/root", "proc-root");
    link("inner", "twice");
    link("../w/../outside/secret.txt", "roundabout");
    symlink("../../outside", place.path("w/src/out")).expect("a link");
    fs::hard_link(place.path("outside/secret.txt"), place.path("w/hard.txt")).expect("a hard link");
    rustix_fifo(&place);
    place
}

fn rustix_fifo(place: &Place) {
    let made = std::process::Command::new("mkfifo").arg(place.path("w/pipe")).status();
    assert!(made.is_ok_and(|status| status.success()), "a pipe");
}

fn read(path: &str) -> (&'static str, Value) {
    ("read_file", json!({ "path": path }))
}

fn write(path: &str) -> (&'static str, Value) {
    ("write_to_file", json!({"path": path, "content": "new"}))
}

fn edit(path: &str) -> (&'static str, Value) {
    ("edit_file", json!({"path": path, "old_string": "secret", "new_string": "new"}))
}

fn add(path: &str) -> (&'static str, Value) {
    (
        "apply_patch",
        json!({"input": format!("*** Begin Patch\n*** Add File: {path}\n+new\n*** End Patch")}),
    )
}

fn delete(path: &str) -> (&'static str, Value) {
    let patch = format!("*** Begin Patch\n*** Delete File: {path}\n*** End Patch");
    ("apply_patch", json!({ "input": patch }))
}

fn cat(path: &str) -> (&'static str, Value) {
    ("execute_command", json!({"command": ["cat", path]}))
}

fn run_in(folder: &str) -> (&'static str, Value) {
    ("execute_command", json!({"command": ["pwd"], "cwd": folder}))
}

/// `allow`, `ask` (may be remembered), `once` (may not), `deny`, `bad` (not understood).
#[test]
fn the_table_of_paths() {
    let place = trapped();
    let absolute = |name: &str| place.path(name).to_str().expect("UTF-8").to_owned();
    let (inside, secret) = (absolute("w/a.txt"), absolute("outside/secret.txt"));
    let sibling = format!("{}-evil/x", absolute("w"));
    let mut cases: Vec<(&str, (&str, Value))> = vec![
        ("allow", read("a.txt")),
        ("allow", read("./src/../a.txt")),
        ("allow", read("src//b.txt")),
        ("allow", read(&inside)),
        ("allow", read("inner")),
        ("allow", read("twice")),
        ("allow", read("inner-folder/b.txt")),
        ("allow", read("up/w/a.txt")),
        ("allow", read("missing.txt")),
        ("ask", read("../outside/secret.txt")),
        ("ask", read("src/../../outside/secret.txt")),
        ("ask", read(&secret)),
        ("ask", read("/etc/passwd")),
        ("ask", read("leaf")),
        ("ask", read("out/secret.txt")),
        ("ask", read("src/out/secret.txt")),
        ("ask", read("roundabout")),
        ("ask", read("etc/passwd")),
        ("ask", read("up/outside/secret.txt")),
        ("ask", read("out/../outside/secret.txt")),
        ("deny", read("inner-folder/../../x/../a/b")),
        ("ask", read(&sibling)),
        ("once", read(".env")),
        ("once", read("e")),
        ("once", read(".git/config")),
        ("once", read("g/config")),
        ("deny", read("pipe")),
        ("deny", read("/dev/zero")),
        ("deny", read("loop-a")),
        ("deny", read("dangling")),
        ("deny", read("missing/../a.txt")),
        ("deny", read("a.txt/../a.txt")),
        ("deny", read("a.txt/b")),
        ("bad", read("~/.bashrc")),
        ("bad", read("a\0b")),
        ("bad", read("a\nb")),
        ("allow", ("list_files", json!({}))),
        ("allow", ("list_files", json!({"path": "inner-folder"}))),
        ("ask", ("list_files", json!({"path": ".."}))),
        ("ask", ("list_files", json!({"path": "out", "recursive": true}))),
        ("ask", ("glob", json!({"pattern": "**", "path": "/"}))),
        ("ask", ("search_files", json!({"regex": "x", "path": "etc"}))),
        ("ask", write("new.txt")),
        ("ask", write("a.txt")),
        ("ask", write("new/folder/x.txt")),
        ("ask", write("inner-folder/x.txt")),
        ("ask", write("../new.txt")),
        ("ask", write("/etc/new.txt")),
        ("ask", write("out/new.txt")),
        ("once", write(".git/hooks/pre-commit")),
        ("once", write("g/hooks/pre-commit")),
        ("once", write(".GIT/hooks/pre-commit")),
        ("once", write("src/../.git/config")),
        ("once", write(".bashrc")),
        ("once", write("/home/anna/.ssh/authorized_keys")),
        ("once", write(".vscode/tasks.json")),
        ("deny", write("leaf")),
        ("deny", write("inner")),
        ("deny", write("dangling")),
        ("deny", write("dangling-out")),
        ("deny", write("hard.txt")),
        ("deny", write("pipe")),
        ("deny", write("/dev/null")),
        ("deny", write("src")),
        ("deny", write(".")),
        ("deny", write("a.txt/x")),
        ("deny", write("missing/../../x")),
        ("deny", edit("leaf")),
        ("deny", edit("hard.txt")),
        ("ask", edit("../outside/folder/secret.txt")),
        ("ask", edit("out/folder/secret.txt")),
        ("ask", add("../x.txt")),
        ("ask", add("/etc/x.txt")),
        ("deny", add("dangling-out")),
        ("deny", delete("leaf")),
        ("deny", delete("hard.txt")),
        ("ask", delete("out/folder/secret.txt")),
        ("allow", cat("a.txt")),
        ("allow", cat("inner")),
        ("ask", cat("leaf")),
        ("ask", cat("out/secret.txt")),
        ("ask", cat("src/out/secret.txt")),
        ("once", cat("e")),
        ("once", cat("dangling")),
        ("once", cat("pipe")),
        ("allow", run_in("src")),
        ("ask", run_in("..")),
        ("ask", run_in("out")),
        ("ask", run_in("/")),
        ("deny", run_in("missing")),
        ("deny", run_in("a.txt")),
    ];
    if cfg!(target_os = "linux") {
        cases.push(("ask", read("proc-root/etc/passwd")));
    }
    assert!(cases.len() >= 60, "{}", cases.len());
    let before = inventory(place.folder.path());
    let mut wrong = String::new();
    for (expected, (tool, arguments)) in cases {
        let found = place.word(tool, &arguments);
        if found != expected {
            wrong += &format!("{tool} {arguments}: {found}, not {expected}\n");
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    // Looking into a call touches nothing.
    assert_eq!(inventory(place.folder.path()), before);
}

#[test]
fn our_own_folders_are_always_asked_about() {
    let place = Place::new();
    let own = place.path("outside");
    let place = Place { bench: place.bench.own_folders(&[own]), folder: place.folder };
    let own = place.path("outside/config.toml");
    assert_eq!(place.word("write_to_file", &json!({"path": own, "content": ""})), "once");
}

#[test]
fn what_was_approved_outside_is_what_is_written() {
    let place = trapped();
    let (tool, arguments) = write("out/new.txt");
    let Ok(Verdict::Ask(question)) = place.judge(tool, &arguments) else { panic!("it is asked") };
    assert!(!question.approval().is_inside);
    assert_eq!(question.approval().place, place.path("outside/new.txt").to_str().expect("UTF-8"));
    // The link leads elsewhere before the answer comes.
    fs::remove_file(place.path("w/out")).expect("a link");
    fs::create_dir(place.path("other")).expect("a folder");
    symlink("../other", place.path("w/out")).expect("a link");
    let approved = question.answer(Answer::Once).expect("granted").call;
    let output = run(&place, approved);
    assert!(!output.is_error, "{}", output.text);
    assert_eq!(place.read("outside/new.txt").as_deref(), Some("new"));
    assert_eq!(place.read("other/new.txt"), None);
}

fn run(
    place: &Place,
    approved: letterpress::tools::Approved<letterpress::tools::Call>,
) -> ToolOutput {
    let (progress, _heard) = tokio::sync::mpsc::channel(1);
    let stop = letterpress::tools::Stop::never();
    let run = letterpress::tools::Run { call_id: "c".into(), stop, progress };
    runtime().block_on(place.bench.run(approved, run))
}

#[test]
fn what_is_swapped_after_the_answer_is_refused() {
    type Swap = (&'static str, fn(&Place));
    let swaps: [Swap; 4] = [
        ("src/new.txt", |place| {
            fs::rename(place.path("w/src"), place.path("w/was")).expect("renamed");
            symlink("../outside", place.path("w/src")).expect("a link");
        }),
        ("deep/er/new.txt", |place| {
            fs::rename(place.path("w/deep"), place.path("w/was")).expect("renamed");
            fs::create_dir(place.path("outside/er")).expect("a folder");
            symlink("../outside", place.path("w/deep")).expect("a link");
        }),
        ("new.txt", |place| {
            symlink("../outside/new.txt", place.path("w/new.txt")).expect("a link");
        }),
        ("new.txt", |place| {
            fs::hard_link(place.path("outside/secret.txt"), place.path("w/new.txt"))
                .expect("a link");
        }),
    ];
    for (path, swap) in swaps {
        let place = trapped();
        let (tool, arguments) = write(path);
        let Ok(Verdict::Ask(question)) = place.judge(tool, &arguments) else { panic!("{path}") };
        swap(&place);
        let outside = inventory(&place.path("outside"));
        let output = run(&place, question.answer(Answer::Once).expect("granted").call);
        assert!(output.is_error, "{path}: {}", output.text);
        assert_eq!(inventory(&place.path("outside")), outside, "{path}");
    }
}

/// How often the folder is swapped for a link at least, while files are written into it.
const SWAPS: u64 = 100_000;

#[test]
fn a_folder_that_turns_into_a_link_lets_nothing_out() {
    let place = trapped();
    fs::create_dir(place.path("w/race")).expect("a folder");
    symlink("../outside", place.path("w/link")).expect("a link");
    let outside = inventory(&place.path("outside"));
    let (swaps, is_over) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let (root, count, over) = (place.path("w"), Arc::clone(&swaps), Arc::clone(&is_over));
    let swapper = thread::Builder::new()
        .name("swapper".to_owned())
        .spawn(move || {
            let [race, link, was] = ["race", "link", "was"].map(|name| root.join(name));
            while !over.load(Ordering::Relaxed) {
                // What of it fails is tried again at once.
                drop(fs::rename(&race, &was));
                drop(fs::rename(&link, &race));
                drop(fs::rename(&race, &link));
                drop(fs::rename(&was, &race));
                count.fetch_add(2, Ordering::Relaxed);
            }
        })
        .expect("a thread");
    let runtime = runtime();
    let (mut written, mut refused, mut read) = (0, 0, 0);
    while swaps.load(Ordering::Relaxed) < SWAPS {
        let name = format!("race/{written}-{refused}.txt");
        let calls = [write(&name), ("read_file", json!({"path": "race/secret.txt"}))];
        for (tool, arguments) in calls {
            let approved = match place.judge(tool, &arguments) {
                Ok(Verdict::Allow(approved)) => approved,
                // The judge saw the link: the user says no.
                Ok(Verdict::Ask(question)) if !question.approval().is_inside => continue,
                Ok(Verdict::Ask(question)) => question.answer(Answer::Once).expect("granted").call,
                Ok(Verdict::Deny(_)) | Err(_) => continue,
            };
            let (progress, _heard) = tokio::sync::mpsc::channel(1);
            let stop = letterpress::tools::Stop::never();
            let run = letterpress::tools::Run { call_id: "c".into(), stop, progress };
            let output = runtime.block_on(place.bench.run(approved, run));
            match (tool, output.is_error) {
                ("read_file", _) => {
                    assert!(!output.text.contains("secret\n") && &*output.text != "secret");
                    read += 1;
                }
                (_, true) => refused += 1,
                (_, false) => written += 1,
            }
        }
    }
    is_over.store(true, Ordering::Relaxed);
    swapper.join().expect("the swapper ends");
    println!(
        "{} swaps, {written} written, {refused} refused, {read} readings",
        swaps.load(Ordering::Relaxed)
    );
    assert!(written > 0, "something was written in between");
    assert_eq!(inventory(&place.path("outside")), outside);
}

#[test]
fn permissions_and_owners_stay() {
    let place = Place::new();
    place.write("w/run.sh", "old");
    let path = place.path("w/run.sh");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o751)).expect("permissions");
    let output = place.run("write_to_file", &json!({"path": "run.sh", "content": "new"}));
    assert!(!output.is_error, "{}", output.text);
    assert_eq!(fs::metadata(&path).expect("it is there").permissions().mode() & 0o777, 0o751);
    // Nothing is left lying about.
    assert_eq!(inventory(&place.path("w")).len(), 1);
}

#[test]
fn a_workspace_must_be_a_folder() {
    let place = trapped();
    assert!(letterpress::tools::Workspace::open(&place.path("w/a.txt")).is_err());
    assert!(letterpress::tools::Workspace::open(&place.path("w/missing")).is_err());
}
