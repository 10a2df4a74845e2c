//! One test binary: each further one would link egui and wgpu again.

mod architecture; // Layers, reserved crates, colours, links, file sizes.
mod assets; // The bundled fonts, icons and sample conversation.
mod corpus; // Files in, text out: the harness that most areas below use.
mod shaders; // Every shader is valid.
