//! The view: egui widgets over layout. Data in, commands out.

pub mod approval;
mod clock;
pub mod composer;
mod find;
pub mod governor;
pub mod hud;
pub mod images;
mod keys;
pub mod link_gate;
mod messages;
mod minimap;
mod overlay;
mod paint;
mod pointer;
mod reference;
mod renderer;
mod retained;
pub mod rich;
mod selection;
pub mod servers;
pub mod sessions;
pub mod settings;
mod still;
pub mod theme;
mod transcript;
pub mod wall;

pub use find::{Finding, Strands};
pub use messages::Hands;
pub use reference::ReferenceView;
pub use renderer::{Renderer, Shown};
pub use transcript::{COLUMN_MAX, TranscriptView, ViewCommand};
