//! The answers: buttons, keys, and what is said with them.

use std::time::Instant;

use egui::{
    Align, Button, CornerRadius, EventFilter, Key, KeyboardShortcut, Layout, Modifiers,
    PopupCloseBehavior, RichText, TextEdit, Ui,
    containers::menu::{MenuButton, MenuConfig},
    vec2,
};

use super::{ARMING, ApprovalCard, Shown};
use crate::{
    layout::{Palette, face},
    model::{Approval, Decision, Scope, Subject},
    perf::Reason,
    view::governor,
};

/// How a card stands in this frame.
#[derive(Clone, Copy)]
pub(super) struct Stand {
    /// It takes an answer.
    pub(super) is_armed: bool,
    /// It has the keyboard.
    pub(super) has_focus: bool,
}

impl ApprovalCard {
    /// Keys of the card itself. Letters count only while nothing is typed.
    pub(super) fn keys(&self, ui: &Ui, approval: &Approval, has_focus: bool) -> Option<Decision> {
        let dialog = ui.memory(|memory| memory.top_modal_layer().is_some());
        if !has_focus || dialog {
            return None;
        }
        let pressed = |modifiers, key| ui.input_mut(|input| input.consume_key(modifiers, key));
        if pressed(Modifiers::ALT, Key::A) {
            return Some(Decision::Once);
        }
        if pressed(Modifiers::ALT, Key::D) {
            return Some(Decision::Reject);
        }
        if !self.feedback.is_empty() {
            return None;
        }
        if pressed(Modifiers::NONE, Key::Y) {
            return Some(Decision::Once);
        }
        if pressed(Modifiers::NONE, Key::N) {
            return Some(Decision::Reject);
        }
        (takes_enter(approval.subject) && pressed(Modifiers::NONE, Key::Enter))
            .then_some(Decision::Once)
    }

    /// Feedback and buttons. They keep their place whatever happens above them.
    pub(super) fn answers_ui(
        &mut self,
        ui: &mut Ui,
        shown: Shown<'_>,
        stand: Stand,
    ) -> Option<Decision> {
        let Shown { approval, palette, now, .. } = shown;
        ui.add_space(8.0);
        let spoken = self.feedback_ui(ui, palette);
        ui.add_space(6.0);
        let can = stand.is_armed && !self.is_sent;
        let row = ui.horizontal(|ui| {
            let run = approve_words(approval.subject);
            let mut decision = None;
            let accept = primary(palette, run, can);
            let accept = ui.add_enabled(can, accept);
            if clicked(ui, &accept, approval.subject) {
                decision = Some(Decision::Once);
            }
            if ui.add_enabled(can, plain("Reject", "n")).clicked() {
                decision = Some(Decision::Reject);
            }
            let offered = self.offers_ui(ui, approval, can, now);
            self.state_ui(ui, palette, stand);
            decision.or(offered)
        });
        if can { row.inner.or(spoken) } else { None }
    }

    /// What is said with the answer: Enter rejects with it, Ctrl+Enter approves with it.
    fn feedback_ui(&mut self, ui: &mut Ui, palette: &Palette) -> Option<Decision> {
        let edit = TextEdit::multiline(&mut self.feedback)
            .id_salt("feedback")
            .hint_text("Tell it what to do instead…")
            .font(egui::FontId::new(face::INTERFACE_SIZE, face::TEXT))
            .background_color(palette.bg)
            .desired_rows(1)
            .desired_width(f32::INFINITY)
            .return_key(Some(KeyboardShortcut::new(Modifiers::SHIFT, Key::Enter)));
        let scroll = egui::ScrollArea::vertical().id_salt("feedback").max_height(88.0);
        let response = scroll.show(ui, |ui| ui.add(edit)).inner;
        response.widget_info(|| {
            egui::WidgetInfo::labeled(egui::Role::MultilineTextInput, true, "What to do instead")
        });
        if !response.has_focus() {
            return None;
        }
        let composing =
            ui.input(|input| input.events.iter().any(|e| matches!(e, egui::Event::Ime(_))));
        if composing {
            return None;
        }
        let filter = EventFilter {
            horizontal_arrows: true,
            vertical_arrows: true,
            ..EventFilter::default()
        };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
        let pressed = |modifiers| ui.input_mut(|input| input.consume_key(modifiers, Key::Enter));
        let (approves, rejects) = (pressed(Modifiers::COMMAND), pressed(Modifiers::NONE));
        if self.feedback.trim().is_empty() {
            return None;
        }
        if approves { Some(Decision::Once) } else { rejects.then_some(Decision::Reject) }
    }

    fn offers_ui(
        &mut self,
        ui: &mut Ui,
        approval: &Approval,
        can: bool,
        now: Instant,
    ) -> Option<Decision> {
        if approval.offers.is_empty() {
            return None;
        }
        let mut chosen = None;
        let menu = ui.add_enabled_ui(can, |ui| {
            // A click on what is not armed yet does not close it.
            let stays = MenuConfig::new().close_behavior(PopupCloseBehavior::CloseOnClickOutside);
            let button = MenuButton::new("Allow more ▾").config(stays);
            let (_, shown) = button.ui(ui, |ui| {
                let since = *self.offers_since.get_or_insert(now);
                // A second click of the same hand must not take the first offer.
                let is_armed = now.saturating_duration_since(since) >= ARMING;
                if !is_armed {
                    governor::after(ui, Reason::Tick, ARMING);
                }
                ui.set_max_width(520.0);
                for (i, offer) in approval.offers.iter().enumerate() {
                    let button = Button::new(offer_words(offer.scope, &offer.words)).wrap();
                    if ui.add_enabled(is_armed && can, button).clicked() {
                        chosen = Some(Decision::Offer(i));
                        ui.close();
                    }
                }
            });
            shown.is_some()
        });
        if !menu.inner {
            self.offers_since = None;
        }
        chosen
    }

    fn state_ui(&self, ui: &mut Ui, palette: &Palette, stand: Stand) {
        let Stand { is_armed, has_focus } = stand;
        let (words, color) = match self.notice {
            Some(words) => (words, palette.err),
            None if self.is_sent => ("handing it over…", palette.faint),
            None if !is_armed => ("one moment…", palette.faint),
            None if self.feedback.trim().is_empty() && has_focus => {
                ("y or n  ·  Esc stops the turn", palette.faint)
            }
            None if self.feedback.trim().is_empty() => {
                ("Ctrl Shift A, then y or n  ·  Esc stops the turn", palette.faint)
            }
            None => ("Enter rejects with this  ·  Ctrl Enter approves with it", palette.faint),
        };
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let words = RichText::new(words).size(face::CAPTION_SIZE).color(color);
            ui.add(egui::Label::new(words).truncate());
        });
    }
}

/// What a plain Enter may approve. Never what runs a program, nor what a server's tool does.
fn takes_enter(subject: Subject) -> bool {
    match subject {
        Subject::Look | Subject::Change | Subject::Network => true,
        Subject::Command | Subject::Remote => false,
    }
}

/// A click on the button that approves. egui takes Enter and the space bar on a button that
/// has the focus for a click, which would make them the default.
fn clicked(ui: &Ui, response: &egui::Response, subject: Subject) -> bool {
    let by_key = ui.input(|input| input.key_pressed(Key::Enter) || input.key_pressed(Key::Space));
    response.clicked() && (takes_enter(subject) || !by_key)
}

fn approve_words(subject: Subject) -> &'static str {
    match subject {
        Subject::Command => "Run once",
        Subject::Look | Subject::Change | Subject::Network | Subject::Remote => "Allow once",
    }
}

fn offer_words(scope: Scope, rule: &str) -> String {
    match scope {
        Scope::Session => format!("For this conversation: {rule}"),
        Scope::Always => format!("Always: {rule}"),
    }
}

fn primary(palette: &Palette, words: &str, can: bool) -> Button<'static> {
    let fill = if can { palette.accent } else { palette.line };
    let color = if can { palette.bg } else { palette.dim };
    let words = RichText::new(format!("{words}  y")).color(color).variation("wght", 650.0);
    Button::new(words).fill(fill).corner_radius(CornerRadius::same(8)).min_size(vec2(72.0, 28.0))
}

fn plain(words: &str, key: &str) -> Button<'static> {
    Button::new(format!("{words}  {key}")).corner_radius(8).min_size(vec2(64.0, 28.0))
}
