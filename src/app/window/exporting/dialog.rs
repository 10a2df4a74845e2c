//! The choices of an export.

use std::{collections::BTreeSet, sync::Arc};

use egui::{ComboBox, Frame, Id, Label, Margin, RichText, Ui};

use super::Offer;
use crate::{
    app::{export::Format, window::chrome},
    layout::{Palette, face},
    model::MessageId,
};

/// What is chosen.
pub(super) struct Choices {
    pub(super) format: Format,
    pub(super) is_covered: bool,
    pub(super) with_images: bool,
    part: Part,
}

/// How much of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Whole,
    Chosen,
    /// The branch with this index among those that are offered.
    Branch(usize),
}

/// What is wanted of the dialog.
pub(super) enum Wish {
    Save,
    Copy,
    Close,
}

/// Height of a line with a list to choose from, in points.
const BRANCH_HEIGHT: f32 = 26.0;
/// More branches are not listed.
const BRANCHES_MAX: usize = 100;

impl Choices {
    pub(super) fn of(offer: &Offer) -> Self {
        let is_part = offer.wants_chosen && !offer.chosen.is_empty();
        let part = if is_part { Part::Chosen } else { Part::Whole };
        Self { format: Format::default(), is_covered: true, with_images: false, part }
    }

    /// The only messages that are wanted.
    pub(super) fn only(&self, offer: &Offer) -> Option<BTreeSet<MessageId>> {
        (self.part == Part::Chosen).then(|| offer.chosen.clone())
    }

    /// The leaf of the branch that is wanted.
    pub(super) fn branch(&self, offer: &Offer) -> Option<String> {
        let Part::Branch(index) = self.part else { return None };
        offer.branches.get(index).map(|(leaf, _)| leaf.to_string())
    }
}

/// Shows the choices.
pub(super) fn show(ui: &Ui, offer: &Offer, choices: &mut Choices) -> Option<Wish> {
    let palette = chrome::palette(ui);
    let frame = Frame::popup(ui.style()).inner_margin(Margin::same(18));
    let modal = egui::Modal::new(Id::unique("export")).frame(frame).show(ui.ctx(), |ui| {
        ui.set_width(440.0);
        ui.heading("Export");
        ui.add(Label::new(RichText::new(&offer.title).color(palette.dim)).truncate());
        ui.add_space(12.0);
        formats_ui(ui, choices);
        ui.add_space(10.0);
        part_ui(ui, offer, choices);
        ui.add_space(10.0);
        contents_ui(ui, choices, &palette);
        ui.add_space(14.0);
        buttons_ui(ui)
    });
    let is_left = modal.should_close();
    modal.inner.or_else(|| is_left.then_some(Wish::Close))
}

fn formats_ui(ui: &mut Ui, choices: &mut Choices) {
    ui.horizontal_wrapped(|ui| {
        for format in Format::ALL {
            ui.selectable_value(&mut choices.format, format, format.name());
        }
    });
}

fn part_ui(ui: &mut Ui, offer: &Offer, choices: &mut Choices) {
    ui.radio_value(&mut choices.part, Part::Whole, "The whole conversation, as it is shown");
    if !offer.chosen.is_empty() {
        let words = match offer.chosen.len() {
            1 => "The message that is chosen".to_owned(),
            n => format!("The {n} messages that are chosen"),
        };
        ui.radio_value(&mut choices.part, Part::Chosen, words);
    }
    if !offer.branches.is_empty() {
        branches_ui(ui, &offer.branches, choices);
    }
}

fn branches_ui(ui: &mut Ui, branches: &[(Arc<str>, usize)], choices: &mut Choices) {
    let is_branch = matches!(choices.part, Part::Branch(_));
    ui.horizontal(|ui| {
        ui.set_min_height(BRANCH_HEIGHT);
        if ui.radio(is_branch, "Another branch").clicked() && !is_branch {
            choices.part = Part::Branch(0);
        }
        if let Part::Branch(index) = &mut choices.part {
            let name = |index: usize| {
                branches.get(index).map_or_else(String::new, |(leaf, messages)| {
                    let plural = if *messages == 1 { "" } else { "s" };
                    format!("{leaf} · {messages} message{plural} of its own")
                })
            };
            ComboBox::from_id_salt("branch").selected_text(name(*index)).width(250.0).show_ui(
                ui,
                |ui| {
                    for i in 0..branches.len().min(BRANCHES_MAX) {
                        ui.selectable_value(index, i, name(i));
                    }
                },
            );
        }
    });
}

fn contents_ui(ui: &mut Ui, choices: &mut Choices, palette: &Palette) {
    ui.checkbox(&mut choices.is_covered, "Cover keys, passwords, headers and the path of my home");
    if !choices.is_covered {
        let words = "Everything is written as it is. Look through it before you share it.";
        ui.add(
            Label::new(RichText::new(words).size(face::CAPTION_SIZE).color(palette.warn)).wrap(),
        );
    }
    let can_hold = choices.format != Format::Txt;
    let check = egui::Checkbox::new(&mut choices.with_images, "Put pictures into it");
    ui.add_enabled(can_hold, check).on_disabled_hover_text("Plain text can only name them.");
}

fn buttons_ui(ui: &mut Ui) -> Option<Wish> {
    let mut wish = None;
    ui.horizontal(|ui| {
        let save = ui.button("Save as…");
        if ui.memory(|memory| memory.focused().is_none()) {
            save.request_focus();
        }
        if save.clicked() {
            wish = Some(Wish::Save);
        }
        if ui.button("Copy to clipboard").clicked() {
            wish = Some(Wish::Copy);
        }
        if ui.button("Cancel").clicked() {
            wish = Some(Wish::Close);
        }
    });
    wish
}
