//! The view: egui widgets over layout. Data in, commands out.

pub mod composer;
pub mod images;
mod keys;
pub mod link_gate;
mod overlay;
mod paint;
mod pointer;
mod reference;
pub mod rich;
mod selection;
mod still;
pub mod theme;
mod transcript;
pub mod wall;

pub use reference::ReferenceView;
pub use transcript::{COLUMN_MAX, TranscriptView, ViewCommand, waker};
