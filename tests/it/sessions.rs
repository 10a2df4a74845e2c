//! Conversations that are kept: what is on the disk at which moment, what comes back after
//! the end of the program, and what a disk that fails takes away.

#![expect(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    reason = "tests: a panic is a failure, and a slow disk is slow by the clock"
)]

// A store in a folder, on a disk that fails as it is told, and a model that is written down.
pub(crate) mod bench;
// What a log says, read without the engine.
pub(crate) mod told;

// What is on the disk at which moment.
mod promises;
// Ends of the program, and what comes back.
mod restarts;
// Editing, answering anew, going back.
mod branches;
// The command, and what it leaves when it is killed.
mod asking;
// The rows of it.
mod source;
// Disks that fail, are full, or are slow.
mod faults;
