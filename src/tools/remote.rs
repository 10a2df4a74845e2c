//! Tools that live elsewhere, such as on servers of the user's.

use std::{future::Future, pin::Pin};

use serde_json::Value;
use tokio::sync::mpsc;

use super::{
    cancel::Stop,
    output::{Progress, ToolOutput},
};

/// What a remote tool promises to do.
pub type RemoteCall<'a> = Pin<Box<dyn Future<Output = ToolOutput> + Send + 'a>>;

/// Calls tools that live elsewhere. Only calls that were approved come here.
pub trait Remote: Send + Sync {
    /// Calls a tool, by the name that the model knows it by, with an object. Ends soon after
    /// a stop, and always with an output.
    fn call(
        &self,
        tool: String,
        arguments: Value,
        stop: Stop,
        progress: mpsc::Sender<Progress>,
    ) -> RemoteCall<'_>;
}
