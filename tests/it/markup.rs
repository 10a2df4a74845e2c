//! The tool-tag grammar, reasoning tags and half tags. Tests are named after the vectors of
//! the grammar's specification; [`reference_blocks`] states its rules once more, slowly.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use std::sync::Arc;

use letterpress::markup::{
    Arrival, Place, SegmentKind, TagBlock, TagBlocks, ThinkEvent, ThinkSplitter, ThinkTags,
    TrimmedText, Vocabulary, parse_tags, shown_by_reference, shown_text, shown_value,
    split_thinking,
};
use proptest::prelude::*;
use serde_json::Value;

/// `text "…"` or `tool{param: "…"}`, with `…` behind what is partial.
fn dump(block: &TagBlock) -> String {
    match block {
        TagBlock::Text { text, partial } => format!("{:?}{}", text.as_str(), more(*partial)),
        TagBlock::Tool { call, partial, malformed } => {
            let params: Vec<_> = call.params().map(|(name, v)| format!("{name}: {v:?}")).collect();
            let mark = if *malformed { " malformed" } else { "" };
            format!("{}{{{}}}{}{mark}", call.name(), params.join(", "), more(*partial))
        }
    }
}

fn more(partial: bool) -> &'static str {
    if partial { " …" } else { "" }
}

fn dump_all(blocks: &[TagBlock]) -> Vec<String> {
    blocks.iter().map(dump).collect()
}

fn standard() -> Arc<Vocabulary> {
    Arc::new(Vocabulary::default())
}

/// Parses in pieces that end at the given byte offsets.
fn parse_split(vocabulary: &Arc<Vocabulary>, text: &str, cuts: &[usize]) -> Vec<TagBlock> {
    let mut blocks = TagBlocks::new(Arc::clone(vocabulary));
    let mut rest = text;
    let mut at = 0;
    for cut in cuts {
        let (piece, after) = rest.split_at(cut - at);
        blocks.push(piece);
        (rest, at) = (after, *cut);
    }
    blocks.push(rest);
    blocks.finish()
}

fn inner_boundaries(text: &str) -> Vec<usize> {
    text.char_indices().map(|(i, _)| i).filter(|i| *i > 0).collect()
}

#[track_caller]
fn check_with(vocabulary: &Arc<Vocabulary>, text: &str, expected: &[&str]) {
    assert_eq!(dump_all(&parse_tags(vocabulary, text)), expected, "whole");
    let boundaries = inner_boundaries(text);
    assert_eq!(dump_all(&parse_split(vocabulary, text, &boundaries)), expected, "by characters");
    for cut in boundaries {
        assert_eq!(dump_all(&parse_split(vocabulary, text, &[cut])), expected, "cut at {cut}");
    }
}

macro_rules! grammar {
    ($($name:ident: $text:expr => [$($block:expr),*];)*) => {$(
        #[test]
        fn $name() {
            check_with(&standard(), $text, &[$($block),*]);
        }
    )*};
}

grammar! {
    g01_empty: "" => [];
    g01_spaces: "  \n\t\u{a0}\u{feff} " => [];
    g02: "Hi" => [r#""Hi" …"#];
    g03: "Hi <rea" => [r#""Hi <rea" …"#];
    g04: "Hi <read_file>" => [r#""Hi""#, "read_file{} …"];
    g05: "<read_file><path>src/ma" => [r#"read_file{path: "src/ma"} …"#];
    g06: "<read_file><path>src/main.rs</pa" => [r#"read_file{path: "src/main.rs</pa"} …"#];
    g07: "<read_file><path>src/main.rs</path></read_file>" => [r#"read_file{path: "src/main.rs"}"#];
    g08: "<read_file><path>a</path></read_file>ok" => [r#"read_file{path: "a"}"#, r#""ok" …"#];
    g09: "A<read_file><path>a</path></read_file>B<list_files><path>.</path></list_files>C" =>
        [r#""A""#, r#"read_file{path: "a"}"#, r#""B""#, r#"list_files{path: "."}"#, r#""C" …"#];
    g10: "<write_to_file><path>x.html</path><content>a</content>b</content></write_to_file>" =>
        [r#"write_to_file{path: "x.html", content: "a</content>b"}"#];
    g11: "<write_to_file><path>x</path><content>use <path>y</path></content></write_to_file>" =>
        [r#"write_to_file{path: "x", content: "use <path>y</path>"}"#];
    g12: "<write_to_file><path>p</path><content>a</write_to_file>b</content></write_to_file>" =>
        [r#"write_to_file{path: "p", content: "a</write_to_file>b"}"#];
    g13: "<read_file>\n<path>\n  a b \n</path>\n</read_file>" => [r#"read_file{path: "a b"}"#];
    g14: "<read_file><bogus>1</bogus><path>a</path></read_file>" => [r#"read_file{path: "a"}"#];
    g15: "<readfile><path>a</path></readfile>" => [r#""<readfile><path>a</path></readfile>" …"#];
    g16: "<read_file><path>a</path>" => [r#"read_file{path: "a"} …"#];
    g17: "<read_file><path>a</read_file>" => [r#"read_file{path: "a</read_file>"} … malformed"#];
    g18: "<execute_command><command>echo <path>x</path></command></execute_command>" =>
        [r#"execute_command{command: "echo <path>x</path>"}"#];
    g19: "<execute_command><command>a && b</command><requires_approval>false</requires_approval></execute_command> " =>
        [r#"execute_command{command: "a && b", requires_approval: "false"}"#];
    g20: "</read_file>" => [r#""</read_file>" …"#];
    g21_inner_space: "< read_file>" => [r#""< read_file>" …"#];
    g21_upper_case: "<READ_FILE>x</READ_FILE>" => [r#""<READ_FILE>x</READ_FILE>" …"#];
    g21_attribute: "<read_file attr=\"1\">x" => [r#""<read_file attr=\"1\">x" …"#];
    g22: "```xml\n<read_file><path>a</path></read_file>\n```" =>
        [r#""```xml""#, r#"read_file{path: "a"}"#, r#""```" …"#];
    g23: "<read_file></read_file><read_file></read_file>" => ["read_file{}", "read_file{}"];
    g24: "<read_file><path>1</path><path>2</path></read_file>" => [r#"read_file{path: "2"}"#];
    g25: "<use_mcp_tool><server_name>s</server_name><tool_name>t</tool_name><arguments>{\"q\":\"<query>\"}</arguments></use_mcp_tool>" =>
        [r#"use_mcp_tool{server_name: "s", tool_name: "t", arguments: "{\"q\":\"<query>\"}"}"#];
    g26: "<read_file><list_files><path>q</path></list_files></read_file>" => [r#"read_file{path: "q"}"#];
    g27: "<write_to_file><path>x</path><content></content></write_to_file>" =>
        [r#"write_to_file{path: "x", content: ""}"#];
    g28: "<write_to_file><path>x</path><content>abc" =>
        [r#"write_to_file{path: "x", content: "abc"} …"#];
    g29: "Vec<T> x <b>" => [r#""Vec<T> x <b>" …"#];
    content_of_another_parameter:
        "<write_to_file><path><content></path>b</content></write_to_file>" =>
        [r#"write_to_file{path: "<content>", content: "</path>b"}"#];
    a_tag_restarts_at_each_opening: "<<read_file><<path>a<</path></read_file>" =>
        [r#""<""#, r#"read_file{path: "a<"}"#];
    half_a_tag_of_another_state_is_text: "<pa<path>x</path>" => [r#""<pa<path>x</path>" …"#];
}

#[test]
fn g30() {
    let text = "<my_tool><query>z</query></my_tool>";
    check_with(&standard(), text, &[r#""<my_tool><query>z</query></my_tool>" …"#]);
    let mut vocabulary = Vocabulary::default();
    vocabulary.register("mcp", [" my_tool ", "", "a>b", "my_tool"]);
    assert_eq!(vocabulary.tools().count(), Vocabulary::default().tools().count() + 1);
    let vocabulary = Arc::new(vocabulary);
    check_with(&vocabulary, text, &[r#"my_tool{query: "z"}"#]);
    let mut replaced = Vocabulary::clone(&vocabulary);
    replaced.register("mcp", ["other"]);
    assert!(replaced.tool("my_tool").is_none() && replaced.tool("read_file").is_some());
}

#[test]
fn g31() {
    let mut blocks = TagBlocks::new(standard());
    blocks.push("<read_file>");
    for _ in 0..1 << 20 {
        blocks.push("x");
    }
    blocks.push("</read_file>");
    assert_eq!(dump_all(&blocks.finish()), ["read_file{}"]);
}

#[test]
fn gs1() {
    let text = "Ok <thinking>x</thinking>\n<read_file>\n<path>a.rs</path>\n</read_file> bye";
    let mut blocks = TagBlocks::new(standard());
    let mut seen = Vec::new();
    for (i, c) in text.char_indices() {
        blocks.push(c.encode_utf8(&mut [0; 4]));
        seen.push((i + 1, dump_all(&blocks.so_far())));
    }
    let at = |length: usize| seen[length - 1].1.join(" | ");
    let text = r#""Ok <thinking>x</thinking>""#;
    assert_eq!(at(36), r#""Ok <thinking>x</thinking>\n<read_file" …"#);
    assert_eq!(at(37), format!("{text} | read_file{{}} …"));
    assert_eq!(at(43), at(37));
    for (length, path) in [
        (44, ""),
        (45, "a"),
        (48, "a.rs"),
        (49, "a.rs<"),
        (54, "a.rs</path"),
        (55, "a.rs"),
        (67, "a.rs"),
    ] {
        assert_eq!(at(length), format!("{text} | read_file{{path: {path:?}}} …"), "at {length}");
    }
    assert_eq!(at(68), format!("{text} | read_file{{path: \"a.rs\"}}"));
    assert_eq!(at(70), format!("{text} | read_file{{path: \"a.rs\"}} | \"b\" …"));
    assert_eq!(at(72), format!("{text} | read_file{{path: \"a.rs\"}} | \"bye\" …"));
}

// Text clean-up. What the reference shows, and what we show where that differs.

fn ours(text: &str, arrival: Arrival) -> String {
    let mut shown = String::new();
    for segment in split_thinking(ThinkTags::Anywhere, text) {
        let text = segment.text.as_str();
        match segment.kind {
            SegmentKind::Text => {
                shown += shown_text(text, arrival, Place::at_end_of(text));
            }
            SegmentKind::Reasoning => shown += &format!("[{text}]"),
        }
    }
    shown
}

macro_rules! clean_up {
    ($($name:ident: $text:expr, $arrival:ident => $reference:expr $(, ours $ours:expr)?;)*) => {$(
        #[test]
        fn $name() {
            let reference = shown_by_reference($text, Arrival::$arrival);
            assert_eq!(reference, $reference, "reference");
            let expected: &str = [$reference $(, $ours)?].last().copied().unwrap_or_default();
            assert_eq!(ours($text, Arrival::$arrival), expected, "ours");
        }
    )*};
}

clean_up! {
    t01: "Hello <", Partial => "Hello";
    t02: "Hello </", Partial => "Hello";
    t03: "Hello <th", Partial => "Hello";
    t04: "Hello </thinking", Partial => "Hello";
    t05: "a < b", Partial => "a", ours "a < b";
    t06: "a <b", Partial => "a";
    t07: "if x < 10", Partial => "if x < 10";
    t08: "a <b c", Partial => "a <b c";
    t09: "a <b>c", Partial => "a <b>c";
    t10: "x<y_z", Partial => "x";
    t11_hyphen: "x <a-b", Partial => "x <a-b";
    t11_digit: "x <1", Partial => "x <1";
    t12: "Vec<T", Partial => "Vec";
    t12_second: "Vec<T> and <u", Partial => "Vec<T> and";
    t13: "a </ foo", Partial => "a";
    t14: "<thinking>\nplan</thinking> go", Partial => "plan go", ours "[plan]go";
    t15: "<thinking> plan\n</thinking>go", Partial => "plango", ours "[plan]go";
    t16: "say <think> a </think> b", Partial => "say a b", ours "say[a]b";
    t17: "<function_calls>\n</function_calls>", Partial => "";
    t18: "done ```xml", Complete => "done ";
    t19: "done ```xml\n", Complete => "done ";
    t20: "done ```", Complete => "done ```";
    t21: "done ```xml", Partial => "done ```xml";
    t22: "```rust\nlet a = 1 < b", Complete => "```rust\nlet a = 1", ours "```rust\nlet a = 1 < b";
    t23: "x<", Complete => "x";
    t24: "", Complete => "";
    an_identifier_stays_in_a_complete_text: "a <b", Complete => "a", ours "a <b";
    an_identifier_stays_in_a_fence: "```\nVec<T", Partial => "```\nVec", ours "```\nVec<T";
    an_identifier_stays_in_a_span: "use `Vec<T", Partial => "use `Vec", ours "use `Vec<T";
    a_bare_bracket_stays_in_code: "```\nx<", Complete => "```\nx", ours "```\nx<";
    code_ends_with_its_fence: "```\nx\n```\na <b", Partial => "```\nx\n```\na";
    a_stray_backtick_ends_with_its_line: "5 ` wide\na <b", Partial => "5 ` wide\na";
    a_stray_closing_tag_goes: "a </think> b", Complete => "a b";
    quoted_tags_are_words: "the `<think>` tag", Complete => "the `` tag", ours "the `<think>` tag";
    fenced_tags_are_words: "```\n<think>\n```", Complete => "```\n```", ours "```\n<think>\n```";
    reasoning_tags_pair_by_family: "<think>a</thinking>b", Complete => "ab", ours "[a]b";
    wrappers_nest: "<think>a<thinking>b</think>c", Complete => "abc", ours "[ab]c";
    open_reasoning_is_not_text: "<think>a", Partial => "a", ours "[a]";
    other_tags_are_words: "<tree>a</tree>", Complete => "<tree>a</tree>";
}

#[test]
fn thinking_at_the_start_only() {
    let split = |text| -> Vec<_> {
        let segments = split_thinking(ThinkTags::AtStart, text);
        segments.iter().map(|s| (s.kind, s.text.as_str().to_owned())).collect()
    };
    let (text, reasoning) = (SegmentKind::Text, SegmentKind::Reasoning);
    let expected = vec![(reasoning, "a".to_owned()), (text, "b <think>c</think>".to_owned())];
    assert_eq!(split("\n<think>a</think>\n\nb <think>c</think>"), expected);
    assert_eq!(split("b <think>c</think>"), [(text, "b <think>c</think>".to_owned())]);
}

#[test]
fn half_a_closing_tag_is_not_shown_in_a_value() {
    for (param, value, shown) in [
        ("path", "a.rs</pa", "a.rs"),
        ("path", "a.rs<", "a.rs"),
        ("path", "a.rs <", "a.rs"),
        ("path", "a<path", "a"),
        ("path", "a<x", "a<x"),
        ("path", "a</path", "a"),
        ("path", "a</pth", "a"),
        ("path", "a</hp", "a</hp"),
        ("command", "cat < in\ncat <", "cat < in\ncat"),
        ("command", "cat <<EOF\nx", "cat <<EOF\nx"),
        ("path", "a", "a"),
        ("path", "", ""),
    ] {
        assert_eq!(shown_value(param, value), shown, "{param}: {value:?}");
    }
}

// Against the recorded blocks of the reference parser.

#[derive(Debug, PartialEq)]
struct Recorded {
    input: String,
    blocks: Vec<String>,
}

/// What the reference parser gave, from the folder that `LETTERPRESS_VECTORS` names;
/// nothing, with a line that says so, when it names none.
#[expect(clippy::print_stdout, reason = "a skipped test says that it was skipped")]
fn recorded() -> Vec<Recorded> {
    let Some(folder) = std::env::var_os("LETTERPRESS_VECTORS") else {
        println!("skipped: LETTERPRESS_VECTORS is not set");
        return Vec::new();
    };
    let path = std::path::Path::new(&folder).join("grammar_oracle.json");
    let cases: Vec<Value> = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    assert!(cases.len() >= 2000, "{} recorded inputs", cases.len());
    cases.iter().map(Recorded::of).collect()
}

impl Recorded {
    fn of(case: &Value) -> Self {
        let blocks = case["blocks"].as_array().unwrap().iter().map(dump_recorded).collect();
        Self { input: case["input"].as_str().unwrap().to_owned(), blocks }
    }
}

fn dump_recorded(block: &Value) -> String {
    let more = more(block["partial"].as_bool().unwrap());
    if let Some(text) = block["text"].as_str() {
        return format!("{text:?}{more}");
    }
    let params = block["params"].as_object().unwrap().iter();
    let params: Vec<_> =
        params.map(|(name, value)| format!("{name}: {:?}", value.as_str().unwrap())).collect();
    format!("{}{{{}}}{more}", block["tool"].as_str().unwrap(), params.join(", "))
}

/// The recording does not tell malformed tools apart.
fn dump_unmarked(blocks: &[TagBlock]) -> Vec<String> {
    dump_all(blocks).iter().map(|line| line.trim_end_matches(" malformed").to_owned()).collect()
}

#[test]
fn recorded_blocks_whole() {
    let cases = recorded();
    let vocabulary = standard();
    for case in &cases {
        assert_eq!(dump_unmarked(&parse_tags(&vocabulary, &case.input)), case.blocks, "{case:?}");
    }
}

#[test]
fn recorded_blocks_in_pieces() {
    let vocabulary = standard();
    for (i, case) in recorded().iter().enumerate() {
        let boundaries = inner_boundaries(&case.input);
        for step in [1, 2, 3, 7, 16 + i % 5] {
            let cuts: Vec<_> = boundaries.iter().copied().skip(i % step).step_by(step).collect();
            let blocks = parse_split(&vocabulary, &case.input, &cuts);
            assert_eq!(dump_unmarked(&blocks), case.blocks, "pieces of {step}: {:?}", case.input);
        }
    }
}

#[test]
fn recorded_blocks_cut_in_two() {
    let vocabulary = standard();
    for case in recorded().iter().step_by(8) {
        for cut in inner_boundaries(&case.input) {
            let blocks = parse_split(&vocabulary, &case.input, &[cut]);
            assert_eq!(dump_unmarked(&blocks), case.blocks, "cut at {cut}: {:?}", case.input);
        }
    }
}

#[test]
fn recorded_prefixes_equal_the_rules() {
    let vocabulary = standard();
    for case in recorded().iter().step_by(20) {
        let mut blocks = TagBlocks::new(Arc::clone(&vocabulary));
        for (i, c) in case.input.char_indices() {
            blocks.push(c.encode_utf8(&mut [0; 4]));
            let prefix = case.input.split_at(i + c.len_utf8()).0;
            let expected = reference_blocks(&vocabulary, prefix);
            assert_eq!(dump_unmarked(&blocks.so_far()), expected, "{prefix:?}");
        }
    }
}

/// The rules of the grammar as they are written down: at each character, every tag that
/// could end there is tried.
fn reference_blocks(vocabulary: &Vocabulary, text: &str) -> Vec<String> {
    enum State<'a> {
        Text { from: usize },
        Tool { name: &'a str, body: usize },
        Value { name: &'a str, body: usize, param: &'static str, from: usize },
    }
    let trim = |from, to| TrimmedText::from(text.get(from..to).unwrap()).as_str().to_owned();
    let set = |params: &mut Vec<(String, String)>, param: &str, value: String| match params
        .iter_mut()
        .find(|(known, _)| known == param)
    {
        Some((_, old)) => *old = value,
        None => params.push((param.to_owned(), value)),
    };
    let show = |name: &str, params: &[(String, String)], partial| {
        let params: Vec<_> = params.iter().map(|(p, v)| format!("{p}: {v:?}")).collect();
        format!("{name}{{{}}}{}", params.join(", "), more(partial))
    };
    let mut blocks = Vec::new();
    let mut params = Vec::new();
    let mut state = State::Text { from: 0 };
    for end in text.char_indices().map(|(i, c)| i + c.len_utf8()) {
        let read = text.split_at(end).0;
        state = match state {
            State::Text { from } => {
                let mut tools = vocabulary.tools();
                match tools.find(|tool| read.ends_with(&format!("<{tool}>"))) {
                    None => State::Text { from },
                    Some(tool) => {
                        let before = trim(from, end - tool.len() - 2);
                        if !before.is_empty() {
                            blocks.push(format!("{before:?}"));
                        }
                        params.clear();
                        State::Tool { name: tool, body: end }
                    }
                }
            }
            State::Tool { name, body } => {
                let opened = ALL_PARAMETERS.iter().find(|p| read.ends_with(&format!("<{p}>")));
                if let Some(param) = opened {
                    State::Value { name, body, param, from: end }
                } else if read.ends_with(&format!("</{name}>")) {
                    let inside = text.get(body..end - name.len() - 3).unwrap();
                    if name == "write_to_file"
                        && let Some(first) = inside.find("<content>")
                        && let Some(last) = inside.rfind("</content>")
                        && last > first
                    {
                        let value = trim(body + first + "<content>".len(), body + last);
                        set(&mut params, "content", value);
                    }
                    blocks.push(show(name, &params, false));
                    State::Text { from: end }
                } else {
                    State::Tool { name, body }
                }
            }
            State::Value { name, body, param, from } => {
                if read.ends_with(&format!("</{param}>")) {
                    set(&mut params, param, trim(from, end - param.len() - 3));
                    State::Tool { name, body }
                } else {
                    State::Value { name, body, param, from }
                }
            }
        };
    }
    match state {
        State::Text { from } => {
            let rest = trim(from, text.len());
            if !rest.is_empty() {
                blocks.push(format!("{rest:?} …"));
            }
        }
        State::Tool { name, .. } => blocks.push(show(name, &params, true)),
        State::Value { name, param, from, .. } => {
            set(&mut params, param, trim(from, text.len()));
            blocks.push(show(name, &params, true));
        }
    }
    blocks
}

/// Those that the generators below use.
const ALL_PARAMETERS: [&str; 9] = [
    "path",
    "content",
    "command",
    "regex",
    "arguments",
    "result",
    "requires_approval",
    "query",
    "text",
];

/// Replies made of tags, halves of tags and words.
fn reply() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        prop::sample::select(vec![
            "<read_file>",
            "</read_file>",
            "<write_to_file>",
            "</write_to_file>",
            "<list_files>",
            "</list_files>",
            "<path>",
            "</path>",
            "<content>",
            "</content>",
            "<command>",
            "</command>",
            "<",
            "</",
            ">",
            "<rea",
            "</pa",
            "<con",
            "</conten",
            " ",
            "\n",
            "a",
            "é",
            "你",
            "🌍",
            "`",
            "```",
            "<think>",
            "</think>",
            "<thinking>",
            "</thinking>",
        ])
        .prop_map(str::to_owned),
        "[a-z<>/` \u{feff}]{0,3}",
    ];
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

fn cuts(text: &str, seeds: &[prop::sample::Index]) -> Vec<usize> {
    let boundaries = inner_boundaries(text);
    if boundaries.is_empty() {
        return Vec::new();
    }
    let mut cuts: Vec<_> = seeds.iter().map(|seed| *seed.get(&boundaries)).collect();
    cuts.sort_unstable();
    cuts.dedup();
    cuts
}

fn seeds() -> impl Strategy<Value = Vec<prop::sample::Index>> {
    prop::collection::vec(any::<prop::sample::Index>(), 0..8)
}

fn think_events(text: &str, cuts: &[usize], tags: ThinkTags) -> Vec<(char, String)> {
    let mut splitter = ThinkSplitter::new(tags);
    let mut events: Vec<(char, String)> = Vec::new();
    let mut sink = |event: ThinkEvent<'_>| {
        let (mark, piece) = match event {
            ThinkEvent::Text(piece) => ('t', piece),
            ThinkEvent::Reasoning(piece) => ('r', piece),
            ThinkEvent::Open => ('<', ""),
            ThinkEvent::Close => ('>', ""),
        };
        match events.last_mut() {
            Some((last, text)) if *last == mark && !piece.is_empty() => text.push_str(piece),
            _ => events.push((mark, piece.to_owned())),
        }
    };
    let mut at = 0;
    for cut in cuts.iter().copied().chain([text.len()]) {
        splitter.push(text.get(at..cut).unwrap(), &mut sink);
        at = cut;
    }
    splitter.finish(&mut sink);
    events
}

proptest! {
    #[test]
    fn incremental_equals_the_rules(text in reply(), seeds in seeds()) {
        let vocabulary = standard();
        let expected = reference_blocks(&vocabulary, &text);
        let blocks = parse_split(&vocabulary, &text, &cuts(&text, &seeds));
        prop_assert_eq!(dump_unmarked(&blocks), expected);
    }

    #[test]
    fn blocks_never_decrease_and_complete_ones_never_change(text in reply()) {
        let mut blocks = TagBlocks::new(standard());
        let mut before = Vec::<TagBlock>::new();
        for c in text.chars() {
            blocks.push(c.encode_utf8(&mut [0; 4]));
            let now = blocks.so_far();
            prop_assert!(now.len() >= before.len());
            for (old, new) in before.iter().zip(&now) {
                let complete = matches!(
                    old,
                    TagBlock::Text { partial: false, .. } | TagBlock::Tool { partial: false, .. }
                );
                prop_assert!(!complete || old == new, "{old:?} became {new:?}");
            }
            before = now;
        }
    }

    #[test]
    fn thinking_splits_the_same_in_any_pieces(text in reply(), seeds in seeds()) {
        for tags in [ThinkTags::Anywhere, ThinkTags::AtStart] {
            let whole = think_events(&text, &[], tags);
            prop_assert_eq!(think_events(&text, &cuts(&text, &seeds), tags), whole);
        }
    }

    #[test]
    fn a_shown_text_only_grows(text in reply()) {
        let mut shown = String::new();
        for end in inner_boundaries(&text) {
            let prefix = TrimmedText::from(text.get(..end).unwrap());
            let prefix = prefix.as_str();
            let place = Place::at_end_of(prefix);
            let now = shown_text(prefix, Arrival::Partial, place);
            prop_assert!(prefix.starts_with(now));
            if place == Place::Prose && Place::at_end_of(&shown) == Place::Prose {
                prop_assert!(now.starts_with(&shown), "{shown:?} became {now:?}");
            }
            shown = now.to_owned();
        }
    }

    #[test]
    fn any_text_is_survived(text in "\\PC{0,64}", seeds in seeds()) {
        let cuts = cuts(&text, &seeds);
        let blocks = parse_split(&standard(), &text, &cuts);
        prop_assert_eq!(dump_all(&blocks), dump_all(&parse_tags(&standard(), &text)));
        prop_assert!(shown_value("path", &text).len() <= text.len());
    }
}
