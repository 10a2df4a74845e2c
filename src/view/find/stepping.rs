//! From one hit to the next, while the search may still be going on.

use super::{
    Find,
    seek::{Pick, Target},
};
use crate::{engine::find::Found, layout::Anchor, model::Source, view::transcript::TranscriptView};

/// Which hit the reader wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// The first one from where he is.
    Nearest,
    /// The last one before where he is.
    NearestBefore,
    /// The one behind the current one.
    Next,
    /// The one before the current one.
    Previous,
    /// The first one behind a row.
    Behind(usize),
    /// The last one before a row.
    Before(usize),
}

/// Which way to step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Forward,
    Backward,
}

impl Way {
    /// The step from where the reader is.
    pub(super) fn nearest(self) -> Step {
        match self {
            Self::Forward => Step::Nearest,
            Self::Backward => Step::NearestBefore,
        }
    }

    /// The step from the current hit.
    pub(super) fn beside(self) -> Step {
        match self {
            Self::Forward => Step::Next,
            Self::Backward => Step::Previous,
        }
    }
}

impl Step {
    fn way(self) -> Way {
        if self.is_forward() { Way::Forward } else { Way::Backward }
    }

    fn is_forward(self) -> bool {
        matches!(self, Self::Nearest | Self::Next | Self::Behind(_))
    }
}

impl Find {
    /// Turns a step into a hit to go to, as soon as it is known which one that is.
    pub(super) fn resolve_step(&mut self, view: &TranscriptView, source: &dyn Source) {
        let Some(step) = self.step else { return };
        if self.query.is_none() {
            return;
        }
        if self.results.total() == 0 {
            if self.is_done {
                self.step = None;
            }
            return;
        }
        let step = self.as_the_reader_means(step, view);
        let found = match step {
            Step::Nearest | Step::NearestBefore => self.nearest(step, view, source),
            Step::Next | Step::Previous => self.beside_current(step, source),
            Step::Behind(row) => {
                let here = usize::from(self.results.at_row(row).is_some());
                self.forward(self.results.reach(row) + here)
            }
            Step::Before(row) => self.backward(self.results.reach(row)),
        };
        if let Some((found, pick)) = found {
            self.target = Some(Target::new(found.id, pick));
            (self.step, self.has_strayed) = (None, false);
        }
    }

    /// Whoever scrolled away from the current hit goes on from where he is.
    fn as_the_reader_means(&self, step: Step, view: &TranscriptView) -> Step {
        if !matches!(step, Step::Next | Step::Previous) {
            return step;
        }
        let Some(current) = self.current else { return step.way().nearest() };
        let is_seen = || {
            let mut placed = view.visible.placed.iter();
            placed.any(|place| {
                place.id.message == current.id
                    && self.marks.of(place.id).iter().any(|mark| mark.key == current.key)
            })
        };
        if self.has_strayed && !is_seen() { step.way().nearest() } else { step }
    }

    fn nearest(
        &mut self,
        step: Step,
        view: &TranscriptView,
        source: &dyn Source,
    ) -> Option<(Found, Pick)> {
        let place: Anchor = self.origin.as_ref().map_or_else(|| view.sheet.anchor(), |o| o.anchor);
        let row = source.index_of(place.message).unwrap_or(0);
        if let Some(found) = self.results.at_row(row) {
            let pick = match step.is_forward() {
                true => Pick::From(place.key),
                false => Pick::Before(place.key),
            };
            return Some((found, pick));
        }
        let index = self.results.reach(row);
        if step.is_forward() { self.forward(index) } else { self.backward(index) }
    }

    fn beside_current(&mut self, step: Step, source: &dyn Source) -> Option<(Found, Pick)> {
        let current = self.current?;
        let row = source.index_of(current.id)?;
        let (index, here) = (self.results.reach(row), self.results.at_row(row));
        match (step.is_forward(), here) {
            (true, Some(found)) if current.nth + 1 < found.hits => {
                Some((found, Pick::Nth(current.nth + 1)))
            }
            (true, here) => self.forward(index + usize::from(here.is_some())),
            (false, Some(found)) if current.nth > 0 => {
                Some((found, Pick::Nth((current.nth - 1).min(found.hits - 1))))
            }
            (false, _) => self.backward(index),
        }
    }

    /// The first hit of the row at an index; behind the last row comes the first.
    fn forward(&mut self, index: usize) -> Option<(Found, Pick)> {
        if let Some(found) = self.results.get(index) {
            self.has_wrapped = false;
            return Some((found, Pick::Nth(0)));
        }
        // Until the end was searched, there may be another one before it.
        if !(self.is_done || self.results.has_turned()) {
            return None;
        }
        self.has_wrapped = true;
        Some((self.results.get(0)?, Pick::Nth(0)))
    }

    /// The last hit of the row before an index; before the first row comes the last.
    fn backward(&mut self, index: usize) -> Option<(Found, Pick)> {
        // Rows before where the search began are met in order, so the last is not known.
        if !self.is_done && self.results.is_seam(index) {
            return None;
        }
        self.has_wrapped = index == 0;
        let last = self.results.len().checked_sub(1)?;
        Some((self.results.get(index.checked_sub(1).unwrap_or(last))?, Pick::Last))
    }
}
