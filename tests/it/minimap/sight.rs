//! What can be seen: marks that are never lost, in both themes, and the card.

use std::sync::Arc;

use egui::{Color32, Context, Event, Modifiers, PointerButton, Theme, pos2};
use letterpress::{
    app::offscreen::Offscreen,
    layout::Palette,
    model::RowInfo,
    view::{TranscriptView, theme},
};

use super::rows::{Made, mixed};

const SIZE: [u32; 2] = [900, 500];

/// Draws a conversation and gives the picture's pixels of the minimap.
fn drawn(source: &mut Made, scheme: Theme, hits: Option<Vec<u32>>) -> Vec<[Color32; 56]> {
    drawn_after(source, scheme, hits, &[])
}

/// The same after these events, one a frame.
fn drawn_after(
    source: &mut Made,
    scheme: Theme,
    hits: Option<Vec<u32>>,
    events: &[Event],
) -> Vec<[Color32; 56]> {
    let install = |context: &Context| theme::install(context);
    let mut offscreen = Offscreen::new(SIZE, 1.0, scheme, install).expect("there is a driver");
    let mut view = TranscriptView::new(offscreen.context());
    view.hits = hits.map(Arc::new);
    for frame in 0..8 {
        offscreen.frame(Vec::new(), f64::from(frame) / 60.0, |ui| {
            view.show(ui, source);
        });
    }
    for (frame, event) in (8..).zip(events) {
        offscreen.frame(vec![event.clone()], f64::from(frame) / 60.0, |ui| {
            view.show(ui, source);
        });
    }
    assert!(view.is_settled(), "everything is drawn");
    let image = offscreen.image().expect("the device is there");
    let row = |y: u32| {
        std::array::from_fn(|x| {
            let [r, g, b, a] = image.get_pixel(SIZE[0] - 56 + x as u32, y).0;
            Color32::from_rgba_premultiplied(r, g, b, a)
        })
    };
    (0..SIZE[1]).map(row).collect()
}

/// How far a colour is from another, over all channels.
fn away(a: Color32, b: Color32) -> u32 {
    a.to_array().into_iter().zip(b.to_array()).map(|(a, b)| u32::from(a.abs_diff(b))).sum()
}

fn palette(scheme: Theme) -> Palette {
    theme::palette(scheme)
}

/// The lane of marks.
const MARKS: usize = 49;

#[test]
fn one_failure_and_one_hit_among_many_are_seen() {
    for scheme in [Theme::Dark, Theme::Light] {
        for len in [40, 2_000, 300_000] {
            let mut source = Made::new(len, move |number| {
                let info = mixed(number);
                RowInfo { failed: number == len / 3, ..info }
            });
            let palette = palette(scheme);
            let lines = drawn(&mut source, scheme, Some(vec![len as u32 / 2]));
            let near =
                |color: Color32| lines.iter().filter(|line| away(line[MARKS], color) < 60).count();
            assert!(near(palette.err) >= 2, "failure of {len}, {scheme:?}");
            assert!(near(palette.warn) >= 2, "hit of {len}, {scheme:?}");
            let marked = lines.iter().filter(|line| away(line[MARKS], palette.bg) > 40).count();
            let most = if len == 40 { 120 } else { 8 };
            assert!(marked <= most, "{marked} lines are marked of {len}, {scheme:?}");
        }
    }
}

#[test]
fn where_nearly_all_cells_hold_a_failure_each_is_seen() {
    let mut source = Made::new(100_000, |number| {
        let info = mixed(number);
        RowInfo { failed: number % 40 == 3, ..info }
    });
    let palette = palette(Theme::Dark);
    let lines = drawn(&mut source, Theme::Dark, None);
    let bare = lines.iter().take(480).filter(|line| away(line[MARKS], palette.bg) < 24).count();
    assert_eq!(bare, 0);
}

#[test]
fn each_kind_has_its_own_colour() {
    let mut source = Made::new(12, mixed);
    let palette = palette(Theme::Dark);
    let lines = drawn(&mut source, Theme::Dark, None);
    // A prompt is blue, a call green, what was said grey.
    let is_blue = |c: Color32| c.b() > c.r() + 40 && c.b() > 120;
    let is_green = |c: Color32| c.g() > c.r() + 20 && c.g() > c.b() + 5;
    let is_grey = |c: Color32| away(c, palette.bg) > 60 && c.r().abs_diff(c.g()) < 14;
    let count = |is: &dyn Fn(Color32) -> bool| lines.iter().filter(|line| is(line[12])).count();
    assert!(count(&is_blue) > 4 && count(&is_green) > 4 && count(&is_grey) > 20);
}

#[test]
fn selected_rows_are_marked() {
    let mut source = Made::new(30, mixed);
    let plain = drawn(&mut source, Theme::Dark, None);
    let button = |pos, pressed| Event::PointerButton {
        pos,
        button: PointerButton::Primary,
        pressed,
        modifiers: Modifiers::NONE,
    };
    let (from, to) = (pos2(200.0, 120.0), pos2(260.0, 330.0));
    let events = [
        Event::PointerMoved(from),
        button(from, true),
        Event::PointerMoved(to),
        Event::PointerMoved(to),
        button(to, false),
        Event::PointerMoved(pos2(300.0, 40.0)),
    ];
    let marked = drawn_after(&mut source, Theme::Dark, None, &events);
    let changed = |x: usize| {
        plain.iter().zip(&marked).filter(|(plain, marked)| plain[x] != marked[x]).count()
    };
    assert!(changed(3) > 8, "{}", changed(3));
    assert!(changed(3) < 200, "{}", changed(3));
}
