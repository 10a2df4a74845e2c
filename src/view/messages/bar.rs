//! The bar that says how many messages are chosen, and what can be done with them.

use egui::{Align, Area, Button, Frame, Layout, Margin, Order, RichText, Stroke, Ui, pos2, vec2};

use super::{choosing, gather, widget};
use crate::{
    layout::{Palette, face},
    model::Source,
    view::transcript::{Geometry, TranscriptView, ViewCommand},
};

/// Width of the bar, in points, where there is room for it.
const WIDTH: f32 = 460.0;

/// Shows the bar at the foot of the page.
pub(super) fn bar_ui(
    view: &mut TranscriptView,
    ui: &Ui,
    geometry: Geometry,
    source: &dyn Source,
    commands: &mut Vec<ViewCommand>,
) {
    choosing::marks_ui(view, ui, geometry);
    let palette = view.palette();
    let width = WIDTH.min(geometry.width - 16.0);
    let middle = geometry.left + geometry.width / 2.0;
    let corner = pos2(middle - width / 2.0, geometry.rect.bottom() - 58.0);
    let mut done = None;
    let area = Area::new(widget(ui, "chosen")).order(Order::Middle).fixed_pos(corner);
    area.show(ui.ctx(), |ui| {
        let frame = Frame::new()
            .fill(if palette.dark { palette.raised } else { palette.bg })
            .stroke(Stroke::new(1.0, palette.line))
            .corner_radius(12)
            .inner_margin(Margin::symmetric(14, 8))
            .shadow(ui.visuals().popup_shadow);
        frame.show(ui, |ui| {
            ui.set_width(width - 28.0);
            ui.horizontal(|ui| {
                ui.set_min_height(28.0);
                done = buttons_ui(ui, view, &palette);
            });
        });
    });
    match done {
        Some(Done::Copy) => gather::begin(view, source),
        Some(Done::Export) => {
            commands.push(ViewCommand::Export { messages: view.chosen().into() });
        }
        Some(Done::All) => {
            if let Some(choosing) = &mut view.messages.choosing {
                choosing.all(source);
            }
        }
        Some(Done::Leave) => view.messages.choosing = None,
        None => {}
    }
}

enum Done {
    Copy,
    Export,
    All,
    Leave,
}

fn buttons_ui(ui: &mut Ui, view: &TranscriptView, palette: &Palette) -> Option<Done> {
    let choosing = view.messages.choosing.as_ref()?;
    let count = choosing.count();
    let words = match count {
        0 => "Click messages to choose them".to_owned(),
        1 => "1 message".to_owned(),
        choosing::CHOSEN_MAX => format!("{count} messages, no more at once"),
        _ => format!("{count} messages"),
    };
    ui.label(RichText::new(words).size(face::INTERFACE_SIZE).color(palette.text));
    let mut done = None;
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        let mut button = |ui: &mut Ui, words: &str, hint: &str, which| {
            let button = Button::new(words).min_size(vec2(0.0, 26.0));
            if ui.add(button).on_hover_text(hint).clicked() {
                done = Some(which);
            }
        };
        button(ui, "Done", "Esc", Done::Leave);
        button(ui, "All", "Ctrl A", Done::All);
        let copied = view.messages.copied.is_some_and(|(_, until)| {
            view.messages.gathering.is_none() && ui.input(|input| input.time) < until
        });
        ui.add_enabled_ui(count > 0, |ui| {
            button(ui, "Export…", "Write them into a file", Done::Export);
            let copy = if copied { "Copied" } else { "Copy" };
            button(ui, copy, "As Markdown, with the names of who said them", Done::Copy);
        });
    });
    done
}
