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
                let offset = offset_secs().unwrap_or(0);
                self.known = Some((offset, unix_ms));
                offset
            }
        };
        Moment { unix_ms, offset_secs }
    }
}

/// Asks the system's rules of local time. The database library is the one dependency that
/// reaches them on every system; nothing is stored.
fn offset_secs() -> Option<i32> {
    let database = rusqlite::Connection::open_in_memory().ok()?;
    let question = "SELECT strftime('%s', 'now', 'localtime') - strftime('%s', 'now')";
    let secs: i64 = database.query_row(question, [], |row| row.get(0)).ok()?;
    i32::try_from(secs).ok().filter(|secs| secs.abs() <= 26 * 3600)
}
