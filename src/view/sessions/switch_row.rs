//! Rows of the quick way: titles, and messages with what was found in them.

use egui::{
    Align2, CornerRadius, FontId, Rect, Response, Role, Sense, TextFormat, Ui, WidgetInfo,
    text::{LayoutJob, TextWrapping},
    vec2,
};

use super::{Found, Listed, Meant, SwitchShown, row, words};
use crate::layout::{face, icon};

const TITLE_HEIGHT: f32 = 34.0;
const HIT_HEIGHT: f32 = 62.0;
/// Room at the sides.
const SIDE: f32 = 8.0;

/// What follows is of one kind.
pub(super) fn caption_ui(ui: &mut Ui, words: &str, shown: &SwitchShown<'_>) {
    let rect = row::take(ui, 28.0).shrink2(vec2(SIDE + 4.0, 0.0));
    row::caption(ui, rect, words, shown.palette);
}

/// A session that is meant by its title.
pub(super) fn title_ui(
    ui: &mut Ui,
    listed: &Listed,
    meant: &Meant,
    is_chosen: bool,
    shown: &SwitchShown<'_>,
) -> Response {
    let (rect, response) = row_ui(ui, TITLE_HEIGHT, is_chosen, shown);
    let title = words::title(&listed.title);
    response.widget_info(|| WidgetInfo::selected(Role::ListItem, true, is_chosen, &title));
    if !ui.is_rect_visible(rect) {
        return response;
    }
    let palette = shown.palette;
    let mut left = rect.left() + 12.0;
    if let Some(mark) = shown.marks.of(&listed.id) {
        let color = match (mark.asks, mark.is_busy) {
            (true, _) => palette.warn,
            (_, true) => palette.accent,
            _ => palette.faint,
        };
        ui.painter().circle_filled(egui::pos2(left + 3.0, rect.center().y), 3.0, color);
        left += 14.0;
    }
    let mut about = words::when(listed.updated_ms, shown.now);
    if listed.archived {
        about = format!("archived · {about}");
    }
    let right = about_ui(ui, rect, &about, shown);
    // Marks are by characters of the title as it was compared.
    let is_same = title.chars().count() == listed.title.chars().count();
    let marked: &[usize] = if is_same { &meant.characters } else { &[] };
    let mut job = LayoutJob::default();
    for (at, c) in title.chars().enumerate() {
        let is_meant = marked.binary_search(&at).is_ok();
        let color = if is_meant { palette.accent } else { palette.text };
        let font_id = FontId::new(face::INTERFACE_SIZE, face::TEXT);
        job.append(
            c.encode_utf8(&mut [0; 4]),
            0.0,
            TextFormat { font_id, color, ..Default::default() },
        );
    }
    job.wrap = TextWrapping::truncate_at_width((right - left - 12.0).max(40.0));
    let galley = ui.ctx().fonts_mut(|fonts| fonts.layout_job(job));
    let at = egui::pos2(left, rect.center().y - galley.rect.height() / 2.0);
    ui.painter().galley(at, galley, palette.text);
    response
}

/// A message that holds what is looked for.
pub(super) fn hit_ui(
    ui: &mut Ui,
    found: &Found,
    is_chosen: bool,
    shown: &SwitchShown<'_>,
) -> Response {
    let (rect, response) = row_ui(ui, HIT_HEIGHT, is_chosen, shown);
    let title = words::title(&found.title);
    response.widget_info(|| {
        let words = format!("{title}: {}", clean(&found.snippet));
        WidgetInfo::selected(Role::ListItem, true, is_chosen, words)
    });
    if !ui.is_rect_visible(rect) {
        return response;
    }
    let top = Rect::from_min_size(rect.min, vec2(rect.width(), 24.0));
    let listed = shown.listed.iter().find(|one| one.id == found.session);
    let about = listed.map(|one| words::when(one.updated_ms, shown.now)).unwrap_or_default();
    let right = about_ui(ui, top, &about, shown);
    let room = Rect::from_min_max(
        egui::pos2(rect.left() + 12.0, top.top() + 2.0),
        egui::pos2(right - 12.0, top.bottom() + 2.0),
    );
    row::elided(ui, &title, room, shown.palette.text);
    let mut job = snippet(found, shown);
    job.wrap = TextWrapping {
        max_width: rect.width() - 24.0,
        max_rows: 2,
        break_anywhere: false,
        overflow_character: Some('…'),
    };
    let galley = ui.ctx().fonts_mut(|fonts| fonts.layout_job(job));
    ui.painter().galley(
        egui::pos2(rect.left() + 12.0, top.bottom() + 1.0),
        galley,
        shown.palette.dim,
    );
    response
}

/// The way to more hits.
pub(super) fn more_ui(ui: &mut Ui, is_chosen: bool, shown: &SwitchShown<'_>) -> Response {
    let (rect, response) = row_ui(ui, TITLE_HEIGHT, is_chosen, shown);
    let words = "Show more of what was found";
    response.widget_info(|| WidgetInfo::selected(Role::ListItem, true, is_chosen, words));
    let at = egui::pos2(rect.left() + 12.0, rect.center().y);
    let left = Align2::LEFT_CENTER;
    ui.painter().text(at, left, icon::CARET_DOWN, row::icon_font(13.0), shown.palette.faint);
    let font = FontId::new(face::INTERFACE_SIZE, face::TEXT);
    ui.painter().text(at + vec2(20.0, 0.0), left, words, font, shown.palette.dim);
    response
}

fn row_ui(ui: &mut Ui, height: f32, is_chosen: bool, shown: &SwitchShown<'_>) -> (Rect, Response) {
    let size = vec2(ui.available_width(), height);
    let (whole, response) = ui.allocate_exact_size(size, Sense::CLICK);
    let rect = whole.shrink2(vec2(SIDE, 1.0));
    let raised = row::raised(shown.palette);
    if is_chosen {
        ui.painter().rect_filled(rect, CornerRadius::same(8), raised);
    } else if response.hovered() {
        ui.painter().rect_filled(rect, CornerRadius::same(8), raised.gamma_multiply(0.5));
    }
    (rect, response)
}

/// Words at the right edge; gives where they begin.
fn about_ui(ui: &Ui, rect: Rect, words: &str, shown: &SwitchShown<'_>) -> f32 {
    let font = FontId::new(face::CAPTION_SIZE, face::TEXT);
    let at = egui::pos2(rect.right() - 12.0, rect.center().y);
    let place = ui.painter().text(at, Align2::RIGHT_CENTER, words, font, shown.palette.faint);
    place.left()
}

/// The words around what was found, with what was found marked.
fn snippet(found: &Found, shown: &SwitchShown<'_>) -> LayoutJob {
    let palette = shown.palette;
    let plain = TextFormat {
        font_id: FontId::new(face::CAPTION_SIZE, face::TEXT),
        color: palette.dim,
        ..Default::default()
    };
    let marked =
        TextFormat { color: palette.text, background: palette.found_here, ..plain.clone() };
    let mut job = LayoutJob::default();
    let mut from = 0;
    for range in &found.ranges {
        let (start, end) = (range.start.max(from), range.end.max(from));
        let (Some(before), Some(hit)) =
            (found.snippet.get(from..start), found.snippet.get(start..end))
        else {
            continue;
        };
        job.append(&clean(before), 0.0, plain.clone());
        job.append(&clean(hit), 0.0, marked.clone());
        from = end;
    }
    job.append(&clean(found.snippet.get(from..).unwrap_or_default()), 0.0, plain);
    job
}

/// One line of it, and nothing that turns text around.
fn clean(text: &str) -> String {
    let shown = text.chars().filter(|c| !words::turns(*c));
    shown.map(|c| if c.is_control() { ' ' } else { c }).collect()
}
