//! The wall: places, order, words, care; and what it looks like.

mod fixtures;
mod look;
