//! A store in a folder, on a disk that fails as it is told, and a model that is written down.

use std::{
    collections::VecDeque,
    fs::TryLockError,
    io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    },
    time::Duration,
};

use letterpress::{
    engine::live::{
        Backend, Config, Engine, Limits, Provider, Session,
        workbench::{Later, Permit, Said, Terms, Tool, Weighed, Workbench},
    },
    model::{
        Command, Draft, Fate, Output, Settings, Snapshot, StopReason, Ticket, ToolResult, ToolUse,
        record::Meta,
        stream::{Close, EndState, ReplyBlock, ReplyKind, StreamEvent},
    },
    presenter::{Call, Touch},
    store::{
        Disk, DiskFile, Opened, RealDisk, SessionId, Store,
        disk::{Listing, Opening},
    },
    tools::Stop,
    wire::{Request, ToolSpec},
};
use parking_lot::Mutex;
use serde_json::{Value, json};
use tokio::sync::{Notify, mpsc::Sender};

const PATIENCE: Duration = Duration::from_secs(30);

/// What a disk does, and what it did.
#[derive(Debug, Default)]
pub(crate) struct Faults {
    pub(crate) fails_to_sync: AtomicBool,
    pub(crate) is_full: AtomicBool,
    pub(crate) millis_a_sync: AtomicU64,
    pub(crate) syncs: AtomicUsize,
    /// What of the log would survive a loss of power.
    pub(crate) synced: Mutex<Vec<u8>>,
}

#[derive(Clone, Debug)]
struct FaultyDisk(Arc<Faults>);

#[derive(Debug)]
struct FaultyFile {
    file: Box<dyn DiskFile>,
    faults: Arc<Faults>,
    is_log: bool,
    path: PathBuf,
}

impl Disk for FaultyDisk {
    fn make_folder(&self, path: &Path) -> io::Result<()> {
        RealDisk.make_folder(path)
    }

    fn open(&self, path: &Path, opening: Opening) -> io::Result<Box<dyn DiskFile>> {
        let file = RealDisk.open(path, opening)?;
        let is_log = path.ends_with("log.jsonl") && opening == Opening::Append;
        let (faults, path) = (Arc::clone(&self.0), path.to_owned());
        Ok(Box::new(FaultyFile { file, faults, is_log, path }))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        RealDisk.rename(from, to)
    }

    fn sync_folder(&self, path: &Path) -> io::Result<()> {
        RealDisk.sync_folder(path)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove(path)
    }

    fn remove_folder(&self, path: &Path) -> io::Result<()> {
        RealDisk.remove_folder(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<Listing>> {
        RealDisk.list(path)
    }

    fn exists(&self, path: &Path) -> bool {
        RealDisk.exists(path)
    }
}

impl DiskFile for FaultyFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_log && self.faults.is_full.load(Ordering::SeqCst) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.file.write(bytes)
    }

    fn sync(&mut self) -> io::Result<()> {
        if !self.is_log {
            return Ok(());
        }
        let millis = self.faults.millis_a_sync.load(Ordering::SeqCst);
        std::thread::sleep(Duration::from_millis(millis));
        if self.faults.fails_to_sync.load(Ordering::SeqCst) {
            return Err(io::Error::other("the cable is loose"));
        }
        *self.faults.synced.lock() = std::fs::read(&self.path)?;
        self.faults.syncs.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }

    fn truncate(&mut self, len: u64) -> io::Result<()> {
        self.file.truncate(len)
    }

    fn read_at(&self, at: u64, into: &mut [u8]) -> io::Result<usize> {
        self.file.read_at(at, into)
    }

    fn size(&self) -> io::Result<u64> {
        self.file.size()
    }

    fn try_lock(&self) -> Result<(), TryLockError> {
        self.file.try_lock()
    }
}

/// A step of a reply.
#[derive(Clone, Debug)]
pub(crate) enum Step {
    Event(StreamEvent),
    Wait(Arc<Notify>),
    Sleep(u64),
    /// Nothing more comes.
    Hang,
}

/// What was asked of the model and the tools, and what they answer.
#[derive(Debug, Default)]
pub(crate) struct World {
    pub(crate) replies: Mutex<VecDeque<Vec<Step>>>,
    pub(crate) requests: Mutex<Vec<Request>>,
    pub(crate) ran: Mutex<Vec<String>>,
    /// What of the log was on the disk when each request left, and when each call ran.
    pub(crate) synced_at_request: Mutex<Vec<String>>,
    pub(crate) synced_at_run: Mutex<Vec<String>>,
    pub(crate) faults: Arc<Faults>,
}

impl World {
    fn synced(&self) -> String {
        String::from_utf8_lossy(&self.faults.synced.lock()).into_owned()
    }
}

#[derive(Clone, Debug)]
struct Model(Arc<World>);

impl Backend for Model {
    fn attempt(&self, request: Request, events: Sender<StreamEvent>) -> Later<()> {
        let world = Arc::clone(&self.0);
        Box::pin(async move {
            world.synced_at_request.lock().push(world.synced());
            world.requests.lock().push(request);
            let reply = world.replies.lock().pop_front();
            for step in reply.unwrap_or_else(|| says("Done.")) {
                match step {
                    Step::Event(event) => {
                        if events.send(event).await.is_err() {
                            return;
                        }
                    }
                    Step::Wait(gate) => gate.notified().await,
                    Step::Sleep(millis) => tokio::time::sleep(Duration::from_millis(millis)).await,
                    Step::Hang => std::future::pending().await,
                }
            }
        })
    }
}

/// A piece of a text.
pub(crate) fn text(words: &str) -> Step {
    Step::Event(StreamEvent::Text { block: ReplyBlock(0), delta: words.to_owned() })
}

/// The beginning of a text.
pub(crate) fn open() -> Step {
    Step::Event(StreamEvent::BlockOpen { block: ReplyBlock(0), kind: ReplyKind::Text })
}

pub(crate) fn shut() -> Step {
    Step::Event(StreamEvent::BlockClose { block: ReplyBlock(0), close: Close::AsStreamed })
}

pub(crate) fn end(reason: StopReason) -> Step {
    let tools_may_run = reason == StopReason::ToolUse;
    Step::Event(StreamEvent::End(EndState::Complete { reason, tools_may_run }))
}

/// A whole reply.
pub(crate) fn says(words: &str) -> Vec<Step> {
    vec![open(), text(words), shut(), end(StopReason::Stop)]
}

/// A reply that stays open behind its words.
pub(crate) fn hangs(words: &str) -> Vec<Step> {
    vec![open(), text(words), Step::Hang]
}

/// A reply that calls a tool.
pub(crate) fn calls(name: &str, arguments: &Value) -> Vec<Step> {
    let block = ReplyBlock(1);
    let delta = arguments.to_string();
    let close = Close::Arguments(Ok(arguments.clone()));
    let id = format!("call-{name}").into();
    vec![
        open(),
        text("Let me see."),
        shut(),
        Step::Event(StreamEvent::ToolOpen { block, id, name: "change".into() }),
        Step::Event(StreamEvent::ToolArgs { block, delta }),
        Step::Event(StreamEvent::BlockClose { block, close }),
        end(StopReason::ToolUse),
    ]
}

/// Tools that do as the arguments say.
#[derive(Clone, Debug)]
struct Tools(Arc<World>);

struct Scheduled(Arc<World>, Arc<Call>);

impl Workbench for Tools {
    fn tools(&self) -> Vec<Tool> {
        let parameters = json!({"type": "object"});
        let spec = ToolSpec { name: "change".into(), description: "x".into(), parameters };
        vec![Tool { spec, touch: Touch::Anything }]
    }

    fn weigh(&self, call: Arc<Call>, _terms: Terms) -> Later<Weighed> {
        let world = Arc::clone(&self.0);
        Box::pin(async move { Weighed::Allowed(Box::new(Scheduled(world, call))) })
    }
}

impl Permit for Scheduled {
    fn run(self: Box<Self>, mut stop: Stop, _said: Sender<Said>) -> Later<ToolResult> {
        let Self(world, call) = *self;
        world.synced_at_run.lock().push(world.synced());
        Box::pin(async move {
            world.ran.lock().push(call.id.to_string());
            if call.arguments["hangs"] == json!(true) {
                stop.due().await;
            }
            let words = call.arguments["gives"].as_str().unwrap_or("done");
            ToolResult {
                call_id: Arc::clone(&call.id),
                tool_name: Arc::clone(&call.name),
                is_error: false,
                output: Output::plain(words),
                told: None,
                images: Vec::new(),
                details: json!({"code": 0}),
            }
        })
    }
}

/// A store and an engine with one conversation.
pub(crate) struct Desk {
    pub(crate) world: Arc<World>,
    pub(crate) store: Store,
    pub(crate) id: SessionId,
    pub(crate) engine: Option<Engine>,
    pub(crate) session: Option<Session>,
    /// Goes with it.
    _folder: tempfile::TempDir,
    tickets: u64,
}

pub(crate) fn settings() -> Settings {
    let tools = ToolUse::Auto;
    Settings { provider: "test".into(), model: "m".into(), tools, ..Settings::default() }
}

impl Desk {
    /// A new session, and a model that gives these replies.
    pub(crate) fn new(replies: Vec<Vec<Step>>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let world = Arc::new(World::default());
        *world.replies.lock() = replies.into();
        let disk = Arc::new(FaultyDisk(Arc::clone(&world.faults)));
        let store = Store::open(folder.path().to_owned(), disk).unwrap();
        let id = SessionId::new("one").unwrap();
        let mut desk =
            Self { world, store, id, engine: None, session: None, _folder: folder, tickets: 0 };
        let meta = Meta { settings: Some(settings()), ..Meta::default() };
        let opened = desk.store.create(desk.id.clone(), meta.to_body(), 0).unwrap();
        desk.start(opened, settings());
        desk
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.store.log_path(&self.id)
    }

    fn start(&mut self, opened: Opened, settings: Settings) {
        let limits = Limits { frame: Duration::from_millis(1), ..Limits::default() };
        let engine = Engine::start(Config { limits, ..Config::new(|| 1000) }).unwrap();
        let model = Provider::Backend(Arc::new(Model(Arc::clone(&self.world))));
        engine.set_provider("test", model.clone());
        engine.set_provider("other", model);
        let tools = Arc::new(Tools(Arc::clone(&self.world)));
        let session = engine.session_kept(opened, Some(tools), settings, Arc::new(|| {}));
        (self.engine, self.session) = (Some(engine), Some(session));
    }

    /// Ends it in the middle of everything, and opens it anew.
    pub(crate) fn restart(&mut self) -> Reopened {
        self.crash();
        self.reopen()
    }

    /// Ends it in the middle of everything.
    pub(crate) fn crash(&mut self) {
        self.engine = None;
        self.session = None;
    }

    pub(crate) fn reopen(&mut self) -> Reopened {
        // The lock goes with the thread that writes.
        let mut opened = self.store.open_session(&self.id, 0).unwrap();
        for _ in 0..500 {
            if matches!(opened.log, letterpress::store::Access::Write(_)) {
                break;
            }
            std::thread::sleep(Duration::from_millis(10));
            opened = self.store.open_session(&self.id, 0).unwrap();
        }
        assert!(matches!(opened.log, letterpress::store::Access::Write(_)), "{opened:?}");
        let is_interrupted = opened.found.is_interrupted;
        self.start(opened, Settings { model: "default".into(), ..settings() });
        Reopened { is_interrupted }
    }

    pub(crate) fn session(&self) -> &Session {
        self.session.as_ref().unwrap()
    }

    pub(crate) fn command(&self, command: Command) {
        self.session().send(command).unwrap();
    }

    pub(crate) fn draft(&mut self, words: &str) -> Draft {
        self.tickets += 1;
        Draft::text(Ticket(self.tickets), words)
    }

    pub(crate) fn say(&mut self, words: &str) -> Ticket {
        let draft = self.draft(words);
        let ticket = draft.ticket;
        self.command(Command::Send(draft));
        ticket
    }

    /// Says something and waits for all that follows from it.
    pub(crate) fn ask(&mut self, words: &str) -> Arc<Snapshot> {
        let ticket = self.say(words);
        self.until(|s| is_settled(s, ticket))
    }

    /// Waits for a snapshot that meets a condition.
    pub(crate) fn until(&mut self, meets: impl Fn(&Snapshot) -> bool) -> Arc<Snapshot> {
        let session = self.session.as_mut().unwrap();
        let mut seen = session.snapshot();
        let look = async {
            while !meets(&seen) {
                seen = session.changed().await.expect("the conversation goes on");
            }
        };
        let engine = self.engine.as_ref().unwrap();
        let looked = engine.block_on(async { tokio::time::timeout(PATIENCE, look).await });
        assert!(looked.is_ok(), "still {seen:?}");
        seen
    }

    /// Waits until nothing goes on and everything is kept.
    pub(crate) fn rests(&mut self) -> Arc<Snapshot> {
        self.until(|s| !s.phase.is_busy() && s.keeping == letterpress::model::Keeping::Kept)
    }
}

/// What was found when a session was opened.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reopened {
    pub(crate) is_interrupted: bool,
}

pub(crate) fn is_settled(snapshot: &Snapshot, ticket: Ticket) -> bool {
    matches!(snapshot.fate(ticket), Some(Fate::Accepted(_))) && !snapshot.phase.is_busy()
}
