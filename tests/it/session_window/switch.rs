//! The quick way to a session.

use std::time::Duration;

use egui::{Key, Modifiers, Role};
use egui_kittest::kittest::{NodeT as _, Queryable as _};
use letterpress::{
    model::MessageId,
    view::sessions::{Hits, Searching, SessionId, SwitchWish},
};

use super::bed::{Bed, Desk, desk, hits, marks, picture, some};

const FIELD: &str = "Go to a conversation, or search what was said";

fn opened(query: &str) -> Desk {
    let mut bed = Bed::of(some());
    bed.switch.open(query);
    let mut desk = desk(bed, egui::Theme::Dark);
    desk.run_steps(3);
    desk
}

fn titles(desk: &Desk) -> Vec<String> {
    let rows = desk.get_all_by_role(Role::ListItem);
    rows.filter_map(|row| row.accesskit_node().label()).collect()
}

fn wishes(desk: &mut Desk) -> Vec<SwitchWish> {
    desk.run_steps(2);
    std::mem::take(&mut desk.state_mut().switched)
}

fn open(id: &str, at: Option<(u64, &str)>, in_new_tab: bool) -> SwitchWish {
    let at = at.map(|(message, words)| (MessageId(message), words.to_owned()));
    SwitchWish::Open { id: SessionId::new(id).unwrap(), at, in_new_tab }
}

#[test]
fn it_opens_on_the_newest_and_leaves_the_trash_out() {
    let desk = opened("");
    let titles = titles(&desk);
    assert_eq!(titles.first().map(String::as_str), Some("Lay out only the open tail"));
    assert_eq!(titles.last().map(String::as_str), Some("Put away"), "the archive comes last");
    assert!(!titles.iter().any(|title| title == "Thrown away"));
}

#[test]
fn a_few_letters_and_enter_go_there() {
    let mut desk = opened("");
    desk.get_by_label(FIELD).type_text("torn");
    desk.run_steps(2);
    assert_eq!(titles(&desk), ["Torn line recovery"]);
    desk.key_press(Key::Enter);
    assert_eq!(wishes(&mut desk), [open("d", None, false)]);
    assert!(!desk.state().switch.is_open());
}

#[test]
fn whoever_opens_it_wants_to_be_elsewhere() {
    let mut bed = Bed::of(some());
    bed.marks = marks();
    bed.switch.open("");
    let mut desk = desk(bed, egui::Theme::Dark);
    desk.run_steps(2);
    desk.key_press_modifiers(Modifiers::COMMAND, Key::Enter);
    assert_eq!(wishes(&mut desk), [open("b", None, true)]);
}

/// What was said is searched once typing rests, and once for the same words.
#[test]
fn what_was_said_is_searched_when_typing_rests() {
    let mut desk = opened("");
    for letters in ["to", "rn", " li"] {
        desk.get_by_label(FIELD).type_text(letters);
        desk.run_steps(1);
        desk.state_mut().clock += Duration::from_millis(30);
        desk.run_steps(1);
    }
    assert_eq!(wishes(&mut desk), []);
    desk.get_by_label("Searching what was said…");
    desk.state_mut().clock += Duration::from_millis(100);
    let search = SwitchWish::Search { query: "torn li".to_owned(), limit: 24 };
    assert_eq!(wishes(&mut desk), [search]);
    desk.state_mut().clock += Duration::from_secs(1);
    assert_eq!(wishes(&mut desk), []);
}

#[test]
fn hits_come_below_the_titles_and_lead_to_the_message() {
    let mut desk = opened("torn line");
    desk.state_mut().hits = hits("torn line");
    desk.run_steps(2);
    let rows = titles(&desk);
    assert_eq!(rows.len(), 3, "{rows:?}");
    assert!(rows[2].starts_with("Minimap texture per strip row: …a torn line is kept"));
    desk.key_press(Key::ArrowDown);
    desk.run_steps(1);
    desk.key_press(Key::ArrowDown);
    desk.run_steps(1);
    desk.key_press(Key::Enter);
    assert_eq!(wishes(&mut desk).pop(), Some(open("b", Some((77, "torn line")), false)));
}

#[test]
fn a_click_opens_a_hit() {
    let mut desk = opened("torn line");
    desk.state_mut().hits = hits("torn line");
    desk.run_steps(2);
    desk.get_by_label_contains("Minimap texture per strip row: ").click();
    assert_eq!(wishes(&mut desk).pop(), Some(open("b", Some((77, "torn line")), false)));
}

#[test]
fn more_is_asked_for_when_it_is_wanted() {
    let mut desk = opened("torn");
    desk.state_mut().clock += Duration::from_millis(100);
    let _searched = wishes(&mut desk);
    let one = hits("torn").found.remove(0);
    desk.state_mut().hits =
        Hits { query: "torn".to_owned(), found: vec![one; 24], state: Searching::Done };
    desk.run_steps(2);
    desk.key_press(Key::PageUp);
    for _ in 0..4 {
        desk.key_press(Key::PageDown);
        desk.run_steps(1);
    }
    desk.key_press(Key::Enter);
    desk.run_steps(2);
    desk.state_mut().clock += Duration::from_millis(100);
    let search = SwitchWish::Search { query: "torn".to_owned(), limit: 200 };
    assert_eq!(wishes(&mut desk), [search]);
}

#[test]
fn it_says_when_nothing_was_found_and_why() {
    let mut desk = opened("zzz");
    let state = |desk: &mut Desk, state: Searching| {
        desk.state_mut().hits = Hits { query: "zzz".to_owned(), state, ..Hits::default() };
        desk.run_steps(2);
    };
    state(&mut desk, Searching::Done);
    desk.get_by_label("Nothing was found");
    state(&mut desk, Searching::Failed("The index cannot be read.".into()));
    desk.get_by_label("The index cannot be read.");
    desk.key_press(Key::Escape);
    desk.run_steps(2);
    assert!(!desk.state().switch.is_open());
}

/// Pictures of both themes, when they are asked for.
#[test]
fn both_themes_lay_out_the_same() {
    let mut places = Vec::new();
    for theme in [egui::Theme::Dark, egui::Theme::Light] {
        let mut bed = Bed::of(some());
        bed.marks = marks();
        bed.switch.open("torn line");
        bed.hits = hits("torn line");
        let mut desk = desk(bed, theme);
        places.push(desk.get_by_role_and_label(Role::ListItem, "Torn line recovery").rect());
        picture(&mut desk, &format!("switch-{theme:?}"));
    }
    assert_eq!(places[0], places[1]);
}
