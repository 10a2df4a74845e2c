//! Markup inside text that is not markdown.

pub mod ansi;
mod calls;
mod code;
pub mod secrets;
pub mod tabs;
mod tags;
mod tail;
mod think;
mod trim;
mod vocabulary;

pub use calls::{TagBlock, TagBlocks, TagCall, parse_tags};
pub use code::Place;
pub use tags::{TagEnd, TagEvent, TagScanner};
pub use tail::{Arrival, shown_by_reference, shown_text, shown_value};
pub use think::{Segment, SegmentKind, ThinkEvent, ThinkSplitter, ThinkTags, split_thinking};
pub use trim::{TrimmedText, is_blank};
pub use vocabulary::{MAX_NAME_BYTES, Vocabulary};
