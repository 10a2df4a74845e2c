//! One configured server, and what all servers share.

use std::{collections::HashSet, sync::Arc};

use parking_lot::Mutex;
use serde_json::Value;

use super::{
    config::ServerConfig,
    connection::Connection,
    definition::Definition,
    digest::Digest,
    environment::Environment,
    error::CallError,
    exchange::Limits,
    http::Network,
    launch::{Acceptance, Start},
    listing,
    log::Log,
    pins::Pins,
    state::{Board, ServerState, Standing, ToolStatus},
};

/// What all servers share.
pub(super) struct Shared {
    pub(super) board: Board,
    pub(super) pins: Mutex<Pins>,
    pub(super) environment: Environment,
    pub(super) network: Network,
    pub(super) limits: Limits,
}

/// One configured server.
pub(super) struct Entry {
    /// Its place on the board.
    pub(super) index: usize,
    pub(super) config: ServerConfig,
    /// What it is in the digests of its tools.
    pub(super) identity: Value,
    pub(super) log: Arc<Log>,
    pub(super) shared: Arc<Shared>,
}

impl Entry {
    pub(super) fn set_state(&self, state: ServerState) {
        self.shared.board.set_state(self.index, state);
    }

    pub(super) fn state(&self) -> ServerState {
        let overview = self.shared.board.get();
        overview.get(self.index).map_or(ServerState::Disabled, |status| status.state.clone())
    }

    /// What is to be accepted before this start, when it is not what was accepted.
    pub(super) fn missing_acceptance(&self, start: &Start) -> Option<Acceptance> {
        let pins = self.shared.pins.lock();
        let before = pins.start(&self.config.name);
        if before == Some(&start.launch.what) {
            return None;
        }
        let changes = before.map(|before| start.launch.what.changes_since(before));
        Some(Acceptance {
            launch: start.launch.clone(),
            before: before.cloned(),
            changes: changes.unwrap_or_default(),
        })
    }

    /// Asks for the tools as they are now, puts them on the board, and gives them back.
    pub(super) async fn refresh(
        &self,
        connection: &Connection,
    ) -> Result<Arc<[ToolStatus]>, CallError> {
        let (definitions, warnings) = if connection.can().tools {
            connection.list(listing::TOOLS, Definition::read).await?
        } else {
            (Vec::new(), Vec::new())
        };
        let (definitions, warnings) = unique(definitions, warnings);
        // Held until the board has it, so that no older judgement overwrites a newer one.
        let pins = self.shared.pins.lock();
        let tools: Arc<[ToolStatus]> = self.judge(&pins, definitions).into();
        self.shared.board.update(self.index, |status| {
            status.tools = Arc::clone(&tools);
            status.warnings = warnings.into();
        });
        Ok(tools)
    }

    /// Judges again what is on the board, because pins have changed.
    pub(super) fn judge_again(&self) {
        let pins = self.shared.pins.lock();
        let overview = self.shared.board.get();
        let Some(status) = overview.get(self.index) else { return };
        let definitions = status.tools.iter().map(|tool| Arc::clone(&tool.definition)).collect();
        let tools = self.judge(&pins, definitions);
        self.shared.board.update(self.index, |status| status.tools = tools.into());
    }

    fn judge(&self, pins: &Pins, definitions: Vec<Arc<Definition>>) -> Vec<ToolStatus> {
        let judged = definitions.into_iter().map(|definition| {
            let sha256 = definition.digest(&self.identity);
            let pin = pins.tool(&self.config.name, &definition.name);
            let standing = match pin {
                None => Standing::New,
                Some(pin) if pin.sha256 == sha256 => Standing::Accepted,
                Some(pin) => match pin.definition.differences(&definition) {
                    differences if differences.is_empty() => Standing::Moved,
                    differences => Standing::Changed(differences.into()),
                },
            };
            let setting = self.config.tools.of(&definition.name);
            ToolStatus { hidden: definition.hidden(), sha256, standing, setting, definition }
        });
        judged.collect()
    }

    /// The digest under which this definition would be pinned here.
    pub(super) fn digest(&self, definition: &Definition) -> Digest {
        definition.digest(&self.identity)
    }
}

/// In the order of the names. A name that stands twice is none: nobody could say which of the
/// two is called.
fn unique(
    mut definitions: Vec<Definition>,
    mut warnings: Vec<String>,
) -> (Vec<Arc<Definition>>, Vec<String>) {
    let (mut seen, mut twice) = (HashSet::new(), HashSet::new());
    for definition in &definitions {
        if !seen.insert(Arc::clone(&definition.name)) && twice.insert(Arc::clone(&definition.name))
        {
            warnings.push(format!("{}: it has more than one tool of this name", definition.name));
        }
    }
    definitions.retain(|definition| !twice.contains(&definition.name));
    definitions.sort_by(|a, b| a.name.cmp(&b.name));
    (definitions.into_iter().map(Arc::new).collect(), warnings)
}
