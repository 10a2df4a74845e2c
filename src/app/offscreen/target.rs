//! The texture that frames are drawn into, and the way back from it.

use std::{sync::mpsc, time::Duration};

use egui::Color32;
use egui_wgpu::wgpu;
use image::RgbaImage;

use super::{gpu::failed, stopwatch::Stopwatch};
use crate::app::error::{Error, Result};

/// A texture in gamma space that can be read back.
#[derive(Debug)]
pub(super) struct Target {
    texture: wgpu::Texture,
    view: wgpu::TextureView,
}

const TEXEL_BYTES: u32 = 4;

/// A software rasteriser takes 50 ms for a frame; a driver that takes this long is gone.
const DRIVER_TIMEOUT: Duration = Duration::from_secs(30);

const FAILED: &str = "the GPU failed";

impl Target {
    pub(super) fn new(
        device: &wgpu::Device,
        format: wgpu::TextureFormat,
        size_px: [u32; 2],
    ) -> Result<Self> {
        let [width, height] = size_px;
        let side_max_px = device.limits().max_texture_dimension_2d;
        if size_px.iter().any(|side| *side == 0 || *side > side_max_px) {
            let what = format!("this GPU draws 1 to {side_max_px} pixels a side");
            return Err(Error::failed(what, format!("{width}x{height}")));
        }
        let texture = device.create_texture(&wgpu::TextureDescriptor {
            label: Some("off-screen"),
            size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT | wgpu::TextureUsages::COPY_SRC,
            view_formats: &[],
        });
        let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
        Ok(Self { texture, view })
    }

    /// A pass over the whole texture that begins with a colour.
    pub(super) fn begin_pass(
        &self,
        encoder: &mut wgpu::CommandEncoder,
        background: Color32,
        stopwatch: Option<&Stopwatch>,
    ) -> wgpu::RenderPass<'static> {
        let [r, g, b, a] = background.to_normalized_gamma_f32().map(f64::from);
        let load = wgpu::LoadOp::Clear(wgpu::Color { r, g, b, a });
        let pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("egui"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &self.view,
                resolve_target: None,
                ops: wgpu::Operations { load, store: wgpu::StoreOp::Store },
                depth_slice: None,
            })],
            timestamp_writes: stopwatch.map(Stopwatch::around),
            ..Default::default()
        });
        pass.forget_lifetime()
    }

    /// The texture's pixels.
    pub(super) fn read(&self, device: &wgpu::Device, queue: &wgpu::Queue) -> Result<RgbaImage> {
        let wgpu::Extent3d { width, height, .. } = self.texture.size();
        let row_bytes = width * TEXEL_BYTES;
        let padded = row_bytes.next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("read back"),
            size: u64::from(padded) * u64::from(height),
            usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
            mapped_at_creation: false,
        });
        queue.submit([self.copy_to(device, &buffer, padded)]);
        let rows = mapped(device, &buffer, |bytes| {
            let rows = bytes.chunks_exact(padded as usize);
            rows.flat_map(|row| row.iter().take(row_bytes as usize)).copied().collect()
        })?;
        let image = RgbaImage::from_raw(width, height, rows);
        image.ok_or_else(|| failed(FAILED, "too few pixels came back"))
    }

    fn copy_to(
        &self,
        device: &wgpu::Device,
        buffer: &wgpu::Buffer,
        row_bytes: u32,
    ) -> wgpu::CommandBuffer {
        let descriptor = wgpu::CommandEncoderDescriptor { label: Some("read back") };
        let mut encoder = device.create_command_encoder(&descriptor);
        let layout = wgpu::TexelCopyBufferLayout {
            offset: 0,
            bytes_per_row: Some(row_bytes),
            rows_per_image: None,
        };
        encoder.copy_texture_to_buffer(
            self.texture.as_image_copy(),
            wgpu::TexelCopyBufferInfo { buffer, layout },
            self.texture.size(),
        );
        encoder.finish()
    }
}

/// Waits until the driver has done everything it was given.
pub(super) fn wait(device: &wgpu::Device) -> Result<()> {
    let all = wgpu::PollType::Wait { submission_index: None, timeout: Some(DRIVER_TIMEOUT) };
    device.poll(all).map(|_| ()).map_err(|error| failed(FAILED, &error.to_string()))
}

/// What `read` makes of a buffer's bytes. The buffer stays mapped.
pub(super) fn mapped<T>(
    device: &wgpu::Device,
    buffer: &wgpu::Buffer,
    read: impl FnOnce(&[u8]) -> T,
) -> Result<T> {
    let lost = |reason: &dyn ToString| failed(FAILED, &reason.to_string());
    let (sender, receiver) = mpsc::sync_channel(1);
    buffer.slice(..).map_async(wgpu::MapMode::Read, move |result| {
        // Nobody listens any more only when waiting for the driver failed.
        drop(sender.send(result));
    });
    wait(device)?;
    let mapped = receiver.recv_timeout(DRIVER_TIMEOUT).map_err(|error| lost(&error))?;
    mapped.map_err(|error| lost(&error))?;
    let bytes = buffer.slice(..).get_mapped_range().map_err(|error| lost(&error))?;
    Ok(read(&bytes))
}
