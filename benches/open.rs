//! Opening a file: until its newest messages are there, and until all of it is known; a
//! session, until it is there where it was being read.
//!
//! `cargo bench --bench open`. What is shown first must hardly know how long the history is.

#![expect(clippy::print_stdout, reason = "a bench prints its table")]

#[path = "measure/mod.rs"]
pub(crate) mod measure;

use std::{io::Write as _, path::Path, sync::Arc, time::Duration};

use letterpress::{
    app::synth,
    engine::{FileSource, reader::Config},
    model::{Base, MessageId, Source as _},
};

use measure::{Extent, Row, Table, runs};

fn main() {
    println!("{}", table(Extent::of_args()));
}

pub(crate) fn table(extent: Extent) -> Table {
    let mut rows = Vec::new();
    for messages in extent.pick([1_000, 10_000, 100_000].as_slice(), &[100, 1_000]) {
        let mut file = tempfile::NamedTempFile::with_suffix(".jsonl").expect("a file can be made");
        let request = synth::Request { messages: *messages, seed: 1 };
        let mut out = std::io::BufWriter::new(&mut file);
        synth::write(request, &mut out).and_then(|()| out.flush()).expect("it can be written");
        drop(out);
        push_rows(&mut rows, *messages, file.path(), extent);
    }
    for messages in extent.pick([1_000, 100_000].as_slice(), &[100]) {
        let mut file = tempfile::NamedTempFile::with_suffix(".jsonl").expect("a file can be made");
        let request = synth::Request { messages: *messages, seed: 1 };
        let mut out = std::io::BufWriter::new(&mut file);
        synth::write_log(request, &mut out).expect("it can be written");
        drop(out);
        push_session(&mut rows, *messages, file.path(), extent);
    }
    Table { title: "open: a file that is in the system's cache", rows }
}

const PATIENCE: Duration = Duration::from_secs(60);

fn push_rows(rows: &mut Vec<Row>, messages: u64, file: &Path, extent: Extent) {
    let open = || FileSource::open(file, Arc::new(|| ())).expect("it was just written");
    let count = extent.pick(20, 2);
    let bytes = file.metadata().map_or(0, |meta| meta.len());
    let first = runs(count, || {
        let mut source = open();
        assert!(source.wait_first(PATIENCE), "the newest messages come");
        source
    });
    rows.push(Row::new(format!("{messages} messages, newest"), first, [("bytes", bytes)]));
    let whole = runs(count, || {
        let mut source = open();
        assert!(source.wait_complete(PATIENCE), "the index is finished");
        source
    });
    let mut source = open();
    assert!(source.wait_complete(PATIENCE), "the index is finished");
    // What the index takes does not depend on the machine.
    source.poll();
    let counts = [("rows", source.len() as u64), ("index bytes", source.index_bytes() as u64)];
    rows.push(Row::new(format!("{messages} messages, all indexed"), whole, counts));
}

fn push_session(rows: &mut Vec<Row>, messages: u64, file: &Path, extent: Extent) {
    let len = file.metadata().map_or(0, |meta| meta.len());
    let base = Arc::new(Base { path: file.to_owned(), len, leaf: None });
    let mut whole = stored(&base, None);
    assert!(whole.wait_complete(PATIENCE), "the index is finished");
    whole.poll();
    for (place, part) in [("a third", 3), ("half", 2), ("its end", 1)] {
        let near = whole.row((whole.len() - 1) / part).id;
        let times = runs(extent.pick(20, 2), || at(&base, near));
        let name = format!("session of {messages} messages, read at {place}");
        rows.push(Row::new(name, times, [("bytes", len)]));
    }
}

fn stored(base: &Arc<Base>, near: Option<MessageId>) -> FileSource {
    FileSource::stored(base, near, Arc::new(|| ()), Config::default()).expect("it was just written")
}

/// Opened, with the message there that was being read.
fn at(base: &Arc<Base>, near: MessageId) -> FileSource {
    let mut source = stored(base, Some(near));
    assert!(source.wait_first(PATIENCE), "some rows come");
    source.poll();
    let row = source.index_of(near).expect("what was being read is among them");
    source.want(row..(row + 20).min(source.len()));
    while source.message(row).is_none() {
        std::thread::park_timeout(Duration::from_micros(200));
        source.poll();
    }
    source
}
