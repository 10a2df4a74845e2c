//! The printer: one to a device, shared by everything that prints with it.

use std::sync::{
    Arc,
    atomic::{AtomicU32, AtomicU64, Ordering},
};

use egui::{Context, Id, Mesh, Rect, Shape, TextureId};
use egui_wgpu::{RenderState, Renderer, RendererOptions, wgpu};
use parking_lot::Mutex;

use super::{
    arena::Arena,
    pipeline::Pipeline,
    plate::{Held, Plate},
    run::{Placements, Print, Run, UNPREPARED},
};

/// Default limit of all plates of a printer together: fifty pages of dense text.
pub const LIMIT_BYTES: u64 = 16 * 1024 * 1024;

/// Casts plates and prints them. Cloning it clones a handle.
///
/// A program makes one from its render state and installs it in its context; everything
/// shown there finds it:
///
/// ```no_run
/// # fn create(creation: &eframe::CreationContext<'_>) {
/// use letterpress::gpu::Printer;
///
/// if let Some(state) = &creation.wgpu_render_state {
///     // The options that egui's own renderer was made with.
///     let options = egui_wgpu::RendererOptions::default();
///     if let Some(printer) = Printer::new(state, options) {
///         printer.install(&creation.egui_ctx);
///     }
/// }
/// # }
/// ```
///
/// When the device is lost, the new one gets a printer of its own, which is installed in
/// the place of the old one.
#[derive(Clone)]
pub struct Printer(Arc<Shared>);

/// What a printer's handles and the runs on their way to the screen share.
pub(super) struct Shared {
    pub(super) device: wgpu::Device,
    /// egui's renderer, for its atlas. Locked only while laying out: when callbacks run,
    /// their caller holds this lock.
    renderer: Arc<egui::mutex::RwLock<Renderer>>,
    pub(super) state: Mutex<State>,
    held: Arc<Held>,
    limit: AtomicU64,
    frame: AtomicU64,
    melted: AtomicU64,
}

pub(super) struct State {
    pub(super) arena: Arena,
    pub(super) pipeline: Pipeline,
    pub(super) placements: Placements,
    pub(super) uploaded_bytes: u64,
    pub(super) draws: u64,
}

/// What a printer did since it was made, and what it holds now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Bytes uploaded: plates, placements and uniforms.
    pub uploaded_bytes: u64,
    /// Draw calls.
    pub draws: u64,
    /// Plates that were taken back to make room for others.
    pub melted: u64,
    /// Plates that are whole.
    pub plates: u64,
    /// Bytes of these.
    pub plate_bytes: u64,
    /// Bytes of all buffers on the GPU.
    pub gpu_bytes: u64,
}

impl Printer {
    /// A printer on the device of a render state whose renderer was made with these
    /// options. None when the device cannot draw from the middle of a buffer, as OpenGL ES
    /// before 3.2, or when its driver refuses the pipeline.
    #[must_use]
    pub fn new(render: &RenderState, options: RendererOptions) -> Option<Self> {
        let capabilities = render.adapter.get_downlevel_capabilities().flags;
        if !capabilities.contains(wgpu::DownlevelFlags::BASE_VERTEX) {
            return None;
        }
        let refusals = render.device.push_error_scope(wgpu::ErrorFilter::Validation);
        let state = State {
            arena: Arena::new(&render.device),
            pipeline: Pipeline::new(render, options),
            placements: Placements::new(),
            uploaded_bytes: 0,
            draws: 0,
        };
        if let Some(refusal) = pollster::block_on(refusals.pop()) {
            tracing::warn!("type is drawn by egui: {refusal}");
            return None;
        }
        Some(Self(Arc::new(Shared {
            device: render.device.clone(),
            renderer: Arc::clone(&render.renderer),
            state: Mutex::new(state),
            held: Arc::default(),
            limit: AtomicU64::new(LIMIT_BYTES),
            frame: AtomicU64::new(0),
            melted: AtomicU64::new(0),
        })))
    }

    /// Makes it the printer of a context, in the place of any other.
    pub fn install(&self, context: &Context) {
        context.data_mut(|data| data.insert_temp(Id::NULL, self.clone()));
    }

    /// The printer of a context.
    #[must_use]
    pub fn of(context: &Context) -> Option<Self> {
        context.data(|data| data.get_temp(Id::NULL))
    }

    /// Binds egui's atlas as it is now. Call it while laying out, before anything is cast
    /// or printed in a frame. False while there is no atlas to print with.
    pub fn begin_frame(&self) -> bool {
        let texture = {
            let renderer = self.0.renderer.read();
            renderer.texture(&TextureId::default()).and_then(|atlas| atlas.texture.clone())
        };
        let Some(texture) = texture else { return false };
        self.0.frame.fetch_add(1, Ordering::Relaxed);
        self.0.state.lock().pipeline.bind_atlas(&self.0.device, &texture);
        true
    }

    /// Casts meshes whose texture coordinates are texels of egui's atlas, one part each.
    /// Their glyphs must have been in the atlas at the last [`Printer::begin_frame`].
    ///
    /// The bytes wait until something is printed.
    #[must_use]
    pub fn cast(&self, parts: impl IntoIterator<Item = Mesh>) -> Plate {
        let (plate, triangles) = Plate::cast(parts, &self.0.held);
        let limit = self.limit();
        self.keep(&plate);
        let mut state = self.0.state.lock();
        state.arena.add(&plate, triangles);
        let held = self.0.held.bytes.load(Ordering::Relaxed);
        if held > limit {
            let melted = melt(&mut state.arena, held - limit + limit / 8, self.frame());
            self.0.melted.fetch_add(melted, Ordering::Relaxed);
        }
        plate
    }

    /// Says that a plate is wanted in this frame, so that no other takes its room.
    pub fn keep(&self, plate: &Plate) {
        plate.0.use_in(self.frame());
    }

    /// A shape that prints a run. `rect` is what it may cover, in points.
    pub fn print(&self, rect: Rect, prints: Vec<Print>, opacity: f32) -> Shape {
        prints.iter().for_each(|print| self.keep(&print.plate));
        let shared = Arc::clone(&self.0);
        let run = Run { shared, prints, opacity, first: AtomicU32::new(UNPREPARED) };
        egui_wgpu::Callback::new_paint_callback(rect, run).into()
    }

    /// Changes with every plate that is taken back, so that nobody has to look at each.
    #[must_use]
    pub fn melted(&self) -> u64 {
        self.0.melted.load(Ordering::Relaxed)
    }

    /// The limit in bytes of all plates together.
    #[must_use]
    pub fn limit(&self) -> u64 {
        self.0.limit.load(Ordering::Relaxed)
    }

    /// Sets the limit in bytes. What is on screen is kept in any case.
    pub fn set_limit(&self, bytes: u64) {
        self.0.limit.store(bytes, Ordering::Relaxed);
    }

    /// Takes every plate back and frees the buffers.
    pub fn purge(&self) {
        let mut state = self.0.state.lock();
        let plates = state.arena.plates();
        plates.iter().for_each(|cast| cast.melt());
        self.0.melted.fetch_add(plates.len() as u64, Ordering::Relaxed);
        state.arena.clear(&self.0.device);
    }

    /// What it did and what it holds.
    #[must_use]
    pub fn counters(&self) -> Counters {
        let state = self.0.state.lock();
        Counters {
            uploaded_bytes: state.uploaded_bytes,
            draws: state.draws,
            melted: self.melted(),
            plates: self.0.held.plates.load(Ordering::Relaxed),
            plate_bytes: self.0.held.bytes.load(Ordering::Relaxed),
            gpu_bytes: state.arena.bytes() + state.placements.buffer_bytes(),
        }
    }

    /// True for handles of the same printer.
    #[must_use]
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    fn frame(&self) -> u64 {
        self.0.frame.load(Ordering::Relaxed)
    }
}

impl std::fmt::Debug for Printer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Printer").field("counters", &self.counters()).finish_non_exhaustive()
    }
}

/// Takes back the plates that were printed longest ago, until so many bytes are free.
/// What is wanted in this frame, and what a frame on its way to the screen prints, is kept.
/// Gives how many went.
fn melt(arena: &mut Arena, mut bytes: u64, frame: u64) -> u64 {
    let mut plates = arena.plates();
    plates.sort_by_key(|cast| cast.used());
    let mut melted = 0;
    for cast in plates {
        if bytes == 0 || cast.used() >= frame {
            break;
        }
        // One handle is what the plate was cast for, the other is here.
        if Arc::strong_count(&cast) <= 2 {
            bytes = bytes.saturating_sub(cast.bytes());
            cast.melt();
            melted += 1;
        }
    }
    arena.forget_unwanted();
    melted
}
