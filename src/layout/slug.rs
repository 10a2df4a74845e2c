//! Slugs: laid-out pieces of a message, ready to be printed any number of times.

use std::{any::Any, sync::Arc};

use egui::{
    Color32, CornerRadius, Galley, Mesh, Rect, Vec2,
    emath::GuiRounding as _,
    epaint::{RectShape, TessellationOptions, Tessellator, TextShape, Vertex},
};

use crate::{
    layout::{rows::Rows, spec::Action},
    model::Image,
};

/// One laid-out piece of a message. All positions are relative to its upper left corner,
/// at the left edge of the column, in points.
///
/// Its type is kept for as long as it is needed to print from. Once it is cast into a
/// [`Plate`], what remains is its [`Rows`] and what can be clicked.
#[derive(Clone, Debug, Default)]
pub struct Slug {
    /// Its height, a whole number of physical pixels.
    pub height: f32,
    /// Grounds, bars, rules and chips under the text, tessellated once: rounded corners cost
    /// more than the text on them when they are worked out in every frame.
    pub ground: Ground,
    /// Filled shapes under the text, in painting order, until they are tessellated.
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
    /// What it is printed from when its type is gone.
    pub plate: Option<Plate>,
    /// The sheet's frame in which it was set.
    pub born: u64,
    /// Bytes on the heap, galleys included.
    pub bytes: usize,
}

/// Triangles under the text. The atlas holds white at the origin, which is all they use of it.
#[derive(Clone, Debug, Default)]
pub struct Ground {
    /// What stands.
    pub fixed: Mesh,
    /// What moves with the wide part.
    pub wide: Mesh,
}

/// What a view made of a slug to print it from. Layout keeps it for as long as the slug and
/// never looks inside.
#[derive(Clone)]
pub struct Plate(Arc<dyn Any + Send + Sync>);

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

/// A set text and its place.
#[derive(Clone, Debug)]
pub struct Line {
    /// Upper left corner, on a physical pixel.
    pub pos: Vec2,
    /// The words, and where their characters stand when they are part of the reading text.
    pub rows: Rows,
    /// Its glyphs, until they are cast.
    pub galley: Option<Arc<Galley>>,
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
    /// Bytes that keeping this slug costs. A glyph costs 72 bytes for laying out, four
    /// vertices and six indices.
    #[must_use]
    pub fn count_bytes(&self) -> usize {
        let galleys = self.lines.iter().filter_map(|line| line.galley.as_deref());
        size_of::<Self>()
            + galleys.map(galley_bytes).sum::<usize>()
            + mesh_bytes(&self.ground.fixed)
            + mesh_bytes(&self.ground.wide)
            + self.lines.iter().map(|line| size_of::<Line>() + line.rows.bytes()).sum::<usize>()
            + self.targets.len() * (size_of::<Target>() + 48)
            + self.pictures.len() * size_of::<Picture>()
    }

    /// Its set text as triangles with texels for texture coordinates: what stands, and what
    /// moves with the wide part. `color` is for text that was set without one.
    #[must_use]
    pub fn type_meshes(&self, color: Color32, pixels_per_point: f32) -> [Mesh; 2] {
        let mut tessellator = tessellator(pixels_per_point);
        let mut meshes = [Mesh::default(), Mesh::default()];
        for line in &self.lines {
            let Some(galley) = &line.galley else { continue };
            let shape = TextShape::new(line.pos.to_pos2(), Arc::clone(galley), color);
            tessellator.tessellate_text(&shape, &mut meshes[usize::from(line.scrolls)]);
        }
        meshes
    }

    /// This slug with its type distributed, as compositors say: the glyphs go back, and it
    /// is printed from a plate from now on.
    #[must_use]
    pub fn distributed(&self, plate: Plate) -> Self {
        let lines = self.lines.iter().filter(|line| line.reading);
        let lines = lines.map(|line| Line { galley: None, ..line.clone() });
        let mut slug = Self {
            ground: Ground::default(),
            lines: lines.collect(),
            plate: Some(plate),
            ..self.clone()
        };
        slug.bytes = slug.count_bytes();
        slug
    }
}

impl Line {
    /// A set text at a position.
    #[must_use]
    pub fn new(pos: Vec2, galley: Arc<Galley>, reading: bool) -> Self {
        let rows = if reading { Rows::of(&galley) } else { Rows::words(&galley) };
        // Here and not when it is painted: a text whose slug begins above the surface must
        // stand on the same pixel as one whose slug begins on it.
        let pos = pos.round_to_pixels(galley.pixels_per_point);
        Self { pos, rows, galley: Some(galley), reading, scrolls: false }
    }
}

impl Plate {
    /// Wraps what a view prints from.
    #[must_use]
    pub fn new(plate: impl Any + Send + Sync) -> Self {
        Self(Arc::new(plate))
    }

    /// What is inside, when it is of this type.
    #[must_use]
    pub fn get<T: Any>(&self) -> Option<&T> {
        self.0.downcast_ref()
    }
}

impl std::fmt::Debug for Plate {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plate").finish_non_exhaustive()
    }
}

/// Tessellates what lies under the text, as egui would on physical pixels of this size.
pub(super) fn set_ground(slug: &mut Slug, pixels_per_point: f32) {
    let mut tessellator = tessellator(pixels_per_point);
    for mark in std::mem::take(&mut slug.marks) {
        let shape = RectShape::filled(mark.rect, mark.radius, mark.fill);
        let ground = &mut slug.ground;
        let mesh = if mark.scrolls { &mut ground.wide } else { &mut ground.fixed };
        tessellator.tessellate_rect(&shape, mesh);
    }
}

/// A tessellator that leaves texture coordinates in texels.
fn tessellator(pixels_per_point: f32) -> Tessellator {
    Tessellator::new(pixels_per_point, TessellationOptions::default(), [1, 1], Vec::new())
}

fn mesh_bytes(mesh: &Mesh) -> usize {
    mesh.vertices.capacity() * size_of::<Vertex>() + mesh.indices.capacity() * size_of::<u32>()
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
