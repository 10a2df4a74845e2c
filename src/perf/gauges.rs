//! What the retained pipeline says of itself once a frame.

use std::cell::Cell;

/// Figures of the retained pipeline for one frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gauges {
    /// Bytes it uploaded in this frame.
    pub uploaded_bytes: u64,
    /// Bytes it holds on the GPU.
    pub gpu_bytes: u64,
    /// Slugs whose triangles are there.
    pub slugs_resident: u64,
    /// Draw calls of this frame.
    pub draws: u64,
    /// Milliseconds of the GPU for an earlier frame, where the adapter measures them.
    pub gpu_ms: Option<f64>,
}

thread_local! {
    static GAUGES: Cell<Option<Gauges>> = const { Cell::new(None) };
}

/// Says how the retained pipeline stands. It and those who ask are on the UI thread.
pub fn set_gauges(gauges: Gauges) {
    GAUGES.set(Some(gauges));
}

/// What was said last; none while no retained pipeline draws.
#[must_use]
pub fn gauges() -> Option<Gauges> {
    GAUGES.get()
}

/// Takes back what was said: nothing is retained any more.
pub fn clear_gauges() {
    GAUGES.set(None);
}
