//! `corpora/wire/WIRE-WHAT.EXT` holds a body, and `….expect` its events, one a line.
//! `UPDATE_EXPECT=1` writes the latter anew.

use std::{fs, path::PathBuf};

use letterpress::{
    model::stream::{Close, StreamEvent, Wire},
    wire::{BodyEnd, Head, ReplySource},
};

use super::told::{Chance, Told, read};

#[test]
fn bodies_become_the_events_beside_them() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/corpora/wire");
    let update = std::env::var_os("UPDATE_EXPECT").is_some();
    let mut files: Vec<_> =
        fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ext| ext != "expect"));
    files.sort();
    assert!(files.len() >= 12, "the corpus is there");
    for path in files {
        let body = fs::read(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let (source, head) = origin(&name);
        let whole = read(&source, &head, &[&body], BodyEnd::Eof);
        Told::of(&whole);
        for cut in cuts(&body) {
            assert_eq!(read(&source, &head, &cut, BodyEnd::Eof), whole, "{name} cut as {cut:?}");
        }
        let dump: String = whole.iter().map(|event| line(event) + "\n").collect();
        let expected = PathBuf::from(format!("{}.expect", path.display()));
        if update {
            fs::write(&expected, &dump).unwrap();
        }
        assert_eq!(dump, fs::read_to_string(&expected).unwrap_or_default(), "{name}");
    }
}

fn origin(name: &str) -> (ReplySource, Head) {
    let wire = match name.split('-').next() {
        Some("chat") => Wire::Chat,
        Some("responses") => Wire::Responses,
        Some("anthropic") => Wire::Anthropic,
        Some("ollama") => Wire::Ollama,
        Some("gemini") => Wire::Gemini,
        other => panic!("{name} begins with {other:?}, which is no wire"),
    };
    let content_type = match name.rsplit('.').next() {
        Some("sse") => "text/event-stream; charset=utf-8",
        Some("ndjson") => "application/x-ndjson",
        Some("json") => "application/json",
        other => panic!("{name} ends with {other:?}, which is no body"),
    };
    let header = |header: &str| (header == "content-type").then_some(content_type);
    let source = ReplySource { wire, host: "host".into(), seed: 0 };
    (source, Head::read(200, header, 0))
}

/// Byte by byte, at every single place, and by chance.
fn cuts(body: &[u8]) -> Vec<Vec<&[u8]>> {
    let mut cuts: Vec<Vec<&[u8]>> = vec![body.chunks(1).collect()];
    cuts.extend((1..body.len()).map(|at| vec![&body[..at], &body[at..]]));
    let mut chance = Chance(3);
    cuts.extend((0..20).map(|_| chance.cut(body)));
    cuts
}

/// One event on one line.
fn line(event: &StreamEvent) -> String {
    match event {
        StreamEvent::Started { id, model } => format!("started {id:?} {model:?}"),
        StreamEvent::BlockOpen { block, kind } => format!("{} open {kind:?}", block.0),
        StreamEvent::Text { block, delta } => format!("{} text {delta:?}", block.0),
        StreamEvent::Reasoning { block, delta } => format!("{} reasoning {delta:?}", block.0),
        StreamEvent::Opaque { block, echo } => format!("{} echo {}", block.0, echo.json),
        StreamEvent::ToolOpen { block, id, name } => format!("{} call {name} {id}", block.0),
        StreamEvent::ToolArgs { block, delta } => format!("{} args {delta:?}", block.0),
        StreamEvent::BlockClose { block, close } => match close {
            Close::AsStreamed => format!("{} close", block.0),
            Close::Replaced(text) => format!("{} close as {text:?}", block.0),
            Close::Arguments(Ok(value)) => format!("{} close with {value}", block.0),
            Close::Arguments(Err(error)) => format!("{} close: {error}", block.0),
            Close::Image(image) => format!("{} close with {}", block.0, image.media_type),
        },
        StreamEvent::Usage(u) => {
            let cache = (u.cache_read, u.cache_write);
            format!("usage {} in {} out {cache:?} cached, cost {:?}", u.input, u.output, u.cost)
        }
        StreamEvent::RateLimit(windows) => format!("rate limit {windows:?}"),
        StreamEvent::Warning(w) => format!("warning {} {:?}", w.code.name(), w.detail),
        StreamEvent::KeepAlive => "alive".to_owned(),
        StreamEvent::End(end) => format!("end {end:?}"),
    }
}
