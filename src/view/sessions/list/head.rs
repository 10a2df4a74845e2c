//! The top of the list: the filter, and the ways to the archive and the trash.

use egui::{
    CornerRadius, EventFilter, FontId, Frame, Key, Margin, Popup, Rect, RichText, Role, Sense,
    Stroke, TextEdit, Ui, WidgetInfo, pos2, vec2,
};

use super::{ListWish, SessionList, Shown, list_id};
use crate::{
    layout::{Palette, face, icon},
    view::sessions::{ROW_HEIGHT, Shelf, row, words},
};

/// Bytes of a filter.
const FILTER_MAX: usize = 200;

impl SessionList {
    pub(super) fn head_ui(&mut self, ui: &mut Ui, shown: &Shown<'_>, wishes: &mut Vec<ListWish>) {
        if self.shelf != Shelf::Current {
            self.back_ui(ui, shown.palette);
        }
        let rect = row::take(ui, 32.0);
        let menu = Rect::from_min_max(pos2(rect.right() - 28.0, rect.top()), rect.max);
        let field = Rect::from_min_max(rect.min, pos2(menu.left() - 4.0, rect.bottom()));
        self.filter_ui(ui, field, shown, wishes);
        self.more_ui(ui, menu, shown, wishes);
    }

    /// The way back from the archive and from the trash.
    fn back_ui(&mut self, ui: &mut Ui, palette: &Palette) {
        let words = match self.shelf {
            Shelf::Archive => "Archive",
            Shelf::Trash | Shelf::Current => "Trash",
        };
        let rect = row::take(ui, ROW_HEIGHT);
        let response = ui.interact(rect, ui.scope_id().with("back"), Sense::click());
        response.widget_info(|| WidgetInfo::labeled(Role::Button, true, "Back to conversations"));
        let color = if response.hovered() { palette.text } else { palette.dim };
        let at = pos2(rect.left() + 8.0, rect.center().y);
        let left = egui::Align2::LEFT_CENTER;
        ui.painter().text(at, left, icon::CARET_LEFT, row::icon_font(14.0), color);
        let font = FontId::new(face::INTERFACE_SIZE, face::TEXT);
        ui.painter().text(at + vec2(20.0, 0.0), left, words, font, palette.text);
        if response.clicked() {
            self.show_shelf(Shelf::Current);
        }
    }

    fn show_shelf(&mut self, shelf: Shelf) {
        self.shelf = shelf;
        self.filter.clear();
        (self.at, self.renaming) = (None, None);
    }

    fn filter_ui(
        &mut self,
        ui: &mut Ui,
        rect: Rect,
        shown: &Shown<'_>,
        wishes: &mut Vec<ListWish>,
    ) {
        let palette = shown.palette;
        let id = ui.scope_id().with("filter");
        let has_focus = ui.ctx().memory(|memory| memory.has_focus(id));
        let edge = if has_focus { palette.accent } else { palette.line };
        let stroke = Stroke::new(1.0, edge);
        let (radius, kind) = (CornerRadius::same(8), egui::StrokeKind::Inside);
        ui.painter().rect(rect, radius, palette.panel, stroke, kind);
        let sign = pos2(rect.left() + 10.0, rect.center().y);
        let left = egui::Align2::LEFT_CENTER;
        let glass = icon::MAGNIFYING_GLASS;
        ui.painter().text(sign, left, glass, row::icon_font(14.0), palette.faint);
        let inner = Rect::from_min_max(pos2(sign.x + 20.0, rect.top()), rect.max);
        let mut field = ui.new_child(egui::UiBuilder::new().max_rect(inner));
        let response = field.add(
            TextEdit::singleline(&mut self.filter)
                .id(id)
                .frame(Frame::NONE)
                .margin(Margin::symmetric(0, 0))
                .align(egui::Align2::LEFT_CENTER)
                .min_size(vec2(inner.width() - 8.0, rect.height()))
                .desired_width(inner.width() - 8.0)
                .char_limit(FILTER_MAX)
                .event_filter(EventFilter {
                    escape: true,
                    horizontal_arrows: true,
                    vertical_arrows: true,
                    ..EventFilter::default()
                })
                .hint_text(RichText::new("Filter").color(palette.faint)),
        );
        row::name(ui, id, "Filter conversations");
        if self.filter.is_empty() && !has_focus {
            let at = pos2(rect.right() - 10.0, rect.center().y);
            let font = FontId::new(face::CAPTION_SIZE, face::TEXT);
            ui.painter().text(at, egui::Align2::RIGHT_CENTER, "Ctrl K", font, palette.faint);
        }
        self.filter_keys(ui, &response, wishes);
    }

    fn filter_keys(&mut self, ui: &Ui, field: &egui::Response, wishes: &mut Vec<ListWish>) {
        let pressed = |key| ui.input(|input| input.key_pressed(key));
        if field.lost_focus() && pressed(Key::Enter) && !self.filter.trim().is_empty() {
            wishes.push(ListWish::Search(self.filter.trim().to_owned()));
        }
        if !field.has_focus() {
            return;
        }
        if pressed(Key::Escape) {
            if self.filter.is_empty() {
                field.surrender_focus();
            }
            self.filter.clear();
        }
        if pressed(Key::ArrowDown) {
            self.at = None;
            ui.ctx().memory_mut(|memory| memory.request_focus(list_id()));
        }
    }

    /// What there is beside the sessions in use.
    fn more_ui(&mut self, ui: &Ui, rect: Rect, shown: &Shown<'_>, wishes: &mut Vec<ListWish>) {
        let id = ui.scope_id().with("more");
        let hint = (icon::DOTS_THREE, "Archive, trash and files");
        let button = row::icon_button(ui, rect, id, hint, shown.palette);
        let count = |shelf: Shelf| shown.listed.iter().filter(|one| shelf.holds(one)).count();
        Popup::menu(&button).show(|ui| {
            ui.set_min_width(180.0);
            if ui.button("Open a file…   Ctrl P").clicked() {
                wishes.push(ListWish::PickFile);
            }
            ui.separator();
            for (shelf, words) in [
                (Shelf::Current, "Conversations"),
                (Shelf::Archive, "Archive"),
                (Shelf::Trash, "Trash"),
            ] {
                let words = format!("{words}   {}", words::count(count(shelf) as u64));
                if ui.selectable_label(self.shelf == shelf, words).clicked() {
                    self.show_shelf(shelf);
                    ui.close();
                }
            }
        });
    }
}
