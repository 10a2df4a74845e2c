//! Small buttons and words of the composer.

use egui::{
    Align2, Button, Color32, CornerRadius, CursorIcon, FontId, Response, RichText, Role, Sense, Ui,
    WidgetInfo, text::LayoutJob, vec2,
};

use crate::layout::{Palette, face};

/// Words of the second voice.
pub(super) fn note(ui: &mut Ui, palette: &Palette, words: &str) {
    ui.label(RichText::new(words).size(face::CAPTION_SIZE).color(palette.faint));
}

/// An icon and words in one colour.
pub(super) fn iconed(icon: char, words: &str, color: Color32) -> LayoutJob {
    let mut job = LayoutJob::default();
    let format = |font_id| egui::TextFormat {
        font_id,
        color,
        valign: egui::Align::Center,
        ..egui::TextFormat::default()
    };
    job.append(&icon.to_string(), 0.0, format(icon_font(14.0)));
    job.append(words, 6.0, format(FontId::new(face::CAPTION_SIZE, face::TEXT)));
    job
}

/// A button of an icon and a word, without a ground.
pub(super) fn quiet_button(
    ui: &mut Ui,
    palette: &Palette,
    icon: char,
    word: &str,
    hint: &str,
) -> bool {
    let job = iconed(icon, word, palette.dim);
    ui.add(Button::new(job).frame(false)).on_hover_text(hint).clicked()
}

/// The button of what is meant to be done.
pub(super) fn primary(ui: &mut Ui, palette: &Palette, words: &str, can: bool) -> Response {
    let text = RichText::new(words).color(palette.bg).variation("wght", 650.0);
    let button = Button::new(text).fill(palette.accent).corner_radius(8);
    ui.add_enabled(can, button.min_size(vec2(52.0, 28.0)))
}

/// The button of what can be done besides.
pub(super) fn secondary(ui: &mut Ui, palette: &Palette, words: &str) -> Response {
    let text = RichText::new(words).color(palette.text);
    let fill = if palette.dark { palette.raised } else { palette.panel };
    ui.add(Button::new(text).fill(fill).corner_radius(8).min_size(vec2(48.0, 28.0)))
}

/// A small square with an icon, which is called `name`.
pub(super) fn sign(
    ui: &mut Ui,
    palette: &Palette,
    icon: char,
    (name, hint): (&str, &str),
    can: bool,
) -> bool {
    let sense = if can { Sense::click() } else { Sense::hover() };
    let (rect, response) = ui.allocate_exact_size(vec2(24.0, 24.0), sense);
    response.widget_info(|| WidgetInfo::labeled(Role::Button, can, name));
    let is_on = can && (response.hovered() || response.has_focus());
    if is_on {
        ui.painter().rect_filled(rect, CornerRadius::same(6), palette.raised);
        ui.ctx().set_cursor_icon(CursorIcon::PointingHand);
    }
    let color = match (can, is_on) {
        (false, _) => palette.line,
        (true, false) => palette.faint,
        (true, true) => palette.text,
    };
    ui.painter().text(rect.center(), Align2::CENTER_CENTER, icon, icon_font(14.0), color);
    response.on_hover_text(hint).clicked()
}

/// The font of icons.
pub(super) fn icon_font(size: f32) -> FontId {
    FontId::new(size, egui::FontFamily::Name(face::ICON_NAME.into()))
}
