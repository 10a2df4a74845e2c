//! Stamps: what floats over a page and looks the same for many frames.
//!
//! A line of words costs little to paint, and still more than all of the page under it when
//! that is printed. So it is cast like a slug once it has been seen twice.

use egui::{
    Mesh, Painter, Pos2, Shape,
    emath::GuiRounding as _,
    epaint::{TessellationOptions, Tessellator},
};
use rustc_hash::FxHashMap;

use super::{REPLAYED_FRAMES, Retained};
use crate::{
    gpu::{Plate, Print},
    layout::epoch::Epoch,
};

/// Stamps by their names.
pub(super) type Stamps = FxHashMap<&'static str, Stamp>;

/// What was painted under a name, and what it was cast into.
#[derive(Debug)]
pub(super) struct Stamp {
    look: Look,
    frames: u64,
    plate: Option<Plate>,
}

/// Everything that decides on a stamp's looks besides its name and its place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Look {
    /// The epoch its words are set in.
    pub(crate) epoch: Epoch,
    /// A hash of the rest: its words, its size, whether the pointer is over it.
    pub(crate) hash: u64,
}

impl Retained {
    /// Paints shapes with their origin at `at`, or prints what they were cast into.
    pub(crate) fn stamp(
        &mut self,
        painter: &Painter,
        name: &'static str,
        look: Look,
        at: Pos2,
        shapes: impl FnOnce(Pos2) -> Vec<Shape>,
    ) {
        let at = at.round_to_pixels(look.epoch.pixels_per_point);
        let Some(printer) = &self.printer else {
            painter.extend(shapes(at));
            return;
        };
        let new = || Stamp { look, frames: 0, plate: None };
        let stamp = self.stamps.entry(name).or_insert_with(new);
        if stamp.look != look {
            *stamp = new();
        }
        stamp.frames += 1;
        if stamp.frames <= REPLAYED_FRAMES {
            painter.extend(shapes(at));
            return;
        }
        let whole = stamp.plate.take().filter(Plate::is_whole);
        let plate = whole.unwrap_or_else(|| {
            printer.cast([tessellated(shapes(Pos2::ZERO), look.epoch.pixels_per_point)])
        });
        let print = Print { plate: plate.clone(), part: 0, at, clip: None };
        painter.add(printer.print(painter.clip_rect(), vec![print], painter.opacity()));
        stamp.plate = Some(plate);
    }
}

/// Triangles with texels for texture coordinates.
fn tessellated(shapes: Vec<Shape>, pixels_per_point: f32) -> Mesh {
    let options = TessellationOptions::default();
    let mut tessellator = Tessellator::new(pixels_per_point, options, [1, 1], Vec::new());
    let mut mesh = Mesh::default();
    shapes.into_iter().for_each(|shape| tessellator.tessellate_shape(shape, &mut mesh));
    mesh
}
