//! What the list says about itself: nothing here, still looking, cannot be kept; and for a
//! while, that something was deleted.

use std::time::{Duration, Instant};

use egui::{
    Align2, Area, Button, CornerRadius, Frame, Id, Key, Label, Margin, Modifiers, Order, RichText,
    Stroke, Ui, vec2,
};

use super::{SessionId, Shelf, State, words};
use crate::{
    layout::{Palette, face, icon},
    perf::Reason,
    view::governor,
};

/// How long something deleted can be had back by one key.
pub(super) const UNDO: Duration = Duration::from_secs(10);
/// How long a word stays.
const TOLD: Duration = Duration::from_secs(8);

/// A word that goes away by itself.
#[derive(Clone, Debug)]
pub(super) struct Toast {
    what: What,
    until: Instant,
}

#[derive(Clone, Debug)]
enum What {
    Deleted(SessionId, String),
    Told(String),
}

impl Toast {
    pub(super) fn deleted(id: SessionId, title: &str, now: Instant) -> Self {
        Self { what: What::Deleted(id, words::title(title)), until: now + UNDO }
    }

    pub(super) fn told(words: &str, now: Instant) -> Self {
        Self { what: What::Told(words.to_owned()), until: now + TOLD }
    }

    /// Shows it at the lower left. Gives a session that is wanted back; false in the second
    /// place once it has been there for long enough.
    pub(super) fn show(
        &self,
        ui: &Ui,
        palette: &Palette,
        now: Instant,
    ) -> (Option<SessionId>, bool) {
        let Some(left) = self.until.checked_duration_since(now).filter(|left| !left.is_zero())
        else {
            return (None, false);
        };
        governor::after(ui, Reason::Tick, left);
        let mut is_wanted = false;
        let mut is_read = false;
        Area::new(Id::unique("sessions' word"))
            .order(Order::Foreground)
            .anchor(Align2::LEFT_BOTTOM, vec2(10.0, -10.0))
            .fade_in(false)
            .show(ui.ctx(), |ui| {
                frame(palette).show(ui, |ui| {
                    ui.set_width(212.0);
                    match &self.what {
                        What::Deleted(_, title) => is_wanted = deleted_ui(ui, title, palette),
                        What::Told(words) => is_read = told_ui(ui, words, palette),
                    }
                });
            });
        let What::Deleted(id, _) = &self.what else { return (None, !is_read) };
        // While something is typed, this key takes back what was typed.
        let undo = !ui.ctx().text_edit_focused()
            && ui.input_mut(|input| input.consume_key(Modifiers::COMMAND, Key::Z));
        if is_wanted || undo { (Some(id.clone()), false) } else { (None, true) }
    }
}

fn frame(palette: &Palette) -> Frame {
    Frame::new()
        .fill(palette.raised)
        .stroke(Stroke::new(1.0, palette.line))
        .corner_radius(CornerRadius::same(10))
        .inner_margin(Margin::symmetric(12, 8))
}

fn deleted_ui(ui: &mut Ui, title: &str, palette: &Palette) -> bool {
    let words = RichText::new(format!("Deleted “{title}”")).color(palette.text);
    ui.add(Label::new(words).truncate());
    ui.horizontal(|ui| {
        let words = RichText::new("Undo").color(palette.accent).variation("wght", 600.0);
        let undo = ui.add(Button::new(words).frame(false)).clicked();
        ui.label(RichText::new("Ctrl Z").size(face::CAPTION_SIZE).color(palette.faint));
        undo
    })
    .inner
}

fn told_ui(ui: &mut Ui, words: &str, palette: &Palette) -> bool {
    ui.add(Label::new(RichText::new(words).color(palette.err)).wrap());
    ui.add(Button::new(RichText::new("Close").color(palette.dim)).frame(false)).clicked()
}

/// What stands in the place of rows when there are none.
pub(super) fn empty_ui(ui: &mut Ui, shelf: Shelf, filter: &str, palette: &Palette) {
    let (words, more) = match (shelf, filter.is_empty()) {
        (_, false) => ("No title holds these words.", "Enter searches what was said."),
        (Shelf::Current, _) => ("No conversations yet", "What you ask is kept here."),
        (Shelf::Archive, _) => ("Nothing is archived", ""),
        (Shelf::Trash, _) => ("The trash is empty", "What you delete stays here for 30 days."),
    };
    ui.add_space(18.0);
    ui.vertical_centered(|ui| {
        ui.label(RichText::new(words).color(palette.dim));
        if !more.is_empty() {
            ui.label(RichText::new(more).size(face::CAPTION_SIZE).color(palette.faint));
        }
    });
}

/// How far the index is, and why nothing can be kept.
pub(super) fn state_ui(ui: &mut Ui, state: &State, palette: &Palette) {
    match state {
        State::Ready => {}
        State::Indexing { done, total } => {
            let words = match total {
                0 => "Indexing…".to_owned(),
                _ => format!("Indexing… {} of {}", words::count(*done), words::count(*total)),
            };
            ui.add_space(6.0);
            ui.horizontal(|ui| {
                ui.add_space(8.0);
                ui.label(RichText::new(words).size(face::CAPTION_SIZE).color(palette.faint));
            });
        }
        State::Failed(why) => failed_ui(ui, why, palette),
    }
}

fn failed_ui(ui: &mut Ui, why: &str, palette: &Palette) {
    ui.add_space(8.0);
    let frame = Frame::new()
        .fill(palette.err.gamma_multiply(0.12))
        .corner_radius(CornerRadius::same(8))
        .inner_margin(Margin::symmetric(10, 8));
    frame.show(ui, |ui| {
        ui.set_width(ui.available_width());
        ui.horizontal(|ui| {
            let sign = RichText::new(icon::WARNING.to_string()).font(super::row::icon_font(14.0));
            ui.label(sign.color(palette.err));
            ui.label(RichText::new("Nothing can be saved").color(palette.text));
        });
        let words = RichText::new(why).size(face::CAPTION_SIZE).color(palette.dim);
        ui.add(Label::new(words).wrap());
    });
}
