//! Tools: what a model is told of them, who decides, what they do.
//!
//! ```text
//! name, arguments ─▶ Call::parse ─▶ Bench::facts ─▶ policy::judge ─▶ Allow(Approved) ─▶ Bench::run ─▶ ToolOutput
//!                                                        ├▶ Ask(Question) ─ answer ─▶ Approved
//!                                                        └▶ Deny
//! ```
//!
//! Nothing runs that is not [`Approved`], which only [`policy`] makes; what was approved is
//! what runs, at the places that were judged.

pub mod cancel;
pub mod checkpoint;
pub mod edit;
pub mod fetch;
pub mod mcp;
pub mod patch;
pub mod policy;
pub mod remote;
pub mod spill;
pub mod workspace;

mod arguments;
mod bench;
mod call;
mod command;
mod output;
mod spec;

pub use arguments::BadArguments;
pub use bench::{Bench, Run};
pub use call::{Call, CommandLine, DEFAULT_TIMEOUT, MAX_TIMEOUT, SearchFor};
pub use cancel::{Stop, Stopper};
pub use command::plain_text;
pub use output::{
    Exit, FileChange, MODEL_TEXT, OutputPart, Progress, Spilled, Stream, ToolOutput, clipped,
};
pub use policy::{Approved, Verdict, judge};
pub use spec::{Effect, Kind, ToolSpec};
pub use workspace::{Undo, Workspace};
