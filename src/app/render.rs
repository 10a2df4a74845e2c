//! `letterpress render`: a picture of a transcript; and of the sample conversation where
//! there is no display to open a window on.

use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use egui::Theme;

use super::{
    cli,
    error::{Error, Result},
    offscreen::{FrameStats, Host, Offscreen, Request, Subject},
};
use crate::perf;

/// Draws a transcript and gives the picture's path.
///
/// # Errors
/// No GPU, a file that cannot be opened or does not come, or a picture that cannot be
/// written.
pub fn run(args: &cli::Render, host: &dyn Host) -> Result<PathBuf> {
    let output = args.output.clone().unwrap_or_else(|| {
        let stem = args.file.file_stem().unwrap_or_default();
        Path::new(stem).with_added_extension("png")
    });
    let request = Request { at: args.at, expand: args.expand, ..Request::new(Some(&args.file)) };
    let theme = match args.theme {
        cli::Theme::Light => Theme::Light,
        cli::Theme::Dark => Theme::Dark,
    };
    let canvas = Canvas { size: args.size, scale: args.scale, theme };
    canvas.draw(&request, host, &output)?;
    Ok(output)
}

/// Draws what a window would open on and gives the picture's path: the file
/// `letterpress-demo.png` in the current folder.
///
/// # Errors
/// No GPU, or a picture that cannot be written.
pub fn demo(host: &dyn Host) -> Result<PathBuf> {
    let output = PathBuf::from("letterpress-demo.png");
    let canvas = Canvas { size: [1400, 900], scale: 1.0, theme: Theme::Dark };
    canvas.draw(&Request::new(None), host, &output)?;
    Ok(output)
}

/// What a picture is drawn on. The size is in points.
struct Canvas {
    size: [u32; 2],
    scale: f32,
    theme: Theme,
}

impl Canvas {
    fn draw(&self, request: &Request<'_>, host: &dyn Host, output: &Path) -> Result<()> {
        let size_px = self.size.map(|side| (side as f32 * self.scale).round() as u32);
        let mut offscreen =
            Offscreen::new(size_px, self.scale, self.theme, |context| host.install(context))?;
        let mut subject = host.open(request, offscreen.context())?;
        run_until_still(&mut offscreen, subject.as_mut())?;
        offscreen.png(output)
    }
}

/// What has not come after this long without progress is left out of the picture.
const STANDSTILL: Duration = Duration::from_secs(5);

/// Frames after everything has come: what still moves then never stops.
const STILL_FRAMES_MAX: u32 = 120;

/// Runs frames at 60 Hz of virtual time until nothing changes the picture any more.
fn run_until_still(offscreen: &mut Offscreen, subject: &mut dyn Subject) -> Result<()> {
    let mut time_secs = 0.0;
    let mut frame = |offscreen: &mut Offscreen, subject: &mut dyn Subject| -> FrameStats {
        time_secs += 1.0 / 60.0;
        offscreen.frame(Vec::new(), time_secs, |ui| subject.ui(ui))
    };
    let mut moved: (f32, Instant) = (0.0, perf::now());
    frame(offscreen, subject);
    while !subject.is_settled() && perf::now().saturating_duration_since(moved.1) < STANDSTILL {
        offscreen.wait(Duration::from_millis(50));
        frame(offscreen, subject);
        if subject.progress() > moved.0 {
            moved = (subject.progress(), perf::now());
        }
    }
    if !subject.is_settled() && !subject.is_ready() {
        return Err(Error::failed("reading the file stands still", ""));
    }
    for _ in 0..STILL_FRAMES_MAX {
        let stats = frame(offscreen, subject);
        if stats.repaint_after > Duration::from_secs(1) && subject.is_settled() {
            break;
        }
    }
    Ok(())
}
