//! The cases, one after another, in a window: what a frame costs between the events of the
//! system and the swap of its picture.
//!
//! eframe says what a frame took on the CPU, without waiting for the display. Of it our
//! own pass is known; everything else, tessellation, upload, encoding and submitting, is
//! counted as encoding here. Reading scrolls by events, as a finger on a touchpad sends
//! them.

mod play;

use std::{cell::RefCell, rc::Rc};

use egui::{
    Context, Event, Modifiers, MouseWheelSource, MouseWheelUnit, RawInput, TouchPhase, Ui,
    ViewportBuilder, ViewportCommand, vec2,
};

use self::play::{Play, Tick};
use super::{
    case::{Case, Setting},
    report::Report,
};
use crate::{
    app::{
        cli::Renderer,
        display,
        error::{Error, Result},
        offscreen::Host,
    },
    gpu::{self, Printer},
    perf::Reason,
    view::governor,
};

/// Opens a window, plays the cases in it and closes it.
///
/// # Errors
/// No display, no GPU, a file that cannot be opened, or a window that was closed too soon.
pub(super) fn run(cases: &[&Case], setting: &Setting, host: &dyn Host) -> Result<Vec<Report>> {
    if !display::exists() {
        return Err(Error::failed("there is no display; measure without --window", ""));
    }
    let [width, height] = setting.size.map(|side| side as f32);
    let options = eframe::NativeOptions {
        viewport: ViewportBuilder::default()
            .with_title("Letterpress profile")
            .with_app_id("letterpress")
            .with_inner_size([width, height]),
        wgpu_options: egui_wgpu::WgpuConfiguration {
            wgpu_setup: gpu::setup(),
            ..egui_wgpu::WgpuConfiguration::default()
        },
        ..eframe::NativeOptions::default()
    };
    // What eframe makes egui's renderer with, out of the options above.
    let renderer = egui_wgpu::RendererOptions {
        msaa_samples: options.multisampling.into(),
        dithering: options.dithering,
        ..egui_wgpu::RendererOptions::default()
    };
    let outcome = Rc::new(RefCell::new(None));
    let create = |creation: &eframe::CreationContext<'_>| -> Box<dyn eframe::App + '_> {
        creation.egui_ctx.set_theme(egui::Theme::Dark);
        creation.egui_ctx.set_zoom_factor(setting.scale);
        host.install(&creation.egui_ctx);
        governor::observe(&creation.egui_ctx);
        let adapter = creation.wgpu_render_state.as_ref().map(|gpu| {
            if let Some(printer) = Printer::new(gpu, renderer) {
                printer.install(&creation.egui_ctx);
            }
            gpu::describe(&gpu.adapter.get_info())
        });
        let play = Play::new(cases, setting, host, adapter.unwrap_or_default());
        Box::new(Stand { play, outcome: Rc::clone(&outcome), finger: Finger::default() })
    };
    let ran = eframe::run_native("letterpress", options, Box::new(|creation| Ok(create(creation))));
    ran.map_err(|error| match error {
        eframe::Error::Wgpu(_) => Error::failed(gpu::NO_DRIVER, gpu::DRIVER_PACKAGES),
        other => Error::failed(format!("cannot open a window: {other}"), ""),
    })?;
    let ended = outcome.take();
    ended.unwrap_or_else(|| {
        Err(Error::failed("the window was closed before everything was measured", ""))
    })
}

/// The window in which everything is played.
struct Stand<'a> {
    play: Play<'a>,
    /// None until everything is over.
    outcome: Rc<RefCell<Option<Result<Vec<Report>>>>>,
    finger: Finger,
}

impl eframe::App for Stand<'_> {
    fn logic(&mut self, ctx: &Context, _: &mut eframe::Frame) {
        governor::look(ctx);
    }

    /// Decides what the frame is for, and sends the events for it.
    fn raw_input_hook(&mut self, ctx: &Context, input: &mut RawInput) {
        self.play.decide(ctx);
        let points = match self.play.tick() {
            // The reference renderer hears no events here: it is scrolled by hand.
            Tick::Frame(frame) if frame.renderer != Renderer::Commonmark => frame.points,
            Tick::Frame(_) | Tick::Rest(_) | Tick::Over => 0.0,
        };
        let screen = input.screen_rect.unwrap_or_else(|| ctx.content_rect());
        self.finger.scroll(points, screen.center(), &mut input.events);
    }

    fn ui(&mut self, ui: &mut Ui, frame: &mut eframe::Frame) {
        if let Some(took) = frame.info().cpu_usage {
            self.play.took(took);
        }
        self.play.ui(ui);
        match self.play.tick() {
            Tick::Frame(frame) => {
                if let Some(size) = frame.size {
                    let size = vec2(size[0] as f32, size[1] as f32);
                    ui.send_viewport_cmd(ViewportCommand::InnerSize(size));
                }
                governor::wake(ui, Reason::Animation);
            }
            Tick::Rest(left) => governor::after(ui, Reason::Tick, left),
            Tick::Over => {
                if let Some(ended) = self.play.end() {
                    self.outcome.replace(Some(ended));
                }
                ui.send_viewport_cmd(ViewportCommand::Close);
            }
        }
    }
}

/// A finger on a touchpad.
#[derive(Default)]
struct Finger {
    touches: bool,
}

impl Finger {
    /// Moves the conversation by so many points, or lifts the finger.
    fn scroll(&mut self, points: f64, at: egui::Pos2, events: &mut Vec<Event>) {
        let wheel = |delta: f64, phase| Event::MouseWheel {
            unit: MouseWheelUnit::Point,
            delta: vec2(0.0, delta as f32),
            phase,
            source: MouseWheelSource::Unknown,
            modifiers: Modifiers::NONE,
        };
        if points == 0.0 {
            if std::mem::take(&mut self.touches) {
                events.push(wheel(0.0, TouchPhase::End));
            }
            return;
        }
        events.push(Event::PointerMoved(at));
        if !std::mem::replace(&mut self.touches, true) {
            events.push(wheel(0.0, TouchPhase::Start));
        }
        events.push(wheel(-points, TouchPhase::Move));
    }
}
