//! How long a running call has been running, on its row. It is painted over the set line,
//! so that a second that passes lays nothing out.

use std::time::{Duration, Instant};

use egui::{Align2, FontFamily, FontId, Rect, Ui};

use crate::{
    layout::face,
    perf,
    view::{
        governor,
        transcript::{Geometry, TranscriptView},
    },
};

/// How often a clock moves on.
const TICK: Duration = Duration::from_secs(1);

/// Paints the clocks of running calls that are on screen.
pub(crate) fn running(view: &TranscriptView, ui: &Ui, geometry: Geometry, since: Option<Instant>) {
    let Some(since) = since else { return };
    let palette = view.palette();
    for place in &view.visible.placed {
        let Some(clock) = place.slug.as_ref().and_then(|slug| slug.clock) else { continue };
        let origin = geometry.origin(place, ui.pixels_per_point()).to_vec2();
        let rect = clock.translate(origin).intersect(geometry.rect);
        if rect.is_positive() {
            let passed = perf::now().saturating_duration_since(since);
            clock_ui(ui, rect, &elapsed(passed), palette.accent);
            // The next change is when the second that is shown is over.
            governor::tick(ui, rect, TICK - Duration::from_nanos(u64::from(passed.subsec_nanos())));
        }
    }
}

fn clock_ui(ui: &Ui, rect: Rect, words: &str, color: egui::Color32) {
    let font = FontId::new(face::CAPTION_SIZE, FontFamily::Name(face::FIGURES_NAME.into()));
    ui.painter().text(rect.right_center(), Align2::RIGHT_CENTER, words, font, color);
}

/// Whole seconds in the units that fit them.
#[must_use]
pub(crate) fn elapsed(passed: Duration) -> String {
    let seconds = passed.as_secs();
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{}:{:02}", seconds / 60, seconds % 60),
        _ => format!("{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60),
    }
}

#[cfg(test)]
mod tests {
    use super::elapsed;
    use std::time::Duration;

    #[test]
    fn seconds_become_minutes_and_hours() {
        for (seconds, words) in [(0, "0 s"), (59, "59 s"), (61, "1:01"), (3725, "1:02:05")] {
            assert_eq!(elapsed(Duration::from_secs(seconds)), words);
        }
    }
}
