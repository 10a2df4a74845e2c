//! Slugs: laid-out pieces of a message, ready to be printed any number of times.

use std::sync::Arc;

use egui::{
    Color32, CornerRadius, Galley, Mesh, Rect, Vec2,
    epaint::{RectShape, TessellationOptions, Tessellator},
};

use crate::{layout::spec::Action, model::Image};

/// One laid-out piece of a message. All positions are relative to its upper left corner,
/// at the left edge of the column, in points.
#[derive(Debug, Default)]
pub struct Slug {
    /// Its height, a whole number of physical pixels.
    pub height: f32,
    /// Grounds, bars, rules and chips under the text, tessellated once: rounded corners cost
    /// more than the text on them when they are worked out in every frame.
    pub ground: Mesh,
    /// Filled shapes under the text, in painting order; of a set slug only those that move
    /// with the wide part.
    pub marks: Vec<Mark>,
    /// Set text, in reading order.
    pub lines: Vec<Line>,
    /// What can be clicked.
    pub targets: Vec<Target>,
    /// Pictures.
    pub pictures: Vec<Picture>,
    /// Where the view paints how long a call runs.
    pub clock: Option<Rect>,
    /// The part that is wider than the column and scrolls sideways.
    pub wide: Option<Wide>,
    /// Highlighting that was asked for and had not arrived.
    pub awaits: Option<u64>,
    /// Bytes on the heap, galleys included.
    pub bytes: usize,
}

/// A filled rectangle.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// Where.
    pub rect: Rect,
    /// Corners.
    pub radius: CornerRadius,
    /// Colour.
    pub fill: Color32,
    /// Moves with the wide part.
    pub scrolls: bool,
}

/// A galley and its place.
#[derive(Clone, Debug)]
pub struct Line {
    /// Upper left corner.
    pub pos: Vec2,
    /// The set text.
    pub galley: Arc<Galley>,
    /// Part of the reading text: it can be selected and copied.
    pub reading: bool,
    /// Moves with the wide part.
    pub scrolls: bool,
}

/// An area that reacts to a click.
#[derive(Clone, Debug)]
pub struct Target {
    /// Where.
    pub rect: Rect,
    /// What a click does.
    pub action: Action,
    /// What a screen reader says; empty for links inside running text.
    pub spoken: String,
    /// Moves with the wide part.
    pub scrolls: bool,
}

/// A picture and its place.
#[derive(Clone, Debug)]
pub struct Picture {
    /// Where.
    pub rect: Rect,
    /// What.
    pub image: Arc<Image>,
    /// Its index among the pictures of its part.
    pub index: u16,
}

/// A part that scrolls sideways within the column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Wide {
    /// Left edge of the window.
    pub left: f32,
    /// Right edge of the window.
    pub right: f32,
    /// Width of what is inside.
    pub content: f32,
}

impl Slug {
    /// Bytes that keeping this slug costs. A glyph costs 72 bytes for hit-testing, four
    /// vertices and six indices.
    #[must_use]
    pub fn count_bytes(&self) -> usize {
        let galleys: usize = self.lines.iter().map(|line| galley_bytes(&line.galley)).sum();
        size_of::<Self>()
            + galleys
            + self.ground.vertices.capacity() * size_of::<egui::epaint::Vertex>()
            + self.ground.indices.capacity() * size_of::<u32>()
            + self.marks.len() * size_of::<Mark>()
            + self.lines.len() * size_of::<Line>()
            + self.targets.len() * (size_of::<Target>() + 48)
            + self.pictures.len() * size_of::<Picture>()
    }
}

/// Tessellates what does not move with a wide part, as egui would on physical pixels of
/// this size, and leaves the rest.
pub(super) fn set_ground(slug: &mut Slug, pixels_per_point: f32) {
    let options = TessellationOptions::default();
    let mut tessellator = Tessellator::new(pixels_per_point, options, [1, 1], Vec::new());
    for mark in slug.marks.iter().filter(|mark| !mark.scrolls) {
        let shape = RectShape::filled(mark.rect, mark.radius, mark.fill);
        tessellator.tessellate_rect(&shape, &mut slug.ground);
    }
    slug.marks.retain(|mark| mark.scrolls);
}

fn galley_bytes(galley: &Galley) -> usize {
    let glyphs: usize = galley.rows.iter().map(|row| row.glyphs.len()).sum();
    size_of::<Galley>()
        + galley.job.text.len()
        + galley.job.sections.len() * 160
        + galley.rows.len() * 176
        + glyphs * 72
        + galley.num_vertices * 20
        + galley.num_indices * 4
}
