//! The scenarios: what is done, and in which frames it is measured. Off-screen and in a
//! window it is the same.

use std::time::Duration;

use super::case::Setting;
use crate::app::{cli::Scenario, offscreen::Subject};

/// A step of a scenario, after the file was opened and its first frame shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    /// Frames until all work behind is done and nothing moves.
    Settle,
    /// Frames that are not measured, and each of which waits for what it shows.
    Walk { motion: Motion, frames: u32 },
    /// Places all over the conversation, from the last message to the first.
    Visit,
    /// A reply begins.
    BeginReply,
    /// How much memory is held now.
    Weigh(Moment),
    /// Frames that are measured.
    Measure { motion: Motion, frames: u32 },
    /// No frames, unless somebody asks for some.
    Rest(Duration),
}

/// When memory was weighed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Moment {
    Opened,
    Read,
    Flung,
}

impl Moment {
    /// Its name in reports.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Opened => "open",
            Self::Read => "scroll",
            Self::Flung => "fling",
        }
    }
}

/// What moves from frame to frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Motion {
    Still,
    /// Reading: up for a leg, then down again.
    Scroll,
    /// Looking for something far away, at the pace of a display.
    FlingUp,
    FlingDown,
    /// A reply arrives.
    Stream,
    /// The window becomes narrower, then wider.
    Resize,
}

/// Points a frame of someone who reads while scrolling.
const SCROLL_POINTS: f64 = 20.0;
/// Frames in one direction: three screens or so.
const SCROLL_LEG_FRAMES: u32 = 150;
/// Points a frame of someone who looks for something far away.
const FLING_POINTS: f64 = 1000.0;
/// Narrowest width, in points, that resizing goes down to.
const WIDTH_MIN: u32 = 200;
/// How long nothing happens.
const REST: Duration = Duration::from_secs(2);
/// Places that are read when all of a conversation is.
pub(super) const PLACES: u64 = 300;

/// The steps of a scenario.
pub(super) fn steps(scenario: Scenario, setting: &Setting) -> Vec<Step> {
    use Step::{BeginReply, Measure, Rest, Settle, Visit, Walk, Weigh};
    let measure = |motion, usual: u32| Measure { motion, frames: setting.frames.unwrap_or(usual) };
    match scenario {
        Scenario::Open | Scenario::All => vec![measure(Motion::Still, 60)],
        Scenario::Scroll | Scenario::Giant => vec![
            Settle,
            Walk { motion: Motion::Scroll, frames: 2 * SCROLL_LEG_FRAMES },
            Settle,
            measure(Motion::Scroll, 600),
        ],
        Scenario::Fling => vec![Settle, measure(Motion::FlingUp, 300)],
        Scenario::Stream => {
            let frames = setting.reply.bytes.div_ceil(setting.reply.chars_per_frame.max(1));
            let frames = u32::try_from(frames).unwrap_or(u32::MAX);
            vec![Settle, BeginReply, measure(Motion::Stream, frames)]
        }
        Scenario::Resize => vec![Settle, measure(Motion::Resize, 200)],
        Scenario::Idle => vec![Settle, measure(Motion::Still, 200), Rest(REST)],
        Scenario::Memory => vec![
            Settle,
            Weigh(Moment::Opened),
            Visit,
            Settle,
            Weigh(Moment::Read),
            measure(Motion::FlingDown, 300),
            Settle,
            Weigh(Moment::Flung),
        ],
    }
}

impl Motion {
    /// Points towards the end in a frame.
    pub(super) fn points(self, frame: u32) -> f64 {
        match self {
            Self::Scroll if (frame / SCROLL_LEG_FRAMES).is_multiple_of(2) => -SCROLL_POINTS,
            Self::Scroll => SCROLL_POINTS,
            Self::FlingUp => -FLING_POINTS,
            Self::FlingDown => FLING_POINTS,
            Self::Still | Self::Stream | Self::Resize => 0.0,
        }
    }

    /// Width and height of a frame, in points.
    pub(super) fn size(self, [width, height]: [u32; 2], frame: u32) -> [u32; 2] {
        if self != Self::Resize {
            return [width, height];
        }
        // Narrower by a point a frame for 200 frames, then wider again.
        let leg = width.saturating_sub(WIDTH_MIN).clamp(1, 200);
        let step = (frame + 1) % (2 * leg);
        let narrower = if step <= leg { step } else { 2 * leg - step };
        [width.saturating_sub(narrower).max(1), height]
    }

    /// Waits for the time that pages have to come in at a display.
    pub(super) fn is_paced(self) -> bool {
        matches!(self, Self::FlingUp | Self::FlingDown)
    }

    /// What of it is not scrolling or a size.
    pub(super) fn feed(self, subject: &mut dyn Subject, setting: &Setting) {
        if self == Self::Stream {
            subject.feed_reply(setting.reply.chars_per_frame);
        }
    }
}

/// The messages to visit of so many, from the last to the first.
pub(super) fn places(messages: u64) -> impl Iterator<Item = u64> {
    let places = messages.min(PLACES);
    (0..places).rev().map(
        move |place| {
            if places < 2 { 0 } else { place * (messages - 1) / (places - 1) }
        },
    )
}
