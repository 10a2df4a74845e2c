//! Titles and times as they are shown.

use super::shelf::local_day;
use crate::view::wall::Moment;

/// Characters of a title that are shown.
const TITLE_MAX: usize = 200;
const UNTITLED: &str = "Untitled";

/// A title in one line. It may have been written by anybody: what steers a terminal or turns
/// the direction of text is left out.
pub(super) fn title(title: &str) -> String {
    let shown = title.chars().map(|c| if c.is_control() { ' ' } else { c });
    let shown: String = shown.filter(|c| !turns(*c)).take(TITLE_MAX).collect();
    let shown = shown.trim();
    if shown.is_empty() { UNTITLED.to_owned() } else { shown.to_owned() }
}

/// True for what makes text run the other way, or has no look of its own.
pub(super) fn turns(c: char) -> bool {
    matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{E0000}'..='\u{E007F}')
}

/// When something was, as people say it.
pub(super) fn when(time_ms: i64, now: Moment) -> String {
    let day = local_day(time_ms, now);
    let local = time_ms.saturating_add(i64::from(now.offset_secs) * 1000);
    let minute = local.div_euclid(60_000).rem_euclid(24 * 60);
    let clock = format!("{:02}:{:02}", minute / 60, minute % 60);
    match local_day(now.unix_ms, now) - day {
        0 => format!("today {clock}"),
        1 => format!("yesterday {clock}"),
        days @ 2..=8 => format!("{days} days ago, {clock}"),
        days if days < 0 => clock,
        _ => date(time_ms, now),
    }
}

fn date(time_ms: i64, now: Moment) -> String {
    use super::shelf::Group;
    let month = Group::of(time_ms, now).words();
    let mut letters = month.chars();
    let first = letters.next().map(String::from).unwrap_or_default();
    first + &letters.as_str().to_lowercase()
}

/// A count as people read it: `1,234`.
pub(super) fn count(n: u64) -> String {
    let digits = n.to_string();
    let mut words = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            words.push(',');
        }
        words.push(digit);
    }
    words
}
