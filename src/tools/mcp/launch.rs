//! What exactly would be started, and what of it the user has accepted.

use std::{
    ffi::OsString,
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use serde::{Deserialize, Serialize};

use super::{
    config::{ServerConfig, TransportConfig},
    digest::Digest,
    environment::{Environment, Redactor},
    reveal::{Revealed, reveal},
};

/// What exactly would be started, for the user to see. Holds no values of variables or
/// headers.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch {
    /// The server's name.
    pub server: Arc<str>,
    /// What would be started.
    pub what: What,
}

/// A program or an address.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    /// A program.
    Program {
        /// Its absolute path.
        path: PathBuf,
        /// Of its content.
        sha256: Digest,
        /// The file that an interpreter is given to run, and its digest.
        script: Option<(PathBuf, Digest)>,
        /// Its arguments as they are configured.
        args: Vec<String>,
        /// The names of the variables that are configured for it.
        env: Vec<String>,
        /// The folder that it starts in.
        cwd: Option<PathBuf>,
    },
    /// An address.
    Address {
        /// Without what follows a `?`, which may hold keys.
        url: String,
        /// Of the whole address as it is configured.
        sha256: Digest,
        /// The names of the headers that are configured for it.
        headers: Vec<String>,
    },
}

/// Something to accept before a server starts.
#[derive(Clone, Debug, PartialEq)]
pub struct Acceptance {
    /// What would be started.
    pub launch: Launch,
    /// What was accepted before, when something was.
    pub before: Option<What>,
    /// How the two differ, in words; empty when nothing was accepted before.
    pub changes: Vec<String>,
}

/// What is needed to start a server, values included. Never shown, never stored.
pub(super) struct Start {
    pub(super) launch: Launch,
    pub(super) how: How,
    pub(super) redactor: Redactor,
}

pub(super) enum How {
    Program { path: PathBuf, args: Vec<String>, env: Vec<(String, String)>, cwd: Option<PathBuf> },
    Address { url: String, headers: Vec<(String, String)> },
}

impl Launch {
    /// Names this launch, so that what was shown is what is accepted.
    ///
    /// # Panics
    /// Never: its parts are texts.
    #[must_use]
    pub fn digest(&self) -> Digest {
        let what = serde_json::to_string(&self.what).unwrap_or_default();
        Digest::of(format!("{}\0{what}", self.server).as_bytes())
    }

    /// What would be started, line by line, each with what it is about. Hidden characters are
    /// visible, and each argument stands alone.
    #[must_use]
    pub fn lines(&self) -> Vec<(&'static str, Revealed)> {
        let mut lines = Vec::new();
        let mut line = |about, text: &str| lines.push((about, reveal(text)));
        match &self.what {
            What::Program { path, sha256, script, args, env, cwd } => {
                line("program", &path.to_string_lossy());
                line("sha256", &sha256.to_string());
                if let Some((script, sha256)) = script {
                    line("script", &script.to_string_lossy());
                    line("sha256", &sha256.to_string());
                }
                args.iter().for_each(|arg| line("argument", arg));
                env.iter().for_each(|name| line("variable", name));
                if let Some(cwd) = cwd {
                    line("folder", &cwd.to_string_lossy());
                }
            }
            What::Address { url, headers, .. } => {
                line("address", url);
                headers.iter().for_each(|name| line("header", name));
            }
        }
        lines
    }
}

impl Start {
    /// Finds out what a server would be started as. Reads the program's file.
    ///
    /// # Errors
    /// When the program is not found, or a variable is not set.
    pub(super) fn prepare(
        config: &ServerConfig,
        environment: &Environment,
    ) -> Result<Self, String> {
        let server = Arc::clone(&config.name);
        match &config.transport {
            TransportConfig::Program { command, args, env, cwd } => {
                let expanded = expand_all(env, environment)?;
                let cwd = cwd.as_deref().map(|cwd| at_home(cwd, environment));
                let search = Search { environment, env: &expanded, cwd: cwd.as_deref() };
                let command = environment.expand(command)?;
                let path = search.find(&command)?;
                let run: Vec<_> =
                    args.iter().map(|arg| environment.expand(arg)).collect::<Result<_, _>>()?;
                let what = What::Program {
                    sha256: digest(&path)?,
                    script: search.script(&path, &run)?,
                    path: path.clone(),
                    args: args.clone(),
                    env: env.keys().cloned().collect(),
                    cwd: cwd.clone(),
                };
                let changed = args.iter().zip(&run).filter(|(a, b)| a != b).map(|(_, run)| run);
                let redactor =
                    Redactor::of(secrets(env, &expanded).chain(changed.map(String::as_str)));
                let how = How::Program { path, args: run, env: expanded, cwd };
                Ok(Self { launch: Launch { server, what }, how, redactor })
            }
            TransportConfig::Address { url, headers } => {
                let expanded = expand_all(headers, environment)?;
                let address = environment.expand(url)?;
                let what = What::Address {
                    url: url.split(['?', '#']).next().unwrap_or_default().to_owned(),
                    sha256: Digest::of(url.as_bytes()),
                    headers: headers.keys().cloned().collect(),
                };
                let values = expanded.iter().map(|(_, value)| value.as_str());
                let query = address.split_once('?').map(|(_, query)| query);
                let redactor = Redactor::of(
                    values.chain(query).chain((url != &address).then_some(address.as_str())),
                );
                let how = How::Address { url: address, headers: expanded };
                Ok(Self { launch: Launch { server, what }, how, redactor })
            }
        }
    }
}

fn expand_all(
    map: &std::collections::BTreeMap<String, String>,
    environment: &Environment,
) -> Result<Vec<(String, String)>, String> {
    map.iter().map(|(name, value)| Ok((name.clone(), environment.expand(value)?))).collect()
}

/// The values that look like keys: by their names, or because they were kept out of the
/// configuration.
fn secrets<'a>(
    env: &'a std::collections::BTreeMap<String, String>,
    expanded: &'a [(String, String)],
) -> impl Iterator<Item = &'a str> {
    let is_secret = |(name, value): &&(String, String)| {
        let upper = name.to_ascii_uppercase();
        let words = ["KEY", "TOKEN", "SECRET", "PASS", "AUTH", "CREDENTIAL", "COOKIE"];
        words.iter().any(|word| upper.contains(word)) || env.get(name) != Some(value)
    };
    expanded.iter().filter(is_secret).map(|(_, value)| value.as_str())
}

fn digest(path: &Path) -> Result<Digest, String> {
    Digest::of_file(path).map_err(|error| format!("{} cannot be read: {error}", path.display()))
}

/// Where programs and scripts are looked for.
struct Search<'a> {
    environment: &'a Environment,
    env: &'a [(String, String)],
    cwd: Option<&'a Path>,
}

impl Search<'_> {
    fn variable(&self, name: &str) -> Option<&str> {
        let own = self.env.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str());
        own.or_else(|| self.environment.get(name))
    }

    fn find(&self, command: &str) -> Result<PathBuf, String> {
        let command = at_home(Path::new(command), self.environment);
        if command.components().count() > 1 || command.is_absolute() {
            let path = self.absolute(&command).map_err(|error| error.to_string())?;
            return self
                .runnable(&path)
                .ok_or_else(|| format!("{} is not a program", path.display()));
        }
        let folders: OsString = self.variable("PATH").unwrap_or_default().into();
        let paths = std::env::split_paths(&folders).filter(|folder| folder.is_absolute());
        paths
            .map(|folder| folder.join(&command))
            .find_map(|path| self.runnable(&path))
            .ok_or_else(|| format!("{} is not on PATH", command.display()))
    }

    fn absolute(&self, path: &Path) -> io::Result<PathBuf> {
        match self.cwd {
            Some(cwd) => std::path::absolute(cwd.join(path)),
            None => std::path::absolute(path),
        }
    }

    /// The path itself, or with an ending that makes it a program where endings do.
    fn runnable(&self, path: &Path) -> Option<PathBuf> {
        if !cfg!(windows) {
            return is_program(path).then(|| path.to_owned());
        }
        let endings = self.variable("PATHEXT").unwrap_or(".COM;.EXE;.BAT;.CMD");
        let with = |ending: &str| {
            let mut path = path.as_os_str().to_owned();
            path.push(ending);
            PathBuf::from(path)
        };
        let own = path.extension().is_some().then(|| path.to_owned());
        let candidates = own.into_iter().chain(endings.split(';').map(with));
        candidates.into_iter().find(|path| is_program(path))
    }

    /// What an interpreter runs: the first argument that is no option, when it is a file.
    fn script(&self, path: &Path, args: &[String]) -> Result<Option<(PathBuf, Digest)>, String> {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
        let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
        if !INTERPRETERS.contains(&name) {
            return Ok(None);
        }
        let Some(script) = args.iter().find(|arg| !arg.starts_with('-')) else {
            return Ok(None);
        };
        let script = self.absolute(Path::new(script)).map_err(|error| error.to_string())?;
        if !script.is_file() {
            return Ok(None);
        }
        let sha256 = digest(&script)?;
        Ok(Some((script, sha256)))
    }
}

const INTERPRETERS: &[&str] = &[
    "bash",
    "bun",
    "dash",
    "deno",
    "java",
    "lua",
    "node",
    "nodejs",
    "perl",
    "php",
    "powershell",
    "pwsh",
    "python",
    "pythonw",
    "ruby",
    "sh",
    "ts-node",
    "tsx",
    "zsh",
];

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.is_file())
}

/// `~` is the user's folder.
fn at_home(path: &Path, environment: &Environment) -> PathBuf {
    let home = environment.get("HOME").or_else(|| environment.get("USERPROFILE"));
    match (path.strip_prefix("~"), home) {
        (Ok(inside), Some(home)) => Path::new(home).join(inside),
        _ => path.to_owned(),
    }
}

impl What {
    /// How this differs from what was accepted, in words for the user.
    pub(super) fn changes_since(&self, before: &Self) -> Vec<String> {
        match (before, self) {
            (
                Self::Program { path: p, sha256: d, script: s, args: a, env: e, cwd: c },
                Self::Program { path, sha256, script, args, env, cwd },
            ) => {
                let mut changes = Changes::default();
                changes.note("the program", &p.display(), &path.display());
                if p == path {
                    changes.note("the program's content", &d.short(), &sha256.short());
                }
                let shown = |script: &Option<(PathBuf, Digest)>| {
                    script.as_ref().map_or_else(
                        || "none".to_owned(),
                        |(path, digest)| format!("{} ({})", path.display(), digest.short()),
                    )
                };
                changes.note("the script", &shown(s), &shown(script));
                changes.note("the arguments", &a.join(" "), &args.join(" "));
                changes.note("the variables", &e.join(", "), &env.join(", "));
                let folder = |cwd: &Option<PathBuf>| {
                    cwd.as_ref().map_or_else(|| "ours".to_owned(), |cwd| cwd.display().to_string())
                };
                changes.note("the folder", &folder(c), &folder(cwd));
                if changes.0.is_empty() {
                    changes.0.push("the arguments are divided in another way".into());
                }
                changes.0
            }
            (
                Self::Address { url: u, sha256: d, headers: h },
                Self::Address { url, sha256, headers },
            ) => {
                let mut changes = Changes::default();
                changes.note("the address", &u, &url);
                if u == url {
                    changes.note("the address behind the `?`", &d.short(), &sha256.short());
                }
                changes.note("the headers", &h.join(", "), &headers.join(", "));
                changes.0
            }
            (Self::Program { .. }, Self::Address { .. }) => {
                vec!["it was a program and is an address now".into()]
            }
            (Self::Address { .. }, Self::Program { .. }) => {
                vec!["it was an address and is a program now".into()]
            }
        }
    }
}

#[derive(Default)]
struct Changes(Vec<String>);

impl Changes {
    fn note(&mut self, what: &str, before: &dyn std::fmt::Display, after: &dyn std::fmt::Display) {
        let (before, after) = (before.to_string(), after.to_string());
        if before != after {
            self.0.push(reveal(&format!("{what}: {before} → {after}")).text);
        }
    }
}
