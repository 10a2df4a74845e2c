//! The scenarios: what is done while frames are measured.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use super::{
    report::{Memory, Report},
    stage::{FRAME_SECS, Measured, Stage},
};
use crate::{
    app::{
        cli::{Renderer, Scenario},
        error::Result,
        offscreen::{Host, Offscreen, Request},
        synth,
    },
    perf::{self, millis},
};

/// What to measure, and with what.
#[derive(Clone, Copy, Debug)]
pub(super) struct Plan<'a> {
    pub(super) scenario: Scenario,
    pub(super) renderer: Renderer,
    pub(super) file: &'a Path,
    /// Measured frames; none for what the scenario is made for.
    pub(super) frames: Option<u32>,
    /// Length of the reply that arrives, and how much of it in each frame.
    pub(super) reply: Reply,
    /// In points.
    pub(super) size: [u32; 2],
    pub(super) scale: f32,
}

/// A reply that arrives while frames are measured.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reply {
    pub(super) bytes: usize,
    pub(super) chars_per_frame: usize,
}

/// Points a frame of someone who reads while scrolling.
const SCROLL_POINTS: f64 = 20.0;

/// Frames in one direction: three screens or so.
const SCROLL_LEG_FRAMES: u32 = 150;

/// Points a frame of someone who looks for something far away.
const FLING_POINTS: f64 = 1000.0;

/// Frames of the empty document: fonts are loaded and buffers have grown.
const WARM_FRAMES: u32 = 8;

/// Narrowest width, in points, that resizing goes down to.
const WIDTH_MIN: u32 = 200;

/// Runs one scenario in a context and on a device of its own.
pub(super) fn run(plan: &Plan<'_>, host: &dyn Host) -> Result<Report> {
    let (mut stage, baseline_rss) = empty_stage(plan, host)?;
    let opened_at = perf::now();
    let request = Request { renderer: plan.renderer, ..Request::new(Some(plan.file)) };
    let subject = host.open(&request, stage.offscreen.context())?;
    stage.subject = subject;
    let mut opening = Measured::default();
    stage.rasterises = false;
    stage.until(|subject, _| subject.is_ready(), |frame| opening.push(frame))?;
    let first_frame = perf::now().saturating_duration_since(opened_at);
    stage.rasterises = true;

    let mut run = Run { plan, stage, measured: Measured::default() };
    run.prepare()?;
    let laid_out_before = run.laid_out_before();
    let requests_before = run.stage.offscreen.repaint_requests();
    if plan.scenario == Scenario::Open {
        run.measured = opening;
    }
    run.measure()?;
    let repaints = run.stage.offscreen.repaint_requests() - requests_before;
    if plan.scenario == Scenario::Open {
        // The number of messages, and what the index takes, are known when it is there.
        run.stage.settle()?;
    }
    let (rss, peak_rss) = (perf::rss_bytes(), perf::peak_rss_bytes());

    let Run { stage, measured, .. } = run;
    let counters = stage.subject.counters();
    Ok(Report {
        scenario: plan.scenario,
        renderer: plan.renderer,
        adapter: stage.offscreen.adapter(),
        source_bytes: std::fs::metadata(plan.file).map_or(0, |meta| meta.len()),
        first_frame_ms: millis(first_frame),
        slugs_laid_out: counters.slugs_laid_out - laid_out_before,
        counters,
        repaints_requested: repaints,
        memory: Memory { rss, peak_rss, baseline_rss },
        measured,
    })
}

/// A stage that has shown the empty document, and the memory that took.
fn empty_stage(plan: &Plan<'_>, host: &dyn Host) -> Result<(Stage, Option<u64>)> {
    let size_px = plan.size.map(|side| (side as f32 * plan.scale).round() as u32);
    let offscreen = Offscreen::new(size_px, plan.scale, egui::Theme::Dark, |context| {
        host.install(context);
    })?;
    let request = Request { renderer: plan.renderer, ..Request::new(None) };
    let empty = host.open(&request, offscreen.context())?;
    let mut stage = Stage::new(offscreen, empty);
    for _ in 0..WARM_FRAMES {
        stage.frame()?;
    }
    stage.offscreen.rasterise()?;
    perf::reset_peak_rss();
    Ok((stage, perf::rss_bytes()))
}

struct Run<'a> {
    plan: &'a Plan<'a>,
    stage: Stage,
    measured: Measured,
}

impl Run<'_> {
    /// What happens before anything is measured.
    fn prepare(&mut self) -> Result<()> {
        match self.plan.scenario {
            Scenario::Open | Scenario::All => Ok(()),
            Scenario::Fling | Scenario::Resize | Scenario::Idle => self.stage.settle(),
            Scenario::Stream => {
                self.stage.settle()?;
                self.stage.subject.begin_reply(&synth::reply(self.plan.reply.bytes));
                self.stage.frame().map(drop)
            }
            Scenario::Scroll => {
                self.stage.settle()?;
                self.warm_up()
            }
        }
    }

    /// Reads the stretch once in each direction, waiting for what is not there yet.
    fn warm_up(&mut self) -> Result<()> {
        for frame in 0..2 * SCROLL_LEG_FRAMES {
            self.stage.subject.scroll_by(scroll_step(frame));
            self.stage.until(|subject, _| subject.is_ready(), drop)?;
        }
        self.stage.settle()
    }

    fn measure(&mut self) -> Result<()> {
        match self.plan.scenario {
            Scenario::Open | Scenario::All => self.frames(60, |_, _| Ok(())),
            Scenario::Scroll => self.frames(600, |stage, frame| {
                stage.subject.scroll_by(scroll_step(frame));
                Ok(())
            }),
            Scenario::Fling => {
                let mut pace = Pace::new();
                self.frames(300, move |stage, _| {
                    pace.tick(&stage.offscreen);
                    stage.subject.scroll_by(-FLING_POINTS);
                    Ok(())
                })
            }
            Scenario::Stream => {
                let Reply { bytes, chars_per_frame } = self.plan.reply;
                let frames = bytes.div_ceil(chars_per_frame.max(1));
                self.frames(u32::try_from(frames).unwrap_or(u32::MAX), move |stage, _| {
                    stage.subject.feed_reply(chars_per_frame);
                    Ok(())
                })
            }
            Scenario::Resize => {
                let size = self.plan.size;
                let scale = self.plan.scale;
                self.frames(200, move |stage, frame| {
                    let [width, height] = resized(size, frame);
                    let px = |side: u32| (side as f32 * scale).round() as u32;
                    stage.offscreen.resize([px(width), px(height)])
                })
            }
            Scenario::Idle => {
                self.frames(200, |_, _| Ok(()))?;
                // Requests from threads behind come without a frame.
                self.stage.offscreen.rest(Duration::from_secs(1));
                Ok(())
            }
        }
    }

    fn frames(
        &mut self,
        usual: u32,
        mut before: impl FnMut(&mut Stage, u32) -> Result<()>,
    ) -> Result<()> {
        for frame in 0..self.plan.frames.unwrap_or(usual) {
            before(&mut self.stage, frame)?;
            let stats = self.stage.frame()?;
            self.measured.push(stats);
        }
        Ok(())
    }

    /// Opening counts from the empty document, everything else from here.
    fn laid_out_before(&self) -> u64 {
        match self.plan.scenario {
            Scenario::Open | Scenario::All => 0,
            Scenario::Scroll
            | Scenario::Fling
            | Scenario::Stream
            | Scenario::Resize
            | Scenario::Idle => self.stage.subject.counters().slugs_laid_out,
        }
    }
}

/// Up for one leg, then down again.
fn scroll_step(frame: u32) -> f64 {
    if (frame / SCROLL_LEG_FRAMES).is_multiple_of(2) { -SCROLL_POINTS } else { SCROLL_POINTS }
}

/// Narrower by a point a frame for 200 frames, then wider again.
fn resized([width, height]: [u32; 2], frame: u32) -> [u32; 2] {
    let leg = width.saturating_sub(WIDTH_MIN).clamp(1, 200);
    let step = (frame + 1) % (2 * leg);
    let narrower = if step <= leg { step } else { 2 * leg - step };
    [width.saturating_sub(narrower).max(1), height]
}

/// Holds frames to those of a 60 Hz display, so that pages have the time to come that
/// they would have there.
struct Pace {
    next: Instant,
}

impl Pace {
    fn new() -> Self {
        Self { next: perf::now() }
    }

    fn tick(&mut self, offscreen: &Offscreen) {
        offscreen.rest(self.next.saturating_duration_since(perf::now()));
        self.next = perf::now() + Duration::from_secs_f64(FRAME_SECS);
    }
}
