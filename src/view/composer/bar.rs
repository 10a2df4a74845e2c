//! The row below the box: what goes with a message, who answers it, and what is done with it.

use std::sync::Arc;

use egui::{Align, Layout, RichText, TextEdit, Ui};

use super::{
    Choice, Composer, SendKey, Wish,
    keys::How,
    tools,
    widgets::{note, primary, quiet_button, secondary},
};
use crate::{
    layout::{Palette, face, icon},
    model::{Command, Snapshot, ThinkingLevel},
};

/// What the two ways of saying something in a turn are.
const QUEUES: &str = "Said when this turn is over";
const STEERS: &str = "Said between two replies of this turn, as soon as one is through";

/// Height of the row, in points.
const HEIGHT: f32 = 28.0;

impl Composer {
    pub(super) fn buttons_ui(
        &mut self,
        ui: &mut Ui,
        snapshot: &Snapshot,
        choices: &[Choice],
        palette: &Palette,
        wishes: &mut Vec<Wish>,
    ) {
        ui.with_layout(Layout::right_to_left(Align::Min), |ui| {
            self.actions_ui(ui, snapshot, palette, wishes);
            let rest = Layout::left_to_right(Align::Center).with_main_wrap(true);
            ui.with_layout(rest, |ui| {
                ui.set_min_height(HEIGHT);
                self.choices_ui(ui, snapshot, choices, palette, wishes);
            });
        });
    }

    /// What goes with a message, and who answers it.
    fn choices_ui(
        &mut self,
        ui: &mut Ui,
        snapshot: &Snapshot,
        choices: &[Choice],
        palette: &Palette,
        wishes: &mut Vec<Wish>,
    ) {
        let hint = "Attach pictures or text files";
        if quiet_button(ui, palette, icon::PAPERCLIP, "attach", hint) {
            wishes.push(Wish::Attach);
        }
        if let Some(choice) = self.picker.ui(ui, snapshot, choices, palette) {
            let Choice { provider, model } = choice;
            wishes.push(Wish::Tell(Command::SetModel { provider, model }));
        }
        thinking_ui(ui, snapshot, palette, wishes);
        tools::tools_ui(ui, snapshot, palette, wishes);
        self.system_ui(ui, snapshot, palette, wishes);
        // While a turn goes on there are two ways, whose keys their buttons tell.
        if !snapshot.phase.is_busy() {
            self.keys_ui(ui, palette);
        }
    }

    /// What is done with what was written, from the right. Stop keeps its place while a
    /// turn goes on.
    fn actions_ui(
        &mut self,
        ui: &mut Ui,
        snapshot: &Snapshot,
        palette: &Palette,
        wishes: &mut Vec<Wish>,
    ) {
        let (is_busy, is_blank) = (snapshot.phase.is_busy(), self.is_blank());
        let is_editing = self.editing.is_some();
        if is_busy && is_blank && !is_editing {
            if primary(ui, palette, "Stop", true).clicked() {
                wishes.push(Wish::Tell(Command::Stop));
            }
            return note(ui, palette, "Esc stops");
        }
        if is_busy && !is_editing {
            let stops = secondary(ui, palette, "Stop").on_hover_text("Stop this turn (Esc)");
            if stops.clicked() {
                wishes.push(Wish::Tell(Command::Stop));
            }
            return self.two_ways_ui(ui, snapshot, palette, wishes);
        }
        let words = if self.edits_queued() { "Put back" } else { "Send" };
        if primary(ui, palette, words, true).clicked() {
            self.send(How::Send, snapshot, wishes);
        }
        if is_editing && secondary(ui, palette, "Cancel").on_hover_text("Esc").clicked() {
            self.leave_editing(wishes);
        }
    }

    /// The two ways of saying something while a turn goes on.
    fn two_ways_ui(
        &mut self,
        ui: &mut Ui,
        snapshot: &Snapshot,
        palette: &Palette,
        wishes: &mut Vec<Wish>,
    ) {
        let (queue, steer) = match self.send_key {
            SendKey::Enter => ("Enter", "Ctrl Enter"),
            SendKey::CtrlEnter => ("Ctrl Enter", "Alt Enter"),
        };
        let hint = format!("{QUEUES} ({queue})");
        if primary(ui, palette, "Queue", true).on_hover_text(hint).clicked() {
            self.send(How::Send, snapshot, wishes);
        }
        let hint = format!("{STEERS} ({steer})");
        if secondary(ui, palette, "Steer").on_hover_text(hint).clicked() {
            self.send(How::Steer, snapshot, wishes);
        }
    }

    /// Which key sends.
    fn keys_ui(&mut self, ui: &mut Ui, palette: &Palette) {
        let words = match self.send_key {
            SendKey::Enter => "Enter sends",
            SendKey::CtrlEnter => "Ctrl Enter sends",
        };
        let label = RichText::new(words).size(face::CAPTION_SIZE).color(palette.dim);
        ui.menu_button(label, |ui| {
            for (key, words) in [
                (SendKey::Enter, "Enter sends, Shift Enter breaks the line"),
                (SendKey::CtrlEnter, "Ctrl Enter sends, Enter breaks the line"),
            ] {
                if ui.radio(self.send_key == key, words).clicked() {
                    self.send_key = key;
                    ui.close();
                }
            }
        });
    }

    /// What the model is told about its task.
    fn system_ui(
        &mut self,
        ui: &mut Ui,
        snapshot: &Snapshot,
        palette: &Palette,
        wishes: &mut Vec<Wish>,
    ) {
        let set = snapshot.settings.system.is_some();
        let label = RichText::new(if set { "system: set" } else { "system" });
        let label = label.size(face::CAPTION_SIZE).color(palette.dim);
        let menu = ui.menu_button(label, |ui| {
            let text = self.system.get_or_insert_with(|| {
                snapshot.settings.system.as_deref().unwrap_or_default().to_owned()
            });
            ui.set_width(420.0);
            ui.label("What the model is told about its task");
            ui.add(TextEdit::multiline(text).desired_rows(5).desired_width(f32::INFINITY));
            ui.horizontal(|ui| {
                let here = ui.button("Use this").clicked();
                let always = ui.button("Use this in all new chats, too").clicked();
                if always {
                    wishes.push(Wish::KeepSystem(text.trim().into()));
                }
                if here || always {
                    let system = (!text.trim().is_empty()).then(|| Arc::from(text.trim()));
                    wishes.push(Wish::Tell(Command::SetSystem(system)));
                    ui.close();
                }
            });
        });
        if menu.inner.is_none() {
            self.system = None;
        }
    }
}

fn thinking_ui(ui: &mut Ui, snapshot: &Snapshot, palette: &Palette, wishes: &mut Vec<Wish>) {
    let levels = [
        (ThinkingLevel::Default, "default"),
        (ThinkingLevel::Off, "off"),
        (ThinkingLevel::Low, "low"),
        (ThinkingLevel::Medium, "medium"),
        (ThinkingLevel::High, "high"),
    ];
    let now = snapshot.settings.thinking;
    let word = levels.iter().find(|(level, _)| *level == now).map_or("default", |(_, word)| word);
    let label = RichText::new(format!("thinking: {word}")).size(face::CAPTION_SIZE);
    ui.menu_button(label.color(palette.dim), |ui| {
        for (level, word) in levels {
            if ui.radio(level == now, word).clicked() {
                wishes.push(Wish::Tell(Command::SetThinking(level)));
                ui.close();
            }
        }
    });
}
