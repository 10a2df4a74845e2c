//! egui and wgpu without a window: for pictures, for measuring, and for servers.
//!
//! A frame costs the program what a frame of the window costs it, and is measured in the
//! same four stages. Rasterising is the driver's work and happens only when asked for.

mod gpu;
mod repaints;
mod stopwatch;
mod subject;
mod target;

use std::{
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};

use egui::{ClippedPrimitive, Context, Event, FullOutput, RawInput, Theme, Ui, ViewportId, vec2};
use egui_wgpu::{ScreenDescriptor, wgpu};
use image::RgbaImage;

use super::error::{Error, Result};
use crate::{
    gpu::{Printer, describe, setup},
    perf,
};

pub use gpu::Gpu;
pub use subject::{Counters, Host, Request, Subject};

use repaints::Repaints;
use stopwatch::Stopwatch;
use target::Target;

/// A surface of the program that no one sees.
pub struct Offscreen {
    context: Context,
    gpu: Gpu,
    /// None when the device cannot print; egui's painter draws everything then.
    printer: Option<Printer>,
    /// None when the device has no timestamps.
    stopwatch: Option<Stopwatch>,
    times_gpu: bool,
    gpu_time: Option<Duration>,
    repaints: Arc<Repaints>,
    size_px: [u32; 2],
    scale: f32,
    theme: Theme,
    target: Target,
    /// GPUs that were replaced.
    devices: usize,
    /// What egui's renderer last wrote its uniforms for.
    uniforms_of: Option<([u32; 2], f32)>,
    /// The newest frame, until it is rasterised or replaced.
    encoded: Vec<wgpu::CommandBuffer>,
}

/// What one frame cost the program. Rasterising is not in it.
#[derive(Clone, Copy, Debug, Default)]
pub struct FrameStats {
    /// The egui pass: input, layout, shapes.
    pub ui: Duration,
    /// From shapes to triangles.
    pub tessellate: Duration,
    /// Vertices, indices and textures into the driver's memory.
    pub upload: Duration,
    /// Recording the frame's commands and freeing what only it needed.
    pub encode: Duration,
    /// Vertices of egui's painter.
    pub vertices: u64,
    /// Bytes of vertices, indices, uniforms, textures and what is printed.
    pub uploaded_bytes: u64,
    /// Those of them that the printer uploaded.
    pub printed_bytes: u64,
    /// When egui wants the next frame; [`Duration::MAX`] for never.
    pub repaint_after: Duration,
}

impl FrameStats {
    /// All stages together.
    #[must_use]
    pub fn cpu(&self) -> Duration {
        self.ui + self.tessellate + self.upload + self.encode
    }
}

/// Bytes of the uniforms that egui's renderer writes when the size changes.
const UNIFORM_BYTES: u64 = 16;

impl Offscreen {
    /// Opens a GPU and a context with fonts in it. `install` sets fonts and style.
    ///
    /// # Errors
    /// No driver, no usable device, or a size that no texture can have.
    pub fn new(
        size_px: [u32; 2],
        scale: f32,
        theme: Theme,
        install: impl FnOnce(&Context),
    ) -> Result<Self> {
        Self::on(|| Gpu::open(setup()), size_px, scale, theme, install)
    }

    /// The same on a GPU of any backend and surface format.
    ///
    /// # Errors
    /// Those of `open`, or a size that no texture can have.
    pub fn on(
        open: impl FnOnce() -> Result<Gpu>,
        size_px: [u32; 2],
        scale: f32,
        theme: Theme,
        install: impl FnOnce(&Context),
    ) -> Result<Self> {
        let context = Context::default();
        let repaints = Repaints::watch(&context);
        // Listing the system's fonts takes long; it goes on while the GPU is set up.
        context.add_font_provider(Arc::new(egui_system_font_provider::SystemFontProvider::new()));
        context.set_theme(theme);
        install(&context);
        let gpu = open()?;
        let target = Target::new(&gpu.state.device, gpu.state.target_format, size_px)?;
        let mut offscreen = Self {
            context,
            gpu,
            printer: None,
            stopwatch: None,
            times_gpu: false,
            gpu_time: None,
            repaints,
            size_px,
            scale,
            theme,
            target,
            devices: 0,
            uniforms_of: None,
            encoded: Vec::new(),
        };
        offscreen.set_up_gpu();
        Ok(offscreen)
    }

    fn set_up_gpu(&mut self) {
        self.printer = Printer::new(&self.gpu.state, self.gpu.options);
        if let Some(printer) = &self.printer {
            printer.install(&self.context);
        }
        self.stopwatch = Stopwatch::new(&self.gpu.state);
    }

    /// Goes on with another GPU, as after the loss of the one before. egui sends its atlas
    /// again; pictures have to be given to it anew.
    ///
    /// # Errors
    /// The surface is larger than a texture can be there.
    pub fn replace_gpu(&mut self, gpu: Gpu) -> Result<()> {
        self.target = Target::new(&gpu.state.device, gpu.state.target_format, self.size_px)?;
        self.gpu = gpu;
        self.encoded.clear();
        self.uniforms_of = None;
        self.devices += 1;
        self.set_up_gpu();
        Ok(())
    }

    /// The context that everything is shown in.
    #[must_use]
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The adapter in one line.
    #[must_use]
    pub fn adapter(&self) -> String {
        describe(&self.gpu.state.adapter.get_info())
    }

    /// Width and height in pixels.
    #[must_use]
    pub fn size_px(&self) -> [u32; 2] {
        self.size_px
    }

    /// Changes the size, as dragging a window's edge does.
    ///
    /// # Errors
    /// A size that no texture can have.
    pub fn resize(&mut self, size_px: [u32; 2]) -> Result<()> {
        if size_px != self.size_px {
            let state = &self.gpu.state;
            self.target = Target::new(&state.device, state.target_format, size_px)?;
            self.size_px = size_px;
        }
        Ok(())
    }

    /// Changes the pixels per point, as moving a window to another display does.
    pub fn rescale(&mut self, scale: f32) {
        self.scale = scale;
    }

    /// What prints retained slugs, for its counters; none on a device that cannot.
    #[must_use]
    pub fn printer(&self) -> Option<&Printer> {
        self.printer.as_ref()
    }

    /// Has the GPU's own clock around the frames that follow, where there is one. Asking it
    /// adds to what recording a frame costs.
    pub fn time_gpu(&mut self, on: bool) {
        self.times_gpu = on;
    }

    /// What the last frame that was rasterised took on the GPU, if its clock was asked.
    #[must_use]
    pub fn gpu_time(&self) -> Option<Duration> {
        self.gpu_time
    }

    /// Number of repaint requests so far that would have woken a window within ten
    /// seconds.
    #[must_use]
    pub fn repaint_requests(&self) -> u64 {
        self.repaints.count()
    }

    /// Sleeps until the context wants a frame, at most `timeout`. False when the time
    /// ran out.
    pub fn wait(&self, timeout: Duration) -> bool {
        self.repaints.wait(timeout)
    }

    /// Sleeps that long, whatever the context asks for meanwhile.
    pub fn rest(&self, duration: Duration) {
        self.repaints.rest(duration);
    }

    /// Runs one frame at `time_secs` and records it, without rasterising. A frame that
    /// was not rasterised is dropped by the next one.
    pub fn frame(
        &mut self,
        events: Vec<Event>,
        time_secs: f64,
        ui: impl FnMut(&mut Ui),
    ) -> FrameStats {
        let mut stats = FrameStats::default();
        let input = self.input(events, time_secs);
        self.repaints.frame_begins();
        let mut clock = Clock::start();
        let mut output = self.context.run_ui(input, ui);
        stats.ui = clock.lap();
        let shapes = std::mem::take(&mut output.shapes);
        let primitives = self.context.tessellate(shapes, output.pixels_per_point);
        stats.tessellate = clock.lap();
        let (vertices, mesh_bytes) = mesh_size(&primitives);
        stats.vertices = vertices;
        stats.uploaded_bytes = mesh_bytes + self.uniform_bytes(output.pixels_per_point);
        clock.lap();
        self.record(primitives, &mut output, &mut clock, &mut stats);
        let root = output.viewport_output.get(&ViewportId::ROOT);
        stats.repaint_after = root.map_or(Duration::MAX, |viewport| viewport.repaint_delay);
        stats
    }

    /// Uploads what a frame needs and records its commands.
    fn record(
        &mut self,
        primitives: Vec<ClippedPrimitive>,
        output: &mut FullOutput,
        clock: &mut Clock,
        stats: &mut FrameStats,
    ) {
        let state = &self.gpu.state;
        let (device, queue) = (&state.device, &state.queue);
        let screen = ScreenDescriptor {
            size_in_pixels: self.size_px,
            pixels_per_point: output.pixels_per_point,
        };
        let descriptor = wgpu::CommandEncoderDescriptor { label: Some("frame") };
        let mut encoder = device.create_command_encoder(&descriptor);
        let mut renderer = state.renderer.write();
        let texels = upload_textures(state, &mut renderer, &mut output.textures_delta);
        stats.uploaded_bytes += texels * size_of::<egui::Color32>() as u64;
        let printed_before = printed_bytes(self.printer.as_ref());
        self.encoded = renderer.update_buffers(device, queue, &mut encoder, &primitives, &screen);
        stats.printed_bytes = printed_bytes(self.printer.as_ref()) - printed_before;
        stats.uploaded_bytes += stats.printed_bytes;
        stats.upload = clock.lap();

        let background = self.context.global_style().visuals.panel_fill;
        let stopwatch = self.stopwatch.as_ref().filter(|_| self.times_gpu);
        let mut pass = self.target.begin_pass(&mut encoder, background, stopwatch);
        renderer.render(&mut pass, &primitives, &screen);
        drop(pass);
        if let Some(stopwatch) = stopwatch {
            stopwatch.fetch(&mut encoder);
        }
        // The commands are checked and handed to the driver here, not while they are
        // recorded.
        self.encoded.push(encoder.finish());
        #[expect(clippy::iter_over_hash_type, reason = "textures do not depend on each other")]
        for id in output.textures_delta.free.drain() {
            renderer.free_texture(&id);
        }
        drop(primitives);
        stats.encode = clock.lap();
    }

    /// Rasterises the newest frame and waits until the driver is done.
    ///
    /// # Errors
    /// The device was lost.
    pub fn rasterise(&mut self) -> Result<()> {
        if self.encoded.is_empty() {
            return Ok(());
        }
        self.gpu.state.queue.submit(self.encoded.drain(..));
        target::wait(&self.gpu.state.device)?;
        let stopwatch = self.stopwatch.as_ref().filter(|_| self.times_gpu);
        let read = stopwatch.map(|stopwatch| stopwatch.read(&self.gpu.state.device));
        self.gpu_time = read.transpose()?;
        Ok(())
    }

    /// The newest frame as a picture.
    ///
    /// # Errors
    /// The device was lost.
    pub fn image(&mut self) -> Result<RgbaImage> {
        self.rasterise()?;
        self.target.read(&self.gpu.state.device, &self.gpu.state.queue)
    }

    /// Writes the newest frame as a PNG file.
    ///
    /// # Errors
    /// The device was lost, or the file cannot be written.
    pub fn png(&mut self, path: &Path) -> Result<()> {
        let image = self.image()?;
        let written = image.save_with_format(path, image::ImageFormat::Png);
        written.map_err(|error| match error {
            image::ImageError::IoError(error) => {
                Error::io("could not write the picture", &error, path)
            }
            other => Error::failed(
                format!("could not write the picture: {other}"),
                path.display().to_string(),
            ),
        })
    }

    fn uniform_bytes(&mut self, scale: f32) -> u64 {
        let uniforms_of = Some((self.size_px, scale));
        let changed = self.uniforms_of != uniforms_of;
        self.uniforms_of = uniforms_of;
        if changed { UNIFORM_BYTES } else { 0 }
    }

    /// The largest texture side. A new device is told apart by it: egui sends its atlas
    /// again when the side changes, and has no other way to be asked for it.
    fn texture_side_px(&self) -> usize {
        let side = self.gpu.state.device.limits().max_texture_dimension_2d as usize;
        side - self.devices % 2
    }

    fn input(&self, events: Vec<Event>, time_secs: f64) -> RawInput {
        let scale = self.scale * self.context.zoom_factor();
        let [width, height] = self.size_px.map(|side| side as f32 / scale);
        let rect = egui::Rect::from_min_size(egui::Pos2::ZERO, vec2(width, height));
        let mut input = RawInput {
            screen_rect: Some(rect),
            max_texture_side: Some(self.texture_side_px()),
            time: Some(time_secs),
            focused: true,
            system_theme: Some(self.theme),
            events,
            ..RawInput::default()
        };
        let root = input.viewports.entry(ViewportId::ROOT).or_default();
        root.native_pixels_per_point = Some(self.scale);
        root.inner_rect = Some(rect);
        root.focused = Some(true);
        input
    }
}

fn printed_bytes(printer: Option<&Printer>) -> u64 {
    printer.map_or(0, |printer| printer.counters().uploaded_bytes)
}

/// Uploads what changed and gives the number of texels.
fn upload_textures(
    gpu: &egui_wgpu::RenderState,
    renderer: &mut egui_wgpu::Renderer,
    delta: &mut egui::TexturesDelta,
) -> u64 {
    let mut texels = 0;
    #[expect(clippy::iter_over_hash_type, reason = "textures do not depend on each other")]
    for (id, images) in delta.set.drain() {
        for image in images {
            let [width, height] = image.image.size();
            texels += (width * height) as u64;
            renderer.update_texture(&gpu.device, &gpu.queue, id, &image);
        }
    }
    texels
}

/// Vertices, and the bytes of vertices and indices.
fn mesh_size(primitives: &[ClippedPrimitive]) -> (u64, u64) {
    let meshes = primitives.iter().filter_map(|primitive| match &primitive.primitive {
        egui::epaint::Primitive::Mesh(mesh) => Some(mesh),
        egui::epaint::Primitive::Callback(_) => None,
    });
    meshes.fold((0, 0), |(vertices, bytes), mesh| {
        let mesh_bytes =
            size_of_val(mesh.vertices.as_slice()) + size_of_val(mesh.indices.as_slice());
        (vertices + mesh.vertices.len() as u64, bytes + mesh_bytes as u64)
    })
}

struct Clock(Instant);

impl Clock {
    fn start() -> Self {
        Self(perf::now())
    }

    fn lap(&mut self) -> Duration {
        let now = perf::now();
        let lap = now.saturating_duration_since(self.0);
        self.0 = now;
        lap
    }
}

impl std::fmt::Debug for Offscreen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { size_px, scale, .. } = self;
        f.debug_struct("Offscreen")
            .field("size_px", size_px)
            .field("scale", scale)
            .finish_non_exhaustive()
    }
}
