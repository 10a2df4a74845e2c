//! Looking twice a second at what gives no notices.

use std::{
    path::Path,
    sync::{Arc, Weak},
    thread::Thread,
    time::SystemTime,
};

use super::{Notice, PULSE, Standing, Watch, table::Call};

/// Starts the thread that looks. It ends with the watcher.
pub(super) fn start(watch: &Arc<Watch>) -> Option<Thread> {
    let ours = Arc::downgrade(watch);
    let name = "letterpress-pulse".to_owned();
    let thread = std::thread::Builder::new().name(name).stack_size(STACK_BYTES);
    // Without it only what the system notices is seen.
    thread.spawn(move || while beat(&ours) {}).ok().map(|handle| handle.thread().clone())
}

const STACK_BYTES: usize = 512 * 1024;

/// Waits and looks. False when nobody watches any more.
fn beat(ours: &Weak<Watch>) -> bool {
    std::thread::park_timeout(PULSE);
    let Some(watch) = ours.upgrade() else { return false };
    let mut calls = look_at_folders(&watch);
    if watch.notice != Notice::System {
        calls.extend(look_at_files(&watch));
    }
    for (call, path) in calls {
        call(path.as_deref());
    }
    true
}

/// A folder that was moved away or came back gives no notices: it is watched anew.
fn look_at_folders(watch: &Watch) -> Vec<Call> {
    let folders = watch.table.lock().folders();
    let mut calls = Vec::new();
    for (folder, watched) in folders {
        let there = print_of(&folder).map(|there| there.identity);
        let known = watched.map(|watched| watched.identity);
        if there == known || (there.is_none() && known.is_none()) {
            continue;
        }
        if known.is_some() {
            watch.forget(&folder);
            watch.table.lock().asked(&folder, None);
        }
        let had_notices = watch.system.lock().is_some();
        watch.ask_system(&folder);
        if known.is_some() || had_notices {
            calls.extend(watch.table.lock().users(&folder));
        }
    }
    calls
}

fn look_at_files(watch: &Watch) -> Vec<Call> {
    let files = watch.table.lock().files();
    let seen = files.into_iter().map(|(id, path)| (id, print_of(&path)));
    let seen: Vec<_> = seen.collect();
    let mut table = watch.table.lock();
    seen.into_iter().filter_map(|(id, now)| table.seen(id, now)).collect()
}

/// What stands at a path; none when nothing does.
pub(super) fn print_of(path: &Path) -> Option<Standing> {
    let metadata = std::fs::metadata(path).ok()?;
    let written = metadata.modified().ok();
    let since = written.and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
    Some(Standing {
        identity: identity(&metadata),
        len: metadata.len(),
        written_ns: since.map_or(0, |since| since.as_nanos() as i128),
    })
}

#[cfg(unix)]
fn identity(metadata: &std::fs::Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt as _;
    (metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
fn identity(metadata: &std::fs::Metadata) -> (u64, u64) {
    let created = metadata.created().ok();
    let since = created.and_then(|at| at.duration_since(SystemTime::UNIX_EPOCH).ok());
    (0, since.map_or(0, |since| since.as_nanos() as u64))
}
