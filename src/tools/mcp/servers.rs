//! All configured servers, for whoever needs one.

use std::{collections::BTreeSet, fmt, sync::Arc, time::Duration};

use serde_json::{Map, Value};
use tokio::{
    runtime::Handle,
    sync::{mpsc, oneshot, watch},
    time::timeout,
};

use super::{
    config::{McpConfig, Permission},
    connection::Connection,
    content::{CallOutcome, Content},
    digest::Digest,
    entry::{Entry, Shared},
    environment::Environment,
    error::CallError,
    exchange::{Limits, Patience, Progress},
    http::Network,
    log::LogLine,
    names::{Names, names},
    pins::{Pins, ToolPin},
    prompts::{Prompt, PromptMessage},
    resources::{Resource, ResourceTemplate},
    state::{Board, Overview, ServerState, ServerStatus, Standing, ToolStatus},
    supervisor::{Order, Supervisor},
};

/// Orders that may wait for one server.
const MAX_ORDERS: usize = 64;
/// Times that the tools are asked for again before one call, when they keep changing.
const MAX_LOOKS: usize = 3;

/// What is needed to have servers.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// The servers.
    pub config: McpConfig,
    /// What the user has accepted so far.
    pub pins: Pins,
    /// What `${NAME}` stands for, and what programs get of it.
    pub environment: Environment,
    /// How to reach addresses.
    pub network: Network,
    /// How long to wait for what.
    pub limits: Limits,
}

/// All configured servers. Nothing runs until it is needed. Clones mean the same servers;
/// dropping the last one ends them.
#[derive(Clone)]
pub struct Servers {
    inner: Arc<Inner>,
}

struct Inner {
    shared: Arc<Shared>,
    servers: Vec<Server>,
}

struct Server {
    entry: Arc<Entry>,
    orders: mpsc::Sender<Order>,
}

/// A tool that may be offered to a model: the user has accepted it, and nothing is known to
/// have changed since.
#[derive(Clone, Debug, PartialEq)]
pub struct OfferedTool {
    /// What the model calls it.
    pub name: Arc<str>,
    /// Its server.
    pub server: Arc<str>,
    /// Its name there.
    pub tool: Arc<str>,
    /// Its name for people.
    pub title: Option<String>,
    /// What it does, with hidden characters made visible.
    pub description: String,
    /// The JSON schema of its arguments.
    pub input_schema: Value,
    /// What the configuration sets; none for the usual, which is to ask.
    pub permission: Option<Permission>,
    /// How many hidden characters its definition holds; with any, "always allow" is not
    /// offered.
    pub hidden: usize,
}

/// Asks what may be asked twice: once more, when the connection turns out to have ended, which
/// one that was not used for a while may have done unnoticed.
macro_rules! question {
    ($servers:ident, $server:expr, |$connection:ident| $ask:expr) => {{
        let $connection = $servers.connection($server).await?;
        match $ask {
            Err(CallError::Ended(_) | CallError::NotSent(_)) => {
                let $connection = $servers.connection($server).await?;
                $ask
            }
            answer => answer,
        }
    }};
}

impl Servers {
    /// Has these servers; one small task of `runtime` waits for the need of each.
    #[must_use]
    pub fn new(setup: Setup, runtime: &Handle) -> Self {
        let Setup { config, pins, environment, network, limits } = setup;
        let statuses = config.servers.iter().map(|server| ServerStatus {
            name: Arc::clone(&server.name),
            state: if server.disabled { ServerState::Disabled } else { ServerState::Stopped },
            info: None,
            tools: Arc::new([]),
            warnings: Arc::new([]),
        });
        let board = Board::new(statuses.collect());
        let shared = Arc::new(Shared { board, pins: pins.into(), environment, network, limits });
        let servers = config.servers.into_iter().enumerate().map(|(index, config)| {
            let identity = config.identity();
            let shared = Arc::clone(&shared);
            let entry = Arc::new(Entry { index, config, identity, log: Arc::default(), shared });
            let (orders, receiver) = mpsc::channel(MAX_ORDERS);
            if !entry.config.disabled {
                runtime.spawn(Supervisor::new(Arc::clone(&entry), receiver).run());
            }
            Server { entry, orders }
        });
        Self { inner: Arc::new(Inner { servers: servers.collect(), shared }) }
    }

    /// How the servers stand, and every change of it.
    #[must_use]
    pub fn watch(&self) -> watch::Receiver<Overview> {
        self.inner.shared.board.watch()
    }

    /// How the servers stand now.
    #[must_use]
    pub fn overview(&self) -> Overview {
        self.inner.shared.board.get()
    }

    /// The newest lines that a server said beside the protocol, and how many older ones were
    /// dropped.
    #[must_use]
    pub fn log(&self, server: &str) -> (Vec<LogLine>, u64) {
        self.server(server).map(|server| server.entry.log.lines()).unwrap_or_default()
    }

    /// What the user has accepted by now, to be kept.
    #[must_use]
    pub fn pins(&self) -> Pins {
        self.inner.shared.pins.lock().clone()
    }

    /// Starts a server, unless it runs.
    ///
    /// # Errors
    /// [`CallError::NotAccepted`] says what the user has to accept first; else why it does not
    /// run.
    pub async fn start(&self, server: &str) -> Result<(), CallError> {
        self.connection(server).await.map(drop)
    }

    /// Stops a server; it starts again when it is needed. Returns when it has ended.
    pub async fn stop(&self, server: &str) {
        let Some(server) = self.server(server) else { return };
        let (done, is_done) = oneshot::channel();
        if server.orders.send(Order::Stop(done)).await.is_ok() {
            // It fails when the runtime is ending, and then the server is too.
            is_done.await.ok();
        }
    }

    /// Stops all servers at once. Returns when they have ended.
    pub async fn shut_down(&self) {
        let mut done = Vec::new();
        for server in &self.inner.servers {
            let (sender, receiver) = oneshot::channel();
            if server.orders.send(Order::Stop(sender)).await.is_ok() {
                done.push(receiver);
            }
        }
        for receiver in done {
            receiver.await.ok();
        }
    }

    /// The user accepts what was shown: a server may be started as this, from now on. Gives
    /// what is to be kept; none when this is not what the server would be started as now.
    #[must_use]
    pub fn accept_start(&self, server: &str, launch: Digest) -> Option<Pins> {
        let entry = &self.server(server)?.entry;
        let ServerState::NeedsAcceptance(acceptance) = entry.state() else { return None };
        if acceptance.launch.digest() != launch {
            return None;
        }
        self.inner.shared.pins.lock().accept_start(&acceptance.launch);
        entry.set_state(ServerState::Stopped);
        Some(self.pins())
    }

    /// The user accepts tools as they were shown, by their own names and digests. Gives what
    /// is to be kept; none, and nothing is accepted, when one of them is not like that now.
    #[must_use]
    pub fn accept_tools(&self, server: &str, tools: &[(Arc<str>, Digest)]) -> Option<Pins> {
        let entry = &self.server(server)?.entry;
        let overview = self.overview();
        let listed = &overview.get(entry.index)?.tools;
        let find = |(name, sha256): &(Arc<str>, Digest)| {
            listed.iter().find(|tool| tool.definition.name == *name && tool.sha256 == *sha256)
        };
        let found: Vec<&ToolStatus> = tools.iter().map(find).collect::<Option<_>>()?;
        {
            let mut pins = self.inner.shared.pins.lock();
            for tool in found {
                pins.accept_tool(&entry.config.name, &tool.definition, tool.sha256);
            }
        }
        entry.judge_again();
        Some(self.pins())
    }

    /// Accepts the tools of a server together with the server itself: all that it tells now
    /// and that hide nothing, provided that none of it was ever accepted. Gives what is to be
    /// kept; none when there is nothing to accept in this way.
    #[must_use]
    pub fn accept_first_tools(&self, server: &str) -> Option<Pins> {
        let entry = &self.server(server)?.entry;
        let known = self
            .inner
            .shared
            .pins
            .lock()
            .servers
            .get(server)
            .is_some_and(|pins| !pins.tools.is_empty());
        if known {
            return None;
        }
        let overview = self.overview();
        let tools = overview.get(entry.index)?.tools.iter().filter(|tool| tool.hidden == 0);
        let tools: Vec<_> =
            tools.map(|tool| (Arc::clone(&tool.definition.name), tool.sha256)).collect();
        if tools.is_empty() { None } else { self.accept_tools(server, &tools) }
    }

    /// The user takes back all that was accepted of a server. It keeps running until it is
    /// stopped, but none of its tools can be called. Gives what is to be kept.
    #[must_use]
    pub fn forget(&self, server: &str) -> Pins {
        self.inner.shared.pins.lock().servers.remove(server);
        if let Some(server) = self.server(server) {
            server.entry.judge_again();
        }
        self.pins()
    }

    /// The tools that may be offered to a model, in the order of their names. Servers need not
    /// run for it.
    #[must_use]
    pub fn tools(&self) -> Vec<OfferedTool> {
        let accepted = self.accepted();
        let named = names(accepted.iter().map(|(entry, pin)| named(entry, pin)));
        let offer = |(name, (server, tool)): (Arc<str>, (Arc<str>, Arc<str>))| {
            let (entry, pin) = accepted
                .iter()
                .find(|(entry, pin)| entry.config.name == server && pin.definition.name == tool)?;
            let shown = pin.definition.revealed();
            Some(OfferedTool {
                name,
                permission: entry.config.tools.of(&tool).permission,
                server,
                tool,
                title: shown.title,
                description: shown.description,
                input_schema: shown.input_schema,
                hidden: pin.definition.hidden(),
            })
        };
        named.into_iter().filter_map(offer).collect()
    }

    /// Calls a tool by the name under which it is offered, starting its server when need be.
    /// The definition is asked for again first: only what was accepted is called.
    ///
    /// Dropping the future cancels the call at the server. `progress` always holds the newest
    /// progress.
    ///
    /// # Errors
    /// When there is no answer; a tool that failed by its own words is no error here.
    pub async fn call(
        &self,
        name: &str,
        arguments: Value,
        progress: watch::Sender<Option<Progress>>,
    ) -> Result<CallOutcome, CallError> {
        let (server, tool) = self.resolve(name)?;
        let arguments = match arguments {
            Value::Object(map) => map,
            Value::Null => Map::new(),
            _ => return Err(CallError::BadArguments),
        };
        let entry = Arc::clone(&self.known(&server)?.entry);
        let connection = question!(self, &server, |connection| {
            verify(&entry, &connection, &tool).await.map(|()| connection)
        })?;
        let limits = self.inner.shared.limits;
        let silence = entry.config.timeout.unwrap_or(limits.silence);
        let patience = Patience { silence, total: limits.call.max(silence) };
        connection.call(&tool, arguments, patience, progress).await
    }

    /// The server and its tool that an offered name means.
    ///
    /// # Errors
    /// When no tool of this name is offered.
    pub fn resolve(&self, name: &str) -> Result<(Arc<str>, Arc<str>), CallError> {
        let accepted = self.accepted();
        let offered = names(accepted.iter().map(|(entry, pin)| named(entry, pin)));
        if let Some(found) = offered.get(name) {
            return Ok(found.clone());
        }
        match self.told().remove(name) {
            Some((_, tool)) => {
                let why = "it is not what the user accepted";
                Err(CallError::ToolNotAccepted { tool, why })
            }
            None => Err(CallError::UnknownTool(name.into())),
        }
    }

    /// What a server lets read.
    ///
    /// # Errors
    /// When there is no answer.
    pub async fn resources(&self, server: &str) -> Result<Vec<Resource>, CallError> {
        question!(self, server, |connection| connection.resources().await)
    }

    /// What a server lets read once something is filled in.
    ///
    /// # Errors
    /// When there is no answer.
    pub async fn resource_templates(
        &self,
        server: &str,
    ) -> Result<Vec<ResourceTemplate>, CallError> {
        question!(self, server, |connection| connection.templates().await)
    }

    /// Reads a resource by its address, at its server and nowhere else.
    ///
    /// # Errors
    /// When there is no answer.
    pub async fn read_resource(&self, server: &str, uri: &str) -> Result<Vec<Content>, CallError> {
        question!(self, server, |connection| connection.read_resource(uri).await)
    }

    /// The prompts of a server.
    ///
    /// # Errors
    /// When there is no answer.
    pub async fn prompts(&self, server: &str) -> Result<Vec<Prompt>, CallError> {
        question!(self, server, |connection| connection.prompts().await)
    }

    /// A prompt, filled in.
    ///
    /// # Errors
    /// When there is no answer.
    pub async fn prompt(
        &self,
        server: &str,
        name: &str,
        arguments: &Map<String, Value>,
    ) -> Result<Vec<PromptMessage>, CallError> {
        question!(self, server, |connection| connection.get_prompt(name, arguments).await)
    }

    fn server(&self, name: &str) -> Option<&Server> {
        self.inner.servers.iter().find(|server| *server.entry.config.name == *name)
    }

    fn known(&self, name: &str) -> Result<&Server, CallError> {
        let enabled = self.server(name).filter(|server| !server.entry.config.disabled);
        enabled.ok_or_else(|| CallError::UnknownServer(name.into()))
    }

    async fn connection(&self, name: &str) -> Result<Arc<Connection>, CallError> {
        let server = self.known(name)?;
        let (waiter, connection) = oneshot::channel();
        let gone = || CallError::NotRunning("the program is ending".into());
        let wait = self.inner.shared.limits.start * 2 + Duration::from_secs(1);
        let asked = timeout(wait, async {
            server.orders.send(Order::Start(waiter)).await.map_err(|_closed| gone())?;
            connection.await.map_err(|_closed| gone())?
        });
        asked.await.unwrap_or_else(|_elapsed| {
            Err(CallError::NotRunning(
                format!("it did not start within {} s", wait.as_secs()).into(),
            ))
        })
    }

    /// What was accepted, is enabled, and is not known to differ from what is there now.
    fn accepted(&self) -> Vec<(&Entry, ToolPin)> {
        let overview = self.overview();
        let pins = self.inner.shared.pins.lock();
        let mut accepted = Vec::new();
        for Server { entry, .. } in &self.inner.servers {
            let Some(server) = pins.servers.get(&entry.config.name) else { continue };
            let Some(status) = overview.get(entry.index) else { continue };
            if entry.config.disabled {
                continue;
            }
            for pin in server.tools.values() {
                let setting = entry.config.tools.of(&pin.definition.name);
                let is_on = !setting.disabled && setting.permission != Some(Permission::Deny);
                let is_here = entry.digest(&pin.definition) == pin.sha256;
                if is_on && is_here && is_unchanged(status, &pin.definition.name) {
                    accepted.push((entry.as_ref(), pin.clone()));
                }
            }
        }
        accepted
    }

    /// All tools that servers have told or that were ever accepted, by the names that they
    /// would have.
    fn told(&self) -> Names {
        let overview = self.overview();
        let mut all: BTreeSet<(Arc<str>, Arc<str>)> = BTreeSet::new();
        for status in overview.iter() {
            let tools = status.tools.iter();
            all.extend(
                tools.map(|tool| (Arc::clone(&status.name), Arc::clone(&tool.definition.name))),
            );
        }
        let pins = self.inner.shared.pins.lock();
        for (server, pins) in &pins.servers {
            all.extend(pins.tools.keys().map(|tool| (Arc::clone(server), Arc::clone(tool))));
        }
        names(all.into_iter())
    }
}

fn named(entry: &Entry, pin: &ToolPin) -> (Arc<str>, Arc<str>) {
    (Arc::clone(&entry.config.name), Arc::clone(&pin.definition.name))
}

/// A server that has not told its tools yet has changed none.
fn is_unchanged(status: &ServerStatus, tool: &str) -> bool {
    let listed = status.tools.iter().find(|listed| *listed.definition.name == *tool);
    match listed {
        Some(listed) => listed.standing == Standing::Accepted,
        None => status.info.is_none(),
    }
}

/// Asks for the tools again, and for this one to be as it was accepted.
async fn verify(entry: &Entry, connection: &Connection, tool: &Arc<str>) -> Result<(), CallError> {
    let refused = |why| CallError::ToolNotAccepted { tool: Arc::clone(tool), why };
    let changes = connection.seen.tools_changed.subscribe();
    for _ in 0..MAX_LOOKS {
        let before = *changes.borrow();
        let tools = entry.refresh(connection).await?;
        let Some(listed) = tools.iter().find(|listed| listed.definition.name == *tool) else {
            return Err(refused("its server does not have it any more"));
        };
        match &listed.standing {
            Standing::Accepted => {}
            Standing::New => return Err(refused("the user has not accepted it")),
            Standing::Changed(_) => {
                return Err(refused("it has changed since the user accepted it"));
            }
            Standing::Moved => return Err(refused("its server is not the one that was accepted")),
        }
        if listed.setting.disabled || listed.setting.permission == Some(Permission::Deny) {
            return Err(refused("the configuration keeps it off"));
        }
        // A word of change between the list and here makes the list old.
        if *changes.borrow() == before {
            return Ok(());
        }
    }
    Err(refused("its server keeps changing its tools"))
}

impl fmt::Debug for Servers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.inner.servers.iter().map(|server| &server.entry.config.name);
        f.debug_list().entries(names).finish()
    }
}
