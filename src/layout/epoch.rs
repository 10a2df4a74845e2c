//! The layout epoch: everything a galley depends on besides its text.

use std::sync::Arc;

use egui::{Color32, FontId, Galley, epaint::FontsView};

/// What a galley was set for. A change of any field makes every galley worthless.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Epoch {
    /// Width of the column in whole points.
    pub width_pts: u32,
    /// Physical pixels per point.
    pub pixels_per_point: f32,
    /// How much larger than usual the type is; see [`crate::layout::Sheet::set_scale`].
    pub scale: f32,
    /// [`crate::layout::Palette::id`].
    pub palette: u32,
    /// Counts the resets of the font atlas.
    pub atlas: u32,
}

/// Notices that egui threw its fonts or its atlas away.
///
/// Neither the fill ratio nor the size of the atlas shows a reset; a galley that is asked
/// for first thing in every frame does, because egui keeps it by pointer until it resets.
#[derive(Default)]
pub struct Canary {
    galley: Option<Arc<Galley>>,
    resets: u32,
}

impl Canary {
    /// Number of resets up to now; call it once at the start of each frame.
    pub fn resets(&mut self, fonts: &mut FontsView<'_>) -> u32 {
        let font = FontId::monospace(9.0);
        let galley = fonts.layout_no_wrap("canary".to_owned(), font, Color32::PLACEHOLDER);
        let same = self.galley.as_ref().is_some_and(|last| Arc::ptr_eq(last, &galley));
        if !same {
            self.resets += 1;
            self.galley = Some(galley);
        }
        self.resets
    }
}
