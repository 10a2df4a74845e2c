//! One file that is written while it is followed.

use std::{fs, time::Duration};

use letterpress::{
    engine::{
        FileSource,
        follow::{Config, Notice, Wanted},
        reader,
    },
    model::{MessageId, Progress, Source as _, activity::Link},
    perf,
};

use super::{
    Folder, HEADER, PATIENCE, Wall, append, append_bytes, is_lost, noticed, prompt, said, session,
};

#[test]
fn what_is_appended_appears_however_it_is_noticed() {
    for notice in [Notice::Both, Notice::System, Notice::Polling] {
        let folder = Folder::new();
        let path = folder.file("a.jsonl", &session(&["one"]));
        let mut wall = Wall::of(vec![Wanted::File(path.clone())], noticed(notice));
        wall.until_said("one");
        let before = wall.only().source().row(0).id;
        append(&path, &prompt("two", "one", "two"));
        wall.until_said("one two");
        append(&path, &prompt("three", "two", "three"));
        wall.until_said("one two three");
        assert_eq!(wall.only().source().row(0).id, before, "{notice:?}");
        assert_eq!(wall.only().lines_read(), 4);
        assert_eq!(wall.only().project(), Some("demo"));
    }
}

#[test]
fn a_quiet_file_wakes_nobody() {
    let folder = Folder::new();
    let path = folder.file("a.jsonl", &session(&["one"]));
    let mut wall = Wall::file(&path);
    wall.until_said("one");
    wall.stays_quiet();
}

#[test]
fn a_line_in_pieces_is_shown_when_it_is_whole() {
    let folder = Folder::new();
    let path = folder.file("a.jsonl", &session(&["one"]));
    let mut wall = Wall::file(&path);
    wall.until_said("one");
    // Cut inside a character of several bytes.
    let line = prompt("two", "one", "zwei – 二");
    let at = line.find('二').expect("it is there") + 1;
    append_bytes(&path, &line.as_bytes()[..at]);
    wall.stays_quiet();
    assert_eq!(wall.said(), "one");
    append_bytes(&path, &line.as_bytes()[at..]);
    wall.until_said("one zwei – 二");
}

#[test]
fn a_rotated_file_is_read_to_its_end_and_then_the_new_one() {
    let folder = Folder::new();
    let path = folder.file("a.jsonl", &session(&["one"]));
    let mut wall = Wall::file(&path);
    wall.until_said("one");
    let old = wall.only().source().row(0).id;
    append(&path, &prompt("two", "one", "two"));
    fs::rename(&path, folder.path().join("a.jsonl.1")).unwrap();
    fs::write(&path, session(&["new"])).unwrap();
    wall.until_said("new");
    let new = wall.only().source().row(0).id;
    assert_ne!(old, new, "another file has other ids");
    assert_eq!(wall.only().source().index_of(old), None);
    assert_eq!(wall.only().lines_read(), 5, "every line of both files");
    append(&path, &prompt("more", "new", "more"));
    wall.until_said("new more");
    assert_eq!(*wall.only().link(), Link::Live);
}

#[test]
fn old_rows_stay_until_the_new_are_there() {
    let folder = Folder::new();
    let path = folder.file("a.jsonl", &session(&["one", "two"]));
    let mut wall = Wall::file(&path);
    wall.until_said("one two");
    fs::write(&path, "").unwrap();
    wall.stays_quiet();
    assert_eq!(wall.said(), "one two", "nothing came in its place yet");
    append(&path, HEADER);
    append(&path, &prompt("x", "", "x"));
    wall.until_said("x");
}

#[test]
fn a_truncated_file_is_read_anew() {
    let folder = Folder::new();
    let path = folder.file("a.jsonl", &session(&["one", "two", "three"]));
    let mut wall = Wall::file(&path);
    wall.until_said("one two three");
    fs::write(&path, session(&["short"])).unwrap();
    wall.until_said("short");
}

#[test]
fn a_file_rewritten_at_the_same_length_is_read_anew() {
    for notice in [Notice::Both, Notice::Polling] {
        let folder = Folder::new();
        let path = folder.file("a.jsonl", &session(&["one", "two"]));
        let mut wall = Wall::of(vec![Wanted::File(path.clone())], noticed(notice));
        wall.until_said("one two");
        fs::write(&path, session(&["six", "ten"])).unwrap();
        wall.until_said("six ten");
    }
}

#[test]
fn a_file_rewritten_longer_is_read_anew() {
    let folder = Folder::new();
    let path = folder.file("a.jsonl", &session(&["one"]));
    let mut wall = Wall::file(&path);
    wall.until_said("one");
    fs::write(&path, session(&["alpha", "beta", "gamma"])).unwrap();
    wall.until_said("alpha beta gamma");
}

#[test]
fn a_replacement_that_begins_the_same_keeps_its_ids() {
    let folder = Folder::new();
    let path = folder.file("a.jsonl", &session(&["one"]));
    let mut wall = Wall::file(&path);
    wall.until_said("one");
    let before = wall.only().source().row(0).id;
    let new = folder.file("tmp", &session(&["one", "two"]));
    fs::rename(new, &path).unwrap();
    wall.until_said("one two");
    assert_eq!(wall.only().source().row(0).id, before);
    append(&path, &prompt("three", "two", "three"));
    wall.until_said("one two three");
}

#[test]
fn a_file_that_is_gone_is_lost_until_it_is_back() {
    let folder = Folder::new();
    let path = folder.file("a.jsonl", &session(&["one"]));
    let mut wall = Wall::file(&path);
    wall.until_said("one");
    fs::remove_file(&path).unwrap();
    wall.until("it is lost", |f| f.conversations().all(|one| is_lost(one)));
    assert_eq!(wall.said(), "one", "what was read stays");
    fs::write(&path, session(&["one", "back"])).unwrap();
    wall.until_said("one back");
    wall.until("it is live", |f| f.conversations().all(|one| !is_lost(one)));
}

#[test]
fn a_named_file_may_come_later() {
    let folder = Folder::new();
    let path = folder.path().join("later/a.jsonl");
    let mut wall = Wall::file(&path);
    wall.until("it is lost", |f| f.conversations().all(|one| is_lost(one)));
    folder.file("later/a.jsonl", &session(&["here"]));
    wall.until_said("here");
    wall.until("it is live", |f| f.conversations().all(|one| !is_lost(one)));
}

#[test]
fn another_branch_keeps_the_ids_of_what_both_have() {
    let folder = Folder::new();
    let path = folder.file("a.jsonl", &session(&["one", "two", "three"]));
    let mut wall = Wall::file(&path);
    wall.until_said("one two three");
    let ids: Vec<MessageId> = (0..2).map(|row| wall.only().source().row(row).id).collect();
    append(&path, &prompt("other", "two", "other"));
    wall.until_said("one two other");
    let now: Vec<MessageId> = (0..2).map(|row| wall.only().source().row(row).id).collect();
    assert_eq!(ids, now);
    append(&path, &prompt("more", "other", "more"));
    wall.until_said("one two other more");
}

#[test]
fn a_result_comes_into_its_call() {
    let folder = Folder::new();
    let call = "{\"type\":\"message\",\"id\":\"c\",\"parentId\":\"one\",\"message\":{\"role\":\"assistant\",\"model\":\"m-1\",\"stopReason\":\"toolUse\",\"content\":[{\"type\":\"toolCall\",\"id\":\"c1\",\"name\":\"bash\",\"arguments\":{}}]}}\n";
    let result = "{\"type\":\"message\",\"id\":\"r\",\"parentId\":\"c\",\"message\":{\"role\":\"toolResult\",\"toolCallId\":\"c1\",\"toolName\":\"bash\",\"isError\":false,\"content\":[{\"type\":\"text\",\"text\":\"ok\"}]}}\n";
    let path = folder.file("a.jsonl", &session(&["one"]));
    let mut wall = Wall::file(&path);
    wall.until_said("one");
    append(&path, call);
    wall.until_said("one [bash …]");
    assert_eq!(wall.only().model(), Some("m-1"));
    assert_eq!(wall.only().outline().open_calls.len(), 1);
    append(&path, result);
    wall.until_said("one [bash ok]");
    wall.until("no call is open", |f| {
        f.conversations().all(|one| one.outline().open_calls.is_empty())
    });
}

#[test]
fn a_sub_agent_inside_the_file_stays_one_row() {
    let folder = Folder::new();
    let line = |uuid: &str, parent: &str, side: bool, role: &str, words: &str| {
        let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
        format!(
            "{{\"type\":\"{role}\",\"uuid\":\"{uuid}\",\"parentUuid\":{parent},\"isSidechain\":{side},\"sessionId\":\"s\",\"message\":{{\"role\":\"{role}\",\"content\":\"{words}\"}}}}\n"
        )
    };
    let path = folder.file("a.jsonl", &line("u1", "", false, "user", "go"));
    let mut wall = Wall::file(&path);
    wall.until_said("go");
    append(&path, &line("s1", "", true, "user", "look"));
    wall.until("the sub-agent is there", |f| {
        f.conversations().all(|one| said(one).contains("Sub-agent: 1 message"))
    });
    append(&path, &line("s2", "s1", true, "assistant", "found"));
    wall.until("it grew", |f| {
        f.conversations().all(|one| said(one).contains("Sub-agent: 2 messages"))
    });
    assert_eq!(wall.only().source().len(), 2);
}

#[test]
fn a_huge_line_is_waited_for_and_shown() {
    let folder = Folder::new();
    let path = folder.file("a.jsonl", &session(&["one"]));
    let mut wall = Wall::file(&path);
    wall.until_said("one");
    let line = prompt("two", "one", &"x".repeat(20 << 20));
    for piece in line.as_bytes().chunks(3 << 20) {
        append_bytes(&path, piece);
    }
    wall.until("two rows", |f| f.conversations().all(|one| one.source().len() == 2));
    append(&path, &prompt("three", "two", "three"));
    wall.until("three rows", |f| f.conversations().all(|one| said(one).ends_with(" three")));
}

#[test]
fn many_small_appends_are_taken_together() {
    let folder = Folder::new();
    let path = folder.file("a.jsonl", &session(&["w0"]));
    let mut wall = Wall::file(&path);
    wall.until_said("w0");
    let before = wall.wakes.load(std::sync::atomic::Ordering::Relaxed);
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    let started = perf::now();
    for number in 1..=2_000 {
        let line = prompt(&format!("w{number}"), &format!("w{}", number - 1), "x");
        std::io::Write::write_all(&mut file, line.as_bytes()).unwrap();
    }
    wall.until("all rows", |f| f.conversations().all(|one| one.source().len() == 2_001));
    let wakes = wall.wakes.load(std::sync::atomic::Ordering::Relaxed) - before;
    // A look each 8 ms at most, and a few wakes each.
    let looks = started.elapsed().as_millis() as usize / 8 + 2;
    assert!(wakes <= looks * 12, "{wakes} wakes of {looks} looks");
    wall.until("all lines", |f| f.conversations().all(|one| one.lines_read() == 2_002));
}

#[test]
fn a_window_slides_and_widens_for_the_reader() {
    let folder = Folder::new();
    let path = folder.file("a.jsonl", &session(&["w0"]));
    let config = Config { window_bytes: 8 * 1024, ..Config::default() };
    let mut wall = Wall::of(vec![Wanted::File(path.clone())], config);
    wall.until_said("w0");
    let mut number = 0;
    for _ in 0..40 {
        let mut text = String::new();
        for _ in 0..200 {
            number += 1;
            text.push_str(&prompt(&format!("w{number}"), &format!("w{}", number - 1), "x"));
        }
        append(&path, &text);
        let last = number;
        wall.until("all lines", |f| f.conversations().all(|one| one.lines_read() == last + 2));
        let source = wall.only().source();
        let rows = source.len();
        source.want(rows.saturating_sub(5)..rows);
    }
    wall.until("the window slid", |f| f.conversations().all(|one| one.source().len() < 4_000));
    wall.until("all of it on demand", |f| {
        let one = f.conversations().next().expect("one");
        let rows = one.source().len();
        one.source().want(0..rows.min(20));
        rows == 8_001
    });
    assert_eq!(wall.only().lines_read(), 8_002, "no line is counted twice");
}

#[test]
fn a_torn_line_that_stays_torn_is_shown_as_found() {
    let folder = Folder::new();
    let mut text = session(&["one"]);
    text.push_str("{\"type\":\"message\",\"id\":\"torn");
    let path = folder.file("a.jsonl", &text);
    let file = fs::File::open(&path).unwrap();
    let written = file.metadata().unwrap().modified().unwrap();
    file.set_modified(written - Duration::from_secs(60)).unwrap();
    let mut wall = Wall::file(&path);
    wall.until("the torn line", |f| f.conversations().all(|one| said(one).contains("torn")));
    append(
        &path,
        "\",\"parentId\":\"one\",\"message\":{\"role\":\"user\",\"content\":\"mended\"}}\n",
    );
    wall.until_said("one mended");
}

#[test]
fn a_file_in_the_chat_window_grows_too() {
    let folder = Folder::new();
    let path = folder.file("a.jsonl", &session(&["one"]));
    let (waker, woken, _) = super::waker();
    let mut source = FileSource::follow(&path, waker, reader::Config::default()).unwrap();
    assert!(source.wait_complete(PATIENCE));
    assert_eq!((source.len(), source.progress()), (1, Progress::Complete));
    append(&path, &prompt("two", "one", "two"));
    while source.len() < 2 {
        woken.recv_timeout(PATIENCE).expect("news");
        source.poll();
    }
    fs::remove_file(&path).unwrap();
    while source.link().is_live() {
        woken.recv_timeout(PATIENCE).expect("news");
        source.poll();
    }
    assert_eq!(source.len(), 2);
}

#[test]
fn threads_end_with_the_following() {
    let folder = Folder::new();
    let path = folder.file("a.jsonl", &session(&["one"]));
    let (gone, ended) = std::sync::mpsc::sync_channel::<()>(0);
    let waker: letterpress::engine::Waker = std::sync::Arc::new(move || _ = &gone);
    let wanted = vec![Wanted::File(path), Wanted::Folder(folder.path().to_owned())];
    let mut following =
        letterpress::engine::Following::start(wanted, waker, Config::default()).unwrap();
    following.poll();
    drop(following);
    let closed = ended.recv_timeout(PATIENCE);
    assert_eq!(closed, Err(std::sync::mpsc::RecvTimeoutError::Disconnected));
}

#[test]
fn an_answer_of_this_program_is_being_written_until_it_ends() {
    use letterpress::model::{
        activity::{Limits, State, state},
        record::{self, Delta, Kind, line},
    };
    use serde_json::{Value, json};

    let folder = Folder::new();
    let mut n = 0;
    let mut next = |kind: Kind, body: &Value| {
        n += 1;
        line::write(n - 1, kind, 1_000 * n as i64, &body.to_string())
    };
    let words = |text: &str| json!({ "parts": [{ "type": "text", "text": text }], "stop": "stop" });
    let settings = json!({ "title": "Ours", "settings": { "workspace": "/work/demo" } });
    let mut log = next(Kind::Meta, &settings);
    log += &next(Kind::User, &record::placed(None, None, words("go")));
    let path = folder.file("log.jsonl", &log);
    let mut wall = Wall::file(&path);
    wall.until_said("go");
    assert_eq!(wall.only().project(), Some("demo"));
    assert_eq!(&*wall.only().title(), "Ours");

    let is = |wall: &mut Wall, expected: State| {
        let outline = wall.only().outline();
        let now_ms = outline.last_event_ms.expect("a time") + 60_000;
        assert_eq!(state(outline, &Link::Live, now_ms, &Limits::default()), expected);
    };
    let start = record::placed(None, Some("m1"), record::start("demo", "tiny"));
    append(&path, &next(Kind::AssistantStart, &start));
    for (text, said) in [("Well", "go Well"), (", yes", "go Well, yes")] {
        let delta = [(0, Delta::Text(text))];
        let bodies = record::partial("m2", &delta, &mut |_| String::new());
        append(&path, &next(Kind::Partial, &bodies[0]));
        wall.until_said(said);
        is(&mut wall, State::Working);
    }
    let id = wall.only().source().row(1).id;
    append(
        &path,
        &next(Kind::AssistantFinal, &record::placed(Some("m2"), Some("m1"), words("Done."))),
    );
    wall.until_said("go Done.");
    is(&mut wall, State::Done);
    assert_eq!(wall.only().source().row(1).id, id);

    // One that was never written to its end is said to be so as soon as something follows.
    let start = record::placed(None, Some("m2"), record::start("demo", "tiny"));
    append(&path, &next(Kind::AssistantStart, &start));
    let bodies = record::partial("m6", &[(0, Delta::Text("Hm"))], &mut |_| String::new());
    append(&path, &next(Kind::Partial, &bodies[0]));
    wall.until_said("go Done. Hm");
    is(&mut wall, State::Working);
    append(&path, &next(Kind::User, &record::placed(None, Some("m6"), words("and?"))));
    wall.until("it is interrupted", |following| {
        following.conversations().next().is_some_and(|one| {
            let message = one.source().message(2);
            message.is_some_and(|m| m.error.as_deref() == Some(record::INTERRUPTED))
        })
    });
}
