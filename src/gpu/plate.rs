//! Plates: type that was cast for printing.
//!
//! Setting type takes a galley of glyphs; printing it takes triangles. Once a plate is
//! cast, the galley can be taken apart. A plate is a handle: its bytes are freed when the
//! last one is dropped, or earlier when the printer needs the room.

use std::{
    ops::Range,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
};

use egui::epaint::{Mesh, Mesh16, Vertex};

/// Bytes of a vertex: position in points from the plate's origin (f32 × 2), place in the
/// atlas in texels (u16 × 2), premultiplied colour in gamma space (u8 × 4).
pub(super) const VERTEX_BYTES: u64 = 16;
/// Bytes of an index. A piece has its own first vertex, so that 16 bits are enough.
pub(super) const INDEX_BYTES: u64 = 2;

/// Type cast for printing, in parts that are printed one by one. Cloning it clones a handle.
#[derive(Clone, Debug)]
pub struct Plate(pub(super) Arc<Cast>);

/// What a plate is, and where in the arena it lies.
#[derive(Debug)]
pub(super) struct Cast {
    pieces: Box<[Piece]>,
    bytes: u64,
    /// The printer's account, which counts this plate while it is whole.
    held: Arc<Held>,
    /// False once the printer took the room back.
    is_whole: AtomicBool,
    /// First vertex and index in the arena; [`NOWHERE`] while the upload waits.
    vertex: AtomicU32,
    index: AtomicU32,
    /// The printer's frame this was last printed in.
    used: AtomicU64,
}

/// The whole plates of a printer.
#[derive(Debug, Default)]
pub(super) struct Held {
    pub(super) plates: AtomicU64,
    pub(super) bytes: AtomicU64,
}

/// Triangles with 16-bit indices. A part is one, or several when it has too many vertices.
#[derive(Clone, Debug)]
pub(super) struct Piece {
    part: usize,
    /// First vertex, counted from the plate's.
    pub(super) vertex: u32,
    /// Indices, counted from the plate's first.
    pub(super) indices: Range<u32>,
}

/// The bytes of a plate on their way to the arena.
#[derive(Debug, Default)]
pub(super) struct Triangles {
    pub(super) vertices: Vec<u8>,
    pub(super) indices: Vec<u8>,
}

const NOWHERE: u32 = u32::MAX;

impl Plate {
    /// Casts meshes whose texture coordinates are texels, one part each.
    pub(super) fn cast(
        parts: impl IntoIterator<Item = Mesh>,
        held: &Arc<Held>,
    ) -> (Self, Triangles) {
        let mut triangles = Triangles::default();
        let mut pieces = Vec::new();
        for (part, mesh) in parts.into_iter().enumerate() {
            if !mesh.indices.is_empty() {
                let split = mesh.split_to_u16();
                pieces.extend(split.iter().map(|mesh| triangles.push(part, mesh)));
            }
        }
        let bytes = triangles.bytes();
        held.plates.fetch_add(1, Ordering::Relaxed);
        held.bytes.fetch_add(bytes, Ordering::Relaxed);
        let cast = Cast {
            pieces: pieces.into(),
            bytes,
            held: Arc::clone(held),
            is_whole: AtomicBool::new(true),
            vertex: AtomicU32::new(NOWHERE),
            index: AtomicU32::new(NOWHERE),
            used: AtomicU64::new(0),
        };
        (Self(Arc::new(cast)), triangles)
    }

    /// False once the printer took the room back: what was on it must be cast again.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.0.is_whole()
    }

    /// True when printing this part would leave no ink.
    #[must_use]
    pub fn is_blank(&self, part: usize) -> bool {
        !self.0.pieces.iter().any(|piece| piece.part == part)
    }

    /// Bytes of its vertices and indices on the GPU.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.bytes
    }
}

impl Cast {
    pub(super) fn is_whole(&self) -> bool {
        self.is_whole.load(Ordering::Relaxed)
    }

    /// Gives its room back. What holds it sees that it is not whole any more.
    pub(super) fn melt(&self) {
        if self.is_whole.swap(false, Ordering::Relaxed) {
            self.held.plates.fetch_sub(1, Ordering::Relaxed);
            self.held.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
        }
    }

    pub(super) fn pieces(&self, part: usize) -> impl Iterator<Item = &Piece> {
        self.pieces.iter().filter(move |piece| piece.part == part)
    }

    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn place(&self, vertex: u32, index: u32) {
        self.vertex.store(vertex, Ordering::Relaxed);
        self.index.store(index, Ordering::Relaxed);
    }

    /// Its first vertex and index in the arena, once it lies there.
    pub(super) fn place_in_arena(&self) -> Option<(u32, u32)> {
        let vertex = self.vertex.load(Ordering::Relaxed);
        let is_there = vertex != NOWHERE && self.is_whole();
        is_there.then(|| (vertex, self.index.load(Ordering::Relaxed)))
    }

    pub(super) fn use_in(&self, frame: u64) {
        self.used.store(frame, Ordering::Relaxed);
    }

    pub(super) fn used(&self) -> u64 {
        self.used.load(Ordering::Relaxed)
    }
}

impl Drop for Cast {
    fn drop(&mut self) {
        self.melt();
    }
}

impl Triangles {
    fn push(&mut self, part: usize, mesh: &Mesh16) -> Piece {
        let vertex = self.vertices.len() as u64 / VERTEX_BYTES;
        let first = self.indices.len() as u64 / INDEX_BYTES;
        self.vertices.reserve(mesh.vertices.len() * VERTEX_BYTES as usize);
        mesh.vertices.iter().for_each(|v| self.vertices.extend_from_slice(&vertex_bytes(v)));
        self.indices.extend(mesh.indices.iter().flat_map(|index| index.to_ne_bytes()));
        let end = self.indices.len() as u64 / INDEX_BYTES;
        // Buffers are written in steps of four bytes.
        self.indices.resize(self.indices.len().next_multiple_of(4), 0);
        Piece { part, vertex: vertex as u32, indices: first as u32..end as u32 }
    }

    pub(super) fn bytes(&self) -> u64 {
        (self.vertices.len() + self.indices.len()) as u64
    }
}

fn vertex_bytes(vertex: &Vertex) -> [u8; VERTEX_BYTES as usize] {
    let mut bytes = [0; VERTEX_BYTES as usize];
    bytes[0..4].copy_from_slice(&vertex.pos.x.to_ne_bytes());
    bytes[4..8].copy_from_slice(&vertex.pos.y.to_ne_bytes());
    bytes[8..10].copy_from_slice(&(vertex.uv.x as u16).to_ne_bytes());
    bytes[10..12].copy_from_slice(&(vertex.uv.y as u16).to_ne_bytes());
    bytes[12..16].copy_from_slice(&vertex.color.to_array());
    bytes
}
