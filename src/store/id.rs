//! Names of sessions.

use std::{fmt, sync::Arc};

use chrono::{DateTime, Datelike as _, Timelike as _};

use super::disk::random;

/// The name of a session, which is also the name of its folder: small letters, digits and
/// hyphens, at most [`SessionId::MAX`] of them, no hyphen first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionId(Arc<str>);

impl SessionId {
    /// The most characters of a name.
    pub const MAX: usize = 64;

    /// Takes a name; none when it is not one.
    #[must_use]
    pub fn new(name: &str) -> Option<Self> {
        let fits = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
        let is_name = (1..=Self::MAX).contains(&name.len())
            && name.bytes().all(fits)
            && !name.starts_with('-');
        is_name.then(|| Self(name.into()))
    }

    /// A name that no session has yet: when it was made (universal time), and six random
    /// characters.
    #[must_use]
    pub fn fresh(now_ms: i64) -> Self {
        const DIGITS: &[u8; 32] = b"abcdefghijkmnpqrstuvwxyz23456789";
        let at = DateTime::from_timestamp_millis(now_ms).unwrap_or_default();
        let random = random();
        let digit = |i: u32| char::from(DIGITS[(random >> (i * 5)) as usize & 31]);
        let tail: String = (0..6).map(digit).collect();
        let (year, month, day) = (at.year().clamp(0, 9999), at.month(), at.day());
        let (hour, minute, second) = (at.hour(), at.minute(), at.second());
        Self(format!("{year:04}{month:02}{day:02}-{hour:02}{minute:02}{second:02}-{tail}").into())
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
