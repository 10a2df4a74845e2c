//! One test binary: each further one would link egui and wgpu again.

mod architecture; // Layers, reserved crates, colours, links, file sizes.
mod assets; // The bundled fonts, icons and sample conversation.
mod bed; // Lays out sheets without a window; used by the areas below.
mod corpus; // Files in, text out: the harness that most areas below use.
mod shaders; // Every shader is valid.
mod sheet; // Heights, anchors, caches: what stands where.
mod tool_calls; // States of calls, pairing, cards, roles.
mod window; // The window: keys, tabs, folds, theme, copying.
mod theme; // Contrast of every pair of text and ground.
mod tabs; // Tab stops of terminal output.
