//! A distribution of any length in constant room.

use super::Summary;

/// Buckets that double a value; each is 1.1 % wide.
const PER_OCTAVE: usize = 64;
const OCTAVES: usize = 26;
/// The least value told from zero: a quarter of a microsecond, when values are milliseconds.
const LEAST: f64 = 1.0 / 4096.0;

/// Counts values by size. Percentiles are right within 1.1 %; mean and maximum are exact.
#[derive(Clone, Debug)]
pub struct Histogram {
    buckets: Box<[u32]>,
    count: u64,
    sum: f64,
    max: f64,
}

impl Default for Histogram {
    fn default() -> Self {
        let buckets = vec![0; PER_OCTAVE * OCTAVES].into_boxed_slice();
        Self { buckets, count: 0, sum: 0.0, max: 0.0 }
    }
}

impl Histogram {
    /// Counts a value. What is no number, or less than zero, is dropped.
    pub fn push(&mut self, value: f64) {
        if value.is_nan() || value < 0.0 {
            return;
        }
        let bucket = &mut self.buckets[bucket_of(value)];
        *bucket = bucket.saturating_add(1);
        self.count += 1;
        self.sum += value;
        self.max = self.max.max(value);
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        let Self { buckets, count, sum, max } = self;
        buckets.fill(0);
        (*count, *sum, *max) = (0, 0.0, 0.0);
    }

    /// What was counted says.
    #[must_use]
    pub fn summary(&self) -> Summary {
        if self.count == 0 {
            return Summary::default();
        }
        Summary {
            count: usize::try_from(self.count).unwrap_or(usize::MAX),
            p50: self.percentile(50),
            p95: self.percentile(95),
            p99: self.percentile(99),
            max: self.max,
            mean: self.sum / self.count as f64,
        }
    }

    /// The upper edge of the bucket that holds the nearest rank, never above the maximum.
    fn percentile(&self, percent: u64) -> f64 {
        let rank = (self.count * percent).div_ceil(100).max(1);
        let mut seen = 0;
        let reached = |count: &u32| {
            seen += u64::from(*count);
            seen >= rank
        };
        let bucket = self.buckets.iter().position(reached).unwrap_or_default();
        let edge = LEAST * ((bucket + 1) as f64 / PER_OCTAVE as f64).exp2();
        edge.min(self.max)
    }
}

fn bucket_of(value: f64) -> usize {
    // A negative float becomes 0 and a large one the largest number.
    let bucket = ((value / LEAST).log2() * PER_OCTAVE as f64) as usize;
    bucket.min(PER_OCTAVE * OCTAVES - 1)
}
