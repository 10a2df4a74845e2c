//! The program against servers that nobody here wrote. `tests/run` installs them and says
//! where they are; without them these tests say that they were skipped.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "tests: a panic is a failure, skipping is said aloud, and time is what is measured"
)]

// Starting a server, asking it things behind the program's back, ending it.
mod server;
// `letterpress ask --json` as a program of its own, and what it tells.
mod program;
// The replies that aimock is told to give, and what must come of them.
mod fixtures;
// aimock on all five wires: texts, reasoning, calls, blocks, usage, pictures, pace.
mod replies;
// aimock on all five wires when it fails.
mod faults;
// aimock and the live engine: stopping, trying again, going on.
mod engine;
// aimock calls tools, and they are run once each.
mod tools;
// The proxy of litellm: a stream, a document where a stream was asked for, and errors.
mod litellm;
