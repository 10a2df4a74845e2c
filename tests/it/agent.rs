//! The program with tools: settings, questions, work in a folder, any order of events.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests: a panic is a failure, and patience is measured"
)]

// A folder, settings, a model that says what it is told to, and the conversation between them.
mod bench;
// config.toml and the other files: what is read, what an answer adds, what survives.
mod settings;
// `ask` with tools: at a terminal, without one, by itself.
mod asking;
// Calls that do real work: each effect once, results always.
mod work;
// The way back to what the files were.
mod checkpoint;
// Tools that write without end, never end, or leave others behind.
mod load;
// Ten thousand random orders of events.
mod orders;
