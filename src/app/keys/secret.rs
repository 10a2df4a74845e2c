//! A key in memory.

use std::fmt;

use crate::app::secrecy;

/// Bytes of a key.
const LENGTH_MAX: usize = 16 << 10;

/// A key. Its `Debug` shows only that there is one, and nothing that passes
/// [`secrecy::redact`] holds it.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Box<str>);

impl Secret {
    /// A key without the blanks around it; none when nothing is left, or when it has more than
    /// one line.
    #[must_use]
    pub fn new(text: &str) -> Option<Self> {
        let text = text.trim();
        let is_key =
            !text.is_empty() && text.len() <= LENGTH_MAX && !text.contains(char::is_control);
        is_key.then(|| {
            secrecy::learn(text);
            Self(text.into())
        })
    }

    /// The key itself, for the one who sends or keeps it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}
