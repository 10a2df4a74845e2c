//! What exactly is asked, where, under which conditions, and why the user is asked.

use egui::{CollapsingHeader, CornerRadius, Frame, Label, Margin, RichText, ScrollArea, Ui};

use super::{Shown, changes::Changes, icon_font, long::Long};
use crate::{
    layout::{Palette, face, icon},
    model::{Approval, Subject},
};

/// Lines of what is asked that are shown at once; the rest scrolls.
const LINES: f32 = 12.0;
/// Share of the window that the card may take for what stands above its answers.
const SHARE: f32 = 0.5;

pub(super) fn body_ui(ui: &mut Ui, shown: Shown<'_>, what: &mut Long, changes: &mut Changes) {
    let Shown { approval, palette, .. } = shown;
    let height = (ui.ctx().content_rect().height() * SHARE - 120.0).max(80.0);
    let scroll = ScrollArea::vertical()
        .id_salt(("asked", approval.id.0))
        .max_height(height)
        // The panel around it has no more room than in the frame before; it grows with this.
        .min_scrolled_height(height)
        .auto_shrink([false, true]);
    scroll.show(ui, |ui| {
        ui.spacing_mut().item_spacing.y = 6.0;
        // The paths of a change stand over the change itself.
        if approval.changes.is_empty() {
            what_ui(ui, palette, what);
        }
        facts_ui(ui, palette, approval);
        environment_ui(ui, palette, approval);
        changes.ui(ui, palette, &approval.changes);
        concerns_ui(ui, palette, approval);
    });
}

fn what_ui(ui: &mut Ui, palette: &Palette, what: &mut Long) {
    ground(palette).show(ui, |ui| {
        ui.set_width(ui.available_width());
        let height = LINES * face::CODE_LINE;
        let scroll = ScrollArea::vertical().id_salt("what").max_height(height);
        scroll.min_scrolled_height(height).auto_shrink([false, true]).show_viewport(
            ui,
            |ui, viewport| {
                what.ui(ui, viewport, palette);
            },
        );
    });
}

pub(super) fn ground(palette: &Palette) -> Frame {
    Frame::new()
        .fill(palette.code)
        .stroke(egui::Stroke::new(1.0, palette.line))
        .corner_radius(CornerRadius::same(8))
        .inner_margin(Margin::symmetric(12, 8))
}

fn facts_ui(ui: &mut Ui, palette: &Palette, approval: &Approval) {
    let is_nowhere = approval.place.is_empty();
    if is_nowhere && approval.timeout_secs.is_none() {
        return;
    }
    ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing.x = 6.0;
        let word = |text: &str| RichText::new(text).size(face::CAPTION_SIZE);
        if !is_nowhere {
            ui.label(word("in").color(palette.faint));
            let place = word(&approval.place).monospace().color(palette.dim);
            ui.add(Label::new(place).wrap().selectable(true));
            if !approval.is_inside {
                ui.label(word("outside of the workspace").color(palette.warn));
            }
        }
        if let Some(seconds) = approval.timeout_secs {
            ui.label(word(&format!("· at most {}", duration(seconds))).color(palette.faint));
        }
    });
}

fn duration(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", seconds / 60),
        _ => format!("{} h", seconds / 3600),
    }
}

fn environment_ui(ui: &mut Ui, palette: &Palette, approval: &Approval) {
    let count = approval.environment.len();
    if count == 0 {
        return;
    }
    let words = match count {
        1 => "1 environment variable differs".to_owned(),
        n => format!("{n} environment variables differ"),
    };
    let title = RichText::new(words).size(face::CAPTION_SIZE).color(palette.dim);
    CollapsingHeader::new(title).id_salt(("environment", approval.id.0)).show(ui, |ui| {
        for (name, value) in approval.environment.iter() {
            let line = RichText::new(format!("{name}={value}")).monospace().color(palette.dim);
            ui.add(Label::new(line).wrap().selectable(true));
        }
    });
}

fn concerns_ui(ui: &mut Ui, palette: &Palette, approval: &Approval) {
    for concern in approval.concerns.iter() {
        let (sign, color) = match concern.is_warning {
            true => (icon::WARNING, palette.warn),
            false => (icon::INFO, palette.faint),
        };
        ui.horizontal_top(|ui| {
            ui.spacing_mut().item_spacing.x = 6.0;
            ui.label(RichText::new(sign.to_string()).font(icon_font(14.0)).color(color));
            let words = RichText::new(&*concern.words).size(face::CAPTION_SIZE);
            let color = if concern.is_warning { palette.warn } else { palette.dim };
            ui.add(Label::new(words.color(color)).wrap());
        });
    }
    if approval.offers.is_empty() && approval.subject == Subject::Command {
        let words = "It can only be allowed once.";
        ui.label(RichText::new(words).size(face::CAPTION_SIZE).color(palette.faint));
    }
}
