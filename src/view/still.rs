//! The transcript as a still: it follows its end and scrolls, and does nothing else.

use egui::{Rect, Ui, vec2};

use crate::{
    layout::Sheet,
    model::Source,
    perf,
    view::{
        paint, pointer,
        transcript::{Geometry, TranscriptView},
    },
};

/// Room that the sheet keeps below its last word; a still ends closer to its edge.
const FOOT: f32 = 22.0;

impl TranscriptView {
    /// A view for stills, with a small cache of set type.
    pub(crate) fn still(ctx: &egui::Context, cache_bytes: usize) -> Self {
        let mut view = Self::new(ctx);
        view.sheet = Sheet::new(cache_bytes).still();
        view.folds.wrap(true);
        view
    }

    /// Shows the conversation in all of `ui`'s room with type so much larger than usual.
    ///
    /// Nothing in it can be clicked, selected or copied, and it takes no keys: the wheel
    /// over it scrolls, and that is all. A conversation that is shorter than the room
    /// stands at its foot.
    pub fn show_still(&mut self, ui: &mut Ui, source: &mut dyn Source, scale: f32) {
        perf::scope!("still");
        let room = ui.available_rect_before_wrap();
        let id = ui.scope_id().with("still");
        self.highlights.poll();
        self.images.begin_frame(ui.ctx());
        self.follow_theme(ui);
        if ui.rect_contains_pointer(room) {
            let delta = ui.input(|input| input.smooth_scroll_delta().y);
            if delta != 0.0 {
                self.sheet.scroll_by(f64::from(-delta));
            }
        }
        self.sheet.set_scale(scale);
        let mut rect = room;
        rect.max.y += FOOT;
        let (left, width) = (room.left(), room.width().floor());
        let mut geometry = Geometry { rect, left, width, edge: 0.0 };
        self.retained.begin_frame(ui.ctx(), &mut self.sheet);
        self.width = geometry.width;
        self.lay_out(ui, source, geometry);
        geometry.rect.min.y += self.slack(rect);
        let mut inner = ui.new_child(egui::UiBuilder::new().max_rect(room));
        inner.shrink_clip_rect(room.expand2(vec2(2.0, 0.0)));
        paint::transcript(self, &inner, geometry, None);
        if pointer::is_read_aloud(ui, id) {
            pointer::messages(ui, geometry, id, &self.visible.placed);
        }
        ui.advance_cursor_after_rect(room);
    }

    /// How much lower a short conversation begins, so that it ends where a long one does.
    fn slack(&self, rect: Rect) -> f32 {
        let bottom = self.visible.placed.last().map_or(0.0, |last| last.y + last.height);
        if !self.visible.at_end || self.visible.top > 0.5 {
            return 0.0;
        }
        (rect.height() - bottom - FOOT - 10.0).max(0.0)
    }
}
