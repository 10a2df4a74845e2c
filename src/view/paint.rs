//! Painting a page: grounds, then what is marked, then type; pictures and hints above.
//!
//! Every slug goes through the same layers, whether it is printed from a plate or replayed
//! through egui's painter, so a page looks the same while one takes over from the other.

use std::sync::Arc;

use egui::{
    Color32, CornerRadius, Painter, Pos2, Rect, Shape, Ui,
    epaint::{RectShape, TextShape},
    pos2, vec2,
};

use crate::{
    layout::{Placed, Slug},
    perf,
    view::{
        find,
        images::{ImageKey, ImageState},
        retained::{self, Part, Stack},
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
    let pixels_per_point = ui.pixels_per_point();
    let mut placed = std::mem::take(&mut view.visible.placed);
    let ink = (view.palette().text, pixels_per_point);
    view.retained.cast(&mut view.sheet, &mut placed, view.visible.frame, ink);
    find::mark(view, &placed);
    let page = Printed { view, geometry, placed: &placed, pixels_per_point };
    page.print(Stack::new(&painter, &view.retained));
    page.thumbs(&painter);
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

/// The slugs of a page and where they stand.
struct Printed<'a> {
    view: &'a TranscriptView,
    geometry: Geometry,
    placed: &'a [Placed],
    pixels_per_point: f32,
}

/// The corner of what stands and of what is scrolled sideways, and the window of the latter.
struct Corners {
    fixed: Pos2,
    wide: Pos2,
    window: Option<Rect>,
}

impl Printed<'_> {
    fn print(&self, mut stack: Stack<'_>) {
        for place in self.placed {
            match &place.slug {
                Some(slug) => self.ground(place, slug, &mut stack),
                None => stack.shapes(None, self.waiting(place)),
            }
        }
        self.found(&mut stack);
        self.selected(&mut stack);
        for place in self.placed {
            if let Some(slug) = &place.slug {
                self.text(place, slug, &mut stack);
            }
        }
        stack.finish();
    }

    fn ground(&self, place: &Placed, slug: &Slug, stack: &mut Stack<'_>) {
        let at = self.corners(place, slug);
        if let Some(plate) = retained::plate(slug) {
            stack.print(plate, Part::Ground, at.fixed, None);
            stack.print(plate, Part::WideGround, at.wide, at.window);
            return;
        }
        stack.shapes(None, moved(&slug.ground.fixed, at.fixed));
        stack.shapes(at.window, moved(&slug.ground.wide, at.wide));
    }

    fn text(&self, place: &Placed, slug: &Slug, stack: &mut Stack<'_>) {
        let at = self.corners(place, slug);
        if let Some(plate) = retained::plate(slug) {
            stack.print(plate, Part::Type, at.fixed, None);
            stack.print(plate, Part::WideType, at.wide, at.window);
            return;
        }
        let color = self.view.palette().text;
        let lines = |scrolls: bool, corner: Pos2| {
            let lines = slug.lines.iter().filter(move |line| line.scrolls == scrolls);
            lines.filter_map(move |line| {
                let galley = Arc::clone(line.galley.as_ref()?);
                Some(TextShape::new(corner + line.pos, galley, color).into())
            })
        };
        stack.shapes(None, lines(false, at.fixed));
        stack.shapes(at.window, lines(true, at.wide));
    }

    fn selected(&self, stack: &mut Stack<'_>) {
        let Some(selection) = &self.view.selection else { return };
        let color = self.view.palette().selection;
        for (place, line, range) in selection.visible(self.placed) {
            let Some(slug) = &place.slug else { continue };
            let at = self.corners(place, slug);
            let (corner, clip) = if line.scrolls { (at.wide, at.window) } else { (at.fixed, None) };
            let rects = line.rows.rects(&range).into_iter();
            let offset = corner.to_vec2() + line.pos;
            let marks = rects.map(|rect| RectShape::filled(rect.translate(offset), 0.0, color));
            stack.shapes(clip, marks.map(Shape::from));
        }
    }

    /// What was searched for and found.
    fn found(&self, stack: &mut Stack<'_>) {
        let palette = self.view.palette();
        for place in self.placed {
            let marks = self.view.find.marks.of(place.id);
            let Some(slug) = place.slug.as_ref().filter(|_| !marks.is_empty()) else { continue };
            let at = self.corners(place, slug);
            let here = self.view.find.here(place.id.message);
            for (scrolls, corner, clip) in [(false, at.fixed, None), (true, at.wide, at.window)] {
                let marks = marks.iter().filter(|mark| mark.scrolls == scrolls);
                stack.shapes(clip, find::shapes(marks, here, corner.to_vec2(), &palette));
            }
        }
    }

    fn corners(&self, place: &Placed, slug: &Slug) -> Corners {
        let fixed = self.geometry.origin(place, self.pixels_per_point);
        let Some(wide) = slug.wide else { return Corners { fixed, wide: fixed, window: None } };
        let window =
            Rect::from_min_max(fixed + vec2(wide.left, 0.0), fixed + vec2(wide.right, slug.height));
        let wide = self.view.moved(place.id, fixed, self.pixels_per_point);
        Corners { fixed, wide, window: Some(window) }
    }

    /// How far wide blocks are scrolled.
    fn thumbs(&self, painter: &Painter) {
        let color = self.view.palette().faint.gamma_multiply(0.6);
        for place in self.placed {
            let Some(slug) = &place.slug else { continue };
            let Some(wide) = slug.wide else { continue };
            let origin = self.geometry.origin(place, self.pixels_per_point);
            let shift = self.view.shift(place.id);
            let room = wide.right - wide.left;
            let thumb = room * room / wide.content;
            let x = origin.x + wide.left + (room - thumb) * shift / (wide.content - room).max(1.0);
            let y = origin.y + slug.height - 4.0;
            painter.rect_filled(Rect::from_min_size(pos2(x, y), vec2(thumb, 2.0)), 1.0, color);
        }
    }

    /// Room that is kept for a message that has not arrived.
    fn waiting(&self, place: &Placed) -> Vec<Shape> {
        let Self { geometry, .. } = self;
        let origin = geometry.origin(place, self.pixels_per_point);
        let fill = self.view.palette().panel;
        let mut shapes = Vec::new();
        let mut y = 12.0;
        let mut widths = [0.92, 0.98, 0.6].into_iter().cycle();
        while y + 12.0 < place.height && y < geometry.rect.height() {
            let width = geometry.width * widths.next().unwrap_or(1.0);
            let rect = Rect::from_min_size(origin + vec2(0.0, y), vec2(width, 10.0));
            shapes.push(RectShape::filled(rect, CornerRadius::same(3), fill).into());
            y += 23.0;
        }
        shapes
    }
}

/// A copy of a mesh in its place.
fn moved(mesh: &egui::Mesh, corner: Pos2) -> Option<Shape> {
    let mut mesh = (!mesh.is_empty()).then(|| mesh.clone())?;
    mesh.translate(corner.to_vec2());
    Some(Shape::mesh(mesh))
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
