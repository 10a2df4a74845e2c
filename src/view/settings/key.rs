//! Keys: how each is kept, and a field that shows nothing of what is typed.

use std::{fmt, sync::Arc};

use egui::{Button, Label, Margin, RichText, Role, TextEdit, Ui, WidgetInfo};

use super::control::from_right;
use super::{CONTROL_WIDTH, Keep, Row, SecretState, SettingsView, SettingsWish, Typed, caption};
use crate::layout::Palette;

/// A key that is being typed.
pub(super) struct Typing {
    id: Arc<str>,
    text: String,
    asked_for_focus: bool,
}

impl fmt::Debug for Typing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Typing").field("id", &self.id).finish_non_exhaustive()
    }
}

impl SettingsView {
    pub(super) fn secret_ui(
        &mut self,
        ui: &mut Ui,
        row: &Row,
        (state, (news, is_good)): (SecretState, &(Arc<str>, bool)),
        palette: &Palette,
        wishes: &mut Vec<SettingsWish>,
    ) {
        match &mut self.secret {
            Some(typing) if typing.id == row.id => {
                if let Some(end) = typing_ui(ui, row, typing, palette) {
                    if let Some(keep) = end {
                        let typed = Typed(std::mem::take(&mut typing.text));
                        wishes.push(SettingsWish::Keep(Arc::clone(&row.id), typed, keep));
                    }
                    self.secret = None;
                }
            }
            _ => self.buttons_ui(ui, row, state, palette, wishes),
        }
        if !news.is_empty() {
            let color = if *is_good { palette.ok } else { palette.err };
            let words = Label::new(caption(news, color)).wrap().halign(egui::Align::Max);
            ui.add(words);
        }
    }

    fn buttons_ui(
        &mut self,
        ui: &mut Ui,
        row: &Row,
        state: SecretState,
        palette: &Palette,
        wishes: &mut Vec<SettingsWish>,
    ) {
        from_right(ui, |ui| {
            let button = |ui: &mut Ui, words: &str| {
                let response = ui.add(Button::new(words));
                response.widget_info(|| {
                    let words = format!("{words} the key of {}", row.name);
                    WidgetInfo::labeled(Role::Button, true, words)
                });
                response.clicked()
            };
            let words = match state {
                SecretState::Busy => {
                    ui.label(caption("Asking the keyring…", palette.dim));
                    return;
                }
                SecretState::Kept => {
                    if button(ui, "Remove") {
                        wishes.push(SettingsWish::Forget(Arc::clone(&row.id)));
                    }
                    "Replace"
                }
                SecretState::Missing | SecretState::Environment => "Set",
            };
            if button(ui, words) {
                let id = Arc::clone(&row.id);
                self.secret = Some(Typing { id, text: String::new(), asked_for_focus: false });
            }
        });
    }
}

/// The field and what can be done with it. Something once it is over: where to keep it, or
/// nothing.
fn typing_ui(
    ui: &mut Ui,
    row: &Row,
    typing: &mut Typing,
    palette: &Palette,
) -> Option<Option<Keep>> {
    let field = TextEdit::singleline(&mut typing.text).password(true).hint_text("Paste the key");
    let field = field.margin(Margin::symmetric(10, 6)).desired_width(CONTROL_WIDTH);
    let response = ui.add(field);
    let dots = "•".repeat(typing.text.chars().count());
    response.widget_info(|| {
        let mut info =
            WidgetInfo::labeled(Role::PasswordInput, true, format!("Key of {}", row.name));
        info.current_text_value = Some(dots.clone());
        info
    });
    if !std::mem::replace(&mut typing.asked_for_focus, true) {
        response.request_focus();
    }
    let is_typed = !typing.text.trim().is_empty();
    let entered = response.lost_focus() && ui.input(|input| input.key_pressed(egui::Key::Enter));
    let mut end = (entered && is_typed).then_some(Some(Keep::Keyring));
    let text = RichText::new("Keep in the keyring").color(palette.bg);
    let keyring = Button::new(text).fill(palette.accent);
    if ui.add_enabled(is_typed, keyring).clicked() {
        end = Some(Some(Keep::Keyring));
    }
    let file = Button::new(caption("Keep in a file, stored unencrypted", palette.dim));
    if ui.add_enabled(is_typed, file).clicked() {
        end = Some(Some(Keep::File));
    }
    if ui.add(Button::new(caption("Cancel", palette.dim))).clicked() {
        end = Some(None);
    }
    end
}
