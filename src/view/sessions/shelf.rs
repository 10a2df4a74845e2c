//! Which sessions stand in the list, under which captions, and where.

use std::ops::Range;

use super::Listed;
use crate::view::wall::Moment;

/// Height of a session's row, in points.
pub const ROW_HEIGHT: f32 = 32.0;
/// Height of a caption, in points.
pub const CAPTION_HEIGHT: f32 = 34.0;

const DAY_MS: i64 = 86_400_000;

/// Which sessions are listed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Shelf {
    /// Those in use.
    #[default]
    Current,
    /// Those that were put away.
    Archive,
    /// Those that were deleted and can still be had back.
    Trash,
}

impl Shelf {
    /// True for a session that stands there.
    #[must_use]
    pub fn holds(self, listed: &Listed) -> bool {
        match self {
            Self::Current => !listed.archived && !listed.deleted,
            Self::Archive => listed.archived && !listed.deleted,
            Self::Trash => listed.deleted,
        }
    }
}

/// What sessions stand under.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Group {
    /// They stay on top.
    Pinned,
    /// Something happened in them today.
    Today,
    /// Yesterday.
    Yesterday,
    /// In the seven days before.
    Week,
    /// In a month: the year, and the month from 1; the year is said when it is not this one.
    Month {
        /// The year.
        year: i64,
        /// The month, from 1.
        month: u8,
        /// It belongs to the year that goes on.
        this_year: bool,
    },
}

impl Group {
    /// The group of a time, in milliseconds since 1970, seen from a moment. What lies ahead,
    /// because a clock was put back, is of today.
    #[must_use]
    pub fn of(time_ms: i64, now: Moment) -> Self {
        let day = local_day(time_ms, now);
        let today = local_day(now.unix_ms, now);
        match today - day {
            ..=0 => Self::Today,
            1 => Self::Yesterday,
            2..=8 => Self::Week,
            _ => {
                let (year, month) = year_and_month(day);
                Self::Month { year, month, this_year: year == year_and_month(today).0 }
            }
        }
    }

    /// What stands above them.
    #[must_use]
    pub fn words(self) -> String {
        match self {
            Self::Pinned => "PINNED".to_owned(),
            Self::Today => "TODAY".to_owned(),
            Self::Yesterday => "YESTERDAY".to_owned(),
            Self::Week => "PREVIOUS 7 DAYS".to_owned(),
            Self::Month { year, month, this_year } => {
                let name = MONTHS.get(usize::from(month.saturating_sub(1))).copied();
                let name = name.unwrap_or("EARLIER");
                if this_year { name.to_owned() } else { format!("{name} {year}") }
            }
        }
    }
}

const MONTHS: [&str; 12] = [
    "JANUARY",
    "FEBRUARY",
    "MARCH",
    "APRIL",
    "MAY",
    "JUNE",
    "JULY",
    "AUGUST",
    "SEPTEMBER",
    "OCTOBER",
    "NOVEMBER",
    "DECEMBER",
];

/// The day of a time where the user is, counted from 1970-01-01.
#[must_use]
pub fn local_day(time_ms: i64, now: Moment) -> i64 {
    time_ms.saturating_add(i64::from(now.offset_secs) * 1000).div_euclid(DAY_MS)
}

/// Year and month of a day counted from 1970-01-01 in the Gregorian calendar, in eras of 400
/// years that begin on the first of March.
fn year_and_month(day: i64) -> (i64, u8) {
    let from_march_0000 = day + 719_468;
    let era = from_march_0000.div_euclid(146_097);
    let of_era = from_march_0000.rem_euclid(146_097);
    let year_of_era = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let from_march = (5 * of_year + 2) / 153;
    let month = if from_march < 10 { from_march + 3 } else { from_march - 9 };
    (year_of_era + era * 400 + i64::from(month <= 2), u8::try_from(month).unwrap_or(1))
}

/// One line of the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line {
    /// The caption of a group.
    Caption(Group),
    /// A session, by its index among all.
    Session(usize),
}

impl Line {
    /// Its height, in points.
    #[must_use]
    pub fn height(self) -> f32 {
        match self {
            Self::Caption(_) => CAPTION_HEIGHT,
            Self::Session(_) => ROW_HEIGHT,
        }
    }
}

/// The lines of the list, top to bottom, and where each begins.
#[derive(Clone, Debug, Default)]
pub struct Lines {
    lines: Vec<Line>,
    /// Whole points, so that they are exact for hundreds of thousands of lines.
    tops: Vec<f32>,
    height: f32,
}

impl Lines {
    /// The lines for the sessions of a shelf whose titles hold all words of a filter. Pinned
    /// ones come first, then the others, newest first, by the day on which something last
    /// happened in them.
    #[must_use]
    pub fn of(listed: &[Listed], shelf: Shelf, filter: &str, now: Moment) -> Self {
        let filter = filter.to_lowercase();
        let words: Vec<&str> = filter.split_whitespace().collect();
        let is_wanted = |session: &Listed| shelf.holds(session) && has_all(session, &words);
        let mut chosen: Vec<usize> =
            (0..).zip(listed).filter(|(_, one)| is_wanted(one)).map(|(i, _)| i).collect();
        let pins = |session: &Listed| shelf == Shelf::Current && session.pinned;
        chosen.sort_by_key(|i| listed.get(*i).map(|s| (!pins(s), -s.updated_ms)));
        let mut lines = Self::default();
        let mut last = None;
        for (index, session) in chosen.iter().filter_map(|i| Some((*i, listed.get(*i)?))) {
            let group =
                if pins(session) { Group::Pinned } else { Group::of(session.updated_ms, now) };
            if last.replace(group) != Some(group) {
                lines.push(Line::Caption(group));
            }
            lines.push(Line::Session(index));
        }
        lines
    }

    fn push(&mut self, line: Line) {
        self.lines.push(line);
        self.tops.push(self.height);
        self.height += line.height();
    }

    /// How many lines there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// True when there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Height of all of them, in points.
    #[must_use]
    pub fn height(&self) -> f32 {
        self.height
    }

    /// A line and its top.
    #[must_use]
    pub fn get(&self, at: usize) -> Option<(Line, f32)> {
        Some((*self.lines.get(at)?, *self.tops.get(at)?))
    }

    /// Lines that have a part between two heights.
    #[must_use]
    pub fn between(&self, top: f32, bottom: f32) -> Range<usize> {
        let first = self.tops.partition_point(|y| *y <= top).saturating_sub(1);
        let end = self.tops.partition_point(|y| *y < bottom);
        first..end.max(first)
    }

    /// The line of a session, by its index among all.
    #[must_use]
    pub fn find(&self, session: usize) -> Option<usize> {
        self.lines.iter().position(|line| *line == Line::Session(session))
    }

    /// The next session from a line on, going down or up by at least one line; the last one
    /// there is when there are not so many.
    #[must_use]
    pub fn step(&self, from: Option<usize>, by: isize) -> Option<(usize, usize)> {
        let sessions = || {
            self.lines.iter().enumerate().filter_map(|(at, line)| match line {
                Line::Session(index) => Some((at, *index)),
                Line::Caption(_) => None,
            })
        };
        let steps = by.unsigned_abs().max(1) - 1;
        match (from, by < 0) {
            (None, false) => sessions().next(),
            (None, true) => sessions().next_back(),
            (Some(from), false) => {
                let behind = || sessions().skip_while(|(at, _)| *at <= from);
                behind().nth(steps).or_else(|| sessions().next_back())
            }
            (Some(from), true) => {
                let before: Vec<_> = sessions().take_while(|(at, _)| *at < from).collect();
                let at = before.len().saturating_sub(1 + steps);
                before.get(at).copied().or_else(|| sessions().next())
            }
        }
    }
}

fn has_all(session: &Listed, words: &[&str]) -> bool {
    if words.is_empty() {
        return true;
    }
    let title = session.title.to_lowercase();
    words.iter().all(|word| title.contains(word))
}
