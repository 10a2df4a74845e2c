//! What is counted is what is marked.

use std::{
    cell::{Cell, RefCell},
    path::Path,
    sync::Arc,
    time::Duration,
};

use letterpress::{
    engine::{FileSource, find::Needle},
    model::{MemorySource, Message, Role, Source as _},
};
use proptest::{
    prelude::*,
    test_runner::{Config, TestRunner},
};

use super::{
    bench::Bench,
    steps::{call, thinking},
};
use crate::bed::{message, text};

/// Texts, what is looked for in them, and how often it is seen.
const SEEN: &[(&str, &str, u64)] = &[
    ("**bold** word", "bold word", 1),
    ("a `co`de and *it*alic", "code", 1),
    ("[link text](https://example.com/link)", "link", 1),
    ("one\ntwo", "one two", 1),
    ("one\n\ntwo", "one two", 0),
    ("- item one\n- item two\n  - item three", "item", 3),
    ("| a | b |\n|---|---|\n| needle | x |\n| y | needle needle |", "needle", 3),
    ("| a b | c |\n|---|---|\n| d | e |", "b c", 0),
    ("```rust\nlet needle = 1;\nneedle();\n```", "needle", 2),
    ("```rust\nfirst\nsecond\n```", "rust", 0),
    ("# Head *line*\n\nline", "line", 2),
    ("> quoted **word**s", "words", 1),
    ("escaped \\*stars\\* &amp; &lt;more&gt;", "*stars* & <more>", 1),
    ("<details><summary>the summary</summary>\n\ninside\n\n</details>", "summary", 1),
    ("a footnote[^1]\n\n[^1]: its needle", "needle", 1),
    ("![a picture](x.png)", "picture", 1),
    ("$x^2$ and needle", "x^2", 1),
    ("zero\u{200b}width", "zerowidth", 1),
    ("Ünïcödé ÜNÏCÖDÉ 🦀 日本語", "ünïcödé", 2),
];

#[test]
fn markup_is_not_part_of_the_words() {
    let mut bench = Bench::unfolded(Vec::new());
    for (source, needle, seen) in SEEN {
        bench.show(MemorySource::new([message(1, Role::Assistant, vec![text(source)])]));
        let finding = bench.find(needle);
        assert_eq!((finding.hits, bench.marks()), (*seen, *seen), "{needle:?} in {source:?}");
    }
}

#[test]
fn tools_are_searched_as_they_are_shown() {
    let edit = serde_json::json!({
        "path": "src/needle.rs", "oldText": "old needle\nkept\n", "newText": "new needle\nkept\n"
    });
    let own = serde_json::json!({"a": {"needle": ["needle", 1]}});
    let json = r#"{"out":["needle","needle"]}"#;
    let message = message(
        1,
        Role::Assistant,
        vec![
            thinking("a needle"),
            call("edit", edit, "needle that is not shown"),
            call("frobnicate", own, json),
            call("bash", serde_json::json!({"command": "echo needle\necho needle"}), "needle\nx"),
            call("grep", serde_json::json!({"pattern": "needle"}), "a: needle\nb: needle"),
        ],
    );
    let mut bench = Bench::unfolded(vec![message]);
    let finding = bench.find("needle");
    assert_eq!(finding.hits, bench.marks());
    // Thinking 1; edit: title 1 and lines 2; own: arguments 2, result 2;
    // bash: title 1, text 2, output 1; grep: detail 1, output 2.
    assert_eq!(finding.hits, 15);
}

/// What a header has no room for is marked on the dots that stand for it.
#[test]
fn words_behind_dots_are_counted_and_marked() {
    let command = format!("echo {} needle", "word ".repeat(60));
    let card = call("bash", serde_json::json!({ "command": command }), "done");
    let mut bench = Bench::unfolded(vec![message(1, Role::Assistant, vec![card])]);
    assert_eq!((bench.find("needle").hits, bench.marks()), (1, 1));
}

/// A hit that lies in two slugs counts once and is marked in both.
#[test]
fn long_paragraphs_are_searched_across_their_pieces() {
    let words: Vec<String> = (0..3_000).map(|n| format!("w{n}")).collect();
    let long = words.join(" ");
    let mut bench = Bench::unfolded(vec![message(1, Role::User, vec![text(&long)])]);
    for n in (0..2_998).step_by(173) {
        let needle = format!("w{n} w{} w{}", n + 1, n + 2);
        assert_eq!(bench.find(&needle).hits, 1, "{needle}");
        assert!((1..=2).contains(&bench.marks()), "{needle}");
    }
}

fn words() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "alpha", "Beta", "gamma", "delta", "ALPHA", "be", "ta", "ß", "σ", "x", "日本", "🦀", "a.b",
    ]);
    prop::collection::vec(word, 1..6).prop_map(|words| words.join(" "))
}

fn markdown() -> impl Strategy<Value = String> {
    let piece = (words(), words(), 0..14_u8).prop_map(|(a, b, kind)| match kind {
        0 => format!("{a} **{b}** {a}"),
        1 => format!("*{a}*{b}"),
        2 => format!("# {a} `{b}`"),
        3 => format!("- {a}\n- {b}\n  1. {a}"),
        4 => format!("> {a}\n> {b}"),
        5 => format!("```\n{a}\n{b}\n\n{a}\n```"),
        6 => format!("| {a} | {b} |\n|---|--:|\n| {b} | {a} |\n| | {a} |"),
        7 => format!("[{a}](https://example.com/{}) {b}", b.len()),
        8 => format!("<details><summary>{a}</summary>\n\n{b}\n\n</details>"),
        9 => format!("> [!NOTE]\n> {a} {b}"),
        10 => format!("- [x] {a}\n- [ ] {b}"),
        11 => format!("{a}[^1]\n\n[^1]: {b}"),
        12 => format!("$$\n{a}\n$$"),
        _ => format!("{a}\n{b}"),
    });
    prop::collection::vec(piece, 1..5).prop_map(|pieces| pieces.join("\n\n"))
}

fn parts() -> impl Strategy<Value = Message> {
    let part = (markdown(), words(), 0..9_u8).prop_map(|(source, words, kind)| match kind {
        0 => thinking(&source),
        1 => call("bash", serde_json::json!({ "command": words }), &source),
        2 => call("read", serde_json::json!({ "path": words }), &source),
        3 => call(
            "edit",
            serde_json::json!({"path": words, "oldText": words, "newText": source}),
            "",
        ),
        4 => call("own", serde_json::json!({ "k": [words, source] }), &words),
        5 => call("write", serde_json::json!({"path": words, "content": source}), "ok"),
        _ => text(&source),
    });
    let role = prop_oneof![Just(Role::User), Just(Role::Assistant)];
    (prop::collection::vec(part, 1..4), role).prop_map(|(parts, role)| message(0, role, parts))
}

/// The same on what people and agents really wrote, where such files are at hand.
#[test]
fn as_many_marks_as_hits_in_real_files() {
    let Ok(corpus) = std::env::var("LETTERPRESS_CORPUS") else {
        println!("skipped: LETTERPRESS_CORPUS is not set");
        return;
    };
    let mut bench = Bench::unfolded(Vec::new());
    let mut seen = 0;
    for folder in ["pi", "claude-code"] {
        for entry in std::fs::read_dir(Path::new(&corpus).join(folder)).expect("a corpus") {
            let path = entry.expect("an entry").path();
            if std::fs::metadata(&path).is_ok_and(|data| data.len() < 1 << 20) {
                seen += marks_in_file(&mut bench, &path);
            }
        }
    }
    assert!(seen > 500, "{seen}");
}

/// Messages of a file, each alone on a page, searched for words that many texts have.
fn marks_in_file(bench: &mut Bench, path: &Path) -> u64 {
    let mut source = FileSource::open(path, Arc::new(|| {})).expect("a thread");
    if !source.wait_complete(Duration::from_secs(60)) || source.failure().is_some() {
        return 0;
    }
    let reading = source.reading().expect("an open file");
    let mut seen = 0;
    for row in (0..reading.len()).step_by(1 + reading.len() / 12) {
        bench.show(MemorySource::new([Message::clone(&reading.message(row))]));
        for needle in ["th", "in", "er", "1", " a"] {
            let finding = bench.find(needle);
            if bench.view().visible().at_end && bench.top() < 0.5 && finding.messages < 2 {
                assert_eq!(finding.hits, bench.marks(), "{needle:?}, row {row} of {path:?}");
                seen += finding.hits;
            }
        }
    }
    seen
}

/// Whatever a conversation is made of, there are as many marks as hits.
#[test]
fn as_many_marks_as_hits() {
    let cases = (prop::collection::vec(parts(), 1..4), words(), any::<[bool; 3]>());
    let bench = RefCell::new(Bench::unfolded(Vec::new()));
    let mut runner =
        TestRunner::new(Config { cases: 60, failure_persistence: None, ..Config::default() });
    let seen = Cell::new(0);
    let outcome = runner.run(&cases, |(messages, words, [match_case, whole_word, regex])| {
        let messages = messages.into_iter().zip(1..);
        let messages = messages
            .map(|(message, id)| Message { id: letterpress::model::MessageId(id), ..message });
        let mut bench = bench.borrow_mut();
        bench.show(MemorySource::new(messages));
        let text = words.split_whitespace().take(1).collect::<Vec<_>>().join(" ");
        let finding = bench.find_needle(Needle { text, match_case, whole_word, regex });
        let all_shown = bench.view().visible().at_end && bench.top() < 0.5;
        prop_assert!(all_shown, "the page is too small for the test");
        prop_assert_eq!(finding.hits, bench.marks());
        seen.set(seen.get() + finding.hits);
        Ok(())
    });
    outcome.unwrap();
    assert!(seen.get() > 100, "the cases find too little to tell: {seen:?}");
}
