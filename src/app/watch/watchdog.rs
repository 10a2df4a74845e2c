//! The watchdog: when a frame that is due does not come, the program starts itself anew.

use std::{
    ffi::OsString,
    io,
    process::Command,
    sync::{
        Arc,
        atomic::{AtomicI64, Ordering},
        mpsc::{RecvTimeoutError, SyncSender, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use crate::perf;

/// How long a frame may be overdue, in milliseconds.
pub const PATIENCE_MS: i64 = 10_000;
/// How often the watchdog looks.
const LOOK: Duration = Duration::from_secs(1);
/// Counts the restarts in a row, from one process to the next.
const RESTARTS: &str = "LETTERPRESS_RESTARTS";
/// A process that lived this long was no failure.
const WELL: Duration = Duration::from_secs(600);
/// Longest wait before a restart.
const BACK_OFF_MAX_SECS: u64 = 60;

/// When the last frame came and when the next is due. Times are milliseconds of any clock
/// that only goes forward.
#[derive(Debug, Default)]
pub struct Heartbeat {
    /// When the next frame is due; 0 before the first frame, which nobody waits for: a
    /// display that is switched off gives none.
    due_ms: AtomicI64,
}

impl Heartbeat {
    /// A frame was shown, and asks for the next one after so long.
    pub fn beat(&self, now_ms: i64, next_after: Duration) {
        let after = i64::try_from(next_after.as_millis()).unwrap_or(i64::MAX);
        self.due_ms.store(now_ms.saturating_add(after).max(1), Ordering::Relaxed);
    }

    /// True when a frame that was due did not come for too long.
    #[must_use]
    pub fn is_overdue(&self, now_ms: i64) -> bool {
        let due = self.due_ms.load(Ordering::Relaxed);
        due > 0 && now_ms.saturating_sub(due) > PATIENCE_MS
    }
}

/// The thread that watches. Dropping it ends the thread.
pub(super) struct Watchdog {
    pub(super) heartbeat: Arc<Heartbeat>,
    started: Instant,
    _alive: SyncSender<()>,
}

impl Watchdog {
    /// Starts the thread.
    ///
    /// # Errors
    /// When the system gives no further thread.
    pub(super) fn start() -> io::Result<Self> {
        let heartbeat = Arc::new(Heartbeat::default());
        let (alive, ended) = sync_channel::<()>(1);
        let started = perf::now();
        let watched = Arc::clone(&heartbeat);
        let watch = move || {
            while matches!(ended.recv_timeout(LOOK), Err(RecvTimeoutError::Timeout)) {
                if watched.is_overdue(elapsed_ms(started)) {
                    restart(started, || ended.recv_timeout(back_off(started)).is_ok());
                }
            }
        };
        thread::Builder::new().name("letterpress-watchdog".to_owned()).spawn(watch)?;
        Ok(Self { heartbeat, started, _alive: alive })
    }

    /// A frame was shown, and asks for the next one after so long.
    pub(super) fn beat(&self, next_after: Duration) {
        self.heartbeat.beat(elapsed_ms(self.started), next_after);
    }
}

fn elapsed_ms(since: Instant) -> i64 {
    let elapsed = perf::now().saturating_duration_since(since);
    i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX)
}

fn restarts(started: Instant) -> u32 {
    let lived = perf::now().saturating_duration_since(started);
    let before = std::env::var(RESTARTS).ok().and_then(|count| count.parse().ok());
    if lived >= WELL { 0 } else { before.unwrap_or(0) }
}

fn back_off(started: Instant) -> Duration {
    let secs = 1_u64.checked_shl(restarts(started)).unwrap_or(BACK_OFF_MAX_SECS);
    Duration::from_secs(secs.min(BACK_OFF_MAX_SECS))
}

/// Puts a new process of this program in this one's place.
fn restart(started: Instant, wait: impl FnOnce() -> bool) {
    tracing::error!("no frame came for {} s: starting anew", PATIENCE_MS / 1000);
    if wait() {
        return;
    }
    let Ok(program) = std::env::current_exe() else { return };
    let arguments: Vec<OsString> = std::env::args_os().skip(1).collect();
    let mut command = Command::new(program);
    command.args(arguments).env(RESTARTS, (restarts(started) + 1).min(32).to_string());
    let error = replace(command);
    tracing::error!("cannot start anew: {error}");
}

/// Does not return when it succeeds.
#[cfg(unix)]
fn replace(mut command: Command) -> io::Error {
    use std::os::unix::process::CommandExt as _;
    command.exec()
}

#[cfg(not(unix))]
#[expect(clippy::exit, reason = "the process that takes over is running")]
fn replace(mut command: Command) -> io::Error {
    match command.spawn() {
        Ok(_takes_over) => std::process::exit(1),
        Err(error) => error,
    }
}
