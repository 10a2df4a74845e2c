//! Line numbers of records, kept at half a byte a record.
//!
//! A record says how many line ends lie between it and the record before; every so many
//! records the sum is written down.

use super::record::{GAP_MAX, Record};

const STRIDE: usize = 4096;

/// Turns record numbers into line numbers.
#[derive(Clone, Debug, Default)]
pub(super) struct LineTable {
    /// Line of each record whose number is a multiple of the stride.
    marks: Vec<u64>,
    /// Records behind more line ends than it can count itself, with the surplus.
    far: Vec<(u32, u64)>,
    /// Line of the newest record.
    line: u64,
}

impl LineTable {
    /// Notes the next record, which stands `gap` line ends after the one before, and
    /// writes what fits into it.
    pub(super) fn push(&mut self, number: usize, record: &mut Record, gap: u64) {
        self.line += gap;
        record.set_gap(u8::try_from(gap).unwrap_or(GAP_MAX));
        let surplus = gap - u64::from(record.gap());
        if surplus > 0 {
            self.far.push((number as u32, surplus));
        }
        if number.is_multiple_of(STRIDE) {
            self.marks.push(self.line);
        }
    }

    /// The line of a record, counted from 1. `gap_of` gives what [`LineTable::push`] wrote
    /// into a record.
    pub(super) fn line_of(&self, gap_of: impl Fn(usize) -> u8, number: usize) -> u64 {
        let mark = number / STRIDE;
        let first = mark * STRIDE;
        let Some(line) = self.marks.get(mark) else { return 0 };
        let near: u64 = (first + 1..=number).map(|number| u64::from(gap_of(number))).sum();
        let from = self.far.partition_point(|(at, _)| *at as usize <= first);
        let to = self.far.partition_point(|(at, _)| *at as usize <= number);
        let far: u64 = self.far.get(from..to).unwrap_or(&[]).iter().map(|(_, n)| n).sum();
        line + near + far
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.marks.capacity() * size_of::<u64>() + self.far.capacity() * size_of::<(u32, u64)>()
    }

    pub(super) fn shrink(&mut self) {
        self.marks.shrink_to_fit();
        self.far.shrink_to_fit();
    }
}
