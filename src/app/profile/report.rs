//! What was measured in one case.

use std::time::{Duration, Instant};

use super::{
    script::Moment,
    stage::{Mark, Measured},
};
use crate::{
    app::{
        cli::{Renderer, Scenario},
        offscreen::{Counters, FrameStats},
    },
    perf::{self, Samples, Summary},
};

/// What one scenario cost with one renderer.
pub(super) struct Report {
    /// The scenario's name.
    pub(super) name: &'static str,
    pub(super) scenario: Scenario,
    pub(super) renderer: Renderer,
    pub(super) place: Place,
    pub(super) adapter: String,
    pub(super) source_bytes: u64,
    pub(super) first_frame: Duration,
    pub(super) measured: Measured,
    pub(super) counters: Counters,
    /// While frames were measured.
    pub(super) slugs_laid_out: u64,
    pub(super) repaints_requested: u64,
    pub(super) memory: Memory,
    /// Share of a core while nothing happened, where it was looked at.
    pub(super) core: Option<f64>,
    /// Milliseconds of frames by the GPU's own clock; empty where it has none.
    pub(super) gpu: Samples,
    pub(super) marks: Vec<Mark>,
    pub(super) began: Instant,
    pub(super) ended: Instant,
}

/// Where frames were shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    OffScreen,
    /// Frames hold there what the system and the driver take, which has no limit of ours.
    Window,
}

impl Renderer {
    /// Its name on the command line and in reports.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Retained => "retained",
            Self::Replay => "replay",
            Self::Commonmark => "commonmark",
        }
    }
}

impl Report {
    /// Milliseconds of the frames' CPU time.
    pub(super) fn cpu(&self) -> Summary {
        self.measured.millis(FrameStats::cpu)
    }

    /// Bytes that frames uploaded.
    pub(super) fn uploaded(&self) -> Summary {
        self.measured.summary(|frame| frame.uploaded_bytes as f64)
    }

    /// How many times as long as ours the reference renderer's median frame takes, where
    /// both were measured.
    pub(super) fn ratio(&self, reports: &[Self]) -> Option<f64> {
        if self.renderer == Renderer::Commonmark {
            return None;
        }
        let is_reference =
            |other: &&Self| other.renderer == Renderer::Commonmark && other.name == self.name;
        let (ours, reference) = (self.cpu().p50, reports.iter().find(is_reference)?.cpu().p50);
        (ours > 0.0).then_some(reference / ours)
    }
}

/// Resident memory in bytes, where the system says it.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    /// After the last frame.
    pub(super) rss: Option<u64>,
    /// The most since the empty document was shown.
    pub(super) peak_rss: Option<u64>,
    /// With the empty document.
    empty_rss: Option<u64>,
    /// At moments of the scenario.
    weighed: Vec<(Moment, Option<u64>)>,
}

impl Memory {
    /// Before anything is opened.
    pub(super) fn above(empty_rss: Option<u64>) -> Self {
        Self { empty_rss, ..Self::default() }
    }

    pub(super) fn weigh(&mut self, moment: Moment) {
        self.weighed.push((moment, perf::rss_bytes()));
    }

    /// Weighs for the last time.
    pub(super) fn end(&mut self) {
        (self.rss, self.peak_rss) = (perf::rss_bytes(), perf::peak_rss_bytes());
    }

    /// What the case took at its peak beside what an empty document takes.
    pub(super) fn peak_over_empty(&self) -> Option<u64> {
        self.over_empty(self.peak_rss)
    }

    /// What was held at each moment beside what an empty document takes.
    pub(super) fn moments(&self) -> impl Iterator<Item = (Moment, Option<u64>)> + '_ {
        self.weighed.iter().map(|(moment, rss)| (*moment, self.over_empty(*rss)))
    }

    fn over_empty(&self, rss: Option<u64>) -> Option<u64> {
        Some(rss?.saturating_sub(self.empty_rss?))
    }
}
