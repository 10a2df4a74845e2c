//! How the program asks for a GPU, the same way for windows and off-screen.

use std::sync::Arc;

use egui_wgpu::{WgpuSetup, WgpuSetupCreateNew, wgpu};

/// What is wrong when there is nothing to draw with.
pub const NO_DRIVER: &str = "no GPU driver was found";

/// What helps: the packages of Debian and its kin, and where drivers come from elsewhere.
pub const DRIVER_PACKAGES: &str = "install mesa-vulkan-drivers and libvulkan1 \
    (or libegl1 and libgl1), or your vendor's driver";

/// Texture side that windows on large displays need; adapters that cannot hold it give
/// what they can.
const TEXTURE_SIDE_PX: u32 = 8192;

/// A setup for any adapter there is: Vulkan, Metal or DX12 first, then GL; hardware
/// first, then software. `WGPU_BACKEND` and `WGPU_POWER_PREF` are respected.
#[must_use]
pub fn setup() -> WgpuSetup {
    let setup = WgpuSetupCreateNew::without_display_handle();
    WgpuSetup::CreateNew(WgpuSetupCreateNew {
        device_descriptor: Arc::new(device_descriptor),
        ..setup
    })
}

/// The adapter in one line: its name, driver and backend.
#[must_use]
pub fn describe(adapter: &wgpu::AdapterInfo) -> String {
    let wgpu::AdapterInfo { name, driver_info, backend, .. } = adapter;
    if driver_info.is_empty() {
        format!("{name} ({backend})")
    } else {
        format!("{name} ({backend}, {driver_info})")
    }
}

fn device_descriptor(adapter: &wgpu::Adapter) -> wgpu::DeviceDescriptor<'static> {
    let limits = match adapter.get_info().backend {
        wgpu::Backend::Gl => wgpu::Limits::downlevel_webgl2_defaults(),
        wgpu::Backend::Noop
        | wgpu::Backend::Vulkan
        | wgpu::Backend::Metal
        | wgpu::Backend::Dx12
        | wgpu::Backend::BrowserWebGpu => wgpu::Limits::default(),
    };
    let side = adapter.limits().max_texture_dimension_2d.min(TEXTURE_SIDE_PX);
    wgpu::DeviceDescriptor {
        label: Some("letterpress"),
        required_features: timestamps(adapter),
        required_limits: wgpu::Limits { max_texture_dimension_2d: side, ..limits },
        ..Default::default()
    }
}

/// The GPU's own clock where there is one. OpenGL has one that asks for waiting.
fn timestamps(adapter: &wgpu::Adapter) -> wgpu::Features {
    match adapter.get_info().backend {
        wgpu::Backend::Gl | wgpu::Backend::Noop | wgpu::Backend::BrowserWebGpu => {
            wgpu::Features::empty()
        }
        wgpu::Backend::Vulkan | wgpu::Backend::Metal | wgpu::Backend::Dx12 => {
            adapter.features() & wgpu::Features::TIMESTAMP_QUERY
        }
    }
}
