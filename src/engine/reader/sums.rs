//! What a list asks about many rows at once, answered without visiting them.

use std::ops::Range;

use crate::model::{Census, Censuses, GroupPlace, RowInfo, RowKind};

/// Rows of one sum.
const STRIDE: usize = 1024;

/// Sums over the rows of an index, what they come to, and where its prompts are. Costs 4
/// bytes a prompt and about a byte a row.
#[derive(Debug, Default)]
pub(super) struct Sums {
    /// Before each so many rows, and behind the last: rows shown while groups are folded,
    /// and their lines.
    before: Vec<(u64, u64)>,
    /// The rows of prompts, in order.
    prompts: Vec<u32>,
    censuses: Censuses,
}

impl Sums {
    pub(super) fn of(rows: impl Iterator<Item = RowInfo>) -> Self {
        let mut sums = Self::default();
        let mut sum = (0, 0);
        for (number, row) in rows.enumerate() {
            if number % STRIDE == 0 {
                sums.before.push(sum);
            }
            sum = plus(sum, shown(row));
            sums.censuses.push(&row);
            if row.kind == RowKind::User {
                sums.prompts.push(number as u32);
            }
        }
        sums.before.push(sum);
        sums.censuses.shrink_to_fit();
        sums
    }

    /// The sums after rows from `from_row` on changed or came. Costs what is copied, and
    /// those rows.
    pub(super) fn changed(
        &self,
        from_row: usize,
        rows: impl Fn(usize) -> RowInfo,
        len: usize,
    ) -> Self {
        let whole = (from_row.min(len) / STRIDE).min(self.before.len().saturating_sub(1));
        let mut before: Vec<_> = self.before.iter().take(whole).copied().collect();
        let first = whole * STRIDE;
        let known = self.prompts.partition_point(|prompt| (*prompt as usize) < first);
        let mut prompts: Vec<u32> = self.prompts.iter().take(known).copied().collect();
        let mut censuses = self.censuses.before(first);
        let mut sum = self.before.get(whole).copied().unwrap_or_default();
        for number in first..len {
            if number % STRIDE == 0 {
                before.push(sum);
            }
            let row = rows(number);
            sum = plus(sum, shown(row));
            censuses.push(&row);
            if row.kind == RowKind::User {
                prompts.push(number as u32);
            }
        }
        before.push(sum);
        Self { before, prompts, censuses }
    }

    /// How many rows of a range are shown while groups are folded, and their lines.
    pub(super) fn estimate(
        &self,
        range: Range<usize>,
        row: impl Fn(usize) -> RowInfo,
    ) -> (u64, u64) {
        let before = |end: usize| {
            let whole = end / STRIDE;
            let sum = self.before.get(whole).copied().unwrap_or_default();
            (whole * STRIDE..end).fold(sum, |sum, i| plus(sum, shown(row(i))))
        };
        let (end, start) = (before(range.end), before(range.start));
        (end.0.saturating_sub(start.0), end.1.saturating_sub(start.1))
    }

    /// What a range of rows comes to.
    pub(super) fn census(&self, range: Range<usize>, row: impl Fn(usize) -> RowInfo) -> Census {
        self.censuses.of(range, row)
    }

    pub(super) fn prompt_after(&self, row: usize) -> Option<usize> {
        let next = self.prompts.partition_point(|prompt| (*prompt as usize) < row);
        self.prompts.get(next).map(|prompt| *prompt as usize)
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.before.capacity() * size_of::<(u64, u64)>()
            + self.prompts.capacity() * 4
            + self.censuses.heap_bytes()
    }
}

fn shown(row: RowInfo) -> (u64, u64) {
    match row.group {
        GroupPlace::Follows { .. } => (0, 0),
        GroupPlace::Alone | GroupPlace::Leads => (1, u64::from(row.lines)),
    }
}

fn plus(a: (u64, u64), b: (u64, u64)) -> (u64, u64) {
    (a.0 + b.0, a.1 + b.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{MessageId, ToolTally};

    fn row(i: usize) -> RowInfo {
        let group = match i % 5 {
            3 => GroupPlace::Follows { back: 1 },
            2 => GroupPlace::Leads,
            _ => GroupPlace::Alone,
        };
        RowInfo {
            id: MessageId(i as u64),
            kind: if i % 700 == 10 { RowKind::User } else { RowKind::Assistant },
            lines: (i % 17) as u16,
            group,
            tally: ToolTally::default(),
            calls: (i % 3) as u8,
            thinks: i.is_multiple_of(2),
            forks: i % 900 == 7,
            failed: i % 11 == 4,
            time_secs: 0,
        }
    }

    #[test]
    fn sums_that_grew_equal_those_made_at_once() {
        for (old, new) in
            [(0, 1), (10, 11), (1_023, 1_025), (1_024, 1_024), (1_500, 4_000), (3_000, 2_050)]
        {
            let before = Sums::of((0..old).map(row));
            for from in [0, old / 2, old.saturating_sub(1), old].map(|from: usize| from.min(new)) {
                let grown = before.changed(from, row, new);
                let fresh = Sums::of((0..new).map(row));
                assert_eq!((&grown.before, &grown.prompts), (&fresh.before, &fresh.prompts));
            }
        }
    }

    #[test]
    fn sums_equal_what_visiting_gives() {
        for len in [0, 1, 1_023, 1_024, 1_025, 5_000] {
            let sums = Sums::of((0..len).map(row));
            for (start, end) in [(0, len), (len / 3, len), (1, len / 2), (len / 2, len / 2)] {
                let (start, end) = (start.min(end), end);
                let visited = (start..end).fold((0, 0), |sum, i| plus(sum, shown(row(i))));
                assert_eq!(sums.estimate(start..end, row), visited, "{start}..{end} of {len}");
                let mut census = Census::default();
                (start..end).for_each(|i| census.add(&Census::of(&row(i))));
                assert_eq!(sums.census(start..end, row), census, "{start}..{end} of {len}");
                assert_eq!((u64::from(census.shown), census.all_lines()), visited);
            }
            for from in [0, 10, 11, 709, 711, 4_911, 6_000] {
                let visited = (from..len).find(|i| row(*i).kind == RowKind::User);
                assert_eq!(sums.prompt_after(from), visited, "{from} of {len}");
            }
        }
    }
}
