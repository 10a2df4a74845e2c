//! The time of day where the wall hangs.

use crate::{app::timestamp, view::wall::Moment};

/// How long an offset is good for: clocks are put forward and back.
const FRESH_MS: i64 = 10 * 60_000;

/// Knows how far local time is ahead of UTC.
#[derive(Debug, Default)]
pub struct LocalTime {
    /// The offset in seconds, and when it was found.
    known: Option<(i32, i64)>,
}

impl LocalTime {
    /// This moment.
    pub fn now(&mut self) -> Moment {
        let unix_ms = timestamp::now_ms();
        let offset_secs = match self.known {
            Some((offset, at_ms)) if (0..FRESH_MS).contains(&(unix_ms - at_ms)) => offset,
            Some(_) | None => {
                let offset = offset_secs();
                self.known = Some((offset, unix_ms));
                offset
            }
        };
        Moment { unix_ms, offset_secs }
    }
}

/// What the system's rules of local time say now.
fn offset_secs() -> i32 {
    chrono::Local::now().offset().local_minus_utc()
}
