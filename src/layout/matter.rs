//! The matter of cards: code, outputs, differences, pictures, alerts and summaries.

use std::{ops::Range, sync::Arc};

use egui::{
    Align, CornerRadius, Rect,
    epaint::text::{LayoutJob, TextFormat},
    pos2, vec2,
};

use crate::{
    layout::{
        Voice, calls,
        diff::{DiffKind, DiffLine},
        face,
        flow::{alert_tone, copy_segment},
        highlight::key_of,
        icon, ink, label,
        press::{Press, Stick, links},
        registry::Change,
        slug::{Picture, Target},
        spec::{Action, BlockRef, Face, Fold, Label, Segment, Tone},
    },
    model::{Alert, BlockKind, Image, Output, RichText, SgrRun, Style},
};

/// Code above this size is not coloured.
const HIGHLIGHT_MAX: usize = 2 * 1024 * 1024;
/// Characters of a difference's line that are shown.
const DIFF_LINE_MAX: usize = 2000;
/// Pictures are at most this tall.
const PICTURE_HEIGHT: f32 = 360.0;

/// The header of a code block: its language, and what can be done with it.
pub(super) fn code_header(press: &mut Press<'_, '_>, at: &BlockRef, stick: &mut Stick<'_>) {
    let BlockKind::Code { language, text, .. } = &at.block().kind else { return };
    let name = if language.is_empty() { "text" } else { &**language };
    let fold = press.wrap_fold(stick.key);
    let wraps = (press.is_open)(fold, false);
    let wrap = Segment {
        action: Some(Action::Wrap(fold)),
        ..Segment::new(if wraps { "unwrap" } else { "wrap" }, Face::Caption, Tone::Faint)
    };
    let label = Label {
        left: vec![Segment::new(name, Face::Caption, Tone::Faint)],
        right: if press.still { Vec::new() } else { vec![wrap, copy_segment(text)] },
        ..Label::default()
    };
    stick.y += 5.0;
    label::set(press, &label, stick);
    stick.y += 5.0;
    let rule = Rect::from_min_size(
        pos2(stick.left - 14.0, stick.y - press.hairline()),
        vec2(stick.width + 28.0, press.hairline()),
    );
    stick.mark(rule, CornerRadius::ZERO, press.palette.line);
}

/// Lines of a code block.
pub(super) fn code(
    press: &mut Press<'_, '_>,
    at: &BlockRef,
    range: &Range<u32>,
    stick: &mut Stick<'_>,
) {
    let BlockKind::Code { language, text, closed } = &at.block().kind else { return };
    let part = range.start as usize..range.end as usize;
    let words = text.get(part.clone()).unwrap_or_default();
    let words = words.strip_suffix('\n').unwrap_or(words);
    let plain = face::format(Voice::Code, Style::PLAIN, false, press.palette);
    let mut job = LayoutJob::default();
    ink::append(&mut job, words, 0.0, plain.clone());
    if *closed && !language.is_empty() && text.len() <= HIGHLIGHT_MAX {
        let key = key_of(language, text);
        let tokens = press.highlights.get(key).map(Arc::clone);
        match tokens {
            Some(tokens) => {
                let end = part.start + words.len();
                let first = tokens.partition_point(|token| token.end as usize <= part.start);
                let inside = tokens.iter().skip(first).take_while(|_| true);
                let mut open = true;
                let runs = inside.map_while(|token| {
                    let go_on = open;
                    open = (token.end as usize) < end;
                    let format =
                        TextFormat { color: press.palette.class(token.class), ..plain.clone() };
                    go_on.then(|| ((token.end as usize).min(end) - part.start, format))
                });
                let runs: Vec<_> = runs.collect();
                // Tokens may stop early when highlighting ran out of time.
                let rest = (words.len(), plain.clone());
                ink::colour(&mut job, runs.into_iter().chain([rest]));
            }
            None => {
                let asked = press.highlights.request(key, language, text);
                stick.slug.awaits = asked.then_some(key);
            }
        }
    }
    let wraps = (press.is_open)(press.wrap_fold(stick.key), false);
    press.wide(job, wraps, stick);
}

/// Lines of a tool's output in the terminal's colours.
pub(super) fn output(
    press: &mut Press<'_, '_>,
    output: &Output,
    range: &Range<u32>,
    stick: &mut Stick<'_>,
) {
    let part = range.start as usize..range.end as usize;
    let words = output.text.get(part.clone()).unwrap_or_default();
    let words = words.strip_suffix('\n').unwrap_or(words);
    let plain = face::format(Voice::Code, Style::PLAIN, false, press.palette);
    let mut job = LayoutJob::default();
    ink::append(&mut job, words, 0.0, plain.clone());
    let end = part.start + words.len();
    let first = output.runs.partition_point(|run| (run.end as usize) <= part.start);
    let inside = output.runs.iter().skip(first).take_while(|run| (run.start as usize) < end);
    let mut formats = Vec::new();
    for run in inside {
        let start = (run.start as usize).max(part.start) - part.start;
        formats.push((start, plain.clone()));
        formats.push(((run.end as usize).min(end) - part.start, sgr_format(press, run, &plain)));
    }
    if !formats.is_empty() {
        formats.push((words.len(), plain));
        ink::colour(&mut job, formats.into_iter());
    }
    press.wide(job, true, stick);
}

fn sgr_format(press: &Press<'_, '_>, run: &SgrRun, plain: &TextFormat) -> TextFormat {
    let mut color = press.palette.sgr(run.foreground);
    if run.dim {
        color = color.lerp_to_gamma(press.palette.code, 0.35);
    }
    let slant = if run.italic { face::Slant::Italic } else { face::Slant::Upright };
    TextFormat {
        color,
        font_id: egui::FontId::new(plain.font_id.size, face::family(true, slant)),
        coords: face::coords(if run.bold { 700.0 } else { 400.0 }),
        underline: if run.underline { egui::Stroke::new(1.0, color) } else { egui::Stroke::NONE },
        ..plain.clone()
    }
}

/// Lines of a difference: a line is its mark, its ground and its text.
pub(super) fn difference(
    press: &mut Press<'_, '_>,
    change: &Change,
    range: &Range<u32>,
    stick: &mut Stick<'_>,
) {
    let palette = press.palette;
    let plain = face::format(Voice::Code, Style::PLAIN, false, palette);
    let mut job = LayoutJob::default();
    let shown = change.lines.get(range.start as usize..range.end as usize).unwrap_or_default();
    let step = Voice::Code.line();
    let (left, width) = (stick.left - 13.0, stick.width + 26.0);
    for (i, line) in shown.iter().enumerate() {
        let (mark, color, ground) = match line.kind {
            DiffKind::Kept => (" ", palette.dim, None),
            DiffKind::Added => ("+", palette.text, Some(palette.added)),
            DiffKind::Removed => ("−", palette.text, Some(palette.removed)),
            DiffKind::Skipped(_) | DiffKind::Omitted(_) | DiffKind::Heading => {
                ("⋯", palette.faint, None)
            }
        };
        if let Some(fill) = ground {
            let top = stick.y + i as f32 * step;
            let rect = Rect::from_min_size(pos2(left, top), vec2(width, step));
            stick.mark(rect, CornerRadius::ZERO, fill);
        }
        let words = match line.kind {
            DiffKind::Skipped(0) => mark.to_owned(),
            DiffKind::Skipped(count) => format!("{mark} {count} unchanged lines"),
            DiffKind::Omitted(count) => format!("{mark} {count} more lines"),
            DiffKind::Kept | DiffKind::Added | DiffKind::Removed | DiffKind::Heading => {
                format!("{mark} {}", diff_words(line, change))
            }
        };
        let end = if i + 1 < shown.len() { "\n" } else { "" };
        ink::append(&mut job, &format!("{words}{end}"), 0.0, TextFormat { color, ..plain.clone() });
    }
    press.wide(job, false, stick);
}

/// The part of a difference's line that is shown behind its mark.
pub(super) fn diff_words<'c>(line: &DiffLine, change: &'c Change) -> &'c str {
    let text = line.text(&change.old, &change.new);
    let end = text.char_indices().nth(DIFF_LINE_MAX).map_or(text.len(), |(end, _)| end);
    text.get(..end).unwrap_or_default().trim_end_matches(['\r', '\n'])
}

/// A range of plain text.
pub(super) fn plain(
    press: &mut Press<'_, '_>,
    text: &str,
    range: &Range<u32>,
    voice: Voice,
    stick: &mut Stick<'_>,
) {
    let words = text.get(range.start as usize..range.end as usize).unwrap_or_default();
    let tone = if stick.dim { Tone::Dim } else { Tone::Text };
    press.text(words.strip_suffix('\n').unwrap_or(words), voice, tone, stick);
}

/// The title of an alert.
pub(super) fn alert_title(press: &mut Press<'_, '_>, alert: Alert, stick: &mut Stick<'_>) {
    let (icon, word) = match alert {
        Alert::Note => (icon::INFO, "Note"),
        Alert::Tip => (icon::LIGHTBULB, "Tip"),
        Alert::Important => (icon::MEGAPHONE, "Important"),
        Alert::Warning => (icon::WARNING, "Warning"),
        Alert::Caution => (icon::WARNING_OCTAGON, "Caution"),
    };
    let tone = alert_tone(alert);
    let label = Label {
        left: vec![Segment::new(icon, Face::Icon, tone), Segment::new(word, Face::Strong, tone)],
        ..Label::default()
    };
    label::set(press, &label, stick);
}

/// The summary line of a details block.
pub(super) fn summary(
    press: &mut Press<'_, '_>,
    at: &BlockRef,
    fold: Fold,
    open: bool,
    stick: &mut Stick<'_>,
) {
    let BlockKind::Details { summary, .. } = &at.block().kind else { return };
    let (left, top) = (stick.left, stick.y);
    let caret = calls::caret(open).text;
    let mut job = LayoutJob::default();
    ink::append(&mut job, &caret, 0.0, face::icon(14.0, Voice::Body.line(), press.palette.dim));
    let galley = press.galley(job);
    stick.line(vec2(left, top), galley, false);
    stick.left += 20.0;
    stick.width -= 20.0;
    let words = if summary.is_empty() { RichText::plain("Details") } else { summary.clone() };
    press.rich(&words, &(0..words.text.len() as u32), Voice::Body, stick);
    stick.slug.targets.insert(
        0,
        Target {
            rect: Rect::from_min_max(pos2(left, top), pos2(stick.left + stick.width, stick.y)),
            action: Action::Toggle(fold),
            spoken: calls::spoken_fold(&words.text, open),
            scrolls: false,
        },
    );
}

/// Room for a picture. Its pixels are drawn by the view once they are decoded.
pub(super) fn picture(image: &Arc<Image>, index: u16, stick: &mut Stick<'_>) {
    let [width, height] = image.size.unwrap_or([240, 160]).map(|side| side.max(1) as f32);
    let scale = (stick.width / width).min(PICTURE_HEIGHT / height).min(1.0);
    let size = vec2((width * scale).max(8.0), (height * scale).max(8.0));
    let rect = Rect::from_min_size(pos2(stick.left, stick.y), size);
    stick.slug.pictures.push(Picture { rect, image: Arc::clone(image), index });
    stick.y += size.y;
}

/// Sets rich text in a box of its own, aligned; gives its height. Used by table cells.
pub(super) fn cell(
    press: &mut Press<'_, '_>,
    text: &RichText,
    voice: Voice,
    [x, y, width]: [f32; 3],
    align: Align,
    stick: &mut Stick<'_>,
) -> f32 {
    let range = 0..text.text.len() as u32;
    let mut job = ink::job(text, &range, voice, press.palette);
    job.wrap.max_width = width;
    job.halign = align;
    let galley = press.galley(job);
    let x = match align {
        Align::LEFT => x,
        Align::Center => x + width / 2.0,
        Align::RIGHT => x + width,
    };
    let pos = vec2(x, y);
    press.chips(text, &range, &galley, pos, &mut stick.slug);
    links(text, &range, &galley, pos, &mut stick.slug);
    let height = galley.rect.height();
    stick.line(pos, galley, true);
    height
}
