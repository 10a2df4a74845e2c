//! What time and memory the program takes: stages, frame samples, resident memory.
//!
//! Nothing here costs anything worth naming until [`enable`] is called.

mod memory;
mod samples;
mod stages;

use std::time::Instant;

pub use memory::{peak_rss_bytes, reset_peak_rss, rss_bytes};
pub use samples::{Samples, Summary};
pub use stages::{Scope, Stage, enable, is_enabled, take_stages};

/// The clock. Everything else that needs a time asks here, so that pure layers can be
/// checked for taking `now` as an argument instead.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "the one place that reads the clock")]
pub fn now() -> Instant {
    Instant::now()
}

/// Milliseconds of a duration, with fractions.
#[must_use]
pub fn millis(duration: std::time::Duration) -> f64 {
    duration.as_secs_f64() * 1e3
}

/// Measures from here to the end of the enclosing block under a name.
///
/// ```
/// fn lay_out() {
///     letterpress::perf::scope!("lay_out");
/// }
/// letterpress::perf::enable(true);
/// lay_out();
/// let stages = letterpress::perf::take_stages();
/// assert_eq!((stages[0].name, stages[0].calls), ("lay_out", 1));
/// ```
#[macro_export]
#[doc(hidden)]
macro_rules! __perf_scope {
    ($name:literal) => {
        let _scope = $crate::perf::Scope::enter($name);
    };
}

#[doc(inline)]
pub use crate::__perf_scope as scope;
