//! The wall in a window, and on a display of its own.

use std::time::Duration;

use egui::{Key, Modifiers, RawInput, Ui, ViewportBuilder, ViewportCommand};

use super::{
    follow, install, kiosk::Kiosk, local_time::LocalTime, pin::Pin, settings, watchdog::Watchdog,
};
use crate::{
    app::{
        cli,
        error::{Error, Result},
    },
    engine::follow::{Following, Wanted},
    gpu,
    view::wall::{Arrangement, Feeds, Moment, Settings, Wall},
};

/// A wall in a window that can be moved, resized and closed.
#[derive(Debug)]
pub struct Watch<F> {
    wall: Wall,
    feeds: F,
}

impl<F: Feeds> Watch<F> {
    /// A wall on what is followed.
    pub fn new(feeds: F, settings: Settings) -> Self {
        Self { wall: Wall::new(settings), feeds }
    }

    /// Lays out one frame.
    pub fn ui(&mut self, ui: &mut Ui, now: Moment) {
        self.keys(ui);
        self.wall.ui(ui, &mut self.feeds, now);
    }

    /// The wall.
    #[must_use]
    pub fn wall(&self) -> &Wall {
        &self.wall
    }

    fn keys(&mut self, ui: &Ui) {
        let pressed = |modifiers: Modifiers, key: Key| {
            ui.input_mut(|input| input.consume_key(modifiers, key))
        };
        if pressed(Modifiers::NONE, Key::F11) {
            let full = ui.input(|input| input.viewport().fullscreen.unwrap_or(false));
            ui.send_viewport_cmd(ViewportCommand::Fullscreen(!full));
        }
        if pressed(Modifiers::NONE, Key::Space) || pressed(Modifiers::NONE, Key::Tab) {
            self.wall.arrange(match self.wall.arrangement() {
                Arrangement::Grid => Arrangement::Focus,
                Arrangement::Focus => Arrangement::Grid,
            });
        }
        if pressed(Modifiers::COMMAND, Key::Q) || pressed(Modifiers::COMMAND, Key::W) {
            ui.send_viewport_cmd(ViewportCommand::Close);
        }
    }
}

/// Opens a window, and watches until it is closed.
pub(super) fn run(args: &cli::Watch, wanted: Vec<Wanted>) -> Result<()> {
    let mut viewport = viewport().with_inner_size([1600.0, 900.0]).with_drag_and_drop(false);
    if let Some(monitor) = args.monitor {
        viewport = viewport.with_monitor(monitor).with_fullscreen(true);
    }
    show(viewport, |context| {
        install(context, args);
        let watch = Watch::new(follow(wanted, context)?, settings(args));
        Ok(Box::new(InWindow { watch, time: LocalTime::default() }))
    })
}

/// Fills a display, and watches until someone who may leaves.
pub(super) fn run_kiosk(args: &cli::Watch, wanted: Vec<Wanted>, pin: Option<Pin>) -> Result<()> {
    let mut viewport = viewport()
        .with_fullscreen(true)
        .with_decorations(false)
        .with_always_on_top()
        .with_drag_and_drop(false);
    if let Some(monitor) = args.monitor {
        viewport = viewport.with_monitor(monitor);
    }
    let watchdog = Watchdog::start()
        .map_err(|error| Error::failed(format!("cannot start the watchdog: {error}"), ""))?;
    show(viewport, |context| {
        install(context, args);
        let kiosk = Kiosk::new(follow(wanted, context)?, settings(args), pin);
        Ok(Box::new(OnDisplay { kiosk, time: LocalTime::default(), watchdog }))
    })
}

fn viewport() -> ViewportBuilder {
    ViewportBuilder::default()
        .with_title("Letterpress")
        .with_app_id("letterpress-watch")
        .with_min_inner_size([480.0, 320.0])
}

fn show(
    viewport: ViewportBuilder,
    create: impl FnOnce(&egui::Context) -> Result<Box<dyn eframe::App>>,
) -> Result<()> {
    let options = eframe::NativeOptions {
        viewport,
        wgpu_options: egui_wgpu::WgpuConfiguration {
            wgpu_setup: gpu::setup(),
            ..egui_wgpu::WgpuConfiguration::default()
        },
        ..eframe::NativeOptions::default()
    };
    let mut failed = None;
    let shown = eframe::run_native(
        "letterpress-watch",
        options,
        Box::new(|creation| {
            create(&creation.egui_ctx).map_err(|error| {
                let words = error.to_string();
                failed = Some(error);
                words.into()
            })
        }),
    );
    match (failed, shown) {
        (Some(error), _) => Err(error),
        (None, Ok(())) => Ok(()),
        (None, Err(eframe::Error::Wgpu(_))) => {
            Err(Error::failed(gpu::NO_DRIVER, gpu::DRIVER_PACKAGES))
        }
        (None, Err(other)) => Err(Error::failed(format!("cannot open a window: {other}"), "")),
    }
}

/// A wall in a window.
struct InWindow {
    watch: Watch<Following>,
    time: LocalTime,
}

impl eframe::App for InWindow {
    fn ui(&mut self, ui: &mut Ui, _frame: &mut eframe::Frame) {
        let now = self.time.now();
        self.watch.ui(ui, now);
    }

    fn clear_color(&self, visuals: &egui::Visuals) -> [f32; 4] {
        visuals.extreme_bg_color.to_normalized_gamma_f32()
    }
}

/// A kiosk on its display, under a watchdog.
struct OnDisplay {
    kiosk: Kiosk<Following>,
    time: LocalTime,
    watchdog: Watchdog,
}

/// The longest that a wall shows the same thing: its clock goes on every minute.
const LONGEST: Duration = Duration::from_secs(61);

impl eframe::App for OnDisplay {
    fn ui(&mut self, ui: &mut Ui, _frame: &mut eframe::Frame) {
        let now = self.time.now();
        self.kiosk.ui(ui, now);
        self.watchdog.beat(LONGEST);
    }

    fn raw_input_hook(&mut self, _context: &egui::Context, input: &mut RawInput) {
        // A frame that begins now is due now.
        self.watchdog.beat(Duration::ZERO);
        self.kiosk.filter(input);
    }

    fn clear_color(&self, visuals: &egui::Visuals) -> [f32; 4] {
        visuals.extreme_bg_color.to_normalized_gamma_f32()
    }
}
