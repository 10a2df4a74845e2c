//! D8: two that write, three that read, and the one who holds the session is killed.

use std::{
    collections::BTreeMap,
    path::Path,
    sync::mpsc::{Receiver, sync_channel},
    thread,
    time::{Duration, Instant},
};

use letterpress::{
    model::record::Kind,
    store::{Access, Line, Sync},
};
use serde_json::json;

use super::{
    Dice, NOW,
    child::{self, Started, say},
    entries, id, meta, real, wait, writer,
};

/// How often the holder is killed: for about eight seconds.
const KILLS: usize = 20;
const PATIENCE: Duration = Duration::from_secs(60);

/// Writes when nobody else does.
pub(super) fn write_in_turns(words: &[&str]) {
    let store = real(Path::new(words[0]));
    let opened = store.open_session(&id("a"), NOW).unwrap();
    let opened = match &opened.log {
        Access::Write(_) => opened,
        Access::Read { live, .. } => loop {
            thread::sleep(Duration::from_millis(5));
            if let Some(opened) = live.try_take_over(NOW).unwrap() {
                break opened;
            }
        },
    };
    say("hold");
    let log = writer(opened);
    let who = std::process::id();
    loop {
        let body = json!({"who": who, "text": "x".repeat(30_000)});
        let appended = wait(log.append(Kind::User, body, Sync::Now));
        let n = appended.n;
        wait(appended.saved).unwrap();
        say(&n.to_string());
    }
}

/// Reads what others write.
pub(super) fn read_along(words: &[&str]) {
    let store = real(Path::new(words[0]));
    let opened = store.view_session(&id("a")).unwrap();
    let mut next = opened.next;
    let Access::Read { mut live, .. } = opened.log else { panic!("it only reads") };
    loop {
        let grown = live.poll().unwrap();
        for line in grown.lines {
            match line {
                Line::Entry(entry) if entry.n == next => next += 1,
                Line::Entry(entry) => say(&format!("gap {} {next}", entry.n)),
                Line::Damaged(damaged) => say(&format!("damaged {damaged:?}")),
            }
        }
        say(&next.to_string());
        thread::sleep(Duration::from_millis(20));
    }
}

/// Hears what a process says, on a thread of its own, until its end.
fn listen(mut child: Started) -> Receiver<(Instant, String)> {
    let (tell, told) = sync_channel(1 << 20);
    thread::spawn(move || {
        while let Some(said) = child.hear() {
            tell.send((Instant::now(), said)).unwrap();
        }
    });
    told
}

fn kill(pid: u32) {
    let pid = rustix::process::Pid::from_raw(pid as i32).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

/// A process that writes, and what it said.
struct Writer {
    pid: u32,
    told: Receiver<(Instant, String)>,
    holds_since: Option<Instant>,
}

fn start_writer(folder: &Path) -> Writer {
    let child = child::start("write", folder, "", "");
    let pid = child.id();
    Writer { pid, told: listen(child), holds_since: None }
}

impl Writer {
    fn hear(&mut self, acked: &mut BTreeMap<u64, u32>) {
        while let Ok((at, said)) = self.told.try_recv() {
            match said.parse::<u64>() {
                Ok(n) => assert_eq!(acked.insert(n, self.pid), None, "{n} was written twice"),
                Err(_) => self.holds_since = Some(at),
            }
        }
    }
}

#[test]
fn d8_one_writes_all_read_and_the_holder_is_killed() {
    let folder = tempfile::tempdir().unwrap();
    let store = real(folder.path());
    wait(writer(store.create(id("a"), meta(), NOW).unwrap()).close()).unwrap();
    let readers: Vec<_> = (0..3)
        .map(|_| {
            let child = child::start("read", folder.path(), "", "");
            (child.id(), listen(child))
        })
        .collect();
    let mut writers: Vec<_> = (0..2).map(|_| start_writer(folder.path())).collect();
    let (mut acked, mut waits, mut dice) = (BTreeMap::new(), Vec::new(), Dice(8));
    while waits.len() < KILLS {
        thread::sleep(Duration::from_millis(50 + dice.below(300)));
        writers.iter_mut().for_each(|writer| writer.hear(&mut acked));
        let Some(at) = writers.iter().position(|writer| writer.holds_since.is_some()) else {
            continue;
        };
        let holder = writers.swap_remove(at);
        let killed = Instant::now();
        kill(holder.pid);
        let mut other = writers.pop().unwrap();
        while other.holds_since.is_none() {
            thread::sleep(Duration::from_millis(1));
            other.hear(&mut acked);
            assert!(killed.elapsed() < PATIENCE, "the lock never came free");
        }
        waits.push(other.holds_since.unwrap().saturating_duration_since(killed));
        while let Ok((at, said)) = holder.told.recv() {
            if let Ok(n) = said.parse::<u64>() {
                assert_eq!(acked.insert(n, holder.pid), None, "{n} was written twice, at {at:?}");
            }
        }
        writers = vec![other, start_writer(folder.path())];
    }
    for writer in writers {
        kill(writer.pid);
        while let Ok((_, said)) = writer.told.recv() {
            acked.extend(said.parse::<u64>().ok().map(|n| (n, writer.pid)));
        }
    }
    let count = check(folder.path(), &acked);
    for (pid, told) in readers {
        read_to(count, &told);
        kill(pid);
    }
    waits.sort();
    println!(
        "{} records, {} kills, free after {:?} in the middle and {:?} at most",
        acked.len(),
        waits.len(),
        waits[waits.len() / 2],
        waits[waits.len() - 1]
    );
}

/// A reader saw whole records only, each once, and comes to see them all.
fn read_to(count: usize, told: &Receiver<(Instant, String)>) {
    let mut seen = 0;
    while seen < count {
        let (_, said) = told.recv_timeout(PATIENCE).unwrap();
        let now: usize = said.parse().unwrap_or_else(|_| panic!("{said}"));
        assert!(now >= seen);
        seen = now;
    }
    assert_eq!(seen, count);
}

/// All that was acknowledged is there under the name of the one who wrote it, and numbers
/// follow each other; how many there are.
fn check(folder: &Path, acked: &BTreeMap<u64, u32>) -> usize {
    let store = real(folder);
    let opened = store.open_session(&id("a"), NOW).unwrap();
    let found = entries(store.replay(&id("a"), opened.len).unwrap());
    assert_eq!(opened.check().unwrap().oddities, []);
    for (entry, n) in found.iter().zip(0..) {
        assert_eq!(entry.n, n);
        if let Some(who) = acked.get(&n) {
            assert_eq!(entry.body["who"], json!(who), "{n}");
        }
    }
    assert!(acked.keys().all(|n| (*n as usize) < found.len()));
    found.len()
}
