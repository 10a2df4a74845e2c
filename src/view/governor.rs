//! The repaint governor: the one place where frames are asked for.
//!
//! Whoever wants a frame says why and how soon. The governor makes of it at most one frame
//! each [`FRAME`], asks for nothing while the window cannot be seen, lets only what is on
//! screen move, and counts. What an event of the user's makes egui paint is egui's own
//! affair and is only counted.
//!
//! A governor belongs to an [`egui::Context`]: it is a plugin there, made when it is first
//! needed, and hears where each pass begins and ends.

mod ledger;
mod settings;

use std::{
    cell::Cell,
    sync::Arc,
    time::{Duration, Instant},
};

use egui::{Context, Plugin, Rect, Ui, ViewportId};

use crate::perf::{self, Reason, Requests};

pub use ledger::{FRAME, GATHER, SAVING};
use ledger::{Ledger, SOON};
pub use settings::{Preference, Settings, System};

/// The clock a governor goes by.
pub type Clock = Arc<dyn Fn() -> Instant + Send + Sync>;

/// Asks for frames on behalf of a context, from any thread. Cheap to clone.
#[derive(Clone)]
pub struct Governor {
    shared: Arc<Shared>,
}

struct Shared {
    ledger: Ledger,
    began: Instant,
    clock: Clock,
}

/// A governor's place in its context.
struct Post {
    governor: Governor,
    settings: Settings,
    system: System,
    /// The number of the frame that was seen last.
    frame: Option<u64>,
    /// What egui moved before it was told to be still.
    moved: Option<settings::Moved>,
}

thread_local! {
    /// True while a request of ours is handed to the context, whose observer would else
    /// take it for egui's own.
    static OURS: Cell<bool> = const { Cell::new(false) };
}

impl Governor {
    /// The governor of a context.
    #[must_use]
    pub fn of(ctx: &Context) -> Self {
        ctx.plugin_or_default::<Post>().lock().governor.clone()
    }

    /// Gives a context a governor that goes by a clock of its own. Does nothing when it
    /// has one already.
    pub fn install(ctx: &Context, clock: Clock) {
        if ctx.plugin_opt::<Post>().is_none() {
            ctx.add_plugin(Post::new(clock));
        }
    }

    /// Asks for a frame after a while, at the earliest.
    pub fn request(&self, ctx: &Context, reason: Reason, delay: Duration) {
        if let Some(delay) = self.shared.ledger.request(reason, delay, self.now()) {
            ask(ctx, delay);
        }
    }

    /// True while the window cannot be seen.
    #[must_use]
    pub fn is_hidden(&self) -> bool {
        self.shared.ledger.is_hidden()
    }

    /// True while nothing may move by itself, for the user's sake or the battery's.
    #[must_use]
    pub fn is_still(&self) -> bool {
        self.shared.ledger.is_still()
    }

    /// Requests and frames since the start.
    #[must_use]
    pub fn total(&self) -> Requests {
        self.shared.ledger.total()
    }

    /// Requests and frames of the last seconds, at most fifteen.
    #[must_use]
    pub fn last(&self, seconds: u64) -> Requests {
        self.shared.ledger.last(seconds, self.now())
    }

    fn now(&self) -> Duration {
        (self.shared.clock)().saturating_duration_since(self.shared.began)
    }
}

/// Asks for one more frame, after something was changed by this one.
pub(crate) fn wake(ui: &Ui, reason: Reason) {
    Governor::of(ui).request(ui, reason, SOON);
}

/// Asks for a frame after a while.
pub fn after(ui: &Ui, reason: Reason, delay: Duration) {
    Governor::of(ui).request(ui, reason, delay);
}

/// Wakes a context from other threads, for a reason.
#[must_use]
pub fn waker(ctx: &Context, reason: Reason) -> Arc<dyn Fn() + Send + Sync> {
    let (governor, ctx) = (Governor::of(ctx), ctx.clone());
    Arc::new(move || governor.request(&ctx, reason, GATHER))
}

/// Shows an animation's next frame after `every`, as long as `rect`, in which it was just
/// drawn, is on screen. False when it must not move: draw it at rest.
pub fn animate(ui: &Ui, rect: Rect, every: Duration) -> bool {
    let governor = Governor::of(ui);
    if governor.is_still() {
        return false;
    }
    if is_seen(ui, rect) {
        governor.request(ui, Reason::Animation, every);
    }
    true
}

/// Shows a clock's next state after `every`, as long as `rect`, in which it was just drawn,
/// is on screen.
pub fn tick(ui: &Ui, rect: Rect, every: Duration) {
    if is_seen(ui, rect) {
        after(ui, Reason::Tick, every);
    }
}

/// Chooses how much may move, and how much power may be used.
pub fn configure(ctx: &Context, settings: Settings) {
    change(ctx, |post| post.settings = settings);
}

/// What was chosen by [`configure`].
#[must_use]
pub fn settings(ctx: &Context) -> Settings {
    ctx.plugin_or_default::<Post>().lock().settings
}

/// Takes in what is known of the system. From any thread.
pub fn learn(ctx: &Context, system: System) {
    change(ctx, |post| post.system = system);
}

/// Looks whether the window can be seen, where no pass is run to find it out. Call it from
/// [`eframe::App::logic`].
pub fn look(ctx: &Context) {
    let governor = Governor::of(ctx);
    governor.shared.ledger.pass_begins();
    let hidden = ctx.input_for(ViewportId::ROOT, |input| is_hidden(input.viewport()));
    if governor.shared.ledger.set_hidden(hidden) {
        governor.request(ctx, Reason::Shown, SOON);
    }
}

/// Counts egui's own requests too. A context has one observer: this takes its place, so it
/// is for the program and not for a view in another's.
pub fn observe(ctx: &Context) {
    let governor = Governor::of(ctx);
    ctx.set_repaint_observer(move |_| {
        if !OURS.get() {
            governor.shared.ledger.count_toolkit(governor.now());
        }
    });
}

fn change(ctx: &Context, change: impl FnOnce(&mut Post)) {
    let handle = ctx.plugin_or_default::<Post>();
    let mut post = handle.lock();
    change(&mut post);
    let (ledger, settings, system) = (&post.governor.shared.ledger, post.settings, post.system);
    ledger.set_still(settings.reduced_motion.decide(system.reduces_motion));
    ledger.set_saving(settings.battery_saver.decide(system.on_battery));
}

fn ask(ctx: &Context, delay: Duration) {
    OURS.set(true);
    ctx.request_repaint_after_for(delay, ViewportId::ROOT);
    OURS.set(false);
}

fn is_seen(ui: &Ui, rect: Rect) -> bool {
    ui.is_visible() && ui.is_rect_visible(rect)
}

fn is_hidden(viewport: &egui::ViewportInfo) -> bool {
    viewport.minimized == Some(true) || viewport.occluded == Some(true)
}

impl Post {
    fn new(clock: Clock) -> Self {
        let shared = Shared { ledger: Ledger::default(), began: clock(), clock };
        Self {
            governor: Governor { shared: Arc::new(shared) },
            settings: Settings::default(),
            system: System::default(),
            frame: None,
            moved: None,
        }
    }
}

impl Default for Post {
    fn default() -> Self {
        Self::new(Arc::new(perf::now))
    }
}

impl Plugin for Post {
    fn debug_name(&self) -> &'static str {
        "repaint governor"
    }

    fn on_begin_pass(&mut self, ui: &mut Ui) {
        if ui.viewport_id() != ViewportId::ROOT {
            return;
        }
        let ledger = &self.governor.shared.ledger;
        let frame = Some(ui.cumulative_frame_nr());
        if std::mem::replace(&mut self.frame, frame) == frame {
            ledger.pass_begins();
        } else {
            ledger.frame_begins(self.governor.now());
        }
        // This pass is the frame that whatever was withheld waits for.
        let _seen = ledger.set_hidden(ui.input(|input| is_hidden(input.viewport())));
        settings::keep_still(ui, ledger.is_still(), &mut self.moved);
    }

    fn on_end_pass(&mut self, ui: &mut Ui) {
        if ui.viewport_id() == ViewportId::ROOT
            && let Some(delay) = self.governor.shared.ledger.frame_ends(self.governor.now())
        {
            ask(ui, delay);
        }
    }
}
