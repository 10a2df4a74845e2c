//! Words, clocks and care: what does not need a frame.

use egui::vec2;
use letterpress::{
    model::activity::State,
    view::wall::{Mark, Moment, Night, STEP_MS, columns, counts, mark, shift, tone, watched},
};

use super::fixtures::{NOW, agents};

#[test]
fn every_state_has_a_mark_of_its_own_beside_its_word() {
    let marks: Vec<Mark> = State::ALL.iter().map(|state| mark(*state)).collect();
    for (i, one) in marks.iter().enumerate() {
        assert!(marks.iter().skip(i + 1).all(|other| other != one), "{one:?}");
    }
    assert_ne!(tone(State::Error), tone(State::NeedsApproval));
}

#[test]
fn clocks_count_and_then_tell_the_time() {
    let ago = |secs: i64| NOW.ago(NOW.unix_ms - secs * 1000);
    let words = [
        (-5, "0 s"),
        (0, "0 s"),
        (59, "59 s"),
        (60, "1 m"),
        (3599, "59 m"),
        (3600, "08:30"),
        (23 * 3600, "10:30"),
        (24 * 3600, "1 d"),
        (400 * 86_400, "400 d"),
    ];
    for (secs, expected) in words {
        assert_eq!(ago(secs), expected, "{secs} s");
    }
    assert_eq!(NOW.ago(0), "", "no time is known");
    assert_eq!(NOW.time_of_day(), "09:30");
    assert_eq!(Moment { offset_secs: -19_800, ..NOW }.time_of_day(), "02:00");
    assert_eq!(NOW.until_ago_changes(NOW.unix_ms - 2_400), 600);
    assert_eq!(NOW.until_ago_changes(NOW.unix_ms - 90_000), 30_000);
}

#[test]
fn columns_suit_the_number_of_panes() {
    let wide = vec2(1900.0, 1010.0);
    let chosen: Vec<usize> = (1..=16).map(|count| columns(count, wide)).collect();
    assert_eq!(chosen, [1, 2, 3, 2, 3, 3, 4, 4, 3, 5, 4, 4, 5, 5, 5, 4]);
    assert_eq!(columns(4, vec2(1080.0, 1920.0)), 1, "a wall that stands on end");
    assert_eq!(columns(0, wide), 1);
}

#[test]
fn the_foot_counts_what_there_is() {
    let mut feeds = agents(7);
    let glances = letterpress::view::wall::Feeds::glances(&mut feeds, 0);
    let words: Vec<String> = counts(&glances).into_iter().map(|(_, words)| words).collect();
    assert_eq!(
        words,
        ["7 agents", "1 needs approval", "1 error", "1 stale", "2 working", "1 done", "1 idle"]
    );
    assert_eq!(watched(&[], 0), "read-only");
    assert_eq!(watched(&["~/a".to_owned()], 3), "3 more wait · watching ~/a · read-only");
    let many: Vec<String> = (1..=5).map(|i| format!("~/{i}")).collect();
    assert_eq!(watched(&many, 0), "watching ~/1, ~/2 and 3 more · read-only");
}

#[test]
fn the_wall_moves_by_two_points_at_most_and_comes_back() {
    let at = |step: i64| shift(NOW.at(NOW.unix_ms + step * STEP_MS));
    let orbit: Vec<_> = (0..24).map(at).collect();
    assert_eq!(orbit[..12], orbit[12..], "an orbit");
    assert!(orbit.iter().all(|shift| shift.x.abs() <= 2.0 && shift.y.abs() <= 2.0));
    assert!(orbit.windows(2).all(|pair| pair[0] != pair[1]), "no pixel rests for long");
    assert_eq!(shift(NOW), shift(NOW.at(NOW.unix_ms - NOW.unix_ms % STEP_MS)), "still meanwhile");
}

#[test]
fn night_falls_and_ends_gently_and_goes_over_midnight() {
    let night: Night = "22:00-07:00".parse().expect("two times");
    let at = |hour: i64, minute: i64| {
        night.darkness(Moment { unix_ms: (hour * 60 + minute) * 60_000, offset_secs: 0 })
    };
    assert_eq!((at(21, 59), at(7, 0), at(12, 0)), (0.0, 0.0, 0.0));
    assert_eq!((at(22, 30), at(0, 0), at(6, 30)), (1.0, 1.0, 1.0));
    assert!(at(22, 5) > 0.0 && at(22, 5) < at(22, 15) && at(22, 15) < 1.0);
    assert!(at(6, 58) > 0.0 && at(6, 58) < 0.2);
    for wrong in ["", "22", "22:00", "22:00-22:00", "24:00-07:00", "22:60-07:00", "a-b", "-"] {
        assert!(wrong.parse::<Night>().is_err(), "{wrong}");
    }
}
