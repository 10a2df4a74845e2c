//! Files as sources: the newest messages first, the index behind, a thread that ends.

use std::{
    fmt::Write as _,
    fs,
    ops::Range,
    path::{Path, PathBuf},
    sync::{
        Arc,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    time::Duration,
};

use letterpress::{
    app::synth,
    engine::{FileSource, Waker, reader::Config},
    model::{Blocks, Message, MessageId, Part, Progress, RowKind, Source as _, SourceLine},
};

const PATIENCE: Duration = Duration::from_secs(60);

/// A folder with one transcript in it.
struct Fixture {
    folder: tempfile::TempDir,
}

impl Fixture {
    fn of(text: &[u8]) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        fs::write(folder.path().join("history.jsonl"), text).expect("a fixture");
        Self { folder }
    }

    fn synthetic(messages: u64) -> Self {
        let mut text = Vec::new();
        synth::write(synth::Request { messages, seed: 11 }, &mut text).expect("a history");
        Self::of(&text)
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("history.jsonl")
    }
}

fn quiet() -> Waker {
    Arc::new(|| {})
}

fn opened(path: &Path) -> FileSource {
    let mut source = FileSource::open(path, quiet()).expect("a thread");
    assert!(source.wait_first(PATIENCE), "no first message");
    source
}

fn complete(path: &Path) -> FileSource {
    let mut source = opened(path);
    assert!(source.wait_complete(PATIENCE), "no index");
    source
}

/// Holds the reading thread at each wake until it is let go.
struct Gate {
    woken: Receiver<()>,
    go: SyncSender<()>,
}

impl Gate {
    fn new() -> (Self, Waker) {
        let (wake, woken) = sync_channel(0);
        let (go, gone) = sync_channel::<()>(0);
        let gone = parking_lot::Mutex::new(gone);
        let waker = Arc::new(move || {
            // Both ends fail once the test has opened the gate for good.
            if wake.send(()).is_ok() {
                gone.lock().recv().ok();
            }
        });
        (Self { woken, go }, waker)
    }

    fn wait(&self) {
        self.woken.recv_timeout(PATIENCE).expect("a wake");
    }

    fn let_go(&self) {
        self.go.send(()).expect("a thread at the gate");
    }
}

fn text_of(message: &Message) -> String {
    let mut text = String::new();
    for part in &message.parts {
        match part {
            Part::Text(prose) => text.push_str(&prose.source),
            Part::Raw(raw) => text.push_str(&raw.text),
            other => _ = write!(text, "{other:?}"),
        }
    }
    text
}

#[test]
fn the_newest_messages_are_there_before_the_index() {
    let fixture = Fixture::synthetic(14_000);
    let (gate, waker) = Gate::new();
    let mut source = FileSource::open(fixture.path(), waker).unwrap();
    gate.wait();
    source.poll();
    let tail_rows = source.len();
    assert!(tail_rows > 50 && source.progress() != Progress::Complete);
    let newest = source.message(tail_rows - 1).expect("the newest message is parsed");
    assert!(source.message(tail_rows - 3).is_some(), "so are those above it");
    let known: Vec<MessageId> = (0..tail_rows).map(|row| source.row(row).id).collect();

    drop(gate);
    assert!(source.wait_complete(PATIENCE));
    assert!(source.len() > tail_rows);
    for (back, id) in known.iter().rev().enumerate() {
        let row = source.index_of(*id).expect("an id of the tail stays");
        assert_eq!(source.len() - 1 - row, back, "and keeps its distance to the end");
    }
    let last = source.len() - 1;
    assert!(source.wait_rows(last..last + 1, PATIENCE));
    let again = source.message(last).expect("a message");
    assert_eq!((again.id, &again.parts), (newest.id, &newest.parts));
}

#[test]
fn line_numbers_come_with_the_index_and_blocks_stay() {
    let fixture = Fixture::synthetic(14_000);
    let (gate, waker) = Gate::new();
    let mut source = FileSource::open(fixture.path(), waker).unwrap();
    gate.wait();
    source.poll();
    let (back, first) = (1..8)
        .filter_map(|back| Some((back, source.message(source.len() - back)?)))
        .find(|(_, message)| matches!(message.parts.last(), Some(Part::Text(_))))
        .expect("words near the end");
    assert_eq!(first.line, SourceLine(0), "a tail does not know its line");
    drop(gate);
    assert!(source.wait_complete(PATIENCE));
    let row = source.len() - back;
    assert!(source.message(row).is_some(), "it is shown without a gap");
    assert!(source.wait_rows(row..row + 1, PATIENCE));
    let found = source.message(row).expect("a message");
    assert!(found.line.0 > 13_000, "{:?}", found.line);
    let (Some(Part::Text(old)), Some(Part::Text(new))) = (first.parts.last(), found.parts.last())
    else {
        panic!("words")
    };
    let (Blocks::Sealed(old), Blocks::Sealed(new)) = (&old.blocks, &new.blocks) else {
        panic!("prepared")
    };
    assert!(Arc::ptr_eq(old, new), "what was laid out stays valid");
}

#[test]
fn the_window_doubles_while_its_top_is_in_sight() {
    let fixture = Fixture::synthetic(14_000);
    let (gate, waker) = Gate::new();
    let mut source = FileSource::open(fixture.path(), waker).unwrap();
    gate.wait();
    source.poll();
    let tail_rows = source.len();
    let oldest = source.row(0).id;
    source.want(0..10);
    let mut wakes = 0;
    while source.len() == tail_rows {
        assert_ne!(source.progress(), Progress::Complete, "the index came first");
        gate.let_go();
        gate.wait();
        source.poll();
        wakes += 1;
        assert!(wakes < 1_000);
    }
    assert_ne!(source.progress(), Progress::Complete);
    let rows = source.len();
    assert!((tail_rows * 3 / 2..tail_rows * 3).contains(&rows), "{tail_rows} became {rows}");
    assert_eq!(source.index_of(oldest), Some(rows - tail_rows));
    drop(gate);
    assert!(source.wait_complete(PATIENCE));
}

#[test]
fn damaged_lines_cost_only_themselves() {
    let mut text = Vec::new();
    synth::write(synth::Request { messages: 40, seed: 5 }, &mut text).unwrap();
    let whole = complete(&Fixture::of(&text).path()).len();
    let end = text.split_inclusive(|b| *b == b'\n').take(20).map(<[u8]>::len).sum::<usize>();
    text.splice(end..end, b"{\"type\":\"message\",\"id\":\"torn\n\xff\xfe\n".iter().copied());
    let fixture = Fixture::of(&text);
    let mut source = complete(&fixture.path());
    let rows = 0..source.len();
    assert!(source.wait_rows(rows.clone(), PATIENCE));
    let raw: Vec<usize> = rows.filter(|row| source.row(*row).kind == RowKind::Raw).collect();
    assert!(!raw.is_empty() && source.len() > whole, "{raw:?} of {}", source.len());
    let shown = source.message(raw[0]).expect("a raw row");
    assert!(text_of(&shown).contains("torn"), "{shown:?}");
    assert!(source.warnings().any(|warning| warning.line == SourceLine(21)));
}

#[test]
fn rows_come_when_they_are_shown_and_memory_stays_bounded() {
    let fixture = Fixture::synthetic(6_000);
    let config = Config { cache_bytes: 512 * 1024 };
    let mut source = FileSource::open_with(fixture.path(), quiet(), config).unwrap();
    assert!(source.wait_complete(PATIENCE));
    let last = source.len();
    assert!(last > 1_000);
    for start in (0..last).step_by(97) {
        let rows: Range<usize> = start..(start + 12).min(last);
        source.want(rows.start..rows.end + 12);
        assert!(source.wait_rows(rows.clone(), PATIENCE), "{rows:?}");
        assert!(source.cache_bytes() <= 512 * 1024, "{}", source.cache_bytes());
        for row in rows {
            let message = source.message(row).expect("it was waited for");
            assert_eq!(message.id, source.row(row).id);
        }
    }
}

#[test]
fn a_screen_larger_than_the_cache_is_shown_all_the_same() {
    let fixture = Fixture::synthetic(300);
    let config = Config { cache_bytes: 1 };
    let mut source = FileSource::open_with(fixture.path(), quiet(), config).unwrap();
    assert!(source.wait_complete(PATIENCE));
    let rows = source.len() - 20..source.len();
    source.want(0..source.len());
    assert!(source.wait_rows(rows, PATIENCE));
}

#[test]
fn what_is_near_is_read_ahead_until_all_of_it_is_there() {
    let fixture = Fixture::synthetic(500);
    let mut source = complete(&fixture.path());
    let rows = 0..source.len().min(40);
    for _ in 0..1_000 {
        source.poll();
        source.want(rows.clone());
        if source.wait_rows(rows.clone(), Duration::from_millis(10)) {
            return;
        }
    }
    panic!("not all rows came");
}

#[test]
fn messages_arrive_ready_to_be_set() {
    let fixture = Fixture::synthetic(400);
    let mut source = complete(&fixture.path());
    let rows = 0..source.len();
    assert!(source.wait_rows(rows.clone(), PATIENCE));
    let (mut texts, mut coloured) = (0, 0);
    for row in rows {
        for part in &source.message(row).expect("a message").parts {
            match part {
                Part::Text(text) => {
                    assert!(text.source.is_empty() || text.blocks().next().is_some());
                    texts += 1;
                }
                Part::ToolCall(call) => {
                    let Some(result) = &call.result else { continue };
                    assert!(!result.output.text.contains('\u{1b}'), "{:?}", result.output.text);
                    coloured += usize::from(!result.output.runs.is_empty());
                }
                _ => {}
            }
        }
    }
    assert!(texts > 100 && coloured > 0, "{texts} texts, {coloured} coloured outputs");
}

#[test]
fn the_thread_ends_with_its_source() {
    let fixture = Fixture::synthetic(2_000);
    for wait in [false, true] {
        let (dropped, ended) = sync_channel::<()>(0);
        let waker: Waker = Arc::new(move || _ = &dropped);
        let mut source = FileSource::open(fixture.path(), waker).unwrap();
        if wait {
            assert!(source.wait_complete(PATIENCE));
        }
        drop(source);
        // The thread owned the last sender, so the channel closes when it ends.
        let closed = ended.recv_timeout(PATIENCE);
        assert_eq!(closed, Err(std::sync::mpsc::RecvTimeoutError::Disconnected));
    }
}

#[test]
fn a_file_that_cannot_be_opened_says_why() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("empty"), "").unwrap();
    fs::write(folder.path().join("prose"), "not a transcript\n").unwrap();
    for name in ["missing", "empty", "prose", "."] {
        let mut source = FileSource::open(folder.path().join(name), quiet()).unwrap();
        assert!(source.wait_first(PATIENCE) && source.ready(), "{name}");
        let failure = source.failure().expect("a reason").to_string();
        assert_eq!(failure.lines().count(), 1, "{failure}");
        assert_eq!((source.len(), source.message(0)), (0, None), "{name}");
    }
}

#[test]
fn a_message_in_memory_is_prepared_the_same_way() {
    let fixture = Fixture::synthetic(60);
    let mut source = complete(&fixture.path());
    assert!(source.wait_rows(0..1, PATIENCE));
    let message = source.message(0).expect("a message");
    let mut bare = Message::clone(&message);
    for part in &mut bare.parts {
        if let Part::Text(text) = part {
            text.blocks = Blocks::Unparsed;
        }
    }
    assert_eq!(letterpress::engine::prepare(bare), *message);
    assert_eq!(letterpress::engine::prepare(Message::clone(&message)), *message);
}
