//! Vectors N: from events to blocks.

use std::sync::Arc;

use letterpress::{
    model::{
        Image, ImageData, Usage,
        stream::{Close, Echo, EndState, ReplyBlock, ReplyKind, StreamEvent, Wire},
    },
    presenter::{Effect, RowKind, ToolMode},
};
use serde_json::json;

use super::sim::{approved, done, edit, native, tags};

#[test]
fn n01_n02_n03() {
    let mut sim = native(ToolMode::Parallel);
    sim.call(0, "a", "read_file", r#"{"pa"#);
    assert_eq!(sim.view(0), "read_file{}");
    sim.arguments(0, r#"th":"src/ma"#);
    assert_eq!(sim.view(0), r#"read_file{path: "src/ma"}"#);
    sim.arguments(0, r#"in.rs"}"#).wake().settle();
    assert_eq!(sim.view(0), r#"read_file{path: "src/main.rs"}"#);
    assert_eq!(sim.log.last().unwrap(), r#"show read_file{path: "src/main.rs"}"#);
    assert_eq!(sim.state(), "0,f,f,f", "still partial");
}

#[test]
fn n04() {
    let mut sim = native(ToolMode::Parallel);
    sim.call(0, "a", "t", r#"{"n":3,"s":"x"#);
    assert_eq!(sim.view(0), r#"t{s: "x"}"#);
    sim.arguments(0, r#""}"#);
    assert_eq!(sim.view(0), r#"t{n: "3", s: "x"}"#);
}

#[test]
fn n05() {
    let mut sim = native(ToolMode::Parallel);
    sim.call(0, "a", "t", r#"{"s":"a\nb\"c"#);
    assert_eq!(sim.view(0), r#"t{s: "a\nb\"c"}"#);
}

#[test]
fn n06() {
    let mut sim = native(ToolMode::Parallel);
    sim.call(0, "a", "t", r#"{"o":{"k":1}}"#);
    assert_eq!(sim.view(0), r#"t{o: "{\"k\":1}"}"#);
    sim.close(0, Close::Arguments(Ok(json!({"o": {"k": 1}, "s": "x"}))));
    assert_eq!(sim.view(0), r#"t{o: "{\"k\":1}", s: "x"}"#, "the last word counts");
}

#[test]
fn n07() {
    // Ids are the wire's to give; arguments of a call that was never opened go nowhere.
    let mut sim = native(ToolMode::Parallel);
    sim.arguments(4, "{}").close(5, Close::AsStreamed).wake();
    sim.text_of(0, "a").arguments(0, "{}");
    sim.end(done()).wake().settle();
    assert_eq!(sim.rows(), ["a"]);
    assert_eq!(sim.state(), "1,t,f,f");
}

#[test]
fn n08() {
    let mut sim = native(ToolMode::Parallel);
    sim.call(0, "a", "read_file", r#"{"path":""#).call(1, "b", "list_files", r#"{"path":""#);
    sim.arguments(0, "1").arguments(1, "2").arguments(0, "1");
    assert_eq!(sim.view(0), r#"read_file{path: "11"}"#);
    assert_eq!(sim.view(1), r#"list_files{path: "2"}"#);
}

#[test]
fn n08_all_calls_are_shown_from_their_first_delta() {
    let mut sim = native(ToolMode::Parallel);
    sim.call(0, "a", "read_file", "{").wake().log.clear();
    sim.call(1, "b", "list_files", "{").arguments(0, "\"");
    sim.expect(&["changed 1", "changed 1", "changed 0"], "0,f,t,f");
}

#[test]
fn n09() {
    // The wire opens a call when its name is known; until then there is no block.
    let mut sim = native(ToolMode::Parallel);
    sim.arguments(0, r#"{"path":"a"#).wake();
    assert_eq!((sim.view(0).as_str(), sim.state().as_str()), ("", "0,f,f,f"));
    sim.call(0, "a", "read_file", r#"{"path":"a"#);
    assert_eq!(sim.view(0), r#"read_file{path: "a"}"#);
}

#[test]
fn n10() {
    let mut sim = native(ToolMode::Parallel);
    sim.text_of(0, "visible").wake().settle();
    assert_eq!(sim.rows(), ["visible …"]);
    sim.log.clear();
    sim.call(1, "a", "read_file", "{").wake().settle();
    sim.expect(&["changed 1", "changed 1", "say ", "show read_file{}"], "1,f,f,f");
    assert_eq!((sim.rows(), sim.rows[&sim.id(0)].changes), (vec!["visible".to_owned()], 2));
}

#[test]
fn n11() {
    let mut sim = native(ToolMode::Parallel);
    sim.reasoning(0, "a").wake();
    assert_eq!(sim.rows(), ["a …"]);
    sim.text_of(1, "b").wake().settle();
    assert_eq!(sim.rows(), ["a", "b …"]);
    sim.reasoning(0, "c").end(done()).wake().settle();
    assert_eq!(sim.rows(), ["a", "b", "c"], "later reasoning has a row of its own");
    assert_eq!(sim.rows[&sim.id(0)].changes, 2, "final once");
    assert_eq!(sim.presenter.reasoning(), "ac");
}

#[test]
fn n12() {
    let mut sim = native(ToolMode::Parallel);
    sim.open(0, ReplyKind::Reasoning).reasoning(0, "a").close(0, Close::AsStreamed);
    sim.end(done()).wake();
    sim.expect(&["reasoning a…", "reasoning ", "over"], "1,t,f,f");
}

#[test]
fn n12_reasoning_that_was_kept_from_us() {
    let mut sim = native(ToolMode::Parallel);
    sim.open(0, ReplyKind::Reasoning).close(0, Close::AsStreamed);
    assert_eq!(sim.log, ["reasoning "]);
    let row = &sim.rows[&sim.id(0)];
    assert!(row.is_final && row.text.is_empty() && row.kind == RowKind::Reasoning);
}

#[test]
fn n13() {
    let mut sim = tags(ToolMode::Parallel);
    sim.text(&edit()).wake().log.clear();
    sim.feed(&StreamEvent::Usage(Usage { output: 9, ..Usage::default() }));
    sim.expect(&["usage 9"], "0,f,t,f");
}

#[test]
fn n14() {
    let mut sim = native(ToolMode::Parallel);
    sim.call(0, "a", "t", r#"{"a":"\u00e9"#);
    assert_eq!(sim.view(0), r#"t{a: "é"}"#);
}

#[test]
fn blocks_stand_in_order_of_arrival() {
    let mut sim = native(ToolMode::Parallel);
    sim.text_of(0, "one").reasoning(1, "two").text_of(2, "three").text_of(0, "four");
    sim.open(3, ReplyKind::Refusal).text_of(3, "five").end(done()).wake().settle();
    assert_eq!(sim.rows(), ["one", "two", "three", "four", "five"]);
    let kinds: Vec<_> = sim.rows.values().map(|row| row.kind).collect();
    use RowKind::{Reasoning, Refusal, Text};
    assert_eq!(kinds, [Text, Reasoning, Text, Text, Refusal]);
}

#[test]
fn the_providers_last_word_replaces_an_open_text() {
    let mut sim = native(ToolMode::Parallel);
    sim.text_of(0, "Hello wörld").wake().settle();
    sim.close(0, Close::Replaced("Hello wörms, all".to_owned())).wake().settle();
    assert_eq!(sim.rows(), ["Hello wörms, all"]);
    sim.text_of(1, "x").wake().settle().close(1, Close::Replaced(String::new())).wake().settle();
    assert_eq!(sim.rows(), ["Hello wörms, all"], "a row without text is none");
    sim.open(2, ReplyKind::Text).close(2, Close::Replaced("new".to_owned())).wake().settle();
    assert_eq!(sim.rows(), ["Hello wörms, all", "new"]);
}

#[test]
fn native_text_is_shown_as_it_is() {
    let mut sim = native(ToolMode::Parallel);
    let text = "<think>a</think>b <think> c\n```xml";
    sim.text_of(0, text).end(done()).wake().settle();
    assert_eq!(sim.rows(), ["a", "b <think> c\n```xml"]);
}

#[test]
fn the_last_word_on_text_with_reasoning_in_it() {
    let mut sim = native(ToolMode::Parallel);
    sim.text_of(0, "<think>a</think>b").wake().settle();
    sim.close(0, Close::Replaced("<think>a</think>bc".to_owned())).wake().settle();
    assert_eq!(sim.rows(), ["a", "bc"]);
}

#[test]
fn pictures_and_unknown_blocks_keep_their_places() {
    let mut sim = native(ToolMode::Parallel);
    let image =
        Image { media_type: "image/png".into(), data: ImageData::Bytes(Arc::new([1])), size: None };
    let json: Arc<str> = "{}".into();
    let echo = Echo { wire: Wire::Responses, host: "h".into(), json: Arc::clone(&json) };
    sim.text_of(0, "a").open(1, ReplyKind::Image).close(1, Close::Image(image));
    sim.open(2, ReplyKind::Other("search".into()));
    let effects = sim.presenter.feed(&StreamEvent::Opaque { block: ReplyBlock(2), echo });
    let block = sim.id(2);
    assert_eq!(effects, [Effect::Foreign { block, kind: "search".into(), json }]);
    sim.text_of(3, "b").end(done()).wake().settle();
    let expected = ["picture 1", "say a", "say b", "over"].map(str::to_owned);
    assert_eq!(sim.log, expected);
    assert_eq!(sim.rows.keys().map(|id| id.ordinal).collect::<Vec<_>>(), [0, 3]);
}

#[test]
fn tags_and_native_calls_in_one_reply() {
    let mut sim = tags(ToolMode::Parallel);
    sim.text_of(0, "<read_file><path>a").call(1, "n", "list_files", "{\"path\":\"b\"}");
    sim.close(1, Close::Arguments(Ok(json!({"path": "b"}))));
    sim.text_of(2, "</path></read_file>").end(done()).wake().settle();
    let calls: Vec<_> = sim.answers.iter().map(|answer| &*answer.call_id).collect();
    assert_eq!(calls, ["tag-7-0", "n"]);
}

#[test]
fn a_tag_may_begin_in_one_block_and_end_in_another() {
    let mut sim = tags(ToolMode::Parallel);
    sim.text_of(0, "a <read_").reasoning(1, "r").text_of(2, "file></read_file>").end(done());
    sim.wake().settle();
    assert_eq!((sim.rows(), sim.answers.len()), (vec!["a".to_owned(), "r".to_owned()], 1));
}

#[test]
fn events_after_the_end_change_nothing() {
    let mut sim = native(ToolMode::Parallel);
    sim.text_of(0, "a").end(done()).wake().settle().log.clear();
    sim.text_of(0, "b").call(1, "c", "read_file", "{}").end(EndState::Incomplete).wake();
    sim.expect(&[], "1,t,f,f");
    assert_eq!(sim.overs, 1);
}

#[test]
fn a_cancelled_reply_is_aborted() {
    let mut sim = native(ToolMode::Parallel);
    sim.text_of(0, "a").whole_call(1, "c", "read_file").end(EndState::Cancelled);
    assert!(sim.presenter.is_aborted() && sim.presenter.is_over());
    assert_eq!(sim.rows(), ["a"]);
    assert!(sim.log.contains(&"answer 1 aborted".to_owned()), "{:?}", sim.log);
}

#[test]
fn long_arguments_cost_what_they_are_long() {
    let mut sim = native(ToolMode::Parallel);
    sim.call(0, "c", "write_to_file", r#"{"content":""#);
    for _ in 0..1 << 17 {
        sim.presenter
            .feed(&StreamEvent::ToolArgs { block: ReplyBlock(0), delta: "8 bytes ".to_owned() });
    }
    let view = sim.presenter.call_view(sim.id(0)).unwrap();
    assert_eq!(view.params[0].1.len(), 1 << 20);
    sim.end(EndState::Incomplete).wake();
    assert!(sim.presenter.is_over());
    assert!(!sim.log.iter().any(|line| line.starts_with("run")), "{:?}", approved());
}

#[test]
fn more_blocks_than_are_kept_lose_no_words() {
    let mut sim = tags(ToolMode::Parallel);
    for _ in 0..40_000 {
        sim.text("a<think>b</think>");
    }
    sim.text(&edit()).text("the last words").end(done()).wake().settle();
    assert!(sim.rows.len() <= 65_536 && sim.presenter.is_over());
    let words: usize = sim.rows().iter().map(String::len).sum();
    assert_eq!(words, 80_000 + "the last words".len());
    assert_eq!(sim.answers.len(), 1);
}
