//! Transcripts of others as sessions of ours: nothing of them is lost or changed, and what
//! cannot be finished leaves nothing half.

mod disk;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use letterpress::{
    app::{
        export::{self, Format, Images, redact::Redaction},
        import::{self, Done, Request},
        synth,
    },
    engine,
    model::{
        Blocks, Message, MessageId, Output, Part, Progress, SourceLine, ToolResult,
        record::{Kind, Meta, decode_message, id_of, parent_of},
    },
    store::{self, RealDisk, SessionId, Store},
    transcript::{self, Index, Transcript},
};

use serde_json::Value;

use self::disk::{Counting, Failing};

fn quiet() -> Arc<dyn Fn() + Send + Sync> {
    Arc::new(|| {})
}

fn store(folder: &Path) -> Store {
    Store::open(folder.to_owned(), Arc::new(RealDisk)).expect("a store")
}

fn request(file: &Path) -> Request {
    Request { file: file.to_owned(), branch: None, at: None }
}

fn import(request: Request, store: &Store) -> Result<Done, String> {
    let handle = import::start(request, store.clone(), quiet()).expect("a thread");
    handle.wait().map_err(|error| error.to_string())
}

fn open(file: &Path) -> (Transcript, Index) {
    let transcript = transcript::open(file).expect("a transcript");
    let mut indexer = transcript.indexer();
    while indexer.step(&transcript, 1 << 20) != Progress::Complete {}
    (transcript, indexer.finish())
}

/// The message without what its source alone knows of it, and without what is made of it to
/// be shown.
fn bare(mut message: Message) -> Message {
    message.id = MessageId(0);
    message.key = "".into();
    message.line = SourceLine(0);
    for part in &mut message.parts {
        match part {
            Part::Text(text) => text.blocks = Blocks::Unparsed,
            Part::Thinking(thinking) => thinking.text.blocks = Blocks::Unparsed,
            Part::Notice(notice) => notice.text.blocks = Blocks::Unparsed,
            Part::Raw(raw) => raw.line = SourceLine(0),
            Part::ToolCall(call) => {
                if let Some(result) = &mut Arc::make_mut(call).result {
                    bare_result(Arc::make_mut(result));
                }
            }
            Part::ToolResult(result) => bare_result(Arc::make_mut(result)),
            Part::Image(_) => {}
        }
    }
    message
}

fn bare_result(result: &mut ToolResult) {
    let Output { source, omitted, .. } = std::mem::take(&mut result.output);
    result.output = Output { omitted, ..Output::plain(source) };
    result.images.iter_mut().for_each(|image| image.size = None);
}

/// The messages of a session in the order of its tree, which must be a single path, and what
/// it says of itself.
fn messages(store: &Store, id: &SessionId) -> (Meta, Vec<Message>) {
    let path = store.log_path(id);
    let folder = store.folder(id);
    let len = fs::metadata(&path).expect("a log").len();
    let blob = |sha: &str| store::blob_of(&folder, sha);
    let (mut meta, mut found, mut before) = (None, Vec::new(), None);
    for line in store::replay(&path, len) {
        let store::Line::Entry(entry) = line else { panic!("{line:?}") };
        if entry.kind == Kind::Meta {
            assert_eq!((entry.n, meta.is_some()), (0, false));
            meta = Some(Meta::of(&entry.body));
            continue;
        }
        assert_eq!(parent_of(&entry.body), before.as_deref(), "each follows the one before");
        before = Some(id_of(&entry.body, entry.n));
        let (message, _, warnings) = decode_message(&entry.body, entry.kind.role(), &blob);
        assert_eq!(warnings, Vec::<String>::new());
        found.push(message);
    }
    (meta.expect("a first record"), found)
}

/// Imports a file and holds every message against the source's.
fn check(file: &Path) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = store(folder.path());
    let done = import(request(file), &store).expect("an import");
    let (transcript, index) = open(file);
    let (meta, found) = messages(&store, &done.session);
    assert_eq!((done.messages, found.len()), (index.len() as u64, index.len()));
    let imported = meta.imported.expect("where it came from");
    assert_eq!(&*imported.format, transcript.format().name());
    assert!(Path::new(&*imported.path).is_absolute() && imported.title == index.title());
    let theirs = exported(file, folder.path());
    let ours = exported(&store.log_path(&done.session), folder.path());
    assert_eq!(theirs.1.len(), ours.1.len(), "{}", file.display());
    for (row, (theirs, ours)) in theirs.1.iter().zip(&ours.1).enumerate() {
        assert_eq!(theirs, ours, "row {row} of {}", file.display());
    }
    assert_eq!(theirs.0, ours.0, "the title of {}", file.display());
    for (row, found) in found.into_iter().enumerate() {
        let (message, _) = engine::read_message(&transcript, &index, row, |message| message);
        let mut expected = bare(message);
        // The end of a call says nothing of what is still going on.
        expected.parts.iter_mut().for_each(settle);
        assert_eq!(bare(found), expected, "row {row} of {}", file.display());
    }
}

/// What the export of a file says: its title, and its messages without their ids, which are
/// those of the file.
fn exported(file: &Path, folder: &Path) -> (Value, Vec<Value>) {
    let output = folder.join("export.json");
    let request = export::Request {
        subject: file.to_owned(),
        format: Format::Json,
        output: Some(output.clone()),
        branch: None,
        images: Images::Inside,
        unredacted: true,
    };
    export::run(&request, Redaction::new(None), &|_| Ok(None)).expect("an export");
    let text = fs::read_to_string(output).expect("the export");
    let mut object: Value = serde_json::from_str(&text).expect("JSON");
    let Value::Array(mut messages) = object["messages"].take() else { panic!("no messages") };
    for message in &mut messages {
        message.as_object_mut().expect("an object").remove("id");
    }
    (object["title"].take(), messages)
}

/// What was going on in a transcript no longer is.
fn settle(part: &mut Part) {
    if let Part::ToolCall(call) = part {
        let call = Arc::make_mut(call);
        if call.state.is_live() {
            call.state = letterpress::model::ToolState::NoResult;
        }
    }
}

fn fixtures(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpora").join(folder);
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("one").path());
    let mut files: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|e| e == "jsonl")).collect();
    files.sort();
    files
}

#[test]
fn nothing_is_lost_or_changed() {
    let mut checked = 0;
    for file in fixtures("export").into_iter().chain(fixtures("transcripts")) {
        let opens = transcript::open(&file).is_ok() && !open(&file).1.is_empty();
        if opens {
            check(&file);
            checked += 1;
        }
    }
    assert!(checked >= 5, "{checked} fixtures");
}

/// Every transcript in the folder that `LETTERPRESS_CORPUS` names.
#[test]
fn real_transcripts_are_continued_whole() {
    let Some(corpus) = std::env::var_os("LETTERPRESS_CORPUS").map(PathBuf::from) else {
        eprintln!("skipped: LETTERPRESS_CORPUS names no folder");
        return;
    };
    let mut checked = 0;
    for folder in ["pi", "claude-code"] {
        for entry in fs::read_dir(corpus.join(folder)).expect("a folder of transcripts") {
            let file = entry.expect("a file").path();
            if file.is_file() && transcript::open(&file).is_ok() {
                check(&file);
                checked += 1;
            }
        }
    }
    assert!(checked > 0);
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpora/export").join(name)
}

#[test]
fn a_branch_is_taken_instead_of_the_active_path() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = store(folder.path());
    let of = |branch: Option<&str>| Request {
        branch: branch.map(str::to_owned),
        ..request(&fixture("pi-branches.jsonl"))
    };
    let words = |done: &Done| {
        let (_, messages) = messages(&store, &done.session);
        let Part::Text(text) = &messages[1].parts[0] else { panic!("no text") };
        text.source.to_string()
    };
    assert_eq!(words(&import(of(None), &store).expect("an import")), "Elm.");
    assert_eq!(words(&import(of(Some("b0000002")), &store).expect("an import")), "Oak.");
    let error = import(of(Some("nowhere")), &store).expect_err("no such branch");
    assert!(error.contains("nowhere"), "{error}");
    assert_eq!(store.ids().len(), 2);
}

#[test]
fn the_readers_place_is_known_in_the_session() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = store(folder.path());
    let file = fixture("pi-everything.jsonl");
    let (_, index) = open(&file);
    for row in 0..index.len() {
        let at = Some(index.row(row).id);
        let done = import(Request { at, ..request(&file) }, &store).expect("an import");
        let log = store.log_path(&done.session);
        let len = fs::metadata(&log).expect("a log").len();
        let entries = store::replay(&log, len).filter_map(|line| match line {
            store::Line::Entry(entry) if entry.kind != Kind::Meta => Some(entry.offset),
            _ => None,
        });
        let offsets: Vec<u64> = entries.collect();
        assert_eq!(done.at, Some(MessageId(offsets[row])));
    }
}

#[test]
fn the_source_is_never_written() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (home, data) = (folder.path().join("theirs"), folder.path().join("ours"));
    fs::create_dir(&home).expect("a folder");
    let file = home.join("session.jsonl");
    fs::copy(fixture("pi-everything.jsonl"), &file).expect("a copy");
    let state = || {
        let metadata = fs::metadata(&file).expect("the file");
        let names: Vec<_> = fs::read_dir(&home).expect("a folder").collect();
        (fs::read(&file).expect("its bytes"), metadata.modified().expect("a time"), names.len())
    };
    let before = state();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(&file, fs::Permissions::from_mode(0o400)).expect("a mode");
        fs::set_permissions(&home, fs::Permissions::from_mode(0o500)).expect("a mode");
    }
    let done = import(request(&file), &store(&data)).expect("what may only be read is imported");
    assert!(done.messages > 5);
    assert!(before == state(), "bytes, time and neighbours stay");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(&home, fs::Permissions::from_mode(0o700)).expect("a mode");
        let log = store(&data).log_path(&done.session);
        let mode =
            |path: &Path| fs::metadata(path).expect("it is there").permissions().mode() & 0o777;
        assert_eq!(mode(&log), 0o600);
        assert_eq!(mode(log.parent().expect("a folder")), 0o700);
    }
}

#[test]
fn hostile_files_get_one_clear_line_and_leave_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let store = store(&data);
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    write("empty", b"");
    write("prose", b"Dear reader,\n");
    write("brackets", &b"[".repeat(1 << 20));
    write("header-only", b"{\"type\":\"session\",\"version\":3,\"id\":\"x\",\"timestamp\":\"2026-03-01T08:00:00.000Z\",\"cwd\":\"/w\"}\n");
    for (name, words) in [
        ("missing", "no such file"),
        ("empty", "empty"),
        ("prose", "not a transcript"),
        ("brackets", "not a transcript"),
        ("header-only", "no messages"),
        (".", "folder"),
    ] {
        let error = import(request(&folder.path().join(name)), &store).expect_err(name);
        assert!(error.contains(words) && !error.contains('\n'), "{name}: {error}");
    }
    assert_eq!(fs::read_dir(data.join("sessions")).expect("the folder").count(), 0);
}

/// A damaged line costs itself: it is kept as it was found, between its neighbours.
#[test]
fn damage_is_kept_as_it_was_found() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = store(&folder.path().join("data"));
    let mut bytes = fs::read(fixture("pi-everything.jsonl")).expect("the fixture");
    let file = folder.path().join("damaged.jsonl");
    // Every fifth byte of the middle third is another.
    let third = bytes.len() / 3;
    bytes[third..2 * third].iter_mut().step_by(5).for_each(|byte| *byte ^= 0x15);
    fs::write(&file, &bytes).expect("a file");
    let done = import(request(&file), &store).expect("an import");
    let (_, found) = messages(&store, &done.session);
    let raw = found.iter().flat_map(|m| &m.parts).filter(|part| matches!(part, Part::Raw(_)));
    assert!(raw.count() > 0 && found.len() == open(&file).1.len());
    check(&file);
}

/// A picture that is too long for a line stands in a file of its own, as it was.
#[test]
fn pictures_and_long_texts_are_whole() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let long = "é".repeat(300_000);
    let picture = base64_of(&(0..200_000_u32).flat_map(u32::to_le_bytes).collect::<Vec<u8>>());
    let line = serde_json::json!({"type": "message", "id": "a1", "parentId": null,
        "timestamp": "2026-03-01T08:00:00.000Z", "message": {"role": "user", "content": [
            {"type": "text", "text": long},
            {"type": "image", "data": picture, "mimeType": "image/png"}]}});
    let header = fs::read_to_string(fixture("pi-everything.jsonl")).expect("the fixture");
    let header = header.lines().next().expect("a header").to_owned();
    let file = folder.path().join("long.jsonl");
    fs::write(&file, format!("{header}\n{line}\n")).expect("a file");
    check(&file);
    let store = store(&folder.path().join("data"));
    let done = import(request(&file), &store).expect("an import");
    let blobs = store.folder(&done.session).join("blobs");
    assert_eq!(fs::read_dir(blobs).expect("a folder").count(), 2);
    assert!(fs::metadata(store.log_path(&done.session)).expect("a log").len() < 2_000);
}

fn base64_of(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}

#[test]
fn a_long_history_is_imported_piece_by_piece() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let file = folder.path().join("history.jsonl");
    let mut bytes = Vec::new();
    synth::write(synth::Request { messages: 20_000, seed: 5 }, &mut bytes).expect("a history");
    fs::write(&file, &bytes).expect("a file");
    let disk = Arc::new(Counting::default());
    let store = Store::open(folder.path().join("data"), Arc::clone(&disk) as _).expect("a store");
    let done = import(request(&file), &store).expect("an import");
    assert_eq!(done.messages, open(&file).1.len() as u64);
    let log = fs::metadata(store.log_path(&done.session)).expect("a log").len();
    let (largest, written, syncs) = disk.counts();
    assert!(log > 10 << 20, "{log} bytes are worth counting");
    assert!(written >= log, "all of it went through the disk");
    // What waits is never more than what is gathered and the line behind it.
    assert!(largest <= (256 + 1024) << 10, "{largest} bytes at once");
    assert!(syncs <= 8, "{syncs} syncs: they come at the end");
}

/// Wherever the disk stops taking anything, there is no session or a whole one.
#[test]
fn a_crash_at_any_call_leaves_no_half_session() {
    let file = fixture("pi-everything.jsonl");
    let rows = open(&file).1.len();
    let mut whole = 0;
    for calls in 0.. {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let disk = Arc::new(Failing::after(calls));
        let outcome = Store::open(folder.path().to_owned(), Arc::clone(&disk) as _)
            .map_err(|error| error.to_string())
            .and_then(|store| import(request(&file), &store));
        let after = store(folder.path());
        let ids = after.ids();
        for id in &ids {
            assert_eq!(messages(&after, id).1.len(), rows, "after {calls} calls");
        }
        assert!(ids.len() <= 1 && (outcome.is_err() || ids.len() == 1), "after {calls} calls");
        whole += usize::from(!ids.is_empty());
        // Whatever is left does not stand in the way of the next one.
        import(request(&file), &after).expect("an import");
        if !disk.has_failed() {
            assert!(calls >= 8 && outcome.is_ok(), "{calls} calls");
            break;
        }
    }
    assert!(whole >= 1);
}

#[test]
fn what_a_crash_left_is_swept_an_hour_later() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = store(folder.path());
    let meta = serde_json::json!({"title": "half"});
    let now_ms = |later: i64| {
        let since = std::time::UNIX_EPOCH.elapsed().expect("after 1970");
        i64::try_from(since.as_millis()).expect("before the end") + later
    };
    let sessions = folder.path().join("sessions");
    let left = sessions.join(".new-0123456789abcdef");
    fs::create_dir(&left).expect("a folder");
    fs::write(left.join("log.jsonl"), "half").expect("a file");
    let at_work = store.begin_whole(&meta, now_ms(0)).expect("another");
    drop(store.begin_whole(&meta, now_ms(0)).expect("one"));
    assert!(left.exists(), "it may be at work");
    drop(store.begin_whole(&meta, now_ms(2 * 3_600_000)).expect("one"));
    assert!(!left.exists(), "nobody is at work there");
    let id = SessionId::new("whole").expect("a name");
    at_work.finish(&id).expect("one that is at work stays");
    assert_eq!(store.ids(), std::slice::from_ref(&id));
    let error = store.begin_whole(&meta, 0).expect("one").finish(&id).expect_err("it is there");
    assert_eq!(error.kind(), std::io::ErrorKind::AlreadyExists);
    assert_eq!(fs::read_dir(&sessions).expect("a folder").count(), 1);
}

#[test]
fn what_is_cancelled_leaves_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = store(&folder.path().join("data"));
    let file = folder.path().join("history.jsonl");
    let mut bytes = Vec::new();
    synth::write(synth::Request { messages: 2_000, seed: 5 }, &mut bytes).expect("a history");
    fs::write(&file, &bytes).expect("a file");
    let (sender, cancelled) = std::sync::mpsc::sync_channel::<()>(0);
    let cancelled = parking_lot::Mutex::new(cancelled);
    // Once the sender is gone nobody is waited for.
    let waker = Arc::new(move || _ = cancelled.lock().recv());
    let handle = import::start(request(&file), store, waker).expect("a thread");
    handle.cancel();
    drop(sender);
    let error = handle.wait().expect_err("it was cancelled");
    assert!(error.to_string().contains("cancelled"), "{error}");
    let left = fs::read_dir(folder.path().join("data/sessions")).expect("a folder");
    assert_eq!(left.count(), 0);
}
