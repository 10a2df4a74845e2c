//! What the model may do with tools, and where they work.

use egui::{RichText, Ui};

use super::Wish;
use crate::{
    layout::{Palette, face},
    model::{Command, Snapshot, ToolUse},
    tools::policy,
};

/// Why there are no tools without a workspace.
const NO_WORKSPACE: &str =
    "Tools work in one folder, and none is chosen; so the model gets no tools.";

/// Shows the choice and the folder.
pub(super) fn tools_ui(
    ui: &mut Ui,
    snapshot: &Snapshot,
    palette: &Palette,
    wishes: &mut Vec<Wish>,
) {
    let settings = &snapshot.settings;
    let words = match &settings.workspace {
        None => "tools: off".to_owned(),
        Some(place) => format!("tools: {} · {}", settings.tools.word(), last_name(place)),
    };
    let is_free = settings.tools == ToolUse::Auto && settings.workspace.is_some();
    let color = if is_free { palette.warn } else { palette.dim };
    let label = RichText::new(words).size(face::CAPTION_SIZE).color(color);
    let menu = ui.menu_button(label, |ui| {
        ui.set_width(360.0);
        place_ui(ui, settings.workspace.as_deref(), palette, wishes);
        ui.separator();
        let can = settings.workspace.is_some();
        for tool_use in ToolUse::ALL {
            let is_chosen = if can { settings.tools == tool_use } else { tool_use == ToolUse::Off };
            let radio = ui.add_enabled_ui(can, |ui| ui.radio(is_chosen, tool_use.word())).inner;
            meaning_ui(ui, palette, meaning(tool_use));
            if radio.clicked() {
                wishes.push(Wish::Tell(Command::SetTools(tool_use)));
                ui.close();
            }
        }
    });
    if let Some(place) = &settings.workspace {
        menu.response.on_hover_text(policy::visible(place).text);
    }
}

/// A menu sets its lines to its full width; words are set as words.
fn meaning_ui(ui: &mut Ui, palette: &Palette, words: &str) {
    ui.horizontal_top(|ui| {
        ui.add_space(18.0);
        let words = RichText::new(words).size(face::CAPTION_SIZE).color(palette.faint);
        ui.add(egui::Label::new(words).wrap().halign(egui::Align::Min));
    });
}

fn place_ui(ui: &mut Ui, place: Option<&str>, palette: &Palette, wishes: &mut Vec<Wish>) {
    match place {
        Some(place) => {
            ui.label(RichText::new("Workspace").size(face::CAPTION_SIZE).color(palette.faint));
            let place = RichText::new(policy::visible(place).text).monospace();
            ui.add(egui::Label::new(place.color(palette.text)).wrap());
        }
        None => drop(ui.label(NO_WORKSPACE)),
    }
    let words = if place.is_some() { "Choose another folder…" } else { "Choose a folder…" };
    if ui.button(words).clicked() {
        wishes.push(Wish::Workspace);
        ui.close();
    }
}

fn last_name(place: &str) -> String {
    let name = place.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or(place);
    policy::visible(name).text
}

fn meaning(tool_use: ToolUse) -> &'static str {
    match tool_use {
        ToolUse::Off => "It can only talk.",
        ToolUse::Ask => "It may look around in the folder; everything else is asked about.",
        ToolUse::Edits => "It may change files in the folder, too.",
        ToolUse::Auto => {
            "It may run what it likes, as long as it has read nobody's words but yours; then it asks."
        }
    }
}
