//! Branches, what can be done with messages, and the queue, as they are seen and touched.

// A view and a composer around a conversation that the test makes up.
mod bed;
mod choosing;
mod deeds;
mod forks;
mod looks;
mod queue;
// The window with its engine, answered by the demo and by a server.
mod real;
