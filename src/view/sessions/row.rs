//! A row of the list: a session, a file, or a conversation that is only here.

use egui::{
    Align2, CornerRadius, FontFamily, FontId, Id, Rect, Response, Role, Sense, Stroke, StrokeKind,
    Ui, WidgetInfo, pos2, vec2,
};

use super::{Mark, words};
use crate::layout::{Palette, face, icon};

const RADIUS: CornerRadius = CornerRadius::same(8);
const BUTTON: f32 = 24.0;

/// What a row shows.
pub(super) struct Row<'a> {
    pub(super) title: &'a str,
    /// How it stands, if it is open.
    pub(super) mark: Option<Mark>,
    /// Something was written in it and not sent.
    pub(super) has_draft: bool,
    /// The keyboard is at it.
    pub(super) is_at: bool,
    /// Icons of what can be done, from the right, and their words; seen under the pointer.
    pub(super) actions: &'a [(char, &'a str)],
    /// They are seen in any case.
    pub(super) shows_actions: bool,
}

/// A row that was shown.
pub(super) struct Done {
    pub(super) row: Response,
    /// What could be done, in the order that was given; empty while it cannot be seen.
    pub(super) actions: Vec<Response>,
}

impl Row<'_> {
    pub(super) fn show(&self, ui: &Ui, rect: Rect, id: Id, palette: &Palette) -> Done {
        // The list has the keyboard for all its rows.
        let row = ui.interact(rect, id, Sense::CLICK);
        let mark = self.mark.unwrap_or_default();
        let title = words::title(self.title);
        row.widget_info(|| WidgetInfo::selected(Role::Button, true, mark.is_active, &title));
        describe(ui, id, self);
        let is_over = row.contains_pointer() || self.shows_actions;
        self.ground(ui, rect, is_over, palette);
        let mut left = rect.left() + 10.0;
        if mark.is_busy || mark.asks {
            let color = if mark.asks { palette.warn } else { palette.accent };
            ui.painter().circle_filled(pos2(left + 3.5, rect.center().y), 3.5, color);
            left += 15.0;
        }
        let actions = if is_over { self.actions_ui(ui, rect, id, palette) } else { Vec::new() };
        let right = self.right_edge(ui, rect, actions.len(), palette);
        let is_bright = self.mark.is_some() || is_over;
        let color = if is_bright { palette.text } else { palette.dim };
        elided(
            ui,
            &title,
            Rect::from_min_max(pos2(left, rect.top()), pos2(right, rect.bottom())),
            color,
        );
        Done { row, actions }
    }

    fn ground(&self, ui: &Ui, rect: Rect, is_over: bool, palette: &Palette) {
        if self.mark.is_some_and(|mark| mark.is_active) {
            ui.painter().rect_filled(rect, RADIUS, raised(palette));
        } else if is_over {
            ui.painter().rect_filled(rect, RADIUS, raised(palette).gamma_multiply(0.6));
        }
        if self.is_at {
            let stroke = Stroke::new(1.0, palette.accent);
            ui.painter().rect_stroke(rect, RADIUS, stroke, StrokeKind::Inside);
        }
    }

    /// Where the title has to end; what stands there.
    fn right_edge(&self, ui: &Ui, rect: Rect, actions: usize, palette: &Palette) -> f32 {
        if actions > 0 {
            return rect.right() - 6.0 - BUTTON * actions as f32;
        }
        if !self.has_draft {
            return rect.right() - 8.0;
        }
        let at = pos2(rect.right() - 10.0, rect.center().y);
        let pencil = icon::PENCIL_SIMPLE;
        ui.painter().text(at, Align2::RIGHT_CENTER, pencil, icon_font(13.0), palette.faint);
        rect.right() - 30.0
    }

    fn actions_ui(&self, ui: &Ui, rect: Rect, id: Id, palette: &Palette) -> Vec<Response> {
        let mut right = rect.right() - 4.0;
        let mut responses = Vec::with_capacity(self.actions.len());
        for (sign, hint) in self.actions {
            let place = Rect::from_min_max(
                pos2(right - BUTTON, rect.center().y - BUTTON / 2.0),
                pos2(right, rect.center().y + BUTTON / 2.0),
            );
            right -= BUTTON;
            responses.push(icon_button(ui, place, id.with(hint), (*sign, hint), palette));
        }
        responses
    }
}

/// A small icon that reacts to a click.
pub(super) fn icon_button(
    ui: &Ui,
    rect: Rect,
    id: Id,
    (sign, hint): (char, &str),
    palette: &Palette,
) -> Response {
    let response = ui.interact(rect, id, Sense::CLICK);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, hint));
    let color = if response.hovered() { palette.text } else { palette.faint };
    ui.painter().text(rect.center(), Align2::CENTER_CENTER, sign, icon_font(14.0), color);
    response.on_hover_text(hint)
}

/// The fill of what is chosen, on the ground of the panel.
pub(super) fn raised(palette: &Palette) -> egui::Color32 {
    if palette.dark { palette.raised } else { palette.bg }
}

pub(super) fn icon_font(size: f32) -> FontId {
    FontId::new(size, FontFamily::Name(face::ICON_NAME.into()))
}

/// Words in the middle of a rectangle's height, cut off where it ends.
pub(super) fn elided(ui: &Ui, words: &str, rect: Rect, color: egui::Color32) {
    let font = FontId::new(face::INTERFACE_SIZE, face::TEXT);
    let mut job = egui::text::LayoutJob::simple_singleline(words.to_owned(), font, color);
    job.wrap = egui::text::TextWrapping::truncate_at_width(rect.width().max(8.0));
    let galley = ui.ctx().fonts_mut(|fonts| fonts.layout_job(job));
    let y = rect.center().y - galley.rect.height() / 2.0;
    ui.painter().galley(pos2(rect.left(), y), galley, color);
}

/// The name of something for those who do not see it.
pub(super) fn name(ui: &Ui, id: Id, words: &str) {
    ui.ctx().accesskit_node_builder(id, |node| node.set_label(words));
}

fn describe(ui: &Ui, id: Id, row: &Row<'_>) {
    let mut words: Vec<&str> = row.mark.iter().map(|mark| mark.words()).collect();
    if row.has_draft {
        words.push("holds a draft");
    }
    if !words.is_empty() {
        let words = words.join(", ");
        ui.ctx().accesskit_node_builder(id, |node| node.set_description(words));
    }
}

/// A caption over rows.
pub(super) fn caption(ui: &Ui, rect: Rect, words: &str, palette: &Palette) {
    let response = ui.interact(rect, ui.scope_id().with(("caption", words)), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Heading, true, words));
    let font = FontId::new(11.0, face::TEXT);
    let format = egui::TextFormat { color: palette.faint, font_id: font, ..Default::default() };
    let mut job = egui::text::LayoutJob::default();
    job.append(words, 0.0, egui::TextFormat { extra_letter_spacing: 0.4, ..format });
    let galley = ui.ctx().fonts_mut(|fonts| fonts.layout_job(job));
    let at = pos2(rect.left() + 8.0, rect.bottom() - galley.rect.height() - 7.0);
    ui.painter().galley(at, galley, palette.faint);
}

/// The room of a row, taken from the top of what is left.
pub(super) fn take(ui: &mut Ui, height: f32) -> Rect {
    let size = vec2(ui.available_width(), height);
    ui.allocate_exact_size(size, Sense::hover()).0
}
