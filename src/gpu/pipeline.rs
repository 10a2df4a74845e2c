//! The pipeline that prints plates, for surfaces as egui's renderer has them.

use egui_wgpu::{RenderState, RendererOptions, wgpu};

use super::{plate::VERTEX_BYTES, run::PLACEMENT_BYTES};

/// Bytes of the uniforms.
const SCREEN_BYTES: u64 = 16;

/// A render pipeline and what is bound to it besides the type itself.
pub(super) struct Pipeline {
    pipeline: wgpu::RenderPipeline,
    layout: wgpu::BindGroupLayout,
    sampler: wgpu::Sampler,
    screen: wgpu::Buffer,
    dithering: bool,
    /// What the uniforms were last written for.
    written: Option<([u32; 2], f32)>,
    atlas: Option<(wgpu::Texture, wgpu::BindGroup)>,
}

impl Pipeline {
    pub(super) fn new(state: &RenderState, options: RendererOptions) -> Self {
        let device = &state.device;
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("type"),
            entries: &[screen_entry(), atlas_entry(), sampler_entry()],
        });
        Self {
            pipeline: render_pipeline(state, options, &layout),
            layout,
            // As egui samples its atlas.
            sampler: device.create_sampler(&wgpu::SamplerDescriptor {
                label: Some("type"),
                mag_filter: wgpu::FilterMode::Linear,
                min_filter: wgpu::FilterMode::Linear,
                ..Default::default()
            }),
            screen: device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("type: screen"),
                size: SCREEN_BYTES,
                usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
                mapped_at_creation: false,
            }),
            dithering: options.dithering,
            written: None,
            atlas: None,
        }
    }

    /// Binds the atlas, if it is not the one that is bound.
    pub(super) fn bind_atlas(&mut self, device: &wgpu::Device, texture: &wgpu::Texture) {
        if self.atlas.as_ref().is_some_and(|(bound, _)| bound == texture) {
            return;
        }
        let view = texture.create_view(&wgpu::TextureViewDescriptor::default());
        let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("type"),
            layout: &self.layout,
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: self.screen.as_entire_binding() },
                wgpu::BindGroupEntry {
                    binding: 1,
                    resource: wgpu::BindingResource::TextureView(&view),
                },
                wgpu::BindGroupEntry {
                    binding: 2,
                    resource: wgpu::BindingResource::Sampler(&self.sampler),
                },
            ],
        });
        self.atlas = Some((texture.clone(), group));
    }

    /// Writes the uniforms when they changed; gives the number of bytes.
    pub(super) fn write_screen(
        &mut self,
        queue: &wgpu::Queue,
        size_px: [u32; 2],
        pixels_per_point: f32,
    ) -> u64 {
        let wanted = Some((size_px, pixels_per_point));
        if self.written == wanted {
            return 0;
        }
        self.written = wanted;
        let [width, height] = size_px.map(|side| (side as f32 / pixels_per_point).to_ne_bytes());
        let dithering = u32::from(self.dithering).to_ne_bytes();
        queue.write_buffer(&self.screen, 0, &[width, height, dithering, [0; 4]].concat());
        SCREEN_BYTES
    }

    /// Makes a pass print with it. False while there is no atlas.
    pub(super) fn set(&self, pass: &mut wgpu::RenderPass<'static>) -> bool {
        let Some((_, group)) = &self.atlas else { return false };
        pass.set_pipeline(&self.pipeline);
        pass.set_bind_group(0, group, &[]);
        true
    }
}

fn screen_entry() -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding: 0,
        visibility: wgpu::ShaderStages::VERTEX_FRAGMENT,
        ty: wgpu::BindingType::Buffer {
            ty: wgpu::BufferBindingType::Uniform,
            has_dynamic_offset: false,
            min_binding_size: wgpu::BufferSize::new(SCREEN_BYTES),
        },
        count: None,
    }
}

fn atlas_entry() -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding: 1,
        visibility: wgpu::ShaderStages::FRAGMENT,
        ty: wgpu::BindingType::Texture {
            multisampled: false,
            sample_type: wgpu::TextureSampleType::Float { filterable: true },
            view_dimension: wgpu::TextureViewDimension::D2,
        },
        count: None,
    }
}

fn sampler_entry() -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry {
        binding: 2,
        visibility: wgpu::ShaderStages::FRAGMENT,
        ty: wgpu::BindingType::Sampler(wgpu::SamplerBindingType::Filtering),
        count: None,
    }
}

/// egui's blending of premultiplied colours.
const BLEND: wgpu::BlendState = wgpu::BlendState {
    color: wgpu::BlendComponent {
        src_factor: wgpu::BlendFactor::One,
        dst_factor: wgpu::BlendFactor::OneMinusSrcAlpha,
        operation: wgpu::BlendOperation::Add,
    },
    alpha: wgpu::BlendComponent {
        src_factor: wgpu::BlendFactor::OneMinusDstAlpha,
        dst_factor: wgpu::BlendFactor::One,
        operation: wgpu::BlendOperation::Add,
    },
};

fn render_pipeline(
    state: &RenderState,
    options: RendererOptions,
    layout: &wgpu::BindGroupLayout,
) -> wgpu::RenderPipeline {
    let device = &state.device;
    let module = device.create_shader_module(wgpu::ShaderModuleDescriptor {
        label: Some("type.wgsl"),
        source: wgpu::ShaderSource::Wgsl(include_str!("../../shaders/type.wgsl").into()),
    });
    let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
        label: Some("type"),
        bind_group_layouts: &[Some(layout)],
        immediate_size: 0,
    });
    let vertex = wgpu::VertexBufferLayout {
        array_stride: VERTEX_BYTES,
        step_mode: wgpu::VertexStepMode::Vertex,
        attributes: &wgpu::vertex_attr_array![0 => Float32x2, 1 => Uint16x2, 2 => Unorm8x4],
    };
    let placement = wgpu::VertexBufferLayout {
        array_stride: PLACEMENT_BYTES,
        step_mode: wgpu::VertexStepMode::Instance,
        attributes: &wgpu::vertex_attr_array![3 => Float32x3],
    };
    let format = state.target_format;
    device.create_render_pipeline(&wgpu::RenderPipelineDescriptor {
        label: Some("type"),
        layout: Some(&layout),
        vertex: wgpu::VertexState {
            module: &module,
            entry_point: Some("vs_type"),
            buffers: &[Some(vertex), Some(placement)],
            compilation_options: wgpu::PipelineCompilationOptions::default(),
        },
        primitive: wgpu::PrimitiveState::default(),
        depth_stencil: options.depth_stencil_format.map(untested_depth),
        multisample: wgpu::MultisampleState {
            count: options.msaa_samples.max(1),
            ..wgpu::MultisampleState::default()
        },
        fragment: Some(wgpu::FragmentState {
            module: &module,
            entry_point: Some(if format.is_srgb() { "fs_linear" } else { "fs_gamma" }),
            targets: &[Some(wgpu::ColorTargetState {
                format,
                blend: Some(BLEND),
                write_mask: wgpu::ColorWrites::ALL,
            })],
            compilation_options: wgpu::PipelineCompilationOptions::default(),
        }),
        multiview_mask: None,
        cache: None,
    })
}

/// A pass with a depth buffer wants pipelines that know of it, even if they leave it alone.
fn untested_depth(format: wgpu::TextureFormat) -> wgpu::DepthStencilState {
    wgpu::DepthStencilState {
        format,
        depth_write_enabled: Some(false),
        depth_compare: Some(wgpu::CompareFunction::Always),
        stencil: wgpu::StencilState::default(),
        bias: wgpu::DepthBiasState::default(),
    }
}
