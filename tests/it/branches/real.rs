//! The window with its engine, answered by the demo and by a server.

use std::{path::Path, sync::Arc, time::Duration};

use egui::{Key, Modifiers, Role, Vec2};
use egui_kittest::{Harness, kittest::Queryable as _};
use letterpress::{
    app::{
        cli::ProviderFlags,
        window::{Keep, Reopen, Start, Window},
    },
    model::{Delivery, MessageId, Part},
    wire::demo::Pace,
};
use tokio::sync::Notify;

use crate::{
    chat::{ask, composed, harness, has_ended, last_words, phase, served, until},
    live::server::{Act, Server, call, finish, sse, text, whole},
};

type Chat = Harness<'static, Window>;

/// Every message, as it is said.
fn said(window: &Window) -> Vec<String> {
    let Some(snapshot) = window.snapshot() else { return Vec::new() };
    let words = snapshot.messages().map(|message| {
        let texts = message.parts.iter().filter_map(|part| match part {
            Part::Text(text) => Some(text.source.to_string()),
            _ => None,
        });
        texts.collect::<String>()
    });
    words.collect()
}

fn waiting(window: &Window) -> Vec<(String, Delivery, bool)> {
    let Some(snapshot) = window.snapshot() else { return Vec::new() };
    let queued = snapshot.queued.iter();
    queued.map(|one| (one.draft.text.to_string(), one.delivery, one.is_held)).collect()
}

fn answered(chat: &mut Chat, words: &str) {
    ask(chat, words);
    until(chat, "it is taken", |window| said(window).iter().any(|said| said == words));
    until(chat, "it is answered", has_ended);
}

fn press(chat: &mut Chat, label: &str) {
    chat.get_by_label(label).click();
    chat.run_steps(3);
}

fn key(chat: &mut Chat, modifiers: Modifiers, key: Key) {
    chat.key_press_modifiers(modifiers, key);
    chat.run_steps(3);
}

/// Brings the pointer over a message by its place among the rows.
fn hover(chat: &mut Chat, row: usize) {
    let words = said(chat.state()).swap_remove(row);
    let rects = chat.query_all_by_label_contains(&words);
    let found = rects.map(|node| node.rect()).rfind(|rect| rect.width() > 600.0);
    let pos = found.unwrap_or_else(|| panic!("{words} is on screen")).center_bottom();
    chat.hover_at(pos - Vec2::new(100.0, 6.0));
    chat.run_steps(3);
}

fn write(chat: &mut Chat, words: &str) {
    chat.get_by_role(Role::MultilineTextInput).focus();
    chat.run_steps(2);
    chat.get_by_role(Role::MultilineTextInput).type_text(words);
    chat.run_steps(2);
}

/// A reply that ends when the gate opens.
fn gated(gate: &Arc<Notify>, words: &str) -> Vec<Act> {
    let end = [Act::Await(Arc::clone(gate)), Act::Send(finish("stop")), Act::Finish];
    [vec![sse(), Act::Send(text(words))], end.to_vec()].concat()
}

/// A reply that calls a tool that does not exist when the gate opens, and so asks again.
fn gated_call(gate: &Arc<Notify>) -> Vec<Act> {
    vec![
        sse(),
        Act::Send(text("Let me look.")),
        Act::Send(call(0, Some("x"), "{}")),
        Act::Await(Arc::clone(gate)),
        Act::Send(finish("tool_calls")),
        Act::Finish,
    ]
}

/// An earlier prompt is said in another way, and all that was there is still there.
#[test]
fn an_earlier_prompt_is_edited_and_both_branches_are_kept() {
    let server =
        Server::new(vec![whole(&["Answer one"]), whole(&["Answer two"]), whole(&["Answer three"])]);
    let mut chat = served(&server);
    answered(&mut chat, "Question one");
    answered(&mut chat, "Question two");
    write(&mut chat, "Half a thought");
    hover(&mut chat, 0);
    press(&mut chat, "Edit message");
    assert!(chat.query_by_label_contains("Editing an earlier message").is_some());
    assert_eq!(composed(&chat), "Question one");
    write(&mut chat, ", but better");
    key(&mut chat, Modifiers::NONE, Key::Enter);
    let other = ["Question one, but better", "Answer three"];
    until(&mut chat, "it is answered", |window| said(window) == other && has_ended(window));
    assert_eq!(composed(&chat), "Half a thought", "what was being written is back");
    let first = ["Question one", "Answer one", "Question two", "Answer two"];
    for _ in 0..3 {
        let y = chat.get_by_label("Previous version").rect().center().y;
        press(&mut chat, "Previous version");
        until(&mut chat, "it is there again", |window| said(window) == first);
        let there = chat.get_by_label("Next version").rect().center().y;
        assert!((there - y).abs() < 0.6, "{y} became {there}");
        press(&mut chat, "Next version");
        until(&mut chat, "the other one is", |window| said(window) == other);
    }
    // The same by keys, from the transcript.
    chat.ctx.memory_mut(|memory| memory.stop_text_input());
    chat.remove_cursor();
    chat.run_steps(2);
    key(&mut chat, Modifiers::ALT, Key::ArrowLeft);
    until(&mut chat, "it is there again", |window| said(window) == first);
}

#[test]
fn escape_leaves_an_edited_prompt_as_it_was() {
    let server = Server::new(vec![whole(&["Answer one"])]);
    let mut chat = served(&server);
    answered(&mut chat, "Question one");
    chat.get_by_role(Role::MultilineTextInput).focus();
    chat.run_steps(2);
    key(&mut chat, Modifiers::NONE, Key::ArrowUp);
    assert_eq!(composed(&chat), "Question one");
    write(&mut chat, " and more");
    key(&mut chat, Modifiers::NONE, Key::Escape);
    assert_eq!(composed(&chat), "");
    assert_eq!(said(chat.state()), ["Question one", "Answer one"]);
    assert!(chat.query_by_label_contains("Editing an earlier message").is_none());
}

/// An answer is made anew as often as one likes; none is lost.
#[test]
fn an_answer_is_made_anew_and_the_old_ones_are_kept() {
    let answers = ["one", "two", "three"];
    let server = Server::new(answers.iter().map(|answer| whole(&[answer])).collect());
    let mut chat = served(&server);
    answered(&mut chat, "Question");
    for expected in ["two", "three"] {
        key(&mut chat, Modifiers::COMMAND, Key::R);
        let is_there = |window: &Window| last_words(window) == expected && has_ended(window);
        until(&mut chat, "it is answered anew", is_there);
    }
    assert!(chat.query_by_label("Next version").is_none(), "it is the newest");
    for expected in ["two", "one"] {
        press(&mut chat, "Previous version");
        until(&mut chat, "an older one is there", |window| last_words(window) == expected);
    }
    assert!(chat.query_by_label("Previous version").is_none());
    for expected in ["two", "three"] {
        press(&mut chat, "Next version");
        until(&mut chat, "a newer one is there", |window| last_words(window) == expected);
    }
}

/// Two are queued while an answer arrives; one is edited while it waits, they change places,
/// and are said in that order.
#[test]
fn what_waits_is_edited_and_moved_and_then_said() {
    let gate = Arc::new(Notify::new());
    let server = Server::new(vec![gated(&gate, "Working"), whole(&["Both"])]);
    let mut chat = served(&server);
    ask(&mut chat, "Go");
    until(&mut chat, "it answers", |window| last_words(window) == "Working");
    for words in ["First", "Second"] {
        ask(&mut chat, words);
        until(&mut chat, "it waits", |window| waiting(window).iter().any(|one| one.0 == words));
        assert_eq!(composed(&chat), "");
    }
    press(&mut chat, "Edit waiting 1");
    until(&mut chat, "it is held", |window| waiting(window)[0].2);
    assert_eq!(composed(&chat), "First");
    write(&mut chat, " of all");
    key(&mut chat, Modifiers::ALT | Modifiers::SHIFT, Key::ArrowDown);
    let next = Delivery::Next;
    let moved = [("Second".to_owned(), next, false), ("First".to_owned(), next, true)];
    until(&mut chat, "it moves", |window| waiting(window) == moved);
    gate.notify_one();
    // The turn ends, and what is edited is not said.
    until(&mut chat, "the other one is said", |window| last_words(window) == "Both");
    until(&mut chat, "it is answered", has_ended);
    assert_eq!(said(chat.state()), ["Go", "Working", "Second", "Both"]);
    assert_eq!(waiting(chat.state()), [("First".to_owned(), next, true)]);
    assert_eq!(composed(&chat), "First of all");
    // Left as it was, it is said at once, since nothing goes on.
    let before = server.connections();
    key(&mut chat, Modifiers::NONE, Key::Escape);
    until(&mut chat, "it is said", |window| said(window).iter().any(|said| said == "First"));
    assert!(before == 2 && composed(&chat).is_empty());
}

/// What steers is said between two replies of the turn; what waits, after it.
#[test]
fn a_word_that_steers_lands_between_two_replies() {
    let gate = Arc::new(Notify::new());
    let server = Server::new(vec![gated_call(&gate), whole(&["Done"]), whole(&["More"])]);
    let mut chat = served(&server);
    ask(&mut chat, "Go");
    until(&mut chat, "it answers", |window| last_words(window) == "Let me look.");
    ask(&mut chat, "And then?");
    until(&mut chat, "it waits", |window| waiting(window).len() == 1);
    write(&mut chat, "Rather there");
    key(&mut chat, Modifiers::COMMAND, Key::Enter);
    until(&mut chat, "both wait", |window| waiting(window).len() == 2);
    assert!(chat.query_by_label("Number 1 after this turn").is_some());
    assert!(chat.query_by_label("Number 2 steers").is_some());
    gate.notify_one();
    until(&mut chat, "all is answered", |window| last_words(window) == "More");
    until(&mut chat, "it ends", has_ended);
    let expected = ["Go", "Let me look.", "Rather there", "Done", "And then?", "More"];
    assert_eq!(said(chat.state()), expected);
}

#[test]
fn stopping_pauses_what_waits_and_resuming_says_it() {
    let hung = vec![sse(), Act::Send(text("Half")), Act::AwaitClose];
    let server = Server::new(vec![hung, whole(&["Whole"])]);
    let mut chat = served(&server);
    ask(&mut chat, "Go");
    until(&mut chat, "it answers", |window| last_words(window) == "Half");
    ask(&mut chat, "Later");
    until(&mut chat, "it waits", |window| waiting(window).len() == 1);
    press(&mut chat, "Stop");
    until(&mut chat, "it stops", |window| !phase(window).is_busy());
    assert!(chat.query_by_label_contains("Paused: nothing of it is sent").is_some());
    assert!(chat.query_by_label("Continue from here").is_some());
    assert_eq!(server.connections(), 1);
    press(&mut chat, "Resume");
    until(&mut chat, "it is answered", |window| last_words(window) == "Whole");
    assert!(chat.query_by_label("Resume").is_none());
}

/// What is on screen, in one line, without what it cost.
fn shown(window: &Window) -> String {
    let placed = window.view().map(|view| view.visible().placed.as_slice()).unwrap_or_default();
    let slugs = placed.iter().filter_map(|place| place.slug.as_ref());
    let lines = slugs.flat_map(|slug| &slug.lines).filter(|line| line.reading);
    let words = lines.map(|line| line.rows.text()).filter(|words| !words.starts_with('↑'));
    words.collect::<Vec<_>>().join(" | ")
}

/// Runs frames until this is on screen.
fn until_shown(chat: &mut Chat, expected: &str) {
    for _ in 0..2000 {
        if shown(chat.state()) == expected {
            break;
        }
        chat.run_steps(1);
        std::thread::park_timeout(Duration::from_millis(4));
    }
    assert_eq!(shown(chat.state()), expected);
    chat.run_steps(2);
}

/// A window that keeps what is said in it below this folder.
fn keeping(folder: &Path, chat: Option<ProviderFlags>) -> Chat {
    let (data, state) = (folder.join("data"), folder.join("state"));
    let keep = Keep { data, state, reopen: Reopen::Instead };
    let start = Start { chat, pace: Pace::AtOnce, keep: Some(keep), ..Start::default() };
    let mut chat = Harness::builder()
        .with_size(Vec2::new(1200.0, 800.0))
        .allow_missing_glyphs()
        .build_eframe(|creation| Window::new(&creation.egui_ctx, start));
    chat.run_steps(4);
    chat
}

/// What stands in the log only parts there, too, and the way leads there and back without a
/// jump; what is said then is said on that branch.
#[test]
fn the_rows_of_a_stored_session_have_their_versions() {
    let folder = tempfile::tempdir().expect("a folder");
    let server =
        Server::new(vec![whole(&["Answer one"]), whole(&["Answer two"]), whole(&["Answer three"])]);
    let flags = ProviderFlags {
        provider: Some("openai".to_owned()),
        base_url: Some(format!("{}/v1", server.base)),
        model: Some("m".to_owned()),
        ..ProviderFlags::default()
    };
    let mut chat = keeping(folder.path(), Some(flags));
    until(&mut chat, "the server is chosen", |window| {
        window.snapshot().is_some_and(|snapshot| &*snapshot.settings.provider == "openai")
    });
    answered(&mut chat, "Question one");
    answered(&mut chat, "Question two");
    hover(&mut chat, 0);
    press(&mut chat, "Edit message");
    write(&mut chat, ", but better");
    key(&mut chat, Modifiers::NONE, Key::Enter);
    until(&mut chat, "it is answered", |window| {
        last_words(window) == "Answer three" && has_ended(window)
    });
    chat.state_mut().finish();
    drop(chat);
    let mut chat = keeping(folder.path(), None);
    let other = "Question one, but better | Answer three";
    let first = "Question one | Answer one | Question two | Answer two";
    until_shown(&mut chat, other);
    assert_eq!(said(chat.state()), [""; 0], "none of it is in memory");
    for _ in 0..3 {
        let y = chat.get_by_label("Previous version").rect().center().y;
        press(&mut chat, "Previous version");
        until_shown(&mut chat, first);
        let there = chat.get_by_label("Next version").rect().center().y;
        assert!((there - y).abs() < 0.6, "{y} became {there}");
        press(&mut chat, "Next version");
        until_shown(&mut chat, other);
        let back = chat.get_by_label("Previous version").rect().center().y;
        assert!((back - y).abs() < 0.6, "{y} became {back}");
    }
    // A prompt that stands in the log only is edited like any other.
    let prompt = chat.query_all_by_label("Question one, but better");
    let rect = prompt.map(|node| node.rect()).find(|rect| rect.width() > 600.0);
    chat.hover_at(rect.expect("it is on screen").center());
    chat.run_steps(3);
    press(&mut chat, "Edit message");
    assert_eq!(composed(&chat), "Question one, but better");
    chat.state_mut().finish();
}

/// The reader's place is where the branches part, also when the demo answers at length.
#[test]
fn the_demo_goes_there_and_back() {
    let mut chat = harness(Pace::AtOnce);
    answered(&mut chat, "And what helps?");
    hover_prompt(&mut chat, "And what helps?");
    press(&mut chat, "Edit message");
    write(&mut chat, " In short.");
    key(&mut chat, Modifiers::NONE, Key::Enter);
    until(&mut chat, "it is answered", |window| {
        said(window).iter().any(|said| said == "And what helps? In short.") && has_ended(window)
    });
    show_prompt(&mut chat);
    for _ in 0..3 {
        for label in ["Previous version", "Next version"] {
            let y = chat.get_by_label(label).rect().center().y;
            let version = chat.state().snapshot().map(|snapshot| snapshot.version);
            press(&mut chat, label);
            until(&mut chat, "it is another branch", |window| {
                window.snapshot().map(|snapshot| snapshot.version) != version
            });
            let other = if label == "Next version" { "Previous version" } else { "Next version" };
            let there = chat.get_by_label(other).rect().center().y;
            assert!((there - y).abs() < 0.6, "{label}: {y} became {there}");
        }
    }
}

fn hover_prompt(chat: &mut Chat, words: &str) {
    show_prompt(chat);
    let nodes = chat.query_all_by_label(words);
    let rect = nodes.map(|node| node.rect()).find(|rect| rect.width() > 600.0);
    chat.hover_at(rect.expect("the prompt is on screen").center());
    chat.run_steps(3);
}

/// Brings the last prompt to the top of the page.
fn show_prompt(chat: &mut Chat) {
    chat.ctx.memory_mut(|memory| memory.stop_text_input());
    chat.run_steps(1);
    let last: Option<MessageId> = chat
        .state()
        .view()
        .and_then(|view| view.visible().placed.last().map(|place| place.id.message));
    assert!(last.is_some());
    key(chat, Modifiers::NONE, Key::End);
    key(chat, Modifiers::COMMAND, Key::ArrowUp);
}
