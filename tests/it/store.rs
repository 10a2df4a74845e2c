//! Sessions on the disk: what was acknowledged is there, whatever happens.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests: a panic is a failure, and children are killed at odd times"
)]

mod basics; // What is written where, for whom; who may write; what is deleted.
mod clock; // D10: time goes back.
mod crash; // D3: a simulated disk, crashed everywhere.
mod damage; // D7: flipped, zeroed, cut, doubled.
mod drafts; // D9: what is being written.
mod fault; // D4, D5, D6: a disk that is full, fails, may not be written.
mod kill; // D1, D2: killed at random, and at every call.
mod two; // D8: two writers, three readers.
mod upgrade; // D11: logs of this and earlier versions.

mod child; // This program again, as one that is killed.
mod sim; // The simulated disk.

use std::{path::Path, sync::Arc};

use letterpress::store::{Access, Appended, Entry, Line, Log, Opened, RealDisk, SessionId, Store};
use serde_json::{Value, json};

/// Some time in 2023.
const NOW: i64 = 1_700_000_000_000;

fn id(name: &str) -> SessionId {
    SessionId::new(name).unwrap()
}

fn real(folder: &Path) -> Store {
    Store::open(folder.to_owned(), Arc::new(RealDisk)).unwrap()
}

/// The log of a session that must be ours to write.
fn writer(opened: Opened) -> Log {
    match opened.log {
        Access::Write(log) => log,
        Access::Read { why, .. } => panic!("only to be read: {why}"),
    }
}

fn wait<T>(future: impl Future<Output = T>) -> T {
    pollster::block_on(future)
}

fn saved(appended: Appended) -> u64 {
    wait(appended.saved).unwrap()
}

fn entries(lines: impl Iterator<Item = Line>) -> Vec<Entry> {
    let entry = |line| match line {
        Line::Entry(entry) => Some(entry),
        Line::Damaged(_) => None,
    };
    lines.filter_map(entry).collect()
}

fn meta() -> Value {
    json!({"title": "A test"})
}

/// Numbers that look random, and are the same each time.
#[derive(Clone, Debug)]
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// Below `sides`.
    fn below(&mut self, sides: u64) -> u64 {
        self.roll() % sides.max(1)
    }

    /// Words of so many bytes.
    fn words(&mut self, len: usize) -> String {
        let mut text = String::with_capacity(len + 8);
        while text.len() < len {
            let word = self.roll();
            for i in 0..8 {
                text.push(char::from(b'a' + ((word >> (i * 8)) % 26) as u8));
            }
        }
        text.truncate(len);
        text
    }
}
