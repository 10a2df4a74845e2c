//! A picture of the wall, drawn off-screen after it has followed for a while.

use std::{path::Path, time::Duration};

use egui::Theme;

use super::{Watch, follow, install, local_time::LocalTime, settings};
use crate::{
    app::{cli, error::Result, offscreen::Offscreen},
    engine::follow::Wanted,
    perf,
};

/// How long is waited beyond the time that was asked for, until all text is there.
const SETTLE: Duration = Duration::from_secs(10);
/// Frames at the end, until nothing moves any more.
const LAST_FRAMES: u32 = 6;

/// Follows for as long as was asked and writes the picture.
pub(super) fn draw(args: &cli::Watch, wanted: Vec<Wanted>, output: &Path) -> Result<()> {
    let theme = match args.theme {
        cli::Theme::Light => Theme::Light,
        cli::Theme::Dark => Theme::Dark,
    };
    let size_px = args.size.map(|side| (side as f32 * args.scale).round() as u32);
    let mut offscreen =
        Offscreen::new(size_px, args.scale, theme, |context| install(context, args))?;
    let mut watch = Watch::new(follow(wanted, offscreen.context())?, settings(args));
    let (mut time, began) = (LocalTime::default(), perf::now());
    let mut frame = |offscreen: &mut Offscreen| {
        let secs = perf::now().saturating_duration_since(began).as_secs_f64();
        let now = time.now();
        offscreen.frame(Vec::new(), secs, |ui| watch.ui(ui, now));
        watch.wall().is_settled()
    };
    let after = Duration::from_secs_f32(args.after);
    loop {
        let settled = frame(&mut offscreen);
        let elapsed = perf::now().saturating_duration_since(began);
        if elapsed >= after && (settled || elapsed >= after + SETTLE) {
            break;
        }
        let rest = after.saturating_sub(elapsed).max(Duration::from_millis(20));
        offscreen.wait(rest.min(Duration::from_millis(250)));
    }
    for _ in 0..LAST_FRAMES {
        frame(&mut offscreen);
    }
    offscreen.png(output)
}
