//! The head of a pane: the state in a mark, a word and a colour, the title, and when
//! something last happened.

use egui::{
    Align, Color32, FontFamily, FontId, Galley, Painter, Pos2, Rect, Role, Sense, Shape, Stroke,
    Ui, WidgetInfo,
    epaint::text::{LayoutJob, TextFormat, TextWrapping},
    pos2, vec2,
};
use std::sync::Arc;

use super::{
    Dress,
    feed::{Glance, Mark, mark, tone},
};
use crate::layout::face;

/// Text in one line at a place: what, how large, how heavy, which colour.
#[derive(Clone, Copy)]
pub(super) struct Words<'a> {
    pub(super) text: &'a str,
    pub(super) size: f32,
    pub(super) weight: f32,
    pub(super) color: Color32,
    /// Figures of one width, for what counts.
    pub(super) figures: bool,
}

impl Words<'_> {
    /// Sets the words in at most so many rows of this width.
    pub(super) fn galley(self, ui: &Ui, width: f32, rows: usize) -> Arc<Galley> {
        let family = if self.figures {
            FontFamily::Name(face::FIGURES_NAME.into())
        } else {
            FontFamily::Proportional
        };
        let format = TextFormat {
            font_id: FontId::new(self.size, family),
            color: self.color,
            coords: face::coords(self.weight),
            valign: Align::Center,
            ..TextFormat::default()
        };
        let mut job = LayoutJob::single_section(self.text.to_owned(), format);
        job.wrap = TextWrapping { max_width: width.max(1.0), max_rows: rows, ..Default::default() };
        job.wrap.break_anywhere = rows == 1;
        ui.ctx().fonts_mut(|fonts| fonts.layout_job(job))
    }
}

/// Shows the head in the upper part of `rect`; gives its bottom.
pub(super) fn head_ui(ui: &Ui, rect: Rect, glance: &Glance, dress: &Dress<'_>) -> f32 {
    let size = dress.head_size(rect);
    let line = Rect::from_min_size(rect.min, vec2(rect.width(), size * 1.5));
    let palette = dress.palette;
    let color = dress.tone(tone(glance.state));
    let painter = ui.painter();
    let ago = dress.now.ago(glance.last_event_ms);
    spoken(ui, line, glance, &ago);

    let middle = line.center().y;
    let side = size * 0.74;
    let sign = Rect::from_center_size(pos2(line.left() + side / 2.0, middle), vec2(side, side));
    mark_ui(painter, sign, mark(glance.state), color);
    let clock =
        Words { text: &ago, size: size * 0.82, weight: 400.0, color: palette.faint, figures: true };
    let clock = clock.galley(ui, f32::INFINITY, 1);
    let right = line.right() - clock.rect.width();
    put(painter, pos2(right, middle), &clock);

    let gap = size * 0.4;
    let mut x = sign.right() + gap * 0.8;
    let word = Words { text: glance.state.word(), size, weight: 700.0, color, figures: false };
    let word = word.galley(ui, (right - x - gap).max(size), 1);
    put(painter, pos2(x, middle), &word);
    x += word.rect.width() + gap;
    for (i, name) in names(glance).into_iter().enumerate() {
        let (weight, color) = if i == 0 { (600.0, palette.text) } else { (400.0, palette.dim) };
        let words = Words { text: name, size: size * 0.92, weight, color, figures: false };
        let room = right - x - gap;
        if room > size * 3.0 {
            let galley = words.galley(ui, room, 1);
            put(painter, pos2(x, middle), &galley);
            x += galley.rect.width() + gap;
        }
    }
    model_ui(ui, [x, right - gap, middle], glance, dress, size);
    line.bottom()
}

/// What it works on, and what it is about.
fn names(glance: &Glance) -> Vec<&str> {
    let mut names = vec![&*glance.project, &*glance.title];
    names.retain(|name| !name.is_empty());
    names.dedup();
    names
}

/// The model, where there is room for all of its name.
fn model_ui(ui: &Ui, [x, right, middle]: [f32; 3], glance: &Glance, dress: &Dress<'_>, size: f32) {
    if glance.model.is_empty() {
        return;
    }
    let model = Words {
        text: &glance.model,
        size: size * 0.66,
        weight: 400.0,
        color: dress.palette.faint,
        figures: false,
    };
    let model = model.galley(ui, f32::INFINITY, 1);
    if model.rect.width() <= right - x {
        put(ui.painter(), pos2(x, middle + size * 0.05), &model);
    }
}

/// Paints a line of text around a middle.
pub(super) fn put(painter: &Painter, left_middle: Pos2, galley: &Arc<Galley>) {
    let corner = pos2(left_middle.x, left_middle.y - galley.rect.height() / 2.0);
    painter.galley(corner, Arc::clone(galley), Color32::PLACEHOLDER);
}

fn mark_ui(painter: &Painter, rect: Rect, mark: Mark, color: Color32) {
    let (middle, radius) = (rect.center(), rect.width() * 0.46);
    let at = |x: f32, y: f32| middle + vec2(x, y) * radius;
    let stroke = Stroke::new(radius * 0.36, color);
    match mark {
        Mark::Disc => {
            painter.circle_filled(middle, radius, color);
        }
        Mark::Ring => {
            painter.circle_stroke(middle, radius * 0.84, Stroke::new(radius * 0.28, color));
        }
        Mark::Triangle => {
            let points = vec![at(0.0, -1.0), at(1.1, 0.95), at(-1.1, 0.95)];
            painter.add(Shape::convex_polygon(points, color, Stroke::NONE));
        }
        Mark::Check => {
            painter.line(vec![at(-0.9, 0.05), at(-0.25, 0.7), at(0.95, -0.7)], stroke);
        }
        Mark::Cross => {
            painter.line_segment([at(-0.75, -0.75), at(0.75, 0.75)], stroke);
            painter.line_segment([at(-0.75, 0.75), at(0.75, -0.75)], stroke);
        }
        Mark::Dashes => {
            for dash in 0..DASHES {
                let angle = dash as f32 * std::f32::consts::TAU / DASHES as f32;
                let arc = [0.0_f32, 0.12, 0.24, 0.36].map(|more| {
                    let (y, x) = (angle + more).sin_cos();
                    at(x * 0.86, y * 0.86)
                });
                painter.line(arc.to_vec(), Stroke::new(radius * 0.26, color));
            }
        }
    }
}

/// Dashes of a dashed circle.
const DASHES: usize = 9;

fn spoken(ui: &Ui, rect: Rect, glance: &Glance, ago: &str) {
    let response = ui.interact(rect, ui.scope_id().with("head"), Sense::hover());
    response.widget_info(|| {
        let mut words = format!("{}: {}", glance.state.word(), names(glance).join(", "));
        for more in [&*glance.headline, ago] {
            if !more.is_empty() {
                words.push_str(", ");
                words.push_str(more);
            }
        }
        WidgetInfo::labeled(Role::Label, true, words)
    });
}
