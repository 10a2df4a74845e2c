//! Whether a repository's settings make git run programs.
//!
//! `git status` looks innocent, but it runs what the repository's own settings name: monitors,
//! filters, converters, signers. So only settings that are known to run nothing are passed.

use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
};

use crate::tools::policy::GitConfig;

/// Bytes of settings that are read.
const MAX_CONFIG: u64 = 256 * 1024;

/// Sections whose every setting runs nothing when git only looks.
const PLAIN_SECTIONS: &[&str] = &[
    "advice",
    "branch",
    "color",
    "column",
    "commit",
    "fetch",
    "gc",
    "help",
    "index",
    "init",
    "log",
    "pack",
    "pull",
    "push",
    "rebase",
    "rerere",
    "stash",
    "status",
    "tag",
    "user",
    "author",
    "committer",
    "feature",
    "format",
    "merge",
    "submodule",
    "worktree",
    "lfs",
    "blame",
    "grep",
];

/// Settings of other sections, without what stands between section and name.
const PLAIN_SETTINGS: &[&str] = &[
    "core.repositoryformatversion",
    "core.filemode",
    "core.bare",
    "core.logallrefupdates",
    "core.ignorecase",
    "core.precomposeunicode",
    "core.symlinks",
    "core.autocrlf",
    "core.eol",
    "core.safecrlf",
    "core.quotepath",
    "core.abbrev",
    "core.compression",
    "core.longpaths",
    "core.protecthfs",
    "core.protectntfs",
    "core.untrackedcache",
    "core.preloadindex",
    "core.sparsecheckout",
    "core.sparsecheckoutcone",
    "core.whitespace",
    "core.commitgraph",
    "core.multipackindex",
    "core.trustctime",
    "core.checkstat",
    "core.bigfilethreshold",
    "core.excludesfile",
    "core.commentchar",
    "remote.url",
    "remote.fetch",
    "remote.pushurl",
    "remote.push",
    "remote.tagopt",
    "remote.prune",
    "remote.mirror",
    "remote.skipfetchall",
    "diff.algorithm",
    "diff.renames",
    "diff.renamelimit",
    "diff.colormoved",
    "diff.mnemonicprefix",
    "diff.noprefix",
    "diff.context",
    "diff.submodule",
    "diff.indentheuristic",
    "extensions.worktreeconfig",
    "extensions.objectformat",
    "extensions.refstorage",
];

/// Settings of the plain sections that run something after all.
const RUNS: &[&str] = &[
    "merge.driver",
    "merge.tool",
    "log.showsignature",
    "commit.gpgsign",
    "submodule.update",
    "push.gpgsign",
    "tag.gpgsign",
    "blame.ignorerevsfile",
];

/// What git would obey in a folder: the nearest repository's own settings.
pub(in crate::tools) fn git_config(folder: &Path) -> GitConfig {
    for folder in folder.ancestors() {
        let git = folder.join(".git");
        match fs::symlink_metadata(&git) {
            Ok(metadata) if metadata.is_dir() => return settings_in(&git),
            // A worktree or a submodule: its settings are where the file says.
            Ok(metadata) if metadata.is_file() => return linked(&git, folder),
            Ok(_) => return GitConfig::Runs("a .git that is neither file nor folder".to_owned()),
            Err(_is_missing) => {}
        }
    }
    GitConfig::None
}

fn linked(file: &Path, folder: &Path) -> GitConfig {
    let unknown = || GitConfig::Runs("of a linked folder".to_owned());
    let Some(text) = read(file) else { return unknown() };
    let Some(target) = text.trim().strip_prefix("gitdir: ") else { return unknown() };
    let git = folder.join(target);
    let common: PathBuf = match read(&git.join("commondir")) {
        Some(common) => git.join(common.trim()),
        None => git.clone(),
    };
    match (settings_in(&git), settings_in(&common)) {
        (GitConfig::Plain, common) => common,
        (own, _) => own,
    }
}

fn settings_in(git: &Path) -> GitConfig {
    for name in ["config", "config.worktree"] {
        let path = git.join(name);
        if fs::symlink_metadata(&path).is_err() {
            continue;
        }
        let Some(text) = read(&path) else { return GitConfig::Unknown };
        if let Some(setting) = running_setting(&text) {
            return GitConfig::Runs(setting);
        }
    }
    GitConfig::Plain
}

fn read(path: &Path) -> Option<String> {
    let mut text = String::new();
    let file = fs::File::open(path).ok()?;
    let is_file = file.metadata().is_ok_and(|metadata| metadata.is_file());
    if !is_file {
        return None;
    }
    let count = file.take(MAX_CONFIG).read_to_string(&mut text).ok()?;
    (count < MAX_CONFIG as usize).then_some(text)
}

/// The first setting that is not known to run nothing.
fn running_setting(text: &str) -> Option<String> {
    let mut section = String::new();
    for line in text.lines() {
        let mut line = line.trim();
        if let Some(rest) = line.strip_prefix('[') {
            let Some((heading, rest)) = rest.split_once(']') else { return Some(line.to_owned()) };
            let name = heading.split(['"', '.', ' ']).next().unwrap_or_default();
            section = name.to_ascii_lowercase();
            line = rest.trim();
        }
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        // A value that goes on in the next line makes lines that are no settings.
        if line.ends_with('\\') {
            return Some(line.to_owned());
        }
        let name = line.split(['=', ' ', '\t']).next().unwrap_or_default().to_ascii_lowercase();
        let setting = format!("{section}.{name}");
        let is_plain =
            PLAIN_SECTIONS.contains(&section.as_str()) && !RUNS.contains(&setting.as_str());
        if !is_plain && !PLAIN_SETTINGS.contains(&setting.as_str()) {
            return Some(setting);
        }
    }
    None
}
