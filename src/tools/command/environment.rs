//! What a command sees of the environment: what is on a list, and nothing that looks like a
//! key.

use std::{ffi::OsString, path::Path};

use crate::tools::policy::Environment;

/// Variables that a command may see.
const PASSED: &[&str] = &[
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TMPDIR",
    "TERM",
    "COLORTERM",
    "CARGO_HOME",
    "RUSTUP_HOME",
    "RUSTUP_TOOLCHAIN",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "NVM_DIR",
    "NODE_PATH",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
    "CONDA_PREFIX",
    "SDKROOT",
    "DEVELOPER_DIR",
    "PKG_CONFIG_PATH",
    "LD_LIBRARY_PATH",
    "NIX_PATH",
    "NIX_PROFILES",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NIX_SSL_CERT_FILE",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    // Windows starts nothing without these.
    "SYSTEMROOT",
    "WINDIR",
    "COMSPEC",
    "PATHEXT",
    "TEMP",
    "TMP",
    "USERPROFILE",
    "APPDATA",
    "LOCALAPPDATA",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "HOMEDRIVE",
    "HOMEPATH",
    "USERNAME",
    "NUMBER_OF_PROCESSORS",
    "PROCESSOR_ARCHITECTURE",
];

/// What every command is told: there is no terminal, so nothing may wait for one; and git
/// obeys no repository that merely lies about, and writes nothing when it only looks.
const SET: &[(&str, &str)] = &[
    ("PAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_CONFIG_COUNT", "1"),
    ("GIT_CONFIG_KEY_0", "safe.bareRepository"),
    ("GIT_CONFIG_VALUE_0", "explicit"),
];

/// What of the program's own variables a command sees, with the folders of PATH that are not
/// in the workspace. `extra` are names that the user added to the list.
pub(in crate::tools) fn environment(
    own: impl Iterator<Item = (OsString, OsString)>,
    extra: &[String],
    workspace: &Path,
) -> Environment {
    let mut environment = Environment::default();
    for (name, value) in own {
        let (Ok(name), Ok(value)) = (name.into_string(), value.into_string()) else {
            environment.withheld += 1;
            continue;
        };
        let upper = name.to_ascii_uppercase();
        if upper == "PATH" {
            let safe = safe_path(&value, workspace);
            if safe != value {
                environment.changed.push((name.clone(), safe.clone()));
            }
            environment.variables.push((name, safe));
        } else if SET.iter().any(|(set, _)| *set == upper) {
            continue;
        } else if is_passed(&upper) || extra.contains(&name) {
            environment.variables.push((name, value));
        } else {
            environment.withheld += 1;
        }
    }
    for (name, value) in SET {
        environment.variables.push(((*name).to_owned(), (*value).to_owned()));
        environment.changed.push(((*name).to_owned(), (*value).to_owned()));
    }
    environment.variables.sort();
    environment
}

fn is_passed(name: &str) -> bool {
    PASSED.contains(&name) || name.starts_with("LC_")
}

/// PATH without what the place it is read from decides, and without the workspace.
fn safe_path(path: &str, workspace: &Path) -> String {
    let is_safe =
        |folder: &std::path::PathBuf| folder.is_absolute() && !folder.starts_with(workspace);
    let folders: Vec<_> = std::env::split_paths(path).filter(is_safe).collect();
    let joined = std::env::join_paths(folders).ok();
    joined.and_then(|joined| joined.into_string().ok()).unwrap_or_default()
}
