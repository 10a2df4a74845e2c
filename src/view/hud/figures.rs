//! What the panel is told, and its figures as words.

use std::{fmt::Write as _, time::Duration};

use crate::{
    perf::{FrameRing, Gauges, Reason, Requests, Summary, millis},
    view::Renderer,
};

/// What the program around the panel knows of its frames.
#[derive(Clone, Debug, Default)]
pub struct Readings<'a> {
    /// The adapter in one line.
    pub adapter: &'a str,
    /// Pieces laid out so far.
    pub laid_out: u64,
    /// Pieces on screen.
    pub visible: usize,
    /// Bytes of each cache, by name.
    pub caches: &'a [(&'static str, usize)],
}

/// What is shown beside the frames: what the panel was told, and what it found out itself.
pub(super) struct Sight<'a> {
    pub(super) readings: &'a Readings<'a>,
    /// What the retained pipeline says; none where there is none.
    pub(super) gauges: Option<Gauges>,
    /// Bytes of resident memory.
    pub(super) resident: Option<u64>,
    /// What the panel itself took of the newest frame.
    pub(super) own: Duration,
    /// Requests of the last ten seconds.
    pub(super) requests: Requests,
}

impl Sight<'_> {
    pub(super) fn own(&self) -> String {
        format!("{} ms", ms(millis(self.own)))
    }

    pub(super) fn frames(&self) -> u64 {
        self.requests.frames
    }

    /// Requests of the last ten seconds, reason by reason.
    pub(super) fn requests(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        Reason::ALL.iter().map(|reason| (reason.word(), self.requests.of(*reason)))
    }

    /// Everything that is kept or moved, name by name.
    pub(super) fn amounts(&self, ring: &FrameRing) -> Vec<(&'static str, String)> {
        let newest = ring.newest();
        let Readings { laid_out, visible, caches, .. } = self.readings;
        let of = |figure: fn(&Gauges) -> String| self.gauges.as_ref().map_or_else(unknown, figure);
        let mut amounts = vec![
            ("laid out", newest.map_or(0, |frame| frame.laid_out).to_string()),
            ("laid out in all", grouped(*laid_out)),
            ("visible", visible.to_string()),
            ("on the GPU", of(|gauges| grouped(gauges.slugs_resident))),
        ];
        amounts.extend(caches.iter().map(|(name, size)| (*name, bytes(*size as u64))));
        amounts.extend([
            ("GPU memory", of(|gauges| bytes(gauges.gpu_bytes))),
            ("upload", of(|gauges| bytes(gauges.uploaded_bytes))),
            ("draw calls", of(|gauges| gauges.draws.to_string())),
            ("GPU time", of(|gauges| gauges.gpu_ms.map_or_else(unknown, |gpu| ms(gpu) + " ms"))),
            ("resident", self.resident.map_or_else(unknown, bytes)),
        ]);
        amounts
    }
}

/// Names and summaries of the stages: the pass, what was measured in it, what came after.
pub(super) fn stages(ring: &FrameRing) -> Vec<(&'static str, f64, Summary)> {
    let Some(newest) = ring.newest() else { return Vec::new() };
    let mut rows = vec![("egui pass", millis(newest.pass), ring.summary(|f| millis(f.pass)))];
    for name in names(ring) {
        let of = |frame: &crate::perf::Frame| {
            let stage = frame.stages.iter().find(|stage| stage.name == name);
            stage.map_or(0.0, |stage| millis(stage.total))
        };
        rows.push((name, of(newest), ring.summary(of)));
    }
    if ring.iter().any(|frame| !frame.rest().is_zero()) {
        let rest = ring.summary(|frame| millis(frame.rest()));
        rows.push(("after the pass", millis(newest.rest()), rest));
    }
    rows
}

/// Stages of the frames that are kept, the outermost first; not more than fit.
fn names(ring: &FrameRing) -> Vec<&'static str> {
    let mut names = Vec::new();
    // Inner scopes end first.
    for stage in ring.iter().rev().take(30).flat_map(|frame| frame.stages.iter().rev()) {
        if names.len() < 6 && !names.contains(&stage.name) {
            names.push(stage.name);
        }
    }
    names
}

/// All figures as text, to be put into a message about them.
pub(super) fn text(ring: &FrameRing, renderer: Renderer, sight: &Sight<'_>) -> String {
    let mut text = format!("{}, {}\n", sight.readings.adapter, renderer.word());
    let summary = |s: &Summary| {
        let figures = [s.p50, s.p95, s.p99, s.max].map(ms);
        format!("p50 {} p95 {} p99 {} max {} ms", figures[0], figures[1], figures[2], figures[3])
    };
    // Writing to a string cannot fail.
    for (name, figures) in [("last", ring.recent()), ("session", ring.session())] {
        writeln!(text, "{name} {} frames: {}", figures.count, summary(&figures)).ok();
    }
    for (name, newest, figures) in stages(ring) {
        writeln!(text, "{name}: {} ms, {}", ms(newest), summary(&figures)).ok();
    }
    for (name, amount) in sight.amounts(ring) {
        writeln!(text, "{name}: {amount}").ok();
    }
    writeln!(text, "frames in 10 s: {}", sight.frames()).ok();
    for (name, count) in sight.requests().filter(|(_, count)| *count > 0) {
        writeln!(text, "requests for {name} in 10 s: {count}").ok();
    }
    text
}

fn unknown() -> String {
    "–".to_owned()
}

/// Milliseconds with as many places as can be read and mean something.
pub(super) fn ms(ms: f64) -> String {
    if ms < 0.0995 {
        format!("{ms:.3}")
    } else if ms < 99.5 {
        format!("{ms:.2}")
    } else {
        format!("{ms:.0}")
    }
}

pub(super) fn bytes(count: u64) -> String {
    let of = |unit: u64| count as f64 / unit as f64;
    match count {
        0..1024 => format!("{count} B"),
        1024..10_240 => format!("{:.1} KB", of(1024)),
        10_240..1_048_576 => format!("{:.0} KB", of(1024)),
        1_048_576..104_857_600 => format!("{:.1} MB", of(1 << 20)),
        _ => format!("{:.0} MB", of(1 << 20)),
    }
}

/// A number with its thousands apart.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
