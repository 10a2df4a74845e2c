//! Files for output that is too large to keep. Where they lie is somebody else's business.

use std::{
    io::{self, Write},
    sync::Arc,
};

/// Gives files for output that is too large to keep.
pub trait Spill: Send + Sync {
    /// A new file for the output of a call, and where it is, in words that the view can use.
    ///
    /// # Errors
    ///
    /// When there is none to be had. The output is then kept in part.
    fn open(&self, call_id: &str) -> io::Result<(Box<dyn Write + Send>, Arc<str>)>;
}
