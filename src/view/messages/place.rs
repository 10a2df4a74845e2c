//! Where the messages stand that are on screen.

use egui::{Rect, pos2};

use crate::{
    layout::Placed,
    model::{MessageId, RowKind, Source},
    view::transcript::{Geometry, TranscriptView},
};

/// Room between the edge of a prompt's card and its words, in points.
const CARD_PAD: f32 = 12.0;

/// A message that is on screen.
#[derive(Clone, Copy, Debug)]
pub(super) struct Span {
    /// The message.
    pub(super) id: MessageId,
    /// Its row.
    pub(super) row: usize,
    /// All of its height, the room above it included, at the width of the column.
    pub(super) rect: Rect,
    /// Where its first words begin.
    pub(super) words: f32,
    /// Where its last words end.
    pub(super) end: f32,
}

/// The messages that are on screen, from top to bottom.
pub(super) fn spans(
    view: &TranscriptView,
    geometry: Geometry,
) -> impl Iterator<Item = Span> + use<'_> {
    let groups = view.visible.placed.chunk_by(|a, b| a.row == b.row);
    groups.filter_map(move |group| {
        let (first, last) = (group.first()?, group.last()?);
        let y = |points: f32| geometry.rect.top() + points;
        let rect = Rect::from_min_max(
            pos2(geometry.left, y(first.y)),
            pos2(geometry.left + geometry.width, y(last.y + last.height)),
        );
        // The line that leads to other versions stands at the foot, below the words.
        let said = group.iter().rev().find(|place| place.id.key.part != u16::MAX);
        let end = said.map_or_else(|| rect.bottom(), |place| y(place.y + place.height));
        Some(Span { id: first.id.message, row: first.row, rect, words: y(words(first)), end })
    })
}

/// Where the words of a slug begin: below the room that it keeps to what is above.
fn words(place: &Placed) -> f32 {
    let lines = place.slug.iter().flat_map(|slug| &slug.lines);
    let first = lines.map(|line| line.pos.y).reduce(f32::min);
    place.y + first.unwrap_or(0.0)
}

impl Span {
    /// The ground of a prompt.
    pub(super) fn card(&self, geometry: Geometry) -> Rect {
        let top = (self.words - CARD_PAD).max(self.rect.top());
        let (left, right) = (geometry.left, geometry.left + geometry.width);
        Rect::from_min_max(pos2(left, top), pos2(right, self.end))
    }

    /// Where what is shown of it begins.
    pub(super) fn top(&self, source: &dyn Source) -> f32 {
        let is_card = source.row(self.row).kind == RowKind::User;
        let above = if is_card { CARD_PAD } else { 3.0 };
        (self.words - above).max(self.rect.top())
    }
}
