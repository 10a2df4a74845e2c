//! Folders and patterns: what joins, in which order, and what is left out.

use std::{
    ffi::{OsStr, OsString},
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use letterpress::engine::follow::{Config, FollowError, Following, Notice, Wanted, agent_folders};

use super::{Folder, Wall, append, is_lost, noticed, prompt, said, session};

fn names(following: &mut Following) -> Vec<String> {
    following.conversations().map(|one| one.origin().name.to_string()).collect()
}

fn written_before(path: &Path, secs: u64) {
    let file = fs::File::open(path).expect("a file");
    let written = file.metadata().and_then(|metadata| metadata.modified()).expect("a time");
    file.set_modified(written - Duration::from_secs(secs)).expect("a time");
}

#[test]
fn conversations_join_as_they_come() {
    for notice in [Notice::Both, Notice::System, Notice::Polling] {
        let folder = Folder::new();
        folder.file("a.jsonl", &session(&["one"]));
        let mut wall = Wall::of(vec![Wanted::Folder(folder.path().to_owned())], noticed(notice));
        wall.until("a joins", |f| names(f) == ["a.jsonl"]);
        folder.file("deep/er/b.jsonl", &session(&["two"]));
        wall.until("b joins", |f| names(f) == ["a.jsonl", "b.jsonl"]);
        let path = folder.file("deep/er/c.jsonl", "");
        append(&path, &session(&["three"]));
        wall.until("c joins", |f| names(f) == ["a.jsonl", "b.jsonl", "c.jsonl"]);
        append(&path, &prompt("x", "three", "more"));
        wall.until("c grows", |f| f.conversations().any(|one| said(one) == "three more"));
        let ids: Vec<u64> = wall.following.conversations().map(|one| one.id().0).collect();
        assert_eq!(ids, [0, 1, 2], "{notice:?}");
    }
}

#[test]
fn a_folder_may_come_later_and_go_and_come_back() {
    let folder = Folder::new();
    let inside = folder.path().join("sessions");
    let mut wall = Wall::folder(&inside);
    folder.file("sessions/a.jsonl", &session(&["one"]));
    wall.until("a joins", |f| f.conversations().any(|one| said(one) == "one"));
    let away = folder.path().join("away");
    fs::rename(&inside, &away).unwrap();
    wall.until("it is lost", |f| f.conversations().all(|one| is_lost(one)));
    append(&away.join("a.jsonl"), &prompt("two", "one", "two"));
    fs::rename(&away, &inside).unwrap();
    wall.until("it is back", |f| f.conversations().all(|one| !is_lost(one)));
    append(&inside.join("a.jsonl"), &prompt("three", "two", "three"));
    wall.until_said("one two three");
    folder.file("sessions/b.jsonl", &session(&["new"]));
    wall.until("b joins", |f| f.len() == 2);
}

#[test]
fn a_folder_that_is_deleted_and_made_anew_is_followed_again() {
    let folder = Folder::new();
    folder.file("sessions/a.jsonl", &session(&["one"]));
    let mut wall = Wall::folder(&folder.path().join("sessions"));
    wall.until("a joins", |f| f.conversations().any(|one| said(one) == "one"));
    fs::remove_dir_all(folder.path().join("sessions")).unwrap();
    wall.until("it is lost", |f| f.conversations().all(|one| is_lost(one)));
    folder.file("sessions/a.jsonl", &session(&["other"]));
    wall.until_said("other");
    folder.file("sessions/b.jsonl", &session(&["two"]));
    wall.until("b joins", |f| f.len() == 2);
}

#[test]
fn what_is_no_transcript_is_left_out_with_a_word() {
    let folder = Folder::new();
    folder.file("prose.jsonl", "not a transcript\n");
    folder.file("notes.md", "# Notes\n");
    folder.file("other.jsonl", "{\"payload\":{},\"type\":\"session_meta\"}\n");
    folder.file("a.jsonl", &session(&["one"]));
    let mut wall = Wall::folder(folder.path());
    wall.until("two warnings", |f| f.warnings().len() == 2 && f.len() == 1);
    assert_eq!(names(&mut wall.following), ["a.jsonl"]);
    assert!(wall.following.warnings().iter().all(|words| words.contains("not a transcript")));
}

#[test]
fn the_newest_are_followed_and_give_way_to_newer_ones() {
    let folder = Folder::new();
    for number in 0..6 {
        let path = folder.file(&format!("{number}.jsonl"), &session(&["one"]));
        written_before(&path, 1_000 - number * 100);
    }
    let config = Config { most: 3, ..Config::default() };
    let mut wall = Wall::of(vec![Wanted::Folder(folder.path().to_owned())], config);
    wall.until("three join", |f| names(f) == ["3.jsonl", "4.jsonl", "5.jsonl"]);
    wall.until("a word on the others", |f| f.warnings().len() == 1);
    append(&folder.path().join("0.jsonl"), &prompt("x", "one", "x"));
    wall.until("0 joins", |f| names(f) == ["4.jsonl", "5.jsonl", "0.jsonl"]);
    let ids: Vec<u64> = wall.following.conversations().map(|one| one.id().0).collect();
    assert_eq!(ids, [1, 2, 3], "an id is never given again");
}

#[cfg(unix)]
#[test]
fn links_that_lead_back_end_and_one_file_is_followed_once() {
    let folder = Folder::new();
    let file = folder.file("in/a.jsonl", &session(&["one"]));
    std::os::unix::fs::symlink(folder.path(), folder.path().join("in/loop")).unwrap();
    std::os::unix::fs::symlink(&file, folder.path().join("same.jsonl")).unwrap();
    std::os::unix::fs::symlink("nowhere", folder.path().join("broken.jsonl")).unwrap();
    let mut wall = Wall::folder(folder.path());
    wall.until("a joins", |f| f.len() == 1);
    folder.file("b.jsonl", &session(&["two"]));
    wall.until("b joins", |f| f.len() == 2);
    append(&file, &prompt("x", "one", "more"));
    wall.until("a grows", |f| f.conversations().any(|one| said(one) == "one more"));
    assert_eq!(wall.following.len(), 2);
}

#[test]
fn ten_thousand_files_are_looked_at_and_few_opened() {
    let folder = Folder::new();
    for number in 0..10_000 {
        let path = folder.file(&format!("{number:05}.jsonl"), "");
        written_before(&path, 50_000);
    }
    for name in ["x", "y"] {
        folder.file(&format!("{name}.jsonl"), &session(&["one"]));
    }
    let mut wall = Wall::folder(folder.path());
    wall.until("two join", |f| f.len() == 2);
    folder.file("z.jsonl", &session(&["two"]));
    wall.until("z joins", |f| f.len() == 3);
}

#[test]
fn a_pattern_means_what_it_says() {
    let folder = Folder::new();
    folder.file("one/a.jsonl", &session(&["a"]));
    folder.file("one/deep/b.jsonl", &session(&["b"]));
    folder.file("two/a.log", &session(&["c"]));
    let pattern = |tail: &str| Wanted::Glob(format!("{}/{tail}", folder.path().display()));
    let mut wall = Wall::of(vec![pattern("*/a.*")], Config::default());
    wall.until("both join", |f| f.len() == 2);
    let mut found = names(&mut wall.following);
    found.sort();
    assert_eq!(found, ["a.jsonl", "a.log"]);
    let mut wall = Wall::of(vec![pattern("**/*.jsonl")], Config::default());
    wall.until("both join", |f| f.len() == 2);
    folder.file("new/c.jsonl", &session(&["d"]));
    wall.until("a new one joins", |f| f.len() == 3);
}

#[test]
fn a_file_named_beside_its_folder_is_followed_once() {
    let folder = Folder::new();
    let a = folder.file("a.jsonl", &session(&["one"]));
    folder.file("b.jsonl", &session(&["two"]));
    let wanted = vec![Wanted::File(a), Wanted::Folder(folder.path().to_owned())];
    let mut wall = Wall::of(wanted, Config::default());
    wall.until("both", |f| f.len() == 2);
    assert_eq!(names(&mut wall.following), ["a.jsonl", "b.jsonl"]);
}

#[test]
fn arguments_are_told_apart() {
    let folder = Folder::new();
    let file = folder.file("odd[1].jsonl", "x");
    let parse = |text: &OsStr| Wanted::parse(text);
    let of = |text: &str| Wanted::parse(OsStr::new(text)).expect("something to follow");
    assert_eq!(of("-"), Wanted::Stdin);
    assert_eq!(of("agents"), Wanted::Agents);
    assert_eq!(parse(file.as_os_str()).unwrap(), Wanted::File(file.clone()), "it is there");
    assert_eq!(parse(folder.path().as_os_str()).unwrap(), Wanted::Folder(folder.path().to_owned()));
    assert_eq!(of("later.jsonl"), Wanted::File(PathBuf::from("later.jsonl")));
    assert_eq!(of("later/"), Wanted::Folder(PathBuf::from("later/")));
    assert_eq!(of("x/*.jsonl"), Wanted::Glob("x/*.jsonl".to_owned()));
    let url = of("https://user:secret@example.org/feed?token=secret#x");
    assert_eq!(url.to_string(), "https://example.org/feed");
    for bad in ["", "ftp://x/y", "https://", "x/[", "http://[::1"] {
        let error = parse(OsStr::new(bad)).expect_err(bad);
        assert_eq!(error.to_string().lines().count(), 1);
        assert!(!error.to_string().contains("secret"));
    }
    let twice = vec![Wanted::Stdin, Wanted::Stdin];
    let input = || Box::new(std::io::empty()) as Box<dyn std::io::Read + Send>;
    let waker = super::waker().0;
    let started = Following::start_with(twice, input, waker, Config::default());
    assert!(matches!(started, Err(FollowError::StdinTwice)));
}

#[test]
fn the_folders_of_the_agents_follow_their_variables() {
    let home = Path::new("/home/u");
    let plain = agent_folders(Some(home), |_| None);
    assert_eq!(plain, [home.join(".pi/agent/sessions"), home.join(".claude/projects")]);
    let moved = agent_folders(Some(home), |name| {
        (name == "CLAUDE_CONFIG_DIR").then(|| OsString::from("/c"))
    });
    assert_eq!(moved, [home.join(".pi/agent/sessions"), PathBuf::from("/c/projects")]);
    assert!(agent_folders(None, |_| None).is_empty());
}
