//! What is written where and for whom; who may write; what is deleted and comes back.

use std::{
    fs::{self, File, FileTimes},
    io::ErrorKind,
    path::Path,
    time::{Duration, UNIX_EPOCH},
};

use letterpress::{
    model::record::{
        Kind,
        line::{self, LINE_MAX},
    },
    store::{
        Access, Home, Line, Log, LogState, OpenError, StoredDraft, Sync, TRASH_MS, blob_of, replay,
    },
};
use serde_json::{Value, json};

use super::{
    NOW,
    child::{self, say},
    entries, id, meta, real, saved, wait, writer,
};

#[test]
fn a_record_is_where_and_what_it_was_said_to_be() {
    let folder = tempfile::tempdir().unwrap();
    let store = real(folder.path()).with_clock(|| NOW);
    let opened = store.create(id("a"), meta(), NOW).unwrap();
    let (path, first) = (opened.path.clone(), opened.len);
    let log = writer(opened);
    let appended = wait(log.append(Kind::User, json!({"parts": []}), Sync::Now));
    assert_eq!((appended.n, appended.offset, &*appended.id), (1, first, "m1"));
    let len = saved(appended);
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text.len() as u64, len);
    let line = r#"{"v":1,"n":1,"k":"user","t":1700000000000,"c":3632233996,"b":{"parts":[]}}"#;
    let wanted = crc32c::crc32c(br#"{"parts":[]}"#).to_string();
    assert_eq!(text.lines().nth(1).unwrap(), line.replace("3632233996", &wanted));
    assert_eq!(*log.state().borrow(), LogState::Saved { len });
    assert!(store.contains(&id("a")) && store.ids() == [id("a")]);
    let twice = store.create(id("a"), meta(), NOW).map(drop).map_err(|error| error.kind());
    assert_eq!(twice, Err(ErrorKind::AlreadyExists));
    assert!(matches!(store.open_session(&id("b"), NOW), Err(OpenError::NotFound)));
}

#[test]
fn many_who_append_at_once_keep_the_order_of_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let store = real(folder.path());
    let log = writer(store.create(id("a"), meta(), NOW).unwrap());
    let append = |log: &Log, who: u64| {
        for i in 0..200 {
            let body = json!({"who": who, "i": i, "text": "x".repeat(i * 20)});
            let sync = if i % 10 == 9 { Sync::Now } else { Sync::Later };
            let appended = wait(log.append(Kind::User, body, sync));
            if sync == Sync::Now {
                wait(appended.saved).unwrap();
            }
        }
    };
    std::thread::scope(|scope| {
        for who in 0..4 {
            let log = &log;
            scope.spawn(move || append(log, who));
        }
    });
    let len = wait(log.close()).unwrap();
    let found = entries(store.replay(&id("a"), len).unwrap());
    assert_eq!(found.len(), 801);
    for who in 0..4 {
        let of_one = found.iter().filter(|it| it.body["who"] == json!(who));
        let order: Vec<_> = of_one.map(|it| it.body["i"].as_u64().unwrap()).collect();
        assert_eq!(order, (0..200).collect::<Vec<_>>());
    }
    let text = fs::read_to_string(store.log_path(&id("a"))).unwrap();
    for entry in &found {
        assert!(text.get(entry.offset as usize..).unwrap().starts_with(r#"{"v":1,"n":"#));
    }
}

#[test]
fn later_records_are_on_the_disk_in_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let store = real(folder.path());
    let log = writer(store.create(id("a"), meta(), NOW).unwrap());
    let one = wait(log.append(Kind::Partial, json!({"add": "a"}), Sync::Later));
    let two = wait(log.append(Kind::Partial, json!({"add": "b"}), Sync::Later));
    drop(log);
    let (one, two) = (saved(one), saved(two));
    assert!(one <= two);
    assert_eq!(fs::metadata(store.log_path(&id("a"))).unwrap().len(), two);
}

#[test]
fn what_does_not_fit_into_a_line_is_kept_beside_it() {
    let folder = tempfile::tempdir().unwrap();
    let store = real(folder.path());
    let log = writer(store.create(id("a"), meta(), NOW).unwrap());
    let mut deep = json!("bottom");
    for _ in 0..300 {
        deep = json!([deep]);
    }
    let long = "é".repeat(40_000);
    let many: Vec<_> = (0..100).map(|i| format!("{i}").repeat(15_000)).collect();
    let numbers: Vec<_> = (0..400_000).collect();
    let bodies = [json!({"a": [{"long": long}]}), json!(many), json!(numbers), json!({"d": deep})];
    for body in &bodies {
        saved(wait(log.append(Kind::User, body.clone(), Sync::Now)));
    }
    let len = wait(log.close()).unwrap();
    let text = fs::read_to_string(store.log_path(&id("a"))).unwrap();
    assert!(text.lines().all(|line| line.len() < LINE_MAX));
    let found = entries(replay(&store.log_path(&id("a")), len));
    assert_eq!(found.len(), 5);
    let session = store.folder(&id("a"));
    let whole = |value: &Value| {
        let sha = value["blob"].as_str().unwrap();
        assert!(value["bytes"].is_u64());
        String::from_utf8(blob_of(&session, sha).unwrap()).unwrap()
    };
    assert_eq!(whole(&found[1].body["a"][0]["long"]), long);
    let words: Vec<_> = found[2].body.as_array().unwrap().iter().map(whole).collect();
    assert_eq!(words, many);
    assert_eq!(found[3].body, bodies[2]);
    assert!(found[4].body["d"].is_array());
}

#[test]
fn one_writes_and_the_other_follows_and_takes_over() {
    let folder = tempfile::tempdir().unwrap();
    let store = real(folder.path());
    let log = writer(store.create(id("a"), meta(), NOW).unwrap());
    let second = store.open_session(&id("a"), NOW).unwrap();
    let Access::Read { why, mut live } = second.log else { panic!("two writers") };
    assert_eq!(&*why, "It is open in another window.");
    assert!(!live.is_free() && live.try_take_over(NOW).unwrap().is_none());
    assert!(live.poll().unwrap().lines.is_empty());
    saved(wait(log.append(Kind::User, json!("one"), Sync::Now)));
    let len = saved(wait(log.append(Kind::User, json!("two"), Sync::Now)));
    let grown = live.poll().unwrap();
    assert_eq!((grown.len, grown.lines.len(), live.len()), (len, 2, len));
    // Half a line is not seen, and not twice when it is whole.
    let path = store.log_path(&id("a"));
    wait(log.close()).unwrap();
    append_raw(&path, br#"{"v":1,"n":3,"k":"user","#);
    assert!(live.poll().unwrap().lines.is_empty());
    assert!(live.is_free());
    let opened = live.try_take_over(NOW).unwrap().unwrap();
    assert_eq!((opened.next, opened.len), (3, len));
    assert!(opened.found.torn.is_some());
    let log = writer(opened);
    saved(wait(log.append(Kind::User, json!("three"), Sync::Now)));
    let lines = live.poll().unwrap().lines;
    assert!(matches!(&lines[..], [Line::Entry(entry)] if entry.body == json!("three")));
}

/// What is longer than any record is passed over by those who follow, as by those who open.
#[test]
fn long_garbage_does_not_stop_the_one_who_follows() {
    let folder = tempfile::tempdir().unwrap();
    let store = real(folder.path());
    let log = writer(store.create(id("a"), meta(), NOW).unwrap());
    let Access::Read { mut live, .. } = store.open_session(&id("a"), NOW).unwrap().log else {
        panic!("two writers")
    };
    append_raw(&store.log_path(&id("a")), &vec![b'x'; 20 << 20]);
    append_raw(&store.log_path(&id("a")), b"\n");
    append_raw(&store.log_path(&id("a")), line::write(1, Kind::User, 0, "\"one\"").as_bytes());
    let grown: Vec<_> = (0..9).flat_map(|_| live.poll().unwrap().lines).collect();
    let (entries, damaged): (Vec<_>, Vec<_>) =
        grown.iter().partition(|line| matches!(line, Line::Entry(_)));
    assert!(matches!(&entries[..], [Line::Entry(entry)] if entry.body == json!("one")));
    assert!(!damaged.is_empty());
    drop(log);
}

fn append_raw(path: &Path, bytes: &[u8]) {
    let mut file = fs::OpenOptions::new().append(true).open(path).unwrap();
    std::io::Write::write_all(&mut file, bytes).unwrap();
}

#[test]
fn what_was_never_finished_is_cleared_away() {
    let folder = tempfile::tempdir().unwrap();
    let store = real(folder.path());
    wait(writer(store.create(id("a"), meta(), NOW).unwrap()).close()).unwrap();
    let left = store.folder(&id("a")).join(".new-0123456789abcdef");
    fs::write(&left, b"half").unwrap();
    drop(store.open_session(&id("a"), NOW).unwrap());
    assert!(!left.exists());
}

#[test]
fn a_reply_without_an_end_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let store = real(folder.path());
    let log = writer(store.create(id("a"), meta(), NOW).unwrap());
    saved(wait(log.append(Kind::AssistantStart, json!({}), Sync::Now)));
    wait(log.close()).unwrap();
    let opened = store.open_session(&id("a"), NOW).unwrap();
    assert!(opened.found.is_interrupted);
    let log = writer(opened);
    saved(wait(log.append(Kind::AssistantFinal, json!({}), Sync::Now)));
    wait(log.close()).unwrap();
    assert!(!store.open_session(&id("a"), NOW).unwrap().found.is_interrupted);
}

#[test]
fn a_copy_is_a_session_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let store = real(folder.path());
    let log = writer(store.create(id("a"), meta(), NOW).unwrap());
    let long = "w".repeat(100_000);
    saved(wait(log.append(Kind::User, json!({"text": long}), Sync::Now)));
    wait(log.append(Kind::Partial, json!({"text": "and"}), Sync::Later));
    let to = folder.path().join("elsewhere/copy.jsonl");
    let copied = wait(log.save_copy(&to)).unwrap();
    let found = entries(replay(&to, copied.len));
    assert_eq!((found.len(), copied.dropped), (3, 0));
    let sha = found[1].body["text"]["blob"].as_str().unwrap();
    assert_eq!(blob_of(to.parent().unwrap(), sha).unwrap(), long.as_bytes());
    let again = wait(log.save_copy(&to)).map_err(|error| error.kind());
    assert_eq!(again, Err(ErrorKind::AlreadyExists));
}

#[test]
fn what_is_deleted_can_be_had_back_for_a_month() {
    let folder = tempfile::tempdir().unwrap();
    let store = real(folder.path());
    let log = writer(store.create(id("a"), meta(), NOW).unwrap());
    let open = store.trash(&id("a"), NOW).map_err(|error| error.kind());
    assert_eq!(open, Err(ErrorKind::WouldBlock));
    wait(log.close()).unwrap();
    store.trash(&id("a"), NOW).unwrap();
    assert!(store.ids().is_empty());
    assert_eq!(store.trashed(), [(id("a"), NOW)]);
    store.restore(&id("a")).unwrap();
    assert_eq!((store.ids(), store.trashed()), (vec![id("a")], Vec::new()));
    drop(store.open_session(&id("a"), NOW).unwrap());
    wait(writer(store.create(id("b"), meta(), NOW).unwrap()).close()).unwrap();
    store.trash(&id("b"), NOW).unwrap();
    assert_eq!(store.purge(NOW + TRASH_MS), []);
    assert_eq!(store.purge(NOW + TRASH_MS + 1), [id("b")]);
    assert!(store.trashed().is_empty() && store.restore(&id("b")).is_err());
    // A new one of the name stays when the old one is wanted back.
    wait(writer(store.create(id("b"), meta(), NOW).unwrap()).close()).unwrap();
    assert_eq!(store.restore(&id("b")).unwrap_err().kind(), ErrorKind::AlreadyExists);
}

#[test]
fn blobs_that_nothing_names_are_swept_after_a_week() {
    let folder = tempfile::tempdir().unwrap();
    let store = real(folder.path());
    let log = writer(store.create(id("a"), meta(), NOW).unwrap());
    let named = log.blob(b"named");
    let unnamed = log.blob(b"unnamed");
    saved(wait(log.append(Kind::User, json!({"it": {"blob": named, "bytes": 5}}), Sync::Now)));
    let home = Home::Session(id("a"));
    let pasted = store.drafts().keep(&home, b"pasted".as_slice().into());
    let mut draft = StoredDraft { key: "k".into(), ..StoredDraft::default() };
    draft.attachments.push(letterpress::store::StoredAttachment {
        sha256: pasted.as_str().into(),
        ..Default::default()
    });
    store.drafts().edit(&home, draft);
    store.drafts().save_now();
    let blobs = store.folder(&id("a")).join("blobs");
    let written = UNIX_EPOCH + Duration::from_millis(NOW as u64);
    for sha in [&named, &unnamed, &pasted] {
        let file = File::options().append(true).open(blobs.join(sha)).unwrap();
        file.set_times(FileTimes::new().set_modified(written)).unwrap();
    }
    let week = 7 * 24 * 60 * 60 * 1000;
    assert_eq!(store.sweep(&id("a"), NOW + week + 1).unwrap(), 0, "it is open");
    wait(log.close()).unwrap();
    assert_eq!(store.sweep(&id("a"), NOW + week).unwrap(), 0, "it is young");
    assert_eq!(store.sweep(&id("a"), NOW + week + 1).unwrap(), 1);
    assert!(blobs.join(&named).exists() && blobs.join(&pasted).exists());
    assert!(!blobs.join(&unnamed).exists());
}

/// Leaves one of everything behind.
pub(super) fn make_everything(words: &[&str]) {
    let store = real(&Path::new(words[0]).join("above/data"));
    let log = writer(store.create(id("a"), meta(), NOW).unwrap());
    saved(wait(log.append(Kind::User, json!({"text": "x".repeat(70_000)}), Sync::Now)));
    wait(log.close()).unwrap();
    append_raw(&store.log_path(&id("a")), b"{\"v\":1,\"n\":2,");
    let opened = store.open_session(&id("a"), NOW).unwrap();
    assert!(opened.found.torn.is_some());
    let copy = store.root().join("copy/a.jsonl");
    let log = writer(opened);
    wait(log.save_copy(&copy)).unwrap();
    let drafts = store.drafts();
    let draft = StoredDraft { key: "k".into(), text: "t".into(), ..StoredDraft::default() };
    for home in [Home::Session(id("a")), Home::New(id("d"))] {
        drafts.edit(&home, draft.clone());
        assert!(!drafts.keep(&home, b"pasted".as_slice().into()).is_empty());
    }
    drafts.save_now();
    wait(log.close()).unwrap();
    wait(writer(store.create(id("b"), meta(), NOW).unwrap()).close()).unwrap();
    store.trash(&id("b"), NOW).unwrap();
    say("made");
}

#[cfg(unix)]
#[test]
fn everything_is_for_the_user_alone_whatever_the_umask() {
    use std::os::unix::fs::PermissionsExt as _;
    fn walk(path: &Path, seen: &mut Vec<(bool, String, u32)>) {
        for entry in fs::read_dir(path).unwrap() {
            let entry = entry.unwrap();
            let metadata = entry.metadata().unwrap();
            let mode = metadata.permissions().mode() & 0o7777;
            seen.push((metadata.is_dir(), entry.path().display().to_string(), mode));
            if metadata.is_dir() {
                walk(&entry.path(), seen);
            }
        }
    }
    for umask in ["000", "022", "077", "277", "777"] {
        let folder = tempfile::tempdir().unwrap();
        let mut child = child::start("modes", folder.path(), "", &format!("umask {umask}; "));
        assert_eq!(child.rest(), (vec!["made".to_owned()], true), "{umask}");
        let mut seen = Vec::new();
        walk(folder.path(), &mut seen);
        assert!(seen.len() >= 20, "{seen:?}");
        for (is_folder, path, mode) in seen {
            assert_eq!(mode, if is_folder { 0o700 } else { 0o600 }, "umask {umask}: {path}");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_place_that_others_may_change_is_told() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let store = real(&folder.path().join("data"));
    assert_eq!(store.exposure(), None);
    for (path, mode) in [(store.root(), 0o770), (folder.path(), 0o707)] {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        assert!(store.exposure().is_some_and(|why| why.starts_with("Others may change")));
        fs::set_permissions(path, fs::Permissions::from_mode(0o700)).unwrap();
    }
    // As the folder of all users is: what they put there is their own.
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o1777)).unwrap();
    assert_eq!(store.exposure(), None);
}
