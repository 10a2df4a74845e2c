//! What the user has accepted, as it is kept.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};

use super::{
    definition::Definition,
    digest::Digest,
    launch::{Launch, What},
};

/// What the user has accepted, of all servers. Plain data: whoever owns the settings reads it
/// at the start and writes it whenever it was changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Pins {
    /// By server.
    #[serde(default)]
    pub servers: BTreeMap<Arc<str>, ServerPins>,
}

/// What the user has accepted of one server.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ServerPins {
    /// What it may be started as.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<What>,
    /// Its tools, by their own names.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub tools: BTreeMap<Arc<str>, ToolPin>,
}

/// One tool that was accepted.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolPin {
    /// Of the definition, together with the server.
    pub sha256: Digest,
    /// The definition, to show later what changed, and to offer the tool before its server
    /// runs.
    pub definition: Definition,
}

impl Pins {
    pub(super) fn start(&self, server: &str) -> Option<&What> {
        self.servers.get(server)?.start.as_ref()
    }

    pub(super) fn tool(&self, server: &str, tool: &str) -> Option<&ToolPin> {
        self.servers.get(server)?.tools.get(tool)
    }

    pub(super) fn accept_start(&mut self, launch: &Launch) {
        let server = self.servers.entry(Arc::clone(&launch.server)).or_default();
        server.start = Some(launch.what.clone());
    }

    pub(super) fn accept_tool(
        &mut self,
        server: &Arc<str>,
        definition: &Definition,
        sha256: Digest,
    ) {
        let server = self.servers.entry(Arc::clone(server)).or_default();
        let pin = ToolPin { sha256, definition: definition.clone() };
        server.tools.insert(Arc::clone(&definition.name), pin);
    }
}
