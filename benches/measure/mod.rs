//! Runs of a bench, and the table they are printed as.

use std::{fmt, time::Duration};

use letterpress::perf::{self, Samples, millis};

/// How much is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// What figures are taken from.
    Full,
    /// Enough to see that it works.
    Quick,
}

impl Extent {
    /// `cargo bench --bench NAME -- --quick` for the quick one.
    pub(crate) fn of_args() -> Self {
        let quick = std::env::args().any(|word| word == "--quick");
        if quick { Self::Quick } else { Self::Full }
    }

    /// One of two.
    pub(crate) fn pick<T>(self, full: T, quick: T) -> T {
        match self {
            Self::Full => full,
            Self::Quick => quick,
        }
    }
}

/// One thing that was run several times.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) name: String,
    /// Milliseconds of each run.
    pub(crate) runs: Samples,
    /// What is the same in every run, and on every machine.
    pub(crate) counts: Vec<(&'static str, u64)>,
}

impl Row {
    /// Counts are asked for once all runs are done.
    pub(crate) fn new(
        name: impl Into<String>,
        runs: Samples,
        counts: impl IntoIterator<Item = (&'static str, u64)>,
    ) -> Self {
        Self { name: name.into(), runs, counts: counts.into_iter().collect() }
    }
}

/// Everything that a bench ran.
#[derive(Clone, Debug)]
pub(crate) struct Table {
    pub(crate) title: &'static str,
    pub(crate) rows: Vec<Row>,
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}; milliseconds", self.title)?;
        writeln!(
            f,
            "{:<40} {:>6} {:>10} {:>10} {:>10}  counts",
            "", "runs", "median", "p95", "min"
        )?;
        for Row { name, runs, counts } in &self.rows {
            let summary = runs.summary();
            let min = runs.iter().fold(f64::INFINITY, f64::min);
            let (count, p50, p95) = (summary.count, summary.p50, summary.p95);
            write!(f, "{name:<40} {count:>6} {p50:>10.4} {p95:>10.4} {min:>10.4}  ")?;
            for (what, count) in counts {
                write!(f, "{what} {count}  ")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

/// Times something so many times, in milliseconds.
pub(crate) fn runs<T>(count: usize, mut run: impl FnMut() -> T) -> Samples {
    let mut samples = Samples::new(count);
    for _ in 0..count {
        let (took, kept) = timed(&mut run);
        drop(kept);
        samples.push(millis(took));
    }
    samples
}

/// Times something once. What it gives is dropped by whoever wanted it, untimed.
pub(crate) fn timed<T>(run: impl FnOnce() -> T) -> (Duration, T) {
    let start = perf::now();
    let made = std::hint::black_box(run());
    (start.elapsed(), made)
}
