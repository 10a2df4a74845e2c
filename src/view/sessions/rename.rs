//! Giving a session another title, where it stands in the list.

use egui::{FontId, Frame, Id, Key, Rect, TextEdit, Ui, UiBuilder, vec2};

use super::SessionId;
use crate::layout::{Palette, face};

/// Bytes that a title may have.
const TITLE_MAX: usize = 400;

/// A title that is being written.
#[derive(Clone, Debug)]
pub(super) struct Renaming {
    pub(super) id: SessionId,
    before: String,
    words: String,
    has_begun: bool,
}

/// How it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    /// With another title.
    Renamed(String),
    /// As it was.
    Left,
}

impl Renaming {
    pub(super) fn new(id: SessionId, title: &str) -> Self {
        Self { id, before: title.to_owned(), words: title.to_owned(), has_begun: false }
    }

    /// Shows the field over a row; says how it ended, once it has.
    pub(super) fn show(
        &mut self,
        ui: &mut Ui,
        rect: Rect,
        field: Id,
        palette: &Palette,
    ) -> Option<Ended> {
        ui.painter().rect(
            rect,
            egui::CornerRadius::same(8),
            palette.bg,
            egui::Stroke::new(1.0, palette.accent),
            egui::StrokeKind::Inside,
        );
        let edit = TextEdit::singleline(&mut self.words)
            .id(field)
            .frame(Frame::NONE)
            .font(FontId::new(face::INTERFACE_SIZE, face::TEXT))
            .char_limit(TITLE_MAX)
            .align(egui::Align2::LEFT_CENTER)
            .event_filter(egui::EventFilter {
                escape: true,
                horizontal_arrows: true,
                vertical_arrows: true,
                ..egui::EventFilter::default()
            })
            .desired_width(f32::INFINITY);
        let inner = UiBuilder::new().max_rect(rect.shrink2(vec2(10.0, 0.0)));
        let mut row = ui.new_child(inner);
        let output = edit.show(&mut row);
        let response = &output.response;
        crate::view::sessions::row::name(&row, response.id, "New title");
        if !std::mem::replace(&mut self.has_begun, true) {
            select_all(&row, &output, self.words.chars().count());
            response.request_focus();
            return None;
        }
        if row.input(|input| input.key_pressed(Key::Escape)) {
            return Some(Ended::Left);
        }
        // Enter makes the field lose the keyboard, and so does a click elsewhere.
        response.lost_focus().then(|| self.end())
    }

    fn end(&self) -> Ended {
        let words = self.words.trim();
        if words.is_empty() || words == self.before {
            Ended::Left
        } else {
            Ended::Renamed(words.to_owned())
        }
    }
}

fn select_all(ui: &Ui, output: &egui::text_edit::TextEditOutput, characters: usize) {
    let mut state = output.state.clone();
    let range = egui::text::CCursorRange::two(
        egui::text::CCursor::new(0),
        egui::text::CCursor::new(characters),
    );
    state.cursor.set_char_range(Some(range));
    state.store(ui.ctx(), output.response.id);
}
