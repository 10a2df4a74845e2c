//! The bar: what is looked for, how, and how much of it there is.

use egui::{
    Align, Area, Button, Color32, FontFamily, FontId, Frame, Layout, Margin, Order, RichText, Role,
    Stroke, TextEdit, Ui, WidgetInfo,
    containers::menu::MenuButton,
    pos2,
    text::{CCursor, CCursorRange},
    text_edit::TextEditState,
    vec2,
};

use super::{CHOICES, Find, stepping::Way};
use crate::{
    engine::find::NEEDLE_BYTES_MAX,
    layout::{Palette, face, icon},
    model::Source,
    perf::Reason,
    view::{
        governor,
        transcript::{Geometry, TranscriptView, part_id},
    },
};

/// Width of the field, in points, where there is room.
const FIELD_WIDTH: f32 = 196.0;
/// Width of everything beside the field.
const BESIDE_FIELD: f32 = 310.0;
/// Room for the count.
const COUNT_WIDTH: f32 = 96.0;

/// Shows the bar over the upper right corner of the column.
pub(crate) fn bar_ui(view: &mut TranscriptView, ui: &Ui, geometry: Geometry, source: &dyn Source) {
    if !view.find.is_open() {
        return;
    }
    let palette = view.palette();
    let mut find = std::mem::take(&mut view.find);
    let room = geometry.rect.width() - 24.0;
    let corner = pos2(
        (geometry.left + geometry.width + 16.0).min(geometry.rect.right() - 20.0),
        geometry.rect.top() + 8.0,
    );
    let state = State { count: find.count_words(source), is_none: find.is_none(source) };
    let before = (find.needle.clone(), find.strands);
    Area::new(part_id(ui, "find"))
        .order(Order::Middle)
        .pivot(egui::Align2::RIGHT_TOP)
        .fixed_pos(corner)
        .constrain_to(geometry.rect)
        .fade_in(false)
        .show(ui.ctx(), |ui| find.frame_ui(ui, &palette, room, &state));
    let is_other = (&before.0, before.1) != (&find.needle, find.strands);
    if is_other || find.has_wish() {
        governor::wake(ui, Reason::Find);
    }
    // A click on a button leaves the keyboard to the field.
    let is_typed = before.0.text != find.needle.text;
    if let Some(field) = find.focus.field
        && (find.wishes.step.is_some() || before.1 == find.strands && is_other && !is_typed)
    {
        ui.ctx().memory_mut(|memory| memory.request_focus(field));
    }
    view.find = find;
}

/// What the bar says about the search.
struct State {
    count: String,
    /// Nothing was found, which is a finding too.
    is_none: bool,
}

impl Find {
    fn frame_ui(&mut self, ui: &mut Ui, palette: &Palette, room: f32, state: &State) {
        let frame = Frame::new()
            .fill(palette.raised)
            .stroke(Stroke::new(1.0, palette.line))
            .corner_radius(10)
            .inner_margin(Margin::symmetric(8, 5))
            .shadow(egui::Shadow {
                offset: [0, 2],
                blur: 12,
                spread: 0,
                color: Color32::BLACK.gamma_multiply(0.25),
            });
        frame.show(ui, |ui| {
            ui.spacing_mut().item_spacing = vec2(2.0, 4.0);
            ui.horizontal(|ui| self.row_ui(ui, palette, room, state));
            if let Some(error) = &self.error {
                let words = RichText::new(error).color(palette.err).size(face::CAPTION_SIZE);
                ui.add(egui::Label::new(words).truncate());
            }
        });
    }

    fn row_ui(&mut self, ui: &mut Ui, palette: &Palette, room: f32, state: &State) {
        let sign = icon_text(icon::MAGNIFYING_GLASS).color(palette.faint);
        ui.add(egui::Label::new(sign).selectable(false));
        self.field_ui(ui, palette, (room - BESIDE_FIELD).clamp(80.0, FIELD_WIDTH));
        count_ui(ui, palette, state);
        ui.add_space(6.0);
        if icon_button(ui, icon::CARET_UP, "Previous match (Shift Enter)") {
            self.wishes.step = Some(Way::Backward);
        }
        if icon_button(ui, icon::CARET_DOWN, "Next match (Enter)") {
            self.wishes.step = Some(Way::Forward);
        }
        ui.add_space(4.0);
        let needle = &mut self.needle;
        toggle(ui, palette, &mut needle.match_case, "Aa", "Match case (Alt C)");
        toggle(ui, palette, &mut needle.whole_word, "W", "Whole words (Alt W)");
        toggle(ui, palette, &mut needle.regex, ".*", "Regular expression (Alt R)");
        self.strands_ui(ui, palette);
        if icon_button(ui, icon::X, "Close (Esc)") {
            self.wishes.close = true;
        }
    }

    fn field_ui(&mut self, ui: &mut Ui, palette: &Palette, width: f32) {
        let id = ui.scope_id().with("field");
        self.focus.field = Some(id);
        let edge = if self.error.is_some() { palette.err } else { palette.text };
        let output = TextEdit::singleline(&mut self.needle.text)
            .id(id)
            .frame(Frame::NONE)
            .margin(Margin::symmetric(6, 4))
            .align(egui::Align2::LEFT_CENTER)
            .desired_width(width)
            .clip_text(true)
            .char_limit(NEEDLE_BYTES_MAX)
            .text_color(edge)
            .hint_text("Find in conversation")
            .event_filter(egui::EventFilter {
                horizontal_arrows: true,
                escape: true,
                ..egui::EventFilter::default()
            })
            .show(ui);
        let value = self.needle.text.clone();
        output.response.widget_info(|| {
            let mut info = WidgetInfo::text_edit(true, &value, &value, "Find in conversation");
            info.label = Some("Find in conversation".to_owned());
            info
        });
        if std::mem::take(&mut self.focus.wanted) {
            ui.memory_mut(|memory| memory.request_focus(id));
            select_all(ui, id, self.needle.text.chars().count());
        }
    }

    /// Which words are searched.
    fn strands_ui(&mut self, ui: &mut Ui, palette: &Palette) {
        let is_usual = self.strands == super::Strands::default();
        let color = if is_usual { palette.dim } else { palette.accent };
        let sign = icon_text(icon::LIST_CHECKS).color(color);
        let button = MenuButton::from_button(Button::new(sign).frame(false));
        let menu = button.ui(ui, |ui| {
            for (strand, words) in CHOICES {
                let mut on = self.strands.has(strand);
                if ui.checkbox(&mut on, words).changed() {
                    self.strands.set(strand, on);
                }
            }
        });
        let name = "What is searched";
        let (response, _) = menu;
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, name));
        response.on_hover_text(name);
    }

    fn has_wish(&self) -> bool {
        let super::Wishes { open, close, step } = &self.wishes;
        *open || *close || step.is_some()
    }

    fn is_none(&self, source: &dyn Source) -> bool {
        let asks = !self.needle.text.is_empty() && self.error.is_none();
        asks && self.results.total() == 0 && !self.is_searching(source)
    }

    /// `3 of 1,204`, with a plus while it may become more.
    fn count_words(&self, source: &dyn Source) -> String {
        let total = self.results.total();
        let is_searching = self.is_searching(source);
        if self.needle.text.is_empty() || self.error.is_some() {
            return String::new();
        }
        let more = if is_searching { "+" } else { "" };
        match (total, self.current) {
            (0, _) if is_searching => "Searching…".to_owned(),
            (0, _) => "No results".to_owned(),
            (total, Some(current)) => {
                let turn = if self.has_wrapped { " ↻" } else { "" };
                let number = self.ordinal(current).min(total);
                format!("{} of {}{more}{turn}", grouped(number), grouped(total))
            }
            (total, None) => format!("{}{more} found", grouped(total)),
        }
    }
}

fn count_ui(ui: &mut Ui, palette: &Palette, state: &State) {
    let color = if state.is_none { palette.warn } else { palette.dim };
    let font = FontId::new(face::CAPTION_SIZE, FontFamily::Name(face::FIGURES_NAME.into()));
    let words = RichText::new(&state.count).font(font).color(color);
    // Of one width, so that the buttons beside it stay under the pointer.
    let size = vec2(COUNT_WIDTH, ui.spacing().interact_size.y);
    ui.allocate_ui_with_layout(size, Layout::right_to_left(Align::Center), |ui| {
        ui.set_min_width(COUNT_WIDTH);
        ui.add(egui::Label::new(words).truncate().selectable(false));
    });
}

fn icon_text(icon: char) -> RichText {
    RichText::new(icon.to_string())
        .font(FontId::new(15.0, FontFamily::Name(face::ICON_NAME.into())))
}

fn icon_button(ui: &mut Ui, icon: char, words: &str) -> bool {
    let response = ui.add(Button::new(icon_text(icon)).frame(false)).on_hover_text(words);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, words));
    response.clicked()
}

fn toggle(ui: &mut Ui, palette: &Palette, on: &mut bool, sign: &str, words: &str) {
    let color = if *on { palette.accent } else { palette.dim };
    let text = RichText::new(sign).color(color).size(face::CAPTION_SIZE);
    let edge = if *on { Stroke::new(1.0, palette.accent) } else { Stroke::NONE };
    let fill = if *on { palette.selection } else { Color32::TRANSPARENT };
    let button = Button::new(text).fill(fill).stroke(edge).min_size(vec2(24.0, 22.0));
    let response = ui.add(button.frame_when_inactive(*on)).on_hover_text(words);
    response.widget_info(|| WidgetInfo::selected(Role::CheckBox, true, *on, words));
    if response.clicked() {
        *on = !*on;
    }
}

/// Typing replaces what stands there.
fn select_all(ui: &Ui, id: egui::Id, characters: usize) {
    let mut state = TextEditState::load(ui.ctx(), id).unwrap_or_default();
    let all = CCursorRange::two(CCursor::new(0), CCursor::new(characters));
    state.cursor.set_char_range(Some(all));
    state.store(ui.ctx(), id);
}

/// 155000 as "155,000".
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut words = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            words.push(',');
        }
        words.push(digit);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::grouped;

    #[test]
    fn thousands_are_set_apart() {
        let words: Vec<String> = [0, 999, 1_204, 1_000_000].map(grouped).into();
        assert_eq!(words, ["0", "999", "1,204", "1,000,000"]);
    }
}
