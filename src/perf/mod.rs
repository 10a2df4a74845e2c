//! What the program takes: time by stage and frame, memory, power; and why it wants frames.
//!
//! Nothing here costs anything worth naming until [`enable`] is called.

mod frames;
mod gauges;
mod histogram;
mod memory;
mod power;
mod processor;
mod reasons;
mod samples;
mod spans;
mod stages;

use std::time::Instant;

pub use frames::{FRAMES, Frame, FrameRing};
pub use gauges::{Gauges, clear_gauges, gauges, set_gauges};
pub use histogram::Histogram;
pub use memory::{peak_rss_bytes, reset_peak_rss, rss_bytes};
pub use power::{Power, power, power_in};
pub use processor::processor_time;
pub use reasons::{Reason, Requests, Tally};
pub use samples::{Samples, Summary};
pub use spans::{Recording, SPANS_MAX, Span, is_recording, record, span, take_recording};
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
