//! How the times of frames are distributed, as a picture: a lane for each report, one
//! logarithmic axis under all of them, budgets as lines.

use std::path::Path;

use egui::{Align2, Color32, FontId, Painter, Pos2, Rect, Stroke, Theme, Ui, pos2, vec2};

use super::{
    budget::{self, Limit},
    case::Setting,
    report::Report,
    table::figure,
};
use crate::{
    app::{cli::Renderer, error::Result, offscreen::Offscreen},
    layout::{Palette, face},
    view::theme,
};

/// Frames until every glyph is in the atlas.
const FRAMES: u32 = 3;

/// Draws the picture into a PNG file of the setting's size and scale.
///
/// # Errors
/// No GPU, or the file cannot be written.
pub(super) fn draw(path: &Path, reports: &[Report], setting: &Setting) -> Result<()> {
    let size_px = setting.pixels(setting.size);
    let mut offscreen = Offscreen::new(size_px, setting.scale, Theme::Dark, theme::install)?;
    let palette = theme::palette(Theme::Dark);
    let mut lanes: Vec<Lane<'_>> = reports.iter().map(|report| Lane::of(report, reports)).collect();
    // What is to be compared stands together.
    let place = |name: &str| reports.iter().position(|report| report.name == name);
    lanes.sort_by_key(|lane| place(lane.report.name));
    for frame in 0..FRAMES {
        offscreen.frame(Vec::new(), f64::from(frame) / 60.0, |ui| {
            Plot { palette: &palette, lanes: &lanes }.ui(ui);
        });
    }
    offscreen.png(path)
}

/// The axis: from the shortest time that can be told to a second, which no frame should
/// take.
const FLOOR_MS: f64 = 0.001;
const DECADES: usize = 6;
const BINS_A_DECADE: usize = 20;
const BINS: usize = DECADES * BINS_A_DECADE;

/// One report's frames.
struct Lane<'a> {
    report: &'a Report,
    /// Share of the frames by time.
    bins: [f32; BINS],
    p50: f64,
    p99: f64,
    /// Milliseconds of a frame, which percentile, and whether it holds.
    limits: Vec<(f64, &'static str, bool)>,
}

impl<'a> Lane<'a> {
    fn of(report: &'a Report, reports: &[Report]) -> Self {
        let mut bins = [0.0; BINS];
        let frames = report.measured.len().max(1) as f32;
        for ms in report.measured.cpu_ms() {
            let bin = (share(ms) * BINS as f64) as usize;
            bins[bin.min(BINS - 1)] += 1.0 / frames;
        }
        let cpu = report.cpu();
        let budgets = budget::budgets(report, report.ratio(reports));
        let limits = budgets.iter().filter_map(|budget| match budget.limit {
            Limit::AtMost(ms) => {
                let percentile = budget.name.strip_prefix("cpu_ms.")?;
                Some((ms, percentile, budget.is_within()))
            }
            Limit::AtLeast(_) => None,
        });
        Self { report, bins, p50: cpu.p50, p99: cpu.p99, limits: limits.collect() }
    }
}

/// Where on the axis a time stands, from 0 to 1.
fn share(ms: f64) -> f64 {
    ((ms.max(FLOOR_MS) / FLOOR_MS).log10() / DECADES as f64).clamp(0.0, 1.0)
}

struct Plot<'a> {
    palette: &'a Palette,
    lanes: &'a [Lane<'a>],
}

const MARGIN: f32 = 24.0;
const HEAD: f32 = 76.0;
const FOOT: f32 = 44.0;
const NAMES: f32 = 190.0;
const FIGURES: f32 = 250.0;
/// Lanes are no higher, however few there are.
const LANE_MAX: f32 = 300.0;

impl Plot<'_> {
    fn ui(&self, ui: &Ui) {
        let rect = ui.max_rect().shrink(MARGIN);
        let painter = ui.painter();
        painter.rect_filled(ui.max_rect(), 0.0, self.palette.bg);
        self.head(painter, rect);
        let room = Rect::from_min_max(
            pos2(rect.left() + NAMES, rect.top() + HEAD),
            pos2(rect.right() - FIGURES, rect.bottom() - FOOT),
        );
        if !room.is_positive() {
            return;
        }
        let lane = (room.height() / self.lanes.len().max(1) as f32).min(LANE_MAX);
        let room =
            Rect::from_min_size(room.min, vec2(room.width(), lane * self.lanes.len() as f32));
        self.axis(painter, room);
        let mut name = "";
        for (i, each) in self.lanes.iter().enumerate() {
            let top = room.top() + i as f32 * lane;
            let place = Rect::from_min_size(pos2(room.left(), top), vec2(room.width(), lane));
            if each.report.name != name || i == 0 {
                let line = Stroke::new(1.0, self.palette.line);
                painter.hline(rect.x_range(), top.round() + 0.5, line);
            }
            name = each.report.name;
            self.lane(painter, place, rect, each);
        }
    }

    fn head(&self, painter: &Painter, rect: Rect) {
        let first = self.lanes.first().map(|lane| lane.report);
        let history = self.lanes.iter().map(|lane| lane.report.counters.messages).max();
        let adapter = first.map(|report| report.adapter.as_str()).unwrap_or_default();
        let title = FontId::new(20.0, face::TEXT);
        painter.text(
            rect.left_top(),
            Align2::LEFT_TOP,
            "CPU milliseconds a frame",
            title,
            self.palette.text,
        );
        let words = format!("{} messages, on {adapter}", history.unwrap_or_default());
        let below = rect.left_top() + vec2(0.0, 30.0);
        self.words(painter, below, Align2::LEFT_TOP, &words, self.palette.dim);
        let key = "bars: share of the frames · lines: the median, and the limits of p50 and p99";
        self.words(
            painter,
            rect.right_top() + vec2(0.0, 30.0),
            Align2::RIGHT_TOP,
            key,
            self.palette.dim,
        );
    }

    /// A line for each tenfold, labelled below the lanes.
    fn axis(&self, painter: &Painter, room: Rect) {
        for decade in 0..=DECADES {
            let ms = FLOOR_MS * 10_f64.powi(decade as i32);
            let x = self.x(room, ms);
            painter.vline(x, room.y_range(), Stroke::new(1.0, self.palette.line));
            let at = pos2(x, room.bottom() + 10.0);
            let label = if ms < 1.0 { format!("{ms}") } else { format!("{ms:.0}") };
            let label = if decade == DECADES { format!("{label} ms") } else { label };
            self.words(painter, at, Align2::CENTER_TOP, &label, self.palette.dim);
        }
    }

    fn lane(&self, painter: &Painter, place: Rect, rect: Rect, lane: &Lane<'_>) {
        let color = self.color(lane.report.renderer);
        let middle = place.center().y;
        let Report { name, renderer, .. } = lane.report;
        self.words(
            painter,
            pos2(rect.left(), middle),
            Align2::LEFT_CENTER,
            name,
            self.palette.text,
        );
        let at = pos2(place.left() - 12.0, middle);
        self.words(painter, at, Align2::RIGHT_CENTER, renderer.name(), color);
        self.bars(painter, place, &lane.bins, color);
        if lane.report.measured.len() == 0 {
            return;
        }
        let span = place.shrink2(vec2(0.0, 2.0)).y_range();
        painter.vline(self.x(place, lane.p50), span, Stroke::new(1.5, self.palette.text));
        let mut is_over = false;
        for (limit, percentile, holds) in &lane.limits {
            is_over |= !holds;
            let tone = if *holds { self.palette.ok } else { self.palette.err };
            let x = self.x(place, *limit);
            painter.add(egui::Shape::dashed_line(
                &[pos2(x, span.min), pos2(x, span.max)],
                Stroke::new(1.5, tone),
                3.0,
                3.0,
            ));
            let at = pos2(x + 3.0, span.min);
            self.note(painter, at, percentile, tone);
        }
        let words = format!("p50 {}   p99 {}", figure(lane.p50), figure(lane.p99));
        let tone = if is_over { self.palette.err } else { self.palette.text };
        let at = pos2(place.right() + 16.0, middle);
        self.words(painter, at, Align2::LEFT_CENTER, &words, tone);
        let frames = format!("{} frames", lane.report.measured.len());
        self.words(
            painter,
            pos2(rect.right(), middle),
            Align2::RIGHT_CENTER,
            &frames,
            self.palette.dim,
        );
    }

    /// The highest bar of a lane fills it.
    fn bars(&self, painter: &Painter, place: Rect, bins: &[f32; BINS], color: Color32) {
        let highest = bins.iter().copied().fold(0.0, f32::max);
        if highest <= 0.0 {
            return;
        }
        let width = place.width() / BINS as f32;
        for (bin, share) in bins.iter().enumerate().filter(|(_, share)| **share > 0.0) {
            // A single frame is seen too.
            let height = (share / highest * (place.height() - 6.0)).max(2.0);
            let left = place.left() + bin as f32 * width;
            let bar = Rect::from_min_max(
                pos2(left, place.bottom() - 1.0 - height),
                pos2(left + (width - 1.0).max(1.0), place.bottom() - 1.0),
            );
            painter.rect_filled(bar, 0.0, color);
        }
    }

    fn x(&self, room: Rect, ms: f64) -> f32 {
        room.left() + (share(ms) as f32) * room.width()
    }

    fn color(&self, renderer: Renderer) -> Color32 {
        match renderer {
            Renderer::Retained => self.palette.accent,
            Renderer::Replay => self.palette.syntax.kind,
            Renderer::Commonmark => self.palette.warn,
        }
    }

    fn words(&self, painter: &Painter, at: Pos2, align: Align2, words: &str, color: Color32) {
        painter.text(at, align, words, FontId::new(face::INTERFACE_SIZE, face::TEXT), color);
    }

    fn note(&self, painter: &Painter, at: Pos2, words: &str, color: Color32) {
        painter.text(at, Align2::LEFT_TOP, words, FontId::new(10.0, face::TEXT), color);
    }
}
