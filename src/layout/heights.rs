//! Heights of all rows: estimated in chunks, measured where somebody looked.
//!
//! Two levels. A Fenwick tree of f64 sums over chunks of [`CHUNK`] rows answers "where is
//! row *i*" and "which row is at *y*" for a million rows; the rows of a chunk are spelled
//! out only once the reader has been there. So a history costs nothing until it is read.

use std::collections::HashMap;

/// Rows in a chunk.
pub const CHUNK: usize = 1024;

/// Prefix sums over f64 that can be changed at any place in O(log n).
#[derive(Clone, Debug, Default)]
pub struct Fenwick {
    tree: Vec<f64>,
    values: Vec<f64>,
}

impl Fenwick {
    /// Sums over these values, built in O(n).
    #[must_use]
    pub fn new(values: Vec<f64>) -> Self {
        let mut tree = values.clone();
        for i in 0..tree.len() {
            let parent = i | (i + 1);
            if parent < tree.len() {
                tree[parent] += tree[i];
            }
        }
        Self { tree, values }
    }

    /// Number of values.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// True when there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The value at an index.
    #[must_use]
    pub fn get(&self, index: usize) -> f64 {
        self.values.get(index).copied().unwrap_or(0.0)
    }

    /// Replaces a value.
    pub fn set(&mut self, index: usize, value: f64) {
        let Some(old) = self.values.get_mut(index) else { return };
        let delta = value - std::mem::replace(old, value);
        let mut i = index;
        while let Some(node) = self.tree.get_mut(i) {
            *node += delta;
            i |= i + 1;
        }
    }

    /// Appends a value.
    pub fn push(&mut self, value: f64) {
        let index = self.tree.len();
        // The new node covers the values since the last node that does not end here.
        let first = index & (index + 1);
        let covered = self.prefix(index) - self.prefix(first);
        self.tree.push(covered + value);
        self.values.push(value);
    }

    /// Forgets all values from an index on.
    pub fn truncate(&mut self, len: usize) {
        self.tree.truncate(len);
        self.values.truncate(len);
    }

    /// Sum of the first `count` values.
    #[must_use]
    pub fn prefix(&self, count: usize) -> f64 {
        let mut sum = 0.0;
        let mut i = count.min(self.tree.len());
        while i > 0 {
            sum += self.tree[i - 1];
            i &= i - 1;
        }
        sum
    }

    /// Sum of all values.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.prefix(self.len())
    }

    /// The value that covers `y`, and how far into it `y` is. Values of zero are passed
    /// over. Beyond the end it is the last value.
    #[must_use]
    pub fn find(&self, y: f64) -> (usize, f64) {
        let len = self.tree.len();
        let (mut at, mut rest) = (0, y.max(0.0));
        let mut step = len.next_power_of_two();
        while step > 0 {
            if at + step <= len && self.tree[at + step - 1] <= rest {
                rest -= self.tree[at + step - 1];
                at += step;
            }
            step /= 2;
        }
        if at >= len && len > 0 {
            return (len - 1, self.values[len - 1]);
        }
        (at, rest)
    }
}

/// Chunks whose rows are spelled out at a time: 2 MiB.
const DETAIL_MAX: usize = 128;

/// Heights of all rows of a source, in points.
#[derive(Clone, Debug, Default)]
pub struct Heights {
    chunks: Fenwick,
    detail: HashMap<usize, Fenwick>,
    rows: usize,
    moved: f64,
}

impl Heights {
    /// Estimates for `rows` rows; `chunk_estimate` gives the height of a whole chunk.
    #[must_use]
    pub fn new(rows: usize, chunk_estimate: impl FnMut(usize) -> f64) -> Self {
        let chunks = rows.div_ceil(CHUNK);
        Self {
            chunks: Fenwick::new((0..chunks).map(chunk_estimate).collect()),
            detail: HashMap::new(),
            rows,
            moved: 0.0,
        }
    }

    /// The same heights, made from others that had moved so far.
    #[must_use]
    pub fn after(mut self, moved: f64) -> Self {
        self.moved += moved + self.total();
        self
    }

    /// Takes in rows that came behind the others.
    pub fn extend(
        &mut self,
        rows: usize,
        estimate: impl Fn(usize) -> f64,
        mut chunk_estimate: impl FnMut(usize) -> f64,
    ) {
        let first = self.rows;
        self.rows = rows.max(first);
        for chunk in first / CHUNK..self.rows.div_ceil(CHUNK) {
            let end = ((chunk + 1) * CHUNK).min(self.rows);
            let height = match self.detail.get_mut(&chunk) {
                Some(detail) => {
                    (chunk * CHUNK + detail.len()..end).for_each(|row| detail.push(estimate(row)));
                    detail.total()
                }
                None => chunk_estimate(chunk),
            };
            if chunk < self.chunks.len() {
                self.chunks.set(chunk, height);
            } else {
                self.chunks.push(height);
            }
        }
    }

    /// How far measuring has moved rows since these heights were made, in points: the sum
    /// of all changes, whatever their sign.
    #[must_use]
    pub fn moved(&self) -> f64 {
        self.moved
    }

    /// Top and height of a chunk of [`CHUNK`] rows, in points.
    #[must_use]
    pub fn chunk(&self, chunk: usize) -> (f64, f64) {
        (self.chunks.prefix(chunk), self.chunks.get(chunk))
    }

    /// The rows of a chunk, where they are spelled out.
    #[must_use]
    pub fn rows_of(&self, chunk: usize) -> Option<&Fenwick> {
        self.detail.get(&chunk)
    }

    /// Number of rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.rows
    }

    /// True when there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Sum of all heights.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.chunks.total()
    }

    /// The top of a row.
    pub fn top(&mut self, row: usize, estimate: impl Fn(usize) -> f64) -> f64 {
        let chunk = row / CHUNK;
        let within = self.detail(chunk, estimate).prefix(row % CHUNK);
        self.chunks.prefix(chunk) + within
    }

    /// The height of a row.
    pub fn get(&mut self, row: usize, estimate: impl Fn(usize) -> f64) -> f64 {
        self.detail(row / CHUNK, estimate).get(row % CHUNK)
    }

    /// Notes the measured height of a row.
    pub fn set(&mut self, row: usize, height: f64, estimate: impl Fn(usize) -> f64) {
        let chunk = row / CHUNK;
        let detail = self.detail(chunk, estimate);
        let change = height - detail.get(row % CHUNK);
        if change == 0.0 {
            return;
        }
        detail.set(row % CHUNK, height);
        let total = detail.total();
        self.chunks.set(chunk, total);
        self.moved += change.abs();
    }

    /// The row that covers `y`, and how far into it `y` is.
    pub fn find(&mut self, y: f64, estimate: impl Fn(usize) -> f64) -> (usize, f64) {
        let (chunk, rest) = self.chunks.find(y);
        let (row, rest) = self.detail(chunk, estimate).find(rest);
        ((chunk * CHUNK + row).min(self.rows.saturating_sub(1)), rest)
    }

    /// Bytes on the heap.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let fenwick = |f: &Fenwick| f.len() * 2 * size_of::<f64>();
        fenwick(&self.chunks) + self.detail.len() * 2 * CHUNK * size_of::<f64>()
    }

    fn detail(&mut self, chunk: usize, estimate: impl Fn(usize) -> f64) -> &mut Fenwick {
        if self.detail.len() >= DETAIL_MAX && !self.detail.contains_key(&chunk) {
            // What lies farthest from the reader keeps its height as a whole.
            let farthest =
                self.detail.keys().copied().max_by_key(|other| (other.abs_diff(chunk), *other));
            farthest.map(|other| self.detail.remove(&other));
        }
        let (rows, chunks, moved) = (self.rows, &mut self.chunks, &mut self.moved);
        self.detail.entry(chunk).or_insert_with(|| {
            let first = chunk * CHUNK;
            let last = (first + CHUNK).min(rows);
            let detail = Fenwick::new((first..last).map(estimate).collect());
            // A chunk's sum was an estimate of its own; from here on its rows decide.
            *moved += (detail.total() - chunks.get(chunk)).abs();
            chunks.set(chunk, detail.total());
            detail
        })
    }
}
