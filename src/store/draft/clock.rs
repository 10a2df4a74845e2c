//! When a draft is saved: pure, with the time passed in.

use std::time::{Duration, Instant};

/// Says when a draft is due: soon after the last key, and not long after the first that was
/// not saved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DraftClock {
    /// The first and the last change since it was saved.
    changed: Option<(Instant, Instant)>,
}

impl DraftClock {
    /// The pause in typing after which it is saved.
    pub const PAUSE: Duration = Duration::from_millis(300);
    /// Saved so long after the first change at the latest: a second, less what saving takes.
    pub const MOST: Duration = Duration::from_millis(700);

    /// Something was typed.
    pub fn change(&mut self, now: Instant) {
        let first = self.changed.map_or(now, |(first, _)| first);
        self.changed = Some((first, now));
    }

    /// It is to be saved at once.
    pub fn hurry(&mut self, now: Instant) {
        let before = now.checked_sub(Self::MOST).unwrap_or(now);
        self.changed = Some((before, now));
    }

    /// When it is to be saved; none when nothing changed.
    #[must_use]
    pub fn due(&self) -> Option<Instant> {
        self.changed.map(|(first, last)| (last + Self::PAUSE).min(first + Self::MOST))
    }

    /// Is it to be saved now?
    #[must_use]
    pub fn is_due(&self, now: Instant) -> bool {
        self.due().is_some_and(|due| due <= now)
    }

    /// All changes up to now were saved.
    pub fn saved(&mut self) {
        self.changed = None;
    }
}
