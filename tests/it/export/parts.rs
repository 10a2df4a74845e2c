//! Parts of a conversation, conversations in memory, and exports beside the UI.

use std::{
    collections::BTreeSet,
    fs,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use letterpress::{
    app::{
        export::{
            Destination, Done, Format, Held, Images, Job, Order, Subject, redact::Redaction, start,
        },
        synth,
    },
    model::{Blocks, MemorySource, Message, MessageId, Part, Role, Source as _, SourceLine, Text},
};
use parking_lot::Mutex;
use serde_json::Value;

use super::fixture;

fn order(format: Format, only: Option<&[u64]>) -> Order {
    Order {
        format,
        only: only.map(|ids| ids.iter().map(|id| MessageId(*id)).collect()),
        images: Images::Named,
        redaction: Some(Arc::new(Redaction::new(None))),
    }
}

fn quiet() -> Arc<dyn Fn() + Send + Sync> {
    Arc::new(|| {})
}

fn text_of(subject: Subject, order: Order) -> Done {
    let job = Job { subject, branch: None, order, destination: Destination::Text };
    start(job, quiet()).expect("a thread").wait().expect("an export")
}

fn said(role: Role, id: u64, words: &str) -> Message {
    Message {
        id: MessageId(id),
        key: "".into(),
        role,
        timestamp_ms: None,
        model: None,
        parts: vec![Part::Text(Text { source: words.into(), blocks: Blocks::Unparsed })],
        stop: None,
        error: None,
        usage: None,
        line: SourceLine(0),
    }
}

fn held() -> Subject {
    let source = MemorySource::new([
        said(Role::User, 1, "Which bed?"),
        said(Role::Assistant, 2, "Bed *three*, says /home/ada/beds."),
        said(Role::User, 3, "Thanks, sk-CANARY0a1b2c3d4e5f6a7b8c9d"),
    ]);
    let reading = source.reading().expect("it can be read");
    let title = Some("Beds of /home/ada".to_owned());
    Subject::Held(Held { reading, format: "letterpress", place: String::new(), title })
}

#[test]
fn a_conversation_in_memory_is_exported_in_every_format() {
    for format in Format::ALL {
        let done = text_of(held(), order(format, None));
        let text = done.text.expect("the text");
        assert_eq!(done.summary.messages, 3, "{text}");
        assert!(text.contains("Which bed?") && text.contains("~/beds"), "{text}");
        assert!(!text.contains("CANARY") && !text.contains("ada"), "{text}");
    }
    let page = text_of(held(), order(Format::Html, None)).text.expect("the text");
    assert!(page.contains("<em>three</em>"), "{page}");
}

#[test]
fn some_messages_are_an_excerpt() {
    let done = text_of(held(), order(Format::Json, Some(&[2, 3, 99])));
    let object: Value = serde_json::from_str(&done.text.expect("the text")).expect("JSON");
    assert_eq!(object["excerpt"], true);
    assert_eq!(object["messages"].as_array().expect("messages").len(), 2);
    assert_eq!(object["messages"][0]["id"], "@2");
    let text = text_of(held(), order(Format::Md, Some(&[1]))).text.expect("the text");
    assert_eq!(text, "# Beds of ~\n\nletterpress · excerpt\n\n## User\n\nWhich bed?\n");
    let nothing = text_of(held(), order(Format::Txt, Some(&[])));
    assert_eq!(nothing.summary.messages, 0);
}

#[test]
fn messages_of_a_file_are_named_by_where_they_stand() {
    let file = fixture("pi-branches.jsonl");
    let whole = fs::read_to_string(&file).expect("the fixture");
    let lines = whole.split_inclusive('\n');
    let row: usize = lines.take_while(|l| !l.contains("\"id\":\"b0000003\"")).map(str::len).sum();
    let done = text_of(Subject::File(file), order(Format::Jsonl, Some(&[row as u64])));
    let text = done.text.expect("the text");
    let message: Value = serde_json::from_str(text.trim()).expect("one message");
    assert_eq!(message["parts"][0]["text"], "Elm.");
}

fn history(folder: &Path, messages: u64) -> std::path::PathBuf {
    let file = folder.join("history.jsonl");
    let mut bytes = Vec::new();
    synth::write(synth::Request { messages, seed: 3 }, &mut bytes).expect("a history");
    fs::write(&file, &bytes).expect("a file");
    file
}

#[test]
fn a_file_appears_whole_and_its_progress_is_told() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = history(folder.path(), 600);
    let out = folder.path().join("out.md");
    let woken = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&woken);
    let waker = Arc::new(move || {
        count.fetch_add(1, Ordering::Relaxed);
    });
    let job = Job {
        subject: Subject::File(file),
        branch: None,
        order: order(Format::Md, None),
        destination: Destination::File(out.clone()),
    };
    let handle = start(job, waker).expect("a thread");
    let done = handle.wait().expect("an export");
    assert_eq!(done.text, None);
    let text = fs::read_to_string(&out).expect("the output");
    let headings: BTreeSet<_> = text.lines().filter(|line| line.starts_with("## ")).collect();
    assert!(done.summary.messages > 300 && !headings.is_empty());
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 2);
}

#[test]
fn what_is_cancelled_leaves_nothing_behind() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = history(folder.path(), 2_000);
    let out = folder.path().join("out.html");
    // The first wake is answered by cancelling, so that the end is not a matter of time.
    let (sender, cancelled) = std::sync::mpsc::sync_channel::<()>(0);
    let cancelled = Mutex::new(cancelled);
    let waker = Arc::new(move || {
        // Once the sender is gone nobody is waited for.
        _ = cancelled.lock().recv();
    });
    let job = Job {
        subject: Subject::File(file),
        branch: None,
        order: order(Format::Html, None),
        destination: Destination::File(out),
    };
    let handle = start(job, waker).expect("a thread");
    handle.cancel();
    drop(sender);
    let error = handle.wait().expect_err("it was cancelled");
    assert!(error.to_string().contains("cancelled"), "{error}");
    assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 1);
}
