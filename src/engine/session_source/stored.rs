//! The part of a conversation that stands in its log, as rows.

use std::{io, sync::Arc};

use crate::model::{Base, Source};

/// The part of a conversation that stands in its log.
pub trait Stored: Source {
    /// Shows another part from some poll on; until then the rows stay what they are. True
    /// when the rows are those of that part, as of the last [`Source::poll`].
    fn turn_to(&mut self, base: &Base) -> bool;
    /// Why it cannot be read.
    fn failure(&self) -> Option<Arc<str>>;
}

/// Opens a log at one of its parts, to be followed where somebody else writes it.
pub type Open = dyn FnMut(&Base, bool) -> io::Result<Box<dyn Stored>>;
