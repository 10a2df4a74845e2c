//! Rows: what remains of set text when its glyphs are gone.
//!
//! Printing needs triangles, which lie elsewhere by then. Hit-testing, selection and copying
//! need the words and where their characters stand: a twentieth of a galley.

use std::ops::Range;

use egui::{Galley, Pos2, Rect, Vec2, pos2, vec2};

/// A set text and where its characters stand, in points from the text's corner.
#[derive(Clone, Debug, Default)]
pub struct Rows {
    text: Box<str>,
    /// What the galley gave as its extent.
    rect: Option<Rect>,
    rows: Box<[Row]>,
    cells: Box<[Cell]>,
}

/// A line of text between two breaks.
#[derive(Clone, Copy, Debug)]
struct Row {
    pos: Pos2,
    size: Vec2,
    /// One past its last cell.
    end: u32,
    ends_with_newline: bool,
}

/// A character of a row.
#[derive(Clone, Copy, Debug)]
struct Cell {
    left: f32,
    middle: f32,
}

/// Width of the mark for a selected line break, in points.
const BREAK_WIDTH: f32 = 4.0;
/// A position this far above or below, in points, still counts as in the first or last row.
const MARGIN: f32 = 5.0;

impl Rows {
    /// The rows of a galley.
    #[must_use]
    pub fn of(galley: &Galley) -> Self {
        let characters = galley.rows.iter().map(|row| row.glyphs.len()).sum();
        let mut cells = Vec::with_capacity(characters);
        let mut rows = Vec::with_capacity(galley.rows.len());
        for placed in &galley.rows {
            cells.extend(placed.glyphs.iter().map(|glyph| Cell {
                left: glyph.pos.x,
                middle: glyph.pos.x + glyph.advance_width / 2.0,
            }));
            let (pos, size) = (placed.pos, placed.size);
            let (end, ends_with_newline) = (cells.len() as u32, placed.ends_with_newline);
            rows.push(Row { pos, size, end, ends_with_newline });
        }
        Self {
            rect: Some(galley.rect),
            rows: rows.into(),
            cells: cells.into(),
            ..Self::words(galley)
        }
    }

    /// The words of a galley that nobody points at.
    #[must_use]
    pub fn words(galley: &Galley) -> Self {
        Self { text: galley.job.text.as_str().into(), ..Self::default() }
    }

    /// The words.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The extent of all rows.
    #[must_use]
    pub fn rect(&self) -> Rect {
        self.rect.unwrap_or(Rect::ZERO)
    }

    /// The number of characters before the gap that is nearest to a position. Above the
    /// text this is its start, below it its end.
    #[must_use]
    pub fn character_at(&self, pos: Vec2) -> usize {
        let (Some(first), Some(last)) = (self.rows.first(), self.rows.last()) else { return 0 };
        if pos.y < first.pos.y - MARGIN {
            return 0;
        }
        if pos.y > last.bottom() + MARGIN {
            return self.placed().map(|(_, row, cells)| row.length(cells)).sum();
        }
        let mut nearest = (f32::INFINITY, 0);
        for (at, row, cells) in self.placed() {
            let is_inside = row.pos.y <= pos.y && pos.y <= row.bottom();
            let away = (row.pos.y - pos.y).abs().min((row.bottom() - pos.y).abs());
            if is_inside || away < nearest.0 {
                let x = pos.x - row.pos.x;
                let column = cells.iter().position(|cell| x < cell.middle);
                nearest = (away, at + column.unwrap_or(cells.len()));
            }
            if is_inside {
                break;
            }
        }
        nearest.1
    }

    /// The rectangles that a range of characters covers, one for each row it touches.
    #[must_use]
    pub fn rects(&self, range: &Range<usize>) -> Vec<Rect> {
        let mut rects = Vec::new();
        for (at, row, cells) in self.placed() {
            let (start, end) = (range.start.max(at), range.end.min(at + cells.len()));
            let is_break = cells.is_empty() && range.start <= at && range.end > at;
            if start < end || is_break {
                let x = |character: usize| {
                    cells.get(character - at).map_or(row.size.x, |cell| cell.left)
                };
                let right = if start < end { x(end) } else { BREAK_WIDTH };
                let corner = row.pos + vec2(x(start.max(at)), 0.0);
                let opposite = row.pos + vec2(right, row.size.y);
                rects.push(Rect::from_min_max(corner, pos2(opposite.x, opposite.y)));
            }
        }
        rects
    }

    /// Bytes on the heap.
    #[must_use]
    pub fn bytes(&self) -> usize {
        let Self { text, rect: _, rows, cells } = self;
        text.len() + size_of_val(&**rows) + size_of_val(&**cells)
    }

    /// Each row with the number of characters before it and its cells.
    fn placed(&self) -> impl Iterator<Item = (usize, &Row, &[Cell])> {
        let (mut at, mut start) = (0, 0);
        self.rows.iter().map(move |row| {
            let cells = self.cells.get(start..row.end as usize).unwrap_or_default();
            start = row.end as usize;
            let here = at;
            at += row.length(cells);
            (here, row, cells)
        })
    }
}

impl Row {
    fn bottom(&self) -> f32 {
        self.pos.y + self.size.y
    }

    /// Characters, the line break included.
    fn length(&self, cells: &[Cell]) -> usize {
        cells.len() + usize::from(self.ends_with_newline)
    }
}
