//! Finding words in a conversation of any size, beside the UI.
//!
//! A [`Finder`] owns a thread. It is asked with a [`Request`]; the newest one replaces
//! whatever is going on, at the latest behind the row that is being read. What it finds
//! comes in small batches, in the order of the rows from where the reader is.
//!
//! What a message says is not decided here: the one who asks hands in the [`Words`] that
//! are shown of it, so that what is counted is what can be seen. Records that cannot say
//! what is looked for are ruled out by their bytes, see [`Query::may_say`].

mod finder;
mod query;
mod sieve;
mod work;

use std::{ops::Range, sync::Arc};

pub use self::{
    finder::{Finder, News},
    query::{NEEDLE_BYTES_MAX, Needle, Query},
};
use crate::model::{Message, MessageId, Reading};

/// Gives every text that is shown of a message, in reading order, and which bytes of it.
///
/// The bytes of all calls for one text must not overlap: a hit counts where it begins.
pub type Words = dyn Fn(&Message, &mut dyn FnMut(&str, Range<usize>)) + Send + Sync;

/// What to look for, where.
#[derive(Clone)]
pub struct Request {
    /// What to look for.
    pub needle: Needle,
    /// Where.
    pub reading: Arc<dyn Reading>,
    /// The row to begin with. Behind the last row comes the first.
    pub from: usize,
    /// What is shown of a message.
    pub words: Arc<Words>,
    /// Words that are shown and stand in no record; none when there is no knowing them, so
    /// that every record has to be read.
    pub own_words: Option<&'static [&'static str]>,
}

/// A row in which something was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    /// The row.
    pub row: u32,
    /// Its message.
    pub id: MessageId,
    /// How often.
    pub hits: u32,
}
