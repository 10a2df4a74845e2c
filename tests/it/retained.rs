//! Retained printing: the same picture as egui's painter gives, for twelve bytes a draw.

use egui::{Event, Modifiers, MouseWheelUnit, PointerButton, Pos2, Theme, pos2, vec2};
use egui_wgpu::{WgpuSetup, wgpu};
use image::RgbaImage;
use letterpress::{
    app::offscreen::{FrameStats, Gpu, Offscreen},
    gpu::{self, Counters},
    model::{MemorySource, Message, Role},
    view::{Renderer, TranscriptView, theme},
};

use crate::bed;

/// Frames after which everything that stands on the page is printed.
const CAST_FRAMES: usize = 3;

/// A view on an off-screen surface.
struct Desk {
    offscreen: Offscreen,
    view: TranscriptView,
    source: MemorySource,
    frames: u32,
}

impl Desk {
    fn new(gpu: Gpu, scale: f32, theme: Theme, messages: Vec<Message>) -> Self {
        let size_px = [(760.0 * scale) as u32, (560.0 * scale) as u32];
        let offscreen = Offscreen::on(gpu, size_px, scale, theme, theme::install);
        let offscreen = offscreen.expect("a texture can have this size");
        let view = TranscriptView::new(offscreen.context());
        Self { offscreen, view, source: bed::memory(messages), frames: 0 }
    }

    fn frame(&mut self, events: Vec<Event>) -> FrameStats {
        self.frames += 1;
        let Self { offscreen, view, source, .. } = self;
        offscreen.frame(events, f64::from(self.frames) / 60.0, |ui| {
            view.show(ui, source);
        })
    }

    fn frames(&mut self, count: usize) {
        (0..count).for_each(|_| drop(self.frame(Vec::new())));
    }

    /// Everything arrived, set, cast.
    fn settle(&mut self) {
        for _ in 0..200 {
            self.frame(Vec::new());
            if self.view.is_settled() {
                break;
            }
            std::thread::park_timeout(std::time::Duration::from_millis(2));
        }
        self.frames(CAST_FRAMES);
    }

    fn counters(&self) -> Counters {
        self.offscreen.printer().expect("the device can print").counters()
    }

    fn image(&mut self) -> RgbaImage {
        self.frame(Vec::new());
        self.offscreen.image().expect("the device is there")
    }

    /// The picture as printed, and as replayed; then prints again.
    fn both(&mut self) -> [RgbaImage; 2] {
        self.settle();
        let printed = self.image();
        self.view.draw_with(Renderer::Replay);
        self.frames(1);
        let before = self.counters();
        let replayed = self.image();
        assert_eq!(self.counters().draws, before.draws, "replaying prints nothing");
        self.view.draw_with(Renderer::Retained);
        self.settle();
        [printed, replayed]
    }

    fn check(&mut self, what: &str) {
        let [printed, replayed] = self.both();
        let difference = difference(&printed, &replayed);
        if difference > 1 {
            let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
            printed.save(folder.join("printed.png")).expect("the folder is there");
            replayed.save(folder.join("replayed.png")).expect("the folder is there");
        }
        assert!(difference <= 1, "{what}: channels differ by {difference}");
    }
}

/// The largest difference of any channel.
fn difference(a: &RgbaImage, b: &RgbaImage) -> u8 {
    assert_eq!(a.dimensions(), b.dimensions());
    let channels = a.as_raw().iter().zip(b.as_raw());
    channels.map(|(a, b)| a.abs_diff(*b)).max().unwrap_or(0)
}

/// The default adapter, or the OpenGL one.
fn open(backend: Option<wgpu::Backends>) -> Option<Gpu> {
    let mut setup = gpu::setup();
    if let (WgpuSetup::CreateNew(new), Some(backends)) = (&mut setup, backend) {
        new.instance_descriptor.backends = backends;
    }
    Gpu::open(setup).ok()
}

fn default_gpu() -> Gpu {
    open(None).expect("there is a driver")
}

/// A page with everything on it that is drawn in a way of its own.
const PAGE: &str = "# A heading\n\nText with `code`, **bold**, *italics*, ~~gone~~ and [a link](https://example.org).\n\n\
    > [!WARNING]\n> Mind the gap 🚀 世界 안녕.\n\n\
    - [x] done\n- [ ] not\n  1. deep\n\n```rust\nfn main() { println!(\"set once, printed many times, on a line that is rather too long for the column it stands in\"); }\n```\n\n";

fn table() -> String {
    let row = |cell: &str| format!("|{}\n", format!(" {cell} |").repeat(9));
    let cells = "a cell of some width";
    [row("Head"), row("---"), row(cells), row("**12.5** `px`"), row(cells)].concat()
}

fn page() -> Vec<Message> {
    vec![
        bed::message(1, Role::User, vec![bed::text("What is on this page?")]),
        bed::message(2, Role::Assistant, vec![bed::text(&format!("{PAGE}{}", table()))]),
    ]
}

fn wheel(delta: egui::Vec2) -> Event {
    let (phase, source) = (egui::TouchPhase::Move, egui::MouseWheelSource::Unknown);
    let (unit, modifiers) = (MouseWheelUnit::Point, Modifiers::NONE);
    Event::MouseWheel { unit, delta, modifiers, phase, source }
}

fn button(pos: Pos2, pressed: bool) -> Event {
    let button = PointerButton::Primary;
    Event::PointerButton { pos, button, pressed, modifiers: Modifiers::NONE }
}

/// Scrolls the table sideways and selects across the page.
fn disturb(desk: &mut Desk) {
    let wide = desk.view.visible().placed.iter().rev().find(|place| {
        place.slug.as_ref().is_some_and(|slug| slug.wide.is_some())
    });
    let y = wide.map(|place| place.y + 12.0).expect("the table is too wide");
    desk.frame(vec![Event::PointerMoved(pos2(300.0, y))]);
    desk.frame(vec![wheel(vec2(-37.3, 0.0))]);
    desk.frames(30);
    let (from, to) = (pos2(140.0, 120.0), pos2(420.0, y + 20.0));
    desk.frame(vec![Event::PointerMoved(from), button(from, true)]);
    desk.frame(vec![Event::PointerMoved(to)]);
    desk.frame(vec![Event::PointerMoved(to), button(to, false)]);
    desk.frame(vec![Event::PointerMoved(pos2(1.0, 1.0))]);
}

fn looks_the_same_on(gpu: &Gpu) {
    for theme in [Theme::Dark, Theme::Light] {
        for scale in [1.0, 1.5, 2.0] {
            let mut desk = Desk::new(gpu.clone(), scale, theme, page());
            desk.check(&format!("{theme:?} at {scale}"));
            let plain = desk.image();
            disturb(&mut desk);
            desk.check(&format!("{theme:?} at {scale}, selected and scrolled"));
            let changed = difference(&plain, &desk.image());
            assert!(changed > 8, "the selection is seen: {changed}");
            let visible = desk.view.visible_slugs() as u64;
            assert!(desk.counters().plates >= visible, "all of it is printed");
        }
    }
}

#[test]
fn printed_and_replayed_pages_look_the_same() {
    looks_the_same_on(&default_gpu());
}
