//! Servers nearby: on this machine and in its own network.

use std::{sync::Arc, time::Duration};

use tokio::{task::JoinSet, time::timeout};

use crate::wire::{Endpoint, Http, ModelInfo, models};

/// A server nearby that answered.
#[derive(Clone, Debug)]
pub struct LocalServer {
    /// The server.
    pub endpoint: Arc<Endpoint>,
    /// What it has.
    pub models: Vec<ModelInfo>,
}

/// Those of the servers that answer within the time, in their order. They are asked all at
/// once, and only those on this machine and in its own network are.
pub async fn local_servers(
    http: &Http,
    candidates: impl IntoIterator<Item = Endpoint>,
    within: Duration,
) -> Vec<LocalServer> {
    let mut asked = JoinSet::new();
    let local = candidates.into_iter().filter(Endpoint::is_private);
    for (place, endpoint) in local.enumerate() {
        let http = http.clone();
        asked.spawn(async move {
            let models = timeout(within, models(&http, &endpoint)).await.ok()?.ok()?;
            Some((place, LocalServer { endpoint: Arc::new(endpoint), models }))
        });
    }
    let mut found: Vec<_> = asked.join_all().await.into_iter().flatten().collect();
    found.sort_by_key(|(place, _)| *place);
    found.into_iter().map(|(_, server)| server).collect()
}
