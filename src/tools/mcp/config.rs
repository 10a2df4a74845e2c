//! `mcpServers`, in the shape that other clients use.

use std::{collections::BTreeMap, fmt, path::PathBuf, sync::Arc, time::Duration};

use serde::Deserializer;
use serde_json::{Map, Value};

use super::reveal::reveal;

/// Servers by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct McpConfig {
    /// In the order of their names, each name once.
    pub servers: Vec<ServerConfig>,
    /// What could not be used.
    pub warnings: Vec<ConfigWarning>,
}

/// An entry, or a part of one, that could not be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigWarning {
    /// The server's name; empty when it is about all of them.
    pub server: String,
    /// What is wrong.
    pub message: String,
}

/// One server.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerConfig {
    /// Its name in the configuration.
    pub name: Arc<str>,
    /// Where it is.
    pub transport: TransportConfig,
    /// It is not to be started.
    pub disabled: bool,
    /// How long it may say nothing while a request runs; none for the usual time.
    pub timeout: Option<Duration>,
    /// What is set for its tools.
    pub tools: ToolSettings,
}

/// Where a server is. Values may hold `${NAME}`, which stands for a variable of the
/// environment.
#[derive(Clone, PartialEq)]
pub enum TransportConfig {
    /// A program that speaks over its standard input and output.
    Program {
        /// A path, or a name to be found on `PATH`.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables that it gets beside the usual ones.
        env: BTreeMap<String, String>,
        /// The folder that it starts in; none for ours.
        cwd: Option<PathBuf>,
    },
    /// An address that speaks streamable HTTP.
    Address {
        /// `https`, or `http` within one's own network.
        url: String,
        /// Sent with every request. May be keys.
        headers: BTreeMap<String, String>,
    },
}

/// What is set for one tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolSetting {
    /// Models do not get to know it.
    pub disabled: bool,
    /// Whether a call needs asking; none for the usual, which is to ask.
    pub permission: Option<Permission>,
}

/// Whether a call needs asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Permission {
    /// Never runs.
    Deny,
    /// Asks.
    Ask,
    /// Runs without asking: the user wrote it into the configuration.
    Allow,
}

/// What is set for the tools of one server, by their own names.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ToolSettings(BTreeMap<String, ToolSetting>);

impl ToolSettings {
    /// What is set for a tool.
    #[must_use]
    pub fn of(&self, tool: &str) -> ToolSetting {
        self.0.get(tool).copied().unwrap_or_default()
    }
}

impl fmt::Debug for TransportConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Values of variables and headers may be keys, and so may be what follows a `?`.
        match self {
            Self::Program { command, args, env, cwd } => f
                .debug_struct("Program")
                .field("command", command)
                .field("args", args)
                .field("env", &env.keys())
                .field("cwd", cwd)
                .finish(),
            Self::Address { url, headers } => f
                .debug_struct("Address")
                .field("url", &url.split('?').next().unwrap_or_default())
                .field("headers", &headers.keys())
                .finish(),
        }
    }
}

/// Servers in one configuration.
const MAX_SERVERS: usize = 200;

impl McpConfig {
    /// Reads the map of servers: the value of `mcpServers`, from JSON, TOML or any other
    /// format of serde. An entry that cannot be used costs itself, with a warning.
    ///
    /// # Errors
    /// When it is no map at all.
    pub fn read<'de, D: Deserializer<'de>>(source: D) -> Result<Self, D::Error> {
        use serde::Deserialize as _;
        Ok(Self::from_map(Map::deserialize(source)?))
    }

    fn from_map(map: Map<String, Value>) -> Self {
        let mut config = Self::default();
        let mut entries: Vec<_> = map.into_iter().collect();
        entries.sort_by(|a, b| a.0.cmp(&b.0));
        for (at, (name, value)) in entries.into_iter().enumerate() {
            let mut warnings = Vec::new();
            let server = if at < MAX_SERVERS {
                ServerConfig::read(&name, value, &mut warnings)
            } else {
                Err(format!("more than {MAX_SERVERS} servers"))
            };
            match server {
                Ok(server) => config.servers.push(server),
                Err(message) => warnings.push(format!("not used: {message}")),
            }
            let server = reveal(&name).text;
            let warning = |message| ConfigWarning { server: server.clone(), message };
            config.warnings.extend(warnings.into_iter().map(warning));
        }
        config
    }
}

impl ServerConfig {
    fn read(name: &str, value: Value, warnings: &mut Vec<String>) -> Result<Self, String> {
        if name.is_empty() || name.len() > 100 || reveal(name).hidden > 0 {
            return Err("its name is empty, too long, or holds hidden characters".into());
        }
        let Value::Object(map) = value else {
            return Err("it is not a map".into());
        };
        let mut entry = Entry { map, warnings };
        let transport = entry.transport()?;
        let disabled = entry.flag("disabled")? || !entry.flag_or("enabled", true)?;
        Ok(Self {
            name: name.into(),
            transport,
            disabled,
            timeout: entry.seconds("timeout"),
            tools: entry.tool_settings(),
        })
    }

    /// What a server is, in short, for the digests of its tools: not what it was started as
    /// exactly, so that an update of the program is not a change of every tool.
    pub(super) fn identity(&self) -> Value {
        match &self.transport {
            TransportConfig::Program { command, args, .. } => {
                serde_json::json!({ "args": args, "command": command })
            }
            TransportConfig::Address { url, .. } => serde_json::json!({ "url": url }),
        }
    }
}

/// One entry, while it is read.
struct Entry<'a> {
    map: Map<String, Value>,
    warnings: &'a mut Vec<String>,
}

impl Entry<'_> {
    fn transport(&mut self) -> Result<TransportConfig, String> {
        let kind = self.text("type")?.or(self.text("transport")?);
        let url = self.text("url")?.or(self.text("serverUrl")?).or(self.text("httpUrl")?);
        let command = self.text("command")?;
        match (kind.as_deref(), command, url) {
            (None | Some("stdio"), Some(command), None) => self.program(command),
            (
                None | Some("http" | "streamable-http" | "streamableHttp" | "streamable_http"),
                None,
                Some(url),
            ) => {
                Ok(TransportConfig::Address { url: checked(url)?, headers: self.texts("headers")? })
            }
            (Some("sse"), ..) => {
                Err("the old transport `sse` is not supported: give its streamable HTTP address"
                    .into())
            }
            (Some("stdio"), None, _) => Err("it has no `command`".into()),
            (None, Some(_), Some(_)) => Err("it has both a `command` and a `url`".into()),
            (None, None, None) => Err("it has neither a `command` nor a `url`".into()),
            (Some(kind), ..) => Err(format!("its type is `{}`", reveal(kind).text)),
        }
    }

    fn program(&mut self, command: String) -> Result<TransportConfig, String> {
        if command.trim().is_empty() || command.contains('\0') {
            return Err("its `command` is empty".into());
        }
        let args = match self.map.remove("args") {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(list)) => {
                let arg = |value| scalar(value).ok_or_else(|| "an argument is no text".to_owned());
                list.into_iter().map(arg).collect::<Result<_, _>>()?
            }
            Some(_) => return Err("its `args` are no list".into()),
        };
        let cwd = self.text("cwd")?.filter(|cwd| !cwd.is_empty()).map(PathBuf::from);
        Ok(TransportConfig::Program { command, args, env: self.texts("env")?, cwd })
    }

    fn text(&mut self, key: &str) -> Result<Option<String>, String> {
        match self.map.remove(key) {
            None | Some(Value::Null) => Ok(None),
            Some(Value::String(text)) => Ok(Some(text)),
            Some(_) => Err(format!("its `{key}` is no text")),
        }
    }

    fn flag(&mut self, key: &str) -> Result<bool, String> {
        self.flag_or(key, false)
    }

    fn flag_or(&mut self, key: &str, otherwise: bool) -> Result<bool, String> {
        match self.map.remove(key) {
            None | Some(Value::Null) => Ok(otherwise),
            Some(Value::Bool(flag)) => Ok(flag),
            // What is meant to keep a server off must not start it when it is misspelt.
            Some(_) => Err(format!("its `{key}` is neither true nor false")),
        }
    }

    fn texts(&mut self, key: &str) -> Result<BTreeMap<String, String>, String> {
        match self.map.remove(key) {
            None | Some(Value::Null) => Ok(BTreeMap::new()),
            Some(Value::Object(map)) => {
                let pair = |(name, value)| {
                    scalar(value)
                        .map(|value| (name, value))
                        .ok_or_else(|| format!("a value in its `{key}` is no text"))
                };
                map.into_iter().map(pair).collect()
            }
            Some(_) => Err(format!("its `{key}` is no map")),
        }
    }

    fn seconds(&mut self, key: &str) -> Option<Duration> {
        let value = self.map.remove(key).filter(|value| !value.is_null())?;
        // Nobody waits for more than a day, and some clients write milliseconds.
        let seconds = value.as_f64().filter(|seconds| (0.1..=86_400.0).contains(seconds));
        if seconds.is_none() {
            self.warnings
                .push(format!("its `{key}` is not a number of seconds up to a day: not used"));
        }
        seconds.map(Duration::from_secs_f64)
    }

    fn tool_settings(&mut self) -> ToolSettings {
        let mut settings = ToolSettings::default();
        for (key, setting) in [
            ("disabledTools", ToolSetting { disabled: true, permission: None }),
            ("alwaysAllow", ToolSetting { disabled: false, permission: Some(Permission::Allow) }),
            ("autoApprove", ToolSetting { disabled: false, permission: Some(Permission::Allow) }),
        ] {
            for tool in self.names(key) {
                let known = settings.0.entry(tool).or_default();
                known.disabled |= setting.disabled;
                known.permission = known.permission.or(setting.permission);
            }
        }
        match self.map.remove("tools") {
            None | Some(Value::Null) => {}
            Some(Value::Object(map)) => {
                for (tool, value) in map {
                    let (setting, warning) = tool_setting(&value);
                    self.warnings.extend(warning.map(|w| format!("{}: {w}", reveal(&tool).text)));
                    settings.0.insert(tool, setting);
                }
            }
            Some(_) => self.warnings.push("its `tools` are no map: not used".into()),
        }
        settings
    }

    fn names(&mut self, key: &str) -> Vec<String> {
        match self.map.remove(key) {
            None | Some(Value::Null) => Vec::new(),
            Some(Value::Array(list)) => list.into_iter().filter_map(scalar).collect(),
            Some(_) => {
                self.warnings.push(format!("its `{key}` is no list of names: not used"));
                Vec::new()
            }
        }
    }
}

/// A tool's setting. What is not understood disables the tool.
fn tool_setting(value: &Value) -> (ToolSetting, Option<&'static str>) {
    let disabled = match (value.get("disabled"), value.get("enabled")) {
        (None, None) => Some(false),
        (Some(Value::Bool(disabled)), None) => Some(*disabled),
        (None, Some(Value::Bool(enabled))) => Some(!enabled),
        _ => None,
    };
    let permission = match value.get("permission").map(Value::as_str) {
        None => Some(None),
        Some(Some("deny")) => Some(Some(Permission::Deny)),
        Some(Some("ask")) => Some(Some(Permission::Ask)),
        Some(Some("allow")) => Some(Some(Permission::Allow)),
        Some(_) => None,
    };
    match (value.is_object(), disabled, permission) {
        (true, Some(disabled), Some(permission)) => (ToolSetting { disabled, permission }, None),
        _ => {
            let off = ToolSetting { disabled: true, permission: Some(Permission::Deny) };
            (off, Some("the setting is not understood, so the tool is disabled"))
        }
    }
}

fn scalar(value: Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text).filter(|text| !text.contains('\0')),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// An address may be checked only as far as it holds no variables.
fn checked(url: String) -> Result<String, String> {
    let is_web = url.starts_with("https://") || url.starts_with("http://") || url.starts_with("${");
    if is_web { Ok(url) } else { Err("its `url` is neither https nor http".into()) }
}
