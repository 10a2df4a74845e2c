//! Frames and pictures without a window, on whatever adapter there is.

use std::time::Duration;

use egui::{Color32, Context, Rect, Theme, pos2, vec2};
use egui_wgpu::wgpu;
use letterpress::app::offscreen::{Gpu, Offscreen};

const RED: Color32 = Color32::RED;

fn open(size_px: [u32; 2], scale: f32) -> Offscreen {
    let with_default_fonts = |_: &Context| {};
    Offscreen::new(size_px, scale, Theme::Dark, with_default_fonts).expect("there is a driver")
}

fn red_square(ui: &mut egui::Ui) {
    let square = Rect::from_min_size(pos2(8.0, 8.0), vec2(16.0, 16.0));
    ui.painter().rect_filled(square, 0.0, RED);
}

#[test]
fn points_become_pixels_by_the_scale() {
    for scale in [1.0, 2.0] {
        let side = 40 * scale as u32;
        let mut offscreen = open([side, side], scale);
        offscreen.frame(Vec::new(), 0.0, red_square);
        let image = offscreen.image().expect("the device is there");
        assert_eq!(image.dimensions(), (side, side));
        let background = offscreen.context().global_style().visuals.panel_fill;
        let at = |points: f32| {
            let pixel = (points * scale) as u32;
            let [r, g, b, a] = image.get_pixel(pixel, pixel).0;
            Color32::from_rgba_premultiplied(r, g, b, a)
        };
        assert_eq!([at(4.0), at(9.0), at(22.0), at(30.0)], [background, RED, RED, background]);
    }
}

#[test]
fn a_picture_has_the_newest_size_and_frame() {
    let mut offscreen = open([300, 200], 1.0);
    offscreen.frame(Vec::new(), 0.0, red_square);
    let wide = offscreen.image().expect("the device is there");
    offscreen.resize([100, 50]).expect("a texture can have this size");
    offscreen.frame(Vec::new(), 0.1, |_| {});
    let narrow = offscreen.image().expect("the device is there");
    assert_eq!([wide.dimensions(), narrow.dimensions()], [(300, 200), (100, 50)]);
    let is_red = |image: &image::RgbaImage| image.pixels().any(|pixel| pixel.0 == [255, 0, 0, 255]);
    assert!(is_red(&wide) && !is_red(&narrow));
}

#[test]
fn text_of_any_script_leaves_ink() {
    let mut offscreen = open([200, 100], 1.0);
    offscreen.frame(Vec::new(), 0.0, |_| {});
    let empty = offscreen.image().expect("the device is there");
    for text in ["Latin", "世界", "🚀"] {
        offscreen.frame(Vec::new(), 0.1, |ui| {
            ui.label(text);
        });
        assert!(offscreen.image().expect("the device is there") != empty, "{text}");
    }
}

#[test]
fn a_still_frame_uploads_its_triangles_and_nothing_else() {
    let mut offscreen = open([100, 100], 1.0);
    for _ in 0..4 {
        offscreen.frame(Vec::new(), 0.0, red_square);
    }
    let stats = offscreen.frame(Vec::new(), 0.1, red_square);
    let indices_min = 6 * size_of::<u32>() as u64;
    let vertex_bytes = stats.vertices * size_of::<egui::epaint::Vertex>() as u64;
    assert!(stats.vertices >= 4 && stats.uploaded_bytes >= vertex_bytes + indices_min);
    assert!(stats.uploaded_bytes < 4096, "no texture is uploaded: {}", stats.uploaded_bytes);
    assert_eq!(stats.repaint_after, Duration::MAX);
    offscreen.resize([120, 100]).expect("a texture can have this size");
    let resized = offscreen.frame(Vec::new(), 0.2, red_square);
    assert_eq!(resized.uploaded_bytes, stats.uploaded_bytes + 16, "uniforms are counted");
}

#[test]
fn the_gpu_says_what_a_frame_took_where_it_has_a_clock() {
    let gpu = Gpu::open(letterpress::gpu::setup()).expect("there is a driver");
    let has_clock = gpu.state.device.features().contains(wgpu::Features::TIMESTAMP_QUERY);
    let offscreen = Offscreen::on(|| Ok(gpu), [400, 300], 1.0, Theme::Dark, |_| {});
    let mut offscreen = offscreen.expect("there is a driver");
    for asked in [false, true, false] {
        offscreen.time_gpu(asked);
        offscreen.frame(Vec::new(), 0.0, red_square);
        offscreen.rasterise().expect("the device is there");
        let time = offscreen.gpu_time();
        assert_eq!(time.is_some(), asked && has_clock);
        assert!(time.is_none_or(|time| time < Duration::from_secs(10)), "{time:?}");
    }
}

#[test]
fn waiting_hears_requests_and_their_delays() {
    let mut offscreen = open([50, 50], 1.0);
    for frame in 0..4 {
        offscreen.frame(Vec::new(), f64::from(frame), |_| {});
    }
    assert!(!offscreen.wait(Duration::from_millis(1)), "nobody asked");
    let before = offscreen.repaint_requests();
    let context = offscreen.context().clone();
    let asker = std::thread::Builder::new().name("asker".to_owned());
    let asker = asker.spawn(move || context.request_repaint_after(Duration::from_millis(30)));
    let began = letterpress::perf::now();
    assert!(offscreen.wait(Duration::from_secs(20)), "a frame was asked for");
    assert!(began.elapsed() >= Duration::from_millis(29), "but not at once");
    asker.expect("a thread can be started").join().expect("it only asks");
    assert_eq!(offscreen.repaint_requests() - before, 1);
    offscreen.context().request_repaint_after(Duration::from_secs(60));
    assert_eq!(offscreen.repaint_requests() - before, 1, "a clock's request is not soon");
}

#[test]
fn sizes_that_no_texture_has_are_refused_in_one_line() {
    for size in [[0, 10], [10, 1_000_000]] {
        let error = Offscreen::new(size, 1.0, Theme::Light, |_| {}).expect_err("too large");
        let line = error.to_string();
        assert!(line.contains("pixels a side") && !line.contains('\n'), "{line}");
    }
}
