//! Servers of the Model Context Protocol: programs and addresses that bring tools,
//! resources and prompts.
//!
//! ```text
//! config ─▶ Servers ─▶ supervisor ─▶ connection ─▶ tap ─▶ stdio │ http ─▶ the server
//!             │ pins     one task      requests,    progress,   its process group,
//!             ▼          a server      deadlines    bounds      or its address
//!           Overview
//! ```
//!
//! What holds here:
//!
//! - **Nothing starts by itself.** A server starts when something is asked of it, and only as
//!   exactly what the user accepted: see [`Launch`].
//! - **A tool is what was accepted.** A tool can be called only while its definition is the one
//!   that is pinned; it is asked for again before every call. See [`Definition::digest`].
//! - **Every request ends.** With its answer, at its deadline, when its server ends, or when
//!   its future is dropped, which tells the server to stop.
//! - **A server is not trusted.** Its hints lower nothing, its instructions are shown and not
//!   followed, its questions (sampling, elicitation, roots) are refused, its names are checked
//!   and its texts are shown with what is invisible in them.

mod config;
mod connection;
mod content;
mod definition;
mod digest;
mod entry;
mod environment;
mod error;
mod exchange;
mod http;
mod launch;
mod life;
mod lines;
mod listing;
mod log;
mod names;
mod pins;
mod process;
mod prompts;
mod resources;
mod reveal;
mod servers;
mod state;
mod stdio;
mod supervisor;
mod tap;

pub use config::{
    ConfigWarning, McpConfig, Permission, ServerConfig, ToolSetting, ToolSettings, TransportConfig,
};
pub use content::{CallOutcome, Content};
pub use definition::{Definition, Difference};
pub use digest::Digest;
pub use environment::Environment;
pub use error::CallError;
pub use exchange::{Limits, Progress};
pub use http::Network;
pub use launch::{Acceptance, Launch, What};
pub use log::{LogLine, LogSource};
pub use pins::{Pins, ServerPins, ToolPin};
pub use prompts::{Prompt, PromptArgument, PromptMessage};
pub use resources::{Resource, ResourceTemplate};
pub use reveal::{Revealed, reveal};
pub use servers::{OfferedTool, Servers, Setup};
pub use state::{Overview, ServerInfo, ServerState, ServerStatus, Standing, ToolStatus};
