//! Records of stored sessions: what is written is read again, and what is strange is shown.

use std::{cell::RefCell, collections::HashMap, sync::Arc};

use letterpress::model::{
    Image, ImageData, Message, MessageId, Notice, NoticeKind, Output, Part, Raw, Role, Settings,
    SourceLine, StopReason, Text, Thinking, ToolCall, ToolResult, ToolState, Usage,
    record::{self, Approved, Delta, Imported, Kind, Meta, Unfinished, line},
    stream::{Echo, Wire},
};
use proptest::prelude::*;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// Blobs in memory.
#[derive(Default)]
struct Blobs(RefCell<HashMap<String, Vec<u8>>>);

impl Blobs {
    fn store(&self, bytes: &[u8]) -> String {
        let sha: String = Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect();
        self.0.borrow_mut().insert(sha.clone(), bytes.to_vec());
        sha
    }

    fn load(&self, sha: &str) -> Option<Vec<u8>> {
        self.0.borrow().get(sha).cloned()
    }
}

fn message(role: Role, parts: Vec<Part>) -> Message {
    Message {
        id: MessageId(0),
        key: "".into(),
        role,
        timestamp_ms: None,
        model: None,
        parts,
        stop: None,
        error: None,
        usage: None,
        line: SourceLine(0),
    }
}

fn call(id: &str, name: &str) -> ToolCall {
    ToolCall {
        id: id.into(),
        name: name.into(),
        arguments: json!({ "path": "a.rs" }),
        state: ToolState::NoResult,
        result: None,
        superseded: 0,
        duration_ms: None,
    }
}

fn result(call_id: &str, output: &str) -> ToolResult {
    ToolResult {
        call_id: call_id.into(),
        tool_name: "read".into(),
        is_error: false,
        output: Output::plain(output),
        told: None,
        images: Vec::new(),
        details: Value::Null,
    }
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => ".{0,40}",
        2 => "[\\PC\\n\\t\\x00-\\x1f\"\\\\]{0,200}",
        1 => (1_000_usize..70_000).prop_map(|n| "a\n\u{1}é".repeat(n)),
    ]
}

fn arc() -> impl Strategy<Value = Arc<str>> {
    words().prop_map(Into::into)
}

fn name() -> impl Strategy<Value = Arc<str>> {
    "x-[a-z]{1,12}".prop_map(Into::into)
}

fn text() -> impl Strategy<Value = Text> {
    words().prop_map(Text::unparsed)
}

/// Anything, also what looks like the names that long strings are replaced with.
fn free() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        words().prop_map(Value::from),
        Just(json!({ "blob": "0".repeat(64), "bytes": 3 })),
        Just(json!({ "json": "{}" })),
    ];
    leaf.prop_recursive(4, 24, 6, |inner| {
        let key = prop_oneof!["[a-z~]{0,6}", "~{0,3}(blob|json)", Just("bytes".to_owned())];
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            proptest::collection::vec((key, inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn image() -> impl Strategy<Value = Image> {
    let data = prop_oneof![
        proptest::collection::vec(any::<u8>(), 0..200).prop_map(|b| ImageData::Bytes(b.into())),
        (1_usize..90_000).prop_map(|n| ImageData::Bytes(vec![7; n].into())),
        arc().prop_map(ImageData::Address),
        arc().prop_map(ImageData::Unusable),
    ];
    (arc(), data, any::<Option<[u32; 2]>>()).prop_map(|(media_type, data, size)| Image {
        media_type,
        data,
        size,
    })
}

fn results() -> impl Strategy<Value = ToolResult> {
    let images = proptest::collection::vec(image(), 0..3);
    (arc(), arc(), any::<bool>(), arc(), any::<u64>(), proptest::option::of(arc()), images, free())
        .prop_map(|(call_id, tool_name, is_error, output, omitted, told, images, details)| {
            let output = Output { omitted, ..Output::plain(output) };
            ToolResult { call_id, tool_name, is_error, output, told, images, details }
        })
}

fn state() -> impl Strategy<Value = ToolState> {
    prop_oneof![
        Just(ToolState::Ok),
        Just(ToolState::Error),
        Just(ToolState::Aborted),
        Just(ToolState::NoResult),
        Just(ToolState::NotRun),
        Just(ToolState::Truncated),
    ]
}

fn calls() -> impl Strategy<Value = ToolCall> {
    let result = proptest::option::of(results().prop_map(Arc::new));
    (arc(), arc(), free(), state(), result, any::<u32>(), any::<Option<u64>>()).prop_map(
        |(id, name, arguments, state, result, superseded, duration_ms)| ToolCall {
            id,
            name,
            arguments,
            state,
            result,
            superseded,
            duration_ms,
        },
    )
}

fn notice_kind() -> impl Strategy<Value = NoticeKind> {
    prop_oneof![
        Just(NoticeKind::Compaction),
        Just(NoticeKind::Branch),
        Just(NoticeKind::ModelChange),
        Just(NoticeKind::Setting),
        Just(NoticeKind::Abort),
        Just(NoticeKind::Error),
        Just(NoticeKind::Label),
        arc().prop_map(NoticeKind::Checkpoint),
        name().prop_map(NoticeKind::Other),
    ]
}

fn part() -> impl Strategy<Value = Part> {
    prop_oneof![
        text().prop_map(Part::Text),
        (text(), any::<bool>(), any::<Option<u64>>()).prop_map(|(text, redacted, duration_ms)| {
            Part::Thinking(Thinking { text, redacted, duration_ms })
        }),
        image().prop_map(Part::Image),
        calls().prop_map(|call| Part::ToolCall(Arc::new(call))),
        results().prop_map(|result| Part::ToolResult(Arc::new(result))),
        (notice_kind(), text()).prop_map(|(kind, text)| Part::Notice(Notice { kind, text })),
        (arc(), arc()).prop_map(|(label, text)| Part::Raw(Raw {
            label,
            text,
            line: SourceLine(0)
        })),
    ]
}

fn stop() -> impl Strategy<Value = StopReason> {
    prop_oneof![
        Just(StopReason::Stop),
        Just(StopReason::Length),
        Just(StopReason::ToolUse),
        Just(StopReason::Error),
        Just(StopReason::Aborted),
        name().prop_map(StopReason::Other),
    ]
}

fn usage() -> impl Strategy<Value = Usage> {
    let cost = proptest::option::of((0_u32..90_000_000).prop_map(|n| f64::from(n) / 1e6));
    (any::<[u64; 4]>(), cost).prop_map(|([input, output, cache_read, cache_write], cost)| Usage {
        input,
        output,
        cache_read,
        cache_write,
        cost,
    })
}

fn messages() -> impl Strategy<Value = Message> {
    let role = prop_oneof![
        Just(Role::User),
        Just(Role::Assistant),
        Just(Role::Tool),
        Just(Role::System),
        arc().prop_map(Role::Custom),
    ];
    let parts = proptest::collection::vec(part(), 0..8);
    (
        role,
        parts,
        any::<Option<i64>>(),
        proptest::option::of(name()),
        proptest::option::of(stop()),
        proptest::option::of(name()),
        proptest::option::of(usage()),
    )
        .prop_map(|(role, parts, timestamp_ms, model, stop, error, usage)| Message {
            timestamp_ms,
            model,
            stop,
            error,
            usage,
            ..message(role, parts)
        })
}

fn echoes() -> impl Strategy<Value = Vec<(usize, Echo)>> {
    let wire = proptest::sample::select(Wire::ALL.to_vec());
    let echo = (wire, arc(), arc()).prop_map(|(wire, host, json)| Echo { wire, host, json });
    proptest::collection::vec((0_usize..9, echo), 0..3)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_message_is_read_as_it_was_written(message in messages(), echoes in echoes()) {
        let blobs = Blobs::default();
        let kind = Kind::of(&message);
        let body = record::encode_message(&message, &echoes, &mut |bytes| blobs.store(bytes));
        let body = record::placed(None, Some("m3"), body);
        let written = line::write(9, kind, 5, &body.to_string());
        prop_assert!(written.len() <= line::LINE_MAX, "{}", written.len());
        let read = line::parse(written.as_bytes()).expect("a line");
        let body: Value = serde_json::from_str(read.body).expect("a body");
        let load = |sha: &str| blobs.load(sha);
        let (again, backs, warnings) = record::decode_message(&body, read.kind.role(), &load);
        prop_assert_eq!(warnings, Vec::<String>::new());
        prop_assert_eq!(again, message);
        prop_assert_eq!(backs, echoes);
        prop_assert_eq!(record::parent_of(&body), Some("m3"));
        prop_assert_eq!(&*record::id_of(&body, 9), "m9");
    }

    #[test]
    fn any_body_is_read(body in free(), sha in "[0-9a-f]{64}") {
        for kind in Kind::ALL {
            let (_, _, warnings) = record::decode_message(&body, kind.role(), &|_| None);
            prop_assert!(warnings.len() <= 100);
            let mut unfinished = Unfinished::default();
            unfinished.take(kind, &body, 0, &|_| None);
            unfinished.take(kind, &json!({ "parts": [body.clone()], "call": body.clone() }), 0, &|_| None);
            let (message, _) = unfinished.interrupted();
            prop_assert_eq!(message.role, Role::Assistant);
        }
        let lost = json!({ "parts": [{ "type": "text", "text": { "blob": sha, "bytes": 5 } }] });
        let (message, _, warnings) = record::decode_message(&lost, Role::User, &|_| None);
        prop_assert!(matches!(&*message.parts, [Part::Raw(raw)] if raw.label.contains("missing")));
        prop_assert_eq!(warnings.len(), 1);
    }
}

#[test]
fn arguments_of_any_depth_fit_into_a_line() {
    let mut arguments = json!("x");
    for depth in 0..120 {
        arguments = if depth % 2 == 0 { json!([arguments]) } else { json!({ "json": arguments }) };
    }
    let said = message(
        Role::Assistant,
        vec![Part::ToolCall(Arc::new(ToolCall { arguments, ..call("c", "read") }))],
    );
    let body = record::encode_message(&said, &[], &mut |_| String::new());
    let body: Value = serde_json::from_str(&body.to_string()).expect("no deeper than is read");
    assert_eq!(record::decode_message(&body, Role::Assistant, &|_| None).0, said);
}

#[test]
fn very_many_parts_fit_into_a_line() {
    let blobs = Blobs::default();
    let parts =
        (0..40_000).map(|n| Part::Text(Text::unparsed(format!("part {n} \u{1}")))).collect();
    let said = message(Role::User, parts);
    let body = record::encode_message(&said, &[], &mut |bytes| blobs.store(bytes));
    assert!(body.to_string().len() < 1_000);
    let mut named = 0;
    record::blob_refs(&body, &mut |_| named += 1);
    assert_eq!(named, 1);
    let (again, _, warnings) = record::decode_message(&body, Role::User, &|sha| blobs.load(sha));
    assert_eq!((again, warnings.len()), (said, 0));
}

#[test]
fn an_answer_without_an_end_is_put_together() {
    let none = |_: &str| None;
    let mut unfinished = Unfinished::default();
    let start = record::placed(None, Some("m1"), record::start("demo", "tiny"));
    unfinished.take(Kind::AssistantStart, &start, 1_000, &none);
    let long = "a".repeat(300_000);
    let first = [(0, Delta::Thinking("Hm")), (1, Delta::Text("Look: "))];
    let call = ToolCall { id: "c1".into(), ..call("c1", "read") };
    let second = [(1, Delta::Text(&long)), (0, Delta::Thinking(".")), (2, Delta::Call(&call))];
    let mut bodies = record::partial("m2", &first, &mut |_| String::new());
    bodies.extend(record::partial("m2", &second, &mut |_| String::new()));
    assert_eq!(bodies.len(), 4, "a long delta is written in pieces");
    for body in &bodies {
        unfinished.take(Kind::Partial, body, 2_000, &none);
    }
    let ended = ToolCall {
        state: ToolState::Ok,
        result: Some(Arc::new(result("c1", "fn main() {}"))),
        duration_ms: Some(12),
        ..call.clone()
    };
    let other = ToolCall { id: "c2".into(), ..call.clone() };
    for (kind, body) in [
        (Kind::ToolCall, record::tool_call("m2", &call, &mut |_| String::new())),
        (Kind::ToolCall, record::tool_call("m2", &other, &mut |_| String::new())),
        (Kind::ToolResult, record::tool_result("m2", &ended, &mut |_| String::new())),
    ] {
        unfinished.take(kind, &body, 3_000, &none);
    }
    let (message, warnings) = unfinished.clone().interrupted();
    assert!(warnings.is_empty());
    assert_eq!((message.timestamp_ms, message.model.as_deref()), (Some(1_000), Some("tiny")));
    assert_eq!(message.stop, Some(StopReason::Error));
    assert_eq!(message.error.as_deref(), Some(record::INTERRUPTED));
    let [Part::Thinking(thinking), Part::Text(text), Part::ToolCall(one), Part::ToolCall(two)] =
        &*message.parts
    else {
        panic!("{message:?}")
    };
    assert_eq!(&*thinking.text.source, "Hm.");
    assert_eq!(*text.source, *format!("Look: {long}"));
    assert_eq!(**one, ended);
    assert_eq!((two.state, two.result.is_none()), (ToolState::NoResult, true));
    let (message, _) = unfinished.so_far();
    assert_eq!(message.error, None);
    assert_eq!(message.stop, Some(StopReason::Other(record::UNFINISHED.into())));
}

#[test]
fn what_a_session_is_called_and_asks_for_round_trips() {
    let settings = Settings {
        provider: "anthropic".into(),
        model: "m".into(),
        system: Some("Be brief.".into()),
        max_tokens: Some(100),
        workspace: Some("/work".into()),
        ..Settings::default()
    };
    let first = Meta {
        title: Some("One".into()),
        pinned: Some(true),
        settings: Some(settings),
        imported: Some(Imported { format: "pi".into(), path: "/a.jsonl".into(), title: None }),
        program: Some("letterpress 0.1.0".into()),
        ..Meta::default()
    };
    let mut meta = Meta::of(&first.to_body());
    assert_eq!(meta, first);
    meta.take(Meta::of(&json!({ "title": "Two", "pinned": false, "new": [1] })));
    assert_eq!((meta.title.as_deref(), meta.pinned), (Some("Two"), Some(false)));
    assert_eq!(meta.settings, first.settings);
    let approved = Approved {
        call: "c1".into(),
        decision: "reject".into(),
        by: "user".into(),
        feedback: Some("no".into()),
    };
    assert_eq!(record::approval_of(&record::approval("m4", &approved)), approved);
    assert_eq!(record::branch_of(&record::branch(Some("m3"))).as_deref(), Some("m3"));
    let spent = Usage { input: 1, output: 2, ..Usage::default() };
    assert_eq!(record::usage_of(&record::usage(&spent)["usage"]), Some(spent));
    let ended = ToolCall {
        arguments: Value::Null,
        result: Some(Arc::new(result("c", "x"))),
        state: ToolState::Ok,
        ..call("c", "read")
    };
    let body = record::tool_result("m4", &ended, &mut |_| String::new());
    assert_eq!(record::result_of(&body, &|_| None), ended);
}

#[test]
fn kinds_have_names() {
    for kind in Kind::ALL {
        assert_eq!(Kind::of_name(kind.name()), kind);
    }
    assert_eq!(Kind::of_name("note"), Kind::Other);
}
