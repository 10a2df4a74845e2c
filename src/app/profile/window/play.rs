//! Who decides, frame by frame, what is played next.

use std::{
    collections::VecDeque,
    sync::mpsc::{Receiver, sync_channel},
    thread,
    time::{Duration, Instant},
};

use egui::{Context, Ui};

use crate::{
    app::{
        cli::{Renderer, Scenario},
        error::{Error, Result},
        offscreen::{FrameStats, Host, Request, Subject},
        profile::{
            case::{Case, Setting},
            report::{Memory, Place, Report},
            say,
            scenario::WARM_FRAMES,
            script::{self, Step},
            stage::{Mark, Measured, Patience, mark},
        },
        synth,
    },
    gpu::{self, Printer},
    perf::{self, Samples},
};

/// What the next frame is for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Tick {
    Frame(Frame),
    /// No frame is wanted for so long.
    Rest(Duration),
    Over,
}

/// A frame that is wanted.
#[derive(Clone, Copy, Debug)]
pub(super) struct Frame {
    pub(super) renderer: Renderer,
    /// Towards the end, by events.
    pub(super) points: f64,
    /// The window's size after it, in points.
    pub(super) size: Option<[u32; 2]>,
    measured: bool,
}

/// Plays all cases.
pub(super) struct Play<'a> {
    cases: VecDeque<&'a Case>,
    setting: &'a Setting,
    host: &'a dyn Host,
    adapter: String,
    act: Option<Act<'a>>,
    tick: Tick,
    reports: Vec<Report>,
    failure: Option<Error>,
    /// What is known of the last frame until eframe says what it took.
    pending: Option<FrameStats>,
    printed: gpu::Counters,
}

/// One case that is being played.
struct Act<'a> {
    case: &'a Case,
    subject: Box<dyn Subject>,
    stage: Stage,
    began: Instant,
    opened_at: Instant,
    first_frame: Duration,
    memory: Memory,
    measured: Measured,
    marks: Vec<Mark>,
    laid_out_before: Option<u64>,
    repaints: u64,
    core: Option<f64>,
    rest: Option<Rest>,
    patience: Patience,
}

/// How far a case has come.
enum Stage {
    /// Frames of the empty document that are left.
    Empty(u32),
    Opening,
    /// The steps that are left, and the frames of the first of them that are done.
    Steps {
        left: VecDeque<Step>,
        done: u32,
    },
}

/// Time in which what the last frame left to do is done.
const CALM: Duration = Duration::from_millis(500);

/// A while in which nothing happens.
struct Rest {
    until: Instant,
    /// What part of a core was used in it, once it is over.
    share: Option<Receiver<f64>>,
}

impl Rest {
    /// A thread looks at the processors: a frame for it would be what is looked for.
    fn begin(duration: Duration) -> Self {
        let (said, share) = sync_channel(1);
        let meter = thread::Builder::new().name("meter".to_owned()).spawn(move || {
            sleep(CALM);
            let (before, began) = (perf::processor_time(), perf::now());
            sleep(duration);
            let took = perf::now().saturating_duration_since(began).as_secs_f64();
            if let Some((after, before)) = perf::processor_time().zip(before) {
                // Whoever wanted to know may have been closed.
                said.send(after.saturating_sub(before).as_secs_f64() / took).ok();
            }
        });
        Self { until: perf::now() + CALM + duration + CALM, share: meter.is_ok().then_some(share) }
    }
}

fn sleep(duration: Duration) {
    let end = perf::now() + duration;
    while let Some(left) = end.checked_duration_since(perf::now()).filter(|left| !left.is_zero()) {
        thread::park_timeout(left);
    }
}

/// Frames in which an animation ends once nothing else changes.
const SETTLE_FRAMES: u32 = 30;

impl<'a> Play<'a> {
    pub(super) fn new(
        cases: &[&'a Case],
        setting: &'a Setting,
        host: &'a dyn Host,
        adapter: String,
    ) -> Self {
        Self {
            cases: cases.iter().copied().collect(),
            setting,
            host,
            adapter,
            act: None,
            tick: Tick::Over,
            reports: Vec::new(),
            failure: None,
            pending: None,
            printed: gpu::Counters::default(),
        }
    }

    pub(super) fn tick(&self) -> Tick {
        self.tick
    }

    /// What came of it, once.
    pub(super) fn end(&mut self) -> Option<Result<Vec<Report>>> {
        if let Some(failure) = self.failure.take() {
            return Some(Err(failure));
        }
        (!self.reports.is_empty()).then(|| Ok(std::mem::take(&mut self.reports)))
    }

    /// The whole time of the frame before, on the CPU.
    pub(super) fn took(&mut self, took: f32) {
        let Some(mut stats) = self.pending.take() else { return };
        let took = Duration::try_from_secs_f32(took).unwrap_or_default();
        stats.encode = took.saturating_sub(stats.ui);
        if let Some(act) = &mut self.act {
            act.measured.push(stats);
            mark(&mut act.marks, stats.uploaded_bytes);
        }
    }

    /// Shows the frame that was decided on.
    pub(super) fn ui(&mut self, ui: &mut Ui) {
        let printer = Printer::of(ui).map(|printer| printer.counters()).unwrap_or_default();
        let printed = std::mem::replace(&mut self.printed, printer);
        let Some(act) = &mut self.act else { return };
        perf::scope!("frame");
        let began = perf::now();
        act.subject.ui(ui);
        let took = perf::now().saturating_duration_since(began);
        if let Tick::Frame(Frame { measured: true, .. }) = self.tick {
            let uploaded = printer.uploaded_bytes.saturating_sub(printed.uploaded_bytes);
            self.pending = Some(FrameStats {
                ui: took,
                uploaded_bytes: uploaded,
                printed_bytes: uploaded,
                ..FrameStats::default()
            });
        }
    }

    /// Decides what the next frame is for.
    pub(super) fn decide(&mut self, ctx: &Context) {
        loop {
            if self.failure.is_some() {
                self.tick = Tick::Over;
                return;
            }
            if self.act.is_none() {
                let Some(case) = self.cases.pop_front() else {
                    self.tick = Tick::Over;
                    return;
                };
                self.begin(case, ctx);
                continue;
            }
            // eframe speaks of a frame in the next one: nothing ends while one is pending.
            let is_last = self.act.as_ref().is_some_and(Act::is_over);
            if is_last && self.pending.is_none() {
                self.finish();
                continue;
            }
            match self.next(ctx) {
                Ok(Some(tick)) => {
                    self.tick = tick;
                    return;
                }
                Ok(None) => {}
                Err(error) => self.failure = Some(error),
            }
        }
    }

    fn begin(&mut self, case: &'a Case, ctx: &Context) {
        say(&format!("{} with {} in a window …", case.name, case.renderer.name()));
        let request = Request { renderer: case.renderer, ..Request::new(None) };
        match self.host.open(&request, ctx) {
            Ok(subject) => self.act = Some(Act::new(case, subject)),
            Err(error) => self.failure = Some(error),
        }
    }

    fn finish(&mut self) {
        let Some(act) = self.act.take() else { return };
        self.reports.push(act.report(&self.adapter));
    }

    fn next(&mut self, ctx: &Context) -> Result<Option<Tick>> {
        let Some(act) = &mut self.act else { return Ok(None) };
        let still = Frame { renderer: act.case.renderer, points: 0.0, size: None, measured: false };
        match &mut act.stage {
            Stage::Empty(0) => {
                act.open(self.host, ctx)?;
                Ok(Some(Tick::Frame(Frame { measured: act.is_open(), ..still })))
            }
            Stage::Empty(left) => {
                *left -= 1;
                Ok(Some(Tick::Frame(still)))
            }
            Stage::Opening if act.subject.is_ready() => {
                act.first_frame = perf::now().saturating_duration_since(act.opened_at);
                act.stage = Stage::Steps {
                    left: script::steps(act.case.scenario, self.setting).into(),
                    done: 0,
                };
                Ok(None)
            }
            Stage::Opening => {
                act.patience.check(act.subject.progress())?;
                Ok(Some(Tick::Frame(Frame { measured: act.is_open(), ..still })))
            }
            Stage::Steps { .. } => act.step(self.setting, still),
        }
    }
}

impl<'a> Act<'a> {
    fn new(case: &'a Case, subject: Box<dyn Subject>) -> Self {
        let began = perf::now();
        Self {
            case,
            subject,
            stage: Stage::Empty(WARM_FRAMES),
            began,
            opened_at: began,
            first_frame: Duration::ZERO,
            memory: Memory::default(),
            measured: Measured::default(),
            marks: Vec::new(),
            laid_out_before: None,
            repaints: 0,
            core: None,
            rest: None,
            patience: Patience::new(),
        }
    }

    fn is_open(&self) -> bool {
        self.case.scenario == Scenario::Open
    }

    fn is_over(&self) -> bool {
        matches!(&self.stage, Stage::Steps { left, .. } if left.is_empty())
    }

    /// Opens the file in the place of the empty document.
    fn open(&mut self, host: &dyn Host, ctx: &Context) -> Result<()> {
        perf::reset_peak_rss();
        self.memory = Memory::above(perf::rss_bytes());
        self.laid_out_before = self.is_open().then_some(0);
        self.opened_at = perf::now();
        let Case { renderer, expand, file, .. } = self.case;
        let request = Request { renderer: *renderer, expand: *expand, ..Request::new(Some(file)) };
        self.subject = host.open(&request, ctx)?;
        self.patience = Patience::new();
        self.stage = Stage::Opening;
        Ok(())
    }

    /// What the first step that is left wants of the next frame. None when it wants
    /// nothing more, or nothing that takes a frame.
    fn step(&mut self, setting: &Setting, still: Frame) -> Result<Option<Tick>> {
        let Stage::Steps { left, done } = &mut self.stage else { return Ok(None) };
        let Some(step) = left.front().copied() else { return Ok(Some(Tick::Frame(still))) };
        let frame = *done;
        *done += 1;
        let is_ready = self.subject.is_ready();
        let wanted = match step {
            Step::Settle => {
                if self.subject.is_settled() {
                    (frame < SETTLE_FRAMES).then_some(still)
                } else {
                    *done = 0;
                    self.patience.check(self.subject.progress())?;
                    Some(still)
                }
            }
            Step::Walk { .. } | Step::Visit if frame > 0 && !is_ready => {
                *done -= 1;
                self.patience.check(self.subject.progress())?;
                Some(still)
            }
            Step::Walk { motion, frames } => (frame < frames).then(|| {
                self.patience = Patience::new();
                self.subject.scroll_by(motion.points(frame));
                still
            }),
            Step::Visit => {
                let messages = self.subject.counters().messages;
                let place = script::places(messages).nth(frame as usize);
                place.map(|message| {
                    self.patience = Patience::new();
                    self.subject.go_to(message);
                    still
                })
            }
            Step::BeginReply => (frame < 1).then(|| {
                self.subject.begin_reply(&synth::reply(setting.reply.bytes));
                still
            }),
            Step::Weigh(moment) => {
                self.memory.weigh(moment);
                None
            }
            Step::Measure { motion, frames } => (frame < frames).then(|| {
                let laid_out = self.subject.counters().slugs_laid_out;
                self.laid_out_before.get_or_insert(laid_out);
                motion.feed(self.subject.as_mut(), setting);
                let points = motion.points(frame);
                if still.renderer == Renderer::Commonmark && points != 0.0 {
                    self.subject.scroll_by(points);
                }
                let size = motion.size(setting.size, frame);
                let size = (size != setting.size).then_some(size);
                Frame { points, size, measured: true, ..still }
            }),
            Step::Rest(duration) => return Ok(self.rest(duration)),
        };
        if wanted.is_none() {
            self.advance();
        }
        Ok(wanted.map(Tick::Frame))
    }

    fn advance(&mut self) {
        self.patience = Patience::new();
        if let Stage::Steps { left, done } = &mut self.stage {
            left.pop_front();
            *done = 0;
        }
    }

    /// Nothing happens for a while. Every frame in it was asked for by somebody, but for
    /// the first, which begins it, and the last, which ends it.
    fn rest(&mut self, duration: Duration) -> Option<Tick> {
        let Some(rest) = &self.rest else {
            self.rest = Some(Rest::begin(duration));
            return Some(Tick::Rest(CALM + duration + CALM));
        };
        let left = rest.until.saturating_duration_since(perf::now());
        if !left.is_zero() {
            self.repaints += 1;
            return Some(Tick::Rest(left));
        }
        // None where the system says nothing of processors, or gives no thread.
        self.core = rest.share.as_ref().and_then(|share| share.try_recv().ok());
        self.rest = None;
        self.advance();
        None
    }

    fn report(mut self, adapter: &str) -> Report {
        self.memory.end();
        let counters = self.subject.counters();
        Report {
            name: self.case.name,
            scenario: self.case.scenario,
            renderer: self.case.renderer,
            place: Place::Window,
            adapter: adapter.to_owned(),
            source_bytes: std::fs::metadata(&self.case.file).map_or(0, |meta| meta.len()),
            first_frame: self.first_frame,
            slugs_laid_out: counters.slugs_laid_out - self.laid_out_before.unwrap_or_default(),
            counters,
            repaints_requested: self.repaints,
            memory: self.memory,
            core: self.core,
            gpu: Samples::new(1),
            measured: self.measured,
            marks: self.marks,
            began: self.began,
            ended: perf::now(),
        }
    }
}

#[cfg(test)]
mod tests {
    use egui::RawInput;

    use super::*;
    use crate::app::{
        cli::Expand,
        profile::{case::Reply, case::temporary},
        shown::Letterpress,
    };

    /// Plays without a window, which nothing here depends on: eframe's word is made up.
    fn play(scenario: Scenario, frames: u32) -> Result<Vec<Report>> {
        let file = temporary(|out| synth::write(synth::Request { messages: 30, seed: 1 }, out))?;
        let case = Case {
            name: "played",
            scenario,
            renderer: Renderer::Replay,
            file: file.path().to_owned(),
            expand: Expand::None,
        };
        let reply = Reply { bytes: 600, chars_per_frame: 200 };
        let setting = Setting { frames: Some(frames), reply, size: [400, 300], scale: 1.0 };
        let ctx = Context::default();
        Letterpress.install(&ctx);
        let mut play = Play::new(&[&case], &setting, &Letterpress, "none".to_owned());
        loop {
            play.decide(&ctx);
            if let Tick::Over = play.tick() {
                return play.end().expect("it was played");
            }
            let screen = egui::Rect::from_min_size(egui::Pos2::ZERO, egui::vec2(400.0, 300.0));
            let input = RawInput { screen_rect: Some(screen), ..RawInput::default() };
            let mut output = ctx.run_ui(input, |ui| play.ui(ui));
            output.textures_delta.clear();
            play.took(1.0);
        }
    }

    #[test]
    fn every_scenario_ends_with_as_many_frames_as_it_measures() {
        let scenarios = [Scenario::Scroll, Scenario::Fling, Scenario::Stream, Scenario::Resize];
        for scenario in scenarios.into_iter().chain([Scenario::Memory, Scenario::Idle]) {
            let reports = play(scenario, 5).expect("there is a file");
            let [report] = reports.as_slice() else { panic!("{}", reports.len()) };
            assert_eq!(report.measured.len(), 5, "{scenario:?}");
            // What eframe says it took, all in all.
            assert!((report.cpu().p50 - 1000.0).abs() < 1.0, "{scenario:?}");
            assert!(report.counters.messages > 10 && report.first_frame > Duration::ZERO);
        }
    }

    #[test]
    fn opening_counts_its_frames_from_the_first() {
        let reports = play(Scenario::Open, 5).expect("there is a file");
        assert!(reports.iter().all(|report| report.measured.len() > 5));
        assert!(reports.iter().all(|report| report.slugs_laid_out > 0));
    }
}
