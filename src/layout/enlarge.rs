//! Larger type: everything is set in points of the usual size and enlarged as a whole, so
//! that no measure of the page has to know about it.

use std::sync::Arc;

use egui::{
    Color32, Galley, Pos2, Rect,
    emath::TSTransform,
    epaint::{TextShape, text::LayoutJob},
};

use crate::layout::slug::{Line, Slug};

/// A job for type that is so much larger.
pub(super) fn job(mut job: LayoutJob, scale: f32) -> LayoutJob {
    job.wrap.max_width *= scale;
    job.first_row_min_height *= scale;
    for section in &mut job.sections {
        section.leading_space *= scale;
        let format = &mut section.format;
        format.font_id.size *= scale;
        format.extra_letter_spacing *= scale;
        format.expand_bg *= scale;
        format.underline.width *= scale;
        format.strikethrough.width *= scale;
        format.line_height = format.line_height.map(|height| height * scale);
    }
    job
}

/// The galley with all its measures multiplied. Its glyphs stay those of its own size.
pub(super) fn galley(galley: Arc<Galley>, factor: f32) -> Arc<Galley> {
    let mut shape = TextShape::new(Pos2::ZERO, galley, Color32::PLACEHOLDER);
    shape.transform(TSTransform::from_scaling(factor));
    let mut galley = shape.galley;
    // egui leaves out the glyphs, by which chips, links and selections find their place.
    for row in &mut Arc::make_mut(&mut galley).rows {
        for glyph in &mut Arc::make_mut(&mut row.row).glyphs {
            glyph.pos = (glyph.pos.to_vec2() * factor).to_pos2();
            glyph.advance_width *= factor;
            glyph.line_height *= factor;
            glyph.font_ascent *= factor;
            glyph.font_height *= factor;
            glyph.font_face_ascent *= factor;
            glyph.font_face_height *= factor;
        }
    }
    galley
}

/// Turns a slug that was set in points of type into one in points of the screen.
pub(super) fn slug(slug: &mut Slug, scale: f32) {
    if scale == 1.0 {
        return;
    }
    slug.height *= scale;
    for mesh in [&mut slug.ground.fixed, &mut slug.ground.wide] {
        for vertex in &mut mesh.vertices {
            vertex.pos = (vertex.pos.to_vec2() * scale).to_pos2();
        }
    }
    for mark in &mut slug.marks {
        mark.rect = rect(mark.rect, scale);
        mark.radius *= scale;
    }
    for line in &mut slug.lines {
        let Some(set) = line.galley.take() else { continue };
        let scrolls = line.scrolls;
        *line = Line::new(line.pos * scale, galley(set, scale), line.reading);
        line.scrolls = scrolls;
    }
    slug.targets.iter_mut().for_each(|target| target.rect = rect(target.rect, scale));
    slug.pictures.iter_mut().for_each(|picture| picture.rect = rect(picture.rect, scale));
    if let Some(wide) = &mut slug.wide {
        (wide.left, wide.right) = (wide.left * scale, wide.right * scale);
        wide.content *= scale;
    }
}

fn rect(rect: Rect, scale: f32) -> Rect {
    Rect::from_min_max(
        (rect.min.to_vec2() * scale).to_pos2(),
        (rect.max.to_vec2() * scale).to_pos2(),
    )
}
