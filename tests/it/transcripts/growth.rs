//! Growing: an index that took its file in pieces equals one of the whole file.

use std::{
    fs::OpenOptions,
    io::Write as _,
    path::{Path, PathBuf},
};

use letterpress::{
    model::{Progress, RowInfo, Warning},
    transcript::{self, Grown, Growth, Index, Transcript},
};
use proptest::prelude::*;

use super::{corpora, whole};

/// A file that is written piece by piece, and the index that follows it.
struct Written {
    file: tempfile::NamedTempFile,
    transcript: Transcript,
    growth: Growth,
    len: u64,
    /// How often the index had to be built anew.
    rebuilt: usize,
}

impl Written {
    /// None while the beginning does not tell whose file it is.
    fn new(beginning: &[u8]) -> Option<Self> {
        let mut file = tempfile::NamedTempFile::new().expect("a test file");
        file.write_all(beginning).expect("a test file");
        let transcript = transcript::open(file.path()).ok()?;
        let growth = growing(&transcript);
        Some(Self { file, transcript, growth, len: beginning.len() as u64, rebuilt: 0 })
    }

    fn append(&mut self, bytes: &[u8]) -> Grown {
        let mut file = OpenOptions::new().append(true).open(self.file.path()).expect("a file");
        file.write_all(bytes).expect("a test file");
        self.len += bytes.len() as u64;
        let before = rows(&self.growth.index());
        let (grown, progress) = self.growth.extend(&self.transcript, self.len, usize::MAX);
        assert_eq!(progress, Progress::Complete);
        match &grown {
            Grown::Unusual => {
                self.rebuilt += 1;
                self.transcript = transcript::open(self.file.path()).expect("still a transcript");
                self.growth = growing(&self.transcript);
            }
            Grown::Rows(changes) => {
                let after = rows(&self.growth.index());
                let same = changes.from_row.min(before.len());
                let plain = |rows: &[RowInfo]| -> Vec<RowInfo> {
                    rows.iter().take(same).map(|r| RowInfo { failed: false, ..*r }).collect()
                };
                assert_eq!(plain(&before), plain(&after), "rows before the change stay");
            }
            Grown::Not => assert_eq!(before, rows(&self.growth.index())),
            Grown::Cut => panic!("the file only grows"),
        }
        grown
    }
}

fn growing(transcript: &Transcript) -> Growth {
    let mut indexer = transcript.growing_indexer();
    while indexer.step(transcript, 1 << 20) != Progress::Complete {}
    indexer.finish_growing()
}

fn rows(index: &Index) -> Vec<RowInfo> {
    (0..index.len()).map(|row| index.row(row)).collect()
}

fn warnings(index: &Index) -> Vec<Warning> {
    let mut warnings = index.warnings().to_vec();
    warnings.sort_by(|a, b| (a.line.0, &a.message).cmp(&(b.line.0, &b.message)));
    warnings
}

/// Compares all that an index says, and every message.
fn assert_same(written: &Written, what: &str) {
    let scratch = transcript::open(written.file.path()).expect("a transcript");
    let (grown, fresh) = (written.growth.index(), growing(&scratch).index());
    assert_eq!(rows(&grown), rows(&fresh), "{what}");
    assert_eq!(warnings(&grown), warnings(&fresh), "{what}");
    assert_eq!(grown.title(), fresh.title(), "{what}");
    assert_eq!(grown.branches(), fresh.branches(), "{what}");
    assert_eq!(grown.latest_ms(), fresh.latest_ms(), "{what}");
    assert!(grown.is_complete());
    for row in 0..fresh.len() {
        let info = fresh.row(row);
        assert_eq!(grown.index_of(info.id), Some(row), "{what}");
        assert_eq!(grown.prompt_before(row), fresh.prompt_before(row), "{what}");
        let (old, _) = written.transcript.message(&grown, row);
        let (new, _) = scratch.message(&fresh, row);
        assert_eq!(old, new, "{what}: row {row}");
    }
}

fn fixtures() -> Vec<PathBuf> {
    let mut paths = fixtures_in(&corpora());
    paths.extend(fixtures_in(&super::logs::folder()));
    paths
}

pub(super) fn fixtures_in(folder: &Path) -> Vec<PathBuf> {
    let folder = std::fs::read_dir(folder).expect("a test file");
    let mut paths: Vec<_> = folder.map(|entry| entry.expect("a test file").path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    paths.sort();
    paths
}

/// Feeds a file line by line; gives how often the index had to be built anew.
fn line_by_line(path: &Path, compare_every: usize) -> Option<(usize, usize)> {
    let bytes = std::fs::read(path).expect("a test file");
    let lines: Vec<_> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let mut beginning = 0;
    let mut written = loop {
        beginning += 1;
        if beginning > lines.len() {
            return None;
        }
        if let Some(written) = Written::new(&lines[..beginning].concat()) {
            break written;
        }
    };
    for (number, line) in lines.iter().enumerate().skip(beginning) {
        written.append(line);
        if number % compare_every == 0 {
            assert_same(&written, &format!("{} after {} lines", path.display(), number + 1));
        }
    }
    assert_same(&written, &path.display().to_string());
    Some((written.rebuilt, lines.len()))
}

#[test]
fn line_by_line_equals_the_whole() {
    for path in fixtures() {
        line_by_line(&path, 1);
    }
}

#[test]
fn what_simply_continues_is_never_built_anew() {
    let plain = [
        "claude-lines-and-parallel-calls",
        "claude-session",
        "pi-groups",
        "claude-sidechain",
        "letterpress/session",
        "letterpress/interrupted",
        "letterpress/words",
    ];
    for name in plain {
        let (rebuilt, lines) = line_by_line(&corpora().join(format!("{name}.jsonl")), 1).unwrap();
        assert_eq!(rebuilt, 0, "{name}: of {lines} lines");
    }
}

#[test]
fn real_files_mostly_continue() {
    let Some(folder) = std::env::var_os("LETTERPRESS_CORPUS") else { return };
    for kind in ["pi", "claude-code"] {
        let files = std::fs::read_dir(Path::new(&folder).join(kind)).expect("a corpus");
        for path in files.map(|entry| entry.expect("a file").path()) {
            if std::fs::metadata(&path).expect("a file").len() > 8 << 20 {
                continue;
            }
            let Some((rebuilt, lines)) = line_by_line(&path, 97) else { continue };
            println!("{rebuilt} of {lines}: {}", path.display());
            assert!(rebuilt * 3 <= lines + 30, "{rebuilt} of {lines}: {}", path.display());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 48, failure_persistence: None, ..ProptestConfig::default()
    })]

    #[test]
    fn any_cut_equals_the_whole(
        pick in any::<prop::sample::Index>(),
        first in any::<prop::sample::Index>(),
        sizes in proptest::collection::vec(1_usize..700, 1..40),
    ) {
        let paths = fixtures();
        let path = pick.get(&paths);
        let bytes = std::fs::read(path).expect("a test file");
        let first = first.index(bytes.len()) + 1;
        let Some(mut written) = Written::new(&bytes[..first]) else { return Ok(()) };
        let mut at = first;
        for size in sizes {
            let end = (at + size).min(bytes.len());
            written.append(&bytes[at..end]);
            at = end;
        }
        assert_same(&written, &format!("{} from {first} to {at}", path.display()));
        written.append(&bytes[at..]);
        assert_same(&written, &format!("{} from {first}", path.display()));
    }
}

#[test]
fn a_line_is_shown_when_it_is_complete() {
    let path = corpora().join("claude-session.jsonl");
    let bytes = std::fs::read(path).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut written = Written::new(lines[0].as_bytes()).unwrap();
    let shown = written.growth.index().len();
    let (line, end) = lines[1].split_at(lines[1].len() - 1);
    for piece in line.as_bytes()[..line.len() - 1].chunks(7) {
        assert_eq!(written.append(piece), Grown::Not);
        assert!(written.growth.is_inside_line());
        assert_eq!(written.growth.index().len(), shown);
    }
    assert!(matches!(written.append(&line.as_bytes()[line.len() - 1..]), Grown::Rows(_)));
    assert!(!written.growth.is_inside_line());
    assert_eq!(written.append(end.as_bytes()), Grown::Not);
    assert_same(&written, "a line in pieces");
}

#[test]
fn a_torn_line_that_is_given_up_is_shown_as_found() {
    let path = corpora().join("pi-groups.jsonl");
    let bytes = std::fs::read(path).unwrap();
    let mut written = Written::new(&bytes).unwrap();
    let shown = written.growth.index().len();
    written.append(b"{\"type\":\"message\",\"id\":\"torn\",\"mess");
    assert_eq!(written.growth.index().len(), shown);
    assert!(matches!(written.growth.give_up_last_line(), Grown::Rows(_)));
    let index = written.growth.index();
    assert_eq!(index.len(), shown + 1);
    assert_eq!(rows(&index), rows(&whole(&transcript::open(written.file.path()).unwrap())));
}

#[test]
fn a_long_line_in_pieces_is_searched_once() {
    let header = super::HEADER;
    let mut written = Written::new(header.as_bytes()).unwrap();
    let text = "x".repeat(20 << 20);
    let line = super::entry("a", "", &format!("{{\"role\":\"user\",\"content\":\"{text}\"}}"));
    for piece in line.as_bytes().chunks(1 << 20) {
        written.append(piece);
    }
    assert_eq!((written.growth.index().len(), written.rebuilt), (1, 0));
    assert_eq!(written.growth.lines_read(), 2);
    let next = super::entry("b", "a", "{\"role\":\"user\",\"content\":\"next\"}");
    written.append(next.as_bytes());
    assert_eq!(written.growth.index().len(), 2);
}
