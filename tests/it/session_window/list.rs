//! The list, by what a screen reader sees and by keys.

use std::time::Duration;

use egui::{Key, Modifiers, OutputCommand, Role};
use egui_kittest::kittest::Queryable as _;
use letterpress::view::sessions::{ListWish, Listed, SessionId, Shelf, State};

use super::bed::{Bed, Desk, HOUR, desk, file, marks, picture, session, some};

fn dark(listed: Vec<Listed>) -> Desk {
    desk(Bed::of(listed), egui::Theme::Dark)
}

fn row<'a>(desk: &'a Desk, title: &'a str) -> egui_kittest::Node<'a> {
    desk.get_by_role_and_label(Role::Button, title)
}

fn id(name: &str) -> SessionId {
    SessionId::new(name).unwrap()
}

fn wishes(desk: &mut Desk) -> Vec<ListWish> {
    desk.run_steps(3);
    std::mem::take(&mut desk.state_mut().wishes)
}

fn open(name: &str, in_new_tab: bool) -> ListWish {
    ListWish::Open { id: id(name), in_new_tab }
}

#[test]
fn a_click_opens_and_with_a_key_in_a_new_tab() {
    let mut desk = dark(some());
    row(&desk, "Torn line recovery").click();
    assert_eq!(wishes(&mut desk), [open("d", false)]);
    row(&desk, "SSE over a flaky proxy").click_modifiers(Modifiers::COMMAND);
    assert_eq!(wishes(&mut desk), [open("e", true)]);
    row(&desk, "Older things").click_button(egui::PointerButton::Middle);
    assert_eq!(wishes(&mut desk), [open("h", true)]);
}

#[test]
fn the_keyboard_walks_opens_renames_and_deletes() {
    let mut desk = dark(some());
    row(&desk, "House rules").click();
    let _opened = wishes(&mut desk);
    desk.get_by_label("Conversations").focus();
    desk.run_steps(2);
    desk.key_press(Key::ArrowDown);
    desk.run_steps(1);
    desk.key_press(Key::ArrowDown);
    desk.run_steps(1);
    desk.key_press(Key::Enter);
    assert_eq!(wishes(&mut desk), [open("b", false)]);
    desk.key_press_modifiers(Modifiers::COMMAND, Key::Enter);
    assert_eq!(wishes(&mut desk), [open("b", true)]);
    desk.key_press(Key::F2);
    desk.run_steps(3);
    desk.get_by_label("New title").type_text("Strip rows");
    desk.run_steps(2);
    desk.key_press(Key::Enter);
    assert_eq!(wishes(&mut desk), [ListWish::Rename(id("b"), "Strip rows".to_owned())]);
    desk.key_press(Key::Delete);
    assert_eq!(wishes(&mut desk), [ListWish::Delete(id("b"))]);
    // The next one has the keyboard now.
    desk.key_press(Key::Enter);
    assert_eq!(wishes(&mut desk), [open("c", false)]);
}

#[test]
fn escape_leaves_a_title_as_it_was() {
    let mut desk = dark(some());
    row(&desk, "Torn line recovery").click_secondary();
    desk.run_steps(3);
    desk.get_by_label_contains("Rename").click();
    desk.run_steps(3);
    desk.get_by_label("New title").type_text("Other");
    desk.run_steps(2);
    desk.key_press(Key::Escape);
    assert_eq!(wishes(&mut desk), []);
    row(&desk, "Torn line recovery").rect();
}

#[test]
fn the_menu_pins_archives_exports_and_copies_the_id() {
    let cases = [
        ("Pin", ListWish::Pin(id("d"), true)),
        ("Archive", ListWish::Archive(id("d"), true)),
        ("Export…", ListWish::Export(id("d"))),
        ("Open in new tab", open("d", true)),
        ("Delete", ListWish::Delete(id("d"))),
    ];
    for (entry, wish) in cases {
        let mut desk = dark(some());
        row(&desk, "Torn line recovery").click_secondary();
        desk.run_steps(3);
        // The pointer is over the row, which shows what can be done there as well.
        let is_entry = |node: &egui_kittest::Node<'_>| node.rect().width() > 100.0;
        desk.get_all_by_label_contains(entry).find(is_entry).unwrap().click();
        assert_eq!(wishes(&mut desk), [wish], "{entry}");
    }
    let mut desk = dark(some());
    row(&desk, "Torn line recovery").click_secondary();
    desk.run_steps(3);
    desk.get_by_label("Copy id").click();
    let mut copied = None;
    for _ in 0..3 {
        desk.run_steps(1);
        let commands = &desk.output().platform_output.commands;
        copied = copied.or_else(|| {
            commands.iter().find_map(|command| match command {
                OutputCommand::CopyText(text) => Some(text.clone()),
                _ => None,
            })
        });
    }
    assert_eq!(copied.as_deref(), Some("d"));
}

#[test]
fn the_pointer_shows_what_can_be_done() {
    let mut desk = dark(some());
    assert!(desk.query_by_label("Archive").is_none());
    row(&desk, "Torn line recovery").hover();
    desk.run_steps(3);
    desk.get_by_label("Archive").click();
    assert_eq!(wishes(&mut desk), [ListWish::Archive(id("d"), true)]);
    row(&desk, "Torn line recovery").hover();
    desk.run_steps(3);
    desk.get_by_label("More").click();
    desk.run_steps(3);
    desk.get_by_label_contains("Rename");
}

#[test]
fn what_was_deleted_can_be_had_back_for_ten_seconds() {
    let delete = |desk: &mut Desk| {
        row(desk, "Torn line recovery").click_secondary();
        desk.run_steps(3);
        desk.get_by_label_contains("Delete").click();
        assert_eq!(wishes(desk), [ListWish::Delete(id("d"))]);
        desk.get_by_label("Deleted “Torn line recovery”");
    };
    let mut desk = dark(some());
    delete(&mut desk);
    desk.get_by_label("Undo").click();
    assert_eq!(wishes(&mut desk), [ListWish::Restore(id("d"))]);
    assert!(desk.query_by_label("Undo").is_none());
    delete(&mut desk);
    desk.key_press_modifiers(Modifiers::COMMAND, Key::Z);
    assert_eq!(wishes(&mut desk), [ListWish::Restore(id("d"))]);
    delete(&mut desk);
    desk.state_mut().clock += Duration::from_millis(9_900);
    desk.run_steps(2);
    desk.get_by_label("Undo");
    desk.state_mut().clock += Duration::from_millis(200);
    desk.run_steps(2);
    assert!(desk.query_by_label("Undo").is_none());
    desk.key_press_modifiers(Modifiers::COMMAND, Key::Z);
    assert_eq!(wishes(&mut desk), []);
}

#[test]
fn the_filter_narrows_and_enter_searches_everything() {
    let mut desk = dark(some());
    let filter = |desk: &Desk, words: &str| {
        let field = desk.get_by_label("Filter conversations");
        field.focus();
        field.type_text(words);
    };
    filter(&desk, "line");
    desk.run_steps(3);
    row(&desk, "Torn line recovery").rect();
    assert!(desk.query_by_label("Older things").is_none());
    assert_eq!(desk.state().list.laid_out(), 1);
    desk.key_press(Key::Enter);
    assert_eq!(wishes(&mut desk), [ListWish::Search("line".to_owned())]);
    filter(&desk, " zzz");
    desk.run_steps(3);
    desk.get_by_label("No title holds these words.");
    desk.key_press(Key::Escape);
    desk.run_steps(3);
    row(&desk, "Older things").rect();
}

#[test]
fn the_archive_and_the_trash_can_be_looked_at() {
    let mut desk = dark(some());
    desk.get_by_label("Archive, trash and files").click();
    desk.run_steps(3);
    desk.get_by_label_contains("Trash   1").click();
    desk.run_steps(3);
    assert_eq!(desk.state().list.shelf(), Shelf::Trash);
    row(&desk, "Thrown away").hover();
    desk.run_steps(3);
    desk.get_by_label("Restore").click();
    assert_eq!(wishes(&mut desk), [ListWish::Restore(id("r"))]);
    desk.get_by_label("Back to conversations").click();
    desk.run_steps(3);
    row(&desk, "Torn line recovery").rect();
}

#[test]
fn ten_thousand_sessions_cost_what_twenty_cost() {
    let many = |count: i64| -> Vec<Listed> {
        (0..count)
            .map(|i| session(&format!("s{i}"), &format!("Title {i}"), i * HOUR / 60))
            .collect()
    };
    let (few, mut lots) = (dark(many(20)), dark(many(10_000)));
    let (few, seen) = (few.state().list.laid_out(), lots.state().list.laid_out());
    assert!(seen <= few + 2 && seen <= 22, "{seen} {few}");
    lots.hover_at(egui::pos2(100.0, 400.0));
    for _ in 0..20 {
        lots.event(egui::Event::MouseWheel {
            unit: egui::MouseWheelUnit::Point,
            delta: egui::vec2(0.0, -4_000.0),
            phase: egui::TouchPhase::Move,
            source: egui::MouseWheelSource::Unknown,
            modifiers: Modifiers::NONE,
        });
        lots.run_steps(2);
        assert!(lots.state().list.laid_out() <= 24, "{}", lots.state().list.laid_out());
    }
    assert!(lots.query_by_label("Title 3").is_none(), "it has scrolled");
    assert_eq!(lots.state().list.lines_made(), 1, "all of them are looked through once");
}

#[test]
fn files_and_unkept_conversations_stand_beside_the_sessions() {
    let mut bed = Bed::of(some());
    bed.loose = vec![file(7, "rollout-2026-11-27.jsonl"), file(8, "claude-code · api-server")];
    let mut desk = desk(bed, egui::Theme::Dark);
    row(&desk, "rollout-2026-11-27.jsonl").click();
    assert_eq!(wishes(&mut desk), [ListWish::Focus(7)]);
    desk.get_by_label("Close rollout-2026-11-27.jsonl").click();
    assert_eq!(wishes(&mut desk), [ListWish::Close(7)]);
}

#[test]
fn it_says_when_there_is_nothing_and_why_nothing_is_kept() {
    let mut empty = dark(Vec::new());
    empty.get_by_label("No conversations yet");
    empty.state_mut().state = State::Indexing { done: 312, total: 10_000 };
    empty.run_steps(2);
    empty.get_by_label("Indexing… 312 of 10,000");
    assert!(empty.query_by_label("No conversations yet").is_none());
    let why = "The folder ~/.local/share/letterpress cannot be written: Permission denied.";
    empty.state_mut().state = State::Failed(why.into());
    empty.run_steps(2);
    empty.get_by_label("Nothing can be saved");
    empty.get_by_label(why);
}

/// Titles may have been written by anybody.
#[test]
fn hostile_titles_are_one_plain_line() {
    let mut desk = dark(vec![
        session("a", "evil\u{202e}txt.exe\nsecond\u{7}line", HOUR),
        session("b", "", HOUR),
        session("c", &"x".repeat(100_000), HOUR),
    ]);
    desk.run_steps(2);
    row(&desk, "eviltxt.exe second line").rect();
    row(&desk, "Untitled").rect();
    row(&desk, &"x".repeat(200)).rect();
}

/// Pictures of both themes, when they are asked for.
#[test]
fn both_themes_lay_out_the_same() {
    let mut places = Vec::new();
    for theme in [egui::Theme::Dark, egui::Theme::Light] {
        let mut bed = Bed::of(some());
        bed.marks = marks();
        bed.loose = vec![file(7, "rollout-2026-11-27.jsonl"), file(8, "claude-code · api-server")];
        let mut desk = desk(bed, theme);
        places.push(row(&desk, "Torn line recovery").rect());
        row(&desk, "SSE over a flaky proxy").hover();
        picture(&mut desk, &format!("sessions-{theme:?}"));
        row(&desk, "SSE over a flaky proxy").click_secondary();
        desk.run_steps(3);
        picture(&mut desk, &format!("sessions-menu-{theme:?}"));
    }
    assert_eq!(places[0], places[1]);
}
