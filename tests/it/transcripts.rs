//! Other applications' files: fixtures and their rows as text, opening, windows.

mod damage; // Size and damage.
mod dump; // Rows as text.
mod growth; // Files that are being written.
mod logs; // Logs of this program.
mod properties; // What holds for any input.
mod real_files; // Real files, where a folder of them is named.
mod stored; // Parts of logs as sources.

use std::{
    io::Write as _,
    path::{Path, PathBuf},
};

use letterpress::{
    model::{Progress, RowInfo, RowKind},
    transcript::{self, Format, Index, OpenError, Transcript},
};

use dump::dump;

/// The first line of a pi session.
const HEADER: &str =
    "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"2026-05-01T10:00:00Z\"}\n";

/// One message of a pi session.
fn entry(id: &str, parent: &str, message: &str) -> String {
    let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
    format!(
        "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":{parent},\"message\":{message}}}\n"
    )
}

fn corpora() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpora/transcripts")
}

fn fixture(name: &str) -> Transcript {
    transcript::open(&corpora().join(format!("{name}.jsonl"))).expect("a test file")
}

fn whole(transcript: &Transcript) -> Index {
    stepped(transcript, 1 << 20)
}

fn stepped(transcript: &Transcript, bytes: usize) -> Index {
    let mut indexer = transcript.indexer();
    while indexer.step(transcript, bytes) != Progress::Complete {}
    indexer.finish()
}

fn written(bytes: &[u8]) -> (tempfile::NamedTempFile, Transcript) {
    let mut file = tempfile::NamedTempFile::new().expect("a test file");
    file.write_all(bytes).expect("a test file");
    let transcript = transcript::open(file.path()).expect("a test file");
    (file, transcript)
}

#[test]
fn fixtures_give_their_rows() {
    crate::corpus::check_dir("transcripts", "jsonl", |path| {
        dump(&transcript::open(path).expect("a fixture"))
    });
}

#[test]
fn l14_growing_by_one_keeps_every_row() {
    let name = "claude-lines-and-parallel-calls";
    let bytes = std::fs::read(corpora().join(format!("{name}.jsonl"))).unwrap();
    let lines: Vec<_> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let mut before: Vec<RowInfo> = Vec::new();
    for count in 1..=lines.len() {
        let (_file, transcript) = written(&lines[..count].concat());
        let index = whole(&transcript);
        let rows: Vec<_> = (0..index.len()).map(|row| index.row(row)).collect();
        let ids = |rows: &[RowInfo]| rows.iter().map(|row| row.id).collect::<Vec<_>>();
        assert!(ids(&rows).starts_with(&ids(&before)), "after {count} lines");
        assert!(rows.len() <= before.len() + 1);
        before = rows;
    }
}

#[test]
fn steps_of_any_size_give_the_same_index() {
    for entry in std::fs::read_dir(corpora()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ext| ext == "jsonl") {
            let transcript = transcript::open(&path).unwrap();
            let [large, small] = [1 << 20, 1].map(|bytes| stepped(&transcript, bytes));
            let rows = |index: &Index| (0..index.len()).map(|i| index.row(i)).collect::<Vec<_>>();
            assert_eq!(rows(&large), rows(&small), "{}", path.display());
            assert_eq!(large.warnings(), small.warnings());
            assert!(large.is_complete() && small.is_complete());
        }
    }
}

#[test]
fn an_index_can_be_taken_before_the_end() {
    let transcript = fixture("pi-groups");
    let index = transcript.indexer().finish();
    assert_eq!((index.len(), index.is_complete()), (0, false));
}

#[test]
fn rows_are_found_by_id_and_prompts_by_row() {
    for name in ["claude-housekeeping", "pi-groups", "pi-parents-behind-children", "pi-all-kinds"] {
        let transcript = fixture(name);
        let index = whole(&transcript);
        let mut prompt = None;
        for row in 0..index.len() {
            let info = index.row(row);
            assert_eq!(index.index_of(info.id), Some(row), "{name}");
            if info.kind == RowKind::User {
                prompt = Some(row);
            }
            assert_eq!(index.prompt_before(row), prompt, "{name}");
        }
        assert_eq!(index.index_of(letterpress::model::MessageId(3)), None);
    }
}

#[test]
fn transcripts_and_indexes_may_cross_threads() {
    fn shared<T: Send + Sync>(_: &T) {}
    let transcript = fixture("pi-groups");
    let rows = std::thread::scope(|scope| {
        let transcript = &transcript;
        let worker = scope.spawn(move || whole(transcript));
        worker.join().unwrap().len()
    });
    shared(&transcript);
    assert_eq!(rows, transcript.tail(u64::MAX).len());
}

#[test]
fn a_row_that_is_not_there_is_an_empty_message() {
    let transcript = fixture("pi-groups");
    let (message, warnings) = transcript.message(&whole(&transcript), 9999);
    assert!(message.parts.is_empty() && warnings.is_empty());
}

#[test]
fn opening_says_in_one_line_what_is_wrong() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let of = |path: &Path| transcript::open(path).map(|_| ()).unwrap_err();
    let cases = [
        (of(&folder.path().join("none")), "no such file: "),
        (of(folder.path()), "this is a folder, not a transcript: "),
        (of(&file("empty", b"")), "the file is empty: "),
        (of(&file("prose", b"Dear reader,\n")), "not a transcript (expected a pi or Claude Code"),
        (of(&file("zip", b"PK\x03\x04\x00\x00")), "not a transcript (expected"),
    ];
    for (error, words) in cases {
        let text = error.to_string();
        assert!(text.starts_with(words), "{text}");
        assert_eq!(text.lines().count(), 1);
    }
    #[cfg(unix)]
    assert!(matches!(of(Path::new("/dev/null")), OpenError::NotTranscript(_)));
}

#[test]
fn formats_are_told_by_content() {
    let cases: &[(&[u8], Option<Format>)] = &[
        (b"{\"type\":\"session\",\"id\":\"x\"}\n", Some(Format::Pi)),
        (
            b"\xef\xbb\xbfjunk\n\n{\"type\":\"session\",\"version\":3,\"id\":\"x\",\"cw",
            Some(Format::Pi),
        ),
        (b"{\"type\":\"session\"}\n", None),
        (b"{\"type\":\"session_meta\",\"payload\":{\"id\":\"x\"}}\n", None),
        (
            b"{\"type\":\"message\",\"id\":\"a\",\"message\":{\"role\":\"user\"}}\n",
            Some(Format::Pi),
        ),
        (b"{\"type\":\"summary\",\"summary\":\"s\",\"leafUuid\":\"x\"}", Some(Format::ClaudeCode)),
        (b"{\"type\":\"file-history-snapshot\",\"messageId\":\"x\"}\n", Some(Format::ClaudeCode)),
        (
            b"{\"parentUuid\":null,\"isSidechain\":false,\"type\":\"user\",\"mess",
            Some(Format::ClaudeCode),
        ),
        (b"{\"role\":\"user\",\"content\":\"x\"}\n", None),
        (
            b"{\"uuid\":\"a\",\"sessionId\":\"s\",\"type\":\"user\",\"message\":{\"parts\":[]}}\n",
            None,
        ),
        (b"[{\"type\":\"session\",\"id\":\"x\"}]", None),
        (b"", None),
    ];
    for (head, format) in cases {
        assert_eq!(transcript::sniff(head), *format, "{}", String::from_utf8_lossy(head));
    }
}

#[test]
fn bytes_in_the_program_read_like_a_file() {
    let path = corpora().join("pi-all-kinds.jsonl");
    let bytes: &'static [u8] = std::fs::read(&path).unwrap().leak();
    let built_in = transcript::open_bytes(Path::new("built in"), bytes).unwrap();
    assert_eq!(dump(&built_in), dump(&transcript::open(&path).unwrap()));
    assert_eq!(built_in.path(), Path::new("built in"));
}

#[test]
fn a_flood_of_brackets_is_refused_at_once() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let piece = vec![b'['; 1 << 20];
    for _ in 0..32 {
        file.write_all(&piece).unwrap();
    }
    assert!(matches!(transcript::open(file.path()), Err(OpenError::NotTranscript(_))));
}
