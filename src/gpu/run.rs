//! Runs: prints that stand one behind the other in egui's painting order, as one callback.

use std::sync::{
    Arc,
    atomic::{AtomicU32, Ordering},
};

use egui::{PaintCallbackInfo, Pos2, Rect};
use egui_wgpu::{CallbackResources, CallbackTrait, ScreenDescriptor, wgpu};

use super::{plate::Plate, printer::Shared};

/// Bytes of a placement: x and y in points, opacity.
pub(super) const PLACEMENT_BYTES: u64 = 12;

/// One part of a plate in one place.
#[derive(Clone, Debug)]
pub struct Print {
    /// What.
    pub plate: Plate,
    /// Which part of it.
    pub part: usize,
    /// Where the plate's origin stands on screen in points, on a physical pixel.
    pub at: Pos2,
    /// What is not to be seen lies outside of this, in points.
    pub clip: Option<Rect>,
}

/// The callback of a run.
pub(super) struct Run {
    pub(super) shared: Arc<Shared>,
    pub(super) prints: Vec<Print>,
    pub(super) opacity: f32,
    /// Its first placement in this frame; [`UNPREPARED`] before.
    pub(super) first: AtomicU32,
}

/// No placements were uploaded, so nothing can be printed.
pub(super) const UNPREPARED: u32 = u32::MAX;

/// Where the prints of a frame stand, for all runs of it together.
pub(super) struct Placements {
    buffer: Option<wgpu::Buffer>,
    bytes: Vec<u8>,
    /// The bytes are on the GPU, and the next run to be prepared begins a new frame.
    uploaded: bool,
}

impl Placements {
    pub(super) fn new() -> Self {
        Self { buffer: None, bytes: Vec::new(), uploaded: false }
    }

    /// Adds those of a run; gives the number of the first.
    fn add(&mut self, prints: &[Print], opacity: f32) -> u32 {
        if self.uploaded {
            self.bytes.clear();
            self.uploaded = false;
        }
        let first = self.bytes.len() as u64 / PLACEMENT_BYTES;
        for print in prints {
            for value in [print.at.x, print.at.y, opacity] {
                self.bytes.extend_from_slice(&value.to_ne_bytes());
            }
        }
        first as u32
    }

    /// Uploads those of all runs, once; gives the number of bytes.
    fn upload(&mut self, device: &wgpu::Device, queue: &wgpu::Queue) -> u64 {
        if self.uploaded {
            return 0;
        }
        self.uploaded = true;
        let needed = self.bytes.len() as u64;
        if self.buffer.as_ref().is_none_or(|buffer| buffer.size() < needed) {
            self.buffer = Some(device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("type: placements"),
                size: needed.next_power_of_two().max(64 * PLACEMENT_BYTES),
                usage: wgpu::BufferUsages::VERTEX | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            }));
        }
        if let Some(buffer) = &self.buffer {
            queue.write_buffer(buffer, 0, &self.bytes);
        }
        needed
    }

    pub(super) fn buffer_bytes(&self) -> u64 {
        self.buffer.as_ref().map_or(0, wgpu::Buffer::size)
    }
}

impl CallbackTrait for Run {
    fn prepare(
        &self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        screen: &ScreenDescriptor,
        _encoder: &mut wgpu::CommandEncoder,
        _resources: &mut CallbackResources,
    ) -> Vec<wgpu::CommandBuffer> {
        // A device that was lost is replaced by one that knows nothing of our buffers.
        if *device != self.shared.device {
            return Vec::new();
        }
        let mut state = self.shared.state.lock();
        let state = &mut *state;
        state.uploaded_bytes += state.arena.upload(device, queue);
        state.uploaded_bytes +=
            state.pipeline.write_screen(queue, screen.size_in_pixels, screen.pixels_per_point);
        let first = state.placements.add(&self.prints, self.opacity);
        self.first.store(first, Ordering::Relaxed);
        Vec::new()
    }

    fn finish_prepare(
        &self,
        device: &wgpu::Device,
        queue: &wgpu::Queue,
        _encoder: &mut wgpu::CommandEncoder,
        _resources: &mut CallbackResources,
    ) -> Vec<wgpu::CommandBuffer> {
        if *device == self.shared.device {
            let mut state = self.shared.state.lock();
            let state = &mut *state;
            state.uploaded_bytes += state.placements.upload(device, queue);
        }
        Vec::new()
    }

    fn paint(
        &self,
        info: PaintCallbackInfo,
        pass: &mut wgpu::RenderPass<'static>,
        _resources: &CallbackResources,
    ) {
        let first = self.first.load(Ordering::Relaxed);
        let mut state = self.shared.state.lock();
        let Some(placements) = &state.placements.buffer else { return };
        if first == UNPREPARED || !state.pipeline.set(pass) {
            return;
        }
        let [width, height] = info.screen_size_px;
        pass.set_viewport(0.0, 0.0, width as f32, height as f32, 0.0, 1.0);
        let (vertices, indices) = state.arena.buffers();
        pass.set_vertex_buffer(0, vertices.slice(..));
        pass.set_vertex_buffer(1, placements.slice(..));
        pass.set_index_buffer(indices.slice(..), wgpu::IndexFormat::Uint16);
        state.draws += self.draw(first, &info, pass);
    }
}

impl Run {
    /// Draws every print; gives the number of draws.
    fn draw(
        &self,
        first: u32,
        info: &PaintCallbackInfo,
        pass: &mut wgpu::RenderPass<'static>,
    ) -> u64 {
        let mut draws = 0;
        let mut clip = None;
        for (instance, print) in (first..).zip(&self.prints) {
            let Some((vertex, index)) = print.plate.0.place_in_arena() else { continue };
            if print.clip != clip {
                clip = print.clip;
                let rect = clip.map_or(info.clip_rect, |clip| clip.intersect(info.clip_rect));
                let [x, y, width, height] = scissor(rect, info);
                pass.set_scissor_rect(x, y, width, height);
            }
            for piece in print.plate.0.pieces(print.part) {
                let indices = index + piece.indices.start..index + piece.indices.end;
                let base = vertex + piece.vertex;
                pass.draw_indexed(indices, base as i32, instance..instance + 1);
                draws += 1;
            }
        }
        draws
    }
}

/// The physical pixels of a rectangle, rounded as egui rounds clips.
fn scissor(rect: Rect, info: &PaintCallbackInfo) -> [u32; 4] {
    let pixel = |points: f32, side: u32| {
        // A negative float becomes zero.
        ((points * info.pixels_per_point).round() as u32).min(side)
    };
    let [width, height] = info.screen_size_px;
    let (left, top) = (pixel(rect.min.x, width), pixel(rect.min.y, height));
    let (right, bottom) = (pixel(rect.max.x, width), pixel(rect.max.y, height));
    [left, top, right.saturating_sub(left), bottom.saturating_sub(top)]
}
