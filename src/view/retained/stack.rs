//! The stack: what is painted and what is printed, in one order.

use egui::{Painter, Pos2, Rect, Shape};

use super::{Part, Retained};
use crate::gpu::{Plate, Print, Printer};

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
    pub(crate) fn print(&mut self, plate: &Plate, part: Part, at: Pos2, clip: Option<Rect>) {
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
