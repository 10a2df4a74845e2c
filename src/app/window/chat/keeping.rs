//! What is said about a conversation being kept: that it is being written, that it could not
//! be, that its last answer broke off.

use std::{sync::Arc, time::Duration};

use egui::{Button, CornerRadius, Frame, Label, Margin, RichText, Ui};

use super::{Chat, lodging::Lodging};
use crate::{
    layout::{Palette, face, icon},
    model::{Command, Keeping, Snapshot},
    perf::{self, Reason},
    view::{composer::Wish, governor},
};

/// Writing that takes no longer is not worth a word.
const PATIENCE: Duration = Duration::from_millis(250);

impl Chat {
    /// Says what there is to say about keeping, above the composer.
    pub(super) fn keeping_ui(
        &mut self,
        ui: &mut Ui,
        snapshot: &Snapshot,
        palette: &Palette,
    ) -> Option<Wish> {
        match (&self.lodging, &snapshot.keeping) {
            (Lodging::Refused(why), _) => unsaved_ui(ui, why, false, palette),
            (_, Keeping::Unsaved(why)) => {
                self.wants.copy |= unsaved_ui(ui, why, true, palette);
                false
            }
            (_, Keeping::Saving { since }) => {
                let passed = perf::now().saturating_duration_since(*since);
                match PATIENCE.checked_sub(passed).filter(|left| !left.is_zero()) {
                    Some(left) => governor::after(ui, Reason::Tick, left),
                    None => saving_ui(ui, palette),
                }
                false
            }
            // The composer says why nothing can be said.
            (_, Keeping::Kept | Keeping::Nowhere | Keeping::ReadOnly(_)) => false,
        };
        self.interrupted_ui(ui, snapshot, palette)
    }

    /// The last answer broke off when the program ended.
    fn interrupted_ui(
        &mut self,
        ui: &mut Ui,
        snapshot: &Snapshot,
        palette: &Palette,
    ) -> Option<Wish> {
        self.past.is_interrupted &= !snapshot.phase.is_busy() && snapshot.end.is_none();
        if !self.past.is_interrupted {
            return None;
        }
        let mut wish = None;
        ui.horizontal(|ui| {
            ui.add_space(4.0);
            let words = "The last answer broke off when the program ended.";
            ui.label(caption(words).color(palette.warn));
            if ui.small_button("Retry").clicked() {
                wish = Some(Wish::Tell(Command::Retry));
                self.past.is_interrupted = false;
            }
        });
        wish
    }

    /// True once a copy of what could not be saved is wanted.
    pub(super) fn take_wants_copy(&mut self) -> bool {
        std::mem::take(&mut self.wants.copy)
    }

    /// Has the catalog read what was written since it last did.
    pub(super) fn tell_catalog(&mut self, snapshot: &Snapshot) {
        let (Lodging::Kept(id), Some(catalog)) = (&self.lodging, &self.catalog) else { return };
        let is_kept = snapshot.keeping == Keeping::Kept;
        let state = (snapshot.len(), snapshot.phase.is_busy());
        if is_kept && self.told.replace(state) != Some(state) {
            catalog.note(id);
        }
    }
}

fn saving_ui(ui: &mut Ui, palette: &Palette) {
    ui.horizontal(|ui| {
        ui.add_space(4.0);
        ui.label(caption("Saving…").color(palette.faint));
    });
}

/// True when a copy is wanted.
fn unsaved_ui(ui: &mut Ui, why: &Arc<str>, has_copy: bool, palette: &Palette) -> bool {
    let mut is_wanted = false;
    banner_ui(ui, palette, palette.err, |ui| {
        let sign = RichText::new(icon::WARNING.to_string());
        ui.label(sign.font(super::super::chrome::icon_font(15.0)).color(palette.err));
        ui.add(Label::new(RichText::new(format!("Not saved: {why}")).color(palette.text)).wrap());
        if has_copy {
            is_wanted = ui.add(Button::new("Save a copy…")).clicked();
        }
    });
    is_wanted
}

/// A line that does not go away by itself.
pub(in crate::app::window) fn banner_ui(
    ui: &mut Ui,
    palette: &Palette,
    color: egui::Color32,
    add: impl FnOnce(&mut Ui),
) {
    let frame = Frame::new()
        .fill(color.gamma_multiply(if palette.dark { 0.14 } else { 0.10 }))
        .corner_radius(CornerRadius::same(10))
        .inner_margin(Margin::symmetric(12, 8));
    frame.show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.horizontal_wrapped(add);
    });
    ui.add_space(6.0);
}

fn caption(words: &str) -> RichText {
    RichText::new(words).size(face::CAPTION_SIZE)
}
