//! Resident memory of this process, where the system says it.

/// Bytes of physical memory the process holds now. None where that is not known.
#[must_use]
pub fn rss_bytes() -> Option<u64> {
    status_bytes("VmRSS:")
}

/// The most [`rss_bytes`] has been since the start, or since [`reset_peak_rss`] worked.
#[must_use]
pub fn peak_rss_bytes() -> Option<u64> {
    status_bytes("VmHWM:")
}

/// Lets [`peak_rss_bytes`] begin anew from the present. False where the system refuses:
/// the peak then stays that of the whole process, which is an upper bound.
///
/// This is a switch of the kernel's in `/proc`, not a file that is written.
pub fn reset_peak_rss() -> bool {
    cfg!(target_os = "linux") && std::fs::write("/proc/self/clear_refs", "5").is_ok()
}

fn status_bytes(field: &str) -> Option<u64> {
    if !cfg!(target_os = "linux") {
        return None;
    }
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix(field))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}
