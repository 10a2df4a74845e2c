//! Pointer, keys and a screen reader.

use egui::{Key, Modifiers, Pos2, Role, Vec2, pos2};
use egui_kittest::{
    Harness,
    kittest::{NodeT as _, Queryable as _},
};
use letterpress::{
    layout::spec::SlugKey,
    model::Source as _,
    view::{TranscriptView, theme},
};

use super::rows::{Made, mixed};

struct Reader {
    view: Option<TranscriptView>,
    source: Made,
}

type Hands = Harness<'static, Reader>;

const SIZE: Vec2 = Vec2::new(1000.0, 700.0);
/// The middle of the minimap.
const X: f32 = SIZE.x - 28.0;
const LENGTHS: [usize; 4] = [10, 1_000, 100_000, 1_000_000];

fn hands(rows: usize) -> Hands {
    let reader = Reader { view: None, source: Made::new(rows, mixed) };
    let mut harness = Harness::builder().with_size(SIZE).allow_missing_glyphs().build_ui_state(
        |ui, reader: &mut Reader| {
            let view = reader.view.get_or_insert_with(|| {
                theme::install(ui.ctx());
                TranscriptView::new(ui.ctx())
            });
            view.show(ui, &mut reader.source);
        },
        reader,
    );
    harness.run_steps(8);
    harness
}

fn view(harness: &Hands) -> &TranscriptView {
    harness.state().view.as_ref().expect("it was shown")
}

/// Row, slug and points at the top of the screen: what stands later in the conversation
/// is greater.
fn place(harness: &Hands) -> (usize, SlugKey, f32) {
    let top = view(harness).visible().placed.first().expect("something is on screen");
    (top.row, top.id.key, -top.y)
}

fn is_at_start(harness: &Hands) -> bool {
    view(harness).visible().top == 0.0
}

/// Points of the screen that the conversation takes on the strip.
fn length(harness: &Hands) -> f32 {
    (view(harness).visible().total / view(harness).strip().per_cell()).min(700.0) as f32
}

/// Where the view begins: the harness keeps a margin around it.
fn origin(harness: &Hands) -> Pos2 {
    let slider = harness.get_by_role(Role::Slider).rect();
    pos2(slider.center().x, slider.top())
}

fn press(harness: &mut Hands, at: Pos2) {
    harness.hover_at(at);
    harness.run_steps(1);
    harness.drag_at(at);
    harness.run_steps(3);
}

fn pull(harness: &mut Hands, at: Pos2) {
    harness.hover_at(at);
    harness.run_steps(3);
}

#[test]
fn a_click_brings_the_rows_of_its_cell_to_the_middle() {
    for len in LENGTHS {
        let mut harness = hands(len);
        let top = origin(&harness);
        for part in [0.5, 0.21, 0.83] {
            let y = (length(&harness) * part).floor() + 0.5;
            let cell = view(&harness).strip().cells()[y as usize].clone();
            let at = pos2(top.x, top.y + y);
            press(&mut harness, at);
            harness.drop_at(at);
            harness.run_steps(3);
            let visible = view(&harness).visible();
            let height = 700.0 - 2.0 * top.y;
            let middle = visible.placed.iter().find(|p| p.y + p.height > height / 2.0);
            let middle = middle.expect("something is in the middle").row as u32;
            let wide = cell.rows.start.saturating_sub(1)..cell.rows.end + 1;
            assert!(wide.contains(&middle), "{middle} is not in {cell:?} of {len}");
        }
    }
}

#[test]
fn taking_hold_of_the_frame_moves_nothing() {
    for len in LENGTHS {
        let mut harness = hands(len);
        let top = origin(&harness);
        let y = length(&harness) - 4.0;
        let before = place(&harness);
        press(&mut harness, pos2(top.x, top.y + y));
        assert_eq!(place(&harness), before, "{len}");
    }
}

#[test]
fn a_drag_is_monotone_and_exact_and_ends_at_the_ends() {
    for len in LENGTHS {
        let mut harness = hands(len);
        let top = origin(&harness);
        let bottom = length(&harness) - 4.0;
        press(&mut harness, pos2(top.x, top.y + bottom));
        pull(&mut harness, pos2(top.x, top.y - 60.0));
        assert!(is_at_start(&harness), "the start of {len}");
        let mut seen = Vec::new();
        let mut last = place(&harness);
        for step in 0..=40 {
            let y = bottom * step as f32 / 40.0;
            pull(&mut harness, pos2(top.x, top.y + y));
            let now = place(&harness);
            assert!(now >= last, "{now:?} after {last:?} at {step} of {len}");
            last = now;
            seen.push(now);
        }
        assert!(view(&harness).is_following(), "the end of {len}");
        for step in (1..40).rev() {
            pull(&mut harness, pos2(top.x, top.y + bottom * step as f32 / 40.0));
            let now = place(&harness);
            assert!(now <= last, "{now:?} after {last:?} at {step} of {len}");
            last = now;
            let away = now.0.abs_diff(seen[step].0);
            assert!(away <= 1, "{now:?} was {:?} at {step} of {len}", seen[step]);
        }
    }
}

#[test]
fn keys_and_wheel_move_while_it_has_the_focus() {
    let mut harness = hands(1_000);
    harness.get_by_role(Role::Slider).focus();
    harness.run_steps(2);
    harness.key_press(Key::Home);
    harness.run_steps(3);
    assert!(is_at_start(&harness));
    harness.key_press(Key::ArrowDown);
    harness.run_steps(3);
    assert_eq!(view(&harness).visible().top, 46.0);
    assert!(harness.get_by_role(Role::Slider).is_focused(), "arrows do not move the focus");
    harness.key_press(Key::PageDown);
    harness.run_steps(3);
    let page = view(&harness).visible().top;
    assert!(page > 500.0);
    harness.key_press(Key::End);
    harness.run_steps(3);
    assert!(view(&harness).is_following());
    harness.key_press(Key::Home);
    harness.run_steps(3);
    harness.hover_at(pos2(X, 300.0));
    harness.event(egui::Event::MouseWheel {
        unit: egui::MouseWheelUnit::Point,
        delta: Vec2::new(0.0, -120.0),
        phase: egui::TouchPhase::Move,
        source: egui::MouseWheelSource::Unknown,
        modifiers: Modifiers::NONE,
    });
    harness.run_steps(40);
    assert!(view(&harness).visible().top > 100.0, "{}", view(&harness).visible().top);
}

#[test]
fn the_tab_key_finds_it() {
    let mut harness = hands(10);
    let is_there = (0..60).any(|_| {
        harness.key_press(Key::Tab);
        harness.run_steps(2);
        harness.get_by_role(Role::Slider).is_focused()
    });
    assert!(is_there);
}

#[test]
fn a_screen_reader_hears_the_place_and_sets_it() {
    let mut harness = hands(100_000);
    harness.key_press(Key::Home);
    harness.run_steps(3);
    let slider = harness.get_by_role(Role::Slider);
    let node = slider.accesskit_node();
    assert_eq!(node.label().as_deref(), Some("Position in the conversation"));
    assert_eq!(node.numeric_value(), Some(1.0));
    assert_eq!(node.max_numeric_value(), Some(100_000.0));
    assert_eq!(node.value().as_deref(), Some("1 of 100,000 · 03:06 UTC"));
    let at = slider.accesskit_node().locate();
    let request = |action, data| {
        egui::Event::AccessKitActionRequest(egui::accesskit::ActionRequest {
            action,
            target_tree: at.1,
            target_node: at.0,
            data,
        })
    };
    let value = egui::accesskit::ActionData::NumericValue(54_321.0);
    harness.event(request(egui::accesskit::Action::SetValue, Some(value)));
    harness.run_steps(4);
    let shows = |harness: &Hands, row: usize| {
        view(harness).visible().placed.iter().any(|placed| placed.row == row)
    };
    assert!(shows(&harness, 54_320));
}

#[test]
fn it_is_hidden_and_shown_by_key_and_the_column_takes_the_room() {
    let mut harness = hands(1_000);
    let width = |harness: &Hands| harness.get_by_role(Role::Slider).rect().width();
    assert_eq!(width(&harness), 56.0);
    let before = place(&harness);
    harness.key_press_modifiers(Modifiers::COMMAND, Key::M);
    harness.run_steps(3);
    assert!(!view(&harness).show_minimap);
    assert_eq!(width(&harness), 12.0);
    assert_eq!(place(&harness).0, before.0, "the page stays");
    // The scrollbar obeys the same hand.
    let top = origin(&harness);
    let height = harness.get_by_role(Role::Slider).rect().height();
    press(&mut harness, pos2(top.x, top.y + height - 8.0));
    pull(&mut harness, pos2(top.x, top.y - 40.0));
    assert!(is_at_start(&harness));
    harness.drop_at(pos2(top.x, top.y));
    harness.run_steps(2);
    harness.key_press_modifiers(Modifiers::COMMAND | Modifiers::SHIFT, Key::M);
    harness.run_steps(3);
    assert!(!view(&harness).show_minimap, "with Shift it is another key");
    harness.key_press_modifiers(Modifiers::COMMAND, Key::M);
    harness.run_steps(3);
    assert!(view(&harness).show_minimap);
    assert_eq!(width(&harness), 56.0);
}

#[test]
fn rows_that_come_while_the_end_is_followed_stand_at_the_end() {
    let mut harness = hands(20);
    for _ in 0..30 {
        harness.state_mut().source.grow(1);
        harness.run_steps(2);
        let rows = harness.state().source.len() as u32;
        let reader = view(&harness);
        assert!(reader.is_following());
        let last = reader.strip().cells().iter().rev().find(|cell| cell.is_used());
        assert_eq!(last.map(|cell| cell.rows.end), Some(rows));
    }
}

/// Invariant: idle means zero frames; and scrolling through what is set draws no cell.
#[test]
fn nothing_is_drawn_and_asked_for_without_a_change() {
    let mut harness = hands(100_000);
    for step in [-40.0, 40.0].repeat(30) {
        harness.state_mut().view.as_mut().expect("a view").scroll_by(step);
        harness.run_steps(1);
    }
    let counts =
        |harness: &Hands| (view(harness).strip().looked_at(), view(harness).minimap_texels());
    let before = counts(&harness);
    for step in [-40.0, 40.0].repeat(30) {
        harness.state_mut().view.as_mut().expect("a view").scroll_by(step);
        harness.run_steps(1);
    }
    assert_eq!(counts(&harness), before);
    harness.run_steps(4);
    let delay = harness.output().viewport_output.values().map(|out| out.repaint_delay).min();
    assert!(delay.is_none_or(|delay| delay > std::time::Duration::from_secs(1)), "{delay:?}");
}
