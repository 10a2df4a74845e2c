//! Properties: soup never panics, windows are suffixes.

use std::{collections::HashSet, fmt::Write as _};

use letterpress::{
    model::{GroupPlace, RowKind},
    transcript::{self, Index, Transcript},
};
use proptest::prelude::*;

use super::{HEADER, corpora, entry, stepped, whole, written};

/// Lines to make soup of: those of all fixtures and some that are nothing.
fn ingredients() -> Vec<Vec<u8>> {
    let mut lines: Vec<Vec<u8>> = Vec::new();
    let mut paths: Vec<_> = std::fs::read_dir(corpora())
        .expect("a test file")
        .map(|e| e.expect("a test file").path())
        .collect();
    paths.sort();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|ext| ext == "jsonl")) {
        let bytes = std::fs::read(path).expect("a test file");
        lines.extend(bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec));
    }
    for odd in
        ["", "{", "}", "null", "{\"type\":", "[[[[", "{}", "{\"type\":\"user\"}", "\u{0}\u{1}"]
    {
        lines.push(odd.as_bytes().to_vec());
    }
    lines
}

/// Reads everything that can be read.
pub(super) fn exhaust(transcript: &Transcript, index: &Index) {
    let mut ids = HashSet::new();
    for row in 0..index.len() {
        let info = index.row(row);
        assert!(ids.insert(info.id), "one id, one row");
        assert_eq!(index.index_of(info.id), Some(row));
        let (message, _) = transcript.message(index, row);
        assert_eq!(message.id, info.id);
        assert!(!message.parts.is_empty() || info.kind != RowKind::Raw);
        assert!(index.prompt_before(row).is_none_or(|prompt| prompt <= row));
        if let GroupPlace::Follows { back } = info.group {
            let leader = index.row(row - usize::from(back));
            assert_eq!(leader.group, GroupPlace::Leads);
        }
    }
    for branch in index.branches() {
        assert!(index.on_branch(&branch.id).is_some());
    }
}

pub(super) fn ids(index: &Index, kinds: impl Fn(RowKind) -> bool) -> Vec<u64> {
    let rows = (0..index.len()).map(|row| index.row(row));
    rows.filter(|row| kinds(row.kind)).map(|row| row.id.0).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn soup_of_lines_never_panics(
        picks in proptest::collection::vec((any::<prop::sample::Index>(), any::<bool>()), 1..60),
        is_pi in any::<bool>(),
    ) {
        let lines = ingredients();
        let head: &[u8] = if is_pi { HEADER.as_bytes() } else { b"{\"type\":\"mode\",\"sessionId\":\"s\",\"uuid\":\"x\",\"isSidechain\":false}\n" };
        let mut bytes = head.to_vec();
        for (pick, ends) in picks {
            bytes.extend(pick.get(&lines));
            if ends { bytes.push(b'\n'); }
        }
        let (_file, transcript) = written(&bytes);
        let index = whole(&transcript);
        exhaust(&transcript, &index);
        prop_assert_eq!(stepped(&transcript, 4096).len(), index.len());
        let tail = transcript.tail(bytes.len() as u64 / 2 + 1);
        exhaust(&transcript, &tail);
    }

    #[test]
    fn cuts_anywhere_never_panic(pick in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), flip in any::<u8>()) {
        let mut paths: Vec<_> = std::fs::read_dir(corpora()).expect("a test file").map(|e| e.expect("a test file").path()).filter(|p| p.extension().is_some_and(|e| e == "jsonl")).collect();
        paths.sort();
        let mut bytes = std::fs::read(pick.get(&paths)).expect("a test file");
        let at = at.index(bytes.len());
        if flip < 128 { bytes.truncate(at); } else { bytes[at] = flip; }
        if transcript::sniff(&bytes).is_some() {
            let (_file, transcript) = written(&bytes);
            let index = whole(&transcript);
            exhaust(&transcript, &index);
        }
    }

    #[test]
    fn a_window_is_a_suffix_of_the_whole(window in 1_u64..20_000) {
        let transcript = long_linear_pi();
        let [full, tail] = [whole(&transcript.1), transcript.1.tail(window)];
        let is_kept = |kind: RowKind| kind != RowKind::Orphan;
        let (full, tail) = (ids(&full, is_kept), ids(&tail, is_kept));
        prop_assert!(full.ends_with(&tail), "{tail:?}");
        prop_assert!(!tail.is_empty());
    }

    #[test]
    fn a_window_of_claude_code_is_a_suffix_but_for_housekeeping(window in 1_u64..30_000) {
        let (_file, transcript) = long_linear_claude();
        let [full, tail] = [whole(&transcript), transcript.tail(window)];
        let is_kept = |kind: RowKind| kind != RowKind::Notice;
        let (full, tail) = (ids(&full, is_kept), ids(&tail, is_kept));
        prop_assert!(full.ends_with(&tail), "{tail:?}");
    }
}

fn long_linear_pi() -> (tempfile::NamedTempFile, Transcript) {
    let mut text = HEADER.to_owned();
    let mut parent = String::new();
    for number in 0..200 {
        let id = format!("e{number}");
        let message = match number % 5 {
            0 => "{\"role\":\"user\",\"content\":\"next\"}".to_owned(),
            1 | 3 => format!(
                "{{\"role\":\"assistant\",\"content\":[{{\"type\":\"toolCall\",\"id\":\"c{number}\",\"name\":\"read\"}}]}}"
            ),
            _ => format!(
                "{{\"role\":\"toolResult\",\"toolCallId\":\"c{}\",\"content\":\"x\"}}",
                number - 1
            ),
        };
        text.push_str(&entry(&id, &parent, &message));
        parent = id;
    }
    written(text.as_bytes())
}

fn long_linear_claude() -> (tempfile::NamedTempFile, Transcript) {
    let mut text = String::new();
    let mut parent = "null".to_owned();
    for number in 0..240 {
        let (kind, message) = match number % 6 {
            0 => ("user", "{\"role\":\"user\",\"content\":\"next\"}".to_owned()),
            1 => (
                "assistant",
                format!(
                    "{{\"id\":\"m{}\",\"content\":[{{\"type\":\"text\",\"text\":\"a\"}}]}}",
                    number / 6
                ),
            ),
            2 => (
                "assistant",
                format!(
                    "{{\"id\":\"m{}\",\"content\":[{{\"type\":\"tool_use\",\"id\":\"t{}\",\"name\":\"Read\"}}]}}",
                    number / 6,
                    number / 6
                ),
            ),
            3 => ("progress", "{}".to_owned()),
            4 => (
                "user",
                format!(
                    "{{\"role\":\"user\",\"content\":[{{\"type\":\"tool_result\",\"tool_use_id\":\"t{}\",\"content\":\"x\"}}]}}",
                    number / 6
                ),
            ),
            _ => (
                "assistant",
                format!(
                    "{{\"id\":\"n{}\",\"content\":[{{\"type\":\"text\",\"text\":\"b\"}}]}}",
                    number / 6
                ),
            ),
        };
        writeln!(text, "{{\"parentUuid\":{parent},\"isSidechain\":false,\"type\":\"{kind}\",\"uuid\":\"u{number}\",\"sessionId\":\"s\",\"message\":{message}}}").expect("a test file");
        parent = format!("\"u{number}\"");
    }
    written(text.as_bytes())
}
