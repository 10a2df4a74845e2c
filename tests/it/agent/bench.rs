//! A folder, settings, a model that says what it is told to, and the conversation between them.

use std::{fs, path::Path, sync::Arc};

use letterpress::{
    app::{
        places::Places,
        toolbox::{self, Toolkit},
    },
    engine::live::Provider,
    model::{
        Approval, CallGrammar, Command, Decision, Part, Settings, Snapshot, ToolCall, ToolUse,
        stream::Wire,
    },
    wire::Endpoint,
};
use serde_json::Value;
use tempfile::TempDir;

use crate::live::{
    bench::{Bench, engine, limits, settings},
    server::{Act, Server, call, finish, sse, text},
};

/// A workspace and the program's own files beside it.
pub(super) struct Ground {
    folder: TempDir,
}

impl Ground {
    pub(super) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        fs::create_dir(folder.path().join("work")).unwrap();
        Self { folder }
    }

    pub(super) fn work(&self) -> std::path::PathBuf {
        self.folder.path().join("work")
    }

    pub(super) fn write(&self, name: &str, text: &str) {
        fs::write(self.work().join(name), text).unwrap();
    }

    pub(super) fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.work().join(name)).ok()
    }

    pub(super) fn places(&self) -> Places {
        let config = self.folder.path().join("config/config.toml");
        Places {
            config,
            data: self.folder.path().join("data"),
            state: self.folder.path().join("state"),
            home: None,
        }
    }

    pub(super) fn config(&self) -> String {
        fs::read_to_string(self.places().config).unwrap_or_default()
    }

    pub(super) fn configure(&self, text: &str) {
        let config = self.places().config;
        fs::create_dir_all(config.parent().unwrap()).unwrap();
        fs::write(config, text).unwrap();
    }
}

/// A conversation with a model that gives these answers, and tools in the folder.
pub(super) fn talk(ground: &Ground, tools: ToolUse, answers: Vec<Vec<Act>>) -> (Bench, Toolkit) {
    talk_in(ground, CallGrammar::Native, tools, answers)
}

/// The same, with a model that calls its tools in this way.
pub(super) fn talk_in(
    ground: &Ground,
    calls: CallGrammar,
    tools: ToolUse,
    answers: Vec<Vec<Act>>,
) -> (Bench, Toolkit) {
    let mut bench = Bench::with(Wire::Chat, limits(), Vec::new());
    let server = Server::new(answers);
    let engine = engine(limits());
    let endpoint = Endpoint::new("test", Wire::Chat, &server.base).unwrap();
    engine.set_provider("test", Provider::Endpoint(Arc::new(endpoint)));
    let toolkit = toolbox::open_at(&ground.work(), &ground.places(), &engine.handle()).unwrap();
    let toolbox = Arc::clone(&toolkit.toolbox);
    let settings = Settings { tools, calls, ..settings() };
    bench.session = engine.session_at(Some(toolbox), settings, Arc::new(|| {}));
    bench.engine = engine;
    bench.server = server;
    (bench, toolkit)
}

/// A reply that makes these calls, in this order.
pub(super) fn calls(of: &[(&str, Value)]) -> Vec<Act> {
    let mut acts = vec![sse(), Act::Send(text("Let me."))];
    for (index, (tool, arguments)) in (0..).zip(of) {
        acts.push(Act::Send(call(index, Some(tool), &arguments.to_string())));
    }
    acts.extend([Act::Send(finish("tool_calls")), Act::Finish]);
    acts
}

pub(super) fn calls_of(snapshot: &Snapshot) -> Vec<Arc<ToolCall>> {
    let parts = snapshot.messages().flat_map(|message| message.parts.iter());
    let call = |part: &Part| match part {
        Part::ToolCall(call) => Some(Arc::clone(call)),
        _ => None,
    };
    parts.filter_map(call).collect()
}

/// The next question, which is none of those that were asked before.
pub(super) fn question(bench: &mut Bench, after: Option<&Approval>) -> Arc<Approval> {
    let before = after.map(|approval| approval.id);
    let is_new = |s: &Snapshot| s.question.as_ref().is_some_and(|q| Some(q.id) > before);
    Arc::clone(bench.until(is_new).question.as_ref().unwrap())
}

pub(super) fn decide(bench: &Bench, approval: &Approval, decision: Decision) {
    bench.command(Command::Decide { approval: approval.id, decision, feedback: None });
}

/// Who may read a file, in the bits that say so.
#[cfg(unix)]
pub(super) fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt as _;
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}
