//! One pane: a conversation that is followed, in large type.

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use egui::{Context, CornerRadius, Mesh, Rect, Stroke, StrokeKind, Ui, UiBuilder, pos2, vec2};

use super::{
    Dress,
    feed::{Glance, tone},
    head::{Words, head_ui, put},
    running::Running,
};
use crate::{
    engine::Veil,
    layout::{Jump, face},
    model::{
        Source,
        activity::{Link, State},
    },
    perf::Reason,
    view::{governor, transcript::TranscriptView},
};

/// Bytes of set type that a pane keeps.
const CACHE_BYTES: usize = 4 * 1024 * 1024;
/// Smallest and largest zoom.
const ZOOM: [f32; 2] = [0.4, 3.0];
/// How long a pane counts as being read after someone scrolled in it.
const READ_MS: i64 = 30_000;
/// How long it may stand somewhere else than at its end.
const RETURN_MS: i64 = 90_000;
/// How strongly a pane is shown whose source is gone.
const GONE: f32 = 0.55;

/// A pane and what it remembers.
pub(super) struct Pane {
    view: TranscriptView,
    veil: Veil,
    running: Running,
    /// How much larger its type is than the wall's.
    pub(super) zoom: f32,
    /// When someone last scrolled in it.
    touched_ms: Option<i64>,
    /// The state of its source when it could not be shown.
    failed: Option<u64>,
    /// The frame in which it was last on the wall.
    pub(super) used: u64,
}

impl Pane {
    pub(super) fn new(ctx: &Context) -> Self {
        Self {
            view: TranscriptView::still(ctx, CACHE_BYTES),
            veil: Veil::new(governor::waker(ctx, Reason::Page)),
            running: Running::default(),
            zoom: 1.0,
            touched_ms: None,
            failed: None,
            used: 0,
        }
    }

    /// Somebody is reading in it.
    pub(super) fn is_read(&self, now_ms: i64) -> bool {
        self.touched_ms.is_some_and(|touched| now_ms - touched < READ_MS)
    }

    /// What it shows.
    pub(super) fn view(&self) -> &TranscriptView {
        &self.view
    }

    /// It could not be shown the last time.
    pub(super) fn has_failed(&self) -> bool {
        self.failed.is_some()
    }

    /// Makes its type larger or smaller.
    pub(super) fn zoom_by(&mut self, factor: f32) {
        if factor.is_finite() && factor > 0.0 {
            self.zoom = (self.zoom * factor).clamp(ZOOM[0], ZOOM[1]);
        }
    }

    /// Shows it in all of `ui`'s room.
    pub(super) fn ui(
        &mut self,
        ui: &mut Ui,
        glance: &Glance,
        source: &mut dyn Source,
        dress: &Dress<'_>,
    ) {
        let rect = ui.max_rect();
        ground_ui(ui, rect, glance, dress);
        let unit = dress.unit;
        let pad = dress.pad(rect);
        let inner = Rect::from_min_max(
            pos2(rect.left() + pad, rect.top() + dress.edge() + pad * 0.5),
            pos2(rect.right() - pad, rect.bottom() - 2.0 * unit),
        );
        let mut top = head_ui(ui, inner, glance, dress);
        top = headline_ui(ui, inner.with_min_y(top), glance, dress, self.zoom);
        let room = inner.with_min_y(top + pad * 0.3);
        if room.height() > 8.0 {
            self.notice(ui, room, dress);
            self.content(ui, room, glance, source, dress);
        }
        ui.advance_cursor_after_rect(rect);
    }

    /// Notes that someone scrolls here, and returns to the end when nobody does any more.
    fn notice(&mut self, ui: &Ui, room: Rect, dress: &Dress<'_>) {
        let now = dress.now.unix_ms;
        if ui.rect_contains_pointer(room) {
            let (scrolled, zoom) =
                ui.input(|input| (input.smooth_scroll_delta().y != 0.0, input.zoom_delta()));
            if scrolled {
                self.touched_ms = Some(now);
            }
            if zoom != 1.0 {
                self.zoom_by(zoom);
            }
        }
        let alone = self.touched_ms.is_none_or(|touched| now - touched >= RETURN_MS);
        if alone && !self.view.is_following() {
            self.view.jump(Jump::End);
        }
    }

    fn content(
        &mut self,
        ui: &mut Ui,
        room: Rect,
        glance: &Glance,
        source: &mut dyn Source,
        dress: &Dress<'_>,
    ) {
        let version = source.poll();
        if self.failed.is_some_and(|failed| failed == version) {
            return words_ui(ui, room, dress, "This conversation could not be shown.");
        }
        self.failed = None;
        if source.is_empty() {
            return words_ui(ui, room, dress, "Nothing has been said yet.");
        }
        let scale = dress.text_size(ui.max_rect()) / face::TEXT_SIZE * self.zoom;
        let mut child = ui.new_child(UiBuilder::new().max_rect(room).id_salt("text"));
        child.shrink_clip_rect(room);
        if !glance.link.is_live() || glance.state == State::Stale {
            child.multiply_opacity(GONE);
        }
        let Self { view, veil, running, .. } = self;
        let shown = catch_unwind(AssertUnwindSafe(|| {
            if dress.masked {
                let mut veiled = veil.over(source);
                view.show_still(&mut child, &mut running.over(&mut veiled, glance.state), scale);
            } else {
                view.show_still(&mut child, &mut running.over(source, glance.state), scale);
            }
        }));
        fade_ui(ui, room, view.visible().top, dress);
        // A panic costs the pane, until there is something else to show.
        if shown.is_err() {
            let zoom = self.zoom;
            *self = Self { zoom, failed: Some(version), used: self.used, ..Self::new(ui.ctx()) };
        }
    }
}

/// The ground of a pane, with the thick edge in the colour of its state.
fn ground_ui(ui: &Ui, rect: Rect, glance: &Glance, dress: &Dress<'_>) {
    let palette = dress.palette;
    let painter = ui.painter();
    let color = dress.tone(tone(glance.state));
    let radius = (10.0 * dress.unit).round().clamp(2.0, 60.0) as u8;
    let hairline = 1.0 / ui.pixels_per_point();
    let edge = if glance.state.is_urgent() { color } else { palette.line };
    let width = if glance.state.is_urgent() { (2.0 * dress.unit).max(hairline) } else { hairline };
    painter.rect_filled(rect, CornerRadius::same(radius), color);
    let mut below = rect;
    below.min.y += dress.edge();
    let lower = CornerRadius { nw: 0, ne: 0, sw: radius, se: radius };
    painter.rect_filled(below, lower, palette.bg);
    painter.rect_stroke(
        rect,
        CornerRadius::same(radius),
        Stroke::new(width, edge),
        StrokeKind::Inside,
    );
}

/// The error, what waits for approval, or why nothing comes any more; gives its bottom.
fn headline_ui(ui: &Ui, room: Rect, glance: &Glance, dress: &Dress<'_>, zoom: f32) -> f32 {
    let size = dress.text_size(ui.max_rect()) * zoom;
    let lost = match &glance.link {
        Link::Live => None,
        Link::Lost { since_ms, why } => {
            let since = dress.now.at(*since_ms).time_of_day();
            Some(format!("Not reachable since {since}: {why}"))
        }
    };
    let (text, size, weight, color) = match (&lost, glance.headline.is_empty()) {
        (Some(lost), _) => (lost.as_str(), size, 500.0, dress.palette.dim),
        (None, false) => (&*glance.headline, size * 1.2, 700.0, dress.tone(tone(glance.state))),
        (None, true) => return room.top(),
    };
    let rows = if room.height() > size * 9.0 { 3 } else { 2 };
    let words = Words { text, size, weight, color, figures: false };
    let galley = words.galley(ui, room.width(), rows);
    let at = pos2(room.left(), room.top() + size * 0.3);
    let height = galley.rect.height();
    ui.painter().galley(at, galley, color);
    at.y + height + size * 0.2
}

/// What goes on above the room fades out at its top.
fn fade_ui(ui: &Ui, room: Rect, above: f64, dress: &Dress<'_>) {
    let height = (14.0 * dress.unit).min(above as f32);
    if height < 1.0 {
        return;
    }
    let solid = dress.palette.bg;
    let clear = solid.gamma_multiply(0.0);
    let mut mesh = Mesh::default();
    for (y, color) in [(room.top(), solid), (room.top() + height, clear)] {
        mesh.colored_vertex(pos2(room.left() - 2.0, y), color);
        mesh.colored_vertex(pos2(room.right() + 2.0, y), color);
    }
    mesh.add_triangle(0, 1, 2);
    mesh.add_triangle(2, 1, 3);
    ui.painter().add(egui::Shape::mesh(mesh));
}

/// One sentence in the middle of a pane.
fn words_ui(ui: &Ui, room: Rect, dress: &Dress<'_>, text: &str) {
    let size = dress.text_size(ui.max_rect());
    let color = dress.palette.dim;
    let words = Words { text, size, weight: 400.0, color, figures: false };
    let galley = words.galley(ui, room.width(), 2);
    let middle = room.center() - vec2(galley.rect.width() / 2.0, 0.0);
    put(ui.painter(), middle, &Arc::clone(&galley));
}
