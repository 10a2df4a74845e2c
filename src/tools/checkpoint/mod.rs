//! What a workspace held, so that it can be taken back there: checkpoints in a repository of
//! our own.
//!
//! The program `git` keeps them, in a folder of ours: the user's own repository, its index and
//! its settings are neither read nor written. What `.gitignore` leaves out is left out, and so
//! are very large files and repositories within the workspace; a restore touches none of them,
//! and of the others only those that differ.

mod git;

use std::{
    fmt, fs,
    io::Write as _,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use self::git::Git;

/// Bytes that a file may have to be kept.
const MAX_FILE: u64 = 50 * 1024 * 1024;
/// How long another program's work on the same checkpoints is waited for.
const PATIENCE: Duration = Duration::from_secs(10);
const GLANCE: Duration = Duration::from_millis(50);
/// Where the newest checkpoint is named; each leads to the one before.
const NEWEST: &str = "refs/heads/checkpoints";
/// Folders of the home that hold everything of somebody's, and are nobody's workspace.
const TOO_LARGE: &[&str] = &["Desktop", "Documents", "Downloads", "Library", "Pictures"];

/// Names a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct CheckpointId(Arc<str>);

impl CheckpointId {
    /// The checkpoint of this name; none when no checkpoint can have it.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let is_digest = matches!(name.len(), 40 | 64);
        let is_hex = name.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        (is_digest && is_hex).then(|| Self(name.into()))
    }

    /// Its name.
    #[must_use]
    pub fn name(&self) -> &Arc<str> {
        &self.0
    }
}

/// A file that is not as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    /// Relative to the workspace.
    pub path: String,
    /// What became of it.
    pub how: How,
    /// Lines that came; none for what is no text.
    pub added: Option<u64>,
    /// Lines that went; none for what is no text.
    pub removed: Option<u64>,
}

/// What became of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// It is new.
    Added,
    /// It holds something else, or is something else.
    Changed,
    /// It is gone.
    Deleted,
}

/// Why there is no checkpoint, or no way back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckpointError {
    /// The folder is too large to be a workspace.
    NoWorkspace,
    /// Checkpoints would be kept in what they are made of.
    InsideItself,
    /// There is no git that could be trusted.
    NoGit,
    /// Somebody else works on these checkpoints.
    Busy,
    /// There is no such checkpoint.
    Unknown,
    /// It failed; what was said.
    Failed(String),
}

impl fmt::Display for CheckpointError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoWorkspace => f.write_str("the folder holds too much to keep it all"),
            Self::InsideItself => f.write_str("checkpoints would be kept within the folder itself"),
            Self::NoGit => f.write_str("git is not installed"),
            Self::Busy => f.write_str("another conversation is working on checkpoints"),
            Self::Unknown => f.write_str("there is no such checkpoint"),
            Self::Failed(words) => f.write_str(words),
        }
    }
}

impl std::error::Error for CheckpointError {}

/// What a fallible step gives.
pub type Checked<T> = Result<T, CheckpointError>;

/// The checkpoints of one workspace.
#[derive(Clone, Debug)]
pub struct Checkpoints {
    git: Git,
}

impl Checkpoints {
    /// Checkpoints of `workspace`, kept in `repository`, which need not be there yet. Both are
    /// absolute, the workspace without links. Looks for git, and touches nothing.
    ///
    /// # Errors
    /// When there can be none.
    pub fn new(workspace: &Path, repository: &Path, home: Option<&Path>) -> Checked<Self> {
        if holds_too_much(workspace, home) {
            return Err(CheckpointError::NoWorkspace);
        }
        if repository.starts_with(workspace) {
            return Err(CheckpointError::InsideItself);
        }
        Git::find(workspace, repository).map(|git| Self { git })
    }

    /// Makes a checkpoint of all that is there now. Dropping the future ends it without one.
    ///
    /// # Errors
    /// When there is none.
    pub async fn make(&self) -> Checked<CheckpointId> {
        let _lock = self.lock().await?;
        self.commit().await
    }

    /// What is not as it was at a checkpoint, by path.
    ///
    /// # Errors
    /// When it cannot be found out.
    pub async fn changes_since(&self, id: &CheckpointId) -> Checked<Vec<ChangedFile>> {
        let _lock = self.lock().await?;
        self.known(id).await?;
        self.look().await?;
        self.difference(id, "--cached").await
    }

    /// Takes the workspace back to a checkpoint. Gives one that was made just before, to take
    /// this back, and what was changed.
    ///
    /// # Errors
    /// When it failed: a file that changed while it was looked at is one reason.
    pub async fn restore(&self, id: &CheckpointId) -> Checked<(CheckpointId, Vec<ChangedFile>)> {
        let _lock = self.lock().await?;
        self.known(id).await?;
        let before = self.commit().await?;
        let mut changes = self.difference(id, "--cached").await?;
        for change in &mut changes {
            // What is there now and was not then goes, and the other way round.
            std::mem::swap(&mut change.added, &mut change.removed);
            change.how = match change.how {
                How::Added => How::Deleted,
                How::Changed => How::Changed,
                How::Deleted => How::Added,
            };
        }
        // What is left out now, and was not then, is nobody's to write over.
        let is_in_the_way = |change: &ChangedFile| {
            let path = self.git.workspace().join(&change.path);
            let about = fs::symlink_metadata(path);
            change.how == How::Added && about.is_ok_and(|about| !about.is_dir())
        };
        let (left_out, changes): (Vec<_>, Vec<_>) = changes.into_iter().partition(is_in_the_way);
        let target = self.without(id, &left_out).await?;
        self.git.run(&["read-tree", "-m", "-u", before.name(), &target]).await?;
        Ok((before, changes))
    }

    /// What a checkpoint holds, without some files.
    async fn without(&self, id: &CheckpointId, files: &[ChangedFile]) -> Checked<String> {
        if files.is_empty() {
            return Ok(id.name().to_string());
        }
        let git = self.git.beside();
        git.run(&["read-tree", id.name()]).await?;
        let literal = |file: &ChangedFile| format!(":(top,literal){}", file.path).into_bytes();
        let paths = self.paths(&files.iter().map(literal).collect::<Vec<_>>())?;
        git.run(&["rm", "-q", "--cached", "-f", &from(&paths), NUL]).await?;
        git.line(&["write-tree"]).await
    }

    async fn known(&self, id: &CheckpointId) -> Checked<()> {
        let commit = format!("{}^{{commit}}", id.name());
        let found = self.git.run(&["cat-file", "-e", &commit]).await;
        found.map(drop).map_err(|_absent| CheckpointError::Unknown)
    }

    /// Works on these checkpoints alone, until what is given is dropped.
    async fn lock(&self) -> Checked<fs::File> {
        let failed = |error: std::io::Error| CheckpointError::Failed(error.to_string());
        self.git.prepare().await?;
        let path = self.git.repository().join("letterpress.lock");
        let file = git::private().append(true).create(true).open(path).map_err(failed)?;
        for _ in 0..PATIENCE.as_millis() / GLANCE.as_millis() {
            match file.try_lock() {
                Ok(()) => {
                    self.remove_stale_locks();
                    return Ok(file);
                }
                Err(fs::TryLockError::WouldBlock) => tokio::time::sleep(GLANCE).await,
                Err(fs::TryLockError::Error(error)) => return Err(failed(error)),
            }
        }
        Err(CheckpointError::Busy)
    }

    /// What a git that was killed has left. Nobody else works here while we hold our lock.
    fn remove_stale_locks(&self) {
        for name in ["index.lock", "index.beside.lock", "HEAD.lock", "refs/heads/checkpoints.lock"]
        {
            // Usually there is none; one that stays is met again by git, which says so.
            drop(fs::remove_file(self.git.repository().join(name)));
        }
    }

    async fn commit(&self) -> Checked<CheckpointId> {
        self.look().await?;
        let tree = self.git.line(&["write-tree"]).await?;
        // There is none before the first.
        let parent = self.git.line(&["rev-parse", "-q", "--verify", NEWEST]).await.ok();
        let mut words = vec!["commit-tree", &tree, "-m", "checkpoint"];
        if let Some(parent) = &parent {
            words.extend(["-p", parent]);
        }
        let commit = self.git.line(&words).await?;
        self.git.run(&["update-ref", NEWEST, &commit]).await?;
        CheckpointId::parse(&commit)
            .ok_or_else(|| CheckpointError::Failed("git gave no name".to_owned()))
    }

    /// Takes into the index what is there now.
    async fn look(&self) -> Checked<()> {
        let listed = ["ls-files", "-z", "--others", "--modified", "--exclude-standard"];
        let listed = self.git.run(&listed).await?;
        let names = listed.split(|byte| *byte == 0).filter(|name| !name.is_empty());
        let left_out: Vec<&[u8]> = names.filter(|name| self.is_left_out(name)).collect();
        let everything: [&[u8]; 1] = [b":/"];
        let excluded = left_out.iter().map(|name| [b":(top,exclude,literal)", *name].concat());
        let all: Vec<Vec<u8>> =
            everything.iter().map(|name| name.to_vec()).chain(excluded).collect();
        let paths = self.paths(&all)?;
        // A file that cannot be read is left out, which is no failure of the others.
        self.git.run_tolerant(&["add", "-A", "--ignore-errors", &from(&paths), NUL]).await?;
        if left_out.is_empty() {
            return Ok(());
        }
        // What has grown too large meanwhile must not be taken back to what it was.
        let literal: Vec<Vec<u8>> =
            left_out.iter().map(|name| [b":(top,literal)", *name].concat()).collect();
        let paths = self.paths(&literal)?;
        let words = ["rm", "-r", "-q", "--cached", "--ignore-unmatch", "-f", &from(&paths), NUL];
        self.git.run(&words).await.map(drop)
    }

    /// Repositories within, which git lists with a `/` behind them, and what is too large.
    fn is_left_out(&self, name: &[u8]) -> bool {
        name.ends_with(b"/")
            || path_of(name).is_some_and(|name| {
                let about = fs::symlink_metadata(self.git.workspace().join(name));
                about.is_ok_and(|about| about.is_file() && about.len() > MAX_FILE)
            })
    }

    /// A list of paths for git to read.
    fn paths(&self, paths: &[Vec<u8>]) -> Checked<tempfile::NamedTempFile> {
        let write = || {
            let mut file = tempfile::NamedTempFile::new_in(self.git.repository())?;
            file.write_all(&paths.join(&0))?;
            file.flush()?;
            Ok(file)
        };
        write().map_err(|error: std::io::Error| CheckpointError::Failed(error.to_string()))
    }

    async fn difference(&self, id: &CheckpointId, with: &str) -> Checked<Vec<ChangedFile>> {
        let common = ["-z", "--no-renames", "--no-ext-diff", "--no-textconv", with, id.name()];
        let words = |kind| [&["diff", kind][..], &common].concat();
        let states = self.git.run(&words("--name-status")).await?;
        let counts = self.git.run(&words("--numstat")).await?;
        Ok(changes(&String::from_utf8_lossy(&states), &String::from_utf8_lossy(&counts)))
    }
}

const NUL: &str = "--pathspec-file-nul";

fn from(paths: &tempfile::NamedTempFile) -> String {
    format!("--pathspec-from-file={}", paths.path().display())
}

#[cfg(unix)]
fn path_of(name: &[u8]) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStrExt as _;
    Some(std::ffi::OsStr::from_bytes(name).into())
}

#[cfg(not(unix))]
fn path_of(name: &[u8]) -> Option<PathBuf> {
    std::str::from_utf8(name).ok().map(PathBuf::from)
}

/// `M\0path\0` beside `3\t4\tpath\0`; both are in the order of the paths.
fn changes(states: &str, counts: &str) -> Vec<ChangedFile> {
    let mut states = states.split_terminator('\0');
    let mut counts = counts.split_terminator('\0').map(|line| {
        let mut fields = line.splitn(3, '\t');
        let mut number = || fields.next().and_then(|number| number.parse().ok());
        (number(), number())
    });
    let mut changes = Vec::new();
    while let (Some(state), Some(path)) = (states.next(), states.next()) {
        let how = match state {
            "A" => How::Added,
            "D" => How::Deleted,
            _ => How::Changed,
        };
        let (added, removed) = counts.next().unwrap_or_default();
        changes.push(ChangedFile { path: path.to_owned(), how, added, removed });
    }
    changes
}

/// True for a folder that holds all that somebody has.
fn holds_too_much(workspace: &Path, home: Option<&Path>) -> bool {
    let is_root = workspace.parent().is_none();
    let is_of_home = home.is_some_and(|home| {
        let home = &home.canonicalize().unwrap_or_else(|_| home.to_owned());
        home.starts_with(workspace) || TOO_LARGE.iter().any(|name| home.join(name) == *workspace)
    });
    is_root || is_of_home
}
