//! The strip's cells as a texture.

use std::{ops::Range, sync::Arc};

use egui::{Color32, ColorImage, Painter, Rect, TextureHandle, TextureOptions, Ui, pos2};

use crate::{
    layout::{Cell, Palette, Strip},
    model::Matter,
};

/// Texels of a row of the picture, each two points wide.
const COLUMNS: usize = 28;
/// Where branches are marked.
const FORKS: Range<usize> = 1..3;
/// Where what was said is shown.
const BODY: Range<usize> = 4..23;
/// Where hits and failures are marked.
const MARKS: Range<usize> = 24..27;
/// Least height of a mark, in points.
const MARK: f32 = 2.0;

/// The texture of a strip.
#[derive(Default)]
pub(super) struct Picture {
    texture: Option<TextureHandle>,
    size: [usize; 2],
    inks: Option<Inks>,
    hits: Option<Arc<Vec<u32>>>,
    /// How crowded failures are, see [`crowd`].
    crowd: u8,
    uploaded: u64,
}

/// The colours of the picture.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Inks {
    palette: u32,
    matters: [Color32; Matter::ALL.len()],
    between: Color32,
    failed: Color32,
    hit: Color32,
    hit_ground: Color32,
    fork: Color32,
}

impl Inks {
    fn new(palette: &Palette) -> Self {
        let ground = palette.bg;
        let on = |color: Color32, part: f32| ground.lerp_to_gamma(color, part);
        let matters = Matter::ALL.map(|matter| match matter {
            Matter::Prompt => on(palette.accent, 0.72),
            Matter::Thinking => on(palette.faint, 0.24),
            Matter::Reply => on(palette.faint, 0.46),
            Matter::Tools => on(palette.ok, 0.42),
            Matter::Failed => on(palette.err, 0.62),
            Matter::Notice => on(palette.warn, 0.30),
        });
        Self {
            palette: palette.id,
            matters,
            between: on(palette.accent, 0.50),
            failed: on(palette.err, 0.95),
            hit: palette.warn,
            hit_ground: on(palette.warn, 0.28),
            fork: on(palette.accent, 0.9),
        }
    }
}

impl Picture {
    /// Texels handed to the GPU so far.
    pub(super) fn uploaded(&self) -> u64 {
        self.uploaded
    }

    /// Draws anew what changed.
    pub(super) fn update(
        &mut self,
        ui: &Ui,
        strip: &mut Strip,
        hits: Option<Arc<Vec<u32>>>,
        palette: &Palette,
    ) {
        let changed = strip.take_changed();
        let size = [COLUMNS, strip.cells().len()];
        if size[1] == 0 {
            return;
        }
        let inks = Inks::new(palette);
        let are_same_hits = match (&self.hits, &hits) {
            (Some(old), Some(new)) => Arc::ptr_eq(old, new),
            (old, new) => old.is_none() && new.is_none(),
        };
        let crowd = if changed.is_some() { crowd(strip.cells()) } else { self.crowd };
        let is_whole = self.texture.is_none()
            || (self.size, self.inks, self.crowd) != (size, Some(inks), crowd)
            || !are_same_hits;
        let spread = (MARK * ui.pixels_per_point()).round().max(1.0) as usize;
        let rows = match (is_whole, changed) {
            (true, _) => 0..size[1],
            // A mark is higher than its cell.
            (false, Some(changed)) => {
                changed.start.saturating_sub(spread)..(changed.end + spread).min(size[1])
            }
            (false, None) => return,
        };
        (self.size, self.inks, self.hits, self.crowd) = (size, Some(inks), hits, crowd);
        let hits = self.hits.as_ref().map_or(&[][..], |hits| hits);
        let image = draw(strip.cells(), rows.clone(), hits, &Shading { inks, spread, crowd });
        self.uploaded += image.pixels.len() as u64;
        let options = TextureOptions::NEAREST;
        match &mut self.texture {
            Some(texture) if is_whole => texture.set(image, options),
            Some(texture) => texture.set_partial([0, rows.start], image, options),
            None => self.texture = Some(ui.ctx().load_texture("minimap", image, options)),
        }
    }

    pub(super) fn paint(&self, painter: &Painter, rect: Rect) {
        if let Some(texture) = &self.texture {
            let uv = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
            painter.image(texture.id(), rect, uv, Color32::WHITE);
        }
    }
}

/// How cells become colours.
struct Shading {
    inks: Inks,
    /// Cells that a mark is high.
    spread: usize,
    crowd: u8,
}

/// Steps of [`crowd`].
const CROWDED: u8 = 4;

/// How many of the cells hold a failure: 0 for few, [`CROWDED`] for nearly all. Where all
/// do, only how many failed in each can be seen.
fn crowd(cells: &[Cell]) -> u8 {
    let used = cells.iter().filter(|cell| cell.is_used()).count().max(1);
    let failed = cells.iter().filter(|cell| cell.failed > 0).count();
    let share = failed as f32 / used as f32;
    ((share - 0.3).max(0.0) / 0.5 * f32::from(CROWDED)).min(f32::from(CROWDED)) as u8
}

/// Draws a range of cells. Marks of the cells around it reach into it.
fn draw(cells: &[Cell], rows: Range<usize>, hits: &[u32], shading: &Shading) -> ColorImage {
    let mut pixels = vec![Color32::TRANSPARENT; COLUMNS * rows.len()];
    let mut marks = Trail::default();
    for i in rows.start.saturating_sub(shading.spread)..rows.end {
        let Some(cell) = cells.get(i) else { break };
        let is_hit = has_hit(hits, &cell.rows);
        marks.pass(cell, is_hit, shading.spread);
        let Some(row) = i.checked_sub(rows.start) else { continue };
        let texels = pixels.get_mut(row * COLUMNS..(row + 1) * COLUMNS).unwrap_or_default();
        body(texels, cell, is_hit, &shading.inks);
        marks.draw(texels, shading);
    }
    ColorImage::new([COLUMNS, rows.len()], pixels)
}

/// True when one of the rows is among the hits, which rise.
pub(super) fn has_hit(hits: &[u32], rows: &Range<u32>) -> bool {
    count_hits(hits, rows) > 0
}

/// How many of the rows are among the hits, which rise.
pub(super) fn count_hits(hits: &[u32], rows: &Range<u32>) -> usize {
    let before = |row: u32| hits.partition_point(|hit| *hit < row);
    before(rows.end).saturating_sub(before(rows.start))
}

/// Marks that are still being drawn, in cells.
#[derive(Default)]
struct Trail {
    hit: usize,
    failed: usize,
    share: u8,
    forks: usize,
}

impl Trail {
    fn pass(&mut self, cell: &Cell, is_hit: bool, spread: usize) {
        let left = |now: bool, left: usize| if now { spread } else { left.saturating_sub(1) };
        self.hit = left(is_hit, self.hit);
        self.failed = left(cell.failed > 0, self.failed);
        self.forks = left(cell.forks, self.forks);
        if cell.failed > 0 {
            self.share = cell.failed;
        }
    }

    fn draw(&self, texels: &mut [Color32], shading: &Shading) {
        let inks = &shading.inks;
        let mut fill = |columns: Range<usize>, color: Color32| {
            texels.get_mut(columns).unwrap_or_default().fill(color);
        };
        if self.failed > 0 {
            // In a crowd the few are fainter, and never too faint to be seen.
            let crowd = f32::from(shading.crowd) / f32::from(CROWDED);
            let many = (f32::from(self.share) / 255.0 * 3.0).sqrt().min(1.0);
            let part = 1.0 - crowd * (1.0 - (0.22 + 0.78 * many));
            fill(MARKS, inks.failed.gamma_multiply(part));
        }
        if self.hit > 0 {
            let columns = if self.failed > 0 { MARKS.start..MARKS.end - 1 } else { MARKS };
            fill(columns, inks.hit);
        }
        if self.forks > 0 {
            fill(FORKS, inks.fork);
        }
    }
}

/// Draws what was said: shares beside each other, as long as the line is.
fn body(texels: &mut [Color32], cell: &Cell, is_hit: bool, inks: &Inks) {
    let Some(texels) = texels.get_mut(BODY) else { return };
    if is_hit {
        texels.fill(inks.hit_ground);
    }
    let prompt = cell.mix[Matter::Prompt as usize];
    if cell.reach == 0 {
        // A prompt is a block, with its lines a little brighter.
        let width = usize::from(prompt == 255) * (BODY.len() * 225).div_ceil(255);
        texels.get_mut(..width).unwrap_or_default().fill(inks.between);
        return;
    }
    let length = BODY.len() as f32 * f32::from(cell.reach) / 255.0;
    let whole = cell.mix.iter().map(|share| f32::from(*share)).sum::<f32>().max(1.0);
    let kinds = || cell.mix.iter().zip(inks.matters).filter(|(share, _)| **share > 0);
    if kinds().count() == 1 {
        let color = kinds().next().map_or(Color32::TRANSPARENT, |(_, color)| color);
        return texels.get_mut(..length.ceil() as usize).unwrap_or_default().fill(color);
    }
    let mut mixed = [Mixed::default(); BODY.end - BODY.start];
    let mut from = 0.0;
    for (share, color) in kinds() {
        // The least share is as wide as a texel, so that it can be seen.
        let to = (from + (length * f32::from(*share) / whole).max(1.0)).min(BODY.len() as f32);
        lay(&mut mixed, from..to, color);
        from = to;
    }
    for (texel, mixed) in texels.iter_mut().zip(mixed).take(from.ceil() as usize) {
        *texel = mixed.over(*texel);
    }
}

/// A texel that is covered by several colours.
#[derive(Clone, Copy, Default)]
struct Mixed {
    color: [f32; 3],
    covered: f32,
}

impl Mixed {
    fn over(self, ground: Color32) -> Color32 {
        if self.covered <= 0.0 {
            return ground;
        }
        let mut texel = ground;
        for (i, channel) in self.color.into_iter().enumerate() {
            texel[i] = (channel / self.covered).round() as u8;
        }
        texel[3] = u8::MAX;
        texel
    }
}

/// Covers a stretch with a colour, texels at its ends in part.
fn lay(texels: &mut [Mixed], stretch: Range<f32>, color: Color32) {
    let first = stretch.start as usize;
    for (i, texel) in texels.iter_mut().enumerate().skip(first) {
        let covered = stretch.end.min(i as f32 + 1.0) - stretch.start.max(i as f32);
        if covered <= 0.0 {
            break;
        }
        for (sum, channel) in texel.color.iter_mut().zip(color.to_array()) {
            *sum += f32::from(channel) * covered;
        }
        texel.covered += covered;
    }
}
