//! What the system wants of a window that nobody touches: less motion, less power. Looked
//! at beside the UI.

use std::{
    io,
    path::{Path, PathBuf},
    sync::Arc,
    thread::{self, Thread},
    time::Duration,
};

use egui::Context;

use crate::{
    perf::{self, Power},
    view::governor::{self, System},
};

/// How often it is looked.
const EVERY: Duration = Duration::from_secs(60);
/// Files of settings that are longer are not such files.
const SETTINGS_MAX: u64 = 1 << 20;

/// Looks at the system for as long as it lives.
pub(super) struct Watch {
    /// The thread goes when this has gone.
    alive: Option<Arc<()>>,
    thread: Thread,
}

impl Watch {
    /// Starts looking, for the governor of a context.
    ///
    /// # Errors
    /// The system gives no further thread.
    pub(super) fn start(ctx: &Context) -> io::Result<Self> {
        let (alive, ctx) = (Arc::new(()), ctx.clone());
        let wanted = Arc::downgrade(&alive);
        let spawned = thread::Builder::new().name("system".to_owned()).spawn(move || {
            while wanted.strong_count() > 0 {
                governor::learn(&ctx, look());
                thread::park_timeout(EVERY);
            }
        })?;
        Ok(Self { alive: Some(alive), thread: spawned.thread().clone() })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        drop(self.alive.take());
        self.thread.unpark();
    }
}

fn look() -> System {
    System { reduces_motion: reduces_motion(), on_battery: perf::power() == Power::Battery }
}

/// True when the desktop's own settings ask for no animations. GTK and KDE write them into
/// files; what other systems want has to be chosen in the menu.
fn reduces_motion() -> bool {
    let Some(folder) = settings_folder() else { return false };
    let says = |file: &str, line: fn(&str) -> bool| {
        read(&folder.join(file)).is_some_and(|text| text.lines().any(line))
    };
    says("gtk-4.0/settings.ini", is_still_gtk)
        || says("gtk-3.0/settings.ini", is_still_gtk)
        || says("kdeglobals", is_still_kde)
}

fn is_still_gtk(line: &str) -> bool {
    value_of(line, "gtk-enable-animations").is_some_and(|value| matches!(value, "0" | "false"))
}

fn is_still_kde(line: &str) -> bool {
    value_of(line, "AnimationDurationFactor").is_some_and(|value| value.parse() == Ok(0.0_f32))
}

fn value_of<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let (key, value) = line.split_once('=')?;
    (key.trim() == name).then(|| value.trim())
}

fn settings_folder() -> Option<PathBuf> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    directories::BaseDirs::new().map(|folders| folders.config_dir().to_owned())
}

fn read(file: &Path) -> Option<String> {
    let size = std::fs::metadata(file).ok()?.len();
    (size <= SETTINGS_MAX).then(|| std::fs::read_to_string(file).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::{is_still_gtk, is_still_kde};

    #[test]
    fn settings_that_ask_for_no_animations_are_recognised() {
        for line in ["gtk-enable-animations=0", " gtk-enable-animations = false "] {
            assert!(is_still_gtk(line), "{line}");
        }
        for line in ["gtk-enable-animations=1", "# gtk-enable-animations", "other=0", ""] {
            assert!(!is_still_gtk(line), "{line}");
        }
        assert!(is_still_kde("AnimationDurationFactor=0"));
        assert!(!is_still_kde("AnimationDurationFactor=0.7071"));
        assert!(!is_still_kde("AnimationDurationFactor=nothing"));
    }
}
