//! `letterpress sessions` and `letterpress search`, as programs; which session a word means.

#![expect(clippy::unwrap_used, reason = "tests: a panic is a failure")]

use std::{
    path::Path,
    process::{Command, Output, Stdio},
    sync::Arc,
    time::Duration,
};

use letterpress::{
    app::{
        cli::General,
        places::Places,
        sessions::{self, Named},
    },
    model::record::Meta,
    store::{Access, SessionId},
};
use serde_json::{Value, json};

use crate::catalog::maker::Maker;

fn command(data: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_letterpress"));
    command.arg("--data-dir").arg(data).args(words).env("TZ", "UTC");
    command
}

fn run(data: &Path, words: &[&str]) -> (String, String) {
    let Output { status, stdout, stderr } = command(data, words).output().unwrap();
    let stderr = String::from_utf8(stderr).unwrap();
    assert!(status.success(), "{words:?}: {stderr}");
    (String::from_utf8(stdout).unwrap(), stderr)
}

fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn places(data: &Path) -> Places {
    let general = General { data_dir: Some(data.to_owned()), ..General::default() };
    Places::find(&general).unwrap()
}

fn shelf() -> tempfile::TempDir {
    let data = tempfile::tempdir().unwrap();
    // The first of May 2026, 10:00.
    let start = 1_777_629_600_000;
    let mut one = Maker::begun(data.path(), "20260501-100000-aaaaaa", start);
    one.user("How are needles made?\u{1b}[31m");
    one.reply("From wire.");
    let mut two = Maker::begun(data.path(), "20260501-110000-bbbbbb", start + 3_600_000);
    two.meta(&json!({"title": "Haystacks"}));
    let mut three = Maker::begun(data.path(), "garden", start - 3_600_000);
    three.user("roses");
    three.meta(&json!({"pinned": true}));
    let mut four = Maker::begun(data.path(), "attic", start + 9_000_000);
    four.user("old needles");
    four.meta(&json!({"archived": true}));
    data
}

#[test]
fn sessions_are_listed_as_a_table_and_as_objects() {
    let data = shelf();
    let (table, _) = run(data.path(), &["sessions"]);
    let expected = "\
garden                  2026-05-01 09:00      1          roses [pinned]
20260501-110000-bbbbbb  2026-05-01 11:00      0          Haystacks
20260501-100000-aaaaaa  2026-05-01 10:00      2  demo-1  How are needles made? [31m
";
    assert_eq!(table, expected);
    let (lines, _) = run(data.path(), &["sessions", "--json", "--all"]);
    let ids: Vec<_> = objects(&lines).iter().map(|it| it["id"].clone()).collect();
    let all = ["garden", "attic", "20260501-110000-bbbbbb", "20260501-100000-aaaaaa"];
    assert_eq!(ids, all);
    let last = objects(&lines).pop().unwrap();
    assert_eq!((&last["messages"], &last["model"]), (&json!(2), &json!("demo-1")));
    assert_eq!(last["updated"], json!("2026-05-01T10:00:02.000Z"));
}

#[test]
fn search_prints_hits_and_says_when_there_are_none() {
    let data = shelf();
    let (lines, _) = run(data.path(), &["search", "needles", "made"]);
    let expected = "\
20260501-100000-aaaaaa  2026-05-01 10:00  title      How are needles made? [31m
20260501-100000-aaaaaa  2026-05-01 10:00  user       How are needles made? [31m
";
    assert_eq!(lines, expected);
    let (lines, _) = run(data.path(), &["search", "--json", "--limit", "1", "wire"]);
    let hit = objects(&lines).pop().unwrap();
    assert_eq!((&hit["role"], &hit["place"]), (&json!("assistant"), &json!("text")));
    assert_eq!((&hit["snippet"], &hit["ranges"]), (&json!("From wire."), &json!([[5, 9]])));
    assert!(hit["message"].as_u64().is_some_and(|offset| offset > 0), "{hit}");
    let (nothing, words) = run(data.path(), &["search", "no such words"]);
    assert_eq!((nothing.as_str(), words.as_str()), ("", "letterpress: nothing was found\n"));
}

#[test]
fn without_sessions_nothing_is_made() {
    let data = tempfile::tempdir().unwrap();
    let none = data.path().join("none");
    let (list, words) = run(&none, &["sessions"]);
    assert_eq!((list.as_str(), words.as_str()), ("", "letterpress: there are no sessions\n"));
    assert_eq!(run(&none, &["search", "a"]).0, "");
    assert!(!none.exists());
}

#[test]
fn both_work_while_a_window_writes() {
    let data = shelf();
    let places = places(data.path());
    let store = sessions::store(&places).unwrap();
    let id = SessionId::new("garden").unwrap();
    let opened = store.open_session(&id, 0).unwrap();
    assert!(matches!(opened.log, Access::Write(_)));
    let catalog = sessions::catalog(&places, Arc::new(|| ())).unwrap();
    assert!(run(data.path(), &["sessions"]).0.contains("roses"));
    assert!(run(data.path(), &["search", "roses"]).0.contains("garden"));
    drop((opened, catalog));
}

#[test]
fn a_word_means_an_id_its_beginning_a_title_or_a_new_session() {
    let data = shelf();
    let places = places(data.path());
    let store = sessions::store(&places).unwrap();
    let id = |name: &str| SessionId::new(name).unwrap();
    let named = |word: &str| sessions::named(&store, &places, word);
    let there = |name: &str| Named::There(id(name));
    assert_eq!(named("garden").unwrap(), there("garden"));
    assert_eq!(named("gar").unwrap(), there("garden"));
    assert_eq!(named("20260501-11").unwrap(), there("20260501-110000-bbbbbb"));
    assert_eq!(named("Haystacks").unwrap(), there("20260501-110000-bbbbbb"));
    assert_eq!(named("new-one").unwrap(), Named::New(id("new-one")));
    let error = named("2026").unwrap_err().to_string();
    assert!(error.starts_with("2 sessions may be meant: 20260501-100000-aaaaaa, "), "{error}");
    for unfit in ["Hay", "", "-a", "../garden", "a b"] {
        assert!(named(unfit).is_err(), "{unfit:?}");
    }
    let log = sessions::find_log(&places, "gard").unwrap().unwrap();
    assert!(log.ends_with("sessions/garden/log.jsonl"), "{}", log.display());
    assert_eq!(sessions::find_log(&places, "nobody").unwrap(), None);
}

#[test]
fn sessions_are_renamed_put_away_thrown_away_and_had_back() {
    let data = shelf();
    let places = places(data.path());
    let store = sessions::store(&places).unwrap();
    let (wake, woken) = std::sync::mpsc::sync_channel(1);
    let waker = Arc::new(move || wake.try_send(()).unwrap_or(()));
    let catalog = sessions::catalog(&places, waker).unwrap();
    let id = SessionId::new("garden").unwrap();
    let wait = |is_it: &dyn Fn(&letterpress::store::catalog::Listed) -> bool| loop {
        let sessions = catalog.sessions();
        if sessions.iter().any(|listed| listed.id == id && is_it(listed)) {
            return;
        }
        woken.recv_timeout(Duration::from_secs(60)).unwrap();
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let meta = Meta { title: Some("Beds".into()), archived: Some(true), ..Meta::default() };
    let none = None::<fn(&Meta) -> std::future::Ready<Result<(), sessions::Refused>>>;
    runtime.block_on(sessions::change(&store, &catalog, &id, &meta, none)).unwrap();
    wait(&|listed| &*listed.title == "Beds" && listed.archived && listed.pinned);

    // One that is open elsewhere is not touched; one that is open here is told through it.
    let opened = store.open_session(&id, 0).unwrap();
    let refused = runtime.block_on(sessions::change(&store, &catalog, &id, &meta, none));
    assert!(refused.unwrap_err().starts_with("It was not changed. "));
    assert_eq!(
        &*sessions::delete(&store, &catalog, &id).unwrap_err(),
        "It is open. Close it first."
    );
    let told = async |meta: &Meta| {
        assert_eq!(meta.title.as_deref(), Some("Beds"));
        Ok(())
    };
    runtime.block_on(sessions::change(&store, &catalog, &id, &meta, Some(told))).unwrap();
    let Access::Write(log) = opened.log else { panic!("it was free") };
    runtime.block_on(log.close()).unwrap();

    sessions::delete(&store, &catalog, &id).unwrap();
    wait(&|listed| listed.deleted);
    assert!(!run(data.path(), &["sessions"]).0.contains("Beds"));
    assert!(
        run(data.path(), &["sessions", "--all"]).0.contains("Beds [pinned] [archived] [deleted]")
    );
    assert_eq!(run(data.path(), &["search", "roses"]).0, "");
    sessions::restore(&store, &catalog, &id).unwrap();
    wait(&|listed| !listed.deleted);
    assert!(run(data.path(), &["search", "roses"]).0.contains("garden"));
}

/// Killed while it reads, it leaves an index that the next one goes on with.
#[test]
fn killed_while_indexing_nothing_is_lost() {
    let data = tempfile::tempdir().unwrap();
    for i in 0..60 {
        let mut log = Maker::begun(data.path(), &format!("s{i}"), 1_000 * i);
        for j in 0..60 {
            log.user(&format!("needle{i} message {j} {}", "some more words ".repeat(60)));
        }
    }
    for round in 0..12_u64 {
        let mut program = command(data.path(), &["search", "needle1"]);
        let mut child = program.stdout(Stdio::null()).spawn().unwrap();
        std::thread::park_timeout(Duration::from_millis(40 * (round + 1)));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let (lines, _) =
        run(data.path(), &["search", "--json", "--limit", "1000", "\"message 7 some\""]);
    assert_eq!(objects(&lines).len(), 60);
    let (list, _) = run(data.path(), &["sessions", "--json"]);
    assert!(objects(&list).iter().all(|session| session["messages"] == 60), "{list}");
    assert_eq!(objects(&list).len(), 60);
}
