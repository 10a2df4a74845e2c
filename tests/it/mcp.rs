//! Servers of the Model Context Protocol: a made-up one that does what no decent server does,
//! and real ones, which `tests/run` installs.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "tests: a panic is a failure, skipping is said aloud, and time is what is measured"
)]

// A server in this very program, told by a file what to be.
mod fake;
// Servers set up for a test, and what every test asks of them.
mod bench;
// `mcpServers`, good and bad.
mod config;
// What has to be accepted before a start, and when again.
#[cfg(unix)]
mod launching;
// Definitions that change, and calls that must not pass.
mod pinning;
// Calls: results, errors, progress, cancelling, limits.
mod calls;
// Ends: crashes, restarts, stops.
#[cfg(unix)]
mod ends;
// Addresses: headers, sign-in, sessions that expire.
mod http;
// Servers that nobody here wrote.
#[cfg(unix)]
mod real;
