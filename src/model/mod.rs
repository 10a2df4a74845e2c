//! The vocabulary every layer speaks: ids, messages, blocks, tool-call states, rows.
//!
//! Pure data and pure functions: no clock, no environment, no IO.

pub mod activity;
pub mod approval;
pub mod block;
mod bytes;
pub mod census;
pub mod character;
pub mod command;
pub mod id;
mod list;
pub mod message;
pub mod pairing;
pub mod reading;
pub mod record;
pub mod redactor;
pub mod snapshot;
pub mod source;
pub mod stream;
pub mod tool;

pub use approval::{
    Approval, ApprovalId, CallGrammar, Change, Concern, Decision, Offer, Scope, Subject, ToolUse,
};
pub use block::{Alert, Align, Block, BlockKind, Hygiene, ListItem, RichText, Run, Style};
pub use census::{Census, Censuses, Matter, Matters};
pub use command::{Attachment, Command, Delivery, Draft, QueueChange, ThinkingLevel, Ticket};
pub use id::{MessageId, SourceLine, Warning};
pub use list::List;
pub use message::{
    Blocks, Image, ImageData, Message, Notice, NoticeKind, Part, Raw, Role, StopReason, Text,
    Thinking, Usage,
};
pub use reading::{ReadAhead, Reading};
pub use redactor::Redactor;
pub use snapshot::{
    Aside, Base, Entry, Fate, Fork, Keeping, Phase, Queued, Receipt, Refusal, Settings, Snapshot,
};
pub use source::{
    GroupPlace, GroupTraits, Grouping, MemorySource, Progress, RowInfo, RowKind, Source, ToolTally,
};
pub use tool::{
    LowStakes, Output, SgrColor, SgrRun, ToolCall, ToolResult, ToolSituation, ToolState,
    line_starts,
};
