//! Text that grows at its end and is shown without the white space around it.

/// White space as the reference's runtime trims it: Unicode's, with the byte order mark
/// and without NEXT LINE.
#[must_use]
pub(super) fn is_space(c: char) -> bool {
    c == '\u{feff}' || (c.is_whitespace() && c != '\u{85}')
}

/// A text without the white space around it.
#[must_use]
pub(super) fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// True when there is nothing but white space.
#[must_use]
pub fn is_blank(text: &str) -> bool {
    text.chars().all(is_space)
}

/// A growing text whose trimmed form costs nothing to ask for.
///
/// Invariant: `raw` does not begin with white space; `end` is where its last character
/// that is no white space ends.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TrimmedText {
    raw: String,
    end: usize,
}

impl TrimmedText {
    /// Appends; costs the length of the piece.
    pub fn push(&mut self, piece: &str) {
        let piece = if self.raw.is_empty() { piece.trim_start_matches(is_space) } else { piece };
        let inked = piece.trim_end_matches(is_space).len();
        if inked > 0 {
            self.end = self.raw.len() + inked;
        }
        self.raw.push_str(piece);
    }

    /// The text without the white space around it.
    #[must_use]
    pub fn as_str(&self) -> &str {
        self.raw.get(..self.end).unwrap_or_default()
    }

    /// True when there is nothing but white space.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.end == 0
    }

    /// True when the last character pushed is white space, or nothing was pushed.
    #[must_use]
    pub fn ends_in_space(&self) -> bool {
        self.raw.is_empty() || self.end < self.raw.len()
    }
}

impl From<&str> for TrimmedText {
    fn from(text: &str) -> Self {
        let mut trimmed = Self::default();
        trimmed.push(text);
        trimmed
    }
}
