//! Files: what their bytes rule out, what is read of them, files that change meanwhile.

use std::{collections::BTreeSet, fs, io::Write as _, path::Path, sync::Arc, time::Duration};

use letterpress::{
    app::synth,
    engine::{
        FileSource,
        find::{Finder, Needle, Request, Words},
    },
    layout::{
        Registry, Strand,
        compose::Surroundings,
        reading::{OWN_WORDS, stretches, unfolded},
    },
    model::{Message, RowKind, Source as _},
};

const PATIENCE: Duration = Duration::from_secs(60);

fn opened(path: &Path) -> FileSource {
    let mut source = FileSource::open(path, Arc::new(|| {})).expect("a thread");
    assert!(source.wait_complete(PATIENCE), "no index");
    source
}

/// Everything that is shown, raw records aside.
fn shown() -> Arc<Words> {
    let registry = Registry::default();
    Arc::new(move |message: &Message, each| {
        for spec in unfolded(message, &Surroundings::default(), &registry) {
            for stretch in stretches(&spec) {
                if stretch.strand != Strand::Record {
                    each(&stretch.text, stretch.shown);
                }
            }
        }
    })
}

struct Search {
    finder: Finder,
    words: Arc<Words>,
}

impl Search {
    fn new() -> Self {
        Self { finder: Finder::start(Arc::new(|| {})).expect("a thread"), words: shown() }
    }

    /// Rows and hits, and how many rows were read for it.
    fn find(&mut self, source: &FileSource, text: &str, sieve: bool) -> (Vec<(u32, u32)>, u64) {
        let before = self.finder.rows_read();
        self.finder.ask(Request {
            needle: Needle { text: text.to_owned(), ..Needle::default() },
            reading: source.reading().expect("a file that is open"),
            from: 0,
            words: Arc::clone(&self.words),
            own_words: sieve.then_some(OWN_WORDS),
        });
        let mut found = Vec::new();
        for _ in 0..60_000 {
            let news = self.finder.poll();
            found.extend(news.found.iter().map(|found| (found.row, found.hits)));
            if news.done {
                return (found, self.finder.rows_read() - before);
            }
            std::thread::park_timeout(Duration::from_millis(1));
        }
        panic!("the search does not end");
    }
}

/// Words that a file shows: some of each message.
fn vocabulary(source: &FileSource, each: usize) -> BTreeSet<String> {
    let reading = source.reading().expect("a file that is open");
    let words = shown();
    let mut found = BTreeSet::new();
    for row in 0..reading.len() {
        let mut left = each;
        words(&reading.message(row), &mut |text, shown| {
            let text = text.get(shown).unwrap_or_default();
            let runs = text.split(|c: char| !c.is_alphanumeric()).filter(|run| run.len() > 3);
            for run in runs.step_by(7).take(left) {
                found.insert(run.chars().take(24).collect());
                left -= 1;
            }
        });
    }
    found
}

fn sieve_is_sound(path: &Path, most: usize) {
    let source = opened(path);
    let mut search = Search::new();
    let words = vocabulary(&source, 5);
    for word in words.iter().step_by(1 + words.len() / most) {
        let (with, _) = search.find(&source, word, true);
        let (without, _) = search.find(&source, word, false);
        assert!(!without.is_empty(), "{word} of {} is not found", path.display());
        assert_eq!(with, without, "{word} in {}", path.display());
    }
}

/// Ruling records out by their bytes never loses a hit.
#[test]
fn the_sieve_loses_nothing() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpora/transcripts");
    let mut files: Vec<_> = fs::read_dir(folder)
        .expect("fixtures")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    assert!(files.len() > 20);
    for path in files {
        sieve_is_sound(&path, 40);
    }
}

/// The same on what people and agents really wrote, where such files are at hand.
#[test]
fn the_sieve_loses_nothing_of_real_files() {
    let Ok(corpus) = std::env::var("LETTERPRESS_CORPUS") else {
        println!("skipped: LETTERPRESS_CORPUS is not set");
        return;
    };
    for folder in ["pi", "claude-code"] {
        for entry in fs::read_dir(Path::new(&corpus).join(folder)).expect("a corpus") {
            let path = entry.expect("an entry").path();
            let is_small = fs::metadata(&path).is_ok_and(|data| data.len() < 1 << 20);
            if is_small && path.extension().is_some_and(|extension| extension == "jsonl") {
                sieve_is_sound(&path, 12);
            }
        }
    }
}

/// Markup of all kinds between the letters of a word.
#[test]
fn words_in_pieces_are_found_in_files() {
    let texts = [
        "so **wr**ench",
        "so wr*en*ch and `wr`ench",
        "so [wr](https://example.com/a 'b c')ench",
        "so <sub>wre</sub>nch",
        "so wr&#101;nch",
        "so wr\u{200b}ench",
        "so ***w***~~r~~*e*`n`**c**h",
        "nothing of it, w r e n c h",
        "so wrench",
    ];
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    writeln!(file, r#"{{"type":"session","version":3,"id":"s"}}"#).expect("written");
    for (i, text) in texts.iter().enumerate() {
        let record = serde_json::json!({
            "type": "message", "id": i.to_string(), "parentId": i.checked_sub(1).map(|i| i.to_string()),
            "message": {"role": "user", "content": text}
        });
        writeln!(file, "{record}").expect("written");
    }
    let coloured = serde_json::json!({
        "type": "message", "id": "c", "parentId": "8",
        "message": {"role": "toolResult", "toolCallId": "none", "content":
            [{"type": "text", "text": "w\u{1b}[01;31mren\u{1b}[0mch, wx\u{8}rench"}]}
    });
    writeln!(file, "{coloured}").expect("written");
    let source = opened(file.path());
    let (found, read) = Search::new().find(&source, "wrench", true);
    let rows: Vec<_> = found.into_iter().collect();
    assert_eq!(rows, [(0, 1), (1, 2), (2, 1), (3, 1), (4, 1), (5, 1), (6, 1), (8, 1), (9, 2)]);
    assert_eq!(read, 9, "one row was ruled out");
}

#[test]
fn rare_words_read_few_messages() {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    synth::write(synth::Request { messages: 3_000, seed: 5 }, &mut file).expect("a history");
    let record = r#"{"type":"message","id":"zz","parentId":null,"message":{"role":"user","content":"a Zyzzyva"}}"#;
    writeln!(file, "{record}").expect("written");
    let source = opened(file.path());
    let (found, read) = Search::new().find(&source, "zyzzyva", true);
    let kinds = (0..source.len()).map(|row| source.row(row).kind);
    let other = kinds.filter(|kind| !matches!(kind, RowKind::User | RowKind::Assistant));
    assert_eq!((found.len(), read), (1, 1 + other.count() as u64));
    let (all, read) = Search::new().find(&source, "zyzzyva", false);
    assert_eq!((all, read), (found, source.len() as u64));
}

/// A file that becomes shorter, or another one, costs the hits that are no longer there.
#[test]
fn a_file_that_changes_meanwhile_is_survived() {
    let mut file = tempfile::NamedTempFile::new().expect("a file");
    synth::write(synth::Request { messages: 400, seed: 5 }, &mut file).expect("a history");
    let source = opened(file.path());
    let mut search = Search::new();
    let (before, _) = search.find(&source, "the", false);
    assert!(before.len() > 50);
    let half = fs::metadata(file.path()).expect("it is there").len() / 2;
    file.as_file().set_len(half).expect("cut");
    let (cut, _) = search.find(&source, "the", false);
    assert!(cut.len() < before.len() && !cut.is_empty());
    assert!(cut.iter().all(|row| before.contains(row) || cut.last() == Some(row)));
    fs::write(file.path(), vec![b'x'; usize::try_from(half).expect("small")]).expect("replaced");
    let (none, _) = search.find(&source, "the", true);
    assert_eq!(none, []);
}
