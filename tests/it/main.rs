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
mod secrets;
mod tabs;

// The settings, the keys that are kept, and that none of them gets out.
mod canary;
mod redactor;
mod secrets_at_rest;
mod settings;

// Files: transcripts, the thread that reads them, other formats, made-up histories.
mod activity;
mod export;
mod follow;
mod import;
mod reader;
mod record;
mod synth;
mod transcripts;

// Sessions of our own on the disk: kills, crashes, faults, damage.
mod store;

// Live: providers, the presenter, turns, servers that nobody here wrote.
mod foreign;
mod live;
mod presenter;
// Conversations that are kept.
mod sessions;
mod wire;

// Servers of the Model Context Protocol.
mod mcp;

// Tools: who decides, what they touch, how they end.
#[expect(clippy::string_slice, reason = "a test may stop at its own data")]
mod tools;

// Layout: what stands where, cards, colours of code, differences.
mod bed;
mod bed_server;
mod diff;
mod highlight;
mod sheet;
mod tool_calls;

// The view: look, pictures, links, the windows.
mod approval;
mod branches;
mod chat;
mod exporting;
mod find;
mod governor;
mod hud;
mod images;
mod kiosk;
mod link_gate;
mod minimap;
mod reference;
mod retained;
#[expect(clippy::unwrap_used, reason = "a test may stop at its own data")]
mod session_window;
mod theme;
mod wall;
mod window;

// Commands: the command line, one turn, drawing and measuring without a window.
mod ask;
// The settings of tools and what is kept of them; a scripted model that works in a folder.
mod agent;
mod benches;
#[expect(clippy::unwrap_used, clippy::string_slice, reason = "a test may stop at its own data")]
mod catalog;
mod cli;
mod listing;
mod offscreen;
mod perf;
mod profile;
