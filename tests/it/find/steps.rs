//! From hit to hit: order, turning at the end, what is unfolded, where it comes on screen.

use std::sync::Arc;

use egui::{Key, Modifiers, Vec2};
use letterpress::{
    engine::find::Needle,
    model::{
        MemorySource, Message, Output, Part, Role, Text, Thinking, ToolCall, ToolResult, ToolState,
    },
};

use super::bench::Bench;
use crate::bed::{message, text};

pub(super) fn call(name: &str, arguments: serde_json::Value, output: &str) -> Part {
    let result = ToolResult {
        call_id: "c".into(),
        tool_name: name.into(),
        is_error: false,
        output: Output::plain(output),
        told: None,
        images: Vec::new(),
        details: serde_json::Value::Null,
    };
    Part::ToolCall(Arc::new(ToolCall {
        id: "c".into(),
        name: name.into(),
        arguments,
        state: ToolState::Ok,
        result: Some(Arc::new(result)),
        superseded: 0,
        duration_ms: None,
    }))
}

pub(super) fn thinking(words: &str) -> Part {
    Part::Thinking(Thinking { text: Text::unparsed(words), redacted: false, duration_ms: None })
}

/// Every tenth of the messages has the needle twice.
fn stack(count: u64) -> Vec<Message> {
    let say = |id: u64| match id % 10 {
        4 => "a needle here and\n\nanother needle there".to_owned(),
        _ => format!("hay {id}\n\nand more hay"),
    };
    (0..count).map(|id| message(id, Role::User, vec![text(&say(id))])).collect()
}

fn place(bench: &mut Bench) -> (String, f32) {
    let (words, rect) = bench.here().expect("the hit is on screen");
    (words, rect.top())
}

#[test]
fn steps_go_through_all_hits_and_turn() {
    let mut bench = Bench::of(stack(100));
    bench.0.key_press(Key::Home);
    bench.0.run_steps(2);
    bench.view().open_find();
    bench.0.run_steps(2);
    let first = bench.type_text("needle");
    assert_eq!((first.hits, first.messages, first.current), (20, 10, Some(1)));
    for step in [2, 3, 4] {
        let finding = bench.press(Modifiers::NONE, Key::Enter);
        assert_eq!(finding.current, Some(step));
        let (words, top) = place(&mut bench);
        assert_eq!(words, "needle");
        assert!((36.0..600.0).contains(&top), "{top}");
    }
    assert_eq!(bench.press(Modifiers::SHIFT, Key::Enter).current, Some(3));
    assert_eq!(bench.press(Modifiers::NONE, Key::F3).current, Some(4));
    assert_eq!(bench.press(Modifiers::SHIFT, Key::F3).current, Some(3));
    assert_eq!(bench.press(Modifiers::COMMAND, Key::G).current, Some(4));
    assert_eq!(bench.press(Modifiers::COMMAND | Modifiers::SHIFT, Key::G).current, Some(3));
    for step in [2, 1, 20, 19] {
        assert_eq!(bench.press(Modifiers::SHIFT, Key::F3).current, Some(step));
    }
    for step in [20, 1] {
        assert_eq!(bench.press(Modifiers::NONE, Key::F3).current, Some(step));
    }
}

#[test]
fn the_next_hit_is_the_next_one_from_where_the_reader_is() {
    let mut bench = Bench::of(stack(200));
    let at_end = bench.find("needle");
    assert_eq!(at_end.hits, 40);
    assert!(at_end.current >= Some(39), "the reader is at the end: {at_end:?}");
    bench.0.key_press(Key::Home);
    bench.0.run_steps(3);
    assert_eq!(bench.press(Modifiers::NONE, Key::F3).current, Some(1));
    let middle = 0.5 * bench.view().visible().total;
    bench.view().scroll_by(middle);
    bench.0.run_steps(3);
    let row = bench.view().visible().placed[0].row as u64;
    let above = (row + 5) / 10 * 2;
    assert_eq!(bench.press(Modifiers::NONE, Key::F3).current, Some(above + 1), "at row {row}");
    bench.view().scroll_by(2_000.0);
    bench.0.run_steps(3);
    let row = bench.view().visible().placed[0].row as u64;
    let above = (row + 5) / 10 * 2;
    assert_eq!(bench.press(Modifiers::SHIFT, Key::F3).current, Some(above), "at row {row}");
}

#[test]
fn a_hit_comes_to_a_third_from_the_top_unless_it_is_seen() {
    let mut bench = Bench::of(stack(100));
    bench.0.key_press(Key::Home);
    bench.0.run_steps(2);
    bench.find("needle");
    bench.press(Modifiers::NONE, Key::F3);
    bench.press(Modifiers::NONE, Key::F3);
    let before = bench.top();
    let (_, top) = place(&mut bench);
    // The page is 584 points high within the margins of the window.
    assert!((top - 584.0 / 3.0).abs() < 1.0, "a third from the top: {top}");
    let (_, first) = place(&mut bench);
    bench.press(Modifiers::NONE, Key::F3);
    let (_, second) = place(&mut bench);
    assert!(second > first);
    assert!((bench.top() - before).abs() < 0.01, "the next one could be seen");
}

#[test]
fn what_hides_a_hit_is_unfolded() {
    let long: String = (0..400).map(|n| format!("line {n}\n")).collect();
    let messages = vec![
        message(1, Role::User, vec![text("go")]),
        message(
            2,
            Role::Assistant,
            vec![
                thinking("I wonder about a needle"),
                text(
                    "Before.\n\n<details><summary>More</summary>\n\nhere a needle\n\n</details>\n\nAfter.",
                ),
                call("bash", serde_json::json!({"command": "run"}), &format!("needle\n{long}")),
            ],
        ),
        message(
            3,
            Role::Assistant,
            vec![
                call("read", serde_json::json!({"path": "a.rs"}), "nothing"),
                call(
                    "read",
                    serde_json::json!({"path": "b.rs"}),
                    &format!("{long}a needle\n{long}"),
                ),
            ],
        ),
        message(4, Role::Assistant, vec![call("read", serde_json::json!({"path": "c"}), "needle")]),
        message(5, Role::User, vec![text(&"tail\n\n".repeat(60))]),
    ];
    let mut bench = Bench::of(messages);
    bench.0.key_press(Key::Home);
    bench.0.run_steps(2);
    let mut finding = bench.find("needle");
    assert_eq!((finding.hits, finding.messages), (5, 3));
    for number in 1..=5 {
        assert_eq!(finding.current, Some(number));
        let (words, rect) = bench.here().expect("the hit is on screen");
        assert_eq!(words, "needle", "hit {number}");
        assert!(rect.top() > 36.0 && rect.bottom() < 600.0, "hit {number}: {rect}");
        finding = bench.press(Modifiers::NONE, Key::F3);
    }
}

#[test]
fn sideways_scrolled_blocks_bring_their_hit_into_view() {
    let wide = format!("{}needle{}", "x ".repeat(300), " y".repeat(300));
    let code = format!("```\nshort needle\n{wide}\n```");
    let mut bench = Bench::of(vec![message(1, Role::Assistant, vec![text(&code)])]);
    assert_eq!(bench.find("needle").hits, 2);
    let (_, first) = bench.here().expect("on screen");
    bench.press(Modifiers::NONE, Key::F3);
    let (_, second) = bench.here().expect("on screen");
    assert!((0.0..760.0).contains(&second.left()) && second.right() < 760.0, "{second}");
    bench.press(Modifiers::NONE, Key::F3);
    let (_, back) = bench.here().expect("on screen");
    assert!((back.left() - first.left()).abs() < 1.0, "{back} as {first}");
}

#[test]
fn escape_returns_from_a_look_and_stays_after_a_step() {
    let mut bench = Bench::of(stack(300));
    let place = bench.view().visible().total / 2.0;
    bench.view().scroll_by(-place);
    bench.0.run_steps(3);
    let before = bench.anchor();
    bench.view().open_find();
    bench.0.run_steps(2);
    bench.type_text("hay 7");
    assert_ne!(bench.anchor(), before, "a look at the nearest hit");
    bench.press(Modifiers::NONE, Key::Escape);
    assert!(!bench.is_open());
    assert_eq!(bench.anchor(), before, "back to where it was");

    bench.view().open_find();
    bench.0.run_steps(2);
    bench.type_text("needle");
    bench.press(Modifiers::NONE, Key::Enter);
    let there = bench.anchor();
    bench.press(Modifiers::NONE, Key::Escape);
    assert_ne!(there, before);
    assert_eq!(bench.anchor(), there, "after a step the reader stays");
    assert!(!bench.is_open());
}

/// What was unfolded for a look is folded again.
#[test]
fn a_look_leaves_folds_as_they_were() {
    let mut messages = stack(3);
    messages.push(message(9, Role::Assistant, vec![thinking("a secret"), text("said")]));
    let mut bench = Bench::of(messages);
    let slugs = bench.view().visible_slugs();
    bench.view().open_find();
    bench.0.run_steps(2);
    assert_eq!(bench.type_text("secret").current, Some(1));
    assert!(bench.here().is_some() && bench.view().visible_slugs() > slugs);
    bench.press(Modifiers::NONE, Key::Escape);
    assert_eq!(bench.view().visible_slugs(), slugs);
}

#[test]
fn a_growing_conversation_is_searched_on() {
    let mut bench = Bench::of(stack(50));
    let first = bench.find("needle");
    assert_eq!((first.hits, first.rows_read), (10, 50));
    for n in 0..20 {
        let more = message(100 + n, Role::Assistant, vec![text("one more needle")]);
        bench.0.state_mut().source.push(more);
        let finding = bench.settle();
        assert_eq!(finding.hits, 11 + n);
        assert_eq!(finding.current, first.current, "the reader stays at his hit");
        assert_eq!(finding.rows_read, 51 + n, "only what is new is read");
    }
}

#[test]
fn another_needle_begins_again() {
    let mut bench = Bench::new(MemorySource::new(stack(40)), Vec2::new(700.0, 500.0));
    assert_eq!(bench.find("needle").hits, 8);
    assert_eq!(bench.find("hay 3").hits, 10, "hay 3 and hay 30 to 39 but 34");
    assert_eq!(bench.find("").hits, 0);
    let nothing = bench.find("no such words");
    assert_eq!((nothing.hits, nothing.current), (0, None));
    let wrong = bench.find_needle(Needle { text: "(".into(), regex: true, ..Needle::default() });
    assert_eq!(wrong.error.as_deref(), Some("unclosed group"));
    assert_eq!(bench.find("needle").error, None);
}

/// What is selected is what is looked for.
#[test]
fn the_selected_word_becomes_the_needle() {
    let mut bench = Bench::of(stack(30));
    bench.find("another");
    let (_, rect) = bench.here().expect("on screen");
    // The column is centred in the window; a double click takes the word under it.
    let at = egui::pos2(8.0 + (900.0 - 16.0 - 12.0 - 760.0) / 2.0, 8.0) + rect.center().to_vec2();
    bench.press(Modifiers::NONE, Key::Escape);
    for _ in 0..2 {
        for pressed in [true, false] {
            let (button, modifiers) = (egui::PointerButton::Primary, Modifiers::NONE);
            bench.0.event(egui::Event::PointerMoved(at));
            bench.0.event(egui::Event::PointerButton { pos: at, button, pressed, modifiers });
        }
        bench.0.run_steps(1);
    }
    bench.0.key_press_modifiers(Modifiers::COMMAND, Key::F);
    let finding = bench.settle();
    assert_eq!((finding.hits, finding.messages), (3, 3), "{finding:?}");
}
