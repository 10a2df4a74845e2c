//! The settings: sections of rows, each with what it does, where its value comes from, and
//! the way back to how it was.
//!
//! Data in, wishes out: nothing here knows which settings there are, and nothing is changed
//! before the wishes are carried out.

mod control;
mod key;

use std::{collections::BTreeMap, sync::Arc};

use egui::{
    Align, FontFamily, FontId, Id, Key, Label, Layout, Margin, Modifiers, RichText, Role,
    ScrollArea, Stroke, TextEdit, Ui, UiBuilder, WidgetInfo, vec2,
};

use crate::layout::{Palette, face, icon};

/// Width of the list of sections, in points.
const SECTIONS_WIDTH: f32 = 152.0;
/// Width of what is set, in points.
const CONTROL_WIDTH: f32 = 250.0;
/// Narrower, the list of sections has no room.
const WIDE: f32 = 620.0;

/// A group of rows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// For people.
    pub name: Arc<str>,
    /// What holds for all of its rows; may be empty.
    pub about: Arc<str>,
    /// Its rows.
    pub rows: Vec<Row>,
}

/// One setting, or one fact.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// What wishes name it by.
    pub id: Arc<str>,
    /// For people.
    pub name: Arc<str>,
    /// What it does, in a sentence; may be empty.
    pub about: Arc<str>,
    /// Where its value comes from; may be empty.
    pub origin: Arc<str>,
    /// It can be put back to how it was before anybody chose.
    pub can_reset: bool,
    /// How it is set.
    pub control: Control,
}

/// How a setting is set.
#[derive(Clone, Debug, PartialEq)]
pub enum Control {
    /// By choosing one of a few words, each with what it means.
    Choice {
        /// What can be chosen.
        options: Vec<(Arc<str>, Arc<str>)>,
        /// What is chosen.
        now: Arc<str>,
    },
    /// On or off.
    Switch(bool),
    /// By dragging or typing a number.
    Number {
        /// What it is.
        now: f64,
        /// The smallest and the largest.
        range: [f64; 2],
        /// What a step changes.
        step: f64,
        /// It is shown as a percentage.
        percent: bool,
    },
    /// By writing.
    Text {
        /// What it is.
        now: Arc<str>,
        /// Shown while there is nothing.
        hint: Arc<str>,
        /// It may have more than one line.
        is_long: bool,
    },
    /// By taking some out.
    List(Vec<Arc<str>>),
    /// Not at all.
    Fact {
        /// What it is.
        words: Arc<str>,
        /// Worth copying.
        copies: bool,
    },
    /// By a field that shows nothing of what is typed.
    Secret {
        /// How it is now.
        state: SecretState,
        /// What became of the last try, and whether that was good; may be empty.
        news: (Arc<str>, bool),
    },
}

/// How a secret is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecretState {
    /// There is none.
    Missing,
    /// The environment has it; this program never writes there.
    Environment,
    /// This program keeps it.
    Kept,
    /// It is being kept or taken out.
    Busy,
}

/// Where a secret is to be kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Keep {
    /// In the system's keyring.
    Keyring,
    /// In a file, unencrypted.
    File,
}

/// A secret that was typed. Its `Debug` does not show it.
#[derive(Clone, PartialEq, Eq)]
pub struct Typed(pub String);

impl std::fmt::Debug for Typed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Typed(…)")
    }
}

/// What was chosen.
#[derive(Clone, Debug, PartialEq)]
pub enum Chosen {
    /// One of the words.
    Word(Arc<str>),
    /// On or off.
    Switch(bool),
    /// A number.
    Number(f64),
    /// A text.
    Text(Arc<str>),
    /// A list without one of its entries.
    Without(Arc<str>),
}

/// What is to be done about a row, by its id.
#[derive(Clone, Debug, PartialEq)]
pub enum SettingsWish {
    /// It is this from now on.
    Set(Arc<str>, Chosen),
    /// As it was before anybody chose.
    Reset(Arc<str>),
    /// Keep this secret.
    Keep(Arc<str>, Typed, Keep),
    /// Take the secret out of where it is kept.
    Forget(Arc<str>),
}

/// The settings, over everything else.
#[derive(Debug, Default)]
pub struct SettingsView {
    is_open: bool,
    query: String,
    section: usize,
    /// What is being written, by the row's id.
    drafts: BTreeMap<Arc<str>, String>,
    /// What is being dragged, by the row's id.
    numbers: BTreeMap<Arc<str>, f64>,
    secret: Option<key::Typing>,
    asks_for_focus: bool,
}

impl SettingsView {
    /// Opens the settings, or closes them.
    pub fn toggle(&mut self) {
        *self = Self { is_open: !self.is_open, asks_for_focus: true, ..Self::default() };
    }

    /// True while they are shown.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// Shows the settings, if they are open. `trouble` is why they may not be kept.
    pub fn show(
        &mut self,
        ui: &Ui,
        sections: &[Section],
        trouble: Option<&str>,
        palette: &Palette,
    ) -> Vec<SettingsWish> {
        if !self.is_open {
            return Vec::new();
        }
        let mut wishes = Vec::new();
        let room = ui.ctx().content_rect().size();
        let size = vec2((room.x - 64.0).clamp(280.0, 860.0), (room.y - 96.0).clamp(200.0, 640.0));
        let frame = egui::Frame::popup(ui.style()).inner_margin(Margin::same(18));
        let modal = egui::Modal::new(Id::unique("settings")).frame(frame).show(ui.ctx(), |ui| {
            ui.set_width(size.x);
            ui.set_height(size.y);
            let is_done = self.head_ui(ui, palette);
            if let Some(trouble) = trouble {
                let words = RichText::new(trouble).size(face::CAPTION_SIZE).color(palette.warn);
                ui.add(Label::new(words).wrap());
            }
            ui.add_space(8.0);
            self.body_ui(ui, sections, palette, &mut wishes);
            is_done
        });
        // Asking takes the key: Escape leaves the field first.
        let leaves = modal.should_close();
        if leaves && self.secret.is_some() {
            self.secret = None;
        } else if leaves || modal.inner {
            self.toggle();
        }
        wishes
    }

    fn head_ui(&mut self, ui: &mut Ui, palette: &Palette) -> bool {
        ui.horizontal(|ui| {
            ui.heading("Settings");
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                let closes = icon_button(ui, icon::X, "Close the settings (Esc)", palette);
                let width = (ui.available_width() - 8.0).min(300.0);
                let search = TextEdit::singleline(&mut self.query)
                    .hint_text("Search settings")
                    .margin(Margin::symmetric(10, 6))
                    .desired_width(width);
                let response = ui.add(search);
                response.widget_info(|| {
                    let mut info = WidgetInfo::labeled(Role::SearchInput, true, "Search settings");
                    info.current_text_value = Some(self.query.clone());
                    info
                });
                if std::mem::take(&mut self.asks_for_focus) {
                    response.request_focus();
                }
                closes
            })
            .inner
        })
        .inner
    }

    fn body_ui(
        &mut self,
        ui: &mut Ui,
        sections: &[Section],
        palette: &Palette,
        wishes: &mut Vec<SettingsWish>,
    ) {
        let rect = ui.available_rect_before_wrap();
        let is_wide = rect.width() >= WIDE;
        let is_searching = !self.query.trim().is_empty();
        self.section = self.section.min(sections.len().saturating_sub(1));
        let mut rows = rect;
        if is_wide {
            let list = rect.with_max_x(rect.left() + SECTIONS_WIDTH);
            rows = rect.with_min_x(rect.left() + SECTIONS_WIDTH + 28.0);
            ui.scope_builder(UiBuilder::new().max_rect(list), |ui| {
                self.sections_ui(ui, sections, is_searching, palette);
            });
            let x = rect.left() + SECTIONS_WIDTH + 13.0;
            ui.painter().vline(x, rect.y_range(), hairline(ui, palette));
        }
        ui.scope_builder(UiBuilder::new().max_rect(rows), |ui| {
            let scroll = ScrollArea::vertical().id_salt(("rows", self.section)).auto_shrink(false);
            scroll.show(ui, |ui| {
                // The bar floats over the rows.
                ui.set_max_width(ui.available_width() - 12.0);
                let mut shown = 0;
                for (index, section) in sections.iter().enumerate() {
                    if is_searching || !is_wide || index == self.section {
                        shown += self.section_ui(ui, section, palette, wishes);
                    }
                }
                if shown == 0 && is_searching {
                    ui.add_space(24.0);
                    let words = format!("Nothing here is called “{}”.", self.query.trim());
                    ui.label(RichText::new(words).color(palette.dim));
                }
            });
        });
    }

    fn sections_ui(
        &mut self,
        ui: &mut Ui,
        sections: &[Section],
        is_searching: bool,
        palette: &Palette,
    ) {
        ui.spacing_mut().item_spacing.y = 2.0;
        for (index, section) in sections.iter().enumerate() {
            let is_shown = !is_searching && index == self.section;
            if section_ui(ui, &section.name, is_shown, palette) {
                self.section = index;
                self.query.clear();
            }
        }
        if is_searching {
            return;
        }
        let step = |key| ui.input_mut(|input| input.consume_key(Modifiers::CTRL, key));
        if step(Key::PageDown) {
            self.section = (self.section + 1).min(sections.len().saturating_sub(1));
        } else if step(Key::PageUp) {
            self.section = self.section.saturating_sub(1);
        }
    }

    /// Shows the rows that are looked for, and says how many those are.
    fn section_ui(
        &mut self,
        ui: &mut Ui,
        section: &Section,
        palette: &Palette,
        wishes: &mut Vec<SettingsWish>,
    ) -> usize {
        let rows: Vec<_> =
            section.rows.iter().filter(|row| is_found(&self.query, section, row)).collect();
        if rows.is_empty() {
            return 0;
        }
        let title = RichText::new(&*section.name).size(face::TEXT_SIZE).color(palette.text);
        ui.label(title.variation("wght", 620.0));
        if !section.about.is_empty() {
            ui.add(Label::new(caption(&section.about, palette.dim)).wrap());
        }
        ui.add_space(2.0);
        for row in &rows {
            ui.push_id(&*row.id, |ui| self.row_ui(ui, row, palette, wishes));
        }
        ui.add_space(14.0);
        rows.len()
    }

    fn row_ui(
        &mut self,
        ui: &mut Ui,
        row: &Row,
        palette: &Palette,
        wishes: &mut Vec<SettingsWish>,
    ) {
        let top = ui.cursor().top();
        ui.painter().hline(ui.max_rect().x_range(), top, hairline(ui, palette));
        ui.add_space(9.0);
        let is_tall = matches!(
            &row.control,
            Control::Text { is_long: true, .. }
                | Control::List(_)
                | Control::Fact { copies: true, .. }
        );
        let is_stacked = is_tall || ui.available_width() < CONTROL_WIDTH + 180.0;
        if is_stacked {
            words_ui(ui, row, palette, wishes);
            ui.add_space(4.0);
            self.control_ui(ui, row, palette, wishes);
        } else {
            let rect = ui.available_rect_before_wrap();
            let left = rect.with_max_x(rect.right() - CONTROL_WIDTH - 18.0);
            let right = rect.with_min_x(rect.right() - CONTROL_WIDTH);
            let words = ui.scope_builder(UiBuilder::new().max_rect(left), |ui| {
                words_ui(ui, row, palette, wishes);
            });
            let layout = Layout::top_down(Align::Max);
            let builder = UiBuilder::new().max_rect(right).layout(layout);
            let control = ui.scope_builder(builder, |ui| self.control_ui(ui, row, palette, wishes));
            let bottom = words.response.rect.bottom().max(control.response.rect.bottom());
            ui.advance_cursor_after_rect(rect.with_max_y(bottom));
        }
    }
}

/// What a row says of itself: its name, what it does, and where its value comes from.
fn words_ui(ui: &mut Ui, row: &Row, palette: &Palette, wishes: &mut Vec<SettingsWish>) {
    ui.spacing_mut().item_spacing.y = 2.0;
    ui.add(Label::new(RichText::new(&*row.name).color(palette.text)).wrap());
    if !row.about.is_empty() {
        ui.add(Label::new(caption(&row.about, palette.dim)).wrap());
    }
    if row.origin.is_empty() {
        return;
    }
    ui.horizontal(|ui| {
        ui.set_max_height(18.0);
        ui.add(Label::new(caption(&row.origin, palette.faint)).truncate());
        if row.can_reset {
            let words = format!("Reset {}", row.name);
            if icon_button(ui, icon::ARROW_COUNTER_CLOCKWISE, &words, palette) {
                wishes.push(SettingsWish::Reset(Arc::clone(&row.id)));
            }
        }
    });
}

/// A row is found by words of its name, its sentence, its value's origin and its section.
fn is_found(query: &str, section: &Section, row: &Row) -> bool {
    let own: String = match &row.control {
        Control::Choice { options, .. } => options.iter().map(|(_, it)| format!("{it} ")).collect(),
        Control::Fact { words, .. } => words.to_string(),
        _ => String::new(),
    };
    let text = [&*section.name, &row.name, &row.about, &row.origin, &row.id, &own].join(" ");
    let text = text.to_lowercase();
    query.to_lowercase().split_whitespace().all(|word| text.contains(word))
}

fn section_ui(ui: &mut Ui, name: &str, is_shown: bool, palette: &Palette) -> bool {
    let size = vec2(ui.available_width(), 30.0);
    let (rect, response) = ui.allocate_exact_size(size, egui::Sense::click());
    response.widget_info(|| WidgetInfo::selected(Role::Tab, true, is_shown, name));
    if is_shown || response.hovered() || response.has_focus() {
        let fill = if is_shown { palette.raised } else { palette.line.gamma_multiply(0.5) };
        ui.painter().rect_filled(rect, 8.0, fill);
    }
    if response.has_focus() {
        let stroke = Stroke::new(1.0, palette.accent);
        ui.painter().rect_stroke(rect, 8.0, stroke, egui::StrokeKind::Inside);
    }
    let color = if is_shown { palette.text } else { palette.dim };
    let font = FontId::new(face::INTERFACE_SIZE, face::TEXT);
    let at = rect.left_center() + vec2(10.0, 0.0);
    ui.painter().text(at, egui::Align2::LEFT_CENTER, name, font, color);
    response.clicked()
}

fn caption(words: &str, color: egui::Color32) -> RichText {
    RichText::new(words).size(face::CAPTION_SIZE).color(color)
}

fn icon_button(ui: &mut Ui, sign: char, words: &str, palette: &Palette) -> bool {
    let font = FontId::new(14.0, FontFamily::Name(face::ICON_NAME.into()));
    let text = RichText::new(sign.to_string()).font(font).color(palette.dim);
    let response = ui.add(egui::Button::new(text).frame(false)).on_hover_text(words);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, words));
    response.clicked()
}

fn hairline(ui: &Ui, palette: &Palette) -> Stroke {
    Stroke::new(1.0 / ui.pixels_per_point(), palette.line)
}
