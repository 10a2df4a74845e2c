//! Why frames are wanted, and how often that was said.

use std::{
    sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed},
    time::Duration,
};

macro_rules! reasons {
    ($($(#[$doc:meta])* $name:ident $word:literal,)*) => {
        /// Why somebody wants a frame.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Reason {
            $($(#[$doc])* $name,)*
        }

        impl Reason {
            /// All of them, in the order they are listed.
            pub const ALL: &[Self] = &[$(Self::$name),*];

            /// One word for it.
            #[must_use]
            pub const fn word(self) -> &'static str {
                match self {
                    $(Self::$name => $word,)*
                }
            }
        }
    };
}

reasons! {
    /// The user did something whose outcome shows in the next frame.
    Input "input",
    /// Words of a reply have arrived.
    Stream "stream",
    /// Messages were read from a file, or more of it is known.
    Page "page",
    /// Colours of code were found.
    Colours "colours",
    /// A picture was decoded.
    Picture "picture",
    /// A frame's share of layout did not suffice.
    Layout "layout",
    /// A drag beyond the edge scrolls on.
    Scroll "scroll",
    /// Something moves by itself.
    Animation "animation",
    /// A clock that is shown has moved on.
    Tick "tick",
    /// "Copied" has been shown for long enough.
    Copied "copied",
    /// Something was found, or looking has ended.
    Find "find",
    /// A dialog of the system, or a question to a server, was answered.
    Answer "answer",
    /// The window is to be seen again.
    Shown "shown",
    /// Anything else.
    Other "other",
    /// egui itself: events, hovering, the caret.
    Toolkit "egui",
}

/// Number of reasons.
const REASONS: usize = Reason::ALL.len();
/// Seconds that are kept apart: those that are asked for, and the one that is going on.
const SECONDS: usize = 16;

/// How often each reason was given, and how many frames there were.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Requests {
    by_reason: [u64; REASONS],
    /// Frames that were laid out.
    pub frames: u64,
}

impl Requests {
    /// Requests for one reason.
    #[must_use]
    pub fn of(&self, reason: Reason) -> u64 {
        self.by_reason[reason as usize]
    }

    /// Requests for all reasons.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.by_reason.iter().sum()
    }

    /// Reasons that were given, with their numbers.
    pub fn iter(&self) -> impl Iterator<Item = (Reason, u64)> + '_ {
        let all = Reason::ALL.iter().map(|reason| (*reason, self.of(*reason)));
        all.filter(|(_, count)| *count > 0)
    }
}

/// Counts requests from any thread, in constant room and without locks.
///
/// Times are durations since a moment that the owner chose.
#[derive(Debug, Default)]
pub struct Tally {
    total: Counters,
    seconds: [Second; SECONDS],
}

#[derive(Debug, Default)]
struct Second {
    /// The second it counts, plus one; 0 for none yet.
    stamp: AtomicU64,
    counters: Counters,
}

#[derive(Debug, Default)]
struct Counters {
    by_reason: [AtomicU32; REASONS],
    frames: AtomicU32,
}

impl Tally {
    /// Counts a request.
    pub fn request(&self, reason: Reason, now: Duration) {
        self.each(now, |counters| &counters.by_reason[reason as usize]);
    }

    /// Counts a frame.
    pub fn frame(&self, now: Duration) {
        self.each(now, |counters| &counters.frames);
    }

    /// Everything since the start.
    #[must_use]
    pub fn total(&self) -> Requests {
        let mut sum = Requests::default();
        self.total.add_to(&mut sum);
        sum
    }

    /// What was counted in the last `seconds`, at most fifteen, the one that is going on
    /// included.
    #[must_use]
    pub fn last(&self, seconds: u64, now: Duration) -> Requests {
        let newest = now.as_secs() + 1;
        let oldest = newest.saturating_sub(seconds.min(SECONDS as u64 - 1)) + 1;
        let mut sum = Requests::default();
        for second in &self.seconds {
            if (oldest..=newest).contains(&second.stamp.load(Relaxed)) {
                second.counters.add_to(&mut sum);
            }
        }
        sum
    }

    fn each(&self, now: Duration, counter: impl Fn(&Counters) -> &AtomicU32) {
        counter(&self.total).fetch_add(1, Relaxed);
        counter(self.second(now)).fetch_add(1, Relaxed);
    }

    /// The counters of the second that is going on, emptied when it begins. Two threads at
    /// a second's first instant may cost one of them its count, which is worth no lock.
    fn second(&self, now: Duration) -> &Counters {
        let stamp = now.as_secs() + 1;
        let second = &self.seconds[(stamp % SECONDS as u64) as usize];
        if second.stamp.swap(stamp, Relaxed) != stamp {
            second.counters.clear();
        }
        &second.counters
    }
}

impl Counters {
    fn add_to(&self, sum: &mut Requests) {
        for (sum, count) in sum.by_reason.iter_mut().zip(&self.by_reason) {
            *sum += u64::from(count.load(Relaxed));
        }
        sum.frames += u64::from(self.frames.load(Relaxed));
    }

    fn clear(&self) {
        let Self { by_reason, frames } = self;
        by_reason.iter().chain([frames]).for_each(|counter| counter.store(0, Relaxed));
    }
}
