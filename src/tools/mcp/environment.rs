//! What of our own environment a server may see.

use std::collections::BTreeMap;

/// The variables that configuration may name, and of which a server gets a few.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment {
    variables: BTreeMap<String, String>,
}

/// Passed on to every program. No keys, no proxies (which may hold passwords): what else a
/// server needs stands in its configuration.
const PASSED: &[&str] = &[
    // Unix.
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TERM",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "NODE_EXTRA_CA_CERTS",
    // Windows.
    "APPDATA",
    "COMSPEC",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "NUMBER_OF_PROCESSORS",
    "OS",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
    "WINDIR",
];

impl Environment {
    /// Of these variables.
    #[must_use]
    pub fn of(variables: impl IntoIterator<Item = (String, String)>) -> Self {
        Self { variables: variables.into_iter().collect() }
    }

    /// Of this process. Variables that are not Unicode are left out.
    #[must_use]
    pub fn of_process() -> Self {
        let variables = std::env::vars_os();
        Self::of(variables.filter_map(|(name, value)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        }))
    }

    /// A variable's value.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str)
    }

    /// What every program gets.
    pub(super) fn passed(&self) -> impl Iterator<Item = (&str, &str)> {
        let is_passed = |name: &str| {
            let name = if cfg!(windows) { name.to_ascii_uppercase() } else { name.to_owned() };
            PASSED.contains(&name.as_str()) || name.starts_with("LC_")
        };
        let all = self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        all.filter(move |(name, _)| is_passed(name))
    }

    /// Puts values in the place of `${NAME}`, `${env:NAME}` and `${NAME:-otherwise}`.
    ///
    /// # Errors
    /// Names the variable that is not set.
    pub(super) fn expand(&self, text: &str) -> Result<String, String> {
        let mut expanded = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("${") {
            let Some((inside, behind)) = after.split_once('}') else { break };
            expanded.push_str(before);
            let inside = inside.strip_prefix("env:").unwrap_or(inside);
            let (name, otherwise) = match inside.split_once(":-") {
                Some((name, otherwise)) => (name, Some(otherwise)),
                None => (inside, None),
            };
            let value = self.get(name).filter(|value| !value.is_empty()).or(otherwise);
            let value = value.ok_or_else(|| format!("the variable {name} is not set"))?;
            expanded.push_str(value);
            rest = behind;
        }
        expanded.push_str(rest);
        Ok(expanded)
    }
}

impl std::fmt::Debug for Environment {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Values may be keys.
        f.debug_set().entries(self.variables.keys()).finish()
    }
}

/// Blacks out secrets wherever a server or a library repeats them.
#[derive(Clone, Default)]
pub(super) struct Redactor {
    secrets: Vec<String>,
}

/// Shorter values are words like `true` and `info`.
const SHORTEST_SECRET: usize = 8;

impl Redactor {
    pub(super) fn of<'a>(secrets: impl Iterator<Item = &'a str>) -> Self {
        let mut all: Vec<String> = Vec::new();
        for secret in secrets {
            all.push(secret.to_owned());
            // What follows `Bearer ` and its like is the secret.
            all.extend(secret.split_once(' ').map(|(_, token)| token.trim().to_owned()));
        }
        all.retain(|secret| secret.len() >= SHORTEST_SECRET);
        // The longest first, so that none stands in the way of another.
        all.sort_by_key(|secret| std::cmp::Reverse(secret.len()));
        all.dedup();
        Self { secrets: all }
    }

    pub(super) fn clean(&self, text: &str) -> String {
        let mut clean = text.to_owned();
        for secret in &self.secrets {
            if clean.contains(secret.as_str()) {
                clean = clean.replace(secret.as_str(), "•••");
            }
        }
        clean
    }
}

impl std::fmt::Debug for Redactor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} secrets", self.secrets.len())
    }
}
