//! The strip: all rows of a conversation in a column of some hundred cells.
//!
//! Cells follow the same heights as the scroll position, so a cell stands where its rows
//! do. What is smaller than a cell is added up in it, by counts that the source keeps;
//! what is taller is drawn line by line. Nothing that went wrong is lost to adding up.
//!
//! The work of a frame is bounded. Until a new picture is whole the old one is shown, and
//! rows that come at the end change the cells at the end.

mod cell;

use std::ops::Range;

use crate::{
    layout::{
        heights::{CHUNK, Fenwick, Heights},
        sheet::{Measure, estimate_row, height_of},
    },
    model::{Census, Censuses, MessageId, RowInfo, Source},
};

pub use self::cell::Cell;
use self::cell::Sum;

/// Rows or counts that are looked at in one frame.
const STEP: usize = 8 * 1024;
/// Points of the conversation that are at least in a point of the strip: a short
/// conversation is shown small, not stretched.
const POINTS_MIN: f64 = 8.0;
/// Room for what will come before everything has to be drawn closer together.
const SPARE: f64 = 1.005;
/// Rows at the end that are looked at again whenever the source changed.
const RECENT: usize = 64;

/// Frames between two pictures while rows stray only a little, as they do under a reader
/// who looks at them for the first time.
const REST: u8 = 6;
/// Cells that rows may stray meanwhile.
const STRAY_MAX: f64 = 4.0;

/// What a strip is drawn for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Track {
    /// Cells from top to bottom: one for each physical pixel.
    pub cells: usize,
    /// Physical pixels per point.
    pub pixels_per_point: f32,
    /// Room under the last row, in points of the conversation.
    pub foot: f64,
}

/// All rows of a conversation in a column of cells.
#[derive(Debug, Default)]
pub struct Strip {
    cells: Vec<Cell>,
    /// Cells that changed since somebody asked.
    changed: Option<Range<usize>>,
    sums: Vec<Sum>,
    track: Track,
    measure: Measure,
    /// Points of the conversation in a cell.
    per_cell: f64,
    /// How far rows had moved when this picture was begun.
    moved: f64,
    first: MessageId,
    /// Rows that were looked at: all before this one.
    next: usize,
    /// Cells before this one stay as they are, and rows before this one as well.
    from: (usize, usize),
    /// The last chunk was added up as a whole.
    tail_is_whole: bool,
    whole: bool,
    /// Frames since this picture was begun, up to [`REST`].
    rested: u8,
    /// The next picture waits until this one has rested.
    waits: bool,
    /// The newest rows when they were looked at.
    recent: Vec<RowInfo>,
    looked_at: u64,
}

impl Strip {
    /// The cells from top to bottom; those behind the last row are blank.
    #[must_use]
    pub fn cells(&self) -> &[Cell] {
        &self.cells
    }

    /// The cells that changed since the last call.
    pub fn take_changed(&mut self) -> Option<Range<usize>> {
        self.changed.take()
    }

    /// Points of the conversation in a cell; 0 before the first picture.
    #[must_use]
    pub fn per_cell(&self) -> f64 {
        self.per_cell
    }

    /// The first row that has something in a cell; the one above where there is nothing.
    #[must_use]
    pub fn row_at(&self, cell: usize) -> Option<usize> {
        let cells = self.cells.get(..=cell.min(self.cells.len().checked_sub(1)?))?;
        cells.iter().rev().find(|cell| cell.is_used()).map(|cell| cell.rows.start as usize)
    }

    /// Rows and counts that were looked at since the strip was made.
    #[must_use]
    pub fn looked_at(&self) -> u64 {
        self.looked_at
    }

    /// True while there is more to do.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        !self.sums.is_empty() && (!self.whole || self.waits)
    }

    pub(super) fn update(
        &mut self,
        heights: &Heights,
        source: &dyn Source,
        measure: Measure,
        track: Track,
    ) -> bool {
        let rows = heights.len().min(source.len());
        if rows == 0 || track.cells == 0 {
            self.clear();
            return true;
        }
        let first = source.row(0).id;
        self.rested = self.rested.saturating_add(1).min(REST);
        let is_other = (self.track, self.first) != (track, first) || self.measure != measure;
        let strayed = self.strayed(heights);
        let is_late = strayed > STRAY_MAX || strayed > 1.0 && self.rested == REST;
        let is_off = self.whole && (is_late || self.is_off(heights));
        if is_other || is_off || rows < self.next {
            (self.track, self.measure, self.first) = (track, measure, first);
            self.begin(heights);
        } else if self.whole {
            self.begin_at_change(heights, source, rows);
        }
        if !self.whole {
            Pass { strip: self, heights, source, measure, rows }.go_on();
        }
        self.waits = self.strayed(heights) > 1.0;
        self.whole && !self.waits
    }

    /// How far rows have moved since this picture was begun, in cells.
    fn strayed(&self, heights: &Heights) -> f64 {
        (heights.moved() - self.moved).abs() / self.per_cell
    }

    fn clear(&mut self) {
        let changed = self.cells.iter().any(Cell::is_used).then_some(0..self.cells.len());
        let (looked_at, cells) = (self.looked_at, vec![Cell::default(); self.cells.len()]);
        *self = Self { looked_at, cells, changed, whole: true, ..Self::default() };
    }

    /// True when the picture has no room for the rows, or too much.
    fn is_off(&self, heights: &Heights) -> bool {
        let needed = (heights.total() + self.track.foot) / self.per_cell;
        let room = self.track.cells as f64;
        let is_loose = self.per_cell > self.closest() && needed < room * 0.985;
        needed > room || is_loose
    }

    fn closest(&self) -> f64 {
        POINTS_MIN / f64::from(self.track.pixels_per_point.max(0.1))
    }

    fn begin(&mut self, heights: &Heights) {
        let total = heights.total() + self.track.foot;
        self.per_cell = (total * SPARE / self.track.cells as f64).max(self.closest());
        self.moved = heights.moved();
        self.sums.clear();
        self.sums.resize(self.track.cells, Sum::default());
        (self.next, self.from, self.whole, self.rested) = (0, (0, 0), false, 0);
        self.tail_is_whole = false;
    }

    /// Begins again where the newest rows are not as they were.
    fn begin_at_change(&mut self, heights: &Heights, source: &dyn Source, rows: usize) {
        let known = self.next - self.recent.len();
        let is_same = |(i, row): (usize, &RowInfo)| source.row(known + i) == *row;
        let same = self.recent.iter().enumerate().take_while(|pair| is_same(*pair)).count();
        if rows == self.next && same == self.recent.len() {
            return;
        }
        let row = self.unit_of(known + same, heights);
        // What changed may have begun in the cell of what stands before it.
        let used = self.sums.iter().take_while(|sum| sum.ends_before(row)).count();
        let cell = used.min(self.sums.len().saturating_sub(1));
        let sums = self.sums.get_mut(cell..).unwrap_or_default();
        let before = sums.first().and_then(Sum::first_row).map_or(row, |first| first.min(row));
        sums.fill(Sum::default());
        (self.next, self.from, self.whole) = (self.unit_of(before, heights), (cell, row), false);
    }

    /// The first of the rows that were added up together with a row.
    fn unit_of(&self, row: usize, heights: &Heights) -> usize {
        let chunk = row / CHUNK;
        let is_tail = chunk == self.next.saturating_sub(1) / CHUNK;
        let is_whole = match is_tail {
            true => self.tail_is_whole,
            false => heights.chunk(chunk).1 <= self.per_cell,
        };
        let unit = if is_whole { CHUNK } else { Censuses::STRIDE };
        row / unit * unit
    }

    fn publish(&mut self, source: &dyn Source) {
        self.cells.resize(self.sums.len(), Cell::default());
        let pairs = self.cells.iter_mut().zip(&self.sums).enumerate().skip(self.from.0);
        let (mut low, mut high) = (usize::MAX, 0);
        for (i, (cell, sum)) in pairs {
            let new = sum.cell();
            if *cell != new {
                (low, high) = (low.min(i), i + 1);
                *cell = new;
            }
        }
        if low < high {
            let earlier = self.changed.take().unwrap_or(low..high);
            self.changed = Some(earlier.start.min(low)..earlier.end.max(high));
        }
        self.recent.clear();
        let first = self.next.saturating_sub(RECENT);
        self.recent.extend((first..self.next).map(|row| source.row(row)));
        self.whole = true;
    }
}

/// One frame's work on a strip.
struct Pass<'a> {
    strip: &'a mut Strip,
    heights: &'a Heights,
    source: &'a dyn Source,
    measure: Measure,
    rows: usize,
}

/// Rows that are added up together: where they stand, in points.
struct Piece {
    rows: Range<usize>,
    top: f64,
    height: f64,
}

impl Pass<'_> {
    fn go_on(&mut self) {
        let mut left = STEP;
        while self.strip.next < self.rows && left > 0 {
            let spent = self.chunk(left);
            left = left.saturating_sub(spent);
            self.strip.looked_at += spent as u64;
        }
        if self.strip.next >= self.rows {
            self.strip.publish(self.source);
        }
    }

    /// Takes rows of one chunk; gives the work it was.
    fn chunk(&mut self, budget: usize) -> usize {
        let start = self.strip.next;
        let chunk = start / CHUNK;
        let end = ((chunk + 1) * CHUNK).min(self.rows);
        let (top, height) = self.heights.chunk(chunk);
        self.strip.tail_is_whole = start == chunk * CHUNK && height <= self.strip.per_cell;
        if self.strip.tail_is_whole {
            let census = self.source.census(start..end);
            self.add(&Piece { rows: start..end, top, height }, &census);
            self.strip.next = end;
            return CHUNK / Censuses::STRIDE;
        }
        let detail = self.heights.rows_of(chunk);
        let mut y = top + self.height(chunk * CHUNK..start, detail);
        let mut spent = 1;
        while self.strip.next < end && spent < budget {
            let (height, work) = self.stride(end, y, detail);
            y += height;
            spent += work;
        }
        spent
    }

    /// Takes the next rows up to a stride; gives their height and the work it was.
    fn stride(&mut self, end: usize, y: f64, detail: Option<&Fenwick>) -> (f64, usize) {
        let start = self.strip.next;
        let rows = start..(start / Censuses::STRIDE * Censuses::STRIDE + Censuses::STRIDE).min(end);
        let height = self.height(rows.clone(), detail);
        let mut work = 1;
        if height <= self.strip.per_cell {
            let census = self.source.census(rows.clone());
            self.add(&Piece { rows: rows.clone(), top: y, height }, &census);
        } else {
            let mut y = y;
            for row in rows.clone() {
                let height = self.height(row..row + 1, detail);
                work += self.row(row, y, height);
                y += height;
            }
        }
        self.strip.next = rows.end;
        (height, work)
    }

    /// Height of rows of one chunk.
    fn height(&self, rows: Range<usize>, detail: Option<&Fenwick>) -> f64 {
        if let Some(detail) = detail {
            let within = |row: usize| row - rows.start / CHUNK * CHUNK;
            return match rows.len() {
                1 => detail.get(within(rows.start)),
                _ => detail.prefix(within(rows.end)) - detail.prefix(within(rows.start)),
            };
        }
        match rows.len() {
            0 => 0.0,
            1 => estimate_row(&self.source.row(rows.start), self.measure),
            _ => {
                let census = self.source.census(rows);
                height_of(u64::from(census.shown), census.all_lines(), self.measure)
            }
        }
    }

    /// Adds rows that are smaller than a cell to the cell of their middle.
    fn add(&mut self, piece: &Piece, census: &Census) {
        let middle = (piece.top + piece.height / 2.0) / self.strip.per_cell;
        let (from, row) = self.strip.from;
        let is_new = piece.rows.start >= row;
        let cell =
            (middle as usize).clamp(if is_new { from } else { 0 }, self.strip.sums.len() - 1);
        if let Some(sum) = self.strip.sums.get_mut(cell).filter(|_| cell >= from) {
            sum.add(piece.rows.clone(), piece.height / self.strip.per_cell, census);
        }
    }

    /// Adds one row, line by line when it is tall; gives the work it was.
    fn row(&mut self, row: usize, top: f64, height: f64) -> usize {
        let info = self.source.row(row);
        let per_cell = self.strip.per_cell;
        let first = (top / per_cell - 0.5).ceil().max(0.0) as usize;
        let end =
            (((top + height) / per_cell - 0.5).ceil().max(0.0) as usize).min(self.strip.sums.len());
        if height < per_cell || first >= end {
            let census = Census { lines: info.matters(), ..Census::of(&info) };
            self.add(&Piece { rows: row..row + 1, top, height }, &census);
            return 1;
        }
        let body = cell::Body::new(&info, height, per_cell);
        let first = first.max(self.strip.from.0);
        for cell in first..end {
            let y = (cell as f64 + 0.5) * per_cell - top;
            if let Some(sum) = self.strip.sums.get_mut(cell) {
                sum.line(row, &body, y);
            }
        }
        1 + end.saturating_sub(first)
    }
}
