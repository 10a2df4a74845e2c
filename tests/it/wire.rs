//! Providers: bytes to events without IO, requests, retries, and real sockets.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "tests: a panic is a failure, and skipping is said aloud"
)]

// What a list of events tells, and ways to cut bytes.
mod told;
// Our own small streams, whose events stand beside them.
mod fixtures;
// The vectors in the folder that LETTERPRESS_VECTORS names, with and without sockets.
mod vectors;
// Streams that real servers sent, held against a second, naive reading of them.
mod recordings;
// Framers and limits under bytes that mean harm.
mod hostile;
// What is asked of each provider.
mod requests;
// A server in this process: timeouts, resets, proxies, cancelling, keys.
mod loopback;
// Pages of the web.
mod pages;
