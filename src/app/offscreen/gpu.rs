//! A GPU for frames that no window shows.

use egui_wgpu::{RenderState, RendererOptions, WgpuConfiguration, WgpuError, WgpuSetup};

use crate::{
    app::error::{Error, Result},
    gpu,
};

/// An opened GPU with egui's renderer on it, and the options that this was made with.
#[derive(Clone)]
pub struct Gpu {
    /// Device, surface format, renderer.
    pub state: RenderState,
    /// The renderer's options.
    pub options: RendererOptions,
}

impl Gpu {
    /// Opens an adapter that a setup describes.
    ///
    /// # Errors
    /// No driver, or no usable device.
    pub fn open(setup: WgpuSetup) -> Result<Self> {
        // Dithering would make two pictures of the same thing differ in nothing that matters.
        let options = RendererOptions { dithering: false, ..RendererOptions::default() };
        let opened = pollster::block_on(async {
            let instance = setup.new_instance().await;
            let configuration = WgpuConfiguration { wgpu_setup: setup, ..Default::default() };
            RenderState::create(&configuration, &instance, None, options).await
        });
        opened.map(|state| Self { state, options }).map_err(|error| no_gpu(&error))
    }
}

fn no_gpu(error: &WgpuError) -> Error {
    use WgpuError as E;
    match error {
        E::RequestAdapterError(_)
        | E::CustomNativeAdapterSelectionError(_)
        | E::NoSurfaceFormatsAvailable
        | E::CreateSurfaceError(_) => failed(gpu::NO_DRIVER, gpu::DRIVER_PACKAGES),
        other => failed("the GPU cannot be used", &other.to_string()),
    }
}

/// A failure of the driver's. Its own words can be a page.
pub(super) fn failed(what: &'static str, reason: &str) -> Error {
    Error::failed(what, reason.split_whitespace().collect::<Vec<_>>().join(" "))
}
