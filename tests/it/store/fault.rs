//! D4, D5, D6: a disk that is full, fails, or may not be written.

use std::{
    fs,
    io::ErrorKind,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
};

use letterpress::{
    model::record::Kind,
    store::{Access, Entry, Log, LogState, RealDisk, Saved, Store, Sync},
};
use serde_json::{Value, json};

use super::{
    NOW,
    child::{self, say},
    entries, id, meta, real, saved,
    sim::{Call, SimDisk, Verdict, What},
    wait, writer,
};

const LOG: &str = "/data/sessions/a/log.jsonl";

fn store(disk: &SimDisk) -> Store {
    Store::open("/data".into(), Arc::new(disk.clone())).unwrap()
}

/// What a turn appends: short, long, with blobs.
fn bodies() -> Vec<Value> {
    let long = |n: usize| "w".repeat(n);
    vec![
        json!({"text": "a"}),
        json!({"text": long(70_000)}),
        json!({"text": long(3_000)}),
        json!({"text": "b", "more": [long(66_000), long(200)]}),
        json!({"text": "c"}),
    ]
}

/// Appends them all without waiting.
fn append_all(log: &Log) -> Vec<Saved> {
    let append = |body| wait(log.append(Kind::User, body, Sync::Now)).saved;
    bodies().into_iter().map(append).collect()
}

/// The words that were appended, in order, with what is in blobs.
fn words(store: &Store, entries: &[Entry]) -> Vec<Value> {
    fn whole(store: &Store, value: &Value) -> Value {
        if let Some(sha) = value.get("blob").and_then(Value::as_str) {
            let bytes = store.blob(&id("a"), sha).expect("the blob is there");
            return String::from_utf8(bytes).unwrap().into();
        }
        match value {
            Value::Array(items) => items.iter().map(|it| whole(store, it)).collect(),
            Value::Object(fields) => Value::Object(
                fields.iter().map(|(key, it)| (key.clone(), whole(store, it))).collect(),
            ),
            other => other.clone(),
        }
    }
    entries.iter().skip(1).map(|entry| whole(store, &entry.body)).collect()
}

fn check_all(disk: &SimDisk, wanted: &[Value]) {
    let store = store(&SimDisk::of(disk.image()));
    let opened = store.open_session(&id("a"), NOW).unwrap();
    assert_eq!(opened.found.oddities, []);
    let found = entries(store.replay(&id("a"), opened.len).unwrap());
    assert!(found.iter().zip(0..).all(|(entry, n)| entry.n == n));
    assert_eq!(words(&store, &found), wanted);
}

fn wait_for(log: &Log, is: impl FnMut(&LogState) -> bool) -> LogState {
    wait(log.state().wait_for(is)).unwrap().clone()
}

/// A hook that counts the calls of a kind, and does something to the k-th and those after it
/// until it is told that all is well.
fn from_the(
    k: usize,
    is_meant: impl Fn(&Call<'_>) -> bool + Send + 'static,
    verdict: impl Fn(usize, &Call<'_>) -> Verdict + Send + 'static,
) -> (impl FnMut(Call<'_>) -> Verdict + Send + 'static, Arc<AtomicBool>, Arc<AtomicUsize>) {
    let (is_well, count) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let (well, counted) = (Arc::clone(&is_well), Arc::clone(&count));
    let hook = move |call: Call<'_>| {
        if well.load(Ordering::SeqCst) || !is_meant(&call) {
            return Verdict::Go;
        }
        let at = counted.fetch_add(1, Ordering::SeqCst);
        if at < k { Verdict::Go } else { verdict(at - k, &call) }
    };
    (hook, is_well, count)
}

fn takes_space(call: &Call<'_>) -> bool {
    matches!(call.what, What::Write | What::MakeFolder)
        || (call.what == What::Open
            && !call.path.ends_with("lock")
            && !call.path.ends_with("log.jsonl"))
}

#[test]
fn d4_a_full_disk_at_any_call_loses_nothing() {
    let mut runs = 0;
    for is_short in [false, true] {
        for k in 0.. {
            let disk = SimDisk::new();
            let log = writer(store(&disk).create(id("a"), meta(), NOW).unwrap());
            let (hook, is_well, count) =
                from_the(k, takes_space, move |since, call| {
                    match is_short && since == 0 && call.what == What::Write {
                        true => Verdict::Short(call.bytes / 2),
                        false => Verdict::Fail(ErrorKind::StorageFull),
                    }
                });
            disk.hook(hook);
            let waiting = append_all(&log);
            if let LogState::Saved { .. } =
                wait_for(&log, |it| !matches!(it, LogState::Saving { .. }))
            {
                assert!(count.load(Ordering::SeqCst) <= k, "it was full and all was saved");
                check_all(&disk, &bodies());
                break;
            }
            assert!(matches!(*log.state().borrow(), LogState::NoSpace(_)));
            // What a crash would leave is whole up to what was acknowledged, and opens.
            let crashed = store(&SimDisk::of(disk.image()));
            drop(crashed.open_session(&id("a"), NOW).unwrap());
            is_well.store(true, Ordering::SeqCst);
            let last = wait(log.append(Kind::User, json!("last"), Sync::Now));
            for one in waiting {
                wait(one).unwrap();
            }
            saved(last);
            assert!(matches!(*log.state().borrow(), LogState::Saved { .. }));
            let mut wanted = bodies();
            wanted.push(json!("last"));
            check_all(&disk, &wanted);
            runs += 1;
        }
    }
    println!("{runs} full disks");
    assert!(runs >= 12, "{runs}");
}

#[test]
fn d4_space_that_returns_is_found_without_being_asked() {
    let disk = SimDisk::new();
    let log = writer(store(&disk).create(id("a"), meta(), NOW).unwrap());
    disk.hook(|call| match call.what {
        What::Write => Verdict::Fail(ErrorKind::QuotaExceeded),
        _ => Verdict::Go,
    });
    let waiting = append_all(&log);
    wait_for(&log, |it| matches!(it, LogState::NoSpace(_)));
    disk.unhook();
    wait_for(&log, |it| matches!(it, LogState::Saved { .. }));
    for one in waiting {
        wait(one).unwrap();
    }
    check_all(&disk, &bodies());
}

#[test]
fn d4_a_session_is_made_whole_or_not_at_all() {
    for k in 0.. {
        let disk = SimDisk::new();
        let (hook, is_well, count) =
            from_the(k, takes_space, |_, _| Verdict::Fail(ErrorKind::StorageFull));
        let store = store(&disk);
        disk.hook(hook);
        let made = store.create(id("a"), meta(), NOW);
        if count.load(Ordering::SeqCst) <= k {
            made.unwrap();
            assert!(k >= 3, "{k}");
            break;
        }
        assert!(made.is_err() && store.ids().is_empty(), "{k}");
        is_well.store(true, Ordering::SeqCst);
        drop(store.create(id("a"), meta(), NOW).unwrap());
        assert_eq!(store.ids(), [id("a")]);
    }
}

#[test]
fn d4_what_memory_cannot_hold_is_counted() {
    let disk = SimDisk::new();
    let log = writer(store(&disk).create(id("a"), meta(), NOW).unwrap());
    let first = wait(log.append(Kind::User, json!("first"), Sync::Now));
    saved(first);
    disk.hook(|call| match call.what {
        What::Write => Verdict::Fail(ErrorKind::StorageFull),
        _ => Verdict::Go,
    });
    // Ninety megabytes: more than is kept.
    let parts: Vec<_> = (0..15).map(|_| "p".repeat(60_000)).collect();
    let waiting: Vec<_> =
        (0..100).map(|_| wait(log.append(Kind::User, json!(parts), Sync::Now)).saved).collect();
    for one in waiting {
        assert!(wait(one).is_err());
    }
    assert!(matches!(*log.state().borrow(), LogState::Unsaved(_)));
    let dropped = log.dropped();
    assert!((20..40).contains(&dropped), "{dropped}");
    disk.unhook();
    let copied = wait(log.save_copy(Path::new("/copy/all.jsonl"))).unwrap();
    assert_eq!(copied.dropped, dropped);
    let image = disk.image();
    let lines = image.bytes("/copy/all.jsonl").unwrap().split(|it| *it == b'\n').count() - 1;
    assert_eq!(lines as u64 + dropped, 102);
}

#[test]
fn d5_a_sync_that_fails_is_never_taken_for_done() {
    let syncs = |call: &Call<'_>| matches!(call.what, What::Sync | What::SyncFolder);
    let failures = fails_at_every(syncs, ErrorKind::Other);
    println!("{failures} failures");
    assert!(failures >= 5, "{failures}");
}

#[test]
fn d5_no_call_that_fails_is_taken_for_done() {
    let failures = fails_at_every(|_| true, ErrorKind::Other);
    println!("{failures} failures");
    assert!(failures >= 14, "{failures}");
}

/// One call fails, whichever it is, and the disk is well ever after; how many were noticed.
fn fails_at_every(is_meant: fn(&Call<'_>) -> bool, kind: ErrorKind) -> usize {
    let mut unsaved = 0;
    for k in 0.. {
        let disk = SimDisk::new();
        let log = writer(store(&disk).create(id("a"), meta(), NOW).unwrap());
        let first = saved(wait(log.append(Kind::User, json!("first"), Sync::Now)));
        let (hook, _, count) = from_the(k, is_meant, move |since, _| match since {
            0 => Verdict::Fail(kind),
            _ => Verdict::Go,
        });
        disk.hook(hook);
        let waiting = append_all(&log);
        let outcomes: Vec<_> = waiting.into_iter().map(wait).collect();
        if count.load(Ordering::SeqCst) <= k {
            assert!(outcomes.iter().all(Result::is_ok), "{outcomes:?}");
            break;
        }
        let good = outcomes.iter().take_while(|it| it.is_ok()).count();
        assert!(outcomes.iter().skip(good).all(Result::is_err), "{k}: {outcomes:?}");
        if good == outcomes.len() {
            // The copy of something that failed is not needed: none of the log depended on it.
            continue;
        }
        unsaved += 1;
        assert!(matches!(*log.state().borrow(), LogState::Unsaved(_)), "{k}");
        let later = wait(log.append(Kind::User, json!("later"), Sync::Now));
        assert!(wait(later.saved).is_err(), "{k}: it was tried again");
        let copied = wait(log.save_copy(Path::new("/copy/a/log.jsonl"))).unwrap();
        assert_eq!(copied.dropped, 0);
        assert!(first < copied.len);
        check_copy(&disk, k);
        assert!(wait(log.close()).is_err());
        let again = store(&SimDisk::of(disk.image()));
        let opened = again.open_session(&id("a"), NOW).unwrap();
        let found = entries(again.replay(&id("a"), opened.len).unwrap());
        assert!(found.len() >= 2 + good, "{k}");
    }
    unsaved
}

/// The copy holds all that was appended.
fn check_copy(disk: &SimDisk, k: usize) {
    let mut image = disk.image();
    // As a session of its own.
    let folder = Path::new("/data/sessions/a");
    image.names.retain(|path, _| !path.starts_with(folder));
    let copied: Vec<_> = image
        .names
        .iter()
        .filter_map(|(path, inode)| Some((path.strip_prefix("/copy/a").ok()?.to_owned(), *inode)))
        .collect();
    image.names.extend(copied.into_iter().map(|(path, inode)| (folder.join(path), inode)));
    image.folders.insert(folder.join("blobs"));
    let store = store(&SimDisk::of(image));
    let opened = store.open_session(&id("a"), NOW).unwrap();
    let found = entries(store.replay(&id("a"), opened.len).unwrap());
    let mut wanted = bodies();
    wanted.insert(0, json!("first"));
    wanted.push(json!("later"));
    assert_eq!(words(&store, &found), wanted, "{k}");
}

#[test]
fn d6_what_may_not_be_written_is_read() {
    for kind in [ErrorKind::ReadOnlyFilesystem, ErrorKind::PermissionDenied] {
        let disk = SimDisk::new();
        let log = writer(store(&disk).create(id("a"), meta(), NOW).unwrap());
        saved(wait(log.append(Kind::User, json!("first"), Sync::Now)));
        wait(log.close()).unwrap();
        let disk = SimDisk::of(disk.image());
        disk.hook(move |_| Verdict::Fail(kind));
        let opened = store(&disk).open_session(&id("a"), NOW).unwrap();
        let Access::Read { why, live } = &opened.log else { panic!("it may not be written") };
        assert!(why.starts_with("It cannot be written: "), "{why}");
        assert!(live.is_lockable() && opened.next == 2);
        assert_eq!(opened.check().unwrap().records, 2);
        assert!(store(&disk).create(id("b"), meta(), NOW).is_err());
        disk.unhook();
        drop(writer(live.try_take_over(NOW).unwrap().unwrap()));
        assert_eq!(disk.image().bytes(LOG).unwrap().len() as u64, opened.len);
    }
}

#[test]
fn d6_where_nothing_can_be_locked_it_is_read() {
    let disk = SimDisk::new();
    drop(store(&disk).create(id("a"), meta(), NOW).unwrap());
    let disk = SimDisk::of(disk.image());
    disk.hook(|call| match call.what {
        What::Lock => Verdict::Fail(ErrorKind::Unsupported),
        _ => Verdict::Go,
    });
    let opened = store(&disk).open_session(&id("a"), NOW).unwrap();
    let Access::Read { why, live } = opened.log else { panic!("it cannot be locked") };
    assert!(why.starts_with("Nothing can be locked here"), "{why}");
    assert!(!live.is_lockable() && live.try_take_over(NOW).unwrap().is_none());
}

#[cfg(unix)]
#[test]
fn d6_a_folder_without_the_right_to_write_is_read() {
    use std::os::unix::fs::PermissionsExt as _;
    if rustix::process::geteuid().is_root() {
        // Nothing is forbidden to this one; the simulated disk has forbidden it above.
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let store = real(folder.path());
    wait(writer(store.create(id("a"), meta(), NOW).unwrap()).close()).unwrap();
    let session = store.folder(&id("a"));
    for path in ["log.jsonl", "lock"] {
        fs::set_permissions(session.join(path), fs::Permissions::from_mode(0o400)).unwrap();
    }
    fs::set_permissions(&session, fs::Permissions::from_mode(0o500)).unwrap();
    let opened = store.open_session(&id("a"), NOW).unwrap();
    assert!(matches!(opened.log, Access::Read { .. }));
    fs::set_permissions(&session, fs::Permissions::from_mode(0o700)).unwrap();
}

/// Writes until the files of this process may not grow, and goes on when they may.
pub(super) fn write_to_a_limit(words: &[&str]) {
    use rustix::process::{Resource, Rlimit, setrlimit};
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let _guard = runtime.enter();
    // Whoever listens to this signal is not ended by it.
    let _listening = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::from_raw(25));
    let limit = |bytes| {
        setrlimit(Resource::Fsize, Rlimit { current: bytes, maximum: None }).unwrap();
    };
    let store = real(Path::new(words[0]));
    let log = writer(store.create(id("a"), meta(), NOW).unwrap());
    limit(Some(100_001));
    let body = |n: u64| json!({"n": n, "text": "x".repeat(7_000)});
    let waiting: Vec<_> =
        (1..40).map(|n| wait(log.append(Kind::User, body(n), Sync::Now)).saved).collect();
    wait_for(&log, |it| matches!(it, LogState::NoSpace(_)));
    say(&fs::metadata(store.log_path(&id("a"))).unwrap().len().to_string());
    limit(None);
    for one in waiting {
        wait(one).unwrap();
    }
    say(&wait(log.close()).unwrap().to_string());
}

#[test]
fn d4_a_file_that_may_not_grow_is_a_full_disk() {
    let folder = tempfile::tempdir().unwrap();
    let mut child = child::start("limit", folder.path(), "", "");
    let (said, ended_well) = child.rest();
    assert!(ended_well, "{said:?}");
    assert_eq!(said[0], "100001");
    let store = Store::open(folder.path().to_owned(), Arc::new(RealDisk)).unwrap();
    let opened = store.open_session(&id("a"), NOW).unwrap();
    assert_eq!(said[1], opened.len.to_string());
    assert_eq!(opened.check().unwrap().oddities, []);
    let found = entries(store.replay(&id("a"), opened.len).unwrap());
    let numbers: Vec<_> = found.iter().skip(1).map(|it| it.body["n"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..40).collect::<Vec<_>>());
}
