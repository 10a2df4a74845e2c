//! Where this machine's power comes from, where the system says it.

use std::{fs, path::Path};

/// Where power comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Power {
    /// From the wall, or it has no battery.
    Mains,
    /// From a battery.
    Battery,
    /// This system was not asked.
    Unknown,
}

/// Where power comes from now. Reads some small files of the kernel's: not for the UI
/// thread.
#[must_use]
pub fn power() -> Power {
    if cfg!(target_os = "linux") {
        power_in(Path::new("/sys/class/power_supply"))
    } else {
        Power::Unknown
    }
}

/// The same, of a folder that is laid out as Linux lays out its power supplies.
#[must_use]
pub fn power_in(supplies: &Path) -> Power {
    let Ok(entries) = fs::read_dir(supplies) else { return Power::Unknown };
    let mut discharging = false;
    for supply in entries.flatten().take(64).map(|entry| entry.path()) {
        let read = |name: &str| fs::read_to_string(supply.join(name)).unwrap_or_default();
        // A mouse has a battery too; the machine does not run from it.
        if read("scope").trim() == "Device" {
            continue;
        }
        match read("type").trim() {
            "Mains" | "USB" if read("online").trim() == "1" => return Power::Mains,
            "Battery" => discharging |= read("status").trim() == "Discharging",
            _ => {}
        }
    }
    if discharging { Power::Battery } else { Power::Mains }
}
