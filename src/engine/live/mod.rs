//! Live conversations: turns run beside the UI, which sees [`Snapshot`]s and sends
//! [`Command`]s.
//!
//! An [`Engine`] owns the threads and the connections. Each [`Session`] is one conversation:
//! a task that alone changes it, takes commands from a bounded queue, and publishes what
//! became of it, at most once a frame, to whoever looks; the newest replaces the one
//! before, so that a reader who does not look costs nothing and misses nothing.
//!
//! ```
//! use std::sync::Arc;
//! use letterpress::{
//!     engine::live::{Config, Engine, Provider},
//!     model::{Command, Draft, Settings, Ticket},
//!     wire::demo::Pace,
//! };
//!
//! let engine = Engine::start(Config::new(|| 0))?;
//! engine.set_provider("demo", Provider::Demo(Pace::AtOnce));
//! let settings = Settings { provider: "demo".into(), ..Settings::default() };
//! let session = engine.session(settings, Arc::new(|| {}));
//! assert!(session.send(Command::Send(Draft::text(Ticket(1), "Hello"))).is_ok());
//! let last = engine.block_on(session.settled(Ticket(1)));
//! assert!(last.messages().count() >= 2);
//! # Ok::<(), std::io::Error>(())
//! ```

mod actor;
mod arrival;
mod composition;
mod hands;
mod ledger;
mod local;
mod prose;
mod provider;
mod publish;
mod recorded;
mod source;
mod switch;
mod tagged;
mod talk;
mod toolbox;
mod tree;
pub mod workbench;

use std::{
    collections::BTreeMap,
    fmt, io,
    path::Path,
    sync::{Arc, Weak},
    time::Duration,
};

use parking_lot::Mutex;
use tokio::{
    runtime::{Builder, Handle, Runtime},
    sync::{mpsc, watch},
};

pub use local::{LocalServer, local_servers};
pub use provider::{Backend, Provider};
pub use source::LiveSource;
pub use switch::Switch;
pub use toolbox::{Keep, PageFetcher, Toolbox};

use self::{
    actor::{Actor, keeping::Keeper},
    ledger::base::Ground,
    publish::Publisher,
    workbench::Workbench,
};
use super::{SessionSource, Waker};
use crate::{
    model::{
        Command, Fate, MessageId, Settings, Snapshot, Ticket,
        record::{Kind, Meta},
    },
    store::{Copied, Log, Opened, Sync},
    wire::{Http, HttpConfig, Timeouts},
};

/// Commands that may wait for one conversation.
const COMMANDS: usize = 16;
/// Threads for all conversations together.
const WORKERS: usize = 2;
/// How long the end of the program waits for connections to close.
const PARTING: Duration = Duration::from_millis(100);

/// The wall clock: milliseconds since 1970, UTC.
pub type Clock = fn() -> i64;

/// How an engine is set up.
#[derive(Clone, Debug)]
pub struct Config {
    /// How to reach the world.
    pub http: HttpConfig,
    /// What messages are dated by.
    pub clock: Clock,
    /// How long to wait for what, and how often to publish.
    pub limits: Limits,
}

impl Config {
    /// The usual set-up.
    #[must_use]
    pub fn new(clock: Clock) -> Self {
        Self { http: HttpConfig::default(), clock, limits: Limits::default() }
    }
}

/// How long to wait for what, and how often to publish.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Between two snapshots of the same reply.
    pub frame: Duration,
    /// Without any byte until a reply is said to have stalled.
    pub stall: Duration,
    /// For the server.
    pub timeouts: Timeouts,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            frame: Duration::from_millis(16),
            stall: Duration::from_secs(15),
            timeouts: Timeouts::default(),
        }
    }
}

/// Runs conversations. Dropping it ends them all and closes their connections.
pub struct Engine {
    /// Always there, until it is dropped.
    runtime: Option<Runtime>,
    shared: Arc<Shared>,
}

/// What all conversations use.
#[derive(Debug)]
struct Shared {
    http: Http,
    providers: Mutex<BTreeMap<Arc<str>, Provider>>,
    clock: Clock,
    limits: Limits,
}

impl Shared {
    fn provider(&self, name: &str) -> Option<Provider> {
        self.providers.lock().get(name).cloned()
    }
}

impl Engine {
    /// Starts the threads.
    ///
    /// # Errors
    /// When the system gives no threads, or the settings of the network cannot be used.
    pub fn start(config: Config) -> io::Result<Self> {
        let Config { http, clock, limits } = config;
        let runtime = Builder::new_multi_thread()
            .worker_threads(WORKERS)
            .max_blocking_threads(WORKERS)
            .thread_name("letterpress-engine")
            .enable_all()
            .build()?;
        let http = Http::new(&http).map_err(io::Error::other)?;
        let providers = Mutex::default();
        Ok(Self {
            runtime: Some(runtime),
            shared: Arc::new(Shared { http, providers, clock, limits }),
        })
    }

    /// Makes a provider known, or known in another way from the next request on.
    pub fn set_provider(&self, name: impl Into<Arc<str>>, provider: Provider) {
        self.shared.providers.lock().insert(name.into(), provider);
    }

    /// Begins a conversation. `waker` is called from another thread after each snapshot.
    ///
    /// # Panics
    /// Never: the threads live as long as the engine.
    #[must_use]
    pub fn session(&self, settings: Settings, waker: Waker) -> Session {
        self.session_at(None, settings, waker)
    }

    /// Begins a conversation whose calls are run by `bench`, as far as
    /// [`Settings::tools`] lets them.
    ///
    /// # Panics
    /// Never: the threads live as long as the engine.
    #[must_use]
    pub fn session_at(
        &self,
        bench: Option<Arc<dyn Workbench>>,
        settings: Settings,
        waker: Waker,
    ) -> Session {
        self.start_session(Keeper::default(), bench, settings, waker)
    }

    /// Goes on with a conversation that is kept in a log. What it was set to when it was
    /// left takes the place of `settings`, as far as its provider is known.
    ///
    /// # Panics
    /// Never: the threads live as long as the engine.
    #[must_use]
    pub fn session_kept(
        &self,
        opened: Opened,
        bench: Option<Arc<dyn Workbench>>,
        settings: Settings,
        waker: Waker,
    ) -> Session {
        self.start_session(Keeper::new(opened, true), bench, settings, waker)
    }

    /// The same, but it goes on with these `settings`, whatever it was set to when it was
    /// left.
    ///
    /// # Panics
    /// Never: the threads live as long as the engine.
    #[must_use]
    pub fn session_as(
        &self,
        opened: Opened,
        bench: Option<Arc<dyn Workbench>>,
        settings: Settings,
        waker: Waker,
    ) -> Session {
        self.start_session(Keeper::new(opened, false), bench, settings, waker)
    }

    fn start_session(
        &self,
        keeper: Keeper,
        bench: Option<Arc<dyn Workbench>>,
        settings: Settings,
        waker: Waker,
    ) -> Session {
        let (sender, commands) = mpsc::channel(COMMANDS);
        let (publisher, snapshots) = Publisher::new(Arc::clone(&waker));
        let log = keeper.log();
        let shared = Arc::clone(&self.shared);
        let actor = Actor::new(shared, commands, publisher, settings, bench, keeper);
        self.runtime().spawn(actor.run());
        Session { commands: sender, snapshots, log, waker }
    }

    /// The threads of this engine, for what runs beside its conversations.
    #[must_use]
    pub fn handle(&self) -> Handle {
        self.runtime().handle().clone()
    }

    /// Connections of this engine, to ask a provider for its models.
    #[must_use]
    pub fn http(&self) -> Http {
        self.shared.http.clone()
    }

    /// Runs something beside the UI; what becomes of it, it has to tell by itself.
    pub fn spawn(&self, work: impl Future<Output = ()> + Send + 'static) {
        self.runtime().spawn(work);
    }

    /// Waits for something. For commands without a window; the UI thread never waits.
    pub fn block_on<T>(&self, work: impl Future<Output = T>) -> T {
        self.runtime().block_on(work)
    }

    fn runtime(&self) -> &Runtime {
        self.runtime.as_ref().expect("it is taken only when the engine is dropped")
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(PARTING);
        }
    }
}

impl fmt::Debug for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Engine").field("shared", &self.shared).finish_non_exhaustive()
    }
}

/// What a session was set to when it was left. Reads its log from end to end.
#[must_use]
pub fn stored_settings(opened: &Opened) -> Option<Settings> {
    Ground { path: opened.path.clone(), len: opened.len }.load().settings
}

/// A conversation. Dropping it ends what is going on in it and closes its connection.
pub struct Session {
    commands: mpsc::Sender<Command>,
    snapshots: watch::Receiver<Arc<Snapshot>>,
    /// Of one that is kept, as long as it is written.
    log: Option<Weak<Log>>,
    waker: Waker,
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").field("is_kept", &self.log.is_some()).finish_non_exhaustive()
    }
}

/// The log of a session, for as long as that is written. Does not keep it from being closed.
#[derive(Clone, Debug, Default)]
pub struct LogHandle(Weak<Log>);

impl LogHandle {
    /// Writes something that is known of the session. Returns when it is on the disk.
    ///
    /// # Errors
    /// When it is not, or the session has no log: why, in one sentence.
    pub async fn write_meta(&self, meta: &Meta) -> Result<(), Arc<str>> {
        let Some(log) = self.0.upgrade() else {
            return Err("This conversation is not kept.".into());
        };
        let appended = log.append(Kind::Meta, meta.to_body(), Sync::Now).await;
        drop(log);
        appended.saved.await.map(drop)
    }

    /// Writes all of it, what is in memory alone too, to a new file elsewhere.
    ///
    /// # Errors
    /// When it cannot be written, or the session has no log.
    pub async fn save_copy(&self, to: &Path) -> io::Result<Copied> {
        match self.0.upgrade() {
            Some(log) => log.save_copy(to).await,
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

/// A command that could not be handed over, because too many wait or the conversation has
/// ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Unsent(pub Box<Command>);

impl Session {
    /// Hands over a command. Never waits.
    ///
    /// # Errors
    /// When it could not be handed over: the command comes back.
    pub fn send(&self, command: Command) -> Result<(), Unsent> {
        self.commands.try_send(command).map_err(|error| Unsent(Box::new(error.into_inner())))
    }

    /// The conversation as it stands now.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        Arc::clone(&self.snapshots.borrow())
    }

    /// The conversation as the view asks for it.
    #[must_use]
    pub fn source(&self) -> SessionSource {
        self.source_near(None)
    }

    /// The same; of what stands in the log, what is around a message is there first.
    #[must_use]
    pub fn source_near(&self, near: Option<MessageId>) -> SessionSource {
        let live = LiveSource::new(self.snapshots.clone());
        SessionSource::of_file(live, Arc::clone(&self.waker), near)
    }

    /// Writes something that is known of the session (its title, that it is pinned) into its
    /// log. Returns when it is on the disk.
    ///
    /// # Errors
    /// When it is not, or the session has no log: why, in one sentence.
    pub async fn write_meta(&self, meta: &Meta) -> Result<(), Arc<str>> {
        self.log().write_meta(meta).await
    }

    /// Its log, for what is done with it beside the conversation.
    #[must_use]
    pub fn log(&self) -> LogHandle {
        LogHandle(self.log.clone().unwrap_or_default())
    }

    /// Ends what is going on, and waits until all of it is written and the log is let go.
    pub async fn close(self) {
        let Self { commands, mut snapshots, .. } = self;
        drop(commands);
        while snapshots.changed().await.is_ok() {}
    }

    /// Every change of the conversation, for whoever waits for one beside the view.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<Arc<Snapshot>> {
        self.snapshots.clone()
    }

    /// Waits for the next snapshot that was not seen before; none when there will be no
    /// more. For commands without a window.
    pub async fn changed(&mut self) -> Option<Arc<Snapshot>> {
        self.snapshots.changed().await.ok()?;
        Some(Arc::clone(&self.snapshots.borrow_and_update()))
    }

    /// Waits until what the user wrote is decided on and nothing goes on any more. For
    /// commands without a window.
    pub async fn settled(&self, ticket: Ticket) -> Arc<Snapshot> {
        let is_settled = |snapshot: &Arc<Snapshot>| {
            let is_decided =
                matches!(snapshot.fate(ticket), Some(Fate::Accepted(_) | Fate::Refused(..)));
            is_decided && !snapshot.phase.is_busy()
        };
        let mut snapshots = self.snapshots.clone();
        // It fails when the conversation has ended; then the last word is what there is.
        let found = snapshots.wait_for(is_settled).await.map(|found| Arc::clone(&found)).ok();
        found.unwrap_or_else(|| self.snapshot())
    }
}
