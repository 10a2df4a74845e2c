//! What was measured, as a table for people and as JSON for programs.

use std::fmt::Write as _;

use serde::Serialize;

use super::{renderer_name, scenario_name, stage::Measured};
use crate::{
    app::{
        cli::{Renderer, Scenario},
        offscreen::{Counters, FrameStats},
    },
    perf::Summary,
};

/// What one scenario cost with one renderer.
pub(super) struct Report {
    pub(super) scenario: Scenario,
    pub(super) renderer: Renderer,
    pub(super) adapter: String,
    pub(super) source_bytes: u64,
    pub(super) first_frame_ms: f64,
    pub(super) measured: Measured,
    pub(super) counters: Counters,
    /// While frames were measured.
    pub(super) slugs_laid_out: u64,
    pub(super) repaints_requested: u64,
    pub(super) memory: Memory,
}

/// Resident memory in bytes, where the system says it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Memory {
    /// After the last frame.
    pub(super) rss: Option<u64>,
    /// The most since the empty document was shown.
    pub(super) peak_rss: Option<u64>,
    /// With the empty document.
    pub(super) baseline_rss: Option<u64>,
}

impl Memory {
    /// What the scenario took at its peak beside what an empty document takes.
    fn over_empty(self) -> Option<u64> {
        Some(self.peak_rss?.saturating_sub(self.baseline_rss?))
    }
}

const MEGABYTE: f64 = 1e6;

/// One object for one report, an array for several; with a newline at the end.
pub(super) fn json(reports: &[Report]) -> String {
    let wires: Vec<Wire<'_>> = reports.iter().map(Wire::from).collect();
    let printed = match wires.as_slice() {
        [wire] => serde_json::to_string_pretty(wire),
        wires => serde_json::to_string_pretty(wires),
    };
    // A tree of strings and finite numbers can always be printed.
    printed.map_or_else(|error| error.to_string(), |json| json + "\n")
}

/// The report as other programs read it; the names are a contract.
#[derive(Serialize)]
struct Wire<'a> {
    scenario: &'static str,
    renderer: &'static str,
    adapter: &'a str,
    messages: u64,
    source_bytes: u64,
    frames: usize,
    first_frame_ms: f64,
    cpu_ms: Percentiles,
    stages_ms: Stages,
    uploaded_bytes_per_frame: Uploaded,
    slugs_laid_out: u64,
    slugs_visible: u64,
    cache_bytes: u64,
    gpu_bytes: u64,
    repaints_requested: u64,
    rss_mb: Option<f64>,
    peak_rss_mb: Option<f64>,
}

#[derive(Serialize)]
struct Percentiles {
    p50: f64,
    p95: f64,
    p99: f64,
    max: f64,
}

/// Medians of each stage.
#[derive(Serialize)]
struct Stages {
    ui: f64,
    tessellate: f64,
    upload: f64,
    encode: f64,
}

#[derive(Serialize)]
struct Uploaded {
    p50: f64,
    max: f64,
}

impl<'a> From<&'a Report> for Wire<'a> {
    fn from(report: &'a Report) -> Self {
        let Report { measured, counters, memory, .. } = report;
        let uploaded = report.uploaded();
        Self {
            scenario: scenario_name(report.scenario),
            renderer: renderer_name(report.renderer),
            adapter: &report.adapter,
            messages: counters.messages,
            source_bytes: report.source_bytes,
            frames: measured.len(),
            first_frame_ms: rounded(report.first_frame_ms),
            cpu_ms: Percentiles::from(measured.millis(FrameStats::cpu)),
            stages_ms: report.stages(),
            uploaded_bytes_per_frame: Uploaded { p50: uploaded.p50, max: uploaded.max },
            slugs_laid_out: report.slugs_laid_out,
            slugs_visible: counters.slugs_visible,
            cache_bytes: counters.cache_bytes,
            gpu_bytes: counters.gpu_bytes,
            repaints_requested: report.repaints_requested,
            rss_mb: megabytes(memory.rss),
            peak_rss_mb: megabytes(memory.peak_rss),
        }
    }
}

impl From<Summary> for Percentiles {
    fn from(summary: Summary) -> Self {
        let Summary { p50, p95, p99, max, .. } = summary;
        Self { p50: rounded(p50), p95: rounded(p95), p99: rounded(p99), max: rounded(max) }
    }
}

impl Report {
    fn uploaded(&self) -> Summary {
        self.measured.summary(|frame| frame.uploaded_bytes as f64)
    }

    fn stages(&self) -> Stages {
        let median = |stage: fn(&FrameStats) -> std::time::Duration| {
            rounded(self.measured.millis(stage).p50)
        };
        Stages {
            ui: median(|frame| frame.ui),
            tessellate: median(|frame| frame.tessellate),
            upload: median(|frame| frame.upload),
            encode: median(|frame| frame.encode),
        }
    }
}

/// Microseconds' digits: the clock knows no more.
fn rounded(ms: f64) -> f64 {
    (ms * 1e4).round() / 1e4
}

fn megabytes(bytes: Option<u64>) -> Option<f64> {
    bytes.map(|bytes| (bytes as f64 / MEGABYTE * 10.0).round() / 10.0)
}

/// An aligned table, one row a report, with what holds for all of them above it.
pub(super) fn table(reports: &[Report]) -> String {
    let Some(first) = reports.first() else { return String::new() };
    let mut text = format!(
        "{} messages, {:.1} MB of source, on {}\n\
         CPU ms a frame (egui pass + tessellation + upload + encoding, no rasterising); \
         stages are medians; memory in MB, at its peak and beside an empty document\n\n",
        first.counters.messages,
        first.source_bytes as f64 / MEGABYTE,
        first.adapter,
    );
    let rows: Vec<Vec<String>> = reports.iter().map(Report::row).collect();
    let widths: Vec<usize> = (0..HEADINGS.len())
        .map(|column| {
            let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.len());
            cells.chain([HEADINGS[column].len()]).max().unwrap_or(0)
        })
        .collect();
    push_row(&mut text, &HEADINGS.map(str::to_owned), &widths);
    for row in &rows {
        push_row(&mut text, row, &widths);
    }
    push_ratios(&mut text, reports);
    text
}

const HEADINGS: [&str; 18] = [
    "scenario",
    "renderer",
    "frames",
    "first ms",
    "p50",
    "p95",
    "p99",
    "max",
    "ui",
    "tess",
    "upload",
    "encode",
    "bytes p50",
    "laid out",
    "visible",
    "repaints",
    "peak MB",
    "over empty",
];

/// The first two columns are words, all others figures.
const WORDS: usize = 2;

impl Report {
    fn row(&self) -> Vec<String> {
        let wire = Wire::from(self);
        let ms = |ms: f64| format!("{ms:.3}");
        let mb = |mb: Option<f64>| mb.map_or_else(|| "-".to_owned(), |mb| format!("{mb:.1}"));
        vec![
            wire.scenario.to_owned(),
            wire.renderer.to_owned(),
            wire.frames.to_string(),
            format!("{:.1}", wire.first_frame_ms),
            ms(wire.cpu_ms.p50),
            ms(wire.cpu_ms.p95),
            ms(wire.cpu_ms.p99),
            ms(wire.cpu_ms.max),
            ms(wire.stages_ms.ui),
            ms(wire.stages_ms.tessellate),
            ms(wire.stages_ms.upload),
            ms(wire.stages_ms.encode),
            format!("{:.0}", wire.uploaded_bytes_per_frame.p50),
            wire.slugs_laid_out.to_string(),
            wire.slugs_visible.to_string(),
            wire.repaints_requested.to_string(),
            mb(wire.peak_rss_mb),
            mb(megabytes(self.memory.over_empty())),
        ]
    }
}

/// How much more the reference renderer takes, where both were measured.
fn push_ratios(text: &mut String, reports: &[Report]) {
    let p50 = |report: &Report| report.measured.millis(FrameStats::cpu).p50;
    let is_reference = |report: &&Report| report.renderer == Renderer::Commonmark;
    for reference in reports.iter().filter(is_reference) {
        let same = |report: &&Report| report.scenario == reference.scenario;
        let ours = reports.iter().filter(same).find(|report| !is_reference(report));
        let Some(ours) = ours.filter(|ours| p50(ours) > 0.0) else { continue };
        let (scenario, renderer) = (scenario_name(ours.scenario), renderer_name(ours.renderer));
        let ratio = p50(reference) / p50(ours);
        writeln!(text, "{scenario}: commonmark takes {ratio:.1} x the p50 of {renderer}").ok();
    }
}

fn push_row(text: &mut String, cells: &[String], widths: &[usize]) {
    for (column, (cell, &width)) in cells.iter().zip(widths).enumerate() {
        // Writing to a string cannot fail.
        if column < WORDS {
            write!(text, "{cell:<width$}  ").ok();
        } else {
            write!(text, "{cell:>width$}  ").ok();
        }
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
}
