//! The instrument panel: what frames cost, what is kept, and why frames were wanted.
//!
//! It must not disturb what it measures. Closed, it costs a branch. Open, it asks for no
//! frame and shows the newest one when another comes anyway; what it takes itself is
//! measured and left out of every figure, its triangles included.

mod figures;
mod memory;
mod panel;
mod strip;

use std::time::{Duration, Instant};

use egui::{
    Align2, Area, Id, LayerId, Order, Shape, Ui, epaint::Primitive, layers::PaintList, vec2,
};

use crate::{
    layout::Palette,
    perf::{self, Frame, FrameRing},
    view::{Renderer, governor::Governor},
};

pub use figures::Readings;
use figures::Sight;
use memory::Resident;

/// Between the panel and the window's edge, in points.
const INSET: f32 = 14.0;

/// The panel and what it has measured since it was first opened.
#[derive(Default)]
pub struct Hud {
    open: Option<Measuring>,
    ring: FrameRing,
    corner: Corner,
    renderer: Renderer,
}

/// What is only there while the panel is open.
struct Measuring {
    resident: Resident,
    /// Measuring of stages was on before, and stays so.
    was_enabled: bool,
    /// The frame that is going on: its number, its beginning, what the panel took of it.
    going_on: Option<(u64, Instant, Duration)>,
    /// The frame before, and what the panel took of it, until its total is known.
    pending: Option<(Frame, Duration)>,
    /// What was laid out when the last frame ended.
    laid_out: Option<u64>,
    /// What the panel took of the newest frame.
    own: Duration,
}

/// Where the panel stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Corner {
    /// Above, at the right.
    #[default]
    RightTop,
    /// Below, at the right.
    RightBottom,
    /// Below, at the left.
    LeftBottom,
    /// Above, at the left.
    LeftTop,
}

impl Hud {
    /// Opens or closes the panel. What was measured stays.
    pub fn toggle(&mut self) {
        match self.open.take() {
            Some(measuring) => perf::enable(measuring.was_enabled),
            None => {
                let was_enabled = perf::is_enabled();
                perf::enable(true);
                // What was measured for somebody else is not of this panel's frames.
                drop(perf::take_stages());
                self.open = Some(Measuring {
                    resident: Resident::watch(),
                    was_enabled,
                    going_on: None,
                    pending: None,
                    laid_out: None,
                    own: Duration::ZERO,
                });
            }
        }
    }

    /// True while it is open.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.open.is_some()
    }

    /// What is to draw the conversation.
    #[must_use]
    pub fn renderer(&self) -> Renderer {
        self.renderer
    }

    /// Chooses what is to draw the conversation.
    pub fn set_renderer(&mut self, renderer: Renderer) {
        self.renderer = renderer;
    }

    /// What was measured.
    #[must_use]
    pub fn ring(&self) -> &FrameRing {
        &self.ring
    }

    /// Forgets what was measured.
    pub fn reset(&mut self) {
        self.ring.clear();
        if let Some(measuring) = &mut self.open {
            (measuring.going_on, measuring.pending) = (None, None);
        }
    }

    /// A frame begins; `previous` is what the one before took in all, where the integration
    /// says it. Call it before anything else is laid out.
    pub fn begin_frame(&mut self, ctx: &egui::Context, previous: Option<Duration>) {
        let Some(measuring) = &mut self.open else { return };
        let number = ctx.cumulative_frame_nr();
        // A frame may be laid out twice before it is painted.
        if measuring.going_on.is_some_and(|(known, ..)| known == number) {
            return;
        }
        if let Some((mut frame, own)) = measuring.pending.take() {
            let total = previous.map(|total| total.saturating_sub(own));
            frame.total = total.unwrap_or_default().max(frame.pass);
            // It was uploaded when the frame was painted, after it was laid out.
            frame.uploaded_bytes = perf::gauges().map_or(0, |gauges| gauges.uploaded_bytes);
            self.ring.push(frame);
        }
        measuring.going_on = Some((number, perf::now(), Duration::ZERO));
    }

    /// Shows the panel over everything that was laid out before. Call it last.
    pub fn show(&mut self, ui: &Ui, palette: &Palette, readings: &Readings<'_>) {
        let Some(measuring) = &mut self.open else { return };
        let began = perf::now();
        let stages = perf::take_stages();
        let before = measuring.laid_out.replace(readings.laid_out);
        if let Some((_, frame_began, own)) = measuring.going_on {
            let pass = began.saturating_duration_since(frame_began).saturating_sub(own);
            let frame = Frame {
                total: pass,
                pass,
                stages,
                // Another tab's view has another count.
                laid_out: readings.laid_out.saturating_sub(before.unwrap_or(readings.laid_out)),
                uploaded_bytes: 0,
            };
            measuring.pending = Some((frame, own));
        }
        let (resident, own) = (measuring.resident.bytes(), measuring.own);
        let (gauges, requests) = (perf::gauges(), Governor::of(ui).last(10));
        self.panel_ui(ui, palette, &Sight { readings, gauges, resident, own, requests });
        let own = perf::now().saturating_duration_since(began);
        if let Some(measuring) = &mut self.open {
            measuring.own = own;
            if let Some((_, _, sum)) = &mut measuring.going_on {
                *sum += own;
            }
            if let Some((_, sum)) = &mut measuring.pending {
                *sum += own;
            }
        }
    }

    fn panel_ui(&mut self, ui: &Ui, palette: &Palette, sight: &Sight<'_>) {
        let area = Area::new(Id::unique("hud"))
            .order(Order::Middle)
            .fade_in(false)
            .accessible_name("Frames")
            .anchor(self.corner.align(), self.corner.offset());
        let layer = area.layer();
        let acts = area.show(ui, |ui| panel::ui(ui, self, palette, sight)).inner;
        press(ui, layer);
        acts.into_iter().for_each(|act| self.carry_out(ui, act, sight));
    }

    fn carry_out(&mut self, ui: &Ui, act: panel::Act, sight: &Sight<'_>) {
        match act {
            panel::Act::Close => self.toggle(),
            panel::Act::Copy => ui.copy_text(figures::text(&self.ring, self.renderer, sight)),
            panel::Act::Move(corner) => self.corner = corner,
            panel::Act::Reset => self.reset(),
            panel::Act::Draw(renderer) => self.renderer = renderer,
        }
        crate::view::governor::wake(ui, perf::Reason::Input);
    }
}

impl Drop for Hud {
    fn drop(&mut self) {
        if let Some(measuring) = &self.open {
            perf::enable(measuring.was_enabled);
        }
    }
}

/// Makes triangles of the panel now, while its own time is taken: later they would count
/// as the conversation's.
fn press(ui: &Ui, layer: LayerId) {
    let taken = ui.graphics_mut(|graphics| graphics.get_mut(layer).map(std::mem::take));
    let Some(shapes) = taken else { return };
    let shapes = shapes.all_entries().cloned().collect();
    let mut pressed = PaintList::default();
    for primitive in ui.tessellate(shapes, ui.pixels_per_point()) {
        if let Primitive::Mesh(mesh) = primitive.primitive {
            pressed.add(primitive.clip_rect, Shape::mesh(mesh));
        }
    }
    ui.graphics_mut(|graphics| *graphics.entry(layer) = pressed);
}

impl Corner {
    /// The next one, clockwise.
    fn next(self) -> Self {
        match self {
            Self::RightTop => Self::RightBottom,
            Self::RightBottom => Self::LeftBottom,
            Self::LeftBottom => Self::LeftTop,
            Self::LeftTop => Self::RightTop,
        }
    }

    /// The corner of the quarter of `room` in which `at` is.
    fn nearest(room: egui::Rect, at: egui::Pos2) -> Self {
        match (at.x < room.center().x, at.y < room.center().y) {
            (true, true) => Self::LeftTop,
            (true, false) => Self::LeftBottom,
            (false, true) => Self::RightTop,
            (false, false) => Self::RightBottom,
        }
    }

    fn align(self) -> Align2 {
        match self {
            Self::RightTop => Align2::RIGHT_TOP,
            Self::RightBottom => Align2::RIGHT_BOTTOM,
            Self::LeftBottom => Align2::LEFT_BOTTOM,
            Self::LeftTop => Align2::LEFT_TOP,
        }
    }

    fn offset(self) -> egui::Vec2 {
        // Above is the bar with the title, at the right the scrollbar.
        match self {
            Self::RightTop => vec2(-INSET - 12.0, INSET + 44.0),
            Self::RightBottom => vec2(-INSET - 12.0, -INSET),
            Self::LeftBottom => vec2(INSET, -INSET),
            Self::LeftTop => vec2(INSET, INSET + 44.0),
        }
    }
}
