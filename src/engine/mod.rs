//! Work that goes on beside the UI: running conversations, and reading them from files.
//!
//! Nothing here draws, and nothing here makes the UI wait: it hands over finished
//! messages, and takes wishes that the newest one replaces.

mod clock;
pub mod find;
pub mod follow;
pub mod live;
pub mod prepare;
pub mod reader;
pub mod session_source;
pub mod veil;
mod watch;

pub use follow::{Followed, Following, Wanted};
pub use prepare::prepare;
pub use reader::{FileSource, Waker, read_message};
pub use session_source::SessionSource;
pub use veil::Veil;
