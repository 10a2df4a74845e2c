//! A workspace in a folder of its own, and calls that go all the way.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::Arc,
};

use letterpress::tools::{
    Bench, Call, Progress, Run, Stop, ToolOutput, Verdict, Workspace, judge,
    policy::{Answer, Rules, Trust},
};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::mpsc;

/// A workspace `w` with another folder, `outside`, beside it.
pub(super) struct Place {
    pub(super) folder: TempDir,
    pub(super) bench: Bench,
}

impl Place {
    pub(super) fn new() -> Self {
        Self::with(|bench| bench)
    }

    pub(super) fn with(set_up: impl FnOnce(Bench) -> Bench) -> Self {
        let folder = TempDir::new().expect("a folder");
        for name in ["w", "outside"] {
            fs::create_dir(folder.path().join(name)).expect("a folder");
        }
        let workspace = Workspace::open(&folder.path().join("w")).expect("a workspace");
        Self { folder, bench: set_up(Bench::new(Arc::new(workspace))) }
    }

    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().canonicalize().expect("it is there").join(name)
    }

    pub(super) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        fs::write(path, content).expect("a file");
    }

    pub(super) fn read(&self, name: &str) -> Option<String> {
        fs::read(self.path(name)).ok().map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
    }

    /// Judges a call by what there is.
    pub(super) fn judge(&self, tool: &str, arguments: &Value) -> Result<Verdict, String> {
        let call = Call::parse(tool, arguments).map_err(|error| error.to_string())?;
        let facts = self.bench.facts(&call, Trust::Untrusted);
        Ok(judge(call, facts, &Rules::default()))
    }

    /// The verdict in one word, as in the tables.
    pub(super) fn word(&self, tool: &str, arguments: &Value) -> String {
        match self.judge(tool, arguments) {
            Ok(verdict) => super::policy::word(&verdict).to_owned(),
            Err(_) => "bad".to_owned(),
        }
    }

    /// Runs a call that is allowed, or that the user says yes to.
    pub(super) fn run(&self, tool: &str, arguments: &Value) -> ToolOutput {
        self.run_with(tool, arguments, Stop::never())
    }

    pub(super) fn run_with(&self, tool: &str, arguments: &Value, stop: Stop) -> ToolOutput {
        let approved = match self.judge(tool, arguments) {
            Ok(Verdict::Allow(approved)) => approved,
            Ok(Verdict::Ask(question)) => question.answer(Answer::Once).expect("granted").call,
            Ok(Verdict::Deny(denial)) => return ToolOutput::error(&denial.to_string()),
            Err(why) => return ToolOutput::error(&why),
        };
        let (progress, _nobody) = mpsc::channel(1);
        drop(_nobody);
        runtime().block_on(self.bench.run(approved, Run { call_id: "c1".into(), stop, progress }))
    }

    /// Runs a command, and hears of it.
    pub(super) fn watch(
        &self,
        arguments: &Value,
        stop: Stop,
        mut hear: impl FnMut(Progress),
    ) -> ToolOutput {
        let question = match self.judge("execute_command", arguments) {
            Ok(Verdict::Ask(question)) => question,
            other => panic!("{other:?}"),
        };
        let approved = question.answer(Answer::Once).expect("granted").call;
        let (progress, mut heard) = mpsc::channel(8);
        let run = Run { call_id: "c1".into(), stop, progress };
        runtime().block_on(async {
            let listen = async {
                while let Some(progress) = heard.recv().await {
                    hear(progress);
                }
            };
            tokio::join!(self.bench.run(approved, run), listen).0
        })
    }
}

pub(super) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .expect("a runtime")
}

/// Everything below a folder, with the content of files: to see that nothing changed.
pub(super) fn inventory(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").flatten() {
            let path = entry.path();
            let metadata = fs::symlink_metadata(&path).expect("it is there");
            if metadata.is_dir() {
                folders.push(path.clone());
            }
            let content =
                if metadata.is_file() { fs::read(&path).expect("a file") } else { Vec::new() };
            found.push((path, content));
        }
    }
    found.sort();
    found
}
