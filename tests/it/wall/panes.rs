//! Panes in a real context: places and sizes, what is said, frames, zoom, faults.

use std::{cell::Cell, ops::Range, rc::Rc, sync::Arc, time::Duration};

use egui::{Event, Modifiers, Vec2, pos2, vec2};
use egui_kittest::{Harness, kittest::Queryable as _};
use letterpress::{
    model::{Message, MessageId, Progress, Role, RowInfo, Source, ToolState, activity::State},
    view::wall::{Arrangement, FeedId, Feeds, Glance, Night, Settings, Wall},
};

use super::fixtures::{Fixture, NOW, Shown, agents, call, harness, said};
use crate::bed::{message, text};

const FULL: Vec2 = vec2(1920.0, 1080.0);

fn places(count: u8) -> Settings {
    Settings { places: Some(usize::from(count)), ..Settings::default() }
}

#[test]
fn panes_stand_in_a_grid_that_suits_their_number() {
    for (count, columns, rows) in [(1, 1, 1), (4, 2, 2), (6, 3, 2), (16, 4, 4)] {
        let harness = harness(agents(count), places(16), FULL);
        let rects = harness.state().wall.rects();
        assert_eq!(rects.len(), count);
        let (first, last) = (rects[0].1, rects[count - 1].1);
        for (i, (_, rect)) in rects.iter().enumerate() {
            let (column, row) = ((i % columns) as f32, (i / columns) as f32);
            let expected =
                first.min + vec2(column * (first.width() + 10.0), row * (first.height() + 10.0));
            assert!((rect.min - expected).length() < 3.0, "{count}: pane {i} at {rect:?}");
            assert!((rect.size() - first.size()).length() < 3.0, "all of one size");
        }
        assert!(first.min.x < 24.0 && first.min.y < 24.0 && last.max.x > 1890.0, "{rects:?}");
        assert!(last.max.y > 1000.0 && last.max.y < 1040.0, "room for the foot");
        assert_eq!(rects.len().div_ceil(columns), rows);
    }
}

#[test]
fn a_number_of_columns_is_kept() {
    let harness = harness(agents(7), Settings { columns: Some(2), ..places(6) }, FULL);
    let rects = harness.state().wall.rects();
    assert_eq!(rects.len(), 6);
    assert!(rects.chunks(2).all(|row| row[0].1.top() == row[1].1.top()));
    assert!((rects[0].1.width() - 940.0).abs() < 12.0, "{rects:?}");
}

#[test]
fn the_focus_stands_large_beside_a_strip() {
    let settings = Settings { arrangement: Arrangement::Focus, ..places(5) };
    let harness = harness(agents(5), settings, FULL);
    let wall = &harness.state().wall;
    let focus = wall.focus().expect("one is large");
    assert_eq!(focus, FeedId(4), "the newest that someone should look at");
    for (id, rect) in wall.rects() {
        let wide = if id == focus { 1200.0..1340.0 } else { 560.0..640.0 };
        assert!(wide.contains(&rect.width()), "{id:?} {rect:?}");
    }
}

#[test]
fn each_pane_says_its_state_its_title_and_its_clock() {
    let harness = harness(agents(7), places(16), FULL);
    for words in [
        "working: api-server, 2 s",
        "needs approval: billing, bash: terraform apply, 4 m",
        "done: docs, 11 m",
        "error: mobile-app, 429 rate limited, retry in 22 s, 38 s",
        "stale: nightly-eval, 07:27",
        "idle: payments, 08:00",
    ] {
        harness.get_by_label(words).rect();
    }
    harness.get_by_label_contains("7 agents, 1 needs approval, 1 error, 1 stale, 2 working");
    harness.get_by_label_contains("read-only, 09:30");
}

#[test]
fn an_empty_wall_says_what_it_watches() {
    let harness = harness(agents(0), Settings::default(), FULL);
    harness.get_by_label_contains("No conversation yet. watching ~/.claude/projects");
    let quiet = Fixture::default();
    let mut quiet = quiet;
    quiet.add("silent", State::Idle, 9, Vec::new());
    let wall = super::fixtures::harness(quiet, Settings::default(), FULL);
    wall.get_by_label("idle: silent, 9 s").rect();
}

#[test]
fn the_newest_words_stand_at_the_foot_of_their_pane() {
    let harness = harness(agents(4), places(4), FULL);
    let wall = &harness.state().wall;
    for (id, rect) in wall.rects() {
        let view = wall.view(id).expect("it is shown");
        assert!(view.is_following() && view.visible().at_end);
        let last = view.visible().placed.last().expect("something is said");
        assert!(last.slug.is_some());
        assert!(rect.height() > 400.0);
    }
    let spoken = harness.get_all_by_label_contains("The probe reads").next().expect("read aloud");
    assert!(spoken.rect().bottom() > 300.0);
}

#[test]
fn type_is_large_and_larger_where_there_is_room() {
    // Heights of one line of running text, in points of a wall of 1080.
    for (count, size) in [(1, 40.0..50.0), (4, 40.0..48.0), (6, 34.0..40.0), (16, 26.0..32.0)] {
        let mut feeds = Fixture::default();
        for i in 0..count {
            feeds.add("one", State::Working, i, said(&[(Role::Assistant, "One line.")]));
        }
        let harness = harness(feeds, places(16), FULL);
        let view = harness.state().wall.view(FeedId(1)).expect("shown");
        let lines = &view.visible().placed[0].slug.as_ref().expect("set").lines;
        let height = lines[0].rows.rect().height();
        assert!(size.contains(&height), "{count}: {height}");
    }
}

fn wheel(harness: &mut Harness<'static, Shown>, at: egui::Pos2, delta: f32, modifiers: Modifiers) {
    harness.hover_at(at);
    harness.run_steps(2);
    if modifiers != Modifiers::NONE {
        harness.event(Event::ModifiersChanged(modifiers));
    }
    harness.event(Event::MouseWheel {
        unit: egui::MouseWheelUnit::Point,
        delta: vec2(0.0, delta),
        phase: egui::TouchPhase::Move,
        source: egui::MouseWheelSource::Unknown,
        modifiers,
    });
    harness.run_steps(12);
    harness.event(Event::ModifiersChanged(Modifiers::NONE));
    harness.run_steps(1);
}

#[test]
fn zoom_is_a_panes_own_and_keeps_the_others() {
    let mut harness = harness(agents(4), places(4), FULL);
    let rects = harness.state().wall.rects();
    let laid_out = |harness: &Harness<'_, Shown>, id| {
        harness.state().wall.view(id).map_or(0, letterpress::view::TranscriptView::laid_out)
    };
    let (first, second) = (rects[0].0, rects[1].0);
    let before = laid_out(&harness, second);
    wheel(&mut harness, rects[0].1.center(), 60.0, Modifiers::COMMAND);
    let zoomed = harness.state().wall.zoom(first);
    assert!(zoomed > 1.05, "{zoomed}");
    assert_eq!(harness.state().wall.zoom(second), 1.0);
    assert_eq!(laid_out(&harness, second), before, "nothing else is set anew");
    assert!(harness.state().wall.view(first).is_some_and(|view| view.visible().at_end));
    harness.key_press_modifiers(Modifiers::COMMAND, egui::Key::Num0);
    harness.run_steps(3);
    assert_eq!(harness.state().wall.zoom(first), 1.0);
    harness.hover_at(pos2(3.0, 3.0));
    harness.key_press_modifiers(Modifiers::COMMAND, egui::Key::Minus);
    harness.run_steps(3);
    assert!(harness.state().wall.zoom(second) < 1.0, "over no pane it is for all");
}

#[test]
fn a_pane_that_was_scrolled_returns_to_its_end_when_nobody_reads_it() {
    let long: Vec<(Role, &str)> = vec![(Role::Assistant, "Some words.\n\nAnd more."); 60];
    let mut feeds = Fixture::default();
    feeds.add("long", State::Working, 1, said(&long));
    let mut harness = harness(feeds, Settings::default(), FULL);
    let following = |harness: &Harness<'_, Shown>| {
        harness
            .state()
            .wall
            .view(FeedId(1))
            .is_some_and(letterpress::view::TranscriptView::is_following)
    };
    wheel(&mut harness, pos2(900.0, 500.0), 400.0, Modifiers::NONE);
    assert!(!following(&harness), "whoever scrolls up reads");
    let at = |harness: &mut Harness<'_, Shown>, secs: i64| {
        let now = NOW.at(NOW.unix_ms + secs * 1000);
        harness.state_mut().now.set(now);
        harness.run_steps(3);
    };
    at(&mut harness, 60);
    assert!(!following(&harness));
    at(&mut harness, 100);
    assert!(following(&harness));
}

/// When the wall wants its next frame.
fn delay(harness: &Harness<'_, Shown>) -> Duration {
    let delays = harness.output().viewport_output.values().map(|out| out.repaint_delay);
    delays.min().unwrap_or(Duration::MAX)
}

#[test]
fn a_quiet_wall_takes_one_frame_a_second_for_its_clocks_and_none_without() {
    // Seconds that begin at different moments tick together.
    let mut feeds = Fixture::default();
    for i in 0..4 {
        feeds.add("busy", State::Working, 5, said(&[(Role::Assistant, "Words.")]));
        feeds.glance(i + 1).last_event_ms -= i as i64 * 230;
    }
    let mut harness = harness(feeds, Settings::default(), FULL);
    harness.run_steps(80);
    let (mut now, end) = (NOW.unix_ms, NOW.unix_ms + 10_000);
    let mut frames = 0;
    while now < end {
        harness.state_mut().now.set(NOW.at(now));
        harness.step();
        frames += 1;
        now += i64::try_from(delay(&harness).as_millis()).unwrap_or(i64::MAX).min(60_000);
    }
    assert_eq!(frames, 10);

    let mut quiet = Fixture::default();
    quiet.add("old", State::Idle, 7200, said(&[(Role::Assistant, "Words.")]));
    let mut harness = super::fixtures::harness(quiet, Settings::default(), FULL);
    harness.run_steps(80);
    assert!(delay(&harness) > Duration::from_secs(50), "{:?}", delay(&harness));
}

#[test]
fn the_pointer_hides_after_five_seconds() {
    let mut harness = harness(agents(1), Settings::default(), FULL);
    harness.hover_at(pos2(700.0, 500.0));
    harness.run_steps(2);
    let icon = |harness: &Harness<'_, Shown>| harness.output().platform_output.cursor_icon;
    assert_ne!(icon(&harness), egui::CursorIcon::None);
    harness.run_steps(60);
    assert_eq!(icon(&harness), egui::CursorIcon::None);
    harness.hover_at(pos2(710.0, 500.0));
    harness.run_steps(2);
    assert_ne!(icon(&harness), egui::CursorIcon::None);
}

/// Every word that a pane shows, below its head.
fn all_words(harness: &Harness<'_, Shown>, id: FeedId) -> String {
    let view = harness.state().wall.view(id).expect("shown");
    let slugs = view.visible().placed.iter().filter_map(|place| place.slug.as_ref());
    let lines = slugs.flat_map(|slug| &slug.lines);
    lines.map(|line| line.rows.text().to_owned() + "\n").collect()
}

#[test]
fn secrets_are_covered_in_text_calls_titles_and_headlines_unless_asked_for() {
    const KEY: &str = "sk-proj-4eC39HqLyjWDarjtT1zdp7dc";
    let fixture = || {
        let arguments = serde_json::json!({"command": format!("curl -H 'x-api-key: {KEY}' host")});
        let parts = vec![
            text(&format!("The key is `{KEY}` for now.")),
            call("a", "bash", arguments, ToolState::Running),
        ];
        let mut feeds = Fixture::default();
        feeds.add(&format!("use {KEY}"), State::Error, 3, vec![message(1, Role::Assistant, parts)]);
        feeds.glance(1).headline = format!("refused: {KEY}").into();
        feeds
    };
    let shown = |settings: Settings| {
        let harness = harness(fixture(), settings, FULL);
        let words = all_words(&harness, FeedId(1));
        let head = harness.query_by_label_contains(&format!("refused: {KEY}")).is_some();
        let covered = harness.query_by_label_contains("error: use sk-••••").is_some()
            && harness.query_by_label_contains("refused: sk-••••").is_some();
        (words, head, covered)
    };
    let (masked, head, covered) = shown(Settings::default());
    assert!(!masked.contains("4eC39HqL"), "{masked}");
    assert!(
        masked.contains("The key is sk-••••") && masked.contains("x-api-key: ••••"),
        "{masked}"
    );
    assert_eq!((head, covered), (false, true));
    let (plain, head, covered) = shown(Settings { masked: false, ..Settings::default() });
    assert_eq!(plain.matches(KEY).count(), 2, "{plain}");
    assert_eq!((head, covered), (true, false));
}

#[test]
fn a_call_without_a_result_runs_while_its_agent_works() {
    let words = |state: State| {
        let arguments = serde_json::json!({"command": "make eval"});
        let parts = vec![text("Now."), call("a", "bash", arguments, ToolState::NoResult)];
        let mut feeds = Fixture::default();
        feeds.add("one", state, 3, vec![message(1, Role::Assistant, parts)]);
        let harness = harness(feeds, Settings::default(), FULL);
        let shown = all_words(&harness, FeedId(1));
        let said = |words: &str| shown.contains(words);
        [said("running"), said("waiting for approval"), said("no result")]
    };
    assert_eq!(words(State::Working), [true, false, false]);
    assert_eq!(words(State::NeedsApproval), [false, true, false]);
    assert_eq!(words(State::Stale), [false, false, true]);
}

/// A conversation whose messages cannot be shown until it changes.
struct Faulty {
    version: Rc<Cell<u64>>,
    message: Arc<Message>,
}

impl Source for Faulty {
    fn poll(&mut self) -> u64 {
        self.version.get()
    }
    fn len(&self) -> usize {
        1
    }
    fn row(&self, _index: usize) -> RowInfo {
        RowInfo::of(&self.message)
    }
    fn index_of(&self, _id: MessageId) -> Option<usize> {
        Some(0)
    }
    fn prompt_before(&self, _index: usize) -> Option<usize> {
        None
    }
    fn message(&mut self, _index: usize) -> Option<Arc<Message>> {
        assert!(self.version.get() > 1, "planted");
        Some(Arc::clone(&self.message))
    }
    fn want(&mut self, _rows: Range<usize>) {}
    fn progress(&self) -> Progress {
        Progress::Complete
    }
}

struct WithFault {
    sound: Fixture,
    faulty: Faulty,
}

impl Feeds for WithFault {
    fn poll(&mut self) -> u64 {
        self.faulty.poll()
    }
    fn glances(&mut self, now_ms: i64) -> Vec<Glance> {
        self.sound.glances(now_ms)
    }
    fn source(&mut self, id: FeedId) -> Option<&mut dyn Source> {
        if id == FeedId(1) { Some(&mut self.faulty) } else { self.sound.source(id) }
    }
    fn watching(&self) -> Vec<String> {
        Vec::new()
    }
}

#[test]
fn a_panic_costs_its_pane_until_there_is_something_else_to_show() {
    let version = Rc::new(Cell::new(1));
    let faulty = Faulty {
        version: Rc::clone(&version),
        message: Arc::new(message(1, Role::Assistant, vec![text("Shown in the end.")])),
    };
    let mut feeds = WithFault { sound: agents(2), faulty };
    let context = egui::Context::default();
    letterpress::view::theme::install(&context);
    let mut wall = Wall::new(Settings::default());
    let frame = |wall: &mut Wall, feeds: &mut WithFault| {
        let input = egui::RawInput {
            screen_rect: Some(egui::Rect::from_min_size(pos2(0.0, 0.0), FULL)),
            ..egui::RawInput::default()
        };
        let mut output = context.run_ui(input, |ui| wall.ui(ui, feeds, NOW));
        output.textures_delta.clear();
    };
    for _ in 0..4 {
        frame(&mut wall, &mut feeds);
    }
    assert!(wall.has_failed(FeedId(1)) && !wall.has_failed(FeedId(2)));
    assert!(wall.view(FeedId(2)).is_some_and(|view| view.visible_slugs() > 0));
    version.set(2);
    for _ in 0..3 {
        frame(&mut wall, &mut feeds);
    }
    assert!(!wall.has_failed(FeedId(1)));
    assert!(wall.view(FeedId(1)).is_some_and(|view| view.visible_slugs() > 0));
}

#[test]
fn at_night_the_wall_is_darker() {
    let brightest = |night: Option<Night>| {
        let mut harness =
            harness(agents(1), Settings { night, ..Settings::default() }, vec2(640.0, 360.0));
        let image = harness.render().expect("a picture");
        image.pixels().map(|pixel| pixel.0[1]).max().unwrap_or(0)
    };
    let night = "09:00-12:00".parse().ok();
    assert!(brightest(None) > 200);
    // The frame of the test around the wall is not part of it.
    let dimmed = brightest(night);
    assert!(dimmed < 140, "{dimmed}");
}
