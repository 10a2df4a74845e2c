//! The presenter. Tests are named after the vectors of its specification.

mod cursor; // The cursor, its lock, and failures.
mod gates; // Checkpoint, approval, rejection, repetition, answers.
mod intake; // From events to blocks.
mod pace; // When to present.
mod properties; // Any order of events.
mod sim; // A presenter with somebody who carries out its effects.
mod stage; // A run as it is shown, and the place where a message arrives.
