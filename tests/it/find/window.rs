//! The bar in the window, driven by what a screen reader sees and by keys.

use std::{path::PathBuf, time::Duration};

use egui::{Event, Key, Modifiers, Role, Vec2};
use egui_kittest::{Harness, kittest::Queryable as _};
use letterpress::{
    app::window::{Start, Window},
    view::Finding,
    wire::demo::Pace,
};

fn harness(start: Start) -> Harness<'static, Window> {
    let mut harness = Harness::builder()
        .with_size(Vec2::new(1200.0, 800.0))
        .allow_missing_glyphs()
        .build_eframe(|creation| Window::new(&creation.egui_ctx, start));
    settle(&mut harness);
    harness
}

fn file(name: &str) -> Harness<'static, Window> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/corpora/window").join(name);
    harness(Start { files: vec![path], ..Start::default() })
}

fn finding(harness: &Harness<'static, Window>) -> Option<Finding> {
    harness.state().view()?.finding()
}

fn settle(harness: &mut Harness<'static, Window>) {
    for _ in 0..500 {
        harness.run_steps(2);
        let found =
            finding(harness).is_none_or(|finding| finding.is_done || finding.error.is_some());
        if harness.state().is_settled() && found {
            break;
        }
        std::thread::park_timeout(Duration::from_millis(4));
    }
    harness.run_steps(3);
}

fn open(harness: &mut Harness<'static, Window>, needle: &str) {
    harness.key_press_modifiers(Modifiers::COMMAND, Key::F);
    harness.run_steps(2);
    harness.event(Event::Text(needle.to_owned()));
    settle(harness);
}

#[test]
fn ctrl_f_types_counts_and_closes() {
    let mut harness = file("long.jsonl");
    open(&mut harness, "the");
    let found = finding(&harness).expect("the bar is open");
    assert!(found.hits > 10 && found.current.is_some(), "{found:?}");
    let field = harness.get_by_label("Find in conversation");
    assert!(field.is_focused());
    let count = format!("{} of {}", found.current.expect("a hit"), found.hits);
    harness.get_by_label(&count);
    harness.get_by_label("Next match (Enter)").click();
    settle(&mut harness);
    let next = finding(&harness).expect("the bar is open").current;
    assert_eq!(next, found.current.map(|current| current % found.hits + 1));
    harness.get_by_label("Close (Esc)").click();
    settle(&mut harness);
    assert_eq!(finding(&harness), None);
    harness.key_press(Key::F3);
    settle(&mut harness);
    let again = finding(&harness).expect("F3 opens it again");
    assert_eq!(again.hits, found.hits, "with the last needle");
}

#[test]
fn toggles_change_what_is_found() {
    let mut harness = file("long.jsonl");
    open(&mut harness, "the");
    let all = finding(&harness).expect("open").hits;
    harness.key_press_modifiers(Modifiers::ALT, Key::W);
    settle(&mut harness);
    let words = finding(&harness).expect("open").hits;
    assert!(words <= all && words > 0);
    harness.key_press_modifiers(Modifiers::ALT, Key::C);
    settle(&mut harness);
    assert!(finding(&harness).expect("open").hits <= words);
    harness.get_by_label("Match case (Alt C)").click();
    settle(&mut harness);
    assert_eq!(finding(&harness).expect("open").hits, words);
    harness.key_press_modifiers(Modifiers::ALT, Key::R);
    harness.event(Event::Text("(".to_owned()));
    settle(&mut harness);
    let wrong = finding(&harness).expect("open");
    assert_eq!((wrong.hits, wrong.error.as_deref()), (0, Some("unclosed group")));
    harness.get_by_label("unclosed group");
}

#[test]
fn what_is_searched_can_be_chosen() {
    let mut harness = file("group.jsonl");
    open(&mut harness, "src");
    let all = finding(&harness).expect("open").hits;
    assert!(all >= 3);
    harness.get_by_label("What is searched").click();
    harness.run_steps(3);
    harness.get_by_label("Tool calls").click();
    settle(&mut harness);
    let fewer = finding(&harness).expect("open").hits;
    assert!(fewer < all, "{fewer} of {all}");
    // Escape closes the menu first, then the bar.
    harness.key_press(Key::Escape);
    settle(&mut harness);
    harness.key_press(Key::Escape);
    settle(&mut harness);
    assert_eq!(finding(&harness), None);
}

#[test]
fn nothing_found_is_said() {
    let mut harness = file("group.jsonl");
    open(&mut harness, "no such thing anywhere");
    harness.get_by_label("No results");
}

/// An open bar is idle when the search is over.
#[test]
fn an_open_bar_asks_for_no_frames() {
    let mut harness = file("long.jsonl");
    open(&mut harness, "the");
    harness.ctx.memory_mut(egui::Memory::stop_text_input);
    harness.run_steps(10);
    let delay = harness.output().viewport_output.values().map(|out| out.repaint_delay).min();
    assert!(delay.is_none_or(|delay| delay > Duration::from_secs(1)), "{delay:?}");
}

#[test]
fn the_composer_has_the_keyboard_again() {
    let mut harness =
        harness(Start { chat: Some(Default::default()), pace: Pace::AtOnce, ..Start::default() });
    harness.get_by_role(Role::MultilineTextInput).focus();
    harness.run_steps(2);
    harness.get_by_role(Role::MultilineTextInput).type_text("Why is it slow?");
    harness.run_steps(2);
    harness.key_press(Key::Enter);
    settle(&mut harness);
    harness.get_by_role(Role::MultilineTextInput).focus();
    harness.run_steps(2);
    open(&mut harness, "slow");
    assert!(finding(&harness).expect("open").hits >= 1);
    assert!(!harness.get_by_role(Role::MultilineTextInput).is_focused());
    harness.key_press(Key::Escape);
    settle(&mut harness);
    assert_eq!(finding(&harness), None);
    assert!(harness.get_by_role(Role::MultilineTextInput).is_focused());
}

/// Escape in the bar does not stop the answer that is arriving.
#[test]
fn escape_closes_the_bar_before_it_stops_an_answer() {
    let mut harness =
        harness(Start { chat: Some(Default::default()), pace: Pace::Natural, ..Start::default() });
    harness.get_by_role(Role::MultilineTextInput).focus();
    harness.run_steps(2);
    harness.get_by_role(Role::MultilineTextInput).type_text("Tell me a long story");
    harness.run_steps(2);
    harness.key_press(Key::Enter);
    let is_busy = |harness: &Harness<'static, Window>| {
        harness.state().snapshot().is_some_and(|snapshot| snapshot.phase.is_busy())
    };
    while !is_busy(&harness) {
        harness.run_steps(1);
        std::thread::park_timeout(Duration::from_millis(1));
    }
    harness.key_press_modifiers(Modifiers::COMMAND, Key::F);
    harness.run_steps(2);
    harness.key_press(Key::Escape);
    harness.run_steps(2);
    assert_eq!(finding(&harness), None);
    assert!(is_busy(&harness));
}
