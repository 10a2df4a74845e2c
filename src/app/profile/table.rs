//! Reports as a table for people.

use std::fmt::Write as _;

use super::{
    budget::{self, Budget, Limit},
    report::Report,
    wire::Wire,
};

/// An aligned table, one row a report, with what holds for all of them above it and what
/// each figure may be below it.
pub(super) fn table(reports: &[Report]) -> String {
    let Some(first) = reports.first() else { return String::new() };
    // The giants have files of their own.
    let history = reports.iter().max_by_key(|report| report.counters.messages).unwrap_or(first);
    let mut text = format!(
        "{} messages, {:.1} MB of source, on {}\n\
         CPU ms a frame (egui pass + tessellation + upload + encoding, no rasterising); \
         stages are medians; memory in MB, at its peak and beside an empty document; \
         gpu is the median by its own clock; x cm is how many times as long commonmark takes\n\n",
        history.counters.messages,
        history.source_bytes as f64 / 1e6,
        first.adapter,
    );
    let rows = reports.iter().map(|report| row(&Wire::of(report, reports)));
    push_table(&mut text, WORDS, &HEADINGS.map(str::to_owned), &rows.collect::<Vec<_>>());
    push_moments(&mut text, reports);
    push_budgets(&mut text, reports);
    text
}

const HEADINGS: [&str; 20] = [
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
    "gpu",
    "bytes p50",
    "laid out",
    "visible",
    "repaints",
    "peak MB",
    "over empty",
    "x cm",
];

/// The first columns: scenario and renderer.
pub(super) const WORDS: usize = 2;

fn row(wire: &Wire<'_>) -> Vec<String> {
    let ms = |ms: f64| format!("{ms:.3}");
    let one = |figure: Option<f64>| figure.map_or_else(|| "-".to_owned(), |mb| format!("{mb:.1}"));
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
        wire.gpu_ms.as_ref().map_or_else(|| "-".to_owned(), |gpu| ms(gpu.p50)),
        format!("{:.0}", wire.uploaded_bytes_per_frame.p50),
        wire.slugs_laid_out.to_string(),
        wire.slugs_visible.to_string(),
        wire.repaints_requested.to_string(),
        one(wire.peak_rss_mb),
        one(wire.over_empty_mb),
        one(wire.ratio_to_commonmark),
    ]
}

/// What was held at the moments of the memory scenario.
fn push_moments(text: &mut String, reports: &[Report]) {
    for report in reports {
        let moments: Vec<String> = report
            .memory
            .moments()
            .filter_map(|(moment, bytes)| {
                Some(format!("after {} {:.1} MB", moment.name(), bytes? as f64 / 1e6))
            })
            .collect();
        if !moments.is_empty() {
            let (name, renderer) = (report.name, report.renderer.name());
            // Writing to a string cannot fail.
            writeln!(text, "\n{name} {renderer}, beside an empty document: {}", moments.join(", "))
                .ok();
        }
    }
}

/// Every figure that has a limit, beside it.
fn push_budgets(text: &mut String, reports: &[Report]) {
    let mut rows = Vec::new();
    for report in reports {
        for budget in budget::budgets(report, report.ratio(reports)) {
            rows.push(budget_row(report, &budget));
        }
    }
    if rows.is_empty() {
        return;
    }
    text.push('\n');
    let headings = ["scenario", "renderer", "figure", "budget", "is"].map(str::to_owned);
    push_table(text, WORDS + 1, &headings, &rows);
}

fn budget_row(report: &Report, budget: &Budget) -> Vec<String> {
    let sign = match budget.limit {
        Limit::AtMost(_) => "≤",
        Limit::AtLeast(_) => "≥",
    };
    let limit = format!("{sign} {}", figure(budget.limit.value()));
    let verdict = if budget.is_within() { "ok" } else { "over" };
    vec![
        report.name.to_owned(),
        report.renderer.name().to_owned(),
        budget.name.to_owned(),
        limit,
        format!("{} {verdict}", figure(budget.figure)),
    ]
}

/// Three digits after the point where that says something.
pub(super) fn figure(figure: f64) -> String {
    if figure.abs() >= 100.0 || figure.fract() == 0.0 {
        format!("{figure:.0}")
    } else {
        format!("{figure:.3}")
    }
}

/// Columns as wide as their widest cell; the first ones hold words, all others figures.
pub(super) fn push_table(
    text: &mut String,
    words: usize,
    headings: &[String],
    rows: &[Vec<String>],
) {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column));
        let cells = cells.map(|cell| cell.chars().count());
        cells.chain(headings.get(column).map(|cell| cell.chars().count())).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..headings.len()).map(width).collect();
    push_row(text, words, headings, &widths);
    for row in rows {
        push_row(text, words, row, &widths);
    }
}

fn push_row(text: &mut String, words: usize, cells: &[String], widths: &[usize]) {
    for (column, (cell, &width)) in cells.iter().zip(widths).enumerate() {
        // Writing to a string cannot fail.
        if column < words {
            write!(text, "{cell:<width$}  ").ok();
        } else {
            write!(text, "{cell:>width$}  ").ok();
        }
    }
    text.truncate(text.trim_end().len());
    text.push('\n');
}
