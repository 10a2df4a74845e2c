//! Printing: set slugs go to egui's painter as they are, moved to their place.

use egui::{
    Color32, CornerRadius, Painter, Pos2, Rect, Shape, Ui,
    epaint::{RectShape, TextShape},
    pos2, vec2,
};

use crate::{
    layout::{Placed, Slug, slug::Line},
    perf,
    view::{
        images::{ImageKey, ImageState},
        pointer,
        transcript::{Geometry, TranscriptView},
    },
};

/// Prints everything that is visible.
pub(crate) fn transcript(
    view: &mut TranscriptView,
    ui: &Ui,
    geometry: Geometry,
    hovered: Option<Rect>,
) {
    perf::scope!("paint");
    let painter = ui.painter_at(geometry.rect);
    let placed = std::mem::take(&mut view.visible.placed);
    let mut shapes = Vec::with_capacity(placed.len() * 8);
    for place in &placed {
        let origin = geometry.origin(place, ui.pixels_per_point());
        match &place.slug {
            Some(slug) if slug.wide.is_some() => {
                painter.extend(shapes.drain(..));
                wide(view, &painter, place, slug, origin);
            }
            Some(slug) => {
                ground(slug, origin, &mut shapes);
                lines(view, slug, origin, &mut shapes);
            }
            None => waiting(view, place, origin, geometry, &mut shapes),
        }
    }
    painter.extend(shapes);
    selected(view, &painter, geometry, &placed, ui.pixels_per_point());
    for place in &placed {
        pictures(view, ui, &painter, geometry, place);
    }
    if let Some(rect) = hovered {
        let palette = view.palette();
        painter.rect_filled(rect, 4.0, palette.text.gamma_multiply(0.05));
    }
    copied(view, ui, &painter, geometry, &placed);
    view.visible.placed = placed;
}

fn ground(slug: &Slug, origin: Pos2, shapes: &mut Vec<Shape>) {
    if !slug.ground.is_empty() {
        let mut mesh = slug.ground.clone();
        mesh.translate(origin.to_vec2());
        shapes.push(Shape::mesh(mesh));
    }
}

fn lines(view: &TranscriptView, slug: &Slug, origin: Pos2, shapes: &mut Vec<Shape>) {
    let color = view.palette().text;
    shapes.extend(slug.lines.iter().map(|line| text(line, origin, color)));
}

fn text(line: &Line, origin: Pos2, color: Color32) -> Shape {
    TextShape::new(origin + line.pos, std::sync::Arc::clone(&line.galley), color).into()
}

/// A slug with a part that scrolls sideways is printed in two goes: what stands, and what
/// moves inside its window.
fn wide(view: &TranscriptView, painter: &Painter, place: &Placed, slug: &Slug, origin: Pos2) {
    let Some(window) = slug.wide else { return };
    let shift = view.shift(place.id);
    let moved = origin - vec2(shift, 0.0);
    let color = view.palette().text;
    let mut standing = Vec::new();
    ground(slug, origin, &mut standing);
    painter.extend(standing);
    painter.extend(slug.lines.iter().filter(|l| !l.scrolls).map(|line| text(line, origin, color)));
    let clip = Rect::from_min_max(
        origin + vec2(window.left, 0.0),
        origin + vec2(window.right, slug.height),
    );
    let inner = painter.with_clip_rect(painter.clip_rect().intersect(clip));
    for mark in &slug.marks {
        inner.rect_filled(mark.rect.translate(moved.to_vec2()), mark.radius, mark.fill);
    }
    inner.extend(slug.lines.iter().filter(|l| l.scrolls).map(|line| text(line, moved, color)));
    let room = window.right - window.left;
    let thumb = room * room / window.content;
    let x = origin.x + window.left + (room - thumb) * shift / (window.content - room).max(1.0);
    let y = origin.y + slug.height - 4.0;
    let bar = Rect::from_min_size(pos2(x, y), vec2(thumb, 2.0));
    painter.rect_filled(bar, 1.0, view.palette().faint.gamma_multiply(0.6));
}

/// Room that is kept for a message that has not arrived.
fn waiting(
    view: &TranscriptView,
    place: &Placed,
    origin: Pos2,
    geometry: Geometry,
    shapes: &mut Vec<Shape>,
) {
    let palette = view.palette();
    let fill = palette.panel;
    let mut y = 12.0;
    let mut widths = [0.92, 0.98, 0.6].into_iter().cycle();
    while y + 12.0 < place.height && y < geometry.rect.height() {
        let width = geometry.width * widths.next().unwrap_or(1.0);
        let rect = Rect::from_min_size(origin + vec2(0.0, y), vec2(width, 10.0));
        shapes.push(RectShape::filled(rect, CornerRadius::same(3), fill).into());
        y += 23.0;
    }
}

fn selected(
    view: &TranscriptView,
    painter: &Painter,
    geometry: Geometry,
    placed: &[Placed],
    pixels_per_point: f32,
) {
    let Some(selection) = &view.selection else { return };
    let color = view.palette().selection;
    for (place, line, range) in selection.visible(placed) {
        let shift = if line.scrolls { view.shift(place.id) } else { 0.0 };
        let corner = geometry.origin(place, pixels_per_point) + line.pos - vec2(shift, 0.0);
        for rect in pointer::character_rects(&line.galley, range.start, range.end) {
            painter.rect_filled(rect.translate(corner.to_vec2()), 0.0, color);
        }
    }
}

fn pictures(
    view: &mut TranscriptView,
    ui: &Ui,
    painter: &Painter,
    geometry: Geometry,
    place: &Placed,
) {
    let Some(slug) = &place.slug else { return };
    let palette = view.palette();
    for picture in &slug.pictures {
        let rect = picture.rect.translate(geometry.origin(place, ui.pixels_per_point()).to_vec2());
        let key =
            ImageKey { message: place.id.message, part: place.id.key.part, index: picture.index };
        let side = rect.size().max_elem() * ui.pixels_per_point();
        match view.images.get(ui.ctx(), key, &picture.image, side.ceil() as u32) {
            ImageState::Ready { texture, .. } => {
                let uv = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
                painter.image(texture.id(), rect, uv, Color32::WHITE);
            }
            ImageState::Failed(why) => {
                let words = format!("image not shown: {why}");
                placeholder(painter, rect, &words, palette.panel, palette.warn);
            }
            ImageState::Loading => {
                placeholder(painter, rect, "", palette.panel, palette.faint);
                view.mark_unsettled();
            }
        }
    }
}

fn placeholder(painter: &Painter, rect: Rect, words: &str, fill: Color32, color: Color32) {
    painter.rect_filled(rect, 6.0, fill);
    let font = egui::FontId::proportional(12.0);
    painter.text(rect.center(), egui::Align2::CENTER_CENTER, words, font, color);
}

/// “copied” over the button that copied.
fn copied(
    view: &TranscriptView,
    ui: &Ui,
    painter: &Painter,
    geometry: Geometry,
    placed: &[Placed],
) {
    let time = ui.input(|input| input.time);
    let Some(place) = placed.iter().find(|place| view.is_copied(place.id, time)) else { return };
    let palette = view.palette();
    let origin = geometry.origin(place, ui.pixels_per_point());
    let rect = Rect::from_min_size(
        pos2(origin.x + geometry.width - 76.0, origin.y + place.height - 27.0),
        vec2(66.0, 24.0),
    );
    painter.rect_filled(rect, 6.0, palette.raised);
    let font = egui::FontId::proportional(12.0);
    painter.text(rect.center(), egui::Align2::CENTER_CENTER, "copied", font, palette.ok);
}
