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

use crate::live::server::{self, Act, Server};

pub(crate) fn harness(pace: Pace) -> Harness<'static, Window> {
    let demo = ProviderFlags { provider: Some("demo".to_owned()), ..ProviderFlags::default() };
    window(demo, pace)
}

/// A window whose conversation is answered by a server.
pub(crate) fn served(server: &Server) -> Harness<'static, Window> {
    let flags = ProviderFlags {
        provider: Some("openai".to_owned()),
        base_url: Some(format!("{}/v1", server.base)),
        model: Some("m".to_owned()),
        ..ProviderFlags::default()
    };
    let mut harness = window(flags, Pace::AtOnce);
    until(&mut harness, "the server is chosen", |window| {
        window.snapshot().is_some_and(|snapshot| &*snapshot.settings.provider == "openai")
    });
    harness
}

fn window(flags: ProviderFlags, pace: Pace) -> Harness<'static, Window> {
    let start = Start { chat: Some(flags), pace, ..Start::default() };
    let mut harness = Harness::builder()
        .with_size(Vec2::new(1200.0, 800.0))
        .allow_missing_glyphs()
        .build_eframe(|creation| Window::new(&creation.egui_ctx, start));
    harness.run_steps(4);
    harness
}

/// Runs frames until something holds; fails after a while.
pub(crate) fn until(
    harness: &mut Harness<'static, Window>,
    what: &str,
    holds: impl Fn(&Window) -> bool,
) {
    let limit = perf::now() + Duration::from_secs(60);
    while !holds(harness.state()) {
        assert!(perf::now() < limit, "never: {what}");
        harness.run_steps(1);
        std::thread::park_timeout(Duration::from_millis(4));
    }
    harness.run_steps(2);
}

pub(crate) fn phase(window: &Window) -> Phase {
    window.snapshot().map(|snapshot| snapshot.phase).unwrap_or_default()
}

pub(crate) fn has_ended(window: &Window) -> bool {
    window.snapshot().is_some_and(|snapshot| snapshot.end.is_some()) && phase(window) == Phase::Idle
}

pub(crate) fn ask(harness: &mut Harness<'static, Window>, words: &str) {
    let composer = || Role::MultilineTextInput;
    harness.get_by_role(composer()).focus();
    harness.run_steps(2);
    harness.get_by_role(composer()).type_text(words);
    harness.run_steps(2);
    harness.key_press(Key::Enter);
    harness.run_steps(1);
}

pub(crate) fn composed(harness: &Harness<'static, Window>) -> String {
    harness.get_by_role(Role::MultilineTextInput).value().unwrap_or_default()
}

/// All prose of the last message.
pub(crate) fn last_words(window: &Window) -> String {
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

/// Every byte that a server sends, one at a time, is on screen in the end.
#[test]
fn a_server_that_sends_single_bytes_is_shown_whole() {
    let answer = "# Title\n\nSome **bold** words, `code` and 日本語.\n\n- one\n- two\n";
    let mut acts = vec![server::sse()];
    let body = [server::text(answer), server::finish("stop")].concat();
    acts.extend(body.into_iter().map(|byte| Act::Send(vec![byte])));
    acts.push(Act::Finish);
    let server = Server::new(vec![acts]);
    let mut harness = served(&server);
    ask(&mut harness, "Show me");
    until(&mut harness, "the answer ends", has_ended);
    assert_eq!(last_words(harness.state()).trim(), answer.trim());
    let shown = harness.state().view().expect("a view").visible().placed.iter();
    let galleys = shown.filter_map(|placed| placed.slug.as_ref()).flat_map(|slug| &slug.lines);
    let text: String = galleys.map(|line| format!("{}\n", line.rows.text())).collect();
    assert!(text.contains("Some bold words, code and 日本語."), "{text}");
}

/// A server that breaks off leaves what came, says so, and can be asked again.
#[test]
fn a_broken_connection_keeps_what_came_and_offers_to_retry() {
    let broken = vec![server::sse(), Act::Send(server::text("Half a sen")), Act::Reset];
    let server = Server::new(vec![broken, server::whole(&["A whole sentence."])]);
    let mut harness = served(&server);
    ask(&mut harness, "Go on");
    until(&mut harness, "the turn ends", has_ended);
    assert!(last_words(harness.state()).starts_with("Half a"));
    harness.get_by_label("Retry").click();
    until(&mut harness, "it is answered anew", |window| {
        last_words(window) == "A whole sentence." && phase(window) == Phase::Idle
    });
    harness.get_by_label("Send");
}

/// Stopping before the first byte gives the composer back at once.
#[test]
fn stop_before_the_first_byte() {
    let server = Server::new(vec![vec![Act::AwaitClose]]);
    let mut harness = served(&server);
    ask(&mut harness, "Anybody there?");
    until(&mut harness, "it waits", |window| matches!(phase(window), Phase::Waiting { .. }));
    harness.get_by_label("Stop").click();
    until(&mut harness, "it stops", |window| phase(window) == Phase::Idle);
    harness.get_by_label("Send");
    assert_eq!(composed(&harness), "");
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
