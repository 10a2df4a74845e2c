//! The open tabs, in the bar, once there are several.

use egui::{
    Align2, CornerRadius, FontId, Rect, Response, Role, ScrollArea, Sense, Ui, WidgetInfo, pos2,
    vec2,
};

use super::{Window, chat::Chat, tab::Tab};
use crate::layout::{Palette, face, icon};

const HEIGHT: f32 = 30.0;
const WIDTH_MAX: f32 = 200.0;
const WIDTH_MIN: f32 = 92.0;
const GAP: f32 = 2.0;

/// What was done with the tabs.
enum Click {
    Choose(usize),
    Close(usize),
}

impl Window {
    /// Shows the tabs in the room that is left.
    pub(super) fn strip_ui(&mut self, ui: &mut Ui, palette: &Palette) {
        let count = self.tabs.len().max(1) as f32;
        let width = (ui.available_width() / count - GAP).clamp(WIDTH_MIN, WIDTH_MAX);
        let shown = self.tabs.get(self.active).map(Tab::id);
        let is_new = std::mem::replace(&mut self.strip_tab, shown) != shown;
        let mut click = None;
        let scroll = ScrollArea::horizontal()
            .id_salt("tabs")
            .auto_shrink([false, true])
            .scroll_bar_visibility(egui::scroll_area::ScrollBarVisibility::AlwaysHidden);
        // In the middle of the bar's height.
        let room = ui.available_rect_before_wrap();
        let middle = Rect::from_center_size(room.center(), vec2(room.width(), HEIGHT));
        let mut strip = ui.new_child(
            egui::UiBuilder::new()
                .max_rect(middle)
                .layout(egui::Layout::left_to_right(egui::Align::Min)),
        );
        scroll.show(&mut strip, |ui| {
            ui.spacing_mut().item_spacing.x = GAP;
            for (index, tab) in self.tabs.iter().enumerate() {
                let is_active = index == self.active;
                let look = (is_active, is_new);
                match tab_ui(ui, tab, look, width, palette) {
                    Some(true) => click = Some(Click::Close(index)),
                    Some(false) => click = Some(Click::Choose(index)),
                    None => {}
                }
            }
        });
        match click {
            Some(Click::Choose(index)) => self.activate(index),
            Some(Click::Close(index)) => self.close(index),
            None => {}
        }
    }
}

/// A tab; true when it is to be closed, false when it is to be shown.
fn tab_ui(
    ui: &mut Ui,
    tab: &Tab,
    (is_active, is_new): (bool, bool),
    width: f32,
    palette: &Palette,
) -> Option<bool> {
    let (rect, response) = ui.allocate_exact_size(vec2(width, HEIGHT), Sense::click());
    let title = tab.title();
    let asks = tab.talk().is_some_and(Chat::asks);
    response.widget_info(|| {
        let waits = if asks { ", waits for your word" } else { "" };
        WidgetInfo::selected(Role::Tab, true, is_active, format!("{title}{waits}"))
    });
    if is_active && is_new {
        ui.scroll_to_rect_animation(rect, None, egui::style::ScrollAnimation::none());
    }
    let is_over = response.contains_pointer();
    let radius = CornerRadius::same(8);
    if is_active {
        ui.painter().rect_filled(rect, radius, palette.raised);
    } else if is_over {
        ui.painter().rect_filled(rect, radius, palette.raised.gamma_multiply(0.5));
    }
    let left = dot_ui(ui, tab, rect, asks, palette);
    let shows_close = is_active || is_over;
    let right = if shows_close { rect.right() - 26.0 } else { rect.right() - 8.0 };
    words_ui(ui, &title, pos2(left, rect.center().y), right - left, (is_active, palette));
    let closed = shows_close && close_ui(ui, rect, &response, &title, palette).clicked();
    if closed || response.middle_clicked() {
        return Some(true);
    }
    response.on_hover_text(title).clicked().then_some(false)
}

/// How it stands; gives where the words begin.
fn dot_ui(ui: &Ui, tab: &Tab, rect: Rect, asks: bool, palette: &Palette) -> f32 {
    let left = rect.left() + 10.0;
    let is_busy = tab.talk().is_some_and(Chat::is_busy);
    if !(asks || is_busy) {
        return left;
    }
    let color = if asks { palette.warn } else { palette.accent };
    ui.painter().circle_filled(pos2(left + 3.0, rect.center().y), 3.0, color);
    left + 13.0
}

fn words_ui(ui: &Ui, words: &str, at: egui::Pos2, width: f32, look: (bool, &Palette)) {
    let (is_active, palette) = look;
    let color = if is_active { palette.text } else { palette.dim };
    let font = FontId::new(face::INTERFACE_SIZE, face::TEXT);
    let mut job = egui::text::LayoutJob::simple_singleline(words.to_owned(), font, color);
    job.wrap = egui::text::TextWrapping::truncate_at_width(width.max(16.0));
    let galley = ui.ctx().fonts_mut(|fonts| fonts.layout_job(job));
    ui.painter().galley(at - vec2(0.0, galley.rect.height() / 2.0), galley, color);
}

fn close_ui(ui: &Ui, rect: Rect, tab: &Response, title: &str, palette: &Palette) -> Response {
    let place =
        Rect::from_center_size(pos2(rect.right() - 14.0, rect.center().y), vec2(20.0, 20.0));
    let response = ui.interact(place, tab.id.with("close"), Sense::CLICK);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("Close tab {title}")));
    let color = if response.hovered() { palette.text } else { palette.faint };
    let font = super::chrome::icon_font(12.0);
    ui.painter().text(place.center(), Align2::CENTER_CENTER, icon::X, font, color);
    response.on_hover_text("Close (Ctrl W)")
}
