//! Layout: blocks become galleys, heights and anchors. Knows egui's text types and no `Ui`.
//!
//! [`compose`] cuts a message into [`spec`]s, [`press`] sets each into a [`slug`],
//! [`sheet`] decides which of them stand where.

pub mod cache;
pub mod calls;
pub mod compose;
pub mod diff;
mod enlarge;
pub mod epoch;
pub mod face;
pub mod flow;
pub mod folds;
pub mod forks;
pub mod heights;
pub mod highlight;
pub mod icon;
pub mod ink;
mod label;
mod matter;
mod palette;
pub mod press;
pub mod reading;
pub mod registry;
pub mod rows;
pub mod sheet;
pub mod slug;
pub mod spec;
pub mod strip;
mod table;
pub mod tools;

pub use self::{
    cache::SlugId,
    face::Voice,
    folds::{Folds, Openness},
    forks::{ForkPlace, Forks},
    palette::{Palette, Syntax},
    registry::Registry,
    sheet::{Anchor, Jump, Page, Place, Placed, Ruler, Sheet, Toward, Visible},
    slug::Slug,
    spec::{Action, Face, Fold, FoldKind, Label, Segment, Strand, Tone},
    strip::{Cell, Strip, Track},
};
