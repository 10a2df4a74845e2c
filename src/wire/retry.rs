//! Whether and when to send a request again without asking.

use std::time::Duration;

use crate::model::stream::{EndState, OptionalField, Retry};

/// Requests that are sent before the user is asked, the first one included.
pub const TRIES: u32 = 3;
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(8);

/// What to do after a try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plan {
    /// Nothing: it went well, or the user decides.
    Stop,
    /// Send it again after this pause, which is shown.
    Wait(Duration),
    /// Send it again at once, without a field that the server refuses.
    ResendWithout(OptionalField),
}

/// What to do after `tries` tries, the last of which ended this way.
///
/// `without` are the fields that were already left out. `chance`, from 0 to 1, spreads the
/// pauses of many clients.
#[must_use]
pub fn plan(end: &EndState, tries: u32, without: &[OptionalField], chance: f64) -> Plan {
    match end.retry() {
        Retry::Without(field) if !without.contains(&field) => Plan::ResendWithout(field),
        Retry::Backoff if tries < TRIES => Plan::Wait(backoff(tries, chance)),
        Retry::After(wait) if tries < TRIES => Plan::Wait(wait),
        Retry::Never | Retry::Backoff | Retry::After(_) | Retry::Without(_) => Plan::Stop,
    }
}

/// Twice as long after each try, a quarter more or less by chance.
fn backoff(tries: u32, chance: f64) -> Duration {
    let doubled = FIRST_PAUSE * 2_u32.saturating_pow(tries.saturating_sub(1)).min(64);
    let spread = 0.75 + 0.5 * chance.clamp(0.0, 1.0);
    doubled.mul_f64(spread).min(LONGEST_PAUSE)
}
