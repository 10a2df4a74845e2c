//! Servers set up for a test, and what every test asks of them.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use letterpress::tools::mcp::{
    CallError, CallOutcome, Environment, Limits, McpConfig, Pins, ServerState, ServerStatus,
    Servers, Setup, Standing,
};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::{runtime::Handle, sync::watch, time::timeout};

use super::fake;

/// Nothing in these tests takes longer, but for a machine that has other things to do.
pub(super) const SOON: Duration = Duration::from_secs(60);

/// How long to wait for what: as usual, but for what only costs time.
pub(super) fn limits() -> Limits {
    Limits {
        parting: Duration::from_secs(1),
        first_restart: Duration::from_millis(50),
        ..Limits::default()
    }
}

/// Reads a configuration that has nothing to complain about.
pub(super) fn config(servers: Value) -> McpConfig {
    let config = McpConfig::read(servers).unwrap();
    assert_eq!(config.warnings, []);
    config
}

pub(super) fn servers(servers: Value, pins: Pins, limits: Limits) -> Servers {
    let environment = Environment::of_process();
    let config = config(servers);
    let setup = Setup { config, pins, environment, limits, ..Setup::default() };
    Servers::new(setup, &Handle::current())
}

/// A made-up server of the name `fake`.
pub(super) struct Bench {
    pub(super) servers: Servers,
    script: PathBuf,
    _folder: TempDir,
}

impl Bench {
    /// With these tools, not started.
    pub(super) fn new(tools: &[Value]) -> Self {
        Self::with(&json!({ "tools": tools }), &json!({}), limits())
    }

    /// By this script, with more in its configuration.
    pub(super) fn with(script: &Value, more: &Value, limits: Limits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("script.json");
        fs::write(&path, script.to_string()).unwrap();
        let servers = servers(entry(&path, more), Pins::default(), limits);
        Self { servers, script: path, _folder: folder }
    }

    /// With tools of these names, started, everything accepted.
    pub(super) async fn ready(names: &[&str]) -> Self {
        let bench = Self::new(&names.iter().map(|name| tool(name)).collect::<Vec<_>>());
        bench.accept().await;
        bench
    }

    /// Accepts the start and the first tools.
    pub(super) async fn accept(&self) -> Pins {
        accept(&self.servers, "fake").await
    }

    /// The same server for a later run of the program.
    pub(super) fn again(&self, pins: Pins, limits: Limits) -> Servers {
        servers(entry(&self.script, &json!({})), pins, limits)
    }

    /// Its entry in a configuration.
    pub(super) fn entry(&self) -> Value {
        entry(&self.script, &json!({}))["fake"].clone()
    }

    pub(super) fn set(&self, change: impl FnOnce(&mut Value)) {
        let mut script: Value = serde_json::from_slice(&fs::read(&self.script).unwrap()).unwrap();
        change(&mut script);
        // The server must never see half a file.
        let new = self.script.with_extension("new");
        fs::write(&new, script.to_string()).unwrap();
        fs::rename(new, &self.script).unwrap();
    }

    /// What the server got, in order.
    pub(super) fn journal(&self) -> Vec<String> {
        let journal = fs::read_to_string(fake::journal_of(&self.script)).unwrap_or_default();
        journal.lines().map(str::to_owned).collect()
    }

    /// How often the journal holds these words.
    pub(super) fn count(&self, words: &str) -> usize {
        self.journal().iter().filter(|line| line.starts_with(words)).count()
    }

    /// Waits until the journal holds these words so often.
    pub(super) async fn noted(&self, words: &str, times: usize) {
        let noted = async {
            while self.count(words) < times {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        let waited = timeout(SOON, noted).await;
        assert!(waited.is_ok(), "{words} × {times}: {:?}", self.journal());
    }

    pub(super) async fn call(
        &self,
        tool: &str,
        arguments: Value,
    ) -> Result<CallOutcome, CallError> {
        call(&self.servers, &format!("fake__{tool}"), arguments).await
    }

    pub(super) async fn text(&self, tool: &str) -> String {
        self.call(tool, json!({})).await.unwrap().text()
    }

    pub(super) fn status(&self) -> ServerStatus {
        self.servers.overview()[0].clone()
    }

    pub(super) fn standing(&self, tool: &str) -> Standing {
        let status = self.status();
        let tool = status.tools.iter().find(|listed| *listed.definition.name == *tool).unwrap();
        tool.standing.clone()
    }
}

fn entry(script: &Path, more: &Value) -> Value {
    let mut entry = json!({
        "command": std::env::current_exe().unwrap(),
        "args": fake::ARGS,
        "env": { fake::SCRIPT: script },
    });
    for (key, value) in more.as_object().unwrap() {
        entry[key] = value.clone();
    }
    json!({ "fake": entry })
}

pub(super) fn tool(name: &str) -> Value {
    json!({
        "name": name,
        "description": "Does it.",
        "inputSchema": {
            "type": "object",
            "properties": { "a": { "type": "string" }, "b": { "type": "number" } },
            "required": ["a", "b"],
        },
        "annotations": { "readOnlyHint": true, "destructiveHint": false },
    })
}

/// Accepts the start of a server, and the tools that it then tells.
pub(super) async fn accept(servers: &Servers, server: &str) -> Pins {
    let Err(CallError::NotAccepted(acceptance)) = servers.start(server).await else {
        panic!("{server} started unasked");
    };
    servers.accept_start(server, acceptance.launch.digest()).unwrap();
    servers.start(server).await.unwrap();
    servers.accept_first_tools(server).unwrap()
}

/// Calls from another task, as the program does.
pub(super) async fn call(
    servers: &Servers,
    name: &str,
    arguments: Value,
) -> Result<CallOutcome, CallError> {
    let (servers, name) = (servers.clone(), name.to_owned());
    let call = async move { servers.call(&name, arguments, watch::Sender::new(None)).await };
    timeout(SOON, tokio::spawn(call)).await.unwrap().unwrap()
}

/// Waits until a server stands like this.
pub(super) async fn until(
    servers: &Servers,
    server: &str,
    is_so: impl Fn(&ServerState) -> bool,
) -> ServerState {
    let mut overview = servers.watch();
    let stands = |all: &Arc<[ServerStatus]>| {
        all.iter().any(|status| *status.name == *server && is_so(&status.state))
    };
    let waited = timeout(SOON, overview.wait_for(stands)).await;
    let overview = waited.unwrap_or_else(|_| panic!("{:?}", servers.overview())).unwrap();
    overview.iter().find(|status| *status.name == *server).unwrap().state.clone()
}
