//! The window, driven by what a screen reader sees and by keys.

use std::{path::PathBuf, time::Duration};

use egui::{Key, Modifiers, OutputCommand, Vec2};
use egui_kittest::{Harness, kittest::Queryable as _};
use letterpress::app::window::{Start, Window};

fn harness(files: Vec<PathBuf>) -> Harness<'static, Window> {
    let mut harness =
        Harness::builder().with_size(Vec2::new(1200.0, 800.0)).allow_missing_glyphs().build_eframe(
            |creation| Window::new(&creation.egui_ctx, Start { files, ..Start::default() }),
        );
    settle(&mut harness);
    harness
}

/// Runs frames until the reading thread has brought what is shown.
fn settle(harness: &mut Harness<'static, Window>) {
    for _ in 0..200 {
        harness.run_steps(2);
        if harness.state().is_settled() {
            break;
        }
        std::thread::park_timeout(Duration::from_millis(5));
    }
    harness.run_steps(3);
}

fn fixture(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/corpora/window").join(name)
}

#[test]
fn it_opens_on_the_sample() {
    let harness = harness(Vec::new());
    assert_eq!(harness.state().titles(), ["Why long answers get slow"]);
    harness.get_by_label_contains("Prompt: You:").rect();
}

#[test]
fn a_group_opens_and_closes_where_it_was_clicked() {
    let mut harness = harness(vec![fixture("group.jsonl")]);
    harness.key_press(Key::Home);
    settle(&mut harness);
    let label = "Read 3 files, searched 1 pattern, closed";
    let before = harness.get_by_label(label).rect();
    harness.get_by_label(label).click();
    settle(&mut harness);
    let open = harness.get_by_label("Read 3 files, searched 1 pattern, open").rect();
    assert!((open.top() - before.top()).abs() < 0.6, "the line stays under the pointer");
    let row = |name: &str| harness.query_by_role_and_label(egui::Role::Button, name).is_some();
    assert!(row("src/one.rs  done, closed") && row("src/three.rs  done, closed"));
    harness.get_by_label("Read 3 files, searched 1 pattern, open").click();
    settle(&mut harness);
    assert!(harness.query_by_label_contains("src/one.rs").is_none());
}

#[test]
fn keys_move_through_the_conversation() {
    let mut harness = harness(vec![fixture("long.jsonl")]);
    assert!(harness.state().view().is_some_and(|view| view.visible().at_end));
    harness.key_press(Key::Home);
    settle(&mut harness);
    let top = |harness: &Harness<'_, Window>| harness.state().view().map(|view| view.visible().top);
    assert_eq!(top(&harness), Some(0.0));
    harness.key_press(Key::PageDown);
    settle(&mut harness);
    let page = top(&harness).expect("a view");
    assert!(page > 500.0, "{page}");
    harness.key_press(Key::PageUp);
    settle(&mut harness);
    assert_eq!(top(&harness), Some(0.0));
    harness.key_press_modifiers(Modifiers::ALT, Key::ArrowDown);
    settle(&mut harness);
    // Below the line that repeats the prompt stands the next message.
    let view = harness.state().view().expect("a view");
    let below = view.visible().placed.iter().find(|placed| placed.y >= 36.0);
    assert_eq!(below.map(|placed| (placed.row, placed.y)), Some((1, 36.0)));
    harness.key_press(Key::End);
    settle(&mut harness);
    assert!(harness.state().view().is_some_and(|view| view.visible().at_end));
}

#[test]
fn tabs_are_chosen_by_click_and_by_key_and_closed() {
    let mut harness = harness(vec![fixture("group.jsonl"), fixture("long.jsonl")]);
    assert_eq!(harness.state().active(), 0);
    harness.key_press_modifiers(Modifiers::CTRL, Key::Tab);
    settle(&mut harness);
    assert_eq!(harness.state().active(), 1);
    harness.key_press_modifiers(Modifiers::COMMAND, Key::Num1);
    settle(&mut harness);
    assert_eq!(harness.state().active(), 0);
    harness.get_by_role_and_label(egui::Role::Tab, "long.jsonl").click();
    settle(&mut harness);
    assert_eq!(harness.state().active(), 1);
    harness.key_press_modifiers(Modifiers::COMMAND, Key::W);
    settle(&mut harness);
    assert_eq!(harness.state().titles(), ["Grouped calls"]);
    harness.key_press_modifiers(Modifiers::COMMAND, Key::W);
    settle(&mut harness);
    harness.get_by_label_contains("Open a conversation to read it.");
}

#[test]
fn a_file_that_cannot_be_opened_says_why() {
    let harness = harness(vec![fixture("no-such-file.jsonl")]);
    let said = harness.get_by_label_contains("This file cannot be shown");
    said.rect();
}

#[test]
fn the_theme_changes_and_the_place_stays() {
    let mut harness = harness(vec![fixture("long.jsonl")]);
    harness.key_press(Key::Home);
    harness.key_press(Key::PageDown);
    settle(&mut harness);
    let anchor = |harness: &Harness<'_, Window>| {
        harness.state().view().and_then(|view| Some(view.visible().placed.first()?.id.key))
    };
    let before = anchor(&harness);
    harness.ctx.set_theme(egui::Theme::Light);
    settle(&mut harness);
    assert_eq!(anchor(&harness), before);
    harness.ctx.set_theme(egui::Theme::Dark);
    settle(&mut harness);
    assert_eq!(anchor(&harness), before);
}

#[test]
fn copy_takes_the_code_and_no_escape_sequences() {
    let mut harness = harness(vec![fixture("group.jsonl")]);
    harness.get_by_label("copy").click();
    harness.step();
    let copied =
        harness.output().platform_output.commands.iter().find_map(|command| match command {
            OutputCommand::CopyText(text) => Some(text.clone()),
            _ => None,
        });
    let copied = copied.or_else(|| {
        harness.step();
        None
    });
    assert_eq!(copied.as_deref(), Some("let answer = 42;"));
}

#[test]
fn escape_closes_the_manual_and_keys_stay_in_it() {
    let mut harness = harness(vec![fixture("group.jsonl")]);
    harness.key_press(Key::F1);
    settle(&mut harness);
    assert!(harness.query_by_label_contains("Reads conversations").is_some());
    harness.key_press_modifiers(Modifiers::COMMAND, Key::O);
    settle(&mut harness);
    assert!(harness.query_by_label("Read 3 files, searched 1 pattern, open").is_none());
    harness.key_press(Key::Escape);
    settle(&mut harness);
    assert!(harness.query_by_label_contains("Reads conversations").is_none());
}

/// Invariant: idle means zero frames.
#[test]
fn an_idle_window_asks_for_no_frame() {
    let mut harness = harness(vec![fixture("long.jsonl")]);
    harness.run_steps(30);
    let delay = harness.output().viewport_output.values().map(|out| out.repaint_delay).min();
    assert!(delay.is_none_or(|delay| delay > Duration::from_secs(1)), "{delay:?}");
}

#[test]
fn wheel_up_leaves_the_end_and_the_pill_returns_to_it() {
    let mut harness = harness(vec![fixture("long.jsonl")]);
    harness.hover_at(egui::pos2(700.0, 400.0));
    harness.event(egui::Event::MouseWheel {
        unit: egui::MouseWheelUnit::Point,
        delta: Vec2::new(0.0, 300.0),
        phase: egui::TouchPhase::Move,
        source: egui::MouseWheelSource::Unknown,
        modifiers: Modifiers::NONE,
    });
    settle(&mut harness);
    assert!(harness.state().view().is_some_and(|view| !view.is_following()));
    harness.get_by_label("Jump to the end").click();
    settle(&mut harness);
    assert!(harness.state().view().is_some_and(letterpress::view::TranscriptView::is_following));
}
