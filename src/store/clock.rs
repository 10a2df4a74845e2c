//! The time of day, for the time that each record bears.

use std::time::{SystemTime, UNIX_EPOCH};

/// Tells milliseconds since 1970.
pub type Clock = fn() -> i64;

/// The computer's.
#[expect(clippy::disallowed_methods, reason = "a record says when it was written")]
pub(super) fn system() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}
