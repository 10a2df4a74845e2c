//! A subject on an off-screen surface, and what its frames cost.

use std::time::{Duration, Instant};

use crate::{
    app::{
        error::{Error, Result},
        offscreen::{FrameStats, Offscreen, Subject},
    },
    perf::{self, Samples, Summary, millis},
};

/// A surface, a subject and a clock that ticks with the frames.
pub(super) struct Stage {
    pub(super) offscreen: Offscreen,
    pub(super) subject: Box<dyn Subject>,
    /// Off while something is timed from outside: a frame is not late because a software
    /// rasteriser drew the one before it.
    pub(super) rasterises: bool,
    /// What was counted after each frame, for a trace.
    pub(super) marks: Vec<Mark>,
    time_secs: f64,
    frames: u64,
}

/// What a frame uploaded, and what the process holds after it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    pub(super) at: Instant,
    pub(super) uploaded_bytes: u64,
    pub(super) rss: Option<u64>,
}

/// Marks that are kept in one case.
const MARKS_MAX: usize = 20_000;

/// Sets a mark while somebody records.
pub(super) fn mark(marks: &mut Vec<Mark>, uploaded_bytes: u64) {
    if perf::is_recording() && marks.len() < MARKS_MAX {
        marks.push(Mark { at: perf::now(), uploaded_bytes, rss: perf::rss_bytes() });
    }
}

/// Every frame that is measured.
#[derive(Default)]
pub(super) struct Measured {
    frames: Vec<FrameStats>,
}

/// Seconds between the frames of a 60 Hz display.
pub(super) const FRAME_SECS: f64 = 1.0 / 60.0;

const RASTERISE_EVERY: u64 = 8;

/// How long work may stand still before it is given up.
const STANDSTILL: Duration = Duration::from_secs(20);

impl Stage {
    pub(super) fn new(offscreen: Offscreen, subject: Box<dyn Subject>) -> Self {
        Self { offscreen, subject, rasterises: true, marks: Vec::new(), time_secs: 0.0, frames: 0 }
    }

    /// Runs one frame. Rasterising it, when it is its turn, happens after what is measured.
    pub(super) fn frame(&mut self) -> Result<FrameStats> {
        self.time_secs += FRAME_SECS;
        let Self { offscreen, subject, .. } = self;
        let stats = {
            perf::scope!("frame");
            offscreen.frame(Vec::new(), self.time_secs, |ui| subject.ui(ui))
        };
        mark(&mut self.marks, stats.uploaded_bytes);
        self.frames += 1;
        if self.rasterises && self.frames.is_multiple_of(RASTERISE_EVERY) {
            self.offscreen.rasterise()?;
        }
        Ok(stats)
    }

    /// Runs frames as an event loop would until one shows what it should, and gives each
    /// to `seen`.
    pub(super) fn until(
        &mut self,
        done: impl Fn(&dyn Subject, &FrameStats) -> bool,
        mut seen: impl FnMut(FrameStats),
    ) -> Result<()> {
        let mut patience = Patience::new();
        loop {
            let stats = self.frame()?;
            seen(stats);
            if done(self.subject.as_ref(), &stats) {
                return Ok(());
            }
            patience.check(self.subject.progress())?;
            self.offscreen.wait(Duration::from_millis(50));
        }
    }

    /// Runs frames until all work behind is done and no frame asks for another.
    pub(super) fn settle(&mut self) -> Result<()> {
        self.until(|subject, _| subject.is_settled(), drop)?;
        for _ in 0..SETTLE_FRAMES_MAX {
            let rests = self.frame()?.repaint_after > Duration::from_secs(10);
            if rests && self.subject.is_settled() {
                break;
            }
        }
        self.offscreen.rasterise()
    }
}

/// Two seconds of frames: longer than any animation that ends.
const SETTLE_FRAMES_MAX: u32 = 120;

/// Gives up on work that stands still, however long it takes otherwise.
pub(super) struct Patience {
    progress: f32,
    since: Instant,
}

impl Patience {
    pub(super) fn new() -> Self {
        Self { progress: 0.0, since: perf::now() }
    }

    /// An error once nothing has come for too long.
    pub(super) fn check(&mut self, progress: f32) -> Result<()> {
        if progress > self.progress {
            *self = Self { progress, since: perf::now() };
        }
        if perf::now().saturating_duration_since(self.since) < STANDSTILL {
            return Ok(());
        }
        Err(Error::failed("reading the file stands still", ""))
    }
}

impl Measured {
    pub(super) fn push(&mut self, frame: FrameStats) {
        self.frames.push(frame);
    }

    pub(super) fn len(&self) -> usize {
        self.frames.len()
    }

    /// Milliseconds of every frame, in order.
    pub(super) fn cpu_ms(&self) -> impl Iterator<Item = f64> + '_ {
        self.frames.iter().map(|frame| millis(frame.cpu()))
    }

    /// A figure of every frame, summed up.
    pub(super) fn summary(&self, figure: impl Fn(&FrameStats) -> f64) -> Summary {
        self.frames.iter().map(figure).collect::<Samples>().summary()
    }

    /// Milliseconds of something, summed up.
    pub(super) fn millis(&self, duration: impl Fn(&FrameStats) -> Duration) -> Summary {
        self.summary(|frame| millis(duration(frame)))
    }
}
