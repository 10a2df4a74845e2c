//! Live conversations over real sockets: what is shown at every instant, what stopping
//! leaves, what is asked of the server, and what publishing costs.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests: a panic is a failure, and a server has a clock of its own"
)]

// A server in this process that does what it is told, well or badly.
pub(crate) mod server;
// An engine, a server and a conversation between them.
pub(crate) mod bench;

// Messages, phases and snapshots of one turn after the other.
mod turns;
// Tools: weighed, asked about, run, stopped.
mod tools;
// What waits to be said: in its order, steered, held, paused.
mod queue;
// Stopping at any moment.
mod stops;
// Failures, retries and stalls.
mod failures;
// What the model is sent.
mod requests;
// Cadence, cost and load.
mod publishing;
