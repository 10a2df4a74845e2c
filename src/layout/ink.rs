//! Rich text becomes layout jobs, and styled spans become rectangles.

use std::ops::Range;

use egui::{
    Galley, Rect,
    epaint::text::{ByteIndex, LayoutJob, LayoutSection, TextFormat},
    pos2,
};

use crate::{
    layout::{Palette, Voice, face},
    model::{RichText, Run, Style},
};

/// Room beside inline code and keys, inside the text line.
const CHIP_PAD: f32 = 4.0;

/// A job for a byte range of a rich text.
#[must_use]
pub fn job(text: &RichText, range: &Range<u32>, voice: Voice, palette: &Palette) -> LayoutJob {
    let range = range.start as usize..range.end as usize;
    let mut job = LayoutJob::default();
    let mut was_chip = false;
    for (at, run) in text.ranges() {
        let part = at.start.max(range.start)..at.end.min(range.end);
        let Some(words) = text.text.get(part).filter(|words| !words.is_empty()) else { continue };
        let format = face::format(voice, run.style, run.link.is_some(), palette);
        let is_chip = is_chip(run);
        let space = if is_chip || was_chip { CHIP_PAD } else { 0.0 };
        append(&mut job, words, space, format);
        was_chip = is_chip;
    }
    job
}

fn is_chip(run: Run) -> bool {
    run.style.has(Style::CODE) || run.style.has(Style::KBD)
}

/// Appends a section, merging it into the one before when they look the same.
pub fn append(job: &mut LayoutJob, words: &str, leading_space: f32, format: TextFormat) {
    if words.is_empty() {
        return;
    }
    job.append(words, leading_space, format);
}

/// Replaces the sections of a job by runs that cover its text in order.
pub fn colour(job: &mut LayoutJob, runs: impl Iterator<Item = (usize, TextFormat)>) {
    job.sections.clear();
    let mut start = 0;
    for (end, format) in runs {
        if end > start {
            job.sections.push(LayoutSection {
                leading_space: 0.0,
                byte_range: ByteIndex(start)..ByteIndex(end),
                format,
            });
            start = end;
        }
    }
}

/// The rectangles that byte ranges of a galley's text cover, one for each row they touch,
/// as tall as their font. The ranges are in order and do not overlap.
pub fn span_rects<T: Copy>(galley: &Galley, spans: &[(Range<usize>, T)]) -> Vec<(Rect, T)> {
    let mut rects: Vec<(Rect, T)> = Vec::new();
    let (mut at, mut next) = (0, 0);
    for row in &galley.rows {
        let mut open: Option<(Rect, usize)> = None;
        for glyph in &row.row.glyphs {
            while spans.get(next).is_some_and(|(range, _)| range.end <= at) {
                next += 1;
            }
            let inside = spans.get(next).filter(|(range, _)| range.start <= at).map(|_| next);
            if open.is_some_and(|(_, span)| Some(span) != inside)
                && let Some((rect, span)) = open.take()
            {
                rects.push((rect, spans[span].1));
            }
            if let Some(span) = inside {
                let top = row.pos.y + glyph.pos.y - glyph.font_ascent;
                let left = row.pos.x + glyph.pos.x;
                let cell = Rect::from_min_max(
                    pos2(left, top),
                    pos2(left + glyph.advance_width, top + glyph.font_height),
                );
                open = Some((open.map_or(cell, |(rect, _)| rect.union(cell)), span));
            }
            at += glyph.chr.len_utf8();
        }
        if let Some((rect, span)) = open {
            rects.push((rect, spans[span].1));
        }
        at += usize::from(row.ends_with_newline);
    }
    rects
}

/// The spans of a rich text within `range` for which `pick` gives something, relative to
/// the start of the range.
pub fn spans<T>(
    text: &RichText,
    range: &Range<u32>,
    pick: impl Fn(Run) -> Option<T>,
) -> Vec<(Range<usize>, T)> {
    let (start, end) = (range.start as usize, range.end as usize);
    text.ranges()
        .filter(|(at, _)| at.end > start && at.start < end)
        .filter_map(|(at, run)| {
            let part = at.start.max(start) - start..at.end.min(end) - start;
            pick(run).map(|value| (part, value))
        })
        .collect()
}

/// The chips of a text: inline code and keys, which have a ground of their own.
#[must_use]
pub fn chips(text: &RichText, range: &Range<u32>) -> Vec<(Range<usize>, bool)> {
    spans(text, range, |run| is_chip(run).then(|| run.style.has(Style::KBD)))
}
