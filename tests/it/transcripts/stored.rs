//! Parts of logs as sources: the path of a leaf, the reader's place first, other parts later.

use std::{
    path::Path,
    sync::{
        Arc,
        mpsc::{Receiver, SyncSender, sync_channel},
    },
    time::Duration,
};

use letterpress::{
    app::synth,
    engine::{FileSource, Waker, reader::Config},
    model::{Base, MessageId, Part, Progress, Source as _, SourceLine},
    transcript,
};
use proptest::prelude::*;

use super::{
    logs::{made, steps},
    whole, written,
};

const PATIENCE: Duration = Duration::from_secs(60);

fn base(path: &Path, len: usize, leaf: Option<&str>) -> Arc<Base> {
    Arc::new(Base { path: path.to_owned(), len: len as u64, leaf: leaf.map(Into::into) })
}

fn quiet() -> Waker {
    Arc::new(|| {})
}

fn stored(base: &Arc<Base>, near: Option<MessageId>) -> FileSource {
    FileSource::stored(base, near, quiet(), Config::default()).expect("a thread")
}

fn rows(source: &FileSource) -> Vec<MessageId> {
    (0..source.len()).map(|row| source.row(row).id).collect()
}

/// Waits until the rows are those of a base.
fn shows(source: &mut FileSource, base: &Arc<Base>) {
    assert!(source.wait_base(base, PATIENCE), "never shown: {base:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_base_shows_the_path_of_its_leaf(steps in steps(), picks in proptest::collection::vec(any::<prop::sample::Index>(), 1..5)) {
        let log = made(&steps);
        prop_assume!(!log.ids.is_empty());
        let (file, _) = written(log.text.as_bytes());
        let whole_log = base(file.path(), log.text.len(), None);
        let mut source = stored(&whole_log, None);
        shows(&mut source, &whole_log);
        prop_assert_eq!(rows(&source), log.path(None));
        for pick in picks {
            let leaf = pick.index(log.ids.len());
            // Up to the end of that message, and with all that is behind it.
            let end = log.nodes.get(leaf + 1).map_or(log.text.len(), |(_, offset, _)| *offset as usize);
            for len in [end, log.text.len()] {
                let part = base(file.path(), len, Some(&log.ids[leaf]));
                source.rebase(&part);
                shows(&mut source, &part);
                prop_assert_eq!(rows(&source), log.path(Some(leaf)));
            }
        }
    }
}

#[test]
fn the_rows_stay_until_the_new_ones_are_known() {
    let what = |what: u8| (what, 0, "words".to_owned());
    let log = made(&[what(0), what(3), what(0), what(3), what(0), what(6)]);
    let (file, _) = written(log.text.as_bytes());
    let before = base(file.path(), log.text.len(), None);
    let mut source = stored(&before, None);
    shows(&mut source, &before);
    assert!(source.wait_rows(0..6, PATIENCE));
    let (old, messages) =
        (rows(&source), (0..6).map(|row| source.message(row)).collect::<Vec<_>>());
    assert_eq!(source.reading().expect("a reading").len(), 6);

    // The answer without an end gets one.
    let text = log.text.clone()
        + &letterpress::model::record::line::write(
            log.n,
            letterpress::model::record::Kind::AssistantFinal,
            0,
            &serde_json::json!({
                "id": log.ids[5], "parent": log.ids[4], "stop": "stop",
                "parts": [{ "type": "text", "text": "whole" }],
            })
            .to_string(),
        );
    std::fs::write(file.path(), &text).expect("a log");
    let after = base(file.path(), text.len(), None);
    source.rebase(&after);
    assert_eq!(rows(&source), old, "until then");
    shows(&mut source, &after);
    assert_eq!(rows(&source), old);
    for (row, message) in messages.iter().enumerate().take(5) {
        let again = source.message(row).expect("it was read before");
        assert!(Arc::ptr_eq(&again, message.as_ref().expect("a message")), "row {row}");
    }
    assert!(source.wait_rows(5..6, PATIENCE));
    let whole = source.message(5).expect("a message");
    assert!(matches!(&*whole.parts, [Part::Text(text)] if &*text.source == "whole"));
    assert_eq!(whole.error, None);

    // Back to an earlier message.
    let back = base(file.path(), text.len(), Some(&log.ids[1]));
    source.rebase(&back);
    shows(&mut source, &back);
    assert_eq!(rows(&source), old[..2]);
    let none = base(file.path(), 0, None);
    source.rebase(&none);
    shows(&mut source, &none);
    assert_eq!((source.len(), source.failure().is_none()), (0, true));
    let nobody = base(file.path(), text.len(), Some("m999"));
    source.rebase(&nobody);
    shows(&mut source, &nobody);
    assert_eq!(rows(&source), old);
    assert_eq!(source.warnings().count(), 1);
}

#[test]
fn a_log_that_is_not_there_fails_and_another_can_be_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let gone = base(&folder.path().join("log.jsonl"), 10, None);
    let mut source = stored(&gone, None);
    assert!(source.wait_first(PATIENCE));
    assert!(source.failure().is_some());
    let log = made(&[(0, 0, "hello".into())]);
    let (file, _) = written(log.text.as_bytes());
    let other = base(file.path(), log.text.len(), None);
    source.rebase(&other);
    shows(&mut source, &other);
    assert_eq!((source.len(), source.failure().is_none()), (1, true));
}

/// Holds the reading thread at each wake until it is let go.
struct Gate {
    woken: Receiver<()>,
    _go: SyncSender<()>,
}

fn gate() -> (Gate, Waker) {
    let (wake, woken) = sync_channel(0);
    let (go, gone) = sync_channel::<()>(0);
    let gone = parking_lot::Mutex::new(gone);
    let waker = Arc::new(move || {
        if wake.send(()).is_ok() {
            gone.lock().recv().ok();
        }
    });
    (Gate { woken, _go: go }, waker)
}

#[test]
fn a_large_log_opens_at_the_readers_place() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("log.jsonl");
    let mut text = Vec::new();
    let request = synth::Request { messages: 9_000, seed: 5 };
    synth::write_log(request, &mut text).expect("a log");
    assert!(text.len() > 17 << 20, "{} bytes are too few", text.len());
    std::fs::write(&path, &text).expect("a log");

    let index = whole(&transcript::open(&path).expect("a log"));
    assert_eq!(index.warnings(), []);
    let places = [0, index.len() / 3, index.len() / 2, index.len() - 1];
    for place in places {
        let near = index.row(place).id;
        let log = transcript::open_log(&path, text.len() as u64).expect("a log");
        let window = log.around(near, 768 * 1024).expect("a window");
        let row = window.index_of(near).expect("the reader's place");
        for row in row..(row + 8).min(window.len()) {
            assert!(!log.message(&window, row).0.parts.is_empty());
        }
        assert!(log.bytes_read() < 2 << 20, "{} bytes read", log.bytes_read());
        assert!(!window.is_complete());
        let end = log.around_end(&log.message(&window, row).0.key, 768 * 1024).expect("a window");
        assert_eq!(end.row(end.len() - 1).id, near);
    }

    let near = index.row(index.len() / 2).id;
    let all = base(&path, text.len(), None);
    let (gate, waker) = gate();
    let mut source = FileSource::stored(&all, Some(near), waker, Config::default()).unwrap();
    gate.woken.recv_timeout(PATIENCE).expect("a wake");
    source.poll();
    let row = source.index_of(near).expect("the reader's place");
    let first = source.message(row).expect("it is read");
    assert_eq!((source.progress() == Progress::Complete, source.ready()), (false, true));
    let known = rows(&source);
    drop(gate);
    assert!(source.wait_complete(PATIENCE));
    assert_eq!(source.len(), index.len());
    for id in known {
        assert!(source.index_of(id).is_some() || index.index_of(id).is_none());
    }
    let row = source.index_of(near).expect("the reader's place");
    assert!(source.wait_rows(row..row + 1, PATIENCE));
    let again = source.message(row).expect("a message");
    assert_eq!((again.id, &again.parts), (first.id, &first.parts));
    assert!(again.line != SourceLine(0));
}
