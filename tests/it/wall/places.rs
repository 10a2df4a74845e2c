//! Who stands where: order, turns, what comes in at once. The clock is the test's.

use letterpress::{
    model::activity::{Link, State},
    view::wall::{FeedId, Glance, Places, Rules},
};

const RULES: Rules = Rules { places: Some(3), cycle_ms: 20_000 };
const START: i64 = 1_000_000_000;

fn feed(id: u64, state: State, age_secs: i64) -> Glance {
    Glance {
        id: FeedId(id),
        project: "".into(),
        title: format!("conversation {id}").into(),
        model: "".into(),
        state,
        last_event_ms: START - age_secs * 1000,
        headline: "".into(),
        link: Link::Live,
        changes_ms: None,
    }
}

fn update(places: &mut Places, feeds: &[Glance], rules: &Rules, secs: i64) -> Vec<u64> {
    places.update(feeds, rules, START + secs * 1000, &|_| false);
    places.shown().iter().map(|id| id.0).collect()
}

use State::{Done, Error, Idle, NeedsApproval, Stale, Working};

#[test]
fn urgent_ones_come_first_and_then_the_most_recently_active() {
    let feeds = [feed(1, Working, 50), feed(2, Done, 5), feed(3, Error, 900), feed(4, Working, 10)];
    let rules = Rules { places: Some(4), ..RULES };
    assert_eq!(update(&mut Places::default(), &feeds, &rules, 0), [3, 2, 4, 1]);
}

#[test]
fn what_is_on_the_wall_keeps_its_place_while_it_is() {
    let mut places = Places::default();
    let mut feeds = vec![feed(1, Working, 9), feed(2, Working, 8), feed(3, Done, 7)];
    assert_eq!(update(&mut places, &feeds, &RULES, 0), [3, 2, 1]);
    for (secs, id, state) in [(1, 0, Done), (2, 1, Error), (3, 2, Working), (9, 0, Working)] {
        feeds[id].state = state;
        feeds[id].last_event_ms = START + secs * 1000;
        assert_eq!(update(&mut places, &feeds, &RULES, secs), [3, 2, 1], "at {secs} s");
    }
    // One that ends makes room, and the others keep their order.
    feeds.remove(1);
    assert_eq!(update(&mut places, &feeds, &RULES, 10), [3, 1]);
}

#[test]
fn an_error_or_a_question_comes_in_at_once_in_the_least_important_place() {
    for urgent in [Error, NeedsApproval] {
        let mut places = Places::default();
        let mut feeds =
            vec![feed(1, Working, 1), feed(2, Idle, 2), feed(3, Working, 3), feed(4, Done, 99)];
        assert_eq!(update(&mut places, &feeds, &RULES, 0), [1, 2, 3]);
        feeds[3].state = urgent;
        assert_eq!(update(&mut places, &feeds, &RULES, 1), [1, 4, 3], "{urgent:?}");
        assert_eq!(places.focus(), Some(FeedId(4)));
        // It is news once: it does not push anything else away, and stays.
        assert_eq!(update(&mut places, &feeds, &RULES, 2), [1, 4, 3]);
    }
}

#[test]
fn what_begins_to_work_takes_the_place_of_what_has_long_been_quiet() {
    let mut places = Places::default();
    let mut feeds =
        vec![feed(1, Working, 1), feed(2, Done, 3), feed(3, Idle, 90), feed(4, Stale, 900)];
    assert_eq!(update(&mut places, &feeds, &RULES, 0), [1, 2, 3]);
    feeds[3].state = Working;
    feeds[3].last_event_ms = START + 1000;
    // The done one is a moment old: only the idle one gives way.
    assert_eq!(update(&mut places, &feeds, &RULES, 1), [1, 2, 4]);
}

#[test]
fn those_that_wait_have_their_turn_every_twenty_seconds() {
    let mut places = Places::default();
    let feeds: Vec<Glance> = (1..=8).map(|id| feed(id, Idle, id as i64 * 100)).collect();
    let turns: Vec<_> =
        (0..80).step_by(5).map(|secs| update(&mut places, &feeds, &RULES, secs)).collect();
    let mut seen: Vec<_> = turns.clone();
    seen.dedup();
    assert_eq!(seen, [[1, 2, 3], [4, 5, 6], [7, 8, 1], [2, 3, 4]]);
    let changes: Vec<usize> = (1..turns.len()).filter(|i| turns[*i] != turns[*i - 1]).collect();
    assert_eq!(changes, [4, 8, 12], "every 20 s");
}

#[test]
fn no_turn_takes_the_place_of_what_matters_more() {
    let mut places = Places::default();
    let feeds = [
        feed(1, Working, 1),
        feed(2, Error, 2),
        feed(3, Done, 3),
        feed(4, Idle, 4000),
        feed(5, Idle, 5000),
    ];
    assert_eq!(update(&mut places, &feeds, &RULES, 0), [2, 1, 3]);
    assert_eq!(update(&mut places, &feeds, &RULES, 20), [2, 1, 4]);
    assert_eq!(update(&mut places, &feeds, &RULES, 40), [2, 1, 5]);
    assert_eq!(update(&mut places, &feeds, &RULES, 60), [2, 1, 3]);
}

#[test]
fn a_pane_that_is_read_keeps_its_place_through_turns_and_news() {
    let mut places = Places::default();
    let mut feeds: Vec<Glance> = (1..=6).map(|id| feed(id, Idle, id as i64 * 100)).collect();
    let is_read = |id: FeedId| id == FeedId(2);
    let at = |places: &mut Places, feeds: &[Glance], secs: i64| -> Vec<u64> {
        places.update(feeds, &RULES, START + secs * 1000, &is_read);
        places.shown().iter().map(|id| id.0).collect()
    };
    assert_eq!(at(&mut places, &feeds, 0), [1, 2, 3]);
    assert_eq!(at(&mut places, &feeds, 20), [4, 2, 5]);
    feeds[5].state = Error;
    let shown = at(&mut places, &feeds, 21);
    assert!(shown.contains(&2) && shown.contains(&6), "{shown:?}");
}

#[test]
fn a_wall_grows_at_once_and_shrinks_after_a_while() {
    let mut places = Places::default();
    let rules = Rules { places: None, ..RULES };
    let mut feeds: Vec<Glance> = (1..=10).map(|id| feed(id, Idle, id as i64 * 100)).collect();
    assert_eq!(update(&mut places, &feeds, &rules, 0).len(), 6);
    feeds.iter_mut().take(9).for_each(|feed| feed.state = Working);
    assert_eq!(update(&mut places, &feeds, &rules, 1).len(), 9);
    feeds.iter_mut().for_each(|feed| feed.state = Idle);
    assert_eq!(update(&mut places, &feeds, &rules, 2).len(), 9);
    assert_eq!(update(&mut places, &feeds, &rules, 100).len(), 9);
    assert_eq!(update(&mut places, &feeds, &rules, 123).len(), 6);
}

#[test]
fn no_order_of_events_loses_or_doubles_anybody() {
    // A small generator of its own: every run is the same.
    let mut random = 7_u64;
    let mut next = move |below: u64| {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (random >> 33) % below
    };
    let states = [Done, Error, Idle, NeedsApproval, Stale, Working];
    let mut places = Places::default();
    let mut feeds: Vec<Glance> = Vec::new();
    let mut joined = 0;
    for secs in 0..3000 {
        match next(10) {
            0 | 1 => {
                joined += 1;
                feeds.push(feed(joined, states[next(6) as usize], -secs));
            }
            2 if !feeds.is_empty() => {
                let gone = next(feeds.len() as u64) as usize;
                feeds.remove(gone);
            }
            _ if !feeds.is_empty() => {
                let changed = next(feeds.len() as u64) as usize;
                feeds[changed].state = states[next(6) as usize];
                feeds[changed].last_event_ms = START + secs * 1000;
            }
            _ => {}
        }
        feeds.truncate(24);
        let shown = update(&mut places, &feeds, &RULES, secs);
        let mut once = shown.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), shown.len(), "nobody stands twice");
        assert_eq!(shown.len(), feeds.len().min(3), "no place stays empty");
        assert!(shown.iter().all(|id| feeds.iter().any(|feed| feed.id == FeedId(*id))));
        assert!(places.focus().is_none_or(|focus| shown.contains(&focus.0)));
    }
}
