//! A table that is still growing.

use std::sync::Arc;

use super::{OpenTail, PART, Tail, single};
use crate::{
    markdown::{
        Options,
        build::Seam,
        frames, partial,
        seal::{Piece, State, rules},
        table::CELL_CAP,
    },
    model::{Align, Block, BlockKind, Hygiene, RichText},
};

/// A table at the top level: its finished rows, and where the last one begins.
pub(super) struct OpenTable {
    parts: Vec<Arc<Block>>,
    /// A short header and delimiter row that make a table of the same columns.
    head: String,
    align: Vec<Align>,
    header: Vec<RichText>,
    rows: Vec<Vec<RichText>>,
    hygiene: Hygiene,
    from: usize,
    pub(super) row: usize,
    cells: usize,
}

impl OpenTable {
    pub(super) fn at(block: &Block, row: usize) -> Option<Self> {
        let BlockKind::Table { align, header, rows } = &block.kind else { return None };
        if rows.is_empty() {
            return None;
        }
        let mut open = Self {
            parts: Vec::new(),
            head: head_like(align),
            align: align.clone(),
            header: header.clone(),
            rows: Vec::new(),
            hygiene: block.hygiene,
            from: block.source.start,
            row,
            cells: header.len(),
        };
        open.keep(rows.iter().take(rows.len() - 1).cloned(), row);
        Some(open)
    }

    fn keep(&mut self, rows: impl Iterator<Item = Vec<RichText>>, row: usize) {
        let before = self.rows.len();
        self.rows.extend(rows);
        self.cells += (self.rows.len() - before) * self.align.len();
        self.row = row;
        if self.row - self.from > PART && !self.rows.is_empty() {
            let rows = std::mem::take(&mut self.rows);
            let part = self.block(rows, self.row);
            self.parts.push(Arc::new(part));
            self.from = self.row;
        }
    }

    fn block(&self, rows: Vec<Vec<RichText>>, end: usize) -> Block {
        let (align, header) = (self.align.clone(), self.header.clone());
        let kind = BlockKind::Table { align, header, rows };
        Block { kind, source: self.from..end, hygiene: self.hygiene }
    }

    pub(super) fn resume(
        mut self,
        state: &mut State,
        text: &str,
        options: Options,
    ) -> Option<Tail> {
        // Rows stand in the text where the short head does not: offsets count from the row.
        let head = self.head.len();
        let piece = format!("{}{}", self.head, text.get(self.row..)?);
        let prepared = partial::open(&piece, rules(options));
        let outcome = state.parse(Piece::new(&piece, 0), &prepared, options);
        let (block, Seam::Row(row)) = single(outcome)? else { return None };
        let BlockKind::Table { align, rows, .. } = block.kind else { return None };
        let grown = self.cells + rows.len() * align.len();
        if align != self.align || rows.is_empty() || grown > CELL_CAP {
            return None;
        }
        frames::add(&mut self.hygiene, block.hygiene);
        let mut rows = rows.into_iter();
        let count = rows.len() - 1;
        let row = self.row + row.checked_sub(head)?;
        self.keep(rows.by_ref().take(count), row);
        let shown = self.rows.iter().cloned().chain(rows).collect();
        let mut blocks = self.parts.clone();
        blocks.push(Arc::new(self.block(shown, text.len())));
        Some(Tail { blocks, seam: OpenTail::Table(self), ..Tail::default() })
    }
}

/// The shortest head of a table with these columns.
fn head_like(align: &[Align]) -> String {
    let delimiters = align.iter().map(|align| match align {
        Align::None => "|-",
        Align::Left => "|:-",
        Align::Center => "|:-:",
        Align::Right => "|-:",
    });
    format!("{}|\n{}|\n", "|a".repeat(align.len()), delimiters.collect::<String>())
}
