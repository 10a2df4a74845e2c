//! What an export leaves unsaid.

use std::{path::Path, sync::Arc};

use letterpress::app::export::{self, Format, Request, redact::Redaction};
use serde_json::Value;

use super::{FORMATS, fixture, request, run, run_with};

/// What stands in the fixture and in no export of it.
const UNSAID: [&str; 11] = [
    "CANARY0a1b",
    "7b8c9d",
    "/home/ada",
    "Users",
    "plainvalue",
    "open-sesame",
    "not-a-shape",
    "hunter2",
    "abcdefgh",
    "a=b",
    "12345678",
];

#[test]
fn no_format_says_what_is_secret() {
    for (name, format) in FORMATS {
        let (text, _) = run(&fixture("secrets.jsonl"), format, None).expect("an export");
        for unsaid in UNSAID {
            assert!(!text.contains(unsaid), "{unsaid} in {name}:\n{text}");
        }
        for said in ["~/garden", "Put it here", "content-type: text/html", "/home/news"] {
            assert!(text.contains(said), "{said} is lost in {name}");
        }
    }
}

#[test]
fn what_is_structured_stays_valid() {
    let (text, _) = run(&fixture("secrets.jsonl"), Format::Json, None).expect("an export");
    let object: Value = serde_json::from_str(&text).expect("JSON");
    let parts = object["messages"].as_array().expect("messages").iter();
    let mut parts = parts.filter_map(|message| message["parts"].as_array()).flatten();
    let call = parts.clone().find(|part| part["id"] == "call-1").expect("a call");
    assert_eq!(call["arguments"]["nested"]["list"][1], 1);
    assert_eq!(call["arguments"]["nested"]["list"][3], true);
    assert_eq!(call["arguments"].as_object().expect("an object").len(), 3);
    let inner = call["result"]["parts"][0]["text"].as_str().expect("text");
    let inner: Value = serde_json::from_str(inner).expect("JSON in a result stays JSON");
    let inner = inner["outer"].as_str().expect("text");
    let inner: Value = serde_json::from_str(inner).expect("and JSON in it");
    assert_eq!(inner["path"], "~/garden");
    let raw = parts.find(|part| part["type"] == "raw").expect("a raw record");
    assert!(raw["json"].is_object(), "{raw}");
}

#[test]
fn everything_is_written_as_it_is_when_that_is_wanted() {
    for (name, format) in FORMATS {
        let as_it_is = |request| Request { format, unredacted: true, ..request };
        let (text, _) = run_with(&fixture("secrets.jsonl"), as_it_is).expect("an export");
        for said in ["CANARY0a1b", "/home/ada/garden", "open-sesame", "not-a-shape"] {
            assert!(text.contains(said), "{said} in {name}");
        }
    }
}

#[test]
fn secrets_that_are_known_are_covered_whatever_their_shape() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = folder.path().join("out");
    let redaction = Redaction::new(Some(Path::new("/w/garden")))
        .knowing(Arc::new(|text| text.contains("sensor").then(|| text.replace("sensor", "••••"))));
    let file = fixture("pi-everything.jsonl");
    for (name, format) in FORMATS {
        let request = request(&file, format, &output);
        export::run(&request, redaction.clone(), &|_words| Ok(None)).expect("an export");
        let text = std::fs::read_to_string(&output).expect("the output");
        assert!(!text.contains("sensor") && text.contains("••••"), "{name}: {text}");
    }
}

/// What looks for secrets passes over everything else.
#[test]
fn ordinary_words_pass_untouched() {
    for name in ["pi-everything.jsonl", "pi-branches.jsonl", "claude-code.jsonl", "hostile.jsonl"] {
        for (format_name, format) in FORMATS {
            let file = fixture(name);
            let (covered, _) = run(&file, format, None).expect("an export");
            let as_it_is = |request| Request { format, unredacted: true, ..request };
            let (plain, _) = run_with(&file, as_it_is).expect("an export");
            let parent = file.parent().expect("a folder").display().to_string();
            let (covered, plain) = (covered.replace("~", ""), plain.replace(&parent, ""));
            let tail = |text: &str| text.split_once(name).map(|(_, tail)| tail.to_owned());
            assert_eq!(
                tail(&covered),
                tail(&plain).map(|t| t.replace('~', "")),
                "{name} {format_name}"
            );
        }
    }
}
