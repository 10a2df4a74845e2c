//! Sessions of this program: what their logs say, at any length and with any damage.

use std::{collections::HashMap, fmt::Write as _, path::PathBuf};

use letterpress::{
    model::{
        Message, MessageId, Part, RowKind,
        record::{self, Kind, line},
    },
    transcript::{self, Format, Index, Transcript},
};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::{dump::dump, properties::exhaust, whole, written};

pub(super) fn folder() -> PathBuf {
    super::corpora().join("letterpress")
}

/// A log that is made up, and what its messages come to when they are followed one by one.
#[derive(Default)]
pub(super) struct Log {
    pub(super) text: String,
    pub(super) n: u64,
    /// Parent and offset of each message and branch, in order.
    pub(super) nodes: Vec<(Option<String>, u64, bool)>,
    pub(super) ids: Vec<String>,
}

impl Log {
    fn new() -> Self {
        let mut log = Self::default();
        log.record(Kind::Meta, &json!({ "title": "Made up" }));
        log
    }

    fn record(&mut self, kind: Kind, body: &Value) {
        self.text.push_str(&line::write(self.n, kind, 1_000 * self.n as i64, &body.to_string()));
        self.n += 1;
    }

    fn node(&mut self, kind: Kind, parent: Option<usize>, body: Value) -> usize {
        let parent = parent.and_then(|parent| self.ids.get(parent).cloned());
        let offset = self.text.len() as u64;
        self.ids.push(format!("m{}", self.n));
        let body = match kind {
            Kind::Branch => record::branch(parent.as_deref()),
            _ => record::placed(None, parent.as_deref(), body),
        };
        self.nodes.push((parent, offset, kind != Kind::Branch));
        self.record(kind, &body);
        self.ids.len() - 1
    }

    fn user(&mut self, parent: Option<usize>, text: &str) -> usize {
        self.node(Kind::User, parent, json!({ "parts": [{ "type": "text", "text": text }] }))
    }

    fn answer(&mut self, parent: Option<usize>, texts: &[&str], is_whole: bool) -> usize {
        let node = self.node(Kind::AssistantStart, parent, record::start("demo", "tiny"));
        let id = self.ids[node].clone();
        for text in texts {
            let delta = [(0, record::Delta::Text(text))];
            for body in record::partial(&id, &delta, &mut |_| String::new()) {
                self.record(Kind::Partial, &body);
            }
        }
        if is_whole {
            let parent = self.nodes[node].0.clone();
            let body =
                json!({ "parts": [{ "type": "text", "text": texts.concat() }], "stop": "stop" });
            self.record(Kind::AssistantFinal, &record::placed(Some(&id), parent.as_deref(), body));
        }
        node
    }

    /// The ids of the messages of the path that a node ends; none is the newest.
    pub(super) fn path(&self, leaf: Option<usize>) -> Vec<MessageId> {
        let places: HashMap<&str, usize> =
            self.ids.iter().enumerate().map(|(place, id)| (&**id, place)).collect();
        let mut path = Vec::new();
        let mut at = leaf.or_else(|| self.ids.len().checked_sub(1));
        while let Some(place) = at {
            let (parent, offset, is_shown) = &self.nodes[place];
            if *is_shown {
                path.push(MessageId(*offset));
            }
            at = parent.as_deref().and_then(|parent| places.get(parent).copied());
        }
        path.reverse();
        path
    }
}

fn ids(index: &Index) -> Vec<MessageId> {
    (0..index.len()).map(|row| index.row(row).id).collect()
}

/// What happens next in a made-up log: who it follows, counted back from the newest.
pub(super) fn steps() -> impl Strategy<Value = Vec<(u8, usize, String)>> {
    proptest::collection::vec((0_u8..12, 0_usize..9, "[a-z \n]{0,30}"), 0..40)
}

pub(super) fn made(steps: &[(u8, usize, String)]) -> Log {
    let mut log = Log::new();
    for (what, back, text) in steps {
        let newest = log.ids.len().checked_sub(1);
        let earlier = newest.map(|newest| newest.saturating_sub(*back));
        match what {
            0..=2 => _ = log.user(newest, text),
            3..=5 => _ = log.answer(newest, &[text, "b"], true),
            6 => _ = log.answer(newest, &[text, "c"], false),
            7 => _ = log.node(Kind::Branch, earlier, Value::Null),
            8 => _ = log.user(earlier, text),
            9 => _ = log.answer(earlier, &[text], true),
            10 => _ = log.node(Kind::Error, newest, json!({ "kind": "error", "text": text })),
            _ => log.record(Kind::Usage, &json!({ "usage": {} })),
        }
    }
    log
}

fn texts(message: &Message) -> String {
    let mut all = String::new();
    for part in &message.parts {
        match part {
            Part::Text(text) => all.push_str(&text.source),
            Part::Notice(notice) => all.push_str(&notice.text.source),
            other => _ = write!(all, "{other:?}"),
        }
    }
    all
}

#[test]
fn logs_give_their_rows() {
    crate::corpus::check_dir("transcripts/letterpress", "jsonl", |path| {
        dump(&transcript::open(path).expect("a fixture"))
    });
}

#[test]
fn every_prefix_of_a_log_opens() {
    for path in super::growth::fixtures_in(&folder()) {
        let bytes = std::fs::read(&path).expect("a fixture");
        // The first six bytes tell whose it is.
        for end in 6..=bytes.len() {
            let (_file, transcript) = written(&bytes[..end]);
            assert_eq!(transcript.format(), Format::Letterpress, "{} to {end}", path.display());
            exhaust(&transcript, &whole(&transcript));
            if end % 5 == 0 {
                exhaust(&transcript, &transcript.tail(end as u64 / 2 + 1));
            }
        }
    }
}

#[test]
fn every_flipped_byte_costs_at_most_one_message() {
    let mut log = Log::new();
    let mut last = None;
    for turn in 0..5 {
        let prompt = log.user(last, &format!("prompt {turn}"));
        last = Some(log.answer(Some(prompt), &["the ", "answer"], true));
    }
    let all = log.path(None);
    let said = |transcript: &Transcript| {
        let index = whole(transcript);
        exhaust(transcript, &index);
        let words = (0..index.len())
            .filter(|row| matches!(index.row(*row).kind, RowKind::User | RowKind::Assistant));
        words.map(|row| texts(&transcript.message(&index, row).0)).collect::<Vec<_>>()
    };
    let (_file, sound) = written(log.text.as_bytes());
    let sound = said(&sound);
    assert_eq!(sound.len(), all.len());
    for at in 0..log.text.len() {
        for flip in [[1, 0x20, 0x80][at % 3]] {
            let mut bytes = log.text.clone().into_bytes();
            bytes[at] ^= flip;
            if transcript::sniff(&bytes).is_none() {
                continue;
            }
            let (_file, transcript) = written(&bytes);
            let found = said(&transcript);
            let mut left = found.clone();
            let lost = sound.iter().filter(|text| {
                let place = left.iter().position(|found| found == *text);
                place.map(|place| left.swap_remove(place)).is_none()
            });
            assert!(lost.count() <= 1, "{at} ^ {flip}: {found:?}");
        }
    }
}

#[test]
fn a_repeated_block_and_two_logs_in_one_are_survived() {
    let log =
        made(&[(0, 0, "a".into()), (3, 0, "b".into()), (0, 0, "c".into()), (3, 0, "d".into())]);
    let lines: Vec<&str> = log.text.split_inclusive('\n').collect();
    let (_file, once) = written(log.text.as_bytes());
    let rows = ids(&whole(&once));
    for start in 0..lines.len() {
        for end in start + 1..=lines.len() {
            let text = lines[..end].concat() + &lines[start..end].concat() + &lines[end..].concat();
            let (_file, transcript) = written(text.as_bytes());
            let index = whole(&transcript);
            exhaust(&transcript, &index);
            assert_eq!(index.len(), rows.len(), "{start}..{end} twice");
            assert_eq!(index.warnings(), []);
        }
    }
    let other = made(&[(0, 0, "x".into()), (3, 0, "y".into())]);
    let (_file, transcript) = written((log.text + &other.text).as_bytes());
    let index = whole(&transcript);
    exhaust(&transcript, &index);
    assert!(!index.is_empty() && !index.warnings().is_empty());
}

#[test]
fn blobs_are_read_from_beside_the_log() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("blobs")).expect("a folder");
    let [there, missing, linked] = ["a", "b", "c"].map(|digit| digit.repeat(64));
    let blob = |sha: &str| folder.path().join("blobs").join(sha);
    std::fs::write(blob(&there), "word ".repeat(20_000)).expect("a blob");
    let secret = folder.path().join("secret");
    std::fs::write(&secret, "secret").expect("a file");
    #[cfg(unix)]
    std::os::unix::fs::symlink(&secret, blob(&linked)).expect("a link");
    let far = |sha: &str| json!({ "type": "text", "text": { "blob": sha, "bytes": 100_000 } });
    let mut log = Log::new();
    let parts = json!([far(&there), far(&missing), far(&linked), far("../secret")]);
    log.node(Kind::User, None, json!({ "parts": parts }));
    let path = folder.path().join("log.jsonl");
    std::fs::write(&path, &log.text).expect("a log");
    let transcript = transcript::open(&path).expect("a log");
    let index = whole(&transcript);
    let (message, warnings) = transcript.message(&index, 0);
    assert!(matches!(&message.parts[0], Part::Text(text) if text.source.len() == 100_000));
    for part in &message.parts[1..] {
        assert!(matches!(part, Part::Raw(_)), "{part:?}");
    }
    assert!(!format!("{message:?}").contains("secret\""));
    assert_eq!(warnings.len(), 2);
    // Finding looks for words that are not in the log itself.
    let mut ahead = letterpress::model::ReadAhead::default();
    assert!(transcript.passes(&index, 0, &mut ahead, &|_| false));
}

#[test]
fn a_branch_of_a_log_can_be_chosen() {
    let transcript = transcript::open(&folder().join("branches.jsonl")).expect("a fixture");
    let index = whole(&transcript);
    for branch in index.branches() {
        let other = index.on_branch(&branch.id).expect("a branch");
        let (last, _) = transcript.message(&other, other.len() - 1);
        assert!(last.key == branch.id || branch.id.starts_with('m'), "{}", branch.id);
    }
    assert!((0..index.len()).any(|row| index.row(row).forks));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_path_is_the_newest_nodes(steps in steps()) {
        let log = made(&steps);
        let (_file, transcript) = written(log.text.as_bytes());
        let index = whole(&transcript);
        exhaust(&transcript, &index);
        prop_assert_eq!(index.warnings(), &[]);
        prop_assert_eq!(ids(&index), log.path(None));
        let tail = transcript.tail(log.text.len() as u64 / 2 + 1);
        exhaust(&transcript, &tail);
        prop_assert!(ids(&index).ends_with(&ids(&tail)), "a window is a suffix");
        for branch in index.branches() {
            let leaf = log.ids.iter().position(|id| **id == *branch.id).expect("a node");
            let other = index.on_branch(&branch.id).expect("a branch");
            prop_assert_eq!(ids(&other), log.path(Some(leaf)));
        }
    }
}
