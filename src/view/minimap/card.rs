//! The card beside the pointer: which prompt is answered there, where that is and when.

use egui::{
    Align2, FontId, LayerId, Order, Rect, Stroke, StrokeKind, Ui, pos2, text::LayoutJob, vec2,
};

use super::{picture, track::Scale};
use crate::{
    layout::face,
    model::{MessageId, Source},
    view::{overlay, transcript::TranscriptView},
};

/// Width of the words in points.
const WIDTH: f32 = 280.0;
/// Lines of the prompt.
const LINES: usize = 3;
const PADDING: f32 = 12.0;

/// The words of the prompt that was pointed at last.
#[derive(Default)]
pub(super) struct Card {
    prompt: Option<(MessageId, String)>,
}

/// Shows what stands where the pointer is.
pub(super) fn show(
    view: &mut TranscriptView,
    ui: &Ui,
    rect: Rect,
    scale: Scale,
    source: &mut dyn Source,
) {
    let Some(pointer) = ui.input(|input| input.pointer.latest_pos()) else { return };
    let y = (pointer.y - rect.top()).clamp(0.0, scale.length());
    let cell = scale.cell(y, ui.pixels_per_point());
    let Some(row) = view.minimap.strip.row_at(cell).filter(|row| *row < source.len()) else {
        return;
    };
    let mut words = vec![position(row, source)];
    if let Some(cell) = view.minimap.strip.cells().get(cell) {
        let hits = view.hits.as_ref().map_or(0, |hits| picture::count_hits(hits, &cell.rows));
        match hits {
            0 => {}
            1 => words.push("1 hit".to_owned()),
            n => words.push(format!("{n} hits")),
        }
        words.extend((cell.failed > 0).then(|| "failed".to_owned()));
        words.extend(cell.forks.then(|| "branches here".to_owned()));
    }
    let prompt = prompt(view, row, source);
    paint(view, ui, pos2(rect.left(), rect.top() + y), &prompt, &words.join(" · "));
}

/// “12,345 of 100,000 · 14:02”
pub(super) fn position(row: usize, source: &dyn Source) -> String {
    let mut words = format!("{} of {}", grouped(row + 1), grouped(source.len()));
    let secs = if row < source.len() { source.row(row).time_secs } else { 0 };
    if secs > 0 {
        let minutes = secs / 60;
        words += &format!(" · {:02}:{:02} UTC", minutes / 60 % 24, minutes % 60);
    }
    words
}

/// A number with its thousands set apart.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// The prompt that a row answers; empty where there is none, an ellipsis until it is read.
fn prompt(view: &mut TranscriptView, row: usize, source: &mut dyn Source) -> String {
    let Some(row) = source.prompt_before(row) else { return String::new() };
    let id = source.row(row).id;
    let known = view.minimap.card.prompt.as_ref().filter(|(prompt, _)| *prompt == id);
    if let Some((_, words)) = known {
        return words.clone();
    }
    let Some(words) = overlay::prompt_words(source, row) else { return "…".to_owned() };
    view.minimap.card.prompt = Some((id, words.clone()));
    words
}

fn paint(view: &TranscriptView, ui: &Ui, at: egui::Pos2, prompt: &str, caption: &str) {
    let palette = view.palette();
    let layer = LayerId::new(Order::Tooltip, super::id(ui).with("card"));
    let painter = ui.ctx().layer_painter(layer);
    let font = |size| FontId::new(size, face::TEXT);
    let mut job =
        LayoutJob::simple(prompt.to_owned(), font(face::INTERFACE_SIZE), palette.text, WIDTH);
    job.wrap.max_rows = LINES;
    let (prompt, caption) = ui.ctx().fonts_mut(|fonts| {
        let caption = caption.to_owned();
        let caption = fonts.layout_no_wrap(caption, font(face::CAPTION_SIZE), palette.faint);
        (fonts.layout_job(job), caption)
    });
    let has_prompt = !prompt.job.text.is_empty();
    let gap = if has_prompt { prompt.rect.height() + 6.0 } else { 0.0 };
    let width = caption.rect.width().max(if has_prompt { prompt.rect.width() } else { 0.0 });
    let size = vec2(width, gap + caption.rect.height()) + vec2(PADDING, PADDING - 2.0) * 2.0;
    let bounds = ui.clip_rect().shrink(8.0);
    let mut card = Align2::RIGHT_CENTER.anchor_size(at - vec2(10.0, 0.0), size);
    let low = (card.bottom() - bounds.bottom()).max(0.0);
    card = card.translate(vec2(0.0, -low));
    card = card.translate(vec2(0.0, (bounds.top() - card.top()).max(0.0)));
    painter.rect(card, 10.0, palette.raised, Stroke::new(1.0, palette.line), StrokeKind::Inside);
    let corner = card.min + vec2(PADDING, PADDING - 2.0);
    if has_prompt {
        painter.galley(corner, prompt, palette.text);
    }
    painter.galley(corner + vec2(0.0, gap), caption, palette.faint);
    // The place itself, on the strip.
    let mark = Stroke::new(1.0, palette.text.gamma_multiply(0.6));
    painter.hline(at.x..=at.x + super::MAP_WIDTH, at.y, mark);
}
