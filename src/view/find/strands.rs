//! Which words are searched.

use crate::layout::Strand;

/// A set of strands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strands(u8);

/// Those that can be chosen, with the words they are chosen by.
pub(crate) const CHOICES: [(Strand, &str); 5] = [
    (Strand::Message, "Messages"),
    (Strand::Thinking, "Thinking"),
    (Strand::Arguments, "Tool calls"),
    (Strand::Result, "Tool results"),
    (Strand::Record, "Raw records"),
];

impl Default for Strands {
    /// All that was said and done. Raw records often say the same again.
    fn default() -> Self {
        let mut strands = Self(0);
        for (strand, _) in CHOICES {
            strands.set(strand, strand != Strand::Record);
        }
        strands
    }
}

impl Strands {
    /// True when these words are searched.
    #[must_use]
    pub fn has(self, strand: Strand) -> bool {
        self.0 & bit(strand) != 0
    }

    /// Searches these words, or leaves them out.
    pub fn set(&mut self, strand: Strand, on: bool) {
        if on {
            self.0 |= bit(strand);
        } else {
            self.0 &= !bit(strand);
        }
    }
}

/// The words of the program are never searched.
fn bit(strand: Strand) -> u8 {
    match strand {
        Strand::Interface => 0,
        Strand::Message => 1,
        Strand::Thinking => 1 << 1,
        Strand::Arguments => 1 << 2,
        Strand::Result => 1 << 3,
        Strand::Record => 1 << 4,
    }
}
