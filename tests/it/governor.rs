//! Who gets a frame, when, and for what: exact counts on a clock of the test's own.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::{Duration, Instant},
};

use egui::{Context, RawInput, Rect, Ui, ViewportId, pos2, vec2};
use letterpress::{
    engine::live::{Config, Engine, Provider},
    model::{self, Command, Draft, Source as _, Ticket},
    perf::{self, Power, Reason, Tally},
    view::governor::{self, Governor, Preference, SAVING, Settings, System},
    wire::demo::Pace,
};

/// A context and the loop of a window around it: a frame when one is due, on a clock that
/// jumps from one to the next.
struct Desk {
    ctx: Context,
    began: Instant,
    /// Microseconds since the beginning.
    time: Arc<AtomicU64>,
    /// When the next frame is due, as the loop was told.
    due: Option<Duration>,
    heard: Arc<Heard>,
    hidden: bool,
    frames: u64,
}

impl Desk {
    fn new() -> Self {
        let (ctx, began) = (Context::default(), perf::now());
        let time = Arc::new(AtomicU64::new(0));
        let clock = Arc::clone(&time);
        let now = move || began + Duration::from_micros(clock.load(SeqCst));
        Governor::install(&ctx, Arc::new(now));
        let heard = Arc::<Heard>::default();
        let told = Arc::clone(&heard);
        ctx.set_request_repaint_callback(move |info| told.put(info.delay));
        let mut desk = Self { ctx, began, time, due: None, heard, hidden: false, frames: 0 };
        // Fonts and egui's own first frames.
        for _ in 0..4 {
            desk.frame(|_| {});
        }
        (desk.frames, desk.due) = (0, None);
        desk.wait(Duration::from_secs(20));
        desk
    }

    fn now(&self) -> Duration {
        Duration::from_micros(self.time.load(SeqCst))
    }

    fn wait(&self, duration: Duration) {
        self.time.fetch_add(u64::try_from(duration.as_micros()).expect("short"), SeqCst);
    }

    fn input(&self) -> RawInput {
        let rect = Rect::from_min_size(pos2(0.0, 0.0), vec2(400.0, 300.0));
        let mut input = RawInput {
            screen_rect: Some(rect),
            time: Some(self.now().as_secs_f64()),
            ..RawInput::default()
        };
        let root = input.viewports.entry(ViewportId::ROOT).or_default();
        root.minimized = Some(self.hidden);
        input
    }

    /// One frame, or the program's logic alone when nothing can be seen: as eframe does it.
    fn frame(&mut self, mut ui: impl FnMut(&mut Ui)) {
        if self.hidden {
            drop(self.ctx.run_logic(&self.input(), governor::look));
            self.due = None;
            return;
        }
        self.frames += 1;
        let mut output = self.ctx.run_ui(self.input(), &mut ui);
        output.textures_delta.clear();
        let delay = output.viewport_output[&ViewportId::ROOT].repaint_delay;
        self.due = (delay < Duration::from_secs(60)).then(|| self.now() + delay);
        // What the pass asked for is in its output.
        self.heard.take();
    }

    /// Runs the loop for a while, with something that happens every millisecond beside it.
    fn run(
        &mut self,
        duration: Duration,
        mut beside: impl FnMut(Duration),
        mut ui: impl FnMut(&mut Ui),
    ) -> u64 {
        let (frames, end) = (self.frames, self.now() + duration);
        while self.now() < end {
            beside(self.now());
            // A request from a thread reaches the loop through the context.
            if let Some(delay) = self.requested() {
                let due = self.now() + delay;
                self.due = Some(self.due.map_or(due, |before| before.min(due)));
            }
            if self.due.is_some_and(|due| due <= self.now()) {
                self.frame(&mut ui);
            }
            self.wait(Duration::from_millis(1));
        }
        self.frames - frames
    }

    /// The shortest delay that was asked for since this was last asked.
    fn requested(&self) -> Option<Duration> {
        self.heard.take()
    }

    fn governor(&self) -> Governor {
        Governor::of(&self.ctx)
    }
}

/// The shortest delay that was asked for; microseconds plus one, 0 for none.
#[derive(Default)]
struct Heard(AtomicU64);

impl Heard {
    fn put(&self, delay: Duration) {
        let micros = u64::try_from(delay.as_micros()).unwrap_or(u64::MAX - 1);
        let shorter = |before| (before == 0 || micros + 1 < before).then_some(micros + 1);
        // Refused when a shorter one stands.
        let _kept = self.0.fetch_update(SeqCst, SeqCst, shorter);
    }

    fn take(&self) -> Option<Duration> {
        let micros = self.0.swap(0, SeqCst).checked_sub(1)?;
        Some(Duration::from_micros(micros))
    }
}

const SECOND: Duration = Duration::from_secs(1);

fn nothing(_: &mut Ui) {}

#[test]
fn idle_is_zero_frames() {
    let mut desk = Desk::new();
    assert_eq!(desk.run(SECOND, |_| {}, nothing), 0);
    assert_eq!(desk.governor().total().total(), 0);
}

#[test]
fn a_storm_of_wakes_is_one_frame_each_sixteen_milliseconds() {
    let mut desk = Desk::new();
    let wake = governor::waker(&desk.ctx, Reason::Stream);
    // Eight wakes a millisecond.
    let frames = desk.run(SECOND, |_| (0..8).for_each(|_| wake()), nothing);
    assert_eq!(desk.governor().total().of(Reason::Stream), 8_000);
    // The first after 8 ms, the second 8 ms later, all others 16 ms apart.
    assert_eq!(frames, 2 + (1000 - 17) / 16);
    let after = desk.run(SECOND, |_| {}, nothing);
    assert_eq!(after, 1, "what was asked for last is shown, and nothing after it");
    assert_eq!(desk.run(SECOND, |_| {}, nothing), 0);
}

#[test]
fn a_single_wake_is_a_frame_eight_milliseconds_later() {
    let mut desk = Desk::new();
    let wake = governor::waker(&desk.ctx, Reason::Page);
    wake();
    assert_eq!(desk.run(Duration::from_millis(8), |_| {}, nothing), 0);
    assert_eq!(desk.run(Duration::from_millis(1), |_| {}, nothing), 1);
    // What that frame asked for is there at once, and not held back.
    wake();
    assert_eq!(desk.run(Duration::from_millis(9), |_| {}, nothing), 1);
    wake();
    assert_eq!(desk.run(Duration::from_millis(9), |_| {}, nothing), 0, "the spare is used up");
    assert_eq!(desk.run(Duration::from_millis(8), |_| {}, nothing), 1);
}

#[test]
fn a_frame_for_any_reason_answers_all() {
    let mut desk = Desk::new();
    let wake = governor::waker(&desk.ctx, Reason::Stream);
    wake();
    desk.frame(nothing);
    assert_eq!(desk.run(SECOND, |_| {}, nothing), 0);
}

#[test]
fn hidden_is_zero_frames_while_wakes_go_on_and_one_when_shown() {
    let mut desk = Desk::new();
    let wake = governor::waker(&desk.ctx, Reason::Stream);
    desk.hidden = true;
    // The system tells of it with an event, for which the integration runs the logic.
    desk.frame(nothing);
    assert!(desk.governor().is_hidden());
    let mut shown = 0;
    assert_eq!(desk.run(SECOND, |_| wake(), |_| shown += 1), 0);
    assert_eq!(desk.governor().total().of(Reason::Stream), 1000, "they are still counted");
    assert_eq!(shown, 0);
    assert_eq!(desk.due, None, "and not even the logic is woken");
    desk.hidden = false;
    drop(desk.ctx.run_logic(&desk.input(), governor::look));
    assert_eq!(desk.run(SECOND, |_| {}, nothing), 1, "the newest state, once");
    assert_eq!(desk.governor().total().of(Reason::Shown), 1);
}

/// Invariant: a window that cannot be seen costs its conversation nothing, and loses nothing.
#[test]
fn a_reply_arrives_whole_while_nobody_looks() {
    let mut desk = Desk::new();
    let engine = Engine::start(Config::new(|| 0)).expect("threads can be started");
    engine.set_provider("demo", Provider::Demo(Pace::AtOnce));
    let settings = model::Settings { provider: "demo".into(), ..model::Settings::default() };
    let session = engine.session(settings, governor::waker(&desk.ctx, Reason::Stream));
    let mut source = session.source();
    let mut shown = 0;
    desk.hidden = true;
    desk.frame(|_| {});
    desk.requested();
    let ticket = Ticket(1);
    assert!(session.send(Command::Send(Draft::text(ticket, "Hello"))).is_ok());
    let last = engine.block_on(session.settled(ticket));
    let words = last.messages().count();
    assert!(words >= 2 && desk.governor().total().of(Reason::Stream) >= 2);
    assert_eq!((desk.requested(), desk.frames), (None, 0), "nobody was woken");
    desk.hidden = false;
    desk.frame(|_| {
        source.poll();
        shown = source.len();
    });
    assert_eq!(shown, words, "the first frame shows all of it");
    assert_eq!(desk.run(SECOND, |_| {}, nothing), 0);
}

#[test]
fn occluded_is_hidden_too() {
    let desk = Desk::new();
    let mut input = desk.input();
    input.viewports.entry(ViewportId::ROOT).or_default().occluded = Some(true);
    drop(desk.ctx.run_logic(&input, governor::look));
    assert!(desk.governor().is_hidden());
}

/// Something that moves, at a place in a clipped page.
fn spinner(ui: &mut Ui, y: f32) -> bool {
    ui.set_clip_rect(Rect::from_min_size(pos2(0.0, 0.0), vec2(400.0, 300.0)));
    let rect = Rect::from_min_size(pos2(10.0, y), vec2(16.0, 16.0));
    governor::animate(ui, rect, Duration::from_millis(32))
}

#[test]
fn only_what_is_on_screen_moves() {
    let mut desk = Desk::new();
    let off_screen = |ui: &mut Ui| assert!(spinner(ui, 4_000.0));
    desk.frame(off_screen);
    assert_eq!(desk.run(SECOND, |_| {}, off_screen), 0);
    assert_eq!(desk.governor().total().of(Reason::Animation), 0);

    let on_screen = |ui: &mut Ui| assert!(spinner(ui, 100.0));
    desk.frame(on_screen);
    // Every 32 ms, which is its rate and not the display's.
    assert_eq!(desk.run(SECOND, |_| {}, on_screen), 1000 / 32);

    // It scrolls out of view: one frame finds it gone, and then there are none.
    assert_eq!(desk.run(SECOND, |_| {}, off_screen), 1);
    // It has ended.
    assert_eq!(desk.run(SECOND, |_| {}, nothing), 0);
}

#[test]
fn reduced_motion_is_none() {
    let mut desk = Desk::new();
    let mut moves = true;
    governor::configure(
        &desk.ctx,
        Settings { reduced_motion: Preference::On, ..Settings::default() },
    );
    desk.frame(|ui| moves = spinner(ui, 100.0));
    assert!(!moves, "it is to be drawn at rest");
    assert_eq!(desk.run(SECOND, |_| {}, |ui| assert!(!spinner(ui, 100.0))), 0);
    assert_eq!(desk.ctx.global_style().animation_time, 0.0);
    assert!(!desk.ctx.global_style().visuals.text_cursor.blink);

    // The system's wish counts until the user has one of his own.
    governor::configure(&desk.ctx, Settings::default());
    desk.frame(nothing);
    assert!(desk.ctx.global_style().animation_time > 0.0, "as before");
    governor::learn(&desk.ctx, System { reduces_motion: true, ..System::default() });
    assert!(desk.governor().is_still());
    governor::configure(
        &desk.ctx,
        Settings { reduced_motion: Preference::Off, ..Settings::default() },
    );
    assert!(!desk.governor().is_still());
}

#[test]
fn a_battery_shows_a_reply_ten_times_a_second() {
    let mut desk = Desk::new();
    let wake = governor::waker(&desk.ctx, Reason::Stream);
    let page = governor::waker(&desk.ctx, Reason::Page);
    governor::learn(&desk.ctx, System { on_battery: true, ..System::default() });
    desk.frame(nothing);
    let spinning = |ui: &mut Ui| assert!(!spinner(ui, 100.0));
    assert_eq!(desk.run(SECOND, |_| wake(), spinning), 9, "every {SAVING:?}, and nothing moves");
    desk.run(SECOND, |_| {}, nothing);
    // What the reader waits for is not held back.
    page();
    assert_eq!(desk.run(Duration::from_millis(9), |_| {}, nothing), 1);
    governor::configure(
        &desk.ctx,
        Settings { battery_saver: Preference::Off, ..Settings::default() },
    );
    assert!(desk.run(SECOND, |_| wake(), nothing) > 50);
}

/// A request that is dated is kept, whatever frames come before it.
#[test]
fn a_promise_outlives_other_frames() {
    let mut desk = Desk::new();
    let governor = desk.governor();
    governor.request(&desk.ctx, Reason::Copied, Duration::from_millis(1500));
    desk.run(Duration::from_millis(500), |_| {}, nothing);
    desk.frame(nothing);
    desk.frame(nothing);
    assert_eq!(desk.run(Duration::from_millis(990), |_| {}, nothing), 0);
    assert_eq!(desk.run(Duration::from_millis(20), |_| {}, nothing), 1);
    assert_eq!(desk.run(SECOND * 2, |_| {}, nothing), 0);
}

/// A window system that swallows a request does not silence what comes after it.
#[test]
fn an_unanswered_request_is_made_again() {
    let desk = Desk::new();
    let wake = governor::waker(&desk.ctx, Reason::Stream);
    desk.requested();
    wake();
    assert!(desk.requested().is_some());
    wake();
    assert!(desk.requested().is_none(), "one is on its way");
    desk.wait(SECOND);
    // The program's logic ran and nobody looked.
    drop(desk.ctx.run_logic(&desk.input(), |_| {}));
    wake();
    assert!(desk.requested().is_some());
    assert_eq!(desk.frames, 0);
    assert!(desk.began <= perf::now());
}

#[test]
fn what_egui_asks_for_is_told_apart() {
    let desk = Desk::new();
    governor::observe(&desk.ctx);
    desk.ctx.request_repaint_after(Duration::from_millis(5));
    governor::waker(&desk.ctx, Reason::Picture)();
    let total = desk.governor().total();
    assert_eq!((total.of(Reason::Toolkit), total.of(Reason::Picture)), (1, 1));
    assert_eq!(total.iter().count(), 2);
}

#[test]
fn the_tally_forgets_by_the_second() {
    let tally = Tally::default();
    let at = |secs: f64| Duration::from_secs_f64(secs);
    tally.request(Reason::Input, at(0.5));
    tally.request(Reason::Stream, at(3.0));
    tally.request(Reason::Stream, at(9.9));
    tally.frame(at(9.9));
    let last = |now| tally.last(10, at(now));
    assert_eq!((last(9.95).of(Reason::Input), last(9.95).of(Reason::Stream)), (1, 2));
    assert_eq!((last(10.0).of(Reason::Input), last(10.0).of(Reason::Stream)), (0, 2));
    assert_eq!((last(13.0).of(Reason::Stream), last(13.0).frames), (1, 1));
    assert_eq!(last(20.0).total(), 0);
    // The ring has come round.
    tally.request(Reason::Input, at(16.6));
    assert_eq!(last(16.7).of(Reason::Input), 1);
    assert_eq!((tally.total().total(), tally.total().frames), (4, 1));
}

#[test]
fn power_is_read_as_linux_writes_it() {
    let folder = tempfile::tempdir().expect("there is a folder for temporary files");
    let supply = |name: &str, files: &[(&str, &str)]| {
        let path = folder.path().join(name);
        std::fs::create_dir_all(&path).expect("it can be made");
        for (file, text) in files {
            std::fs::write(path.join(file), format!("{text}\n")).expect("it can be written");
        }
    };
    let power = || perf::power_in(folder.path());
    assert_eq!(perf::power_in(&folder.path().join("none")), Power::Unknown);
    assert_eq!(power(), Power::Mains, "no battery");
    supply("mouse", &[("type", "Battery"), ("scope", "Device"), ("status", "Discharging")]);
    assert_eq!(power(), Power::Mains);
    supply("BAT0", &[("type", "Battery"), ("status", "Discharging")]);
    supply("AC", &[("type", "Mains"), ("online", "0")]);
    assert_eq!(power(), Power::Battery);
    supply("AC", &[("type", "Mains"), ("online", "1")]);
    assert_eq!(power(), Power::Mains, "a battery that is not enough for what is taken");
}
