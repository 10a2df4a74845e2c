//! From bytes to blocks: what replies cost before anything is laid out.
//!
//! `cargo bench --bench stream`. The cost of an append must not know how long the reply
//! already is.

#![expect(clippy::print_stdout, reason = "a bench prints its table")]

#[path = "measure/mod.rs"]
pub(crate) mod measure;

use letterpress::{
    app::synth,
    markdown::{Options, Stream},
    model::stream::StreamEvent,
    perf::{Samples, millis},
    wire::{BodyEnd, Head, Reply, ReplySource, demo},
};

use measure::{Extent, Row, Table, runs, timed};

fn main() {
    println!("{}", table(Extent::of_args()));
}

pub(crate) fn table(extent: Extent) -> Table {
    let mut rows = Vec::new();
    for (name, recording) in
        [("anthropic", demo::ANSWER), ("chat completions", demo::LONG), ("ollama", demo::SHORT)]
    {
        rows.push(wire(name, recording, extent));
    }
    for length in extent.pick([2_000, 64_000, 1_000_000].as_slice(), &[2_000, 64_000]) {
        rows.push(append(*length, extent));
    }
    rows.push(whole(extent));
    Table { title: "stream: recorded replies to events, appends to blocks", rows }
}

/// A recorded reply, in pieces as a socket gives them.
fn wire(name: &str, recording: demo::Recording, extent: Extent) -> Row {
    let read = || {
        let source = ReplySource { wire: recording.wire, host: "localhost".into(), seed: 1 };
        let mut reply = Reply::new(&source, Head::read(200, |_| None, 0));
        let mut events: Vec<StreamEvent> = Vec::new();
        recording.body.chunks(1024).for_each(|chunk| reply.feed(chunk, &mut events));
        reply.finish(BodyEnd::Eof, &mut events);
        events
    };
    let events = read().len() as u64;
    let counts = [("bytes", recording.body.len() as u64), ("events", events)];
    Row::new(format!("a reply over {name}"), runs(extent.pick(200, 3), read), counts)
}

/// Characters that arrive at a time.
const DELTA: usize = 96;

/// One append and the blocks after it, behind so much text.
fn append(length: usize, extent: Extent) -> Row {
    let appends = extent.pick(200, 5);
    let text = synth::reply(length + appends * DELTA * 4);
    let (before, rest) = text.split_at(text.floor_char_boundary(length));
    let mut stream = Stream::new(Options::default());
    stream.push(before);
    drop(stream.snapshot());
    let parsed_before = stream.parsed_bytes();
    let mut rest = rest.chars();
    let mut samples = Samples::new(appends);
    for _ in 0..appends {
        let delta: String = rest.by_ref().take(DELTA).collect();
        let (took, blocks) = timed(|| {
            stream.push(&delta);
            stream.snapshot()
        });
        drop(blocks);
        samples.push(millis(took));
    }
    let parsed = stream.parsed_bytes() - parsed_before;
    Row::new(format!("an append behind {length} bytes"), samples, [("parsed bytes", parsed)])
}

/// A whole message at once, as files are read.
fn whole(extent: Extent) -> Row {
    let text = synth::reply(256 * 1024);
    let parse = || letterpress::markdown::parse(&text, Options::default());
    let counts = [("bytes", text.len() as u64), ("blocks", parse().len() as u64)];
    Row::new("256 KiB at once", runs(extent.pick(20, 2), parse), counts)
}
