//! Whether there is anything that a window could be opened on.

/// True when a display server says where it is. Systems without one always have a display.
#[must_use]
pub fn exists() -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    cfg!(not(target_os = "linux"))
        || set("DISPLAY")
        || set("WAYLAND_DISPLAY")
        || set("WAYLAND_SOCKET")
}
