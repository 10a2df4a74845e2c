//! The workspace of a conversation: opened beside the UI, with the tools that work in it.

use std::{
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
};

use tokio::runtime::Handle;

use crate::{
    app::{
        cli::General,
        toolbox::{self, Toolkit},
    },
    engine::live::{Toolbox, workbench::Workbench},
    tools::{
        Bench, Workspace,
        mcp::{Pins, Servers},
    },
};

/// Keeps what the user has accepted of servers. May wait.
pub type KeepPins = Arc<dyn Fn(&Pins) + Send + Sync>;

/// A workspace and what works in it.
#[derive(Clone)]
pub struct Opened {
    /// Weighs and runs calls.
    pub bench: Arc<dyn Workbench>,
    /// The servers of tools among them.
    pub servers: Option<Servers>,
    /// Keeps what is accepted of them.
    pub keep_pins: Option<KeepPins>,
    /// What of the settings could not be used, a sentence each.
    pub warnings: Vec<String>,
}

/// How a folder becomes a workspace. Called on a thread that may wait, within the runtime of
/// the engine; gives one sentence when it cannot be opened.
#[derive(Clone)]
pub struct Opener(Arc<Open>);

type Open = dyn Fn(&Path, &Handle) -> Result<Opened, String> + Send + Sync;

impl Opener {
    /// Opens folders in another way.
    #[must_use]
    pub fn new(
        open: impl Fn(&Path, &Handle) -> Result<Opened, String> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(open))
    }

    /// Opens folders with the servers and rules of the settings.
    #[must_use]
    pub fn of_settings(general: General) -> Self {
        Self::new(move |folder, runtime| {
            let opened = toolbox::open(folder, &general, runtime);
            let Toolkit { toolbox, warnings, pins } = opened.map_err(|error| error.to_string())?;
            let servers = toolbox.servers().cloned();
            let keep: KeepPins = Arc::new(move |accepted| {
                if let Err(error) = pins.keep(accepted) {
                    tracing::warn!(%error, "what was accepted of servers could not be kept");
                }
            });
            Ok(Opened { bench: toolbox, servers, keep_pins: Some(keep), warnings })
        })
    }

    /// Opens a folder. Waits.
    pub(super) async fn open(self, folder: PathBuf) -> Result<Opened, String> {
        let runtime = Handle::current();
        let opening = tokio::task::spawn_blocking(move || (self.0)(&folder, &runtime));
        opening.await.unwrap_or_else(|_panicked| Err("The folder cannot be opened.".to_owned()))
    }
}

/// The built-in tools alone.
impl Default for Opener {
    fn default() -> Self {
        Self::new(|folder, _| {
            let workspace = Workspace::open(folder)
                .map_err(|error| format!("{} cannot be opened: {error}", folder.display()))?;
            let bench = Bench::new(Arc::new(workspace));
            let toolbox = Toolbox::new(bench, None, Vec::new(), Box::new(|_| {}));
            Ok(Opened {
                bench: Arc::new(toolbox),
                servers: None,
                keep_pins: None,
                warnings: Vec::new(),
            })
        })
    }
}

impl fmt::Debug for Opener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Opener")
    }
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened").field("bench", &self.bench).finish_non_exhaustive()
    }
}
