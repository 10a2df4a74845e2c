//! Exports: own fixtures in every format, all real transcripts as JSON, hostile files; what
//! is covered, what a page may hold, parts of a conversation, exports beside the UI.

mod page;
mod parts;
mod secrets;
mod sessions;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use letterpress::{
    app::{
        export::{self, Format, Images, Request, Summary, redact::Redaction},
        synth,
    },
    model::Progress,
    transcript,
};
use serde_json::Value;

use crate::corpus::check_dir;

const FORMATS: [(&str, Format); 5] = [
    ("json", Format::Json),
    ("jsonl", Format::Jsonl),
    ("md", Format::Md),
    ("html", Format::Html),
    ("txt", Format::Txt),
];

fn request(file: &Path, format: Format, output: &Path) -> Request {
    Request {
        subject: file.to_owned(),
        format,
        output: Some(output.to_owned()),
        branch: None,
        images: Images::Named,
        unredacted: false,
    }
}

fn carry_out(request: &Request) -> Result<Summary, String> {
    let redaction = Redaction::new(None);
    export::run(request, redaction, &|_words| Ok(None)).map_err(|error| error.to_string())
}

fn run(file: &Path, format: Format, branch: Option<&str>) -> Result<(String, Summary), String> {
    run_with(file, |request| Request { format, branch: branch.map(str::to_owned), ..request })
}

fn run_with(
    file: &Path,
    change: impl FnOnce(Request) -> Request,
) -> Result<(String, Summary), String> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let output = folder.path().join("out");
    let summary = carry_out(&change(request(file, Format::Md, &output)))?;
    let left: Vec<_> = fs::read_dir(folder.path()).expect("the folder").collect();
    assert_eq!(left.len(), 1, "no draft is left behind");
    Ok((fs::read_to_string(output).expect("the output"), summary))
}

fn json(file: &Path) -> (Value, Summary) {
    let (text, summary) = run(file, Format::Json, None).expect("an export");
    (serde_json::from_str(&text).expect("JSON"), summary)
}

/// All formats of a file, one after the other, without the machine's paths and the page's
/// style.
fn all_formats(file: &Path) -> String {
    // Elsewhere, because the folder of the fixtures may be in somebody's home.
    let elsewhere = tempfile::tempdir().expect("a temporary folder");
    let copy = elsewhere.path().join(file.file_name().expect("a name"));
    fs::copy(file, &copy).expect("a copy");
    let (file, folder) = (&copy, format!("{}/", elsewhere.path().display()));
    let mut all = String::new();
    for (name, format) in FORMATS {
        let (text, _) = run(file, format, None).expect("an export");
        let text = match (text.split_once("<style>\n"), text.split_once("</style>\n")) {
            (Some((before, _)), Some((_, after))) => format!("{before}{after}"),
            _ => text.clone(),
        };
        all.push_str(&format!("==== {name} ====\n{}\n", text.replace(&folder, "")));
    }
    all
}

#[test]
fn fixtures_give_what_is_expected_in_every_format() {
    check_dir("export", "jsonl", all_formats);
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpora/export").join(name)
}

#[test]
fn json_has_the_promised_shape() {
    let (object, summary) = json(&fixture("pi-everything.jsonl"));
    let keys: Vec<&String> = object.as_object().expect("an object").keys().collect();
    assert_eq!(keys, ["source", "title", "branches", "messages", "warnings"]);
    assert_eq!(object["source"]["format"], "pi");
    assert_eq!(object["title"], "Garden <beds>");
    let messages = object["messages"].as_array().expect("messages");
    assert_eq!(messages.len() as u64, summary.messages);
    for message in messages {
        for key in ["id", "role", "timestamp", "model", "parts", "stop_reason", "usage"] {
            assert!(message.get(key).is_some(), "{key} of {message}");
        }
        let role = message["role"].as_str().expect("a role");
        assert!(["user", "assistant", "tool", "system", "custom"].contains(&role), "{role}");
    }
    let call = |id: &str| {
        let parts = messages.iter().filter_map(|m| m["parts"].as_array()).flatten();
        parts.filter(|part| part["id"] == id).collect::<Vec<_>>()
    };
    let [first] = call("call-1")[..] else { panic!("call-1 stands once") };
    assert_eq!((&first["type"], &first["state"]), (&"tool_call".into(), &"ok".into()));
    assert_eq!(first["result"]["is_error"], false);
    assert!(first["result"]["parts"][0]["text"].as_str().expect("text").contains("\u{1b}[31m"));
    assert_eq!(call("call-2")[0]["state"], "error");
    assert_eq!(call("call-3")[0]["state"], "no_result");
    assert_eq!(call("call-3")[0]["result"], Value::Null);
    let orphan = messages.iter().find(|m| m["role"] == "tool").expect("an orphan result");
    assert_eq!((&orphan["tool_call_id"], &orphan["is_error"]), (&"call-9".into(), &true.into()));
    assert_eq!(orphan["parts"][0], serde_json::json!({"type": "text", "text": "nobody asked"}));
    let warnings = object["warnings"].as_array().expect("warnings");
    assert!(warnings.iter().any(|w| w["line"] == 10), "{warnings:?}");
}

#[test]
fn lines_hold_the_same_messages_as_the_object() {
    for name in ["pi-everything.jsonl", "pi-branches.jsonl", "claude-code.jsonl"] {
        let (object, _) = json(&fixture(name));
        let (lines, _) = run(&fixture(name), Format::Jsonl, None).expect("an export");
        let lines: Vec<Value> =
            lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        assert_eq!(object["messages"], Value::Array(lines), "{name}");
    }
}

#[test]
fn a_branch_is_written_instead_of_the_active_path() {
    let file = fixture("pi-branches.jsonl");
    let (active, _) = json(&file);
    assert_eq!(active["messages"][1]["parts"][0]["text"], "Elm.");
    assert_eq!(active["branches"], serde_json::json!(["b0000002"]));
    let (other, _) = run(&file, Format::Json, Some("b0000002")).expect("an export");
    let other: Value = serde_json::from_str(&other).expect("JSON");
    assert_eq!(other["messages"][1]["parts"][0]["text"], "Oak.");
    assert_eq!(other["branches"], serde_json::json!(["b0000003"]));
    let (same, _) = run(&file, Format::Json, Some("b0000003")).expect("the active leaf");
    assert_eq!(serde_json::from_str::<Value>(&same).expect("JSON"), active);
    let error = run(&file, Format::Json, Some("nowhere")).expect_err("no such branch");
    assert!(error.contains("branch") && error.contains("nowhere"), "{error}");
}

#[test]
fn pages_run_nothing_and_load_nothing() {
    let file = fixture("pi-everything.jsonl");
    let with_images = |request| Request { format: Format::Html, images: Images::Inside, ..request };
    let (page, _) = run_with(&file, with_images).expect("an export");
    let lower = page.to_lowercase();
    for forbidden in ["<script", "<b>wet", "href=\"javascript", " onerror", "<iframe", "<link"] {
        assert!(!lower.contains(forbidden), "{forbidden}");
    }
    assert!(page.contains("Content-Security-Policy") && page.contains("default-src 'none'"));
    let sources: Vec<&str> = page.split("src=\"").skip(1).collect();
    assert_eq!(sources.len(), 1);
    assert!(sources[0].starts_with("data:image/png;base64,"));
    let links: Vec<&str> = page.split("href=\"").skip(1).collect();
    assert!(
        !links.is_empty() && links.iter().all(|link| link.starts_with("https://")),
        "{links:?}"
    );
    for text in [&page, &run(&fixture("pi-everything.jsonl"), Format::Md, None).unwrap().0] {
        assert!(!text.contains('\u{1b}'), "no escape sequence reaches a terminal");
    }
}

#[test]
fn hostile_files_get_one_clear_line() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    write("empty", b"");
    write("prose", b"Dear reader,\nthis is a letter.\n");
    write("binary", &[0, 159, 146, 150].repeat(1000));
    write("brackets", &b"[".repeat(4 << 20));
    write("braces", &b"{\"type\":".repeat(1 << 19));
    write("array.json", b"[{\"role\":\"user\"}]");
    write("line\u{1b}[2J\nbreak", b"nothing");
    for (name, words) in [
        ("missing", "no such file"),
        ("empty", "empty"),
        (".", "folder"),
        ("prose", "not a transcript"),
        ("binary", "not a transcript"),
        ("brackets", "not a transcript"),
        ("braces", "not a transcript"),
        ("array.json", "not a transcript"),
        ("line\u{1b}[2J\nbreak", "not a transcript"),
    ] {
        let path = folder.path().join(name);
        let error = run(&path, Format::Md, None).expect_err(name);
        assert!(error.contains(words), "{name}: {error}");
        assert!(!error.contains(char::is_control), "{error:?}");
        assert!(error.contains(&folder.path().display().to_string()), "{error}");
    }
}

#[cfg(unix)]
#[test]
fn a_file_without_permission_says_so() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("secret.jsonl");
    fs::write(&path, "{}").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).unwrap();
    let error = run(&path, Format::Md, None).expect_err("not readable, or not a transcript");
    // A superuser may read everything, and then sees that it is no transcript.
    let words = if fs::read(&path).is_ok() { "not a transcript" } else { "permission" };
    assert!(error.contains(words), "{error}");
}

#[test]
fn outputs_appear_whole_or_not_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("h.jsonl");
    let mut bytes = Vec::new();
    synth::write(synth::Request { messages: 30, seed: 1 }, &mut bytes).unwrap();
    fs::write(&file, &bytes).unwrap();
    let run = |output: &Path| carry_out(&request(&file, Format::Txt, output));
    let error = run(&file).expect_err("the source is never written");
    assert!(error.contains("the output is the transcript itself"), "{error}");
    assert_eq!(fs::read(&file).unwrap(), bytes);
    let error = run(folder.path()).expect_err("a folder");
    assert!(error.contains("it is a folder"), "{error}");
    let nowhere = folder.path().join("none/out.txt");
    let error = run(&nowhere).expect_err("no such folder");
    assert!(error.starts_with("cannot write: there is no such file"), "{error}");
    let out = folder.path().join("out.txt");
    fs::write(&out, "what was there before").unwrap();
    run(&out).expect("an export");
    assert!(fs::read_to_string(&out).unwrap().contains("=== User"));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

/// Calls, results and parts of an export, by kind.
fn census(messages: &Value) -> BTreeMap<String, u64> {
    let mut census = BTreeMap::new();
    let mut count = |key: &str| *census.entry(key.to_owned()).or_default() += 1;
    for message in messages.as_array().expect("messages") {
        count(message["role"].as_str().expect("a role"));
        for part in message["parts"].as_array().expect("parts") {
            count(part["type"].as_str().expect("a type"));
            if !part["result"].is_null() {
                count("result");
            }
        }
    }
    census
}

/// What a synthetic history holds, counted from its lines, stands in its export.
#[test]
fn nothing_is_lost_on_the_way() {
    let mut bytes = Vec::new();
    synth::write(synth::Request { messages: 3_000, seed: 9 }, &mut bytes).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("h.jsonl");
    fs::write(&file, &bytes).unwrap();
    let mut expected: BTreeMap<String, u64> = BTreeMap::new();
    for line in String::from_utf8(bytes).expect("UTF-8").lines() {
        let entry: Value = serde_json::from_str(line).expect("JSON");
        let role = entry["message"]["role"].as_str();
        match role {
            Some("toolResult") => *expected.entry("result".to_owned()).or_default() += 1,
            Some(role) => *expected.entry(role.to_owned()).or_default() += 1,
            None => continue,
        }
        for part in entry["message"]["content"].as_array().into_iter().flatten() {
            if part["type"] == "toolCall" {
                *expected.entry("tool_call".to_owned()).or_default() += 1;
            } else if part["type"] == "thinking" {
                *expected.entry("thinking".to_owned()).or_default() += 1;
            }
        }
    }
    let (object, _) = json(&file);
    let found = census(&object["messages"]);
    for (key, count) in expected {
        assert_eq!(found.get(&key), Some(&count), "{key} in {found:?}");
    }
    assert_eq!(object["warnings"], Value::Array(Vec::new()));
}

/// Every transcript in the folder that `LETTERPRESS_CORPUS` names opens and exports.
#[test]
fn real_transcripts_export() {
    let Some(corpus) = std::env::var_os("LETTERPRESS_CORPUS").map(PathBuf::from) else {
        eprintln!("skipped: LETTERPRESS_CORPUS names no folder");
        return;
    };
    let mut files = Vec::new();
    for folder in ["pi", "claude-code"] {
        let entries = fs::read_dir(corpus.join(folder)).expect("a folder of transcripts");
        files.extend(entries.map(|entry| entry.unwrap().path()).filter(|path| path.is_file()));
    }
    files.sort();
    assert!(!files.is_empty());
    for file in files {
        let Ok(transcript) = transcript::open(&file) else {
            panic!("{} does not open", file.display())
        };
        let mut indexer = transcript.indexer();
        while indexer.step(&transcript, 1 << 20) != Progress::Complete {}
        let rows = indexer.finish().len() as u64;
        let (object, summary) = json(&file);
        let messages = object["messages"].as_array().expect("messages");
        assert_eq!((messages.len() as u64, summary.messages), (rows, rows), "{}", file.display());
        for (name, format) in FORMATS {
            let (text, written) = run(&file, format, None).expect("an export");
            assert_eq!(written, summary, "{name} of {}", file.display());
            assert!(!text.is_empty(), "{name} of {}", file.display());
        }
    }
}
