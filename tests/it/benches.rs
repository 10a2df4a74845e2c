//! The benches, quickly: that they run, and that their counts say what they should.

#![expect(dead_code, clippy::duplicate_mod, reason = "each bench is a program of its own")]

#[path = "../../benches/frame.rs"]
mod frame;
#[path = "../../benches/gpu.rs"]
mod gpu;
#[path = "../../benches/layout.rs"]
mod layout;
#[path = "../../benches/open.rs"]
mod open;
#[path = "../../benches/sessions.rs"]
mod sessions;
#[path = "../../benches/stream.rs"]
mod stream;

/// Names and counts of a table's rows.
macro_rules! rows {
    ($table:expr) => {
        $table
            .rows
            .into_iter()
            .map(|row| (row.name, row.runs.len(), row.counts))
            .collect::<Vec<_>>()
    };
}

type Rows = Vec<(String, usize, Vec<(&'static str, u64)>)>;

fn count(rows: &Rows, name: &str, what: &str) -> u64 {
    let row = rows.iter().find(|row| row.0 == name).unwrap_or_else(|| panic!("{name}: {rows:?}"));
    assert!(row.1 > 0, "{name} was never run");
    let count = row.2.iter().find(|count| count.0 == what);
    count.unwrap_or_else(|| panic!("{what}: {row:?}")).1
}

#[test]
fn an_append_parses_no_more_behind_a_longer_reply() {
    let rows = rows!(stream::table(stream::measure::Extent::Quick));
    let parsed = |length| count(&rows, &format!("an append behind {length} bytes"), "parsed bytes");
    // Each append parses its open block again, whatever stands before it.
    assert!(parsed(64_000) < 8 * 4096 && parsed(2_000) < 8 * 4096, "{rows:?}");
    assert!(count(&rows, "a reply over anthropic", "events") > 10);
    assert!(count(&rows, "256 KiB at once", "blocks") > 100);
}

#[test]
fn what_is_laid_out_is_not_laid_out_again() {
    let rows = rows!(layout::table(layout::measure::Extent::Quick));
    let laid_out = |name: &str| count(&rows, name, "slugs laid out a run");
    assert_eq!(laid_out("16 KiB, everything laid out"), 0);
    assert!(laid_out("16 KiB, nothing laid out") > 3);
    assert!(laid_out("16 KiB, another width") > 3);
}

#[test]
fn frames_cost_the_same_in_a_longer_conversation() {
    let rows = rows!(frame::table(frame::measure::Extent::Quick));
    let slugs = |name: &str| count(&rows, name, "slugs");
    assert_eq!(slugs("10 messages, top"), slugs("100 messages, top"));
    assert_eq!(count(&rows, "100 messages, 2 frames of scrolling", "slugs laid out"), 0);
}

#[test]
fn a_retained_frame_uploads_less_than_a_replayed_one() {
    let rows = rows!(gpu::table(gpu::measure::Extent::Quick).expect("there is a driver"));
    let bytes = |name: &str| count(&rows, name, "bytes a frame");
    assert!(bytes("retained, still") * 4 < bytes("replay, still"), "{rows:?}");
    assert_eq!(count(&rows, "retained, still", "slugs laid out"), 0);
    assert_eq!(count(&rows, "replay, still", "draws"), 0);
    assert!(count(&rows, "retained, still", "draws") > 0);
}

#[test]
fn an_index_takes_few_bytes_a_message() {
    let rows = rows!(open::table(open::measure::Extent::Quick));
    let of = |what| count(&rows, "1000 messages, all indexed", what);
    assert!(of("rows") > 400 && of("index bytes") < 100 * 1000, "{rows:?}");
    assert!(count(&rows, "1000 messages, newest", "bytes") > 500_000);
}

#[test]
fn sessions_are_listed_read_and_searched() {
    let rows = rows!(sessions::table(sessions::measure::Extent::Quick));
    assert_eq!(count(&rows, "50 sessions, first list", "messages"), 200);
    assert!(count(&rows, "20 sessions, index built", "messages") > 200);
    assert_eq!(count(&rows, "find a common word", "hits"), 50);
    assert_eq!(count(&rows, "find what is nowhere", "hits"), 0);
    assert!(count(&rows, "find two characters", "hits") > 10);
}
