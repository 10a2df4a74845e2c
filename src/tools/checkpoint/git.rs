//! The program git on a repository of our own.

use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use super::{Checked, CheckpointError};
use crate::tools::{
    command::{self, Job},
    output::Exit,
    policy::Program,
};

/// How long one step may take.
const TIMEOUT: Duration = Duration::from_secs(120);
/// Bytes of one answer.
const MAX_ANSWER: usize = 64 * 1024 * 1024;

/// Whatever a file is said to be, it is kept byte by byte, and no program turns it into
/// anything. What stands here outranks what stands in the workspace.
const ATTRIBUTES: &str = "* -text -eol -ident -filter -working-tree-encoding\n";

/// Settings that run nothing and change no file. Those of the user and of the system are not
/// read.
const SETTINGS: &[&str] = &[
    // Whatever the umask: what was in the workspace is for its owner alone.
    "core.sharedRepository=0600",
    "core.hooksPath=/dev/null",
    "core.attributesFile=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.autocrlf=false",
    "core.safecrlf=false",
    "core.bare=false",
    "core.quotePath=false",
    "core.logAllRefUpdates=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "commit.gpgSign=false",
    "submodule.recurse=false",
    "protocol.allow=never",
    "advice.addEmbeddedRepo=false",
    "user.name=letterpress",
    "user.email=letterpress@localhost",
    "user.useConfigOnly=true",
];

/// Git on a repository of our own.
#[derive(Clone, Debug)]
pub(super) struct Git {
    program: PathBuf,
    variables: Arc<[(String, String)]>,
    workspace: Arc<Path>,
    repository: Arc<Path>,
    index: &'static str,
}

impl Git {
    pub(super) fn find(workspace: &Path, repository: &Path) -> Checked<Self> {
        let environment = command::environment(std::env::vars_os(), &[], workspace);
        let found = command::find_program("git", workspace, &environment, workspace);
        let Program::Installed(program) = found else { return Err(CheckpointError::NoGit) };
        let mut variables = environment.variables;
        // A repository that merely lies about is never met, because this one is named.
        variables.retain(|(name, _)| !name.starts_with("GIT_"));
        let fixed = [
            ("GIT_CONFIG_NOSYSTEM", "1"),
            ("GIT_CONFIG_GLOBAL", "/dev/null"),
            ("GIT_TERMINAL_PROMPT", "0"),
            ("GIT_PAGER", "cat"),
            ("LC_ALL", "C"),
        ];
        variables.retain(|(name, _)| name != "LC_ALL");
        variables.extend(fixed.map(|(name, value)| (name.to_owned(), value.to_owned())));
        Ok(Self {
            program,
            variables: variables.into(),
            workspace: workspace.into(),
            repository: repository.into(),
            index: "index",
        })
    }

    pub(super) fn workspace(&self) -> &Path {
        &self.workspace
    }

    pub(super) fn repository(&self) -> &Path {
        &self.repository
    }

    /// The same with another index, for what is put together and never was in the workspace.
    pub(super) fn beside(&self) -> Self {
        Self { index: "index.beside", ..self.clone() }
    }

    /// Makes the repository, unless it is there.
    pub(super) async fn prepare(&self) -> Checked<()> {
        let is_there = self.repository.join("HEAD").exists();
        let failed = |error: std::io::Error| CheckpointError::Failed(error.to_string());
        if !is_there {
            make_private(&self.repository).map_err(failed)?;
            let place = self.repository.to_string_lossy();
            let words = ["init", "-q", "--bare", "--template=", &place];
            self.job(&words, &[]).await.and_then(ended_well)?;
        }
        let info = self.repository.join("info");
        make_private(&info).map_err(failed)?;
        let mut options = private();
        let file = options.create(true).write(true).truncate(true).open(info.join("attributes"));
        file.and_then(|mut file| file.write_all(ATTRIBUTES.as_bytes())).map_err(failed)
    }

    /// Runs git; gives what it wrote.
    pub(super) async fn run(&self, words: &[&str]) -> Checked<Vec<u8>> {
        self.job(words, &self.places()).await.and_then(ended_well)
    }

    /// The same, when it may have met something that it could not do.
    pub(super) async fn run_tolerant(&self, words: &[&str]) -> Checked<()> {
        match self.job(words, &self.places()).await? {
            (Exit::Code(0 | 1), ..) => Ok(()),
            other => ended_well(other).map(drop),
        }
    }

    /// The line that it wrote.
    pub(super) async fn line(&self, words: &[&str]) -> Checked<String> {
        let bytes = self.run(words).await?;
        Ok(String::from_utf8_lossy(&bytes).trim().to_owned())
    }

    fn places(&self) -> [(&'static str, String); 3] {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        [
            ("GIT_DIR", text(&self.repository)),
            ("GIT_WORK_TREE", text(&self.workspace)),
            ("GIT_INDEX_FILE", text(&self.repository.join(self.index))),
        ]
    }

    async fn job(&self, words: &[&str], places: &[(&str, String)]) -> Checked<Answer> {
        let settings = SETTINGS.iter().flat_map(|setting| ["-c", *setting]);
        let mut variables = self.variables.to_vec();
        variables.extend(places.iter().map(|(name, place)| ((*name).to_owned(), place.clone())));
        let job = Job {
            program: self.program.clone(),
            arguments: settings.chain(words.iter().copied()).map(str::to_owned).collect(),
            name: "git".to_owned(),
            folder: self.workspace.to_path_buf(),
            variables,
            timeout: TIMEOUT,
        };
        let answered = command::collect(job, MAX_ANSWER).await;
        answered.map_err(|error| CheckpointError::Failed(format!("git did not start: {error}")))
    }
}

/// How it ended, what it wrote, and what it complained about.
type Answer = (Exit, Vec<u8>, Vec<u8>);

fn ended_well((exit, out, complaint): Answer) -> Checked<Vec<u8>> {
    match exit {
        Exit::Code(0) if out.len() < MAX_ANSWER => Ok(out),
        Exit::Code(0) => Err(CheckpointError::Failed("there are too many files".to_owned())),
        Exit::TimedOut => Err(CheckpointError::Failed("git took too long".to_owned())),
        Exit::Code(_) | Exit::Signal(_) | Exit::Stopped => {
            let complaint = String::from_utf8_lossy(&complaint);
            let line = complaint.lines().next().unwrap_or("git failed");
            Err(CheckpointError::Failed(line.to_owned()))
        }
    }
}

/// How a file is opened that is its owner's alone once it is made.
pub(super) fn private() -> fs::OpenOptions {
    #[cfg_attr(not(unix), expect(unused_mut, reason = "other systems inherit it from the folder"))]
    let mut options = fs::File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

/// Makes a folder that is its owner's alone.
fn make_private(folder: &Path) -> std::io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::DirBuilderExt as _;
        builder.mode(0o700);
    }
    builder.create(folder)
}
