//! Which sessions stand where, without any window.

use letterpress::view::sessions::{CAPTION_HEIGHT, Group, Line, Lines, Listed, ROW_HEIGHT, Shelf};
use letterpress::view::wall::Moment;

use super::bed::{DAY, HOUR, NOW, session, some};

fn told(listed: &[Listed], shelf: Shelf, filter: &str) -> Vec<String> {
    let lines = Lines::of(listed, shelf, filter, NOW);
    let told = (0..lines.len()).filter_map(|at| lines.get(at)).map(|(line, _)| match line {
        Line::Caption(group) => group.words(),
        Line::Session(index) => listed[index].id.as_str().to_owned(),
    });
    told.collect()
}

#[test]
fn sessions_stand_under_the_day_on_which_something_last_happened() {
    let expected = [
        "PINNED",
        "p",
        "TODAY",
        "a",
        "b",
        "c",
        "YESTERDAY",
        "d",
        "e",
        "f",
        "PREVIOUS 7 DAYS",
        "g",
        "OCTOBER",
        "h",
    ];
    assert_eq!(told(&some(), Shelf::Current, ""), expected);
    assert_eq!(told(&some(), Shelf::Archive, ""), ["OCTOBER", "q"]);
    assert_eq!(told(&some(), Shelf::Trash, ""), ["PREVIOUS 7 DAYS", "r"]);
}

/// Days begin at midnight where the user is, and months of other years name theirs.
#[test]
fn days_are_local() {
    let group = |age: i64| Group::of(NOW.unix_ms - age, NOW).words();
    // It is 15:40 there.
    let midnight = 15 * HOUR + 40 * 60_000;
    let cases = [
        (-5 * HOUR, "TODAY"),
        (0, "TODAY"),
        (midnight, "TODAY"),
        (midnight + 1, "YESTERDAY"),
        (midnight + DAY, "YESTERDAY"),
        (midnight + DAY + 1, "PREVIOUS 7 DAYS"),
        (midnight + 8 * DAY, "PREVIOUS 7 DAYS"),
        (midnight + 8 * DAY + 1, "NOVEMBER"),
        (midnight + 30 * DAY, "OCTOBER"),
        (400 * DAY, "OCTOBER 2025"),
    ];
    for (age, words) in cases {
        assert_eq!(group(age), words, "{age}");
    }
    let at_utc = Moment { offset_secs: 0, ..NOW };
    assert_eq!(Group::of(NOW.unix_ms - midnight, at_utc), Group::Yesterday);
    let _no_panic = (Group::of(i64::MIN, NOW), Group::of(i64::MAX, NOW));
}

#[test]
fn a_filter_wants_all_its_words_and_no_capitals() {
    assert_eq!(told(&some(), Shelf::Current, "TAIL lay"), ["TODAY", "a"]);
    assert_eq!(told(&some(), Shelf::Current, "字距"), ["YESTERDAY", "f"]);
    assert!(told(&some(), Shelf::Current, "nowhere").is_empty());
}

#[test]
fn what_is_visible_is_found_without_looking_at_the_rest() {
    let listed: Vec<Listed> = (0..10_000)
        .map(|i| session(&format!("s{i:05}"), &format!("Title {i}"), i * HOUR))
        .collect();
    let lines = Lines::of(&listed, Shelf::Current, "", NOW);
    assert!(lines.len() > 10_000);
    let captions = lines.len() - 10_000;
    let height = 10_000.0 * ROW_HEIGHT + captions as f32 * CAPTION_HEIGHT;
    assert_eq!(lines.height().to_bits(), height.to_bits(), "heights are exact");
    for top in [0.0, 1.0, 5_000.0, 160_000.0, height - 600.0] {
        let seen = lines.between(top, top + 600.0);
        assert!((18..=21).contains(&seen.len()), "{seen:?}");
        let (first, y) = lines.get(seen.start).unwrap();
        assert!(y <= top && y + first.height() > top - 0.5, "{y} {top}");
        let (_, y) = lines.get(seen.end - 1).unwrap();
        assert!(y < top + 600.0);
    }
    assert!(lines.between(height + 10.0, height + 20.0).len() <= 1);
}

#[test]
fn steps_pass_over_captions_and_stop_at_the_ends() {
    let listed = some();
    let lines = Lines::of(&listed, Shelf::Current, "", NOW);
    let id =
        |step: Option<(usize, usize)>| step.map(|(_, index)| listed[index].id.as_str().to_owned());
    let line =
        |name: &str| lines.find(listed.iter().position(|one| one.id.as_str() == name).unwrap());
    assert_eq!(id(lines.step(None, 1)).as_deref(), Some("p"));
    assert_eq!(id(lines.step(None, -1)).as_deref(), Some("h"));
    assert_eq!(id(lines.step(line("c"), 1)).as_deref(), Some("d"));
    assert_eq!(id(lines.step(line("d"), -1)).as_deref(), Some("c"));
    assert_eq!(id(lines.step(line("g"), 10)).as_deref(), Some("h"));
    assert_eq!(id(lines.step(line("b"), -10)).as_deref(), Some("p"));
    assert_eq!(Lines::default().step(None, 1), None);
}
