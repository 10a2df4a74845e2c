//! Tables: column widths from the cells that matter, rows in slugs, rules between them.

use std::{
    hash::{Hash as _, Hasher},
    ops::Range,
};

use egui::{Align, CornerRadius, Rect, pos2, vec2};

use crate::{
    layout::{
        Voice, ink, matter,
        press::{Press, Stick},
        slug::Wide,
        spec::BlockRef,
    },
    model::{self, BlockKind, RichText},
};

const COLUMN_GAP: f32 = 24.0;
const ROW_PAD: f32 = 6.0;
const COLUMN_MIN: f32 = 56.0;
const COLUMN_MAX: f32 = 480.0;
/// Cells of a column that are measured: the longest by characters.
const MEASURED: usize = 3;

/// Sets rows of a table; the slug of the first rows begins with the header.
pub(super) fn set(
    press: &mut Press<'_, '_>,
    at: &BlockRef,
    rows: &Range<u32>,
    stick: &mut Stick<'_>,
) {
    let BlockKind::Table { align, header, rows: all } = &at.block().kind else { return };
    let columns = Columns::measure(press, align, header, all, stick.width);
    let left_mark = stick.slug.marks.len();
    if rows.start == 0 && header.iter().any(|cell| !cell.is_empty()) {
        row(press, header, Voice::TableHead, &columns, stick);
        let color = press.palette.faint;
        rule(stick, columns.total(), press.hairline().max(1.0), color);
    }
    let shown = all.get(rows.start as usize..rows.end as usize).unwrap_or_default();
    for cells in shown {
        row(press, cells, Voice::TableCell, &columns, stick);
        let color = press.palette.line;
        rule(stick, columns.total(), press.hairline(), color);
    }
    if columns.total() > stick.width + 0.5 {
        let (left, right) = (stick.left, stick.left + stick.width);
        stick.slug.wide = Some(Wide { left, right, content: columns.total() });
        stick.slug.marks.iter_mut().skip(left_mark).for_each(|mark| mark.scrolls = true);
        stick.slug.lines.iter_mut().for_each(|line| line.scrolls = true);
        stick.slug.targets.iter_mut().for_each(|target| target.scrolls = true);
    }
}

fn row(
    press: &mut Press<'_, '_>,
    cells: &[RichText],
    voice: Voice,
    columns: &Columns,
    stick: &mut Stick<'_>,
) {
    let (mut x, y) = (stick.left, stick.y + ROW_PAD);
    let mut height = voice.line();
    for ((cell, width), align) in cells.iter().zip(&columns.widths).zip(&columns.align) {
        height = height.max(matter::cell(press, cell, voice, [x, y, *width], *align, stick));
        x += width + COLUMN_GAP;
    }
    stick.y = y + height + ROW_PAD;
}

fn rule(stick: &mut Stick<'_>, width: f32, thickness: f32, color: egui::Color32) {
    let rect = Rect::from_min_size(pos2(stick.left, stick.y), vec2(width, thickness));
    stick.mark(rect, CornerRadius::ZERO, color);
    stick.y += thickness;
}

/// Hashes what rows of a table look like while it arrives: their own cells, and those that
/// decide on the widths of its columns.
pub(super) fn hash_text(at: &BlockRef, rows: &Range<u32>, hasher: &mut impl Hasher) {
    let BlockKind::Table { align, header, rows: all } = &at.block().kind else { return };
    let shown = all.get(rows.start as usize..rows.end as usize).unwrap_or_default();
    for cell in header.iter().chain(shown.iter().flatten()) {
        (&cell.text, cell.runs.len()).hash(hasher);
    }
    for (column, align) in align.iter().enumerate() {
        longest(all, column).iter().for_each(|cell| cell.text.hash(hasher));
        // Whether a column is one of numbers decides where its cells stand.
        (text_align(*align, all, column) as u8).hash(hasher);
    }
}

struct Columns {
    widths: Vec<f32>,
    align: Vec<Align>,
}

impl Columns {
    /// Widths that all slugs of a table agree on, since they depend on the whole table
    /// and the room alone.
    fn measure(
        press: &mut Press<'_, '_>,
        align: &[model::Align],
        header: &[RichText],
        rows: &[Vec<RichText>],
        room: f32,
    ) -> Self {
        let natural = (0..align.len())
            .map(|column| {
                let head =
                    header.get(column).map_or(0.0, |cell| width(press, cell, Voice::TableHead));
                longest(rows, column)
                    .into_iter()
                    .map(|cell| width(press, cell, Voice::TableCell))
                    .fold(head.max(16.0), f32::max)
                    .min(COLUMN_MAX)
                    .ceil()
            })
            .collect();
        let gaps = COLUMN_GAP * align.len().saturating_sub(1) as f32;
        let align =
            align.iter().enumerate().map(|(i, align)| text_align(*align, rows, i)).collect();
        Self { widths: fit(natural, room - gaps), align }
    }

    fn total(&self) -> f32 {
        let gaps = COLUMN_GAP * self.widths.len().saturating_sub(1) as f32;
        self.widths.iter().sum::<f32>() + gaps
    }
}

fn width(press: &mut Press<'_, '_>, cell: &RichText, voice: Voice) -> f32 {
    let end = cell.text.len().min(512);
    let end = (0..=end).rev().find(|i| cell.text.is_char_boundary(*i)).unwrap_or(0);
    let job = ink::job(cell, &(0..end as u32), voice, press.palette);
    press.galley(job).rect.width()
}

/// The longest cells of a column by characters.
fn longest(rows: &[Vec<RichText>], column: usize) -> Vec<&RichText> {
    let mut top: Vec<&RichText> = Vec::with_capacity(MEASURED + 1);
    for cell in rows.iter().filter_map(|row| row.get(column)) {
        let place = top.partition_point(|other| other.text.len() >= cell.text.len());
        if place < MEASURED {
            top.insert(place, cell);
            top.truncate(MEASURED);
        }
    }
    top
}

/// Narrows the widest columns until all fit, but none below the minimum.
fn fit(mut widths: Vec<f32>, room: f32) -> Vec<f32> {
    if widths.iter().sum::<f32>() <= room {
        return widths;
    }
    let mut sorted = widths.clone();
    sorted.sort_by(f32::total_cmp);
    let (mut left, mut cap) = (room, COLUMN_MIN);
    for (i, width) in sorted.iter().enumerate() {
        cap = left / (sorted.len() - i) as f32;
        if *width > cap {
            break;
        }
        left -= width;
    }
    let cap = cap.floor().max(COLUMN_MIN);
    widths.iter_mut().for_each(|width| *width = width.min(cap));
    widths
}

/// Numbers stand at the right when the table does not say otherwise.
fn text_align(align: model::Align, rows: &[Vec<RichText>], column: usize) -> Align {
    match align {
        model::Align::Left => Align::LEFT,
        model::Align::Center => Align::Center,
        model::Align::Right => Align::RIGHT,
        model::Align::None => {
            let mut cells = rows.iter().take(50).filter_map(|row| row.get(column)).peekable();
            let numbers = cells.peek().is_some() && cells.all(|cell| is_number(&cell.text));
            if numbers { Align::RIGHT } else { Align::LEFT }
        }
    }
}

fn is_number(text: &str) -> bool {
    let text = text.trim();
    let digits = text.chars().filter(char::is_ascii_digit).count();
    digits > 0
        && text.starts_with(|c: char| c.is_ascii_digit() || "+-−~<>$€£".contains(c))
        && text.chars().count() <= digits + 6
}
