//! Where the known agents keep the sessions of this user.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

/// The session folders of pi and of Claude Code, whether they are there or not. `variable`
/// gives a variable of the environment: each agent has one that moves its folder.
#[must_use]
pub fn agent_folders(
    home: Option<&Path>,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Vec<PathBuf> {
    let moved = |name: &str| variable(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let mut folders = Vec::new();
    match moved("PI_CODING_AGENT_DIR") {
        Some(folder) => folders.push(folder.join("sessions")),
        None => folders.extend(home.map(|home| home.join(".pi/agent/sessions"))),
    }
    match moved("CLAUDE_CONFIG_DIR") {
        Some(folder) => folders.push(folder.join("projects")),
        None => folders.extend(home.map(|home| home.join(".claude/projects"))),
    }
    folders
}

/// The same for the user and the environment of this process.
pub(super) fn own_agent_folders() -> Vec<PathBuf> {
    let user = directories::BaseDirs::new();
    agent_folders(user.as_ref().map(directories::BaseDirs::home_dir), |name| std::env::var_os(name))
}
