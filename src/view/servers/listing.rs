//! The tools of a server: which may be called, which wait, and how they have changed.

use std::sync::Arc;

use egui::{CollapsingHeader, Label, RichText, Ui};

use super::{ServerWish, icon_font};
use crate::{
    layout::{Palette, face, icon},
    tools::mcp::{Difference, ServerStatus, Standing, ToolStatus, reveal},
};

/// Lines of a description that are shown before it is opened.
const SHORT: usize = 110;

pub(super) fn tools_ui(
    ui: &mut Ui,
    palette: &Palette,
    server: &ServerStatus,
    wishes: &mut Vec<ServerWish>,
) {
    let fresh: Vec<_> = server
        .tools
        .iter()
        .filter(|tool| tool.standing == Standing::New && tool.hidden == 0)
        .map(named)
        .collect();
    let waits = server.tools.iter().any(|tool| tool.standing != Standing::Accepted);
    let title = RichText::new("Tools").size(face::CAPTION_SIZE).color(palette.dim);
    CollapsingHeader::new(title).id_salt("tools").default_open(waits).show(ui, |ui| {
        if fresh.len() > 1 {
            let words = format!("Accept all {} new tools", fresh.len());
            if ui.small_button(words).clicked() {
                wishes.push(ServerWish::AcceptTools(Arc::clone(&server.name), fresh));
            }
        }
        for tool in server.tools.iter() {
            ui.push_id(&*tool.definition.name, |ui| tool_ui(ui, palette, server, tool, wishes));
        }
    });
}

fn named(tool: &ToolStatus) -> (Arc<str>, crate::tools::mcp::Digest) {
    (Arc::clone(&tool.definition.name), tool.sha256)
}

fn tool_ui(
    ui: &mut Ui,
    palette: &Palette,
    server: &ServerStatus,
    tool: &ToolStatus,
    wishes: &mut Vec<ServerWish>,
) {
    let (sign, color, word) = match &tool.standing {
        Standing::Accepted => (icon::CHECK, palette.ok, ""),
        Standing::New => (icon::PLUS, palette.warn, "new"),
        Standing::Changed(_) => (icon::WARNING, palette.warn, "changed since you accepted it"),
        Standing::Moved => (icon::WARNING, palette.warn, "of another server of this name"),
    };
    let shown = tool.definition.revealed();
    let name = Arc::clone(&tool.definition.name);
    ui.horizontal(|ui| {
        ui.label(RichText::new(sign.to_string()).font(icon_font(13.0)).color(color));
        ui.label(RichText::new(reveal(&name).text).monospace().color(palette.text));
        ui.label(RichText::new(word).size(face::CAPTION_SIZE).color(color));
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            if tool.standing != Standing::Accepted {
                let button = ui.add(egui::Button::new("Accept").small());
                button.widget_info(|| {
                    let words = format!("Accept {name}");
                    egui::WidgetInfo::labeled(egui::Role::Button, true, words)
                });
                if button.clicked() {
                    let server = Arc::clone(&server.name);
                    wishes.push(ServerWish::AcceptTools(server, vec![named(tool)]));
                }
            }
            let short: String = shown.description.replace('\n', " ").chars().take(SHORT).collect();
            let short = RichText::new(short).size(face::CAPTION_SIZE).color(palette.faint);
            ui.add(Label::new(short).truncate());
        });
    });
    if tool.hidden > 0 {
        let words = format!("Hidden characters in its definition: {}.", tool.hidden);
        ui.label(RichText::new(words).size(face::CAPTION_SIZE).color(palette.warn));
    }
    if let Standing::Changed(differences) = &tool.standing {
        differences_ui(ui, palette, differences);
    }
    if tool.standing != Standing::Accepted {
        definition_ui(ui, palette, &shown.description, &shown.input_schema);
    }
}

fn differences_ui(ui: &mut Ui, palette: &Palette, differences: &[Difference]) {
    for difference in differences {
        let place = RichText::new(&difference.place).size(face::CAPTION_SIZE);
        ui.label(place.color(palette.dim));
        let sides = [("−", &difference.before, palette.err), ("+", &difference.after, palette.ok)];
        for (sign, side, color) in sides {
            if let Some(side) = side {
                let words = RichText::new(format!("{sign} {side}")).monospace().color(color);
                ui.add(Label::new(words).wrap().selectable(true));
            }
        }
    }
}

/// All that a model would be told, before it is accepted.
fn definition_ui(ui: &mut Ui, palette: &Palette, description: &str, schema: &serde_json::Value) {
    let title = RichText::new("What models would be told").size(face::CAPTION_SIZE);
    CollapsingHeader::new(title.color(palette.dim)).id_salt("told").show(ui, |ui| {
        let words = RichText::new(description).color(palette.dim);
        ui.add(Label::new(words).wrap().selectable(true));
        let schema = serde_json::to_string_pretty(schema).unwrap_or_default();
        let words = RichText::new(reveal(&schema).text).monospace().color(palette.dim);
        ui.add(Label::new(words).wrap().selectable(true));
    });
}
