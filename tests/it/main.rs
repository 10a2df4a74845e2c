//! One test binary: each further one would link egui and wgpu again.

mod architecture; // Layers, reserved crates, colours, links, file sizes.
mod assets; // The bundled fonts, icons and sample conversation.
mod bed; // Lays out sheets without a window; used by the areas below.
mod corpus; // Files in, text out: the harness that most areas below use.
mod shaders; // Every shader is valid.
mod sheet; // Heights, anchors, caches: what stands where.
mod transcripts; // Other applications' files: rows, damage, windows.
mod tool_calls; // States of calls, pairing, cards, roles.
mod window; // The window: keys, tabs, folds, theme, copying.
mod theme; // Contrast of every pair of text and ground.
mod tabs; // Tab stops of terminal output.
mod cli; // The command line as data.
mod export; // Transcripts in other formats.
mod reader; // The thread that reads files.
mod synth; // Made-up histories are the same for ever.
mod perf; // Samples, stages, memory.
mod offscreen; // Drawing without a window.
mod profile; // Measurements end to end.
mod reference; // The reference renderer.
mod highlight; // Colours of code.
mod diff; // Differences of texts.
mod images; // Pictures within limits.
mod link_gate; // Which addresses leave the program.
mod markup; // The tool-tag grammar, think tags, tails.
mod presenter; // The presenter's vectors by name.
mod wire; // Providers: framers, replies, requests, sockets.
mod markdown; // Blocks, caps, hygiene, streams, CommonMark.
mod ansi; // Escape sequences.
