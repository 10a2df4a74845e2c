//! The reader's selection: two spots in the text, whatever is on screen between them.

use std::{cmp::Ordering, ops::Range};

use crate::{
    layout::{Placed, slug::Line, spec::SlugKey},
    model::{MessageId, Source},
};

/// A place between two characters of set text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spot {
    /// The message.
    pub(crate) message: MessageId,
    /// The slug.
    pub(crate) key: SlugKey,
    /// Line of set text in the slug, among those that can be read.
    pub(crate) line: usize,
    /// Characters before the spot.
    pub(crate) character: usize,
}

impl Spot {
    /// The spot within its message.
    pub(crate) fn place(&self) -> (SlugKey, usize, usize) {
        (self.key, self.line, self.character)
    }
}

/// A selection from where it began to where it was led.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Selection {
    pub(crate) tail: Spot,
    pub(crate) head: Spot,
}

impl Selection {
    /// Both ends in reading order.
    pub(crate) fn ordered(&self, source: &dyn Source) -> (Spot, Spot) {
        let row = |spot: &Spot| source.index_of(spot.message);
        let order = row(&self.tail)
            .cmp(&row(&self.head))
            .then_with(|| self.tail.place().cmp(&self.head.place()));
        if order == Ordering::Greater { (self.head, self.tail) } else { (self.tail, self.head) }
    }

    /// The rows it touches.
    pub(crate) fn rows(&self, source: &dyn Source) -> Option<Range<usize>> {
        let (first, last) = self.ordered(source);
        Some(source.index_of(first.message)?..source.index_of(last.message)? + 1)
    }

    /// The selected characters of every visible line that has any. Visible slugs stand in
    /// reading order, so their own order decides, whatever rows they have by now.
    pub(crate) fn visible<'p>(
        &self,
        placed: &'p [Placed],
    ) -> Vec<(&'p Placed, &'p Line, Range<usize>)> {
        let mut found = Vec::new();
        let index = |spot: &Spot| {
            placed
                .iter()
                .position(|place| (place.id.message, place.id.key) == (spot.message, spot.key))
        };
        let (Some(top), Some(bottom)) = (placed.first(), placed.last()) else { return found };
        let place_of = |spot: &Spot| match index(spot) {
            Some(i) => i as isize,
            None if (spot.message, spot.key) < (top.id.message, top.id.key) => -1,
            None if (spot.message, spot.key) > (bottom.id.message, bottom.id.key) => isize::MAX,
            None => -1,
        };
        let key = |spot: &Spot| (place_of(spot), spot.line, spot.character);
        let (from, to) =
            (key(&self.tail).min(key(&self.head)), key(&self.tail).max(key(&self.head)));
        for (i, place) in placed.iter().enumerate() {
            let Some(slug) = &place.slug else { continue };
            for (n, line) in slug.lines.iter().filter(|line| line.reading).enumerate() {
                let length = line.rows.text().chars().count();
                let here = (i as isize, n);
                if here < (from.0, from.1) || here > (to.0, to.1) {
                    continue;
                }
                let start = if here == (from.0, from.1) { from.2 } else { 0 };
                let end = if here == (to.0, to.1) { to.2 } else { length };
                if start < end {
                    found.push((place, line, start..end));
                }
            }
        }
        found
    }
}
