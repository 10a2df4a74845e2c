//! What an agent is doing, by recorded orders of events: files in, state words out.

use std::{fmt::Write as _, path::Path};

use letterpress::{
    model::{
        Message, MessageId, Part, Role, SourceLine, Text,
        activity::{Last, Limits, Link, Outline, State, next_change_ms, state},
    },
    transcript,
};

/// The outline of the first lines of a file, by its newest rows as following reads them.
fn outline_of(bytes: &[u8]) -> Option<Outline> {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), bytes).expect("a file");
    let transcript = transcript::open(file.path()).ok()?;
    let index = transcript.tail(u64::MAX);
    let messages: Vec<Message> =
        (0..index.len()).map(|row| transcript.message(&index, row).0).collect();
    let mut outline = Outline::of(&messages);
    if let Some(latest_ms) = index.latest_ms() {
        outline.note_event(latest_ms);
    }
    Some(outline)
}

/// After each line the state at that moment; after the last what silence makes of it.
fn states(path: &Path) -> String {
    let bytes = std::fs::read(path).expect("a file");
    let lines: Vec<_> = bytes.split_inclusive(|byte| *byte == b'\n').collect();
    let limits = Limits::default();
    let mut out = String::new();
    for count in 1..=lines.len() {
        let Some(outline) = outline_of(&lines[..count].concat()) else { continue };
        let now_ms = outline.last_event_ms.unwrap_or(0) + 1_000;
        let word = state(&outline, &Link::Live, now_ms, &limits).word();
        let calls: Vec<&str> = outline.open_calls.iter().map(|call| &*call.name).collect();
        _ = write!(out, "{count}: {word}");
        if !calls.is_empty() {
            _ = write!(out, " [{}]", calls.join(" "));
        }
        if let Some(error) = &outline.error {
            _ = write!(out, " ({error})");
        }
        out.push('\n');
    }
    let outline = outline_of(&bytes).expect("a transcript");
    let since_ms = outline.last_event_ms.unwrap_or(0);
    let mut now_ms = since_ms + 1_000;
    while let Some(next_ms) = next_change_ms(&outline, &Link::Live, now_ms, &limits) {
        let word = state(&outline, &Link::Live, next_ms, &limits).word();
        _ = writeln!(out, "after {} s of silence: {word}", (next_ms - since_ms) / 1_000);
        now_ms = next_ms;
    }
    let lost = Link::Lost { since_ms: now_ms, why: "gone".into() };
    _ = writeln!(out, "lost: {}", state(&outline, &lost, now_ms, &limits).word());
    _ = writeln!(out, "model: {}", outline.model.as_deref().unwrap_or("-"));
    _ = writeln!(out, "prompt: {}", outline.prompt.as_deref().unwrap_or("-"));
    out
}

#[test]
fn recorded_orders_give_their_states() {
    crate::corpus::check_dir("activity", "jsonl", states);
}

fn message(id: u64, role: Role, words: &str) -> Message {
    Message {
        id: MessageId(id),
        key: "".into(),
        role,
        timestamp_ms: None,
        model: None,
        parts: vec![Part::Text(Text::unparsed(words))],
        stop: None,
        error: None,
        usage: None,
        line: SourceLine(0),
    }
}

#[test]
fn nothing_said_is_idle_and_times_are_not_needed() {
    let outline = Outline::default();
    assert_eq!(state(&outline, &Link::Live, 1, &Limits::default()), State::Idle);
    assert_eq!(next_change_ms(&outline, &Link::Live, 1, &Limits::default()), None);
    let outline = Outline::of(&[message(1, Role::User, "go")]);
    let late = i64::MAX;
    assert_eq!(state(&outline, &Link::Live, late, &Limits::default()), State::Working);
    assert_eq!(outline.last, Last::Prompt);
}

#[test]
fn a_clock_that_runs_behind_is_no_silence() {
    let mut outline = Outline::of(&[message(1, Role::User, "go")]);
    outline.note_event(5_000_000);
    for now_ms in [i64::MIN, 0, 4_999_999] {
        assert_eq!(state(&outline, &Link::Live, now_ms, &Limits::default()), State::Working);
    }
}

#[test]
fn a_long_prompt_is_cut_to_a_line() {
    let words = format!("\n  first {}\nsecond", "é".repeat(300));
    let outline = Outline::of(&[message(1, Role::User, &words)]);
    let prompt = outline.prompt.expect("a prompt");
    assert_eq!(prompt.chars().count(), 121);
    assert!(prompt.starts_with("first é") && prompt.ends_with('…'));
}

#[test]
fn words_are_all_different() {
    let words: std::collections::BTreeSet<&str> = State::ALL.iter().map(|s| s.word()).collect();
    assert_eq!(words.len(), State::ALL.len());
    let urgent: Vec<State> = State::ALL.into_iter().filter(|state| state.is_urgent()).collect();
    assert_eq!(urgent, [State::NeedsApproval, State::Error]);
}
