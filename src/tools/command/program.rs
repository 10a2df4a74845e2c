//! Which program a name is.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::tools::policy::{Environment, Program};

/// Folders that anybody may write to.
const SHARED: &[&str] = &["/tmp", "/var/tmp", "/dev/shm", "/private/tmp", "/private/var/tmp"];

/// The program that a name is in this environment, for a command that runs in `folder`.
pub(in crate::tools) fn find_program(
    name: &str,
    folder: &Path,
    environment: &Environment,
    workspace: &Path,
) -> Program {
    let found = if name.contains('/') || cfg!(windows) && name.contains('\\') {
        Some(folder.join(name)).filter(|path| is_program(path))
    } else {
        in_path(name, environment)
    };
    // Where a link leads is what runs; its own name is what it is told it is called.
    let Some(found) = found else { return Program::NotFound };
    let Ok(real) = found.canonicalize() else { return Program::NotFound };
    let is_loose = |path: &Path| {
        path.starts_with(workspace) || SHARED.iter().any(|shared| path.starts_with(shared))
    };
    if is_loose(&real) || is_loose(&found) {
        Program::Loose(found)
    } else {
        Program::Installed(found)
    }
}

/// The shell that reads a line.
pub(in crate::tools) fn shell() -> (PathBuf, &'static str) {
    if cfg!(windows) { (PathBuf::from("cmd.exe"), "/C") } else { (PathBuf::from("/bin/sh"), "-c") }
}

fn in_path(name: &str, environment: &Environment) -> Option<PathBuf> {
    let is_path = |name: &str| name.eq_ignore_ascii_case("PATH");
    let (_, path) = environment.variables.iter().find(|(name, _)| is_path(name))?;
    std::env::split_paths(path).find_map(|folder| {
        let plain = folder.join(name);
        let candidates = if cfg!(windows) {
            vec![folder.join(format!("{name}.exe")), plain]
        } else {
            vec![plain]
        };
        candidates.into_iter().find(|path| is_program(path))
    })
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).is_ok_and(|it| it.is_file() && it.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|it| it.is_file())
}
