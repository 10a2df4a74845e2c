//! How it looks: pictures of the real painter. Where a folder is named by
//! `LETTERPRESS_LOOKS`, they are left there for a look.

use std::path::PathBuf;

use egui::{Pos2, Rect, Vec2};
use image::RgbaImage;
use letterpress::model::{Delivery, Fork, Message};

use super::bed::{Bed, answer, fork, hover, prompt, sized, write};
use egui_kittest::kittest::Queryable as _;

fn talk() -> Vec<Message> {
    vec![
        prompt(1, "Why does the frame time grow while the answer streams?"),
        answer(
            2,
            "The growth is linear in the length of the reply: every frame parses and lays out \
             the **whole** message again. Blocks that a later block has followed can never \
             change, so they can be sealed.",
        ),
        prompt(3, "Find it, fix it, and show me numbers."),
        answer(
            4,
            "Only the open tail is laid out now; sealed blocks are replayed from cache:\n\n\
             ```rust\nfn visible(&self) -> impl Iterator<Item = &Slug> {\n    \
             self.heights.range(self.view)\n}\n```\n\nThe remaining cost is the tail itself, \
             which never exceeds one paragraph.",
        ),
    ]
}

fn forks() -> [Fork; 2] {
    [fork(&[0, 3, 9], 1), fork(&[4, 7], 0)]
}

fn three(bed: &mut Bed) {
    bed.state_mut().become_busy();
    bed.state_mut().wait(&[
        (101, "Then write a test that fails without the fix", Delivery::Next),
        (102, "Use the numbers of the release build", Delivery::Steer),
        (
            103,
            "And put the whole story into the change log, with the figures before and after, in \
             words that a reader of releases understands",
            Delivery::Next,
        ),
    ]);
    bed.run_steps(3);
}

fn picture(bed: &mut Bed, name: &str) -> RgbaImage {
    settle(bed);
    let picture = bed.render().expect("it can be painted");
    if let Some(folder) = std::env::var_os("LETTERPRESS_LOOKS").map(PathBuf::from) {
        let theme = if bed.state().dark { "dark" } else { "light" };
        picture.save(folder.join(format!("{name}-{theme}.png"))).expect("the folder is there");
    }
    picture
}

/// Waits until colours have come; nothing blinks from then on.
fn settle(bed: &mut Bed) {
    bed.ctx.memory_mut(|memory| memory.stop_text_input());
    bed.set_render_cursor(false);
    for _ in 0..400 {
        bed.run_steps(2);
        if bed.state().view().is_settled() {
            break;
        }
        std::thread::park_timeout(std::time::Duration::from_millis(5));
    }
    bed.run_steps(3);
}

/// Pixels that differ within a part of two pictures.
fn differing(a: &RgbaImage, b: &RgbaImage, rect: Rect) -> usize {
    let inside = |x: u32, y: u32| rect.contains(Pos2::new(x as f32, y as f32));
    let pixels = a.enumerate_pixels().filter(|(x, y, _)| inside(*x, *y));
    pixels.filter(|(x, y, pixel)| b.get_pixel(*x, *y) != *pixel).count()
}

/// With the strip not one pixel of the words changes; beside them some do.
#[test]
fn the_strip_changes_no_pixel_of_the_words() {
    for (dark, width) in [(true, 1000.0), (false, 1000.0), (true, 620.0)] {
        let mut bed = sized(talk(), dark, Vec2::new(width, 700.0));
        bed.state_mut().snapshot.forks = forks().into();
        bed.remove_cursor();
        settle(&mut bed);
        let without = picture(&mut bed, &format!("fork-{width}"));
        hover(&mut bed, 3);
        let strip = bed.get_by_label("Edit message").rect();
        bed.hover_at(Pos2::new(300.0, strip.center().y));
        let with = picture(&mut bed, &format!("strip-{width}"));
        let words = Rect::everything_left_of(strip.left() - 0.5);
        assert_eq!(differing(&without, &with, words), 0, "{width} {dark}");
        assert!(differing(&without, &with, strip) > 30, "{width} {dark}");
    }
}

/// Every state of the box can be told from the others, in both themes.
#[test]
fn the_states_of_the_box_look_different() {
    for dark in [true, false] {
        let new = || {
            let mut bed = sized(talk(), dark, Vec2::new(1000.0, 760.0));
            three(&mut bed);
            bed
        };
        let mut bed = new();
        write(&mut bed, "And say why it grew");
        let queue = picture(&mut bed, "queue");
        bed.state_mut().snapshot.is_queue_paused = true;
        bed.state_mut().snapshot.phase = letterpress::model::Phase::Idle;
        let paused = picture(&mut bed, "paused");
        let mut bed = new();
        bed.get_by_label("Edit waiting 3").click();
        let held = picture(&mut bed, "held");
        let mut bed = sized(talk(), dark, Vec2::new(1000.0, 760.0));
        let message = talk().swap_remove(0);
        bed.state_mut().composer.edit(&message);
        let editing = picture(&mut bed, "editing");
        bed.state_mut()
            .view
            .as_mut()
            .expect("a view")
            .choose_messages(Some(letterpress::model::MessageId(2)));
        let choosing = picture(&mut bed, "choosing");
        let all = [queue, paused, held, editing, choosing];
        let page = Rect::EVERYTHING;
        for (i, a) in all.iter().enumerate() {
            for b in all.iter().skip(i + 1) {
                assert!(differing(a, b, page) > 300, "state {i}");
            }
        }
    }
}

#[test]
fn the_menu_fits_into_the_page() {
    for dark in [true, false] {
        let mut bed = sized(talk(), dark, Vec2::new(1000.0, 760.0));
        bed.state_mut().snapshot.forks = forks().into();
        bed.run_steps(2);
        hover(&mut bed, 4);
        bed.get_by_label("More for this message").click();
        bed.run_steps(3);
        let menu = bed.get_by_label("Export this message…").rect();
        assert!(menu.right() < 1000.0 && menu.bottom() < 760.0, "{menu:?}");
        picture(&mut bed, "menu");
    }
}
