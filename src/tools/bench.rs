//! Where calls are looked into and run.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use tokio::sync::mpsc;

use super::{
    call::{Call, CommandLine},
    cancel::Stop,
    command::{self, Job},
    fetch::{self, FetchRequest, Fetcher, MAX_PAGE},
    output::{OutputPart, Progress, ToolOutput},
    policy::{Approved, At, Facts, GitConfig, Place, Program, Trust, base_of, hidden_in, paths_of},
    remote::Remote,
    spill::Spill,
    workspace::{self, Digest, Workspace, digest},
};
use crate::perf;

/// What tools work with. One for each conversation.
pub struct Bench {
    workspace: Arc<Workspace>,
    own_folders: Vec<String>,
    extra_variables: Vec<String>,
    fetcher: Option<Arc<dyn Fetcher>>,
    spill: Option<Arc<dyn Spill>>,
    remote: Option<Arc<dyn Remote>>,
}

/// Who runs a call, and who hears of it.
pub struct Run {
    /// The provider's id of the call, or ours.
    pub call_id: Arc<str>,
    /// Ends it.
    pub stop: Stop,
    /// Hears of what happens. A bounded channel: a command that writes faster than this is
    /// read is held back. Without a reader nothing is.
    pub progress: mpsc::Sender<Progress>,
}

impl Bench {
    /// A bench in a workspace. It fetches nothing, keeps no large output and knows no remote
    /// tools until it is told how.
    #[must_use]
    pub fn new(workspace: Arc<Workspace>) -> Self {
        Self {
            workspace,
            own_folders: Vec::new(),
            extra_variables: Vec::new(),
            fetcher: None,
            spill: None,
            remote: None,
        }
    }

    /// Folders of our own, which every write is asked about: settings, data.
    #[must_use]
    pub fn own_folders(mut self, folders: &[PathBuf]) -> Self {
        // A folder that is no UTF-8 cannot be named by a call either.
        let texts =
            folders.iter().filter_map(|folder| canonical(folder).to_str().map(str::to_owned));
        self.own_folders = texts.collect();
        self
    }

    /// Variables that commands see beyond the usual ones; the user names them.
    #[must_use]
    pub fn extra_variables(mut self, names: Vec<String>) -> Self {
        self.extra_variables = names;
        self
    }

    /// How pages are fetched.
    #[must_use]
    pub fn fetcher(mut self, fetcher: Arc<dyn Fetcher>) -> Self {
        self.fetcher = Some(fetcher);
        self
    }

    /// Where large output is kept.
    #[must_use]
    pub fn spill(mut self, spill: Arc<dyn Spill>) -> Self {
        self.spill = Some(spill);
        self
    }

    /// Who calls remote tools.
    #[must_use]
    pub fn remote(mut self, remote: Arc<dyn Remote>) -> Self {
        self.remote = Some(remote);
        self
    }

    /// The workspace.
    #[must_use]
    pub fn workspace(&self) -> &Arc<Workspace> {
        &self.workspace
    }

    /// Looks into what a call would touch, and touches nothing. Reads files: not for the UI
    /// thread.
    #[must_use]
    pub fn facts(&self, call: &Call, trust: Trust) -> Facts {
        let uses = paths_of(call).unwrap_or_default();
        let mut places: Vec<Place> = uses.iter().map(|path| self.workspace.place(path)).collect();
        if base_of(call).is_some_and(|base| hidden_in(base) > 0)
            && let Some(folder) = places.first_mut()
        {
            folder.at = At::Nowhere("its name has characters that do not show".to_owned());
        }
        let mut facts = Facts {
            root: self.workspace.root().to_string_lossy().into_owned(),
            own_folders: self.own_folders.clone(),
            trust,
            changes: Ok(Vec::new()),
            places,
            ..Facts::default()
        };
        match call {
            Call::Write { .. } | Call::Edit { .. } | Call::Patch { .. } => {
                let changes = self.workspace.plan(call, &facts.places);
                let shown = |change: &workspace::Change| change.shown().clone();
                facts.changes = changes.map(|changes| changes.iter().map(shown).collect());
            }
            Call::Command { line, .. } => self.command_facts(line, &mut facts),
            Call::Read { .. }
            | Call::List { .. }
            | Call::Glob { .. }
            | Call::Search(_)
            | Call::Fetch { .. }
            | Call::Remote { .. } => {}
        }
        facts
    }

    fn command_facts(&self, line: &CommandLine, facts: &mut Facts) {
        let root = self.workspace.root();
        let own = std::env::vars_os();
        facts.environment = command::environment(own, &self.extra_variables, root);
        let folder = facts.folder().and_then(|place| self.workspace.absolute(&place.at).ok());
        let Some(folder) = folder else { return };
        facts.program = match line {
            CommandLine::Argv(argv) => {
                let name = argv.first().map_or("", String::as_str);
                command::find_program(name, &folder, &facts.environment, root)
            }
            CommandLine::Shell(_) => Program::Installed(command::shell().0),
        };
        facts.git = match line {
            CommandLine::Argv(argv) if argv.first().is_some_and(|name| name == "git") => {
                command::git_config(&folder)
            }
            CommandLine::Argv(_) | CommandLine::Shell(_) => GitConfig::Unknown,
        };
    }

    /// Runs an approved call. Always ends with an output; dropping the future ends a command,
    /// too.
    pub async fn run(&self, approved: Approved<Call>, run: Run) -> ToolOutput {
        let started = perf::now();
        let mut output = if run.stop.is_due() {
            ToolOutput::error("[stopped by the user]")
        } else {
            self.run_call(approved, run).await
        };
        output.duration = perf::now() - started;
        output
    }

    async fn run_call(&self, approved: Approved<Call>, run: Run) -> ToolOutput {
        let (call, grant) = approved.into_parts();
        match call {
            Call::Command { line, timeout, .. } => match self.job(line, timeout, &grant.facts) {
                Ok(job) => self.run_job(job, run).await,
                Err(why) => ToolOutput::error(&why),
            },
            Call::Fetch { url } => {
                let may_be_private = grant.may_be_private;
                let request = FetchRequest { url, max_bytes: MAX_PAGE, may_be_private };
                fetch::fetch(self.fetcher.as_ref(), request, run.stop).await
            }
            Call::Remote { tool, arguments, .. } => match &self.remote {
                Some(remote) => remote.call(tool, arguments, run.stop, run.progress).await,
                None => ToolOutput::error(&format!("{tool} cannot be reached")),
            },
            call => self.run_on_files(call, grant.facts, run.stop).await,
        }
    }

    async fn run_job(&self, job: Job, run: Run) -> ToolOutput {
        let watch = command::Watch {
            call_id: &run.call_id,
            stop: run.stop,
            progress: &run.progress,
            spill: self.spill.as_ref(),
        };
        command::run(job, watch).await
    }

    /// A command, as it was judged: the program is not looked for again.
    fn job(
        &self,
        line: CommandLine,
        timeout: std::time::Duration,
        facts: &Facts,
    ) -> Result<Job, String> {
        let folder = facts.folder().ok_or("the folder of the command is not known")?;
        let folder =
            self.workspace.absolute(&folder.at).map_err(|error| workspace::words(&error))?;
        let (program, name, arguments) = match line {
            CommandLine::Argv(argv) => {
                let mut argv = argv.into_iter();
                let name = argv.next().unwrap_or_default();
                let (Program::Installed(path) | Program::Loose(path)) = &facts.program else {
                    return Err(format!("there is no program called {name}"));
                };
                (path.clone(), name, argv.collect())
            }
            CommandLine::Shell(line) => {
                let (shell, flag) = command::shell();
                let name = shell.to_string_lossy().into_owned();
                (shell, name, vec![flag.to_owned(), line])
            }
        };
        let variables = facts.environment.variables.clone();
        Ok(Job { program, arguments, name, folder, variables, timeout })
    }

    /// Files are read and written on a thread that may wait for them.
    async fn run_on_files(&self, call: Call, facts: Facts, stop: Stop) -> ToolOutput {
        let workspace = Arc::clone(&self.workspace);
        let work = tokio::task::spawn_blocking(move || on_files(&workspace, &call, &facts, &stop));
        work.await.unwrap_or_else(|_panicked| ToolOutput::error("the tool failed inside"))
    }
}

fn canonical(folder: &Path) -> PathBuf {
    // A folder that is not there yet is where it will be.
    folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf())
}

fn on_files(workspace: &Workspace, call: &Call, facts: &Facts, stop: &Stop) -> ToolOutput {
    let Some(place) = facts.places.first() else {
        return ToolOutput::error("the path was not judged");
    };
    match call {
        Call::Read { first, last, .. } => workspace::read(workspace, place, (*first, *last), stop),
        Call::List { is_recursive, .. } => workspace::list(workspace, place, *is_recursive, stop),
        Call::Glob { pattern, .. } => workspace::glob(workspace, place, pattern, stop),
        Call::Search(wanted) => workspace::search(workspace, place, wanted, stop),
        Call::Write { .. } | Call::Edit { .. } | Call::Patch { .. } => {
            change(workspace, call, facts)
        }
        Call::Command { .. } | Call::Fetch { .. } | Call::Remote { .. } => {
            ToolOutput::error("this is no work on files")
        }
    }
}

/// Makes the changes that were judged, if they are still the same.
fn change(workspace: &Workspace, call: &Call, facts: &Facts) -> ToolOutput {
    let changes = match workspace.plan(call, &facts.places) {
        Ok(changes) => changes,
        Err(why) => return ToolOutput::error(&why),
    };
    let now = changes.iter().map(|change| change.shown());
    let judged = facts.changes.as_ref().map_or(&[][..], Vec::as_slice);
    if !now.clone().map(seen).eq(judged.iter().map(seen)) {
        return ToolOutput::error("a file was changed in the meantime; read it again");
    }
    let shown: Vec<_> = now.cloned().collect();
    match workspace.make(changes) {
        Ok(undo) => {
            let lines: Vec<String> = shown.iter().map(told).collect();
            let mut output = ToolOutput::text(&lines.join("\n"));
            output.parts = shown.into_iter().map(OutputPart::Change).collect();
            ToolOutput { undo, ..output }
        }
        Err(why) => ToolOutput::error(&why),
    }
}

/// What tells a change from another.
fn seen(change: &super::output::FileChange) -> (Arc<str>, Option<Digest>, Option<Digest>) {
    let known = |text: &Option<Arc<str>>| text.as_ref().map(|text| digest(text.as_bytes()));
    (Arc::clone(&change.path), known(&change.before), known(&change.after))
}

fn told(change: &super::output::FileChange) -> String {
    let path = &change.path;
    match (&change.moved_to, &change.before, &change.after) {
        (Some(target), ..) => format!("{path} is now {target}"),
        (None, None, _) => format!("{path} was created"),
        (None, Some(_), None) => format!("{path} was deleted"),
        (None, Some(_), Some(_)) => format!("{path} was changed"),
    }
}
