//! What the last frames took, and all since the count began.

use std::{collections::VecDeque, time::Duration};

use super::{Histogram, Samples, Stage, Summary, millis};

/// Frames that are kept one by one.
pub const FRAMES: usize = 300;

/// What one frame took.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Frame {
    /// All of it; the egui pass alone where nobody says what came after it.
    pub total: Duration,
    /// The egui pass: input, layout, shapes.
    pub pass: Duration,
    /// What was measured inside the pass, by name.
    pub stages: Vec<Stage>,
    /// Pieces laid out in it.
    pub laid_out: u64,
    /// Bytes the retained pipeline uploaded in it.
    pub uploaded_bytes: u64,
}

impl Frame {
    /// What came after the pass: triangles, upload, commands.
    #[must_use]
    pub fn rest(&self) -> Duration {
        self.total.saturating_sub(self.pass)
    }
}

/// The newest [`FRAMES`] frames, and the distribution of all since it was cleared.
#[derive(Clone, Debug, Default)]
pub struct FrameRing {
    frames: VecDeque<Frame>,
    session: Histogram,
}

impl FrameRing {
    /// Adds a frame and forgets the oldest when there are too many.
    pub fn push(&mut self, frame: Frame) {
        self.session.push(millis(frame.total));
        if self.frames.len() == FRAMES {
            self.frames.pop_front();
        }
        self.frames.push_back(frame);
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        let Self { frames, session } = self;
        frames.clear();
        session.clear();
    }

    /// The frames that are kept, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Frame> + ExactSizeIterator {
        self.frames.iter()
    }

    /// The newest frame.
    #[must_use]
    pub fn newest(&self) -> Option<&Frame> {
        self.frames.back()
    }

    /// Milliseconds of the frames that are kept, exactly.
    #[must_use]
    pub fn recent(&self) -> Summary {
        self.summary(|frame| millis(frame.total))
    }

    /// A figure of the frames that are kept, summed up.
    #[must_use]
    pub fn summary(&self, figure: impl Fn(&Frame) -> f64) -> Summary {
        self.frames.iter().map(figure).collect::<Samples>().summary()
    }

    /// Milliseconds of all frames since the count began; percentiles within 1.1 %.
    #[must_use]
    pub fn session(&self) -> Summary {
        self.session.summary()
    }
}
