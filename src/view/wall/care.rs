//! Care for a display that shows the same thing for weeks.

use std::str::FromStr;

use egui::{Vec2, vec2};

use super::clock::Moment;

/// How long the wall stands still before it moves by a pixel.
pub const STEP_MS: i64 = 3 * 60_000;
/// The orbit, in points: never further than two from its middle.
const ORBIT: [[f32; 2]; 12] = [
    [0.0, 0.0],
    [1.0, 0.0],
    [2.0, 0.0],
    [2.0, 1.0],
    [1.0, 2.0],
    [0.0, 2.0],
    [-1.0, 2.0],
    [-2.0, 1.0],
    [-2.0, 0.0],
    [-2.0, -1.0],
    [-1.0, -2.0],
    [1.0, -1.0],
];

/// Where the whole wall stands at a moment, in points from its middle.
#[must_use]
pub fn shift(now: Moment) -> Vec2 {
    let step = now.unix_ms.div_euclid(STEP_MS).rem_euclid(ORBIT.len() as i64);
    let [x, y] = ORBIT.get(usize::try_from(step).unwrap_or(0)).copied().unwrap_or_default();
    vec2(x, y)
}

/// The hours of the day in which the wall is dimmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Night {
    /// Minutes since midnight.
    pub from: u32,
    /// Minutes since midnight; before `from` when the night goes over midnight.
    pub to: u32,
}

/// How much darker the wall is at night.
pub const NIGHT: f32 = 0.62;
/// Minutes in which it gets dark, and light again.
const DUSK: u32 = 20;

impl Night {
    /// How dark it is, from 0 by day to 1 at night.
    #[must_use]
    pub fn darkness(self, now: Moment) -> f32 {
        let day = 24 * 60;
        let length = (self.to + day - self.from) % day;
        let into = (now.minute_of_day() + day - self.from) % day;
        if into >= length {
            return 0.0;
        }
        let dusk = DUSK.min(length / 2).max(1);
        let edge = (into + 1).min(length - into);
        (edge as f32 / dusk as f32).min(1.0)
    }
}

impl FromStr for Night {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let time = |word: &str| {
            let (hours, minutes) = word.trim().split_once(':')?;
            let (hours, minutes) = (hours.parse::<u32>().ok()?, minutes.parse::<u32>().ok()?);
            (hours < 24 && minutes < 60).then_some(hours * 60 + minutes)
        };
        text.split_once(['-', '–'])
            .and_then(|(from, to)| Some(Self { from: time(from)?, to: time(to)? }))
            .filter(|night| night.from != night.to)
            .ok_or_else(|| "write two times of day, such as 22:00-07:00".to_owned())
    }
}
