//! What exactly would be started, to be accepted.

use std::sync::Arc;

use egui::{Button, CornerRadius, Frame, Grid, Label, Margin, RichText, Stroke, Ui};

use super::ServerWish;
use crate::{
    layout::{Palette, face},
    tools::{
        mcp::{Acceptance, What},
        policy,
    },
};

pub(super) fn acceptance_ui(
    ui: &mut Ui,
    palette: &Palette,
    server: &Arc<str>,
    acceptance: &Acceptance,
    wishes: &mut Vec<ServerWish>,
) {
    let frame = Frame::new()
        .fill(palette.code)
        .stroke(Stroke::new(1.0, palette.warn.gamma_multiply(0.55)))
        .corner_radius(CornerRadius::same(8))
        .inner_margin(Margin::symmetric(12, 8));
    frame.show(ui, |ui| {
        ui.set_width(ui.available_width());
        let question = match acceptance.launch.what {
            What::Program { .. } => "This program would be started:",
            What::Address { .. } => "This address would be asked:",
        };
        ui.label(RichText::new(question).color(palette.text));
        Grid::new("launch").num_columns(2).spacing([12.0, 4.0]).show(ui, |ui| {
            for (name, value) in rows(&acceptance.launch.what) {
                ui.label(RichText::new(name).size(face::CAPTION_SIZE).color(palette.faint));
                let value = RichText::new(policy::visible(&value).text).monospace();
                ui.add(Label::new(value.color(palette.text)).wrap().selectable(true));
                ui.end_row();
            }
        });
        for change in &acceptance.changes {
            let words = RichText::new(format!("Since you accepted it: {change}"));
            let words = words.size(face::CAPTION_SIZE).color(palette.warn);
            ui.add(Label::new(words).wrap());
        }
        ui.add_space(4.0);
        let words = RichText::new("Accept and start").color(palette.bg).variation("wght", 650.0);
        let button = Button::new(words).fill(palette.accent).corner_radius(8);
        if ui.add(button).clicked() {
            let digest = acceptance.launch.digest();
            wishes.push(ServerWish::AcceptStart(Arc::clone(server), digest));
        }
    });
}

/// Everything that is part of what is accepted.
fn rows(what: &What) -> Vec<(&'static str, String)> {
    match what {
        What::Program { path, sha256, script, args, env, cwd } => {
            let mut rows =
                vec![("program", path.display().to_string()), ("sha256", sha256.to_string())];
            if let Some((script, digest)) = script {
                rows.push(("script", script.display().to_string()));
                rows.push(("its sha256", digest.to_string()));
            }
            if !args.is_empty() {
                rows.push(("arguments", policy::command_line(args).text));
            }
            if !env.is_empty() {
                rows.push(("variables", env.join(" ")));
            }
            if let Some(cwd) = cwd {
                rows.push(("folder", cwd.display().to_string()));
            }
            rows
        }
        What::Address { url, sha256, headers } => {
            let mut rows = vec![("address", url.clone()), ("sha256 of all", sha256.to_string())];
            if !headers.is_empty() {
                rows.push(("headers", headers.join(" ")));
            }
            rows
        }
    }
}
