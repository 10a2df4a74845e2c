//! D1 and D2: a program that writes is killed, at random and at every call.

use std::{
    collections::BTreeMap,
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use letterpress::{
    model::record::Kind,
    store::{
        Disk, DiskFile, Home, Line, RealDisk, SessionId, Store, StoredDraft, Sync, blob_of,
        disk::{Listing, Opening},
    },
};
use serde_json::{Value, json};

use super::{
    Dice, NOW,
    child::{self, say},
    id, meta, real, wait, writer,
};

/// How much the records of a session hold: short lines, blobs of two sizes, long lines.
const SIZES: [&str; 4] = ["200", "102400", "4194304", "lines"];

/// So many long lines are written at once.
const BATCH: u64 = 8;

/// A body whose words follow from its number.
fn body(n: u64, size: &str) -> Value {
    let words = |len: usize| format!("{n:016x}").repeat(len.div_ceil(16));
    match size.parse() {
        Ok(len) => json!({"n": n, "text": words(len)}),
        Err(_) => json!({"n": n, "parts": vec![words(60_000); 12]}),
    }
}

/// Writes one record after the other, and says each that is on the disk.
pub(super) fn write_until_killed(words: &[&str]) {
    let &[folder, name, size] = words else { panic!("{words:?}") };
    let (store, id) = (real(Path::new(folder)), id(name));
    let opened = match store.contains(&id) {
        true => store.open_session(&id, NOW).unwrap(),
        false => store.create(id, meta(), NOW).unwrap(),
    };
    let mut n = opened.next;
    let log = writer(opened);
    say("open");
    loop {
        while size == "lines" && n % BATCH != 0 {
            wait(log.append(Kind::Partial, body(n, size), Sync::Later));
            n += 1;
        }
        let appended = wait(log.append(Kind::User, body(n, size), Sync::Now));
        assert_eq!(appended.n, n);
        wait(appended.saved).unwrap();
        say(&n.to_string());
        n += 1;
    }
}

/// What was found after kills.
#[derive(Debug, Default)]
struct Tally {
    kills: usize,
    acked: usize,
    torn: usize,
}

/// Kills one session again and again.
fn kill_session(folder: &Path, name: &str, size: &str, kills: usize, tally: &mut Tally) {
    let mut dice =
        Dice(0xd1ce ^ (name.len() as u64) << 8 ^ name.bytes().map(u64::from).sum::<u64>());
    let (mut acked, mut checked) = (None, 0);
    for _ in 0..kills {
        let mut child = child::start("kill", folder, &format!("{name} {size}"), "");
        let mut said = Vec::new();
        // It is killed while it opens, while it writes its first record, or later.
        for _ in 0..dice.below(4).min(2) {
            said.push(child.hear().expect("it lives"));
        }
        thread::sleep(Duration::from_millis(dice.below(300)));
        said.extend(child.kill());
        for said in said {
            if let Ok(n) = said.parse::<u64>() {
                acked = acked.max(Some(n));
                tally.acked += 1;
            }
        }
        tally.kills += 1;
        checked = reopen(folder, &id(name), size, acked, checked, tally);
    }
    reopen(folder, &id(name), size, acked, 0, tally);
}

/// Opens what was killed: all that was acknowledged is there, once, as it was written. Looks
/// at the bodies from `from` on; gives the number after the last.
fn reopen(
    folder: &Path,
    id: &SessionId,
    size: &str,
    acked: Option<u64>,
    from: u64,
    tally: &mut Tally,
) -> u64 {
    let store = real(folder);
    let Ok(before) = fs::read(store.log_path(id)) else {
        assert_eq!(acked, None, "it is gone");
        return 0;
    };
    let opened = store.open_session(id, NOW).unwrap();
    let torn = opened.found.torn.as_ref().map(|torn| fs::read(torn).unwrap());
    tally.torn += usize::from(torn.is_some());
    let after = fs::read(&opened.path).unwrap();
    let torn = torn.unwrap_or_default();
    assert!(before.starts_with(&after) && before[after.len()..] == torn, "bytes are gone");
    let mut next = 0;
    for line in store.replay(id, opened.len).unwrap() {
        let Line::Entry(entry) = line else { panic!("{line:?}") };
        assert_eq!(entry.n, next, "lost or doubled");
        next += 1;
        if entry.n >= from.max(1) {
            check_body(&store.folder(id), entry.n, size, &entry.body);
        }
    }
    assert!(acked.is_none_or(|acked| acked < next), "{acked:?} was acknowledged, {next} are there");
    assert_eq!(opened.next, next);
    wait(writer(opened).close()).unwrap();
    next
}

fn check_body(folder: &Path, n: u64, size: &str, found: &Value) {
    let wanted = body(n, size);
    let Some(sha) = found.pointer("/text/blob").and_then(Value::as_str) else {
        assert_eq!(*found, wanted);
        return;
    };
    let bytes = blob_of(folder, sha).expect("the blob is there");
    assert_eq!(wanted["text"].as_str().unwrap().as_bytes(), bytes);
}

#[test]
fn d1_three_hundred_kills_lose_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let lanes: Vec<_> = (0..5)
        .map(|lane| {
            let folder = folder.path().to_owned();
            thread::spawn(move || {
                let mut tallies = BTreeMap::<&str, Tally>::new();
                for round in 0..6 {
                    let size = SIZES[(lane + round) % SIZES.len()];
                    let name = format!("s{lane}-{round}");
                    let tally = tallies.entry(size).or_default();
                    kill_session(&folder, &name, size, 10, tally);
                    // Nothing of it is wanted any more, and it is large.
                    fs::remove_dir_all(real(&folder).folder(&id(&name))).unwrap();
                }
                tallies
            })
        })
        .collect();
    let mut all: BTreeMap<&str, Tally> = BTreeMap::new();
    for lane in lanes {
        for (size, tally) in lane.join().unwrap() {
            let sum = all.entry(size).or_default();
            sum.kills += tally.kills;
            sum.acked += tally.acked;
            sum.torn += tally.torn;
        }
    }
    println!("{all:#?}");
    assert_eq!(all.values().map(|tally| tally.kills).sum::<usize>(), 300);
    assert!(all.values().all(|tally| tally.acked > 0), "the children wrote");
}

/// A disk that ends the program at its k-th call: before it, or after half of it.
#[derive(Debug)]
struct Deadly {
    calls: AtomicUsize,
    last: usize,
    is_half: bool,
}

impl Deadly {
    fn call(&self, what: &str, path: &Path) -> bool {
        if self.calls.fetch_add(1, Ordering::Relaxed) != self.last {
            return false;
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let name = if name.starts_with(".new-") { "(new file)".into() } else { name };
        say(&format!("point {what} {name}"));
        if !self.is_half {
            die();
        }
        true
    }

    /// Ends the program behind the call, if this is the one.
    fn behind<T>(&self, what: &str, path: &Path, call: impl FnOnce() -> T) -> T {
        let is_last = self.call(what, path);
        let done = call();
        if is_last {
            die();
        }
        done
    }
}

fn die() -> ! {
    rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL)
        .unwrap();
    loop {
        thread::park();
    }
}

#[derive(Clone, Debug)]
struct DeadlyDisk(Arc<Deadly>);

impl Disk for DeadlyDisk {
    fn make_folder(&self, path: &Path) -> io::Result<()> {
        self.0.behind("make_folder", path, || RealDisk.make_folder(path))
    }

    fn open(&self, path: &Path, opening: Opening) -> io::Result<Box<dyn DiskFile>> {
        let file = match opening {
            Opening::New | Opening::Lock => {
                self.0.behind("open", path, || RealDisk.open(path, opening))
            }
            Opening::Read | Opening::Append => RealDisk.open(path, opening),
        }?;
        Ok(Box::new(DeadlyFile { file, path: path.to_owned(), deadly: Arc::clone(&self.0) }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.0.behind("rename", to, || RealDisk.rename(from, to))
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        self.0.behind("sync_folder", path, || RealDisk.sync_folder(path))
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.0.behind("remove", path, || RealDisk.remove(path))
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove_folder(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<Listing>> {
        RealDisk.list(path)
    }

    fn exists(&self, path: &Path) -> bool {
        RealDisk.exists(path)
    }
}

#[derive(Debug)]
struct DeadlyFile {
    file: Box<dyn DiskFile>,
    path: PathBuf,
    deadly: Arc<Deadly>,
}

impl DiskFile for DeadlyFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.deadly.call("write", &self.path) {
            self.file.write(&bytes[..bytes.len() / 2])?;
            die();
        }
        self.file.write(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.deadly.behind("sync", &self.path, || self.file.sync())
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.deadly.behind("truncate", &self.path, || self.file.truncate(len))
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<usize> {
        self.file.read_at(at, into)
    }

    fn size(&self) -> io::Result<u64> {
        self.file.size()
    }

    fn try_lock(&self) -> Result<(), fs::TryLockError> {
        self.file.try_lock()
    }
}

const DRAFT: &str = "What I wrote";

/// A turn from the first key to the last record, with drafts and a crash before it, which
/// ends at some call.
pub(super) fn write_to_a_point(words: &[&str]) {
    let &[folder, last, half] = words else { panic!("{words:?}") };
    let (calls, last, is_half) = (AtomicUsize::new(0), last.parse().unwrap(), half == "half");
    let disk = DeadlyDisk(Arc::new(Deadly { calls, last, is_half }));
    let store = Store::open(folder.into(), Arc::new(disk)).unwrap();
    let (draft_id, a) = (id("d"), id("a"));
    let home = Home::New(draft_id);
    let drafts = store.drafts();
    let draft = StoredDraft { key: "k1".into(), text: DRAFT.into(), ..StoredDraft::default() };
    drafts.edit(&home, draft);
    drafts.flush(&home, true);
    drafts.save_now();
    say("drafted");
    let log = writer(store.create(a.clone(), meta(), NOW).unwrap());
    let append = |kind, body, sync| {
        let appended = wait(log.append(kind, body, sync));
        let n = appended.n;
        if sync == Sync::Now {
            wait(appended.saved).unwrap();
            say(&n.to_string());
        }
    };
    append(Kind::User, json!({"draft": "k1", "text": DRAFT}), Sync::Now);
    drafts.clear(&home, "k1");
    drafts.save_now();
    append(Kind::AssistantStart, json!({}), Sync::Later);
    append(Kind::Partial, json!({"add": "x".repeat(3000)}), Sync::Later);
    append(Kind::Approval, json!({"decision": "once"}), Sync::Now);
    append(Kind::ToolResult, json!({"output": "y".repeat(70_000)}), Sync::Now);
    append(Kind::AssistantFinal, json!({"text": "All of it"}), Sync::Now);
    wait(log.close()).unwrap();
    // What a crash may leave; then it goes on.
    let path = store.log_path(&a);
    let mut torn = fs::OpenOptions::new().append(true).open(path).unwrap();
    io::Write::write_all(&mut torn, b"{\"v\":1,\"n\":7,\"k\":\"us").unwrap();
    let log = writer(store.open_session(&a, NOW).unwrap());
    let appended = wait(log.append(Kind::User, json!({"text": "more"}), Sync::Now));
    say(&appended.n.to_string());
    wait(appended.saved).unwrap();
    wait(log.close()).unwrap();
    say("end");
}

/// Lets the turn end at a call, and looks at what is there; the call, none when it went on
/// to its end.
fn end_at(last: usize, half: &str) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path().join("data");
    let said = child::start("point", &folder, &format!("{last} {half}"), "").rest().0;
    let has = |word: &str| said.iter().any(|it| it == word);
    if has("end") {
        return None;
    }
    let point = said.iter().find_map(|it| it.strip_prefix("point ")).map(str::to_owned);
    let point = point.unwrap_or_else(|| panic!("it came to another end: {said:?}"));
    let store = real(&folder);
    let draft = store.new_drafts().into_iter().next().map(|(_, draft)| draft.text.to_string());
    let mut user = None;
    let acked = said.iter().filter_map(|it| it.parse::<u64>().ok()).max();
    if store.contains(&id("a")) {
        let opened = store.open_session(&id("a"), NOW).unwrap();
        let lines: Vec<_> = store.replay(&id("a"), opened.len).unwrap().collect();
        let entries = super::entries(lines.iter().cloned());
        assert_eq!(entries.len(), lines.len(), "{point}: {lines:?}");
        assert!(entries.iter().zip(0..).all(|(entry, n)| entry.n == n), "{point}");
        // The last record of all was said before it was on the disk.
        let acked = acked.map_or(0, |acked| acked.min(6));
        assert!(entries.len() as u64 > acked, "{point}: {acked} was acknowledged");
        for entry in &entries {
            if let Some(sha) = entry.body.pointer("/output/blob").and_then(Value::as_str) {
                assert!(store.blob(&id("a"), sha).is_some(), "{point}: a blob is missing");
            }
        }
        let of_draft = entries.iter().find(|it| it.body.get("draft") == Some(&json!("k1")));
        user = of_draft.map(|entry| entry.body["text"].as_str().unwrap().to_owned());
        let appended = wait(writer(opened).append(Kind::User, json!("on"), Sync::Now));
        wait(appended.saved).unwrap();
    } else {
        assert_eq!(acked, None, "{point}: it is gone");
    }
    if has("drafted") {
        assert!([&draft, &user].contains(&&Some(DRAFT.to_owned())), "{point}: neither");
    }
    Some(point)
}

#[test]
fn d2_an_end_at_any_call_leaves_what_was_acknowledged() {
    let mut points = BTreeMap::<String, usize>::new();
    for half in ["before", "half"] {
        for last in 0.. {
            let Some(point) = end_at(last, half) else { break };
            *points.entry(point).or_default() += 1;
        }
    }
    println!("{points:#?}");
    assert!(points.values().sum::<usize>() >= 80, "{points:?}");
}
