//! A conversation from an empty window to a finished answer, by keys and by what a screen
//! reader sees; the demo's recordings answer.

use std::{sync::Arc, time::Duration};

use egui::{Key, Role, Vec2};
use egui_kittest::{Harness, kittest::Queryable as _};
use letterpress::{
    app::{
        cli::ProviderFlags,
        window::{Start, Window},
    },
    model::{Part, Phase, Role as Speaker, StopReason},
    perf,
    wire::demo::Pace,
};

fn harness(pace: Pace) -> Harness<'static, Window> {
    let flags = ProviderFlags { provider: Some("demo".to_owned()), ..ProviderFlags::default() };
    let start = Start { chat: Some(flags), pace, ..Start::default() };
    let mut harness = Harness::builder()
        .with_size(Vec2::new(1200.0, 800.0))
        .allow_missing_glyphs()
        .build_eframe(|creation| Window::new(&creation.egui_ctx, start));
    harness.run_steps(4);
    harness
}

/// Runs frames until something holds; fails after a while.
fn until(harness: &mut Harness<'static, Window>, what: &str, holds: impl Fn(&Window) -> bool) {
    let limit = perf::now() + Duration::from_secs(60);
    while !holds(harness.state()) {
        assert!(perf::now() < limit, "never: {what}");
        harness.run_steps(1);
        std::thread::park_timeout(Duration::from_millis(4));
    }
    harness.run_steps(2);
}

fn phase(window: &Window) -> Phase {
    window.snapshot().map(|snapshot| snapshot.phase).unwrap_or_default()
}

fn has_ended(window: &Window) -> bool {
    window.snapshot().is_some_and(|snapshot| snapshot.end.is_some()) && phase(window) == Phase::Idle
}

fn ask(harness: &mut Harness<'static, Window>, words: &str) {
    let composer = || Role::MultilineTextInput;
    harness.get_by_role(composer()).focus();
    harness.run_steps(2);
    harness.get_by_role(composer()).type_text(words);
    harness.run_steps(2);
    harness.key_press(Key::Enter);
    harness.run_steps(1);
}

fn composed(harness: &Harness<'static, Window>) -> String {
    harness.get_by_role(Role::MultilineTextInput).value().unwrap_or_default()
}

/// All prose of the last message.
fn last_words(window: &Window) -> String {
    let Some(snapshot) = window.snapshot() else { return String::new() };
    let texts = snapshot.messages().next_back().map(|message| {
        let texts = message.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.source.to_string()),
            _ => None,
        });
        texts.collect::<String>()
    });
    texts.unwrap_or_default()
}

#[test]
fn from_an_empty_window_to_a_finished_answer() {
    let mut harness = harness(Pace::AtOnce);
    assert!(harness.state().snapshot().is_some_and(|snapshot| snapshot.is_empty()));
    ask(&mut harness, "Why does the frame time grow?");
    until(&mut harness, "the answer ends", has_ended);
    assert!(last_words(harness.state()).contains("Try it"));
    assert_eq!(composed(&harness), "", "the box is empty once the message is taken");
    harness.get_by_label("Send");
    assert_eq!(harness.state().titles(), ["Why does the frame time grow?"]);
}

/// Nothing animates after the end.
#[test]
fn after_the_end_nothing_asks_for_frames() {
    let mut harness = harness(Pace::AtOnce);
    ask(&mut harness, "Hello");
    until(&mut harness, "the answer ends", has_ended);
    // The caret of the composer blinks while it has focus, and rests when it has not.
    harness.ctx.memory_mut(|memory| memory.stop_text_input());
    until(&mut harness, "pictures and colours have come", Window::is_settled);
    harness.run_steps(10);
    let delay = harness.output().viewport_output.values().map(|out| out.repaint_delay).min();
    assert!(delay.is_none_or(|delay| delay > Duration::from_secs(1)), "{delay:?}");
}

#[test]
fn escape_stops_and_keeps_what_came() {
    let mut harness = harness(Pace::Natural);
    ask(&mut harness, "Tell me a long story");
    until(&mut harness, "some words come", |window| last_words(window).len() > 20);
    harness.get_by_role(Role::MultilineTextInput).focus();
    harness.run_steps(2);
    harness.key_press(Key::Escape);
    harness.run_steps(1);
    let pressed = perf::now();
    until(&mut harness, "it stops", |window| phase(window) == Phase::Idle);
    assert!(pressed.elapsed() < Duration::from_secs(2), "{:?}", pressed.elapsed());
    let snapshot = Arc::clone(harness.state().snapshot().expect("a conversation"));
    let answer = snapshot.messages().next_back().expect("what came is kept");
    assert_eq!(answer.stop, Some(StopReason::Aborted));
    assert!(!last_words(harness.state()).is_empty());
    harness.get_by_label("Send");
}

#[test]
fn up_brings_the_last_prompt_back_and_sends_it_anew() {
    let mut harness = harness(Pace::AtOnce);
    ask(&mut harness, "First words");
    until(&mut harness, "the answer ends", has_ended);
    harness.get_by_role(Role::MultilineTextInput).focus();
    harness.run_steps(2);
    harness.key_press(Key::ArrowUp);
    harness.run_steps(2);
    assert_eq!(composed(&harness), "First words");
    harness.key_press(Key::Enter);
    until(&mut harness, "it is taken", |window| {
        window.snapshot().is_some_and(|snapshot| !snapshot.aside.is_empty())
    });
    until(&mut harness, "the answer ends", has_ended);
    let snapshot = Arc::clone(harness.state().snapshot().expect("a conversation"));
    let prompts = snapshot.messages().filter(|message| message.role == Speaker::User).count();
    assert_eq!(prompts, 1, "the edited prompt stands in the place of the first");
}

/// Invariant: nothing moves under the reader while an answer arrives.
#[test]
fn what_is_read_stays_while_it_streams() {
    let mut harness = harness(Pace::AtOnce);
    ask(&mut harness, "First");
    until(&mut harness, "the answer ends", has_ended);
    ask(&mut harness, "Second");
    until(&mut harness, "the answer ends", has_ended);
    harness.ctx.memory_mut(|memory| memory.stop_text_input());
    harness.run_steps(1);
    harness.key_press(Key::Home);
    harness.run_steps(3);
    let place = |harness: &Harness<'static, Window>| {
        let view = harness.state().view().expect("a view");
        view.visible().placed.first().map(|placed| (placed.id, placed.y))
    };
    let before = place(&harness);
    // Another answer arrives below while this is read.
    let (sent, _) = (harness.state_mut().say("Third"), ());
    assert!(sent);
    until(&mut harness, "a third answer comes", |window| {
        window
            .snapshot()
            .is_some_and(|s| s.messages().filter(|m| m.role == Speaker::User).count() == 3)
    });
    until(&mut harness, "the answer ends", has_ended);
    assert_eq!(place(&harness), before);
}
