//! D7: logs in which something is not as it was written.

use std::{collections::BTreeMap, path::PathBuf, sync::Arc, thread};

use letterpress::{
    model::record::{Kind, line},
    store::{Access, Line, Oddity, Store},
};
use serde_json::{Value, json};

use super::{
    Dice, NOW, entries, id,
    sim::{Image, SimDisk},
    wait, writer,
};

/// A log of about 20 KB, and the bodies in it.
fn log() -> (Vec<u8>, Vec<Value>) {
    let (mut log, mut bodies, mut dice) = (Vec::new(), Vec::new(), Dice(7));
    while log.len() < 20_400 {
        let len = 20 + dice.below(300) as usize;
        let body = json!({"id": format!("m{}", bodies.len()), "text": dice.words(len)});
        let kind = if bodies.is_empty() { Kind::Meta } else { Kind::User };
        log.extend(line::write(bodies.len() as u64, kind, NOW, &body.to_string()).bytes());
        bodies.push(body);
    }
    (log, bodies)
}

fn disk_of(log: Vec<u8>) -> SimDisk {
    let folder = PathBuf::from("/data/sessions/a");
    SimDisk::of(Image {
        folders: folder.ancestors().map(PathBuf::from).collect(),
        names: BTreeMap::from([(folder.join("log.jsonl"), 0), (folder.join("lock"), 1)]),
        files: vec![Arc::new(log), Arc::default()],
    })
}

/// What was found in a log.
struct Found {
    bodies: Vec<Value>,
    damaged: usize,
    oddities: Vec<Oddity>,
    /// What was put aside.
    torn: Vec<u8>,
    left: Vec<u8>,
    can_write: bool,
}

/// Opens a log; whatever is in it, that goes well.
fn open(log: Vec<u8>) -> Found {
    let disk = disk_of(log);
    let store = Store::open("/data".into(), Arc::new(disk.clone())).unwrap();
    let opened = store.open_session(&id("a"), NOW).unwrap();
    let lines: Vec<_> = store.replay(&id("a"), opened.len).unwrap().collect();
    let damaged = lines.iter().filter(|line| matches!(line, Line::Damaged(_))).count();
    let image = disk.image();
    let torn = opened.found.torn.as_ref().and_then(|torn| image.bytes(torn.to_str()?));
    Found {
        bodies: entries(lines.into_iter()).into_iter().map(|entry| entry.body).collect(),
        damaged,
        oddities: opened.found.oddities.clone(),
        torn: torn.unwrap_or_default().to_vec(),
        left: image.bytes("/data/sessions/a/log.jsonl").unwrap().to_vec(),
        can_write: matches!(opened.log, Access::Write(_)),
    }
}

/// Runs cases on two threads.
fn on_two(cases: usize, case: impl Fn(usize) + Send + Sync + Copy) {
    thread::scope(|scope| {
        for half in 0..2 {
            scope.spawn(move || (half..cases).step_by(2).for_each(case));
        }
    });
}

/// How many of the bodies are there; nothing else is.
fn count(found: &Found, bodies: &[Value], what: &str) -> usize {
    let mut wanted = bodies.iter();
    for body in &found.bodies {
        assert!(wanted.any(|it| it == body), "{what}: nobody wrote {body}, or not here");
    }
    found.bodies.len()
}

#[test]
fn d7_a_flip_of_any_byte_costs_one_record_at_most() {
    let (log, bodies) = log();
    assert!(log.len() >= 20_400 && bodies.len() > 60, "{} {}", log.len(), bodies.len());
    let (log, bodies) = (&log, &bodies);
    on_two(log.len(), |at| {
        let mut flipped = log.clone();
        flipped[at] ^= [0x01, 0x80, 0x20, 0xff, 0x04][at % 5];
        let found = open(flipped.clone());
        let kept = count(&found, bodies, &format!("flip at {at}"));
        assert!(kept + 1 >= bodies.len(), "flip at {at}: {kept} of {}", bodies.len());
        assert_eq!([found.left, found.torn].concat(), flipped, "flip at {at}");
    });
}

#[test]
fn d7_every_length_opens_and_keeps_its_whole_records() {
    let (log, bodies) = log();
    let ends: Vec<_> =
        log.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at).collect();
    let (log, bodies, ends) = (&log, &bodies, &ends);
    on_two(log.len() + 1, |len| {
        let found = open(log[..len].to_vec());
        let whole = ends.iter().filter(|end| **end <= len).count();
        assert_eq!(count(&found, bodies, &format!("cut at {len}")), whole, "cut at {len}");
        assert_eq!([found.left, found.torn].concat(), log[..len], "cut at {len}");
        assert!(found.damaged == 0 && found.oddities.is_empty() == found.oddities.is_empty());
        assert!(found.can_write);
    });
}

#[test]
fn d7_zeros_cost_what_they_cover() {
    let (log, bodies) = log();
    for at in (0..log.len()).step_by(256) {
        let mut zeroed = log.clone();
        let end = (at + 4096).min(log.len());
        zeroed[at..end].fill(0);
        let touched = {
            let mut start = 0;
            let lines = log.split_inclusive(|byte| *byte == b'\n').filter(|line| {
                let range = start..start + line.len();
                start = range.end;
                // The end of a line is told by what follows.
                range.start < end && at < range.end - 1
            });
            lines.count()
        };
        let found = open(zeroed);
        let kept = count(&found, &bodies, &format!("zeros at {at}"));
        assert!(kept + touched >= bodies.len(), "zeros at {at}: {kept}, {touched} touched");
        assert!(found.can_write);
    }
}

#[test]
fn d7_what_is_there_twice_comes_once() {
    let (log, bodies) = log();
    let found = open([log.clone(), log.clone()].concat());
    assert_eq!(found.bodies, bodies, "concatenated");
    let is_same = |it: &Oddity| matches!(it, Oddity::Repeat { is_same: true, .. });
    assert!(found.oddities.len() == bodies.len() && found.oddities.iter().all(is_same));
    let mut dice = Dice(3);
    for _ in 0..50 {
        // A part of it, whole lines or not, stands there again.
        let at = dice.below(log.len() as u64) as usize;
        let end = (at + 4096).min(log.len());
        let again = [&log[..end], &log[at..end], &log[end..]].concat();
        let found = open(again);
        assert!(count(&found, &bodies, "doubled") + 1 >= bodies.len());
    }
}

#[test]
fn d7_another_log_behind_is_kept_and_told() {
    let (log, bodies) = log();
    let other = line::write(3, Kind::User, NOW, r#"{"text":"of another session"}"#);
    let found = open([log.as_slice(), other.as_bytes()].concat());
    assert_eq!(found.bodies.len(), bodies.len() + 1);
    assert!(matches!(found.oddities[..], [Oddity::Repeat { n: 3, is_same: false, .. }]));
}

#[test]
fn d7_what_editors_do_to_text_does_no_harm() {
    let (log, bodies) = log();
    let text = String::from_utf8(log).unwrap();
    assert_eq!(open(format!("\u{feff}{text}").into()).bodies, bodies, "a mark before it");
    let found = open(text.replace('\n', "\r\n").into());
    assert_eq!((found.bodies, found.torn), (bodies.clone(), Vec::new()), "other ends of lines");
    let found = open(format!("{text}\n\n\r\n").into());
    assert_eq!((found.bodies, found.torn), (bodies.clone(), Vec::new()), "empty lines");
    assert_eq!(open(text.replace('\n', "\n\n").into()).bodies, bodies, "empty lines between");
}

#[test]
fn a_gap_and_a_jump_are_told() {
    let record = |n| line::write(n, Kind::User, NOW, &json!({ "n": n }).to_string());
    let log: String = [0, 1, 5, 3, 1 << 40, (1 << 40) + 1].map(record).concat();
    let found = open(log.into());
    assert_eq!(found.bodies.len(), 6);
    let gaps: Vec<_> = found
        .oddities
        .iter()
        .map(|it| match it {
            Oddity::Gap { n, wanted, .. } => (*n, *wanted),
            Oddity::Damaged(_) | Oddity::Repeat { .. } => panic!("{it:?}"),
        })
        .collect();
    assert_eq!(gaps, [(5, 2), (3, 6), (1 << 40, 6)]);
}

#[test]
fn no_bytes_stop_it() {
    let (log, _) = log();
    let hostile: Vec<Vec<u8>> = vec![
        Vec::new(),
        b"\n".repeat(100_000),
        vec![0; 3 << 20],
        b"{\"v\":".repeat(200_000),
        b"[".repeat(1 << 20),
        [b"\xff\xfe".as_slice(), &log].concat(),
        format!("{}\n", "{\"v\":1,\"n\":0,\"k\":\"user\",\"t\":0,\"c\":0,\"b\":".repeat(5000))
            .into(),
        line::write(0, Kind::User, i64::MIN + 1, "not json").into(),
        line::write(u64::MAX, Kind::User, 0, "{}").into(),
    ];
    for (at, bytes) in hostile.into_iter().enumerate() {
        let found = open(bytes.clone());
        assert!(found.can_write, "{at}");
        assert_eq!([found.left, found.torn].concat(), bytes, "{at}");
    }
}

#[test]
fn a_later_version_is_only_read() {
    let (log, bodies) = log();
    let later = br#"{"v":2,"n":900,"k":"user","t":0,"c":0,"b":{"new":"shape"}}"#;
    let valid = line::write(900, Kind::User, 0, "{}").replacen("\"v\":1", "\"v\":2", 1);
    let found = open([log.as_slice(), valid.as_bytes()].concat());
    assert!(!found.can_write && found.bodies.len() == bodies.len() + 1);
    // One byte of damage in the middle makes no later version.
    let damaged = log.iter().position(|byte| *byte == b'\n').unwrap() + 6;
    let mut flipped = log.clone();
    flipped[damaged - 1 + 1] = b'3';
    let found = open(flipped);
    assert!(found.can_write && found.bodies.len() + 1 >= bodies.len());
    let found = open([log.as_slice(), later].concat());
    assert_eq!(found.torn, later, "it is not what anybody wrote");
}

#[test]
fn numbers_go_on_behind_the_highest_of_a_long_log() {
    // The highest number stands far before the part that is looked at first.
    let words = "x".repeat(1000);
    let mut log = String::new();
    for n in (0..5000).chain([900_000]).chain(5000..10_000) {
        log.push_str(&line::write(n, Kind::User, NOW, &json!({ "text": words }).to_string()));
    }
    let disk = disk_of(log.into_bytes());
    let store = Store::open("/data".into(), Arc::new(disk)).unwrap();
    let opened = store.open_session(&id("a"), NOW).unwrap();
    assert_eq!(opened.next, 10_000, "as the end has it");
    let check = opened.check().unwrap();
    assert_eq!((check.records, check.highest), (10_001, Some(900_000)));
    let appended =
        wait(writer(opened).append(Kind::User, json!({}), letterpress::store::Sync::Now));
    assert_eq!(appended.n, 900_001);
    wait(appended.saved).unwrap();
}
