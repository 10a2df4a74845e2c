//! The catalog of sessions: lists, words, and an index that may break at any time.

pub(crate) mod maker;

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
    sync::{Arc, mpsc},
    time::Duration,
};

use letterpress::{
    model::{MessageId, Role},
    store::{
        SessionId,
        catalog::{Catalog, Config, Findings, Found, Listed, Listing, Place, Question},
    },
};
use proptest::prelude::*;
use serde_json::json;

use maker::Maker;

const PATIENCE: Duration = Duration::from_secs(60);

/// A catalog whose calls can be waited for.
struct Bench {
    catalog: Catalog,
    woken: mpsc::Receiver<()>,
}

impl Bench {
    fn open(data: &Path) -> Self {
        Self::open_at(data, &data.join("index.sqlite"))
    }

    fn open_at(data: &Path, index: &Path) -> Self {
        let (wake, woken) = mpsc::sync_channel(1);
        let config = Config {
            data: data.to_owned(),
            index: index.to_owned(),
            // One wake-up that waits is as good as many.
            waker: Arc::new(move || wake.try_send(()).unwrap_or(())),
        };
        Self { catalog: Catalog::open(config).unwrap(), woken }
    }

    /// The list once it is complete and as wanted.
    fn wait(&self, is_it: impl Fn(&Listing) -> bool) -> Listing {
        loop {
            let listing = self.catalog.listing().borrow().clone();
            if listing.is_complete && is_it(&listing) {
                return listing;
            }
            self.woken.recv_timeout(PATIENCE).expect("a list comes");
        }
    }

    fn settled(&self) -> Arc<[Listed]> {
        self.wait(|_| true).sessions
    }

    fn ask(&self, question: Question) -> Findings {
        self.catalog.search(question).blocking_recv().expect("an answer comes")
    }

    /// Has what is new in the session read to its end.
    fn read_on(&self) {
        self.catalog.note(&id("s"));
        while !self.ask(Question::new("a", 1)).is_complete {}
    }

    fn search(&self, words: &str) -> Vec<Found> {
        self.ask(Question::new(words, 100)).found
    }

    /// Which messages are found.
    fn hits(&self, words: &str) -> Vec<u64> {
        self.search(words).iter().filter_map(|found| found.message).map(|id| id.0).collect()
    }
}

/// What an index holds, whatever its rows are called.
fn dump(index: &Path) -> Vec<String> {
    let db = rusqlite::Connection::open(index).unwrap();
    db.execute_batch("CREATE VIRTUAL TABLE temp.v USING fts5vocab('main', 'grams', 'col')")
        .unwrap();
    let sql = [
        "SELECT id, len, read, head, tail, title, imported, first_line, preview, model, marks, \
         created, updated, leaf, messages, last_n, last_sum FROM session ORDER BY id",
        "SELECT id, message.row & 0xffffffff, place, speaker, time, depth, open_part, text, calls \
         FROM message JOIN session ON session.row = message.row >> 32 ORDER BY 1, 2",
        "SELECT term, col, doc FROM temp.v ORDER BY 1, 2",
    ];
    let mut lines = Vec::new();
    for sql in sql {
        let mut query = db.prepare(sql).unwrap();
        let columns = query.column_count();
        let mut rows = query.query([]).unwrap();
        while let Some(row) = rows.next().unwrap() {
            let values = (0..columns).map(|i| format!("{:?}", row.get_ref_unwrap(i)));
            lines.push(values.collect::<Vec<_>>().join(" "));
        }
    }
    lines
}

fn id(name: &str) -> SessionId {
    SessionId::new(name).unwrap()
}

#[test]
fn a_session_is_listed_with_what_its_log_says() {
    let data = tempfile::tempdir().unwrap();
    let mut one = Maker::begun(data.path(), "one", 1_000_000);
    one.user("\n  How do\tI sort a list of one hundred words by their length, and then again?\nx");
    one.reply("With sorted().\nAnd a key.");
    let mut two = Maker::begun(data.path(), "two", 9_000_000);
    two.meta(&json!({"title": "Named", "pinned": true, "settings": {"model": "m-7"}}));
    fs::write(two.log.with_file_name("draft.json"), "{}").unwrap();
    fs::create_dir_all(data.path().join("sessions/Not A Session")).unwrap();
    fs::create_dir_all(data.path().join("sessions/empty")).unwrap();

    let bench = Bench::open(data.path());
    let listed = bench.settled();
    let expected = Listed {
        id: id("one"),
        title: "How do I sort a list of one hundred words by their length, a…".into(),
        created_ms: 1_000_000,
        updated_ms: 1_002_000,
        messages: 2,
        model: "demo-1".into(),
        pinned: false,
        archived: false,
        deleted: false,
        preview: "With sorted(). And a key.".into(),
        has_draft: false,
    };
    assert_eq!(listed.len(), 2);
    assert_eq!(listed[1], expected);
    let named = &listed[0];
    assert_eq!((&*named.title, named.pinned, named.has_draft), ("Named", true, true));
    assert_eq!((&*named.model, named.messages, &*named.preview), ("m-7", 0, ""));

    // What is written later is read when it is noted, and the last word counts.
    two.meta(&json!({"title": "Renamed", "pinned": false, "archived": true}));
    fs::remove_file(two.log.with_file_name("draft.json")).unwrap();
    bench.catalog.note(&id("two"));
    let listing = bench.wait(|listing| &*listing.sessions[0].title == "Renamed");
    let two = &listing.sessions[0];
    assert!(!two.pinned && two.archived && !two.has_draft, "{two:?}");

    fs::remove_dir_all(data.path().join("sessions/two")).unwrap();
    bench.catalog.refresh();
    assert_eq!(bench.wait(|listing| listing.sessions.len() == 1).sessions[0], expected);
}

#[test]
fn a_list_is_there_before_the_logs_are() {
    let data = tempfile::tempdir().unwrap();
    let mut one = Maker::begun(data.path(), "one", 1);
    one.user("hello");
    drop(Bench::open(data.path()).settled());
    // Whoever is woken holds the catalog up, so that its first list can be looked at.
    let (wake, woken) = mpsc::sync_channel(0);
    let config = Config {
        data: data.path().to_owned(),
        index: data.path().join("index.sqlite"),
        waker: Arc::new(move || wake.send(()).unwrap_or(())),
    };
    one.user("more");
    let catalog = Catalog::open(config).unwrap();
    let mut listing = catalog.listing();
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(listing.changed()).unwrap();
    let first = listing.borrow().clone();
    assert_eq!(
        (first.is_complete, first.sessions.len(), first.sessions[0].messages),
        (false, 1, 1)
    );
    woken.recv().unwrap();
    drop(woken);
    while !catalog.listing().borrow().is_complete {
        runtime.block_on(listing.changed()).unwrap();
    }
    assert_eq!(catalog.sessions()[0].messages, 2);
}

#[test]
fn words_are_found_where_they_stand() {
    let data = tempfile::tempdir().unwrap();
    let mut log = Maker::begun(data.path(), "s", 1_000);
    let asked = log.user("Why does the Borrow Checker complain about `&mut self`?");
    let calls = json!([
        {"type": "thinking", "text": "hidden musings"},
        {"type": "text", "text": "Because two borrows overlap."},
        {"type": "tool_call", "id": "c", "name": "read_file", "state": "ok",
         "arguments": "{\"path\":\"src/graph.rs\"}",
         "result": {"is_error": false, "output": "fn walk(&mut self) {}", "images": []}},
    ]);
    let answered = log.reply_of(&calls);
    let mut other = Maker::begun(data.path(), "t", 9_000);
    other.meta(&json!({"title": "Borrow a book"}));
    let said = other.user("May I borrow it?");

    let bench = Bench::open(data.path());
    bench.settled();
    let found = bench.search("borrow");
    let places: Vec<_> =
        found.iter().map(|it| (it.session.as_str(), it.message, it.place)).collect();
    let expected = [
        ("t", None, Place::Title),
        ("s", None, Place::Title),
        ("t", Some(MessageId(said)), Place::Text),
        ("s", Some(MessageId(answered)), Place::Text),
        ("s", Some(MessageId(asked)), Place::Text),
    ];
    assert_eq!(places, expected);
    let hit = &found[4];
    assert_eq!(hit.role, Some(Role::User));
    assert_eq!((&*hit.title, hit.time_ms), (&*hit.snippet, 2_000));
    let marked: Vec<_> = hit.ranges.iter().map(|range| &hit.snippet[range.clone()]).collect();
    assert_eq!(marked, ["Borrow"]);

    assert_eq!(bench.hits("checker BORROW"), [asked]);
    assert_eq!(bench.hits("\"borrow checker\""), [asked]);
    assert_eq!(bench.hits("\"checker borrow\""), [0; 0]);
    assert_eq!(bench.hits("\"&mut self\""), [asked, answered]);
    let tool = bench.search("graph.rs walk");
    assert_eq!((tool[0].message, tool[0].place), (Some(MessageId(answered)), Place::Calls));
    assert_eq!(bench.hits("overlap walk"), [answered], "words of the text and of a call");
    assert_eq!(bench.hits("musings"), [0; 0], "what was thought is not found");
    assert_eq!(bench.hits("borrow nowhere"), [0; 0]);
    assert_eq!(bench.search(""), []);
}

#[test]
fn needles_are_plain_text() {
    let texts = [
        "50% of a_b are \"quoted\" words",
        "a NEAR(b, 2) c* AND NOT d OR e^2 {text}: -x +y",
        "it's; DROP TABLE message; -- \\ /path/*.rs",
        "nul\0inside and \u{7f}\u{1b}[0m",
        "日本語の文章 中文搜索 한국어",
        "family 👨‍👩‍👧 and 👍🏽 thumbs",
        "ΟΔΥΣΣΕΥΣ İstanbul STRASSE Ünïcödé",
        "a",
    ];
    let data = tempfile::tempdir().unwrap();
    let mut log = Maker::begun(data.path(), "s", 0);
    log.meta(&json!({"title": "…"}));
    let ids: Vec<u64> = texts.iter().map(|text| log.user(text)).collect();
    let bench = Bench::open(data.path());
    bench.settled();
    let cases: &[(&str, &[usize])] = &[
        ("50%", &[0]),
        ("5_%", &[]),
        ("%", &[0]),
        ("_", &[0]),
        ("a_b", &[0]),
        ("\"\"quoted", &[0]),
        ("near(b,", &[1]),
        ("c* AND", &[1]),
        ("c*", &[1]),
        ("NOT", &[1]),
        ("text}:", &[1]),
        ("text:", &[]),
        ("e^2 -x +y", &[1]),
        ("drop table --", &[2]),
        ("it's;", &[2]),
        ("'", &[2]),
        ("\\", &[2]),
        ("/*.rs", &[2]),
        ("nul", &[3]),
        ("\0", &[]),
        ("inside", &[3]),
        ("日本語", &[4]),
        ("日本", &[4]),
        ("語", &[4]),
        ("中文搜索", &[4]),
        ("搜索", &[4]),
        ("中文 한국", &[4]),
        ("국어", &[4]),
        ("文文", &[]),
        ("👨‍👩‍👧", &[5]),
        ("👍", &[5]),
        ("👍🏽", &[5]),
        ("οδυσσευς", &[6]),
        ("istanbul", &[]),
        ("stanbul strasse", &[6]),
        ("üNÏCÖDÉ", &[6]),
        ("zz", &[]),
        ("z", &[]),
        ("dé", &[6]),
    ];
    for (needle, expected) in cases {
        let mut expected: Vec<u64> = expected.iter().map(|i| ids[*i]).collect();
        expected.reverse();
        assert_eq!(bench.hits(needle), expected, "{needle:?}");
    }
    // The last characters of a text begin no gram of their own.
    assert_eq!(bench.hits("zz a").len(), 0);
    assert!(bench.hits("a").contains(&ids[7]), "the newest messages are looked through");
}

#[test]
fn looking_is_bounded_unless_it_is_to_be_thorough() {
    let data = tempfile::tempdir().unwrap();
    let mut log = Maker::begun(data.path(), "s", 0);
    let wanted = log.user("x1 the dog bites");
    for _ in 0..60 {
        // Every gram of the phrase, and not the phrase.
        log.user(&format!("x2 the dog. dog bites {}", "filling ".repeat(25_000)));
    }
    let bench = Bench::open(data.path());
    bench.settled();
    let phrase = Question::new("\"x1 the dog bites\"", 9);
    assert!(!bench.ask(phrase).is_cut);
    let quick = Question::new("\"the dog bites\"", 9);
    let findings = bench.ask(quick.clone());
    assert!(findings.is_cut && findings.found.iter().all(|found| found.message.is_none()));
    let findings = bench.ask(Question { is_thorough: true, ..quick });
    let found = findings.found.last().and_then(|found| found.message);
    assert!(!findings.is_cut && found == Some(MessageId(wanted)), "{found:?}");
}

#[test]
fn what_is_put_away_is_found_when_it_is_wanted() {
    let data = tempfile::tempdir().unwrap();
    for (name, mark) in [("a", "pinned"), ("b", "archived"), ("c", "deleted")] {
        let mut log = Maker::begun(data.path(), name, 1_000);
        log.user("the same words");
        log.meta(&json!({ mark: true }));
    }
    let bench = Bench::open(data.path());
    bench.settled();
    let sessions = |question| -> Vec<String> {
        bench.ask(question).found.iter().map(|found| found.session.to_string()).collect()
    };
    // Each by its title, which is its first line, then by its message.
    assert_eq!(sessions(Question::new("same", 9)), ["a", "a"]);
    let archived = Question { with_archived: true, ..Question::new("same", 9) };
    assert_eq!(sessions(archived), ["b", "a", "b", "a"]);
    let all = sessions(Question::new("same", 9).everywhere());
    assert_eq!(all, ["c", "b", "a", "c", "b", "a"]);
    assert_eq!(sessions(Question::new("same", 1)).len(), 1);
}

#[test]
fn interrupted_replies_branches_and_edits_count_as_they_should() {
    let data = tempfile::tempdir().unwrap();
    let mut log = Maker::begun(data.path(), "s", 0);
    log.user("question");
    let asked = log.last.clone().unwrap();
    let (reply, at) = log.start();
    log.partial(&reply, 0, "An unfin");
    log.partial(&reply, 0, "ished answer");
    log.partial(&reply, 3, "more");
    log.write(
        "tool_call",
        &json!({"id": reply, "call": {"id": "c", "name": "run", "arguments": "make"}}),
    );
    log.write(
        "tool_result",
        &json!({"id": reply, "call": "c", "state": "ok", "result": {"output": "built it"}}),
    );
    let bench = Bench::open(data.path());
    assert_eq!(bench.settled()[0].messages, 2);
    assert_eq!(bench.hits("unfinished answer"), [at]);
    assert_eq!(bench.hits("make built"), [at]);
    assert_eq!(bench.hits("answermore"), [0; 0], "parts are not run together");

    // Whole, it is what the last record says, and what comes behind it adds nothing.
    log.finish(&reply, "A finished reply.");
    log.partial(&reply, 0, "late words");
    bench.catalog.note(&id("s"));
    bench.wait(|listing| &*listing.sessions[0].preview == "A finished reply.");
    assert_eq!(bench.hits("unfinished"), [0; 0]);
    assert_eq!(bench.hits("late"), [0; 0]);
    assert_eq!(bench.hits("finished reply"), [at]);

    log.user("further");
    log.reply("on");
    log.branch(&asked);
    bench.catalog.note(&id("s"));
    let listing = bench.wait(|listing| listing.sessions[0].messages == 1);
    assert_eq!(&*listing.sessions[0].preview, "question");
    log.reply("another");
    bench.catalog.note(&id("s"));
    bench.wait(|listing| listing.sessions[0].messages == 2);
    assert_eq!(bench.hits("further").len(), 1, "other branches are found, too");
}

#[test]
fn damage_costs_only_itself() {
    let data = tempfile::tempdir().unwrap();
    let mut log = Maker::begun(data.path(), "s", 0);
    log.user("before the damage");
    log.write_raw(b"{\"v\":1,\"n\":2,\"k\":\"us\0\0\0\0\n\n");
    let mut bad =
        log.line("user", &json!({"id": "m9", "parts": [{"type": "text", "text": "bad sum"}]}));
    let at = bad.len() - 10;
    bad[at] ^= 1;
    log.write_raw(&bad);
    log.write_raw(&vec![b'x'; 5 << 20]);
    log.write_raw(b"\n");
    log.write("of_a_later_version", &json!({"id": 7}));
    log.user("behind the damage");
    log.write("user", &json!({"id": 5, "parent": ["?"], "parts": {"type": "odd"}}));
    log.write("assistant_final", &json!([1, 2]));
    let torn = log.line("user", &json!({"id": "m99", "parts": [{"type": "text", "text": "torn"}]}));
    log.write_raw(&torn[..torn.len() - 1]);
    let bench = Bench::open(data.path());
    bench.settled();
    assert_eq!(bench.search("damage").len(), 3, "two messages, and the title");
    assert_eq!(bench.search("\"bad sum\""), []);
    assert_eq!(bench.search("torn"), [], "what is not written to its end is not there yet");
    log.write_raw(b"\n");
    bench.catalog.note(&id("s"));
    bench.wait(|listing| &*listing.sessions[0].preview == "torn");
    assert_eq!(bench.hits("torn").len(), 1);
}

#[test]
fn another_log_in_the_place_of_one_is_read_anew() {
    let data = tempfile::tempdir().unwrap();
    let mut log = Maker::begun(data.path(), "s", 0);
    log.user("the first words");
    log.reply("the second words");
    let bench = Bench::open(data.path());
    bench.settled();
    // Cut, and written on: the same length may come out, but not the same bytes.
    let whole = fs::read(&log.log).unwrap();
    fs::write(&log.log, &whole[..whole.len() / 2]).unwrap();
    log.write_raw(b"\n");
    log.user(&"other words ".repeat(40));
    bench.catalog.note(&id("s"));
    bench.wait(|listing| listing.sessions[0].preview.starts_with("other"));
    assert_eq!(bench.hits("second"), [0; 0]);
    assert_eq!(bench.hits("other").len(), 1);
    // Another file by its name.
    let mut new = Maker::begun(data.path(), "new", 5);
    new.user("quite new");
    fs::rename(&new.log, &log.log).unwrap();
    fs::remove_dir_all(new.log.parent().unwrap()).unwrap();
    bench.catalog.refresh();
    bench.wait(|listing| &*listing.sessions[0].title == "quite new");
    assert_eq!(bench.hits("other"), [0; 0]);
}

#[test]
fn long_texts_and_blobs_are_found_by_their_beginnings() {
    let data = tempfile::tempdir().unwrap();
    let mut log = Maker::begun(data.path(), "s", 0);
    let name = "ab".repeat(32);
    let blobs = log.log.with_file_name("blobs");
    fs::create_dir_all(&blobs).unwrap();
    fs::write(blobs.join(&name), format!("kept apart {}", "x".repeat(300_000))).unwrap();
    fs::write(data.path().join("secret"), "never read").unwrap();
    let blob = json!([{"type": "text", "text": {"blob": name, "bytes": 300_011}}]);
    let apart = log.reply_of(&blob);
    for name in ["../../../secret", "/etc/passwd", "", "zz"] {
        log.reply_of(&json!([{"type": "text", "text": {"blob": name, "bytes": 1}}]));
    }
    let long = log.user(&format!("{} middle {}", "w ".repeat(1000), "y".repeat(600_000)));
    let call = format!("start {} far", "z".repeat(5_000));
    let called = log.reply_of(&json!([{"type": "tool_call", "id": "c", "name": "n",
        "arguments": call, "state": "ok", "result": {"output": call}}]));
    let bench = Bench::open(data.path());
    bench.settled();
    assert_eq!(bench.hits("\"kept apart\""), [apart]);
    assert_eq!(bench.hits("\"never read\""), [0; 0]);
    assert_eq!(bench.hits("middle yyyy"), [long]);
    assert_eq!(bench.hits("start zzzz"), [called]);
    assert_eq!(bench.hits("far"), [0; 0]);
    let found = bench.search("middle");
    assert!(found[0].snippet.len() < 1_000 && found[0].snippet.contains("middle"));
}

#[test]
fn a_bad_index_is_built_anew() {
    let data = tempfile::tempdir().unwrap();
    let index = data.path().join("index.sqlite");
    let mut log = Maker::begun(data.path(), "s", 0);
    log.user("still here");
    let check = |what: &str| {
        let bench = Bench::open(data.path());
        let listing = bench.wait(|_| true);
        assert_eq!(listing.sessions.len(), 1, "{what}");
        assert_eq!(listing.unkept, None, "{what}");
        assert_eq!(bench.hits("still").len(), 1, "{what}");
    };
    check("none");
    let good = fs::read(&index).unwrap();
    fs::write(&index, b"").unwrap();
    check("an empty file");
    fs::write(&index, b"no database at all, but long enough to be taken for one").unwrap();
    check("another file");
    fs::write(&index, &good[..good.len() / 2]).unwrap();
    check("half a file");
    for seed in 0..20_usize {
        let mut flipped = good.clone();
        for i in 0..40 {
            let at = (seed * 7_919 + i * 104_729) % flipped.len();
            flipped[at] ^= 1 << (i % 8);
        }
        fs::write(&index, flipped).unwrap();
        for end in ["-wal", "-shm"] {
            drop(fs::remove_file(format!("{}{end}", index.display())));
        }
        check(&format!("damage {seed}"));
    }
    let db = rusqlite::Connection::open(&index).unwrap();
    db.pragma_update(None, "user_version", 77).unwrap();
    drop(db);
    check("another version");
    let db = rusqlite::Connection::open(&index).unwrap();
    db.execute_batch("DROP TABLE message; CREATE TABLE message(x)").unwrap();
    drop(db);
    log.reply("still more");
    let bench = Bench::open(data.path());
    bench.wait(|_| true);
    assert_eq!(bench.search("\"still more\"").len(), 1, "another table");
}

#[test]
fn an_index_without_a_place_is_kept_in_memory() {
    let data = tempfile::tempdir().unwrap();
    let mut log = Maker::begun(data.path(), "s", 0);
    log.user("still here");
    let folder = data.path().join("folder");
    fs::create_dir_all(&folder).unwrap();
    for index in [folder, data.path().join("none/index.sqlite")] {
        let bench = Bench::open_at(data.path(), &index);
        let listing = bench.wait(|_| true);
        assert!(listing.unkept.is_some(), "{}", index.display());
        assert_eq!(bench.hits("here").len(), 1);
    }
    // Another program that never lets go.
    let index = data.path().join("held.sqlite");
    let db = rusqlite::Connection::open(&index).unwrap();
    db.execute_batch("PRAGMA locking_mode=EXCLUSIVE; CREATE TABLE t(x); BEGIN EXCLUSIVE").unwrap();
    let bench = Bench::open_at(data.path(), &index);
    assert!(bench.wait(|_| true).unkept.is_some());
    assert_eq!(bench.hits("here").len(), 1);
}

#[cfg(unix)]
#[test]
fn the_index_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let data = tempfile::tempdir().unwrap();
    Maker::begun(data.path(), "s", 0).user("hello");
    let bench = Bench::open(data.path());
    bench.settled();
    for end in ["", "-wal", "-shm"] {
        let path = PathBuf::from(format!("{}{end}", data.path().join("index.sqlite").display()));
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{}", path.display());
    }
}

#[test]
fn a_thousand_sessions_are_listed_and_searched() {
    let data = tempfile::tempdir().unwrap();
    for i in 0..1_000_i64 {
        let mut log = Maker::begun(data.path(), &format!("s{i:04}"), i * 1_000_000);
        log.user(&format!("question number {i} about needle{}", i % 10));
        log.reply(&format!("answer number {i}"));
    }
    let bench = Bench::open(data.path());
    let listed = bench.settled();
    let names: BTreeSet<_> = listed.iter().map(|session| session.id.clone()).collect();
    assert_eq!(names.len(), 1_000);
    assert!(listed.is_sorted_by(|a, b| a.updated_ms > b.updated_ms));
    assert_eq!(bench.search("\"number 777 about\"").len(), 2);
    let found = bench.ask(Question::new("needle3", 500)).found;
    let said = found.iter().filter(|found| found.message.is_some()).count();
    assert_eq!((found.len(), said), (200, 100));
    assert_eq!(bench.ask(Question::new("number", 50)).found.len(), 50);
}

#[test]
fn two_windows_share_one_index() {
    let data = tempfile::tempdir().unwrap();
    let names: Vec<String> = (0..40).map(|i| format!("s{i}")).collect();
    let mut logs: Vec<Maker> =
        names.iter().map(|name| Maker::begun(data.path(), name, 1_000)).collect();
    let windows = [Bench::open(data.path()), Bench::open(data.path())];
    for round in 0..6 {
        for log in &mut logs {
            log.user(&format!("round{round} words"));
        }
        for window in &windows {
            window.catalog.refresh();
        }
    }
    let is_there = |listing: &Listing| {
        listing.sessions.len() == 40 && listing.sessions.iter().all(|it| it.messages == 6)
    };
    for window in &windows {
        let listing = window.wait(is_there);
        assert_eq!(listing.unkept, None);
        assert_eq!(window.search("round5").len(), 40);
    }
    drop(windows);
    let shared = dump(&data.path().join("index.sqlite"));
    let alone = data.path().join("alone.sqlite");
    Bench::open_at(data.path(), &alone).wait(is_there);
    assert_eq!(shared, dump(&alone));
}

/// One step of a log's life.
#[derive(Clone, Debug)]
enum Step {
    User(String),
    Reply(String),
    Start,
    Partial(u32, String),
    Finish(String),
    Branch(usize),
    Meta(bool, String),
    Garbage(Vec<u8>),
    Half(String),
    Cut(usize),
    Read,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let text = || "[a-cA-C é日\n\"%]{0,12}";
    let step = prop_oneof![
        4 => text().prop_map(Step::User),
        3 => text().prop_map(Step::Reply),
        2 => Just(Step::Start),
        4 => (0..3_u32, text()).prop_map(|(key, text)| Step::Partial(key, text)),
        2 => text().prop_map(Step::Finish),
        1 => (0..9_usize).prop_map(Step::Branch),
        1 => (any::<bool>(), text()).prop_map(|(mark, title)| Step::Meta(mark, title)),
        1 => prop::collection::vec(any::<u8>(), 0..40).prop_map(Step::Garbage),
        1 => text().prop_map(Step::Half),
        1 => (1..300_usize).prop_map(Step::Cut),
        5 => Just(Step::Read),
    ];
    prop::collection::vec(step, 1..40)
}

fn play(log: &mut Maker, step: Step, ids: &mut Vec<String>) {
    match step {
        Step::User(text) => drop(log.user(&text)),
        Step::Reply(text) => drop(log.reply(&text)),
        Step::Start => drop(log.start()),
        Step::Partial(key, text) => {
            if let Some(last) = log.last.clone() {
                log.partial(&last, key, &text);
            }
        }
        Step::Finish(text) => {
            if let Some(last) = log.last.clone() {
                log.finish(&last, &text);
            }
        }
        Step::Branch(i) => {
            if let Some(leaf) = ids.get(i).cloned() {
                log.branch(&leaf);
            }
        }
        Step::Meta(mark, title) => log.meta(&json!({"title": title, "archived": mark})),
        Step::Garbage(bytes) => log.write_raw(&bytes),
        // A line that gets its end later, or never.
        Step::Half(text) => {
            let line =
                log.line("user", &json!({"id": "m77", "parts": [{"type": "text", "text": text}]}));
            log.write_raw(&line[..line.len() * 2 / 3]);
        }
        Step::Cut(bytes) => {
            let whole = fs::read(&log.log).unwrap();
            fs::write(&log.log, &whole[..whole.len().saturating_sub(bytes)]).unwrap();
        }
        Step::Read => {}
    }
    ids.extend(log.last.clone());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn reading_in_steps_equals_reading_at_once(steps in steps()) {
        let data = tempfile::tempdir().unwrap();
        let mut log = Maker::begun(data.path(), "s", 1_000);
        let mut ids = Vec::new();
        let bench = Bench::open(data.path());
        bench.settled();
        for step in steps {
            if matches!(step, Step::Read) {
                bench.read_on();
            }
            play(&mut log, step, &mut ids);
        }
        bench.read_on();
        drop(bench);
        let scratch = data.path().join("scratch.sqlite");
        Bench::open_at(data.path(), &scratch).settled();
        prop_assert_eq!(dump(&data.path().join("index.sqlite")), dump(&scratch));
    }
}
