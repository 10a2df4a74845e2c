//! One test binary: each further one would link egui and wgpu again. In reading order.

// The house: layers, reserved crates, file sizes; what is bundled; how data is compared.
mod architecture;
mod assets;
mod corpus;
mod shaders;

// Text: markdown, tool tags, terminal output.
#[expect(clippy::string_slice, reason = "a test may stop at its own data")]
mod ansi;
#[expect(clippy::string_slice, clippy::unwrap_used, reason = "a test may stop at its own data")]
mod markdown;
mod markup;
mod tabs;

// Files: transcripts, the thread that reads them, other formats, made-up histories.
mod export;
mod reader;
mod synth;
mod transcripts;

// Live: providers, the presenter, turns, servers that nobody here wrote.
mod foreign;
mod live;
mod presenter;
mod wire;

// Tools: servers of the Model Context Protocol.
mod mcp;

// Layout: what stands where, cards, colours of code, differences.
mod bed;
mod diff;
mod highlight;
mod sheet;
mod tool_calls;

// The view: look, pictures, links, the windows.
mod approval;
mod chat;
mod governor;
mod hud;
mod images;
mod link_gate;
mod reference;
mod theme;
mod window;

// Commands: the command line, one turn, drawing and measuring without a window.
mod ask;
mod cli;
mod offscreen;
mod perf;
mod profile;
