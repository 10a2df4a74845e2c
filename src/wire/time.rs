//! Dates and durations as they stand in headers.

use std::time::Duration;

/// Milliseconds since 1970 of an HTTP date (`Wed, 01 Dec 2027 00:00:10 GMT`).
pub(super) fn http_date_ms(text: &str) -> Option<i64> {
    let mut words = text.split_once(',')?.1.split_ascii_whitespace();
    let day = words.next()?.parse().ok()?;
    let month = words.next()?;
    let month = MONTHS.iter().position(|name| name.eq_ignore_ascii_case(month))? as i64 + 1;
    let year = words.next()?.parse().ok()?;
    let seconds = clock_seconds(words.next()?)?;
    Some((days_since_1970(year, month, day)? * 86_400 + seconds) * 1000)
}

/// Milliseconds since 1970 of an RFC 3339 time in UTC or with an offset.
pub(super) fn rfc3339_ms(text: &str) -> Option<i64> {
    let (date, time) = text.split_once(['T', 't', ' '])?;
    let mut numbers = date.split('-').map(str::parse);
    let mut next = || numbers.next()?.ok();
    let days = days_since_1970(next()?, next()?, next()?)?;
    let (clock, offset) = split_offset(time)?;
    Some((days * 86_400 + clock_seconds(clock.split('.').next()?)? - offset) * 1000)
}

/// A Go-like duration: `6m0s`, `1.5s`, `34s`, `250ms`; a bare number is seconds.
pub(super) fn duration(text: &str) -> Option<Duration> {
    let mut rest = text.trim();
    if let Ok(seconds) = rest.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let mut total = Duration::ZERO;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let (number, tail) = rest.split_at_checked(digits)?;
        let letters = tail.find(|c: char| c.is_ascii_digit()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at_checked(letters)?;
        let seconds = number.parse::<f64>().ok()? * unit_seconds(unit)?;
        total = total.checked_add(Duration::try_from_secs_f64(seconds).ok()?)?;
        rest = tail;
    }
    (!text.trim().is_empty()).then_some(total)
}

const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

fn unit_seconds(unit: &str) -> Option<f64> {
    Some(match unit {
        "d" => 86_400.0,
        "h" => 3600.0,
        "m" => 60.0,
        "s" => 1.0,
        "ms" => 1e-3,
        "us" | "µs" => 1e-6,
        "ns" => 1e-9,
        _ => return None,
    })
}

/// Seconds since midnight of `hh:mm:ss`.
fn clock_seconds(text: &str) -> Option<i64> {
    let mut parts = text.split(':').map(|part| part.parse::<i64>().ok());
    let (hours, minutes, seconds) = (parts.next()??, parts.next()??, parts.next()??);
    let sane =
        (0..24).contains(&hours) && (0..60).contains(&minutes) && (0..=60).contains(&seconds);
    sane.then_some(hours * 3600 + minutes * 60 + seconds)
}

/// A time of day and the offset behind it in seconds.
fn split_offset(time: &str) -> Option<(&str, i64)> {
    if let Some(clock) = time.strip_suffix(['Z', 'z']) {
        return Some((clock, 0));
    }
    let at = time.rfind(['+', '-'])?;
    let (clock, offset) = time.split_at_checked(at)?;
    let seconds = clock_seconds(&format!("{}:00", offset.get(1..)?))?;
    Some((clock, if offset.starts_with('-') { -seconds } else { seconds }))
}

/// Days from 1970-01-01 in the Gregorian calendar.
fn days_since_1970(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || !(0..=9999).contains(&year) {
        return None;
    }
    // Counting from 1 March puts the leap day at the end of the year.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let before_month = (153 * month + 2) / 5;
    let before_year = year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    Some(before_year + before_month + day - 719_469)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        assert_eq!(http_date_ms("Thu, 01 Jan 1970 00:00:01 GMT"), Some(1000));
        assert_eq!(http_date_ms("Wed, 01 Dec 2027 00:00:10 GMT"), Some(1_827_619_210_000));
        assert_eq!(http_date_ms("Tue, 29 Feb 2028 23:59:59 GMT"), Some(1_835_481_599_000));
        assert_eq!(http_date_ms("tomorrow"), None);
        assert_eq!(http_date_ms("x, 99 Jan 2027 00:00:00"), None);
        assert_eq!(rfc3339_ms("1970-01-01T00:00:01Z"), Some(1000));
        assert_eq!(rfc3339_ms("2027-12-01T01:00:10.25+01:00"), Some(1_827_619_210_000));
        assert_eq!(rfc3339_ms("2027-12-01"), None);
    }

    #[test]
    fn durations() {
        let ms = |text| duration(text).map(|d| d.as_millis());
        assert_eq!(ms("6m0s"), Some(360_000));
        assert_eq!(ms("34s"), Some(34_000));
        assert_eq!(ms("1.5"), Some(1500));
        assert_eq!(ms("250ms"), Some(250));
        assert_eq!(ms("1h2m3.5s"), Some(3_723_500));
        for bad in ["", "s", "-1", "5 apples", "1e400s", "NaN", "12é"] {
            assert_eq!(ms(bad), None, "{bad}");
        }
    }
}
