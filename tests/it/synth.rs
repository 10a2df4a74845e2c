//! Made-up histories: the same for ever, and what they promise to be.

use letterpress::app::synth::{self, Request};

fn history(messages: u64, seed: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    synth::write(Request { messages, seed }, &mut bytes).expect("memory takes it");
    bytes
}

/// FNV-1a, 64 bits.
fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Figures of other days are compared with today's on the same bytes. When this hash must
/// change, they no longer are.
#[test]
fn a_seed_gives_the_same_bytes_for_ever() {
    assert_eq!(hash(&history(1_000, 1)), HASH_OF_1000);
    assert_ne!(history(1_000, 1), history(1_000, 2));
}

const HASH_OF_1000: u64 = 0x7cb2_9400_c50d_4fba;

#[test]
fn a_longer_history_begins_with_a_shorter_one() {
    let long = history(500, 3);
    for messages in [0, 1, 2, 17, 100, 499] {
        assert!(long.starts_with(&history(messages, 3)), "{messages}");
    }
}

#[test]
fn it_holds_what_it_promises() {
    let bytes = history(5_000, 1);
    let text = String::from_utf8(bytes).expect("UTF-8");
    let (mut messages, mut last, mut ids) = (0_usize, None, std::collections::HashSet::new());
    let (mut calls, mut results, mut failed) = (0, 0, 0);
    for line in text.lines() {
        let entry: serde_json::Value = serde_json::from_str(line).expect("JSON");
        if entry["type"] == "session" {
            continue;
        }
        let id = entry["id"].as_str().expect("an id").to_owned();
        assert_eq!(entry["parentId"].as_str(), last.as_deref());
        assert!(ids.insert(id.clone()), "{id} comes twice");
        last = Some(id);
        let message = &entry["message"];
        messages += usize::from(entry["type"] == "message");
        results += usize::from(message["role"] == "toolResult");
        failed += usize::from(message["isError"] == true);
        let parts = message["content"].as_array().into_iter().flatten();
        calls += parts.filter(|part| part["type"] == "toolCall").count();
    }
    assert_eq!(messages, 5_000);
    assert!(calls - results <= 3, "only the last message's calls may be without results");
    assert!((20..1_000).contains(&failed), "{failed} failed calls");
    let mean = text.len() / messages;
    assert!((1_250..1_350).contains(&mean), "{mean} bytes a message");
    for block in ["```rust", "```python", "| case |", "\\n- ", "\\n1. ", "> [!NOTE]", "- [x]"] {
        assert!(text.contains(block), "{block}");
    }
}

/// As for the other form: figures are compared on the same bytes.
#[test]
fn a_log_is_the_same_for_ever_and_sound() {
    let log = |messages| {
        let mut bytes = Vec::new();
        synth::write_log(Request { messages, seed: 1 }, &mut bytes).expect("memory takes it");
        bytes
    };
    let bytes = log(1_000);
    assert_eq!(hash(&bytes), HASH_OF_LOG);
    assert!(bytes.starts_with(&log(0)));
    let mut kinds = std::collections::BTreeMap::new();
    for (n, line) in (0..).zip(bytes.split_inclusive(|byte| *byte == b'\n')) {
        let line = letterpress::model::record::line::parse(line).expect("a record");
        assert_eq!(line.n, n);
        *kinds.entry(line.kind.name()).or_insert(0) += 1;
    }
    let said = kinds["user"] + kinds["edit"] + kinds["assistant_start"];
    assert_eq!(said, 1_000);
    for kind in ["branch", "partial", "tool_call", "tool_result", "approval", "assistant_final"] {
        assert!(kinds.contains_key(kind), "{kind}: {kinds:?}");
    }
}

const HASH_OF_LOG: u64 = 0x6c84_4628_1da1_7187;
