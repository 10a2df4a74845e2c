//! What a frame took on the GPU, where the adapter can say it.

use std::time::Duration;

use egui_wgpu::{RenderState, wgpu};

use super::target::mapped;
use crate::app::error::Result;

/// Two timestamps around a render pass.
#[derive(Debug)]
pub(super) struct Stopwatch {
    queries: wgpu::QuerySet,
    resolved: wgpu::Buffer,
    read: wgpu::Buffer,
    nanoseconds_per_tick: f64,
}

const TICK_BYTES: u64 = size_of::<u64>() as u64;
const TICKS: u32 = 2;

impl Stopwatch {
    /// None when the device was opened without timestamps.
    pub(super) fn new(gpu: &RenderState) -> Option<Self> {
        let device = &gpu.device;
        let can_tell = device.features().contains(wgpu::Features::TIMESTAMP_QUERY);
        let buffer = |usage: wgpu::BufferUsages| {
            device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("stopwatch"),
                size: u64::from(TICKS) * TICK_BYTES,
                usage: usage | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            })
        };
        can_tell.then(|| Self {
            queries: device.create_query_set(&wgpu::QuerySetDescriptor {
                label: Some("stopwatch"),
                ty: wgpu::QueryType::Timestamp,
                count: TICKS,
            }),
            resolved: buffer(wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC),
            read: buffer(wgpu::BufferUsages::MAP_READ),
            nanoseconds_per_tick: f64::from(gpu.queue.get_timestamp_period()),
        })
    }

    /// For the pass that is timed.
    pub(super) fn around(&self) -> wgpu::RenderPassTimestampWrites<'_> {
        wgpu::RenderPassTimestampWrites {
            query_set: &self.queries,
            beginning_of_pass_write_index: Some(0),
            end_of_pass_write_index: Some(1),
        }
    }

    /// Fetches both timestamps, behind the pass.
    pub(super) fn fetch(&self, encoder: &mut wgpu::CommandEncoder) {
        encoder.resolve_query_set(&self.queries, 0..TICKS, &self.resolved, 0);
        encoder.copy_buffer_to_buffer(&self.resolved, 0, &self.read, 0, self.read.size());
    }

    /// The time between the timestamps of the last pass that was submitted.
    pub(super) fn read(&self, device: &wgpu::Device) -> Result<Duration> {
        let nanoseconds = mapped(device, &self.read, |bytes| {
            let tick = |bytes: &[u8]| bytes.try_into().map_or(0, u64::from_ne_bytes);
            let (begin, end) = bytes.split_at(bytes.len() / 2);
            tick(end).saturating_sub(tick(begin)) as f64 * self.nanoseconds_per_tick
        })?;
        self.read.unmap();
        Ok(Duration::from_nanos(nanoseconds as u64))
    }
}
