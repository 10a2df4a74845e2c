//! Reports as JSON. The names are a contract: what is new stands behind what was there.

use serde::Serialize;
use serde_json::{Map, Value, json};

use super::{budget, report::Report};
use crate::{
    app::offscreen::FrameStats,
    perf::{Summary, millis},
};

/// One object for one report, an array for several; with a newline at the end.
pub(super) fn json(reports: &[Report]) -> String {
    let wires: Vec<Wire<'_>> = reports.iter().map(|report| Wire::of(report, reports)).collect();
    let printed = match wires.as_slice() {
        [wire] => serde_json::to_string_pretty(wire),
        wires => serde_json::to_string_pretty(wires),
    };
    // A tree of strings and finite numbers can always be printed.
    printed.map_or_else(|error| error.to_string(), |json| json + "\n")
}

#[derive(Serialize)]
pub(super) struct Wire<'a> {
    pub(super) scenario: &'static str,
    pub(super) renderer: &'static str,
    adapter: &'a str,
    messages: u64,
    source_bytes: u64,
    pub(super) frames: usize,
    pub(super) first_frame_ms: f64,
    pub(super) cpu_ms: Percentiles,
    pub(super) stages_ms: Stages,
    pub(super) uploaded_bytes_per_frame: Uploaded,
    pub(super) slugs_laid_out: u64,
    pub(super) slugs_visible: u64,
    cache_bytes: u64,
    gpu_bytes: u64,
    pub(super) repaints_requested: u64,
    rss_mb: Option<f64>,
    pub(super) peak_rss_mb: Option<f64>,
    /// At the peak, beside what an empty document takes.
    pub(super) over_empty_mb: Option<f64>,
    /// At moments of the memory scenario, the same.
    held_mb: Map<String, Value>,
    /// By the GPU's own clock.
    pub(super) gpu_ms: Option<Percentiles>,
    idle_core_percent: Option<f64>,
    pub(super) ratio_to_commonmark: Option<f64>,
    budget: Map<String, Value>,
}

#[derive(Serialize)]
pub(super) struct Percentiles {
    pub(super) p50: f64,
    pub(super) p95: f64,
    pub(super) p99: f64,
    pub(super) max: f64,
}

/// Medians of each stage.
#[derive(Serialize)]
pub(super) struct Stages {
    pub(super) ui: f64,
    pub(super) tessellate: f64,
    pub(super) upload: f64,
    pub(super) encode: f64,
}

#[derive(Serialize)]
pub(super) struct Uploaded {
    pub(super) p50: f64,
    max: f64,
}

impl<'a> Wire<'a> {
    /// A report, as it stands among the others of its run.
    pub(super) fn of(report: &'a Report, reports: &[Report]) -> Self {
        let Report { measured, counters, memory, .. } = report;
        let uploaded = report.uploaded();
        let ratio = report.ratio(reports);
        Self {
            scenario: report.name,
            renderer: report.renderer.name(),
            adapter: &report.adapter,
            messages: counters.messages,
            source_bytes: report.source_bytes,
            frames: measured.len(),
            first_frame_ms: rounded(millis(report.first_frame)),
            cpu_ms: Percentiles::from(report.cpu()),
            stages_ms: stages(report),
            uploaded_bytes_per_frame: Uploaded { p50: uploaded.p50, max: uploaded.max },
            slugs_laid_out: report.slugs_laid_out,
            slugs_visible: counters.slugs_visible,
            cache_bytes: counters.cache_bytes,
            gpu_bytes: counters.gpu_bytes,
            repaints_requested: report.repaints_requested,
            rss_mb: megabytes(memory.rss),
            peak_rss_mb: megabytes(memory.peak_rss),
            over_empty_mb: megabytes(memory.peak_over_empty()),
            held_mb: held(report),
            gpu_ms: (!report.gpu.is_empty()).then(|| Percentiles::from(report.gpu.summary())),
            idle_core_percent: report.core.map(|core| rounded(core * 100.0)),
            ratio_to_commonmark: ratio.map(rounded),
            budget: budgets(report, ratio),
        }
    }
}

impl From<Summary> for Percentiles {
    fn from(summary: Summary) -> Self {
        let Summary { p50, p95, p99, max, .. } = summary;
        Self { p50: rounded(p50), p95: rounded(p95), p99: rounded(p99), max: rounded(max) }
    }
}

fn stages(report: &Report) -> Stages {
    let median =
        |stage: fn(&FrameStats) -> std::time::Duration| rounded(report.measured.millis(stage).p50);
    Stages {
        ui: median(|frame| frame.ui),
        tessellate: median(|frame| frame.tessellate),
        upload: median(|frame| frame.upload),
        encode: median(|frame| frame.encode),
    }
}

fn held(report: &Report) -> Map<String, Value> {
    let moments = report.memory.moments();
    moments.map(|(moment, bytes)| (moment.name().to_owned(), json!(megabytes(bytes)))).collect()
}

/// The limit beside the figure, by the figure's name.
fn budgets(report: &Report, ratio: Option<f64>) -> Map<String, Value> {
    let budgets = budget::budgets(report, ratio).into_iter();
    budgets
        .map(|budget| {
            let bound = match budget.limit {
                budget::Limit::AtMost(_) => "at most",
                budget::Limit::AtLeast(_) => "at least",
            };
            let entry = json!({
                "bound": bound,
                "limit": rounded(budget.limit.value()),
                "figure": rounded(budget.figure),
                "ok": budget.is_within(),
            });
            (budget.name.to_owned(), entry)
        })
        .collect()
}

/// Microseconds' digits: the clock knows no more.
pub(super) fn rounded(figure: f64) -> f64 {
    (figure * 1e4).round() / 1e4
}

fn megabytes(bytes: Option<u64>) -> Option<f64> {
    bytes.map(|bytes| (bytes as f64 / 1e5).round() / 10.0)
}
