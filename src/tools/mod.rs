//! Tools.

mod cancel;

pub use cancel::{Stop, Stopper};
