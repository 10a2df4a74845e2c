//! The sheet: what stands where, that nothing moves under the reader, and how little is
//! laid out for it.

use letterpress::{
    layout::{
        Fold, FoldKind, Jump, Visible,
        heights::{CHUNK, Fenwick, Heights},
    },
    model::{MessageId, Part, Role, Source as _},
};
use proptest::prelude::*;

use crate::bed::{Bed, Shifting, memory, message, sample, text};

/// Where a slug of a message stands, if it is on screen.
fn top_of(visible: &Visible, id: MessageId) -> Option<f32> {
    visible.placed.iter().find(|placed| placed.id.message == id).map(|placed| placed.y)
}

/// The first slug that is whole and real.
fn reading(visible: &Visible) -> (MessageId, letterpress::layout::SlugId, f32) {
    let placed = visible
        .placed
        .iter()
        .find(|placed| placed.slug.is_some() && placed.y >= 0.0)
        .expect("something whole is on screen");
    (placed.id.message, placed.id, placed.y)
}

fn settle(bed: &mut Bed, source: &mut dyn letterpress::model::Source) -> Visible {
    bed.frame(source);
    bed.frame(source)
}

#[test]
fn it_opens_at_the_end() {
    let mut bed = Bed::new();
    let visible = bed.frame(&mut memory(sample(40)));
    assert!(visible.at_end);
    let last = visible.placed.last().expect("slugs");
    assert_eq!(last.id.message, MessageId(40));
    assert!(last.y + last.height <= 800.0, "the last line is on screen");
}

#[test]
fn a_short_conversation_stands_at_the_top() {
    let mut bed = Bed::new();
    let visible = bed.frame(&mut memory(sample(1)));
    assert_eq!(visible.placed[0].y, 0.0);
    assert!(visible.at_end);
}

#[test]
fn slugs_touch_and_fill_the_viewport() {
    let mut bed = Bed::new();
    let mut source = memory(sample(60));
    bed.sheet.jump(Jump::Row(20));
    let visible = settle(&mut bed, &mut source);
    for pair in visible.placed.windows(2) {
        assert!((pair[0].y + pair[0].height - pair[1].y).abs() < 0.01);
    }
    let last = visible.placed.last().expect("slugs");
    assert!(visible.placed[0].y <= 0.0 && last.y + last.height >= 800.0);
}

#[test]
fn warm_scrolling_lays_out_nothing() {
    let mut bed = Bed::new();
    let mut source = memory(sample(60));
    bed.sheet.jump(Jump::Row(10));
    for _ in 0..40 {
        bed.sheet.scroll_by(20.0);
        bed.frame(&mut source);
    }
    let before = bed.sheet.laid_out();
    for step in [-20.0, 20.0].repeat(20) {
        bed.sheet.scroll_by(step);
        bed.frame(&mut source);
    }
    assert_eq!(bed.sheet.laid_out(), before);
}

/// L14: a list that grows by one lays out that one.
#[test]
fn l14_one_more_message_lays_out_only_itself() {
    let mut bed = Bed::new();
    let source = Shifting::new(sample(30), 0);
    let mut shown = source.clone();
    settle(&mut bed, &mut shown);
    let before = bed.sheet.laid_out();
    source.push(message(99, Role::Assistant, vec![text("One more line.")]));
    bed.frame(&mut shown);
    // The message before it loses its place as the end of the turn, not its slugs.
    assert_eq!(bed.sheet.laid_out(), before + 1);
}

/// A reply as it streams: how many slugs are set in each frame.
fn streamed(reply: &str, step: usize) -> Vec<u64> {
    use letterpress::{
        markdown,
        model::{Blocks, Text},
    };
    let mut bed = Bed::new();
    let mut messages = sample(8);
    let state = |blocks| {
        let mut message = message(500, Role::Assistant, Vec::new());
        message.parts = vec![Part::Text(Text { source: "…".into(), blocks })];
        message
    };
    messages.push(state(Blocks::Unparsed));
    let source = Shifting::new(messages, 0);
    let mut shown = source.clone();
    settle(&mut bed, &mut shown);
    let mut stream = markdown::Stream::new(markdown::Options::default());
    let mut counts = Vec::new();
    let characters: Vec<char> = reply.chars().collect();
    for delta in characters.chunks(step) {
        stream.push(&delta.iter().collect::<String>());
        source.replace_last(state(stream.snapshot()));
        let before = bed.sheet.laid_out();
        bed.frame(&mut shown);
        counts.push(bed.sheet.laid_out() - before);
    }
    counts
}

/// Sealed blocks are replayed; only the open tail is set anew.
#[test]
fn streaming_sets_the_open_tail_and_nothing_else() {
    let reply =
        "A paragraph of a reply that is being written, word by word, until it ends.\n\n".repeat(30);
    let counts = streamed(&reply, 7);
    assert!(counts.iter().all(|count| *count <= 3), "{counts:?}");
    let mean = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    assert!(mean < 1.6, "{mean}");
}

/// Rows of a table that are there stay set while others arrive.
#[test]
fn a_streaming_table_sets_its_last_rows_anew() {
    let rows: String = (100..160).map(|i| format!("| row {i} | {i} | some words |\n")).collect();
    let counts = streamed(&format!("| name | count | words |\n|---|---|---|\n{rows}"), 9);
    let mean = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    assert!(mean < 3.0, "{mean}: {counts:?}");
}

/// L16: what a frame lays out does not know how long the history is.
#[test]
fn l16_the_first_frame_costs_the_same_at_any_length() {
    let laid_out = |count| {
        let mut bed = Bed::new();
        bed.frame(&mut memory(sample(count)));
        bed.sheet.laid_out()
    };
    assert_eq!(laid_out(100), laid_out(10_000));
}

#[test]
fn one_huge_message_is_laid_out_where_it_is_looked_at() {
    let mut bed = Bed::new();
    let paragraph = "A sentence of some words that says nothing. ".repeat(8);
    let huge = format!("{paragraph}\n\n").repeat(30_000);
    assert!(huge.len() > 10_000_000);
    let mut source = memory(vec![message(1, Role::Assistant, vec![text(&huge)])]);
    let visible = bed.frame(&mut source);
    assert!(visible.at_end);
    assert!(bed.sheet.laid_out() < 60, "laid out {}", bed.sheet.laid_out());
    bed.sheet.jump(Jump::Fraction(0.5));
    let visible = bed.frame(&mut source);
    assert!((visible.top / visible.total - 0.5).abs() < 0.02);
    assert!(bed.sheet.laid_out() < 120);
}

#[test]
fn every_block_of_a_huge_code_block_can_be_reached() {
    let mut bed = Bed::new();
    let code: String = (0..20_000).map(|i| format!("let x{i} = {i};\n")).collect();
    let mut source =
        memory(vec![message(1, Role::Assistant, vec![text(&format!("```rust\n{code}```"))])]);
    bed.sheet.jump(Jump::Start);
    let first = bed.frame(&mut source);
    assert!(shown_text(&first).contains("let x0 = 0;"));
    bed.sheet.jump(Jump::End);
    let last = bed.frame(&mut source);
    assert!(shown_text(&last).contains("let x19999 = 19999;"));
    assert!(bed.sheet.laid_out() < 20);
}

fn shown_text(visible: &Visible) -> String {
    let lines = visible.placed.iter().filter_map(|placed| placed.slug.as_ref());
    lines.flat_map(|slug| &slug.lines).map(|line| format!("{}\n", line.rows.text())).collect()
}

#[test]
fn any_upward_intent_releases_the_end() {
    let mut bed = Bed::new();
    let mut source = memory(sample(40));
    settle(&mut bed, &mut source);
    assert!(bed.sheet.is_following());
    bed.sheet.scroll_by(-1.0);
    bed.frame(&mut source);
    assert!(!bed.sheet.is_following());
    bed.sheet.scroll_by(5.0);
    bed.frame(&mut source);
    assert!(bed.sheet.is_following(), "coming back to the end follows it again");
}

#[test]
fn width_zoom_and_theme_keep_the_place() {
    let mut bed = Bed::new();
    let mut source = memory(sample(80));
    bed.sheet.jump(Jump::Row(33));
    bed.sheet.scroll_by(7.0);
    settle(&mut bed, &mut source);
    let before = bed.sheet.anchor();
    let (width, scale) = (bed.width, bed.scale);
    bed.width = 420.0;
    settle(&mut bed, &mut source);
    bed.scale = 1.5;
    settle(&mut bed, &mut source);
    bed.palette = letterpress::view::theme::palette(egui::Theme::Light);
    settle(&mut bed, &mut source);
    (bed.width, bed.scale) = (width, scale);
    settle(&mut bed, &mut source);
    let after = bed.sheet.anchor();
    assert_eq!((before.message, before.key), (after.message, after.key));
    assert!((before.offset - after.offset).abs() < 2.0, "{before:?} {after:?}");
}

/// Invariant: a galley belongs to one epoch.
#[test]
fn a_new_epoch_sets_everything_again() {
    let mut bed = Bed::new();
    let mut source = memory(sample(20));
    settle(&mut bed, &mut source);
    let before = bed.sheet.laid_out();
    bed.palette = letterpress::view::theme::palette(egui::Theme::Light);
    let visible = bed.frame(&mut source);
    assert!(bed.sheet.laid_out() >= before + visible.placed.len() as u64);
}

#[test]
fn what_is_off_screen_is_dropped_at_the_limit_and_what_is_shown_is_kept() {
    let mut bed = Bed::new();
    bed.sheet = letterpress::layout::Sheet::new(400_000);
    let mut source = memory(sample(400));
    bed.sheet.jump(Jump::Start);
    for _ in 0..60 {
        bed.sheet.scroll_by(300.0);
        bed.frame(&mut source);
    }
    let visible = bed.frame(&mut source);
    let shown: usize = visible.placed.iter().filter_map(|p| p.slug.as_ref()).map(|s| s.bytes).sum();
    assert!(bed.sheet.cache_bytes() <= 400_000 + 2 * shown, "{}", bed.sheet.cache_bytes());
    bed.sheet.purge();
    assert_eq!(bed.sheet.cache_bytes(), 0);
}

#[test]
fn a_renderer_that_panics_costs_its_message() {
    let mut bed = Bed::new();
    bed.registry.role("bomb", |_| panic!("a renderer of another program"));
    let mut messages = sample(3);
    messages.push(message(9, Role::Custom("bomb".into()), vec![text("never seen")]));
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let visible = bed.frame(&mut memory(messages));
    std::panic::set_hook(hook);
    let shown = shown_text(&visible);
    assert!(shown.contains("could not be displayed") && shown.contains("One line."), "{shown}");
}

fn details(id: u64) -> letterpress::model::Message {
    let body = "<details><summary>more</summary>\n\nhidden paragraph\n\nanother one\n\n</details>";
    message(id, Role::Assistant, vec![text(body)])
}

#[test]
fn a_fold_above_opens_without_moving_what_is_read() {
    let mut bed = Bed::new();
    let mut messages = vec![details(1)];
    messages.extend(sample(40).into_iter().map(|mut m| {
        m.id = MessageId(m.id.0 + 100);
        m
    }));
    let mut source = memory(messages);
    bed.sheet.jump(Jump::Row(6));
    let before = reading(&settle(&mut bed, &mut source));
    for part in 0..2 {
        for leaf in 0..4 {
            let fold = Fold { message: MessageId(1), part, kind: FoldKind::Details(leaf) };
            bed.folds.set(fold, true);
        }
    }
    let visible = settle(&mut bed, &mut source);
    assert_eq!(top_of(&visible, before.0), Some(before.2));
}

#[derive(Clone, Debug)]
enum Change {
    Scroll(f64),
    RevealAbove(usize),
    Hide(usize),
    Show(usize),
    Append,
    Frame,
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (-400.0..400.0).prop_map(Change::Scroll),
        (1..20_usize).prop_map(Change::RevealAbove),
        (0..30_usize).prop_map(Change::Hide),
        (0..30_usize).prop_map(Change::Show),
        Just(Change::Append),
        Just(Change::Frame),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Invariant: whatever comes, goes or grows elsewhere, what is read stays where it is.
    #[test]
    fn nothing_moves_under_the_reader(changes in proptest::collection::vec(change(), 1..24)) {
        let mut bed = Bed::new();
        let source = Shifting::new(sample(120), 60);
        let mut shown = source.clone();
        bed.sheet.jump(Jump::Row(20));
        bed.frame(&mut shown);
        // No longer following: otherwise the end is what must stay.
        bed.sheet.scroll_by(-3.0);
        let mut visible = bed.frame(&mut shown);
        let mut next = 1000;
        for change in changes {
            let before = visible
                .placed
                .iter()
                .find(|placed| placed.slug.is_some())
                .map(|placed| (placed.id, placed.y));
            match change {
                Change::Scroll(points) => {
                    bed.sheet.scroll_by(points.min(300.0));
                    visible = bed.frame(&mut shown);
                    if bed.sheet.is_following() {
                        bed.sheet.scroll_by(-1.0);
                        visible = bed.frame(&mut shown);
                    }
                    continue;
                }
                Change::RevealAbove(rows) => source.reveal_above(rows),
                Change::Hide(row) => source.hide(row.min(shown.len() - 1), true),
                Change::Show(row) => source.hide(row.min(shown.len() - 1), false),
                Change::Append => {
                    next += 1;
                    source.push(message(next, Role::Assistant, vec![text("appended")]));
                }
                Change::Frame => {}
            }
            visible = bed.frame(&mut shown);
            if let Some((id, y)) = before
                && let Some(placed) = visible.placed.iter().find(|p| p.id.message == id.message && p.id.key == id.key)
            {
                prop_assert!((placed.y - y).abs() < 0.51, "moved from {y} to {}", placed.y);
            }
        }
    }

    /// Heights equal the plain sums, however they were changed.
    #[test]
    fn heights_equal_recomputed_sums(
        mut rows in proptest::collection::vec(0.0..500.0_f64, 1..3000),
        changes in proptest::collection::vec((0..3000_usize, 0.0..900.0_f64), 0..40),
        probes in proptest::collection::vec(0.0..1.0_f64, 1..20),
    ) {
        let estimates = rows.clone();
        let estimate = |row: usize| estimates[row];
        let chunk = |chunk: usize| {
            estimates.iter().skip(chunk * CHUNK).take(CHUNK).sum::<f64>()
        };
        let mut heights = Heights::new(rows.len(), chunk);
        for (row, height) in changes {
            let row = row % rows.len();
            heights.set(row, height, estimate);
            rows[row] = height;
        }
        let total: f64 = rows.iter().sum();
        prop_assert!((heights.total() - total).abs() < 1e-6 * total.max(1.0));
        for probe in probes {
            let y = probe * total;
            let (row, within) = heights.find(y, estimate);
            let top: f64 = rows.iter().take(row).sum();
            prop_assert!((top + within - y).abs() < 1e-6 * total.max(1.0));
            prop_assert!((heights.top(row, estimate) - top).abs() < 1e-6 * total.max(1.0));
        }
    }

    #[test]
    fn fenwick_finds_what_plain_sums_find(values in proptest::collection::vec(0.0..100.0_f64, 1..200), at in 0.0..1.0_f64) {
        let fenwick = Fenwick::new(values.clone());
        let mut pushed = Fenwick::default();
        values.iter().for_each(|value| pushed.push(*value));
        pushed.truncate(values.len() / 2);
        values.iter().skip(values.len() / 2).for_each(|value| pushed.push(*value));
        for count in [0, values.len() / 3, values.len()] {
            prop_assert!((pushed.prefix(count) - fenwick.prefix(count)).abs() < 1e-6);
        }
        let y = at * values.iter().sum::<f64>();
        let (index, within) = fenwick.find(y);
        let before: f64 = values.iter().take(index).sum();
        prop_assert!((before + within - y).abs() < 1e-9 * 1e4);
        prop_assert!(within <= values[index] + 1e-6);
    }
}

#[test]
fn points_stay_exact_at_a_million_messages() {
    let rows = 1_000_000;
    let mut heights = Heights::new(rows, |_| 200.37 * CHUNK as f64);
    let estimate = |_: usize| 200.37;
    let top = heights.top(999_999, estimate);
    assert_eq!(heights.find(top + 0.5, estimate).0, 999_999);
    assert!(heights.heap_bytes() < 200_000, "{}", heights.heap_bytes());
}

/// Whatever the parts, some slug stands for the message: nothing is dropped in silence.
#[test]
fn a_message_of_no_visible_part_still_has_a_line() {
    let mut bed = Bed::new();
    let messages = vec![message(
        1,
        Role::Assistant,
        vec![Part::Text(letterpress::model::Text::unparsed(" "))],
    )];
    let visible = bed.frame(&mut memory(messages));
    assert_eq!(visible.placed.len(), 1);
}
