use super::fixtures::*;
use egui::Vec2;
use letterpress::view::wall::Settings;

#[test]
fn pictures() {
    let Some(folder) = std::env::var_os("LOOK") else { return };
    for count in [0, 1, 4, 6, 16] {
        let mut harness = harness(agents(count), Settings { places: Some(16), ..Settings::default() }, Vec2::new(1920.0, 1080.0));
        for _ in 0..10 { harness.run_steps(3); std::thread::park_timeout(std::time::Duration::from_millis(10)); }
        let image = harness.render().unwrap();
        image.save(std::path::Path::new(&folder).join(format!("wall-{count}.png"))).unwrap();
    }
}
