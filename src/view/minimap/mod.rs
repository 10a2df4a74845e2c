//! The minimap: all of the conversation at the right edge, and the scrollbar in one.
//!
//! [`Strip`] says what stands in each row of pixels; here it becomes a texture, one texel
//! high for each row and as wide as the picture has columns, that is uploaded only where
//! it changed and drawn as one quad. A shader that reads the cells would save a part of
//! that upload, which happens when rows come and not while they are scrolled, and would
//! cost a pipeline of its own, which egui's other backends do not have.

mod card;
mod picture;
mod track;

use std::sync::Arc;

use egui::{
    EventFilter, Rect, Response, Sense, Stroke, StrokeKind, Ui, WidgetInfo,
    accesskit::{Action, ActionData},
    pos2, vec2,
};

use self::{
    card::Card,
    picture::Picture,
    track::{Grip, Scale},
};
use crate::{
    layout::{Strip, Track, sheet::FOOT},
    model::Source,
    perf::{self, Reason},
    view::{
        governor, overlay,
        transcript::{Geometry, TranscriptView, part_id},
    },
};

/// Width of the minimap in points.
pub(crate) const MAP_WIDTH: f32 = 56.0;
/// Width of the scrollbar that stands in its place while it is hidden, in points.
pub(crate) const BAR_WIDTH: f32 = 12.0;
/// A narrower view has no room for the minimap, in points.
const VIEW_MIN: f32 = 480.0;
/// The name under which the minimap, or the scrollbar, has an id.
const PART: &str = "minimap";

/// State of the minimap of one view.
#[derive(Default)]
pub(crate) struct Minimap {
    strip: Strip,
    picture: Picture,
    card: Card,
    grip: Option<Grip>,
}

impl Minimap {
    /// True while the picture is not whole.
    pub(crate) fn is_busy(&self) -> bool {
        self.strip.is_busy()
    }

    /// Texels handed to the GPU.
    pub(crate) fn uploaded(&self) -> u64 {
        self.picture.uploaded()
    }

    /// Gives up a picture that is not shown.
    fn rest(&mut self) {
        if !self.strip.cells().is_empty() || self.strip.is_busy() {
            *self = Self { grip: self.grip.take(), ..Self::default() };
        }
    }

    pub(crate) fn strip(&self) -> &Strip {
        &self.strip
    }
}

/// Room that a view of this width leaves at its right edge.
pub(crate) fn width(view: &TranscriptView, rect: Rect) -> f32 {
    if view.show_minimap && rect.width() >= VIEW_MIN { MAP_WIDTH } else { BAR_WIDTH }
}

/// The minimap's widget.
pub(crate) fn id(ui: &Ui) -> egui::Id {
    part_id(ui, PART)
}

/// Shows the minimap, or the scrollbar while it is hidden.
pub(crate) fn show(
    view: &mut TranscriptView,
    ui: &Ui,
    geometry: Geometry,
    source: &mut dyn Source,
) {
    perf::scope!("minimap");
    let rect = Rect::from_min_max(
        pos2(geometry.rect.right() - geometry.edge, geometry.rect.top()),
        geometry.rect.max,
    );
    if source.is_empty() || rect.height() < 1.0 {
        view.minimap.grip = None;
        return;
    }
    if geometry.edge < MAP_WIDTH {
        view.minimap.rest();
        return bar_ui(view, ui, rect, source);
    }
    look(view, ui, rect, source);
    let scale = Scale::of_map(&view.visible, rect, view.minimap.strip.per_cell(), ui);
    let response = moved(view, ui, rect, scale, source);
    paint(view, ui, rect, scale, &response, source);
    if response.hovered() || response.dragged() {
        card::show(view, ui, rect, scale, source);
    }
}

/// Brings the picture up to date.
fn look(view: &mut TranscriptView, ui: &Ui, rect: Rect, source: &dyn Source) {
    let pixels_per_point = ui.pixels_per_point();
    let cells = (rect.height() * pixels_per_point).round() as usize;
    let track = Track { cells, pixels_per_point, foot: FOOT };
    if !view.sheet.overlook(&mut view.minimap.strip, source, track) {
        governor::wake(ui, Reason::Input);
    }
    let palette = view.palette();
    let hits = view.hits.as_ref().map(Arc::clone);
    let Minimap { strip, picture, .. } = &mut view.minimap;
    picture.update(ui, strip, hits, &palette);
}

/// The scrollbar that stands in the minimap's place.
fn bar_ui(view: &mut TranscriptView, ui: &Ui, rect: Rect, source: &dyn Source) {
    let scale = Scale::of_bar(&view.visible, rect);
    if scale.room <= 0.0 {
        return;
    }
    let response = moved(view, ui, rect, scale, source);
    let palette = view.palette();
    let (top, height) = shown_frame(view, scale);
    let bar = Rect::from_min_size(
        pos2(rect.left() + 3.0, rect.top() + top),
        vec2(BAR_WIDTH - 6.0, height),
    );
    let is_held = response.hovered() || response.dragged();
    let color = if is_held { palette.faint } else { palette.line };
    let painter = ui.painter_at(rect);
    painter.rect_filled(bar, 3.0, color);
    if response.has_focus() {
        let ring = Stroke::new(1.5, palette.accent);
        painter.rect_stroke(bar.expand(1.0), 4.0, ring, StrokeKind::Outside);
    }
}

/// Top and height of the frame around what is on screen, in points from the track's top.
/// While it is dragged it stands where the pointer holds it.
fn shown_frame(view: &TranscriptView, scale: Scale) -> (f32, f32) {
    let (top, height) = scale.frame(view.visible.top);
    match view.minimap.grip.as_ref().and_then(Grip::frame_top) {
        Some(held) => (held.clamp(0.0, scale.travel()), height),
        None => (top, height),
    }
}

/// Applies pointer, keys and a screen reader's requests.
fn moved(
    view: &mut TranscriptView,
    ui: &Ui,
    rect: Rect,
    scale: Scale,
    source: &dyn Source,
) -> Response {
    let response = ui.interact(rect, id(ui), Sense::click_and_drag());
    if response.has_focus() {
        // Arrows move the page, see `keys`, and not the focus.
        let filter = EventFilter {
            vertical_arrows: true,
            horizontal_arrows: true,
            ..EventFilter::default()
        };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
    }
    spoken(view, ui, &response, source);
    let pointer = response.interact_pointer_pos().filter(|_| {
        response.is_pointer_button_down_on() && ui.input(|input| input.pointer.primary_down())
    });
    let Some(pointer) = pointer else {
        view.minimap.grip = None;
        return response;
    };
    let y = pointer.y - rect.top();
    if view.minimap.grip.is_none() {
        let frame = scale.frame(view.visible.top);
        view.minimap.grip = Some(Grip::new(scale, frame, view.sheet.ruler(), y));
    }
    if let Some(jump) = view.minimap.grip.as_mut().and_then(|grip| grip.pull(y, source)) {
        view.sheet.jump(jump);
        governor::wake(ui, Reason::Input);
    }
    response
}

/// What a screen reader says, and what it asks for.
fn spoken(view: &mut TranscriptView, ui: &Ui, response: &Response, source: &dyn Source) {
    let row = view.visible.placed.first().map_or(0, |placed| placed.row);
    let rows = source.len();
    response
        .widget_info(|| WidgetInfo::slider(true, row as f64 + 1.0, "Position in the conversation"));
    let is_read_aloud = ui.ctx().accesskit_node_builder(response.id, |node| {
        node.set_min_numeric_value(1.0);
        node.set_max_numeric_value(rows as f64);
        node.set_numeric_value_step(1.0);
        node.set_value(card::position(row, source));
        [Action::SetValue, Action::Increment, Action::Decrement]
            .into_iter()
            .for_each(|action| node.add_action(action));
    });
    if is_read_aloud.is_none() {
        return;
    }
    let count = |action| ui.input(|i| i.num_accesskit_action_requests(response.id, action));
    let steps = count(Action::Increment) as isize - count(Action::Decrement) as isize;
    let set = ui.input(|input| {
        let requests = input.accesskit_action_requests(response.id, Action::SetValue);
        let value = |data: &Option<ActionData>| match data {
            Some(ActionData::NumericValue(value)) => Some(*value as usize),
            _ => None,
        };
        requests.filter_map(|request| value(&request.data)).last()
    });
    let wanted = set.map(|number| number.saturating_sub(1));
    let wanted = wanted.or_else(|| (steps != 0).then(|| row.saturating_add_signed(steps)));
    if let Some(row) = wanted {
        overlay::go_to_row(view, row.min(rows.saturating_sub(1)), source);
        governor::wake(ui, Reason::Input);
    }
}

fn paint(
    view: &mut TranscriptView,
    ui: &Ui,
    rect: Rect,
    scale: Scale,
    response: &Response,
    source: &dyn Source,
) {
    let palette = view.palette();
    let painter = ui.painter_at(rect);
    let hairline = 1.0 / ui.pixels_per_point();
    painter.rect_filled(rect, 0.0, palette.bg);
    painter.vline(rect.left() + hairline / 2.0, rect.y_range(), (hairline, palette.line));
    view.minimap.picture.paint(&painter, rect);
    if let Some((top, bottom)) = selected(view, scale, source) {
        let lane = Rect::from_x_y_ranges(
            rect.left() + 2.0..=rect.right() - 2.0,
            rect.top() + top..=rect.top() + bottom.max(top + 2.0),
        );
        painter.rect_filled(lane, 1.0, palette.selection);
    }
    if scale.room <= 0.0 && !response.has_focus() {
        return;
    }
    let (top, height) = shown_frame(view, scale);
    let frame =
        Rect::from_min_size(pos2(rect.left(), rect.top() + top), vec2(rect.width(), height));
    let strength = if response.is_pointer_button_down_on() {
        (0.16, 0.8)
    } else if response.hovered() {
        (0.12, 0.6)
    } else {
        (0.08, 0.4)
    };
    painter.rect_filled(frame, 2.0, palette.faint.gamma_multiply(strength.0));
    let line = match response.has_focus() {
        true => Stroke::new(1.5, palette.accent),
        false => Stroke::new(hairline.max(1.0), palette.faint.gamma_multiply(strength.1)),
    };
    painter.rect_stroke(frame, 2.0, line, StrokeKind::Inside);
}

/// Top and bottom of the selected rows, in points from the track's top.
fn selected(view: &mut TranscriptView, scale: Scale, source: &dyn Source) -> Option<(f32, f32)> {
    let rows = view.selection.as_ref()?.rows(source)?;
    let (top, _) = view.sheet.row_span(rows.start, source);
    let (_, bottom) = view.sheet.row_span(rows.end.checked_sub(1)?, source);
    Some((scale.y(top), scale.y(bottom)))
}
