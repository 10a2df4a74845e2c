//! config.toml: what is read, what an edit leaves, what a running program sees; the settings
//! in the window.

#![expect(clippy::unwrap_used, reason = "tests: a panic is a failure")]

mod file;
mod named;
mod view;
mod window;
