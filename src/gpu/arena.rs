//! The arena: two buffers in which plates lie one behind the other.
//!
//! Room is given out at the end only. Plates that are gone leave holes; when the end is
//! reached, those that are left move together into buffers of the size they need, so a
//! byte that stays is copied about once for each byte that was uploaded after it.

use std::sync::{Arc, Weak};

use egui_wgpu::wgpu;

use super::plate::{Cast, INDEX_BYTES, Plate, Triangles, VERTEX_BYTES};

/// Plates that lie in buffers of one device, and those on their way there.
pub(super) struct Arena {
    vertices: Pool,
    indices: Pool,
    /// Plates in the order in which they lie, with their bytes in each pool.
    placed: Vec<Placed>,
    waiting: Vec<(Weak<Cast>, Triangles)>,
}

struct Placed {
    cast: Weak<Cast>,
    vertices: Span,
    indices: Span,
}

/// Bytes in a pool.
#[derive(Clone, Copy)]
struct Span {
    start: u64,
    len: u64,
}

/// A buffer that is filled from its start.
struct Pool {
    buffer: wgpu::Buffer,
    usage: wgpu::BufferUsages,
    end: u64,
}

/// A pool is never smaller: room for a page of text.
const POOL_BYTES_MIN: u64 = 256 * 1024;

impl Arena {
    pub(super) fn new(device: &wgpu::Device) -> Self {
        Self {
            vertices: Pool::new(device, wgpu::BufferUsages::VERTEX, POOL_BYTES_MIN),
            indices: Pool::new(device, wgpu::BufferUsages::INDEX, POOL_BYTES_MIN),
            placed: Vec::new(),
            waiting: Vec::new(),
        }
    }

    /// Takes in a plate; its bytes go up with the next [`Arena::upload`].
    pub(super) fn add(&mut self, plate: &Plate, triangles: Triangles) {
        self.waiting.push((Arc::downgrade(&plate.0), triangles));
    }

    /// Uploads what waits and is still wanted; gives the number of bytes.
    pub(super) fn upload(&mut self, device: &wgpu::Device, queue: &wgpu::Queue) -> u64 {
        if self.waiting.is_empty() {
            return 0;
        }
        let wanted: Vec<(Arc<Cast>, Triangles)> = std::mem::take(&mut self.waiting)
            .into_iter()
            .filter_map(|(cast, triangles)| Some((whole(&cast)?, triangles)))
            .collect();
        let vertices = wanted.iter().map(|(_, triangles)| triangles.vertices.len() as u64).sum();
        let indices = wanted.iter().map(|(_, triangles)| triangles.indices.len() as u64).sum();
        if !self.vertices.has_room(vertices) || !self.indices.has_room(indices) {
            self.move_together(device, queue, [vertices, indices]);
        }
        let parts = || wanted.iter().map(|(_, triangles)| triangles);
        self.vertices.write(queue, vertices, parts().map(|part| part.vertices.as_slice()));
        self.indices.write(queue, indices, parts().map(|part| part.indices.as_slice()));
        for (cast, triangles) in &wanted {
            self.place(cast, triangles);
        }
        vertices + indices
    }

    fn place(&mut self, cast: &Arc<Cast>, triangles: &Triangles) {
        let vertices = self.vertices.take(triangles.vertices.len() as u64);
        let indices = self.indices.take(triangles.indices.len() as u64);
        cast.place((vertices.start / VERTEX_BYTES) as u32, (indices.start / INDEX_BYTES) as u32);
        self.placed.push(Placed { cast: Arc::downgrade(cast), vertices, indices });
    }

    /// Moves the plates that are left to the start of new buffers with room for more.
    fn move_together(&mut self, device: &wgpu::Device, queue: &wgpu::Queue, more: [u64; 2]) {
        let placed = std::mem::take(&mut self.placed);
        let kept: Vec<(Arc<Cast>, Placed)> =
            placed.into_iter().filter_map(|p| Some((whole(&p.cast)?, p))).collect();
        let [more_vertices, more_indices] = more;
        let spans = |of: fn(&Placed) -> Span| kept.iter().map(move |(_, placed)| of(placed));
        let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor {
            label: Some("type moves together"),
        });
        self.vertices.renew(device, &mut encoder, spans(|p| p.vertices), more_vertices);
        self.indices.renew(device, &mut encoder, spans(|p| p.indices), more_indices);
        // At once: the frame that needs the room may never be submitted.
        queue.submit([encoder.finish()]);
        for (cast, old) in &kept {
            let vertices = self.vertices.take(old.vertices.len);
            let indices = self.indices.take(old.indices.len);
            cast.place(
                (vertices.start / VERTEX_BYTES) as u32,
                (indices.start / INDEX_BYTES) as u32,
            );
            self.placed.push(Placed { cast: Arc::downgrade(cast), vertices, indices });
        }
    }

    /// Plates that are whole.
    pub(super) fn plates(&self) -> Vec<Arc<Cast>> {
        let placed = self.placed.iter().map(|placed| &placed.cast);
        let waiting = self.waiting.iter().map(|(cast, _)| cast);
        placed.chain(waiting).filter_map(whole).collect()
    }

    /// Forgets what waits for plates that are gone.
    pub(super) fn forget_unwanted(&mut self) {
        self.waiting.retain(|(cast, _)| whole(cast).is_some());
    }

    /// Starts again with nothing.
    pub(super) fn clear(&mut self, device: &wgpu::Device) {
        *self = Self::new(device);
    }

    /// Vertices and indices.
    pub(super) fn buffers(&self) -> (&wgpu::Buffer, &wgpu::Buffer) {
        (&self.vertices.buffer, &self.indices.buffer)
    }

    /// Bytes of both buffers.
    pub(super) fn bytes(&self) -> u64 {
        self.vertices.buffer.size() + self.indices.buffer.size()
    }
}

fn whole(cast: &Weak<Cast>) -> Option<Arc<Cast>> {
    cast.upgrade().filter(|cast| cast.is_whole())
}

impl Pool {
    fn new(device: &wgpu::Device, usage: wgpu::BufferUsages, bytes: u64) -> Self {
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("type"),
            size: bytes,
            usage: usage | wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::COPY_SRC,
            mapped_at_creation: false,
        });
        Self { buffer, usage, end: 0 }
    }

    fn has_room(&self, bytes: u64) -> bool {
        self.end + bytes <= self.buffer.size()
    }

    fn take(&mut self, len: u64) -> Span {
        let start = self.end;
        self.end += len;
        Span { start, len }
    }

    /// Writes parts one behind the other at the end, all in one go.
    fn write<'b>(&self, queue: &wgpu::Queue, len: u64, parts: impl Iterator<Item = &'b [u8]>) {
        let Some(len) = wgpu::BufferSize::new(len) else { return };
        // Fails only when the device is lost; the printer is renewed with it.
        let Some(mut staged) = queue.write_buffer_with(&self.buffer, self.end, len) else { return };
        let mut at = 0;
        for part in parts {
            staged.slice(at..at + part.len()).copy_from_slice(part);
            at += part.len();
        }
    }

    /// Copies spans to the start of a new buffer that has room for `more` and half as much
    /// again.
    fn renew(
        &mut self,
        device: &wgpu::Device,
        encoder: &mut wgpu::CommandEncoder,
        spans: impl Iterator<Item = Span> + Clone,
        more: u64,
    ) {
        let kept: u64 = spans.clone().map(|span| span.len).sum();
        let bytes = ((kept + more) * 3 / 2).max(POOL_BYTES_MIN).next_multiple_of(VERTEX_BYTES);
        let new = Self::new(device, self.usage, bytes);
        let mut to = 0;
        for run in runs(spans) {
            encoder.copy_buffer_to_buffer(&self.buffer, run.start, &new.buffer, to, run.len);
            to += run.len;
        }
        *self = new;
    }
}

/// Spans that touch, as one.
fn runs(spans: impl Iterator<Item = Span>) -> Vec<Span> {
    let mut runs: Vec<Span> = Vec::new();
    for span in spans.filter(|span| span.len > 0) {
        match runs.last_mut() {
            Some(run) if run.start + run.len == span.start => run.len += span.len,
            _ => runs.push(span),
        }
    }
    runs
}
