//! From points of the conversation to points of the track and back.

use egui::{Rect, Ui};

use crate::{
    layout::{Jump, Ruler, Toward, Visible},
    model::Source,
};

/// Least height of the frame around what is on screen, in points.
const FRAME_MIN: f32 = 14.0;
/// Least height of the scrollbar's thumb, in points.
const THUMB_MIN: f32 = 28.0;

/// How a track shows a conversation, in this frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    /// How far the conversation can be scrolled, in its own points.
    pub(super) room: f64,
    /// Points of the conversation in a point of the track.
    per_point: f64,
    /// Height of the conversation on the track, in points.
    length: f32,
    /// Height of the viewport in points.
    viewport: f64,
    /// Height of everything in points.
    total: f64,
    frame_min: f32,
}

impl Scale {
    /// The scale of a minimap with so many points of the conversation in a cell.
    pub(super) fn of_map(visible: &Visible, rect: Rect, per_cell: f64, ui: &Ui) -> Self {
        let per_point = per_cell.max(1e-6) * f64::from(ui.pixels_per_point());
        let length = (visible.total / per_point).min(f64::from(rect.height())) as f32;
        Self::new(visible, rect, per_point, (length, FRAME_MIN))
    }

    /// The scale of a scrollbar.
    pub(super) fn of_bar(visible: &Visible, rect: Rect) -> Self {
        let per_point = visible.total.max(1.0) / f64::from(rect.height());
        Self::new(visible, rect, per_point, (rect.height(), THUMB_MIN))
    }

    fn new(visible: &Visible, rect: Rect, per_point: f64, (length, least): (f32, f32)) -> Self {
        let viewport = f64::from(rect.height());
        Self {
            room: (visible.total - viewport).max(0.0),
            per_point,
            length,
            viewport,
            total: visible.total,
            frame_min: least.min(length),
        }
    }

    /// A height of the conversation on the track, in points from its top.
    pub(super) fn y(&self, points: f64) -> f32 {
        (points / self.per_point) as f32
    }

    /// Height of the conversation on the track, in points.
    pub(super) fn length(&self) -> f32 {
        self.length
    }

    /// The cell at a height of the track.
    pub(super) fn cell(&self, y: f32, pixels_per_point: f32) -> usize {
        (y.clamp(0.0, (self.length - 0.01).max(0.0)) * pixels_per_point) as usize
    }

    fn frame_height(&self) -> f32 {
        self.y(self.viewport).clamp(self.frame_min, self.length.max(self.frame_min))
    }

    /// How far the frame can move, in points.
    pub(super) fn travel(&self) -> f32 {
        (self.length - self.frame_height()).max(0.0)
    }

    /// Top and height of the frame at a scroll position. The whole way of the frame is the
    /// whole way of the page, also where the frame is higher than what it stands for.
    pub(super) fn frame(&self, top: f64) -> (f32, f32) {
        let part = if self.room > 0.0 { (top / self.room).clamp(0.0, 1.0) } else { 0.0 };
        ((f64::from(self.travel()) * part) as f32, self.frame_height())
    }
}

/// A pointer that holds the track: everything is measured with what was there when it
/// took hold, so the same position always means the same place.
#[derive(Clone, Debug)]
pub(super) struct Grip {
    scale: Scale,
    ruler: Ruler,
    hold: Hold,
    /// Where the pointer was, in points from the track's top; none before it did anything.
    last: Option<f32>,
}

/// What the pointer took hold of.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Hold {
    /// The frame, so far below its top: nothing moves until the pointer does.
    Frame(f32),
    /// The picture: what is under the pointer comes to the middle of the screen.
    Picture,
}

impl Grip {
    /// Takes hold at a height of the track on which the frame stands so.
    pub(super) fn new(scale: Scale, frame: (f32, f32), ruler: Ruler, y: f32) -> Self {
        let (top, height) = frame;
        let is_inside = (top..=top + height).contains(&y);
        let (hold, last) =
            if is_inside { (Hold::Frame(y - top), Some(y)) } else { (Hold::Picture, None) };
        Self { scale, ruler, hold, last }
    }

    /// Where the frame stands while it is held, in points from the track's top.
    pub(super) fn frame_top(&self) -> Option<f32> {
        match (self.hold, self.last) {
            (Hold::Frame(within), Some(y)) => Some(y - within),
            _ => None,
        }
    }

    /// Where the page goes when the pointer is at this height; none while it rests.
    pub(super) fn pull(&mut self, y: f32, source: &dyn Source) -> Option<Jump> {
        let before = self.last.replace(y);
        if before == Some(y) || self.scale.room <= 0.0 {
            return None;
        }
        let toward = match before {
            None => Toward::Any,
            Some(before) if before > y => Toward::Start,
            Some(_) => Toward::End,
        };
        let (top, lead) = match self.hold {
            Hold::Frame(within) => {
                let part = (y - within) / self.scale.travel().max(1e-3);
                (f64::from(part.clamp(0.0, 1.0)) * self.scale.room, 0.0)
            }
            Hold::Picture => {
                let point = f64::from(y.clamp(0.0, self.scale.length)) * self.scale.per_point;
                let lead = self.scale.viewport / 2.0;
                (point.min(self.scale.total) - lead, lead)
            }
        };
        if top >= self.scale.room {
            return Some(Jump::End);
        }
        let place = self.ruler.place((top + lead).max(0.0), source)?;
        Some(Jump::Place { place, lead, toward })
    }
}
