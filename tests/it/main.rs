//! One test binary: each further one would link egui and wgpu again.

#[expect(clippy::string_slice, reason = "a test may stop at its own data")]
mod ansi;
mod architecture; // Layers, reserved crates, colours, links, file sizes.
mod assets; // The bundled fonts, icons and sample conversation.
mod bed; // Lays out sheets without a window; used by the areas below.
mod chat;
mod cli; // The command line as data.
mod corpus; // Files in, text out: the harness that most areas below use.
mod diff; // Differences of texts.
mod export; // Transcripts in other formats.
mod foreign; // Servers that nobody here wrote.
mod highlight; // Colours of code.
mod images; // Pictures within limits.
mod link_gate; // Which addresses leave the program.
#[expect(clippy::string_slice, clippy::unwrap_used, reason = "a test may stop at its own data")]
mod markdown; // Blocks, caps, hygiene, streams, CommonMark.
mod markup; // The tool-tag grammar, think tags, tails.
mod offscreen; // Drawing without a window.
mod perf; // Samples, stages, memory.
mod presenter; // The presenter's vectors by name.
mod profile; // Measurements end to end.
mod reader; // The thread that reads files.
mod reference; // The reference renderer.
mod shaders; // Every shader is valid.
mod sheet; // Heights, anchors, caches: what stands where.
mod synth; // Made-up histories are the same for ever.
mod tabs; // Tab stops of terminal output.
mod theme; // Contrast of every pair of text and ground.
mod tool_calls; // States of calls, pairing, cards, roles.
mod transcripts; // Other applications' files: rows, damage, windows.
mod window; // The window: keys, tabs, folds, theme, copying.
mod wire; // Providers: framers, replies, requests, sockets. // Escape sequences. // From an empty window to a finished answer.
