//! Framers: bytes in, frames out, the same frames however the bytes are cut.

mod json;
mod lines;
mod sse;

pub use json::JsonFramer;
pub(super) use json::Scan;
pub use lines::{LineEnds, Lines};
pub use sse::{SseEvent, SseFrame, SseFramer};

/// A line, an event or a value was longer than is allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLarge;

/// Bytes that one line may have.
pub const LINE_LIMIT: usize = 16 << 20;
/// Bytes that one event or JSON value may have.
pub const EVENT_LIMIT: usize = 32 << 20;
