//! Times as text: ISO 8601 in UTC, from milliseconds since 1970.

use std::{
    fmt,
    time::{SystemTime, UNIX_EPOCH},
};

/// Milliseconds since 1970 that print as `2026-05-01T10:00:01.000Z`.
///
/// Years outside 0 to 9999 print with as many digits as they need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Iso(pub(super) i64);

/// The same time as people read it: `2026-05-01 10:00`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plain(pub(super) i64);

/// The wall clock: milliseconds since 1970, UTC. Messages are dated by it.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "the one place that asks what day it is")]
pub(super) fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

const DAY_MS: i64 = 86_400_000;

impl fmt::Display for Iso {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = civil(self.0.div_euclid(DAY_MS));
        let (hour, minute, second, ms) = clock(self.0.rem_euclid(DAY_MS));
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
    }
}

impl fmt::Display for Plain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = civil(self.0.div_euclid(DAY_MS));
        let (hour, minute, ..) = clock(self.0.rem_euclid(DAY_MS));
        write!(f, "{year:04}-{month:02}-{day:02} {hour:02}:{minute:02}")
    }
}

/// Hour, minute, second and millisecond of a time of day.
fn clock(of_day_ms: i64) -> (i64, i64, i64, i64) {
    let second = of_day_ms / 1000;
    (second / 3600, second / 60 % 60, second % 60, of_day_ms % 1000)
}

/// Year, month and day of a day counted from 1970-01-01 in the Gregorian calendar.
///
/// Counts in eras of 400 years that begin on the first of March, so that the leap day
/// is the last day of its year.
fn civil(day: i64) -> (i64, i64, i64) {
    let from_march_0000 = day + 719_468;
    let era = from_march_0000.div_euclid(146_097);
    let of_era = from_march_0000.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * of_year + 2) / 153;
    let day_of_month = of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 { month_from_march + 3 } else { month_from_march - 9 };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year, month, day_of_month)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_times_print() {
        let cases = [
            (0, "1970-01-01T00:00:00.000Z"),
            (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_777_629_601_002, "2026-05-01T10:00:01.002Z"),
            (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
            (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
        ];
        for (ms, expected) in cases {
            assert_eq!(Iso(ms).to_string(), expected);
        }
        assert_eq!(Plain(1_777_629_601_002).to_string(), "2026-05-01 10:00");
    }

    #[test]
    fn extreme_times_print_without_panic() {
        assert!(!Iso(i64::MAX).to_string().is_empty());
        assert!(!Iso(i64::MIN).to_string().is_empty());
    }
}
