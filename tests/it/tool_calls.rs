//! Tool calls by name: the state each shows (TP01–TP24) and how calls meet results
//! (L01–L16, except L14 and L16, which count layouts).

use std::sync::Arc;

use letterpress::{
    engine::prepare,
    layout::{
        compose::{Surroundings, compose},
        registry::{Registry, ToolCard},
        spec::{Content, Fold, FoldKind, Spec},
    },
    model::{
        Image, ImageData, Message, MessageId, Output, Part, Role, SourceLine, StopReason, Text,
        ToolCall, ToolResult, ToolSituation, ToolState,
        pairing::{Owner, Pairing},
    },
};

fn state(
    [streaming, pending]: [bool; 2],
    result_is_error: Option<bool>,
    stop: Option<&StopReason>,
) -> ToolState {
    ToolState::of(ToolSituation { streaming, pending, result_is_error, stop })
}

#[test]
fn tp01_to_tp12_and_tp22_states() {
    use StopReason::{Aborted, Error, Length, ToolUse};
    let rows = [
        ("TP01", state([true, false], None, None), ToolState::Receiving),
        ("TP02", state([true, true], None, Some(&ToolUse)), ToolState::Running),
        ("TP03", state([false, true], None, Some(&ToolUse)), ToolState::Running),
        ("TP04", state([false, true], None, Some(&ToolUse)), ToolState::Running),
        ("TP05", state([false, false], Some(false), Some(&ToolUse)), ToolState::Ok),
        ("TP06", state([false, false], Some(true), Some(&ToolUse)), ToolState::Error),
        ("TP07", state([false, false], None, Some(&Aborted)), ToolState::Aborted),
        ("TP08", state([false, true], None, Some(&Aborted)), ToolState::Aborted),
        ("TP09", state([false, false], Some(false), Some(&Aborted)), ToolState::Ok),
        ("TP10", state([false, false], None, Some(&ToolUse)), ToolState::NoResult),
        ("TP11", state([false, false], None, Some(&Error)), ToolState::NotRun),
        ("TP12", state([false, false], None, Some(&Length)), ToolState::Truncated),
        ("TP18", state([true, false], None, None), ToolState::Receiving),
        ("TP22", state([false, false], Some(true), None), ToolState::Error),
        ("TP23", state([false, false], Some(false), None), ToolState::Ok),
    ];
    for (name, got, want) in rows {
        assert_eq!(got, want, "{name}");
    }
}

/// No state without a word of its own, and none that lives on after the end.
#[test]
fn states_have_words_and_ended_calls_do_not_move() {
    let all = [
        ToolState::Receiving,
        ToolState::Waiting,
        ToolState::Running,
        ToolState::Ok,
        ToolState::Error,
        ToolState::Aborted,
        ToolState::NoResult,
        ToolState::NotRun,
        ToolState::Truncated,
    ];
    let words: std::collections::HashSet<&str> = all.iter().map(|state| state.word()).collect();
    assert_eq!(words.len(), all.len());
    let live: Vec<_> = all.into_iter().filter(|state| state.is_live()).collect();
    assert_eq!(live, [ToolState::Receiving, ToolState::Waiting, ToolState::Running]);
}

fn call(name: &str, arguments: serde_json::Value, result: Option<ToolResult>) -> ToolCall {
    let is_error = result.as_ref().map(|result| result.is_error);
    ToolCall {
        id: Arc::from("c1"),
        name: Arc::from(name),
        arguments,
        state: state([false, false], is_error, None),
        result: result.map(Arc::new),
        superseded: 0,
        duration_ms: None,
    }
}

fn result(text: &str) -> ToolResult {
    ToolResult {
        call_id: Arc::from("c1"),
        tool_name: Arc::from("tool"),
        is_error: false,
        output: Output::plain(text),
        told: None,
        images: Vec::new(),
        details: serde_json::Value::Null,
    }
}

fn message(role: Role, parts: Vec<Part>) -> Message {
    prepare(Message {
        id: MessageId(1),
        key: Arc::from("m"),
        role,
        timestamp_ms: None,
        model: None,
        parts,
        stop: None,
        error: None,
        usage: None,
        line: SourceLine(1),
    })
}

fn specs(message: &Message, registry: &Registry, open: bool) -> Vec<Spec> {
    let wrap = |fold: Fold, _usual: bool| open && !matches!(fold.kind, FoldKind::Wrap(_));
    compose(message, &Surroundings::default(), registry, &wrap).specs
}

/// Everything a message says, one slug a line: labels, plain texts and outputs.
fn words(specs: &[Spec]) -> String {
    let mut text = String::new();
    for spec in specs {
        match &spec.content {
            Content::Label(label) | Content::Divider(label) => {
                let segments = label.left.iter().chain(&label.right);
                let shown =
                    segments.map(|segment| segment.text.as_str()).filter(|t| t.chars().count() > 1);
                text.push_str(&shown.collect::<Vec<_>>().join(" | "));
            }
            Content::Plain(plain, range, _) => {
                text.push_str(plain.get(range.start as usize..range.end as usize).unwrap_or("?"));
            }
            Content::Output(result, range) => {
                let all = &result.output.text;
                text.push_str(all.get(range.start as usize..range.end as usize).unwrap_or("?"));
            }
            Content::Prose(at, _) => text.push_str(&format!("{:?}", at.block().kind)),
            Content::Picture(..) => text.push_str("<picture>"),
            _ => text.push_str("<other>"),
        }
        text.push('\n');
    }
    text
}

fn shown(call: ToolCall) -> String {
    let message = message(Role::Assistant, vec![Part::ToolCall(Arc::new(call))]);
    words(&specs(&message, &Registry::default(), true))
}

#[test]
fn tp13_a_second_result_wears_a_badge() {
    let mut twice = call("weather", serde_json::json!({}), Some(result("second")));
    twice.superseded = 1;
    let shown = shown(twice);
    assert!(shown.contains("2 results") && shown.contains("second"), "{shown}");
}

#[test]
fn tp15_l03_an_orphan_result_is_a_row_of_its_own() {
    let orphan = message(Role::Tool, vec![Part::ToolResult(Arc::new(result("lonely output")))]);
    let shown = words(&specs(&orphan, &Registry::default(), true));
    assert!(
        shown.contains("a result without a call") && shown.contains("lonely output"),
        "{shown}"
    );
}

#[test]
fn tp17_parallel_calls_are_both_visible() {
    let done = call("one", serde_json::json!({}), Some(result("ready")));
    let mut going = call("two", serde_json::json!({}), None);
    going.state = ToolState::Running;
    let parts = [done, going].map(|call| Part::ToolCall(Arc::new(call))).to_vec();
    let shown = words(&specs(&message(Role::Assistant, parts), &Registry::default(), true));
    assert!(shown.contains("one") && shown.contains("two | running"), "{shown}");
}

#[test]
fn tp19_arguments_in_a_string_are_opened_up() {
    let shown = shown(call("f", serde_json::json!("{\"a\":[1,2]}"), None));
    assert!(shown.contains("\"a\": [\n    1,"), "{shown}");
}

#[test]
fn tp20_pictures_of_a_result_are_shown() {
    let mut with_picture = result("");
    with_picture.images.push(Image {
        media_type: Arc::from("image/png"),
        data: ImageData::Bytes(Arc::from([1_u8, 2, 3])),
        size: Some([40, 30]),
    });
    let shown = shown(call("screenshot", serde_json::json!({}), Some(with_picture)));
    assert!(shown.contains("<picture>") && !shown.contains("no output"), "{shown}");
}

#[test]
fn tp21_json_results_are_indented_and_huge_ones_left_alone() {
    let small = shown(call("f", serde_json::json!({}), Some(result("{\"a\":{\"b\":1}}"))));
    assert!(small.contains("  \"a\": {\n    \"b\": 1"), "{small}");
    let huge = format!("[{}1]", "1,".repeat(200_000));
    let left = shown(call("f", serde_json::json!({}), Some(result(&huge))));
    assert!(left.contains("[1,1,1"), "shown as it came");
}

#[test]
fn a_huge_output_is_windowed_and_can_be_opened() {
    let lines: String = (0..5000).map(|i| format!("line {i}\n")).collect();
    let output = message(
        Role::Assistant,
        vec![Part::ToolCall(Arc::new(call("f", serde_json::json!({}), Some(result(&lines)))))],
    );
    let closed = compose(&output, &Surroundings::default(), &Registry::default(), &|fold, _| {
        fold.kind == FoldKind::Call
    });
    let shown = words(&closed.specs);
    assert!(shown.contains("line 11\n") && !shown.contains("line 12\n"), "{shown}");
    assert!(shown.contains("show 4988 more lines"), "{shown}");
    let open = words(&specs(&output, &Registry::default(), true));
    assert!(open.contains("line 4999"));
}

#[test]
fn l05_an_unknown_role_is_shown() {
    let odd = message(Role::Custom("oracle".into()), vec![Part::Text(Text::unparsed("spoken"))]);
    let shown = words(&specs(&odd, &Registry::default(), true));
    assert!(shown.contains("oracle") && shown.contains("spoken"), "{shown}");
}

#[test]
fn l06_a_registered_role_shows_what_its_renderer_says() {
    let mut registry = Registry::default();
    registry.role("oracle", |_| Some(vec![Part::Text(Text::unparsed("rendered"))]));
    let odd = message(Role::Custom("oracle".into()), vec![Part::Text(Text::unparsed("spoken"))]);
    let shown = words(&specs(&odd, &registry, true));
    assert!(shown.contains("rendered") && !shown.contains("spoken"), "{shown}");
}

#[test]
fn l07_a_renderer_that_returns_nothing_falls_back() {
    let mut registry = Registry::default();
    registry.role("user", |_| None);
    let user = message(Role::User, vec![Part::Text(Text::unparsed("hello"))]);
    assert!(words(&specs(&user, &registry, true)).contains("hello"));
}

#[test]
fn the_last_registration_of_a_tool_wins() {
    let mut registry = Registry::default();
    let named = |title: &'static str| {
        move |_: &ToolCall| Some(ToolCard { title: title.to_owned(), ..ToolCard::default() })
    };
    registry.tool("f", named("first"));
    registry.tool("f", named("second"));
    let parts = vec![Part::ToolCall(Arc::new(call("f", serde_json::json!({}), None)))];
    let shown = words(&specs(&message(Role::Assistant, parts), &registry, true));
    assert!(shown.contains("second") && !shown.contains("first"), "{shown}");
}

#[test]
fn l11_a_message_of_usage_alone_shows_its_usage() {
    let mut silent = message(Role::Assistant, Vec::new());
    silent.usage = Some(letterpress::model::Usage { input: 1234, output: 5, ..Default::default() });
    let shown = words(&specs(&silent, &Registry::default(), true));
    assert!(shown.contains("↑1.2k  ↓5"), "{shown}");
}

#[test]
fn l12_all_texts_and_images_of_a_user_message_are_shown() {
    let image = Image {
        media_type: Arc::from("image/png"),
        data: ImageData::Bytes(Arc::from([0_u8])),
        size: Some([8, 8]),
    };
    let parts = vec![
        Part::Image(image),
        Part::Text(Text::unparsed("first")),
        Part::Text(Text::unparsed("second")),
    ];
    let shown = words(&specs(&message(Role::User, parts), &Registry::default(), true));
    let order = ["<picture>", "first", "second"].map(|word| shown.find(word).expect(word));
    assert!(order.is_sorted(), "{shown}");
}

#[test]
fn text_between_calls_is_never_dropped() {
    let read = |path: &str| {
        Part::ToolCall(Arc::new(call(
            "read",
            serde_json::json!({ "path": path }),
            Some(result("x")),
        )))
    };
    let parts =
        vec![read("a.rs"), Part::Text(Text::unparsed("between")), read("b.rs"), read("c.rs")];
    let shown = words(&specs(&message(Role::Assistant, parts), &Registry::default(), true));
    let order =
        ["a.rs", "between", "Read 2 files", "b.rs", "c.rs"].map(|w| shown.find(w).expect(w));
    assert!(order.is_sorted(), "{shown}");
}

#[test]
fn one_call_is_a_card_and_two_are_a_group() {
    let read = || {
        Part::ToolCall(Arc::new(call(
            "read",
            serde_json::json!({ "path": "a.rs" }),
            Some(result("x")),
        )))
    };
    let shown =
        |parts| words(&specs(&message(Role::Assistant, parts), &Registry::default(), false));
    assert_eq!(shown(vec![read()]), "a.rs | 1 line\n");
    assert_eq!(shown(vec![read(), read()]), "Read 2 files\n");
}

#[test]
fn reasoning_is_open_while_it_arrives_and_folded_after() {
    use letterpress::model::{Blocks, Thinking};
    let shown = |blocks: Option<Blocks>| {
        let text = Text { source: "because".into(), blocks: blocks.unwrap_or_default() };
        let part = Part::Thinking(Thinking { text, redacted: false, duration_ms: Some(1500) });
        let message = message(Role::Assistant, vec![part]);
        let usual = |_: Fold, usual: bool| usual;
        words(&compose(&message, &Surroundings::default(), &Registry::default(), &usual).specs)
    };
    let block = letterpress::markdown::parse("because", letterpress::markdown::Options::default());
    let arriving = shown(Some(Blocks::Open { sealed: Arc::new([]), tail: block }));
    assert!(arriving.contains("Thinking") && arriving.contains("because"), "{arriving}");
    let after = shown(None);
    assert!(after.contains("Thought for 1.5 s") && !after.contains("because"), "{after}");
}

#[test]
fn records_of_the_host_program_are_folded() {
    use letterpress::model::{Notice, NoticeKind, Raw};
    let word = Notice {
        kind: NoticeKind::Other("housekeeping".into()),
        text: Text::unparsed("2 progress records"),
    };
    let record = Raw { label: "progress record".into(), text: "{}".into(), line: SourceLine(7) };
    let parts = vec![Part::Notice(word), Part::Raw(record.clone()), Part::Raw(record)];
    for role in [Role::System, Role::Custom("host".into())] {
        let message = message(role, parts.clone());
        let shown = |open| words(&specs(&message, &Registry::default(), open));
        assert!(!shown(false).contains("progress record |"), "{}", shown(false));
        assert!(shown(false).contains("2 progress records"));
        assert_eq!(shown(true).matches("line 7").count(), 2);
    }
}

#[test]
fn counts_are_short() {
    use letterpress::layout::compose::short_count;
    let rows = [(999, "999"), (1000, "1.0k"), (9999, "9.9k"), (10_000, "10k"), (123_456, "123k")];
    for (count, words) in rows {
        assert_eq!(short_count(count), words);
    }
}

#[test]
fn l01_l02_l08_l09_l10_pairing() {
    // L02, TP05: the result stands inside its call.
    let mut pairing = Pairing::default();
    pairing.call(1, 10);
    assert_eq!(pairing.result(1, 11), Owner::First(10));
    // L08, TP13: a second result replaces the first.
    assert_eq!(pairing.result(1, 12), Owner::Replaces(10, 11));
    // L09, TP14: two calls with one id and one result: the nearest unanswered call.
    let mut pairing = Pairing::default();
    pairing.call(1, 10);
    pairing.call(1, 20);
    assert_eq!(pairing.result(1, 21), Owner::First(20));
    assert!(pairing.finish().is_empty());
    // L10: a result before its call.
    let mut pairing = Pairing::default();
    assert_eq!(pairing.result(1, 5), Owner::Unknown);
    pairing.call(1, 10);
    assert_eq!(pairing.finish(), [(5, 10)]);
    // TP15: no call at all.
    let mut pairing = Pairing::default();
    assert_eq!(pairing.result(9, 5), Owner::Unknown);
    assert!(pairing.finish().is_empty());
}
