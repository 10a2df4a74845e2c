//! Times as the sources write them: ISO 8601 text or milliseconds.

/// Milliseconds since 1970 of `2026-01-31T10:20:30.123Z`, with or without a fraction,
/// with `Z`, an offset, or nothing (taken as UTC).
pub(super) fn iso_ms(text: &[u8]) -> Option<i64> {
    let [year, month, day] = [digits(text, 0, 4)?, digits(text, 5, 2)?, digits(text, 8, 2)?];
    let [hour, minute, second] = [digits(text, 11, 2)?, digits(text, 14, 2)?, digits(text, 17, 2)?];
    let separators = [text.get(4)?, text.get(7)?, text.get(13)?, text.get(16)?];
    let in_range = (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 25
        && minute < 60
        && second < 61;
    if separators != [&b'-', &b'-', &b':', &b':'] || !in_range {
        return None;
    }
    let (fraction_ms, zone) = fraction(text.get(19..)?);
    let minutes = offset_minutes(zone)?;
    let seconds = days(year, month, day) * 86_400 + (hour * 60 + minute - minutes) * 60 + second;
    Some(seconds * 1000 + fraction_ms)
}

/// Seconds for the index; 0 when they are not known.
pub(super) fn secs(ms: Option<i64>) -> u32 {
    ms.and_then(|ms| u32::try_from(ms / 1000).ok()).unwrap_or(0)
}

fn digits(text: &[u8], at: usize, count: usize) -> Option<i64> {
    text.get(at..at + count)?
        .iter()
        .try_fold(0, |value, b| b.is_ascii_digit().then(|| value * 10 + i64::from(b - b'0')))
}

fn fraction(rest: &[u8]) -> (i64, &[u8]) {
    let Some(places) = rest.strip_prefix(b".") else { return (0, rest) };
    let count = places.iter().take_while(|b| b.is_ascii_digit()).count();
    let (shown, zone) = places.split_at(count);
    let ms = (0..3).fold(0, |ms, i| ms * 10 + shown.get(i).map_or(0, |b| i64::from(b - b'0')));
    (ms, zone)
}

fn offset_minutes(zone: &[u8]) -> Option<i64> {
    let sign = match zone.first() {
        None | Some(b'Z' | b'z') => return Some(0),
        Some(b'+') => 1,
        Some(b'-') => -1,
        Some(_) => return None,
    };
    let minute_at = if zone.get(3) == Some(&b':') { 4 } else { 3 };
    Some(sign * (digits(zone, 1, 2)? * 60 + digits(zone, minute_at, 2)?))
}

/// Days since 1970-01-01 in the Gregorian calendar; years begin in March here, so that
/// the leap day is the last one.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let year = if month < 3 { year - 1 } else { year };
    let month_from_march = (month + 9) % 12;
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    year * 365 + leap_days + day_of_year - 719_468
}
