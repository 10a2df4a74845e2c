//! The tools of a conversation, as the settings have them.
//!
//! ```text
//! config.toml ─ mcpServers ─┐              ┌─ "always" rules ─▶ config.toml
//!               tools.rule ─┼▶ Toolkit ────┼─ accepted servers ─▶ mcp-pins.json
//! mcp-pins.json ────────────┘              └─ large output ─────▶ output/
//! ```

mod pins;
mod settings;
mod spill;

use std::{path::Path, sync::Arc};

use tokio::runtime::Handle;

pub use self::{pins::PinFile, settings::Settings, spill::Spills};
use super::{
    cli::General,
    error::{Error, Result},
    places::Places,
};
use crate::{
    engine::live::{PageFetcher, Toolbox},
    tools::{
        Bench, Workspace,
        checkpoint::{Checked, CheckpointError, Checkpoints},
        mcp::{Digest, Environment, Servers, Setup},
    },
    wire::HttpConfig,
};

/// Tools in a folder, and what of them is kept.
#[derive(Debug)]
pub struct Toolkit {
    /// What runs the calls.
    pub toolbox: Arc<Toolbox>,
    /// What of the settings could not be used, a sentence each, for the user to read.
    pub warnings: Vec<String>,
    /// Keeps what the user accepts of servers.
    pub pins: PinFile,
}

/// Tools that work in `workspace`, with the servers and rules of the settings. Servers are
/// started on `runtime` once they are needed.
///
/// # Errors
/// When the folder cannot be opened, or the settings cannot be read: what they forbid is not
/// known then.
pub fn open(workspace: &Path, general: &General, runtime: &Handle) -> Result<Toolkit> {
    let places = Places::find(general)
        .ok_or_else(|| Error::failed("it is not known where settings are kept", "--data-dir"))?;
    open_at(workspace, &places, runtime)
}

/// The same, with everything kept at `places`.
///
/// # Errors
/// As [`open`].
pub fn open_at(workspace: &Path, places: &Places, runtime: &Handle) -> Result<Toolkit> {
    let workspace = Workspace::open(workspace)
        .map_err(|error| Error::io("cannot work in the folder", &error, workspace))?;
    let checkpoints = checkpoints(&workspace, places);
    let settings = Settings::read(&places.config)?;
    let (pins, accepted, forgotten) = PinFile::read(&places.state);
    let mut warnings = settings.warnings;
    warnings.extend(forgotten);

    let network = HttpConfig::default();
    let mut bench = Bench::new(Arc::new(workspace))
        .own_folders(&places.folders())
        .extra_variables(settings.variables)
        .spill(Arc::new(Spills::new(&places.state)));
    match PageFetcher::new(&network) {
        Ok(fetcher) => bench = bench.fetcher(Arc::new(fetcher)),
        Err(error) => warnings.push(format!("Pages cannot be fetched: {error}.")),
    }
    let servers = (!settings.servers.servers.is_empty()).then(|| {
        let setup = Setup {
            config: settings.servers,
            pins: accepted,
            // Programs get what is on a list of theirs; the rest is there for `${NAME}`.
            environment: Environment::of_process(),
            ..Setup::default()
        };
        Servers::new(setup, runtime)
    });
    let keep = settings::keeper(places.config.clone(), settings.rules.clone());
    let mut toolbox = Toolbox::new(bench, servers, settings.rules, keep);
    match checkpoints {
        Ok(checkpoints) => toolbox = toolbox.checkpoints(checkpoints),
        Err(why) => warnings.push(format!("Changes cannot be taken back: {why}.")),
    }
    Ok(Toolkit { toolbox: Arc::new(toolbox), warnings, pins })
}

/// The checkpoints of a workspace: a repository for each.
fn checkpoints(workspace: &Workspace, places: &Places) -> Checked<Checkpoints> {
    let root = workspace.root();
    let name = Digest::of(root.as_os_str().as_encoded_bytes()).to_string();
    let state = std::path::absolute(&places.state)
        .map_err(|error| CheckpointError::Failed(error.to_string()))?;
    // As far as it is there, it may be a link.
    let state = state.canonicalize().unwrap_or(state);
    Checkpoints::new(root, &state.join("checkpoints").join(name), places.home.as_deref())
}
