//! Rows with hits, in the order of the conversation, while they are still coming.

use crate::engine::find::Found;

/// Rows with hits. They come from where the search began to the end, and then from the
/// first row to there.
#[derive(Debug, Default)]
pub(crate) struct Results {
    /// The row that the search began with.
    start: u32,
    before: Run,
    after: Run,
}

/// Rows with hits in rising order.
#[derive(Debug, Default)]
struct Run {
    found: Vec<Found>,
    /// Behind each row: the hits up to and with it.
    sums: Vec<u64>,
}

impl Run {
    fn push(&mut self, found: Found) {
        self.sums.push(self.total() + u64::from(found.hits));
        self.found.push(found);
    }

    fn total(&self) -> u64 {
        self.sums.last().copied().unwrap_or(0)
    }

    /// The first index whose row is not before `row`.
    fn reach(&self, row: u32) -> usize {
        self.found.partition_point(|found| found.row < row)
    }

    /// Hits in the first `count` rows.
    fn sum(&self, count: usize) -> u64 {
        count.checked_sub(1).and_then(|last| self.sums.get(last)).copied().unwrap_or(0)
    }
}

impl Results {
    /// No results yet of a search that begins with a row.
    pub(crate) fn from_row(start: usize) -> Self {
        Self { start: u32::try_from(start).unwrap_or(u32::MAX), ..Self::default() }
    }

    /// Takes in what came.
    pub(crate) fn take(&mut self, found: Vec<Found>) {
        for found in found {
            let run = if found.row < self.start { &mut self.before } else { &mut self.after };
            run.push(found);
        }
    }

    /// All hits.
    pub(crate) fn total(&self) -> u64 {
        self.before.total() + self.after.total()
    }

    /// Bytes on the heap.
    pub(crate) fn bytes(&self) -> usize {
        self.len() * (size_of::<Found>() + size_of::<u64>())
    }

    /// Rows with hits.
    pub(crate) fn len(&self) -> usize {
        self.before.found.len() + self.after.found.len()
    }

    /// The row at an index.
    pub(crate) fn get(&self, index: usize) -> Option<Found> {
        let before = self.before.found.get(index);
        before.or_else(|| self.after.found.get(index - self.before.found.len())).copied()
    }

    /// The index of a row, or of the next one with hits.
    pub(crate) fn reach(&self, row: usize) -> usize {
        let row = u32::try_from(row).unwrap_or(u32::MAX);
        if row < self.start {
            self.before.reach(row)
        } else {
            self.before.found.len() + self.after.reach(row)
        }
    }

    /// The row, if it has hits.
    pub(crate) fn at_row(&self, row: usize) -> Option<Found> {
        self.get(self.reach(row)).filter(|found| found.row as usize == row)
    }

    /// Hits before a row.
    pub(crate) fn hits_before(&self, row: usize) -> u64 {
        let index = self.reach(row);
        let before = self.before.found.len();
        self.before.sum(index.min(before)) + self.after.sum(index.saturating_sub(before))
    }

    /// True when the rows from the start of the search to the end are all known: only then
    /// come those before.
    pub(crate) fn has_turned(&self) -> bool {
        !self.before.found.is_empty()
    }

    /// True when a step back from this index would enter rows that are still being found.
    pub(crate) fn is_seam(&self, index: usize) -> bool {
        index <= self.before.found.len()
    }

    /// All rows with hits.
    pub(crate) fn rows(&self) -> Vec<u32> {
        let found = self.before.found.iter().chain(&self.after.found);
        found.map(|found| found.row).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::MessageId;

    fn found(row: u32, hits: u32) -> Found {
        Found { row, id: MessageId(u64::from(row)), hits }
    }

    #[test]
    fn rows_stand_in_order_whatever_came_first() {
        let mut results = Results::from_row(10);
        results.take(vec![found(10, 2), found(30, 1)]);
        assert!(!results.has_turned());
        results.take(vec![found(2, 4), found(9, 1)]);
        assert!(results.has_turned());
        assert_eq!(results.rows(), [2, 9, 10, 30]);
        assert_eq!((results.total(), results.len()), (8, 4));
        let before: Vec<u64> =
            [0, 2, 3, 9, 10, 11, 30, 31].map(|row| results.hits_before(row)).into();
        assert_eq!(before, [0, 0, 4, 4, 5, 7, 7, 8]);
        assert_eq!(results.at_row(9).map(|found| found.hits), Some(1));
        assert_eq!(results.at_row(11), None);
        assert_eq!(results.get(results.reach(11)), Some(found(30, 1)));
        assert_eq!(results.get(results.reach(31)), None);
    }
}
