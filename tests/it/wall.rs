//! The wall: who stands where and for how long, words and clocks, care, zoom, faults.

pub(crate) mod fixtures;
mod panes;
mod places;
mod words;
