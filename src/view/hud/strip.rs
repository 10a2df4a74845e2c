//! The heat strip: the last frames side by side, as high as they took long.
//!
//! It is one mesh of egui's. A shader of its own would save some kilobytes of upload in a
//! panel whose cost is left out anyway, and would not draw where there is no wgpu.

use egui::{Color32, Mesh, Rect, pos2};

use crate::{
    layout::Palette,
    perf::{FRAMES, Frame, millis},
};

/// A frame within this keeps up with a display of 120 Hz, in milliseconds.
pub(super) const GOOD_MS: f64 = 1000.0 / 120.0;
/// A frame within this keeps up with a display of 60 Hz.
pub(super) const FAIR_MS: f64 = 1000.0 / 60.0;
/// What the strip's floor and ceiling stand for.
const FLOOR_MS: f64 = 0.02;
const CEILING_MS: f64 = 100.0;

/// The colour of a frame: within the budget of a fast display, of a common one, of none.
pub(super) fn color(palette: &Palette, ms: f64) -> Color32 {
    if ms <= GOOD_MS {
        palette.ok
    } else if ms <= FAIR_MS {
        palette.warn
    } else {
        palette.err
    }
}

/// How high in the strip a time stands, from 0 to 1: each tenfold takes the same room.
pub(super) fn height(ms: f64) -> f32 {
    let decades = (ms.max(FLOOR_MS) / FLOOR_MS).log10() / (CEILING_MS / FLOOR_MS).log10();
    (decades as f32).clamp(0.0, 1.0)
}

/// The frames as bars in `rect`, the newest at the right.
pub(super) fn bars<'a>(
    frames: impl DoubleEndedIterator<Item = &'a Frame> + ExactSizeIterator,
    rect: Rect,
    palette: &Palette,
) -> Mesh {
    let mut mesh = Mesh::default();
    mesh.reserve_vertices(4 * frames.len());
    mesh.reserve_triangles(2 * frames.len());
    let step = rect.width() / FRAMES as f32;
    let gap = if step > 1.5 { 0.5 } else { 0.0 };
    for (i, frame) in frames.rev().enumerate() {
        let ms = millis(frame.total);
        let right = rect.right() - i as f32 * step;
        let top = rect.bottom() - (rect.height() * height(ms)).max(1.0);
        let color = color(palette, ms);
        let foot = color.gamma_multiply(0.45);
        let first = mesh.vertices.len() as u32;
        mesh.colored_vertex(pos2(right - step + gap, top), color);
        mesh.colored_vertex(pos2(right, top), color);
        mesh.colored_vertex(pos2(right, rect.bottom()), foot);
        mesh.colored_vertex(pos2(right - step + gap, rect.bottom()), foot);
        mesh.add_triangle(first, first + 1, first + 2);
        mesh.add_triangle(first, first + 2, first + 3);
    }
    mesh
}
