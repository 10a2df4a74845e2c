//! Times as they are read from across a room.

/// A moment, and how far local clocks are ahead of UTC at it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moment {
    /// Milliseconds since 1970, UTC.
    pub unix_ms: i64,
    /// Seconds that local time is ahead of UTC.
    pub offset_secs: i32,
}

const MINUTE_MS: i64 = 60_000;
const HOUR_MS: i64 = 60 * MINUTE_MS;
const DAY_MS: i64 = 24 * HOUR_MS;

impl Moment {
    /// The time of day: `08:15`.
    #[must_use]
    pub fn time_of_day(self) -> String {
        let minutes = self.minute_of_day();
        format!("{:02}:{:02}", minutes / 60, minutes % 60)
    }

    /// Minutes since local midnight.
    #[must_use]
    pub fn minute_of_day(self) -> u32 {
        let local = self.unix_ms.saturating_add(i64::from(self.offset_secs) * 1000);
        (local.rem_euclid(DAY_MS) / MINUTE_MS) as u32
    }

    /// This moment at another time.
    #[must_use]
    pub fn at(self, unix_ms: i64) -> Self {
        Self { unix_ms, ..self }
    }

    /// How long ago something was: `38 s`, `11 m`; the time of day after an hour, and days
    /// after one. Empty when it is not known.
    #[must_use]
    pub fn ago(self, event_ms: i64) -> String {
        if event_ms <= 0 {
            return String::new();
        }
        // A clock that runs ahead of ours is not in the future for long.
        match self.unix_ms.saturating_sub(event_ms).max(0) {
            since if since < MINUTE_MS => format!("{} s", since / 1000),
            since if since < HOUR_MS => format!("{} m", since / MINUTE_MS),
            since if since < DAY_MS => self.at(event_ms).time_of_day(),
            since => format!("{} d", since / DAY_MS),
        }
    }

    /// Milliseconds until [`Self::ago`] says something else, at most a minute.
    #[must_use]
    pub fn until_ago_changes(self, event_ms: i64) -> i64 {
        let since = self.unix_ms.saturating_sub(event_ms).max(0);
        match since {
            _ if event_ms <= 0 => MINUTE_MS,
            since if since < MINUTE_MS => 1000 - since % 1000,
            since => MINUTE_MS - since % MINUTE_MS,
        }
    }

    /// Milliseconds until [`Self::time_of_day`] says something else.
    #[must_use]
    pub fn until_minute(self) -> i64 {
        MINUTE_MS - self.unix_ms.rem_euclid(MINUTE_MS)
    }
}
