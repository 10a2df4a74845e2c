//! The instrument panel: what it shows, and that it does not disturb.

use std::{path::PathBuf, time::Duration};

use egui::{Key, OutputCommand, Role, Vec2};
use egui_kittest::{Harness, kittest::Queryable as _};
use letterpress::{
    app::window::{Start, Window},
    perf::{self, FRAMES, Frame, FrameRing, Gauges, Histogram, Samples, Stage, Summary},
    view::{Renderer, governor::Governor},
};

fn harness(name: &str) -> Harness<'static, Window> {
    let files =
        vec![PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/corpora/window").join(name)];
    let start = Start { files, ..Start::default() };
    let mut harness = Harness::builder()
        .with_size(Vec2::new(1200.0, 900.0))
        .allow_missing_glyphs()
        .build_eframe(|creation| Window::new(&creation.egui_ctx, start));
    settle(&mut harness);
    harness
}

fn settle(harness: &mut Harness<'static, Window>) {
    for _ in 0..200 {
        harness.run_steps(2);
        if harness.state().is_settled() {
            break;
        }
        std::thread::park_timeout(Duration::from_millis(5));
    }
    harness.run_steps(3);
}

fn press_f12(harness: &mut Harness<'static, Window>) {
    harness.key_press(Key::F12);
    harness.run_steps(4);
}

fn delay(harness: &Harness<'static, Window>) -> Duration {
    let delays = harness.output().viewport_output.values().map(|out| out.repaint_delay);
    delays.min().unwrap_or(Duration::MAX)
}

#[test]
fn f12_opens_and_closes_it_and_escape_does_not() {
    let mut harness = harness("group.jsonl");
    assert!(harness.query_by_label("Copy the figures").is_none());
    press_f12(&mut harness);
    harness.get_by_label("Copy the figures");
    harness.key_press(Key::Escape);
    harness.run_steps(2);
    harness.get_by_label("Copy the figures");
    press_f12(&mut harness);
    assert!(harness.query_by_label("Copy the figures").is_none());
    assert!(!harness.state_mut().hud().is_open());
}

/// Invariant: idle means zero frames, the panel's included.
#[test]
fn an_idle_window_asks_for_no_frame_while_it_is_open() {
    let mut harness = harness("long.jsonl");
    press_f12(&mut harness);
    harness.run_steps(20);
    assert!(delay(&harness) > Duration::from_secs(10), "{:?}", delay(&harness));
    let before = Governor::of(&harness.ctx).total();
    harness.run_steps(20);
    let after = Governor::of(&harness.ctx).total();
    assert_eq!(after.total(), before.total(), "nobody asked for anything");
    assert_eq!(after.frames - before.frames, 20);
}

#[test]
fn closed_it_measures_nothing() {
    let mut harness = harness("long.jsonl");
    harness.run_steps(10);
    assert_eq!(harness.state_mut().hud().ring().iter().len(), 0);
    press_f12(&mut harness);
    harness.run_steps(10);
    let count = harness.state_mut().hud().ring().iter().len();
    assert!(count >= 12, "{count}");
    press_f12(&mut harness);
    let count = harness.state_mut().hud().ring().iter().len();
    harness.run_steps(10);
    assert_eq!(harness.state_mut().hud().ring().iter().len(), count, "and keeps what it has");
}

/// What is shown is what the ring says, of the frame before.
#[test]
fn the_figures_are_the_rings() {
    let mut harness = harness("long.jsonl");
    press_f12(&mut harness);
    harness.run_steps(40);
    let ring = harness.state_mut().hud().ring();
    let (recent, session, count) = (ring.recent(), ring.session(), ring.iter().len());
    let shown = |summary: Summary| {
        let figures = [summary.p50, summary.p95, summary.p99, summary.max];
        figures
            .map(|ms| if ms < 0.0995 { format!("{ms:.3}") } else { format!("{ms:.2}") })
            .join(" ")
    };
    assert_eq!(recent.count, count);
    harness.get_by_label(&format!("last {count}: {}", shown(recent)));
    harness.get_by_label(&format!("session {count}: {}", shown(session)));
    let pass = ring_summary(&mut harness, |frame| perf::millis(frame.pass));
    assert_eq!(pass, recent, "a harness knows of nothing after the pass");
    harness.get_by_label_contains("egui pass: ");
    harness.get_by_label_contains("transcript: ");
    harness.get_by_label_contains("lay out: ");
    let view = harness.state().view().expect("a view");
    let slugs = format!("laid out 0, laid out in all {}", view.laid_out());
    harness.get_by_label(&slugs);
    harness.get_by_label(&format!("visible {}, on the GPU –", view.visible_slugs()));
}

fn ring_summary(harness: &mut Harness<'static, Window>, f: fn(&Frame) -> f64) -> Summary {
    harness.state_mut().hud().ring().summary(f)
}

/// The panel's own time is in no figure: the pass it is in is measured without it.
#[test]
fn its_own_time_is_left_out() {
    let mut harness = harness("long.jsonl");
    press_f12(&mut harness);
    harness.run_steps(30);
    let stages = harness.state_mut().hud().ring().newest().expect("a frame").stages.clone();
    assert!(stages.iter().any(|stage| stage.name == "transcript" && stage.calls == 1));
    for frame in harness.state_mut().hud().ring().iter().skip(5) {
        let transcript: Vec<&Stage> =
            frame.stages.iter().filter(|stage| stage.name == "transcript").collect();
        let [transcript] = transcript.as_slice() else { panic!("one a frame: {frame:?}") };
        assert!(frame.pass >= transcript.total && frame.total == frame.pass);
    }
}

#[test]
fn copy_gives_the_figures_and_reset_forgets_them() {
    let mut harness = harness("long.jsonl");
    press_f12(&mut harness);
    harness.run_steps(20);
    harness.get_by_label("Copy the figures").click();
    harness.step();
    let copied = || {
        harness.output().platform_output.commands.iter().find_map(|command| match command {
            OutputCommand::CopyText(text) => Some(text.clone()),
            _ => None,
        })
    };
    let text = copied().expect("it was copied in the frame of the click");
    for words in ["replay", "last ", "session ", "egui pass: ", "slugs: ", "frames in 10 s: "] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let before = harness.state_mut().hud().ring().iter().len();
    harness.get_by_label("Begin the figures anew").click();
    harness.run_steps(3);
    let after = harness.state_mut().hud().ring().iter().len();
    assert!(before > 15 && after < 4, "{before} {after}");
}

#[test]
fn the_switch_shows_the_same_place_by_another_hand() {
    let mut harness = harness("long.jsonl");
    harness.key_press(Key::Home);
    harness.run_steps(3);
    harness.key_press(Key::PageDown);
    settle(&mut harness);
    let top = |harness: &Harness<'static, Window>| {
        let view = harness.state().view().expect("a view");
        view.visible().placed.first().map(|placed| (placed.row, placed.id, placed.y))
    };
    let before = top(&harness).expect("something is shown");
    press_f12(&mut harness);
    harness.get_by_role_and_label(Role::RadioButton, "commonmark").click();
    settle(&mut harness);
    assert_eq!(harness.state_mut().hud().renderer(), Renderer::Commonmark);
    // The reference renderer sets its labels as widgets, which ours does not.
    let view = harness.state().view().expect("a view");
    let words = view.visible().placed.iter().find_map(|placed| {
        let line = placed.slug.as_ref()?.lines.iter().find(|line| line.reading)?;
        Some(line.rows.text().chars().take(24).collect::<String>())
    });
    let words = words.expect("there are words on screen");
    assert!(harness.query_all_by_label_contains(&words).next().is_some(), "{words}");
    harness.get_by_role_and_label(Role::RadioButton, "replay").click();
    settle(&mut harness);
    assert_eq!(top(&harness), Some(before), "the place is as it was");
    assert!(harness.state_mut().hud().is_open());
}

#[test]
fn the_switch_takes_the_place_along() {
    let mut harness = harness("long.jsonl");
    harness.key_press(Key::Home);
    settle(&mut harness);
    press_f12(&mut harness);
    harness.get_by_role_and_label(Role::RadioButton, "commonmark").click();
    settle(&mut harness);
    harness.key_press(Key::End);
    settle(&mut harness);
    harness.get_by_role_and_label(Role::RadioButton, "replay").click();
    settle(&mut harness);
    let view = harness.state().view().expect("a view");
    assert!(view.visible().at_end && view.is_following());
}

/// What the retained pipeline says of a frame is kept with that frame.
#[test]
fn the_retained_pipeline_is_read_once_a_frame() {
    let mut harness = harness("group.jsonl");
    press_f12(&mut harness);
    harness.get_by_label_contains("draw calls –");
    let gauges = Gauges {
        uploaded_bytes: 2048,
        gpu_bytes: 3 << 20,
        slugs_resident: 1234,
        draws: 7,
        gpu_ms: Some(0.25),
    };
    perf::set_gauges(gauges);
    harness.run_steps(3);
    let newest = harness.state_mut().hud().ring().newest().map(|frame| frame.uploaded_bytes);
    assert_eq!(newest, Some(2048));
    harness.get_by_label_contains("on the GPU 1,234");
    harness.get_by_label_contains("GPU memory 3.0 MB, upload 2.0 KB");
    harness.get_by_label_contains("draw calls 7, GPU time 0.25 ms");
    // There is something to switch to.
    harness.get_by_role_and_label(Role::RadioButton, "retained").click();
    harness.run_steps(2);
    assert_eq!(harness.state_mut().hud().renderer(), Renderer::Retained);
    perf::clear_gauges();
    harness.run_steps(2);
    harness.get_by_label_contains("draw calls –");
}

#[test]
fn tab_reaches_its_controls() {
    let mut harness = harness("group.jsonl");
    press_f12(&mut harness);
    let mut wanted =
        vec!["Copy the figures", "Begin the figures anew", "Next corner", "commonmark"];
    for _ in 0..60 {
        harness.key_press(Key::Tab);
        harness.run_steps(1);
        wanted.retain(|label| !harness.get_by_label(label).is_focused());
    }
    assert_eq!(wanted, Vec::<&str>::new(), "none of them was reached");
}

#[test]
fn it_goes_from_corner_to_corner() {
    let mut harness = harness("group.jsonl");
    press_f12(&mut harness);
    let mut corners = Vec::new();
    for _ in 0..5 {
        let rect = harness.get_by_label("Copy the figures").rect();
        corners.push((rect.center().x > 600.0, rect.center().y > 300.0));
        harness.get_by_label("Next corner").click();
        harness.run_steps(3);
    }
    let (left, right) = (false, true);
    let sides: Vec<bool> = corners.iter().map(|(side, _)| *side).collect();
    assert_eq!(sides, [right, right, left, left, right]);
    assert_eq!(corners[0], corners[4]);
    // The title is a grip too; the panel goes to the corner it is dragged to.
    let title = harness.get_by_role_and_label(Role::Label, "Frames").rect();
    let corner = |harness: &Harness<'static, Window>| {
        let rect = harness.get_by_label("Copy the figures").rect();
        (rect.center().x > 600.0, rect.center().y > 300.0)
    };
    harness.drag_at(title.left_center() + Vec2::new(8.0, 0.0));
    harness.run_steps(2);
    harness.hover_at(egui::pos2(60.0, 800.0));
    harness.run_steps(2);
    harness.drop_at(egui::pos2(60.0, 800.0));
    harness.run_steps(3);
    assert_eq!(corner(&harness), (left, true), "below, at the left");
}

#[test]
fn the_ring_keeps_the_newest_and_the_session_all() {
    let mut ring = FrameRing::default();
    let count = 1_000;
    for number in 1..=count {
        let total = Duration::from_micros(number * 10);
        ring.push(Frame { total, ..Frame::default() });
    }
    let recent = ring.recent();
    assert_eq!((recent.count, ring.iter().len()), (FRAMES, FRAMES));
    assert!((recent.max - 10.0).abs() < 1e-9 && (recent.p50 - 8.5).abs() < 1e-9, "{recent:?}");
    let session = ring.session();
    assert_eq!(session.count, 1_000);
    assert!((session.max - 10.0).abs() < 1e-9 && (session.p50 - 5.0).abs() < 0.06, "{session:?}");
    ring.clear();
    assert_eq!((ring.recent(), ring.session()), (Summary::default(), Summary::default()));
}

#[test]
fn a_histogram_says_what_samples_say() {
    let values: Vec<f64> = (0..5_000_u32).map(|i| f64::from(i * i % 7919) / 100.0 + 0.01).collect();
    let mut histogram = Histogram::default();
    values.iter().for_each(|value| histogram.push(*value));
    histogram.push(f64::NAN);
    histogram.push(-1.0);
    let exact = values.iter().copied().collect::<Samples>().summary();
    let rough = histogram.summary();
    for (exact, rough) in [(exact.p50, rough.p50), (exact.p95, rough.p95), (exact.p99, rough.p99)] {
        assert!(rough >= exact && rough <= exact * 1.012, "{exact} {rough}");
    }
    assert_eq!((exact.count, exact.max), (rough.count, rough.max));
    assert!((exact.mean - rough.mean).abs() < 1e-9);
    let mut extremes = Histogram::default();
    [0.0, 1e-9, 1e12, f64::INFINITY].iter().for_each(|value| extremes.push(*value));
    assert_eq!((extremes.summary().count, extremes.summary().max), (4, f64::INFINITY));
}

/// Jumps through a view while the panel is open lay out what they show, and it says so.
#[test]
fn what_is_laid_out_is_counted_by_the_frame() {
    let mut harness = harness("long.jsonl");
    press_f12(&mut harness);
    harness.run_steps(3);
    let before = harness.state().view().expect("a view").laid_out();
    harness.key_press(Key::Home);
    settle(&mut harness);
    harness.run_steps(2);
    let after = harness.state().view().expect("a view").laid_out();
    let counted: u64 = harness.state_mut().hud().ring().iter().map(|frame| frame.laid_out).sum();
    assert!(after > before);
    assert_eq!(counted, after - before);
}
