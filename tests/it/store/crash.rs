//! D3: sessions on a simulated disk, crashed after every call in every way.

use std::{collections::BTreeMap, collections::BTreeSet, path::Path, sync::Arc};

use letterpress::{
    model::record::Kind,
    store::{Access, Line, Log, OpenError, SessionId, Store, Sync},
};
use serde_json::{Value, json};

use super::{
    Dice, NOW, id, meta, saved,
    sim::{Call, Crasher, Image, Op, SimDisk, Verdict, What},
    wait, writer,
};

const LOG: &str = "/data/sessions/a/log.jsonl";

/// What was appended to a session, and what a crash before left of it.
#[derive(Clone, Debug, Default)]
struct Story {
    records: BTreeMap<u64, Value>,
    /// The highest number that is certain from the beginning.
    certain: Option<u64>,
    /// Bytes that were no record then, and must be somewhere.
    fragment: Vec<u8>,
}

fn store(disk: &SimDisk) -> Store {
    Store::open("/data".into(), Arc::new(disk.clone())).unwrap()
}

/// Appends at random: alone, in batches, with blobs, at once and later.
fn tell(log: &Log, disk: &SimDisk, story: &mut Story, dice: &mut Dice) {
    for _ in 0..7 {
        for _ in 0..dice.below(4) {
            let body = any_body(log, dice);
            let appended = wait(log.append(Kind::Partial, body.clone(), Sync::Later));
            story.records.insert(appended.n, body);
        }
        let body = any_body(log, dice);
        let appended = wait(log.append(Kind::User, body.clone(), Sync::Now));
        let n = appended.n;
        story.records.insert(n, body);
        saved(appended);
        disk.ack(n);
    }
}

fn any_body(log: &Log, dice: &mut Dice) -> Value {
    let most = [20, 300, 1200, 5000][dice.below(4) as usize];
    let len = 1 + dice.below(most) as usize;
    let words = dice.words(len);
    if dice.below(4) > 0 {
        return json!({"text": words});
    }
    let sha = log.blob(words.as_bytes());
    json!({"picture": {"blob": sha, "bytes": words.len()}})
}

/// A session from its first call on.
fn begin(seed: u64, hook: Option<Lie>) -> (SimDisk, Story) {
    let (disk, mut dice) = (SimDisk::new(), Dice(seed));
    if let Some(lie) = hook {
        disk.hook(move |call| lie.verdict(call, true));
    }
    let mut story = Story::default();
    story.records.insert(0, meta());
    let log = writer(store(&disk).create(id("a"), meta(), NOW).unwrap());
    disk.ack(0);
    tell(&log, &disk, &mut story, &mut dice);
    wait(log.close()).unwrap();
    (disk, story)
}

/// A session that goes on after a crash.
fn go_on(image: Image, seed: u64, hook: Option<Lie>) -> (SimDisk, Story) {
    let before = image.bytes(LOG).unwrap().to_vec();
    let (disk, mut dice) = (SimDisk::of(image), Dice(seed));
    if let Some(lie) = hook {
        disk.hook(move |call| lie.verdict(call, false));
    }
    let store = store(&disk);
    let opened = store.open_session(&id("a"), NOW).unwrap();
    let mut story = Story::default();
    for line in store.replay(&id("a"), opened.len).unwrap() {
        if let Line::Entry(entry) = line {
            story.certain = Some(entry.n);
            story.records.insert(entry.n, entry.body);
        }
    }
    story.fragment = before[opened.len as usize..].to_vec();
    tell(&writer(opened), &disk, &mut story, &mut dice);
    (disk, story)
}

/// What must hold after a crash, when all up to `acked` was said to be on the disk.
fn verify(image: &Image, story: &Story, acked: Option<u64>, goes_on: bool) -> Result<(), String> {
    let disk = SimDisk::of(image.clone());
    let store = store(&disk);
    let before = image.bytes(LOG).map(<[u8]>::to_vec).unwrap_or_default();
    let opened = match store.open_session(&id("a"), NOW) {
        Ok(opened) => opened,
        Err(OpenError::NotFound) if acked.is_none() => return Ok(()),
        Err(error) => return Err(format!("it does not open: {error}")),
    };
    let (len, torn) = (opened.len, opened.found.torn.clone());
    let Access::Write(log) = opened.log else { return Err("it is only read".into()) };
    check_records(&store, len, story, acked)?;
    let after = disk.image();
    let put_aside = torn.map(|torn| after.bytes(torn.to_str().unwrap()).unwrap().to_vec());
    let log_now = after.bytes(LOG).unwrap();
    if [log_now, &put_aside.unwrap_or_default()].concat() != before {
        return Err("bytes are gone".into());
    }
    if !holds(&after, &story.fragment) {
        return Err("what was put aside is gone".into());
    }
    if goes_on {
        let appended = wait(log.append(Kind::User, json!("on"), Sync::Now));
        let n = appended.n;
        wait(appended.saved).map_err(|why| why.to_string())?;
        wait(log.close()).map_err(|why| why.to_string())?;
        let opened = store.open_session(&id("a"), NOW).map_err(|error| error.to_string())?;
        let last = store.replay(&id("a"), opened.len).unwrap().last();
        let is_there = matches!(last, Some(Line::Entry(it)) if it.n == n && it.body == json!("on"));
        if opened.next != n + 1 || !is_there || opened.found.torn.is_some() {
            return Err("it does not go on".into());
        }
    }
    Ok(())
}

/// All that was acknowledged is there once, in order, and nothing that nobody wrote.
fn check_records(store: &Store, len: u64, story: &Story, acked: Option<u64>) -> Result<(), String> {
    let mut seen = BTreeSet::new();
    for line in store.replay(&id("a"), len).unwrap() {
        let Line::Entry(entry) = line else { continue };
        if seen.last().is_some_and(|last| *last >= entry.n) {
            return Err(format!("{} is not in order", entry.n));
        }
        if story.records.get(&entry.n) != Some(&entry.body) {
            return Err(format!("{} is not what was written", entry.n));
        }
        let blob = entry.body.pointer("/picture/blob").and_then(Value::as_str);
        if blob.is_some_and(|sha| store.blob(&id("a"), sha).is_none()) {
            return Err(format!("the blob of {} is missing", entry.n));
        }
        seen.insert(entry.n);
    }
    let acked = acked.max(story.certain);
    match acked.and_then(|acked| story.records.range(..=acked).find(|(n, _)| !seen.contains(n))) {
        Some((n, _)) => Err(format!("{n} is lost, and {acked:?} was acknowledged")),
        None => Ok(()),
    }
}

/// Are these bytes in the log or in what was put aside?
fn holds(image: &Image, bytes: &[u8]) -> bool {
    let is_kept = |path: &Path| {
        let name = path.file_name().unwrap().to_str().unwrap();
        name == "log.jsonl" || name.starts_with("torn-")
    };
    let mut kept = image.names.iter().filter(|(path, _)| is_kept(path));
    bytes.is_empty()
        || kept.any(|(_, inode)| memchr::memmem::find(&image.files[*inode], bytes).is_some())
}

/// Crashes a session after each of its calls; gives how many images there were, one that is
/// torn, and what did not hold.
fn crash(disk: &SimDisk, story: &Story, dice: &mut Dice) -> (u64, Option<Image>, Vec<String>) {
    let (base, ops) = disk.history();
    let mut crasher = Crasher::new(&base);
    let (mut acked, mut images, mut torn, mut broken) = (None, 0, None, Vec::new());
    for (at, op) in ops.iter().enumerate() {
        crasher.apply(op);
        if let Op::Ack(n) = op {
            acked = Some(*n);
        }
        let mut seen = BTreeSet::new();
        let mut other = dice.clone();
        crasher.images(|sides| other.below(sides as u64) as usize, &mut |image| {
            if !seen.insert(image.hash()) {
                return;
            }
            images += 1;
            if let Err(why) = verify(&image, story, acked, images % 8 == 0) {
                broken.push(format!("after call {at}, {}: {why}", op.short()));
            }
            let is_torn = image.bytes(LOG).is_some_and(|log| !log.ends_with(b"\n"));
            if is_torn && acked.is_some() && (torn.is_none() || dice.below(40) == 0) {
                torn = Some(image);
            }
        });
        dice.roll();
    }
    (images, torn, broken)
}

/// A session and what follows on its crash, crashed again.
fn crash_twice(seed: u64, lie: Option<Lie>) -> (u64, Vec<String>) {
    let mut dice = Dice(seed);
    let (disk, story) = begin(dice.roll(), lie);
    let (mut images, torn, mut broken) = crash(&disk, &story, &mut dice);
    if let Some(torn) = torn {
        let (disk, story) = go_on(torn, dice.roll(), lie);
        let (more, _, worse) = crash(&disk, &story, &mut dice);
        images += more;
        broken.extend(worse);
    }
    (images, broken)
}

/// A kind of sync that is said to be done and is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lie {
    Log,
    FirstLog,
    Torn,
    Blob,
    BlobNames,
    SessionNames,
    SessionsNames,
    DataNames,
    RootNames,
}

impl Lie {
    const ALL: [Self; 9] = [
        Self::Log,
        Self::FirstLog,
        Self::Torn,
        Self::Blob,
        Self::BlobNames,
        Self::SessionNames,
        Self::SessionsNames,
        Self::DataNames,
        Self::RootNames,
    ];

    fn verdict(self, call: Call<'_>, is_first: bool) -> Verdict {
        let folder = call.path.parent().and_then(Path::to_str).unwrap_or_default();
        let kind = match (call.what, call.path.to_str().unwrap()) {
            (What::Sync, LOG) => Self::Log,
            (What::Sync, _) if folder.ends_with("blobs") => Self::Blob,
            (What::Sync, _) if is_first => Self::FirstLog,
            (What::Sync, _) => Self::Torn,
            (What::SyncFolder, "/") => Self::RootNames,
            (What::SyncFolder, "/data") => Self::DataNames,
            (What::SyncFolder, "/data/sessions") => Self::SessionsNames,
            (What::SyncFolder, path) if path.ends_with("blobs") => Self::BlobNames,
            (What::SyncFolder, _) => Self::SessionNames,
            _ => return Verdict::Go,
        };
        if kind == self { Verdict::Lie } else { Verdict::Go }
    }
}

#[test]
fn d3_a_crash_after_any_call_leaves_what_was_acknowledged() {
    let begun = letterpress::perf::now();
    let mut images = 0;
    let mut seed = 0x5eed;
    while images < 50_000 {
        seed += 1;
        let (more, broken) = crash_twice(seed, None);
        assert!(broken.is_empty(), "seed {seed}: {broken:#?}");
        images += more;
    }
    println!("{images} images of {} sessions, {:?}", seed - 0x5eed, begun.elapsed());
}

#[test]
fn d3_every_sync_is_needed() {
    for lie in Lie::ALL {
        let mut seeds = 1..=6;
        let caught = seeds.find_map(|seed| crash_twice(seed, Some(lie)).1.into_iter().next());
        println!("{lie:?}: {caught:?}");
        assert!(caught.is_some(), "nobody missed {lie:?}");
    }
}

#[test]
fn a_name_is_a_name() {
    assert!(SessionId::new("a-1").is_some());
    for bad in ["", "A", "a/b", "..", "-a", "ä", &"a".repeat(65)] {
        assert_eq!(SessionId::new(bad), None, "{bad}");
    }
    let fresh = SessionId::fresh(NOW);
    assert!(fresh.as_str().starts_with("20231114-221320-") && fresh.as_str().len() == 22);
    assert_ne!(fresh, SessionId::fresh(NOW));
}
