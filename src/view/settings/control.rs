//! What settings are set with.

use std::sync::Arc;

use egui::{
    Button, ComboBox, DragValue, Label, Margin, RichText, Role, Sense, TextEdit, Ui, WidgetInfo,
    vec2,
};

use super::{
    CONTROL_WIDTH, Chosen, Control, Row, SettingsView, SettingsWish, caption, icon_button,
};
use crate::layout::{Palette, icon};

impl SettingsView {
    pub(super) fn control_ui(
        &mut self,
        ui: &mut Ui,
        row: &Row,
        palette: &Palette,
        wishes: &mut Vec<SettingsWish>,
    ) {
        let mut set = |chosen| wishes.push(SettingsWish::Set(Arc::clone(&row.id), chosen));
        match &row.control {
            Control::Choice { options, now } => {
                if let Some(word) = choice_ui(ui, row, options, now) {
                    set(Chosen::Word(word));
                }
            }
            Control::Switch(on) => {
                if switch_ui(ui, row, *on, palette) {
                    set(Chosen::Switch(!on));
                }
            }
            Control::Number { now, range, step, percent } => {
                let shape = Shape { range: *range, step: *step, percent: *percent };
                let mut draft = self.numbers.remove(&row.id);
                if let Some(number) = number_ui(ui, row, *now, &mut draft, shape) {
                    set(Chosen::Number(number));
                } else if let Some(draft) = draft {
                    self.numbers.insert(Arc::clone(&row.id), draft);
                }
            }
            Control::Text { now, hint, is_long } => {
                if let Some(text) = self.text_ui(ui, row, now, hint, *is_long) {
                    set(Chosen::Text(text));
                }
            }
            Control::List(entries) => {
                if let Some(entry) = list_ui(ui, entries, palette) {
                    set(Chosen::Without(entry));
                }
            }
            Control::Fact { words, copies } => fact_ui(ui, row, words, *copies, palette),
            Control::Secret { state, news } => {
                self.secret_ui(ui, row, (*state, news), palette, wishes);
            }
        }
    }

    /// What is written counts once the field is left, or Enter is pressed in a short one.
    fn text_ui(
        &mut self,
        ui: &mut Ui,
        row: &Row,
        now: &str,
        hint: &str,
        is_long: bool,
    ) -> Option<Arc<str>> {
        let mut text = self.drafts.get(&row.id).cloned().unwrap_or_else(|| now.to_owned());
        let edit = match is_long {
            true => TextEdit::multiline(&mut text).desired_rows(3),
            false => TextEdit::singleline(&mut text),
        };
        let width = if is_long { f32::INFINITY } else { CONTROL_WIDTH };
        let edit = edit.hint_text(hint).margin(Margin::symmetric(10, 6)).desired_width(width);
        let response = ui.add(edit);
        label(&response, row, Role::TextInput, Some(&text));
        if response.changed() {
            self.drafts.insert(Arc::clone(&row.id), text.clone());
        }
        let is_left = response.lost_focus() && self.drafts.remove(&row.id).is_some();
        (is_left && text.trim() != now).then(|| text.trim().into())
    }
}

/// Gives a control its row's name for those who do not see it.
fn label(response: &egui::Response, row: &Row, role: Role, value: Option<&str>) {
    response.widget_info(|| {
        let mut info = WidgetInfo::labeled(role, true, &*row.name);
        info.current_text_value = value.map(str::to_owned);
        info
    });
}

fn choice_ui(
    ui: &mut Ui,
    row: &Row,
    options: &[(Arc<str>, Arc<str>)],
    now: &str,
) -> Option<Arc<str>> {
    let shown = options.iter().find(|(word, _)| **word == *now);
    let shown = shown.map_or(now, |(_, words)| words);
    let mut chosen = None;
    let combo = ComboBox::from_id_salt("choice").selected_text(shown).width(CONTROL_WIDTH);
    let combo = combo.truncate().show_ui(ui, |ui| {
        for (word, words) in options {
            if ui.selectable_label(**word == *now, &**words).clicked() && **word != *now {
                chosen = Some(Arc::clone(word));
            }
        }
    });
    label(&combo.response, row, Role::ComboBox, Some(shown));
    chosen
}

/// A switch that slides; true when it was pressed.
fn switch_ui(ui: &mut Ui, row: &Row, on: bool, palette: &Palette) -> bool {
    let (rect, response) = ui.allocate_exact_size(vec2(38.0, 22.0), Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::CheckBox, true, on, &*row.name));
    let how_on = ui.animate_bool_responsive(response.id, on);
    let radius = rect.height() / 2.0;
    let track = palette.line.lerp_to_gamma(palette.accent, how_on);
    ui.painter().rect_filled(rect, radius, track);
    if response.has_focus() || response.hovered() {
        let stroke = egui::Stroke::new(1.0, palette.accent);
        ui.painter().rect_stroke(rect, radius, stroke, egui::StrokeKind::Outside);
    }
    let x = egui::lerp((rect.left() + radius)..=(rect.right() - radius), how_on);
    let knob = if palette.dark { palette.text } else { palette.bg };
    ui.painter().circle_filled(egui::pos2(x, rect.center().y), radius - 3.0, knob);
    response.clicked()
}

/// How a number is shown and stepped.
#[derive(Clone, Copy)]
struct Shape {
    range: [f64; 2],
    step: f64,
    percent: bool,
}

/// What a drag passes by is a draft, and not chosen.
fn number_ui(
    ui: &mut Ui,
    row: &Row,
    now: f64,
    draft: &mut Option<f64>,
    Shape { range: [from, to], step, percent }: Shape,
) -> Option<f64> {
    let mut number = draft.unwrap_or(now);
    let mut drag = DragValue::new(&mut number).range(from..=to).speed(step);
    if percent {
        drag = drag.custom_formatter(|factor, _| format!("{:.0} %", factor * 100.0)).custom_parser(
            |text| text.trim().trim_end_matches('%').trim().parse().map(|it: f64| it / 100.0).ok(),
        );
    } else {
        drag = drag.fixed_decimals(0);
    }
    let shown = from_right(ui, |ui| {
        let more = step_button(ui, row, "more", "+").then_some(step);
        let less = step_button(ui, row, "less", "−").then_some(-step);
        let response = ui.add_sized(vec2(84.0, 28.0), drag);
        response.widget_info(|| {
            let mut info = WidgetInfo::labeled(Role::SpinButton, true, &*row.name);
            info.value = Some(now);
            info
        });
        (more.or(less), response)
    });
    let (stepped, response) = shown;
    let stepped = stepped.map(|by| (((now + by) / step).round() * step).clamp(from, to));
    if response.dragged() {
        *draft = Some(number);
        return None;
    }
    *draft = None;
    let chosen = stepped.unwrap_or(number);
    ((chosen - now).abs() > f64::EPSILON).then_some(chosen)
}

fn step_button(ui: &mut Ui, row: &Row, words: &str, sign: &str) -> bool {
    let button = ui.add(Button::new(sign).min_size(vec2(28.0, 28.0)));
    button
        .widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("{}: {words}", row.name)));
    button.clicked()
}

fn list_ui(ui: &mut Ui, entries: &[Arc<str>], palette: &Palette) -> Option<Arc<str>> {
    let mut gone = None;
    if entries.is_empty() {
        ui.label(caption("None yet.", palette.faint));
    }
    for entry in entries {
        ui.horizontal(|ui| {
            if icon_button(ui, icon::X, &format!("Take out {entry}"), palette) {
                gone = Some(Arc::clone(entry));
            }
            let words = RichText::new(&**entry).color(palette.text);
            ui.add(Label::new(words).truncate());
        });
    }
    gone
}

/// A line that begins at the right edge, as high as a button.
pub(super) fn from_right<T>(ui: &mut Ui, add: impl FnOnce(&mut Ui) -> T) -> T {
    let size = vec2(ui.available_width(), 28.0);
    let layout = egui::Layout::right_to_left(egui::Align::Center);
    ui.allocate_ui_with_layout(size, layout, add).inner
}

fn fact_ui(ui: &mut Ui, row: &Row, words: &str, copies: bool, palette: &Palette) {
    let text = Label::new(caption(words, palette.dim)).selectable(true);
    if !copies {
        ui.add(text.wrap().halign(egui::Align::Max));
        return;
    }
    ui.horizontal(|ui| {
        if icon_button(ui, icon::COPY, &format!("Copy {}", row.name), palette) {
            ui.copy_text(words.to_owned());
        }
        ui.add(text.truncate()).on_hover_text(words);
    });
}
