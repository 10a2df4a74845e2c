//! A table under construction, with its caps.

use std::ops::Range;

use pulldown_cmark::Alignment;

use crate::model::{Align, BlockKind, Hygiene, RichText};

/// Columns kept of one table.
const COLUMN_CAP: usize = 100;

/// Cells kept of one table.
pub(super) const CELL_CAP: usize = 20_000;

/// Collects the cells of one table.
pub(super) struct Table {
    range: Range<usize>,
    align: Vec<Align>,
    too_wide: bool,
    header: Vec<RichText>,
    rows: Vec<Vec<RichText>>,
    row: Vec<RichText>,
    column: usize,
    cells: usize,
    /// Start of the first row that was not kept.
    cut: Option<usize>,
    pub(super) hygiene: Hygiene,
    /// Start of the last body row.
    pub(super) last_row: usize,
}

impl Table {
    pub(super) fn new(range: Range<usize>, alignments: &[Alignment]) -> Self {
        let align = alignments.iter().take(COLUMN_CAP).map(|alignment| match alignment {
            Alignment::None => Align::None,
            Alignment::Left => Align::Left,
            Alignment::Center => Align::Center,
            Alignment::Right => Align::Right,
        });
        Self {
            align: align.collect(),
            too_wide: alignments.len() > COLUMN_CAP,
            last_row: range.end,
            range,
            header: Vec::new(),
            rows: Vec::new(),
            row: Vec::new(),
            column: 0,
            cells: 0,
            cut: None,
            hygiene: Hygiene::default(),
        }
    }

    pub(super) fn begin_row(&mut self, start: usize) {
        self.column = 0;
        self.last_row = start;
        if self.cut.is_none() && self.cells + self.align.len() > CELL_CAP {
            self.cut = Some(start);
        }
    }

    /// True when the cell that begins now is kept.
    pub(super) fn keeps_cell(&self) -> bool {
        self.cut.is_none() && self.column < self.align.len()
    }

    pub(super) fn end_cell(&mut self, text: RichText) {
        if self.keeps_cell() {
            self.row.push(text);
            self.cells += 1;
        }
        self.column += 1;
    }

    pub(super) fn end_row(&mut self) {
        if self.cut.is_some() {
            return;
        }
        let row = self.take_row();
        self.rows.push(row);
    }

    pub(super) fn end_header(&mut self) {
        self.header = self.take_row();
    }

    fn take_row(&mut self) -> Vec<RichText> {
        let mut row = std::mem::take(&mut self.row);
        row.resize_with(self.align.len(), RichText::default);
        row.shrink_to_fit();
        row
    }

    /// The table, and the bytes of it that are not in it.
    pub(super) fn finish(mut self) -> (BlockKind, Range<usize>, Option<Range<usize>>, Hygiene) {
        let rest = match (self.too_wide, self.cut) {
            (true, _) => Some(self.range.clone()),
            (false, Some(cut)) => Some(cut..self.range.end),
            (false, None) => None,
        };
        self.hygiene.capped |= rest.is_some();
        self.rows.shrink_to_fit();
        let kind = BlockKind::Table { align: self.align, header: self.header, rows: self.rows };
        (kind, self.range, rest, self.hygiene)
    }
}
