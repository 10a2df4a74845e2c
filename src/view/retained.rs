//! Retained printing: slugs are cast into plates that stay on the GPU.
//!
//! A slug is replayed through egui's painter in the frame it was set in and in the one
//! after: only then is every glyph it uses in the atlas that can be bound while laying out.
//! When it is cast its glyphs are dropped, and should they be needed again, because the
//! renderer was switched or its plate was taken back, it is set again.

use std::sync::Arc;

use egui::{Color32, Context, Painter, Rect, Shape};

use crate::{
    gpu::{self, Print, Printer},
    layout::{
        Placed, Sheet, Slug,
        slug::{Ground, Plate},
    },
};

/// Frames a slug is replayed for before it is cast.
const REPLAYED_FRAMES: u64 = 2;

/// Who draws set slugs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Renderer {
    /// Our own pipeline, from plates; egui's painter where there is no printer.
    #[default]
    Retained,
    /// egui's painter, in every frame.
    Replay,
}

/// A part of a plate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    Ground,
    WideGround,
    Type,
    WideType,
}

/// Who prints a view, and what it has noticed of it.
#[derive(Debug, Default)]
pub(crate) struct Retained {
    pub(crate) renderer: Renderer,
    printer: Option<Printer>,
    melted: u64,
}

impl Retained {
    /// Finds the printer of this frame, and has everything set again that it cannot print.
    pub(crate) fn begin_frame(&mut self, context: &Context, sheet: &mut Sheet) {
        let found = match self.renderer {
            Renderer::Retained => Printer::of(context).filter(Printer::begin_frame),
            Renderer::Replay => None,
        };
        let is_same = match (&self.printer, &found) {
            (Some(old), Some(new)) => old.is(new),
            (None, None) => true,
            (Some(_), None) | (None, Some(_)) => false,
        };
        let melted = found.as_ref().map_or(0, Printer::melted);
        if !is_same {
            sheet.retain(|slug| slug.plate.is_none());
        } else if melted != self.melted {
            sheet.retain(|slug| plate(slug).is_none_or(gpu::Plate::is_whole));
        }
        (self.printer, self.melted) = (found, melted);
    }

    /// Casts what is old enough. `color` is for text that was set without one.
    pub(crate) fn cast(
        &self,
        sheet: &mut Sheet,
        placed: &mut [Placed],
        frame: u64,
        (color, pixels_per_point): (Color32, f32),
    ) {
        let Some(printer) = &self.printer else { return };
        let slugs = placed.iter().filter_map(|place| place.slug.as_deref());
        slugs.filter_map(plate).for_each(|plate| printer.keep(plate));
        for place in placed {
            let Some(slug) = &place.slug else { continue };
            // One slug must not drive out all others: a giant is replayed.
            let fits = slug.bytes as u64 <= printer.limit() / 2;
            if slug.plate.is_some() || frame < slug.born + REPLAYED_FRAMES || !fits {
                continue;
            }
            let Ground { fixed, wide } = slug.ground.clone();
            let [text, wide_text] = slug.type_meshes(color, pixels_per_point);
            let plate = printer.cast([fixed, wide, text, wide_text]);
            let cast = Arc::new(slug.distributed(Plate::new(plate)));
            sheet.replace(place.id, slug, Arc::clone(&cast));
            place.slug = Some(cast);
        }
    }
}

/// What a slug was cast into.
pub(crate) fn plate(slug: &Slug) -> Option<&gpu::Plate> {
    slug.plate.as_ref().and_then(Plate::get)
}

/// Shapes and prints in painting order. Prints that follow each other become one run.
pub(crate) struct Stack<'p> {
    painter: &'p Painter,
    printer: Option<Printer>,
    prints: Vec<Print>,
    shapes: Vec<Shape>,
}

impl<'p> Stack<'p> {
    pub(crate) fn new(painter: &'p Painter, retained: &Retained) -> Self {
        let printer = retained.printer.clone();
        Self { painter, printer, prints: Vec::new(), shapes: Vec::new() }
    }

    /// Prints a part of a plate with its origin at `at`.
    pub(crate) fn print(
        &mut self,
        plate: &gpu::Plate,
        part: Part,
        at: egui::Pos2,
        clip: Option<Rect>,
    ) {
        if !plate.is_blank(part as usize) {
            self.paint_shapes();
            self.prints.push(Print { plate: plate.clone(), part: part as usize, at, clip });
        }
    }

    /// Paints with egui.
    pub(crate) fn shapes(&mut self, clip: Option<Rect>, shapes: impl IntoIterator<Item = Shape>) {
        let mut shapes = shapes.into_iter().peekable();
        if shapes.peek().is_none() {
            return;
        }
        self.paint_prints();
        match clip {
            None => self.shapes.extend(shapes),
            Some(clip) => {
                self.paint_shapes();
                let clip = self.painter.clip_rect().intersect(clip);
                self.painter.with_clip_rect(clip).extend(shapes);
            }
        }
    }

    /// Paints what is left.
    pub(crate) fn finish(mut self) {
        self.paint_prints();
        self.paint_shapes();
    }

    fn paint_shapes(&mut self) {
        if !self.shapes.is_empty() {
            self.painter.extend(self.shapes.drain(..));
        }
    }

    fn paint_prints(&mut self) {
        if let Some(printer) = self.printer.as_ref().filter(|_| !self.prints.is_empty()) {
            let (rect, prints) = (self.painter.clip_rect(), std::mem::take(&mut self.prints));
            self.painter.add(printer.print(rect, prints, self.painter.opacity()));
        }
    }
}
