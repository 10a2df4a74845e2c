//! The last so many samples of something, and what they say.

/// A ring of the newest samples.
///
/// Summaries are exact: they sort a copy of the ring, so a summary of 100,000 samples
/// costs some milliseconds and is not for every frame.
#[derive(Clone, Debug)]
pub struct Samples {
    ring: Vec<f64>,
    /// Where the next sample goes once the ring is full.
    next: usize,
    capacity: usize,
}

/// What a set of samples says. All zero for no samples.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Summary {
    /// Number of samples.
    pub count: usize,
    /// Half of the samples are at most this.
    pub p50: f64,
    /// 95 % are at most this.
    pub p95: f64,
    /// 99 % are at most this.
    pub p99: f64,
    /// The largest.
    pub max: f64,
    /// Their mean.
    pub mean: f64,
}

/// More than an hour of frames at 60 Hz tells nothing new and would cost memory.
const CAPACITY_MAX: usize = 100_000;

impl Samples {
    /// An empty ring. The capacity is held between 1 and 100,000.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self { ring: Vec::new(), next: 0, capacity: capacity.clamp(1, CAPACITY_MAX) }
    }

    /// Adds a sample and forgets the oldest when the ring is full. Values that are not
    /// numbers are dropped.
    pub fn push(&mut self, sample: f64) {
        if sample.is_nan() {
            return;
        }
        if self.ring.len() < self.capacity {
            self.ring.push(sample);
        } else {
            self.ring[self.next] = sample;
            self.next = (self.next + 1) % self.capacity;
        }
    }

    /// The samples, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = f64> + '_ {
        let (newer, older) = self.ring.split_at(self.next);
        older.iter().chain(newer).copied()
    }

    /// Number of samples held.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ring.len()
    }

    /// True before the first sample.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }

    /// Forgets all samples.
    pub fn clear(&mut self) {
        self.ring.clear();
        self.next = 0;
    }

    /// Percentiles by nearest rank: each is one of the samples.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let mut sorted = self.ring.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let Some(max) = sorted.last().copied() else { return Summary::default() };
        let rank = |percent: usize| {
            let nearest = (sorted.len() * percent).div_ceil(100).max(1);
            sorted[nearest - 1]
        };
        Summary {
            count: sorted.len(),
            p50: rank(50),
            p95: rank(95),
            p99: rank(99),
            max,
            mean: sorted.iter().sum::<f64>() / sorted.len() as f64,
        }
    }
}

impl FromIterator<f64> for Samples {
    fn from_iter<I: IntoIterator<Item = f64>>(iter: I) -> Self {
        let mut samples = Self::new(CAPACITY_MAX);
        iter.into_iter().for_each(|sample| samples.push(sample));
        samples
    }
}
