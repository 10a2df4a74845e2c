//! Who looks on while long work is done, and may stop it.

use std::ops::ControlFlow;

/// What is being done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stage {
    /// The conversation is looked through; counted in bytes.
    #[default]
    Reading,
    /// Messages are written.
    Writing,
}

impl Stage {
    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Reading => "reading",
            Self::Writing => "writing",
        }
    }
}

/// Is told how far long work is.
pub(in crate::app) trait Watch {
    /// So much of `total` is done. Breaks when it is no longer wanted.
    fn saw(&mut self, stage: Stage, done: u64, total: u64) -> ControlFlow<()>;
}
