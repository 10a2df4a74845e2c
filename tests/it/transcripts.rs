//! Other applications' files: fixtures and their rows as text, properties, real files.

use std::{
    collections::HashSet,
    fmt::Write as _,
    io::Write as _,
    path::{Path, PathBuf},
};

use letterpress::{
    model::{
        GroupPlace, ImageData, Message, Part, Progress, RowInfo, RowKind, SourceLine, ToolCall,
    },
    transcript::{self, Format, Index, OpenError, Transcript},
};
use proptest::prelude::*;
use serde_json::Value;

fn corpora() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpora/transcripts")
}

fn fixture(name: &str) -> Transcript {
    transcript::open(&corpora().join(format!("{name}.jsonl"))).unwrap()
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
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    let transcript = transcript::open(file.path()).unwrap();
    (file, transcript)
}

// ---- rows as text ------------------------------------------------------------------

fn short(text: &str) -> String {
    let flat: String = text.chars().take(120).collect();
    let dots = if text.chars().count() > 120 { "…" } else { "" };
    format!("{:?}{dots}", flat)
}

fn dump(transcript: &Transcript) -> String {
    let index = whole(transcript);
    let mut out = String::new();
    writeln!(out, "format: {}", transcript.format().name()).unwrap();
    if let Some(title) = index.title() {
        writeln!(out, "title: {title}").unwrap();
    }
    for warning in index.warnings() {
        writeln!(out, "warning: line {}: {}", warning.line.0, warning.message).unwrap();
    }
    dump_rows(transcript, &index, &mut out);
    for branch in index.branches() {
        writeln!(out, "\nbranch {}: {} more rows", branch.id, branch.rows).unwrap();
        let other = index.on_branch(&branch.id).unwrap();
        for row in 0..other.len() {
            let (message, _) = transcript.message(&other, row);
            writeln!(out, "  {} {}", message.role.name(), message.key).unwrap();
        }
        let leaves: Vec<_> = other.branches().iter().map(|b| b.id.to_string()).collect();
        writeln!(out, "  others: {}", leaves.join(" ")).unwrap();
    }
    out
}

fn dump_rows(transcript: &Transcript, index: &Index, out: &mut String) {
    for row in 0..index.len() {
        let info = index.row(row);
        let (message, warnings) = transcript.message(index, row);
        agree(&info, &message);
        let group = match info.group {
            GroupPlace::Alone => String::new(),
            GroupPlace::Leads => " leads".to_owned(),
            GroupPlace::Follows { back } => format!(" follows {back}"),
        };
        let failed = if info.failed { " failed" } else { "" };
        let (line, role) = (message.line.0, message.role.name());
        writeln!(
            out,
            "\n{:?} {role} line {line} key {:?}{group}{failed}",
            info.kind, &*message.key
        )
        .unwrap();
        for part in &message.parts {
            dump_part(part, out);
        }
        if let Some(stop) = &message.stop {
            writeln!(out, "  stop {}", stop.name()).unwrap();
        }
        if let Some(error) = &message.error {
            writeln!(out, "  error {error}").unwrap();
        }
        if let Some(usage) = &message.usage {
            let cost = usage.cost.map_or(String::new(), |cost| format!(" ${cost}"));
            let (cr, cw) = (usage.cache_read, usage.cache_write);
            writeln!(out, "  usage {} {} {cr} {cw}{cost}", usage.input, usage.output).unwrap();
        }
        for warning in warnings {
            writeln!(out, "  warning: line {}: {}", warning.line.0, warning.message).unwrap();
        }
    }
}

fn dump_part(part: &Part, out: &mut String) {
    match part {
        Part::Text(text) => writeln!(out, "  text {}", short(&text.source)),
        Part::Thinking(thinking) => {
            let redacted = if thinking.redacted { " redacted" } else { "" };
            writeln!(out, "  thinking{redacted} {}", short(&thinking.text.source))
        }
        Part::Image(image) => writeln!(out, "  image {} {}", image.media_type, pixels(&image.data)),
        Part::ToolCall(call) => {
            dump_call(call, out);
            Ok(())
        }
        Part::ToolResult(result) => {
            writeln!(out, "  result of {:?} {}", &*result.call_id, short(&result.output.source))
        }
        Part::Notice(notice) => {
            writeln!(out, "  {} {}", notice.kind.name(), short(&notice.text.source))
        }
        Part::Raw(raw) => {
            writeln!(out, "  raw line {} [{}] {}", raw.line.0, raw.label, short(&raw.text))
        }
    }
    .unwrap();
}

fn pixels(data: &ImageData) -> String {
    match data {
        ImageData::Bytes(bytes) => format!("{} bytes", bytes.len()),
        ImageData::Address(address) => format!("at {address}"),
        ImageData::Unusable(reason) => format!("unusable: {reason}"),
    }
}

fn dump_call(call: &ToolCall, out: &mut String) {
    let ms = call.duration_ms.map_or(String::new(), |ms| format!(" {ms} ms"));
    let again = if call.superseded > 0 {
        format!(" superseded {}", call.superseded)
    } else {
        String::new()
    };
    writeln!(
        out,
        "  call {:?} {} {} {}{ms}{again}",
        &*call.id,
        call.name,
        call.arguments,
        call.state.name()
    )
    .unwrap();
    let Some(result) = &call.result else { return };
    let error = if result.is_error { " error" } else { "" };
    writeln!(out, "    ->{error} {}", short(&result.output.source)).unwrap();
    for image in &result.images {
        writeln!(out, "    -> image {} {}", image.media_type, pixels(&image.data)).unwrap();
    }
    if !result.details.is_null() {
        writeln!(out, "    details {}", result.details).unwrap();
    }
}

/// What the index says of a row before it is read is what the message says afterwards.
fn agree(info: &RowInfo, message: &Message) {
    let read = RowInfo::of(message);
    let facts = |row: &RowInfo| (row.id, row.kind, row.tally, row.failed, row.time_secs);
    assert_eq!(facts(info), facts(&read), "{message:?}");
    if info.kind != RowKind::Notice {
        assert!(info.lines.abs_diff(read.lines) <= 1 + read.lines / 8, "{info:?} {read:?}");
    }
}

// ---- fixtures ----------------------------------------------------------------------

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
fn a_row_that_is_not_there_is_an_empty_message() {
    let transcript = fixture("pi-groups");
    let (message, warnings) = transcript.message(&whole(&transcript), 9999);
    assert!(message.parts.is_empty() && warnings.is_empty());
}

// ---- opening -----------------------------------------------------------------------

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
        (b"{\"uuid\":\"a\",\"sessionId\":\"s\",\"type\":\"user\",\"message\":{\"parts\":[]}}\n", None),
        (b"[{\"type\":\"session\",\"id\":\"x\"}]", None),
        (b"", None),
    ];
    for (head, format) in cases {
        assert_eq!(transcript::sniff(head), *format, "{}", String::from_utf8_lossy(head));
    }
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

// ---- size and damage ---------------------------------------------------------------

const HEADER: &str =
    "{\"type\":\"session\",\"version\":3,\"id\":\"s\",\"timestamp\":\"2026-05-01T10:00:00Z\"}\n";

fn entry(id: &str, parent: &str, message: &str) -> String {
    let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
    format!(
        "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":{parent},\"message\":{message}}}\n"
    )
}

#[test]
fn a_line_too_long_to_hold_is_cut_in_the_middle() {
    let call = "{\"role\":\"assistant\",\"content\":[{\"type\":\"toolCall\",\"id\":\"c\",\"name\":\"bash\",\"arguments\":{}}]}";
    let filler = "0123456789 \\n\\\"quoted\\\" \\u00e9 \\ud83d\\ude00 é😀 ".repeat(400_000);
    let result = format!(
        "{{\"role\":\"toolResult\",\"toolCallId\":\"c\",\"content\":[{{\"type\":\"text\",\"text\":\"START{filler}END\"}}],\"isError\":false}}"
    );
    assert!(result.len() > 17 << 20);
    let text = HEADER.to_owned()
        + &entry("a", "", call)
        + &entry("b", "a", &result)
        + &entry("c", "b", "{\"role\":\"user\",\"content\":\"next\"}");
    let (_file, transcript) = written(text.as_bytes());
    let index = stepped(&transcript, 100_000);
    assert_eq!((index.len(), index.warnings().len()), (2, 0));
    let (message, warnings) = transcript.message(&index, 0);
    assert!(warnings.is_empty());
    let Part::ToolCall(call) = &message.parts[0] else { panic!("{message:?}") };
    let output = &call.result.as_ref().unwrap().output;
    assert!(output.source.starts_with("START") && output.source.ends_with("END"));
    assert!(output.omitted > 16 << 20 && output.source.len() < 300_000);
    assert!(output.source.contains(&format!("… {} bytes not shown …", output.omitted)));
    let around: Vec<_> = output.source.split("bytes not shown").collect();
    assert!(around.iter().all(|part| !part.contains('\u{fffd}') && !part.contains('\\')));
    assert_eq!(transcript.message(&index, 1).0.parts.len(), 1);
    // The newest window is shorter than its last line.
    let tail = transcript.tail(4096);
    assert_eq!(tail.row(tail.len() - 1).id, index.row(1).id);
}

#[test]
fn long_texts_are_cut_and_say_so() {
    let long = "word and ".repeat(1_000_000);
    let text = HEADER.to_owned()
        + &entry("a", "", &format!("{{\"role\":\"user\",\"content\":\"{long}\"}}"));
    let (_file, transcript) = written(text.as_bytes());
    let (message, _) = transcript.message(&whole(&transcript), 0);
    let Part::Text(text) = &message.parts[0] else { panic!() };
    assert!(text.source.len() < 300_000 && text.source.contains("bytes not shown"));
}

#[test]
fn long_lines_that_cannot_be_squeezed_are_raw_rows() {
    let many: String = "\"0123456789abcdef\",".repeat(2_000_000);
    let deep = "[".repeat(20 << 20);
    for bad in [format!("{{\"type\":\"custom\",\"data\":[{many}1]}}"), deep, "x".repeat(17 << 20)] {
        let text = HEADER.to_owned()
            + &bad
            + "\n"
            + &entry("a", "", "{\"role\":\"user\",\"content\":\"after\"}");
        let (_file, transcript) = written(text.as_bytes());
        let index = whole(&transcript);
        let kinds: Vec<_> = (0..index.len()).map(|row| index.row(row).kind).collect();
        assert_eq!(kinds, [RowKind::Raw, RowKind::User]);
        assert_eq!(index.warnings()[0].line, SourceLine(2));
        let (message, _) = transcript.message(&index, 0);
        let Part::Raw(raw) = &message.parts[0] else { panic!() };
        assert!(raw.text.len() < 100_000 && bad.starts_with(raw.text.get(..100).unwrap()));
    }
}

#[test]
fn pictures_in_long_lines_survive() {
    let picture = "QUJD".repeat(4_400_000);
    let content =
        format!("[{{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"{picture}\"}}]");
    let text = HEADER.to_owned()
        + &entry("a", "", &format!("{{\"role\":\"user\",\"content\":{content}}}"));
    let (_file, transcript) = written(text.as_bytes());
    let (message, _) = transcript.message(&whole(&transcript), 0);
    let Part::Image(image) = &message.parts[0] else { panic!() };
    assert!(matches!(&image.data, ImageData::Bytes(bytes) if bytes.len() == 13_200_000));
}

#[test]
fn a_file_that_changes_while_it_is_open_gives_raw_rows() {
    let bytes = std::fs::read(corpora().join("pi-groups.jsonl")).unwrap();
    for keep in [0, 1, bytes.len() / 3, bytes.len() - 1] {
        let (file, transcript) = written(&bytes);
        let index = whole(&transcript);
        file.as_file().set_len(keep as u64).unwrap();
        for row in 0..index.len() {
            assert!(!transcript.message(&index, row).0.parts.is_empty());
        }
        let (message, warnings) = transcript.message(&index, index.len() - 1);
        assert!(matches!(&message.parts[0], Part::Raw(_)), "{message:?}");
        assert_eq!(warnings.len(), 1);
        let shorter = whole(&transcript);
        assert!(!shorter.warnings().is_empty() && !shorter.is_complete());
        std::fs::write(file.path(), vec![b'{'; bytes.len()]).unwrap();
        assert!(matches!(&transcript.message(&index, 0).0.parts[0], Part::Raw(_)));
    }
}

#[test]
fn many_equal_ids_take_no_longer() {
    let mut text = HEADER.to_owned();
    let call = "{\"role\":\"assistant\",\"content\":[{\"type\":\"toolCall\",\"id\":\"\",\"name\":\"read\"}]}";
    let result = "{\"role\":\"toolResult\",\"content\":\"x\"}";
    for message in [call, result, result] {
        for _ in 0..20_000 {
            text.push_str(&entry("same", "same", message));
        }
    }
    let (_file, transcript) = written(text.as_bytes());
    let index = whole(&transcript);
    let (_, warnings) = transcript.message(&index, 0);
    assert!(warnings.len() <= 1);
    assert!(index.warnings().len() <= 1001);
}

#[test]
fn the_index_stays_in_its_budget() {
    let mut text = HEADER.to_owned();
    let mut parent = String::new();
    for number in 0..20_000 {
        let id = format!("{number:08x}");
        text.push_str(&entry(&id, &parent, "{\"role\":\"user\",\"content\":\"x\"}"));
        parent = id;
    }
    let (_file, transcript) = written(text.as_bytes());
    let index = whole(&transcript);
    assert_eq!(index.len(), 20_000);
    assert!(index.heap_bytes() <= 20_001 * 36 + 1024, "{}", index.heap_bytes());
    assert_eq!(transcript.message(&index, 19_999).0.line, SourceLine(20_001));
    assert_eq!(index.prompt_before(12_345), Some(12_345));
}

// ---- properties --------------------------------------------------------------------

/// Lines to make soup of: those of all fixtures and some that are nothing.
fn ingredients() -> Vec<Vec<u8>> {
    let mut lines: Vec<Vec<u8>> = Vec::new();
    let mut paths: Vec<_> =
        std::fs::read_dir(corpora()).unwrap().map(|e| e.unwrap().path()).collect();
    paths.sort();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|ext| ext == "jsonl")) {
        let bytes = std::fs::read(path).unwrap();
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
fn exhaust(transcript: &Transcript, index: &Index) {
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

fn ids(index: &Index, kinds: impl Fn(RowKind) -> bool) -> Vec<u64> {
    let rows = (0..index.len()).map(|row| index.row(row));
    rows.filter(|row| kinds(row.kind)).map(|row| row.id.0).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

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
        let mut paths: Vec<_> = std::fs::read_dir(corpora()).unwrap().map(|e| e.unwrap().path()).filter(|p| p.extension().is_some_and(|e| e == "jsonl")).collect();
        paths.sort();
        let mut bytes = std::fs::read(pick.get(&paths)).unwrap();
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
        writeln!(text, "{{\"parentUuid\":{parent},\"isSidechain\":false,\"type\":\"{kind}\",\"uuid\":\"u{number}\",\"sessionId\":\"s\",\"message\":{message}}}").unwrap();
        parent = format!("\"u{number}\"");
    }
    written(text.as_bytes())
}

// ---- real files --------------------------------------------------------------------

/// What a file holds, counted without regard to how it is read.
#[derive(Debug, Default, PartialEq, Eq)]
struct Counts {
    users: usize,
    assistants: usize,
    calls: usize,
    results: usize,
}

/// Counts over plain JSON. Lines are split where one value ends and another begins.
fn counted(bytes: &[u8], format: Format) -> Counts {
    let mut counts = Counts::default();
    let mut seen = HashSet::new();
    let mut messages = HashSet::new();
    let mut values: Vec<Value> = Vec::new();
    for line in bytes.split(|byte| *byte == b'\n') {
        values.extend(serde_json::Deserializer::from_slice(line).into_iter().map_while(Result::ok));
    }
    // Of records with one id the last counts.
    values.reverse();
    for value in &values {
        let id = value.get("uuid").or(value.get("id")).and_then(Value::as_str);
        let is_repeated = id.is_some_and(|id| !seen.insert(id.to_owned()));
        let Some(message) = value.get("message").filter(|_| !is_repeated) else { continue };
        let blocks = message["content"].as_array().cloned().unwrap_or_default();
        let count = |kind: &str| blocks.iter().filter(|block| block["type"] == kind).count();
        match format {
            Format::Pi if value["type"] == "message" => {
                counts.users += usize::from(message["role"] == "user");
                counts.assistants += usize::from(message["role"] == "assistant");
                counts.results += usize::from(message["role"] == "toolResult");
                counts.calls += count("toolCall");
            }
            Format::ClaudeCode if value["type"] == "assistant" => {
                counts.calls += count("tool_use");
                let id = message["id"].as_str().map(str::to_owned);
                counts.assistants += usize::from(id.is_none_or(|id| messages.insert(id)));
            }
            Format::ClaudeCode if value["type"] == "user" => {
                counts.results += count("tool_result");
                let has_words =
                    message["content"].is_string() || blocks.len() > count("tool_result");
                let is_hidden = value["isMeta"] == true || value["isCompactSummary"] == true;
                counts.users += usize::from(has_words && !is_hidden);
            }
            _ => {}
        }
    }
    counts
}

/// The same of the rows.
fn shown(transcript: &Transcript, index: &Index) -> Counts {
    let mut counts = Counts::default();
    for row in 0..index.len() {
        let info = index.row(row);
        let (message, _) = transcript.message(index, row);
        agree(&info, &message);
        counts.users += usize::from(info.kind == RowKind::User);
        counts.assistants += usize::from(info.kind == RowKind::Assistant);
        for part in &message.parts {
            match part {
                Part::ToolCall(call) if info.kind == RowKind::Assistant => {
                    counts.calls += 1;
                    counts.results += usize::from(call.result.is_some()) + call.superseded as usize;
                }
                Part::ToolResult(_) => counts.results += 1,
                _ => {}
            }
        }
    }
    counts
}

#[test]
fn real_files_keep_every_message() {
    let Some(root) = std::env::var_os("LETTERPRESS_CORPUS") else {
        println!("skipped: LETTERPRESS_CORPUS names no folder");
        return;
    };
    let mut files = 0;
    for (folder, format) in [("pi", Format::Pi), ("claude-code", Format::ClaudeCode)] {
        for entry in std::fs::read_dir(Path::new(&root).join(folder)).unwrap() {
            let path = entry.unwrap().path();
            let transcript = transcript::open(&path).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(transcript.format(), format, "{}", path.display());
            let index = whole(&transcript);
            let mut counts = shown(&transcript, &index);
            // Messages of other branches are on those branches, and only there.
            let on_path: HashSet<_> = ids(&index, |_| true).into_iter().collect();
            let mut met = on_path.clone();
            for branch in index.branches() {
                let other = index.on_branch(&branch.id).unwrap();
                for row in 0..other.len() {
                    let info = other.row(row);
                    if met.insert(info.id.0) {
                        counts.users += usize::from(info.kind == RowKind::User);
                        counts.assistants += usize::from(info.kind == RowKind::Assistant);
                    }
                }
            }
            let bytes = std::fs::read(&path).unwrap();
            assert_eq!(counts, counted(&bytes, format), "{}", path.display());
            exhaust(&transcript, &transcript.tail(64 * 1024));
            files += 1;
        }
    }
    assert!(files >= 20, "{files} files");
}

#[test]
fn files_of_other_programs_are_not_taken() {
    let Some(root) = std::env::var_os("LETTERPRESS_CORPUS") else {
        println!("skipped: LETTERPRESS_CORPUS names no folder");
        return;
    };
    for folder in ["codex", "cline", "chats", "markdown", "sse"] {
        for entry in std::fs::read_dir(Path::new(&root).join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                let opened = transcript::open(&path).map(|transcript| transcript.format());
                assert!(matches!(opened, Err(OpenError::NotTranscript(_))), "{}", path.display());
            }
        }
    }
}
