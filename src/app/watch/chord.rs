//! The way out of a kiosk: Ctrl+Shift+Q, held.

use egui::{Event, Key, Modifiers};

/// How long the keys must be held, in seconds.
pub const HOLD_SECS: f64 = 3.0;

/// Whether the keys of the chord are down, and since when.
#[derive(Debug, Default)]
pub struct Chord {
    since_secs: Option<f64>,
    /// It was held long enough and must be let go before it counts again.
    spent: bool,
}

impl Chord {
    /// Takes the events of a frame. True once, when the chord was held long enough.
    pub fn take(&mut self, events: &[Event], now_secs: f64) -> bool {
        for event in events {
            match event {
                Event::Key { key: Key::Q, pressed: true, modifiers, .. } if is_held(*modifiers) => {
                    self.since_secs.get_or_insert(now_secs);
                }
                Event::Key { key: Key::Q, .. } | Event::WindowFocused(false) => self.let_go(),
                Event::ModifiersChanged(modifiers) if !is_held(*modifiers) => self.let_go(),
                _ => {}
            }
        }
        let long = self.since_secs.is_some_and(|since| now_secs - since >= HOLD_SECS);
        let asked = long && !self.spent;
        self.spent |= long;
        asked
    }

    /// How much of the time has passed, from 0 to 1; none while the keys are not down.
    #[must_use]
    pub fn progress(&self, now_secs: f64) -> Option<f32> {
        let since = self.since_secs.filter(|_| !self.spent)?;
        Some(((now_secs - since) / HOLD_SECS).clamp(0.0, 1.0) as f32)
    }

    fn let_go(&mut self) {
        *self = Self::default();
    }
}

fn is_held(modifiers: Modifiers) -> bool {
    (modifiers.ctrl || modifiers.command) && modifiers.shift && !modifiers.alt
}
