//! What a figure may be, beside what it is.

use super::report::{Place, Report};
use crate::{
    app::cli::{Renderer, Scenario},
    perf::millis,
};

/// A figure that is held to a limit.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Budget {
    /// The figure, by its path in the JSON where it stands there.
    pub(super) name: &'static str,
    pub(super) limit: Limit,
    pub(super) figure: f64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Limit {
    AtMost(f64),
    AtLeast(f64),
}

/// Of a frame, in milliseconds.
pub(super) const SCROLL_P50_MS: f64 = 0.05;
pub(super) const SCROLL_P99_MS: f64 = 0.5;
const FLING_P99_MS: f64 = 4.0;
const STREAM_P99_MS: f64 = 0.5;
/// Bytes a frame.
const SCROLL_UPLOAD_BYTES: f64 = 4096.0;
/// Times the median of ours that the reference renderer takes.
const SCROLL_RATIO: f64 = 10.0;
/// Milliseconds to the first frame, by the most messages they hold for.
const OPEN_MS: [(u64, f64); 3] = [(1_000, 30.0), (100_000, 60.0), (u64::MAX, 300.0)];
const GIANT_FIRST_MS: f64 = 50.0;
const GIANT_MB: f64 = 64.0;
/// Beside an empty document: this much, and this for each message.
const MEMORY_MB: f64 = 60.0;
const MEMORY_BYTES_A_MESSAGE: f64 = 64.0;
/// Of a core.
const IDLE_PERCENT: f64 = 0.2;

const MEGABYTE: f64 = 1e6;

impl Budget {
    /// True while the limit holds.
    pub(super) fn is_within(&self) -> bool {
        match self.limit {
            Limit::AtMost(limit) => self.figure <= limit,
            Limit::AtLeast(limit) => self.figure >= limit,
        }
    }
}

impl Limit {
    pub(super) fn value(self) -> f64 {
        match self {
            Self::AtMost(limit) | Self::AtLeast(limit) => limit,
        }
    }
}

/// The limits of a report's figures. The reference renderer has none; `ratio` is how many
/// times as long it takes.
pub(super) fn budgets(report: &Report, ratio: Option<f64>) -> Vec<Budget> {
    if report.renderer == Renderer::Commonmark {
        return Vec::new();
    }
    let mut budgets = match report.place {
        Place::OffScreen => of_frames(report, ratio),
        Place::Window => Vec::new(),
    };
    let at_most = |name, limit, figure| Budget { name, limit: Limit::AtMost(limit), figure };
    if report.scenario == Scenario::Idle {
        budgets.push(at_most("repaints_requested", 0.0, report.repaints_requested as f64));
    }
    if let Some(limit) = memory_mb(report)
        && let Some(peak) = report.memory.peak_over_empty()
    {
        budgets.push(at_most("over_empty_mb", limit, peak as f64 / MEGABYTE));
    }
    if let Some(core) = report.core {
        budgets.push(at_most("idle_core_percent", IDLE_PERCENT, core * 100.0));
    }
    budgets
}

/// What frames may take.
fn of_frames(report: &Report, ratio: Option<f64>) -> Vec<Budget> {
    let at_most = |name, limit, figure| Budget { name, limit: Limit::AtMost(limit), figure };
    let cpu = report.cpu();
    let [p50, p99] = [("cpu_ms.p50", cpu.p50), ("cpu_ms.p99", cpu.p99)];
    let first = millis(report.first_frame);
    match report.scenario {
        Scenario::Open => vec![at_most("first_frame_ms", open_ms(report.counters.messages), first)],
        Scenario::Scroll => scroll(report, ratio),
        Scenario::Fling => vec![at_most(p99.0, FLING_P99_MS, p99.1)],
        Scenario::Stream => vec![at_most(p99.0, STREAM_P99_MS, p99.1)],
        Scenario::Giant => vec![
            at_most("first_frame_ms", GIANT_FIRST_MS, first),
            at_most(p50.0, SCROLL_P50_MS, p50.1),
            at_most(p99.0, SCROLL_P99_MS, p99.1),
        ],
        Scenario::Idle | Scenario::Memory | Scenario::Resize | Scenario::All => Vec::new(),
    }
}

fn scroll(report: &Report, ratio: Option<f64>) -> Vec<Budget> {
    let (cpu, uploaded) = (report.cpu(), report.uploaded());
    let at_most = |name, limit, figure| Budget { name, limit: Limit::AtMost(limit), figure };
    let mut budgets = vec![
        at_most("cpu_ms.p50", SCROLL_P50_MS, cpu.p50),
        at_most("cpu_ms.p99", SCROLL_P99_MS, cpu.p99),
    ];
    // To replay is to upload everything again.
    if report.renderer == Renderer::Retained {
        let (name, limit) = ("uploaded_bytes_per_frame.p50", SCROLL_UPLOAD_BYTES);
        budgets.push(at_most(name, limit, uploaded.p50));
    }
    budgets.extend(ratio.map(|figure| Budget {
        name: "ratio_to_commonmark",
        limit: Limit::AtLeast(SCROLL_RATIO),
        figure,
    }));
    budgets
}

fn open_ms(messages: u64) -> f64 {
    let row = OPEN_MS.iter().find(|(most, _)| messages <= *most);
    row.map_or(f64::INFINITY, |(_, limit)| *limit)
}

/// What may be held beside an empty document, in megabytes.
fn memory_mb(report: &Report) -> Option<f64> {
    match report.scenario {
        Scenario::Giant => Some(GIANT_MB),
        Scenario::Memory => {
            let messages = report.counters.messages as f64;
            Some(MEMORY_MB + messages * MEMORY_BYTES_A_MESSAGE / MEGABYTE)
        }
        Scenario::Open
        | Scenario::Scroll
        | Scenario::Fling
        | Scenario::Stream
        | Scenario::Resize
        | Scenario::Idle
        | Scenario::All => None,
    }
}
