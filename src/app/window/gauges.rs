//! What the retained pipeline did in a frame, for whoever measures.

use egui::Context;

use crate::{
    gpu::{Counters, Printer},
    perf::{self, Gauges},
};

/// Reads the printer's counters once a frame.
#[derive(Debug, Default)]
pub(super) struct Meter {
    last: Counters,
}

impl Meter {
    /// Says what was done since the last call.
    pub(super) fn read(&mut self, ctx: &Context) {
        let Some(printer) = Printer::of(ctx) else { return perf::clear_gauges() };
        let now = printer.counters();
        let last = std::mem::replace(&mut self.last, now);
        perf::set_gauges(Gauges {
            // A printer on a new device counts from the start.
            uploaded_bytes: now.uploaded_bytes.saturating_sub(last.uploaded_bytes),
            gpu_bytes: now.gpu_bytes,
            slugs_resident: now.plates,
            draws: now.draws.saturating_sub(last.draws),
            gpu_ms: None,
        });
    }
}
