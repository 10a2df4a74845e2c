//! Listing folders and finding files by name.

use std::{fs, io, path::Path};

use globset::{GlobBuilder, GlobMatcher};
use ignore::{WalkBuilder, WalkState};

use super::{
    Workspace,
    handle::{self, FoundKind},
    words,
};
use crate::tools::{
    cancel::Stop,
    output::ToolOutput,
    policy::{At, Place},
};

/// Entries of one listing.
const MAX_ENTRIES: usize = 1000;
/// Files that are looked at for one.
pub(super) const MAX_VISITED: usize = 500_000;

/// Lists a folder.
pub(in crate::tools) fn list(
    workspace: &Workspace,
    place: &Place,
    is_recursive: bool,
    stop: &Stop,
) -> ToolOutput {
    let found =
        if is_recursive { walked(workspace, place, None, stop) } else { entries(workspace, place) };
    match found {
        Ok(found) => found.output("(the folder is empty)"),
        Err(error) => ToolOutput::error(&format!("{}: {}", place.asked, words(&error))),
    }
}

/// Finds files that a glob fits.
pub(in crate::tools) fn glob(
    workspace: &Workspace,
    place: &Place,
    pattern: &str,
    stop: &Stop,
) -> ToolOutput {
    let matcher = match matcher(pattern) {
        Ok(matcher) => matcher,
        Err(why) => return ToolOutput::error(&why),
    };
    match walked(workspace, place, Some(&matcher), stop) {
        Ok(found) => found.output("(no file fits)"),
        Err(error) => ToolOutput::error(&format!("{}: {}", place.asked, words(&error))),
    }
}

pub(super) fn matcher(pattern: &str) -> Result<GlobMatcher, String> {
    let pattern = pattern.strip_prefix("./").unwrap_or(pattern);
    // A pattern without a folder is about names, wherever they are.
    let anywhere = if pattern.contains('/') { pattern.to_owned() } else { format!("**/{pattern}") };
    let glob = GlobBuilder::new(&anywhere).literal_separator(true).build();
    Ok(glob.map_err(|error| format!("the glob cannot be understood: {error}"))?.compile_matcher())
}

struct Found {
    lines: Vec<String>,
    /// There is more.
    is_cut: bool,
}

impl Found {
    fn output(mut self, if_empty: &str) -> ToolOutput {
        if self.lines.is_empty() && !self.is_cut {
            return ToolOutput::text(if_empty);
        }
        self.lines.sort_unstable();
        let mut text = self.lines.join("\n");
        if self.is_cut {
            text.push_str(&format!("\n[only {} are shown; narrow it down]", self.lines.len()));
        }
        ToolOutput::text(&text)
    }
}

/// What is in one folder, with nothing left out.
fn entries(workspace: &Workspace, place: &Place) -> io::Result<Found> {
    let dir = workspace.folder(&place.at)?;
    let mut found = Found { lines: Vec::new(), is_cut: false };
    for entry in dir.entries()? {
        let name = entry?.file_name();
        if found.lines.len() == MAX_ENTRIES {
            found.is_cut = true;
            break;
        }
        let shown = name.to_string_lossy();
        // An entry that went meanwhile is not there.
        let Ok(entry) = handle::look(&dir, &shown) else { continue };
        found.lines.push(match entry.kind {
            FoundKind::Folder => format!("{shown}/"),
            FoundKind::Link => match dir.read_link_contents(&*shown) {
                Ok(target) => format!("{shown} -> {}", target.display()),
                Err(_went) => format!("{shown} -> ?"),
            },
            FoundKind::File => format!("{shown} ({})", bytes(entry.size)),
            FoundKind::Pipe | FoundKind::Socket | FoundKind::Device => format!("{shown} (no file)"),
        });
    }
    Ok(found)
}

fn bytes(count: u64) -> String {
    match count {
        0..1024 => format!("{count} B"),
        1024..1_048_576 => format!("{} KB", count / 1024),
        _ => format!("{} MB", count / 1_048_576),
    }
}

/// All that is below a folder and not ignored; files only, if a glob says which.
fn walked(
    workspace: &Workspace,
    place: &Place,
    matcher: Option<&GlobMatcher>,
    stop: &Stop,
) -> io::Result<Found> {
    let mut found = Found { lines: Vec::new(), is_cut: false };
    walk(workspace, place, stop, &mut |below, is_folder| {
        let is_wanted = matcher.is_none_or(|glob| !is_folder && glob.is_match(below));
        if !is_wanted {
            return WalkState::Continue;
        }
        if found.lines.len() == MAX_ENTRIES {
            found.is_cut = true;
            return WalkState::Quit;
        }
        let shown = below.to_string_lossy().replace('\\', "/");
        found.lines.push(if is_folder { format!("{shown}/") } else { shown });
        WalkState::Continue
    })?;
    Ok(found)
}

/// Visits what is below a folder, as a path from there, and leaves out what is ignored.
/// Links are not followed; the folder itself is looked at through its handle first.
pub(super) fn walk(
    workspace: &Workspace,
    place: &Place,
    stop: &Stop,
    visit: &mut dyn FnMut(&Path, bool) -> WalkState,
) -> io::Result<()> {
    workspace.folder(&place.at)?;
    let root = workspace.absolute(&place.at)?;
    let walk = WalkBuilder::new(&root)
        .hidden(false)
        .require_git(false)
        .follow_links(false)
        .max_depth(Some(64))
        .filter_entry(|entry| !is_repository(entry.file_name()))
        .sort_by_file_name(|a, b| a.cmp(b))
        .build();
    for entry in walk.take(MAX_VISITED) {
        if stop.is_due() {
            return Err(io::Error::new(io::ErrorKind::Interrupted, "stopped"));
        }
        // What cannot be looked at is left out; the model sees only what is there.
        let Ok(entry) = entry else { continue };
        let Ok(below) = entry.path().strip_prefix(&root) else { continue };
        let Some(kind) = entry.file_type() else { continue };
        if below.as_os_str().is_empty() || !(kind.is_dir() || kind.is_file()) {
            continue;
        }
        if let WalkState::Quit = visit(below, kind.is_dir()) {
            break;
        }
    }
    Ok(())
}

fn is_repository(name: &std::ffi::OsStr) -> bool {
    [".git", ".hg", ".svn", ".jj"].iter().any(|repository| name == *repository)
}

impl Workspace {
    /// A file below a folder, opened name by name so that no link is followed.
    pub(super) fn open_below(&self, place: &Place, below: &Path) -> io::Result<fs::File> {
        let below = below.to_str().ok_or_else(|| io::Error::other("the path is no UTF-8"))?;
        let below = below.replace('\\', "/");
        let join = |path: &str| match path {
            "" => below.clone(),
            path => format!("{}/{below}", path.trim_end_matches('/')),
        };
        let at = match &place.at {
            At::Inside(path) => At::Inside(join(path)),
            At::Outside(path) => At::Outside(join(path)),
            At::Nowhere(why) => At::Nowhere(why.clone()),
        };
        self.open_at(&Place { asked: below.clone(), at, what: place.what.clone() })
    }
}
