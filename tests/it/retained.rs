//! Retained printing: the same picture as egui's painter gives, for twelve bytes a draw.

use std::sync::Arc;

use egui::{Event, Modifiers, MouseWheelUnit, PointerButton, Pos2, Theme, pos2, vec2};
use egui_wgpu::{WgpuSetup, wgpu};
use image::RgbaImage;
use letterpress::{
    app::offscreen::{FrameStats, Gpu, Offscreen},
    gpu::{self, Counters, Printer},
    layout::{Jump, rows::Rows},
    model::{Message, Role},
    view::{Renderer, TranscriptView, theme},
};

use crate::bed::{self, Shifting};

/// Width and height in points.
const SIZE: [f32; 2] = [760.0, 560.0];

/// Frames after which everything that stands on the page is printed.
const CAST_FRAMES: usize = 3;

/// A view on an off-screen surface, with another one beside it if it is split.
struct Desk {
    offscreen: Offscreen,
    views: Vec<TranscriptView>,
    source: Shifting,
    frames: u32,
}

impl Desk {
    fn new(gpu: Gpu, scale: f32, theme: Theme, messages: Vec<Message>) -> Self {
        let size_px = SIZE.map(|side| (side * scale) as u32);
        let offscreen = Offscreen::on(|| Ok(gpu), size_px, scale, theme, theme::install);
        let offscreen = offscreen.expect("a texture can have this size");
        let views = vec![TranscriptView::new(offscreen.context())];
        Self { offscreen, views, source: Shifting::new(messages, 0), frames: 0 }
    }

    fn on_default(messages: Vec<Message>) -> Self {
        Self::new(default_gpu(), 1.0, Theme::Dark, messages)
    }

    fn view(&mut self) -> &mut TranscriptView {
        &mut self.views[0]
    }

    fn frame(&mut self, events: Vec<Event>) -> FrameStats {
        self.frames += 1;
        let Self { offscreen, views, source, .. } = self;
        offscreen.frame(events, f64::from(self.frames) / 60.0, |ui| {
            ui.columns(views.len(), |columns| {
                for (view, ui) in views.iter_mut().zip(columns) {
                    ui.push_id(ui.max_rect().left() as i32, |ui| view.show(ui, source));
                }
            });
        })
    }

    fn frames(&mut self, count: usize) {
        for _ in 0..count {
            self.frame(Vec::new());
        }
    }

    /// Everything arrived, set, cast.
    fn settle(&mut self) {
        for _ in 0..200 {
            self.frame(Vec::new());
            if self.views.iter().all(TranscriptView::is_settled) {
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

    fn draw_with(&mut self, renderer: Renderer) {
        self.views.iter_mut().for_each(|view| view.draw_with(renderer));
    }

    /// The picture as printed, and as replayed; then prints again.
    fn both(&mut self) -> [RgbaImage; 2] {
        self.settle();
        let printed = self.image();
        self.draw_with(Renderer::Replay);
        self.frames(1);
        let before = self.counters();
        let replayed = self.image();
        assert_eq!(self.counters().draws, before.draws, "replaying prints nothing");
        self.draw_with(Renderer::Retained);
        self.settle();
        [printed, replayed]
    }

    fn check(&mut self, what: &str) {
        let [printed, replayed] = self.both();
        let difference = difference(&printed, &replayed);
        if difference > 1 {
            save(&printed, "printed");
            save(&replayed, "replayed");
        }
        assert!(difference <= 1, "{what}: channels differ by {difference}");
    }
}

/// Keeps a picture for whoever looks into a failure.
fn save(image: &RgbaImage, name: &str) {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    image.save(path.with_extension("png")).expect("the folder is there");
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
    let wide = desk
        .view()
        .visible()
        .placed
        .iter()
        .rev()
        .find(|place| place.slug.as_ref().is_some_and(|slug| slug.wide.is_some()));
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
            let visible = desk.view().visible_slugs() as u64;
            assert!(desk.counters().plates >= visible, "all of it is printed");
        }
    }
}

#[test]
fn printed_and_replayed_pages_look_the_same() {
    looks_the_same_on(&default_gpu());
}

#[test]
fn they_look_the_same_on_opengl() {
    match open(Some(wgpu::Backends::GL)) {
        Some(gpu) => {
            assert_eq!(gpu.state.adapter.get_info().backend, wgpu::Backend::Gl);
            looks_the_same_on(&gpu);
        }
        None => println!("skipped: there is no OpenGL driver"),
    }
}

#[test]
fn they_look_the_same_on_a_surface_of_linear_light_with_dithering() {
    let Gpu { mut state, mut options } = default_gpu();
    options.dithering = true;
    state.target_format = wgpu::TextureFormat::Rgba8UnormSrgb;
    let renderer = egui_wgpu::Renderer::new(&state.device, state.target_format, options);
    state.renderer = Arc::new(egui::mutex::RwLock::new(renderer));
    Desk::new(Gpu { state, options }, 1.0, Theme::Dark, page()).check("linear light");
}

#[test]
fn it_fits_surfaces_with_samples_and_depth() {
    let Gpu { state, mut options } = default_gpu();
    options.msaa_samples = 4;
    options.depth_stencil_format = Some(wgpu::TextureFormat::Depth32Float);
    assert!(Printer::new(&state, options).is_some());
}

/// Characters of three scripts in four faces, so many that the atlas needs more rows.
fn many_glyphs() -> String {
    let characters: String =
        ('\u{a1}'..'\u{24f}').chain('\u{370}'..'\u{3ff}').chain('\u{400}'..'\u{4ff}').collect();
    let words: Vec<char> = characters.chars().filter(|c| c.is_alphabetic()).collect();
    let words: Vec<String> = words.chunks(12).map(String::from_iter).collect();
    let words = words.join(" ");
    format!("{words}\n\n**{words}**\n\n*{words}*\n\n## {words}\n\n`{words}`")
}

#[test]
fn the_atlas_may_grow_under_what_is_printed() {
    let open = || Desk::new(default_gpu(), 2.0, Theme::Dark, page());
    let (mut desk, mut replayed) = (open(), open());
    replayed.draw_with(Renderer::Replay);
    desk.settle();
    replayed.settle();
    let height = |desk: &Desk| desk.offscreen.context().fonts(|fonts| fonts.font_image_size()[1]);
    let (height_before, plates) = (height(&desk), desk.counters().plates);
    for desk in [&mut desk, &mut replayed] {
        desk.source.push(bed::message(3, Role::Assistant, vec![bed::text(&many_glyphs())]));
        desk.view().jump(Jump::Row(1));
    }
    for frame in 0..40 {
        let difference = difference(&desk.image(), &replayed.image());
        assert!(difference <= 1, "frame {frame}: {difference}");
        desk.view().scroll_by(30.0);
        replayed.view().scroll_by(30.0);
    }
    assert!(height(&desk) > height_before, "the atlas grew");
    assert!(desk.counters().plates > plates);
}

#[test]
fn a_warm_frame_uploads_where_things_stand_and_nothing_else() {
    // No prompts: the line that repeats one is cast anew whenever it says something else.
    let answers = bed::sample(60).into_iter().filter(|message| message.role == Role::Assistant);
    let mut desk = Desk::on_default(answers.collect());
    desk.settle();
    let legs = || [-20.0, 20.0].into_iter().flat_map(|step| [step; 60]);
    for step in legs() {
        desk.view().scroll_by(step);
        // What comes in for a moment at the turn is old enough to be cast, too.
        desk.frames(CAST_FRAMES);
    }
    let before = (desk.view().laid_out(), desk.counters().plates);
    for step in legs() {
        let draws = desk.counters().draws;
        desk.view().scroll_by(step);
        let stats = desk.frame(Vec::new());
        let draws = desk.counters().draws - draws;
        assert_eq!(stats.printed_bytes, 12 * draws, "one placement a draw");
        assert!(draws > 0 && stats.uploaded_bytes <= 4096, "{stats:?}");
    }
    assert_eq!((desk.view().laid_out(), desk.counters().plates), before);
}

#[test]
fn a_slug_is_uploaded_once() {
    let mut desk = Desk::on_default(plain_page());
    desk.settle();
    let counters = desk.counters();
    // Everything but the plates: the uniforms, and the placements of each frame.
    let screen_bytes = 16;
    assert_eq!(counters.uploaded_bytes, counters.plate_bytes + 12 * counters.draws + screen_bytes);
    desk.frames(5);
    assert_eq!(desk.counters().plate_bytes, counters.plate_bytes);
}

#[test]
fn type_is_distributed_once_it_is_cast() {
    let mut desk = Desk::on_default(bed::sample(30));
    desk.draw_with(Renderer::Replay);
    desk.settle();
    let replayed = desk.view().cache_bytes();
    desk.draw_with(Renderer::Retained);
    desk.settle();
    let retained = desk.view().cache_bytes();
    assert!(retained * 4 < replayed, "{retained} of {replayed} bytes");
    let slugs = desk.view().visible().placed.iter().filter_map(|place| place.slug.clone());
    assert!(slugs.flat_map(|slug| slug.lines.clone()).all(|line| line.galley.is_none()));
}

#[test]
fn plates_are_freed_with_their_slugs_and_at_the_limit() {
    let mut desk = Desk::on_default(bed::sample(120));
    let printer = desk.offscreen.printer().expect("the device can print").clone();
    let limit = 160 * 1024;
    printer.set_limit(limit);
    desk.settle();
    for _ in 0..150 {
        desk.view().scroll_by(-60.0);
        desk.frames(1);
        assert!(desk.counters().plate_bytes <= limit, "{:?}", desk.counters());
    }
    assert!(desk.counters().melted > 0, "it came to the limit");
    desk.check("at the limit");
    desk.view().jump(Jump::End);
    desk.check("what had been taken back");
    desk.view().purge();
    desk.frames(1);
    assert_eq!(desk.counters().plate_bytes, 0, "the slugs are gone");
}

#[test]
fn a_printer_that_was_purged_begins_again() {
    let mut desk = Desk::on_default(page());
    desk.settle();
    let before = desk.image();
    desk.offscreen.printer().expect("the device can print").purge();
    for frame in 0..CAST_FRAMES {
        assert!(difference(&desk.image(), &before) <= 1, "frame {frame}");
    }
    assert!(desk.counters().plates > 0);
}

impl Desk {
    /// What another desk shows of the same conversation with egui's painter.
    fn replayed(scale: f32, source: &Shifting) -> RgbaImage {
        Self::replayed_in(Theme::Dark, scale, source)
    }

    fn replayed_in(theme: Theme, scale: f32, source: &Shifting) -> RgbaImage {
        let mut desk = Self::new(default_gpu(), scale, theme, Vec::new());
        desk.source = source.clone();
        desk.draw_with(Renderer::Replay);
        desk.settle();
        desk.image()
    }

    /// The pictures of the next frames are right, while what was cast is cast anew.
    fn recovers(&mut self, expected: &RgbaImage, what: &str) {
        for frame in 0..CAST_FRAMES + 2 {
            let image = self.image();
            if frame >= 1 {
                let difference = difference(&image, expected);
                if difference > 1 {
                    save(&image, "recovered");
                    save(expected, "expected");
                }
                assert!(difference <= 1, "{what}, frame {frame}: {difference}");
            }
        }
        self.check(what);
    }
}

/// Colours of code come from a thread and would make the first frames differ.
fn plain_page() -> Vec<Message> {
    vec![bed::message(
        1,
        Role::Assistant,
        vec![bed::text(&table()), bed::text("## Over\n\n**it** is")],
    )]
}

#[test]
fn a_theme_switch_resets_the_atlas_and_nothing_is_lost() {
    let mut desk = Desk::on_default(plain_page());
    desk.settle();
    let expected = Desk::replayed_in(Theme::Light, 1.0, &desk.source);
    desk.offscreen.context().set_theme(Theme::Light);
    desk.recovers(&expected, "after the theme was switched");
}

#[test]
fn zoom_and_another_display_set_everything_anew() {
    let mut desk = Desk::on_default(plain_page());
    desk.settle();
    let expected = Desk::replayed(2.0, &desk.source);
    desk.offscreen.rescale(2.0);
    desk.offscreen.resize(SIZE.map(|side| side as u32 * 2)).expect("a texture can have this size");
    desk.recovers(&expected, "on another display");
    let mut zoomed = Desk::on_default(plain_page());
    zoomed.settle();
    zoomed.offscreen.context().set_zoom_factor(2.0);
    zoomed
        .offscreen
        .resize(SIZE.map(|side| side as u32 * 2))
        .expect("a texture can have this size");
    zoomed.recovers(&expected, "zoomed");
}

#[test]
fn another_device_takes_over_from_a_lost_one() {
    let mut desk = Desk::on_default(plain_page());
    desk.settle();
    let expected = desk.image();
    let lost = desk.offscreen.printer().expect("the device can print").clone();
    desk.offscreen.replace_gpu(default_gpu()).expect("a texture can have this size");
    desk.recovers(&expected, "on another device");
    assert_eq!(lost.counters().plate_bytes, 0, "nothing is kept for the lost one");
    assert!(desk.counters().plates > 0);
}

#[test]
fn views_side_by_side_share_a_printer_and_nothing_else() {
    let mut desk = Desk::on_default(bed::sample(40));
    desk.views.push(TranscriptView::new(desk.offscreen.context()));
    desk.check("side by side");
    let tops = |desk: &Desk| desk.views.iter().map(|view| view.visible().top).collect::<Vec<_>>();
    let before = tops(&desk);
    desk.views[1].jump(Jump::Start);
    desk.check("one of them scrolled");
    assert!(tops(&desk)[0] == before[0] && tops(&desk)[1] < before[1]);
    let plates = desk.counters().plates;
    desk.views.pop();
    desk.frames(2);
    assert!(desk.counters().plates < plates, "its plates went with it");
    desk.check("alone again");
}

/// A program as `eframe` makes it, whose frames are laid out long before one is painted.
struct Program {
    view: TranscriptView,
    source: Shifting,
}

impl eframe::App for Program {
    fn ui(&mut self, ui: &mut egui::Ui, _frame: &mut eframe::Frame) {
        self.view.show(ui, &mut self.source);
    }
}

#[test]
fn frames_that_are_never_painted_lose_nothing() {
    let mut harness = egui_kittest::Harness::builder()
        .with_size(SIZE)
        .allow_missing_glyphs()
        .wgpu()
        .build_eframe(|creation| {
            theme::install(&creation.egui_ctx);
            let options = egui_wgpu::RendererOptions::PREDICTABLE;
            let state = creation.wgpu_render_state.as_ref().expect("it renders with wgpu");
            Printer::new(state, options).expect("the device can print").install(&creation.egui_ctx);
            let view = TranscriptView::new(&creation.egui_ctx);
            Program { view, source: Shifting::new(plain_page(), 0) }
        });
    harness.run_steps(6);
    let printer = Printer::of(&harness.ctx).expect("it was installed");
    let laid_out = printer.counters();
    assert!(laid_out.plates > 0 && laid_out.uploaded_bytes == 0, "{laid_out:?}");
    let printed = harness.render().expect("it renders");
    assert!(printer.counters().draws > 0);
    harness.state_mut().view.draw_with(Renderer::Replay);
    harness.run_steps(2);
    let replayed = harness.render().expect("it renders");
    assert!(difference(&printed, &replayed) <= 1);
}

#[test]
fn rows_stand_where_their_galley_stood() {
    let job = |context: &egui::Context, align, width| {
        let text = "Words of several widths, wrapped. ffi 世界 🚀\n\n\tindented\nlast";
        let font = egui::FontId::proportional(15.0);
        let color = egui::Color32::WHITE;
        let mut job = egui::text::LayoutJob::simple(text.to_owned(), font, color, width);
        job.halign = align;
        context.fonts_mut(|fonts| fonts.layout_job(job))
    };
    let context = egui::Context::default();
    let mut output = context.run_ui(egui::RawInput::default(), |ui| {
        for (align, width) in [(egui::Align::LEFT, 90.0), (egui::Align::Center, 120.0)] {
            let galley = job(ui.ctx(), align, width);
            let rows = Rows::of(&galley);
            assert_eq!((rows.text(), rows.rect()), (galley.text(), galley.rect));
            let area = galley.rect.expand(20.0);
            for step in 0..4000 {
                let x = area.left() + area.width() * (step % 63) as f32 / 62.0;
                let y = area.top() + area.height() * (step / 63) as f32 / 62.0;
                let found = galley.cursor_from_pos(vec2(x, y)).index.0;
                assert_eq!(rows.character_at(vec2(x, y)), found, "at {x}, {y}");
            }
            let count = galley.text().chars().count();
            for at in 0..count {
                for rect in rows.rects(&(at..at + 1)) {
                    let cursor = egui::text::CCursor { index: at.into(), prefer_next_row: true };
                    let left = galley.pos_from_cursor(cursor);
                    assert!(
                        (rect.min - left.min).length() < 0.01 && rect.height() == left.height()
                    );
                }
            }
            assert_eq!(rows.rects(&(0..count)).len(), galley.rows.len());
        }
    });
    output.textures_delta.clear();
}
