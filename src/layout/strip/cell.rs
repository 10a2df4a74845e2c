//! One cell of the strip, and what is added up in it.

use std::ops::Range;

use crate::model::{Census, Matter, Matters, MessageId, RowInfo};

/// What stands in a row of pixels of the strip.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// The rows that have something in it.
    pub rows: Range<u32>,
    /// Shares of what is in it, in 255ths; all 0 for a cell between messages.
    pub mix: [u8; Matter::ALL.len()],
    /// Length of the line, in 255ths of the longest; 0 between the lines of a message.
    pub reach: u8,
    /// Share of its rows that failed, in 255ths; at least 1 when one did.
    pub failed: u8,
    /// Another path leaves here.
    pub forks: bool,
}

impl Cell {
    /// False for a cell behind the last row.
    #[must_use]
    pub fn is_used(&self) -> bool {
        self.rows.start < self.rows.end
    }
}

/// What was added up in a cell so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Sum {
    rows: Range<u32>,
    mix: [f32; Matter::ALL.len()],
    reach: u8,
    failed: u32,
    forks: bool,
}

impl Sum {
    pub(super) fn first_row(&self) -> Option<usize> {
        (self.rows.start < self.rows.end).then_some(self.rows.start as usize)
    }

    /// True when all that is in it stands before a row.
    pub(super) fn ends_before(&self, row: usize) -> bool {
        self.rows.end as usize <= row && self.rows.start < self.rows.end
    }

    fn cover(&mut self, rows: Range<usize>) {
        let rows = rows.start as u32..rows.end as u32;
        self.rows = match self.first_row() {
            Some(_) => self.rows.start.min(rows.start)..self.rows.end.max(rows.end),
            None => rows,
        };
    }

    /// Adds rows that take this much of the cell.
    pub(super) fn add(&mut self, rows: Range<usize>, share: f64, census: &Census) {
        let lines = census.all_lines().max(1) as f32;
        let share = if census.shown > 0 { share.max(1e-3) as f32 } else { share as f32 };
        for (sum, count) in self.mix.iter_mut().zip(census.lines) {
            *sum += share * count as f32 / lines;
        }
        // Few rows are as ragged as text is, many come to an even column.
        let ragged = noise(rows.start as u64) % (86 / (1 + rows.len() as u64 / 4)).max(1);
        self.reach = self.reach.max(255 - ragged as u8);
        self.failed = self.failed.saturating_add(census.failed);
        self.forks |= census.forks > 0;
        self.cover(rows);
    }

    /// Adds what stands at a height of a tall row.
    pub(super) fn line(&mut self, row: usize, body: &Body, y: f64) {
        if let Some((matter, reach)) = body.at(y) {
            self.mix[matter as usize] += 1.0;
            self.reach = self.reach.max(reach);
        }
        self.failed += u32::from(body.failed);
        self.forks |= body.forks && !body.is_marked_above(y);
        self.cover(row..row + 1);
    }

    pub(super) fn cell(&self) -> Cell {
        let whole: f32 = self.mix.iter().sum();
        let share = |part: f32| match part > 0.0 {
            true => (part / whole * 255.0).round().max(1.0) as u8,
            false => 0,
        };
        let rows = u64::from(self.rows.end - self.rows.start).max(1);
        let failed = (u64::from(self.failed) * 255).div_ceil(rows).min(255);
        Cell {
            rows: self.rows.clone(),
            mix: self.mix.map(share),
            reach: if whole > 0.0 { self.reach } else { 0 },
            failed: failed as u8,
            forks: self.forks,
        }
    }
}

/// A row that is taller than a cell, as lines.
pub(super) struct Body {
    id: MessageId,
    matters: Matters,
    /// Height of what is said, in points; the rest is room before the next message.
    said: f64,
    lines: f64,
    /// Cells from one line to the next.
    pitch: f64,
    per_cell: f64,
    height: f64,
    failed: bool,
    forks: bool,
}

/// Height of a line of text in points.
const LINE: f64 = 23.0;
/// Room before the next message in points.
const MARGIN: f64 = 16.0;
/// Part of a line's height that is ink.
const INK: f64 = 0.66;

impl Body {
    pub(super) fn new(row: &RowInfo, height: f64, per_cell: f64) -> Self {
        let said = (height - MARGIN.max(per_cell)).max(height * 0.5);
        let lines = (said / LINE).round().max(1.0);
        Self {
            id: row.id,
            matters: row.matters(),
            said,
            lines,
            pitch: said / lines / per_cell,
            per_cell,
            height,
            failed: row.failed,
            forks: row.forks,
        }
    }

    /// What stands at a height, and how long the line is; none behind what is said.
    fn at(&self, y: f64) -> Option<(Matter, u8)> {
        let line = y / self.said * self.lines;
        if line >= self.lines || line < 0.0 {
            return None;
        }
        let matter = self.matter(line / self.lines);
        let is_between = self.pitch >= 2.0 && line.fract() > INK;
        let reach = if is_between { 0 } else { self.reach(matter, line as u64) };
        Some((matter, reach))
    }

    fn matter(&self, part: f64) -> Matter {
        let all: u32 = self.matters.iter().sum();
        let mut until = part * f64::from(all);
        for (matter, lines) in Matter::ALL.into_iter().zip(self.matters) {
            until -= f64::from(lines);
            if until < 0.0 {
                return matter;
            }
        }
        Matter::Reply
    }

    /// Prompts are blocks; other lines are as ragged as text is.
    fn reach(&self, matter: Matter, line: u64) -> u8 {
        let noise = noise(self.id.0.rotate_left(17) ^ line.wrapping_mul(0x9E37));
        let (least, most) = match matter {
            Matter::Prompt => (225, 225),
            Matter::Thinking => (110, 180),
            Matter::Reply if line + 1 >= self.lines as u64 => (60, 170),
            Matter::Reply => (170, 255),
            Matter::Tools | Matter::Failed => (120, 235),
            Matter::Notice => (130, 130),
        };
        (least + noise % (most - least + 1)) as u8
    }

    /// A branch leaves at the end of its row.
    fn is_marked_above(&self, y: f64) -> bool {
        y + self.per_cell < self.height
    }
}

/// A number that looks like chance and is the same in every run.
fn noise(seed: u64) -> u64 {
    let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB) >> 40
}
