//! How long to wait before a feed is asked for again.

use std::time::Duration;

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The server had no more to say, and said something.
    WithNews,
    /// The server had no more to say, and nothing was new.
    WithoutNews,
    /// It could not be made, was refused or broke off.
    Failed,
    /// The server asked for a pause.
    Asked(Duration),
}

/// The pauses between the connections of one feed.
///
/// ```
/// use std::time::Duration;
/// use letterpress::wire::{Ended, Reconnect};
///
/// let mut plan = Reconnect::default();
/// let pauses: Vec<u64> =
///     (0..7).map(|_| plan.pause(Ended::Failed, 0.5).as_millis() as u64).collect();
/// assert_eq!(pauses, [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
/// assert_eq!(plan.pause(Ended::WithNews, 0.5), Duration::from_secs(1));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reconnect {
    /// Failures in a row.
    failures: u32,
    /// Connections in a row that brought nothing.
    quiet: u32,
    first: Duration,
    longest: Duration,
}

/// The first pause, unless the server asks for another.
const FIRST: Duration = Duration::from_secs(1);
/// The longest pause after failures.
const LONGEST: Duration = Duration::from_secs(30);
/// The longest pause while nothing new comes.
const LONGEST_QUIET: Duration = Duration::from_secs(5);
/// A server may ask for a pause of at most this.
const LONGEST_ASKED: Duration = Duration::from_secs(300);
const SHORTEST: Duration = Duration::from_millis(10);

impl Default for Reconnect {
    fn default() -> Self {
        Self::new(FIRST)
    }
}

impl Reconnect {
    /// Pauses that begin with this one.
    #[must_use]
    pub fn new(first: Duration) -> Self {
        let first = first.clamp(SHORTEST, LONGEST_ASKED);
        Self { failures: 0, quiet: 0, first, longest: LONGEST.max(first) }
    }

    /// Notes the pause that the server names for all that follow.
    pub fn server_says(&mut self, pause: Duration) {
        let Self { first, longest, .. } = Self::new(pause);
        (self.first, self.longest) = (first, longest);
    }

    /// The pause after a connection ended. It doubles with every failure in a row;
    /// `chance`, from 0 to 1, spreads the pauses of many clients by a quarter more or less.
    pub fn pause(&mut self, ended: Ended, chance: f64) -> Duration {
        let (times, longest) = match ended {
            Ended::Asked(pause) => {
                self.failures += 1;
                return pause.clamp(self.first, LONGEST_ASKED);
            }
            Ended::WithNews => {
                (self.failures, self.quiet) = (0, 0);
                (0, self.longest)
            }
            Ended::WithoutNews => {
                self.failures = 0;
                self.quiet = self.quiet.saturating_add(1);
                (self.quiet - 1, LONGEST_QUIET.max(self.first))
            }
            Ended::Failed => {
                self.quiet = 0;
                self.failures = self.failures.saturating_add(1);
                (self.failures - 1, self.longest)
            }
        };
        let spread = 0.75 + 0.5 * chance.clamp(0.0, 1.0);
        let doubled = self.first.saturating_mul(2_u32.saturating_pow(times.min(16)));
        doubled.min(longest).mul_f64(spread)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_are_spread_and_bounded() {
        for chance in [-1.0, 0.0, 0.3, 1.0, 7.0] {
            let mut plan = Reconnect::default();
            for _ in 0..100 {
                let pause = plan.pause(Ended::Failed, chance);
                assert!(pause >= FIRST.mul_f64(0.75) && pause <= LONGEST.mul_f64(1.25));
            }
            assert!(plan.pause(Ended::WithNews, chance) <= FIRST.mul_f64(1.25));
        }
    }

    #[test]
    fn silence_is_asked_about_less_and_less() {
        let mut plan = Reconnect::default();
        let mut pause = |ended| plan.pause(ended, 0.5).as_millis();
        assert_eq!(pause(Ended::WithoutNews), 1_000);
        assert_eq!(pause(Ended::WithoutNews), 2_000);
        assert_eq!(pause(Ended::WithoutNews), 4_000);
        assert_eq!(pause(Ended::WithoutNews), 5_000);
        assert_eq!(pause(Ended::WithNews), 1_000);
        assert_eq!(pause(Ended::WithoutNews), 1_000);
    }

    #[test]
    fn a_server_may_ask_within_reason() {
        let mut plan = Reconnect::default();
        assert_eq!(plan.pause(Ended::Asked(Duration::from_secs(40)), 0.5).as_secs(), 40);
        assert_eq!(plan.pause(Ended::Asked(Duration::MAX), 0.5), LONGEST_ASKED);
        plan.server_says(Duration::from_millis(50));
        assert_eq!(plan.pause(Ended::WithNews, 0.5).as_millis(), 50);
        plan.server_says(Duration::ZERO);
        assert_eq!(plan.pause(Ended::WithNews, 0.5), SHORTEST);
        plan.server_says(Duration::from_secs(100));
        assert_eq!(plan.pause(Ended::Failed, 0.5).as_secs(), 100);
    }
}
