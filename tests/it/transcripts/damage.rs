//! Size and damage: bad input costs itself and constant memory.

use letterpress::model::{ImageData, Part, RowKind, SourceLine};

use super::{HEADER, corpora, entry, stepped, whole, written};

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
    for keep in [0, 1, bytes.len() / 3, bytes.len() - 2] {
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
    assert!(index.heap_bytes() <= 20_001 * 38 + 1024, "{}", index.heap_bytes());
    assert_eq!(transcript.message(&index, 19_999).0.line, SourceLine(20_001));
    assert_eq!(index.prompt_before(12_345), Some(12_345));
}
