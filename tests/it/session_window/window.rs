//! Sessions in the whole window: they are made with the first prompt, stand in the list, come
//! back where they were read, and are followed while another window writes them.

use std::{path::Path, sync::Arc, time::Duration};

use egui::{Key, Modifiers, Role, Vec2};
use egui_kittest::{Harness, kittest::Queryable as _};
use letterpress::{
    app::{
        cli::ProviderFlags,
        window::{Keep, Reopen, Start, Window},
    },
    model::Phase,
    perf,
    store::{Access, RealDisk, SessionId, Store},
    wire::demo::Pace,
};

use crate::approval::desk::{on_ground, pictures};

pub(super) type Desk = Harness<'static, Window>;

/// A window on a folder, as `letterpress` opens one there.
pub(super) fn window(data: &Path) -> Desk {
    opened(data, Pace::AtOnce, Reopen::Instead)
}

fn opened(data: &Path, pace: Pace, reopen: Reopen) -> Desk {
    let demo = ProviderFlags { provider: Some("demo".to_owned()), ..ProviderFlags::default() };
    let keep = Keep { data: data.to_owned(), state: data.join("state"), reopen };
    let start = Start { chat: Some(demo), pace, keep: Some(keep), ..Start::default() };
    let mut desk = Harness::builder()
        .with_size(Vec2::new(1300.0, 800.0))
        .allow_missing_glyphs()
        .build_eframe(|creation| Window::new(&creation.egui_ctx, start));
    desk.run_steps(4);
    desk
}

pub(super) fn until(desk: &mut Desk, what: &str, holds: impl Fn(&Desk) -> bool) {
    let limit = perf::now() + Duration::from_secs(30);
    while !holds(desk) {
        assert!(perf::now() < limit, "never: {what}");
        desk.run_steps(1);
        std::thread::park_timeout(Duration::from_millis(4));
    }
    desk.run_steps(2);
}

fn composer(desk: &Desk) -> egui_kittest::Node<'_> {
    let boxes = desk.get_all_by_role(Role::MultilineTextInput);
    boxes.max_by(|a, b| a.rect().top().total_cmp(&b.rect().top())).expect("a box to write in")
}

fn written(desk: &Desk) -> String {
    let boxes = desk.query_all_by_role(Role::MultilineTextInput);
    boxes.filter_map(|one| one.value()).next_back().unwrap_or_default()
}

fn write(desk: &mut Desk, words: &str) {
    composer(desk).focus();
    desk.run_steps(2);
    composer(desk).type_text(words);
    desk.run_steps(2);
}

fn ask(desk: &mut Desk, words: &str) {
    write(desk, words);
    desk.key_press(Key::Enter);
    desk.run_steps(1);
    until(desk, "the answer ends", |desk| {
        desk.state().snapshot().is_some_and(|snapshot| {
            snapshot.end.is_some() && snapshot.phase == Phase::Idle && snapshot.len() >= 2
        })
    });
}

/// The program comes to its usual end.
fn quit(mut desk: Desk) {
    desk.state_mut().finish();
    drop(desk);
}

fn lists(title: &str) -> impl Fn(&Desk) -> bool {
    let title = title.to_owned();
    move |desk: &Desk| desk.query_by_role_and_label(Role::Button, &title).is_some()
}

fn sessions(data: &Path) -> Vec<SessionId> {
    Store::open(data.to_owned(), Arc::new(RealDisk)).unwrap().ids()
}

/// True when a prompt, or what follows it, is on the page.
fn is_read(desk: &Desk, prompt: &str) -> bool {
    page(desk).contains(prompt) || desk.query_by_label(&format!("Prompt: You: {prompt}")).is_some()
}

/// Words that are on the page.
fn page(desk: &Desk) -> String {
    let Some(view) = desk.state().view() else { return String::new() };
    let slugs = view.visible().placed.iter().filter_map(|placed| placed.slug.as_ref());
    slugs.flat_map(|slug| &slug.lines).map(|line| format!("{}\n", line.rows.text())).collect()
}

#[test]
fn a_session_is_made_with_the_first_prompt_and_comes_back() {
    let data = tempfile::tempdir().unwrap();
    let mut desk = window(data.path());
    desk.get_by_label("No conversations yet");
    assert!(sessions(data.path()).is_empty(), "nothing is made before something is said");
    ask(&mut desk, "Why does the frame time grow?");
    assert_eq!(sessions(data.path()).len(), 1);
    until(&mut desk, "it is listed", lists("Why does the frame time grow?"));
    desk.get_by_label("TODAY");
    quit(desk);

    let mut again = window(data.path());
    until(&mut again, "it is opened", |desk| page(desk).contains("Try it"));
    assert_eq!(
        again.state().titles(),
        ["Why does the frame time grow?"],
        "from the first frame on"
    );
    ask(&mut again, "And now?");
    until(&mut again, "both are on the page", |desk| is_read(desk, "And now?"));
    assert_eq!(sessions(data.path()).len(), 1, "it goes on in the same session");
}

#[test]
fn what_is_written_survives_a_window_that_is_killed() {
    let data = tempfile::tempdir().unwrap();
    let mut desk = window(data.path());
    ask(&mut desk, "First words");
    write(&mut desk, "half a thou");
    let saved = |desk: &Desk| {
        let _same_frame = desk;
        let store = Store::open(data.path().to_owned(), Arc::new(RealDisk)).unwrap();
        let id = store.ids().into_iter().next();
        id.and_then(|id| store.draft(&id)).is_some_and(|draft| &*draft.text == "half a thou")
    };
    let typed = perf::now();
    until(&mut desk, "it is saved", saved);
    assert!(typed.elapsed() < Duration::from_secs(3), "{:?}", typed.elapsed());
    // Another conversation, which has not begun.
    desk.key_press_modifiers(Modifiers::COMMAND, Key::N);
    desk.run_steps(3);
    write(&mut desk, "another thing");
    until(&mut desk, "it is saved", |_| {
        let store = Store::open(data.path().to_owned(), Arc::new(RealDisk)).unwrap();
        store.new_drafts().iter().any(|(_, draft)| &*draft.text == "another thing")
    });
    // No farewell: the logs are let go by the end of the process, or here by the drop.
    drop(desk);

    let mut again = window(data.path());
    until(&mut again, "both are there", |desk| desk.state().titles().len() == 2);
    let texts: Vec<String> = (0..2)
        .map(|i| {
            let key = [Key::Num1, Key::Num2][i];
            again.key_press_modifiers(Modifiers::COMMAND, key);
            until(&mut again, "the box is there", |desk| !written(desk).is_empty());
            written(&again)
        })
        .collect();
    assert!(texts.contains(&"half a thou".to_owned()), "{texts:?}");
    assert!(texts.contains(&"another thing".to_owned()), "{texts:?}");
}

#[test]
fn a_draft_is_gone_once_it_was_sent() {
    let data = tempfile::tempdir().unwrap();
    let mut desk = window(data.path());
    ask(&mut desk, "Something to say");
    until(&mut desk, "no draft is left", |_| {
        let store = Store::open(data.path().to_owned(), Arc::new(RealDisk)).unwrap();
        let id = store.ids().remove(0);
        store.draft(&id).is_none() && store.new_drafts().is_empty()
    });
    quit(desk);
    let mut again = window(data.path());
    until(&mut again, "it is opened", |desk| page(desk).contains("Try it"));
    again.run_steps(5);
    assert_eq!(written(&again), "");
}

#[test]
fn sessions_are_renamed_pinned_archived_and_deleted_while_they_are_open() {
    let data = tempfile::tempdir().unwrap();
    let mut desk = window(data.path());
    ask(&mut desk, "Torn lines");
    until(&mut desk, "it is listed", lists("Torn lines"));
    let menu = |desk: &mut Desk, title: &str, entry: &str| {
        desk.get_by_role_and_label(Role::Button, title).click_secondary();
        desk.run_steps(3);
        let is_entry = |node: &egui_kittest::Node<'_>| node.rect().width() > 100.0;
        let found = desk.get_all_by_label_contains(entry).rfind(is_entry);
        found.expect("an entry").click();
        desk.run_steps(3);
    };
    menu(&mut desk, "Torn lines", "Rename");
    desk.get_by_label("New title").type_text("Recovery");
    desk.run_steps(2);
    desk.key_press(Key::Enter);
    until(&mut desk, "it is renamed", lists("Recovery"));
    until(&mut desk, "the tab is too", |desk| desk.state().titles() == ["Recovery"]);
    menu(&mut desk, "Recovery", "Pin");
    until(&mut desk, "it is pinned", |desk| desk.query_by_label("PINNED").is_some());
    menu(&mut desk, "Recovery", "Delete");
    until(&mut desk, "it is gone", |desk| !lists("Recovery")(desk));
    assert!(sessions(data.path()).is_empty());
    desk.get_by_label("Deleted “Recovery”");
    desk.get_by_label("Undo").click();
    until(&mut desk, "it is back", lists("Recovery"));
    assert_eq!(sessions(data.path()).len(), 1);
    quit(desk);
    let mut again = window(data.path());
    until(&mut again, "its title is for good", lists("Recovery"));
}

#[test]
fn the_quick_way_finds_what_was_said_and_goes_there() {
    let data = tempfile::tempdir().unwrap();
    let mut desk = window(data.path());
    ask(&mut desk, "Where do zebras sleep?");
    desk.key_press_modifiers(Modifiers::COMMAND, Key::N);
    desk.run_steps(2);
    ask(&mut desk, "Another conversation");
    until(&mut desk, "both are listed", |desk| {
        lists("Where do zebras sleep?")(desk) && lists("Another conversation")(desk)
    });
    desk.key_press_modifiers(Modifiers::COMMAND, Key::K);
    desk.run_steps(3);
    let field = "Go to a conversation, or search what was said";
    desk.get_by_label(field).type_text("zebras");
    until(&mut desk, "it is found", |desk| {
        desk.query_by_label_contains("Where do zebras sleep?: ").is_some()
    });
    desk.get_by_label_contains("Where do zebras sleep?: ").click();
    until(&mut desk, "it is gone to", |desk| {
        desk.state().titles().get(desk.state().active()).map(String::as_str)
            == Some("Where do zebras sleep?")
    });
    until(&mut desk, "the words are marked", |desk| {
        desk.state().view().is_some_and(|view| view.marks_on_screen() > 0)
    });
}

#[test]
fn tabs_come_back_where_they_were_read() {
    let data = tempfile::tempdir().unwrap();
    let mut desk = window(data.path());
    for words in ["One", "Two", "Three", "Four", "Five", "Six"] {
        ask(&mut desk, words);
    }
    until(&mut desk, "it is listed", lists("One"));
    desk.ctx.memory_mut(|memory| memory.stop_text_input());
    desk.run_steps(2);
    desk.key_press(Key::Home);
    desk.run_steps(3);
    for _ in 0..2 {
        desk.key_press(Key::PageDown);
        desk.run_steps(3);
    }
    let place = |desk: &Desk| {
        let view = desk.state().view().expect("a view");
        assert!(!view.is_following());
        view.visible().placed.first().map(|placed| (placed.id, placed.y.round()))
    };
    let before = place(&desk);
    assert!(before.is_some());
    // Nothing happens any more, and the place is not remembered yet: a last frame will do it,
    // also for a program that is killed.
    desk.run_steps(60);
    let delay = desk.output().viewport_output.values().map(|out| out.repaint_delay).min();
    assert!(delay.is_some_and(|delay| delay <= Duration::from_secs(10)), "{delay:?}");
    quit(desk);

    let mut again = window(data.path());
    until(&mut again, "it is opened", |desk| !page(desk).is_empty());
    assert_eq!(place(&again), before, "the first frame that shows anything shows this");
    until(&mut again, "it can be written in", |desk| {
        desk.query_by_role(Role::MultilineTextInput).is_some()
    });
    again.run_steps(10);
    assert_eq!(place(&again), before);
}

#[test]
fn a_session_that_another_window_has_is_followed_and_taken_over() {
    let data = tempfile::tempdir().unwrap();
    let mut first = window(data.path());
    ask(&mut first, "Who has it?");
    until(&mut first, "it is listed", lists("Who has it?"));
    let mut second = opened(data.path(), Pace::AtOnce, Reopen::Nothing);
    until(&mut second, "it is listed", lists("Who has it?"));
    second.get_by_role_and_label(Role::Button, "Who has it?").click();
    until(&mut second, "it is shown", |desk| is_read(desk, "Who has it?"));
    until(&mut second, "it says why", |desk| {
        desk.query_by_label_contains("It is open in another window.").is_some()
    });
    assert!(second.query_by_label("Take over").is_none());
    assert!(second.query_by_role(Role::MultilineTextInput).is_none(), "nothing can be said");
    ask(&mut first, "It goes on");
    until(&mut second, "it is followed", |desk| is_read(desk, "It goes on"));
    quit(first);
    until(&mut second, "it is free", |desk| desk.query_by_label("Take over").is_some());
    second.get_by_label("Take over").click();
    until(&mut second, "it can be written in", |desk| {
        desk.query_by_role(Role::MultilineTextInput).is_some()
    });
    ask(&mut second, "Now it is mine");
    until(&mut second, "it is said", |desk| is_read(desk, "Now it is mine"));
}

/// What was opened for a look gives way to the next; what was opened to be kept does not.
#[test]
fn a_look_gives_way_to_the_next() {
    let data = tempfile::tempdir().unwrap();
    let mut desk = window(data.path());
    for words in ["First of three", "Second of three", "Third of three"] {
        ask(&mut desk, words);
        until(&mut desk, "it is listed", lists(words));
        desk.key_press_modifiers(Modifiers::COMMAND, Key::W);
        desk.run_steps(2);
        desk.key_press_modifiers(Modifiers::COMMAND, Key::N);
        desk.run_steps(2);
    }
    let titles = |desk: &Desk| desk.state().titles();
    let open = |desk: &mut Desk, title: &str, modifiers: Modifiers| {
        desk.get_by_role_and_label(Role::Button, title).click_modifiers(modifiers);
        until(desk, "it is opened", |desk| {
            titles(desk).get(desk.state().active()).map(String::as_str) == Some(title)
        });
        until(desk, "it can be written in", |desk| {
            desk.query_by_role(Role::MultilineTextInput).is_some()
        });
    };
    open(&mut desk, "First of three", Modifiers::NONE);
    assert_eq!(titles(&desk), ["First of three"], "the blank one gave way");
    open(&mut desk, "Second of three", Modifiers::NONE);
    assert_eq!(titles(&desk), ["Second of three"]);
    open(&mut desk, "Third of three", Modifiers::COMMAND);
    assert_eq!(titles(&desk), ["Second of three", "Third of three"]);
    write(&mut desk, "A draft holds it");
    open(&mut desk, "First of three", Modifiers::NONE);
    assert_eq!(titles(&desk), ["Second of three", "Third of three", "First of three"]);
    open(&mut desk, "Second of three", Modifiers::NONE);
    assert_eq!(desk.state().active(), 0, "an open one is gone to");
}

/// A closed tab lets its log go.
#[test]
fn a_closed_tab_lets_its_session_go() {
    let data = tempfile::tempdir().unwrap();
    let mut desk = window(data.path());
    ask(&mut desk, "Close me");
    let store = Store::open(data.path().to_owned(), Arc::new(RealDisk)).unwrap();
    let id = store.ids().remove(0);
    assert!(!store.is_free(&id));
    desk.key_press_modifiers(Modifiers::COMMAND, Key::W);
    until(&mut desk, "it is free", |_| store.is_free(&id));
    let opened = store.open_session(&id, 0).unwrap();
    assert!(matches!(opened.log, Access::Write(_)));
    assert!(!opened.found.is_interrupted);
    assert_eq!(opened.found.torn, None);
}

/// Where nothing can be kept, all goes on in memory, and that is said.
#[test]
fn a_folder_that_cannot_be_used_is_said() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let mut desk = window(&file.path().join("below"));
    desk.get_by_label("Nothing can be saved");
    desk.get_by_label_contains("cannot be used");
    ask(&mut desk, "Still answered?");
    assert!(page(&desk).contains("Try it") || !page(&desk).is_empty());
}

/// Pictures of both themes, when they are asked for.
#[test]
fn the_window_in_both_themes() {
    let data = tempfile::tempdir().unwrap();
    let mut desk = window(data.path());
    ask(&mut desk, "Lay out only the open tail");
    desk.key_press_modifiers(Modifiers::COMMAND, Key::N);
    desk.run_steps(2);
    ask(&mut desk, "Torn line recovery");
    write(&mut desk, "And what becomes of the rest?");
    until(&mut desk, "they are listed", lists("Lay out only the open tail"));
    for theme in [egui::Theme::Dark, egui::Theme::Light] {
        desk.ctx.set_theme(theme);
        until(&mut desk, "it is settled", |desk| desk.state().is_settled());
        desk.get_by_role_and_label(Role::Tab, "Torn line recovery");
        if let Some(folder) = pictures() {
            let image = on_ground(desk.render().unwrap(), &desk.ctx);
            image.save(folder.join(format!("window-{theme:?}.png"))).unwrap();
        }
    }
}
