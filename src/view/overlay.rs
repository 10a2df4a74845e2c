//! What floats over the transcript: the prompt being answered, the way back to the end,
//! the minimap or scrollbar and the progress of indexing.

use std::hash::{Hash, Hasher as _};

use egui::{
    Align2, CornerRadius, FontId, Rect, Role, Sense, Shape, Stroke, StrokeKind, Ui, WidgetInfo,
    epaint::RectShape, pos2, vec2,
};
use rustc_hash::FxHasher;

use crate::{
    layout::{Jump, face, icon},
    model::{BlockKind, Part, Progress, Source},
    perf::Reason,
    view::{
        governor, minimap,
        retained::Look,
        transcript::{Geometry, TranscriptView, part_id},
    },
};

/// Height of the line that shows the prompt, in points.
pub(crate) const HEADER: f64 = 36.0;
/// Words of the prompt that can be needed to fill the line.
const PROMPT_WORDS: usize = 60;

/// Shows everything that floats.
pub(crate) fn show(
    view: &mut TranscriptView,
    ui: &Ui,
    geometry: Geometry,
    source: &mut dyn Source,
) {
    prompt_ui(view, ui, geometry, source);
    pill_ui(view, ui, geometry, source);
    minimap::show(view, ui, geometry, source);
    progress_ui(view, ui, geometry, source.progress());
}

/// Goes to the beginning of a row, below the line that shows the prompt.
pub(crate) fn go_to_row(view: &mut TranscriptView, row: usize, source: &dyn Source) {
    view.sheet.jump(Jump::Row(row));
    if row > 0 && source.prompt_before(row).is_some_and(|prompt| prompt != row) {
        view.sheet.scroll_by(-HEADER);
    }
}

fn prompt_ui(view: &mut TranscriptView, ui: &Ui, geometry: Geometry, source: &mut dyn Source) {
    let Some(top) = view.visible.placed.first() else { return };
    let Some(row) = source.prompt_before(top.row) else { return };
    // While the prompt itself can be read at the top there is nothing to repeat.
    let height = view.visible.placed.iter().find(|place| place.row != row).map_or(0.0, |p| p.y);
    if row == top.row && (top.y > -10.0 || height > HEADER as f32) {
        return;
    }
    let id = source.row(row).id;
    let known = view.prompt.as_ref().filter(|(prompt, _)| *prompt == id);
    let words = match known {
        Some((_, words)) => words.clone(),
        None => {
            let Some(words) = prompt_words(source, row) else { return };
            view.prompt = Some((id, words.clone()));
            words
        }
    };
    let palette = view.palette();
    let rect = Rect::from_min_size(
        geometry.rect.min,
        vec2(geometry.rect.width() - geometry.edge, HEADER as f32),
    );
    let response = ui.interact(rect, part_id(ui, "prompt"), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, format!("Prompt: {words}")));
    let look = look(view, &(&words, rect.width().to_bits(), response.hovered()));
    let left = geometry.left - rect.left();
    view.retained.stamp(&ui.painter_at(rect), "prompt", look, rect.min, |at| {
        let rect = Rect::from_min_size(at, rect.size());
        let fill = if response.hovered() { palette.panel } else { palette.bg };
        let line = Stroke::new(1.0 / ui.pixels_per_point(), palette.line);
        let job = elided(&words, palette.dim, geometry.width);
        let galley = ui.ctx().fonts_mut(|fonts| fonts.layout_job(job));
        let y = rect.center().y - galley.rect.height() / 2.0;
        vec![
            Shape::rect_filled(rect, 0.0, fill),
            Shape::hline(rect.x_range(), rect.bottom() - 0.5, line),
            Shape::galley(pos2(rect.left() + left, y), galley, palette.dim),
        ]
    });
    if response.clicked() {
        view.sheet.jump(Jump::Row(row));
        governor::wake(ui, Reason::Input);
    }
}

fn elided(words: &str, color: egui::Color32, width: f32) -> egui::text::LayoutJob {
    let font = FontId::new(face::INTERFACE_SIZE, face::TEXT);
    let mut job = egui::text::LayoutJob::simple_singleline(words.to_owned(), font, color);
    job.wrap = egui::text::TextWrapping::truncate_at_width(width);
    job
}

/// The first words of a prompt, once it is read.
pub(crate) fn prompt_words(source: &mut dyn Source, row: usize) -> Option<String> {
    let message = source.message(row)?;
    let text = message.parts.iter().find_map(|part| match part {
        Part::Text(text) if !text.source.trim().is_empty() => Some(text),
        _ => None,
    })?;
    let shown = text.blocks().next().map(|block| &block.kind);
    let first = match shown {
        Some(BlockKind::Paragraph(rich) | BlockKind::Heading { text: rich, .. }) => &*rich.text,
        _ => &*text.source,
    };
    let words: Vec<&str> = first.split_whitespace().take(PROMPT_WORDS).collect();
    Some(format!("You: {}", words.join(" ")))
}

/// Lines that came since the end was last on screen.
fn new_lines(view: &mut TranscriptView, source: &dyn Source) -> u64 {
    let rows = source.len();
    let lines = |row: usize| if row < rows { source.row(row).lines } else { 0 };
    let last = rows.saturating_sub(1);
    if view.visible.at_end || rows < view.seen.0 || view.seen.0 == 0 {
        view.seen = (rows, lines(last));
        return 0;
    }
    let (seen_rows, seen_lines) = view.seen;
    let grown = lines(seen_rows - 1).saturating_sub(seen_lines);
    let (_, further) = source.estimate(seen_rows..rows);
    u64::from(grown) + further
}

/// The looks of something that stands on the page as it is set now.
fn look(view: &TranscriptView, what: &impl Hash) -> Look {
    let mut hasher = FxHasher::default();
    what.hash(&mut hasher);
    Look { epoch: view.sheet.epoch(), hash: hasher.finish() }
}

fn pill_ui(view: &mut TranscriptView, ui: &Ui, geometry: Geometry, source: &dyn Source) {
    let new = new_lines(view, source);
    if view.visible.at_end || view.visible.placed.is_empty() {
        return;
    }
    let words = match new {
        0 => "Jump to end".to_owned(),
        1 => "1 new line".to_owned(),
        n => format!("{n} new lines"),
    };
    let palette = view.palette();
    let size = vec2(132.0, 32.0);
    // Beside the column when there is room, so that it covers no words.
    let beside = geometry.left + geometry.width + 12.0 + size.x;
    let edge = geometry.rect.right() - geometry.edge - 8.0;
    let right = if beside <= edge { beside } else { (geometry.left + geometry.width).min(edge) };
    let rect =
        Rect::from_min_size(pos2(right - size.x, geometry.rect.bottom() - size.y - 16.0), size);
    let response = ui.interact(rect, part_id(ui, "pill"), Sense::click());
    response.widget_info(|| WidgetInfo::labeled(Role::Button, true, "Jump to the end"));
    let look = look(view, &(&words, response.hovered()));
    view.retained.stamp(&ui.painter_at(geometry.rect), "pill", look, rect.min, |at| {
        let rect = Rect::from_min_size(at, size);
        let fill = if response.hovered() { palette.line } else { palette.raised };
        let line = Stroke::new(1.0, palette.line);
        let (radius, kind) = (CornerRadius::same(16), StrokeKind::Inside);
        let icon_font = FontId::new(14.0, egui::FontFamily::Name(face::ICON_NAME.into()));
        let font = FontId::new(face::INTERFACE_SIZE, face::TEXT);
        let (icon_at, words_at) = (rect.left_center() + vec2(22.0, 0.0), vec2(34.0, 0.0));
        ui.ctx().fonts_mut(|fonts| {
            let (center, left) = (Align2::CENTER_CENTER, Align2::LEFT_CENTER);
            let words_at = rect.left_center() + words_at;
            vec![
                RectShape::new(rect, radius, fill, line, kind).into(),
                Shape::text(fonts, icon_at, center, icon::ARROW_DOWN, icon_font, palette.text),
                Shape::text(fonts, words_at, left, words, font, palette.text),
            ]
        })
    });
    if response.clicked() {
        view.sheet.jump(Jump::End);
        governor::wake(ui, Reason::Input);
    }
}

fn progress_ui(view: &TranscriptView, ui: &Ui, geometry: Geometry, progress: Progress) {
    let Progress::Indexing { done, total } = progress else { return };
    let palette = view.palette();
    let share = done as f32 / total.max(1) as f32;
    let painter = ui.painter_at(geometry.rect);
    let line = Rect::from_min_size(geometry.rect.min, vec2(geometry.rect.width() * share, 2.0));
    painter.rect_filled(line, 0.0, palette.accent);
    let words = format!("Indexing older messages {:.0} %", share * 100.0);
    let at = geometry.rect.right_top() + vec2(-geometry.edge - 8.0, 8.0);
    let font = FontId::new(face::CAPTION_SIZE, face::TEXT);
    let galley = painter.layout_no_wrap(words, font, palette.faint);
    let rect = Align2::RIGHT_TOP.anchor_size(at, galley.rect.size());
    painter.rect_filled(rect.expand(4.0), 4.0, palette.bg);
    painter.galley(rect.min, galley, palette.faint);
}
