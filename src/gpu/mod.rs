//! The GPU: how the program asks for one, and the type that stays on it.
//!
//! A [`Printer`] casts set type into [`Plate`]s once and prints them any number of times:
//! a frame uploads where they stand, twelve bytes a draw, and nothing else. It knows
//! meshes and nothing of what they say.
//!
//! ```text
//! meshes ─cast─▶ Plate ──waits──▶ arena      once: vertices and indices, in `prepare`
//! Print { plate, part, at, clip } ─▶ Run     every frame: one paint callback a run
//! ```

mod arena;
mod pipeline;
mod plate;
mod printer;
mod run;
mod setup;

pub use self::{
    plate::Plate,
    printer::{Counters, LIMIT_BYTES, Printer},
    run::Print,
    setup::{DRIVER_PACKAGES, NO_DRIVER, describe, setup},
};
