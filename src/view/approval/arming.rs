//! When a question may be answered: not before it has stood still for a while.

use std::time::{Duration, Instant};

use egui::Rect;

use crate::model::ApprovalId;

/// How long a card stands still before it takes an answer.
pub const ARMING: Duration = Duration::from_millis(500);

/// A card that moves by less than this stands still, in points.
const STILL: f32 = 1.0;

/// Knows since when a card has stood where it stands.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arming {
    asked: Option<ApprovalId>,
    /// None until the card has been seen where it is.
    since: Option<Instant>,
    rect: Option<Rect>,
    /// The frame in which it was last shown.
    frame: u64,
}

impl Arming {
    /// True when this question may be answered in this frame. Another question, and one that
    /// was not on screen in the frame before, begins to wait anew.
    pub fn is_armed(&mut self, asked: ApprovalId, frame: u64, now: Instant) -> bool {
        let goes_on = self.asked == Some(asked) && frame <= self.frame + 1;
        if !goes_on {
            *self = Self { asked: Some(asked), ..Self::default() };
        }
        self.frame = frame;
        self.left(now).is_none() && self.since.is_some()
    }

    /// Notes where the card stands in this frame. False when it has moved: whatever was
    /// clicked in this frame was meant for what stood there before.
    pub fn stands_at(&mut self, rect: Rect, now: Instant) -> bool {
        let is_near = |old: Rect| {
            (old.min - rect.min).abs().max_elem() < STILL
                && (old.max - rect.max).abs().max_elem() < STILL
        };
        if self.rect.is_some_and(is_near) {
            return true;
        }
        (self.rect, self.since) = (Some(rect), Some(now));
        false
    }

    /// How long it still takes; none when it is over.
    #[must_use]
    pub fn left(&self, now: Instant) -> Option<Duration> {
        let passed = now.saturating_duration_since(self.since?);
        ARMING.checked_sub(passed).filter(|left| !left.is_zero())
    }
}

#[cfg(test)]
mod tests {
    use super::{ARMING, Arming};
    use crate::{model::ApprovalId, perf};
    use egui::{Rect, pos2};
    use std::time::Duration;

    #[test]
    fn a_card_that_moves_or_was_hidden_waits_anew() {
        let now = perf::now();
        let (one, two) = (ApprovalId(1), ApprovalId(2));
        let rect = Rect::from_min_max(pos2(0.0, 0.0), pos2(9.0, 9.0));
        let mut arming = Arming::default();
        assert!(!arming.is_armed(one, 1, now));
        assert!(!arming.stands_at(rect, now));
        let late = now + ARMING;
        assert!(!arming.is_armed(one, 2, late - Duration::from_millis(1)));
        assert!(arming.is_armed(one, 3, late));
        assert!(!arming.is_armed(two, 4, late), "another question");
        assert!(!arming.stands_at(rect, late));
        let later = late + ARMING;
        assert!(arming.is_armed(two, 5, later));
        assert!(!arming.stands_at(rect.translate(egui::vec2(0.0, 20.0)), later), "it moved");
        assert!(!arming.is_armed(two, 6, later));
        let latest = later + ARMING;
        assert!(arming.is_armed(two, 7, latest));
        assert!(!arming.is_armed(two, 9, latest), "it was not on screen");
    }
}
