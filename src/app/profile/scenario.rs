//! One case, off-screen.

use std::time::{Duration, Instant};

use super::{
    case::{Case, Setting},
    report::{Memory, Place, Report},
    script::{self, Motion, Step},
    stage::{FRAME_SECS, Measured, Stage},
};
use crate::{
    app::{
        cli::{Renderer, Scenario},
        error::Result,
        offscreen::{Counters, Host, Offscreen, Request},
        synth,
    },
    perf::{self, Samples, millis},
};

/// Frames of the empty document: fonts are loaded and buffers have grown.
pub(super) const WARM_FRAMES: u32 = 8;
/// Frames that the GPU's clock is asked about, beside those that are measured: asking
/// costs the CPU something.
const GPU_FRAMES: u32 = 16;

/// Runs a case in a context and on a device of its own.
pub(super) fn run(case: &Case, setting: &Setting, host: &dyn Host) -> Result<Report> {
    let began = perf::now();
    let (mut stage, empty_rss) = empty_stage(case.renderer, setting, host)?;
    let opened_at = perf::now();
    let request =
        Request { renderer: case.renderer, expand: case.expand, ..Request::new(Some(&case.file)) };
    stage.subject = host.open(&request, stage.offscreen.context())?;
    let mut opening = Measured::default();
    stage.rasterises = false;
    stage.until(|subject, _| subject.is_ready(), |frame| opening.push(frame))?;
    let first_frame = perf::now().saturating_duration_since(opened_at);
    stage.rasterises = true;

    let is_open = case.scenario == Scenario::Open;
    let mut run = Run {
        setting,
        stage,
        measured: if is_open { opening } else { Measured::default() },
        memory: Memory::above(empty_rss),
        // Opening counts from the empty document, everything else from the first measured
        // frame.
        laid_out_before: is_open.then_some(0),
        repaints: 0,
        core: None,
        gpu: Samples::new(GPU_FRAMES as usize),
    };
    for step in script::steps(case.scenario, setting) {
        run.step(step)?;
    }
    if is_open {
        // The number of messages, and what the index takes, are known when it is there.
        run.stage.settle()?;
    }
    run.memory.end();
    let counters = run.stage.subject.counters();
    run.time_gpu(case.scenario)?;
    Ok(run.report(case, counters, (began, first_frame)))
}

/// A stage that has shown the empty document, and the memory that took.
fn empty_stage(
    renderer: Renderer,
    setting: &Setting,
    host: &dyn Host,
) -> Result<(Stage, Option<u64>)> {
    let size_px = setting.pixels(setting.size);
    let offscreen = Offscreen::new(size_px, setting.scale, egui::Theme::Dark, |context| {
        host.install(context);
    })?;
    let request = Request { renderer, ..Request::new(None) };
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
    setting: &'a Setting,
    stage: Stage,
    measured: Measured,
    memory: Memory,
    laid_out_before: Option<u64>,
    repaints: u64,
    /// Of a core, while nothing happened.
    core: Option<f64>,
    /// Milliseconds.
    gpu: Samples,
}

impl Run<'_> {
    fn step(&mut self, step: Step) -> Result<()> {
        match step {
            Step::Settle => self.stage.settle(),
            Step::Walk { motion, frames } => {
                for frame in 0..frames {
                    self.stage.subject.scroll_by(motion.points(frame));
                    self.stage.until(|subject, _| subject.is_ready(), drop)?;
                }
                Ok(())
            }
            Step::Visit => {
                for message in script::places(self.stage.subject.counters().messages) {
                    self.stage.subject.go_to(message);
                    self.stage.until(|subject, _| subject.is_ready(), drop)?;
                }
                Ok(())
            }
            Step::BeginReply => {
                self.stage.subject.begin_reply(&synth::reply(self.setting.reply.bytes));
                self.stage.frame().map(drop)
            }
            Step::Weigh(moment) => {
                self.memory.weigh(moment);
                Ok(())
            }
            Step::Measure { motion, frames } => self.measure(motion, frames),
            Step::Rest(duration) => {
                self.rest(duration);
                Ok(())
            }
        }
    }

    fn measure(&mut self, motion: Motion, frames: u32) -> Result<()> {
        let laid_out = self.stage.subject.counters().slugs_laid_out;
        self.laid_out_before.get_or_insert(laid_out);
        let requests_before = self.stage.offscreen.repaint_requests();
        let mut pace = motion.is_paced().then(Pace::new);
        for frame in 0..frames {
            if let Some(pace) = &mut pace {
                pace.tick(&self.stage.offscreen);
            }
            self.act(motion, frame)?;
            let stats = self.stage.frame()?;
            self.measured.push(stats);
        }
        self.repaints += self.stage.offscreen.repaint_requests() - requests_before;
        Ok(())
    }

    fn act(&mut self, motion: Motion, frame: u32) -> Result<()> {
        let points = motion.points(frame);
        if points != 0.0 {
            self.stage.subject.scroll_by(points);
        }
        motion.feed(self.stage.subject.as_mut(), self.setting);
        let size = motion.size(self.setting.size, frame);
        self.stage.offscreen.resize(self.setting.pixels(size))
    }

    /// Requests from threads behind come without a frame, and so does what they cost.
    fn rest(&mut self, duration: Duration) {
        let requests_before = self.stage.offscreen.repaint_requests();
        let (before, began) = (perf::processor_time(), perf::now());
        self.stage.offscreen.rest(duration);
        let took = perf::now().saturating_duration_since(began).as_secs_f64();
        let spent = perf::processor_time().zip(before).map(|(after, before)| {
            // A thread that ended takes its account with it.
            after.saturating_sub(before).as_secs_f64()
        });
        self.core = spent.map(|spent| spent / took);
        self.repaints += self.stage.offscreen.repaint_requests() - requests_before;
    }

    /// Frames like those that were measured, for the GPU's own clock.
    fn time_gpu(&mut self, scenario: Scenario) -> Result<()> {
        let steps = script::steps(scenario, self.setting);
        let motion = steps.iter().find_map(|step| match step {
            Step::Measure { motion, .. } => Some(*motion),
            Step::Settle
            | Step::Walk { .. }
            | Step::Visit
            | Step::BeginReply
            | Step::Weigh(_)
            | Step::Rest(_) => None,
        });
        self.stage.offscreen.time_gpu(true);
        for frame in 0..GPU_FRAMES {
            self.act(motion.unwrap_or(Motion::Still), frame)?;
            self.stage.frame()?;
            self.stage.offscreen.rasterise()?;
            let Some(took) = self.stage.offscreen.gpu_time() else { break };
            self.gpu.push(millis(took));
        }
        self.stage.offscreen.time_gpu(false);
        Ok(())
    }

    /// `counters` are from before the GPU was timed.
    fn report(
        self,
        case: &Case,
        counters: Counters,
        (began, first_frame): (Instant, Duration),
    ) -> Report {
        let Self { stage, measured, memory, laid_out_before, repaints, core, gpu, .. } = self;
        Report {
            name: case.name,
            scenario: case.scenario,
            renderer: case.renderer,
            place: Place::OffScreen,
            adapter: stage.offscreen.adapter(),
            source_bytes: std::fs::metadata(&case.file).map_or(0, |meta| meta.len()),
            first_frame,
            slugs_laid_out: counters.slugs_laid_out - laid_out_before.unwrap_or_default(),
            counters,
            repaints_requested: repaints,
            memory,
            core,
            gpu,
            measured,
            marks: stage.marks,
            began,
            ended: perf::now(),
        }
    }
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
