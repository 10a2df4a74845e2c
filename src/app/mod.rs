//! The program: windows and commands over everything else. `main.rs` only wires.

pub mod ask;
pub mod cli;
pub mod display;
pub mod error;
pub mod export;
pub mod import;
pub mod keys;
pub mod offscreen;
pub mod places;
mod private_file;
pub mod profile;
mod progress;
pub mod providers;
pub mod render;
pub mod secrecy;
pub mod sessions;
pub mod settings;
pub mod shown;
mod streamed;
pub mod synth;
mod timestamp;
pub mod toolbox;
pub mod watch;
pub mod window;
pub mod work;
